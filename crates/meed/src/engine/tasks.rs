//! Tasks start, end, fail, are lost with their node, and are tried again.
//!
//! The order of steps at a start and at an end is stated here and nowhere else: [`Engine::start`]
//! and [`Engine::release`], which undoes what a start did. Each part of the engine keeps its own
//! books; these two tell all of them.

use super::Engine;
use super::books::Used;
use super::core::Core;
use super::work::Running;
use crate::decision::{Reason, Start};
use crate::error::Rejected;
use crate::event::{Effect, JobState};
use crate::ids::{AllocationId, JobId, NodeId, NodeRow, QueueRow};
use crate::time::Time;

impl Engine {
    /// Starts a task of group `slot` on `node`, which has room for it: the next one, or number
    /// `task` where one is asked for that may be next.
    ///
    /// The steps, and why in this order:
    ///
    /// 1. `work`: the task leaves its group, and its job's counters move. Where fewer tasks wait
    ///    now than have reservations, the last of those are given up: their tasks are in the walk
    ///    again before one is taken from it.
    /// 2. `room`: its room is taken, and its shape has one task less that waits.
    /// 3. `books`, `guard`, `servers`: charged at every level. Nothing here asks what waits.
    /// 4. `ready`: a group or a job that waits no more leaves its heaps. Keys are made from the
    ///    books, so they come after them. Keys of the path rise, and stored keys are lower bounds:
    ///    only rescaled parents, whose keys may fall, are brought up to date.
    /// 5. `work`: the task gets its handle.
    pub(super) fn start(
        &mut self,
        slot: u32,
        task: Option<u32>,
        node: NodeRow,
        reason: Option<Box<Reason>>,
    ) -> Start {
        let start = self.start_alone(slot, task, node, reason);
        self.regroup(slot);
        start
    }

    /// The same; what the other tasks of a gang wait for is brought up to date by the caller.
    pub(super) fn start_alone(
        &mut self,
        slot: u32,
        task: Option<u32>,
        node: NodeRow,
        reason: Option<Box<Reason>>,
    ) -> Start {
        let allocation = self.start_since(None, slot, task, node);
        self.core.told(allocation, reason)
    }

    /// The same; with `adopted` the task is known to run since then, whatever room there is.
    #[inline]
    pub(super) fn start_since(
        &mut self,
        adopted: Option<Time>,
        slot: u32,
        task: Option<u32>,
        node: NodeRow,
    ) -> AllocationId {
        let Engine { core, reservations, .. } = self;
        let now = core.now;
        let since = adopted.unwrap_or(now);
        // 1.
        let (task, failures) = core.work.take(slot, task);
        reservations.drop_surplus(core, slot);
        let group = core.work.group(slot);
        let (id, shape, turn) = (group.job, group.shape, group.turn());
        let leaf = core.work.job(id).expect("a group's job is alive").queue;
        // 2.
        match adopted {
            None => core.room.start(shape, id, node),
            Some(_) => core.room.hold_anyway(shape, id, node),
        }
        core.room.sub_waiting(turn, 1);
        core.gang_begins(slot, node);
        // 3.
        let (demand, node_weight) = (*core.room.demand(shape), core.room.weight(node));
        let used = Used { job: id, queue: leaf, demand: &demand, node_weight };
        let quantum = core.books.start(now, since, &core.tree, &used);
        let order = core.books.last_start();
        if let Some(guard) = &mut core.guard {
            guard.start(now, &used, (since, quantum));
            guard.set_tie(leaf, core.books.terms(leaf).tie);
        }
        if let Some(servers) = &mut core.servers {
            servers.hold(&core.tree, leaf, node, &demand);
            core.tree.up(leaf).for_each(|(queue, _)| servers.touch(queue));
        }
        // 4.
        core.reserved.take_turn(slot);
        core.fewer_in_walk(leaf, slot);
        reservations.started(core, node, shape);
        core.ready.served(since, leaf);
        core.rekey_rescaled(leaf);
        core.sub_leaf_waiting(leaf, 1);
        core.park_if_all_held(leaf);
        // 5.
        core.work.start(Running {
            job: id,
            queue: leaf,
            group: slot,
            task,
            failures,
            node,
            shape,
            started: since,
            order,
            quantum,
        })
    }

    /// A running task runs no more, and nothing of it waits: frees what it holds, at every level.
    ///
    /// The steps, and why in this order:
    ///
    /// 1. `work`: the handle is gone, and the job's counter moves.
    /// 2. `books`, `guard`, `servers`: the charge becomes what was used, at every level.
    /// 3. `room`: the room is given back.
    /// 4. `ready`: keys that may have fallen, of the job and of all queues on the path, are brought
    ///    up to date from the books of step 2, before anybody is woken by comparing keys.
    /// 5. Who waits for that room, or for a maximum share on the path, is woken: the last, for it
    ///    reads everything above.
    pub(super) fn release(&mut self, allocation: AllocationId) -> Running {
        self.release_as(allocation, false)
    }

