//! The four macro-workloads of the LTYARN papers (TSC'18 Sec. 7.2, ICS'14 Sec. 6.1), made anew.
//!
//! Facebook (100 jobs in nine bins), Purdue (five batch jobs, one every three minutes), TPC-H
//! (twenty queries, one after the other) and Spark (twenty applications, each two minutes after the
//! last). The papers give job and task counts for the first only; [`WORKLOADS`] has what is
//! assumed, docs/macro-workloads.md why.
//!
//! Invariants: equal specification and seed give equal jobs on every machine; `task_time_scale`
//! stretches the same draws, so that two scales differ in nothing else. Cost: all jobs are made at
//! once, about 8 bytes per task.

mod submissions;
mod table;

use std::collections::VecDeque;
use std::sync::Arc;

use meed::{MAX_MICROS, Resources, Span, Time};

pub use submissions::{Submissions, read_submissions};
pub use table::{Flow, JobKind, Order, Stage, WORKLOADS, Workload};

use crate::generate::{Dist, Stream};
use crate::{Durations, Job, JobGroup, JobLabel, JobSource, SourceCounts, TraceError};

/// Largest factor by which task times can be stretched, and its inverse the smallest.
const MAX_SCALE: f64 = 1000.0;

/// One workload in one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct MacroSpec {
    /// Which.
    pub workload: &'static Workload,
    /// The queue that its jobs go to.
    pub queue: String,
    /// When it begins; submissions count from here.
    pub start: Time,
    /// What each task holds.
    pub demand: Resources,
    /// Factor of all task times; 1 for those of the table.
    pub task_time_scale: f64,
    /// Submission times of the jobs, as many as there are; only for a workload with
    /// [`Flow::Submissions`].
    pub submissions: Option<Submissions>,
}

impl MacroSpec {
    /// Whether each job comes when the last has ended.
    pub fn is_closed(&self) -> bool {
        matches!(self.workload.flow, Flow::After { .. })
    }

    /// Name of its random numbers: two queues with the same workload draw different jobs.
    pub fn stream(&self) -> String {
        format!("{}/{}", self.queue, self.workload.name)
    }

    /// Whether it makes sense for a cluster with `kinds` resource kinds.
    pub fn check(&self, kinds: usize) -> Result<(), TraceError> {
        let fail = |part: &str, why: String| {
            Err(TraceError::settings(format!("workload \"{}\", {part}", self.stream()), why))
        };
        if self.demand.kinds() != kinds || self.demand.is_zero() {
            return fail(
                "demand",
                "does not fit the cluster's resources, or is nothing".to_owned(),
            );
        }
        // Written so that NaN is refused too.
        if !(1.0 / MAX_SCALE..=MAX_SCALE).contains(&self.task_time_scale) {
            let why = format!("is {}; 0.001 to {MAX_SCALE} are possible", self.task_time_scale);
            return fail("task_time_scale", why);
        }
        if self.submissions.is_some() && !matches!(self.workload.flow, Flow::Submissions { .. }) {
            return fail("submissions", "only facebook takes its times from a file".to_owned());
        }
        if let Some(times) = &self.submissions
            && times.len() < self.workload.jobs() as usize
        {
            let why = format!("there are {}; {} are needed", times.len(), self.workload.jobs());
            return fail("submissions", why);
        }
        Ok(())
    }
}

impl Workload {
    /// The one called `name`.
    pub fn find(name: &str) -> Option<&'static Workload> {
        WORKLOADS.iter().find(|workload| workload.name == name)
    }

    /// Number of its jobs.
    pub fn jobs(&self) -> u32 {
        self.kinds.iter().map(|kind| kind.jobs).sum()
    }

    /// Its jobs in order of submission, each as an index into `kinds`.
    fn sequence(&self, stream: &mut Stream) -> Vec<usize> {
        match self.order {
            Order::RoundRobin => {
                let rounds = self.kinds.iter().map(|kind| kind.jobs).max().unwrap_or(0);
                let round = |round| {
                    (0..self.kinds.len()).filter(move |&kind| self.kinds[kind].jobs > round)
                };
                (0..rounds).flat_map(round).collect()
            }
            Order::Shuffled => {
                let of_kind = |(index, kind): (usize, &JobKind)| vec![index; kind.jobs as usize];
                let mut all: Vec<usize> = self.kinds.iter().enumerate().flat_map(of_kind).collect();
                // Fisher and Yates: each order is equally likely.
                for last in (1..all.len()).rev() {
                    all.swap(last, stream.below(last as u64 + 1) as usize);
                }
                all
            }
        }
    }
}

/// Jobs of a [`MacroSpec`].
pub struct MacroSource {
    queues: [String; 1],
    /// Jobs to come, in order.
    jobs: VecDeque<Job>,
    /// The pause between an end and the next submission, where jobs follow each other.
    pause: Option<Span>,
    total: usize,
    /// Whether the chain's first job was handed out.
    started: bool,
    assumptions: Vec<String>,
}

