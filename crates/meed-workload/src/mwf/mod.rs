//! MWF: SWF extended by what jobs asked of their nodes, as in the logs of the Czech MetaCentrum for
//! the Alea simulator.
//!
//! Format: the 18 columns of SWF, then the processors used (`{1241,1241}`), the queue's name, and
//! the nodes asked for (`8:ppn=8:cl_zegox`). Submission is in seconds since 1970; requested memory
//! (column 10) is in bytes per node, as Alea reads it, not in kB per processor as in SWF. Of the
//! machine there is a second file: [`read_machines`]. What the format leaves open is decided by
//! [`MwfAssumptions`].
//!
//! A job is one task per node that it asks for. All jobs of the log that asked for several nodes
//! ran on as many different ones: so it is a constraint here. The tasks need not start together,
//! which the original demanded.
//!
//! Queues become known as the jobs do ([`MwfSource::once`]), or are collected in a first pass
//! unless the caller names them. Invariant: both passes judge every line by the same code. Cost:
//! memory for one line and the names of the queues.

mod assumptions;
mod hosts;
mod machines;
mod nodespec;
mod rows;

use std::collections::BTreeMap;

use meed::{Constraints, ResourceKinds, Resources, Unit};
use meed_config::words::suggest;

pub use assumptions::{MwfAssumptions, MwfProperties, MwfQueues};
pub use machines::read_machines;

use crate::error::BadRow;
use crate::records::Records;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;
use rows::{Row, Rows, Rules};

const WANTED: &str = "an MWF file has 21 columns a line";

/// Jobs of an MWF file.
pub struct MwfSource {
    rows: Rows,
    rules: Rules,
    words: Vec<String>,
    queues: Vec<String>,
    numbers: BTreeMap<String, u32>,
    /// Queues are those of the jobs, as these are read.
    grows: bool,
    /// Read ahead, so that a file without jobs is found out at once.
    next: Option<Job>,
    handed_out: u64,
}

impl MwfSource {
    /// Opens `origin` for a cluster with these `kinds`. Reads the file once to learn its queues,
    /// and with [`OnBadLine::Stop`] fails here already if a line is wrong.
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &MwfAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<MwfSource, TraceError> {
        let mut first = MwfSource::once(origin, kinds, assumptions, on_bad_line)?;
        while first.next_job()?.is_some() {}
        MwfSource::with_queues(origin, kinds, assumptions, on_bad_line, first.queues)
    }

    /// Opens `origin` to read it once: its queues become known as its jobs do, and all of them are
    /// known behind the last job.
    pub fn once(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &MwfAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<MwfSource, TraceError> {
        MwfSource::start(origin, kinds, assumptions, on_bad_line, None)
    }

    /// Opens `origin` with its queues known: read once, so a pipe will do. A job of any other queue
    /// is a bad line.
    pub fn with_queues(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &MwfAssumptions,
        on_bad_line: OnBadLine,
        queues: Vec<String>,
    ) -> Result<MwfSource, TraceError> {
        MwfSource::start(origin, kinds, assumptions, on_bad_line, Some(queues))
    }

    /// `queues`: `None` where they become known as the jobs do.
    fn start(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &MwfAssumptions,
        on_bad_line: OnBadLine,
        queues: Option<Vec<String>>,
    ) -> Result<MwfSource, TraceError> {
        let rules = Rules::new(assumptions, kinds)?;
        let records = Records::new(Lines::new(origin.open()?, LINE_LIMIT), on_bad_line);
        let rows = Rows::new(records, rules.clone());
        let words = rules.words(kinds);
        let (grows, queues) = (queues.is_none(), queues.unwrap_or_default());
        let numbers = queues.iter().cloned().zip(0..).collect();
        let mut source =
            MwfSource { rows, rules, words, queues, numbers, grows, next: None, handed_out: 0 };
        source.next = source.read_job()?;
        if source.next.is_none() {
            return Err(source.rows.records.no_jobs(WANTED));
        }
        Ok(source)
    }

    fn read_job(&mut self) -> Result<Option<Job>, TraceError> {
        while let Some((line, row)) = self.rows.next_row()? {
            match self.job(row) {
                Ok(job) => return Ok(Some(job)),
                Err(problem) => self.rows.records.note_at(line, problem)?,
            }
        }
        if self.grows && !self.queues.is_empty() {
            self.rows.records.ensure_most(WANTED)?;
        }
        Ok(None)
    }

    fn job(&mut self, row: Row) -> Result<Job, BadRow> {
        if self.grows && !self.numbers.contains_key(&row.queue) {
            self.numbers.insert(row.queue.clone(), self.queues.len() as u32);
            self.queues.push(row.queue.clone());
        }
        let Some(queue) = self.numbers.get(&row.queue) else {
            let hint = suggest(&row.queue, self.queues.iter().map(String::as_str));
            return Err(BadRow::line(format!("unknown queue \"{}\"; {hint}", row.queue)));
        };
        let nodes: u64 = row.chunks.iter().map(|chunk| u64::from(chunk.nodes)).sum();
        let group = |chunk: nodespec::Chunk| {
            let mut demand = Resources::zero(self.rules.kinds);
            demand.as_mut_slice()[self.rules.processor] = chunk.processors * Unit::Milli.scale();
            if let Some(kind) = self.rules.memory {
                demand.as_mut_slice()[kind] = row.memory;
            }
            let constraints = Constraints { distinct_nodes: nodes > 1, ..chunk.constraints };
            JobGroup {
                constraints: (!constraints.is_open()).then(|| Box::new(constraints)),
                limit: row.limit,
                ..JobGroup::new(chunk.nodes, demand, Durations::Same(row.duration))
            }
        };
        Ok(Job {
            label: JobLabel::Number(row.job),
            queue: *queue,
            submit: row.submit,
            weight: 1,
            chain: None,
            groups: row.chunks.into_iter().map(group).collect(),
        })
    }
}

impl JobSource for MwfSource {
    fn queues(&self) -> &[String] {
        &self.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some(job) = self.next.take() else { return Ok(None) };
        self.next = self.read_job()?;
        self.handed_out += 1;
        Ok(Some(job))
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
        self.rows.first().map(|first| first.as_micros())
    }

    fn progress(&self) -> Option<f64> {
        self.rows.records.progress()
    }
}

#[cfg(test)]
mod tests;