    /// The same; where the start is `undone`, nothing is charged for it.
    pub(super) fn release_as(&mut self, allocation: AllocationId, undone: bool) -> Running {
        let Engine { core, reservations, .. } = self;
        let now = core.now;
        // 1.
        let task = core.work.end(allocation);
        reservations.task_is_gone(allocation);
        let job = core.work.job(task.job).expect("a running task's job is alive");
        let (last, job_waits) = (job.running() == 0, job.waiting() > 0);
        // 2.
        let (demand, node_weight) = (*core.room.demand(task.shape), core.room.weight(task.node));
        let used = Used { job: task.job, queue: task.queue, demand: &demand, node_weight };
        let started = (task.started, task.quantum);
        core.books.end(now, &core.tree, &used, started, (undone, last));
        if let Some(guard) = &mut core.guard {
            guard.end(now, &used, started, undone);
        }
        if let Some(servers) = &mut core.servers {
            servers.let_go(&core.tree, task.queue, task.node, &demand);
        }
        // 3.
        core.room.end(task.shape, task.job, task.node);
        reservations.ended(core, task.node, task.shape, task.started);
        // 4.
        if job_waits {
            core.rekey_job(task.job);
        }
        core.rekey_path(task.queue);
        // 5.
        core.unblock(task.node);
        core.wake();
        if core.work.gang_leaves(task.job, task.group) {
            self.regroup(task.group);
        }
        task
    }

    pub(super) fn task_ended(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        let task = self.core.work.running(allocation).ok_or(Rejected::UnknownAllocation)?;
        self.core.expect_end(allocation, task);
        let task = self.release(allocation);
        self.reservations.forget_stops_of(task.job, task.task);
        let ran = self.core.now - task.started;
        self.core.books.learn(self.core.now, task.job, ran);
        if let Some(learned) = &mut self.learned {
            learned.learn(task.queue, ran);
        }
        let state = self.state_after(task.job);
        Ok(Effect::Ended { job: task.job, state, stopped: Vec::new() })
    }

    pub(super) fn task_failed(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        let task = *self.core.work.running(allocation).ok_or(Rejected::UnknownAllocation)?;
        let job = task.job;
        let attempts = self.core.work.job(job).map_or(0, |job| job.max_attempts);
        self.release(allocation);
        if attempts > 0 && task.failures + 1 >= attempts {
            let stopped = self.drop_job(job);
            return Ok(Effect::Ended { job, state: JobState::Failed, stopped });
        }
        self.wait_again(&task, task.failures.saturating_add(1));
        Ok(Effect::Ended { job, state: JobState::Active, stopped: Vec::new() })
    }

    /// A lost task waits again; its loss is not its failure.
    pub(super) fn lose(&mut self, allocation: AllocationId) {
        let task = self.release(allocation);
        self.wait_again(&task, task.failures);
    }

    pub(super) fn wait_again(&mut self, task: &Running, failures: u16) {
        let core = &mut self.core;
        let (slot, leaf) = (task.group, task.queue);
        core.work.put_back(task, failures);
        core.room.add_waiting(core.work.group(slot).turn(), 1);
        let demand = core.room.demand(task.shape);
        core.books.ask_again(core.now, &core.tree, task.job, demand);
        core.list_group(leaf, slot);
        core.update_arrivals(task.job, true);
        core.add_leaf_waiting(leaf, 1);
        self.regroup(slot);
    }

    pub(super) fn state_after(&mut self, id: JobId) -> JobState {
        let job = self.core.work.job(id).expect("it had a task until now");
        if job.waiting() > 0 || job.running() > 0 {
            return JobState::Active;
        }
        if job.open {
            return JobState::Drained;
        }
        self.remove_job(id);
        JobState::Done
    }
}

impl Core {
    /// A start as it is told.
    pub(super) fn told(&self, allocation: AllocationId, reason: Option<Box<Reason>>) -> Start {
        let running = self.work.running(allocation).expect("it has just been started");
        let Running { job, task, failures, .. } = *running;
        let queue = self.tree.id(running.queue);
        let group = self.work.group(running.group).number;
        let node = self.room.id(running.node);
        Start { allocation, job, task, group, queue, node, failures, reason }
    }

    /// All queues on the path hold less, or have used less.
    pub(super) fn rekey_path(&mut self, leaf: QueueRow) {
        let mut at = leaf;
        while let Some(parent) = self.tree[at].parent() {
            self.ready.below_maximum(at);
            self.rekey(at);
            at = parent;
        }
    }
}

/// What was decided elsewhere: a log that is played back tells it, and the books follow.
impl Engine {
    /// Starts task number `task` of `job` on `node` now, whoever's turn it is: everything counts as
    /// if [`Engine::decide`] had decided it. A refused start changes nothing. O(groups of the job)
    /// besides the start.
    pub fn start_as_told(
        &mut self,
        job: JobId,
        task: u32,
        node: NodeId,
    ) -> Result<Start, Rejected> {
        let Engine { core, reservations, .. } = self;
        let live = core.work.job(job).ok_or(Rejected::UnknownJob)?;
        let node = core.live_node(node)?;
        let name = || core.room.spec(node).name.clone();
        let mut groups = live.groups().iter().copied();
        let wanted = groups.find(|&slot| core.work.group(slot).may_take(task));
        let slot = wanted.ok_or(Rejected::UnknownTask)?;
        let shape = core.work.group(slot).shape;
        if core.room.is_cordoned(node) {
            return Err(Rejected::Cordoned { node: name() });
        }
        if !core.room.demand(shape).fits_in(&core.room.free(node)) {
            return Err(Rejected::NoRoom { node: name() });
        }
        if !core.room.allows(shape, node) {
            return Err(Rejected::NodeNotAllowed { node: name() });
        }
        core.share_out_if_due();
        reservations.drop_on(core, slot, node);
        reservations.upset_node(core, node, false);
        Ok(self.start(slot, Some(task), node, None))
    }

    /// A task is told to stop because that was decided elsewhere, as in a journal.
    pub fn stop_as_told(&mut self, task: AllocationId) -> Result<(), Rejected> {
        if self.core.work.running(task).is_none() {
            return Err(Rejected::UnknownAllocation);
        }
        self.reservations.stop_as_told(task);
        Ok(())
    }
}
