//! The only place that reads a clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "the edge of a live world: time comes from here")]
pub(crate) fn millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A clock that never steps, for how long something took.
#[expect(clippy::disallowed_methods, reason = "the edge of a live world: time comes from here")]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Seconds since 1970.
pub(crate) fn seconds() -> i64 {
    i64::try_from(millis() / 1000).unwrap_or(i64::MAX)
}
