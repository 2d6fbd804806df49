//! What a child's key is made of: see `engine::key_parts`.

use super::domain::{Domain, Rule};
use super::standing::Standing;
use super::terms::Terms;
use crate::engine::{KeyParts, MemoryClock};
use crate::ledger::Ledger;
use crate::policy::Measure;
use crate::resources::MAX_KINDS;
use crate::time::{Span, Time};

impl Standing {
    /// At `now`, but for the tie; `quantum` is the child's own, read where the policy says no
    /// other.
    pub(crate) fn parts(
        &mut self,
        now: Time,
        domain: &Domain,
        terms: &Terms,
        quantum: Span,
    ) -> KeyParts {
        let rule = &domain.rule;
        let mut parts = KeyParts {
            measure: rule.measure,
            weight: terms.weight,
            served: 0,
            amounts: [0; MAX_KINDS],
            pseudo: 0,
            parts: domain.pool.count(),
            quantum: rule.key_quantum(now, quantum),
            since: rule.round_start,
            discount: rule.discount,
            shares: [u64::MAX; MAX_KINDS],
            within: [0; MAX_KINDS],
            clock: MemoryClock(rule.clock),
            rates: [0; MAX_KINDS],
            turns: Time::MAX,
        };
        match rule.measure {
            Measure::Arrival | Measure::Told | Measure::TaskShare | Measure::Commitment => {}
            Measure::Allocation => self.parts_held(domain, &mut parts),
            Measure::Usage => self.parts_used(now, domain, terms, &mut parts),
        }
        parts
    }

    fn parts_held(&self, domain: &Domain, parts: &mut KeyParts) {
        match self.held_of_kinds().filter(|_| domain.is_dominant()) {
            Some(held) => {
                let amounts = parts.amounts.iter_mut().zip(held.as_slice());
                amounts.for_each(|(amount, &held)| *amount = u128::from(held));
            }
            None => parts.amounts[0] = u128::from(self.held),
        }
    }

    fn parts_used(&mut self, now: Time, domain: &Domain, terms: &Terms, parts: &mut KeyParts) {
        let rule = &domain.rule;
        let mut read = |kind: usize, ledger: &mut Ledger, share: u64| {
            let rules = rule.ledger_rules(share);
            parts.amounts[kind] = ledger.charge(now, rules);
            parts.rates[kind] = ledger.rate(rules);
            parts.turns = ledger.turns().map_or(parts.turns, |turns| parts.turns.min(turns));
            parts.within[kind] = ledger.within();
            parts.shares[kind] = share;
        };
        if !domain.is_dominant() {
            return read(0, self.ledger(), terms.share);
        }
        if let Some(vector) = &mut self.vector {
            vector.ledgers().enumerate().for_each(|(kind, (ledger, share))| {
                read(kind, ledger, share);
            });
            parts.pseudo = vector.pseudo;
        }
    }
}

impl Rule {
    /// For how long a start of a child with that quantum is charged ahead.
    #[inline]
    pub(crate) fn key_quantum(&self, now: Time, quantum: Span) -> Span {
        match self.keeps_usage() {
            true => self.assumed_end(now, quantum) - now,
            false => Span::ZERO,
        }
    }
}
