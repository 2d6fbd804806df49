//! Sources whose jobs are changed on their way: a rule about jobs, put before any source.
//!
//! Everything else of the source stands as it is. Cost: the rule, for each job.

use meed::Time;

use crate::error::{BadLine, TraceError};
use crate::job::Job;
use crate::source::{Cause, JobSource, SourceCounts, Used};

/// What is changed about jobs.
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
/// use meed_workload::changed::Changed;
/// use meed_workload::stretch::Load;
/// let twice = Load::from_thousandths(2000).ok_or("in range")?; // jobs come twice as fast
/// let mut source = Changed::new(source, twice);
/// let last = std::iter::from_fn(|| source.next_job().transpose()).last().ok_or("two jobs")??;
/// assert_eq!(last.submit.as_secs_f64(), 30.0); // not after a minute
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait JobChange {
    /// A job that the workload submits. Submissions stay in order.
    fn submitted(&self, job: Job) -> Job;

    /// A job that the end of another causes ([`JobSource::job_ended`]): as one that is submitted,
    /// unless the change says otherwise.
    fn caused(&self, job: Job) -> Job {
        self.submitted(job)
    }

    /// Whether jobs come when they came in the input; they do unless the change says otherwise.
    fn keeps_time(&self) -> bool {
        true
    }

    /// What is changed, in words; for reports. `None`: nothing need be said.
    fn words(&self) -> Option<String>;
}

/// A source whose jobs are changed.
///
/// The example of [`JobChange`] makes one.
pub struct Changed<S, C> {
    source: S,
    change: C,
}

impl<S: JobSource, C: JobChange> Changed<S, C> {
    /// The jobs of `source`, changed.
    pub fn new(source: S, change: C) -> Changed<S, C> {
        Changed { source, change }
    }
}

impl<S: JobSource, C: JobChange> JobSource for Changed<S, C> {
    fn queues(&self) -> &[String] {
        self.source.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        Ok(self.source.next_job()?.map(|job| self.change.submitted(job)))
    }

    fn waited(&self) -> Option<meed::Span> {
        self.source.waited()
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        self.source.job_ended(chain, now).map(|job| self.change.caused(job))
    }

    fn cause(&self, chain: u32) -> Option<Cause> {
        self.source.cause(chain)
    }

    fn counts(&self) -> SourceCounts {
        self.source.counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.source.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        let mut words = self.source.assumptions();
        words.extend(self.change.words());
        words
    }

    fn used(&self) -> &[Used] {
        self.source.used()
    }

    fn clock_us(&self) -> Option<u64> {
        self.source.clock_us().filter(|_| self.change.keeps_time())
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
