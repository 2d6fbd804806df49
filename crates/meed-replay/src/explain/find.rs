//! Which job is meant, and when it waited longest: one look through the recorded lines.
//!
//! What people call a job need not be distinct, neither over queues nor within one; its key is.
//! Memory: the jobs looked for that are alive, and of each that has ended a few numbers.

use std::collections::{BTreeMap, BTreeSet};

use meed::{Span, Time};
use meed_config::words::{did_you_mean, slips};
use meed_journal::{Arrival, Fact, JobKey, Kind, TaskFact};
use meed_scenario::log::read::LogError;
use meed_scenario::logged::recorded::{ARRIVALS, arrival_of};

use crate::replay::Recording;

/// A job of the record, and its waits.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) queue: String,
    /// What people call it.
    pub(super) label: JobKey,
    /// Number of its arrival.
    pub(super) number: u64,
    pub(super) arrived: Time,
    pub(super) ended: Option<Time>,
    pub(super) refused: bool,
    pub(super) why_refused: Option<String>,
    /// Its longest wait: from when a task could have started to when it did (or the job, or the
    /// record, ended).
    pub(super) longest: Option<(Time, Time)>,
    /// When its tasks were started.
    pub(super) starts: Vec<Time>,
    ready: Time,
    unstarted: u64,
    again: BTreeMap<u32, Time>,
    /// Those that have started and not waited since.
    running: BTreeSet<u32>,
}

impl Found {
    fn waited(&mut self, since: Time, until: Time) {
        let longest = self.longest.map_or(Span::ZERO, |(from, to)| to - from);
        if until.saturating_since(since) > longest {
            self.longest = Some((since, until));
        }
    }

    fn start(&mut self, t: Time, task: u32) {
        let since = match self.again.remove(&task) {
            Some(since) => since,
            None => {
                self.unstarted = self.unstarted.saturating_sub(1);
                self.ready
            }
        };
        self.starts.push(t);
        self.running.insert(task);
        self.waited(since, t);
    }

    /// A task is wanted no more.
    fn withdraw(&mut self, task: u32, attempt: u32) {
        let ran = self.running.remove(&task);
        if self.again.remove(&task).is_none() && !ran && attempt == 0 {
            self.unstarted = self.unstarted.saturating_sub(1);
        }
    }

    /// What waits when the job or the record ends has waited until then.
    fn stop(&mut self, t: Time) {
        let first = (self.unstarted > 0).then_some(self.ready);
        if let Some(since) = first.into_iter().chain(self.again.values().copied()).min() {
            self.waited(since, t);
        }
    }
}

/// All jobs for which `wanted` says so, in order of arrival.
pub(super) fn jobs(
    recording: &Recording,
    wanted: impl Fn(&Arrival) -> bool,
) -> Result<Vec<Found>, LogError> {
    let mut look = Look::default();
    for (t, arrival) in recording.begun().into_iter().flat_map(|begun| &begun.jobs) {
        if wanted(arrival) {
            // It was there when the record began.
            look.arrives(*t, arrival, None);
        }
        look.arrived += 1;
    }
    let kinds = [
        Kind::JobArrived,
        Kind::JobRefused,
        Kind::TasksAdded,
        Kind::TaskStarted,
        Kind::TaskFailed,
        Kind::TaskLost,
        Kind::StartFailed,
        Kind::TaskWithdrawn,
        Kind::JobEnded,
    ];
    let mut reader = recording.log.read(&recording.run)?;
    while let Some((_, record)) = reader.next(&kinds)? {
        if let Some(arrival) = arrival_of(&record.fact) {
            if wanted(arrival) {
                let why_refused = match &record.fact {
                    Fact::JobRefused(refusal) => Some(refusal.why.clone()),
                    _ => None,
                };
                look.arrives(record.t, arrival, why_refused);
            }
            look.arrived += 1;
        } else {
            look.goes_on(record.t, &record.fact);
        }
    }
    let end = recording.run.end;
    look.found.iter_mut().filter(|job| job.ended.is_none()).for_each(|job| job.stop(end));
    Ok(look.found)
}

/// What is seen of a record so far.
#[derive(Default)]
struct Look {
    found: Vec<Found>,
    /// Those that are alive, by key.
    alive: BTreeMap<JobKey, usize>,
    arrived: u64,
}

impl Look {
    fn arrives(&mut self, t: Time, arrival: &Arrival, why_refused: Option<String>) {
        if why_refused.is_none() {
            self.alive.insert(arrival.job.clone(), self.found.len());
        }
        self.found.push(Found {
            queue: arrival.queue.to_string(),
            label: arrival.name().clone(),
            number: self.arrived,
            arrived: t,
            ended: why_refused.is_some().then_some(t),
            refused: why_refused.is_some(),
            why_refused,
            longest: None,
            starts: Vec::new(),
            ready: t,
            unstarted: arrival.groups.iter().map(|group| u64::from(group.tasks)).sum(),
            again: BTreeMap::new(),
            running: BTreeSet::new(),
        });
    }

