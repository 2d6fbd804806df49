//! Amounts as tables write them: numbers with units behind them, or in the unit of their column.
//!
//! Amounts are rounded to the nearest smallest unit (a thousandth, a byte), but what is more than
//! nothing is never rounded to nothing. `n` and `c` behind a size, as Slurm writes (`4000Mn`),
//! say that it is for each node or each cpu.

use meed::{MAX_AMOUNT, Unit};
use meed_config::decimal::{Decimal, Rounding, parse_short};

use super::times::Wrong;

/// What a bare number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AmountUnit {
    /// In words.
    pub(super) name: &'static str,
    /// Smallest units of one.
    pub(super) scale: u64,
    /// Whether it is one of bytes.
    pub(super) bytes: bool,
}

const fn bytes(name: &'static str, scale: u64) -> AmountUnit {
    AmountUnit { name, scale, bytes: true }
}

/// Whole ones: cores, GPUs.
pub(super) const PIECES: AmountUnit = AmountUnit { name: "pieces", scale: 1000, bytes: false };
/// Bytes.
pub(super) const BYTES: AmountUnit = bytes("bytes", 1);

/// Units by the words that may stand behind a column or at the end of its name.
const UNITS: [(&[&str], AmountUnit); 12] = [
    (&["b", "byte", "bytes"], BYTES),
    (&["kib", "ki_b", "ki"], bytes("KiB", 1 << 10)),
    (&["mib", "mi_b", "mi"], bytes("MiB", 1 << 20)),
    (&["gib", "gi_b", "gi"], bytes("GiB", 1 << 30)),
    (&["tib", "ti_b", "ti"], bytes("TiB", 1 << 40)),
    (&["kb"], bytes("kB", 1000)),
    (&["mb"], bytes("MB", 1_000_000)),
    (&["gb"], bytes("GB", 1_000_000_000)),
    (&["tb"], bytes("TB", 1_000_000_000_000)),
    (
        &["milli", "millis", "millicores"],
        AmountUnit { name: "thousandths", scale: 1, bytes: false },
    ),
    (&["percent", "centi"], AmountUnit { name: "hundredths", scale: 10, bytes: false }),
    (&["pieces", "cores"], PIECES),
];

impl AmountUnit {
    /// The unit that this word names, in whatever case.
    pub(super) fn named(word: &str) -> Option<AmountUnit> {
        let word = word.to_lowercase();
        UNITS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, unit)| *unit)
    }

    /// Words of all units of this kind.
    pub(super) fn words(bytes: bool) -> impl Iterator<Item = &'static str> {
        let of_kind = UNITS.iter().filter(move |(_, unit)| unit.bytes == bytes);
        of_kind.map(move |(words, unit)| if bytes { unit.name } else { words[0] })
    }

    /// What a bare number of a resource counts where nothing is said.
    pub(super) fn usual(unit: Unit) -> AmountUnit {
        match unit {
            Unit::Bytes => BYTES,
            Unit::Milli => PIECES,
        }
    }

    /// Whether amounts of `unit` can be counted in it.
    pub(super) fn suits(self, unit: Unit) -> bool {
        self.bytes == (unit == Unit::Bytes)
    }
}

/// For what an amount is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Per {
    /// As the table has it.
    Row,
    /// For each node.
    Node,
    /// For each cpu.
    Cpu,
}

/// Letters of powers.
const POWERS: [(u8, u32); 5] = [(b'K', 1), (b'M', 2), (b'G', 3), (b'T', 4), (b'P', 5)];

