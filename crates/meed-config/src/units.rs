//! Durations and amounts as people write them, to exact integers and back.
//!
//! Durations: `90s`, `1.5h`, `250ms`, `1h 30min`, or a bare number of seconds; units us, ms, s,
//! min, h, d, w. Amounts in natural units, by the kind's [`Unit`]: thousandths take `2`, `0.5`,
//! `500m`; bytes take `1024`, `512MiB`, `4GB`, `1Ki`.
//!
//! Invariant: nothing is rounded. What is finer than a microsecond, a thousandth or a byte is an
//! error, and [`format_span`] and [`format_amount`] write text that parses to the very same value.

use std::fmt::{self, Write};

use meed::{MAX_AMOUNT, MAX_MICROS, Span, Unit};

use crate::decimal::{Decimal, NumberError, Rounding, write_scaled};
use crate::words::{quote, suggest};

/// Why a text is no duration or amount: a sentence for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitError {
    text: String,
    why: String,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.text, self.why)
    }
}

impl std::error::Error for UnitError {}

/// A unit's name and how many smallest units it has.
type Scale = (&'static str, u64);

/// Smallest first. The first name of each scale is the one that is written.
const SPANS: &[Scale] = &[
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
    ("w", 604_800_000_000),
    ("µs", 1),
    ("μs", 1),
    ("sec", 1_000_000),
    ("second", 1_000_000),
    ("seconds", 1_000_000),
    ("minute", 60_000_000),
    ("minutes", 60_000_000),
    ("hour", 3_600_000_000),
    ("hours", 3_600_000_000),
    ("day", 86_400_000_000),
    ("days", 86_400_000_000),
    ("week", 604_800_000_000),
    ("weeks", 604_800_000_000),
];
/// How many of [`SPANS`] are the canonical names.
const SPAN_NAMES: usize = 7;

const MILLIS: &[Scale] = &[("", 1_000), ("m", 1)];

const BYTES: &[Scale] = &[
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("PiB", 1 << 50),
    ("", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
];
/// How many of [`BYTES`] are the names that are written.
const BYTE_NAMES: usize = 6;

/// Reads a duration: `90s`, `1.5h`, `1h 30min`; a bare number is seconds.
pub fn parse_span(text: &str) -> Result<Span, UnitError> {
    let fail = |why: String| UnitError { text: quote(text.as_bytes()), why };
    let mut rest = text.trim();
    let bare = split_number(rest).is_some_and(|(_, after)| after.is_empty());
    let mut micros = 0u64;
    loop {
        let (number, after) = split_number(rest).ok_or_else(|| {
            fail("is not a duration; write a number and a unit, as in 90s or 1.5h".into())
        })?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let name = &after[..end];
        let scale = match lookup(SPANS, name) {
            Some(scale) => scale,
            None if bare => 1_000_000,
            None if name.is_empty() => {
                return Err(fail("has a number without a unit, as in 1h 30".into()));
            }
            None => return Err(fail(unknown_unit(name, SPANS))),
        };
        let part = number.scaled(scale, MAX_MICROS, Rounding::Exact);
        let part = part.map_err(|error| fail(describe_span(error).into()))?;
        micros += part;
        rest = after[end..].trim_start();
        match Span::from_micros(micros) {
            None => return Err(fail(describe_span(NumberError::TooLarge).into())),
            Some(span) if rest.is_empty() => return Ok(span),
            Some(_) => {}
        }
    }
}

/// Reads an amount of a resource counted in `unit`, in natural units: `0.5` or `500m` of a core,
/// `4GiB`.
pub fn parse_amount(text: &str, unit: Unit) -> Result<u64, UnitError> {
    let fail = |why: String| UnitError { text: quote(text.as_bytes()), why };
    let (scales, example) = match unit {
        Unit::Milli => (MILLIS, "2, 0.5 or 500m"),
        Unit::Bytes => (BYTES, "1024, 512MiB or 4GB"),
    };
    let (number, name) = split_number(text.trim())
        .ok_or_else(|| fail(format!("is not an amount; write a number, as in {example}")))?;
    let name = name.trim_start();
    let scale = lookup(scales, name).ok_or_else(|| fail(unknown_unit(name, scales)))?;
    number
        .scaled(scale, MAX_AMOUNT, Rounding::Exact)
        .map_err(|error| fail(describe_amount(error, unit)))
}

/// `span` in the units that people use, exactly: `2h 30min`, `11.5s`, `250ms`.
pub fn format_span(span: Span) -> String {
    let mut micros = span.as_micros();
    let mut out = String::new();
    // Days are the largest that everybody reads alike.
    for (name, scale) in SPANS[3..6].iter().rev() {
        if micros >= *scale {
            push(&mut out, micros / scale, 1, name);
            micros %= scale;
        }
    }
    if micros >= 1_000_000 {
        push(&mut out, micros, 1_000_000, "s");
    } else if micros >= 1_000 {
        push(&mut out, micros, 1_000, "ms");
    } else if micros > 0 {
        push(&mut out, micros, 1, "us");
    } else if out.is_empty() {
        out.push_str("0s");
    }
    out
}

/// `amount` (in smallest units of `unit`) in natural units, exactly: `0.5`, `4GiB`, `1.5GiB`,
/// `1000001B`.
pub fn format_amount(amount: u64, unit: Unit) -> String {
    let mut out = String::new();
    match unit {
        Unit::Milli => push(&mut out, amount, 1_000, ""),
        Unit::Bytes => {
            // The largest unit that needs at most three decimals.
            let fits = |scale: u64| {
                amount >= scale && (u128::from(amount) * 1000) % u128::from(scale) == 0
            };
            let found = BYTES[..BYTE_NAMES].iter().rev().find(|(_, scale)| fits(*scale));
            let (name, scale) = found.copied().unwrap_or(BYTES[0]);
            let thousandths = u128::from(amount) * 1000 / u128::from(scale);
            push(&mut out, u64::try_from(thousandths).unwrap_or(u64::MAX), 1000, name);
        }
    }
    out
}

fn push(out: &mut String, amount: u64, scale: u64, name: &str) {
    let space = if out.is_empty() { "" } else { " " };
    out.push_str(space);
    // Writing to a string cannot fail.
    let _ = write_scaled(out, amount, scale);
    let _ = write!(out, "{name}");
}

/// The number at the start of `text`, and what follows it.
fn split_number(text: &str) -> Option<(Decimal, &str)> {
    let (number, rest) = Decimal::parse_prefix(text.as_bytes())?;
    Some((number, text.get(text.len() - rest.len()..)?))
}

fn lookup(scales: &[Scale], name: &str) -> Option<u64> {
    scales.iter().find(|(known, _)| *known == name).map(|(_, scale)| *scale)
}

fn unknown_unit(name: &str, scales: &'static [Scale]) -> String {
    let quoted = quote(name.as_bytes());
    if scales == SPANS {
        let hint = match name {
            "m" => "did you mean \"min\" (minutes) or \"ms\" (milliseconds)?".to_owned(),
            _ => suggest_unit(name, &SPANS[..SPAN_NAMES]),
        };
        return format!("has the unknown unit {quoted}; {hint}");
    }
    if scales == MILLIS {
        return format!(
            "has the unknown unit {quoted}; this resource is a plain number, or thousandths as in \
             500m"
        );
    }
    format!("has the unknown unit {quoted}; {}", suggest_unit(name, BYTES))
}

fn suggest_unit(name: &str, scales: &'static [Scale]) -> String {
    let known = || scales.iter().map(|(known, _)| *known).filter(|known| !known.is_empty());
    let same_letters = known().find(|known| known.eq_ignore_ascii_case(name));
    match same_letters {
        Some(known) => format!("did you mean \"{known}\"?"),
        None => suggest(name, known()),
    }
}

fn describe_span(error: NumberError) -> &'static str {
    match error {
        NumberError::NotANumber => {
            "is not a duration; write a number and a unit, as in 90s or 1.5h"
        }
        NumberError::Negative => "is negative; a duration is zero or more",
        NumberError::TooLarge => "is too long; the longest duration is 285 years",
        NumberError::TooFine => "is finer than a microsecond, the smallest unit of time",
    }
}

fn describe_amount(error: NumberError, unit: Unit) -> String {
    let (most, smallest) = match unit {
        Unit::Milli => ("9007199254740.992", "a thousandth"),
        Unit::Bytes => ("8PiB", "a byte"),
    };
    match error {
        NumberError::NotANumber => "is not an amount".to_owned(),
        NumberError::Negative => "is negative; an amount is zero or more".to_owned(),
        NumberError::TooLarge => format!("is too much; the largest amount is {most}"),
        NumberError::TooFine => format!("is finer than {smallest}, the smallest amount"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations() {
        let check = |text: &str, expected: Result<u64, &str>| {
            let got = parse_span(text).map(Span::as_micros).map_err(|error| error.to_string());
            assert_eq!(
                got.as_ref().map_err(String::as_str),
                expected.as_ref().map_err(|e| *e),
                "{text:?}"
            );
        };
        check("90s", Ok(90_000_000));
        check("90", Ok(90_000_000));
        check("0.5", Ok(500_000));
        check("3min", Ok(180_000_000));
        check("1h", Ok(3_600_000_000));
        check("1.5h", Ok(5_400_000_000));
        check(" 250 ms ", Ok(250_000));
        check("2d", Ok(172_800_000_000));
        check("1w", Ok(604_800_000_000));
        check("7us", Ok(7));
        check("7µs", Ok(7));
        check("1h30min", Ok(5_400_000_000));
        check("1h 30min 2.5s", Ok(5_402_500_000));
        check("0.1s", Ok(100_000));
        check("1e3 s", Ok(1_000_000_000));
        check("2 hours", Ok(7_200_000_000));
        check("9007199254.740992s", Ok(MAX_MICROS));
        check(
            "9007199254.740993s",
            Err("\"9007199254.740993s\" is too long; the longest duration is 285 years"),
        );
        check(
            "9007199254s 9007199254s",
            Err("\"9007199254s 9007199254s\" is too long; the longest duration is 285 years"),
        );
        check("", Err("\"\" is not a duration; write a number and a unit, as in 90s or 1.5h"));
        check(
            "soon",
            Err("\"soon\" is not a duration; write a number and a unit, as in 90s or 1.5h"),
        );
        check(
            "NaN",
            Err("\"NaN\" is not a duration; write a number and a unit, as in 90s or 1.5h"),
        );
        check("-1s", Err("\"-1s\" is negative; a duration is zero or more"));
        check("0.5us", Err("\"0.5us\" is finer than a microsecond, the smallest unit of time"));
        check(
            "5m",
            Err("\"5m\" has the unknown unit \"m\"; did you mean \"min\" (minutes) or \"ms\" \
                 (milliseconds)?"),
        );
        check("5H", Err("\"5H\" has the unknown unit \"H\"; did you mean \"h\"?"));
        check("5mins", Err("\"5mins\" has the unknown unit \"mins\"; did you mean \"min\"?"));
        check(
            "5years",
            Err("\"5years\" has the unknown unit \"years\"; known are us, ms, s, min, h, d, w"),
        );
        check("1h 30", Err("\"1h 30\" has a number without a unit, as in 1h 30"));
        check(
            "1h!",
            Err("\"1h!\" is not a duration; write a number and a unit, as in 90s or 1.5h"),
        );
    }

    #[test]
    fn amounts() {
        let check = |text: &str, unit: Unit, expected: Result<u64, &str>| {
            let got = parse_amount(text, unit).map_err(|error| error.to_string());
            assert_eq!(
                got.as_ref().map_err(String::as_str),
                expected.as_ref().map_err(|e| *e),
                "{text:?}"
            );
        };
        check("2", Unit::Milli, Ok(2_000));
        check("0.5", Unit::Milli, Ok(500));
        check("500m", Unit::Milli, Ok(500));
        check("0.001", Unit::Milli, Ok(1));
        check("0", Unit::Milli, Ok(0));
        check("9007199254740.992", Unit::Milli, Ok(MAX_AMOUNT));
        check("4GiB", Unit::Bytes, Ok(4 << 30));
        check("512 MiB", Unit::Bytes, Ok(512 << 20));
        check("4GB", Unit::Bytes, Ok(4_000_000_000));
        check("1Ki", Unit::Bytes, Ok(1024));
        check("1.5KiB", Unit::Bytes, Ok(1536));
        check("1024", Unit::Bytes, Ok(1024));
        check("8PiB", Unit::Bytes, Ok(MAX_AMOUNT));
        check("9PiB", Unit::Bytes, Err("\"9PiB\" is too much; the largest amount is 8PiB"));
        check("0.1", Unit::Bytes, Err("\"0.1\" is finer than a byte, the smallest amount"));
        check("0.1m", Unit::Milli, Err("\"0.1m\" is finer than a thousandth, the smallest amount"));
        check(
            "0.0005",
            Unit::Milli,
            Err("\"0.0005\" is finer than a thousandth, the smallest amount"),
        );
        check("-2", Unit::Milli, Err("\"-2\" is negative; an amount is zero or more"));
        check(
            "nan",
            Unit::Milli,
            Err("\"nan\" is not an amount; write a number, as in 2, 0.5 or 500m"),
        );
        check(
            "4Gib",
            Unit::Bytes,
            Err("\"4Gib\" has the unknown unit \"Gib\"; did you mean \"GiB\"?"),
        );
        check("4gb", Unit::Bytes, Err("\"4gb\" has the unknown unit \"gb\"; did you mean \"GB\"?"));
        check(
            "2GiB",
            Unit::Milli,
            Err("\"2GiB\" has the unknown unit \"GiB\"; this resource is a plain number, or \
                 thousandths as in 500m"),
        );
    }

    #[test]
    fn formats() {
        let spans = [
            (0, "0s"),
            (1, "1us"),
            (1_500, "1.5ms"),
            (250_000, "250ms"),
            (11_500_000, "11.5s"),
            (5_400_000_000, "1h 30min"),
            (180_001_000_000, "2d 2h 1s"),
            (86_400_000_001, "1d 1us"),
        ];
        for (micros, text) in spans {
            assert_eq!(format_span(Span::from_micros(micros).unwrap()), text);
        }
        let amounts = [
            (0, Unit::Milli, "0"),
            (1500, Unit::Milli, "1.5"),
            (0, Unit::Bytes, "0B"),
            (1023, Unit::Bytes, "1023B"),
            (1536 << 20, Unit::Bytes, "1.5GiB"),
            (1_000_001, Unit::Bytes, "1000001B"),
            (MAX_AMOUNT, Unit::Bytes, "8PiB"),
        ];
        for (amount, unit, text) in amounts {
            assert_eq!(format_amount(amount, unit), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            value in prop_oneof![0..=MAX_MICROS, 0..5_000_000_000u64], shift in 0u32..50,
        ) {
            let value: u64 = (value >> shift << shift).min(MAX_AMOUNT);
            let span = Span::from_micros(value).unwrap();
            prop_assert_eq!(parse_span(&format_span(span)), Ok(span));
            for unit in [Unit::Milli, Unit::Bytes] {
                prop_assert_eq!(parse_amount(&format_amount(value, unit), unit), Ok(value));
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC*", number in "[-+0-9.eE]{0,40}(s|min|GiB|m| )?") {
            for text in [text, number] {
                let _ = parse_span(&text);
                let _ = parse_amount(&text, Unit::Bytes);
            }
        }
    }
}
