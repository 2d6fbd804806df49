//! The share of a parent whose children are rescaled (H-DRF; see `engine::rescale`), kept up to
//! date child by child, and exact.
//!
//! > share(P) = max over r of sum over demanding children i of x_ir * M / (s_i / w_i),  M = min_i
//! > s_i / w_i
//!
//! The minimum M stands before the sum, and what remains of child i is its *direction* u_i = x_i /
//! s_i, whose largest part is 1, times its weight. With Y = sum of w_i u_i,
//!
//! > share(P) = M * max_r Y_r,  and the direction of P itself is Y / max_r Y_r
//!
//! so a child that changes, comes or goes changes one term of a sum, and M is at the top of a heap:
//! O(kinds) for each level of the path, besides the heap.
//!
//! **Exact.** Directions are fractions, and their sums have as many bits as there are children. So
//! a sum is kept twice, in whole 2^-60, once of terms rounded down and once of terms rounded up
//! ([`Sum`]): integers, so nothing drifts when terms come and go. The true sum lies between, and
//! mostly they are equal (all children of one dominant resource; halves and quarters). Then the
//! share is a ratio of integers. Otherwise it has bounds, which decide most comparisons; the few
//! others are made with whole numbers of any length ([`Fractions`]).
//!
//! Bounds: a term is off by less than 2^-60 of its weight for a leaf; a parent's direction by about
//! twice what its sum is off. A wrong bound is impossible, a wide one only costs time.

use num_bigint::BigUint;
use smallvec::SmallVec;

use super::dominant::Pool;
use super::key::{Level, cmp_ratios, gcd};
use crate::resources::{MAX_KINDS, Resources};

/// Bits of a direction's fraction.
const BITS: u32 = 60;
const ONE: u64 = 1 << BITS;

/// x / s of a child, in 2^-60: rounded down, and rounded up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Direction {
    low: [u64; MAX_KINDS],
    high: [u64; MAX_KINDS],
}

/// What a child puts into its parent's sum.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) enum Term {
    /// It does not count.
    #[default]
    Absent,
    /// It counts, and has nothing: M is zero.
    Nothing,
    /// Its direction, and its weight.
    Toward(Direction, u64),
}

/// The sum of the terms of a parent's children, in 2^-60. Sums come and go by the hundred in one
/// walk, so one of two kinds is two lines of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sum {
    /// By kind, as far as there has been anything of one: bounds from below and from above.
    parts: SmallVec<[Bounds; 2]>,
    /// Children that count and have nothing.
    nothings: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    low: u128,
    high: u128,
}

/// Lower bounds of a sum as floats, of its first kinds, in 2^-60: each is too large by no more than
/// its rounding. Other kinds only make a share larger.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lows([f64; 3]);

impl Lows {
    #[inline]
    pub(crate) fn add(&mut self, other: &Lows) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// share / weight of a parent, or less: `least` is M, or less by all but its rounding. Zero
    /// where that is beyond floats.
    pub(crate) fn level(&self, least: f64, weight: u64) -> f64 {
        // Each of up to 2^20 sums rounds by 2^-53.
        const LESS: f64 = 1.0 - 1.0 / (1u64 << 32) as f64;
        let most = self.0.iter().fold(0.0, |most: f64, &low| most.max(low));
        let level = least * (most / (weight as f64 * ONE as f64)) * LESS;
        if level.is_finite() { level } else { 0.0 }
    }
}

impl Direction {
    /// Of what a child holds; `None`: it holds nothing that counts.
    pub(crate) fn of_held(pool: &Pool, held: &Resources) -> Option<Direction> {
        let mut direction = Direction { low: [0; MAX_KINDS], high: [0; MAX_KINDS] };
        let mut set = |kind: usize, (low, is_exact): (u64, bool)| {
            direction.low[kind] = low;
            direction.high[kind] = low + u64::from(!is_exact);
        };
        if let Some(parts) = pool.parts(held) {
            let most = parts.iter().copied().max().filter(|&most| most > 0)?;
            for (kind, &part) in parts.iter().enumerate().filter(|(_, part)| **part > 0) {
                // At most 2^53 parts: what nobody holds more than.
                let up = part << BITS;
                set(kind, ((up / most) as u64, up.is_multiple_of(most)));
            }
            return Some(direction);
        }
        let there = || {
            let both = held.as_slice().iter().zip(pool.capacity().as_slice()).enumerate();
            both.filter(|(_, (_, capacity))| **capacity > 0)
        };
        let by_part = |a: &(&u64, &u64), b: &(&u64, &u64)| {
            cmp_ratios(u128::from(*a.0), *a.1, u128::from(*b.0), *b.1)
        };
        let most = there().map(|(_, part)| part).max_by(by_part);
        let (&amount, &capacity) = most.filter(|(amount, _)| **amount > 0)?;
        for (kind, (&part, &whole)) in there() {
            let up = u128::from(part) * u128::from(capacity);
            set(kind, fraction(up, u128::from(whole) * u128::from(amount)));
        }
        Some(direction)
    }
}

