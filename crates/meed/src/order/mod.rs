//! Who is served next: the key of a child, made from its queue's policy.
//!
//! [`Domain`] is a queue's way to order its children (queues, or jobs in a leaf); [`Standing`] is one child's
//! position in it: what it holds, what its ledger says, since when it counts. The measures are one small file
//! each; this module knows nothing of trees, jobs or places.
//!
//! To add a measure: a variant of `Measure`, a file here with its key, an arm in [`Standing::key`], a row in
//! `policy::PRESETS`.

mod fair;
mod fifo;
pub(crate) mod heap;
pub(crate) mod key;
mod long_term;
mod newcomer;

use std::collections::BTreeSet;

use crate::ledger::{Clock, Ledger, Rules};
use crate::policy::{Measure, Memory, Newcomer, Permille, Policy, Quantum, Scalar};
use crate::time::{Span, Time};
use key::Key;
pub use key::Tier;
pub(crate) use newcomer::pseudo_accumulated;

/// How a queue orders its children. Queues of equal policies share one: what it remembers is a function of time.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    policy: Policy,
    pub(crate) scalar: Scalar,
    pub(crate) rule: Rule,
}

/// The part of a domain that is copied into hot loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) measure: Measure,
    pub(crate) newcomer: Newcomer,
    pub(crate) discount: Permille,
    pub(crate) clock: Clock,
    /// Start of the current round, t^s of ICS'14 Eq. 12; zero when memory is forever.
    pub(crate) round_start: Time,
    round: Option<Span>,
    /// `None`: the job's own, kept by the Quantum Updater.
    quantum: Option<Span>,
}

impl Domain {
    pub(crate) fn new(policy: &Policy) -> Domain {
        let (half_life, round) = match policy.memory {
            Memory::Forever => (None, None),
            Memory::Rounds(length) => (None, Some(length)),
            Memory::HalfLife(half_life) => (Some(half_life), None),
        };
        let quantum = match policy.quantum {
            Quantum::Fixed(span) => Some(span),
            Quantum::Adaptive { .. } => None,
        };
        let rule = Rule {
            measure: policy.measure,
            newcomer: policy.newcomer,
            discount: policy.discount,
            clock: Clock::new(half_life),
            round_start: Time::ZERO,
            round,
            quantum,
        };
        Domain { policy: policy.clone(), scalar: policy.scalar.clone(), rule }
    }
}

impl Domain {
    /// Whether it is made from this very policy.
    pub(crate) fn is_of(&self, policy: &Policy) -> bool {
        self.policy == *policy
    }
}

impl Rule {
    /// When a task that started at `start` is assumed to end: its quantum after the later of its start and the
    /// start of the round (max{t^s, t_ij^s} of Eq. 15).
    #[inline]
    pub(crate) fn assumed_end(&self, start: Time, job_quantum: Span) -> Time {
        let quantum = self.quantum.unwrap_or(job_quantum).min(self.clock.longest_quantum());
        start.max(self.round_start).saturating_add(quantum)
    }

    /// Moves to the round that `now` lies in (Eq. 12); whether a new one has begun.
    pub(crate) fn enter_round(&mut self, now: Time) -> bool {
        let Some(length) = self.round else { return false };
        let rounds = now.saturating_since(self.round_start).as_micros() / length.as_micros();
        if rounds == 0 {
            return false;
        }
        let passed = Span::from_micros(rounds * length.as_micros()).unwrap_or(Span::MAX);
        self.round_start = self.round_start.saturating_add(passed);
        true
    }

    /// When this domain next needs its books changed by the clock alone (a round, a landmark).
    pub(crate) fn next_chore(&self) -> Option<Time> {
        match (self.round, self.clock.next_landmark()) {
            (Some(length), _) => Some(self.round_start.saturating_add(length)),
            (None, landmark) => landmark,
        }
    }

    pub(crate) fn ledger_rules(&self, share: u64) -> Rules<'_> {
        Rules { clock: &self.clock, discount: self.discount, share }
    }

    pub(crate) fn keeps_usage(&self) -> bool {
        self.measure == Measure::Usage
    }
}

/// What of a child its key depends on besides its standing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// In thousandths.
    pub(crate) weight: u64,
    /// Minimum share as a scalar; 0 when there is none.
    pub(crate) min: u64,
    /// S as a scalar, for the discount.
    pub(crate) share: u64,
    /// Declaration or arrival order.
    pub(crate) tie: (u64, u32),
}

/// One child's position in its domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// What it holds now, as a scalar.
    pub(crate) held: u64,
    /// Where the measure is usage; all others do without.
    books: Option<Box<Ledger>>,
    /// Since when it counts: its (round) arriving time, Eq. 14.
    pub(crate) since: Option<Time>,
    /// Whether it counts since the start of the round only for a task that ran then.
    straddles: bool,
    /// Whether it has ever had work.
    pub(crate) known: bool,
    /// Arrival numbers of its waiting jobs; kept for `Measure::Arrival` only.
    pub(crate) arrivals: Option<BTreeSet<u64>>,
}

impl Standing {
    /// The books, which begin empty. Apart from the rest: jobs of a fifo leaf have none.
    #[inline]
    pub(crate) fn ledger(&mut self) -> &mut Ledger {
        self.books.get_or_insert_default()
    }

    /// A copy of the books, to read ahead in.
    pub(crate) fn ledger_copy(&self) -> Ledger {
        self.books.as_deref().cloned().unwrap_or_default()
    }

    /// The key at `now`.
    #[inline]
    pub(crate) fn key(&mut self, now: Time, rule: &Rule, terms: &Terms) -> Key {
        if self.held < terms.min {
            return Key::new(Tier::BelowMinimum, u128::from(self.held), terms.min, terms.tie);
        }
        let (amount, weight) = match rule.measure {
            Measure::Arrival => fifo::ratio(self),
            Measure::Allocation => fair::ratio(self, terms),
            Measure::Usage => long_term::ratio(self, now, rule, terms),
        };
        Key::new(Tier::Ordinary, amount, weight, terms.tie)
    }

    /// A round begins at `start`: forgets what was before; `runs` says whether a task runs then (Eq. 14).
    pub(crate) fn begin_round(&mut self, start: Time, runs: bool) {
        (self.since, self.straddles) = (runs.then_some(start), runs);
    }

    /// Nothing of it runs any more. A task that ends with the old round does not straddle the new one's start
    /// (t^s < t^c in Eq. 14), though it was still running when the clock turned.
    #[inline]
    pub(crate) fn runs_nothing(&mut self, now: Time) {
        if self.straddles && self.since == Some(now) {
            (self.since, self.straddles) = (None, false);
        }
    }

    #[inline]
    pub(crate) fn start(&mut self, now: Time, rate: u64, job_quantum: Span, rule: &Rule, share: u64) {
        self.held += rate;
        if rule.keeps_usage() {
            self.ledger().start(now, rate, rule.assumed_end(now, job_quantum), rule.ledger_rules(share));
        }
    }

    /// Ends what was started at `started`.
    #[inline]
    pub(crate) fn end(
        &mut self,
        now: Time,
        rate: u64,
        (started, job_quantum): (Time, Span),
        rule: &Rule,
        share: u64,
    ) {
        self.held = self.held.checked_sub(rate).expect("only what is held ends");
        if rule.keeps_usage() {
            self.ledger().end(now, rate, rule.assumed_end(started, job_quantum), rule.ledger_rules(share));
        }
    }
}
