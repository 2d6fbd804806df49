//! The window of a log: the time for which it has all jobs.
//!
//! `sacct -S FROM -E TO` lists what ran in that time, and so do files of accounting that are cut at
//! midnight: jobs that were submitted before FROM are there where they were alive then, and nobody
//! else of their time is. Read as it stands such a log begins with days of an empty cluster.
//!
//! | a job | in the window |
//! |---|---|
//! | that ran when the window begins | comes at its beginning, with what is left of it, before all others |
//! | that waited then | comes right behind these ([`BEHIND`]) |
//! | that had ended by then | is left out |
//! | submitted behind the window's end | is left out |
//! | any other | comes when it came |
//!
//! A window is found ([`find`]) where the log tells starts, those who were submitted before its
//! first end came at less than half the rate of all later ones, and hardly any log of all
//! submissions has so late a first end:
//!
//! > begin = the last submission or start before the first end
//! >
//! > A = jobs submitted before begin;  T = begin - first submission
//! >
//! > |A| / T < 1/2 |others| / (last submission - begin),  T >= 1 h,
//! >
//! > product over j in A of (the part of all jobs that stay >= begin - submission of j) < 10^-4
//!
//! A log of all submissions from some day on has its first end soon after that day: the product is
//! the chance that none of A has ended.
//!
//! Cost: some passes over integers of each job; of the source, the jobs of A in memory.

use std::collections::VecDeque;

use meed::{MICROS_PER_S, Span, Time};

use crate::outliers::Outliers;
use crate::size::Footprints;
use crate::source::Cause;
use crate::{BadLine, Durations, Job, JobGroup, JobSource, SourceCounts, TraceError};

/// Jobs that waited when the window begins come so long behind those that ran: at any load another
/// instant, and no time for people.
pub const BEHIND: u64 = 1000;

/// A window is not shorter than this before its first end.
const LEAST: u64 = 3600 * MICROS_PER_S;

/// Chance that a log of all submissions looks like one of a window.
const CHANCE: f64 = 1e-4;

/// A window of a log, in the log's own time.
///
/// It is read with [`InWindow`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogWindow {
    /// Its beginning.
    pub begin: Time,
    /// Its end, if it has one: who is submitted then or later is left out.
    pub end: Option<Time>,
}

/// How many jobs a window changes, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Windowed {
    /// Ran at its beginning.
    pub running: u64,
    /// Waited at its beginning.
    pub waiting: u64,
    /// Had ended by its beginning.
    pub before: u64,
    /// Were submitted behind its end.
    pub after: u64,
}

/// What becomes of a job.
enum Fate {
    /// It ran for so long before the window begins.
    Runs(Span),
    Waits,
    Before,
    Comes,
    After,
}

impl LogWindow {
    fn fate(&self, submit: Time, start: Option<Time>, length: u64) -> Fate {
        if self.end.is_some_and(|end| submit >= end) {
            return Fate::After;
        }
        // Where no window begins nobody came before it.
        if self.begin == Time::ZERO || submit > self.begin {
            return Fate::Comes;
        }
        match start {
            // Nobody knows whether it ran: it is of the time before.
            None if submit < self.begin => Fate::Before,
            None => Fate::Waits,
            Some(start) if start >= self.begin => Fate::Waits,
            Some(start) if start.as_micros().saturating_add(length) <= self.begin.as_micros() => {
                Fate::Before
            }
            Some(start) => Fate::Runs(self.begin.saturating_since(start)),
        }
    }

    /// How many of these jobs it changes, and how.
    pub fn counts(&self, ran: &Footprints) -> Windowed {
        let mut counts = Windowed::default();
        for job in 0..ran.count() {
            let fate = self.fate(ran.submitted(job), ran.started(job), ran.length(job));
            match fate {
                Fate::Runs(_) => counts.running += 1,
                Fate::Waits => counts.waiting += 1,
                Fate::Before => counts.before += 1,
                Fate::After => counts.after += 1,
                Fate::Comes => {}
            }
        }
        counts
    }
}

