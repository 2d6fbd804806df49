//! Compact JSON: floats with so many significant digits and no more characters than that takes.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Writes floats with this many significant digits; those that are not finite become `null`, as
/// always in JSON.
pub(crate) struct Rounded(pub(crate) usize);

impl Formatter for Rounded {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(short(value, self.0).as_bytes())
    }
}

/// The float next to `value` that so many significant digits can say.
pub(crate) fn round(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// The shortest text for a finite float rounded to so many significant digits.
fn short(value: f64, digits: usize) -> String {
    let rounded = round(value, digits);
    if rounded == 0.0 {
        return "0".into();
    }
    let (plain, exponent) = (rounded.to_string(), format!("{rounded:e}"));
    if exponent.len() < plain.len() { exponent } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_short_and_close() {
        let texts = [1.0, -0.0, 0.123_456_789, 1_234_567.0, 17_179_869_184.0, 1e-12, -3.5]
            .map(|v| short(v, 5));
        assert_eq!(texts, ["1", "0", "0.12346", "1234600", "1.718e10", "1e-12", "-3.5"]);
        assert_eq!(short(1_234_567.25, 10), "1234567.25");
    }
}
