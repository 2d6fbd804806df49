//! A driver whose journal is its memory: it survives crashes, and nothing is carried out before it
//! is durable.
//!
//! | call | what |
//! |---|---|
//! | [`Live::open`] | makes a journal, or goes on where one ends: the last snapshot, then the records behind it |
//! | [`Live::at`] | tells what happened at one instant; then it is decided, once |
//! | [`Live::commit`] | makes all of it durable in one write and one sync, and hands out what is to be carried out |
//! | [`Live::begin_commit`] | the same beside the world, which goes on meanwhile: it hands out what the call before began |
//! | [`Live::tidy`] | leaves a snapshot where one is due, and forgets what may be forgotten |
//!
//! [`Action`]s come from commits alone, after the sync: no world can carry out earlier what its
//! journal may lose. One call of `at` is one instant, its records stand together, and instants
//! rise: so the journal says when it was decided, and whoever plays it decides the same.
//!
//! Invariant: after a crash at any moment, [`Live::open`] is where a world was after some call of
//! `at`, never before the last one that was committed. Cost over a driver's own: one line of JSON
//! for each record.

mod batch;
mod book;
mod elsewhere;
mod open;

use meed::{AllocationId, QueueId, Rejected, Span, Time, View};
use meed_journal::{JobKey, Name, PoliciesChanged, TaskKey};
use meed_store::{Retention, Seq, Store, StoreError, UnixMillis};
use serde::Serialize;

use crate::counters::Counters;
use crate::driver::Driver;
use crate::driver::apply::RunningTask;
use crate::explain::{QueueStatus, Standing, Subject};
use crate::journal::Failed;
use crate::tally::Tally;
pub use batch::Batch;
use book::Book;
pub use open::{OpenError, Opening, Recovered, Take};

/// What the world is to carry out. It is durable.
///
/// Not `#[non_exhaustive]`: a world that passed over an action would be wrong, so a new one must be
/// a compile error there.
///
/// The example of [`Live`] reads two.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// This task starts on this node.
    Start {
        /// The task: this attempt of it never starts again.
        task: TaskKey,
        /// Where.
        node: Name,
    },
    /// This task is to be stopped: its job is gone, or its node has no room for it.
    Stop {
        /// The task.
        task: TaskKey,
        /// Where it ran.
        node: Name,
    },
    /// This running task is told to stop, for its room is taken back for another. Unlike one of
    /// [`Action::Stop`] it counts as running until the world tells that it is lost
    /// ([`meed_journal::Fact::task_lost`]), or its end where that comes before.
    Reclaim {
        /// The task.
        task: TaskKey,
        /// Where it runs.
        node: Name,
        /// How long it may take to stop.
        grace: Span,
        /// The job for which its room is taken back.
        winner: JobKey,
    },
}

/// When a snapshot is due.
///
/// ```
/// use meed_driver::live::SnapshotRule;
///
/// let rule = SnapshotRule { records: 1000, ..SnapshotRule::default() };
/// assert_eq!(rule.bytes, 64 << 20);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotRule {
    /// After so many records.
    pub records: u64,
    /// After so many bytes of records.
    pub bytes: u64,
}

impl Default for SnapshotRule {
    fn default() -> SnapshotRule {
        SnapshotRule { records: 100_000, bytes: 64 << 20 }
    }
}

