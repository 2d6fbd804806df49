//! One contribution: so many equal instances of a tenant under a plan.
//!
//! | plan | price | is there |
//! |---|---|---|
//! | `reserved` | fixed, and a fee for the whole term | over its term |
//! | `on-demand` | fixed or a series | from `from` to `until` |
//! | `spot` | fixed or a series | of that, while the price is below the bid, if there is one |
//!
//! A fee is spread over the term: it accrues as time passes. Of what does not divide, less than one
//! grain for each microsecond is paid at the beginning. With `billing`, a period that was begun is
//! paid whole: what is left of the last one is paid when the instances go.

use meed::{NodeSpec, Resources, Span, Time};

use super::price::{MOST_MONEY, Prices, rounded_up};

/// Grains of money in a micro-unit: a micro-unit an hour is a grain a microsecond.
pub const GRAINS: u64 = 3_600_000_000;

/// What is bought how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PricingPlan {
    Reserved,
    OnDemand,
    Spot,
}

impl PricingPlan {
    pub(crate) const ALL: [(&str, PricingPlan); 3] = [
        ("reserved", PricingPlan::Reserved),
        ("on-demand", PricingPlan::OnDemand),
        ("spot", PricingPlan::Spot),
    ];

    pub(crate) fn find(name: &str) -> Option<PricingPlan> {
        PricingPlan::ALL.iter().find(|row| row.0 == name).map(|row| row.1)
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Contribution {
    /// Full name of the leaf.
    pub(crate) tenant: String,
    pub(crate) plan: PricingPlan,
    /// One for each instance.
    pub(crate) nodes: Vec<NodeSpec>,
    pub(crate) from: Time,
    /// `Time::MAX` where it has no end.
    pub(crate) until: Time,
    pub(crate) prices: Prices,
    /// For the whole term and one instance.
    pub(crate) fee: u64,
    pub(crate) bid: Option<u64>,
    pub(crate) billing: Option<Span>,
}

/// A time over which the instances are there at one price.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) from: Time,
    pub(crate) until: Time,
    /// Of all its instances, micro-units an hour.
    pub(crate) rate: u64,
    /// Paid at once by all, in grains, at the beginning and at the end.
    pub(crate) lumps: (u128, u128),
}

impl Contribution {
    /// What contradicts itself, if anything.
    pub(crate) fn check(&self) -> Result<(), String> {
        let reserved = self.plan == PricingPlan::Reserved;
        let ends = self.until != Time::MAX;
        let wrong = if self.until <= self.from {
            "until must be after from"
        } else if reserved && !ends {
            "a reserved contribution has a term; give until"
        } else if reserved && !self.prices.is_fixed() {
            "the price of a reserved contribution is fixed; on-demand and spot prices may move"
        } else if self.fee > 0 && !reserved {
            "a fee belongs to the plan reserved"
        } else if self.bid.is_some() && self.plan != PricingPlan::Spot {
            "a bid belongs to the plan spot"
        } else if self.billing.is_some() && reserved {
            "billing belongs to on-demand and spot; what is reserved is paid for its term"
        } else if self.billing == Some(Span::ZERO) {
            "billing must be above zero"
        } else if self.prices.begin() > self.from {
            let (from, begin) = (self.from, self.prices.begin());
            return Err(format!("begins at {from}, but the first price is that of {begin}"));
        } else if self.fee_rate().0 > MOST_MONEY {
            "the fee comes to more than 1000000 an hour"
        } else {
            return Ok(());
        };
        Err(wrong.to_owned())
    }

    /// The fee of one instance as a rate, and the grains that are left.
    fn fee_rate(&self) -> (u64, u64) {
        let term = self.until.saturating_since(self.from).as_micros().max(1);
        let grains = u128::from(self.fee) * u128::from(GRAINS);
        let (rate, rest) = (grains / u128::from(term), grains % u128::from(term));
        (u64::try_from(rate).unwrap_or(u64::MAX), rest as u64)
    }

    /// When it is there and what it costs then.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let (fee_rate, fee_rest) = self.fee_rate();
        let count = self.nodes.len() as u64;
        let steps = self.prices.within(self.from, self.until);
        let mut pieces: Vec<Piece> = Vec::new();
        // When the instances of the last piece came.
        let mut came = self.from;
        for (at, &(from, price)) in steps.iter().enumerate() {
            let until = steps.get(at + 1).map_or(self.until, |next| next.0);
            if self.bid.is_some_and(|bid| price >= bid) {
                continue;
            }
            let rest = u128::from(fee_rest) * u128::from(count);
            let lumps = (if from == self.from { rest } else { 0 }, 0);
            let piece = Piece { from, until, rate: (price + fee_rate) * count, lumps };
            if pieces.last().is_none_or(|last| last.until < from) {
                came = from;
            }
            pieces.push(piece);
            let goes = steps.get(at + 1).is_none_or(|next| self.bid.is_some_and(|b| next.1 >= b));
            if let (Some(period), true) = (self.billing, goes && until != Time::MAX) {
                let there = until.saturating_since(came);
                let rest = rounded_up(there, period).saturating_sub(there.as_micros());
                let lump = u128::from(rest) * u128::from(price * count);
                pieces.last_mut().expect("just pushed").lumps.1 = lump;
            }
        }
        pieces
    }

    /// Capacity of all its instances, each by its weight: thousandths of smallest units.
    pub(crate) fn weighed(&self, kinds: usize) -> Vec<u128> {
        let of = |capacity: &Resources, kind: usize| u128::from(capacity.get(kind));
        let sum = |kind| {
            self.nodes.iter().map(|node| of(&node.capacity, kind) * u128::from(node.weight)).sum()
        };
        (0..kinds).map(sum).collect()
    }
}
