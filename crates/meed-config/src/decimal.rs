//! Decimal numbers as text, scaled to whole smallest units without any floating point.
//!
//! Grammar: `[+-] digits [. digits] [e [+-] digits]`, at least one digit before or after the point;
//! at most 22 significant digits. Invariant: the result is exact, or rounded once, half up, where
//! [`Rounding::Nearest`] is asked for. Cost: one pass; plain whole numbers take a short cut.

/// Most significant digits of a number: enough for any exact value, small enough that nothing
/// overflows.
const MAX_DIGITS: u32 = 22;

/// What is wrong with a number; the example of [`Decimal`] reads one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberError {
    /// Not a decimal number.
    NotANumber,
    /// Below zero.
    Negative,
    /// Above the limit.
    TooLarge,
    /// Not a whole number of smallest units.
    TooFine,
}

/// What to do with digits below the smallest unit.
///
/// The example of [`Decimal`] gives both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// They are an error.
    Exact,
    /// Round to the nearest, half up.
    Nearest,
}

/// A decimal number: `mantissa` x 10^`exponent`.
///
/// ```
/// use meed_config::decimal::{Decimal, NumberError, Rounding};
///
/// let (number, rest) = Decimal::parse_prefix(b"1.5 GiB").ok_or("a number")?;
/// assert_eq!((number.scaled(1000, u64::MAX, Rounding::Exact), rest), (Ok(1500), &b" GiB"[..]));
/// assert_eq!(number.scaled(1, 10, Rounding::Nearest), Ok(2));
/// assert_eq!(number.scaled(1, 10, Rounding::Exact), Err(NumberError::TooFine));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Decimal {
    /// The number that `text` begins with, and what follows it.
    pub fn parse_prefix(text: &[u8]) -> Option<(Decimal, &[u8])> {
        let (negative, mut rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let mut number = Decimal { negative, mantissa: 0, exponent: 0 };
        let (mut significant, mut any, mut point) = (0, false, false);
        while let [byte, after @ ..] = rest {
            match byte {
                b'0'..=b'9' => {
                    any = true;
                    significant += u32::from(significant > 0 || *byte != b'0');
                    if significant > MAX_DIGITS {
                        return None;
                    }
                    number.mantissa = number.mantissa * 10 + u128::from(byte - b'0');
                    number.exponent -= i32::from(point);
                }
                b'.' if !point => point = true,
                _ => break,
            }
            rest = after;
        }
        if !any || number.exponent < -1000 {
            return None;
        }
        if let [b'e' | b'E', after @ ..] = rest
            && let Some((exponent, after)) = parse_exponent(after)
        {
            number.exponent += exponent;
            rest = after;
        }
        Some((number, rest))
    }

    /// This number times `scale` (at most 2^50), as a whole number of at most `limit`.
    pub fn scaled(self, scale: u64, limit: u64, rounding: Rounding) -> Result<u64, NumberError> {
        if self.mantissa == 0 {
            return Ok(0);
        }
        if self.negative {
            return Err(NumberError::Negative);
        }
        // At most 10^22 x 2^50: fits.
        let product = self.mantissa * u128::from(scale);
        let power = 10u128.checked_pow(self.exponent.unsigned_abs());
        let whole = if self.exponent >= 0 {
            power.and_then(|power| product.checked_mul(power)).ok_or(NumberError::TooLarge)?
        } else {
            // Beyond the range of u128 the power is larger than any product: nothing is left.
            let (quotient, remainder) = power.map_or((0, product), |p| (product / p, product % p));
            match rounding {
                Rounding::Exact if remainder > 0 => return Err(NumberError::TooFine),
                Rounding::Exact => quotient,
                Rounding::Nearest => {
                    quotient + u128::from(power.is_some_and(|power| remainder >= power - remainder))
                }
            }
        };
        match u64::try_from(whole) {
            Ok(whole) if whole <= limit => Ok(whole),
            _ => Err(NumberError::TooLarge),
        }
    }
}

fn parse_exponent(text: &[u8]) -> Option<(i32, &[u8])> {
    let (sign, mut rest) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    if !rest.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let mut exponent = 0;
    while let [digit @ b'0'..=b'9', after @ ..] = rest {
        // Saturates: a thousand is as far out of range as anything above.
        exponent = (exponent * 10 + i32::from(digit - b'0')).min(1000);
        rest = after;
    }
    Some((sign * exponent, rest))
}

/// All of `text` as a number, times `scale`, as a whole number of at most `limit`. Readers of
/// traces spend much of their time here: it is built as they are.
#[inline]
pub fn parse_scaled(
    text: &[u8],
    scale: u64,
    limit: u64,
    rounding: Rounding,
) -> Result<u64, NumberError> {
    if let Some(whole) = parse_short(text)
        && let Some(scaled) = whole.checked_mul(scale)
    {
        return if scaled <= limit { Ok(scaled) } else { Err(NumberError::TooLarge) };
    }
    parse_long(text, scale, limit, rounding)
}

