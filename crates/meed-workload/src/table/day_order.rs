//! Dates that begin with the month or the day.

use jiff::tz::TimeZone;

use super::times::{self, Wrong, date_after};

/// In which order a table's dates name the parts of a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableDates {
    /// By ISO 8601 only: `2026-01-31`.
    #[default]
    Iso,
    /// Month, day, year: `1/31/2026 11:59:59 PM`. Dates of ISO 8601 are read too.
    MonthFirst,
    /// Day, month, year: `31.01.2026 23:59:59`. Dates of ISO 8601 are read too.
    DayFirst,
}

impl TableDates {
    /// A date as microseconds since 1970; see [`times::Times::read_after`].
    pub(super) fn date(self, text: &[u8], zone: &TimeZone, least: u64) -> Result<u64, Wrong> {
        match self.iso(text) {
            Some(iso) => date_after(iso.as_bytes(), zone, least),
            None => date_after(text, zone, least),
        }
    }

    /// Whether this is a date, in some zone.
    pub(super) fn is_date(self, text: &[u8]) -> bool {
        match self.iso(text) {
            Some(iso) => times::is_date(iso.as_bytes()),
            None => times::is_date(text),
        }
    }

    /// The setting by which this is a date, in words, where it is one in another order.
    pub(super) fn hint(self, text: &[u8]) -> Option<&'static str> {
        match [TableDates::MonthFirst, TableDates::DayFirst].map(|order| order.is_date(text)) {
            [true, true] => Some(
                "dates = \"month-first\" or \"day-first\" in [trace] says which comes first (--set \
                 trace.dates=month-first)",
            ),
            [true, false] => {
                Some("dates = \"month-first\" in [trace] reads it (--set trace.dates=month-first)")
            }
            [false, true] => {
                Some("dates = \"day-first\" in [trace] reads it (--set trace.dates=day-first)")
            }
            [false, false] => None,
        }
    }

    /// A date that begins with the month or the day, as ISO 8601 writes it.
    fn iso(self, text: &[u8]) -> Option<String> {
        if self == TableDates::Iso {
            return None;
        }
        let text = std::str::from_utf8(text).ok()?.trim();
        let (day, time) = text.split_once([' ', 'T', ',']).unwrap_or((text, ""));
        let mut parts = day.split(['/', '.', '-']);
        let (one, other, year) = (parts.next()?, parts.next()?, parts.next()?);
        let number = |part: &str| part.parse::<u8>().ok();
        if parts.next().is_some() || year.len() != 4 || !year.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (month, day) = match self {
            TableDates::MonthFirst => (number(one)?, number(other)?),
            TableDates::Iso | TableDates::DayFirst => (number(other)?, number(one)?),
        };
        let time = if time.trim().is_empty() { String::new() } else { iso_time(time.trim())? };
        Some(format!("{year}-{month:02}-{day:02}{time}"))
    }
}

/// `T23:59:59` of `11:59:59 PM`; a zone behind it stays.
fn iso_time(text: &str) -> Option<String> {
    let upper = text.to_ascii_uppercase();
    let half = ["AM", "PM"].into_iter().find(|half| upper.ends_with(half));
    let text = text[..text.len() - half.map_or(0, str::len)].trim_end();
    let (hour, rest) = text.split_once(':').unwrap_or((text, "00"));
    let hour: u8 = hour.parse().ok()?;
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("PM") => hour % 12 + 12,
        Some(_) => hour % 12,
        None => hour,
    };
    Some(format!("T{hour:02}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_days_come_first() {
        let of = |order: TableDates, text: &str| {
            order.date(text.as_bytes(), &TimeZone::UTC, 0).ok().map(times::format_date)
        };
        let (us, eu) = (TableDates::MonthFirst, TableDates::DayFirst);
        for (order, text, expected) in [
            (us, "1/31/2026", Some("2026-01-31T00:00:00Z")),
            (us, "01/02/2026 3:04", Some("2026-01-02T03:04:00Z")),
            (us, "1/2/2026 12:00 AM", Some("2026-01-02T00:00:00Z")),
            (us, "1/2/2026 12:30:05 pm", Some("2026-01-02T12:30:05Z")),
            (us, "1/2/2026, 11:59:59 PM", Some("2026-01-02T23:59:59Z")),
            (us, "2026-02-01 00:00:00", Some("2026-02-01T00:00:00Z")),
            (us, "31/1/2026", None),
            (us, "1/2/26", None),
            (us, "1/2/2026 13:00 PM", None),
            (eu, "31.01.2026 23:59:59", Some("2026-01-31T23:59:59Z")),
            (eu, "1/2/2026 3:04:05", Some("2026-02-01T03:04:05Z")),
            (eu, "1.2.2026 12:00:00+01:00", Some("2026-02-01T11:00:00Z")),
            (TableDates::Iso, "1/31/2026", None),
        ] {
            assert_eq!(of(order, text).as_deref(), expected, "{text}");
        }
    }
}