/// up / down in 2^-60, rounded down, and whether it is exact; up <= down <= 2^106.
fn fraction(up: u128, down: u128) -> (u64, bool) {
    const STEP: u32 = 20;
    let (mut quotient, mut rest) = ((up / down) as u64, up % down);
    for _ in 0..BITS / STEP {
        quotient = quotient << STEP | ((rest << STEP) / down) as u64;
        rest = (rest << STEP) % down;
    }
    (quotient, rest == 0)
}

impl Sum {
    /// Takes one term out and puts another in.
    pub(crate) fn replace(&mut self, before: &Term, after: &Term) {
        match before {
            Term::Absent => {}
            Term::Nothing => self.nothings -= 1,
            Term::Toward(direction, weight) => {
                // It has as many kinds as were put in.
                for (kind, part) in self.parts.iter_mut().enumerate() {
                    part.low -= u128::from(direction.low[kind]) * u128::from(*weight);
                    part.high -= u128::from(direction.high[kind]) * u128::from(*weight);
                }
            }
        }
        match after {
            Term::Absent => {}
            Term::Nothing => self.nothings += 1,
            Term::Toward(direction, weight) => {
                let kinds = direction.high.iter().rposition(|&high| high > 0);
                self.make_room(kinds.map_or(0, |last| last + 1));
                for (kind, part) in self.parts.iter_mut().enumerate() {
                    part.low += u128::from(direction.low[kind]) * u128::from(*weight);
                    part.high += u128::from(direction.high[kind]) * u128::from(*weight);
                }
            }
        }
    }

    fn make_room(&mut self, kinds: usize) {
        if self.parts.len() < kinds {
            self.parts.resize(kinds, Bounds::default());
        }
    }

