//! Counts and times per leaf queue and over all of them, kept while a run goes on: constant space
//! per queue for long runs.

use hdrhistogram::Histogram;
use meed::{QueueId, Span, Time};
use meed_workload::JobLabel;

/// Job times: exact while few, a histogram of relative precision 1 % beyond.
pub(crate) enum Times {
    Exact(Vec<u64>),
    /// With the shortest and the longest, which are exact.
    Rough { histogram: Histogram<u64>, least: u64, most: u64 },
}

impl Default for Times {
    fn default() -> Times {
        Times::Exact(Vec::new())
    }
}

/// Job times of one queue that are kept exactly.
const KEPT_EXACTLY: usize = 4096;

/// Not `saturating_record`, which cuts to the range seen so far instead of growing it.
fn record(rough: &mut Histogram<u64>, micros: u64) {
    rough.record(micros).expect("the histogram grows as far as times go");
}

impl Times {
    fn add(&mut self, span: Span) {
        self.add_micros(span.as_micros());
    }

    fn add_micros(&mut self, micros: u64) {
        match self {
            Times::Exact(all) if all.len() < KEPT_EXACTLY => all.push(micros),
            Times::Exact(all) => {
                let histogram = Histogram::new(2).expect("two digits are a valid precision");
                let all = std::mem::take(all);
                *self = Times::Rough { histogram, least: u64::MAX, most: 0 };
                all.into_iter().chain([micros]).for_each(|micros| self.add_micros(micros));
            }
            Times::Rough { histogram, least, most } => {
                record(histogram, micros);
                (*least, *most) = ((*least).min(micros), (*most).max(micros));
            }
        }
    }

    /// Values in seconds at `percentiles`, ascending, by the nearest rank; empty when there are
    /// none.
    pub(crate) fn percentiles(&self, percentiles: &[f64]) -> Vec<f64> {
        match self {
            Times::Exact(all) if all.is_empty() => Vec::new(),
            Times::Exact(all) => {
                let mut sorted = all.clone();
                sorted.sort_unstable();
                let rank = |p: &f64| {
                    ((p / 100.0 * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len())
                };
                percentiles.iter().map(|p| sorted[rank(p) - 1] as f64 / 1e6).collect()
            }
            Times::Rough { histogram, least, most } => {
                // A bucket speaks by its upper end, which may lie beyond the longest of all.
                let value =
                    |p: &f64| histogram.value_at_percentile(*p).clamp(*least, *most) as f64 / 1e6;
                percentiles.iter().map(value).collect()
            }
        }
    }
}

/// One queue's counts.
pub(crate) struct QueueTally {
    pub(crate) jobs: u64,
    pub(crate) tasks: u64,
    pub(crate) job_micros: u128,
    pub(crate) times: Times,
    pub(crate) waits: u64,
    pub(crate) wait_micros: u128,
    pub(crate) longest_wait: Option<Span>,
}

/// All counts of a run.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) queues: Vec<QueueTally>,
    /// Job times of all queues.
    pub(crate) times: Times,
    pub(crate) events: u64,
    pub(crate) starts: u64,
    pub(crate) jobs_ended: u64,
    pub(crate) refused: u64,
    pub(crate) failed: u64,
    pub(crate) unfinished: u64,
    /// Jobs one by one, where they are asked for.
    pub(crate) kept_jobs: Option<Vec<KeptJob>>,
}

/// A job that has ended, or that was there at the end.
pub(crate) struct KeptJob {
    pub(crate) queue: QueueId,
    pub(crate) label: JobLabel,
    pub(crate) submit: Time,
    /// When it was done.
    pub(crate) ended: Option<Time>,
    pub(crate) tasks: u64,
}

impl Tally {
    pub(crate) fn for_queues(&mut self, count: usize) {
        self.queues.resize_with(count, || QueueTally {
            jobs: 0,
            tasks: 0,
            job_micros: 0,
            times: Times::default(),
            waits: 0,
            wait_micros: 0,
            longest_wait: None,
        });
    }

    pub(crate) fn task_started(&mut self, queue: QueueId, waited: Span) {
        self.starts += 1;
        let queue = &mut self.queues[queue.index()];
        queue.waits += 1;
        queue.wait_micros += u128::from(waited.as_micros());
        queue.longest_wait = queue.longest_wait.max(Some(waited));
    }

    pub(crate) fn task_ended(&mut self, queue: QueueId) {
        self.queues[queue.index()].tasks += 1;
    }

    pub(crate) fn job_ended(&mut self, queue: QueueId, took: Span, done: bool) {
        if !done {
            self.failed += 1;
            return;
        }
        self.jobs_ended += 1;
        self.times.add(took);
        let queue = &mut self.queues[queue.index()];
        queue.jobs += 1;
        queue.job_micros += u128::from(took.as_micros());
        queue.times.add(took);
    }

    /// A task that has not started by the end of the run.
    pub(crate) fn still_waits(&mut self, queue: QueueId, waited: Span) {
        let queue = &mut self.queues[queue.index()];
        queue.longest_wait = queue.longest_wait.max(Some(waited));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_stay_close_when_times_become_rough() {
        let mut times = Times::Exact(Vec::new());
        let seconds = |s: u64| Span::from_secs(s).expect("in range");
        (1..=100).for_each(|s| times.add(seconds(s)));
        assert_eq!(times.percentiles(&[1.0, 50.0, 99.0, 100.0]), [1.0, 50.0, 99.0, 100.0]);
        (0..20_000).for_each(|i| times.add(seconds(1 + i % 100)));
        assert!(matches!(times, Times::Rough { .. }));
        let median = times.percentiles(&[50.0])[0];
        assert!((median - 50.0).abs() < 1.0, "{median}");
    }
}
