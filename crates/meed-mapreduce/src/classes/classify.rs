//! CPU-bound or I/O-bound: by the data that a node full of such tasks would move (JAS, Eq. 1 and
//! Algorithm 1).
//!
//! > throughput = n * (MID + MOD + SOD + SID) / MTCT;  CPU-bound if throughput < DIOR
//!
//! n: map tasks that the node runs at once; DIOR: what a disk moves in a second. Exact: compared
//! without division.

use super::{Class, TaskReport};
use meed::time::MICROS_PER_S;

/// The class of the job of a map task that ran among `at_once` on its node. A task without duration
/// moves data at once: it is I/O-bound.
pub fn class(report: &TaskReport, at_once: u32, disk_bytes_per_s: u64) -> Class {
    let bytes = [
        report.map_input_bytes,
        report.map_output_bytes,
        report.shuffle_out_bytes,
        report.shuffle_in_bytes,
    ];
    let moved: u128 = bytes.into_iter().map(u128::from).sum::<u128>() * u128::from(at_once);
    let disk = u128::from(disk_bytes_per_s) * u128::from(report.lasted.as_micros());
    if moved * u128::from(MICROS_PER_S) < disk { Class::Cpu } else { Class::Io }
}
