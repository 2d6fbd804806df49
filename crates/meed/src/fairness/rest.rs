//! What a leaf is entitled to beyond whole units: the integral of the rest of its share.
//!
//! > S_i = whole + rest / down,  min(d_i, S_i) = min(d_i, whole) + [d_i > whole] rest / down
//!
//! Amounts are whole, so whoever demands more than the whole units of its share is entitled to all
//! of it. While shares stay the integral is exact, a whole number of parts of a unit x microsecond.
//! When they are shared out anew it is closed: rounded to the nearest 2^64th of a unit x
//! microsecond, which no float of a ratio shows. Cost: one more line for leaves whose share is no
//! whole number.

use super::line::Line;
use crate::time::Time;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    /// Under earlier shares, below one: in 2^-64.
    closed: u64,
    /// Under the share of now: in its parts.
    line: Line,
    rest: u64,
    down: u64,
}

impl Default for Rest {
    fn default() -> Rest {
        Rest { closed: 0, line: Line::default(), rest: 0, down: 1 }
    }
}

impl Rest {
    /// With these sums at `now`; see [`Rest::offsets`]. [`Rest::turn`] comes next.
    pub(super) fn restored((closed, sum): (u64, u128), rest: u64, down: u64) -> Rest {
        let line = Line { offset: sum as i128, slope: 0 };
        Rest { closed, line, rest, down }
    }

    /// The rest of the share from `now` on; the whole units x microsecond that are full by then. As
    /// often as it is told the same at one instant, the sums are those of the first time.
    /// [`Rest::turn`] comes next.
    pub(super) fn set(&mut self, now: Time, rest: u64, down: u64) -> u128 {
        let (full, closed) = self.in_grains(now);
        *self = Rest { closed, line: Line::default(), rest, down };
        full
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
        if self.closed == 0 {
            let (sum, down) = (self.line.value(now), u128::from(self.down));
            return (sum / down, (sum % down, down));
        }
        let (full, closed) = self.in_grains(now);
        (full, (closed.into(), 1 << 64))
    }

    /// The same with the part in 2^-64.
    fn in_grains(&self, now: Time) -> (u128, u64) {
        let (sum, down) = (self.line.value(now), u128::from(self.down));
        let part = (((sum % down) << 64) + down / 2) / down + u128::from(self.closed);
        (sum / down + (part >> 64), part as u64)
    }

    /// As plain data: the sum under earlier shares, and that under the share of now.
    pub(super) fn offsets(&self, now: Time) -> (u64, u128) {
        (self.closed, self.line.value(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_micros(micros).unwrap()
    }

    #[test]
    fn thirds_add_up_to_whole_units() {
        let mut rest = Rest::default();
        assert_eq!(rest.set(at(0), 1, 3), 0);
        rest.turn(at(0), true);
        assert_eq!(rest.so_far(at(4)), (1, (1, 3)));
        assert_eq!(rest.so_far(at(6)), (2, (0, 3)));
        // Three times a third, each closed by itself.
        for second in 1..=3 {
            assert_eq!(rest.set(at(second), 1, 3), 0, "{second}");
            rest.turn(at(second), second < 3);
        }
        let (full, (up, down)) = rest.so_far(at(9));
        let sum = full as f64 + up as f64 / down as f64;
        assert_eq!((sum, down), (1.0, 1 << 64));
        assert_eq!(rest.offsets(at(9)), rest.offsets(at(10)));
    }

    #[test]
    fn the_largest_parts_fit() {
        let mut rest = Rest::default();
        let down = 1 << 63;
        rest.set(at(0), down - 1, down);
        rest.turn(at(0), true);
        let end = at((1 << 53) - 1);
        let (full, (up, _)) = rest.so_far(end);
        assert_eq!((full, up), ((1 << 53) - 2, u128::from(down) - ((1 << 53) - 1)));
        let full = rest.set(end, 0, 1);
        assert_eq!(full, (1 << 53) - 2);
    }
}
