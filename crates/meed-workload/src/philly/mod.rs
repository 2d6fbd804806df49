//! Philly: jobs of Microsoft's GPU clusters, per virtual cluster, as comma-separated values, or in
//! JSON as they were published (`published`).
//!
//! Format: a header line that names the columns, one job a line. `vc` (virtual cluster),
//! `arrival_s` (seconds since the first job *of that virtual cluster*), `gpus`, `duration_s`; in
//! any order, further columns are passed over. Values are plain (no quotes). Virtual clusters are
//! queues, in order of their first job in the file.
//!
//! The file is grouped by virtual cluster, and their clocks have no common zero:
//! [`PhillyAssumptions::align`] and `offsets` place them on one. So the jobs are in order of
//! submission only once all are known.
//!
//! Invariant: jobs come in order of submission; equal times in order of the file. Memory, unlike
//! that of other readers, grows with the file: 32 bytes a job (all 117,325 jobs that were
//! published: 4 MB), and one sort.

mod assumptions;
pub(crate) mod published;
pub(crate) mod rows;

use std::collections::BTreeMap;

use meed::{Gang, MAX_MICROS, ResourceKinds, Span, Time};

pub use assumptions::{PhillyAlign, PhillyAssumptions, PhillyShape};

use crate::whole::Whole;
use crate::{BadLine, Durations, Job, JobGroup, JobSource, OnBadLine, SourceCounts, TraceError};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;
use rows::Row;

/// Jobs of a Philly file.
pub struct PhillySource {
    file: Whole<Row>,
    shape: PhillyShape,
    gpu: usize,
    kinds: usize,
    words: Vec<String>,
    clock_us: Option<u64>,
}

/// What a Philly file says about the size of a cluster for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PhillySize {
    /// GPU-seconds of all jobs, over the seconds from the first submission to the last; at least 1,
    /// at most the GPUs of all jobs together.
    pub mean_gpus: u64,
    /// GPUs of the widest job.
    pub widest: u64,
}

impl PhillySource {
    /// Opens `origin` for a cluster with these `kinds` and reads it whole, once: a pipe will do.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &PhillyAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<PhillySource, TraceError> {
        let gpu = assumptions.resolve(kinds)?;
        let start = origin.beginning(1 << 10).unwrap_or_default();
        let found = match published::is_array(&start) {
            true => published(origin, assumptions, on_bad_line)?,
            false => plain(origin, assumptions, on_bad_line)?,
        };
        let Found { mut file, first, told } = found;
        file.ensure_some(match first {
            Some(_) => "wanted are jobs of cluster_job_log with attempts that have ended",
            // Nothing tells what an empty file was to be.
            None if start.trim_ascii().is_empty() => {
                "a table of jobs has the names of its columns in the first line"
            }
            None => {
                "a Philly file has the columns vc, arrival_s, gpus, duration_s, named in its first \
                 line"
            }
        })?;
        let queues = file.queues().to_vec();
        let rows = file.rows();
        let clock_us = first.filter(|_| assumptions.keeps_dates());
        if clock_us.is_none() && first.is_some() {
            since_own_first(queues.len(), rows);
        }
        let starts = assumptions.starts(&queues, rows)?;
        for row in &mut *rows {
            let late = starts[row.queue as usize].as_micros();
            // Both are at most 2^53: the sum fits, and what lies beyond the end of time is moved to
            // it.
            row.submit = Time::from_micros((row.submit.as_micros() + late).min(MAX_MICROS))
                .unwrap_or(Time::MAX);
        }
        // Stable: equal times stay in the order of the file.
        rows.sort_by_key(|row| row.submit);
        let mut words = assumptions.words(kinds.name(gpu), first);
        words.extend(told);
        let clock_us = clock_us.filter(|_| assumptions.offsets.is_empty());
        let (shape, kinds) = (assumptions.shape, kinds.len());
        Ok(PhillySource { file, shape, gpu, kinds, words, clock_us })
    }

    /// How large a cluster its jobs ask for. The jobs must not have been taken yet.
    pub fn size(&self) -> PhillySize {
        let rows = || self.file.left();
        let work: u128 =
            rows().map(|row| u128::from(row.gpus) * u128::from(row.duration.as_micros())).sum();
        let first = rows().next().map_or(Time::ZERO, |row| row.submit);
        let span = rows().next_back().map_or(Span::ZERO, |row| row.submit - first);
        let mean = work / u128::from(span.as_micros().max(1));
        let at_once: u64 = rows().map(|row| u64::from(row.gpus)).sum();
        let mean = u64::try_from(mean).unwrap_or(u64::MAX).min(at_once).max(1);
        let widest = rows().map(|row| u64::from(row.gpus)).max().unwrap_or(1);
        PhillySize { mean_gpus: mean, widest }
    }

    fn job(&self, row: Row) -> Job {
        let (count, each) = match self.shape {
            PhillyShape::Rigid => (1, u64::from(row.gpus)),
            PhillyShape::Split | PhillyShape::Gang => (row.gpus, 1),
        };
        let demand = rows::demand(each, self.gpu, self.kinds);
        let duration = Durations::Same(row.duration);
        let gang = Gang::all(count).filter(|_| self.shape == PhillyShape::Gang);
        let group = JobGroup { gang, ..JobGroup::new(count, demand, duration) };
        Job {
            label: row.label,
            queue: row.queue,
            submit: row.submit,
            weight: 1,
            chain: None,
            groups: vec![group],
        }
    }
}

