//! `mr-karma`: Karma's credits in dominant shares over several resources (ours).
//!
//! > as [`super::karma`] with a pool of 1, and x_i = max over resources of amount / capacity in the
//! > place of amounts: guaranteed is alpha w_i / W; a credit is 1 of the pool's dominant share
//!
//! Dominant shares of complementary tenants sum to more than 1: grants sum to 1 at most, and what
//! fits beside that is served beyond them, the smallest part of a grant first, and paid for.
//! Donors earn no more than they left. So credits change by what is free, less what was borrowed,
//! plus what of it donors had left.
//!
//! A grant is a dominant share, a quota an amount of the measured resource: it is what the tenant's
//! wants hold of that resource at that dominant share. Who wants none of it is served first until
//! its grant is used up, as seen at each tick.
//!
//! With one resource this is `karma`. Nothing is proved of it: neither paper nor proof.

use meed::Rank;

use super::super::rule::{Rule, Seen, by_grant};
use super::karma::{grant, newcomers, quantum, settle};

/// See the module.
pub(crate) struct MrKarma {
    alpha: f64,
    credits: Vec<f64>,
}

impl MrKarma {
    /// With the part of the fair share that is guaranteed.
    pub(crate) fn new(alpha: f64) -> MrKarma {
        MrKarma { alpha, credits: Vec::new() }
    }

    /// Of each, in order.
    #[cfg(test)]
    pub(crate) fn credits(&self) -> &[f64] {
        &self.credits
    }
}

/// The same where the pool is 1.
fn whole<'s>(seen: &Seen<'s>) -> Seen<'s> {
    Seen { capacity: 1.0, ..*seen }
}

impl Rule for MrKarma {
    fn counts_all(&self) -> bool {
        true
    }

    fn tick(&mut self, seen: &Seen<'_>) {
        newcomers(&mut self.credits, seen.children.len());
        let (shared, tenants) = quantum(self.alpha, &whole(seen), |child| child.part.used);
        settle(shared, &mut self.credits, &tenants);
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        let whole = whole(seen);
        let (shared, tenants) = quantum(self.alpha, &whole, |child| child.part.wants);
        let grants = grant(shared, &self.credits, &tenants);
        by_grant(&whole, &grants, ranks);
        for ((rank, child), grant) in ranks.iter_mut().zip(seen.children).zip(grants) {
            rank.quota = match child.wants > 0.0 && child.part.wants > 0.0 {
                true => seen.smallest(grant * (child.wants / child.part.wants)),
                false if child.part.held < grant => u64::MAX,
                false => 0,
            };
        }
    }
}
