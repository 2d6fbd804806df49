//! Schedules worked out on paper.

use super::twins::Job;
use super::twins::conservative::{Compression, conservative};
use super::twins::easy::easy;
use super::twins::fcfs::fcfs;

/// Jobs of (submit, processors, run, estimate), and when each starts.
struct Case {
    what: &'static str,
    processors: u64,
    jobs: &'static [(u64, u64, u64, u64)],
    fcfs: &'static [u64],
    easy: &'static [u64],
    conservative: &'static [u64],
    promised: &'static [u64],
}

fn jobs(rows: &[(u64, u64, u64, u64)]) -> Vec<Job> {
    let job = |&(submit, processors, run, estimate): &_| Job { submit, processors, run, estimate };
    rows.iter().map(job).collect()
}

const CASES: [Case; 9] = [
    Case {
        // Three of four processors are held until 10; the second job wants all four.
        what: "a short job passes: it ends before the shadow time",
        processors: 4,
        jobs: &[(0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 7, 7)],
        fcfs: &[0, 10, 15],
        easy: &[0, 10, 2],
        conservative: &[0, 10, 2],
        promised: &[0, 10, 2],
    },
    Case {
        what: "it ends at the very shadow time",
        processors: 4,
        jobs: &[(0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 8, 8)],
        fcfs: &[0, 10, 15],
        easy: &[0, 10, 2],
        conservative: &[0, 10, 2],
        promised: &[0, 10, 2],
    },
    Case {
        // Its run time would do, but nobody knows that.
        what: "it must not start: by its estimate it ends a second after the shadow time",
        processors: 4,
        jobs: &[(0, 3, 10, 10), (1, 4, 5, 5), (2, 1, 8, 9)],
        fcfs: &[0, 10, 15],
        easy: &[0, 10, 15],
        conservative: &[0, 10, 15],
        promised: &[0, 10, 15],
    },
    Case {
        // At 10 four are free and the second job needs three: one extra, for the third job; for the
        // fourth none is left.
        what: "a long job passes on the extra processor, and the next finds none",
        processors: 4,
        jobs: &[(0, 2, 10, 10), (1, 3, 5, 5), (2, 1, 100, 100), (2, 1, 100, 100)],
        fcfs: &[0, 10, 10, 15],
        easy: &[0, 10, 2, 15],
        conservative: &[0, 10, 2, 15],
        promised: &[0, 10, 2, 15],
    },
    Case {
        // Both others end at 10: with only one of them counted nothing would be extra.
        what: "all that end by estimate at the shadow time count as free",
        processors: 4,
        jobs: &[(0, 2, 10, 10), (0, 1, 10, 10), (1, 2, 5, 5), (2, 1, 50, 50)],
        fcfs: &[0, 0, 10, 10],
        easy: &[0, 0, 10, 2],
        conservative: &[0, 0, 10, 2],
        promised: &[0, 0, 10, 2],
    },
    Case {
        // The fourth job fits beside the first two for as long as it likes, but not beside the
        // third, for which only the conservative way holds room.
        what: "EASY delays the second in the queue, the conservative way does not",
        processors: 4,
        jobs: &[(0, 2, 10, 10), (1, 3, 10, 10), (2, 4, 5, 5), (3, 1, 30, 30)],
        fcfs: &[0, 10, 20, 25],
        easy: &[0, 10, 33, 3],
        conservative: &[0, 10, 20, 25],
        promised: &[0, 10, 20, 25],
    },
    Case {
        // The first job ends at 2 instead of at 10. The second comes to 2 and ends at 12, the third
        // has room at 12 whether the fourth is at 10 or not, and the fourth fits beside the second.
        what: "compression moves all that wait, in order of arrival",
        processors: 4,
        jobs: &[(0, 4, 2, 10), (1, 3, 10, 10), (1, 2, 5, 5), (1, 1, 10, 10)],
        fcfs: &[0, 2, 12, 12],
        easy: &[0, 2, 12, 2],
        conservative: &[0, 2, 12, 2],
        promised: &[0, 10, 20, 10],
    },
    Case {
        // A job that ends at the instant of its start frees its room at that instant.
        what: "jobs that take no time",
        processors: 2,
        jobs: &[(5, 2, 0, 1), (5, 2, 0, 9), (5, 2, 3, 3), (5, 1, 1, 1)],
        fcfs: &[5, 5, 5, 8],
        easy: &[5, 5, 5, 8],
        conservative: &[5, 5, 5, 8],
        promised: &[5, 6, 15, 18],
    },
    Case {
        what: "all end and arrive at one instant: the new one comes in its turn",
        processors: 3,
        jobs: &[(0, 3, 6, 6), (1, 2, 4, 4), (6, 2, 1, 1), (6, 1, 1, 1)],
        fcfs: &[0, 6, 10, 10],
        easy: &[0, 6, 10, 6],
        conservative: &[0, 6, 10, 6],
        promised: &[0, 6, 10, 6],
    },
];

#[test]
fn worked_out_on_paper() {
    for case in &CASES {
        let jobs = jobs(case.jobs);
        assert_eq!(fcfs(case.processors, &jobs), case.fcfs, "FCFS: {}", case.what);
        assert_eq!(easy(case.processors, &jobs).starts, case.easy, "EASY: {}", case.what);
        for compression in [Compression::EarlyEnds, Compression::EveryEnd] {
            let twin = conservative(case.processors, &jobs, compression);
            assert_eq!(twin.starts, case.conservative, "{compression:?}: {}", case.what);
            assert_eq!(twin.promised, case.promised, "{compression:?}: {}", case.what);
        }
    }
}

/// Two processors. The third job wants both, and is promised 10, when the first job should end; the
/// fourth is promised 4, when the second job ends. The first job ends at 2. The third cannot move:
/// the fourth stands at 4 to 10. The fourth moves to 2 to 8. From 8 on the third could run. Who
/// compresses at each end finds that out when the second job ends at 4; who does so at early ends
/// only never does, and starts it at 10, where nothing ends and nothing arrives.
#[test]
fn a_later_job_moves_out_of_the_way_too_late() {
    let jobs = jobs(&[(0, 1, 2, 10), (0, 1, 4, 4), (1, 2, 5, 5), (1, 1, 6, 6)]);
    let early = conservative(2, &jobs, Compression::EarlyEnds);
    assert_eq!(early.promised, [0, 0, 10, 4]);
    assert_eq!((early.starts, early.lone_instants), (vec![0, 0, 10, 2], 1));
    for compression in [Compression::EveryEnd, Compression::EveryInstant] {
        let every = conservative(2, &jobs, compression);
        assert_eq!((every.starts, every.lone_instants), (vec![0, 0, 8, 2], 0));
    }
    assert_eq!(easy(2, &jobs).starts, [0, 0, 4, 9]);
}
