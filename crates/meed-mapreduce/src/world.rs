//! The loop over instants. At each: phases that end, tasks whose start-up is over, changes of
//! speeds, submissions, heartbeats.
//!
//! Cost: a phase's end O(log users of a server + log servers); a heartbeat that starts nothing O(1)
//! besides the engine's offer, which looks at the jobs that wait and at no other node. So nothing
//! but the number of heartbeats grows with the number of nodes. Most of them tell of no end and
//! find no slot free for what waits ([`MapReduceWorld::hears`]): those are counted one after the
//! other, until something else happens.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use crate::classes::Classes;
use meed::place::Unasked;
use meed::{JobId, NodeId, Time};
use meed_driver::record::mapreduce::{MapReduceRecord, Speculation};
use meed_driver::{Books, Driver, Journal, Progress, Sampler, StopAt, finish_of};

use super::blocks::Racks;
use super::caches::Caches;
use super::cluster::{Cluster, SpeedChange};
use super::error::MapReduceError;
use super::flows::Flows;
use super::jobs::{Job, RequestState};
use super::kinds::MapReduceKind;
use super::machines::{Machines, Place};
use super::nodes::Node;
use super::rounds::Rounds;
use super::setup::{Begin, MapReduceRequest, MapReduceSetup};
use super::tasks::{Doing, Pages, Shape, Step, Tasks};
use super::views::Views;

/// Instants between two words about progress.
const INSTANTS_PER_PROGRESS: u64 = 4096;

/// Where a run logs.
pub(super) type Log<'a> = Box<dyn Journal + 'a>;

/// The world of one run: from its setup, instant by instant.
pub struct MapReduceWorld<'a> {
    /// Keeps of each live job its number in `jobs`.
    pub(super) driver: Driver<u32, Log<'a>>,
    pub(super) classes: Classes,
    pub(super) rule: &'static str,
    pub(super) cluster: Cluster,
    pub(super) racks: Racks,
    pub(super) machines: Machines,
    pub(super) nodes: Vec<Node>,
    pub(super) node_ids: Vec<NodeId>,
    pub(super) kinds: Vec<MapReduceKind>,
    pub(super) requests: Vec<MapReduceRequest>,
    pub(super) request_states: Vec<RequestState>,
    /// Requests to be submitted, by time.
    pub(super) due: BTreeSet<(Time, usize)>,
    /// In order of submission.
    pub(super) jobs: Vec<Job>,
    /// Numbers of jobs that have not ended.
    pub(super) live: BTreeSet<u32>,
    pub(super) waiting_maps: u64,
    pub(super) waiting_reduces: u64,
    pub(super) tasks: Tasks,
    /// What they do side by side.
    pub(super) flows: Flows,
    pub(super) speculation: Speculation,
    /// What of files lies in memory.
    pub(super) caches: Option<Caches>,
    /// Second attempts that are offered now.
    pub(super) offered_copies: u32,
    /// Tasks that start up, and when they have.
    pub(super) starting: VecDeque<(Time, u32)>,
    changes: VecDeque<SpeedChange>,
    /// The next heartbeat.
    rounds: Rounds,
    /// Until when the master is busy with the heartbeats before.
    pub(super) busy_until: Time,
    pub(super) heartbeats: u64,
    pub(super) slot_settings: u64,
    stop: StopAt,
    pub(super) seed: u64,
    pub(super) strict: bool,
    sampler: Option<Sampler>,
    views: Option<Views>,
    pub(super) now: Time,
}

/// What a run leaves.
pub(super) struct Finished<'a> {
    pub(super) driver: Driver<u32, Log<'a>>,
    pub(super) end: Time,
    pub(super) sampler: Option<Sampler>,
    pub(super) record: MapReduceRecord,
}

