//! Numbers for people: units by magnitude, equal decimals within a column, digits that mean
//! something.

use crate::tenants::{quantile, sorted};

/// How the values of a column are shown: divided by `divisor`, with `decimals` digits after the
/// point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Name of the unit, empty for a plain ratio.
    pub(crate) unit: String,
    divisor: f64,
    decimals: usize,
}

impl Scale {
    /// A plain ratio.
    pub(crate) fn ratio(decimals: usize) -> Self {
        Self { unit: String::new(), divisor: 1.0, decimals }
    }

    /// A fraction of one, in percent.
    pub(crate) fn percent() -> Self {
        Self { unit: "%".into(), divisor: 0.01, decimals: 1 }
    }

    /// Seconds, shown in the unit that fits most of them.
    pub(crate) fn time(seconds: impl Iterator<Item = Option<f64>>) -> Self {
        let size = typical(seconds);
        let (unit, divisor) = if size < 300.0 {
            ("s", 1.0)
        } else if size < 2.0 * 3600.0 {
            ("min", 60.0)
        } else if size < 3.0 * 86_400.0 {
            ("h", 3600.0)
        } else {
            ("days", 86_400.0)
        };
        Self { unit: unit.into(), divisor, decimals: decimals(size / divisor) }
    }

    /// Amounts of a resource over time (resource-seconds).
    pub(crate) fn usage(resource: &str, amounts: impl Iterator<Item = Option<f64>>) -> Self {
        let amount = typical(amounts);
        let (name, size) = match resource {
            "cpu" => ("core", 1.0),
            "memory" | "mem" if amount >= (1u64 << 30) as f64 => ("GiB", (1u64 << 30) as f64),
            "memory" | "mem" => ("byte", 1.0),
            other => (other, 1.0),
        };
        let (suffix, seconds) = if amount / size < 3600.0 { ("s", 1.0) } else { ("h", 3600.0) };
        let divisor = size * seconds;
        Self { unit: format!("{name}-{suffix}"), divisor, decimals: decimals(amount / divisor) }
    }

    /// The value as text; `-` where there is none.
    pub(crate) fn show(&self, value: Option<f64>) -> String {
        let Some(value) = value.filter(|v| v.is_finite()) else { return "-".into() };
        let text = format!("{:.*}", self.decimals, value / self.divisor);
        // A loss of 0.0001 is shown as no loss, not as "-0.000".
        if text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
            return text.trim_start_matches('-').into();
        }
        group_thousands(&text)
    }
}

/// The median magnitude of the values that are not zero.
fn typical(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let sizes = sorted(values.map(|v| v.map(f64::abs).filter(|v| *v > 0.0)));
    quantile(&sizes, 0.5).unwrap_or(0.0)
}

fn decimals(typical: f64) -> usize {
    match typical {
        m if m >= 1000.0 => 0,
        m if m >= 10.0 => 1,
        _ => 2,
    }
}

/// `-1234567.8` becomes `-1,234,567.8`.
fn group_thousands(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |at| digits.split_at(at));
    if whole.len() < 5 {
        return text.into();
    }
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

/// A count, grouped like the other numbers.
pub(crate) fn count(n: u64) -> String {
    group_thousands(&n.to_string())
}

/// Significant digits of a number on its own.
const DIGITS: i32 = 4;

/// The numbers of a column: all with the same decimals when their magnitudes are alike, otherwise
/// each for itself.
pub(crate) fn column(values: &[f64]) -> Vec<String> {
    let each = || values.iter().map(|v| significant(*v)).collect();
    let sizes: Vec<i32> =
        values.iter().filter(|v| v.is_finite() && **v != 0.0).map(|v| exponent(*v)).collect();
    let whole = values.iter().all(|v| !v.is_finite() || v.fract() == 0.0);
    let (Some(low), Some(high)) = (sizes.iter().min(), sizes.iter().max()) else { return each() };
    if whole || high - low > 3 || *low < -4 || *high > 14 {
        return each();
    }
    // Four digits of the largest, two of the smallest; zeros that all of them end with say nothing.
    let most = (DIGITS - 1 - high).max(1 - low).max(0) as usize;
    let at = |decimals: usize| {
        values.iter().map(move |v| with_decimals(*v, decimals)).collect::<Vec<_>>()
    };
    let full = at(most);
    let zeros = full
        .iter()
        .filter(|t| t.contains('.'))
        .map(|t| t.len() - t.trim_end_matches('0').len())
        .min();
    at(most - zeros.unwrap_or(0).min(most))
}

