//! A series as so many base-64 digits a value: a part of the way from its lowest to its highest. A
//! value is off by at most half of a part: with three digits a 524,284th of that way. 0 stands for
//! no value.

use serde::Serialize;

use super::digits::pack_all;

/// See the module.
#[derive(Serialize)]
pub(super) struct Packed {
    low: f64,
    high: f64,
    width: usize,
    packed: String,
}

impl Packed {
    /// These values, with so many digits each.
    pub(super) fn of(values: impl Iterator<Item = Option<f64>>, width: usize) -> Packed {
        let values: Vec<Option<f64>> = values.map(|v| v.filter(|v| v.is_finite())).collect();
        let known = || values.iter().flatten().copied();
        // As they are written: a reader knows no others.
        let low = super::written(known().fold(f64::INFINITY, f64::min));
        let high = super::written(known().fold(f64::NEG_INFINITY, f64::max));
        let most = (64u64.pow(width as u32) - 2) as f64;
        let part = |v: f64| match high > low {
            // Rounding may move an end past its values.
            true => 1 + ((v - low) / (high - low) * most).round().clamp(0.0, most) as u64,
            false => 1,
        };
        let parts: Vec<u64> = values.iter().map(|v| v.map_or(0, part)).collect();
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        Packed { low, high, width, packed: pack_all(&parts, width) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads digit by digit, as the page does.
    fn read(packed: &Packed) -> Vec<Option<f64>> {
        const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let most = (64u64.pow(packed.width as u32) - 2) as f64;
        let digits: Vec<char> = packed.packed.chars().collect();
        let value = |chunk: &[char]| {
            let part = chunk.iter().fold(0, |sum, c| sum * 64 + DIGITS.find(*c).unwrap());
            let way = (packed.high - packed.low) * (part as f64 - 1.0) / most;
            (part > 0).then_some(packed.low + way)
        };
        digits.chunks(packed.width).map(value).collect()
    }

    #[test]
    fn values_come_back_within_half_a_part() {
        let values =
            [Some(-120_000.0), None, Some(0.0), Some(17.25), Some(95_000.0), Some(f64::NAN)];
        for (width, far) in [(3, 0.5), (4, 0.01)] {
            let back = read(&Packed::of(values.iter().copied(), width));
            assert_eq!(back.len(), values.len());
            for (a, b) in values.iter().map(|v| v.filter(|v| v.is_finite())).zip(back) {
                assert_eq!(a.is_some(), b.is_some());
                assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < far, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn series_without_a_range_or_without_values() {
        assert_eq!(read(&Packed::of([Some(3.0), None].into_iter(), 3)), [Some(3.0), None]);
        assert_eq!(read(&Packed::of([None, None].into_iter(), 3)), [None, None]);
        assert!(read(&Packed::of(std::iter::empty(), 3)).is_empty());
    }
}
