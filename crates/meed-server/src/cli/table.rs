//! Columns and times for people.

use meed::Span;
pub(super) use meed_cli::columns::{columns, columns_in};
use meed_config::units::format_span;

/// A length in words.
pub(super) fn length(micros: u64) -> String {
    // Whole seconds, but for short ones.
    let rounded = if micros < 10_000_000 {
        micros / 100_000 * 100_000
    } else {
        micros / 1_000_000 * 1_000_000
    };
    Span::from_micros(rounded).map(format_span).unwrap_or_default()
}

/// How long ago it was.
pub(super) fn ago(then_us: u64, now_us: u64) -> String {
    format!("{} ago", length(now_us.saturating_sub(then_us)))
}
