//! What happens in a live cluster and in no plan: a start that could not be carried out, a task
//! lost without fault, one task of a job withdrawn, a task that already runs, one that runs
//! elsewhere.
//!
//! An adopted task is charged as if it had been decided when it began, as far as ledgers still
//! know: since the start of the round at most; under a half-life what it used then counts less by
//! now; with a discount (Eq. 7) as if its queue had held all the time what it holds now. Its queue
//! and its job arrive (Eq. 14), where they were not there, when it is told of, and their terms as
//! newcomers are those of that instant. The fairness integrals measure what the engine saw: from
//! then on.
//!
//! An undone start leaves the ledgers as if it had never been, at every level: exactly with memory
//! for ever and within a round; with a half-life to a unit for each landmark since; with a discount
//! (Eq. 7) where nothing else of the queue started or ended since, for a ledger keeps no history.
//! What was decided in between stays, and so do the terms of newcomers. To the guard it was no
//! service, and the leaf waits since it did before, or since its demand began anew in between. The
//! fairness integrals keep what was held: the room was kept from others.

use super::Engine;
use super::books::Used;
use super::share_out::Reads;
use crate::error::Rejected;
use crate::event::{Effect, JobState};
use crate::ids::{AllocationId, JobId, NodeId};
use crate::time::Time;

impl Engine {
    pub(super) fn start_failed(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        self.stop_without_fault(allocation, true)
    }

    pub(super) fn task_lost(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        self.stop_without_fault(allocation, false)
    }

    fn stop_without_fault(
        &mut self,
        allocation: AllocationId,
        undone: bool,
    ) -> Result<Effect, Rejected> {
        let task = *self.core.work.running(allocation).ok_or(Rejected::UnknownAllocation)?;
        match undone {
            true => self.core.share_out_for(Reads::Charges),
            false => self.reservations.task_is_lost(&mut self.core, allocation),
        }
        self.release_as(allocation, undone);
        let before = self.core.guard.as_ref().map(|guard| guard.waits_since(task.queue).1);
        self.wait_again(&task, task.failures);
        if let (Some(guard), Some(before), true) = (&mut self.core.guard, before, undone) {
            let since = guard.goes_on(task.queue, before);
            self.core.ready.set_waits_since(task.queue, since);
        }
        Ok(Effect::Ended { job: task.job, state: JobState::Active, stopped: Vec::new() })
    }

    pub(super) fn task_withdrawn(&mut self, id: JobId, task: u32) -> Result<Effect, Rejected> {
        let job = self.core.work.job(id).ok_or(Rejected::UnknownJob)?;
        let mut groups = job.groups().iter().copied();
        let mut stopped = Vec::new();
        match groups.find(|&slot| self.core.work.group(slot).waits(task)) {
            Some(slot) => self.withdraw_waiting(id, slot, task),
            None => {
                let number = |&at: &AllocationId| self.core.work.running(at).map(|it| it.task);
                let running = self.core.work.running_of(id);
                let running = running.into_iter().find(|at| number(at) == Some(task));
                let allocation = running.ok_or(Rejected::NoSuchTask { task })?;
                self.release(allocation);
                stopped.push(allocation);
            }
        }
        let state = self.state_after(id);
        Ok(Effect::Ended { job: id, state, stopped })
    }

    fn withdraw_waiting(&mut self, id: JobId, slot: u32, task: u32) {
        let Engine { core, reservations, .. } = self;
        core.work.withdraw(slot, task);
        reservations.drop_surplus(core, slot);
        let shape = core.work.group(slot).turn();
        let leaf = core.work.job(id).expect("the caller has found it").queue;
        core.room.sub_waiting(shape, 1);
        let demand = core.room.demand(core.work.group(slot).shape);
        core.books.unask(core.now, &core.tree, id, demand, 1);
        core.fewer_in_walk(leaf, slot);
        core.sub_leaf_waiting(leaf, 1);
        core.park_if_all_held(leaf);
        self.regroup(slot);
    }

    pub(super) fn task_adopted(
        &mut self,
        id: JobId,
        task: u32,
        node: NodeId,
        since: Time,
    ) -> Result<Effect, Rejected> {
        let job = self.core.work.job(id).ok_or(Rejected::UnknownJob)?;
        let node = self.core.live_node(node)?;
        if since > self.core.now {
            let (given_us, now_us) = (since.as_micros(), self.core.now.as_micros());
            return Err(Rejected::RunsLater { given_us, now_us });
        }
        let mut groups = job.groups().iter().copied();
        let slot = groups.find(|&slot| self.core.work.group(slot).waits(task));
        let slot = slot.ok_or(Rejected::TaskDoesNotWait { task })?;
        self.core.share_out_for(Reads::All);
        let allocation = self.start_since(Some(since), slot, Some(task), node);
        self.regroup(slot);
        self.reservations.upset_node(&mut self.core, node, false);
        Ok(Effect::Started(allocation))
    }

    /// The task has run on `node` all the time: it is charged by that one's weight since its start,
    /// and where the weights are the same ledgers stay as they are.
    pub(super) fn task_moved(
        &mut self,
        allocation: AllocationId,
        node: NodeId,
    ) -> Result<Effect, Rejected> {
        let Engine { core, reservations, .. } = self;
        let task = *core.work.running(allocation).ok_or(Rejected::UnknownAllocation)?;
        let node = core.live_node(node)?;
        if task.node == node {
            return Ok(Effect::None);
        }
        let (demand, before) = (*core.room.demand(task.shape), core.room.weight(task.node));
        let used = Used { job: task.job, queue: task.queue, demand: &demand, node_weight: before };
        let (now, weight) = (core.now, core.room.weight(node));
        core.work.set_node(allocation, node);
        if weight != before {
            core.share_out_for(Reads::Charges);
            let started = (task.started, task.quantum);
            core.books.reweigh(now, &core.tree, &used, started, weight);
            if let Some(guard) = &mut core.guard {
                guard.reweigh(now, &used, started, weight);
            }
        }
        if let Some(servers) = &mut core.servers {
            servers.let_go(&core.tree, task.queue, task.node, &demand);
            servers.hold(&core.tree, task.queue, node, &demand);
        }
        core.room.end(task.shape, task.job, task.node);
        core.room.hold_anyway(task.shape, task.job, node);
        reservations.upset_node(core, node, false);
        core.rekey_job(task.job);
        core.rekey_path(task.queue);
        self.has_room_now(task.node);
        Ok(Effect::None)
    }
}
