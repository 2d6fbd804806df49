//! What a row of Slurm's accounting needs besides the mapping of its columns: GPUs that are counted
//! by type only (here), rows that are parts of one job ([`parts`], [`jobs`]), what QOS they have
//! ([`qos`]), `sacct --json` ([`json`]), and output that is no such table ([`unnamed`]).
//!
//! Sources: Slurm 22.05.8, its program and its source (`src/sacct`,
//! `src/plugins/openapi/dbv0.0.38`, `src/plugins/accounting_storage`).

pub(super) mod jobs;
pub(super) mod json;
pub(super) mod parts;
pub(super) mod qos;
pub(super) mod unnamed;

use super::record::Record;

/// Columns that hold lists of trackable resources.
const LISTS: [&str; 2] = ["AllocTRES", "ReqTRES"];
/// GPUs of all types together, in such a list.
const ALL_GPUS: &[u8] = b"gres/gpu=";
/// GPUs of one type: `gres/gpu:a100=2`.
const GPUS_OF_A_TYPE: &[u8] = b"gres/gpu:";

/// Adds the number of all GPUs to lists that only have the numbers of each type.
///
/// `AccountingStorageTRES=gres/gpu:a100` makes Slurm count the type alone. A list with both counts
/// all GPUs under `gres/gpu`, so it stays as it is.
pub(super) struct GpuTotals {
    columns: Vec<usize>,
}

impl GpuTotals {
    /// For a table with these columns.
    pub(super) fn of(names: &[String]) -> GpuTotals {
        let column = |list: &&str| names.iter().position(|name| name == *list);
        GpuTotals { columns: LISTS.iter().filter_map(column).collect() }
    }

    /// Completes the lists of a record. Cost: a look at each list.
    pub(super) fn complete(&self, record: &mut Record) {
        for &column in &self.columns {
            if let Some(total) = typed_gpus(record.get(column)) {
                let total = total.to_string();
                let list = [record.get(column), b",", ALL_GPUS, total.as_bytes()].concat();
                record.put(column, &list);
            }
        }
    }
}

/// GPUs of all types in a list that does not say how many they are together.
fn typed_gpus(list: &[u8]) -> Option<u64> {
    let entries = || list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    if entries().any(|entry| entry.starts_with(ALL_GPUS)) {
        return None;
    }
    let typed = entries().filter(|entry| entry.starts_with(GPUS_OF_A_TYPE));
    let count = |entry: &[u8]| {
        let at = entry.iter().position(|byte| *byte == b'=')?;
        std::str::from_utf8(&entry[at + 1..]).ok()?.parse::<u64>().ok()
    };
    let counts: Vec<u64> = typed.map(count).collect::<Option<_>>()?;
    let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count))?;
    (!counts.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_added_up_where_no_total_stands() {
        for (list, expected) in [
            ("cpu=8,gres/gpu:h100=4,mem=1T", Some(4)),
            ("cpu=8,gres/gpu:a100=1,gres/gpu:v100=2", Some(3)),
            ("cpu=8,gres/gpu:a100=2,gres/gpu=2", None),
            ("cpu=8,gres/gpu=2,gres/gpu:a100=2", None),
            ("cpu=8,gres/gpumem=5,gres/shard=2", None),
            ("cpu=8,gres/gpu:a100=many", None),
            ("gres/gpu:a=18446744073709551615,gres/gpu:b=1", None),
            ("", None),
        ] {
            assert_eq!(typed_gpus(list.as_bytes()), expected, "{list}");
        }
    }
}
