//! How well a demand fits what is free on a node, compared exactly: what `best-fit`, `cosine` and
//! `power-of-two` choose by.
//!
//! D is the demand, c what is free, T the pool, p the first kind of which something is demanded:
//!
//! > H(c)       =  sum over r of T_p / T_r |D_r / D_p - c_r / c_p|             (DRFH Eq. 9)
//! > cos^2(c)   =  (sum over r of D_r c_r / T_r^2)^2 / (|D|^2 sum over r of c_r^2 / T_r^2)
//!
//! Both are ratios of whole numbers. With weights w_r = lcm(T) / T_r, and without the factors that
//! all nodes have in common:
//!
//! > H(c)      ~  sum over r of w_r |D_r c_p - c_r D_p|  /  c_p
//! > cos^2(c)  ~  (sum over r of w_r^2 D_r c_r)^2  /  sum over r of w_r^2 c_r^2
//!
//! A float of the ratio decides first. No term is subtracted from another in floats, so that its
//! relative error is below 48 roundings of 2^-53; two floats that differ by more than 2^-46 of
//! their sum are in the right order. Of the others, those whose free amounts point in one direction
//! are equal, which products of 128 bits tell. The rest is compared in integers of any length.
//!
//! Cost: a float of O(kinds) for each node; about a microsecond where long integers are needed:
//! nodes that fit equally well in different directions.

use std::cell::OnceCell;
use std::cmp::Ordering;

use num_bigint::BigUint;

use crate::order::key::{float, gcd};
use crate::resources::{MAX_KINDS, Resources};

/// Two floats that differ by more than this part of their sum are in the right order.
const CERTAIN: f64 = 1.0 / (1u64 << 46) as f64;

/// What amounts are parts of.
pub(super) struct Scales {
    pool: Resources,
    /// 1 / T_r.
    inverse: [f64; MAX_KINDS],
    /// w_r; made when they are needed first.
    weights: OnceCell<Vec<BigUint>>,
}

impl Scales {
    pub(super) fn of(pool: &Resources) -> Scales {
        let mut inverse = [0.0; MAX_KINDS];
        for (inverse, &amount) in inverse.iter_mut().zip(pool.as_slice()) {
            *inverse = 1.0 / near(amount.max(1));
        }
        Scales { pool: *pool, inverse, weights: OnceCell::new() }
    }

    fn weights(&self) -> &[BigUint] {
        self.weights.get_or_init(|| {
            let pool = || self.pool.as_slice().iter().map(|&amount| amount.max(1));
            let multiple = pool().fold(BigUint::from(1u8), |multiple, amount| {
                let rest = u64::try_from(&multiple % amount).expect("less than an amount");
                let common = gcd(u128::from(amount), u128::from(rest));
                multiple * (u128::from(amount) / common)
            });
            pool().map(|amount| &multiple / amount).collect()
        })
    }
}

/// A float near it, by the machine's one instruction: amounts are below 2^63.
#[inline]
fn near(amount: u64) -> f64 {
    amount.min(i64::MAX as u64) as i64 as f64
}

/// The same of a product, which mostly has 63 bits as well.
#[inline]
fn near_product(product: u128) -> f64 {
    if product >> 63 == 0 { product as i64 as f64 } else { float(product) }
}

/// What is free on a node, and a float of how it fits.
#[derive(Clone, Copy)]
pub(super) struct Fit<'a> {
    approx: f64,
    free: &'a [u64],
}

/// By H of Eq. 9: the least fits best.
pub(super) struct Mismatch<'a> {
    scales: &'a Scales,
    demand: &'a [u64],
    /// The first kind of which something is demanded.
    first: usize,
}