impl MacroSource {
    /// Jobs of `spec` for a cluster with `kinds` resource kinds, under `seed`.
    pub fn new(spec: &MacroSpec, kinds: usize, seed: u64) -> Result<MacroSource, TraceError> {
        spec.check(kinds)?;
        let stream = |part: &str| Stream::new(seed, &format!("{}/{part}", spec.stream()));
        let sequence = spec.workload.sequence(&mut stream("order"));
        let submits = submit_times(spec, sequence.len(), &mut stream("arrivals"));
        let mut times = stream("durations");
        let chain = matches!(spec.workload.flow, Flow::After { .. }).then_some(0);
        let job = |(number, (kind, submit)): (usize, (usize, Time))| {
            let kind = &spec.workload.kinds[kind];
            let label = JobLabel::Name(format!("{} #{number}", kind.name).into());
            Job {
                label,
                queue: 0,
                submit,
                weight: 1,
                chain,
                groups: groups(spec, kind, &mut times),
            }
        };
        let jobs: VecDeque<Job> = sequence.into_iter().zip(submits).enumerate().map(job).collect();
        Ok(MacroSource {
            queues: [spec.queue.clone()],
            total: jobs.len(),
            jobs,
            pause: match spec.workload.flow {
                Flow::After { pause_s } => Some(seconds(pause_s)),
                _ => None,
            },
            started: false,
            assumptions: words(spec),
        })
    }
}

/// When each job is submitted; for a chain only the first counts.
fn submit_times(spec: &MacroSpec, jobs: usize, stream: &mut Stream) -> Vec<Time> {
    let after = |gap: Span| move |last: &Time| Some(last.saturating_add(gap));
    match (spec.workload.flow, &spec.submissions) {
        (Flow::Submissions { .. }, Some(times)) => times
            .iter()
            .take(jobs)
            .map(|&time| spec.start.saturating_add(time - Time::ZERO))
            .collect(),
        (Flow::Submissions { median_s, sigma }, None) => {
            let gap = Dist::LogNormal { median: median_s, sigma };
            let mut last = spec.start;
            let mut next = || {
                last = last.saturating_add(seconds(gap.draw(stream)));
                last
            };
            (0..jobs).map(|_| next()).collect()
        }
        (Flow::Every { gap_s }, _) => {
            std::iter::successors(Some(spec.start), after(seconds(gap_s))).take(jobs).collect()
        }
        (Flow::After { .. }, _) => vec![spec.start; jobs],
    }
}

/// The tasks of a job: each stage's times are log-normal around its mean.
fn groups(spec: &MacroSpec, kind: &JobKind, stream: &mut Stream) -> Vec<JobGroup> {
    let sigma = spec.workload.sigma;
    let group = |(number, stage): (u16, &Stage)| {
        // The mean of a log-normal is its median times e^(sigma^2 / 2).
        let time =
            Dist::LogNormal { median: stage.mean_s * libm::exp(-sigma * sigma / 2.0), sigma };
        let mut draw = || seconds(time.draw(stream) * spec.task_time_scale);
        let duration = Durations::Each((0..stage.tasks).map(|_| draw()).collect());
        JobGroup { stage: number, ..JobGroup::new(stage.tasks, spec.demand, duration) }
    };
    (0u16..).zip(kind.stages).map(group).collect()
}

/// Seconds to the nearest microsecond, at most [`Span::MAX`].
fn seconds(seconds: f64) -> Span {
    Span::from_secs_f64(seconds.min(MAX_MICROS as f64 / 1e6)).unwrap_or(Span::MAX)
}

fn words(spec: &MacroSpec) -> Vec<String> {
    let name = spec.workload.name;
    let mut words = vec![format!(
        "workload {name}: task times and sizes that the papers do not give are those of \
         docs/macro-workloads.md, \
         times {}",
        spec.task_time_scale
    )];
    if let (Flow::Submissions { median_s, sigma }, None) = (spec.workload.flow, &spec.submissions) {
        words.push(format!(
            "workload {name}: gaps between submissions are log-normal (median {median_s} s, sigma \
             {sigma}), fitted \
             to the SWIM sample, which was not given"
        ));
    }
    words
}

impl JobSource for MacroSource {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        if self.pause.is_some() && std::mem::replace(&mut self.started, true) {
            return Ok(None);
        }
        Ok(self.jobs.pop_front())
    }

    fn job_ended(&mut self, _chain: u32, now: Time) -> Option<Job> {
        let pause = self.pause?;
        let job = self.jobs.pop_front()?;
        Some(Job { submit: now.checked_add(pause)?, ..job })
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: (self.total - self.jobs.len()) as u64, ..SourceCounts::default() }
    }

    fn assumptions(&self) -> Vec<String> {
        self.assumptions.clone()
    }

    fn progress(&self) -> Option<f64> {
        Some(1.0 - self.jobs.len() as f64 / self.total.max(1) as f64)
    }
}

#[cfg(test)]
mod tests;
