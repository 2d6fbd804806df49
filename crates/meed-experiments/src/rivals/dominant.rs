//! What queues use, hold and want of every resource, for rules that count in dominant shares.
//!
//! > part = max over resources of amount / what the parent has
//!
//! A parent's amounts are the sums of its children's, and the largest part is taken of the sum.
//! Nothing changes after the instant that is read, so use grows by what is held. Cost: O(resources)
//! for each queue and look.

use meed::{MAX_KINDS, QueueId, Resources, Time, View};

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
    /// Before a look over so many resources: what was used stays.
    pub(super) fn begin(&mut self, kinds: usize) {
        for amounts in [&mut self.lately, &mut self.held, &mut self.wants] {
            amounts[..kinds].fill(0);
        }
    }

    /// What `queue` itself has, and its use by the tick at `now`; afterwards `later` microseconds
    /// pass.
    pub(super) fn look(&mut self, engine: View<'_>, queue: QueueId, now: Time, later: u128) {
        for kind in 0..engine.kinds().len() {
            // What a parent holds comes from its children.
            let told = engine.use_of(queue, kind, now);
            let held = u128::from(told.held);
            self.lately[kind] += told.used - self.used[kind];
            self.used[kind] = told.used + held * later;
            self.held[kind] += held;
            self.wants[kind] += told.wanted;
        }
    }

    /// A child's part of it.
    pub(super) fn add(&mut self, below: &Vectors, kinds: usize) {
        let add = |sum: &mut Amounts, more: &Amounts| {
            sum.iter_mut().zip(more).take(kinds).for_each(|(sum, more)| *sum += more);
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