impl<'a> MapReduceWorld<'a> {
    /// A world that logs to `log`.
    pub fn new(
        setup: MapReduceSetup,
        log: Box<dyn Journal + 'a>,
    ) -> Result<MapReduceWorld<'a>, MapReduceError> {
        let cluster = setup.cluster;
        let driver = Driver::new(setup.config, Box::new(Unasked), log)?;
        let map_slots = cluster.machines.iter().map(|machine| machine.map_slots).collect();
        let classes = Classes::new(setup.rule, setup.limits, map_slots)?;
        let points = setup.series_points;
        let due =
            setup.requests.iter().enumerate().filter_map(|(number, request)| match request.begin {
                Begin::At(at) => Some((at, number)),
                Begin::After(..) => None,
            });
        Ok(MapReduceWorld {
            racks: Racks::new(cluster.machines.iter().map(|machine| machine.rack).collect()),
            machines: Machines::new(&cluster),
            nodes: cluster
                .machines
                .iter()
                .enumerate()
                .map(|(i, machine)| Node::new(i, machine, &classes))
                .collect(),
            node_ids: driver.engine().node_ids().collect(),
            sampler: (points > 0).then(|| Sampler::new(points, &driver)),
            views: (points > 0)
                .then(|| Views::new(points, cluster.machines.len(), cluster.heartbeat)),
            driver,
            classes,
            rule: setup.rule.name,
            kinds: setup.kinds,
            due: due.collect(),
            request_states: vec![RequestState::default(); setup.requests.len()],
            requests: setup.requests,
            jobs: Vec::new(),
            live: BTreeSet::new(),
            waiting_maps: 0,
            waiting_reduces: 0,
            tasks: Tasks::default(),
            flows: Flows::default(),
            speculation: Speculation::default(),
            caches: Caches::new(&cluster),
            offered_copies: 0,
            starting: VecDeque::new(),
            changes: cluster.changes.iter().copied().collect(),
            rounds: Rounds::new(cluster.machines.len(), cluster.heartbeat),
            cluster,
            busy_until: Time::ZERO,
            heartbeats: 0,
            slot_settings: 0,
            stop: setup.stop,
            seed: setup.seed,
            strict: setup.strict,
            now: Time::ZERO,
        })
    }

    /// Runs to the end.
    pub(super) fn run(
        mut self,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Finished<'a>, MapReduceError> {
        self.run_to(self.stop.at, progress)?;
        self.finish()
    }

    /// Runs until nothing is left that happens at `last` or before.
    pub fn run_to(
        &mut self,
        last: Time,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), MapReduceError> {
        let mut instants = 0u64;
        loop {
            instants += 1 + self.pass_unheard(last);
            let Some(at) = self.next_instant().filter(|&at| at <= last) else { break };
            self.sample_until(at);
            self.now = at;
            self.instant()?;
            if instants >= INSTANTS_PER_PROGRESS {
                instants = 0;
                let word = Progress {
                    now: at,
                    jobs_ended: self.driver.counted().totals.jobs_ended,
                    fraction: self.fraction(),
                };
                if progress(word).is_break() {
                    return Err(MapReduceError::Stopped { at });
                }
            }
        }
        Ok(())
    }

    /// The books, to be read.
    pub fn driver(&self) -> &Driver<u32, Box<dyn Journal + 'a>> {
        &self.driver
    }

    /// The live job that was submitted as number `number`.
    pub fn find_job(&self, number: u64) -> Option<JobId> {
        let job = self.jobs.get(usize::try_from(number).ok()?)?;
        job.id.filter(|&id| self.driver.job(id).is_some())
    }

    /// Lets time pass to `now` without anything happening.
    pub fn rest_until(&mut self, now: Time) -> Result<(), MapReduceError> {
        self.driver.advance(now).map_err(|why| MapReduceError::Change { at: now, why })
    }

    /// No request is submitted any more, and no speed changes.
    pub fn leave_alone(&mut self) {
        self.due.clear();
        self.changes.clear();
        for request in &mut self.requests {
            // What would follow another request never does.
            request.begin = Begin::At(Time::ZERO);
        }
    }

    /// Jobs that have ended, of all that are planned.
    fn fraction(&self) -> Option<f64> {
        let planned: usize = self.requests.iter().map(|request| request.jobs.len()).sum();
        Some(self.driver.counted().totals.jobs_ended as f64 / planned.max(1) as f64)
    }

    /// The next instant at which something happens; `None` when nothing is left to do.
    pub fn next_instant(&mut self) -> Option<Time> {
        let submission = self.due.first().map(|&(at, _)| at);
        if self.live.is_empty() {
            // Nodes without work beat unheard: on to the round of the next submission.
            let at = submission?;
            self.rounds.pass_until(at);
            return Some(at);
        }
        earlier(self.next_besides_beats(), self.beat_time())
    }

    /// The next instant at which something other than a heartbeat happens.
    fn next_besides_beats(&self) -> Option<Time> {
        let start = self.starting.front().map(|&(at, _)| at);
        let change = self.changes.front().map(|change| change.at);
        let submission = self.due.first().map(|&(at, _)| at);
        earlier(earlier(self.machines.next(), start), earlier(change, submission))
    }

    /// Passes the next heartbeats that do nothing, up to `last` and before anything else happens;
    /// how many, of at most so many that words of progress come.
    fn pass_unheard(&mut self, last: Time) -> u64 {
        if self.live.is_empty() {
            return 0;
        }
        let (other, mut passed) = (self.next_besides_beats(), 0);
        while passed < INSTANTS_PER_PROGRESS
            && let Some(at) = self.beat_time()
            && at <= last
            && other.is_none_or(|other| at < other)
            && !self.hears(self.rounds.node())
        {
            self.now = at;
            self.master_hears();
            self.rounds.pass();
            passed += 1;
        }
        passed
    }

    /// A heartbeat comes: the master is busy with it.
    fn master_hears(&mut self) {
        self.busy_until = self.now.saturating_add(self.cluster.master.beat);
        self.heartbeats += 1;
    }

    /// When the next heartbeat comes: within each round the nodes follow each other at equal
    /// distances; later where the master is busy. `None` after the last instant.
    fn beat_time(&self) -> Option<Time> {
        self.rounds.due().map(|due| due.max(self.busy_until))
    }

    fn instant(&mut self) -> Result<(), MapReduceError> {
        let now = self.now;
        while let Some(user) = self.machines.pop(now) {
            let task = match Flows::is_flow(user) {
                false => Some(user),
                true => self.flows.ended(now, &mut self.machines, user),
            };
            task.into_iter().for_each(|task| self.go_on(task));
        }
        while let Some(&(_, task)) = self.starting.front().filter(|(at, _)| *at <= now) {
            self.starting.pop_front();
            self.go_on(task);
        }
        // Changes of a time without jobs count from here on: nobody has seen the difference.
        while let Some(change) = self.changes.front().copied().filter(|change| change.at <= now) {
            self.changes.pop_front();
            self.machines.change(now, &change);
        }
        while let Some(&(at, number)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, number));
            self.submit(number)?;
        }
        while !self.live.is_empty() && self.beat_time().is_some_and(|beat| beat <= now) {
            let node = self.rounds.node();
            self.rounds.pass();
            self.master_hears();
            self.heartbeat(node)?;
        }
        Ok(())
    }

    /// A task goes to its next phase, or has ended.
    fn go_on(&mut self, number: u32) {
        let now = self.now;
        loop {
            let task = self.tasks.get_mut(number);
            match task.next_phase(Shape::of(&self.cluster, &self.racks)) {
                Some((Step::At(place), work, pages)) => {
                    match self.work_at(number, place, work, pages) {
                        // All of it lies in memory.
                        0 => {}
                        work => return self.machines.start(now, place, number, work),
                    }
                }
                Some((step, bytes, _)) => {
                    let rounds = self.course(number, step, bytes);
                    if self.flows.begin(now, &mut self.machines, number, rounds) {
                        return;
                    }
                }
                None => {
                    task.lasted = now - task.started;
                    let node = task.node as usize;
                    self.nodes[node].ended.push(number);
                    return self.attempt_leaves(number);
                }
            }
        }
    }

    /// What the next phase of a task has to do there.
    fn work_at(&mut self, number: u32, place: Place, work: u64, pages: Pages) -> u64 {
        let (Some(caches), Place::Disk(node)) = (&mut self.caches, place) else { return work };
        let task = self.tasks.get_mut(number);
        let rest = caches.disk_work(task.job, node as u32, work, pages);
        task.doing = Doing::Work(place, rest);
        rest
    }

    /// An attempt has ended or was stopped.
    pub(super) fn attempt_leaves(&mut self, number: u32) {
        if let Some(caches) = &mut self.caches {
            caches.attempt_left(self.tasks.get(number));
        }
    }

    /// A task that was started: when the master is through with it, it begins its start-up.
    pub(super) fn start_up(&mut self, number: u32) {
        self.busy_until = self.busy_until.saturating_add(self.cluster.master.task);
        match self.busy_until.saturating_add(self.cluster.start_up) {
            at if at <= self.now => self.go_on(number),
            at => self.starting.push_back((at, number)),
        }
    }

    fn sample_until(&mut self, at: Time) {
        if let Some(sampler) = &mut self.sampler {
            while let Some(t) = sampler.due_before(at) {
                sampler.sample(t, &mut self.driver);
            }
        }
        if let Some(mut views) = self.views.take() {
            while let Some(t) = views.due_before(at) {
                views.sample(t, self.cells(t));
            }
            self.views = Some(views);
        }
    }

    fn finish(mut self) -> Result<Finished<'a>, MapReduceError> {
        let end = self.now.max(if self.stop.hold { self.stop.at } else { Time::ZERO });
        self.sample_until(end);
        if let Some(sampler) = &mut self.sampler {
            sampler.last(end, &mut self.driver);
        }
        let mut views = self.views.take();
        if let Some(views) = &mut views {
            views.last(end, || self.cells(end));
        }
        self.driver.finish(end);
        let last = finish_of(&self.driver.counted().totals);
        self.driver.note(end, || last).map_err(|why| MapReduceError::of(end, why))?;
        let record = self.record(end, views.as_ref());
        Ok(Finished { driver: self.driver, end, sampler: self.sampler, record })
    }
}

/// The earlier of two instants, where there are any.
#[inline]
fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
