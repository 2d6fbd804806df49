//! How many jobs have which QOS, which nothing here follows: said, so that nobody takes it for
//! followed.

use std::collections::BTreeMap;

use meed_config::text::clean;

use super::super::record::Record;
use crate::partitions::counted;

/// Counts jobs by their QOS.
pub(in super::super) struct Qos {
    column: Option<usize>,
    counts: BTreeMap<Vec<u8>, u64>,
}

impl Qos {
    /// For a table with these columns, of which some make tenants.
    pub(in super::super) fn of(names: &[String], mut tenant: impl Iterator<Item = usize>) -> Qos {
        let column = names.iter().position(|name| name == "QOS");
        let is_tenant = column.is_some_and(|column| tenant.any(|other| other == column));
        Qos { column: column.filter(|_| !is_tenant), counts: BTreeMap::new() }
    }

    /// Counts a job.
    pub(in super::super) fn note(&mut self, record: &Record) {
        let Some(column) = self.column else { return };
        let name = record.get(column);
        match self.counts.get_mut(name) {
            Some(count) => *count += 1,
            None if name.is_empty() => {}
            None => drop(self.counts.insert(name.to_vec(), 1)),
        }
    }

    /// What is said where there is more than one.
    pub(in super::super) fn words(&self) -> Option<String> {
        if self.counts.len() < 2 {
            return None;
        }
        let name = |name: &[u8]| clean(&String::from_utf8_lossy(name)).into_owned();
        let (jobs, shown) =
            counted(&self.counts.iter().map(|(bytes, count)| (name(bytes), *count)).collect());
        Some(format!(
            "QOS of {jobs} jobs is not used: neither its priority nor its limits ({shown}); queues \
             = \"qos\" makes tenants of them"
        ))
    }
}