fn parse_long(text: &[u8], scale: u64, limit: u64, rounding: Rounding) -> Result<u64, NumberError> {
    match Decimal::parse_prefix(text) {
        Some((number, [])) => number.scaled(scale, limit, rounding),
        _ => Err(NumberError::NotANumber),
    }
}

/// A whole number of one to eighteen digits and nothing else: by far the most common field.
#[inline]
pub fn parse_short(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| match byte {
        b'0'..=b'9' => Some(number * 10 + u64::from(byte - b'0')),
        _ => None,
    })
}

/// `amount` / `scale` in decimal digits, exact, without a needless point or trailing zeros; `scale`
/// is a power of 10.
pub fn write_scaled(out: &mut impl std::fmt::Write, amount: u64, scale: u64) -> std::fmt::Result {
    write!(out, "{}", amount / scale)?;
    let (mut fraction, mut digits) = (amount % scale, scale.ilog10() as usize);
    if fraction == 0 {
        return Ok(());
    }
    while fraction.is_multiple_of(10) {
        (fraction, digits) = (fraction / 10, digits - 1);
    }
    write!(out, ".{fraction:0digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use NumberError::{Negative, NotANumber, TooFine, TooLarge};

    #[test]
    fn numbers_scale_exactly_or_say_why_not() {
        const LIMIT: u64 = 1 << 53;
        type Parsed = Result<u64, NumberError>;
        let rows: &[(&str, Parsed, Parsed)] = &[
            // text, exact, nearest; in millionths
            ("0", Ok(0), Ok(0)),
            ("-0", Ok(0), Ok(0)),
            ("-0.0e5", Ok(0), Ok(0)),
            ("12", Ok(12_000_000), Ok(12_000_000)),
            ("+12.50", Ok(12_500_000), Ok(12_500_000)),
            (".5", Ok(500_000), Ok(500_000)),
            ("5.", Ok(5_000_000), Ok(5_000_000)),
            ("0.000001", Ok(1), Ok(1)),
            ("0.0000010000", Ok(1), Ok(1)),
            ("0.0000004", Err(TooFine), Ok(0)),
            ("0.0000005", Err(TooFine), Ok(1)),
            ("0.30000000000000004", Err(TooFine), Ok(300_000)),
            ("1e-6", Ok(1), Ok(1)),
            ("1E+3", Ok(1_000_000_000), Ok(1_000_000_000)),
            ("1e-7", Err(TooFine), Ok(0)),
            ("1e-999999999999", Err(TooFine), Ok(0)),
            ("0e999999999999", Ok(0), Ok(0)),
            ("1e999999999999", Err(TooLarge), Err(TooLarge)),
            ("9007199254.740992", Ok(LIMIT), Ok(LIMIT)),
            ("9007199254.740993", Err(TooLarge), Err(TooLarge)),
            ("9007199254.7409924", Err(TooFine), Ok(LIMIT)),
            ("9007199255", Err(TooLarge), Err(TooLarge)),
            ("9999999999999999999999", Err(TooLarge), Err(TooLarge)),
            ("12345678901234567890123", Err(NotANumber), Err(NotANumber)),
            ("000000000000000000000000000000000007", Ok(7_000_000), Ok(7_000_000)),
            ("-1", Err(Negative), Err(Negative)),
            ("-1e-9", Err(Negative), Err(Negative)),
            ("", Err(NotANumber), Err(NotANumber)),
            ("-", Err(NotANumber), Err(NotANumber)),
            (".", Err(NotANumber), Err(NotANumber)),
            ("1.2.3", Err(NotANumber), Err(NotANumber)),
            ("1e", Err(NotANumber), Err(NotANumber)),
            ("e5", Err(NotANumber), Err(NotANumber)),
            ("0x10", Err(NotANumber), Err(NotANumber)),
            ("NaN", Err(NotANumber), Err(NotANumber)),
            ("inf", Err(NotANumber), Err(NotANumber)),
            (" 1", Err(NotANumber), Err(NotANumber)),
            ("1,5", Err(NotANumber), Err(NotANumber)),
            ("\u{661}", Err(NotANumber), Err(NotANumber)),
        ];
        for (text, exact, nearest) in rows {
            let parse = |rounding| parse_scaled(text.as_bytes(), 1_000_000, LIMIT, rounding);
            assert_eq!(parse(Rounding::Exact), *exact, "{text} exactly");
            assert_eq!(parse(Rounding::Nearest), *nearest, "{text} to the nearest");
        }
    }

    #[test]
    fn scaled_numbers_are_written_shortly() {
        let rows = [
            (0, "0"),
            (1, "0.000001"),
            (1_500_000, "1.5"),
            (12_000_000, "12"),
            (100_000_010, "100.00001"),
        ];
        for (amount, text) in rows {
            let mut out = String::new();
            write_scaled(&mut out, amount, 1_000_000).unwrap();
            assert_eq!(out, text);
        }
    }
}
