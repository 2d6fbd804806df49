//! YARN: the applications that a ResourceManager remembers, as its REST interface tells them.
//!
//! Format: what `curl -H 'Accept: application/json' http://RM:8088/ws/v1/cluster/apps` answers, one
//! JSON object `{"apps": {"app": [...]}}`; several such answers one after the other are one file,
//! and an application that is in more than one counts once. Of each are read `id`, `user`, `queue`,
//! `startedTime`, `launchTime`, `finishedTime` (milliseconds since 1970; the second is not in
//! older versions), `memorySeconds` (mebibytes x seconds) and `vcoreSeconds`; all else is passed
//! over.
//!
//! An application is told by its sums, not by its containers: with `V` vcore-seconds, `M`
//! MiB-seconds and `D` seconds from launch to end it becomes `w = max(1, ceil(V / D))` tasks of one
//! vcore and `M / V` MiB that run `V / w` seconds each. So its work in both resources is what it
//! was (to the microsecond and the byte of each task), its width is its mean width, and its shape
//! is assumed.
//!
//! Invariant: jobs come in order of submission; equal times in order of the file. Memory grows with
//! the file, which is read whole: a ResourceManager remembers 10,000 applications by default,
//! about 15 MB.

mod apps;
mod assumptions;

use std::vec::IntoIter;

use meed::{ResourceKinds, Time};

pub use assumptions::{YarnAssumptions, YarnQueues, YarnShape};

use crate::error::{BadLines, no_jobs};
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use apps::{App, Apps};
use assumptions::Kinds;
use meed_files::open::Origin;

/// Jobs of a file of YARN applications.
pub struct YarnSource {
    queues: Vec<String>,
    apps: IntoIter<App>,
    shape: YarnShape,
    kinds: Kinds,
    words: Vec<String>,
    bad: BadLines,
    counts: SourceCounts,
    total: usize,
}

/// What a file of applications says about the size of a cluster for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct YarnSize {
    /// Vcores, and bytes of memory, that are busy in the mean from the first submission to the
    /// last; at least what the widest task holds.
    pub vcores: u64,
    /// See `vcores`.
    pub memory: u64,
}

impl YarnSource {
    /// Opens `origin` for a cluster with these `kinds` and reads it whole, once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &YarnAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<YarnSource, TraceError> {
        let resolved = assumptions.resolve(kinds)?;
        let bytes = origin.whole()?;
        let mut read = Apps::read(origin.name(), &bytes, &assumptions.queues, on_bad_line)?;
        if read.apps.is_empty() {
            let wanted = "wanted is what http://RM:8088/ws/v1/cluster/apps answers, with \
                applications that have ended";
            return Err(no_jobs(origin.name(), read.seen, read.ignored, &read.bad, wanted));
        }
        // Stable: equal times stay in the order of the file.
        read.apps.sort_by_key(|app| app.submit_ms);
        let first = read.apps[0].submit_ms;
        read.apps.iter_mut().for_each(|app| app.submit_ms -= first);
        let counts = SourceCounts {
            lines: read.seen,
            ignored: read.ignored,
            bad: read.bad.count(),
            jobs: 0,
        };
        Ok(YarnSource {
            words: assumptions.words(kinds, &resolved, first),
            queues: read.queues,
            total: read.apps.len(),
            apps: read.apps.into_iter(),
            shape: assumptions.shape,
            kinds: resolved,
            bad: read.bad,
            counts,
        })
    }

    /// How large a cluster its jobs ask for. The jobs must not have been taken yet.
    pub fn size(&self) -> YarnSize {
        let apps = self.apps.as_slice();
        let last = apps.last().map_or(0, |app| app.submit_ms).max(1);
        let mut sums = [0u128; 2];
        let mut widest = [0u64; 2];
        for app in apps {
            let (tasks, [vcores, memory]) = app.tasks(self.shape);
            let time = u128::from(app.micros()) * u128::from(tasks);
            for (kind, amount) in [vcores, memory].into_iter().enumerate() {
                sums[kind] = sums[kind].saturating_add(time.saturating_mul(u128::from(amount)));
                widest[kind] = widest[kind].max(amount);
            }
        }
        // Milliseconds between, microseconds of work.
        let mean = |kind: usize| {
            let mean = sums[kind] / (u128::from(last) * 1000);
            u64::try_from(mean).unwrap_or(u64::MAX).max(widest[kind]).max(1)
        };
        YarnSize { vcores: mean(0), memory: mean(1) }
    }

    fn job(&self, app: App) -> Job {
        let (count, each) = app.tasks(self.shape);
        let group = JobGroup {
            stage: 0,
            count,
            demand: self.kinds.demand(each),
            duration: Durations::Same(crate::fields::span(app.micros())),
            constraints: None,
        };
        Job {
            // Checked: at most the largest time.
            submit: Time::from_micros(app.submit_ms * 1000).unwrap_or(Time::MAX),
            label: JobLabel::Name(app.id),
            queue: app.queue,
            weight: 1,
            chain: None,
            groups: vec![group],
        }
    }
}

impl JobSource for YarnSource {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        // What holds nothing that the cluster counts is passed over.
        for app in self.apps.by_ref() {
            let (_, each) = app.tasks(self.shape);
            if self.kinds.demand(each).is_zero() {
                self.counts.ignored += 1;
                continue;
            }
            self.counts.jobs += 1;
            return Ok(Some(self.job(app)));
        }
        Ok(None)
    }

    fn counts(&self) -> SourceCounts {
        self.counts
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.bad.first().iter().collect()
    }

    fn assumptions(&self) -> Vec<String> {
        self.words.clone()
    }

    fn progress(&self) -> Option<f64> {
        Some(1.0 - self.apps.len() as f64 / self.total.max(1) as f64)
    }
}

#[cfg(test)]
mod tests;
