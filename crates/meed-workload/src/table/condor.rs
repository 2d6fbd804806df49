//! Jobs of HTCondor: how many hosts one holds.
//!
//! What a ClassAd asks for and was given (`RequestCpus`, `CpusProvisioned`) is of one host. A job
//! of the parallel universe holds several at once: `CurrentHosts`, which is 0 again where the job
//! was put back into the queue, else `MinHosts`, for which `machine_count` stands in a submission.
//! They make the column `hosts`, which is 1 for jobs of all other universes.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::columns::Columns;
use super::record::Record;
use crate::error::BadRow;

/// `JobUniverse` of parallel jobs, and of what they were called before (MPI).
const PARALLEL: [&str; 2] = ["11", "8"];

/// A line's values by their names.
pub(super) type Object<'a> = BTreeMap<String, &'a RawValue>;

/// Puts the hosts of a job into a record.
pub(super) fn put(
    columns: &mut Columns,
    record: &mut Record,
    object: &Object<'_>,
) -> Result<(), BadRow> {
    let value = |name: &str| object.get(name).map(|value| value.get());
    let is_parallel = value("JobUniverse").is_some_and(|universe| PARALLEL.contains(&universe));
    let count = |name: &str| value(name)?.parse::<u32>().ok().filter(|count| *count > 0);
    let hosts = match is_parallel {
        true => count("CurrentHosts").or_else(|| count("MinHosts")).unwrap_or(1),
        false => 1,
    };
    columns.put(record, "hosts", hosts.to_string().as_bytes())
}