/// A number with about four significant digits; a whole number with all of them.
pub(crate) fn significant(value: f64) -> String {
    let size = if value == 0.0 || !value.is_finite() { 0 } else { exponent(value) };
    if !(-4..15).contains(&size) {
        let text = format!("{value:.*e}", DIGITS as usize - 1);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let decimals = if value.fract() == 0.0 { 0 } else { (DIGITS - 1 - size).max(0) };
    with_decimals(value, decimals as usize)
}

fn with_decimals(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "-".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "-∞".into() };
    }
    let text = format!("{value:.decimals$}");
    let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    group_thousands(if zero { text.trim_start_matches('-') } else { &text })
}

/// The power of ten of the first digit, after rounding to the digits that are shown.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:.*e}", DIGITS as usize - 1);
    text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_typical_value() {
        let time = |s: f64| Scale::time([Some(0.0), None, Some(s)].into_iter());
        assert_eq!(time(90.0).show(Some(90.0)), "90.0");
        assert_eq!(
            (time(600.0).unit.as_str(), time(600.0).show(Some(90.0))),
            ("min", "1.5".into())
        );
        assert_eq!(time(10_000.0).unit, "h");
        assert_eq!(time(1e6).unit, "days");
        let use_ = |r: &str, v: f64| Scale::usage(r, [Some(-v)].into_iter());
        assert_eq!(
            (use_("cpu", 10.0).unit.as_str(), use_("cpu", 7200.0).unit.as_str()),
            ("core-s", "core-h")
        );
        assert_eq!(use_("memory", 1e14).unit, "GiB-h");
        assert_eq!(use_("gpu", 7200.0).unit, "gpu-h");
    }

    #[test]
    fn no_negative_zero_and_no_missing_digits() {
        assert_eq!(Scale::ratio(3).show(Some(-0.0001)), "0.000");
        assert_eq!(Scale::ratio(3).show(Some(-1.25)), "-1.250");
        assert_eq!(Scale::ratio(0).show(Some(-1_234_567.0)), "-1,234,567");
        assert_eq!(Scale::ratio(1).show(Some(f64::NAN)), "-");
        assert_eq!(Scale::percent().show(Some(0.7345)), "73.5");
        assert_eq!(
            (count(999), count(1234), count(12_345)),
            ("999".into(), "1234".into(), "12,345".into())
        );
    }

    #[test]
    fn numbers_on_their_own_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.123_456, "0.1235"),
            (9999.96, "10,000"),
            (12_345.678, "12,346"),
            (123_456_789.0, "123,456,789"),
            (-1234.5, "-1234"),
            (0.000_012_3, "1.23e-5"),
            (-6.022e23, "-6.022e23"),
            (1e300, "1e300"),
            (f64::NAN, "-"),
            (f64::NEG_INFINITY, "-∞"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value), expected, "{value:?}");
        }
    }

    #[test]
    fn columns_share_their_decimals_when_magnitudes_are_alike() {
        let check =
            |values: &[f64], expected: &[&str]| assert_eq!(column(values), expected, "{values:?}");
        check(&[1.0, 20.0, 12_345.0], &["1", "20", "12,345"]);
        check(&[0.5, 0.25, 1.0], &["0.50", "0.25", "1.00"]);
        check(&[0.012_34, 1.234_56], &["0.012", "1.235"]);
        check(&[950.12, 1.234], &["950.1", "1.2"]);
        check(&[-0.000_01, 12_345.6], &["-1e-5", "12,346"]);
        check(&[f64::NAN, 0.5], &["-", "0.5"]);
        check(&[0.0, 0.0], &["0", "0"]);
        check(&[], &[]);
    }
}
