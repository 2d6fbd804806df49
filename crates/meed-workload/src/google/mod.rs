//! Google's cluster traces of 2011 (ClusterData2011-2): task_events, as published.
//!
//! Format: comma-separated, no header, 13 columns, one event of a task a line, in order of time:
//! microseconds, missing info, job id, task index, machine id, event, user, scheduling class,
//! priority, requests for cpu, memory and disk, different machines. Requests are shares of the
//! largest machine: here it has 1000 natural units of each resource, a million smallest ones
//! ([`MACHINE`]), so that all but the finest published values are exact (0.0006247 becomes
//! 0.000625). What the format leaves open is decided by [`GoogleAssumptions`].
//!
//! Tasks of one job that are submitted together make one [`Job`]; later ones make another with the
//! same label and queue, submitted when they were. So no task comes before it came, and the
//! completion of the whole job is the last end under that label less the first submission.
//! "Different machines" holds within each of them.
//!
//! Invariant: equal input and assumptions give equal jobs; every row is a task's that is handed
//! out, or counted as bad or ignored. Cost: one pass, the whole table in memory: some 50 bytes per
//! task, which any number of sources can share.

mod assumptions;
mod index;
mod machines;
mod row;
mod table;

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{Constraints, ResourceKinds, Resources, Time};

pub use assumptions::{GoogleAssumptions, GoogleEpisode, GoogleQueues, GoogleUnfinished};
pub use machines::{Draw, MachineClass, PUBLISHED_MACHINES, published_mix, read_machine_events};

use crate::error::BadLines;
use crate::fields::{span, time};
use crate::records::Records;
use crate::{
    BadLine, Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, SourceCounts, TraceError,
};
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;
use row::{EVENTS, Request, Rows};
use table::{Batch, JobEntry, Table, Task};

/// Smallest units of each resource in the largest machine.
pub const MACHINE: u64 = 1_000_000;
/// The time of what happens after the trace ends.
const AFTER_THE_END: u64 = i64::MAX as u64;

/// What a trace holds, and what became of it. A task is what is submitted until it finishes or is
/// killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GoogleCounts {
    /// Rows by event, in the trace's numbering.
    pub events: [u64; 9],
    /// Job ids.
    pub jobs: u64,
    /// Users.
    pub users: u64,
    /// Tasks.
    pub tasks: u64,
    /// Of these: submitted under the job id and index of one that had finished or was killed.
    pub submitted_again: u64,
    /// Tasks that are handed out.
    pub kept: u64,
    /// Of these: submitted before the trace begins.
    pub earlier: u64,
    /// Of these: still running at the end, and cut there.
    pub cut_at_the_end: u64,
    /// Of these: without a request, so that one was assumed.
    pub assumed_request: u64,
    /// Left out: of another priority.
    pub other_priority: u64,
    /// Left out: submitted before the trace begins.
    pub earlier_left_out: u64,
    /// Left out: never scheduled.
    pub never_ran: u64,
    /// Left out: their only run has no end.
    pub without_end: u64,
    /// Left out: none of their runs finished.
    pub never_finished: u64,
    /// Left out: without a request.
    pub without_request: u64,
    /// Rows of what happens after the trace ends.
    pub after_the_end: u64,
    /// Rows of tasks that are left out, and those after the end.
    pub ignored_rows: u64,
    /// Rows that do not follow from what was before (a second start, an end without a start); taken
    /// as they are.
    pub odd: u64,
}

impl GoogleCounts {
    fn words(&self) -> Vec<String> {
        let left_out = [
            (self.never_ran, "never ran"),
            (self.without_end, "have no end"),
            (self.never_finished, "never finished"),
            (self.without_request, "have no request"),
            (self.other_priority, "are of another priority"),
            (self.earlier_left_out, "are from before the trace"),
        ];
        let left_out: Vec<String> = left_out
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("{count} {why}"))
            .collect();
        let left_out = match left_out.is_empty() {
            true => String::new(),
            false => format!("; left out: {}", left_out.join(", ")),
        };
        let events: Vec<String> = EVENTS
            .iter()
            .zip(self.events)
            .filter(|(_, count)| *count > 0)
            .map(|((_, name), count)| format!("{count} {name}"))
            .collect();
        let mut words = vec![
            format!("Google: events: {}", events.join(", ")),
            format!(
                "Google: {} tasks of {} jobs, {} of them submitted again after their end; {} are \
                 from before the \
                 trace, {} are cut at its end{left_out}",
                self.tasks, self.jobs, self.submitted_again, self.earlier, self.cut_at_the_end
            ),
        ];
        if self.odd > 0 {
            words.push(format!(
                "Google: {} rows do not follow from those before; taken as they are",
                self.odd
            ));
        }
        words
    }
}