impl<'a> Mismatch<'a> {
    pub(super) fn new(scales: &'a Scales, demand: &'a Resources) -> Mismatch<'a> {
        let demand = demand.as_slice();
        let first = demand.iter().position(|&amount| amount > 0).unwrap_or(0);
        Mismatch { scales, demand, first }
    }

    /// |D_r c_p - c_r D_p|.
    #[inline]
    fn apart(&self, kind: usize, free: u64, of_first: u64) -> u128 {
        let asked = u128::from(self.demand[kind]) * u128::from(of_first);
        asked.abs_diff(u128::from(free) * u128::from(self.demand[self.first]))
    }

    /// A node on which the demand has room.
    #[inline]
    pub(super) fn of<'b>(&self, free: &'b [u64]) -> Fit<'b> {
        let of_first = free[self.first];
        let others = free.iter().zip(&self.scales.inverse).enumerate();
        let others = others.filter(|(kind, _)| *kind != self.first);
        let term = |(kind, (&free, inverse)): (usize, (&u64, &f64))| {
            near_product(self.apart(kind, free, of_first)) * inverse
        };
        let sum: f64 = others.map(term).sum();
        Fit { approx: sum / near(of_first), free }
    }

    /// Whether a node that has so much of the first two kinds may fit as well as `other`: one term
    /// of H says no. Something of the first kind is demanded.
    #[inline]
    pub(super) fn may_match(&self, (a, b): (u64, u64), other: &Fit<'_>) -> bool {
        if a == 0 {
            return false;
        }
        let term = near_product(self.apart(1, b, a)) * self.scales.inverse[1] / near(a);
        term <= other.approx || !is_certain(term, other.approx)
    }

    /// Whether something of the first kind of all is demanded.
    #[inline]
    pub(super) fn is_of_first(&self) -> bool {
        self.demand[0] > 0
    }

    /// Less is the better fit.
    pub(super) fn compare(&self, a: &Fit<'_>, b: &Fit<'_>) -> Ordering {
        compare(a, b, || {
            let weights = self.scales.weights();
            let sum = |free: &[u64]| -> BigUint {
                let terms = free.iter().zip(weights).enumerate();
                terms
                    .map(|(kind, (&of, weight))| weight * self.apart(kind, of, free[self.first]))
                    .sum()
            };
            (sum(a.free) * b.free[self.first]).cmp(&(sum(b.free) * a.free[self.first]))
        })
    }
}

/// By the cosine: the largest fits best.
pub(super) struct Cosines<'a> {
    scales: &'a Scales,
    demand: &'a [u64],
    /// D_r / T_r^2.
    factors: [f64; MAX_KINDS],
}

impl<'a> Cosines<'a> {
    pub(super) fn new(scales: &'a Scales, demand: &'a [u64]) -> Cosines<'a> {
        let mut factors = [0.0; MAX_KINDS];
        for ((factor, &amount), inverse) in factors.iter_mut().zip(demand).zip(&scales.inverse) {
            *factor = near(amount) * inverse * inverse;
        }
        Cosines { scales, demand, factors }
    }

    /// A node on which the demand has room.
    #[inline]
    pub(super) fn of<'b>(&self, free: &'b [u64]) -> Fit<'b> {
        let (mut dot, mut square) = (0.0, 0.0);
        for ((&free, factor), inverse) in free.iter().zip(&self.factors).zip(&self.scales.inverse) {
            let free = near(free);
            dot += free * factor;
            square += (free * inverse) * (free * inverse);
        }
        Fit { approx: dot * dot / square, free }
    }

    /// Greater is the better fit.
    #[inline]
    pub(super) fn compare(&self, a: &Fit<'_>, b: &Fit<'_>) -> Ordering {
        compare(a, b, || {
            let weights = self.scales.weights();
            let sum = |with: &[u64], free: &[u64]| -> BigUint {
                let terms = with.iter().zip(free).zip(weights);
                terms
                    .map(|((&x, &y), weight)| weight * weight * (u128::from(x) * u128::from(y)))
                    .sum()
            };
            let (of_a, of_b) = (sum(self.demand, a.free), sum(self.demand, b.free));
            let (square_a, square_b) = (sum(a.free, a.free), sum(b.free, b.free));
            (&of_a * &of_a * square_b).cmp(&(&of_b * &of_b * square_a))
        })
    }
}

#[inline]
fn is_certain(a: f64, b: f64) -> bool {
    (a - b).abs() > (a + b) * CERTAIN
}

/// By their floats where these tell, else as `exactly` says.
#[inline]
fn compare(a: &Fit<'_>, b: &Fit<'_>, exactly: impl FnOnce() -> Ordering) -> Ordering {
    match is_certain(a.approx, b.approx) {
        true => a.approx.total_cmp(&b.approx),
        false => close(a.free, b.free, exactly),
    }
}

#[inline(never)]
fn close(a: &[u64], b: &[u64], exactly: impl FnOnce() -> Ordering) -> Ordering {
    if a == b || are_parallel(a, b) { Ordering::Equal } else { exactly() }
}

/// Whether two vectors point in one direction.
fn are_parallel(a: &[u64], b: &[u64]) -> bool {
    let Some(first) = a.iter().position(|&amount| amount > 0) else { return false };
    let (of_a, of_b) = (u128::from(a[first]), u128::from(b[first]));
    of_b > 0 && a.iter().zip(b).all(|(&a, &b)| u128::from(a) * of_b == u128::from(b) * of_a)
}
