//! The key that children are ordered by: the smallest is served.
//!
//! > (tier, amount / weight, arrival)
//!
//! The ratio is kept as two integers and compared exactly, by cross-multiplying in 192 bits (256
//! where a weight needs more than 64); a float of the same ratio decides most comparisons first.
//! Its relative error is below 2^-51 (three roundings of 2^-53), so two floats that differ by more
//! than 2^-50 of their sum are in the right order, and all others are compared exactly.
//!
//! A rescaled parent (`super::rescaled`) may stand at a ratio of more bits than that. Its key has
//! bounds instead, which decide where they do not overlap; where they do, [`Key::compare`] says so,
//! and who owns the heap compares exactly (`engine::rescale`).

use std::cmp::Ordering;

/// Why a child stands where it does.
///
/// A [`KeyValue`](crate::KeyValue) has it.
///
/// ```
/// use meed::Tier;
///
/// assert!(Tier::BelowMinimum < Tier::Ordinary); // who is below its minimum share comes first
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// It holds less than its minimum share; ordered by how much of it is held.
    BelowMinimum,
    /// Ordered by the policy's measure.
    Ordinary,
}

/// A child's key at one instant. Its integers stand in halves, so that no field asks for more than
/// the alignment of a word: with whose it is a key in a heap has 64 bytes, as a line of memory, not
/// 80.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Of the ratio; where only bounds are known, the bits of the lower one and of the upper one.
    amount: Halves,
    /// Of the ratio; zero where only bounds are known.
    weight: Halves,
    approx: f64,
    /// The number of the last service, or of the arrival, then the order of declaration, or within
    /// the job: no two keys of a heap are equal.
    tie: u64,
    tie_within: u32,
    tier: Tier,
}

/// The high and the low half of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Halves(u64, u64);

impl Halves {
    #[inline]
    fn of(whole: u128) -> Halves {
        Halves((whole >> 64) as u64, whole as u64)
    }

    #[inline]
    fn whole(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }

    #[inline]
    fn is_zero(self) -> bool {
        self.0 | self.1 == 0
    }
}

/// Two floats of ratios that differ by more than this part of their sum are in the right order.
const CERTAIN: f64 = 1.0 / (1u64 << 50) as f64;

/// An integer as a float. Most fit 64 bits, which the machine converts itself; the rounding is the
/// same.
#[inline]
pub(crate) fn float(amount: u128) -> f64 {
    if amount >> 64 == 0 { amount as u64 as f64 } else { wide_float(amount) }
}

/// Out of line, or both are computed and one is chosen: this one by a call of fifty instructions.
#[cold]
#[inline(never)]
fn wide_float(amount: u128) -> f64 {
    amount as f64
}

/// How large a share per weight is: the ratio itself, or, where that has too many bits, bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Level {
    Ratio { amount: u128, weight: u128 },
    Between { low: f64, high: f64 },
}

impl Key {
    #[inline(always)]
    pub(crate) fn new(tier: Tier, amount: u128, weight: u64, tie: (u64, u32)) -> Key {
        debug_assert!(weight > 0);
        let approx = float(amount) / weight as f64;
        Key::with(tier, (amount, u128::from(weight)), approx, tie)
    }

    #[inline]
    pub(crate) fn of_ratio(tier: Tier, amount: u128, weight: u128, tie: (u64, u32)) -> Key {
        debug_assert!(weight > 0);
        Key::with(tier, (amount, weight), float(amount) / float(weight), tie)
    }

    #[inline(always)]
    fn with(tier: Tier, (amount, weight): (u128, u128), approx: f64, tie: (u64, u32)) -> Key {
        let ((tie, tie_within), amount, weight) = (tie, Halves::of(amount), Halves::of(weight));
        Key { amount, weight, approx, tie, tie_within, tier }
    }

    /// The key of one that stands at `level`.
    pub(crate) fn at(level: Level, tie: (u64, u32)) -> Key {
        match level {
            Level::Ratio { amount, weight } => Key::of_ratio(Tier::Ordinary, amount, weight, tie),
            Level::Between { low, high } => {
                let amount = u128::from(low.to_bits()) << 64 | u128::from(high.to_bits());
                let approx = (low / 2.0 + high / 2.0).min(f64::MAX);
                Key::with(Tier::Ordinary, (amount, 0), approx, tie)
            }
        }
    }

    /// The key of one that stands at `level` or above: no larger than that, and exact in itself.
    pub(crate) fn at_least(level: f64, tie: (u64, u32)) -> Key {
        // As a whole number of 2^-63 where that fits, else of 1.
        const UNIT: u64 = 1 << 63;
        let (amount, weight) = match level < (1u64 << 62) as f64 {
            true => ((level * UNIT as f64) as u128, UNIT),
            false => (level as u128, 1),
        };
        Key::new(Tier::Ordinary, amount, weight, tie)
    }

    /// No more than the ratio; zero where that is less than a minimum share.
    pub(crate) fn least(&self) -> f64 {
        match self.tier {
            Tier::BelowMinimum => 0.0,
            Tier::Ordinary => self.level().bounds().0,
        }
    }