    /// Takes the terms of another sum in.
    #[inline]
    pub(crate) fn add(&mut self, other: &Sum) {
        self.make_room(other.parts.len());
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.low += theirs.low;
            mine.high += theirs.high;
        }
        self.nothings += other.nothings;
    }

    /// See [`Lows`]. Of a sum with a child that holds nothing, too: its share is zero because M is.
    pub(crate) fn lows(&self) -> Lows {
        let mut lows = Lows::default();
        for (low, part) in lows.0.iter_mut().zip(&self.parts) {
            *low = match u64::try_from(part.low >> 30) {
                // The machine converts these itself.
                Ok(high) => high as f64 * (1u64 << 30) as f64,
                Err(_) => part.low as f64,
            };
        }
        lows
    }

    /// Bounds of the largest part.
    fn most(&self) -> (u128, u128) {
        let most = |part: fn(&Bounds) -> u128| self.parts.iter().map(part).max().unwrap_or(0);
        (most(|part| part.low), most(|part| part.high))
    }

    /// Whether the share is zero: a child has nothing, or none counts.
    pub(crate) fn is_zero(&self) -> bool {
        self.nothings > 0 || self.most().1 == 0
    }

    /// The direction of the parent; `None`: it has nothing.
    pub(crate) fn direction(&self) -> Option<Direction> {
        if self.is_zero() {
            return None;
        }
        let (least, most) = self.most();
        // To 67 bits, so that a fraction fits 128: outwards.
        let shift = (128 - most.leading_zeros()).saturating_sub(67);
        let down = |part: u128| part >> shift;
        let up = |part: u128| (part >> shift) + u128::from(shift > 0);
        let mut direction = Direction { low: [0; MAX_KINDS], high: [0; MAX_KINDS] };
        for (kind, part) in self.parts.iter().enumerate() {
            let mut others = self.parts.iter().enumerate().filter(|(other, _)| *other != kind);
            if others.all(|(_, other)| other.high <= part.low) {
                (direction.low[kind], direction.high[kind]) = (ONE, ONE);
                continue;
            }
            let low = (down(part.low) << BITS) / up(most);
            let high = (up(part.high) << BITS).div_ceil(down(least));
            direction.low[kind] = low as u64;
            direction.high[kind] = high.min(u128::from(ONE)) as u64;
        }
        Some(direction)
    }

    /// share / weight of the parent, M being `least`.
    pub(crate) fn level(&self, least: Level, weight: u64) -> Level {
        const ZERO: Level = Level::Ratio { amount: 0, weight: 1 };
        if self.is_zero() {
            return ZERO;
        }
        let (low, high) = self.most();
        if let (Level::Ratio { amount, weight: of }, true) = (least, low == high) {
            let halvings = low.trailing_zeros().min(BITS);
            let (up, down) = (low >> halvings, u128::from(weight) << (BITS - halvings));
            if let Some(level) = product((amount, of), (up, down)) {
                return level;
            }
        }
        let (least, most) = least.bounds();
        let weight = weight as f64 * ONE as f64;
        // Five roundings of 2^-53 each, and none where numbers leave the range of floats.
        const WIDER: f64 = 1.0 / (1u64 << 49) as f64;
        let low = least * (low as f64 / weight) * (1.0 - WIDER);
        let high = most * (high as f64 / weight) * (1.0 + WIDER);
        Level::Between {
            low: if low < f64::MIN_POSITIVE { 0.0 } else { low.min(f64::MAX) },
            high: high.max(2.0 * f64::MIN_POSITIVE),
        }
    }
}

/// a / b * (c / d) in lowest terms where that is needed to fit.
fn product((a, b): (u128, u128), (c, d): (u128, u128)) -> Option<Level> {
    let multiplied = |a: u128, b: u128, c: u128, d: u128| {
        Some(Level::Ratio { amount: a.checked_mul(c)?, weight: b.checked_mul(d)? })
    };
    let small = gcd(c, d);
    let (c, d) = (c / small, d / small);
    multiplied(a, b, c, d).or_else(|| {
        let own = gcd(a, b);
        let (a, b) = (a / own, b / own);
        let (across, other) = (gcd(a, d), gcd(c, b));
        multiplied(a / across, b / other, c / other, d / across)
    })
}

/// Parts of each kind over one denominator, of any length: a direction, or a sum of them.
#[derive(Clone, Debug)]
pub(crate) struct Fractions {
    parts: Vec<BigUint>,
    whole: BigUint,
}

impl Fractions {
    /// The direction of what a child holds.
    pub(crate) fn of_held(pool: &Pool, held: &Resources) -> Fractions {
        let kinds = held.kinds();
        let parts: Vec<BigUint> = match pool.parts(held) {
            Some(parts) => {
                let common = parts.iter().fold(0, |common, &part| gcd(common, part)).max(1);
                parts[..kinds].iter().map(|part| BigUint::from(part / common)).collect()
            }
            None => {
                // x_r / C_r times all capacities.
                let others = |kind: usize| {
                    let others = (0..kinds).filter(move |&other| other != kind);
                    let there = others.map(|other| pool.capacity().get(other).max(1));
                    there.fold(BigUint::from(1u64), |product, amount| product * amount)
                };
                let of = |kind: usize| match pool.capacity().get(kind) {
                    0 => BigUint::default(),
                    _ => others(kind) * held.get(kind),
                };
                (0..kinds).map(of).collect()
            }
        };
        Fractions { parts, whole: BigUint::default() }.directed()
    }

    /// The direction that a sum points to.
    pub(crate) fn directed(mut self) -> Fractions {
        self.whole = self.most();
        self
    }

    fn most(&self) -> BigUint {
        self.parts.iter().max().cloned().unwrap_or_default()
    }

    /// The largest part of a sum, as a fraction.
    pub(crate) fn largest(&self) -> (BigUint, &BigUint) {
        (self.most(), &self.whole)
    }

