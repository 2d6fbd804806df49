//! A heartbeat: a node tells what has ended there and how busy it was, and is given work for its
//! free slots.

use std::cell::RefCell;

use crate::classes::{ClassLoad, Pick, Remote, SlotKind, TaskReport};
use meed::{JobState, Span, Start};
use meed_driver::LiveJob;

use super::blocks::{Distance, Racks, Taken};
use super::cluster::Cluster;
use super::error::MapReduceError;
use super::jobs::{Job, MAPS};
use super::nodes::slots_now;
use super::tasks::{Task, Work};
use super::world::MapReduceWorld;

impl MapReduceWorld<'_> {
    pub(super) fn heartbeat(&mut self, node: usize) -> Result<(), MapReduceError> {
        let had = self.events();
        for task in std::mem::take(&mut self.nodes[node].ended) {
            self.report_end(task)?;
        }
        // Nobody else asks.
        let adapts = self.classes.rule().adapts;
        let load = if adapts { self.load(node) } else { ClassLoad::default() };
        if self.classes.beat(load) {
            self.slots_changed()?;
        } else if self.events() > had {
            self.follow_slots(node)?;
        }
        if self.waiting_maps + self.waiting_reduces > 0 || self.cluster.as_hadoop.speculative {
            self.fill_maps(node)?;
            self.fill_reduces(node)?;
        }
        Ok(())
    }

    /// Whether a heartbeat of the node does anything: it tells of an end, its load counts, or a
    /// slot is free where tasks wait or may get a second attempt.
    pub(super) fn hears(&self, number: usize) -> bool {
        let copies = self.cluster.as_hadoop.speculative;
        self.classes.rule().adapts
            || !self.nodes[number].ended.is_empty()
            || (copies || self.waiting_maps > 0) && self.has_free(number, true)
            || (copies || self.waiting_reduces > 0) && self.has_free(number, false)
    }

    /// Whether a slot of the node is free, for a map or for a reduce.
    pub(super) fn has_free(&self, number: usize, map: bool) -> bool {
        let (node, slots) = (&self.nodes[number], self.classes.slots(number));
        match map {
            false => node.has_free_reduce(),
            true => {
                let mut kinds = self.classes.slot_kinds().iter();
                kinds.any(|&kind| node.occupied(kind) < slots.of(kind))
            }
        }
    }

    /// Whether the rule would let a free slot of the node take a second attempt of the task.
    pub(super) fn would_take(&self, number: usize, job: meed::JobId, task: u32) -> bool {
        let Work::Map { block, .. } = self.tasks.get(task).work else { return true };
        let job_number = self.tasks.get(task).job as usize;
        let Some(blocks) = &self.jobs[job_number].blocks else { return false };
        let (taken, slots) =
            (blocks.read_from(block, number, &self.racks), self.classes.slots(number));
        let from = || remote(&self.cluster, taken, number);
        let local = taken.distance == Distance::Local;
        self.classes.slot_kinds().iter().any(|&kind| {
            self.nodes[number].occupied(kind) < slots.of(kind)
                && self.classes.rank(number, kind, job, local, from).is_some()
        })
    }

    /// A task on a node ends otherwise than by itself: its slot is free.
    pub(super) fn free_slot(&mut self, task: &Task) -> Result<(), MapReduceError> {
        self.nodes[task.node as usize].vacate(task.work.slot());
        self.follow_slots(task.node as usize)
    }

    fn events(&self) -> u64 {
        self.driver.counted().totals.events
    }

    /// What the node did since its last heartbeat.
    fn load(&mut self, number: usize) -> ClassLoad {
        let usage = self.machines.usage(self.now, number);
        self.nodes[number].load(self.now, usage, self.cluster.machines[number].cores)
    }

    /// The scheduler hears of the end of a task.
    fn report_end(&mut self, number: u32) -> Result<(), MapReduceError> {
        let task = self.tasks.remove(number);
        self.attempt_ended(number, &task)?;
        let job = &mut self.jobs[task.job as usize];
        let id = job.id.expect("it was accepted");
        self.nodes[task.node as usize].vacate(task.work.slot());
        if let Work::Map { work, distance, .. } = task.work {
            if let Some(made) = job.made.get_mut(task.node as usize) {
                *made = made.saturating_add(work.shuffle_bytes);
            }
            self.classes.task_ended(&TaskReport {
                job: id,
                node: task.node as usize,
                lasted: task.lasted,
                local: distance == Distance::Local,
                map_input_bytes: work.read_bytes,
                map_output_bytes: work.write_bytes,
                shuffle_in_bytes: work.shuffle_bytes,
                shuffle_out_bytes: work.shuffle_bytes,
            });
        }
        let ended = self.driver.task_ended(self.now, task.allocation);
        match (ended.map_err(|why| MapReduceError::of(self.now, why))?.state, task.work) {
            (JobState::Active, _) => {}
            (JobState::Drained, _) => self.maps_ended(task.job)?,
            (_, Work::Map { .. }) => {
                self.maps_ended(task.job)?;
                self.end_job(task.job);
            }
            (_, Work::Reduce(_)) => self.end_job(task.job),
        }
        Ok(())
    }

    /// Slots were set otherwise, perhaps those of all nodes.
    fn slots_changed(&mut self) -> Result<(), MapReduceError> {
        self.slot_settings += 1;
        for node in 0..self.nodes.len() {
            self.nodes[node].set_slots(slots_now(self.now, node, &self.classes));
            self.follow_slots(node)?;
        }
        Ok(())
    }

    /// The engine counts with the slots of a node; where more maps of a kind run than it has slots
    /// now, with those.
    fn follow_slots(&mut self, number: usize) -> Result<(), MapReduceError> {
        let (node, slots) = (&self.nodes[number], self.classes.slots(number));
        let wanted = self
            .classes
            .slot_kinds()
            .iter()
            .map(|&kind| slots.of(kind).max(node.occupied(kind)))
            .sum();
        let Some(capacity) = self.nodes[number].set_map_slots(wanted) else { return Ok(()) };
        let lost = self.driver.node_changed(self.now, self.node_ids[number], capacity);
        // Slots are bounded, and a node has some.
        let lost = lost.map_err(|why| MapReduceError::of(self.now, why))?;
        assert!(lost.is_empty(), "what runs keeps its slot");
        Ok(())
    }

    fn fill_maps(&mut self, number: usize) -> Result<(), MapReduceError> {
        let offered = self.offer_copies(number, true)?;
        for &kind in self.classes.slot_kinds() {
            while self.waiting_maps + u64::from(self.offered_copies) > 0
                && self.nodes[number].occupied(kind) < self.classes.slots(number).of(kind)
            {
                let Some(start) = self.offer_map(number, kind)? else { break };
                match self.copied_by(&start) {
                    Some(task) => self.start_copy(number, Some(kind), task, &start),
                    None => self.start_map(number, kind, &start),
                }
            }
        }
        self.withdraw_copies(&offered)
    }

    fn offer_map(
        &mut self,
        number: usize,
        kind: SlotKind,
    ) -> Result<Option<Start>, MapReduceError> {
        let (racks, cluster, tasks, now) = (&self.racks, &self.cluster, &self.tasks, self.now);
        // The engine asks one after the other; both look at the same jobs.
        let shared = RefCell::new((&mut self.classes, &mut self.jobs));
        let mut rank = |live: &LiveJob<u32>, group: u32| {
            let (classes, jobs) = &mut *shared.borrow_mut();
            let job = &mut jobs[live.detail as usize];
            let copied = job.stage.copied_by(group);
            let blocks = job.blocks.as_mut().filter(|_| group == MAPS || copied.is_some())?;
            if let Some(block) = copied.and_then(|task| tasks.get(task).block()) {
                let taken = blocks.read_from(block, number, racks);
                let local = taken.distance == Distance::Local;
                return classes
                    .rank(number, kind, live.id(), local, || remote(cluster, taken, number));
            }
            let local = blocks.has_local(number);
            let nowhere = Taken { block: 0, distance: Distance::Local, holder: number as u32 };
            let from = || {
                let taken = blocks.nearest(number, racks).unwrap_or(nowhere);
                remote(cluster, taken, number)
            };
            classes.rank(number, kind, live.id(), local, from)
        };
        let mut accept = |live: &LiveJob<u32>, group: u32| {
            let (classes, jobs) = &mut *shared.borrow_mut();
            let job = &mut jobs[live.detail as usize];
            if job.stage.copied_by(group).is_some() {
                return true;
            }
            let blocks = job.blocks.as_mut();
            classes.accepts(now, live.id(), blocks.is_some_and(|blocks| blocks.has_local(number)))
        };
        self.driver
            .offer(now, self.node_ids[number], &mut rank, &mut accept)
            .map_err(|why| MapReduceError::of(now, why))
    }

    fn start_map(&mut self, number: usize, slot: SlotKind, start: &Start) {
        let job_number = self.number_of(start);
        let job = &mut self.jobs[job_number as usize];
        let keep = self.cluster.as_hadoop.speculative;
        let taken = take_block(job, number, self.classes.pick(), &self.racks, keep);
        let plan = &self.requests[job.request].jobs[job.number];
        let before = u64::from(taken.block) * self.cluster.block_bytes;
        let bytes = self.cluster.block_bytes.min(plan.input_bytes - before);
        let work = self.kinds[plan.kind].map(bytes);
        let node = &mut self.nodes[number];
        node.occupy(Some(slot));
        node.counts.maps += 1;
        node.counts.local += u64::from(taken.distance == Distance::Local);
        self.waiting_maps -= 1;
        let Taken { block, holder, distance } = taken;
        let work = Work::Map { work, slot, block, holder, distance };
        self.begin_task(job_number, number, start, work);
    }

    fn fill_reduces(&mut self, number: usize) -> Result<(), MapReduceError> {
        let offered = self.offer_copies(number, false)?;
        while self.waiting_reduces + u64::from(self.offered_copies) > 0
            && self.has_free(number, false)
        {
            let jobs = &self.jobs;
            let mut rank = |live: &LiveJob<u32>, group: u32| {
                let job = &jobs[live.detail as usize];
                let copied = job.stage.copied_by(group).is_some() && job.reduces_group.is_some();
                (job.reduces_group == Some(group) || copied).then_some(0)
            };
            let node = self.node_ids[number];
            let offered = self.driver.offer(self.now, node, &mut rank, &mut |_, _| true);
            let offered = offered.map_err(|why| MapReduceError::of(self.now, why))?;
            let Some(start) = offered else { break };
            if let Some(task) = self.copied_by(&start) {
                self.start_copy(number, None, task, &start);
                continue;
            }
            let job_number = self.number_of(&start);
            let job = &mut self.jobs[job_number as usize];
            job.waiting_reduces -= 1;
            let plan = &self.requests[job.request].jobs[job.number];
            let copies = self.cluster.output_copies;
            let cache = self.cluster.machines[number].cache_bytes;
            let work = self.kinds[plan.kind].reduce(plan.input_bytes, job.reduces, copies);
            let work = work.with_cache(cache);
            self.nodes[number].occupy(None);
            self.nodes[number].counts.reduces += 1;
            self.waiting_reduces -= 1;
            self.begin_task(job_number, number, &start, Work::Reduce(work));
        }
        self.withdraw_copies(&offered)
    }

    /// Number of the job of which a task starts.
    pub(super) fn number_of(&self, start: &Start) -> u32 {
        self.driver.job(start.job).expect("a live job starts").detail
    }

    /// The new task's number.
    pub(super) fn begin_task(&mut self, job: u32, node: usize, start: &Start, work: Work) -> u32 {
        let of = (job, start.task);
        let task = Task::new(of, node as u32, start.allocation, self.now, work);
        let task = self.tasks.insert(task);
        if self.cluster.as_hadoop.speculative {
            self.jobs[job as usize].stage.running.push(task);
        }
        self.start_up(task);
        task
    }
}

