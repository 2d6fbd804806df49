//! A source of which something is to be said before all that it says itself.

use meed::{Span, Time};

use crate::source::Cause;
use crate::{BadLine, Job, JobSource, SourceCounts, TraceError};

/// A source with words that come first among its assumptions.
pub struct Noted<S> {
    source: S,
    words: Vec<String>,
}

impl<S: JobSource> Noted<S> {
    /// The jobs of `source`, with these words.
    pub fn new(source: S, words: Vec<String>) -> Noted<S> {
        Noted { source, words }
    }
}

impl<S: JobSource> JobSource for Noted<S> {
    fn queues(&self) -> &[String] {
        self.source.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        self.source.next_job()
    }

    fn waited(&self) -> Option<Span> {
        self.source.waited()
    }

    fn job_ended(&mut self, chain: u32, now: Time) -> Option<Job> {
        self.source.job_ended(chain, now)
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
        [self.words.clone(), self.source.assumptions()].concat()
    }

    fn used(&self) -> &[crate::Used] {
        self.source.used()
    }

    fn clock_us(&self) -> Option<u64> {
        self.source.clock_us()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}
