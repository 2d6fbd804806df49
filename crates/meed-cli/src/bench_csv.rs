//! The row of `meed bench` that reads a table: made in memory, so that no disk is measured.

#![expect(clippy::disallowed_methods, reason = "a measurement reads a clock")]

use std::fmt::Write;
use std::time::Instant;

use meed::{ResourceKinds, Unit};
use meed_workload::generate::Stream;
use meed_workload::table::{TableAssumptions, TableSource};
use meed_workload::{JobSource, OnBadLine, Origin};

use crate::exit::Failure;

pub(crate) const NAME: &str = "a CSV of 1,000,000 jobs of 300 tenants, read";
/// What stands where other rows have a policy.
pub(crate) const WHAT: &str = "csv";
const ROWS: u32 = 1_000_000;
const TENANTS: u64 = 300;

/// Rows, and the seconds that reading them took: every value found, checked and exact.
pub(crate) fn measure(shrink: u32) -> Result<(u64, f64), Failure> {
    let origin = Origin::bytes("bench.csv", table(ROWS / shrink).into_bytes());
    let kinds = ResourceKinds::new(vec![("gpus".to_owned(), Unit::Milli)]).expect("a named kind");
    let started = Instant::now();
    let assumptions = TableAssumptions::default();
    let mut source = TableSource::open(&origin, &kinds, &assumptions, OnBadLine::Stop)?;
    let mut jobs = 0;
    while source.next_job()?.is_some() {
        jobs += 1;
    }
    Ok((jobs, started.elapsed().as_secs_f64()))
}

fn table(rows: u32) -> String {
    let mut random = Stream::new(1, NAME);
    let mut text = String::from("job_id,user,submit_time,duration_s,gpus\n");
    let mut submit = 0;
    for job in 0..rows {
        submit += random.below(4);
        let (tenant, seconds) = (random.below(TENANTS), 10 + random.below(90_000));
        let gpus = 1 << random.below(4);
        let _ = writeln!(text, "j{job},u{tenant},{submit},{seconds},{gpus}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        assert_eq!(measure(1000).expect("a table").0, 1000);
    }
}
