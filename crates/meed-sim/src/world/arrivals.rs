//! Jobs to come: the source's next one, and those that ended chains caused, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meed::Time;
use meed::memory::expect_at;
use meed_workload::{Cause, Job, JobSource, SourceCounts, TraceError};

/// A job caused by the end of another; ties keep the order in which they were caused.
struct Caused {
    at: Time,
    order: u64,
    job: Job,
    cause: Cause,
}

impl PartialEq for Caused {
    fn eq(&self, other: &Caused) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl Eq for Caused {}
impl PartialOrd for Caused {
    fn partial_cmp(&self, other: &Caused) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Caused {
    fn cmp(&self, other: &Caused) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

pub(super) struct Arrivals<'a> {
    source: Box<dyn JobSource + 'a>,
    ahead: Option<Job>,
    caused: BinaryHeap<Reverse<Caused>>,
    order: u64,
    closed: bool,
}

impl<'a> Arrivals<'a> {
    pub(super) fn new(source: Box<dyn JobSource + 'a>) -> Arrivals<'a> {
        Arrivals { source, ahead: None, caused: BinaryHeap::new(), order: 0, closed: false }
    }

    /// Reads the first job.
    pub(super) fn fill(&mut self) -> Result<(), TraceError> {
        self.ahead = self.source.next_job()?;
        Ok(())
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        let ahead = self.ahead.as_ref().map(|job| job.submit);
        let caused = self.caused.peek().map(|Reverse(caused)| caused.at);
        earlier(ahead, caused)
    }

    /// The queue of the source's next job.
    #[inline]
    pub(super) fn next_queue(&self) -> Option<u32> {
        self.ahead.as_ref().map(|job| job.queue)
    }

    /// The next job, and how it was caused if the end of another did; call only when
    /// [`Arrivals::next_time`] gave a time.
    pub(super) fn pop(&mut self) -> Result<(Job, Option<Cause>), TraceError> {
        let next = self.next_time();
        if let Some(job) = self.ahead.take_if(|job| Some(job.submit) == next) {
            self.ahead = self.source.next_job()?;
            if let Some(next) = &self.ahead {
                // Where jobs wait in memory, their groups lie apart.
                expect_at(&next.groups, 0);
            }
            return Ok((job, None));
        }
        let Reverse(caused) = self.caused.pop().expect("a time was given");
        Ok((caused.job, Some(caused.cause)))
    }

    /// Nothing arrives any more.
    pub(super) fn close(&mut self) {
        (self.ahead, self.closed) = (None, true);
        self.caused.clear();
    }

    pub(super) fn chain_ended(&mut self, chain: u32, now: Time) {
        if self.closed {
            return;
        }
        if let Some(job) = self.source.job_ended(chain, now) {
            let at = job.submit.max(now);
            let after = Cause { pause: at.saturating_since(now), not_before: Time::ZERO };
            let cause = self.source.cause(chain).unwrap_or(after);
            self.caused.push(Reverse(Caused { at, order: self.order, job, cause }));
            self.order += 1;
        }
    }

    /// Name of the source's queue number `queue`.
    pub(super) fn queue_name(&self, queue: u32) -> &str {
        &self.source.queues()[queue as usize]
    }

    pub(super) fn counts(&self) -> SourceCounts {
        self.source.counts()
    }

    pub(super) fn bad_lines(&self) -> Vec<String> {
        self.source.bad_lines().iter().map(|line| line.to_string()).collect()
    }

    pub(super) fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

/// The earlier of two instants that there may be.
#[inline]
pub(super) fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}
