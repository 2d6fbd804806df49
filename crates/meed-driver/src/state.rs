//! A driver's whole state as plain data: what a snapshot holds.
//!
//! One line names the version, JSON follows. The engine's own state ([`meed::State`]) is in it;
//! beside it stands what only the driver knows: names, since when who waits, what was counted.
//! Handles are not kept: rows stand in the order of the engine's slots, which keep theirs. A live
//! job is a row of values without their names, as there are many.
//!
//! Invariant: what is read goes on as what was written would have. Cost: O(queues + nodes + jobs +
//! running tasks), once to write and once to read.

use meed::place::Placement;
use meed::{Engine, MAX_KINDS, QueueId, State, Time, View};
use meed_journal::{JobKey, Name};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

use crate::by_queue::ByQueue;
use crate::capacity::CapacityTime;
use crate::driver::Driver;
use crate::journal::Journal;
use crate::names::Names;
use crate::rows::{Again, LiveJob, Rows, Task};
use crate::tally::{QueueTally, Tally, Totals};

/// The line above the JSON, without the version.
const MAGIC: &str = "meed driver state ";

/// The version that is written, and the only one that is read.
pub const DRIVER_STATE_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole<J> {
    engine: State,
    /// What the only queue is called in records, where the engine calls it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alone: Option<Name>,
    /// Queues that have or had children.
    parents: Vec<u32>,
    /// Live jobs in order of slot.
    jobs: Vec<JobRow<J>>,
    /// Of running tasks, in order of slot, those that were started before: place, starts before.
    attempts: Vec<(u32, u32)>,
    queues: Vec<QueueTally>,
    totals: Totals,
    capacity: Vec<u128>,
    capacity_at: Time,
    touched: bool,
}

/// Written as a row of its values, as the engine's are ([`State`]); read with their names too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobRow<J> {
    key: JobKey,
    #[serde(default)]
    name: Option<JobKey>,
    queue: u32,
    submit: Time,
    ready: Time,
    unstarted: u32,
    #[serde(default = "Option::default")]
    again: Option<Box<Again>>,
    detail: J,
}

impl<J: Serialize> Serialize for JobRow<J> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let JobRow { key, name, queue, submit, ready, unstarted, again, detail } = self;
        (key, name, queue, submit, ready, unstarted, again, detail).serialize(to)
    }
}

impl<J, K: Journal> Driver<J, K> {
    /// What its engine knows, as plain data ([`meed::Engine::state`]).
    pub fn engine_state(&self) -> meed::State {
        self.engine.state()
    }
}

impl<J: Clone + Serialize, K: Journal> Driver<J, K> {
    /// Everything that it knows, as bytes for [`Driver::from_state`]. Where records go is not part
    /// of it.
    pub fn state(&self) -> Vec<u8> {
        let engine = self.engine.state();
        let parents = self.is_leaf.iter().filter(|(_, leaf)| !**leaf);
        let row = |queue| self.engine.view().queue_row(queue).map(|row| row as u32);
        let known = |(queue, _): &(QueueId, &QueueTally)| row(*queue).is_some();
        let attempts = self.engine.view().running_ids().enumerate().filter_map(|(place, id)| {
            let task = self.running(id).expect("a running task has a row");
            (task.attempt > 0).then_some((place as u32, task.attempt))
        });
        let job = |id| {
            let live = self.job(id).expect("a job that the engine knows has a row").clone();
            let LiveJob { key, name, queue, submit, ready, unstarted, again, detail, .. } = live;
            JobRow {
                key,
                name,
                queue: row(queue).expect("a queue with a job is known"),
                submit,
                ready,
                unstarted,
                again,
                detail,
            }
        };
        let (capacity, capacity_at) = self.capacity.parts();
        let whole = Whole {
            alone: self.names.alone.clone(),
            parents: parents.filter_map(|(queue, _)| row(queue)).collect(),
            jobs: self.engine.view().job_ids().map(job).collect(),
            attempts: attempts.collect(),
            queues: self.tally.queues().filter(known).map(|(_, tally)| tally.clone()).collect(),
            totals: self.tally.totals.clone(),
            capacity: capacity.to_vec(),
            capacity_at,
            touched: self.touched,
            engine,
        };
        let mut bytes = format!("{MAGIC}{DRIVER_STATE_VERSION}\n").into_bytes();
        serde_json::to_writer(&mut bytes, &whole).expect("memory takes all, and keys are text");
        bytes
    }
}

