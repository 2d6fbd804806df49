//! Times and durations as tables write them, to whole microseconds.
//!
//! A time is a number (since 1970, or since some zero of the trace; its unit is said or guessed
//! from its size) or a date by ISO 8601, with a zone or without: then the table's zone holds. A
//! duration is a number, `[D-]HH:MM:SS`, `MM:SS`, `2 days 03:04:05`, `PT1H`, or as Meed writes it
//! (`1h 30min`). Digits beyond a microsecond are rounded to the nearest.

use std::cmp::Ordering;

use jiff::civil::DateTime;
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use meed::{MAX_MICROS, MICROS_PER_S};
use meed_config::decimal::{NumberError, Rounding, parse_scaled, parse_short};
use meed_config::units::parse_span;

use super::day_order::TableDates;

/// What is wrong with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// Not to be understood.
    Unreadable,
    /// Below zero, or before 1970.
    Negative,
    /// Beyond what is counted.
    TooLarge,
    /// A date in a column whose numbers do not count from 1970.
    MixedDate,
    /// A number in another unit, or from another zero, than those of the other rows.
    OtherUnit,
}

impl From<NumberError> for Wrong {
    fn from(error: NumberError) -> Wrong {
        match error {
            NumberError::Negative => Wrong::Negative,
            NumberError::TooLarge => Wrong::TooLarge,
            NumberError::NotANumber | NumberError::TooFine => Wrong::Unreadable,
        }
    }
}

/// What a number of a time counts: microseconds of one, or, below them, how many make one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeUnit {
    /// In words.
    pub(super) name: &'static str,
    micros: u64,
    parts: u64,
}

const fn unit(name: &'static str, micros: u64) -> TimeUnit {
    TimeUnit { name, micros, parts: 1 }
}

pub(super) const SECONDS: TimeUnit = unit("seconds", MICROS_PER_S);
const MILLIS: TimeUnit = unit("milliseconds", 1000);
const MICROS: TimeUnit = unit("microseconds", 1);
const NANOS: TimeUnit = TimeUnit { name: "nanoseconds", micros: 1, parts: 1000 };
const MINUTES: TimeUnit = unit("minutes", 60 * MICROS_PER_S);
const HOURS: TimeUnit = unit("hours", 3600 * MICROS_PER_S);
const DAYS: TimeUnit = unit("days", 86_400 * MICROS_PER_S);

/// Units by the words for them.
const UNITS: [(&[&str], TimeUnit); 7] = [
    (&["s", "sec", "secs", "second", "seconds"], SECONDS),
    (&["ms", "msec", "millis", "milliseconds"], MILLIS),
    (&["us", "usec", "micros", "microseconds"], MICROS),
    (&["ns", "nsec", "nanos", "nanoseconds"], NANOS),
    (&["min", "mins", "minute", "minutes"], MINUTES),
    (&["h", "hr", "hrs", "hour", "hours"], HOURS),
    (&["d", "day", "days"], DAYS),
];

impl TimeUnit {
    /// The unit that this word names.
    pub(super) fn named(word: &str) -> Option<TimeUnit> {
        UNITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, unit)| *unit)
    }

    /// First words of all units.
    pub(super) fn words() -> impl Iterator<Item = &'static str> {
        UNITS.iter().map(|(words, _)| words[0])
    }

    fn micros(self, text: &[u8]) -> Result<u64, NumberError> {
        let limit = MAX_MICROS.saturating_mul(self.parts);
        let number = parse_scaled(text, self.micros, limit, Rounding::Nearest)?;
        Ok(if self.parts == 1 { number } else { (number + self.parts / 2) / self.parts })
    }
}

/// Numbers from here on (seconds, about three years) count from 1970; smaller ones from a zero of
/// the trace. Each unit begins where the one before would be beyond the year 5000.
const SINCE_1970: [(u64, TimeUnit); 4] = [
    (100_000_000_000_000_000, NANOS),
    (100_000_000_000_000, MICROS),
    (100_000_000_000, MILLIS),
    (100_000_000, SECONDS),
];

/// How the times of a column are read.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) unit: TimeUnit,
    /// Whether numbers count from 1970.
    pub(super) since_1970: bool,
    pub(super) zone: TimeZone,
    pub(super) order: TableDates,
}

