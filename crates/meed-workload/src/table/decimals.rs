//! Numbers with a decimal comma.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::record::Record;

/// What stands between a whole number and its decimals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TableDecimal {
    /// A point: `1.5`.
    #[default]
    Point,
    /// A comma: `1,5`. Points between groups of three digits (`1.234,5`) are passed over.
    Comma,
}

impl TableDecimal {
    /// A number as it is written with a point.
    pub(super) fn point(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            TableDecimal::Comma if text.first().is_some_and(|first| is_of_number(*first)) => {
                with_point(text).map_or(Cow::Borrowed(text), Cow::Owned)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Writes the numbers of these columns with a point.
    #[inline]
    pub(super) fn change(self, record: &mut Record, columns: &BTreeSet<usize>) {
        if self == TableDecimal::Point {
            return;
        }
        for &column in columns {
            if let Cow::Owned(text) = self.point(record.get(column)) {
                record.put(column, &text);
            }
        }
    }
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+')
}

/// A number with a decimal comma, with a unit behind it or none; `None` where it is the same with a
/// point, or is no number.
fn with_point(text: &[u8]) -> Option<Vec<u8>> {
    let sign = usize::from(!text[0].is_ascii_digit());
    let end = text[sign..].iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b','));
    let end = end.map_or(text.len(), |end| sign + end);
    let (whole, decimals) = match text[sign..end].iter().position(|byte| *byte == b',') {
        Some(comma) => (&text[sign..sign + comma], &text[sign + comma..end]),
        None => (&text[sign..end], &text[end..end]),
    };
    let mut groups = whole.split(|byte| *byte == b'.');
    let first = groups.next().unwrap_or_default();
    let is_grouped = !whole.contains(&b'.')
        || (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    let is_plain = !whole.contains(&b'.') && decimals.is_empty();
    if !is_grouped || is_plain || decimals.iter().skip(1).any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    let digits = whole.iter().filter(|byte| **byte != b'.');
    let mut number: Vec<u8> = text[..sign].iter().chain(digits).copied().collect();
    if let Some((_, decimals)) = decimals.split_first() {
        number.push(b'.');
        number.extend_from_slice(decimals);
    }
    number.extend_from_slice(&text[end..]);
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_become_points() {
        for (text, expected) in [
            ("1,5", "1.5"),
            ("-0,25", "-0.25"),
            ("1.234,5 GiB", "1234.5 GiB"),
            ("1.234.567", "1234567"),
            ("12GiB", "12GiB"),
            ("0,5m", "0.5m"),
            // Neither groups of three digits nor decimals: left as they are.
            ("26.10.2025 02:30", "26.10.2025 02:30"),
            ("1,2,3", "1,2,3"),
            ("2025-10-26", "2025-10-26"),
            ("a,b", "a,b"),
            ("", ""),
            ("-", "-"),
        ] {
            let point = TableDecimal::Comma.point(text.as_bytes());
            assert_eq!(std::str::from_utf8(&point).unwrap(), expected, "{text}");
            assert_eq!(&*TableDecimal::Point.point(text.as_bytes()), text.as_bytes());
        }
    }
}
