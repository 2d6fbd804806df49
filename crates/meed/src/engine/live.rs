//! What happens in a live cluster and in no plan: a start that could not be carried out, a task lost
//! without fault, one task of a job withdrawn.
//!
//! An undone start leaves the ledgers as if it had never been, at every level: exactly with memory
//! for ever and within a round; with a half-life to a unit for each landmark since; with a discount
//! (Eq. 7) where nothing else of the queue started or ended since, for a ledger keeps no history.
//! What was decided in between stays, and so do the terms of newcomers. The fairness integrals keep
//! what was held: the room was kept from others.

use super::Engine;
use crate::error::Rejected;
use crate::event::{Effect, JobState};
use crate::spec::{AllocationId, JobId};

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
        let task = *self.work.running(allocation).ok_or(Rejected::UnknownAllocation)?;
        self.release_as(allocation, undone);
        self.wait_again(&task, task.failures);
        Ok(Effect::Ended { job: task.job, state: JobState::Active, stopped: Vec::new() })
    }

    pub(super) fn task_withdrawn(&mut self, id: JobId, task: u32) -> Result<Effect, Rejected> {
        let job = self.work.job(id).ok_or(Rejected::UnknownJob)?;
        let mut groups = job.groups().iter().copied();
        let mut stopped = Vec::new();
        match groups.find(|&slot| self.work.group(slot).waits(task)) {
            Some(slot) => self.withdraw_waiting(id, slot, task),
            None => {
                let number = |&at: &AllocationId| self.work.running(at).map(|it| it.task);
                let running = self.work.running_of(id);
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
        self.work.withdraw(slot, task);
        let (shape, group_waits) = {
            let group = self.work.group(slot);
            (group.shape, group.waiting() > 0)
        };
        let job = self.work.job(id).expect("the caller has found it");
        let (leaf, job_waits) = (job.queue, job.waiting() > 0);
        self.room.sub_waiting(shape, 1);
        self.books.unask(self.now, &self.tree, id, self.room.demand(shape), 1);
        if !group_waits {
            self.ready.unlist(leaf, slot, shape);
        }
        self.sub_leaf_waiting(leaf, 1);
        if !job_waits {
            self.update_arrivals(id, false);
        }
    }
}