/// The least number of seconds that counts from 1970.
const LEAST_SINCE_1970: u64 = SINCE_1970[3].0;
/// Seconds that a number from the start of the trace is below: about 16 years. No log has such
/// times since 1970, which would be before 1986.
const MOST_FROM_START: u64 = 500_000_000;

/// How many values of a column there are of each kind.
#[derive(Default)]
struct Votes {
    dates: u64,
    from_start: u64,
    /// By the place in [`SINCE_1970`].
    since_1970: [u64; SINCE_1970.len()],
    /// Whether the first value counts from 1970.
    first: Option<bool>,
}

impl Votes {
    /// 0 says nothing: many tables have it for no time. `None`: neither a number nor a date.
    fn count(&mut self, number: Option<u64>, is_date: bool, said: Option<TimeUnit>) {
        let place = |number: u64| match said {
            None => SINCE_1970.iter().position(|(least, _)| number >= *least),
            Some(unit) => {
                let least = LEAST_SINCE_1970.saturating_mul(unit.parts * MICROS_PER_S);
                (number.saturating_mul(unit.micros) >= least).then_some(0)
            }
        };
        let is_since = match number {
            Some(0) => return,
            Some(number) => match place(number) {
                Some(place) => {
                    self.since_1970[place] += 1;
                    true
                }
                None => {
                    self.from_start += 1;
                    false
                }
            },
            None if is_date => {
                self.dates += 1;
                true
            }
            None => return,
        };
        self.first.get_or_insert(is_since);
    }

    /// Whether most count from 1970; of as many the first decides.
    fn are_since_1970(&self) -> Option<bool> {
        let since = self.dates + self.since_1970.iter().sum::<u64>();
        match since.cmp(&self.from_start) {
            Ordering::Less => Some(false),
            Ordering::Equal => self.first,
            Ordering::Greater => Some(true),
        }
    }

    /// The unit of most numbers that count from 1970; of as many the coarser one.
    fn unit(&self) -> TimeUnit {
        let counted = SINCE_1970.iter().zip(self.since_1970);
        let most = counted.max_by_key(|(_, count)| *count);
        most.filter(|(_, count)| *count > 0).map_or(SECONDS, |((_, unit), _)| *unit)
    }
}

impl Times {
    /// By what stands in the column: `said` is the unit, where it was given. What most values say
    /// holds: a number that does not fit is wrong ([`Wrong::OtherUnit`]).
    pub(super) fn of_sample<'a>(
        values: impl Iterator<Item = &'a [u8]>,
        said: Option<TimeUnit>,
        zone: &TimeZone,
        order: TableDates,
    ) -> Times {
        let zone = zone.clone();
        let (mut votes, mut has_zero) = (Votes::default(), false);
        for text in values {
            let number = parse_scaled(text, 1, u64::MAX, Rounding::Nearest).ok();
            has_zero |= number == Some(0);
            votes.count(number, number.is_none() && order.is_date(text), said);
        }
        let since_1970 = votes.are_since_1970().unwrap_or(!has_zero);
        let unit = match (said, since_1970) {
            (Some(unit), _) => unit,
            (None, true) => votes.unit(),
            (None, false) => SECONDS,
        };
        Times { unit, since_1970, zone, order }
    }

    /// In words: what its numbers count.
    pub(super) fn words(&self) -> String {
        let zero = if self.since_1970 { "since 1970" } else { "from the start of the trace" };
        format!("{} {zero}", self.unit.name)
    }

    /// A number that fits those of the other rows.
    fn fitting(&self, micros: Result<u64, NumberError>) -> Result<u64, Wrong> {
        match micros {
            Ok(micros) if self.since_1970 && micros < LEAST_SINCE_1970 * MICROS_PER_S => {
                Err(Wrong::OtherUnit)
            }
            Ok(micros) if !self.since_1970 && micros >= MOST_FROM_START * MICROS_PER_S => {
                Err(Wrong::OtherUnit)
            }
            Ok(micros) => Ok(micros),
            Err(NumberError::TooLarge) => Err(Wrong::OtherUnit),
            Err(why) => Err(why.into()),
        }
    }

    /// Microseconds since the zero of the column, or since 1970, of what is known not to be before
    /// `least`: of the two instants of a date in the hour that comes twice the first that is not.
    pub(super) fn read_after(&self, text: &[u8], least: u64) -> Result<u64, Wrong> {
        // A date is no number: most columns hold one or the other.
        let number = match text.get(4) {
            Some(b'-') => Err(NumberError::NotANumber),
            _ => self.unit.micros(text),
        };
        match number {
            Err(NumberError::NotANumber | NumberError::TooFine) => {
                let micros = self.order.date(text, &self.zone, least)?;
                if self.since_1970 { Ok(micros) } else { Err(Wrong::MixedDate) }
            }
            number => self.fitting(number),
        }
    }
}

