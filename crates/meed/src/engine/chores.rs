//! What the clock alone changes: rounds begin, landmarks move, quanta are refreshed.
//!
//! Chores are done when the first event at or after their time comes, before it is taken in. That
//! is exact: rounds that began in between saw no event, so only the last of them matters (Eq. 12).

use super::Engine;
use crate::ledger::Step;
use crate::order::{Domain, Rate};
use crate::spec::{AllocationId, JobId, QueueId};
use crate::time::Time;

impl Engine {
    /// Finds when the next chore is due.
    pub(super) fn schedule_chores(&mut self) {
        let of_guard = self.guard.as_ref().map(|guard| &guard.domain);
        let domains =
            self.domains.iter().chain(of_guard).filter(|domain| domain.rule.keeps_usage());
        let due = domains.filter_map(|domain| domain.rule.next_chore()).min();
        let quanta = self.quanta.as_ref().map_or(Time::MAX, |quanta| quanta.next_refresh());
        self.next_chore = due.unwrap_or(Time::MAX).min(quanta);
    }

    pub(super) fn do_chores(&mut self) {
        if self.quanta.as_ref().is_some_and(|quanta| quanta.next_refresh() <= self.now) {
            self.refresh_quanta();
        }
        for domain in 0..self.domains.len() {
            if !self.domains[domain].rule.keeps_usage() {
                continue;
            }
            if self.domains[domain].rule.enter_round(self.now) {
                self.begin_round(domain);
            }
            let steps = self.domains[domain].rule.clock.steps(self.now);
            if !steps.is_empty() {
                self.move_landmarks(domain, &steps);
            }
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

    /// The queues, and the jobs, that are ordered by `domain`: those whose parent, or whose leaf,
    /// has it.
    pub(super) fn members(&self, domain: usize) -> (Vec<QueueId>, Vec<JobId>) {
        let ordered_by = |queue: QueueId| self.queues[queue.index()].domain == domain;
        let queues =
            self.queue_ids().filter(|&id| self.queues[id.index()].parent.is_some_and(ordered_by));
        let jobs = self.jobs.iter().filter(|(_, job)| ordered_by(job.queue)).map(|(id, _)| id);
        (queues.collect(), jobs.collect())
    }

    /// A round of `domain` has begun: what its members used before is forgotten, and their running
    /// tasks are charged as if they had started now (Eq. 13 to 15). One pass over members and
    /// running tasks, however many parents share the domain.
    fn begin_round(&mut self, domain: usize) {
        let rule = self.domains[domain].rule;
        let (queues, jobs) = self.members(domain);
        for &id in &queues {
            let standing = &mut self.queues[id.index()].standing;
            standing.forget(rule.round_start);
            standing.begin_round(rule.round_start, false);
        }
        for &id in &jobs {
            let standing = &mut self.jobs[id].standing;
            standing.forget(rule.round_start);
            standing.begin_round(rule.round_start, false);
        }
        let running: Vec<AllocationId> =
            self.running.iter().map(|(allocation, _)| allocation).collect();
        for allocation in running {
            self.straddle(domain, allocation);
        }
        self.rekey_all(&queues, &jobs);
    }

    /// A running task goes on into a new round of `domain`, at each level that the domain orders.
    fn straddle(&mut self, domain: usize, allocation: AllocationId) {
        let rule = self.domains[domain].rule;
        let rate = self.rate_of(&self.domains[domain], allocation);
        let task = &self.running[allocation];
        let (started, quantum) = task.terms();
        let end = rule.assumed_end(started, quantum);
        let (job, mut at) = (task.job, task.queue);
        if self.queues[at.index()].domain == domain {
            let standing = &mut self.jobs[job].standing;
            standing.begin_round(rule.round_start, true);
            standing.charge_from(rule.round_start, &rate, end, &rule, u64::MAX);
        }
        while let Some(parent) = self.queues[at.index()].parent {
            if self.queues[parent.index()].domain == domain {
                let queue = &mut self.queues[at.index()];
                queue.standing.begin_round(rule.round_start, true);
                queue.standing.charge_from(rule.round_start, &rate, end, &rule, queue.terms.share);
            }
            at = parent;
        }
    }

    fn rekey_all(&mut self, queues: &[QueueId], jobs: &[JobId]) {
        queues.iter().for_each(|&id| self.rekey(id));
        jobs.iter().for_each(|&id| self.rekey_job(id));
    }

    fn rate_of(&self, domain: &Domain, allocation: AllocationId) -> Rate {
        let task = &self.running[allocation];
        let weight = self.cluster.weight(task.node);
        domain.rate(&self.shapes[task.shape()].demand, weight)
    }

    /// Half-life: when enough have passed, all charges among the members of `domain` are scaled
    /// down together.
    fn move_landmarks(&mut self, domain: usize, steps: &[Step]) {
        let (queues, jobs) = self.members(domain);
        for step in steps {
            let rule = self.domains[domain].rule;
            for id in &queues {
                let queue = &mut self.queues[id.index()];
                queue.standing.move_landmark(step, &rule, queue.terms.share);
            }
            for &id in &jobs {
                self.jobs[id].standing.move_landmark(step, &rule, u64::MAX);
            }
            self.domains[domain].rule.clock = rule.clock.at_landmark(step.landmark);
        }
        self.rekey_all(&queues, &jobs);
    }

    fn guard_chores(&mut self) {
        let Some(mut guard) = self.guard.take() else { return };
        if guard.domain.rule.enter_round(self.now) {
            let rule = guard.domain.rule;
            for standing in &mut guard.standings {
                standing.forget(rule.round_start);
            }
            for (allocation, task) in self.running.iter() {
                let rate = self.rate_of(&guard.domain, allocation);
                let (started, quantum) = task.terms();
                let leaf = task.queue.index();
                let (end, share) = (rule.assumed_end(started, quantum), guard.terms[leaf].share);
                guard.standings[leaf].charge_from(rule.round_start, &rate, end, &rule, share);
            }
        }
        for step in guard.domain.rule.clock.steps(self.now) {
            let rule = guard.domain.rule;
            for (standing, terms) in guard.standings.iter_mut().zip(&guard.terms) {
                standing.move_landmark(&step, &rule, terms.share);
            }
            guard.domain.rule.clock = rule.clock.at_landmark(step.landmark);
        }
        self.guard = Some(guard);
        self.rekey_guard();
    }
}