impl<J: DeserializeOwned, K: Journal> Driver<J, K> {
    /// The driver that wrote `bytes`, with its records in `journal` from now on; it places by
    /// `place`, which knows no node yet and is of the kind that the driver had.
    ///
    /// # Errors
    ///
    /// Bytes of another version, or that no driver can have written: in words.
    pub fn from_state(
        bytes: &[u8],
        place: Box<dyn Placement>,
        journal: K,
    ) -> Result<Driver<J, K>, String> {
        let whole: Whole<J> = serde_json::from_slice(json_of(bytes)?)
            .map_err(|why| format!("the driver's state: {why}"))?;
        let engine = Engine::from_state(&whole.engine, place).map_err(|why| why.to_string())?;
        let queues: Vec<QueueId> = engine.view().queue_ids().collect();
        whole.ensure_fits(engine.view())?;
        let mut is_leaf = ByQueue::of(queues.iter().map(|&queue| (queue, true)));
        whole.parents.iter().for_each(|&row| is_leaf[queues[row as usize]] = false);
        let mut driver = Driver::around(engine, is_leaf, journal);
        driver.names = Names::default();
        driver.names.alone = whole.alone;
        driver.jobs = Rows::of_slots(whole.engine.jobs.generations.len());
        driver.tasks = Rows::of_slots(whole.engine.running.generations.len());
        for (id, row) in driver.engine.view().job_ids().zip(whole.jobs) {
            let JobRow { key, name, queue, submit, ready, unstarted, again, detail } = row;
            let queue = queues[queue as usize];
            let live = LiveJob { id, key, name, queue, submit, ready, unstarted, again, detail };
            driver.jobs.put(id.slot(), live);
        }
        let nodes: Vec<_> = driver.engine.view().node_ids().collect();
        for (allocation, (_, running)) in
            driver.engine.view().running_ids().zip(&whole.engine.running.live)
        {
            let job = driver.engine.view().running_job(allocation).expect("it runs");
            let (task, node) = (running.task, nodes[running.node as usize]);
            driver.tasks.put(allocation.slot(), Task { allocation, job, task, attempt: 0, node });
        }
        let allocations: Vec<_> = driver.engine.view().running_ids().collect();
        for (place, attempt) in whole.attempts {
            let allocation = allocations[place as usize];
            driver.tasks.get_mut(allocation.slot()).expect("it has just come").attempt = attempt;
        }
        let tallies = ByQueue::of(queues.iter().copied().zip(whole.queues));
        driver.tally = Tally::of(tallies, whole.totals);
        let mut passed = [0; MAX_KINDS];
        passed.iter_mut().zip(&whole.capacity).for_each(|(sum, &kept)| *sum = kept);
        driver.capacity = CapacityTime::from_parts(passed, whole.capacity_at);
        driver.touched = whole.touched;
        Ok(driver)
    }
}

impl<J> Whole<J> {
    /// Its rows are as many as the engine's, and point at what is there.
    fn ensure_fits(&self, engine: View<'_>) -> Result<(), String> {
        let queues = engine.queue_ids().len();
        let counts = [
            ("jobs", self.jobs.len(), engine.live_jobs()),
            ("queues", self.queues.len(), queues),
            ("capacity", self.capacity.len(), MAX_KINDS),
        ];
        for (what, found, wanted) in counts {
            if found != wanted {
                return Err(format!("the driver's state: {found} rows of {what}, not {wanted}"));
            }
        }
        let known = |what: &str, index: u32, count: usize| match (index as usize) < count {
            true => Ok(()),
            false => Err(format!("the driver's state: {what} {index} of {count} is not there")),
        };
        self.parents.iter().try_for_each(|&queue| known("queue", queue, queues))?;
        self.jobs.iter().try_for_each(|row| known("a job's queue", row.queue, queues))?;
        let running = engine.running_tasks();
        self.attempts.iter().try_for_each(|&(place, _)| known("running task", place, running))
    }
}

/// What stands below the line of the version.
fn json_of(bytes: &[u8]) -> Result<&[u8], String> {
    let expected = format!("{MAGIC}{DRIVER_STATE_VERSION}");
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if line == expected.as_bytes() {
        return Ok(&bytes[line.len() + 1..]);
    }
    let found = String::from_utf8_lossy(&line[..line.len().min(60)]);
    Err(format!("the state begins with {found:?}; this program reads {expected:?}"))
}