/// The window of a log, where it looks like one of all that was alive in some time. `outliers` are
/// rows of it that are far from all others.
pub fn find(ran: &Footprints, outliers: &Outliers) -> Option<LogWindow> {
    if !ran.tells_starts() {
        return None;
    }
    let is_out = ran.without(outliers);
    let end = |job: usize| ran.started(job).map(|_| ran.end(job));
    let first_end = ran.kept(&is_out).filter_map(end).min()?;
    // One that is far from all others was alive at the beginning, or is a slip.
    let is_of_log = |job: &usize| end(*job).is_none_or(|end| end >= first_end);
    let jobs: Vec<usize> = (0..ran.count()).filter(is_of_log).collect();
    let events = jobs.iter().flat_map(|&job| {
        [Some(ran.submit(job)), ran.started(job).map(Time::as_micros)].into_iter().flatten()
    });
    let begin = events.filter(|at| *at < first_end).max()?;
    let first = ran.submit(*jobs.first()?);
    let last = jobs.iter().rev().find(|job| !is_out[**job]).map_or(first, |job| ran.submit(*job));
    let time = begin.saturating_sub(first);
    if time < LEAST || begin >= last {
        return None;
    }
    let early = jobs.iter().filter(|job| ran.submit(**job) < begin).count();
    let rate = |jobs: usize, other: u64| jobs as u128 * u128::from(other);
    if rate(2 * early, last - begin) >= rate(jobs.len() - early, time) {
        return None;
    }
    let stay = |job: usize| end(job).map_or(0, |end| end.saturating_sub(ran.submit(job)));
    let mut stays: Vec<u64> = jobs.iter().map(|job| stay(*job)).collect();
    stays.sort_unstable();
    let mut chance = 1.0;
    for job in &jobs[..early] {
        let age = begin - ran.submit(*job);
        let longer = stays.len() - stays.partition_point(|stay| *stay < age);
        chance *= longer as f64 / stays.len() as f64;
        if chance < CHANCE {
            return Some(LogWindow { begin: Time::from_micros(begin)?, end: None });
        }
    }
    None
}

/// A source within a window.
///
/// ```
/// # use meed::{Resources, Span, Time};
/// # use meed_workload::inline::Inline;
/// # use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource};
/// # let tasks = Durations::Same(Span::from_secs(10).ok_or("in range")?);
/// # let job = |number: u64| Job {
/// #     label: JobLabel::Number(number),
/// #     queue: 0,
/// #     submit: Time::from_secs(number * 60).unwrap_or(Time::ZERO),
/// #     weight: 1000,
/// #     chain: None,
/// #     groups: vec![JobGroup::new(1, Resources::new(&[1000]), tasks.clone())],
/// # };
/// # let mut source = Inline::new(vec!["ads".to_owned()], vec![job(0), job(1)], 1)?;
/// use meed_workload::window::{InWindow, LogWindow};
/// let window = LogWindow { begin: Time::from_secs(30).ok_or("in range")?, end: None };
/// let mut late = InWindow::new(source, window)?;
/// assert_eq!(late.next_job()?.map(|job| job.label), Some(JobLabel::Number(1)));
/// assert!(late.next_job()?.is_none()); // the first job came before
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct InWindow<S> {
    source: S,
    window: LogWindow,
    /// Those that come at the beginning, and the first one behind.
    ready: VecDeque<(Job, Option<Span>)>,
    waited: Option<Span>,
    left_out: u64,
}

impl<S: JobSource> InWindow<S> {
    /// The jobs of `source`, from its beginning.
    pub fn new(source: S, window: LogWindow) -> Result<InWindow<S>, TraceError> {
        let ready = VecDeque::new();
        let mut within = InWindow { source, window, ready, waited: None, left_out: 0 };
        let (mut running, mut waiting) = (VecDeque::new(), VecDeque::new());
        let mut first = None;
        while let Some((fate, job, waited)) = within.read()? {
            match fate {
                Fate::Runs(ran) => running.extend(rest_of(job, ran).map(|job| (job, None))),
                Fate::Waits => waiting.push_back((at(job, BEHIND), None)),
                Fate::Before | Fate::After => within.left_out += 1,
                Fate::Comes => {
                    first = Some((within.shifted(job), waited));
                    break;
                }
            }
        }
        within.ready = running.into_iter().chain(waiting).chain(first).collect();
        Ok(within)
    }