    /// The ratio, or what is known of it.
    pub(crate) fn level(&self) -> Level {
        match self.weight.whole() {
            0 => {
                let Halves(low, high) = self.amount;
                Level::Between { low: f64::from_bits(low), high: f64::from_bits(high) }
            }
            weight => Level::Ratio { amount: self.amount.whole(), weight },
        }
    }

    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    pub(crate) fn tie(&self) -> (u64, u32) {
        (self.tie, self.tie_within)
    }

    /// Whether both are known exactly, and are one and the same.
    pub(crate) fn is_the_same(&self, other: &Key) -> bool {
        !self.weight.is_zero() && !other.weight.is_zero() && self == other
    }

    /// The ratio, for people.
    pub(crate) fn value(&self) -> f64 {
        self.approx
    }

    /// Which comes first; `None` where bounds overlap, and exact values have to be compared. Most
    /// are told apart by their floats: that much is compiled into each heap's loops.
    #[inline]
    pub(crate) fn compare(&self, other: &Key) -> Option<Ordering> {
        let (mine, theirs) = (self.approx, other.approx);
        let alike = self.tier == other.tier && !self.weight.is_zero() && !other.weight.is_zero();
        if alike && (mine - theirs).abs() > (mine + theirs) * CERTAIN {
            return Some(if mine < theirs { Ordering::Less } else { Ordering::Greater });
        }
        self.compare_exactly(other)
    }

    /// The same where floats do not tell.
    #[inline(never)]
    fn compare_exactly(&self, other: &Key) -> Option<Ordering> {
        if self.tier != other.tier {
            return Some(self.tier.cmp(&other.tier));
        }
        if self.weight.is_zero() || other.weight.is_zero() {
            let ((low, high), (least, most)) = (self.level().bounds(), other.level().bounds());
            return match () {
                () if high < least => Some(Ordering::Less),
                () if most < low => Some(Ordering::Greater),
                () => None,
            };
        }
        let values = match (self.weight, other.weight) {
            (Halves(0, b), Halves(0, d)) => {
                cmp_ratios(self.amount.whole(), b, other.amount.whole(), d)
            }
            (b, d) => {
                let (a, c) = (self.amount.whole(), other.amount.whole());
                cmp_wide_ratios((a, b.whole()), (c, d.whole()))
            }
        };
        Some(values.then(self.tie().cmp(&other.tie())))
    }
}

impl Level {
    /// Floats at or below, and at or above.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        match *self {
            Level::Ratio { amount: 0, .. } => (0.0, 0.0),
            Level::Ratio { amount, weight } => {
                let approx = float(amount) / float(weight);
                (approx * (1.0 - CERTAIN), approx * (1.0 + CERTAIN))
            }
            Level::Between { low, high } => (low, high),
        }
    }
}

/// The exact comparison of a / b with c / d.
pub(crate) fn cmp_ratios(a: u128, b: u64, c: u128, d: u64) -> Ordering {
    wide_product(a, d).cmp(&wide_product(c, b))
}

/// The same where the weights are wide too.
pub(crate) fn cmp_wide_ratios((a, b): (u128, u128), (c, d): (u128, u128)) -> Ordering {
    wider_product(a, d).cmp(&wider_product(c, b))
}

/// a * b in 256 bits: the high 128 and the low 128.
fn wider_product(a: u128, b: u128) -> (u128, u128) {
    let (high, low) = wide_product(a, b as u64);
    let (more, middle) = wide_product(a, (b >> 64) as u64);
    // high:low is 128 + 64 bits; more:middle the same, 64 bits further up.
    let (sum, carry) = high.overflowing_add((more << 64) | u128::from(middle));
    let top = (more >> 64) + (u128::from(carry));
    (top << 64 | sum >> 64, sum << 64 | u128::from(low))
}

/// a * b in 192 bits: the high 128 and the low 64.
fn wide_product(a: u128, b: u64) -> (u128, u64) {
    let low = u128::from(a as u64) * u128::from(b);
    let high = (a >> 64) * u128::from(b) + (low >> 64);
    (high, low as u64)
}

/// The greatest common divisor; of a number and nothing, the number.
pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = match (u64::try_from(a), u64::try_from(b)) {
            // The machine divides these itself.
            (Ok(a), Ok(b)) => (u128::from(b), u128::from(a % b)),
            _ => (b, a % b),
        };
    }
    a
}

/// floor(a * b / c), at most the largest number.
pub(crate) fn mul_div(a: u128, b: u64, c: u64) -> u128 {
    let (whole, rest) = (a / u128::from(c), a % u128::from(c));
    whole.saturating_mul(u128::from(b)).saturating_add(rest * u128::from(b) / u128::from(c))
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Key) -> Ordering {
        self.compare(other).expect("keys with bounds are compared where exact values are at hand")
    }
}

