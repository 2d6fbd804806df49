//! The simulator with `when_blocked = "wait"` is first come, first served.

use std::fmt::Write;

use proptest::prelude::*;

use super::engine::{pool, starts};
use super::promises::workload;
use super::twins::Job;
use super::twins::fcfs::fcfs;

/// Jobs as a scenario writes them, with or without their estimates.
pub(super) fn tables(jobs: &[Job], limits: bool) -> String {
    let mut text = "[[queue]]\nname = \"all\"\n".to_owned();
    for Job { submit, processors, run, estimate } in jobs {
        write!(
            text,
            "[[job]]\nqueue = \"all\"\nsubmit = {submit}\ntasks = 1\nduration = {run}\n\
             demand = {{ cpu = {processors} }}\n"
        )
        .expect("a text takes everything");
        if limits {
            writeln!(text, "limit = {estimate}").expect("a text takes everything");
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn is_first_come_first_served((processors, jobs) in workload()) {
        prop_assume!(!jobs.is_empty());
        let text = pool(processors, "when_blocked = \"wait\"") + &tables(&jobs, false);
        prop_assert_eq!(starts(&text), fcfs(processors, &jobs));
    }
}
