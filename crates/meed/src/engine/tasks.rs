//! Tasks start, end, fail, are lost with their node, and are tried again.
//!
//! Charges at every level of the tree, the leaf's measures, the node's free resources and the heaps
//! change here together; what a start does, [`Engine::release`] undoes.

use super::Engine;
use crate::error::Rejected;
use crate::event::{Effect, JobState};
use crate::policy::Newcomer;
use crate::resources::Resources;
use crate::shapes::ShapeId;
use crate::spec::{AllocationId, JobId, NodeId, QueueId};
use crate::time::{Span, Time};

/// A task that runs.
pub(super) struct Running {
    pub(super) job: JobId,
    pub(super) queue: QueueId,
    group: u32,
    task: u32,
    failures: u16,
    pub(super) node: NodeId,
    shape: ShapeId,
    started: Time,
    /// Its job's quantum when it started.
    quantum: Span,
}

impl Running {
    pub(super) fn shape(&self) -> ShapeId {
        self.shape
    }

    pub(super) fn age(&self) -> Time {
        self.started
    }

    /// When it started, and its job's quantum then.
    pub(super) fn terms(&self) -> (Time, Span) {
        (self.started, self.quantum)
    }
}

impl Engine {
    /// Starts the next task of group `slot` on `node`; its handle, number and failures.
    pub(super) fn start(&mut self, slot: u32, node: NodeId) -> (AllocationId, u32, u16) {
        let (task, failures) = self.groups[slot as usize].take();
        (self.start_taken(slot, node, task, failures), task, failures)
    }

    /// Starts a task that was taken from its group.
    pub(super) fn start_taken(
        &mut self,
        slot: u32,
        node: NodeId,
        task: u32,
        failures: u16,
    ) -> AllocationId {
        let now = self.now;
        let group = &self.groups[slot as usize];
        let (job_id, shape) = (group.job, group.shape);
        let still_waits = group.waiting() > 0;
        let demand = self.shapes[shape].demand;
        let job = &mut self.jobs[job_id];
        (job.waiting, job.running) = (job.waiting - 1, job.running + 1);
        let (leaf, quantum, job_waits) = (job.queue, job.quantum.quantum, job.waiting > 0);

        if self.shapes[shape].key.distinct.is_some() {
            assert!(job.taken.insert(node), "a node of its own is nobody else's");
        }
        self.take_room(node, &demand);
        self.shapes.sub_waiting(shape, 1);
        self.meter.start(now, leaf.index(), &demand);
        self.charge_path(leaf, node, &demand, quantum);
        self.charge_job(job_id, node, &demand, quantum);
        self.hold_on_server(leaf, node, &demand);
        if !still_waits {
            self.unlist_group(leaf, slot);
        }
        if !job_waits {
            self.update_arrivals(job_id);
        }
        self.queues[leaf.index()].waits_since = now;
        self.rekey_rescaled(leaf);
        self.sub_leaf_waiting(leaf, 1);
        self.running.insert(Running {
            job: job_id,
            queue: leaf,
            group: slot,
            task,
            failures,
            node,
            shape,
            started: now,
            quantum,
        })
    }

    #[inline]
    fn take_room(&mut self, node: NodeId, demand: &Resources) {
        let free = self.cluster.take(node, demand);
        self.place.set_free(node, &free);
        // The walks over a path stop below the root; what it holds is for those who look.
        self.queues[QueueId::ROOT.index()].held.add(demand);
    }

    /// Charges the leaf and all queues above it, each by its parent's policy.
    #[inline]
    fn charge_path(&mut self, leaf: QueueId, node: NodeId, demand: &Resources, quantum: Span) {
        let (now, node_weight) = (self.now, self.cluster.weight(node));
        let mut at = leaf;
        while let Some(parent) = self.queues[at.index()].parent {
            self.first_start_of_round(at, parent);
            let domain = &self.domains[self.queues[parent.index()].domain];
            let queue = &mut self.queues[at.index()];
            let rate = domain.rate(demand, node_weight);
            queue.standing.start(now, &rate, quantum, domain, queue.terms.share);
            queue.held.add(demand);
            at = parent;
        }
        if let Some(guard) = &mut self.guard {
            let (rate, share) =
                (guard.domain.rate(demand, node_weight), guard.terms[leaf.index()].share);
            guard.standings[leaf.index()].start(now, &rate, quantum, &guard.domain, share);
        }
    }

