//! Instants and spans of time, in whole microseconds.
//!
//! Which type do you want? A [`Time`] is a point on the run's time line (zero is its start); a
//! [`Span`] is a length (a task's duration, a quantum, a waiting time). Subtracting two instants
//! gives a span; two instants cannot be added, so a mix-up does not compile.
//!
//! Both are bounded by [`MAX_MICROS`] (285 years): with amounts bounded likewise, resource x time
//! always fits 128 bits, and a JSON number holds either exactly.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Largest instant and longest span, in microseconds: 2^53, about 285 years.
pub const MAX_MICROS: u64 = 1 << 53;

/// Microseconds in a second.
pub const MICROS_PER_S: u64 = 1_000_000;

/// An instant: microseconds since the run began.
///
/// ```
/// use meed::{Span, Time};
///
/// let noon = Time::from_secs(43_200).ok_or("in range")?;
/// let hour = Span::from_secs(3600).ok_or("in range")?;
/// assert_eq!((noon + hour).as_secs_f64(), 46_800.0);
/// assert_eq!(noon.saturating_since(noon + hour), Span::ZERO);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Time(u64);

/// A length of time in microseconds.
///
/// ```
/// use meed::{Span, Time};
///
/// assert_eq!(Span::from_secs_f64(0.5).map(Span::as_micros), Some(500_000));
/// let minute = Time::from_secs(61).ok_or("in range")? - Time::from_secs(1).ok_or("in range")?;
/// assert_eq!(Some(minute), Span::from_secs(60));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The last instant that can be named.
    pub const MAX: Time = Time(MAX_MICROS);

    /// The instant `micros` after the start; `None` beyond [`MAX_MICROS`].
    pub const fn from_micros(micros: u64) -> Option<Time> {
        if micros <= MAX_MICROS { Some(Time(micros)) } else { None }
    }

    /// The instant `seconds` after the start; `None` beyond [`MAX_MICROS`].
    pub const fn from_secs(seconds: u64) -> Option<Time> {
        match seconds.checked_mul(MICROS_PER_S) {
            Some(micros) => Time::from_micros(micros),
            None => None,
        }
    }

    /// Microseconds since the start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for people and reports; never for decisions.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS_PER_S as f64
    }

    /// This instant plus `span`; `None` beyond [`MAX_MICROS`].
    pub const fn checked_add(self, span: Span) -> Option<Time> {
        Time::from_micros(self.0 + span.0)
    }

    /// This instant plus `span`, at most [`Time::MAX`].
    #[inline]
    pub fn saturating_add(self, span: Span) -> Time {
        Time((self.0 + span.0).min(MAX_MICROS))
    }

    /// From `earlier` to this instant; zero when `earlier` is in truth later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);
    /// The longest span that can be named.
    pub const MAX: Span = Span(MAX_MICROS);

    /// `micros` microseconds; `None` beyond [`MAX_MICROS`].
    pub const fn from_micros(micros: u64) -> Option<Span> {
        if micros <= MAX_MICROS { Some(Span(micros)) } else { None }
    }

    /// `seconds` seconds; `None` beyond [`MAX_MICROS`].
    pub const fn from_secs(seconds: u64) -> Option<Span> {
        match seconds.checked_mul(MICROS_PER_S) {
            Some(micros) => Span::from_micros(micros),
            None => None,
        }
    }

    /// `seconds`, rounded to the nearest microsecond; `None` when negative, not a number or too
    /// long.
    pub fn from_secs_f64(seconds: f64) -> Option<Span> {
        let micros = (seconds * MICROS_PER_S as f64).round();
        // `contains` is false for NaN, so it is refused as well.
        (0.0..=MAX_MICROS as f64).contains(&micros).then_some(Span(micros as u64))
    }

    /// Length in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Length in seconds, for people and reports; never for decisions.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / MICROS_PER_S as f64
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Panics beyond [`MAX_MICROS`]; where the sum comes from outside, use [`Time::checked_add`].
    #[inline]
    fn add(self, span: Span) -> Time {
        assert!(self.0 + span.0 <= MAX_MICROS, "instant beyond {MAX_MICROS} microseconds");
        Time(self.0 + span.0)
    }
}

impl Sub for Time {
    type Output = Span;
    /// Panics when `earlier` is later; where that can happen, use [`Time::saturating_since`].
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        assert!(earlier <= self, "a span cannot be negative");
        Span(self.0 - earlier.0)
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        self.0 = (self.0 + other.0).min(MAX_MICROS);
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_at_both_ends() {
        assert_eq!(Time::from_micros(MAX_MICROS), Some(Time::MAX));
        assert_eq!(Time::from_micros(MAX_MICROS + 1), None);
        assert_eq!(Span::from_secs(u64::MAX), None);
        assert_eq!(Span::from_secs_f64(f64::NAN), None);
        assert_eq!(Span::from_secs_f64(-1.0), None);
        assert_eq!(Span::from_secs_f64(1e300), None);
        assert_eq!(Span::from_secs_f64(0.000_000_4), Some(Span::ZERO));
        assert_eq!(Time::MAX.checked_add(Span(1)), None);
        assert_eq!(Time::MAX.saturating_add(Span(1)), Time::MAX);
    }
}