/// A driver with a durable journal: nothing that it decides is handed out before it is stored, and
/// after a crash the journal says where things stood. `J` is what the world keeps of each live job.
///
/// ```
/// # use meed::{Config, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Time, Unit};
/// # use meed::place::{FirstFit, Placement};
/// use meed_driver::live::{Action, Live, Opening, SnapshotRule};
/// use meed_driver::{Taken, header_of};
/// use meed_journal::{Amounts, Arrival, Fact, Group, Opened};
/// use meed_store::{FileStore, FileStoreOptions, UnixMillis};
///
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let core = Amounts::of(&Resources::new(&[1000]), &config.kinds);
/// let folder = tempfile::tempdir()?;
/// let store = FileStore::open_folder(folder.path(), FileStoreOptions::default())?;
/// let opening = Opening {
///     header: header_of("toy", "fair", &config, "first-fit"),
///     config,
///     place: Box::new(|| Box::new(FirstFit::new(1)) as Box<dyn Placement>),
///     take: Box::new(|_| Taken { detail: (), max_attempts: 1 }),
///     opened: Opened::default(),
///     rule: SnapshotRule::default(),
///     reasons: false,
///     wall: UnixMillis::new(0),
/// };
/// let (mut live, recovered) = Live::open(Box::new(store), opening)?;
/// assert_eq!(recovered.played, 0); // a new journal
///
/// let group = Group { tasks: 3, demand: core, ..Group::default() };
/// let job = Fact::job_arrived(Arrival::new("physics".into(), "9f1c".into(), vec![group]));
/// live.at(Time::from_secs(1).ok_or("in range")?, |batch| batch.apply(&job))?;
/// let actions = live.commit(UnixMillis::new(1000))?; // durable: now they may be carried out
/// assert!(actions.len() == 2 && matches!(actions[0], Action::Start { .. }));
/// assert_eq!(live.running().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Live<J> {
    driver: Driver<J, Book>,
    take: Take<J>,
    /// What waits to be durable, each with the last record when it was decided: none later has
    /// anything to do with it.
    actions: Vec<(Seq, Action)>,
    /// Empty between decisions; its room is kept.
    starts: Vec<AllocationId>,
    /// Instants are later than this one.
    last: Time,
    rule: SnapshotRule,
    /// Why nothing more can be told.
    failed: Option<String>,
}

impl<J> Live<J> {
    /// Tells by `tell` what happened at `now`; then it is decided what starts. Within one instant a
    /// world tells ends first, then changes, then arrivals. `now` must be later than at the last
    /// call: [`Live::instant`].
    ///
    /// An error of `tell` is handed on; what was told before it holds.
    ///
    /// # Errors
    ///
    /// An instant that is not later. A journal that could not be written: from then on every call
    /// fails, and the world opens again.
    pub fn at<T>(
        &mut self,
        now: Time,
        tell: impl FnOnce(&mut Batch<'_, J>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        self.ensure_sound()?;
        if now < self.instant(now) {
            let (given_us, now_us) = (now.as_micros(), self.instant(now).as_micros());
            return Err(Rejected::TimeWentBack { given_us, now_us }.into());
        }
        let (told, appended) = (self.driver.journal().told(), self.driver.journal().appended());
        let answer = tell(&mut Batch::new(self, now));
        if self.driver.journal().told() > told {
            self.last = now;
            let decided = self.decide(now);
            self.note_failure(decided)?;
        } else if self.driver.journal().appended() > appended {
            // Nothing happened, but records of later instants come later.
            self.last = now;
            self.driver.engine.advance(now)?;
        }
        let answer = self.note_failure(answer)?;
        Ok(answer)
    }

    fn decide(&mut self, now: Time) -> Result<(), Failed> {
        self.driver.journal_mut().counters().decided();
        let mut starts = std::mem::take(&mut self.starts);
        let decided = self.driver.decide_at(now, |start| starts.push(start.allocation));
        for allocation in starts.drain(..) {
            let RunningTask { task, node } = self.running_task(allocation);
            self.waits(Action::Start { task, node });
        }
        self.starts = starts;
        decided?;
        for stop in self.driver.take_stops() {
            let RunningTask { task, node } = self.running_task(stop.allocation);
            let winner = self.driver.job(stop.winner.job).expect("it waits").key().clone();
            self.waits(Action::Reclaim { task, node, grace: stop.grace, winner });
        }
        Ok(())
    }

    /// A start that the journal holds was not carried out before a crash, as the world has made
    /// sure: it is handed out again by the next commit. Nothing is recorded, for nothing changes.
    ///
    /// # Errors
    ///
    /// A task that does not run.
    pub fn start_again(&mut self, task: &TaskKey) -> Result<(), Failed> {
        let RunningTask { task, node } = self.driver.running_attempt(task)?;
        self.waits(Action::Start { task, node });
        Ok(())
    }

    /// Running tasks that were told to stop for others, and have not. A world that was opened again
    /// tells them once more.
    pub fn stopping(&self) -> impl Iterator<Item = RunningTask> + '_ {
        self.driver.engine().stopping().map(|id| self.running_task(id))
    }