/// An amount in smallest units. With `binary`, `K`, `M`, `G` alone are powers of 1024.
pub(super) fn amount(text: &[u8], unit: AmountUnit, binary: bool) -> Result<(u64, Per), Wrong> {
    // A shortcut for what is most usual.
    if let Some(whole) = parse_short(text) {
        let amount = whole.checked_mul(unit.scale).filter(|amount| *amount <= MAX_AMOUNT);
        return amount.map(|amount| (amount, Per::Row)).ok_or(Wrong::TooLarge);
    }
    let (number, suffix) = Decimal::parse_prefix(text).ok_or(Wrong::Unreadable)?;
    let (scale, per) = scale_of(suffix.trim_ascii(), unit, binary).ok_or(Wrong::Unreadable)?;
    let amount = number.scaled(scale, MAX_AMOUNT, Rounding::Nearest)?;
    // What is more than nothing stays so.
    let nothing = || number.scaled(1 << 50, u64::MAX, Rounding::Nearest) == Ok(0);
    Ok((if amount == 0 && !nothing() { 1 } else { amount }, per))
}

/// What one of this suffix is, in smallest units.
fn scale_of(suffix: &[u8], unit: AmountUnit, binary: bool) -> Option<(u64, Per)> {
    if suffix.is_empty() {
        return Some((unit.scale, Per::Row));
    }
    if !unit.bytes {
        return match suffix {
            b"m" => Some((1, Per::Row)),
            b"%" => Some((10, Per::Row)),
            _ => None,
        };
    }
    let (rest, per) = match suffix {
        [rest @ .., b'n'] => (rest, Per::Node),
        [rest @ .., b'c'] => (rest, Per::Cpu),
        rest => (rest, Per::Row),
    };
    let Some((letter, after)) = rest.split_first() else { return Some((unit.scale, per)) };
    if matches!(rest, b"B" | b"b") {
        return Some((1, per));
    }
    let power = POWERS.iter().find(|(known, _)| *known == letter.to_ascii_uppercase())?.1;
    let base: u64 = match after {
        b"i" | b"iB" => 1024,
        // `8gb` is PBS's way to write 8 GiB.
        b"" | b"b" if binary => 1024,
        b"" | b"b" | b"B" => 1000,
        _ => return None,
    };
    Some((base.pow(power), per))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_with_and_without_units() {
        let mib = AmountUnit::named("MiB").unwrap();
        let milli = AmountUnit::named("milli").unwrap();
        let row = |amount| Ok((amount, Per::Row));
        type Read = Result<(u64, Per), Wrong>;
        let rows: &[(&str, AmountUnit, bool, Read)] = &[
            ("4", PIECES, false, row(4000)),
            ("0.5", PIECES, false, row(500)),
            ("500m", PIECES, false, row(500)),
            ("0.0001", PIECES, false, row(1)),
            ("0.3333333", PIECES, false, row(333)),
            ("0.0", PIECES, false, row(0)),
            ("12000", milli, false, row(12_000)),
            ("50%", PIECES, false, row(500)),
            ("16", mib, false, row(16 << 20)),
            ("16384", BYTES, false, row(16_384)),
            ("16G", mib, false, row(16_000_000_000)),
            ("16G", mib, true, row(16 << 30)),
            ("16GB", mib, true, row(16_000_000_000)),
            ("16gb", BYTES, true, row(16 << 30)),
            ("16gb", BYTES, false, row(16_000_000_000)),
            ("100b", BYTES, true, row(100)),
            ("16Gi", BYTES, false, row(16 << 30)),
            ("1.5GiB", BYTES, false, row(3 << 29)),
            ("4000Mn", BYTES, true, Ok((4000 << 20, Per::Node))),
            ("4Gc", BYTES, true, Ok((4 << 30, Per::Cpu))),
            ("2.5 GB", BYTES, false, row(2_500_000_000)),
            ("-1", PIECES, false, Err(Wrong::Negative)),
            ("4GiB", PIECES, false, Err(Wrong::Unreadable)),
            ("9PiB", BYTES, false, Err(Wrong::TooLarge)),
            ("1e400", BYTES, false, Err(Wrong::TooLarge)),
            ("1,5", PIECES, false, Err(Wrong::Unreadable)),
            ("n", BYTES, false, Err(Wrong::Unreadable)),
            ("0n", BYTES, true, Ok((0, Per::Node))),
        ];
        for (text, unit, binary, expected) in rows {
            assert_eq!(amount(text.as_bytes(), *unit, *binary), *expected, "{text}");
        }
    }
}