    fn charge_job(&mut self, id: JobId, node: NodeId, demand: &Resources, quantum: Span) {
        let job = &mut self.jobs[id];
        let domain = self.queues[job.queue.index()].domain;
        if job.standing.since.is_none() {
            job.standing.since = Some(self.now);
            self.top_up_job(id, self.now);
        }
        let domain = &self.domains[domain];
        let rate = domain.rate(demand, self.cluster.weight(node));
        self.jobs[id].standing.start(self.now, &rate, quantum, domain, u64::MAX);
    }

    /// Case three of Eq. 14: a queue that is older than the round and had no task straddling its
    /// start counts from its first task in it.
    #[inline]
    fn first_start_of_round(&mut self, queue: QueueId, parent: QueueId) {
        if self.queues[queue.index()].standing.since.is_none() {
            self.queues[queue.index()].standing.since = Some(self.now);
            self.top_up_queue(queue, parent);
        }
    }

    /// Work for a leaf: each queue on its path that was idle becomes active. A queue that never had
    /// work arrives now.
    pub(super) fn queue_gets_work(&mut self, path: &[QueueId], tasks: u64) {
        let mut parent = QueueId::ROOT;
        for &at in path {
            let queue = &mut self.queues[at.index()];
            queue.active_tasks += tasks;
            if !queue.standing.known {
                queue.standing.known = true;
                queue.standing.since = Some(self.now);
                self.top_up_queue(at, parent);
            }
            parent = at;
        }
    }

    fn top_up_queue(&mut self, queue: QueueId, parent: QueueId) {
        let domain = &self.domains[self.queues[parent.index()].domain];
        let rule = domain.rule;
        if !rule.keeps_usage() || rule.newcomer == Newcomer::Zero {
            return;
        }
        let (now, since) = (self.now, self.queues[queue.index()].standing.since);
        let mut earlier = Vec::new();
        for i in 0..self.queues[parent.index()].children.len() {
            let sibling = self.queues[parent.index()].children[i];
            let other = &mut self.queues[sibling.index()];
            if sibling != queue
                && other.active_tasks > 0
                && other.standing.since.is_some_and(|at| Some(at) < since)
            {
                earlier.push((
                    other.standing.charge(now, domain, other.terms.share),
                    other.terms.weight,
                ));
            }
        }
        let newcomer = &mut self.queues[queue.index()];
        let pseudo = crate::order::pseudo_accumulated(
            rule.newcomer,
            newcomer.terms.weight,
            earlier.into_iter(),
        );
        newcomer.standing.top_up(pseudo, domain, self.kinds.len());
    }

    pub(super) fn task_ended(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        if self.running.get(allocation).is_none() {
            return Err(Rejected::UnknownAllocation);
        }
        let task = self.release(allocation);
        let ran = self.now - task.started;
        if let Some(quanta) = &mut self.quanta {
            if quanta.task_ends(self.now, &mut self.jobs[task.job].quantum, ran) {
                self.learners.push(task.job);
            }
            self.next_chore = self.next_chore.min(quanta.next_refresh());
        }
        let state = self.state_after(task.job);
        Ok(Effect::Ended { job: task.job, state, stopped: Vec::new() })
    }

    pub(super) fn task_failed(&mut self, allocation: AllocationId) -> Result<Effect, Rejected> {
        let task = self.running.get(allocation).ok_or(Rejected::UnknownAllocation)?;
        let (job, attempts) = (task.job, self.jobs[task.job].max_attempts);
        if attempts > 0 && task.failures + 1 >= attempts {
            self.release(allocation);
            let stopped = self.drop_job(job);
            return Ok(Effect::Ended { job, state: JobState::Failed, stopped });
        }
        let task = self.release(allocation);
        self.wait_again(&task, task.failures.saturating_add(1));
        Ok(Effect::Ended { job, state: JobState::Active, stopped: Vec::new() })
    }

