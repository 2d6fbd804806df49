//! Memory time: how usage is weighed by its age.
//!
//! With memory forever (and inside a round) memory time is the clock itself. With a half-life H, a
//! unit of use at time s counts 2^((s - t) / H) at time t. All children of a queue forget at the
//! same rate, so their order does not change when every count is multiplied by 2^((t - L) / H), L a
//! landmark: use then weighs 2^((s - L) / H) once and for all (forward decay), and the use of a
//! task between two instants is its rate times the difference of
//!
//! > M(t) = H / ln 2 * (2^((t - L) / H) - 1)
//!
//! So a half-life is memory forever under a warped clock: the same ledgers, the same exact keys.
//! Every [`LANDMARK_HALF_LIVES`] the landmark moves and all charges are shifted right by as many
//! bits.
//!
//! Invariant: readings are whole microseconds of memory time and fit 62 bits. `exp2` is libm's,
//! which is the same on every machine; std's is not.

use crate::time::{Span, Time};

/// Half-lives between landmarks.
pub(crate) const LANDMARK_HALF_LIVES: u64 = 8;

/// Strides after which charges of 128 bits are all gone: 160 half-lives.
const REMEMBERED: u64 = 20;

/// Strides without an event from which most are skipped; prepaid quanta (at most one stride) have
/// run out by then.
const LONG_SILENCE: u64 = REMEMBERED + 4;

/// One move of the landmark.
pub(crate) struct Step {
    pub(crate) landmark: Time,
    /// Whether all that was charged before counts nothing now; otherwise it is shifted right by
    /// [`LANDMARK_HALF_LIVES`] bits.
    pub(crate) forgets: bool,
}

/// The clock that a queue's children share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Clock {
    half_life: Option<Span>,
    landmark: Time,
}

impl Clock {
    pub(crate) fn new(half_life: Option<Span>) -> Clock {
        Clock { half_life, landmark: Time::ZERO }
    }

    /// Memory time at `t`, which is not before the landmark.
    #[inline]
    pub(crate) fn reading(&self, t: Time) -> u64 {
        match self.half_life {
            None => t.as_micros(),
            Some(half_life) => warped(t.saturating_since(self.landmark), half_life),
        }
    }

    /// Memory time from `from` to `to`; zero when `to` is not later.
    #[inline]
    pub(crate) fn between(&self, from: Time, to: Time) -> u64 {
        self.reading(to).saturating_sub(self.reading(from))
    }

    /// The same where `from` may lie before the landmark: then as its time counts now.
    pub(crate) fn since(&self, from: Time, to: Time) -> u64 {
        let Some(half_life) = self.half_life.filter(|_| from < self.landmark) else {
            return self.between(from, to);
        };
        let half_life = half_life.as_micros() as f64;
        let ago = self.landmark.saturating_since(from).as_micros() as f64 / half_life;
        let before = half_life / std::f64::consts::LN_2 * (1.0 - libm::exp2(-ago));
        before as u64 + self.between(self.landmark, to)
    }

    /// The longest quantum that can be charged ahead: with a half-life, as long as between two
    /// landmarks.
    pub(crate) fn longest_quantum(&self) -> Span {
        match self.half_life {
            None => Span::MAX,
            Some(half_life) => {
                Span::from_micros(half_life.as_micros() * LANDMARK_HALF_LIVES).unwrap_or(Span::MAX)
            }
        }
    }

    /// Memory time at `t` from when, by it, an endless past begins: with half-life H the length of
    /// the past that counts, tau = H / ln 2, times what a unit of use counts at `t`.
    ///
    /// > tau * 2^((t - L) / H) = tau + M(t)
    #[inline]
    pub(crate) fn past(&self, t: Time) -> u64 {
        let tau = |half_life: Span| (half_life.as_micros() as f64 / std::f64::consts::LN_2) as u64;
        self.half_life.map_or(0, tau) + self.reading(t)
    }

    /// When the landmark is next to be moved.
    pub(crate) fn next_landmark(&self) -> Option<Time> {
        self.half_life.map(|_| self.landmark.saturating_add(self.longest_quantum()))
    }

