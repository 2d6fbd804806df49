//! Numbers for people: units by magnitude, equal decimals within a column, digits that mean something.

use crate::tenants::{quantile, sorted};

/// How the values of a column are shown: divided by `divisor`, with `decimals` digits after the point.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_the_typical_value() {
        let time = |s: f64| Scale::time([Some(0.0), None, Some(s)].into_iter());
        assert_eq!(time(90.0).show(Some(90.0)), "90.0");
        assert_eq!((time(600.0).unit.as_str(), time(600.0).show(Some(90.0))), ("min", "1.5".into()));
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
        assert_eq!((count(999), count(1234), count(12_345)), ("999".into(), "1234".into(), "12,345".into()));
    }
}
