//! What the books will say if some tasks stop now and others start in their place
//! (`engine::holds::reclaim`).
//!
//! > first(then) < last(then),  the keys of two siblings, as the order would compare them
//!
//! The standings of both are copied, the tasks stopped and started in the copies, and their keys
//! read at an instant to come. Cost: O(what is prepaid on both), only where tasks may be stopped.

use super::{Books, Used};
use crate::ids::{JobId, QueueRow};
use crate::order::dominant::Share;
use crate::order::key::{Key, cmp_wide_ratios};
use crate::order::{Standing, Terms};
use crate::policy::Newcomer;
use crate::resources::Resources;
use crate::time::{Span, Time};

/// A task that runs, as ledgers know it.
pub(in crate::engine) struct Ran<'a> {
    pub(in crate::engine) used: Used<'a>,
    pub(in crate::engine) started: Time,
    pub(in crate::engine) quantum: Span,
}

impl Books {
    /// The number of a job in order of arrival.
    pub(in crate::engine) fn arrival(&self, job: JobId) -> u64 {
        self.jobs[job.slot()].as_ref().expect("the job is alive").arrival
    }

    /// Whether a queue holds less than its minimum share, as its parent counts it.
    pub(in crate::engine) fn is_below_minimum(&self, queue: QueueRow) -> bool {
        let account = &self.accounts[queue.index()];
        match self.domain_above(queue).is_dominant() {
            true => self.key_below_minimum(queue).is_some(),
            false => account.standing.held < account.terms.min.amount,
        }
    }

    /// What a queue holds as its parent counts it; 0 where that compares dominant shares.
    pub(in crate::engine) fn scalar_held(&self, queue: QueueRow) -> u64 {
        self.accounts[queue.index()].standing.held
    }

    /// What a task below a queue holds as the queue's parent counts it; 0 where that compares
    /// dominant shares.
    pub(in crate::engine) fn scalar_of(&self, queue: QueueRow, demand: &Resources) -> u64 {
        match self.domain_above(queue) {
            domain if domain.is_dominant() => 0,
            domain => domain.policy().scalar.amount(demand, 1000),
        }
    }

    /// Whether a queue that holds `then` in place of `now` falls below its minimum share, or
    /// further below, as its parent counts it. Each is the amounts, and their sum as a scalar.
    pub(in crate::engine) fn falls_below_minimum(
        &self,
        queue: QueueRow,
        now: (Resources, u64),
        then: (Resources, u64),
    ) -> bool {
        let min = self.accounts[queue.index()].terms.min;
        let (now, then) = (self.share_of(queue, &now), self.share_of(queue, &then));
        let least = Share { amount: min.amount.into(), of: min.of };
        then.is_less_than(&now) && then.is_less_than(&least)
    }

    /// Whether `last`, which would hold `then`, stands better than its sibling `first` by what each
    /// holds for its weight, as their parent counts it.
    pub(in crate::engine) fn holds_more(
        &self,
        (last, then): (QueueRow, (Resources, u64)),
        first: QueueRow,
    ) -> bool {
        let per_weight = |queue: QueueRow, held: &(Resources, u64)| {
            let share = self.share_of(queue, held);
            (share.amount, share.per(self.accounts[queue.index()].terms.weight))
        };
        let now = (*self.held(first), self.scalar_held(first));
        cmp_wide_ratios(per_weight(last, &then), per_weight(first, &now)).is_gt()
    }

    /// What a queue would hold as its parent counts it, by the amounts, or their sum as a scalar.
    fn share_of(&self, queue: QueueRow, (amounts, scalar): &(Resources, u64)) -> Share {
        match self.domain_above(queue) {
            domain if domain.is_dominant() => domain.pool.share(amounts),
            _ => Share { amount: (*scalar).into(), of: 1 },
        }
    }

    /// Whether the policy by which a queue has its minimum share counts some of these amounts.
    pub(in crate::engine) fn counts_some(&self, queue: QueueRow, amounts: &Resources) -> bool {
        self.domain_above(queue).policy().counts_some(amounts)
    }

    /// Whether the policy by which a queue stands among its siblings counts a resource.
    pub(in crate::engine) fn counts(&self, queue: QueueRow, kind: usize) -> bool {
        self.domain_above(queue).policy().counts(kind)
    }

    /// Whether `first` is owed something by its sibling `last`: their parent orders them by use,
    /// and `first` comes before. Who is topped up when it arrives, and has not, is owed nothing.
    pub(in crate::engine) fn is_owed(&self, now: Time, first: QueueRow, last: QueueRow) -> bool {
        let rule = &self.domain_above(first).rule;
        let has_arrived = || self.accounts[first.index()].standing.since.is_some();
        rule.keeps_usage()
            && (rule.newcomer == Newcomer::Zero || has_arrived())
            && self.key_seen(now, first) < self.key_seen(now, last)
    }

    /// Whether siblings of a queue stand by what they have used.
    pub(in crate::engine) fn stands_by_usage(&self, queue: QueueRow) -> bool {
        self.domain_above(queue).rule.keeps_usage()
    }

    /// Whether `first` still comes before its sibling `last` when `guard` has passed, if tasks
    /// below `last` stop now and others below `first` start. The books look ahead to the end of the
    /// round at most, and under a half-life to the landmark after the next.
    pub(in crate::engine) fn stays_before(
        &self,
        (now, guard): (Time, Span),
        (first, last): (QueueRow, QueueRow),
        starts: &[Used<'_>],
        stops: &[Ran<'_>],
    ) -> bool {
        let (domain, then) = (self.domain_above(first), now.saturating_add(guard));
        let then = domain.rule.horizon().map_or(then, |horizon| then.min(horizon));
        let key = |of: QueueRow, served: u64, change: &dyn Fn(&mut Standing, u64)| -> Key {
            let account = &self.accounts[of.index()];
            let mut standing = account.standing.clone();
            change(&mut standing, account.terms.share);
            let terms = Terms { tie: (served, of.0), ..account.terms };
            standing.key(then, domain, &terms)
        };
        // Who starts something now was served last.
        let first = key(first, self.starts + starts.len() as u64, &|standing, share| {
            for used in starts {
                let quantum = self.jobs[used.job.slot()].as_ref().expect("it waits").quantum;
                let rate = domain.rate(used.demand, used.node_weight);
                standing.start(now, &rate, (now, quantum.quantum), domain, share);
            }
        });
        let last = key(last, self.served(last), &|standing, share| {
            for ran in stops {
                let rate = domain.rate(ran.used.demand, ran.used.node_weight);
                standing.end(now, &rate, (ran.started, ran.quantum), domain, share);
            }
        });
        first < last
    }
}
