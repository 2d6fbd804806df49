//! Sources whose jobs are changed on their way: a rule about jobs, put before any source.
//!
//! Everything else of the source stands as it is. Cost: the rule, for each job.

use meed::Time;

use crate::error::{BadLine, TraceError};
use crate::job::Job;
use crate::source::{Cause, JobSource, SourceCounts, Used};

/// What is changed about jobs.
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
