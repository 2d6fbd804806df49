//! Speculative execution: a slow task gets a second attempt, by the rule of Hadoop 0.20 and 1.x.
//!
//! > slow: the attempt runs for [`LAG`] or longer, and mean progress of all tasks of its stage -
//! > its own progress >= [`GAP`]
//!
//! A task has a second attempt at most, on another node, and only while no task of its stage waits.
//! A node that asks for work is offered one of each job: a slow one whose block lies there, else
//! the first in order of start. It is a task like any other: it takes a slot when its job's turn
//! comes, and is charged.
//! The attempt counts of whose end the scheduler hears first; the other one is stopped at once.
//! Progress is how far a task's phases are ([`super::tasks::Task::progress`]); jobs are
//! looked at once a heartbeat interval, for the scheduler knows no more.
//!
//! To the engine a second attempt is a task that is added to the job, and withdrawn again where no
//! slot was given or the other attempt was quicker; so jobs stay open until the last task of their
//! last stage ends. Cost, for each job that has not ended: O(running tasks) once a heartbeat
//! interval, O(slow ones) for each heartbeat.

use meed::{Span, Start};

use super::blocks::Distance;
use super::error::MapReduceError;
use super::jobs::{MAP_DEMAND, REDUCE_DEMAND, group};
use super::tasks::{Doing, Shape, Task, Work};
use super::world::MapReduceWorld;
use crate::classes::SlotKind;

/// Hadoop's SPECULATIVE_LAG.
const LAG: Span = match Span::from_secs(60) {
    Some(span) => span,
    None => Span::ZERO,
};

/// Hadoop's SPECULATIVE_GAP, in thousandths.
const GAP: u32 = 200;

