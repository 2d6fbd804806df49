//! Who lent and who borrowed: balances that add up to the unit.
//!
//! At an instant leaf i borrows b_i = max(g_i - S_i, 0) and leaves u_i = max(S_i - g_i, 0) unused.
//! Shares add up to the capacity (`shares`), so B = sum b_i <= U = sum u_i: all that is borrowed is
//! somebody's unused share, and each lends in proportion to what it leaves unused: u_i * B / U.
//!
//! B / U is the same for all, so its integral P is kept once, and a leaf's lending between two
//! changes of its own is u_i times the difference of P: O(1) for each change, however many leaves
//! there are. P has 64 fractional bits, rounded down, so the lent units add up to a little less
//! than the borrowed ones; [`balance`] gives the missing units to the largest remainders. What one
//! borrows others lent: exactly.
//!
//! In a live world more may run than the pool has (adopted tasks, nodes that shrank): then B > U,
//! everybody lends all that it leaves unused, and B - U is borrowed of nobody.

use super::line::Line;
use crate::memory::expect;
use crate::time::Time;

/// What one leaf lent and borrowed, smallest unit x microsecond.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// # let search = engine.view().find_queue("search").ok_or("declared")?;
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// // `ads` runs on both slots for 10 s, one of which is `search`'s.
/// let now = Time::from_secs(10).ok_or("in range")?;
/// engine.advance(now)?;
/// let lending = engine.view().lending(&[ads, search], now);
/// assert_eq!((lending[0].borrowed, lending[1].lent), (10_000_000_000, 10_000_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lending {
    /// Unused share that others used.
    pub lent: u128,
    /// Use above its share.
    pub borrowed: u128,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LeafLending {
    borrowed: Line,
    unused: u64,
    lent: u128,
    /// Fraction of a unit lent beyond `lent`, in 2^-64.
    fraction: u64,
    /// P when `lent` was last settled.
    settled: u128,
}

/// The sums over all leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    borrowed: u64,
    unused: u64,
    /// P: integral of B / U, with 64 fractional bits.
    price: u128,
    at: Time,
    /// Integral of B - U where the pool is over-full: borrowed of nobody.
    beyond: u128,
}

impl Pool {
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        let passed = u128::from((now - self.at).as_micros());
        self.at = now;
        if self.borrowed == 0 || passed == 0 {
            return;
        }
        let beyond = self.borrowed.saturating_sub(self.unused);
        self.beyond += u128::from(beyond) * passed;
        self.price += match self.borrowed >= self.unused {
            true => passed << 64,
            false => passed * ((u128::from(self.borrowed) << 64) / u128::from(self.unused)),
        };
    }

    /// A leaf of `share` holds `held` from `now` on.
    ///
    /// The pool's own sums may be off while several leaves change at one instant; time passes
    /// between instants only, and `advance` asserts that they are right then.
    #[inline]
    pub(super) fn hold(&mut self, now: Time, leaf: &mut LeafLending, share: u64, held: u64) {
        self.advance(now);
        let (unused, borrowed) = (share.saturating_sub(held), held.saturating_sub(share));
        if unused != leaf.unused {
            self.settle(leaf);
            self.unused = self.unused - leaf.unused + unused;
            leaf.unused = unused;
        }
        if borrowed != leaf.borrowed.slope() {
            self.borrowed = self.borrowed - leaf.borrowed.slope() + borrowed;
            leaf.borrowed.turn(now, borrowed);
        }
    }

    #[inline]
    pub(super) fn settle(&self, leaf: &mut LeafLending) {
        let price = self.price - leaf.settled;
        leaf.settled = self.price;
        if leaf.unused == 0 || price == 0 {
            return;
        }
        let (whole, part) = (price >> 64, u128::from(price as u64));
        let fraction = u128::from(leaf.unused) * part + u128::from(leaf.fraction);
        leaf.lent += u128::from(leaf.unused) * whole + (fraction >> 64);
        leaf.fraction = fraction as u64;
    }
}

/// As plain data, and back.
impl Pool {
    pub(super) fn state(&self) -> (u128, Time) {
        (self.price, self.at)
    }

    pub(super) fn from_state(price: u128, at: Time, beyond: u128) -> Pool {
        Pool { price, at, beyond, ..Pool::default() }
    }

    /// What was borrowed of nobody so far.
    pub(super) fn beyond(&self) -> u128 {
        self.beyond
    }

    pub(super) fn price(&self) -> u128 {
        self.price
    }

    /// A leaf is one of those that it sums up.
    pub(super) fn adopt(&mut self, leaf: &LeafLending) {
        self.borrowed += leaf.borrowed.slope();
        self.unused += leaf.unused;
    }
}