    /// When it is to be decided next though nothing happens until then: the world tells
    /// [`meed_journal::Fact::time_passed`] at that instant or soon after.
    pub fn next_look(&self) -> Option<Time> {
        self.driver.next_look()
    }

    /// The first instant from `clock` on at which something can be told: clocks may stand still or
    /// be put back, instants rise.
    pub fn instant(&self, clock: Time) -> Time {
        let microsecond = meed::Span::from_micros(1).expect("in range");
        let first = match self.driver.journal().is_empty_but_for_header() {
            true => self.last,
            false => self.last.saturating_add(microsecond),
        };
        clock.max(first).max(self.driver.engine().now())
    }

    /// Whether [`meed_journal::Fact::policies_changed`] would be taken now, without telling it: a
    /// world that takes settings as a whole, or not at all, asks first.
    ///
    /// # Errors
    ///
    /// Why it would not.
    pub fn check_policies(&self, change: &PoliciesChanged) -> Result<(), Failed> {
        self.driver.check_policies(change)
    }

    /// Makes all that was told and decided durable, in one write and one sync, and hands out what
    /// is to be carried out since the last time, in order. `wall`: for the retention by age.
    ///
    /// # Errors
    ///
    /// A write that failed: nothing is handed out, and from then on every call fails.
    pub fn commit(&mut self, wall: UnixMillis) -> Result<Vec<Action>, Failed> {
        self.ensure_sound()?;
        let committed = self.driver.journal_mut().commit_all(wall).map_err(io_error);
        self.note_failure(committed)?;
        Ok(self.actions.drain(..).map(|(_, action)| action).collect())
    }

    /// Begins to make all that was told and decided durable, and hands out what has become so: all
    /// that the call before began, for which it waits. While the disk works the world tells and
    /// decides more. [`Live::commit`] waits for all and hands out the rest. With a store that
    /// cannot work beside its caller ([`Store::begin_commit`]) this is `commit`.
    ///
    /// # Errors
    ///
    /// As [`Live::commit`], for what was begun before as well.
    pub fn begin_commit(&mut self, wall: UnixMillis) -> Result<Vec<Action>, Failed> {
        self.ensure_sound()?;
        let begun = self.driver.journal_mut().begin_commit(wall).map_err(io_error);
        let durable = self.note_failure(begun)?;
        let count = self.actions.partition_point(|(last, _)| *last <= durable);
        Ok(self.actions.drain(..count).map(|(_, action)| action).collect())
    }

    /// It is handed out when all records until now are durable.
    fn waits(&mut self, action: Action) {
        self.actions.push((self.driver.journal().appended(), action));
    }

    /// Leaves a snapshot where one is due by the rule, then forgets what `keep` allows: for a quiet
    /// moment after a commit. Whether there was one.
    ///
    /// # Errors
    ///
    /// As [`Live::commit`].
    pub fn tidy(&mut self, keep: &Retention, wall: UnixMillis) -> Result<bool, Failed>
    where
        J: Clone + Serialize,
    {
        let is_due = self.driver.journal().is_due(self.rule);
        if is_due {
            self.snapshot(wall)?;
            let tidied = self.driver.journal_mut().store_mut().retain(keep, wall);
            self.note_failure(tidied.map_err(io_error))?;
        }
        Ok(is_due)
    }

