//! Dates by ISO 8601 and zones by name, for readers of other formats and for settings.

use jiff::tz::TimeZone;

use super::times;

/// A date by ISO 8601, in UTC where it has no zone, as microseconds since 1970.
pub(crate) fn parse_date(text: &[u8]) -> Option<u64> {
    times::date(text, &TimeZone::UTC).ok()
}

/// The same, in the zone of this name where it has none, or else in UTC.
pub fn parse_date_in(text: &str, zone: Option<&str>) -> Option<u64> {
    let zone = zone.map_or(Some(TimeZone::UTC), zone_named)?;
    local_date(text.trim().as_bytes(), &zone, 0)
}

/// The same, in `zone` where it has none. Of the two instants of the hour that comes twice it is
/// the first that is not before `least`.
pub(crate) fn local_date(text: &[u8], zone: &TimeZone, least: u64) -> Option<u64> {
    times::date_after(text, zone, least).ok()
}

/// The time zone of this name.
pub(crate) fn zone_named(name: &str) -> Option<TimeZone> {
    times::zone(name)
}

/// A time since 1970 as people read it.
pub fn format_date(micros: u64) -> String {
    times::format_date(micros)
}
