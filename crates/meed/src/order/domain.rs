//! A queue's way to order its children: its policy, in the form in which keys are computed.

use super::dominant::Pool;
use super::rate::Rate;
use super::task_share::Alone;
use super::terms::Minimum;
use crate::ledger::{Clock, Rules};
use crate::policy::{
    COMMITMENT_HALF_LIFE, Measure, Memory, Newcomer, Permille, Policy, Quantum, Scalar,
};
use crate::resources::Resources;
use crate::time::{Span, Time};

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