/// A trace, read: any number of [`GoogleSource`]s hand it out.
pub struct GoogleTrace {
    tasks: Vec<Task>,
    /// Numbers of the tasks that are handed out, batch by batch, in order of submission.
    order: Vec<u32>,
    batches: Vec<Batch>,
    jobs: Vec<JobEntry>,
    /// Queue of each job of which something is handed out.
    queue_of: Vec<u32>,
    queues: Vec<String>,
    kinds: [Option<usize>; 3],
    kind_count: usize,
    missing_demand: Option<Resources>,
    rows: u64,
    end: Time,
    bad: BadLines,
    counts: GoogleCounts,
    words: Vec<String>,
}

impl GoogleTrace {
    /// Reads `origin` for a cluster with these `kinds`; of `cpu`, `memory` and `disk` those are
    /// used that it has.
    pub fn read(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &GoogleAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<GoogleTrace, TraceError> {
        let found = assumptions.resolve(kinds)?;
        let mut rows = Rows::new(Records::new(Lines::new(origin.open()?, LINE_LIMIT), on_bad_line));
        let mut table = Table::new(assumptions);
        rows.each(|row| table.take(row))?;
        table.settle(assumptions, &found, rows.last);
        if table.counts.kept == 0 {
            rows.records.ignored = table.counts.ignored_rows;
            return Err(rows.records.no_jobs("task_events has 13 columns separated by commas"));
        }
        let order = order(&table);
        let (queues, queue_of) = queues(&table, &order, &assumptions.queues);
        let mut words = assumptions.words(&found);
        words.extend(table.counts.words());
        let Table { tasks, batches, jobs, counts, .. } = table;
        let end = time(rows.last);
        let (rows, bad) = (rows.records.read, rows.records.bad);
        Ok(GoogleTrace {
            tasks,
            order,
            batches,
            jobs,
            queue_of,
            queues,
            kinds: found,
            kind_count: kinds.len(),
            missing_demand: assumptions.missing_demand,
            rows,
            end,
            bad,
            counts,
            words,
        })
    }

    /// What it holds.
    pub fn counts(&self) -> &GoogleCounts {
        &self.counts
    }

    /// When its last row happened: nothing is known of later.
    pub fn end(&self) -> Time {
        self.end
    }

    /// How many lines were wrong.
    pub fn bad_lines(&self) -> u64 {
        self.bad.count()
    }

    fn demand(&self, request: Request) -> Resources {
        let mut demand = Resources::zero(self.kind_count);
        for (kind, amount) in self.kinds.iter().zip(request) {
            if let Some(kind) = kind {
                demand.as_mut_slice()[*kind] = u64::from(amount);
            }
        }
        match self.missing_demand {
            Some(assumed) if demand.is_zero() => assumed,
            _ => demand,
        }
    }

    /// The job of the tasks that begin at `at` of the order, and where the next one's begin.
    fn job(&self, at: usize) -> Option<(Job, usize)> {
        let number = self.tasks[*self.order.get(at)? as usize].batch;
        let batch = &self.batches[number as usize];
        let rest = self.order[at..].iter().map(|task| &self.tasks[*task as usize]);
        // Equal tasks are one group, in order of the first of each.
        let mut numbers: BTreeMap<(Request, bool), usize> = BTreeMap::new();
        let mut found: Vec<((Request, bool), Vec<u64>)> = Vec::new();
        let (mut group, mut end) = (0, at);
        for task in rest.take_while(|task| task.batch == number) {
            let shape = (task.request, task.different);
            // Neighbours are mostly alike.
            if found.get(group).is_none_or(|(known, _)| *known != shape) {
                group = *numbers.entry(shape).or_insert_with(|| {
                    found.push((shape, Vec::new()));
                    found.len() - 1
                });
            }
            found[group].1.extend(task.takes());
            end += 1;
        }
        let group = |((request, different), spans): ((Request, bool), Vec<u64>)| JobGroup {
            constraints: different
                .then(|| Box::new(Constraints { distinct_nodes: true, ..Constraints::default() })),
            ..JobGroup::new(
                spans.len() as u32,
                self.demand(request),
                match spans.windows(2).all(|pair| pair[0] == pair[1]) {
                    true => Durations::Same(span(spans[0])),
                    false => Durations::Each(spans.into_iter().map(span).collect()),
                },
            )
        };
        let job = Job {
            label: JobLabel::Number(self.jobs[batch.job as usize].id),
            queue: self.queue_of[batch.job as usize],
            submit: time(batch.submit),
            weight: 1,
            chain: None,
            groups: found.into_iter().map(group).collect(),
        };
        Some((job, end))
    }
}

/// The tasks that are handed out, batch by batch; batches are in order of submission already.
fn order(table: &Table) -> Vec<u32> {
    let mut next = vec![0u32; table.batches.len() + 1];
    let kept = || (0u32..).zip(&table.tasks).filter(|(_, task)| task.takes().is_some());
    kept().for_each(|(_, task)| next[task.batch as usize + 1] += 1);
    for batch in 0..table.batches.len() {
        next[batch + 1] += next[batch];
    }
    let mut order = vec![0; next[table.batches.len()] as usize];
    for (number, task) in kept() {
        let place = &mut next[task.batch as usize];
        order[*place as usize] = number;
        *place += 1;
    }
    order
}

/// The queues in order of their first job, and the queue of each job.
fn queues(table: &Table, order: &[u32], rule: &GoogleQueues) -> (Vec<String>, Vec<u32>) {
    const UNSEEN: u32 = u32::MAX;
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let (mut names, mut queue_of) = (Vec::new(), vec![UNSEEN; table.jobs.len()]);
    for task in order {
        let batch = table.tasks[*task as usize].batch;
        let job = table.batches[batch as usize].job;
        if queue_of[job as usize] == UNSEEN {
            let name = table.queue_name(rule, job);
            queue_of[job as usize] = *numbers.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            });
        }
    }
    (names, queue_of)
}

