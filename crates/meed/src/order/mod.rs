//! Who is served next: the key of a child, made from its queue's policy.
//!
//! [`Domain`] is a queue's way to order its children (queues, or jobs in a leaf); [`Standing`] is
//! one child's position in it: what it holds, what its ledger says, since when it counts. The
//! measures are one small file each; this module knows nothing of trees, jobs or places.
//!
//! A child's amount is a scalar, or, for dominant shares, a vector (`dominant`): [`Rate`] is
//! either.
//!
//! **The law that every measure keeps: keys never fall between events.** While time passes and
//! nothing is told, a key stays or rises, and it may rise when a task starts; what may make it fall
//! (a task that ends before its quantum, a new weight, a new round) comes with an event or a chore,
//! which brings the stored key up to date at once (`Engine::rekey`). The heaps rest on it: a stored
//! key is a lower bound, and only the top is read anew (`heap`), so a key that falls by the clock
//! alone would be served too late. [`heap::Heap::certifies`] asserts it at each look in builds with
//! assertions. A measure that fades with time cannot be compared as it is: find what all children
//! share of the fading and leave it out, as `ledger::clock` does.
//! A rule for which there is no such thing is no measure: it is computed outside, and told
//! (`told`).
//!
//! **Ties.** Of siblings with equal keys the one served longest ago comes first: starts are
//! numbered, and the number of a child's last service (the last start of a task of it, or below it)
//! stands behind its ratio; who was never served has 0 and comes first, in order of declaration. A
//! number changes when a task of its child starts, and rises then, so the law of keys holds. Who is
//! `told` where it stands is told its ties too: there declaration decides.
//!
//! > *Rotation.* Take consecutive starts below a parent, at each of which all children in a set D
//! > want something that fits and have the same tier and ratio, the smallest of all. Between two
//! > starts of one of them each other one in D starts exactly once. So in any stretch of such
//! > starts the numbers of starts of any two children in D differ by at most one.
//!
//! Proof: at each of these starts the child in D with the smallest number is served, and gets the
//! largest. After a start of c, all others in D have smaller numbers than c until they are served,
//! so c is not served again before each of them is. When d is served meanwhile, its number is
//! larger than c's, so d is not served again before c is. The starts go round D.
//!
//! Equal children that end and start at once stay equal: under `fair`, n children of one weight
//! that always want unit tasks, G of which run at a time and end together, are served in turns for
//! ever, so that their totals never differ by more than one (tests/suite/rotation.rs), where
//! declaration would give the first G mod n one task more in each round.
//!
//! A start that is undone was a service here (unlike in ledgers): it was that child's turn. Were it
//! given back, a child whose starts always fail would come first at each tie. Adopted tasks count
//! when they are told of, in the order in which they are told.
//!
//! To add a measure: its row in CONTRIBUTING.md names the places, and those of which neither
//! compiler nor tests notice that they were forgotten.

mod carry;
mod commitment;
mod dominant;
mod fair;
mod fifo;
pub(crate) mod heap;
pub(crate) mod key;
mod long_term;
mod newcomer;
mod parts;
pub(crate) mod rescaled;
mod seldom;
mod standing;
mod state;
mod task_share;
mod told;

use crate::ledger::{Clock, Rules};
use crate::policy::{
    COMMITMENT_HALF_LIFE, Measure, Memory, Newcomer, Permille, Policy, Quantum, Scalar,
};
use crate::resources::Resources;
use crate::time::{Span, Time};
pub(crate) use dominant::{Pool, Share};
pub use key::Tier;
pub(crate) use newcomer::pseudo_accumulated;
pub(crate) use standing::{Minimum, Rate, Requantified, Standing, Terms};
pub(crate) use task_share::Alone;

/// How a queue orders its children. Queues of equal policies share one: what it remembers is a
/// function of time.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    policy: Policy,
    pub(crate) scalar: Scalar,
    pub(crate) rule: Rule,
    /// What dominant shares are parts of; follows the cluster.
    pub(crate) pool: Pool,
    /// What task shares are parts of; follows the servers.
    pub(crate) alone: Alone,
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
        let commits = policy.measure == Measure::Commitment;
        let (half_life, round) = match policy.memory {
            Memory::HalfLife(half_life) => (Some(half_life), None),
            _ if commits => (Some(COMMITMENT_HALF_LIFE), None),
            Memory::Forever => (None, None),
            Memory::Rounds(length) => (None, Some(length)),
        };
        let quantum = match policy.quantum {
            _ if commits => Some(Span::ZERO),
            Quantum::Fixed(span) => Some(span),
            Quantum::Adaptive { .. } => None,
        };
        let rule = Rule {
            measure: policy.measure,
            newcomer: if commits { Newcomer::Zero } else { policy.newcomer },
            discount: policy.discount,
            clock: Clock::new(half_life),
            round_start: Time::ZERO,
            round,
            quantum,
        };
        Domain {
            policy: policy.clone(),
            scalar: policy.scalar.clone(),
            rule,
            pool: Pool::default(),
            alone: Alone::default(),
        }
    }
}

impl Domain {
    /// The policy that it is made from.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether it is made from this very policy.
    pub(crate) fn is_of(&self, policy: &Policy) -> bool {
        self.policy == *policy
    }

