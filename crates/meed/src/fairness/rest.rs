//! What a leaf is entitled to beyond whole units: the integral of the rest of its share.
//!
//! > S_i = whole + rest,  min(d_i, S_i) = min(d_i, whole) + [d_i > whole] rest,  0 <= rest < 1
//!
//! Amounts are whole, so whoever demands more than the whole units of its share is entitled to all
//! of it. The rest is counted in 2^64ths of a unit, to the nearest: less than a float of a ratio
//! shows. In these the integral is a whole number, so it does not depend on how often shares are
//! given out anew. Cost: one more line for leaves whose share is no whole number.

use super::line::Line;
use crate::time::Time;

/// The integral of a rest, in 2^-64 of a unit x microsecond.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    line: Line,
    /// The rest of the share of now.
    rest: u64,
}

/// `rest` / `down`, which is below one, in 2^-64: to the nearest, and below one.
fn in_grains(rest: u64, down: u64) -> u64 {
    let grains = ((u128::from(rest) << 64) + u128::from(down) / 2) / u128::from(down);
    u64::try_from(grains).unwrap_or(u64::MAX)
}

impl Rest {
    /// With the line of this offset ([`Rest::offset`]); `is_beyond` as in [`Rest::turn`]. `None`:
    /// by `now` it is no integral of less than one unit.
    pub(super) fn restored(
        (part, whole): (u64, i128),
        now: Time,
        (rest, down): (u64, u64),
        is_beyond: bool,
    ) -> Option<Rest> {
        let rest = in_grains(rest, down);
        let offset = whole.checked_mul(1 << 64)?.checked_add(i128::from(part))?;
        let line = Line { offset, slope: if is_beyond { rest } else { 0 } };
        let rise = i128::from(line.slope) * i128::from(now.as_micros());
        let value = u128::try_from(offset.checked_add(rise)?).ok()?;
        (value <= u128::from(now.as_micros()) << 64).then_some(Rest { line, rest })
    }

    /// The rest of the share from now on; [`Rest::turn`] comes next.
    pub(super) fn set(&mut self, rest: u64, down: u64) {
        self.rest = in_grains(rest, down);
    }

    /// Whether the leaf demands more than the whole units of its share, from `now` on.
    #[inline]
    pub(super) fn turn(&mut self, now: Time, is_beyond: bool) {
        let slope = if is_beyond { self.rest } else { 0 };
        if slope != self.line.slope() {
            self.line.turn(now, slope);
        }
    }

    /// Whole units x microsecond up to `now`, and the part of one that is left, as a fraction.
    pub(super) fn so_far(&self, now: Time) -> (u128, (u128, u128)) {
        let sum = self.line.value(now);
        match sum as u64 {
            0 => (sum >> 64, (0, 1)),
            part => (sum >> 64, (part.into(), 1 << 64)),
        }
    }

    /// Of its line, which stays as it is while nothing is told: the part of a unit x microsecond in
    /// 2^-64, and whole ones.
    pub(super) fn offset(&self) -> (u64, i128) {
        (self.line.offset as u64, self.line.offset >> 64)
    }
}

/// What a sum of whole units and the part of one has grown by since it was `then`: exactly, where
/// both parts are of one denominator or of such as divide 2^64, as those of [`Rest::so_far`] are.
pub(super) fn difference(
    (whole, part): (u128, (u128, u128)),
    (whole_then, part_then): (u128, (u128, u128)),
) -> (u128, (u128, u128)) {
    let grains = |(up, down): (u128, u128)| up.saturating_mul((1 << 64) / down.max(1));
    let ((up, up_then), down) = match part.1 == part_then.1 {
        true => ((part.0, part_then.0), part.1),
        false => ((grains(part), grains(part_then)), 1 << 64),
    };
    let (borrowed, up) = match up.checked_sub(up_then) {
        Some(up) => (0, up),
        None => (1, up + down - up_then),
    };
    match whole.checked_sub(whole_then).and_then(|whole| whole.checked_sub(borrowed)) {
        Some(whole) => (whole, (up, down)),
        None => (0, (0, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_micros(micros).unwrap()
    }

    #[test]
    fn a_third_is_a_third_however_often_it_is_given_out() {
        let (mut once, mut often) = (Rest::default(), Rest::default());
        once.set(1, 3);
        once.turn(at(0), true);
        for second in 0..6 {
            // A share that goes and comes back at one instant changes nothing.
            often.set(1, 2);
            often.turn(at(second), true);
            often.set(1, 3);
            often.turn(at(second), true);
        }
        assert_eq!(once.offset(), often.offset());
        let (whole, (up, down)) = once.so_far(at(9));
        // Three units, but for nine roundings of half a 2^64th.
        let grains = (whole << 64) + up * ((1 << 64) / down);
        assert!(grains.abs_diff(3 << 64) <= 5, "{grains}");
        assert_eq!(whole as f64 + up as f64 / down as f64, 3.0);
    }

    #[test]
    fn halves_are_exact_and_end() {
        let mut rest = Rest::default();
        rest.set(1, 2);
        rest.turn(at(0), true);
        assert_eq!(rest.so_far(at(3)), (1, (1 << 63, 1 << 64)));
        rest.turn(at(4), false);
        assert_eq!(rest.so_far(at(9)), (2, (0, 1)));
        let again = Rest::restored(rest.offset(), at(9), (1, 2), false).expect("it can be");
        assert_eq!(again.so_far(at(20)), (2, (0, 1)));
        assert!(Rest::restored((0, -1), at(9), (1, 2), false).is_none());
        assert!(Rest::restored((0, 10), at(9), (1, 2), false).is_none());
    }

    #[test]
    fn differences_are_exact() {
        let half = (1 << 63, 1 << 64);
        for (now, then, grown) in [
            ((5, (0, 1)), (2, (0, 1)), (3, (0, 1))),
            ((5, half), (2, (0, 1)), (3, half)),
            ((5, (0, 1)), (2, half), (2, half)),
            ((5, (1, 3)), (2, (2, 3)), (2, (2, 3))),
            ((2, half), (2, half), (0, (0, 1 << 64))),
        ] {
            assert_eq!(difference(now, then), grown, "{now:?} {then:?}");
        }
    }

    #[test]
    fn the_largest_parts_fit() {
        let mut rest = Rest::default();
        rest.set(u64::MAX - 1, u64::MAX);
        rest.turn(at(0), true);
        let end = (1 << 53) - 1;
        let (whole, (up, down)) = rest.so_far(at(end));
        assert_eq!(whole, u128::from(end) - 1);
        assert!(up < down);
    }
}