/// Whether this is a date, in some zone.
pub(super) fn is_date(text: &[u8]) -> bool {
    !matches!(date(text, &TimeZone::UTC), Err(Wrong::Unreadable))
}

/// A date by ISO 8601, as microseconds since 1970.
pub(super) fn date(text: &[u8], zone: &TimeZone) -> Result<u64, Wrong> {
    date_after(text, zone, 0)
}

/// The same of what is known not to be before `least` ([`Times::read_after`]).
pub(crate) fn date_after(text: &[u8], zone: &TimeZone, least: u64) -> Result<u64, Wrong> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    if text.len() < 8 || text.len() > 64 || !text[..4].iter().all(u8::is_ascii_digit) {
        return Err(Wrong::Unreadable);
    }
    let stamp = if let Some(plain) = plain_date(text) {
        in_zone(plain, zone, least)
    } else if let Some(utc) =
        [&b" UTC"[..], b" Z", b"Z", b"z"].iter().find_map(|ending| text.strip_suffix(*ending))
    {
        PARSER.parse_datetime(utc).ok().and_then(|plain| in_zone(plain, &TimeZone::UTC, least))
    } else if text[10.min(text.len())..].iter().any(|byte| matches!(byte, b'+' | b'-')) {
        PARSER.parse_timestamp(text).ok()
    } else {
        PARSER.parse_datetime(text).ok().and_then(|plain| in_zone(plain, zone, least))
    };
    let micros = stamp.ok_or(Wrong::Unreadable)?.as_microsecond();
    let micros = u64::try_from(micros).map_err(|_| Wrong::Negative)?;
    if micros <= MAX_MICROS { Ok(micros) } else { Err(Wrong::TooLarge) }
}

/// A civil time that a change of the clock makes ambiguous is the earlier one, unless that is
/// before `least`; one that it skips is moved by the change.
fn in_zone(plain: DateTime, zone: &TimeZone, least: u64) -> Option<Timestamp> {
    let instants = zone.to_ambiguous_timestamp(plain);
    let is_twice = matches!(instants.offset(), AmbiguousOffset::Fold { .. });
    let first = instants.compatible().ok()?;
    let is_before =
        |at: Timestamp| i64::try_from(least).is_ok_and(|least| at.as_microsecond() < least);
    if is_twice && is_before(first) { instants.later().ok() } else { Some(first) }
}

/// `2026-01-31T23:59:59`, with a blank for the T as well: by far the most common form.
fn plain_date(text: &[u8]) -> Option<DateTime> {
    if text.len() != 19
        || !matches!(text[10], b'T' | b' ')
        || [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')].iter().any(|(at, c)| text[*at] != *c)
    {
        return None;
    }
    let number = |from: usize, to: usize| parse_short(&text[from..to]);
    let small = |from: usize| number(from, from + 2).and_then(|number| i8::try_from(number).ok());
    let year = i16::try_from(number(0, 4)?).ok()?;
    let (month, day) = (small(5)?, small(8)?);
    // A leap second is the second before it.
    DateTime::new(year, month, day, small(11)?, small(14)?, small(17)?.min(59), 0).ok()
}

/// The zone of this name: `UTC`, `+02:00`, `Europe/Berlin`. From the database that the program
/// holds, so that it is the same on every machine.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    if name.eq_ignore_ascii_case("utc") || name == "Z" {
        return Some(TimeZone::UTC);
    }
    if let Some(offset) = offset(name) {
        return Some(TimeZone::fixed(offset));
    }
    TimeZoneDatabase::bundled().get(name).ok()
}

