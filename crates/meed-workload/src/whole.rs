//! A file that is read whole, for its rows must be sorted: what such a reader keeps, and what it
//! tells as a [`crate::JobSource`].
//!
//! Queues are numbered in order of their first row in the file. Memory grows with the file.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::error::{BadLines, BadRow, no_jobs};
use crate::{BadLine, OnBadLine, SourceCounts, TraceError};

/// See the module.
pub(crate) struct Whole<R> {
    file: Arc<str>,
    /// Those that are not taken yet, in their order.
    rows: VecDeque<R>,
    /// Rows that there were.
    all: usize,
    queues: Vec<String>,
    numbers: BTreeMap<String, u32>,
    pub(crate) bad: BadLines,
    counts: SourceCounts,
}

impl<R> Whole<R> {
    /// Of `file`, of which nothing is read yet.
    pub(crate) fn new(file: &Arc<str>, on_bad_line: OnBadLine) -> Whole<R> {
        Whole {
            file: Arc::clone(file),
            rows: VecDeque::new(),
            all: 0,
            queues: Vec::new(),
            numbers: BTreeMap::new(),
            bad: BadLines::new(on_bad_line),
            counts: SourceCounts::default(),
        }
    }

    /// The number of a queue; a new one where it has none.
    pub(crate) fn number_of(&mut self, queue: &str) -> u32 {
        if let Some(&number) = self.numbers.get(queue) {
            return number;
        }
        let number = self.queues.len() as u32;
        self.numbers.insert(queue.to_owned(), number);
        self.queues.push(queue.to_owned());
        number
    }

    /// Takes in what stands on this line: a row, what an assumption leaves out, or what is wrong.
    pub(crate) fn add(
        &mut self,
        line: u64,
        found: Result<Option<R>, BadRow>,
    ) -> Result<(), TraceError> {
        self.counts.lines += 1;
        match found {
            Ok(Some(row)) => {
                self.rows.push_back(row);
                self.all += 1;
            }
            Ok(None) => self.counts.ignored += 1,
            Err(problem) => self.bad.note(&self.file, line, problem)?,
        }
        Ok(())
    }

    /// Takes in a file that is wrong, of those that are read as one.
    pub(crate) fn add_wrong(&mut self, file: &Arc<str>, why: BadRow) -> Result<(), TraceError> {
        self.counts.lines += 1;
        self.bad.note(file, 1, why)
    }

    /// Another row of what was taken in last.
    pub(crate) fn push(&mut self, row: R) {
        self.rows.push_back(row);
        self.all += 1;
    }

    /// Refuses a file without a row; `wanted` says what one looks like.
    pub(crate) fn ensure_some(&self, wanted: &str) -> Result<(), TraceError> {
        match self.rows.is_empty() {
            true => {
                let SourceCounts { lines, ignored, .. } = self.counts;
                Err(no_jobs(&self.file, lines, ignored, &self.bad, wanted))
            }
            false => Ok(()),
        }
    }

    /// The rows that are not taken yet, to be looked at and put into order.
    pub(crate) fn rows(&mut self) -> &mut [R] {
        self.rows.make_contiguous()
    }

    /// The same, only to look.
    pub(crate) fn left(&self) -> impl DoubleEndedIterator<Item = &R> {
        self.rows.iter()
    }

    /// Takes the next row as a job.
    pub(crate) fn next(&mut self) -> Option<R> {
        let row = self.rows.pop_front()?;
        self.counts.jobs += 1;
        Some(row)
    }

    /// Puts the rows into the order of these numbers, one for each; stable.
    pub(crate) fn reorder(&mut self, places: &[usize]) {
        let mut rows: Vec<(usize, R)> = places.iter().copied().zip(self.rows.drain(..)).collect();
        rows.sort_by_key(|(place, _)| *place);
        self.rows = rows.into_iter().map(|(_, row)| row).collect();
    }

    /// The row that was taken last is part of the job of the row before it.
    pub(crate) fn joined(&mut self) {
        self.counts.jobs -= 1;
    }

    /// The row that was taken last is no job.
    pub(crate) fn leave_out(&mut self) {
        self.counts.jobs -= 1;
        self.counts.ignored += 1;
    }

    pub(crate) fn queues(&self) -> &[String] {
        &self.queues
    }

    pub(crate) fn counts(&self) -> SourceCounts {
        SourceCounts { bad: self.bad.count(), ..self.counts }
    }

    pub(crate) fn bad_lines(&self) -> Vec<&BadLine> {
        self.bad.first().iter().collect()
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        Some(1.0 - self.rows.len() as f64 / self.all.max(1) as f64)
    }
}
