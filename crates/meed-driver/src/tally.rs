//! Counts and times per leaf queue and over all of them, kept while a run goes on: constant space
//! per queue for long runs.

use hdrhistogram::Histogram;
use meed::memory::{expect, expect_at};
use meed::{QueueId, Span, Time};
use meed_journal::{Arrival, JobKey};
use serde::{Deserialize, Serialize};

use crate::by_queue::ByQueue;
use crate::counting::CountedSpan;

/// Job times: exact while few, a histogram of relative precision 1 % beyond.
///
/// The example of [`Totals`] reads some.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "KeptTimes", from = "KeptTimes")]
pub struct Times {
    kept: Kept,
    /// The shortest and the longest, in microseconds: exact, also where the rest is rough.
    least: u64,
    most: u64,
}

#[derive(Clone, Debug)]
enum Kept {
    Exact(Vec<u64>),
    /// Boxed: a row of a queue is read at each event, and few have so many.
    Rough(Box<Histogram<u64>>),
}

impl Default for Times {
    fn default() -> Times {
        Times { kept: Kept::Exact(Vec::new()), least: u64::MAX, most: 0 }
    }
}

/// Job times of one queue that are kept exactly.
const KEPT_EXACTLY: usize = 4096;

/// Not `saturating_record`, which cuts to the range seen so far instead of growing it.
fn record(rough: &mut Histogram<u64>, micros: u64) {
    rough.record(micros).expect("the histogram grows as far as times go");
}

/// The same as plain data.
#[derive(Serialize, Deserialize)]
struct KeptTimes {
    least: u64,
    most: u64,
    /// In microseconds.
    exact: Vec<u64>,
    /// Buckets of the histogram that hold some, and how many; `None` while times are exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rough: Option<Vec<(u64, u64)>>,
}

impl From<Times> for KeptTimes {
    fn from(times: Times) -> KeptTimes {
        let Times { kept, least, most } = times;
        let (exact, rough) = match kept {
            Kept::Exact(all) => (all, None),
            Kept::Rough(rough) => {
                let bucket = |step: hdrhistogram::iterators::IterationValue<u64>| {
                    (step.value_iterated_to(), step.count_at_value())
                };
                (Vec::new(), Some(rough.iter_recorded().map(bucket).collect()))
            }
        };
        KeptTimes { least, most, exact, rough }
    }
}

impl From<KeptTimes> for Times {
    fn from(kept: KeptTimes) -> Times {
        let KeptTimes { least, most, exact, rough } = kept;
        let Some(buckets) = rough else {
            return Times { kept: Kept::Exact(exact), least, most };
        };
        let mut rough = Histogram::new(2).expect("two digits are a valid precision");
        for (micros, count) in buckets {
            rough.record_n(micros, count).expect("the histogram grows as far as times go");
        }
        Times { kept: Kept::Rough(Box::new(rough)), least, most }
    }
}

impl Times {
    fn add(&mut self, span: Span) {
        self.add_micros(span.as_micros());
    }

    fn add_micros(&mut self, micros: u64) {
        (self.least, self.most) = (self.least.min(micros), self.most.max(micros));
        match &mut self.kept {
            Kept::Exact(all) if all.len() < KEPT_EXACTLY => all.push(micros),
            Kept::Exact(_) => record(self.rough(), micros),
            Kept::Rough(rough) => record(rough, micros),
        }
    }

    /// Adds those of `other`: the same as if each had been added by itself.
    fn add_all(&mut self, other: &Times) {
        (self.least, self.most) = (self.least.min(other.least), self.most.max(other.most));
        match &other.kept {
            Kept::Exact(all) => all.iter().for_each(|&micros| self.add_micros(micros)),
            Kept::Rough(theirs) => {
                self.rough().add(&**theirs).expect("the histogram grows as far as times go");
            }
        }
    }

    /// The histogram, from now on.
    fn rough(&mut self) -> &mut Histogram<u64> {
        if let Kept::Exact(all) = &self.kept {
            let mut rough = Histogram::new(2).expect("two digits are a valid precision");
            for &micros in all {
                record(&mut rough, micros);
            }
            self.kept = Kept::Rough(Box::new(rough));
        }
        match &mut self.kept {
            Kept::Rough(rough) => rough,
            Kept::Exact(_) => unreachable!("it has just become one"),
        }
    }

