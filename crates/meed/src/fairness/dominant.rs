//! Dominant shares over time: how much of the pool a leaf holds and wants, whichever resource it
//! takes most of.
//!
//! > used_i = integral of G_i,  G_i = max over r of g_ir / C_r;  entitled_i = integral of min(D_i,
//! > s_i),
//! > D_i = max over r of d_ir / C_r;  rho_i = used_i / entitled_i
//!
//! g held, d held and waited for, C the pool, s_i the part of the pool that weights give (level by
//! level). This is Eq. 3 of TSC'18 with dominant shares in the place of amounts of one resource:
//! with one resource it is the same, and whoever gets all that it asks for, no more than its part,
//! has rho = 1. Nothing of it decides anything.
//!
//! Shares are whole numbers of [`WHOLE`]ths of the pool, rounded down: an error of 4e-15 of the
//! pool, the same on every machine. Of a kind of which there is nothing, nothing is a part. Cost: a
//! multiplication for each kind at each start, end and arrival.

use super::line::Line;
use crate::resources::{MAX_KINDS, Resources};
use crate::state::{Place, StateError};
use crate::time::Time;

/// How many parts the pool has: two to the 48.
pub const WHOLE: u64 = 1 << 48;

/// What shares are parts of: turns amounts into parts by a multiplication and a shift.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    capacity: Resources,
    /// ceil(2^(62 + bits) / capacity), which has 63 or 64 bits; `bits` are those of the capacity.
    /// Zero where there is nothing.
    inverse: [u64; MAX_KINDS],
    /// 14 + bits: what is left are the 48 bits of a share.
    shift: [u32; MAX_KINDS],
}

impl Pool {
    pub(super) fn new(capacity: &Resources) -> Pool {
        let mut pool = Pool { capacity: *capacity, ..Pool::default() };
        for (kind, &amount) in
            capacity.as_slice().iter().enumerate().filter(|(_, amount)| **amount > 0)
        {
            let bits = u64::BITS - amount.leading_zeros();
            pool.inverse[kind] = (1u128 << (62 + bits)).div_ceil(u128::from(amount)) as u64;
            pool.shift[kind] = 14 + bits;
        }
        pool
    }

    /// The part that `amount` is of a kind; the whole where it is more.
    #[inline]
    fn part(&self, kind: usize, amount: u64) -> u64 {
        let amount = amount.min(self.capacity.get(kind));
        ((u128::from(amount) * u128::from(self.inverse[kind])) >> self.shift[kind]) as u64
    }

    #[inline]
    fn dominant(&self, amounts: impl Iterator<Item = u64>) -> u64 {
        amounts.enumerate().map(|(kind, amount)| self.part(kind, amount)).max().unwrap_or(0)
    }
}

/// One leaf. Units: parts of the pool x microsecond.
#[derive(Clone, Debug, Default)]
pub(super) struct DominantMeter {
    used: Line,
    entitled: Line,
    /// s_i.
    part: u64,
}

impl DominantMeter {
    /// It holds these amounts from `now` on.
    #[inline]
    pub(super) fn hold(&mut self, now: Time, pool: &Pool, held: impl Iterator<Item = u64>) {
        let share = pool.dominant(held);
        if share != self.used.slope() {
            self.used.turn(now, share);
        }
    }

    /// It holds and waits for these amounts from `now` on.
    #[inline]
    pub(super) fn demand(&mut self, now: Time, pool: &Pool, demand: &[u128]) {
        let capped = demand.iter().map(|&amount| u64::try_from(amount).unwrap_or(u64::MAX));
        let entitled = pool.dominant(capped).min(self.part);
        if entitled != self.entitled.slope() {
            self.entitled.turn(now, entitled);
        }
    }

    /// It is entitled to `part` of the pool; [`DominantMeter::demand`] comes next.
    pub(super) fn set_part(&mut self, part: u64) {
        self.part = part;
    }

    /// As plain data: the offsets of used and entitled.
    pub(super) fn offsets(&self) -> (i128, i128) {
        (self.used.offset, self.entitled.offset)
    }

    /// And back, after what it holds and wants was told.
    pub(super) fn restore(
        &mut self,
        (used, entitled): (i128, i128),
        now: Time,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        self.used = Line::restored(used, self.used.slope(), now, || place.to_string())?;
        let slope = self.entitled.slope();
        self.entitled = Line::restored(entitled, slope, now, || place.to_string())?;
        Ok(())
    }

    /// Used and entitled up to `now`.
    pub(super) fn so_far(&self, now: Time) -> (u128, u128) {
        (self.used.value(now), self.entitled.value(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::MAX_AMOUNT;
    use proptest::prelude::*;

    #[test]
    fn the_whole_is_whole() {
        for amount in [1, 2, 3, 9, 18, 1000, MAX_AMOUNT - 1, MAX_AMOUNT] {
            let pool = Pool::new(&Resources::new(&[amount, 0]));
            assert_eq!(pool.part(0, amount), WHOLE, "{amount}");
            assert_eq!(pool.part(0, u64::MAX), WHOLE, "{amount}");
            assert_eq!((pool.part(0, 0), pool.part(1, 5)), (0, 0), "{amount}");
        }
    }

    proptest! {
        /// Against the division that it stands for.
        #[test]
        fn parts_are_rounded_down(bits in 0u32..54, low in any::<u64>(), part in any::<u64>()) {
            let capacity = ((1u64 << bits) | (low & ((1 << bits) - 1))).min(MAX_AMOUNT);
            let amount = part % (capacity + 1);
            let exact = u128::from(amount) * u128::from(WHOLE) / u128::from(capacity);
            let got = u128::from(Pool::new(&Resources::new(&[capacity])).part(0, amount));
            // The inverse is rounded up: by less than a part.
            prop_assert!(got == exact || got == exact + 1, "{amount} of {capacity}: {got}, not \
                {exact}");
        }
    }
}
