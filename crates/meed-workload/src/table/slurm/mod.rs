//! What a row of Slurm's accounting needs besides the mapping of its columns: GPUs that are counted
//! by type only and memory that was not allocated (here), rows that are parts of one job
//! ([`part`], [`parts`], [`jobs`]), what QOS they have ([`qos`]), `sacct --json` ([`json`]), and
//! output that is no such table ([`unnamed`]).
//!
//! Sources: Slurm 22.05.8, its program and its source (`src/sacct`,
//! `src/plugins/openapi/dbv0.0.38`, `src/plugins/accounting_storage`).

pub(super) mod jobs;
pub(super) mod json;
pub(super) mod part;
pub(super) mod parts;
pub(super) mod qos;
pub(super) mod unnamed;

use super::record::Record;

/// Columns that hold lists of trackable resources.
const LISTS: [&str; 2] = [ALLOCATED, "ReqTRES"];
/// What a job held; empty where it never started.
const ALLOCATED: &str = "AllocTRES";
/// Memory, in such a list.
const MEMORY: &[u8] = b"mem=";
/// GPUs of all types together, in such a list.
const ALL_GPUS: &[u8] = b"gres/gpu=";
/// GPUs of one type: `gres/gpu:a100=2`.
const GPUS_OF_A_TYPE: &[u8] = b"gres/gpu:";

/// Adds to lists of trackable resources what they leave out.
///
/// - `AccountingStorageTRES=gres/gpu:a100` makes Slurm count the type alone: the number of all GPUs
///   is added. A list with both counts all GPUs under `gres/gpu`, so it stays as it is.
/// - Under `SelectTypeParameters` without memory (`CR_Core`) Slurm allocates none, and `AllocTRES`
///   has no `mem`. Then the job held none: `mem=0` is added, for `ReqMem` and `ReqTRES` tell what
///   was asked for, and of a job that asked for none all memory of the node.
pub(super) struct Lists {
    columns: Vec<usize>,
    allocated: Option<usize>,
}

impl Lists {
    /// For a table with these columns.
    pub(super) fn of(names: &[String]) -> Lists {
        let column = |list: &str| names.iter().position(|name| name == list);
        let columns = LISTS.iter().filter_map(|list| column(list)).collect();
        Lists { columns, allocated: column(ALLOCATED) }
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
        let Some(allocated) = self.allocated else { return };
        let list = record.get(allocated);
        if !list.is_empty() && !entries(list).any(|entry| entry.starts_with(MEMORY)) {
            let list = [list, b",", MEMORY, b"0"].concat();
            record.put(allocated, &list);
        }
    }
}

/// What stands in a list: `cpu=4`.
fn entries(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// GPUs of all types in a list that does not say how many they are together.
fn typed_gpus(list: &[u8]) -> Option<u64> {
    if entries(list).any(|entry| entry.starts_with(ALL_GPUS)) {
        return None;
    }
    let typed = entries(list).filter(|entry| entry.starts_with(GPUS_OF_A_TYPE));
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
