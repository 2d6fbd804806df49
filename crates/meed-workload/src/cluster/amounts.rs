//! Amounts as the programs of clusters print them.

use meed::{MAX_AMOUNT, Unit};
use meed_config::decimal::{Rounding, parse_scaled};

/// Whole or decimal pieces, in thousandths.
pub(super) fn pieces(text: &str) -> Option<u64> {
    parse_scaled(text.trim().as_bytes(), Unit::Milli.scale(), MAX_AMOUNT, Rounding::Nearest).ok()
}

/// A size: a number and a letter of a power of 1024 (`15.9G`, `263848056kb`, `64GiB`). `bare` is
/// what one without a letter counts, in bytes.
pub(super) fn size(text: &str, bare: u64) -> Option<u64> {
    let text = text.trim();
    let ends = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let (number, unit) = text.split_at(ends.unwrap_or(text.len()));
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let unit = unit.strip_suffix('i').unwrap_or(unit);
    let scale = match (unit, text.ends_with(['b', 'B'])) {
        ("", false) => bare,
        ("", true) => 1,
        ("k", _) => 1 << 10,
        ("m", _) => 1 << 20,
        ("g", _) => 1 << 30,
        ("t", _) => 1 << 40,
        ("p", _) => 1 << 50,
        _ => return None,
    };
    parse_scaled(number.as_bytes(), scale, MAX_AMOUNT, Rounding::Nearest).ok()
}

/// GPUs in a list of generic resources: `gpu:a100:4(S:0-1),gpu:2,shard:8`, in thousandths; 0 in a
/// list without any.
pub(super) fn gpus(list: &str) -> Option<u64> {
    // Sockets in brackets may have commas.
    let mut depth = 0;
    let plain: String = list
        .chars()
        .filter(|letter| {
            match letter {
                '(' => depth += 1,
                ')' if depth > 0 => {
                    depth -= 1;
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect();
    let mut all: u64 = 0;
    for entry in plain.split(',').map(str::trim) {
        let mut parts = entry.split(':');
        if parts.next() != Some("gpu") {
            continue;
        }
        let count = match parts.next_back() {
            // A type alone is one.
            Some(last) if last.bytes().all(|byte| byte.is_ascii_digit()) => pieces(last)?,
            _ => Unit::Milli.scale(),
        };
        all = all.checked_add(count)?;
    }
    (all <= MAX_AMOUNT).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_letters_of_1024() {
        for (text, bytes) in [
            ("15.9G", Some(17_072_495_002)),
            ("263848056kb", Some(270_180_409_344)),
            ("64GiB", Some(64 << 30)),
            ("8000", Some(8000 << 20)),
            ("1T", Some(1 << 40)),
            ("7b", Some(7)),
            ("-", None),
            ("12x", None),
            ("", None),
        ] {
            assert_eq!(size(text, 1 << 20), bytes, "{text}");
        }
    }

    #[test]
    fn gpus_of_all_types_are_added_up() {
        for (list, gpus_there) in [
            ("gpu:a100:4(S:0-1)", Some(4000)),
            ("gpu:a100:2(S:0,1),gpu:v100:2,shard:8", Some(4000)),
            ("gpu:8", Some(8000)),
            ("gpu", Some(1000)),
            ("gpu:tesla", Some(1000)),
            ("(null)", Some(0)),
            ("shard:8", Some(0)),
            ("gpu:99999999999999999999", None),
        ] {
            assert_eq!(gpus(list), gpus_there, "{list}");
        }
    }
}