    /// Values in seconds at `percentiles`, ascending, by the nearest rank; empty when there are
    /// none.
    pub fn percentiles(&self, percentiles: &[f64]) -> Vec<f64> {
        match &self.kept {
            Kept::Exact(all) if all.is_empty() => Vec::new(),
            Kept::Exact(all) => {
                let mut sorted = all.clone();
                sorted.sort_unstable();
                let rank = |p: &f64| {
                    ((p / 100.0 * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len())
                };
                percentiles.iter().map(|p| sorted[rank(p) - 1] as f64 / 1e6).collect()
            }
            Kept::Rough(rough) => {
                // A bucket speaks by its upper end, which may lie beyond the longest of all.
                let value = |p: &f64| {
                    rough.value_at_percentile(*p).clamp(self.least, self.most) as f64 / 1e6
                };
                percentiles.iter().map(value).collect()
            }
        }
    }
}

/// One queue's counts: two whole lines of memory.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// let now = Time::from_secs(10).ok_or("in range")?;
/// driver.task_ended(now, starts[0].allocation)?;
/// let counted = driver.counted().queue(queue);
/// assert_eq!((counted.tasks, counted.jobs), (1, 0)); // the job goes on
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub struct QueueTally {
    /// Jobs that are done.
    pub jobs: u64,
    /// Tasks that have ended well.
    pub tasks: u64,
    /// Sum of the times of those jobs, from submission to end.
    pub job_micros: u128,
    /// These times.
    pub times: Times,
    /// Tasks that have started.
    pub waits: u64,
    /// Sum of their waits.
    pub wait_micros: u128,
    /// The longest of them, and of those that waited at the end.
    pub longest_wait: Option<Span>,
}

// Where words have less than 64 bits it is smaller.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<QueueTally>() == 128);

/// Counts over all queues.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// let now = Time::from_secs(10).ok_or("in range")?;
/// driver.job_cancelled(now, job)?;
/// let totals = &driver.counted().totals;
/// assert_eq!((totals.starts, totals.jobs_ended, totals.failed), (2, 0, 1));
/// assert!(totals.times.percentiles(&[50.0]).is_empty()); // no job has ended well
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Job times of all queues.
    pub times: Times,
    /// Events given to the engine.
    pub events: u64,
    /// Tasks started.
    pub starts: u64,
    /// Jobs done.
    pub jobs_ended: u64,
    /// Jobs refused.
    pub refused: u64,
    /// The first of them: its name, its queue, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_refused: Option<String>,
    /// Jobs that failed or were cancelled.
    pub failed: u64,
    /// Jobs that were there at the end.
    pub unfinished: u64,
}

impl Totals {
    /// One more job is refused.
    pub(crate) fn refuse(&mut self, why: &str, arrival: &Arrival) {
        self.refused += 1;
        let name = arrival.name.as_ref().unwrap_or(&arrival.job);
        let first = || format!("{name} of queue {}: {why}", arrival.queue);
        self.first_refused.get_or_insert_with(first);
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Totals) {
        self.times.add_all(&other.times);
        self.events += other.events;
        self.starts += other.starts;
        self.jobs_ended += other.jobs_ended;
        self.refused += other.refused;
        if self.first_refused.is_none() {
            self.first_refused.clone_from(&other.first_refused);
        }
        self.failed += other.failed;
        self.unfinished += other.unfinished;
    }
}

/// All counts.
///
/// The examples of [`QueueTally`] and [`Totals`] read one.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    queues: ByQueue<QueueTally>,
    /// Over all queues.
    pub totals: Totals,
    /// What is submitted, or begins to wait, outside is in no figure.
    counted: CountedSpan,
    /// The end that is told now says nothing of how long its job takes.
    is_cut: bool,
}

/// A job that has ended, or that was there at the end.
///
/// It is part of an [`Ending`](crate::Ending): the page of [`RunRecord`](crate::record::RunRecord)
/// has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptJob {
    /// Its leaf queue.
    pub queue: QueueId,
    /// What the world calls it.
    pub label: JobKey,
    /// When it arrived.
    pub submit: Time,
    /// When its first task started.
    pub started: Option<Time>,
    /// When it was done.
    pub ended: Option<Time>,
    /// How many tasks it has.
    pub tasks: u64,
    /// The most of the measured resource that it needs at one instant to start a task, or a gang,
    /// in the smallest units.
    pub width: u64,
}

impl Tally {
    /// Of these queues, with what was counted of all.
    pub(crate) fn of(queues: ByQueue<QueueTally>, totals: Totals) -> Tally {
        Tally { queues, totals, ..Tally::default() }
    }

    /// Counts what is submitted, or begins to wait, in this span only.
    pub(crate) fn count_only(&mut self, counted: CountedSpan) {
        self.counted = counted;
    }

