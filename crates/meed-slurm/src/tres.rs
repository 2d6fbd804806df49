//! Slurm's TRES text, `cpu=2,mem=400M,node=1,billing=2,gres/gpu=1`, as amounts of the engine.

use meed::{ResourceKinds, Resources, Unit};

/// What the ledger counts, in this order: `cpu`, `memory`, `gpu`, `billing`.
///
/// `billing` is what Slurm itself charges: TRES by the partition's `TRESBillingWeights`.
pub(crate) fn kinds() -> ResourceKinds {
    let kinds = [
        ("cpu", Unit::Milli),
        ("memory", Unit::Bytes),
        ("gpu", Unit::Milli),
        ("billing", Unit::Milli),
    ];
    let named = kinds.map(|(name, unit)| (name.to_owned(), unit));
    ResourceKinds::new(named.to_vec()).expect("four kinds with different names")
}

/// Reads TRES text; what is not named is nothing. A type that is not counted is passed over.
///
/// GPUs: `gres/gpu` where Slurm tracks it, else the sum of the types (`gres/gpu:a100`).
///
/// # Errors
///
/// A value that is no number, in a sentence.
pub(crate) fn parse_tres(text: &str) -> Result<Resources, String> {
    let (mut cpu, mut memory, mut gpu, mut typed, mut billing) = (0, 0, None, 0u64, 0);
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` in TRES `{text}` is not of the form name=value"))?;
        let wrong = || format!("`{part}` in TRES `{text}`: the value is not a number");
        let count = || plain(value).ok_or_else(wrong);
        match name {
            "cpu" => cpu = count()?,
            "mem" => memory = bytes(value).ok_or_else(wrong)?,
            "billing" => billing = count()?,
            "gres/gpu" => gpu = Some(count()?),
            _ if name.starts_with("gres/gpu:") => typed = typed.saturating_add(count()?),
            _ => {}
        }
    }
    let milli = |count: u64| count.saturating_mul(1000).min(meed::MAX_AMOUNT);
    let memory = memory.min(meed::MAX_AMOUNT);
    Ok(Resources::new(&[milli(cpu), memory, milli(gpu.unwrap_or(typed)), milli(billing)]))
}

fn plain(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// `400M`, `1.50G`, `8000` (mebibytes), `0`: in bytes, rounded down.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = match text.char_indices().find(|(_, c)| c.is_ascii_alphabetic()) {
        Some((place, c)) if place + 1 == text.len() => (&text[..place], c.to_ascii_uppercase()),
        Some(_) => return None,
        None => (text, 'M'),
    };
    let shift = match unit {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        'P' => 50,
        _ => return None,
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole: u128 = whole.parse().ok()?;
    let digits = u32::try_from(part.len()).ok().filter(|digits| *digits <= 9)?;
    let part: u128 = if part.is_empty() { 0 } else { part.parse().ok()? };
    let bytes = (whole << shift) + (part << shift) / 10u128.pow(digits);
    u64::try_from(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_slurm_prints_them() {
        for (text, amounts) in [
            ("cpu=2,mem=400M,node=1,billing=2", [2000, 400 << 20, 0, 2000]),
            ("billing=7,cpu=2,gres/gpu:a100=1,gres/gpu=3,mem=1.50G", [2000, 3 << 29, 3000, 7000]),
            ("cpu=1,gres/gpu:a100=1,gres/gpu:v100=2", [1000, 0, 3000, 0]),
            ("cpu=8,mem=8000", [8000, 8000 << 20, 0, 0]),
            ("", [0, 0, 0, 0]),
        ] {
            assert_eq!(parse_tres(text).unwrap(), Resources::new(&amounts), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_named() {
        for text in ["cpu=two", "mem=4Q", "mem=1.5GB", "cpu"] {
            assert!(parse_tres(text).unwrap_err().contains(text), "{text}");
        }
    }
}