    fn read(&mut self) -> Result<Option<(Fate, Job, Option<Span>)>, TraceError> {
        let Some(job) = self.source.next_job()? else { return Ok(None) };
        let waited = self.source.waited();
        let start = waited.map(|waited| job.submit.saturating_add(waited));
        Ok(Some((self.window.fate(job.submit, start, crate::size::length(&job)), job, waited)))
    }

    fn shifted(&self, job: Job) -> Job {
        if self.window.begin == Time::ZERO {
            return job;
        }
        let since = job.submit.saturating_since(self.window.begin).as_micros();
        at(job, since.max(BEHIND))
    }
}

fn at(job: Job, micros: u64) -> Job {
    Job { submit: Time::from_micros(micros).unwrap_or(job.submit), ..job }
}

/// A job that has run for so long: what is left of it comes at time 0. Nothing where nothing is
/// left.
fn rest_of(job: Job, ran: Span) -> Option<Job> {
    let mut left = ran.as_micros();
    let mut groups: Vec<JobGroup> = Vec::with_capacity(job.groups.len());
    for stage in job.groups.chunk_by(|a, b| a.stage == b.stage) {
        let longest = stage.iter().map(|group| group.duration.longest()).max();
        let past = left.min(longest.unwrap_or(Span::ZERO).as_micros());
        left -= past;
        groups.extend(stage.iter().filter_map(|group| group_from(group, past)));
    }
    let first = groups.first()?.stage;
    groups.iter_mut().for_each(|group| group.stage -= first);
    Some(Job { groups, submit: Time::ZERO, ..job })
}

/// What is left of tasks that have run for so long; nothing where all had ended.
fn group_from(group: &JobGroup, past: u64) -> Option<JobGroup> {
    if past == 0 {
        return Some(group.clone());
    }
    let rest = |span: Span| Span::from_micros(span.as_micros().checked_sub(past)?);
    let rest = |span: Span| rest(span).filter(|rest| *rest > Span::ZERO);
    let (count, duration) = match &group.duration {
        Durations::Same(span) => (group.count, Durations::Same(rest(*span)?)),
        Durations::Each(spans) => {
            let spans: Vec<Span> = spans.iter().filter_map(|span| rest(*span)).collect();
            (u32::try_from(spans.len()).ok()?, Durations::Each(spans.into()))
        }
    };
    let gang = group.gang.clone().map(|mut gang| {
        gang.least = gang.least.min(count);
        gang
    });
    // A limit counts from the start, and one that has passed says that it ends now.
    let moment = Span::from_micros(1).unwrap_or(Span::ZERO);
    let limit = group.limit.map(|limit| rest(limit).unwrap_or(moment));
    (count > 0).then(|| JobGroup { count, duration, gang, limit, ..group.clone() })
}

impl<S: JobSource> JobSource for InWindow<S> {
    fn queues(&self) -> &[String] {
        self.source.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        if let Some((job, waited)) = self.ready.pop_front() {
            self.waited = waited;
            return Ok(Some(job));
        }
        while let Some((fate, job, waited)) = self.read()? {
            match fate {
                Fate::Comes => {
                    self.waited = waited;
                    return Ok(Some(self.shifted(job)));
                }
                // The source is in order: nobody of the beginning comes here.
                _ => self.left_out += 1,
            }
        }
        Ok(None)
    }

    fn waited(&self) -> Option<Span> {
        self.waited
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        self.source.job_ended(chain, now)
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.source.cause(chain)
    }

    fn counts(&self) -> SourceCounts {
        let counts = self.source.counts();
        let held = self.left_out + self.ready.len() as u64;
        let (jobs, ignored) = (counts.jobs.saturating_sub(held), counts.ignored + self.left_out);
        SourceCounts { jobs, ignored, ..counts }
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.source.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.source.assumptions()
    }

    fn used(&self) -> &[crate::Used] {
        self.source.used()
    }

    fn clock_us(&self) -> Option<u64> {
        self.source.clock_us().map(|clock| clock.saturating_add(self.window.begin.as_micros()))
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

#[cfg(test)]
mod tests;
