//! Exact fractions for the slow twin, by schoolbook: whole numbers as lists of digits to the base
//! of 2^32, the lowest first, without zeros at the end. No library and no code of the engine's.

use std::cmp::Ordering;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Whole(Vec<u32>);

impl Whole {
    fn of(mut number: u128) -> Whole {
        let mut digits = Vec::new();
        while number > 0 {
            digits.push(number as u32);
            number >>= 32;
        }
        Whole(digits)
    }

    /// This, where the machine can reckon with it: most of them, without a list for each step.
    fn short(&self) -> Option<u128> {
        let shift = |sum: u128, &digit: &u32| sum << 32 | u128::from(digit);
        (self.0.len() <= 4).then(|| self.0.iter().rev().fold(0, shift))
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn trimmed(mut self) -> Whole {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn add(&self, other: &Whole) -> Whole {
        let digit = |of: &Whole, place: usize| u64::from(of.0.get(place).copied().unwrap_or(0));
        let (mut sum, mut carry) = (Vec::new(), 0);
        for place in 0..=self.0.len().max(other.0.len()) {
            let here = digit(self, place) + digit(other, place) + carry;
            (carry, _) = (here >> 32, sum.push(here as u32));
        }
        Whole(sum).trimmed()
    }

    fn double_and_add(&mut self, mut carry: u32) {
        for digit in &mut self.0 {
            (*digit, carry) = (*digit << 1 | carry, *digit >> 31);
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// This less `other`, which is not more.
    fn sub(&self, other: &Whole) -> Whole {
        let (mut rest, mut borrow) = (Vec::new(), 0);
        for (place, &digit) in self.0.iter().enumerate() {
            let less = i64::from(other.0.get(place).copied().unwrap_or(0)) + borrow;
            let here = i64::from(digit) - less;
            borrow = i64::from(here < 0);
            rest.push((here + (borrow << 32)) as u32);
        }
        Whole(rest).trimmed()
    }

    fn mul(&self, other: &Whole) -> Whole {
        let mut product = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, &b) in other.0.iter().enumerate() {
                let here = u64::from(product[i + j]) + u64::from(a) * u64::from(b) + carry;
                (product[i + j], carry) = (here as u32, here >> 32);
            }
            product[i + other.0.len()] = carry as u32;
        }
        Whole(product).trimmed()
    }

    fn halved(&self, times: u32) -> Whole {
        let (places, bits) = ((times / 32) as usize, times % 32);
        let high = |place: usize| u64::from(self.0.get(place + 1).copied().unwrap_or(0)) << 32;
        let digit = |place: usize| ((high(place) | u64::from(self.0[place])) >> bits) as u32;
        Whole((places..self.0.len()).map(digit).collect()).trimmed()
    }

    fn halvings(&self) -> u32 {
        let zeros = self.0.iter().take_while(|&&digit| digit == 0).count();
        32 * zeros as u32 + self.0.get(zeros).map_or(0, |digit| digit.trailing_zeros())
    }

    fn cmp(&self, other: &Whole) -> Ordering {
        let longer = self.0.len().cmp(&other.0.len());
        longer.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Stein's: halve what is even, take the smaller from the larger.
    fn common(&self, other: &Whole) -> Whole {
        if self.is_zero() {
            return other.clone();
        }
        if let (Some(a), Some(b)) = (self.short(), other.short()) {
            return Whole::of(Whole::common_short(a, b));
        }
        let (mut a, mut b) = (self.halved(self.halvings()), other.clone());
        let twos = self.halvings().min(if b.is_zero() { u32::MAX } else { b.halvings() });
        while !b.is_zero() {
            b = b.halved(b.halvings());
            if a.cmp(&b) == Ordering::Greater {
                std::mem::swap(&mut a, &mut b);
            }
            b = b.sub(&a);
        }
        a.mul(&Whole::power_of_two(twos))
    }

    /// The same.
    fn common_short(a: u128, mut b: u128) -> u128 {
        let twos = a.trailing_zeros().min(b.trailing_zeros());
        let mut a = a >> a.trailing_zeros();
        while b > 0 {
            b >>= b.trailing_zeros();
            (a, b) = (a.min(b), a.max(b) - a.min(b));
        }
        a << twos
    }

    fn power_of_two(exponent: u32) -> Whole {
        let mut digits = vec![0; (exponent / 32) as usize];
        digits.push(1 << (exponent % 32));
        Whole(digits)
    }

    /// This divided by a divisor of it.
    fn divided(&self, by: &Whole) -> Whole {
        if by.0 == [1] {
            return self.clone();
        }
        let (quotient, rest) = self.quotient(by);
        assert!(rest.is_zero(), "it is a divisor");
        quotient
    }

    /// How often `by` is in this, and what is left, bit by bit.
    fn quotient(&self, by: &Whole) -> (Whole, Whole) {
        if let (Some(all), Some(by)) = (self.short(), by.short()) {
            return (Whole::of(all / by), Whole::of(all % by));
        }
        let (mut quotient, mut rest) = (vec![0u32; self.0.len()], Whole::default());
        for place in (0..self.0.len()).rev() {
            for bit in (0..32).rev() {
                rest.double_and_add(self.0[place] >> bit & 1);
                if rest.cmp(by) != Ordering::Less {
                    rest = rest.sub(by);
                    quotient[place] |= 1 << bit;
                }
            }
        }
        (Whole(quotient).trimmed(), rest)
    }

    /// As a float, and the power of two that it is to be multiplied by.
    fn float(&self) -> (f64, i32) {
        let from = self.0.len().saturating_sub(3);
        let top = self.0[from..].iter().rev();
        (top.fold(0.0, |sum, &digit| sum * 4_294_967_296.0 + f64::from(digit)), 32 * from as i32)
    }
}

/// A fraction that is not negative.
#[derive(Clone, Debug)]
pub(crate) struct Fraction {
    up: Whole,
    down: Whole,
}

impl Fraction {
    pub(crate) fn new(up: u128, down: u128) -> Fraction {
        assert!(down > 0);
        Fraction { up: Whole::of(up), down: Whole::of(down) }
    }

    pub(crate) fn zero() -> Fraction {
        Fraction::new(0, 1)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.up.is_zero()
    }

    fn lowest(self) -> Fraction {
        let common = self.up.common(&self.down);
        Fraction { up: self.up.divided(&common), down: self.down.divided(&common) }
    }

    pub(crate) fn plus(&self, other: &Fraction) -> Fraction {
        let up = self.up.mul(&other.down).add(&other.up.mul(&self.down));
        Fraction { up, down: self.down.mul(&other.down) }.lowest()
    }

    pub(crate) fn times(&self, other: &Fraction) -> Fraction {
        Fraction { up: self.up.mul(&other.up), down: self.down.mul(&other.down) }.lowest()
    }

    pub(crate) fn over(&self, other: &Fraction) -> Fraction {
        assert!(!other.is_zero());
        Fraction { up: self.up.mul(&other.down), down: self.down.mul(&other.up) }.lowest()
    }

    /// Rounded down to grains, of which a whole has so many.
    pub(crate) fn in_grains(&self, grains: u128) -> Fraction {
        let (count, _) = self.up.mul(&Whole::of(grains)).quotient(&self.down);
        Fraction { up: count, down: Whole::of(grains) }
    }

    pub(crate) fn order(&self, other: &Fraction) -> Ordering {
        self.up.mul(&other.down).cmp(&other.up.mul(&self.down))
    }

    /// To about 2^-50 of it.
    pub(crate) fn as_f64(&self) -> f64 {
        let ((up, more), (down, less)) = (self.up.float(), self.down.float());
        up / down * libm::exp2(f64::from(more - less))
    }
}

/// The largest; zero of none.
pub(crate) fn largest(all: impl IntoIterator<Item = Fraction>) -> Fraction {
    all.into_iter().max_by(Fraction::order).unwrap_or_else(Fraction::zero)
}

#[test]
fn fractions_are_what_one_learns_at_school() {
    let f = Fraction::new;
    let equal = |a: &Fraction, b: &Fraction| assert_eq!(a.order(b), Ordering::Equal, "{a:?} {b:?}");
    equal(&f(1, 6).plus(&f(1, 10)), &f(4, 15));
    equal(&f(4, 6).times(&f(9, 10)), &f(3, 5));
    equal(&f(1, 6).over(&f(5, 9)), &f(3, 10));
    equal(&f(22, 7).in_grains(10), &f(31, 10));
    let long = f(u128::MAX, 1).times(&f(u128::MAX, u128::MAX - 1)).over(&f(u128::MAX, 7));
    equal(&long, &f(u128::MAX, 1).times(&f(7, u128::MAX - 1)));
    assert_eq!(long.order(&f(7, 1)), Ordering::Greater);
    // Either way to reckon, at the border between them.
    let (all, by) = (Whole::of(u128::MAX - 5), Whole::of(u128::MAX / 12 - 7));
    let far = Whole::of(1 << 120);
    let (quotient, rest) = all.mul(&far).quotient(&by.mul(&far));
    assert_eq!((quotient, rest), {
        let (quotient, rest) = all.quotient(&by);
        (quotient, rest.mul(&far))
    });
    assert_eq!(all.mul(&far).common(&by.mul(&far)), all.common(&by).mul(&far));
    assert_eq!((f(1, 3).as_f64(), f(u128::MAX, 2).as_f64()), (1.0 / 3.0, u128::MAX as f64 / 2.0));
}
