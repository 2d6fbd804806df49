//! The integral of a piecewise constant function, as one line that turns when the function changes.
//!
//! > value(t) = offset + slope * t;  turning to slope' at t adds (slope - slope') * t to the offset
//!
//! So a change costs one multiplication however much time has passed, and nothing is rounded.

use crate::time::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    pub(super) offset: i128,
    pub(super) slope: u64,
}

impl Line {
    #[inline]
    pub(crate) fn slope(&self) -> u64 {
        self.slope
    }

    /// Whether the function was never above zero for any time, and is not.
    pub(super) fn is_nothing(&self) -> bool {
        (self.offset, self.slope) == (0, 0)
    }

    /// The function takes the value `slope` from `now` on.
    #[inline]
    pub(crate) fn turn(&mut self, now: Time, slope: u64) {
        let change = i128::from(self.slope) - i128::from(slope);
        self.offset += change * i128::from(now.as_micros());
        self.slope = slope;
    }

    /// The integral from the start to `now`, which is not before the last turn.
    #[inline]
    pub(crate) fn value(&self, now: Time) -> u128 {
        let value = self.offset + i128::from(self.slope) * i128::from(now.as_micros());
        u128::try_from(value).expect("the integral of what is never negative")
    }
}