    /// From now on ends are those of jobs of which nobody knows how long they take, or known ones
    /// again.
    pub(crate) fn cuts(&mut self, is_cut: bool) {
        self.is_cut = is_cut;
    }

    pub(crate) fn add_queue(&mut self, queue: QueueId) {
        self.queues.add(queue, QueueTally::default());
    }

    pub(crate) fn forget_queues(&mut self, known: impl Fn(QueueId) -> bool) {
        self.queues.retain(known);
    }

    pub(crate) fn queues(&self) -> impl Iterator<Item = (QueueId, &QueueTally)> {
        self.queues.iter()
    }

    /// What was counted of a queue.
    pub fn queue(&self, queue: QueueId) -> &QueueTally {
        &self.queues[queue]
    }

    /// Has the lines of a queue's row brought in which these fields stand.
    #[inline]
    pub(crate) fn expect(&self, queue: QueueId) {
        if let Some(row) = self.queues.get(queue) {
            expect(row);
            expect(&row.times);
            expect(&row.waits);
            expect(&row.longest_wait);
        }
    }

    /// The same of what lies behind it: where the next time will stand.
    #[inline]
    pub(crate) fn expect_behind(&self, queue: QueueId) {
        match &self.queues[queue].times.kept {
            Kept::Exact(all) => expect_at(all, all.len()),
            Kept::Rough(rough) => expect(&**rough),
        }
    }

    /// A task starts at `now` that could have started since `since`.
    #[inline]
    pub(crate) fn task_started(&mut self, queue: QueueId, since: Time, now: Time) {
        self.totals.starts += 1;
        if !self.counted.holds(since) {
            return;
        }
        let waited = now.saturating_since(since);
        let queue = &mut self.queues[queue];
        queue.waits += 1;
        queue.wait_micros += u128::from(waited.as_micros());
        queue.longest_wait = queue.longest_wait.max(Some(waited));
    }

    /// A task of a job that was submitted then has ended well.
    #[inline]
    pub(crate) fn task_ended(&mut self, queue: QueueId, submit: Time) {
        self.queues[queue].tasks += u64::from(!self.is_cut && self.counted.holds(submit));
    }

    /// A job that was submitted then is gone.
    pub(crate) fn job_ended(&mut self, queue: QueueId, submit: Time, now: Time, done: bool) {
        if !done {
            self.totals.failed += 1;
            return;
        }
        self.totals.jobs_ended += 1;
        if self.is_cut {
            self.totals.unfinished += 1;
            return;
        }
        if !self.counted.holds(submit) {
            return;
        }
        let took = now.saturating_since(submit);
        self.totals.times.add(took);
        let queue = &mut self.queues[queue];
        queue.jobs += 1;
        queue.job_micros += u128::from(took.as_micros());
        queue.times.add(took);
    }

    /// A task that could have started since then has not by the end of the run.
    pub(crate) fn still_waits(&mut self, queue: QueueId, since: Time, end: Time) {
        if self.counted.holds(since) {
            let queue = &mut self.queues[queue];
            queue.longest_wait = queue.longest_wait.max(Some(end.saturating_since(since)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_stay_close_when_times_become_rough() {
        let mut times = Times::default();
        let seconds = |s: u64| Span::from_secs(s).expect("in range");
        (1..=100).for_each(|s| times.add(seconds(s)));
        assert_eq!(times.percentiles(&[1.0, 50.0, 99.0, 100.0]), [1.0, 50.0, 99.0, 100.0]);
        (0..20_000).for_each(|i| times.add(seconds(1 + i % 100)));
        assert!(matches!(times.kept, Kept::Rough(_)));
        let median = times.percentiles(&[50.0])[0];
        assert!((median - 50.0).abs() < 1.0, "{median}");
    }

    #[test]
    fn many_tallies_together_are_one() {
        for count in [10u64, 3_000, 5_000, 20_000] {
            let span = |i: u64| Span::from_secs(1 + i * i % 977).expect("in range");
            let (mut one, mut parts) = (Times::default(), [(); 3].map(|()| Times::default()));
            for i in 0..count {
                one.add(span(i));
                parts[(i % 3) as usize].add(span(i));
            }
            let mut all = Times::default();
            parts.iter().for_each(|part| all.add_all(part));
            let wanted = [1.0, 25.0, 50.0, 99.0, 100.0];
            assert_eq!(all.percentiles(&wanted), one.percentiles(&wanted), "{count}");
        }
    }
}
