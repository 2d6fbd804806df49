//! What the clock alone changes in the books: rounds begin, landmarks move, quanta are refreshed.
//!
//! That is done when the first event at or after its time comes, before it is taken in. It is
//! exact: rounds that began in between saw no event, so only the last of them matters (Eq. 12).
//! Cost: one pass over the members of a domain and the running tasks, however many parents share
//! the domain.

use super::{Books, Used};
use crate::ids::{JobId, QueueRow};
use crate::order::{Domain, Rate, Requantified, Standing};
use crate::time::{Span, Time};

use super::super::tree::Tree;

/// Running tasks with their rates in an order.
pub(in crate::engine) fn rated(
    domain: &Domain,
    tasks: &[(Used<'_>, Requantified)],
) -> Vec<(Rate, Requantified)> {
    let rate = |used: &Used<'_>| domain.rate(used.demand, used.node_weight);
    tasks.iter().map(|(used, change)| (rate(used), *change)).collect()
}

impl Books {
    /// When the clock alone next changes something.
    #[inline]
    pub(in crate::engine) fn next_chore(&self) -> Time {
        self.next_chore
    }

    /// Finds when the next chore is due; `other` are those that are not the books'.
    pub(in crate::engine) fn schedule(&mut self, other: Option<Time>) {
        let domains = self.domains.iter().filter(|domain| domain.rule.keeps_usage());
        let due = domains.filter_map(|domain| domain.rule.next_chore()).chain(other).min();
        let quanta = self.quanta.as_ref().map_or(Time::MAX, |quanta| quanta.next_refresh());
        self.next_chore = due.unwrap_or(Time::MAX).min(quanta);
    }

    /// Takes the averages of the quanta, if it is time: the live jobs whose quantum is another one
    /// now, each once. Their running tasks are to be charged by it ([`Books::change_quanta`]).
    pub(in crate::engine) fn refresh_quanta(
        &mut self,
        now: Time,
        tree: &Tree,
    ) -> Option<Vec<JobId>> {
        let quanta = self.quanta.as_mut().filter(|quanta| quanta.next_refresh() <= now)?;
        let mut changed = Vec::new();
        for id in std::mem::take(&mut self.learners) {
            if let Some(job) = self.jobs[id.slot()].as_mut().filter(|job| job.is(id)) {
                let before = job.quantum.quantum;
                quanta.refresh_job(job.queue, &mut job.quantum);
                if job.quantum.quantum != before {
                    changed.push(id);
                }
            }
        }
        let learners = quanta.learners();
        quanta.refresh(|queue| tree[queue].parent());
        if !learners.is_empty() {
            let jobs = self.jobs.iter_mut().flatten();
            for job in jobs.filter(|job| learners.contains(&job.queue)) {
                if quanta.hand_down(job.queue, &mut job.quantum) {
                    changed.push(job.id);
                }
            }
        }
        Some(changed)
    }

    /// Whether tasks of `leaf` are charged by quanta that jobs learn, at some level; the guard's
    /// order is the root's.
    pub(in crate::engine) fn charges_learnt(&self, tree: &Tree, leaf: QueueRow) -> bool {
        let charges = |domain: usize| self.domains[domain].rule.charges_learnt();
        let above = |(queue, _): (QueueRow, QueueRow)| self.accounts[queue.index()].ordered_by;
        charges(self.accounts[leaf.index()].domain) || tree.up(leaf).map(above).any(charges)
    }

    /// A job's quantum now.
    pub(in crate::engine) fn job_quantum(&self, id: JobId) -> Span {
        self.jobs[id.slot()].as_ref().expect("the job is alive").quantum.quantum
    }

    /// Running tasks of a job, each with what it counts by, are charged by another quantum (ICS'14
    /// Sec. 5.2.2: RC estimates the assumed execution time of each running task with the updated
    /// value): their charges follow at every level.
    pub(in crate::engine) fn change_quanta(
        &mut self,
        now: Time,
        tree: &Tree,
        (id, leaf): (JobId, QueueRow),
        tasks: &[(Used<'_>, Requantified)],
    ) {
        let rated = |domain: &Domain| rated(domain, tasks);
        let domain = &self.domains[self.accounts[leaf.index()].domain];
        let job = self.jobs[id.slot()].as_mut().expect("the job is alive");
        if domain.rule.charges_learnt() {
            job.standing.change_quanta(now, &rated(domain), domain, u64::MAX);
        }
        for (at, _) in tree.up(leaf) {
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            if domain.rule.charges_learnt() {
                let share = account.terms.share;
                account.standing.change_quanta(now, &rated(domain), domain, share);
            }
        }
    }

    /// Begins the rounds that are due: what the members of their domains used before is forgotten,
    /// and their running tasks are to be charged as if they had started now (Eq. 13 to 15,
    /// [`Books::straddle`]). The domains.
    pub(in crate::engine) fn begin_rounds(&mut self, now: Time) -> Vec<usize> {
        let mut begun = Vec::new();
        for index in 0..self.domains.len() {
            let rule = &mut self.domains[index].rule;
            if !rule.keeps_usage() || !rule.enter_round(now) {
                continue;
            }
            let start = rule.round_start;
            self.for_each_member(index, |standing, _| {
                standing.forget(start);
                standing.begin_round(start, false);
            });
            begun.push(index);
        }
        begun
    }

    /// A running task goes on into a new round of these domains, at each level that they order.
    pub(in crate::engine) fn straddle(
        &mut self,
        tree: &Tree,
        begun: &[usize],
        used: &Used<'_>,
        (started, quantum): (Time, Span),
    ) {
        for &index in begun {
            let domain = &self.domains[index];
            let (rate, rule) = (domain.rate(used.demand, used.node_weight), domain.rule);
            let (start, end) = (rule.round_start, rule.assumed_end(started, quantum));
            if self.accounts[used.queue.index()].domain == index {
                let job = self.jobs[used.job.slot()].as_mut().expect("the job is alive");
                job.standing.begin_round(start, true);
                job.standing.charge_from(start, &rate, end, &rule, u64::MAX);
            }
            for (at, _) in tree.up(used.queue) {
                let account = &mut self.accounts[at.index()];
                if account.ordered_by == index {
                    account.standing.begin_round(start, true);
                    let share = account.terms.share;
                    account.standing.charge_from(start, &rate, end, &rule, share);
                }
            }
        }
    }

    /// Half-life: when enough have passed, all charges among the members of a domain are scaled
    /// down together. The domains whose landmarks moved.
    pub(in crate::engine) fn move_landmarks(&mut self, now: Time) -> Vec<usize> {
        let mut moved = Vec::new();
        for index in 0..self.domains.len() {
            if !self.domains[index].rule.keeps_usage() {
                continue;
            }
            let steps = self.domains[index].rule.clock.steps(now);
            for step in &steps {
                let rule = self.domains[index].rule;
                self.for_each_member(index, |standing, share| {
                    standing.move_landmark(step, &rule, share);
                });
                self.domains[index].rule.clock = rule.clock.at_landmark(step.landmark);
            }
            if !steps.is_empty() {
                moved.push(index);
            }
        }
        moved
    }

    /// The queues, and the jobs, that are ordered by `domain`: those whose parent, or whose leaf,
    /// has it.
    pub(in crate::engine) fn members(&self, domain: usize) -> (Vec<QueueRow>, Vec<JobId>) {
        let accounts = self.accounts.iter().enumerate().skip(1);
        let queues = accounts
            .filter(|(_, account)| account.ordered_by == domain)
            .map(|(index, _)| QueueRow(index as u32))
            .collect();
        let ordered = |queue: QueueRow| self.accounts[queue.index()].domain == domain;
        let jobs = self.jobs.iter().flatten().filter(|job| ordered(job.queue));
        (queues, jobs.map(|job| job.id).collect())
    }

    /// Calls `change` with the standing of each member of `domain`, and its share as a scalar.
    pub(super) fn for_each_member(
        &mut self,
        domain: usize,
        mut change: impl FnMut(&mut Standing, u64),
    ) {
        let (accounts, jobs) = (&mut self.accounts, &mut self.jobs);
        for account in accounts.iter_mut().skip(1).filter(|account| account.ordered_by == domain) {
            change(&mut account.standing, account.terms.share);
        }
        for job in jobs.iter_mut().flatten() {
            if accounts[job.queue.index()].domain == domain {
                change(&mut job.standing, u64::MAX);
            }
        }
    }
}
