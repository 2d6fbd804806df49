//! The clocks of the machine, read here alone.
//!
//! A *boot instant* is time since the machine started, asleep or awake: it never steps, so lengths
//! are differences of boot instants. The wall clock may step; it is for people.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

/// An instant on both clocks, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Moment {
    /// Since the machine started.
    pub boot_us: u64,
    /// Since 1970-01-01 UTC, by the wall clock then.
    pub wall_us: u64,
}

impl Moment {
    /// Now.
    pub fn now() -> Moment {
        Moment { boot_us: boot_us(), wall_us: wall_us() }
    }

    /// How long after `earlier` it was, where both are of one boot.
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_micros(self.boot_us.saturating_sub(earlier.boot_us))
    }
}

/// Microseconds since the machine started.
pub fn boot_us() -> u64 {
    micros(clock_gettime(ClockId::Boottime))
}

/// Microseconds since 1970-01-01 UTC.
pub fn wall_us() -> u64 {
    micros(clock_gettime(ClockId::Realtime))
}

fn micros(time: Timespec) -> u64 {
    let whole = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0) / 1000;
    whole.saturating_mul(1_000_000).saturating_add(rest)
}

/// What tells this start of the machine from others; boot instants of one boot can be compared.
pub fn boot_id() -> std::io::Result<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}
