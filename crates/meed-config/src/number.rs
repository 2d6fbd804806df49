//! Numbers of JSON that lose nothing: whole smallest units, written in natural units, and read back
//! to the unit.
//!
//! A double holds n / scale so that rounding finds n again for n below 2^51 (two roundings of 2^-53
//! each are then less than half a unit): such numbers are plain JSON numbers. Larger ones (71
//! years, two million million cores) are written as text, since most readers of JSON keep doubles.

use std::fmt;

use meed::{MAX_AMOUNT, MAX_MICROS, MICROS_PER_S, Span, Time, Unit};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

use crate::units::{parse_amount, parse_span};

/// Below this a quotient of two whole numbers is exact enough.
const SURE: u64 = 1 << 51;

/// A whole number of smallest units, to be written in natural units.
///
/// ```
/// use meed::{Span, Unit};
/// use meed_config::number::Exact;
///
/// let span = Span::from_micros(1_500_000).ok_or("in range")?;
/// assert_eq!(serde_json::to_string(&Exact::span(span))?, "1.5"); // seconds
/// assert_eq!(serde_json::to_string(&Exact::amount(2500, Unit::Milli))?, "2.5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exact {
    smallest: u64,
    scale: u64,
}

impl Exact {
    /// A time, in seconds since the start.
    pub fn time(time: Time) -> Exact {
        Exact { smallest: time.as_micros(), scale: MICROS_PER_S }
    }

    /// A duration, in seconds.
    pub fn span(span: Span) -> Exact {
        Exact { smallest: span.as_micros(), scale: MICROS_PER_S }
    }

    /// An amount of a resource counted in `unit`.
    pub fn amount(amount: u64, unit: Unit) -> Exact {
        Exact { smallest: amount, scale: unit.scale() }
    }
}

impl Serialize for Exact {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Exact { smallest, scale } = *self;
        if scale == 1 {
            return serializer.serialize_u64(smallest);
        }
        if smallest < SURE {
            return serializer.serialize_f64(smallest as f64 / scale as f64);
        }
        let digits = scale.ilog10() as usize;
        serializer.collect_str(&format_args!("{}.{:0digits$}", smallest / scale, smallest % scale))
    }
}

/// A number as it stands in JSON: as such, or as text.
///
/// ```
/// use meed::Unit;
/// use meed_config::number::Number;
///
/// let number: Number = serde_json::from_str("2.5")?;
/// assert_eq!(number.amount(Unit::Milli)?, 2500);
/// assert!(Number::Fraction(0.00001).amount(Unit::Milli).is_err()); // too fine
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// A whole number.
    Whole(u64),
    /// A number with a point or an exponent.
    Fraction(f64),
    /// A number, with a unit or without, as text.
    Text(String),
}

impl Number {
    /// In smallest units, of which the natural one has `scale`.
    fn smallest(&self, scale: u64, most: u64) -> Result<u64, String> {
        let number = match self {
            Number::Whole(number) => {
                match number.checked_mul(scale).filter(|smallest| *smallest <= most) {
                    Some(smallest) => return Ok(smallest),
                    None => *number as f64,
                }
            }
            Number::Fraction(number) => *number,
            Number::Text(text) => return Err(format!("\"{text}\" is text; a number is needed")),
        };
        let scaled = (number * scale as f64).round();
        // `contains` is false for NaN, so it is refused as well.
        if !(0.0..=most as f64).contains(&scaled) {
            return Err(format!("{number} is out of range: 0 to {}", most / scale));
        }
        let smallest = scaled as u64;
        if scale > 1 && smallest >= SURE {
            return Err(format!(
                "{number} is too large for a JSON number to be exact; write it as text"
            ));
        }
        match smallest as f64 / scale as f64 == number {
            true => Ok(smallest),
            false => Err(format!("{number} is finer than one part in {scale}")),
        }
    }

    /// Seconds.
    pub fn span(&self) -> Result<Span, String> {
        let micros = match self {
            Number::Text(text) => return parse_span(text).map_err(|why| why.to_string()),
            number => number.smallest(MICROS_PER_S, MAX_MICROS)?,
        };
        Ok(Span::from_micros(micros).expect("bounded above"))
    }

    /// Seconds since the start.
    /// A time, in seconds since the start.
    pub fn time(&self) -> Result<Time, String> {
        self.span().map(|span| Time::ZERO.saturating_add(span))
    }

    /// An amount in natural units.
    pub fn amount(&self, unit: Unit) -> Result<u64, String> {
        match self {
            Number::Text(text) => parse_amount(text, unit).map_err(|why| why.to_string()),
            number => number.smallest(unit.scale(), MAX_AMOUNT),
        }
    }

    /// A plain number (a weight, a chance) as a whole number of parts, `parts` to one.
    pub fn parts(&self, parts: u64, most: u64) -> Result<u64, String> {
        self.smallest(parts, most)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Number::Whole(number) => serializer.serialize_u64(*number),
            Number::Fraction(number) => serializer.serialize_f64(*number),
            Number::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl From<Exact> for Number {
    fn from(exact: Exact) -> Number {
        let Exact { smallest, scale } = exact;
        match smallest {
            _ if scale == 1 => Number::Whole(smallest),
            0..SURE => Number::Fraction(smallest as f64 / scale as f64),
            _ => {
                let digits = scale.ilog10() as usize;
                Number::Text(format!("{}.{:0digits$}", smallest / scale, smallest % scale))
            }
        }
    }
}

struct Seen;

impl Visitor<'_> for Seen {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of 0 or more, or a number as text")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Number, E> {
        Ok(Number::Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Number, E> {
        Ok(Number::Fraction(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Number, E> {
        Ok(Number::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(Seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost_on_the_way(
            small in 0u64..1 << 40, large in 0..=MAX_AMOUNT, end in 0u64..1000,
        ) {
            for number in [small, large, MAX_AMOUNT - end, SURE - end, SURE + end] {
                let text = |exact: Exact| serde_json::to_string(&exact).expect("a number");
                let back = |text: String| serde_json::from_str::<Number>(&text).expect("it was \
                    written");
                let span = Span::from_micros(number).expect("in range");
                prop_assert_eq!(back(text(Exact::span(span))).span(), Ok(span));
                prop_assert_eq!(Number::from(Exact::span(span)).span(), Ok(span));
                for unit in [Unit::Milli, Unit::Bytes] {
                    let exact = Exact::amount(number, unit);
                    prop_assert_eq!(back(text(exact)).amount(unit), Ok(number));
                    prop_assert_eq!(serde_json::to_string(&Number::from(exact)).expect("a \
                        number"), text(exact));
                }
            }
        }
    }

    #[test]
    fn what_is_not_exact_is_refused() {
        let micros = |text: &str| {
            serde_json::from_str::<Number>(text)
                .map_err(|why| why.to_string())?
                .span()
                .map(Span::as_micros)
        };
        for (text, expected) in [
            ("1.5", Ok(1_500_000)),
            ("937", Ok(937_000_000)),
            ("\"2h\"", Ok(7_200_000_000)),
            ("0.1234567", Err("finer than")),
            ("-1", Err("a number of 0 or more")),
            ("-0.5", Err("out of range")),
            ("1e300", Err("out of range")),
            ("9007199254.74", Err("write it as text")),
            ("\"9007199254.740992\"", Ok(MAX_MICROS)),
            ("true", Err("a number of 0 or more")),
        ] {
            match (micros(text), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{text}: {why}"),
                (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
            }
        }
    }
}