/// Jobs of a [`GoogleTrace`], from its beginning.
pub struct GoogleSource {
    trace: Arc<GoogleTrace>,
    at: usize,
    handed_out: u64,
}

impl GoogleSource {
    /// Hands out a trace that was read.
    pub fn new(trace: Arc<GoogleTrace>) -> GoogleSource {
        GoogleSource { trace, at: 0, handed_out: 0 }
    }

    /// Reads `origin` whole, see [`GoogleTrace::read`].
    pub fn open(
        origin: &Origin,
        kinds: &ResourceKinds,
        assumptions: &GoogleAssumptions,
        on_bad_line: OnBadLine,
    ) -> Result<GoogleSource, TraceError> {
        Ok(GoogleSource::new(Arc::new(GoogleTrace::read(origin, kinds, assumptions, on_bad_line)?)))
    }

    /// The trace.
    pub fn trace(&self) -> &GoogleTrace {
        &self.trace
    }
}

impl JobSource for GoogleSource {
    fn queues(&self) -> &[String] {
        &self.trace.queues
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        let Some((job, at)) = self.trace.job(self.at) else { return Ok(None) };
        self.at = at;
        self.handed_out += 1;
        Ok(Some(job))
    }

    /// Lines are rows; those of tasks that are left out are ignored. Of the file, which was read
    /// whole.
    fn counts(&self) -> SourceCounts {
        let GoogleTrace { rows, bad, counts, .. } = &*self.trace;
        let ignored = counts.ignored_rows;
        SourceCounts { lines: *rows, jobs: self.handed_out, bad: bad.count(), ignored }
    }

    fn bad_lines(&self) -> Vec<&BadLine> {
        self.trace.bad.first().iter().collect()
    }

    fn assumptions(&self) -> Vec<String> {
        self.trace.words.clone()
    }

    /// Of what is handed out: the file has been read by then.
    fn progress(&self) -> Option<f64> {
        Some(self.at as f64 / self.trace.order.len() as f64)
    }
}

#[cfg(test)]
mod tests;
