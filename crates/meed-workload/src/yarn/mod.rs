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

use meed::{ResourceKinds, Time};

pub(crate) use apps::listed;
pub(crate) use assumptions::Kinds;
pub use assumptions::{YarnAssumptions, YarnQueues, YarnShape};

use crate::error::no_jobs_in;
use crate::whole::Whole;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use apps::App;
use meed_files::open::Origin;

/// Jobs of a file of YARN applications.
pub struct YarnSource {
    file: Whole<App>,
    shape: YarnShape,
    kinds: Kinds,
    words: Vec<String>,
    clock_us: Option<u64>,
}

/// What a file of applications says about the size of a cluster for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct YarnSize {
    /// Vcores, and bytes of memory, that are busy in the mean from the first submission to the
    /// last; at least what the widest task holds, at most what all hold at once.
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
        let mut input = origin.open()?;
        let bytes = input.whole()?;
        let mut file = apps::read(origin.name(), &bytes, &assumptions.queues, on_bad_line)?;
        crate::records::end_of_whole(&input, &bytes, &mut file.bad)?;
        if file.counts().lines == 0 && !bytes.trim_ascii().is_empty() {
            let why = "no applications: the ResourceManager's list is empty; ask it again when \
                       some have ended, or ask the one that ran them";
            return Err(no_jobs_in(origin.name(), why));
        }
        file.ensure_some(
            "wanted is what http://RM:8088/ws/v1/cluster/apps answers, with applications that have \
             ended",
        )?;
        let apps = file.rows();
        // Stable: equal times stay in the order of the file.
        apps.sort_by_key(|app| app.submit_ms);
        let first = apps[0].submit_ms;
        apps.iter_mut().for_each(|app| app.submit_ms -= first);
        Ok(YarnSource {
            words: assumptions.words(kinds, &resolved, first),
            file,
            shape: assumptions.shape,
            kinds: resolved,
            clock_us: first.checked_mul(1000),
        })
    }

    /// How large a cluster its jobs ask for. The jobs must not have been taken yet.
    pub fn size(&self) -> YarnSize {
        let last = self.file.left().next_back().map_or(0, |app| app.submit_ms).max(1);
        let mut sums = [0u128; 2];
        let mut widest = [0u64; 2];
        let mut at_once = [0u64; 2];
        for app in self.file.left() {
            let (tasks, [vcores, memory]) = app.tasks(self.shape);
            let time = u128::from(app.micros()) * u128::from(tasks);
            for (kind, amount) in [vcores, memory].into_iter().enumerate() {
                sums[kind] = sums[kind].saturating_add(time.saturating_mul(u128::from(amount)));
                widest[kind] = widest[kind].max(amount);
                let all = amount.saturating_mul(u64::from(tasks));
                at_once[kind] = at_once[kind].saturating_add(all);
            }
        }
        // Milliseconds between, microseconds of work.
        let mean = |kind: usize| {
            let mean = sums[kind] / (u128::from(last) * 1000);
            let mean = u64::try_from(mean).unwrap_or(u64::MAX);
            mean.max(widest[kind]).min(at_once[kind]).max(1)
        };
        YarnSize { vcores: mean(0), memory: mean(1) }
    }

    fn job(&self, app: App) -> Job {
        let (count, each) = app.tasks(self.shape);
        let group = JobGroup::new(
            count,
            self.kinds.demand([each[0].saturating_mul(1000), each[1]]),
            Durations::Same(crate::fields::span(app.micros())),
        );
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
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        // What holds nothing that the cluster counts is passed over.
        while let Some(app) = self.file.next() {
            let job = self.job(app);
            if !job.groups[0].demand.is_zero() {
                return Ok(Some(job));
            }
            self.file.leave_out();
        }
        Ok(None)
    }

    fn counts(&self) -> SourceCounts {
        self.file.counts()
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.file.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.words.clone()
    }

    fn clock_us(&self) -> Option<u64> {
        self.clock_us
    }

    fn progress(&self) -> Option<f64> {
        self.file.progress()
    }
}

#[cfg(test)]
mod tests;