    /// Leaves a snapshot now, after a commit of what is not durable yet; the actions of that wait
    /// for the world's own commit.
    ///
    /// # Errors
    ///
    /// As [`Live::commit`].
    pub fn snapshot(&mut self, wall: UnixMillis) -> Result<Seq, Failed>
    where
        J: Clone + Serialize,
    {
        self.ensure_sound()?;
        let committed = self.driver.journal_mut().commit_all(wall).map_err(io_error);
        let seq = self.note_failure(committed)?;
        let state = self.driver.state();
        let kept = self.driver.journal_mut().snapshot(seq, &state).map_err(io_error);
        self.note_failure(kept)?;
        Ok(seq)
    }

    /// All tasks that run as far as the journal knows. After a crash the world compares them with
    /// what it finds ([`Recovered`]).
    pub fn running(&self) -> impl Iterator<Item = RunningTask> + '_ {
        self.driver.engine().running_ids().map(|id| self.running_task(id))
    }

    fn running_task(&self, id: AllocationId) -> RunningTask {
        self.driver.named(self.driver.running(id).expect("a running task has a row"))
    }

    /// A task is to be stopped. Where its start was not handed out yet, it never starts.
    fn stops(&mut self, task: TaskKey, node: Name) {
        if let Some((task, node)) = self.forget_start(task, node) {
            self.waits(Action::Stop { task, node });
        }
    }

    /// Takes back a start that was not handed out yet; gives the task back where there is none.
    fn forget_start(&mut self, task: TaskKey, node: Name) -> Option<(TaskKey, Name)> {
        let start = Action::Start { task, node };
        let waits = self.actions.iter().position(|(_, action)| *action == start);
        let Action::Start { task, node } = start else { unreachable!("made above") };
        match waits {
            Some(place) => {
                self.actions.remove(place);
                None
            }
            None => Some((task, node)),
        }
    }

    /// The live job of that key.
    pub fn job(&self, key: &JobKey) -> Option<&crate::rows::LiveJob<J>> {
        self.driver.job(self.driver.job_of(key)?)
    }

    /// How a leaf queue, or a job of it, stands at `now`; nothing is run again
    /// ([`Driver::explain`]).
    ///
    /// # Errors
    ///
    /// Where `now` lies before the last event, or there is no such leaf.
    pub fn explain(
        &mut self,
        now: Time,
        leaf: QueueId,
        subject: Subject,
    ) -> Result<Standing, Rejected> {
        self.driver.explain(now, leaf, subject)
    }

    /// The books of all leaf queues at `now`, in order of declaration.
    ///
    /// # Errors
    ///
    /// Where `now` lies before the last event.
    pub fn queues(&mut self, now: Time) -> Result<Vec<(QueueId, QueueStatus)>, Rejected> {
        self.driver.queues(now)
    }

    /// The engine, to be read.
    pub fn engine(&self) -> View<'_> {
        self.driver.engine()
    }

    /// What was counted.
    pub fn counted(&self) -> &Tally {
        self.driver.counted()
    }

    /// What it counts for whoever watches it; the world says how long its commits take.
    pub fn counters(&mut self) -> &mut Counters {
        self.driver.journal_mut().counters()
    }

    /// Where the records are, to be read.
    pub fn store(&self) -> &dyn Store {
        self.driver.journal().store()
    }

    /// Everything that it knows, as a snapshot would hold it.
    pub fn state(&self) -> Vec<u8>
    where
        J: Clone + Serialize,
    {
        self.driver.state()
    }

    fn ensure_sound(&self) -> Result<(), Failed> {
        match &self.failed {
            None => Ok(()),
            Some(why) => {
                let why = format!("{why}; open the journal again, and go on from what it holds");
                Err(Failed::Journal(std::io::Error::other(why)))
            }
        }
    }

    /// Only a refusal leaves the journal and the books as one.
    fn note_failure<T>(&mut self, done: Result<T, Failed>) -> Result<T, Failed> {
        if let Err(Failed::Journal(why)) = &done {
            self.failed.get_or_insert_with(|| why.to_string());
        }
        done
    }
}

fn io_error(error: StoreError) -> Failed {
    Failed::Journal(std::io::Error::other(error))
}
