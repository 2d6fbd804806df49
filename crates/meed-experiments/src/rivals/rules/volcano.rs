//! `volcano`: the fairshare plugin of Volcano (pull request 5161).
//!
//! > each session: U <- U * 2^(-dt / half-life) + held * dt;  order: U, least first
//!
//! Differences below a resource-second do not count; among those the one that runs less comes
//! first, and this alone moves within a session. There are no weights.
//!
//! Source: issue 5160 and pull request 5161 as our notes tell them; the code is in no release that
//! was read here. What runs is told as the amount that is held.

use meed::Rank;

use super::super::rule::{Rule, Seen, geometric, kept};

/// See the module.
pub(crate) struct Volcano {
    half_life: f64,
    usage: Vec<f64>,
}

impl Volcano {
    /// With a half-life in seconds.
    pub(crate) fn new(half_life: f64) -> Volcano {
        Volcano { half_life, usage: Vec::new() }
    }
}

impl Rule for Volcano {
    fn tick(&mut self, seen: &Seen<'_>) {
        self.ticks(seen, 1);
    }

    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        self.usage.resize(seen.children.len(), 0.0);
        let (old, sum) = geometric(kept(self.half_life, seen.seconds), more);
        for (usage, child) in self.usage.iter_mut().zip(seen.children) {
            *usage = *usage * old + child.held * seen.seconds * sum;
        }
    }

    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>) {
        // More than anybody can hold: a resource-second outweighs it.
        let second = libm::ceil(seen.capacity * seen.unit) + 1.0;
        ranks.clear();
        ranks.extend(
            self.usage
                .iter()
                .map(|usage| Rank { step: 1, ..Rank::at((libm::floor(*usage) * second) as u64) }),
        );
    }
}