impl LeafLending {
    /// Has the lines brought in which these fields stand.
    #[inline]
    pub(super) fn expect(&self) {
        expect(&self.borrowed);
        expect(&self.lent);
        expect(&self.settled);
        expect(&self.unused);
    }

    /// Offset of what it borrowed; lent, its fraction, and up to which price.
    pub(super) fn state(&self) -> (i128, u128, u64, u128) {
        (self.borrowed.offset, self.lent, self.fraction, self.settled)
    }

    pub(super) fn from_state(
        borrowed: Line,
        unused: u64,
        (lent, fraction, settled): (u128, u64, u128),
    ) -> LeafLending {
        LeafLending { borrowed, unused, lent, fraction, settled }
    }
}

impl LeafLending {
    /// Whole units so far, and the fraction beyond what is lent. The pool has settled it.
    pub(super) fn so_far(&self, now: Time) -> (Lending, u64) {
        (Lending { lent: self.lent, borrowed: self.borrowed.value(now) }, self.fraction)
    }
}

/// `beyond` of what is borrowed was borrowed of nobody. Gives the units that rounding kept back to
/// the largest remainders.
pub(super) fn balance(parts: Vec<(Lending, u64)>, beyond: u128) -> Vec<Lending> {
    let borrowed: u128 = parts.iter().map(|(part, _)| part.borrowed).sum();
    let borrowed = borrowed.checked_sub(beyond).expect("it is a part of what is borrowed");
    let lent: u128 = parts.iter().map(|(part, _)| part.lent).sum();
    let missing = borrowed.checked_sub(lent).expect("lending is rounded down");
    let mut order: Vec<usize> =
        (0..parts.len()).filter(|&i| parts[i].0.lent > 0 || parts[i].1 > 0).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(parts[i].1), i));
    let lenders = order.len() as u128;
    assert!(missing == 0 || lenders > 0, "units were borrowed that nobody lent");
    let mut balanced: Vec<Lending> = parts.into_iter().map(|(part, _)| part).collect();
    for (rank, &i) in order.iter().enumerate() {
        balanced[i].lent += missing / lenders + u128::from((rank as u128) < missing % lenders);
    }
    balanced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::apportion;
    use proptest::prelude::*;

    fn micros(us: u64) -> Time {
        Time::from_micros(us).expect("in range")
    }

    proptest! {
        #[test]
        fn balances_and_follows_the_definition(
            capacity in 1u64..1000,
            weights in prop::collection::vec(1u64..9, 1..6),
            steps in prop::collection::vec((0u64..50, 0usize..6, 0u64..1000), 1..60),
        ) {
            let n = weights.len();
            let shares = apportion(capacity, &weights);
            let (mut pool, mut leaves, mut held) =
                (Pool::default(), vec![LeafLending::default(); n], vec![0u64; n]);
            let (mut now, mut lent, mut borrowed) = (0, vec![0f64; n], vec![0u128; n]);
            for i in 0..n { pool.hold(micros(0), &mut leaves[i], shares[i], 0); }
            for (wait, who, amount) in steps {
                let unused: u64 = (0..n).map(|i| shares[i].saturating_sub(held[i])).sum();
                let over: u64 = (0..n).map(|i| held[i].saturating_sub(shares[i])).sum();
                for i in 0..n {
                    borrowed[i] += u128::from(held[i].saturating_sub(shares[i])) * u128::from(wait);
                    if unused > 0 {
                        lent[i] += shares[i]
                            .saturating_sub(held[i]) as f64
                            * over as f64 / unused as f64 * wait as f64;
                    }
                }
                now += wait;
                let who = who % n;
                let others: u64 = held.iter().sum::<u64>() - held[who];
                held[who] = amount.min(capacity - others);
                pool.hold(micros(now), &mut leaves[who], shares[who], held[who]);
            }
            pool.advance(micros(now));
            let parts: Vec<_> = leaves.iter_mut()
                .map(|leaf| { pool.settle(leaf); leaf.so_far(micros(now)) }).collect();
            let balanced = balance(parts, 0);
            prop_assert_eq!(balanced.iter().map(|b| b.lent).sum::<u128>(), balanced.iter()
                .map(|b| b.borrowed).sum());
            for i in 0..n {
                prop_assert_eq!(balanced[i].borrowed, borrowed[i]);
                prop_assert!((balanced[i].lent as f64 - lent[i]).abs() < 1.001, "{} \
                    {}", balanced[i].lent, lent[i]);
            }
        }
    }
}
