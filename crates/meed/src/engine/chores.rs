//! What the clock alone changes: rounds begin, landmarks move, quanta are refreshed.
//!
//! Chores are done when the first event at or after their time comes, before it is taken in. That is exact: rounds
//! that began in between saw no event, so only the last of them matters (Eq. 12).

use super::Engine;
use crate::order::Domain;
use crate::spec::{AllocationId, JobId, QueueId};
use crate::time::Time;

impl Engine {
    /// Finds when the next chore is due.
    pub(super) fn schedule_chores(&mut self) {
        let of_queues = self.queues.iter().filter(|queue| !queue.removed).map(|queue| &queue.domain);
        let of_guard = self.guard.as_ref().map(|guard| &guard.domain);
        let domains = of_queues.chain(of_guard).filter_map(|domain: &Domain| domain.rule.next_chore()).min();
        let quanta = self.quanta.as_ref().map_or(Time::MAX, |quanta| quanta.next_refresh());
        self.next_chore = domains.unwrap_or(Time::MAX).min(quanta);
    }

    pub(super) fn do_chores(&mut self) {
        if self.quanta.as_ref().is_some_and(|quanta| quanta.next_refresh() <= self.now) {
            self.refresh_quanta();
        }
        for index in 0..self.queues.len() {
            let queue = QueueId(index as u32);
            if self.queues[index].domain.rule.enter_round(self.now) {
                self.begin_round(queue);
            }
            self.move_landmark(queue);
        }
        self.guard_chores();
        self.schedule_chores();
    }

    fn refresh_quanta(&mut self) {
        let Some(quanta) = &mut self.quanta else { return };
        for id in std::mem::take(&mut self.learners) {
            if let Some(job) = self.jobs.get_mut(id) {
                quanta.refresh_job(job.queue, &mut job.quantum);
            }
        }
        quanta.refresh(|queue| self.queues[queue.index()].parent);
    }

    /// A round of `parent` has begun: what its children used before is forgotten, and their running tasks are
    /// charged as if they had started now (Eq. 13 to 15).
    fn begin_round(&mut self, parent: QueueId) {
        if self.queues[parent.index()].is_leaf() {
            return self.begin_round_of_jobs(parent);
        }
        let rule = self.queues[parent.index()].domain.rule;
        for child in self.queues[parent.index()].children.clone() {
            let queue = &mut self.queues[child.index()];
            queue.standing.ledger.reset(rule.round_start);
            queue.standing.begin_round(rule.round_start, false);
        }
        for (allocation, child) in self.running_below(parent) {
            let task = &self.running[allocation];
            let rate = self.rate_in(parent, allocation);
            let (started, quantum) = task.terms();
            let queue = &mut self.queues[child.index()];
            queue.standing.begin_round(rule.round_start, true);
            let end = rule.assumed_end(started, quantum);
            let rules = rule.ledger_rules(queue.terms.share);
            queue.standing.ledger.start(rule.round_start, rate, end, rules);
        }
        for child in self.queues[parent.index()].children.clone() {
            self.rekey(child);
        }
    }

    fn begin_round_of_jobs(&mut self, leaf: QueueId) {
        let rule = self.queues[leaf.index()].domain.rule;
        let ours: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| job.queue == leaf).map(|(id, _)| id).collect();
        for &id in &ours {
            let standing = &mut self.jobs[id].standing;
            standing.ledger.reset(rule.round_start);
            standing.begin_round(rule.round_start, false);
        }
        let running: Vec<AllocationId> =
            self.running.iter().filter(|(_, task)| task.queue == leaf).map(|(id, _)| id).collect();
        for allocation in running {
            let rate = self.rate_in(leaf, allocation);
            let task = &self.running[allocation];
            let (started, quantum) = task.terms();
            let standing = &mut self.jobs[task.job].standing;
            standing.begin_round(rule.round_start, true);
            let end = rule.assumed_end(started, quantum);
            standing.ledger.start(rule.round_start, rate, end, rule.ledger_rules(u64::MAX));
        }
        for id in ours {
            self.rekey_job(id);
        }
    }

    /// All running tasks below `parent`, each with the child of `parent` it belongs to; in order of start slots.
    fn running_below(&self, parent: QueueId) -> Vec<(AllocationId, QueueId)> {
        let child_of = |leaf: QueueId| {
            let mut at = leaf;
            while let Some(above) = self.queues[at.index()].parent {
                if above == parent {
                    return Some(at);
                }
                at = above;
            }
            None
        };
        self.running.iter().filter_map(|(id, task)| child_of(task.queue).map(|child| (id, child))).collect()
    }

    /// The scalar amount of a running task by the rules of `parent`.
    fn rate_in(&self, parent: QueueId, allocation: AllocationId) -> u64 {
        self.scalar_of(&self.queues[parent.index()].domain, allocation)
    }

    fn scalar_of(&self, domain: &Domain, allocation: AllocationId) -> u64 {
        let task = &self.running[allocation];
        let weight = self.cluster.nodes[task.node.index()].spec.weight;
        domain.scalar.amount(&self.shapes[task.shape()].demand, weight)
    }

    /// Half-life: when enough have passed, all charges among `parent`'s children are scaled down together.
    fn move_landmark(&mut self, parent: QueueId) {
        let steps = self.queues[parent.index()].domain.rule.clock.steps(self.now);
        if steps.is_empty() {
            return;
        }
        let children = self.queues[parent.index()].children.clone();
        let jobs: Vec<JobId> =
            self.jobs.iter().filter(|(_, job)| job.queue == parent).map(|(id, _)| id).collect();
        for step in steps {
            let rule = self.queues[parent.index()].domain.rule;
            for child in &children {
                let queue = &mut self.queues[child.index()];
                queue.standing.ledger.move_landmark(&step, rule.ledger_rules(queue.terms.share));
            }
            for &id in &jobs {
                self.jobs[id].standing.ledger.move_landmark(&step, rule.ledger_rules(u64::MAX));
            }
            self.queues[parent.index()].domain.rule.clock = rule.clock.at_landmark(step.landmark);
        }
        for child in children {
            self.rekey(child);
        }
        for id in jobs {
            self.rekey_job(id);
        }
    }

    fn guard_chores(&mut self) {
        let Some(mut guard) = self.guard.take() else { return };
        if guard.domain.rule.enter_round(self.now) {
            let rule = guard.domain.rule;
            for standing in &mut guard.standings {
                standing.ledger.reset(rule.round_start);
            }
            for (allocation, task) in self.running.iter() {
                let rate = self.scalar_of(&guard.domain, allocation);
                let (started, quantum) = task.terms();
                let leaf = task.queue.index();
                let rules = rule.ledger_rules(guard.terms[leaf].share);
                let end = rule.assumed_end(started, quantum);
                guard.standings[leaf].ledger.start(rule.round_start, rate, end, rules);
            }
        }
        for step in guard.domain.rule.clock.steps(self.now) {
            let rule = guard.domain.rule;
            for (standing, terms) in guard.standings.iter_mut().zip(&guard.terms) {
                standing.ledger.move_landmark(&step, rule.ledger_rules(terms.share));
            }
            guard.domain.rule.clock = rule.clock.at_landmark(step.landmark);
        }
        self.guard = Some(guard);
        self.rekey_guard();
    }
}
