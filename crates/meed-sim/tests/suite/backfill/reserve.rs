//! The simulator with `when_blocked = "reserve"` backfills as the textbook does: with one
//! reservation EASY, with all the conservative way.

use proptest::prelude::*;

use super::engine::{pool, starts};
use super::promises::workload;
use super::twins::conservative::{Compression, conservative};
use super::twins::easy::easy;
use super::wait::tables;

/// The engine compresses the schedule whenever something has ended (docs/reservations.md).
const COMPRESSION: Compression = Compression::EveryEnd;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn one_reservation_is_easy((processors, jobs) in workload()) {
        prop_assume!(!jobs.is_empty());
        let policy = "when_blocked = \"reserve\"\nreservations = 1";
        let text = pool(processors, policy) + &tables(&jobs, true);
        prop_assert_eq!(starts(&text), easy(processors, &jobs).starts);
    }

    #[test]
    fn all_reservations_are_conservative((processors, jobs) in workload()) {
        prop_assume!(!jobs.is_empty());
        let policy = "when_blocked = \"reserve\"\nreservations = \"all\"";
        let text = pool(processors, policy) + &tables(&jobs, true);
        let twin = conservative(processors, &jobs, COMPRESSION);
        prop_assert_eq!(starts(&text), twin.starts);
    }
}