    /// Whether it compares dominant shares.
    pub(crate) fn is_dominant(&self) -> bool {
        self.scalar == Scalar::Dominant
    }

    /// Whether a parent in it counts its children rescaled (see `engine::rescale`).
    pub(crate) fn rescales(&self) -> bool {
        self.is_dominant() && self.rule.measure == Measure::Allocation && !self.policy.per_server
    }

    /// Whether it compares task shares: parts of what could run alone, not numbers of tasks.
    pub(crate) fn counts_tasks(&self) -> bool {
        self.rule.measure == Measure::TaskShare
    }

    /// What a task of `demand` on a node of this weight (thousandths) holds, and is charged: theta
    /// * delta of ICS'14 Eq. 9.
    #[inline]
    pub(crate) fn rate(&self, demand: &Resources, node_weight: u32) -> Rate {
        match self.scalar {
            Scalar::Kind(kind) if node_weight == 1000 => {
                let amount = demand.get(kind);
                Rate::scalar(amount, amount)
            }
            Scalar::Dominant => Rate::vector(demand, node_weight),
            _ => {
                let holds = self.scalar.amount(demand, 1000);
                let charged = match node_weight {
                    1000 => holds,
                    _ => self.scalar.amount(demand, node_weight),
                };
                Rate::scalar(holds, charged)
            }
        }
    }

    /// What the ratio of a key is multiplied by to be shown: dominant shares are told as parts of
    /// one per weight 1, or as such parts x seconds (by the ledger's own scale), all others as they
    /// are compared.
    pub(crate) fn unit_of_key(&self) -> f64 {
        match (self.is_dominant(), self.rule.measure) {
            // Weights are in thousandths, and so are charges.
            (_, Measure::TaskShare) => 1000.0,
            (false, _) | (_, Measure::Arrival | Measure::Told) => 1.0,
            (true, Measure::Allocation) => 1000.0 / self.parts_of_key() as f64,
            (true, Measure::Usage | Measure::Commitment) => {
                1.0 / (self.parts_of_key() as f64 * 1e6)
            }
        }
    }

    /// The ratio of a key in natural units per weight 1 (`MeasureInfo::unit`), at `now`: `scale`
    /// smallest units are one of the kind it is told in, of which the cluster has `total`.
    pub(crate) fn natural(&self, ratio: f64, now: Time, scale: u64, total: u64) -> f64 {
        let mut scale = scale as f64;
        if self.is_dominant() {
            // Parts of the pool in one unit of the kind.
            scale *= self.parts_of_key() as f64 / total.max(1) as f64;
        }
        match self.rule.measure {
            Measure::Arrival | Measure::Told => ratio,
            Measure::TaskShare => ratio * 1000.0,
            // Weights are in thousandths: a thousand of them is a weight of 1.
            Measure::Allocation => ratio * 1000.0 / scale,
            // Charges are in thousandths of a unit x microsecond, which cancels those of the
            // weight.
            Measure::Usage => ratio / scale / 1e6 / self.rule.clock.inflation(now),
            Measure::Commitment => ratio / scale / self.rule.clock.past(now) as f64,
        }
    }

    /// Parts of the pool in the ratio of a key that says all of it is held.
    fn parts_of_key(&self) -> u64 {
        match self.rule.measure {
            Measure::Commitment => self.pool.count(),
            _ => self.pool.whole(),
        }
    }

    /// A minimum share as a scalar: the amount, or the dominant share.
    pub(crate) fn minimum(&self, amounts: &Resources) -> Minimum {
        match self.scalar {
            Scalar::Dominant => {
                let share = self.pool.share(amounts);
                // Beyond the pool every minimum is the same.
                let amount = u64::try_from(share.amount).unwrap_or(u64::MAX);
                Minimum { amount, of: share.of }
            }
            _ => Minimum { amount: self.scalar.amount(amounts, 1000), of: 1 },
        }
    }
}

impl Rule {
    /// When a task that started at `start` is assumed to end: its quantum after the later of its
    /// start and the start of the round (max{t^s, t_ij^s} of Eq. 15).
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

    /// How far ahead its books can be read: to the last instant of the round, and under a half-life
    /// to the landmark after the next.
    pub(crate) fn horizon(&self) -> Option<Time> {
        let stride = self.clock.longest_quantum();
        let landmark = self.clock.next_landmark().map(|next| next.saturating_add(stride));
        let end = self.next_chore().filter(|_| self.round.is_some());
        let last = end.map(|end| Time::from_micros(end.as_micros() - 1).unwrap_or(end));
        last.or(landmark)
    }

    pub(crate) fn ledger_rules(&self, share: u64) -> Rules<'_> {
        let above_only = self.measure == Measure::Commitment;
        Rules { clock: &self.clock, discount: self.discount, share, above_only }
    }

    pub(crate) fn keeps_usage(&self) -> bool {
        matches!(self.measure, Measure::Usage | Measure::Commitment)
    }

    /// Whether running tasks are charged by quanta that jobs learn.
    pub(crate) fn charges_learnt(&self) -> bool {
        self.keeps_usage() && self.quantum.is_none()
    }

    /// Whether what is charged depends on the share.
    pub(crate) fn reads_share(&self) -> bool {
        self.keeps_usage() && self.ledger_rules(0).reads_share()
    }
}
