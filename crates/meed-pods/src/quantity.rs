//! Kubernetes' quantities, exactly: `1500m`, `0.5`, `64Gi`, `1e3`, `129M`.
//!
//! Grammar: a decimal number and a suffix: `n u m`, none, `k M G T P E`, `Ki Mi Gi Ti Pi Ei`, or a
//! decimal exponent `e3`. Amounts become integers in the engine's unit, rounded up, as the API
//! server rounds up: a demand is never understated. What is above [`meed::resources::MAX_AMOUNT`]
//! is refused where the engine is told.

use meed::Unit;

/// Digits that are read at most: with any suffix the sum stays within 128 bits.
const MAX_DIGITS: usize = 18;

/// What the text says, in whole bytes or in thousandths, rounded up; in words what is wrong.
///
/// # Errors
///
/// It is no quantity, or larger than can be counted.
pub fn amount(text: &str, unit: Unit) -> Result<u64, String> {
    let wrong = |why: &str| format!("quantity `{text}`: {why}");
    let number_ends =
        text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '+')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(number_ends);
    if text.starts_with('-') {
        return Err(wrong("is below zero"));
    }
    let number = number.strip_prefix('+').unwrap_or(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong("is no number with a suffix such as m, k, Mi or Gi"));
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > MAX_DIGITS {
        return Err(wrong("has more digits than can be counted exactly"));
    }
    let value: u128 = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| wrong("?"))? };
    let (binary, tens) = scale(suffix).ok_or_else(|| wrong("has an unknown suffix"))?;
    let tens = tens - fraction.len() as i32 + if unit == Unit::Milli { 3 } else { 0 };
    let too_large = || wrong("is larger than can be counted");
    let value = value.checked_mul(binary).ok_or_else(too_large)?;
    let power = 10u128.checked_pow(tens.unsigned_abs());
    let amount = match (value, power) {
        (0, _) => 0,
        (_, None) if tens < 0 => 1,
        (_, None) => return Err(too_large()),
        (_, Some(power)) if tens < 0 => value.div_ceil(power),
        (_, Some(power)) => value.checked_mul(power).ok_or_else(too_large)?,
    };
    u64::try_from(amount).map_err(|_| too_large())
}

/// A suffix as a factor and a power of ten.
fn scale(suffix: &str) -> Option<(u128, i32)> {
    let binary = |power: u32| Some((1u128 << (10 * power), 0));
    match suffix {
        "n" => Some((1, -9)),
        "u" => Some((1, -6)),
        "m" => Some((1, -3)),
        "" => Some((1, 0)),
        "k" => Some((1, 3)),
        "M" => Some((1, 6)),
        "G" => Some((1, 9)),
        "T" => Some((1, 12)),
        "P" => Some((1, 15)),
        "E" => Some((1, 18)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (-40..=40).contains(&power).then_some((1, power))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly_and_rounded_up() {
        for (text, unit, expected) in [
            ("0", Unit::Milli, 0),
            ("1", Unit::Milli, 1000),
            ("1500m", Unit::Milli, 1500),
            ("0.5", Unit::Milli, 500),
            (".5", Unit::Milli, 500),
            ("1.", Unit::Milli, 1000),
            ("0.0001", Unit::Milli, 1),
            ("100n", Unit::Milli, 1),
            ("1u", Unit::Milli, 1),
            ("1e3", Unit::Milli, 1_000_000),
            ("1E-3", Unit::Milli, 1),
            ("12E", Unit::Bytes, 12_000_000_000_000_000_000),
            ("64Gi", Unit::Bytes, 64 << 30),
            ("1.5Gi", Unit::Bytes, 3 << 29),
            ("129M", Unit::Bytes, 129_000_000),
            ("128974848000m", Unit::Bytes, 128_974_848),
            ("1m", Unit::Bytes, 1),
            ("+2Ki", Unit::Bytes, 2048),
            ("0e40", Unit::Milli, 0),
            ("1e-40", Unit::Bytes, 1),
        ] {
            assert_eq!(amount(text, unit), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_is_refused_in_words() {
        for (text, why) in [
            ("", "is no number"),
            ("-1", "is below zero"),
            ("1.2.3", "is no number"),
            ("Gi", "is no number"),
            ("1Zi", "unknown suffix"),
            ("1e", "unknown suffix"),
            ("1e99", "unknown suffix"),
            ("1e40", "larger than can be counted"),
            ("1234567890123456789", "more digits"),
            ("100E", "larger than can be counted"),
        ] {
            let error = amount(text, Unit::Milli).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
