//! Rows of what lives: jobs, as the engine does not know them, and tasks that run.

use std::collections::BTreeMap;

use meed::memory::{expect, expect_at};
use meed::{AllocationId, JobId, NodeId, QueueId, Time};
use meed_journal::JobKey;
use serde::{Deserialize, Serialize};

/// What a world says of a job that it submits.
///
/// The example of [`LiveJob`] submits one.
#[derive(Clone, Debug)]
pub struct NewJob<J> {
    /// Its key: unique in the journal for ever.
    pub key: JobKey,
    /// What people call it, where that is not its key.
    pub name: Option<JobKey>,
    /// What the world keeps of it.
    pub detail: J,
}

/// A live job: what the engine does not know about it. `J` is what the world keeps of its own. Rows
/// begin with a line of memory, for each event finds its own far away.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// let live = driver.job(job).ok_or("it has not ended")?;
/// assert_eq!((live.key(), live.queue()), (&7.into(), queue));
/// assert_eq!((live.unstarted(), live.waiting_tasks()), (1, 1)); // two of three tasks run
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct LiveJob<J> {
    /// The engine's handle.
    pub(crate) id: JobId,
    pub(crate) key: JobKey,
    pub(crate) name: Option<JobKey>,
    pub(crate) queue: QueueId,
    pub(crate) submit: Time,
    /// When the tasks that were added last began to wait.
    pub(crate) ready: Time,
    /// Tasks that have never started.
    pub(crate) unstarted: u32,
    /// Tasks that have started and wait or run again. Boxed away: most jobs have none.
    pub(crate) again: Option<Box<Again>>,
    /// What the world knows besides.
    pub detail: J,
}

// With five words of a world's own; where words have less than 64 bits it is smaller.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<LiveJob<[u64; 5]>>() == 128);

/// Tasks of a job that were started more than once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Again {
    /// Those that wait, and since when.
    waiting: BTreeMap<u32, Time>,
    /// Starts before the one that is, or comes.
    attempts: BTreeMap<u32, u32>,
}

/// Tasks of a job that wait.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// let waiting = driver.job(job).and_then(|live| live.waiting()).ok_or("one task waits")?;
/// assert_eq!((waiting.tasks, waiting.since), (1, Time::ZERO));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// How many.
    pub tasks: u64,
    /// Since when the first of them has waited.
    pub since: Time,
}

impl<J> LiveJob<J> {
    /// The handle by which verbs know it.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Its key.
    pub fn key(&self) -> &JobKey {
        &self.key
    }

    /// What people call it.
    pub fn name(&self) -> &JobKey {
        self.name.as_ref().unwrap_or(&self.key)
    }

    /// Has the lines of its row brought in which these fields stand; the first is at hand.
    #[inline]
    pub(crate) fn expect(&self) {
        expect(&self.name);
        expect(&self.submit);
        expect(&self.unstarted);
        expect(&self.detail);
    }

    /// Its leaf queue.
    pub fn queue(&self) -> QueueId {
        self.queue
    }

    /// When it arrived.
    pub fn submit(&self) -> Time {
        self.submit
    }

    /// When those of its tasks that were added last began to wait.
    pub fn ready(&self) -> Time {
        self.ready
    }

    /// Tasks of it that have never started.
    pub fn unstarted(&self) -> u64 {
        self.unstarted.into()
    }

    /// What waits of it.
    pub fn waiting(&self) -> Option<Waiting> {
        let again = self.again.iter().flat_map(|again| again.waiting.values().copied());
        let tasks = self.unstarted() + again.clone().count() as u64;
        let since = (self.unstarted > 0).then_some(self.ready).into_iter().chain(again).min();
        since.map(|since| Waiting { tasks, since })
    }

    /// Tasks of it that wait.
    pub fn waiting_tasks(&self) -> u64 {
        self.waiting().map_or(0, |waits| waits.tasks)
    }

    /// A task starts: since when it has waited, and how many starts of it came before.
    #[inline]
    pub(crate) fn starts(&mut self, task: u32) -> (Time, u32) {
        if let Some(again) = &mut self.again
            && let Some(since) = again.waiting.remove(&task)
        {
            return (since, again.attempts.get(&task).copied().unwrap_or(0));
        }
        self.unstarted -= 1;
        (self.ready, 0)
    }

    /// How many starts of a task that waits came before.
    pub fn starts_before(&self, task: u32) -> u32 {
        self.again.as_ref().and_then(|again| again.attempts.get(&task)).copied().unwrap_or(0)
    }

    /// Whether some task of it has started that was to be started again.
    pub fn has_started_again(&self) -> bool {
        self.again.is_some()
    }

    /// A task that waits is wanted no more.
    pub(crate) fn withdraw(&mut self, task: u32) {
        let again = self.again.as_mut();
        if again.is_none_or(|again| again.waiting.remove(&task).is_none()) {
            self.unstarted -= 1;
        }
    }

    pub(crate) fn waits_again(&mut self, task: u32, now: Time) {
        let again = self.again.get_or_insert_default();
        again.waiting.insert(task, now);
        *again.attempts.entry(task).or_insert(0) += 1;
    }
}

/// A task that runs or ran.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// let task = driver.running(starts[1].allocation).ok_or("it runs")?;
/// assert_eq!((task.job, task.task, task.attempt), (job, 1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// The engine's handle.
    pub allocation: AllocationId,
    /// Its job.
    pub job: JobId,
    /// Its number within the job.
    pub task: u32,
    /// How many starts of it came before, failed and lost ones.
    pub attempt: u32,
    /// Where it runs.
    pub node: NodeId,
}

/// Rows by the slot of a handle: a new slot is always the next, so the table is dense.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T>(Vec<Option<T>>);

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows(Vec::new())
    }
}

impl<T> Rows<T> {
    /// Of so many slots, all empty.
    pub(crate) fn of_slots(count: usize) -> Rows<T> {
        Rows((0..count).map(|_| None).collect())
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: usize, row: T) {
        match self.0.get_mut(slot) {
            Some(place) => *place = Some(row),
            None => {
                debug_assert_eq!(self.0.len(), slot, "a new slot is the next");
                self.0.push(Some(row));
            }
        }
    }

    /// Has the line of memory brought in which a row begins.
    #[inline]
    pub(crate) fn expect(&self, slot: usize) {
        expect_at(&self.0, slot);
    }

    #[inline]
    pub(crate) fn get(&self, slot: usize) -> Option<&T> {
        self.0.get(slot)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.0.get_mut(slot)?.as_mut()
    }

    #[inline]
    pub(crate) fn take(&mut self, slot: usize) -> Option<T> {
        self.0.get_mut(slot)?.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}
