//! The virtual-time world: it knows how long tasks run, the engine does not.
//!
//! One loop over instants. At each: all ends, then arrivals and changes, then decisions; a decision
//! to start makes an end event. Under `static` there is one engine per tenant, each with its
//! tenant's share as its only node, in one virtual time; every other policy is one engine over the
//! whole cluster.
//!
//! Cost: ends wait in a binary heap (its size is what runs at once); arrivals come sorted from
//! their source, one ahead. Memory grows with what is alive, not with the workload. Bounded by the
//! heap and by the engine.

mod arrivals;
mod changes;
mod ends;
mod failures;
mod jobs;
mod logging;
mod look;
mod partition;
mod script;
mod setup;
mod tally;

pub use changes::{Change, TimedChange};
pub use failures::Failures;
pub(crate) use look::Waiting;
pub use setup::{Setup, StopAt};

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use meed::{AllocationId, Effect, Event, JobId, JobState, QueueId, Start, Time};
use meed_journal::{Fact, Finish, JobEnd, Outcome};
use meed_workload::{JobLabel, TaskGroup, TraceError};
use smallvec::SmallVec;

use crate::log::{Log, Names};
use crate::outcome::CapacityTime;
use crate::series::Sampler;
use arrivals::Arrivals;
use ends::Ends;
pub(crate) use partition::{NewPlacement, Parts};
pub(crate) use script::{Script, Told};
pub(crate) use tally::{KeptJob, Tally};

/// A task that runs.
#[derive(Clone, Copy)]
struct LiveTask {
    part: u32,
    allocation: AllocationId,
    job: JobId,
    task: u32,
    /// How many starts of the task came before.
    attempt: u32,
    fails: bool,
}

/// A live job: what the engine does not know about it.
struct LiveJob {
    id: JobId,
    label: JobLabel,
    queue: QueueId,
    submit: Time,
    chain: Option<u32>,
    /// Number in order of arrival.
    number: u64,
    groups: Vec<TaskGroup>,
    /// Number of the first task of each group.
    first_tasks: SmallVec<[u32; 2]>,
    /// What its attempts are drawn from, the same under every policy.
    luck: u64,
    /// Groups told to the engine so far: those of the stages that have begun.
    told: usize,
    /// When the current stage began to wait.
    ready: Time,
    /// Tasks of the begun stages that have never started.
    unstarted: u64,
    /// Tasks that wait again, and since when.
    again: Option<BTreeMap<u32, Time>>,
    /// Starts so far of tasks that have waited again.
    attempts: Option<BTreeMap<u32, u32>>,
}

/// What the run leaves: the engines at rest, and what was counted.
pub(crate) struct Finished {
    pub(crate) parts: Parts,
    pub(crate) tally: Tally,
    pub(crate) end: Time,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) counts: meed_workload::SourceCounts,
    /// Messages about the first lines that were skipped.
    pub(crate) bad_lines: Vec<String>,
    /// Capacity x time, per kind.
    pub(crate) capacity: [u128; meed::MAX_KINDS],
}

