//! Values of a setting as people write them, each as text that the scenario reads.
//!
//! ```text
//! 1h,6h,24h          a list; commas within brackets, braces or quotes do not separate
//! 1..10 step 3       1, 4, 7, 10: exact decimal steps, up to and with the end if they hit it
//! 1h..30d log 5      5 values in equal ratios from the first to the last, rounded to 3
//!                    digits; units may differ
//! 0.5..2 step 0.5,4  both
//! ```

use meed_config::units::parse_span;

/// Most values of one setting.
const MAX_VALUES: usize = 10_000;
/// Decimal places that steps keep exact.
const PLACES: usize = 6;

/// The values of a list.
pub(super) fn parse(list: &str) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    for part in split(list)? {
        let part = part.trim();
        match part.split_once("..") {
            _ if part.is_empty() => return Err("has an empty value".to_owned()),
            Some((from, rest)) if !part.starts_with(['"', '\'', '[', '{']) => {
                range(from, rest, &mut values)?
            }
            _ => values.push(part.to_owned()),
        }
        if values.len() > MAX_VALUES {
            return Err(format!("has more than {MAX_VALUES} values"));
        }
    }
    match (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
        Some(at) => Err(format!("has the value {} twice", values[at])),
        None => Ok(values),
    }
}

/// Splits at commas outside of brackets, braces and quotes.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_i32, None);
    for (at, c) in list.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return Err("has a closing bracket without an opening one".to_owned());
        }
    }
    if depth > 0 || quote.is_some() {
        return Err("has a bracket or quote that is not closed".to_owned());
    }
    parts.push(&list[start..]);
    Ok(parts)
}

const RANGES: &str = "a range is A..B step S, or A..B log N";

fn range(from: &str, rest: &str, values: &mut Vec<String>) -> Result<(), String> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        [to, "step", step] => steps(from.trim(), to, step, values),
        [to, "log", count] => ratios(from.trim(), to, count, values),
        _ => Err(format!("\"{from}..{rest}\" is no range; {RANGES}")),
    }
}

/// Equal steps, in whole 10^-[`PLACES`] of the unit, which all three share.
fn steps(from: &str, to: &str, step: &str, values: &mut Vec<String>) -> Result<(), String> {
    let ((from, unit), (to, to_unit), (step, step_unit)) =
        (number(from)?, number(to)?, number(step)?);
    if to_unit != unit || step_unit != unit {
        return Err(format!(
            "the range has the units \"{unit}\", \"{to_unit}\" and \"{step_unit}\"; they must be \
             one"
        ));
    }
    if step <= 0 || to < from {
        return Err(format!("the range goes nowhere; {RANGES}, with A up to B and S above 0"));
    }
    if (to - from) / step >= MAX_VALUES as i64 {
        return Err(format!("the range has more than {MAX_VALUES} values"));
    }
    values.extend((0..=(to - from) / step).map(|i| format!("{}{unit}", decimal(from + i * step))));
    Ok(())
}

/// A decimal number in 10^-[`PLACES`], and what follows it.
fn number(text: &str) -> Result<(i64, &str), String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '+'))
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let fail =
        || format!("\"{text}\" is no number of at most 9 digits and {PLACES} decimal places");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let negative = whole.starts_with('-');
    let whole = whole.trim_start_matches(['-', '+']);
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole)
        || !plain(fraction)
        || whole.len() > 9
        || fraction.len() > PLACES
        || digits.is_empty()
    {
        return Err(fail());
    }
    let scaled = format!("{whole}{fraction:0<PLACES$}").parse::<i64>().map_err(|_| fail())?;
    Ok((if negative { -scaled } else { scaled }, unit.trim()))
}

/// The shortest text of a number of 10^-[`PLACES`].
fn decimal(scaled: i64) -> String {
    let one = 10_i64.pow(PLACES as u32);
    let sign = if scaled < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:0PLACES$}", scaled.abs() / one, scaled.abs() % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Equal ratios.
