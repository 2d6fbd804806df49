//! Reclaim: room is taken back from tasks that run, for a reservation that has waited long enough
//! (`reclaim_after`; off unless asked for: the papers do without).
//!
//! When nothing more can start, each reservation that has waited so long, and is not expected to
//! start before tasks could have stopped, looks for running tasks to stop: those of queues that owe
//! its own (`victims`), as many as it takes somewhere (`places`, `room_left`). If there are enough,
//! the reservation moves there, the tasks are told to stop ([`Stop`]), and until they have, what is
//! free there is kept for it, also from reservations that are older. If there are not, it looks
//! again when it has waited as long once more.
//!
//! One reservation stops tasks at a time: while they stop, ledgers and shares still count them. And
//! nothing starts in a decision after tasks were told to stop in it: ledgers, shares and minimums
//! are those at which they were told. Where the reservation was before others start in the next
//! decision, which comes when the tasks have stopped at the latest.
//!
//! The guard against swings: nobody is stopped where the ledgers say that, with the winner's task
//! running and these stopped, the order of both would turn again within `reclaim_guard`. So who
//! gets room back keeps it at least so long. And no task is stopped for ever: each time it has to
//! run more than twice as long before (`before`).
//!
//! A stop is a decision: the engine's books change when the world tells that the task has stopped.
//!
//! Invariant: who is stopped comes after whom he is stopped for, in the order in which both are
//! served. Cost: O(running tasks log running tasks) for a look, at most one for each reservation in
//! each `reclaim_after`.

mod elsewhere;
mod minimums;
mod places;
mod room_left;
mod victims;
mod way;

use std::collections::BTreeSet;

use super::Holds;
use super::hold::{Hold, Places};
use crate::engine::core::Core;
use crate::engine::holds::Reservations;
use crate::ids::{AllocationId, JobId};
use crate::reclaim::Reclaim;
use crate::stop::{Stop, Winner};
use crate::time::Time;
use places::Wanted;
use victims::{Sides, Unit};
pub(super) use way::{IN_ITS_PLACE, Instead};

impl Holds {
    /// Nothing more can start: tasks are told to stop for the first reservation for which that is
    /// possible. Whether anything may start now: a reservation has moved for which none had to.
    fn take_back(&mut self, core: &mut Core) -> bool {
        let Some(rules) = self.reclaim else { return false };
        // While tasks stop, ledgers and shares still count them: nobody is stopped by these.
        if !self.stopping.is_empty() {
            return false;
        }
        for index in 0..self.list.len() {
            if !is_due(&self.list[index], core.now, &rules) {
                continue;
            }
            self.list[index].tries = core.now.saturating_add(rules.after);
            let hold = &self.list[index];
            let shape = core.work.group(hold.slot()).turn();
            let leaf = core.leaf_of(hold.slot());
            let (asks, turn) = (core.room.parts_of(shape), core.room.demand_of_turn(shape));
            let units = core.stoppable(leaf, &turn, &rules, &self.stopped_before);
            let wanted = Wanted { hold, shape, asks, turn, rules };
            let Some((stopped, nodes)) = self.find_victims(core, &wanted, &units) else { continue };
            let stopped: Vec<&Unit> = stopped.iter().map(|&index| &units[index]).collect();
            self.claim(core, index, &rules, &stopped, nodes);
            if stopped.is_empty() {
                return true;
            }
            if self.is_plan_due(core) {
                self.replan(core);
            }
            // Nothing starts now: whom the room helps that it has left is in the next walk.
            core.wake_next(true);
            return false;
        }
        false
    }

    /// The reservation moves to where tasks are told to stop for it. A plan follows.
    fn claim(
        &mut self,
        core: &Core,
        index: usize,
        rules: &Reclaim,
        stopped: &[&Unit],
        nodes: Places,
    ) {
        let hold = &mut self.list[index];
        let stops: Vec<Stop> = stopped
            .iter()
            .flat_map(|unit| unit.tasks.iter().map(|&task| core.stop_for(hold, rules, unit, task)))
            .collect();
        // What it had is free for others, and where it is now there is less than they knew.
        self.freed.extend(hold.rows());
        (hold.nodes, hold.at, hold.reclaims) = (nodes, None, true);
        hold.spares.clear();
        self.pushed.extend(hold.rows());
        self.kept.clear();
        self.stopping.extend(stops.iter().map(|stop| stop.allocation));
        self.stops.extend(stops);
    }
}

/// Whether the reservation looks for tasks to stop now.
fn is_due(hold: &Hold, now: Time, rules: &Reclaim) -> bool {
    let soon = now.saturating_add(rules.grace);
    hold.tries <= now && hold.at.is_none_or(|at| at > soon) && !hold.is_pinned()
}

