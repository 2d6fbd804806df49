//! What a source holds, in one pass: the numbers to look at before a trace is simulated.
//!
//! Quantiles come from histograms with three significant digits; work (demand x duration) is exact.
//! Cost: memory for the histograms, one entry per queue, and some integers for each job, by which
//! it is known what ran at once.

use hdrhistogram::Histogram;
use meed::{MICROS_PER_S, ResourceKinds, Resources, Time};
use serde::Serialize;

use crate::size::Footprints;
use crate::{Durations, Job, JobSource, SourceCounts, TraceError, Used};

/// What a source holds.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Lines read.
    pub lines: u64,
    /// Lines skipped because they were wrong.
    pub bad_lines: u64,
    /// Lines left out by a documented assumption.
    pub ignored_lines: u64,
    /// Messages of the first wrong lines.
    pub first_bad_lines: Vec<String>,
    /// What the reader assumed, in words.
    pub assumptions: Vec<String>,
    /// Jobs.
    pub jobs: u64,
    /// Tasks.
    pub tasks: u64,
    /// When the first job is submitted; `null` without jobs.
    pub first_submit_s: Option<f64>,
    /// When the last job is submitted.
    pub last_submit_s: Option<f64>,
    /// The resources, in order.
    pub resources: Vec<ResourceSummary>,
    /// Queues, in order of declaration; those without jobs too.
    pub queues: Vec<QueueSummary>,
    /// Tasks per job.
    pub tasks_per_job: Quantiles,
    /// Run times of the tasks, seconds.
    pub duration_s: Quantiles,
    /// Seconds from one submission to the next.
    pub gap_s: Quantiles,
    /// The first jobs, as they are understood.
    pub first_jobs: Vec<FirstJob>,
    /// What executors held and how much of it tasks used, by queue; left out where the input does
    /// not tell that apart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub executors: Vec<ExecutorSummary>,
}

/// The executors of a queue.
#[derive(Clone, Debug, Serialize)]
pub struct ExecutorSummary {
    /// What they held, and how much of it was used.
    #[serde(flatten)]
    pub used: Used,
    /// The part that no task used; `null` where nothing was held.
    pub idle_share: Option<f64>,
}

/// How many of the first jobs are kept.
const FIRST_JOBS: usize = 5;

/// A job: its first group of tasks.
#[derive(Clone, Debug, Serialize)]
pub struct FirstJob {
    /// What the source calls it.
    pub job: String,
    /// Its queue.
    pub queue: String,
    /// When it is submitted, seconds from the start of the trace.
    pub submit_s: f64,
    /// Tasks of the group.
    pub tasks: u32,
    /// What each holds, per resource in order, natural units.
    pub demand: Vec<f64>,
    /// How long the first of them runs.
    pub duration_s: f64,
    /// Their time limit; `null` without one.
    pub limit_s: Option<f64>,
}

/// One resource.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceSummary {
    /// Its name.
    pub resource: String,
    /// Demand x duration of all tasks, natural units x seconds.
    pub work: f64,
    /// Largest demand of one task, natural units: no smaller node can run it.
    pub largest_task: f64,
    /// What ran at once, over the time in which anything ran; `null` where the input does not tell
    /// when jobs started.
    pub ran_at_once: Option<RanSummary>,
    /// Work over capacity x time from the first to the last submission, without outliers; above 1
    /// the jobs pile up. `null` without a capacity.
    pub offered_load: Option<f64>,
}

/// How much of a resource ran at once, natural units.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RanSummary {
    /// The mean.
    pub mean: f64,
    /// So much or less in 99 % of the time.
    pub p99: f64,
    /// The most.
    pub peak: f64,
}

/// One queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueSummary {
    /// Its name.
    pub queue: String,
    /// Its jobs.
    pub jobs: u64,
    /// Its tasks.
    pub tasks: u64,
    /// Demand x duration of its tasks, per resource in order, natural units x seconds.
    pub work: Vec<f64>,
}