impl MapReduceWorld<'_> {
    /// Second attempts that the node may run, of maps or of reduces, are added to their jobs, which
    /// are returned.
    pub(super) fn offer_copies(
        &mut self,
        node: usize,
        map: bool,
    ) -> Result<Vec<u32>, MapReduceError> {
        let mut offered = Vec::new();
        if !self.cluster.as_hadoop.speculative || !self.has_free(node, map) {
            return Ok(offered);
        }
        let mut next = 0;
        while let Some(&number) = self.live.range(next..).next() {
            next = number + 1;
            let job = &self.jobs[number as usize];
            let waits = match map {
                true => job.blocks.as_ref().is_none_or(|blocks| blocks.left() > 0),
                false => job.waiting_reduces > 0,
            };
            if job.maps_end.is_none() != map || waits {
                continue;
            }
            let Some(id) = job.id else { continue };
            self.look_at(number);
            let Some(task) = self.slow_one_for(number, node) else { continue };
            if !self.would_take(node, id, task) {
                continue;
            }
            let demand = if map { MAP_DEMAND } else { REDUCE_DEMAND };
            let added = self.driver.tasks_added(self.now, id, &[group(1, demand)], true, |_, _| {});
            added.map_err(|why| MapReduceError::of(self.now, why))?;
            let job = &mut self.jobs[number as usize];
            job.stage.offered = Some((job.groups, task));
            (job.groups, job.tasks) = (job.groups + 1, job.tasks + 1);
            self.offered_copies += 1;
            offered.push(number);
        }
        Ok(offered)
    }

    /// Which tasks of the job are slow, where that was not asked for a heartbeat interval.
    fn look_at(&mut self, number: u32) {
        let (now, every) = (self.now, self.cluster.heartbeat);
        let stage = &mut self.jobs[number as usize].stage;
        if stage.looked.is_some_and(|looked| now.saturating_since(looked) < every) {
            return;
        }
        (stage.looked, stage.slow) = (Some(now), Vec::new());
        let running = std::mem::take(&mut stage.running);
        if running.iter().any(|&task| self.may_be_slow(task)) {
            let progress: Vec<u32> = running.iter().map(|&task| self.progress(task)).collect();
            let mut sum = 1000 * u64::from(self.jobs[number as usize].stage.ended);
            for (&task, &far) in running.iter().zip(&progress) {
                // Of two attempts the one that is farther.
                let it = self.tasks.get(task);
                let rival = it.rival.and_then(|rival| running.iter().position(|&at| at == rival));
                let of_rival = rival.map_or(0, |at| progress[at]);
                sum += if it.is_copy { 0 } else { u64::from(far.max(of_rival)) };
            }
            let mean = sum / u64::from(self.jobs[number as usize].stage.tasks.max(1));
            let pairs = running.iter().zip(&progress);
            let slow = pairs
                .filter(|(task, far)| self.may_be_slow(**task) && u64::from(**far + GAP) <= mean);
            let slow = slow.map(|(&task, _)| task).collect();
            self.jobs[number as usize].stage.slow = slow;
        }
        self.jobs[number as usize].stage.running = running;
    }

    /// Whether an attempt runs long enough, and alone.
    fn may_be_slow(&self, number: u32) -> bool {
        let task = self.tasks.get(number);
        task.doing != Doing::Nothing
            && task.rival.is_none()
            && self.now.saturating_since(task.started) >= LAG
    }

    fn progress(&mut self, number: u32) -> u32 {
        let task = *self.tasks.get(number);
        let far = match task.doing {
            Doing::StartUp | Doing::Nothing => 0,
            Doing::SideBySide => self.flows.progress(number),
            Doing::Work(place, work) => {
                let rest = self.machines.rest(self.now, place, number).min(work);
                (u128::from(work - rest) * 1000 / u128::from(work)) as u32
            }
        };
        task.progress(Shape::of(&self.cluster, &self.racks), far)
    }

    /// The slow task of the job that a second attempt on `node` would be of.
    fn slow_one_for(&self, number: u32, node: usize) -> Option<u32> {
        let job = &self.jobs[number as usize];
        let may = |&task: &u32| {
            job.stage.running.contains(&task)
                && self.may_be_slow(task)
                && self.tasks.get(task).node as usize != node
        };
        let local = |task: &u32| {
            let block = self.tasks.get(*task).block();
            let read = |(block, blocks): (u32, &super::blocks::Blocks)| {
                blocks.read_from(block, node, &self.racks).distance == Distance::Local
            };
            block.zip(job.blocks.as_ref()).is_some_and(read)
        };
        let mut slow = job.stage.slow.iter().copied().filter(may);
        let first = slow.clone().next();
        slow.find(local).or(first)
    }

    /// The task that a start is a second attempt of.
    pub(super) fn copied_by(&self, start: &Start) -> Option<u32> {
        self.jobs[self.number_of(start) as usize].stage.copied_by(start.group)
    }

    /// A second attempt of task `of` starts, in a slot of that kind for maps.
    pub(super) fn start_copy(
        &mut self,
        node: usize,
        slot: Option<SlotKind>,
        of: u32,
        start: &Start,
    ) {
        let job_number = self.number_of(start);
        let job = &mut self.jobs[job_number as usize];
        job.stage.offered = None;
        self.offered_copies -= 1;
        self.speculation.copies += 1;
        let work = match (self.tasks.get(of).work, slot, &job.blocks) {
            (Work::Map { work, block, .. }, Some(slot), Some(blocks)) => {
                let taken = blocks.read_from(block, node, &self.racks);
                Work::Map { work, slot, block, holder: taken.holder, distance: taken.distance }
            }
            (Work::Reduce(work), ..) => {
                Work::Reduce(work.with_cache(self.cluster.machines[node].cache_bytes))
            }
            (work, ..) => work,
        };
        self.nodes[node].occupy(slot);
        let copy = self.begin_task(job_number, node, start, work);
        self.tasks.get_mut(of).rival = Some(copy);
        let task = self.tasks.get_mut(copy);
        (task.rival, task.is_copy) = (Some(of), true);
    }

    /// Second attempts that nobody gave a slot to are not wanted any more.
    pub(super) fn withdraw_copies(&mut self, offered: &[u32]) -> Result<(), MapReduceError> {
        for &number in offered {
            let job = &mut self.jobs[number as usize];
            if job.stage.offered.take().is_none() {
                continue;
            }
            // Others come before it: it is offered again when the job is next looked at.
            job.stage.slow.clear();
            self.offered_copies -= 1;
            let (id, last) = (job.id.expect("it was accepted"), job.tasks - 1);
            self.driver
                .task_withdrawn(self.now, id, last, None)
                .map_err(|why| MapReduceError::of(self.now, why))?;
        }
        Ok(())
    }

    /// The scheduler has heard that an attempt has ended: the other one is stopped, and a job that
    /// has nothing else to do takes no more tasks.
    pub(super) fn attempt_ended(&mut self, number: u32, task: &Task) -> Result<(), MapReduceError> {
        if !self.cluster.as_hadoop.speculative {
            return Ok(());
        }
        if let Some(rival) = task.rival {
            self.speculation.won += u64::from(task.is_copy);
            self.stop(rival)?;
        }
        let job = &mut self.jobs[task.job as usize];
        job.stage.running.retain(|&running| running != number);
        job.stage.ended += 1;
        let last_stage = job.reduces == 0 || job.reduces_group.is_some();
        if job.stage.ended == job.stage.tasks && last_stage {
            let id = job.id.expect("it was accepted");
            let closed = self.driver.tasks_added(self.now, id, &[], false, |_, _| {});
            closed.map_err(|why| MapReduceError::of(self.now, why))?;
        }
        Ok(())
    }

    /// Stops an attempt.
    fn stop(&mut self, number: u32) -> Result<(), MapReduceError> {
        self.attempt_leaves(number);
        let (now, task) = (self.now, self.tasks.remove(number));
        match task.doing {
            Doing::StartUp => self.starting.retain(|(_, other)| *other != number),
            Doing::Work(place, _) => self.machines.stop(now, place, number),
            Doing::SideBySide => self.flows.stop(now, &mut self.machines, number),
            Doing::Nothing => {
                self.nodes[task.node as usize].ended.retain(|other| *other != number);
            }
        }
        let job = &mut self.jobs[task.job as usize];
        job.stage.running.retain(|&running| running != number);
        let id = job.id.expect("it was accepted");
        let why = Some("the other attempt was quicker");
        let told = self.driver.task_withdrawn(now, id, task.number, why);
        told.map_err(|why| MapReduceError::of(now, why))?;
        self.free_slot(&task)
    }
}
