//! Where jobs come from: a stream in order of submission.

use crate::error::{BadLine, TraceError};
use crate::job::Job;

/// A stream of jobs, ordered by submission time (equal times keep the source's order).
///
/// A source never holds its whole input in memory unless its documentation says so; what it skips
/// it counts.
///
/// ```
/// use meed::{Resources, Span, Time};
/// use meed_workload::inline::Inline;
/// use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource};
///
/// let job = |number, seconds| Job {
///     label: JobLabel::Number(number),
///     queue: 0,
///     submit: Time::from_secs(seconds).expect("in range"),
///     weight: 1000,
///     chain: None,
///     groups: vec![JobGroup::new(1, Resources::new(&[1000]), Durations::Same(Span::ZERO))],
/// };
/// let mut source = Inline::new(vec!["ads".to_owned()], vec![job(1, 60), job(2, 0)], 1)?;
/// assert_eq!(source.queues(), ["ads"]);
/// let first = source.next_job()?.map(|job| job.label);
/// assert_eq!(first, Some(JobLabel::Number(2))); // in order of submission
/// # Ok::<(), meed_workload::TraceError>(())
/// ```
pub trait JobSource {
    /// Names of all queues that jobs of this source may name, in order of declaration. Known before
    /// the first job.
    fn queues(&self) -> &[String];

    /// The next job; `None` at the end.
    fn next_job(&mut self) -> Result<Option<Job>, TraceError>;

    /// How long the job that [`JobSource::next_job`] returned last waited in the input from its
    /// submission to its start; `None` where the input does not tell.
    fn waited(&self) -> Option<meed::Span> {
        None
    }

    /// Told when a job of the closed chain `chain` has ended (completed, failed, cancelled or
    /// refused). Returns the job that this causes, if any; its `submit` is not before `now`.
    fn job_ended(&mut self, _chain: u32, _now: meed::Time) -> Option<Job> {
        None
    }

    /// How the time of the job that [`JobSource::job_ended`] returned last for `chain` came about,
    /// where it is not simply a pause after that end.
    fn cause(&self, _chain: u32) -> Option<Cause> {
        None
    }

    /// What was read and skipped so far.
    fn counts(&self) -> SourceCounts {
        SourceCounts::default()
    }

    /// The first of the lines that were skipped because they were wrong, with their messages.
    fn bad_lines(&self) -> Vec<&BadLine> {
        Vec::new()
    }

    /// What the input does not hold and this source assumed, in words; for reports.
    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }

    /// How much of what executors held was used, where the input tells that apart.
    fn used(&self) -> &[Used] {
        &[]
    }

    /// What the clock said at time 0 of these jobs, in microseconds since 1970-01-01 UTC, where the
    /// input says that and time runs as it did there.
    fn clock_us(&self) -> Option<u64> {
        None
    }

    /// Fraction of the input that has been read (0 to 1), where that can be known; for progress
    /// only.
    fn progress(&self) -> Option<f64> {
        None
    }
}

/// What the executors of a queue held while they were registered, and how much of it tasks used.
///
/// ```
/// use meed_workload::Used;
///
/// let used = Used {
///     queue: "ads".to_owned(),
///     held_core_s: 100.0,
///     container_core_s: 100.0,
///     used_core_s: 75.0,
/// };
/// assert_eq!(used.idle_share(), Some(0.25));
/// ```
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Used {
    /// The queue.
    pub queue: String,
    /// Cores x seconds of executors.
    pub held_core_s: f64,
    /// The same of their containers, from when these were given, where that is known.
    pub container_core_s: f64,
    /// Cores x seconds of tasks.
    pub used_core_s: f64,
}

impl Used {
    /// The part that no task used; `None` where nothing was held.
    pub fn idle_share(&self) -> Option<f64> {
        let share = 1.0 - self.used_core_s / self.held_core_s;
        (self.held_core_s > 0.0).then(|| share.clamp(0.0, 1.0))
    }
}

/// The first microsecond since 1970-01-01 UTC that has no date of four digits: clocks are before.
pub const CLOCK_END_US: u64 = 253_402_300_800_000_000;

/// When a chained job comes: `pause` after the end of the one before, but not before `not_before`.
///
/// [`JobSource::cause`] tells it; the page of [`JobSource`] has an example of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cause {
    /// After the end of the job before.
    pub pause: meed::Span,
    /// A time of its own.
    pub not_before: meed::Time,
}

/// What a source has read and skipped.
///
/// [`JobSource::counts`] tells it; the page of [`JobSource`] has an example of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceCounts {
    /// Lines (or records) read.
    pub lines: u64,
    /// Jobs handed out.
    pub jobs: u64,
    /// Lines skipped because they were wrong (malformed, out of order, impossible).
    pub bad: u64,
    /// Lines left out on purpose, by a documented assumption (jobs that never ran, for example).
    pub ignored: u64,
}

impl<S: JobSource + ?Sized> JobSource for Box<S> {
    fn queues(&self) -> &[String] {
        (**self).queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        (**self).next_job()
    }

    fn waited(&self) -> Option<meed::Span> {
        (**self).waited()
    }

    fn job_ended(&mut self, chain: u32, now: meed::Time) -> Option<Job> {
        (**self).job_ended(chain, now)
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        (**self).cause(chain)
    }

    fn counts(&self) -> SourceCounts {
        (**self).counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        (**self).bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        (**self).assumptions()
    }

    fn used(&self) -> &[Used] {
        (**self).used()
    }

    fn clock_us(&self) -> Option<u64> {
        (**self).clock_us()
    }

    fn progress(&self) -> Option<f64> {
        (**self).progress()
    }
}