    fn goes_on(&mut self, t: Time, fact: &Fact) {
        match fact {
            Fact::TasksAdded(added) => {
                if let Some(job) = self.job(&added.job) {
                    job.ready = t;
                    job.unstarted = added.groups.iter().map(|group| u64::from(group.tasks)).sum();
                }
            }
            Fact::TaskStarted(start) => {
                if let Some(job) = self.job(&start.job) {
                    job.start(t, start.task);
                }
            }
            Fact::TaskFailed(task) | Fact::TaskLost(task) | Fact::StartFailed(task) => {
                self.waits_again(t, task)
            }
            Fact::TaskWithdrawn(task) => {
                if let Some(job) = self.job(&task.job) {
                    job.withdraw(task.task, task.attempt);
                }
            }
            Fact::JobEnded(end) => {
                if let Some(job) = self.job(&end.job) {
                    job.ended = Some(t);
                    job.stop(t);
                    self.alive.remove(&end.job);
                }
            }
            _ => {}
        }
    }

    fn waits_again(&mut self, t: Time, task: &TaskFact) {
        if let Some(job) = self.job(&task.job) {
            job.again.insert(task.task, t);
            job.running.remove(&task.task);
        }
    }

    fn job(&mut self, key: &JobKey) -> Option<&mut Found> {
        let place = *self.alive.get(key)?;
        Some(&mut self.found[place])
    }
}

/// The job that `words` name, as LABEL or QUEUE/LABEL; `at` tells jobs of one label apart.
pub(super) fn the_job(
    recording: &Recording,
    words: &str,
    at: Option<Time>,
) -> Result<Found, LogError> {
    let fail = |what: String| LogError::Which { file: recording.log.file().clone(), what };
    let matches = |arrival: &Arrival| {
        let label = arrival.name().to_string();
        words == label
            || words
                .strip_prefix(arrival.queue.as_str())
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|rest| rest == label)
    };
    let mut found = jobs(recording, matches)?;
    if found.is_empty() {
        return Err(fail(unknown_job(recording, words)?));
    }
    let mut queues: Vec<&str> = found.iter().map(|job| job.queue.as_str()).collect();
    queues.sort_unstable();
    queues.dedup();
    if queues.len() > 1 {
        let ways: Vec<String> =
            queues.iter().take(10).map(|queue| format!("{queue}/{words}")).collect();
        let more = if queues.len() > 10 {
            format!(" and {} more", queues.len() - 10)
        } else {
            String::new()
        };
        return Err(fail(format!(
            "has jobs `{words}` in {} queues; say which with --job {}{more}",
            queues.len(),
            ways.join(", ")
        )));
    }
    if found.len() > 1 {
        let times: Vec<String> = found.iter().take(10).map(|job| job.arrived.to_string()).collect();
        let count = found.len();
        if let Some(at) = at {
            found.retain(|job| job.arrived <= at && job.ended.is_none_or(|ended| at < ended));
        }
        if found.len() != 1 {
            return Err(fail(format!(
                "has {count} jobs `{words}` of one queue, which arrive at {}; say with --at when \
                 the one that you \
                 mean was there alone",
                times.join(", ")
            )));
        }
    }
    Ok(found.remove(0))
}

fn unknown_job(recording: &Recording, words: &str) -> Result<String, LogError> {
    let mut near: Option<(usize, String)> = None;
    let own = words.rsplit('/').next().unwrap_or(words);
    let mut reader = recording.log.read(&recording.run)?;
    while let Some((_, record)) = reader.next(ARRIVALS)? {
        let Some(arrival) = arrival_of(&record.fact) else { continue };
        let label = arrival.name().to_string();
        if let Some(far) = slips(own, &label)
            && near.as_ref().is_none_or(|(best, _)| far < *best)
        {
            near = Some((far, format!("{}/{label}", arrival.queue)));
        }
    }
    let near = near.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"));
    Ok(format!("has no job `{words}` under {}{near}", recording.policy()))
}

/// The error of a queue that was never there.
pub(super) fn unknown_queue(recording: &Recording, name: &str) -> LogError {
    let known = recording.run.header.queues.iter().map(|line| line.queue.as_str());
    let near = did_you_mean(name, known).map_or(String::new(), |near| format!("; {near}"));
    LogError::Which {
        file: recording.log.file().clone(),
        what: format!("has no queue `{name}`{near}"),
    }
}
