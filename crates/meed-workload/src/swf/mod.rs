//! Standard Workload Format: logs of parallel machines, as in the Parallel Workloads Archive.
//!
//! Format: 18 columns of numbers separated by white space, one job a line, `-1` for unknown, `;`
//! before comments; the comments before the first job are the header. Times are seconds; more
//! digits are rounded to microseconds. What the format leaves open is decided by
//! [`SwfAssumptions`].
//!
//! Queues are not declared in SWF; they are in order of first appearance (of jobs that are not left
//! out). Who keeps the jobs reads the file once ([`SwfSource::once`]); for others it is read twice,
//! first to collect the queues and then for the jobs, unless the caller names them.
//!
//! Jobs come in order of submission. A row that is out of order is wrong; where one row is far too
//! late, that row and not those that follow it (`ordered`). A file most of whose rows are wrong is
//! refused.
//!
//! Invariant: both passes judge every line by the same code, so the queues collected are exactly
//! those of the jobs. Cost: memory for a few rows and the names of the queues; no allocation
//! per job but its group.

mod assumptions;
mod header;
mod rows;

use std::collections::BTreeMap;

use meed::{ResourceKinds, Span};
use meed_config::words::suggest;

pub use assumptions::{SwfAssumptions, SwfMemory, SwfProcessors, SwfQueues, SwfShape};
pub use header::SwfHeader;

use crate::error::BadRow;
use crate::records::Records;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;
use rows::{Row, Rows, Rules};

const WANTED: &str = "an SWF file has 18 numbers a line";

/// Jobs of an SWF file.
pub struct SwfSource {
    rows: Rows<Row>,
    rules: Rules,
    words: Vec<String>,
    queues: Vec<String>,
    /// The queues by name, where they were given: which number means which is found out by and by.
    names: BTreeMap<String, u32>,
    /// Queues are those of the jobs, as these are read.
    grows: bool,
    /// Queue of a number in the queue's column, for those seen.
    numbers: BTreeMap<Option<u64>, u32>,
    /// Read ahead, so that a file without jobs is found out at once.
    next: Option<(Job, Option<Span>)>,
    /// Of the job that was handed out last.
    waited: Option<Span>,
    handed_out: u64,
}

impl SwfSource {
    /// Opens `origin` for a cluster with these `kinds`. Reads the file once to learn its queues,
    /// and with [`OnBadLine::Stop`] fails here already if a line is wrong.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwfAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<SwfSource, TraceError> {
        let mut first = SwfSource::once(origin, kinds, assumptions, on_bad_line)?;
        while first.next_job()?.is_some() {}
        SwfSource::with_queues(origin, kinds, assumptions, on_bad_line, first.queues)
    }

    /// Opens `origin` to read it once: its queues become known as its jobs do, and all of them are
    /// known behind the last job.
    pub fn once(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwfAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<SwfSource, TraceError> {
        SwfSource::start(origin, kinds, assumptions, on_bad_line, None)
    }

    /// Opens `origin` with its queues known: read once, so a pipe will do. A job of any other queue
    /// is a bad line.
    pub fn with_queues(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwfAssumptions,
        on_bad_line: OnBadLine,
        queues: Vec<String>,
    ) -> Result<SwfSource, TraceError> {
        SwfSource::start(origin, kinds, assumptions, on_bad_line, Some(queues))
    }

    /// `queues`: `None` where they become known as the jobs do.
    fn start(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwfAssumptions,
        on_bad_line: OnBadLine,
        queues: Option<Vec<String>>,
    ) -> Result<SwfSource, TraceError> {
        let rules = Rules::new(assumptions, kinds)?;
        let records = Records::new(Lines::new(origin.open()?, LINE_LIMIT), on_bad_line);
        let rows = Rows::new(records, rules.clone());
        let words = rules.words(kinds);
        let (grows, queues) = (queues.is_none(), queues.unwrap_or_default());
        let names = queues.iter().cloned().zip(0..).collect();
        let (next, waited, handed_out) = (None, None, 0);
        let mut source = SwfSource {
            rows,
            rules,
            words,
            queues,
            names,
            grows,
            numbers: BTreeMap::new(),
            next,
            waited,
            handed_out,
        };
        source.next = source.read_job()?;
        if source.next.is_none() {
            return Err(source.rows.records.no_jobs(WANTED));
        }
        Ok(source)
    }

    /// What the header of `origin` says. Read up to the first job, and not further.
    pub fn header_of(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &SwfAssumptions,
    ) -> Result<SwfHeader, TraceError> {
        let records = Records::new(Lines::new(origin.open()?, LINE_LIMIT), OnBadLine::Skip);
        let mut rows = Rows::new(records, Rules::new(assumptions, kinds)?);
        match rows.next(|_| ())? {
            Some(_) => Ok(rows.header),
            None => Err(rows.records.no_jobs(WANTED)),
        }
    }

    /// What the file's header says.
    pub fn header(&self) -> &SwfHeader {
        &self.rows.header
    }

    fn read_job(&mut self) -> Result<Option<(Job, Option<Span>)>, TraceError> {
        while let Some((line, row)) = self.rows.next(|row| row)? {
            match self.queue_of(&row) {
                Ok(queue) => {
                    let wait = row.wait;
                    return Ok(Some((job(row, queue), wait)));
                }
                Err(problem) => self.rows.records.note_at(line, problem)?,
            }
        }
        if self.grows && !self.queues.is_empty() {
            self.rows.records.ensure_most(WANTED)?;
        }
        Ok(None)
    }

    fn queue_of(&mut self, row: &Row) -> Result<u32, BadRow> {
        if let Some(queue) = self.numbers.get(&row.key) {
            return Ok(*queue);
        }
        let name = self.rules.queue_name(row.key);
        if self.grows {
            let queue = self.queues.len() as u32;
            self.queues.push(name);
            self.numbers.insert(row.key, queue);
            return Ok(queue);
        }
        let Some(&queue) = self.names.get(&name) else {
            let hint = suggest(&name, self.queues.iter().map(String::as_str));
            return Err(BadRow::line(format!("unknown queue \"{name}\"; {hint}")));
        };
        self.numbers.insert(row.key, queue);
        Ok(queue)
    }
}

fn job(row: Row, queue: u32) -> Job {
    let group = JobGroup {
        limit: row.limit,
        gang: row.gang,
        ..JobGroup::new(row.tasks, row.demand, Durations::Same(row.duration))
    };
    Job {
        label: JobLabel::Number(row.job),
        queue,
        submit: row.submit,
        weight: 1,
        chain: None,
        groups: vec![group],
    }
}

impl JobSource for SwfSource {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some((job, waited)) = self.next.take() else { return Ok(None) };
        self.waited = waited;
        self.next = self.read_job()?;
        self.handed_out += 1;
        Ok(Some(job))
    }

    fn waited(&self) -> Option<Span> {
        self.waited
    }

    fn counts(&self) -> SourceCounts {
        self.rows.records.counts(self.handed_out)
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.rows.records.bad_lines()
    }

    fn assumptions(&self) -> Vec<String> {
        self.words.clone()
    }

    fn clock_us(&self) -> Option<u64> {
        self.header().unix_start_s().filter(|s| *s > 0)?.checked_mul(1_000_000)
    }

    fn progress(&self) -> Option<f64> {
        self.rows.records.progress()
    }
}

#[cfg(test)]
mod tests;
