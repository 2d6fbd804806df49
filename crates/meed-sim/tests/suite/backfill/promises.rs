//! What the two ways promise, on random workloads; and the workloads.

use proptest::prelude::*;

use super::twins::Job;
use super::twins::conservative::{Compression, conservative};
use super::twins::easy::easy;

/// A pool and its jobs, in order of arrival. Times are small and come in clusters, so that many
/// instants coincide; estimates are exact, a little above, or far above.
pub(super) fn workload() -> impl Strategy<Value = (u64, Vec<Job>)> {
    let gap = prop::sample::select(vec![0, 0, 0, 0, 1, 2, 3, 10, 40]);
    let run = prop_oneof![0..4u64, 1..12u64, Just(30)];
    let above = prop::sample::select(vec![0, 0, 0, 1, 2, 5, 30, 300]);
    let row = (gap, any::<u16>(), run, above);
    (1..12u64, prop::collection::vec(row, 0..60)).prop_map(|(processors, rows)| {
        let mut submit = 0;
        let job = |(gap, width, run, above): (u64, u16, u64, u64)| {
            submit += gap;
            let processors = 1 + u64::from(width) % processors;
            Job { submit, processors, run, estimate: (run + above).max(1) }
        };
        (processors, rows.into_iter().map(job).collect())
    })
}

fn exact(jobs: &[Job]) -> Vec<Job> {
    let exact = |job: &Job| Job { run: job.run.max(1), estimate: job.run.max(1), ..*job };
    jobs.iter().map(exact).collect()
}

/// Whoever was first and did not fit starts no later than it was told then.
fn easy_keeps_its_word(processors: u64, jobs: &[Job]) {
    let twin = easy(processors, jobs);
    for (job, (start, promised)) in twin.starts.iter().zip(&twin.promised).enumerate() {
        assert!(promised.is_none_or(|promised| *start <= promised), "job {job}");
    }
}

fn conservative_keeps_its_word(processors: u64, jobs: &[Job], compression: Compression) {
    let twin = conservative(processors, jobs, compression);
    for (job, (start, promised)) in twin.starts.iter().zip(&twin.promised).enumerate() {
        assert!(start <= promised, "job {job} starts at {start}, promised {promised}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn are_kept((processors, jobs) in workload()) {
        // Estimates that are too long can only help.
        easy_keeps_its_word(processors, &exact(&jobs));
        easy_keeps_its_word(processors, &jobs);
        for compression in
            [Compression::EarlyEnds, Compression::EveryEnd, Compression::EveryInstant]
        {
            conservative_keeps_its_word(processors, &jobs, compression);
        }
        // Where estimates are exact nothing ever moves.
        for compression in
            [Compression::EarlyEnds, Compression::EveryEnd, Compression::EveryInstant]
        {
            let twin = conservative(processors, &exact(&jobs), compression);
            assert_eq!(twin.starts, twin.promised);
            assert_eq!(twin.lone_instants, 0);
        }
    }
}