/// What the caller is told now and then while a run goes on.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Virtual time.
    pub now: Time,
    /// Jobs that have ended.
    pub jobs_ended: u64,
    /// Fraction of the input read, where it can be known.
    pub fraction: Option<f64>,
}

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The workload could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Whoever watched it has stopped it.
    #[error("stopped at {at}")]
    Stopped {
        /// Virtual time.
        at: Time,
    },
    /// The log could not be written.
    #[error("cannot write the log: {0}")]
    Log(#[from] std::io::Error),
    /// The engine refused something that the scenario's reader should have found.
    #[error("{0}")]
    Config(#[from] meed::ConfigError),
    /// A rule of class-aware placement cannot be used.
    #[error("{0}")]
    Classes(#[from] crate::classes::ClassesError),
    /// A change of the scenario cannot be made.
    #[error("change at {at}: {why}")]
    Change {
        /// When it was to happen.
        at: Time,
        /// The engine's words.
        why: meed::Rejected,
    },
    /// A log that is played back contradicts itself.
    #[error("{file}:{line}: {what}")]
    Played {
        /// The log.
        file: std::sync::Arc<str>,
        /// The line.
        line: u64,
        /// What cannot have happened.
        what: String,
    },
    /// A job refused under `--strict`.
    #[error("job {job} of queue `{queue}`: {why}")]
    Refused {
        /// Its label.
        job: String,
        /// Its queue.
        queue: String,
        /// The engine's words.
        why: meed::Rejected,
    },
}

pub(crate) struct World<'a> {
    parts: Parts,
    /// Queue of the tree for each queue of the source.
    queues: Vec<Option<QueueId>>,
    ends: Ends,
    arrivals: Arrivals<'a>,
    changes: std::vec::IntoIter<TimedChange>,
    next_change: Option<TimedChange>,
    /// Live jobs of each part, by slot.
    jobs: Vec<Vec<Option<LiveJob>>>,
    /// Running tasks, by the slots of `ends`.
    tasks: Vec<Option<LiveTask>>,
    /// Stages that begin at this instant.
    next_stages: Vec<(u32, JobId)>,
    jobs_arrived: u64,
    failures: Failures,
    max_attempts: u16,
    capacity: CapacityTime,
    stop: StopAt,
    strict: bool,
    tally: Tally,
    sampler: Option<Sampler>,
    log: Log<'a>,
    names: Names,
    /// Decisions that were taken elsewhere, instead of the engine's own.
    script: Option<Script<'a>>,
    now: Time,
}

/// Instants between two words about progress.
const INSTANTS_PER_PROGRESS: u64 = 4096;

impl<'a> World<'a> {
    /// Runs to the end.
    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Finished, RunError> {
        self.begin()?;
        self.run_to(self.stop.at, progress)?;
        self.finish()
    }

    /// Reads the first job. Before anything else.
    pub(crate) fn begin(&mut self) -> Result<(), RunError> {
        Ok(self.arrivals.fill()?)
    }

    /// Runs until nothing is left that happens at `last` or before.
    pub(crate) fn run_to(
        &mut self,
        last: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RunError> {
        let mut instants = 0u64;
        while let Some(at) = self.next_instant()? {
            if at > last {
                break;
            }
            self.sample_until(at);
            self.now = at;
            self.instant()?;
            instants += 1;
            if instants.is_multiple_of(INSTANTS_PER_PROGRESS) {
                let fraction = self.arrivals.progress();
                let word = Progress { now: at, jobs_ended: self.tally.jobs_ended, fraction };
                if progress(word).is_break() {
                    return Err(RunError::Stopped { at });
                }
            }
        }
        Ok(())
    }

    /// The next instant at which something happens.
    pub(crate) fn next_instant(&mut self) -> Result<Option<Time>, RunError> {
        // Ends of tasks that were lost or stopped meanwhile are no instants: nothing happens then.
        while self.ends.next_slot().is_some_and(|slot| self.tasks[slot as usize].is_none()) {
            self.ends.pop();
        }
        let end = self.ends.next_time();
        let change = self.next_change.as_ref().map(|change| change.at);
        let told = self.script.as_mut().map(Script::next_time).transpose()?.flatten();
        Ok([end, change, self.arrivals.next_time(), told].into_iter().flatten().min())
    }

    /// Goes through one instant, which is not before the last.
    fn instant(&mut self) -> Result<(), RunError> {
        while let Some(slot) = self.ends.pop_at(self.now) {
            if let Some(task) = self.tasks[slot as usize].take() {
                self.end_task(task)?;
            }
        }
        while self.next_change.as_ref().is_some_and(|change| change.at == self.now) {
            let change = std::mem::replace(&mut self.next_change, self.changes.next());
            if let Some(change) = change {
                self.change(change)?;
            }
        }
        for (part, job) in std::mem::take(&mut self.next_stages) {
            self.begin_stage(part, job)?;
        }
        while self.arrivals.next_time() == Some(self.now) {
            let (job, cause) = self.arrivals.pop()?;
            self.arrive(job, cause)?;
        }
        self.decide()
    }

    fn end_task(&mut self, task: LiveTask) -> Result<(), RunError> {
        self.parts.touch(task.part);
        let event = match task.fails {
            true => Event::TaskFailed(task.allocation),
            false => Event::TaskEnded(task.allocation),
        };
        let effect = self.apply(task.part, event).expect("a running task can end");
        let Effect::Ended { job, state, stopped } = effect else {
            unreachable!("an end's effect is `Ended`")
        };
        self.log_task(&task, if task.fails { Fact::Fail } else { Fact::End })?;
        let now = self.now;
        let live = self.live_mut(task.part, job);
        if task.fails {
            live.again.get_or_insert_default().insert(task.task, now);
        } else {
            let queue = live.queue;
            self.tally.task_ended(queue);
        }
        match state {
            JobState::Active => {}
            JobState::Drained => self.next_stages.push((task.part, job)),
            JobState::Done | JobState::Failed => {
                debug_assert!(state == JobState::Failed || stopped.is_empty());
                self.log_stopped(task.part, &stopped)?;
                let done = state == JobState::Done;
                let outcome = if done { Outcome::Done } else { Outcome::Failed };
                self.end_job(task.part, job, outcome)?;
            }
        }
        Ok(())
    }

    /// Takes running tasks out of the table, so that their ends are none; in order of slot.
    /// O(running tasks): nodes seldom leave, jobs seldom fail.
    fn take_tasks(&mut self, part: u32, allocations: &[AllocationId]) -> Vec<LiveTask> {
        if allocations.is_empty() {
            return Vec::new();
        }
        let wanted: std::collections::BTreeSet<AllocationId> =
            allocations.iter().copied().collect();
        let ours = |task: &mut LiveTask| task.part == part && wanted.contains(&task.allocation);
        self.tasks.iter_mut().filter_map(|task| task.take_if(ours)).collect()
    }

    fn apply(&mut self, part: u32, event: Event<'_>) -> Result<Effect, meed::Rejected> {
        self.tally.events += 1;
        self.parts.engines[part as usize].apply(self.now, event)
    }

    fn live_mut(&mut self, part: u32, job: JobId) -> &mut LiveJob {
        let slot = self.jobs[part as usize][job.slot()].as_mut();
        slot.expect("a job that the engine knows is live here")
    }

    fn end_job(&mut self, part: u32, job: JobId, outcome: Outcome) -> Result<(), RunError> {
        let done = outcome == Outcome::Done;
        let live = self.jobs[part as usize][job.slot()].take().expect("a job ends once");
        self.tally.job_ended(live.queue, self.now - live.submit, done);
        if let Some(kept) = &mut self.tally.kept_jobs {
            kept.push(live.to_keep(done.then_some(self.now)));
        }
        let job = live.number.into();
        self.log.write(self.now, || Fact::JobEnd(JobEnd { job, outcome, detail: None }))?;
        if let Some(chain) = live.chain {
            self.arrivals.chain_ended(chain, self.now);
        }
        self.let_removed_go(part, live.queue)
    }

    fn decide(&mut self) -> Result<(), RunError> {
        if self.script.is_some() {
            return self.do_as_told();
        }
        let explain = self.log.explains();
        let (mut touched, mut starts) = self.parts.take_buffers();
        for part in touched.drain(..) {
            self.parts.engines[part as usize].decide(explain, |start| starts.push(start));
            for start in starts.drain(..) {
                self.start_task(part, start)?;
            }
        }
        self.parts.give_back(touched, starts);
        Ok(())
    }

    fn start_task(&mut self, part: u32, start: Start) -> Result<(), RunError> {
        let now = self.now;
        let live = self.live_mut(part, start.job);
        let duration = live.duration(start.group, start.task);
        let since = live.again.as_mut().and_then(|again| again.remove(&start.task));
        let attempt = match since {
            None => {
                live.unstarted -= 1;
                0
            }
            Some(_) => {
                let starts = live.attempts.get_or_insert_default().entry(start.task).or_insert(0);
                *starts += 1;
                *starts
            }
        };
        let (queue, luck, ready) = (live.queue, live.luck, since.unwrap_or(live.ready));
        self.tally.task_started(queue, now - ready);
        self.log_start(part, &start, attempt)?;
        let drawn = self.failures.run(luck, start.task, start.failures, duration);
        let slot = self.ends.push(now.saturating_add(drawn.lasts));
        let task = LiveTask {
            part,
            allocation: start.allocation,
            job: start.job,
            task: start.task,
            attempt,
            fails: drawn.fails,
        };
        match self.tasks.get_mut(slot as usize) {
            Some(place) => *place = Some(task),
            // Slots are dense: a new one is always the next.
            None => self.tasks.push(Some(task)),
        }
        Ok(())
    }

    fn sample_until(&mut self, at: Time) {
        let Some(sampler) = &mut self.sampler else { return };
        while let Some(t) = sampler.due_before(at) {
            sampler.sample(t, &mut self.parts);
        }
    }

    fn finish(mut self) -> Result<Finished, RunError> {
        let end = self.now.max(if self.stop.hold { self.stop.at } else { Time::ZERO });
        self.sample_until(end);
        if let Some(sampler) = &mut self.sampler {
            sampler.last(end, &mut self.parts);
        }
        for live in self.jobs.iter().flatten().flatten() {
            let first = (live.unstarted > 0).then_some(live.ready);
            if let Some(since) = first
                .into_iter()
                .chain(live.again.iter().flat_map(|again| again.values().copied()))
                .min()
            {
                self.tally.still_waits(live.queue, end.saturating_since(since));
            }
            self.tally.unfinished += 1;
            if let Some(kept) = &mut self.tally.kept_jobs {
                kept.push(live.to_keep(None));
            }
        }
        let (events, decisions) = (self.tally.events, self.tally.starts);
        self.log.write(end, || Fact::Finish(Finish { events, decisions, detail: None }))?;
        self.log.finish()?;
        self.capacity.pass(end, self.parts.tree().capacity());
        let counts = self.arrivals.counts();
        Ok(Finished {
            parts: self.parts,
            tally: self.tally,
            end,
            sampler: self.sampler,
            counts,
            bad_lines: self.arrivals.bad_lines(),
            capacity: self.capacity.total(),
        })
    }
}
