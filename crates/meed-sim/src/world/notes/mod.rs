//! What is noted of a run besides its books, where somebody asks for it: who was overtaken, when
//! one task starts, what becomes of reservations, what runs where, jobs one by one.
//!
//! Cost: nothing where nobody asks; see [`overtaken`] otherwise.

pub(super) mod jobs;
pub(crate) mod overtaken;
pub(crate) mod rooms;

use std::collections::BTreeMap;

use meed::{AllocationId, JobId, QueueId, Resources, Start, Time, View};
use meed_driver::record::{self, MostOvertaken, OVERTAKERS, Overtaker, RunRecord};
use meed_driver::{Driver, Journal, LiveJob};
use meed_journal::JobKey;
use meed_scenario::changes::Change;

use super::planned::Planned;
use super::setup::WorldSetup;
use crate::holds::HoldHistory;
use jobs::Jobs;
use overtaken::{Counted, Overtaken, Widths};
use rooms::{Rooms, Window};

/// What is to be noted: see [`super::WorldSetup`].
///
/// The example of [`HoldHistory`](crate::holds::HoldHistory) asks for one.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// Who was overtaken: [`record::QueueRecord::overtaken`]. Not of the static
    /// partition, where nobody has another beside him.
    pub overtaken: bool,
    /// The run ends when this task has started.
    pub(crate) until: Option<TaskName>,
    /// What becomes of reservations.
    pub(crate) holds: bool,
    /// What runs where in this window of time.
    pub(crate) window: Option<Window>,
}

impl Looks {
    /// Notes who was overtaken, and nothing else.
    pub fn overtaken() -> Looks {
        Looks { overtaken: true, ..Looks::default() }
    }

    /// Notes what becomes of reservations, and nothing else.
    pub fn holds() -> Looks {
        Looks { holds: true, ..Looks::default() }
    }

    /// Notes what runs where in a window of time, and nothing else.
    pub(crate) fn window(window: Window) -> Looks {
        Looks { window: Some(window), ..Looks::default() }
    }

    /// Ends the run when `task` has started, and notes nothing else.
    pub(crate) fn until(task: TaskName) -> Looks {
        Looks { until: Some(task), ..Looks::default() }
    }
}

/// A task, in every run of the same workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskName {
    /// The number of its job's arrival.
    pub(crate) number: u64,
    pub(crate) task: u32,
}

/// A task that was overtaken.
pub(crate) struct Passed {
    pub(crate) name: TaskName,
    job: JobKey,
    demand: Resources,
    started: Option<Time>,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Notes {
    overtaken: Option<Box<Overtaken<Passed>>>,
    until: Option<TaskName>,
    /// Ends of jobs cause others to arrive: another run has other arrivals, and no task of this one
    /// can be found there by its number.
    pub(super) chained: bool,
    /// Since when the task that was looked for waited, and when it started.
    pub(crate) found: Option<(Time, Time)>,
    pub(crate) holds: Option<Box<HoldHistory>>,
    pub(crate) rooms: Option<Box<Rooms>>,
    pub(super) jobs: Option<Box<Jobs>>,
}

impl Notes {
    pub(super) fn of(setup: &WorldSetup<'_>) -> Notes {
        let counts = setup.looks.overtaken && !setup.partitioned;
        let joins = setup.changes.iter().filter_map(|change| match &change.change {
            Change::NodeJoins(node) => Some(node),
            _ => None,
        });
        let nodes = setup.config.nodes.iter().chain(joins);
        let widths = || Widths::of(nodes, setup.config.kinds.len());
        Notes {
            overtaken: counts.then(|| Box::new(Overtaken::new(widths()))),
            until: setup.looks.until,
            chained: false,
            found: None,
            holds: (setup.looks.holds && !setup.partitioned).then(Box::default),
            rooms: setup.looks.window.map(|window| Box::new(Rooms::new(window))),
            jobs: setup.keep_jobs.then(|| Box::new(Jobs::new(setup.config.measured))),
        }
    }

    fn is_off(&self) -> bool {
        self.overtaken.is_none()
            && self.until.is_none()
            && self.rooms.is_none()
            && self.jobs.is_none()
    }

    /// Tasks of job number `job` begin to wait in `queue`.
    pub(super) fn begin(
        &mut self,
        now: Time,
        (queue, job): (QueueId, u64),
        groups: &[meed::TaskGroup],
    ) {
        if let Some(jobs) = &mut self.jobs {
            jobs.begin(job, groups);
        }
        if let Some(overtaken) = &mut self.overtaken {
            let queue = queue.index();
            groups.iter().for_each(|group| overtaken.begin(now, queue, &group.demand));
            if overtaken.is_too_much() {
                self.overtaken = None;
            }
        }
    }

    /// All of an instant has happened.
    #[inline]
    pub(super) fn look<K: Journal>(&mut self, driver: &Driver<Planned, K>) {
        if let Some(holds) = &mut self.holds {
            holds.look(driver.engine());
        }
        if let Some(rooms) = &mut self.rooms {
            rooms.look(driver);
        }
    }

    /// Whether anybody asks what has happened when an instant is over.
    #[inline]
    pub(super) fn looks(&self) -> bool {
        self.holds.is_some() || self.rooms.is_some()
    }

