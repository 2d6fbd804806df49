//! What the fuzz targets share.

use meed::{ResourceKinds, Time, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::convert::convert;
use meed_workload::{Job, JobSource, OnBadLine, Origin};

/// Cores and memory.
pub fn kinds() -> ResourceKinds {
    let kinds = vec![("cpu".to_owned(), Unit::Milli), ("memory".to_owned(), Unit::Bytes)];
    ResourceKinds::new(kinds).expect("two different names")
}

/// Most tasks of a fuzzed job that are looked at one by one: the fuzzer wants many short runs.
const MAX_TASKS: u64 = 100_000;

/// Reads `source` to its end and asserts what every source promises. `None` when an error ended it.
pub fn drain(source: &mut dyn JobSource, kinds: &ResourceKinds) -> Option<Vec<Job>> {
    let queues = source.queues().to_vec();
    for (number, queue) in queues.iter().enumerate() {
        assert!(!queues[..number].contains(queue), "queue {queue:?} twice");
    }
    let mut jobs: Vec<Job> = Vec::new();
    let mut last = Time::ZERO;
    let whole = loop {
        match source.next_job() {
            Ok(Some(job)) => {
                job.check(queues.len(), kinds.len()).expect("every job passes its check");
                assert!(job.submit >= last, "jobs are in order of submission");
                last = job.submit;
                if job.tasks() <= MAX_TASKS {
                    for group in &job.groups {
                        let total: u128 = (0..group.count)
                            .map(|task| u128::from(group.duration.get(task).as_micros()))
                            .sum();
                        assert!(total <= u128::from(group.count) << 53);
                    }
                }
                jobs.push(job);
            }
            Ok(None) => break true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break false;
            }
        }
    };
    let counts = source.counts();
    assert_eq!(counts.jobs, jobs.len() as u64, "jobs are counted");
    if whole {
        assert_eq!(counts.lines, counts.jobs + counts.bad + counts.ignored, "every line is accounted for");
        assert_eq!(source.next_job().ok(), Some(None), "the end stays the end");
    }
    assert_eq!(source.bad_lines().len() as u64, counts.bad.min(5));
    whole.then_some(jobs)
}

/// Writes what `open` reads in Meed's own format and asserts that it reads back equal.
pub fn round_trip(mut source: impl JobSource, kinds: &ResourceKinds, jobs: &[Job]) {
    let (bytes, _) = convert(&mut source, kinds, Vec::new(), "copy").expect("what was read can be written");
    let origin = Origin::bytes("copy", bytes);
    let mut copy =
        CanonicalSource::open(&origin, None, OnBadLine::Stop).expect("what was written can be read");
    assert_eq!(copy.queues(), source.queues());
    assert_eq!(copy.kinds(), kinds);
    assert_eq!(drain(&mut copy, kinds).as_deref(), Some(jobs));
}