impl Core {
    /// A task of `unit` is told to stop for a reservation.
    fn stop_for(&self, hold: &Hold, rules: &Reclaim, unit: &Unit, task: AllocationId) -> Stop {
        let (group, running) = (self.work.group(hold.slot()), self.work.running(task));
        let running = running.expect("it runs");
        let side = |queue| {
            let parent = self.tree[queue].parent().expect("paths part below the root");
            let key = self.books.key_seen(self.now, queue);
            (self.tree.id(queue), self.shown(parent, &key))
        };
        let among = self.tree[unit.sides.first].parent().expect("paths part below the root");
        Stop {
            allocation: task,
            job: running.job,
            task: running.task,
            queue: self.tree.id(running.queue),
            node: self.room.id(running.node),
            ran: self.now.saturating_since(running.started),
            grace: rules.grace,
            winner: Winner {
                job: group.job,
                group: group.number,
                queue: self.tree.id(self.leaf_of(hold.slot())),
                waited: self.now.saturating_since(hold.since),
                among: self.tree.id(among),
                first: side(unit.sides.first),
                last: side(unit.sides.last),
            },
        }
    }
}

/// What the rest of the engine tells.
impl Reservations {
    /// Nothing more can start: tasks are told to stop where room is taken back. Whether anything
    /// may start now.
    pub(in crate::engine) fn reclaim(&mut self, core: &mut Core) -> bool {
        self.holds.as_mut().is_some_and(|holds| holds.take_back(core))
    }

    /// A task that runs is lost: if it was told to stop, it is not soon again.
    pub(in crate::engine) fn task_is_lost(&mut self, core: &mut Core, task: AllocationId) {
        let told = self.holds.as_mut().filter(|holds| holds.stopping.contains(&task));
        if let (Some(holds), Some(running)) = (told, core.work.running(task)) {
            let ran = core.now.saturating_since(running.started);
            holds.stopped_before.note((running.job.slot() as u32, running.task), ran);
        }
    }

    /// A task has ended for good.
    #[inline]
    pub(in crate::engine) fn forget_stops_of(&mut self, job: JobId, task: u32) {
        if let Some(holds) = &mut self.holds {
            holds.stopped_before.forget((job.slot() as u32, task));
        }
    }

    /// A job has ended for good.
    #[inline]
    pub(in crate::engine) fn forget_stops_of_job(&mut self, job: JobId) {
        if let Some(holds) = &mut self.holds {
            holds.stopped_before.forget_job(job.slot() as u32);
        }
    }

    /// A task runs no more.
    pub(in crate::engine) fn task_is_gone(&mut self, task: AllocationId) {
        if let Some(holds) = &mut self.holds {
            holds.stopping.remove(&task);
        }
    }
}

impl Core {
    /// Whether tasks that were told to stop still run where the reservation is.
    pub(super) fn stops_there(&self, hold: &Hold, stopping: &BTreeSet<AllocationId>) -> bool {
        let there = |&task: &AllocationId| {
            self.work.running(task).is_some_and(|running| hold.is_on(running.node))
        };
        stopping.iter().any(there)
    }
}

/// What worlds ask, and tell.
impl Reservations {
    /// Whether the policy takes room back from running tasks.
    pub(in crate::engine) fn reclaims(&self) -> bool {
        self.holds.as_ref().is_some_and(|holds| holds.reclaim.is_some())
    }

    /// See [`Engine::next_stop`](crate::Engine::next_stop).
    #[inline]
    pub(in crate::engine) fn next_stop(&mut self) -> Option<Stop> {
        let holds = self.holds.as_mut()?;
        while let Some(stop) = holds.stops.pop_front() {
            if holds.stopping.contains(&stop.allocation) {
                return Some(stop);
            }
        }
        None
    }

    /// Running tasks that were told to stop, and have not: in order of handle.
    pub(in crate::engine) fn stopping(&self) -> impl Iterator<Item = AllocationId> + '_ {
        self.holds.iter().flat_map(|holds| &holds.stopping).copied()
    }

    /// A task that runs is told to stop because that was decided elsewhere, as in a journal.
    pub(in crate::engine) fn stop_as_told(&mut self, task: AllocationId) {
        if let Some(holds) = self.holds.as_mut().filter(|holds| holds.reclaim.is_some()) {
            holds.stopping.insert(task);
        }
    }

    /// See [`View::next_look`](crate::View::next_look).
    #[inline]
    pub(in crate::engine) fn next_look(&self, now: Time) -> Option<Time> {
        let holds = self.holds.as_ref().filter(|holds| holds.reclaim.is_some())?;
        // One that was about to start when it was due is looked at again then.
        let next = |hold: &Hold| match hold.tries > now {
            true => Some(hold.tries).filter(|&tries| tries < Time::MAX),
            false => hold.at.filter(|&at| at > now),
        };
        holds.list.iter().filter_map(next).min()
    }
}