    /// A task has ended, or was stopped for another.
    #[inline]
    pub(super) fn end(&mut self, now: Time, task: AllocationId, stopped: bool) {
        if let Some(rooms) = &mut self.rooms {
            rooms.end(now, task, stopped);
        }
    }

    /// A task has started.
    #[inline]
    pub(super) fn start<K: Journal>(&mut self, driver: &Driver<Planned, K>, start: &Start) {
        if !self.is_off() {
            self.note_start(driver, start);
        }
    }

    fn note_start<K: Journal>(&mut self, driver: &Driver<Planned, K>, start: &Start) {
        if let Some(rooms) = &mut self.rooms {
            rooms.start(driver, start);
        }
        let first = driver.running(start.allocation).is_some_and(|task| task.attempt == 0);
        let (engine, live) = (driver.engine(), driver.job(start.job));
        let (Some(demand), Some(live)) = (engine.demand_of(start.allocation), live) else { return };
        if !first {
            return;
        }
        let now = engine.now();
        if let Some(jobs) = &mut self.jobs {
            jobs.start(number_of(live), now);
        }
        let name = || TaskName { number: number_of(live), task: start.task };
        if self.until.is_some_and(|until| until == name()) {
            self.found.get_or_insert((live.ready(), now));
        }
        if let Some(overtaken) = &mut self.overtaken {
            overtaken.start(start.queue.index(), live.ready(), demand, || Passed {
                name: name(),
                job: live.name().clone(),
                demand: *demand,
                started: Some(now),
            });
        }
    }

    /// The run is over: tasks that wait have waited until now.
    pub(super) fn finish<K: Journal>(&mut self, driver: &Driver<Planned, K>) {
        let Some(overtaken) = &mut self.overtaken else { return };
        let engine = driver.engine();
        let mut waiting: BTreeMap<(JobId, u32), (Resources, u64)> = BTreeMap::new();
        // Those that all have reservations are in no order.
        for hold in engine.reservations() {
            waiting.entry((hold.job, hold.group)).or_insert((hold.demand, 0)).1 +=
                u64::from(hold.tasks());
        }
        for group in engine.queue_ids().flat_map(|leaf| engine.groups_in_order(leaf)) {
            waiting.insert((group.job, group.group), (group.demand, group.waiting));
        }
        for ((job, group), (demand, tasks)) in waiting {
            let Some(live) = driver.job(job) else { continue };
            let tasks = tasks.min(live.unstarted());
            let task = live.detail.tasks.first_of_last(group, tasks);
            let queue = live.queue().index();
            overtaken.still_wait(queue, live.ready(), &demand, tasks, || Passed {
                name: TaskName { number: number_of(live), task },
                job: live.name().clone(),
                demand,
                started: None,
            });
        }
    }
}

/// The number of a job's arrival: its key in this world.
pub(super) fn number_of(live: &LiveJob<Planned>) -> u64 {
    match live.key() {
        JobKey::Number(number) => *number,
        JobKey::Text(_) => u64::MAX,
    }
}

/// What was counted, in the record of the run; and which task was overtaken most, of each queue by
/// its place in the record; none where tasks cannot be found in another run.
pub(super) fn tell(notes: Notes, tree: View<'_>, end: Time, record: &mut RunRecord) -> Vec<Most> {
    let Some(overtaken) = notes.overtaken else { return Vec::new() };
    let mut counted = overtaken.counted();
    let ids: BTreeMap<&str, usize> =
        tree.queue_ids().map(|id| (tree.queue_name(id), id.index())).collect();
    let names: BTreeMap<usize, &str> = ids.iter().map(|(name, index)| (*index, *name)).collect();
    let mut most = Vec::new();
    for (place, queue) in record.queues.iter_mut().enumerate() {
        let counted = ids.get(queue.queue.as_str()).and_then(|index| counted.remove(index));
        let (told, name) = told(counted, &names, tree, end);
        let name = name.filter(|_| !notes.chained);
        most.extend(name.map(|(name, until)| Most { place, name, until }));
        queue.overtaken = Some(told);
    }
    most
}

/// The task of a queue that was overtaken most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// The queue's place in the record.
    pub(crate) place: usize,
    pub(crate) name: TaskName,
    /// Up to when it waited.
    pub(crate) until: Time,
}

fn told(
    counted: Option<Counted<Passed>>,
    names: &BTreeMap<usize, &str>,
    tree: View<'_>,
    end: Time,
) -> (record::Overtaken, Option<(TaskName, Time)>) {
    let Some(counted) = counted else { return Default::default() };
    let until = |most: &overtaken::Most<Passed>| most.task.started.unwrap_or(end);
    let name = counted.most.as_ref().map(|most| (most.task.name, until(most)));
    let most = counted.most.map(|most| {
        let waited_s = (until(&most) - most.began).as_secs_f64();
        let by = most.by.iter().take(OVERTAKERS).map(|(queue, times)| Overtaker {
            queue: names.get(queue).copied().unwrap_or_default().to_owned(),
            times: *times,
        });
        MostOvertaken {
            job: most.task.job,
            demand: meed_driver::explain::natural(tree, &most.task.demand),
            since_s: most.began.as_secs_f64(),
            started_s: most.task.started.map(Time::as_secs_f64),
            waited_s,
            times: most.times,
            by: by.collect(),
            with_reserve: None,
        }
    });
    (record::Overtaken { tasks: counted.tasks, times: counted.times, most }, name)
}
