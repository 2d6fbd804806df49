//! What the books tell those who look: copies and sums, nothing that changes anything.

use super::Books;
use crate::engine::key_parts::KeyParts;
use crate::fairness::{Integrals, KindUse, Lending};
use crate::ids::{JobId, QueueRow};
use crate::ledger::{CHARGE_ONE, Charge};
use crate::memory::{expect, expect_at};
use crate::order::key::Key;
use crate::policy::Measure;
use crate::resources::Resources;
use crate::spec::Weight;
use crate::time::{Span, Time};

use super::super::tree::Tree;

/// Rows that are asked for ahead of their turn (`ahead`): the lines in which these fields stand.
impl Books {
    #[inline]
    pub(in crate::engine) fn expect(&self, queue: QueueRow) {
        let account = &self.accounts[queue.index()];
        expect(account);
        expect(&account.terms);
        expect(&account.held);
        expect(&account.active_tasks);
        self.meter.expect(queue.index());
    }

    #[inline]
    pub(in crate::engine) fn expect_job(&self, job: JobId) {
        expect_at(&self.jobs, job.slot());
    }

    #[inline]
    pub(in crate::engine) fn expect_behind_job(&self, job: JobId) {
        if let Some(account) = &self.jobs[job.slot()] {
            expect(&account.active_tasks);
            account.standing.expect_behind();
        }
    }

    #[inline]
    pub(in crate::engine) fn expect_last(&self, queue: QueueRow) {
        self.accounts[queue.index()].standing.expect_last();
    }

    #[inline]
    pub(in crate::engine) fn expect_behind(&self, queue: QueueRow) {
        self.accounts[queue.index()].standing.expect_behind();
    }
}

/// What keys are made of; see `engine::parts`.
impl Books {
    pub(in crate::engine) fn parts(&mut self, now: Time, queue: QueueRow) -> KeyParts {
        let quantum = self.quantum(queue).unwrap_or(Span::ZERO);
        let account = &mut self.accounts[queue.index()];
        let domain = &self.domains[account.ordered_by];
        let parts = account.standing.parts(now, domain, &account.terms, quantum);
        KeyParts { served: account.terms.tie.0, ..parts }
    }

    pub(in crate::engine) fn parts_of_job(&mut self, now: Time, job: JobId) -> KeyParts {
        let account = self.jobs[job.slot()].as_mut().expect("the job is alive");
        let domain = &self.domains[self.accounts[account.queue.index()].domain];
        let (terms, quantum) = (account.terms(0), account.quantum.quantum);
        account.standing.parts(now, domain, &terms, quantum)
    }
}

/// The quanta of those; see `engine::parts`.
impl Books {
    pub(in crate::engine) fn key_quantum(&self, now: Time, queue: QueueRow) -> Span {
        let account = &self.accounts[queue.index()];
        let quantum = self.quantum(queue).unwrap_or(Span::ZERO);
        self.domains[account.ordered_by].rule.key_quantum(now, quantum)
    }

    pub(in crate::engine) fn job_key_quantum(&self, now: Time, job: JobId) -> Span {
        let account = self.jobs[job.slot()].as_ref().expect("the job is alive");
        let domain = &self.domains[self.accounts[account.queue.index()].domain];
        domain.rule.key_quantum(now, account.quantum.quantum)
    }
}

impl Books {
    /// The key of `queue` among its siblings, as [`Books::key`] tells it.
    pub(in crate::engine) fn key_seen(&self, now: Time, queue: QueueRow) -> Key {
        let account = &self.accounts[queue.index()];
        account.standing.clone().key(now, self.domain_above(queue), &account.terms)
    }

    /// The key of a group, as [`Books::group_key`] tells it.
    pub(in crate::engine) fn group_key_seen(&self, now: Time, job: JobId, number: u32) -> Key {
        let account = self.jobs[job.slot()].as_ref().expect("the job is alive");
        let domain = self.domain(account.queue);
        let terms = account.terms(number);
        match domain.rule.measure {
            Measure::Arrival | Measure::Told => account.arrival_key(&terms),
            _ => account.standing.clone().key(now, domain, &terms),
        }
    }

    /// A leaf's integrals up to `now`, which is not before the last event.
    pub(in crate::engine) fn integrals(&self, leaf: QueueRow, now: Time) -> Integrals {
        self.meter.integrals(now, leaf.index())
    }

    /// What a leaf has used up to `now`, holds and wants of one kind.
    #[inline]
    pub(in crate::engine) fn use_of(&self, leaf: QueueRow, kind: usize, now: Time) -> KindUse {
        self.meter.use_of(now, leaf.index(), kind)
    }

    /// What a leaf holds and waits for of one kind.
    pub(in crate::engine) fn wanted(&self, leaf: QueueRow, kind: usize) -> u128 {
        self.meter.wanted(leaf.index(), kind)
    }

    /// The kind that fairness is measured in.
    pub(in crate::engine) fn measured(&self) -> usize {
        self.meter.kind()
    }

    /// Whether a leaf has lent more than it has borrowed.
    pub(in crate::engine) fn is_lender(&self, now: Time, leaf: QueueRow) -> bool {
        self.meter.is_lender(now, leaf.index())
    }

    /// What each of `leaves` has lent and borrowed, and those that are forgotten.
    pub(in crate::engine) fn lending(
        &self,
        leaves: &[QueueRow],
        now: Time,
    ) -> (Vec<Lending>, Lending) {
        let leaves: Vec<usize> = leaves.iter().map(|leaf| leaf.index()).collect();
        self.meter.lending(now, &leaves)
    }

    /// A queue's time quantum now.
    pub(in crate::engine) fn quantum(&self, queue: QueueRow) -> Option<Span> {
        self.quanta.as_ref().map(|quanta| quanta.queue(queue))
    }

    /// What a queue's ledger holds against it; its plain use where the policy keeps no ledger. In
    /// smallest units x seconds.
    pub(in crate::engine) fn charged(
        &self,
        tree: &Tree,
        queue: QueueRow,
        now: Time,
        total: &Resources,
    ) -> f64 {
        if tree[queue].parent().is_none() {
            return 0.0;
        }
        let (domain, account) = (self.domain_above(queue), &self.accounts[queue.index()]);
        if !domain.rule.keeps_usage() {
            return self.plain_use(tree, queue, now);
        }
        let mut charge = account.standing.charge_ahead(now, domain, account.terms.share) as f64;
        if domain.is_dominant() {
            // A share of the pool, as an amount of the measured kind.
            charge *= total.get(self.measured()) as f64 / domain.pool.count() as f64;
        }
        charge / CHARGE_ONE as f64 / 1e6 / domain.rule.clock.inflation(now)
    }

    /// What is charged to `queue`, in its parent's measure, and its weight; nothing where the
    /// parent's policy keeps no ledger.
    pub(in crate::engine) fn owed(&self, now: Time, queue: QueueRow) -> (Charge, Weight) {
        let (domain, account) = (self.domain_above(queue), &self.accounts[queue.index()]);
        let charge = match domain.rule.keeps_usage() {
            true => account.standing.charge_ahead(now, domain, account.terms.share),
            false => 0,
        };
        (charge, account.terms.weight)
    }

    fn plain_use(&self, tree: &Tree, queue: QueueRow, now: Time) -> f64 {
        let children = tree[queue].children();
        let below: f64 = children.iter().map(|&child| self.plain_use(tree, child, now)).sum();
        below + self.integrals(queue, now).usage[self.measured()] as f64 / 1e6
    }
}