/// Some quantiles, exact to three significant digits (mean, smallest and largest: exact); `null`
/// without values.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Smallest.
    pub min: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

/// Reads all of `source`, whose demands are over `kinds`. Of a closed source that is what it
/// submits of its own accord.
///
/// `progress` is told about every 1000 jobs how far the source is.
pub fn inspect(
    source: &mut dyn JobSource,
    kinds: &ResourceKinds,
    capacity: Option<&Resources>,
    mut progress: impl FnMut(Option<f64>),
) -> Result<Summary, TraceError> {
    let mut tally = Tally::new(source.queues().len(), kinds.len());
    while let Some(job) = source.next_job()? {
        let start = source.waited().map(|wait| job.submit.saturating_add(wait));
        tally.take(&job, start);
        if tally.jobs <= FIRST_JOBS as u64 {
            let queue = source.queues()[job.queue as usize].clone();
            tally.first_jobs.extend(first_job(&job, queue, kinds));
        }
        if tally.jobs.is_multiple_of(1000) {
            progress(source.progress());
        }
    }
    Ok(tally.summary(source, kinds, capacity))
}

fn first_job(job: &Job, queue: String, kinds: &ResourceKinds) -> Option<FirstJob> {
    let group = job.groups.first()?;
    let amount = |(kind, amount): (usize, &u64)| *amount as f64 / kinds.unit(kind).scale() as f64;
    Some(FirstJob {
        job: job.label.to_string(),
        queue,
        submit_s: job.submit.as_secs_f64(),
        tasks: group.count,
        demand: group.demand.as_slice().iter().enumerate().map(amount).collect(),
        duration_s: group.duration.get(0).as_secs_f64(),
        limit_s: group.limit.map(|limit| limit.as_secs_f64()),
    })
}

/// Smallest units x microseconds. Saturates at 10^38, far beyond any trace.
type Work = u128;

struct QueueTally {
    jobs: u64,
    tasks: u64,
    work: Vec<Work>,
}

struct Tally {
    jobs: u64,
    tasks: u64,
    first: Option<Time>,
    last: Time,
    largest: Vec<u64>,
    queues: Vec<QueueTally>,
    tasks_per_job: Values,
    durations: Values,
    gaps: Values,
    first_jobs: Vec<FirstJob>,
    ran: Footprints,
}

impl Tally {
    fn new(queues: usize, kinds: usize) -> Tally {
        let queue = || QueueTally { jobs: 0, tasks: 0, work: vec![0; kinds] };
        Tally {
            jobs: 0,
            tasks: 0,
            first: None,
            last: Time::ZERO,
            largest: vec![0; kinds],
            queues: (0..queues).map(|_| queue()).collect(),
            tasks_per_job: Values::new(),
            durations: Values::new(),
            gaps: Values::new(),
            first_jobs: Vec::new(),
            ran: Footprints::new(kinds),
        }
    }

    fn take(&mut self, job: &Job, start: Option<Time>) {
        self.ran.add(job, start);
        let tasks = job.tasks();
        self.jobs += 1;
        self.tasks += tasks;
        self.tasks_per_job.record(tasks, 1);
        if self.first.is_some() {
            self.gaps.record(job.submit.saturating_since(self.last).as_micros(), 1);
        }
        self.first.get_or_insert(job.submit);
        self.last = job.submit;
        let queue = &mut self.queues[job.queue as usize];
        queue.jobs += 1;
        queue.tasks += tasks;
        for group in &job.groups {
            match &group.duration {
                Durations::Same(span) => {
                    self.durations.record(span.as_micros(), u64::from(group.count));
                }
                Durations::Each(spans) => {
                    spans.iter().for_each(|span| self.durations.record(span.as_micros(), 1));
                }
            }
            let micros = group.duration.total_micros(group.count);
            for (kind, amount) in group.demand.as_slice().iter().enumerate() {
                let work = u128::from(*amount).saturating_mul(micros);
                queue.work[kind] = queue.work[kind].saturating_add(work);
                self.largest[kind] = self.largest[kind].max(*amount);
            }
        }
    }