    /// A lost task waits again; its loss is not its failure.
    pub(super) fn lose(&mut self, allocation: AllocationId) {
        let task = self.release(allocation);
        self.wait_again(&task, task.failures);
    }

    fn wait_again(&mut self, task: &Running, failures: u16) {
        let (slot, leaf) = (task.group, task.queue);
        self.groups[slot as usize].put_back(task.task, failures);
        self.jobs[task.job].waiting += 1;
        self.shapes.add_waiting(task.shape, 1);
        let demand = self.shapes[task.shape].demand;
        self.meter.ask(self.now, leaf.index(), &demand, 1);
        for queue in self.path(leaf) {
            self.queues[queue.index()].active_tasks += 1;
        }
        self.list_group(leaf, slot);
        self.update_arrivals(task.job);
        self.add_leaf_waiting(leaf, 1);
    }

    fn state_after(&mut self, id: JobId) -> JobState {
        let job = &self.jobs[id];
        if job.waiting > 0 || job.running > 0 {
            return JobState::Active;
        }
        if job.open {
            return JobState::Drained;
        }
        self.remove_job(id);
        JobState::Done
    }

    /// Frees what a running task holds, at every level.
    pub(super) fn release(&mut self, allocation: AllocationId) -> Running {
        let task = self.running.remove(allocation).expect("checked by the caller");
        let (now, demand) = (self.now, self.shapes[task.shape].demand);
        self.meter.end(now, task.queue.index(), &demand);
        self.meter.unask(now, task.queue.index(), &demand, 1);
        self.credit_job(&task, &demand);
        self.credit_path(&task, &demand);
        self.let_go_on_server(task.queue, task.node, &demand);
        self.give_room(task.node, &demand);
        self.wake();
        task
    }

    fn credit_job(&mut self, task: &Running, demand: &Resources) {
        let job = &mut self.jobs[task.job];
        job.running -= 1;
        if self.shapes[task.shape].key.distinct.is_some() {
            job.taken.remove(&task.node);
        }
        let domain = &self.domains[self.queues[task.queue.index()].domain];
        let rate = domain.rate(demand, self.cluster.weight(task.node));
        let started = (task.started, task.quantum);
        job.standing.end(self.now, &rate, started, domain, u64::MAX);
        if job.running == 0 {
            job.standing.runs_nothing(self.now);
        }
        if job.waiting > 0 {
            self.rekey_job(task.job);
        }
    }

    #[inline]
    fn credit_path(&mut self, task: &Running, demand: &Resources) {
        let (now, node_weight) = (self.now, self.cluster.weight(task.node));
        let started = (task.started, task.quantum);
        let mut at = task.queue;
        while let Some(parent) = self.queues[at.index()].parent {
            let domain = &self.domains[self.queues[parent.index()].domain];
            let queue = &mut self.queues[at.index()];
            let rate = domain.rate(demand, node_weight);
            queue.standing.end(now, &rate, started, domain, queue.terms.share);
            queue.held.sub(demand);
            if queue.held.is_zero() {
                queue.standing.runs_nothing(now);
            }
            queue.active_tasks -= 1;
            if queue.max.is_some() {
                self.woken.extend(std::mem::take(&mut queue.rest.capped));
            }
            self.rekey(at);
            at = parent;
        }
        let leaf = task.queue;
        if let Some(guard) = &mut self.guard {
            let (rate, share) =
                (guard.domain.rate(demand, node_weight), guard.terms[leaf.index()].share);
            guard.standings[leaf.index()].end(now, &rate, started, &guard.domain, share);
            guard.rekey(now, leaf);
        }
    }

    #[inline]
    fn give_room(&mut self, node: NodeId, demand: &Resources) {
        let free = self.cluster.give_back(node, demand);
        self.place.set_free(node, &free);
        self.queues[QueueId::ROOT.index()].held.sub(demand);
        self.unblock(node);
    }
}