/// Takes a block of the job for a map on `node`. `keep`: it is asked later where blocks lie.
fn take_block(job: &mut Job, node: usize, pick: Pick, racks: &Racks, keep: bool) -> Taken {
    let blocks = job.blocks.as_mut().expect("a job with waiting maps has blocks");
    let taken = match pick {
        Pick::LocalFirst => blocks.nearest(node, racks),
        Pick::InOrder => blocks.next(node, racks),
    };
    let taken = taken.expect("there are as many blocks as maps");
    blocks.take(taken.block);
    if blocks.left() == 0 && !keep {
        job.blocks = None;
    }
    job.counts.maps += 1;
    job.counts.local += u64::from(taken.distance == Distance::Local);
    job.counts.rack += u64::from(taken.distance == Distance::Rack);
    taken
}

/// What a rule hears of a block elsewhere: who holds it, and how long it would take over the free
/// network link into the node (Transfer_time of Eq. 6).
fn remote(cluster: &Cluster, taken: Taken, to: usize) -> Remote {
    let micros = u128::from(cluster.block_bytes) * u128::from(meed::MICROS_PER_S)
        / u128::from(cluster.machines[to].speeds.network_bytes_per_s);
    let transfer = u64::try_from(micros).ok().and_then(Span::from_micros).unwrap_or(Span::MAX);
    Remote { holder: taken.holder as usize, transfer }
}
