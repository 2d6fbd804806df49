//! What queues use, hold and want of every resource, for rules that count in dominant shares.
//!
//! > part = max over resources of amount / what the parent has
//!
//! A parent's amounts are the sums of its children's, and the largest part is taken of the sum.
//! What is held of a resource is how fast its use grows: nothing changes after the instant that is
//! read. Cost: O(resources) for each queue and look.

use meed::{Engine, MAX_KINDS, QueueId, Resources, Span, Time};

use super::rule::DominantPart;

/// Of each resource, smallest units (x microseconds).
type Amounts = [u128; MAX_KINDS];

/// A queue and what is below it.
#[derive(Clone, Copy, Default)]
pub(super) struct Vectors {
    /// By the last tick, by itself.
    used: Amounts,
    /// Since then up to the first tick that is told.
    lately: Amounts,
    held: Amounts,
    wants: Amounts,
}

impl Vectors {
    /// Before a look: what was used stays.
    pub(super) fn begin(&mut self) {
        *self = Vectors { used: self.used, ..Vectors::default() };
    }

    /// What `queue` itself has by `next`; afterwards `later` microseconds pass.
    pub(super) fn look(&mut self, engine: &Engine, queue: QueueId, next: Time, later: u128) {
        let second = Span::from_secs(1).unwrap_or(Span::MAX);
        let usage = engine.integrals(queue, next).usage;
        let grown = engine.integrals(queue, next.saturating_add(second)).usage;
        for kind in 0..engine.kinds().len() {
            let held = (grown[kind] - usage[kind]) / u128::from(second.as_micros());
            self.lately[kind] += usage[kind] - self.used[kind];
            self.used[kind] = usage[kind] + held * later;
            self.held[kind] += held;
            self.wants[kind] += engine.wanted(queue, kind);
        }
    }

    /// A child's part of it.
    pub(super) fn add(&mut self, below: &Vectors) {
        let add = |sum: &mut Amounts, more: &Amounts| {
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        add(&mut self.lately, &below.lately);
        add(&mut self.held, &below.held);
        add(&mut self.wants, &below.wants);
    }

    /// As parts of `pool`, what was used over a tick of so many seconds.
    pub(super) fn part(&self, pool: &Resources, seconds: f64) -> DominantPart {
        let largest = |amounts: &Amounts| {
            let parts = pool.as_slice().iter().zip(amounts).filter(|(whole, _)| **whole > 0);
            parts.map(|(&whole, &amount)| amount as f64 / whole as f64).fold(0.0, f64::max)
        };
        DominantPart {
            used: largest(&self.lately) / (seconds * 1e6),
            held: largest(&self.held),
            wants: largest(&self.wants),
        }
    }
}