    fn summary(
        self,
        source: &dyn JobSource,
        kinds: &ResourceKinds,
        capacity: Option<&Resources>,
    ) -> Summary {
        let SourceCounts { lines, bad, ignored, .. } = source.counts();
        let natural = |work: Work, kind: usize| {
            work as f64 / (kinds.unit(kind).scale() as f64 * MICROS_PER_S as f64)
        };
        let outliers = self.ran.outliers(None);
        let loads = capacity.map(|capacity| self.ran.loads(capacity.as_slice(), &outliers));
        let ran = self.ran.ran_at_once_without(&outliers);
        let ran_at_once = |kind: usize| {
            let ran = ran.as_ref()?.get(kind)?;
            let natural = |amount: f64| amount / kinds.unit(kind).scale() as f64;
            let (p99, peak) = (natural(ran.p99 as f64), natural(ran.peak as f64));
            Some(RanSummary { mean: natural(ran.mean), p99, peak })
        };
        let resource = |kind: usize| {
            let work =
                self.queues.iter().fold(0u128, |sum, queue| sum.saturating_add(queue.work[kind]));
            ResourceSummary {
                resource: kinds.name(kind).to_owned(),
                work: natural(work, kind),
                largest_task: self.largest[kind] as f64 / kinds.unit(kind).scale() as f64,
                ran_at_once: ran_at_once(kind),
                offered_load: loads.as_ref().and_then(|loads| *loads.get(kind)?),
            }
        };
        let queue = |(name, tally): (&String, &QueueTally)| QueueSummary {
            queue: name.clone(),
            jobs: tally.jobs,
            tasks: tally.tasks,
            work: tally.work.iter().enumerate().map(|(kind, work)| natural(*work, kind)).collect(),
        };
        Summary {
            lines,
            bad_lines: bad,
            ignored_lines: ignored,
            first_bad_lines: source.bad_lines().iter().map(|bad| bad.to_string()).collect(),
            assumptions: source.assumptions(),
            jobs: self.jobs,
            tasks: self.tasks,
            first_submit_s: self.first.map(Time::as_secs_f64),
            last_submit_s: self.first.map(|_| self.last.as_secs_f64()),
            resources: (0..kinds.len()).map(resource).collect(),
            queues: source.queues().iter().zip(&self.queues).map(queue).collect(),
            tasks_per_job: self.tasks_per_job.quantiles(1.0),
            duration_s: self.durations.quantiles(1e6),
            gap_s: self.gaps.quantiles(1e6),
            first_jobs: self.first_jobs,
            executors: source
                .used()
                .iter()
                .map(|used| ExecutorSummary { used: used.clone(), idle_share: used.idle_share() })
                .collect(),
        }
    }
}

/// A histogram, with exact sum and ends.
struct Values {
    histogram: Histogram<u64>,
    sum: u128,
    count: u64,
    min: u64,
    max: u64,
}

impl Values {
    fn new() -> Values {
        // Three significant digits up to 2^53, the largest time: always accepted.
        let histogram =
            Histogram::new_with_bounds(1, 1 << 53, 3).expect("constant bounds are valid");
        Values { histogram, sum: 0, count: 0, min: u64::MAX, max: 0 }
    }

    fn record(&mut self, value: u64, times: u64) {
        self.histogram.saturating_record_n(value, times);
        self.sum = self.sum.saturating_add(u128::from(value) * u128::from(times));
        self.count += times;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn quantiles(&self, scale: f64) -> Quantiles {
        if self.count == 0 {
            return Quantiles::default();
        }
        // The histogram rounds up within its three digits, beyond the largest value too.
        let at = |quantile| {
            let value = self.histogram.value_at_quantile(quantile).clamp(self.min, self.max);
            Some(value as f64 / scale)
        };
        Quantiles {
            min: Some(self.min as f64 / scale),
            mean: Some(self.sum as f64 / self.count as f64 / scale),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: Some(self.max as f64 / scale),
        }
    }
}