fn ratios(from: &str, to: &str, count: &str, values: &mut Vec<String>) -> Result<(), String> {
    let count: usize =
        count.parse().ok().filter(|count| (2..=MAX_VALUES).contains(count)).ok_or_else(|| {
            format!(
                "\"{count}\" is no number of values; log takes a whole number from 2 to \
                {MAX_VALUES}"
            )
        })?;
    let spans = as_seconds(from).zip(as_seconds(to));
    let (low, high, times) = match (from.parse::<f64>(), to.parse::<f64>(), spans) {
        (Ok(low), Ok(high), _) => (low, high, false),
        (_, _, Some((low, high))) => (low, high, true),
        _ => return Err(format!("\"{from}\" and \"{to}\" are no two numbers or times")),
    };
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Err("a log range goes from above 0 to something larger".to_owned());
    }
    let ratio = libm::log(high / low) / (count - 1) as f64;
    for i in 0..count {
        // The ends as they were written.
        let value = low * libm::exp(ratio * i as f64);
        values.push(match i {
            0 => from.to_owned(),
            _ if i == count - 1 => to.to_owned(),
            _ if times => time(value),
            _ => three_digits(value),
        });
    }
    Ok(())
}

fn as_seconds(text: &str) -> Option<f64> {
    parse_span(text).ok().map(|span| span.as_secs_f64())
}

/// The largest unit of time of which there is at least one in so many seconds, and its seconds.
pub(crate) fn largest_unit(seconds: f64) -> (&'static str, f64) {
    let units = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0)];
    units.into_iter().find(|(_, size)| seconds >= *size).unwrap_or(("s", 1.0))
}

/// Seconds with three significant digits, in the [`largest_unit`].
fn time(seconds: f64) -> String {
    let (unit, size) = largest_unit(seconds);
    format!("{}{unit}", three_digits(seconds / size))
}

/// The number with three significant digits, without needless zeros.
fn three_digits(value: f64) -> String {
    let size = libm::floor(libm::log10(value)) as i32;
    let power = libm::pow(10.0, f64::from(size - 2));
    let places = usize::try_from(2 - size).unwrap_or(0);
    let text = format!("{:.places$}", (value / power).round() * power);
    if places > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// What a value is worth on an axis: a plain number, or seconds.
pub(super) fn magnitude(value: &str) -> Option<f64> {
    let value = value.trim_matches(['"', '\'']);
    value.parse::<f64>().ok().or_else(|| as_seconds(value)).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(parse(text).unwrap(), expected, "{text}");
        check("1h, 6h,24h", &["1h", "6h", "24h"]);
        check("fair", &["fair"]);
        check("{ cpu = 1, gpu = 2 },{ cpu = 2 }", &["{ cpu = 1, gpu = 2 }", "{ cpu = 2 }"]);
        check("[1, 2],\"a,b\"", &["[1, 2]", "\"a,b\""]);
        check("1..10 step 3", &["1", "4", "7", "10"]);
        check("1..9 step 3", &["1", "4", "7"]);
        check("0.5..2 step 0.5,4", &["0.5", "1", "1.5", "2", "4"]);
        check("0.1..0.3 step 0.1", &["0.1", "0.2", "0.3"]);
        check("-1..1 step 1", &["-1", "0", "1"]);
        check("6h..18h step 6h", &["6h", "12h", "18h"]);
        check("1..1000 log 4", &["1", "10", "100", "1000"]);
        check("1h..30d log 3", &["1h", "1.12d", "30d"]);
        check("0.001..1 log 4", &["0.001", "0.01", "0.1", "1"]);
        check("10ms..1000s log 6", &["10ms", "0.1s", "1s", "10s", "1.67min", "1000s"]);
        check("\"../a..b\",'x'", &["\"../a..b\"", "'x'"]);
    }

    #[test]
    fn wrong_ones_say_why() {
        let check = |text: &str, message: &str| {
            let error = parse(text).expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        };
        check("", "empty value");
        check("1,,2", "empty value");
        check("1,2,1", "the value 1 twice");
        check("[1,2", "not closed");
        check("1]", "closing bracket");
        check("1..5", "\"1..5\" is no range; a range is A..B step S, or A..B log N");
        check("1..5 by 2", "is no range");
        check("5..1 step 1", "goes nowhere");
        check("1..5 step 0", "goes nowhere");
        check("1..5 step x", "\"x\" is no number");
        check("1h..5d step 1h", "the units \"h\", \"d\" and \"h\"");
        check("0..999999999 step 0.000001", "more than 10000 values");
        check("0..5 log 3", "from above 0");
        check("1..5 log 1", "2 to 10000");
        check("a..5 log 3", "no two numbers or times");
        check("1..2.0000001 step 1", "6 decimal places");
    }

    #[test]
    fn magnitudes() {
        for (text, expected) in [
            ("2", Some(2.0)),
            ("1h", Some(3600.0)),
            ("\"90s\"", Some(90.0)),
            ("fair", None),
            ("nan", None),
        ] {
            assert_eq!(magnitude(text), expected, "{text}");
        }
    }
}
