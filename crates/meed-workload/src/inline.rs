//! A source from jobs in memory.

use std::vec::IntoIter;

use meed::memory::{expect, expect_at};

use crate::{Job, JobSource, SourceCounts, TraceError};

/// Jobs from a vector, sorted by submission (equal times stay in the vector's order).
///
/// The example of [`JobSource`] makes one.
pub struct Inline {
    queues: Vec<String>,
    jobs: IntoIter<Job>,
    total: usize,
}

impl Inline {
    /// The given jobs, whose queues are indices into `queues`, for a cluster with `kinds` resource
    /// kinds.
    pub fn new(
        queues: Vec<String>,
        mut jobs: Vec<Job>,
        kinds: usize,
    ) -> Result<Inline, TraceError> {
        for job in &jobs {
            job.check(queues.len(), kinds)
                .map_err(|why| TraceError::settings(format!("job {}", job.label), why))?;
        }
        jobs.sort_by_key(|job| job.submit);
        Ok(Inline { queues, total: jobs.len(), jobs: jobs.into_iter() })
    }
}

impl JobSource for Inline {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let next = self.jobs.next();
        let after = self.jobs.as_slice();
        // A job lies far from what was read between it and the one before: it is asked for before
        // its turn, and its groups once it is there.
        expect_at(after, 3);
        if let Some(job) = after.get(1) {
            let group = &job.groups[0];
            expect(group);
            expect(&group.demand);
            expect(&group.gang);
        }
        Ok(next)
    }

    fn counts(&self) -> SourceCounts {
        SourceCounts { jobs: (self.total - self.jobs.len()) as u64, ..SourceCounts::default() }
    }

    fn progress(&self) -> Option<f64> {
        Some(if self.total == 0 { 1.0 } else { 1.0 - self.jobs.len() as f64 / self.total as f64 })
    }
}