/// `+02:00`, `-0330`, `+2`.
fn offset(name: &str) -> Option<Offset> {
    let (sign, rest) = match name.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digits: Vec<u8> = rest.iter().copied().filter(|byte| *byte != b':').collect();
    let (hours, minutes) = match digits.len() {
        1 | 2 => (parse_short(&digits)?, 0),
        4 => (parse_short(&digits[..2])?, parse_short(&digits[2..])?),
        _ => return None,
    };
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
    if minutes < 60 { Offset::from_seconds(sign * seconds).ok() } else { None }
}

/// A duration in microseconds; `unit` is that of bare numbers.
pub(super) fn duration(text: &[u8], unit: TimeUnit) -> Result<u64, Wrong> {
    match unit.micros(text) {
        Err(NumberError::NotANumber | NumberError::TooFine) => {}
        number => return Ok(number?),
    }
    if let Some(rest) = text.strip_prefix(b"-") {
        return match rest.first() {
            None | Some(b'-') => Err(Wrong::Unreadable),
            Some(_) => duration(rest, unit).and(Err(Wrong::Negative)),
        };
    }
    let words = std::str::from_utf8(text).map_err(|_| Wrong::Unreadable)?;
    if words.contains(':') {
        return clock(words);
    }
    if words.starts_with('P') {
        // A day is 24 hours, as a table of durations has no dates; months have no length.
        let days = SpanRelativeTo::days_are_24_hours();
        let span: Span = words.parse().map_err(|_| Wrong::Unreadable)?;
        let span: SignedDuration = span.to_duration(days).map_err(|_| Wrong::Unreadable)?;
        let micros = u64::try_from(span.as_micros()).map_err(|_| Wrong::Negative)?;
        return if micros <= MAX_MICROS { Ok(micros) } else { Err(Wrong::TooLarge) };
    }
    parse_span(words).map(|span| span.as_micros()).map_err(|_| Wrong::Unreadable)
}

/// `1-02:03:04`, `26:03:04.5`, `03:04`, `1 days 02:03:04`.
pub(crate) fn clock(text: &str) -> Result<u64, Wrong> {
    let blank = |(days, rest): (&str, &str)| {
        let days = days.trim_end_matches("days").trim_end_matches("day").trim_end();
        (days.to_owned(), rest.to_owned())
    };
    let (days, rest) = text
        .split_once('-')
        .map(|(days, rest)| (days.to_owned(), rest.to_owned()))
        .or_else(|| text.rsplit_once(' ').map(blank))
        .unwrap_or_else(|| (String::new(), text.to_owned()));
    let days = match days.as_str() {
        "" => 0,
        days => parse_short(days.as_bytes()).ok_or(Wrong::Unreadable)?,
    };
    let parts: Vec<&str> = rest.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes, seconds] => (hours, minutes, seconds),
        [hours, minutes] if text.contains('-') => (hours, minutes, "0"),
        [minutes, seconds] => ("0", minutes, seconds),
        _ => return Err(Wrong::Unreadable),
    };
    let whole = |part: &str| parse_short(part.as_bytes()).ok_or(Wrong::Unreadable);
    let rest = parse_scaled(seconds.as_bytes(), MICROS_PER_S, MAX_MICROS, Rounding::Nearest)?;
    let sums = [(days, 86_400), (whole(hours)?, 3600), (whole(minutes)?, 60)];
    let sum = sums.iter().try_fold(0u64, |sum, (number, seconds)| {
        sum.checked_add(number.checked_mul(seconds * MICROS_PER_S)?)
    });
    let sum = sum.and_then(|sum| sum.checked_add(rest)).filter(|sum| *sum <= MAX_MICROS);
    sum.ok_or(Wrong::TooLarge)
}