    /// The sum of directions, each times a weight.
    pub(crate) fn sum(mut terms: Vec<(Fractions, BigUint)>) -> Fractions {
        // Equal denominators beside each other: their sum has no larger one.
        terms.sort_by(|a, b| a.0.whole.cmp(&b.0.whole));
        let mut sums: Vec<Fractions> = Vec::new();
        for (mut term, weight) in terms {
            term.parts.iter_mut().for_each(|part| *part *= &weight);
            match sums.last_mut().filter(|last| last.whole == term.whole) {
                Some(last) => {
                    last.parts.iter_mut().zip(&term.parts).for_each(|(sum, part)| *sum += part);
                }
                None => sums.push(term),
            }
        }
        // Pair by pair, so that long numbers meet long ones.
        while sums.len() > 1 {
            sums = sums.chunks(2).map(Fractions::pair).collect();
        }
        let nothing = Fractions { parts: Vec::new(), whole: BigUint::from(1u64) };
        sums.pop().unwrap_or(nothing)
    }

    fn pair(pair: &[Fractions]) -> Fractions {
        let [a, b] = pair else { return pair[0].clone() };
        if a.whole == b.whole {
            let parts = a.parts.iter().zip(&b.parts).map(|(a, b)| a + b).collect();
            return Fractions { parts, whole: a.whole.clone() };
        }
        let parts =
            a.parts.iter().zip(&b.parts).map(|(x, y)| x * &b.whole + y * &a.whole).collect();
        Fractions { parts, whole: &a.whole * &b.whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether low / 2^60 <= part / whole <= high / 2^60.
    fn lies_between(low: u128, high: u128, part: &BigUint, whole: &BigUint) -> bool {
        let part = part << BITS;
        BigUint::from(low) * whole <= part && part <= BigUint::from(high) * whole
    }

    proptest! {
        /// Bounds hold what exact fractions say, for leaves and for their parents, of pools with
        /// and without common parts; and terms that go leave nothing behind.
        #[test]
        fn bounds_hold_the_exact_sum(
            capacity in prop::array::uniform3(1u64..200),
            scale in prop::sample::select(vec![1u64, 1000, (1 << 40) - 87]),
            children in prop::collection::vec((prop::array::uniform3(0u64..200), 1u64..1 << 30),
                1..12),
        ) {
            let scaled = |amounts: &[u64; 3]| {
                Resources::new(&amounts.map(|amount| amount * scale + amount % 7))
            };
            let pool = Pool::new(&scaled(&capacity));
            let (mut sum, mut terms) = (Sum::default(), Vec::new());
            let mut exact = Vec::new();
            for (amounts, weight) in &children {
                let mut held = *amounts;
                held.iter_mut().zip(&capacity).for_each(|(held, most)| *held %= most + 1);
                let held = scaled(&held);
                let Some(direction) = Direction::of_held(&pool, &held) else { continue };
                let fractions = Fractions::of_held(&pool, &held);
                for (kind, part) in fractions.parts.iter().enumerate() {
                    let (low, high) = (direction.low[kind], direction.high[kind]);
                    prop_assert!(high <= low + 1);
                    prop_assert!(lies_between(low.into(), high.into(), part, &fractions.whole));
                }
                terms.push(Term::Toward(direction, *weight));
                sum.replace(&Term::Absent, terms.last().expect("just pushed"));
                exact.push((fractions, BigUint::from(*weight)));
            }
            if exact.is_empty() {
                return Ok(());
            }
            let exact = Fractions::sum(exact);
            for (kind, part) in exact.parts.iter().enumerate() {
                let Bounds { low, high } = sum.parts.get(kind).copied().unwrap_or_default();
                prop_assert!(lies_between(low, high, part, &exact.whole));
            }
            let direction = sum.direction().expect("something is held");
            let directed = exact.clone().directed();
            for (kind, part) in directed.parts.iter().enumerate() {
                let (low, high) = (direction.low[kind].into(), direction.high[kind].into());
                prop_assert!(lies_between(low, high, part, &directed.whole));
                // Of few children it is hardly wider than a leaf's.
                prop_assert!(high - low < 100);
            }
            terms.iter().for_each(|term| sum.replace(term, &Term::Absent));
            prop_assert!(sum.is_zero() && sum.parts.iter().all(|part| part.low == part.high));
        }
    }
}