impl JobSource for PhillySource {
    fn queues(&self) -> &[String] {
        self.file.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let row = self.file.next();
        Ok(row.map(|row| self.job(row)))
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

/// The jobs of a file of comma-separated values.
fn plain(
    origin: &Origin,
    assumptions: &PhillyAssumptions,
    on_bad_line: OnBadLine,
) -> Result<Found, TraceError> {
    if assumptions.time_zone.is_some() {
        let why = "the file has no dates, of which it would be the zone; leave it out";
        return Err(TraceError::settings("the Philly reader's time_zone", why));
    }
    let lines = Lines::new(origin.open()?, LINE_LIMIT);
    let file = rows::read(lines, assumptions.shape, on_bad_line)?;
    Ok(Found { file, first: None, told: Vec::new() })
}

/// The jobs of a file.
struct Found {
    file: Whole<Row>,
    /// The first submission, where it has dates.
    first: Option<u64>,
    /// What is left out, in words.
    told: Vec<String>,
}

/// The jobs of a file of JSON, since its first submission.
fn published(
    origin: &Origin,
    assumptions: &PhillyAssumptions,
    on_bad_line: OnBadLine,
) -> Result<Found, TraceError> {
    let zone = assumptions.zone()?;
    let mut input = origin.open()?;
    let bytes = input.whole()?;
    let (mut file, left_out) = published::read(origin.name(), &bytes, &zone, on_bad_line)?;
    crate::records::end_of_whole(&input, &bytes, &mut file.bad)?;
    let first = published::since_first(file.rows());
    Ok(Found { file, first: Some(first), told: left_out.words() })
}

/// The clock of each virtual cluster begins with its own first job.
fn since_own_first(queues: usize, rows: &mut [Row]) {
    let mut first = vec![Time::MAX; queues];
    for row in &*rows {
        let own = &mut first[row.queue as usize];
        *own = (*own).min(row.submit);
    }
    for row in rows {
        let late = row.submit.saturating_since(first[row.queue as usize]);
        row.submit = Time::ZERO.saturating_add(late);
    }
}

/// The latest submission of each queue.
fn last_of_each(queues: usize, rows: &[Row]) -> Vec<Span> {
    let mut last = vec![Span::ZERO; queues];
    for row in rows {
        let own = &mut last[row.queue as usize];
        *own = (*own).max(row.submit - Time::ZERO);
    }
    last
}

/// Offsets by name, as a scenario gives them.
pub type PhillyOffsets = BTreeMap<String, Span>;

#[cfg(test)]
mod tests;