/// A time since 1970 as people read it.
pub(super) fn format_date(micros: u64) -> String {
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = MICROS_PER_S;

    #[test]
    fn dates_are_instants() {
        let berlin = zone("Europe/Berlin").unwrap();
        type Read = Result<u64, Wrong>;
        let rows: &[(&str, Read, Read)] = &[
            // text, in UTC, in Berlin
            ("1970-01-01T01:00:00", Ok(3600 * S), Ok(0)),
            ("2025-07-01 00:00:00", Ok(1_751_328_000 * S), Ok(1_751_320_800 * S)),
            ("2025-07-01T00:00:00Z", Ok(1_751_328_000 * S), Ok(1_751_328_000 * S)),
            ("2025-07-01 00:00:00 UTC", Ok(1_751_328_000 * S), Ok(1_751_328_000 * S)),
            ("2025-07-01T00:00:00.5", Ok(1_751_328_000 * S + S / 2), Ok(1_751_320_800 * S + S / 2)),
            ("2025-07-01T02:00:00+02:00", Ok(1_751_328_000 * S), Ok(1_751_328_000 * S)),
            ("2025-06-30T19:00:00-0500", Ok(1_751_328_000 * S), Ok(1_751_328_000 * S)),
            ("2025-07-01", Ok(1_751_328_000 * S), Ok(1_751_320_800 * S)),
            ("2016-12-31T23:59:60", Ok(1_483_228_799 * S), Ok(1_483_225_199 * S)),
            ("1969-12-31T23:59:59Z", Err(Wrong::Negative), Err(Wrong::Negative)),
            ("2300-01-01T00:00:00", Err(Wrong::TooLarge), Err(Wrong::TooLarge)),
            ("2025-02-30T00:00:00", Err(Wrong::Unreadable), Err(Wrong::Unreadable)),
            ("01/02/2025 00:00:00", Err(Wrong::Unreadable), Err(Wrong::Unreadable)),
            ("yesterday at noon", Err(Wrong::Unreadable), Err(Wrong::Unreadable)),
        ];
        for (text, utc, local) in rows {
            assert_eq!(date(text.as_bytes(), &TimeZone::UTC), *utc, "{text} in UTC");
            assert_eq!(date(text.as_bytes(), &berlin), *local, "{text} in Berlin");
        }
        // The hour that comes twice is the first; the one that never comes is moved on.
        assert_eq!(date(b"2025-10-26T02:30:00", &berlin), Ok(1_761_438_600 * S));
        assert_eq!(date(b"2025-03-30T02:30:00", &berlin), Ok(1_743_298_200 * S));
    }

    /// What is known not to be before an instant is the second where the first is before it.
    #[test]
    fn the_hour_that_comes_twice() {
        let berlin = zone("Europe/Berlin").unwrap();
        let first = 1_761_438_600 * S;
        for (least, expected) in [
            (0, first),
            (first, first),
            (first + 1, first + 3600 * S),
            // Before it in any case: who reads says so.
            (first + 3601 * S, first + 3600 * S),
        ] {
            assert_eq!(date_after(b"2025-10-26T02:30:00", &berlin, least), Ok(expected));
        }
        let gap = date(b"2025-03-30T02:30:00", &berlin);
        assert_eq!(date_after(b"2025-03-30T02:30:00", &berlin, u64::MAX), gap);
    }

    #[test]
    fn zones_have_names_and_offsets() {
        for name in ["UTC", "utc", "+02:00", "-0330", "+2", "America/New_York"] {
            assert!(zone(name).is_some(), "{name}");
        }
        for name in ["", "CEST?", "+2:70", "+99", "Europe/Atlantis"] {
            assert!(zone(name).is_none(), "{name}");
        }
    }

    #[test]
    fn durations_in_all_forms() {
        let rows: &[(&str, Result<u64, Wrong>)] = &[
            ("90", Ok(90 * S)),
            ("1.5", Ok(S * 3 / 2)),
            ("1-02:03:04", Ok(93_784 * S)),
            ("1-02:03", Ok(93_780 * S)),
            ("26:03:04.25", Ok(93_784 * S + S / 4)),
            ("03:04", Ok(184 * S)),
            ("1 days 02:03:04", Ok(93_784 * S)),
            ("0 days 00:00:01.000001", Ok(S + 1)),
            ("PT1H30M", Ok(5400 * S)),
            ("P1DT2H", Ok(26 * 3600 * S)),
            ("P1W", Ok(7 * 86_400 * S)),
            ("PT0.5S", Ok(S / 2)),
            ("P1M", Err(Wrong::Unreadable)),
            ("P-1D", Err(Wrong::Unreadable)),
            ("1h 30min", Ok(5400 * S)),
            ("-5", Err(Wrong::Negative)),
            ("-00:05:00", Err(Wrong::Negative)),
            ("--5", Err(Wrong::Unreadable)),
            ("99999999999999999-00:00:00", Err(Wrong::TooLarge)),
            ("soon", Err(Wrong::Unreadable)),
            ("1:2:3:4", Err(Wrong::Unreadable)),
            ("::", Err(Wrong::Unreadable)),
            ("", Err(Wrong::Unreadable)),
        ];
        for (text, expected) in rows {
            assert_eq!(duration(text.as_bytes(), SECONDS), *expected, "{text}");
        }
        for (word, micros) in [("ms", 2000), ("us", 2), ("min", 120 * S), ("h", 7200 * S)] {
            let unit = TimeUnit::named(word).unwrap();
            assert_eq!(duration(b"2", unit), Ok(micros), "{word}");
        }
        assert_eq!(duration(b"1500", NANOS), Ok(2));
    }

    #[test]
    fn the_size_of_numbers_tells_what_they_count() {
        let of = |texts: &[&str], said| {
            let values = texts.iter().map(|text| text.as_bytes());
            let times = Times::of_sample(values, said, &TimeZone::UTC, TableDates::Iso);
            (times.unit.name, times.since_1970, times.read_after(texts[0].as_bytes(), 0))
        };
        assert_eq!(of(&["0", "86400"], None), ("seconds", false, Ok(0)));
        assert_eq!(of(&["1751328000", "0"], None), ("seconds", true, Ok(1_751_328_000 * S)));
        assert_eq!(of(&["1751328000123"], None), ("milliseconds", true, Ok(1_751_328_000_123_000)));
        assert_eq!(of(&["1751328000123456"], None).0, "microseconds");
        assert_eq!(of(&["1751328000123456789"], None).0, "nanoseconds");
        assert!(of(&["2025-07-01"], None).1);
        assert_eq!(of(&["5000"], Some(MILLIS)), ("milliseconds", false, Ok(5 * S)));
        assert!(of(&["1751328000123"], Some(MILLIS)).1);
        assert_eq!(of(&["7", "2025-07-01"], None), ("seconds", false, Ok(7 * S)));
        let order = TableDates::Iso;
        let mixed = Times { unit: SECONDS, since_1970: false, zone: TimeZone::UTC, order };
        assert_eq!(mixed.read_after(b"2025-07-01", 0), Err(Wrong::MixedDate));
    }

    /// One number in another unit, or from another zero, is wrong, and changes no other.
    #[test]
    fn the_unit_is_that_of_most_numbers() {
        const ROWS: [(&str, &str, &str, Result<u64, Wrong>); 9] = [
            // what most say, the odd one, its unit, what the odd one is read as
            ("1772438400", "1772438400000", "seconds", Err(Wrong::OtherUnit)),
            ("1772438400", "1772438400000000000", "seconds", Err(Wrong::OtherUnit)),
            ("1772438400", "17", "seconds", Err(Wrong::OtherUnit)),
            ("1772438400", "0", "seconds", Err(Wrong::OtherUnit)),
            ("1772438400000", "1772438400", "milliseconds", Err(Wrong::OtherUnit)),
            ("17", "1772438400", "seconds", Err(Wrong::OtherUnit)),
            // A trace of years that counts from its start.
            ("17", "110000000", "seconds", Ok(110_000_000 * S)),
            ("2025-07-01", "17", "seconds", Err(Wrong::OtherUnit)),
            ("2025-07-01", "1751328000", "seconds", Ok(1_751_328_000 * S)),
        ];
        for (most, odd, unit, expected) in ROWS {
            for texts in [[odd, most, most], [most, most, odd]] {
                let values = texts.iter().map(|text| text.as_bytes());
                let times = Times::of_sample(values, None, &TimeZone::UTC, TableDates::Iso);
                assert_eq!(times.unit.name, unit, "{texts:?}");
                assert!(times.read_after(most.as_bytes(), 0).is_ok(), "{texts:?}");
                assert_eq!(times.read_after(odd.as_bytes(), 0), expected, "{texts:?}");
            }
        }
        // Where the unit is said, the zero is that of most.
        let texts = [&b"1772438400000"[..], b"1772438400000", b"1772438400"].into_iter();
        let times = Times::of_sample(texts, Some(MILLIS), &TimeZone::UTC, TableDates::Iso);
        assert_eq!(times.read_after(b"1772438400", 0), Err(Wrong::OtherUnit));
    }
}