impl PartialOrd for Key {
    #[inline]
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    /// A key that is read anew is mostly the very one that was stored.
    #[inline]
    fn eq(&self, other: &Key) -> bool {
        let very_same = self.tie == other.tie
            && self.tie_within == other.tie_within
            && self.tier == other.tier
            && self.amount == other.amount
            && self.weight == other.weight
            && !self.weight.is_zero();
        very_same || self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// Schoolbook multiplication in 32-bit limbs: slow, obvious.
    fn limbs(a: u128, b: u64) -> [u32; 6] {
        let digits =
            |x: u128| -> Vec<u64> { (0..4).map(|i| (x >> (32 * i)) as u32 as u64).collect() };
        let (x, y) = (digits(a), digits(u128::from(b)));
        let mut out = [0u64; 7];
        for (i, xi) in x.iter().enumerate() {
            let mut carry = 0;
            for j in 0..2 {
                let sum = out[i + j] + xi * y[j] + carry;
                out[i + j] = sum & 0xffff_ffff;
                carry = sum >> 32;
            }
            let mut place = i + 2;
            while carry > 0 {
                let sum = out[place] + carry;
                out[place] = sum & 0xffff_ffff;
                carry = sum >> 32;
                place += 1;
            }
        }
        let mut big_endian = [0u32; 6];
        for (i, limb) in out[..6].iter().enumerate() {
            big_endian[5 - i] = *limb as u32;
        }
        big_endian
    }

    proptest! {
        /// A float is mantissa x 2^exponent: the ratio is the largest of its parts that is no more.
        #[test]
        fn a_bound_is_just_below_its_float(
            mantissa in 1u64 << 52..1 << 53,
            exponent in prop_oneof![-140i32..20, Just(-115), Just(11)],
        ) {
            // A power of two, by its bits.
            let power = f64::from_bits(u64::try_from(1023 + exponent).unwrap() << 52);
            let level = mantissa as f64 * power;
            let Level::Ratio { amount, weight } = Key::at_least(level, (0, 0)).level() else {
                panic!("a ratio");
            };
            // amount / weight <= mantissa x 2^exponent < (amount + 1) / weight
            let by = |power: i32| BigUint::from(1u8) << u32::try_from(power.max(0)).unwrap();
            let exact = BigUint::from(mantissa) * weight * by(exponent);
            let at = |amount: u128| BigUint::from(amount) * by(-exponent);
            prop_assert!(at(amount) <= exact && exact < at(amount + 1), "{level}");
        }

        #[test]
        fn compares_like_schoolbook_arithmetic(
            a in any::<u128>(), c in any::<u128>(), b in 1..u64::MAX, d in 1..u64::MAX,
                close in any::<bool>(), shift in 0u32..100,
        ) {
            let (a, c) = (a >> shift, if close { (a >> shift)
                .saturating_add(c % 3) } else { c >> shift });
            let d = if close { b } else { d };
            let slow = limbs(a, d).cmp(&limbs(c, b));
            prop_assert_eq!(cmp_ratios(a, b, c, d), slow);
            let (x, y) = (Key::new(Tier::Ordinary, a, b, (0, 0)),
                Key::new(Tier::Ordinary, c, d, (0, 0)));
            prop_assert_eq!(x.cmp(&y), slow);
        }

        #[test]
        fn compares_wide_ratios_like_schoolbook_arithmetic(
            a in any::<u128>(), b in 1..u128::MAX, c in any::<u128>(), d in 1..u128::MAX,
                close in 0u8..3, shift in 0u32..100,
        ) {
            let (a, b) = (a >> shift, (b >> shift).max(1));
            let (c, d) = match close {
                0 => (c, d),
                1 => (a.saturating_add(c % 3), b),
                _ => (a / 3, (b / 3).max(1)),
            };
            // a d and c b from halves of 64 bits of the second factor: 128 x 64 by limbs.
            let product = |x: u128, y: u128| {
                let (low, high) = (limbs(x, y as u64), limbs(x, (y >> 64) as u64));
                let (mut sum, mut carry) = ([0u64; 8], 0);
                for place in (0..8).rev() {
                    let of_low = if place >= 2 { low[place - 2] } else { 0 };
                    let of_high = if place < 6 { high[place] } else { 0 };
                    let digit = u64::from(of_low) + u64::from(of_high) + carry;
                    (sum[place], carry) = (digit & 0xffff_ffff, digit >> 32);
                }
                sum
            };
            let slow = product(a, d).cmp(&product(c, b));
            prop_assert_eq!(cmp_wide_ratios((a, b), (c, d)), slow);
            let key = |amount, weight| Key::of_ratio(Tier::Ordinary, amount, weight, (0, 0));
            prop_assert_eq!(key(a, b).cmp(&key(c, d)), slow);
        }

        #[test]
        fn mul_div_is_exact(a in 0..1u128 << 60, b in 0..1u64 << 40, c in 1..1u64 << 40) {
            prop_assert_eq!(mul_div(a, b, c), a * u128::from(b) / u128::from(c));
        }
    }
}
