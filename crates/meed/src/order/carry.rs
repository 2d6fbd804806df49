//! A child's standing is taken over into another order.
//!
//! | its ledger | becomes |
//! |---|---|
//! | of the same unit (resource, prices, dominant shares) | the same use, told by the other's memory: at this instant it counts what it counted |
//! | of another unit or measure, or there was none | empty: it begins now, for all siblings alike |
//!
//! What running tasks are charged ahead is the new order's own business ([`Standing::prepay`]). A
//! child that counted counts on: nobody is topped up as a newcomer for a change of the order.

use super::domain::Domain;
use super::key::mul_div;
use super::standing::Standing;
use crate::ledger::{Charge, Ledger};
use crate::policy::Measure;
use crate::state::StandingState;
use crate::time::Time;

/// Most that a charge may be in another memory: real use stays below it.
const MOST: Charge = 1 << 126;

impl Standing {
    /// What it is at `now` in the order `into`, without what runs; `share` as in `from`.
    pub(crate) fn taken_over(
        &self,
        now: Time,
        (from, share): (&Domain, u64),
        into: &Domain,
        kinds: usize,
    ) -> StandingState {
        let state = self.state(now, from, share);
        let keeps = into.rule.keeps_usage();
        let alike = from.rule.measure == into.rule.measure && from.scalar == into.scalar;
        let same = keeps && alike;
        let (to, of) = (&into.rule.clock, &from.rule.clock);
        let carried = |charge: Charge| match into.rule.measure {
            // An average over what is past: commitments stay, and not what they are made of.
            Measure::Commitment if to != of => mul_div(charge, to.past(now), of.past(now)),
            _ => to.take_over(charge, now, of),
        };
        let carried = |charge: Charge| carried(charge).min(MOST);
        let ledgers = match (keeps, same && !state.ledgers.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => self.used(now, from, share).map(carried).collect(),
            (true, false) => vec![0; if into.is_dominant() { kinds } else { 1 }],
        };
        let round = into.policy().memory != from.policy().memory;
        let since = state.since.or(state.known.then_some(now));
        let since = if round { since.map(|at| at.max(into.rule.round_start)) } else { state.since };
        StandingState {
            since,
            straddles: state.straddles && !round,
            known: state.known,
            ledgers,
            pseudo: if same { carried(state.pseudo) } else { 0 },
            // Another word may come late; until then this one holds, also where it is not read.
            rank: state.rank,
        }
    }

    /// What each of its ledgers says was used.
    fn used(&self, now: Time, from: &Domain, share: u64) -> impl Iterator<Item = Charge> {
        let used = move |ledger: &Ledger, share| ledger.used(now, from.rule.ledger_rules(share));
        let scalar = self.books.as_deref().into_iter().map(move |ledger| used(ledger, share));
        let kinds = self.vector.iter().flat_map(move |vector| {
            let shares = vector.shares.as_slice().iter().copied();
            vector.ledgers.iter().zip(shares).map(move |(ledger, share)| used(ledger, share))
        });
        scalar.chain(kinds)
    }

    /// Running tasks are charged ahead by this order from now on.
    pub(crate) fn prepay(&mut self, domain: &Domain, share: u64) {
        if !domain.rule.keeps_usage() {
            return;
        }
        if let Some(ledger) = self.books.as_deref_mut() {
            ledger.prepay(domain.rule.ledger_rules(share));
        }
        if let Some(vector) = self.vector.as_deref_mut() {
            let rule = domain.rule;
            vector.ledgers().for_each(|(ledger, share)| ledger.prepay(rule.ledger_rules(share)));
        }
    }
}