    /// The landmarks to move to, one after the other, so that `now` lies before the next. After so
    /// long a silence that nothing older counts (charges have 128 bits), the first step skips most
    /// of the way.
    pub(crate) fn steps(&self, now: Time) -> Vec<Step> {
        let Some(half_life) = self.half_life else { return Vec::new() };
        let stride = half_life.as_micros() * LANDMARK_HALF_LIVES;
        let strides = now.saturating_since(self.landmark).as_micros() / stride;
        let skipped = if strides > LONG_SILENCE { strides - REMEMBERED } else { 0 };
        let to =
            |n: u64| Time::from_micros(self.landmark.as_micros() + n * stride).unwrap_or(Time::MAX);
        let skip = (skipped > 0).then(|| Step { landmark: to(skipped), forgets: true });
        let shifts = (skipped + 1..=strides).map(|n| Step { landmark: to(n), forgets: false });
        skip.into_iter().chain(shifts).collect()
    }

    /// The same clock with its landmark at `landmark`.
    pub(crate) fn at_landmark(self, landmark: Time) -> Clock {
        Clock { landmark, ..self }
    }

    /// What was charged by the clock `from`, so that it counts at `now`, compared with what is used
    /// then, as much as it does there. Rounded down, by a 2^24th part at most.
    pub(crate) fn take_over(&self, charge: u128, now: Time, from: &Clock) -> u128 {
        if self.half_life == from.half_life && self.landmark == from.landmark {
            return charge;
        }
        // Both lie between 1 and 2^8, for landmarks are up to date.
        let ratio = self.inflation(now) / from.inflation(now);
        let parts = (ratio * (1u64 << 32) as f64) as u64;
        let (high, low) = (charge >> 32, charge & u128::from(u32::MAX));
        let low = (low * u128::from(parts)) >> 32;
        high.saturating_mul(u128::from(parts)).saturating_add(low)
    }

    /// What one unit charged at `now` counts for, in units of one charged at the landmark: for
    /// reports, and to take a charge over to another clock.
    pub(crate) fn inflation(&self, now: Time) -> f64 {
        match self.half_life {
            None => 1.0,
            Some(half_life) => {
                let age = now.saturating_since(self.landmark).as_micros() as f64;
                libm::exp2(age / half_life.as_micros() as f64)
            }
        }
    }
}

fn warped(since_landmark: Span, half_life: Span) -> u64 {
    let half_life = half_life.as_micros() as f64;
    let half_lives = since_landmark.as_micros() as f64 / half_life;
    (half_life / std::f64::consts::LN_2 * (libm::exp2(half_lives) - 1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Time {
        Time::from_secs(seconds).expect("in range")
    }

    #[test]
    fn an_hour_that_lies_one_half_life_back_counts_half() {
        let day = Span::from_secs(86_400);
        let clock = Clock::new(day);
        let first = clock.between(secs(0), secs(3600));
        let second = clock.between(secs(86_400), secs(86_400 + 3600));
        let ratio = second as f64 / first as f64;
        assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
    }

    #[test]
    fn moving_the_landmark_keeps_spans_in_proportion() {
        let clock = Clock::new(Span::from_secs(100));
        let (from, to) = (secs(850), secs(950));
        let steps = clock.steps(secs(840));
        assert_eq!((steps.len(), steps[0].landmark, steps[0].forgets), (1, secs(800), false));
        let moved = clock.at_landmark(steps[0].landmark);
        assert!(
            (clock.between(from, to) >> LANDMARK_HALF_LIVES).abs_diff(moved.between(from, to)) <= 1
        );
    }

    #[test]
    fn a_long_silence_is_skipped() {
        let clock = Clock::new(Span::from_secs(1));
        let steps = clock.steps(secs(8_000_003));
        assert_eq!(steps.len() as u64, REMEMBERED + 1);
        assert!(steps[0].forgets && !steps[1].forgets);
        assert_eq!(steps.last().map(|step| step.landmark), Some(secs(8_000_000)));
    }
}
