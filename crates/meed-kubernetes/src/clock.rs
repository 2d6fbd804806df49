//! The only clock: wall time once, monotonic time from then on.
//!
//! An instant of the engine is the time since the ledger began. Within one process it rises with
//! the monotonic clock, whatever happens to the wall clock; between processes it is wall time, for
//! downtime counts. It never goes back behind what the ledger has seen.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use meed::{Span, Time};

/// Microseconds since 1970, by the wall clock.
#[expect(clippy::disallowed_methods, reason = "a live world runs by the wall clock")]
pub(crate) fn unix_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// The monotonic clock.
#[expect(clippy::disallowed_methods, reason = "leases and instants go by the monotonic clock")]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Instants of one ledger, in this process.
#[derive(Clone, Debug)]
pub(crate) struct LedgerClock {
    /// Time zero, in microseconds since 1970.
    origin: i64,
    base: Time,
    since: Instant,
}

impl LedgerClock {
    /// Stands still at `last`, or later where the wall clock says so: monotonic time begins in a
    /// day, so what a busy machine takes to restart a world is in no test's charges.
    #[cfg(test)]
    pub(crate) fn new(origin: i64, last: Time) -> LedgerClock {
        let clock = LedgerClock::at(origin, unix_micros()).not_before(last);
        LedgerClock { since: clock.since + Duration::from_secs(86_400), ..clock }
    }

    /// It is `wall` now, in microseconds since 1970.
    pub(crate) fn at(origin: i64, wall: i64) -> LedgerClock {
        LedgerClock { origin, base: at(origin, wall), since: monotonic() }
    }

    /// The same, at `last` or later.
    pub(crate) fn not_before(self, last: Time) -> LedgerClock {
        LedgerClock { base: self.base.max(last), ..self }
    }

    /// Now.
    pub(crate) fn now(&self) -> Time {
        self.base.saturating_add(span(monotonic().saturating_duration_since(self.since)))
    }

    /// Time zero, in microseconds since 1970.
    pub(crate) fn origin(&self) -> i64 {
        self.origin
    }

    /// An instant in microseconds since 1970.
    pub(crate) fn unix(&self, time: Time) -> i64 {
        self.origin.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
    }

    /// The instant of that many microseconds since 1970, not before time zero.
    pub(crate) fn time(&self, unix_micros: i64) -> Time {
        at(self.origin, unix_micros)
    }
}

fn at(origin: i64, unix_micros: i64) -> Time {
    let micros = u64::try_from(unix_micros.saturating_sub(origin)).unwrap_or(0);
    Time::from_micros(micros).unwrap_or(Time::MAX)
}

fn span(duration: Duration) -> Span {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    Span::from_micros(micros).unwrap_or(Span::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_wall_times_are_one_another() {
        let clock = LedgerClock::new(1_000_000, Time::ZERO);
        let time = Time::from_secs(5).unwrap();
        assert_eq!(clock.unix(time), 6_000_000);
        assert_eq!(clock.time(6_000_000), time);
        assert_eq!(clock.time(3), Time::ZERO, "not before the ledger began");
        let ahead = LedgerClock::new(unix_micros(), Time::from_secs(1000).unwrap());
        assert!(ahead.now() >= Time::from_secs(1000).unwrap(), "a clock that was put back");
    }
}
