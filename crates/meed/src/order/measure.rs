//! The key of a child: what its queue's measure makes of its standing.

use super::domain::Domain;
use super::key::{Key, Tier, cmp_ratios};
use super::standing::Standing;
use super::task_share::Tasks;
use super::terms::Terms;
use super::{commitment, fair, fifo, long_term, told};
use crate::policy::Measure;
use crate::time::Time;

impl Standing {
    /// The key at `now`.
    #[inline]
    pub(crate) fn key(&mut self, now: Time, domain: &Domain, terms: &Terms) -> Key {
        if domain.is_dominant() {
            return self.dominant_key(now, domain, terms);
        }
        let tie = terms.tie_under(domain.rule.measure);
        if self.held < terms.min.amount {
            let held = u128::from(self.held);
            return Key::new(Tier::BelowMinimum, held, terms.min.amount, tie);
        }
        let (amount, weight) = match domain.rule.measure {
            Measure::Arrival => fifo::ratio(self),
            Measure::Allocation => fair::ratio(self, terms),
            Measure::Usage => long_term::ratio(self, now, domain, terms),
            Measure::Told => told::ratio(self),
            Measure::TaskShare | Measure::Commitment => unreachable!("they count all kinds"),
        };
        Key::new(Tier::Ordinary, amount, weight, tie)
    }

    /// The same where dominant shares are compared, or what counts all kinds in another way.
    fn dominant_key(&mut self, now: Time, domain: &Domain, terms: &Terms) -> Key {
        let (tier, tie) = (Tier::Ordinary, terms.tie_under(domain.rule.measure));
        self.key_below_minimum(domain, terms).unwrap_or_else(|| match domain.rule.measure {
            Measure::Arrival => {
                let (amount, weight) = fifo::ratio(self);
                Key::new(tier, amount, weight, tie)
            }
            Measure::Told => {
                let (amount, weight) = told::ratio(self);
                Key::new(tier, amount, weight, tie)
            }
            Measure::Allocation => {
                let share = self.held_share(&domain.pool);
                Key::of_ratio(tier, share.amount, share.per(terms.weight), tie)
            }
            Measure::TaskShare => {
                let (up, down) = self.tasks().map_or((0, 1), Tasks::share);
                Key::of_ratio(tier, up, down * u128::from(terms.weight), tie)
            }
            Measure::Usage => {
                let share = self.used_share(now, domain);
                Key::of_ratio(tier, share.amount, share.per(terms.weight), tie)
            }
            Measure::Commitment => {
                let parts = commitment::parts(self, now, domain);
                Key::new(tier, parts, terms.weight, tie)
            }
        })
    }

    /// The key of one that holds less than its minimum, as a dominant share.
    pub(crate) fn key_below_minimum(&self, domain: &Domain, terms: &Terms) -> Option<Key> {
        let min = terms.min;
        if min.amount == 0 {
            return None;
        }
        let (held, tie) = (self.held_share(&domain.pool), terms.tie_under(domain.rule.measure));
        let least = u128::from(min.amount);
        cmp_ratios(held.amount, held.of, least, min.of).is_lt().then(|| {
            // Below it: both are at most 2^64.
            let (amount, weight) = (held.amount * u128::from(min.of), held.per(min.amount));
            Key::of_ratio(Tier::BelowMinimum, amount, weight, tie)
        })
    }
}
