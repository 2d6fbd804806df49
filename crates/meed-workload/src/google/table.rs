//! All tasks of a trace in one compact table.
//!
//! A job can be handed out only when the run times of its tasks are known, and those end later in
//! the file, some at its very end: so the whole trace is read first, event by event, into 40 bytes
//! per task (and some 8 for finding it).
//!
//! A task is what is submitted under (job id, task index) until it finishes or is killed. EVICT,
//! FAIL and LOST end a run of it; the SUBMIT after them is the same task again. The SUBMIT after
//! FINISH or KILL is a new task: somebody asked for it anew. A [`Batch`] holds the tasks of one job
//! that were submitted together.

use std::collections::BTreeMap;

use meed::MAX_MICROS;

use super::assumptions::band;
use super::index::Index;
use super::row::{Event, Request, Row, UNKNOWN, check_user};
use super::{
    AFTER_THE_END, GoogleAssumptions, GoogleCounts, GoogleEpisode, GoogleQueues, GoogleUnfinished,
};
use crate::MAX_TASKS;
use crate::error::BadRow;

/// No run is going on.
const IDLE: u64 = u64::MAX;
/// No run has counted.
const NONE: u64 = u64::MAX;

/// No task has this number.
const ABSENT: u32 = u32::MAX;

/// One task.
pub(super) struct Task {
    /// Since when it runs, or [`IDLE`].
    start: u64,
    /// What counts as its work so far, or [`NONE`]; once the trace is read, what it takes.
    span: u64,
    pub(super) batch: u32,
    /// Rows about it.
    rows: u32,
    /// Of its last run, else of its last row that has one; zeros when no row has.
    pub(super) request: Request,
    priority: u8,
    pub(super) different: bool,
    /// It finished or was killed: a further SUBMIT is a new task.
    over: bool,
    /// Any run of it has ended.
    ran: bool,
}

impl Task {
    /// What it takes, in microseconds; `None` when it is left out. Once the trace is read.
    pub(super) fn takes(&self) -> Option<u64> {
        (self.span != NONE).then_some(self.span)
    }
}

/// Tasks of one job that were submitted together.
pub(super) struct Batch {
    pub(super) job: u32,
    pub(super) submit: u64,
    /// How many tasks it has.
    pub(super) count: u32,
}

/// A job of the trace, by its first row.
pub(super) struct JobEntry {
    pub(super) id: u64,
    user: u32,
    class: u8,
    priority: u8,
    /// The batch that its next task may join, and when the last one did.
    batch: Option<u32>,
    last_submit: u64,
    /// The youngest task under each index, or [`ABSENT`]: indices count from 0, nearly without
    /// gaps.
    tasks: Vec<u32>,
}

/// Everything that was read.
pub(super) struct Table {
    pub(super) tasks: Vec<Task>,
    pub(super) batches: Vec<Batch>,
    pub(super) jobs: Vec<JobEntry>,
    users: Vec<Box<str>>,
    user_numbers: BTreeMap<Box<[u8]>, u32>,
    job_numbers: Index,
    /// The youngest task under indices far above all others of their job, by [`stray`].
    strays: Index,
    pub(super) counts: GoogleCounts,
    batch_gap: u64,
    episode: GoogleEpisode,
}

impl Table {
    pub(super) fn new(assumptions: &GoogleAssumptions) -> Table {
        Table {
            tasks: Vec::new(),
            batches: Vec::new(),
            jobs: Vec::new(),
            users: Vec::new(),
            user_numbers: BTreeMap::new(),
            job_numbers: Index::new(),
            strays: Index::new(),
            counts: GoogleCounts::default(),
            batch_gap: assumptions.batch_gap.as_micros(),
            episode: assumptions.episode,
        }
    }

    /// Takes in one event.
    pub(super) fn take(&mut self, row: Row<'_>) -> Result<(), BadRow> {
        if row.time == AFTER_THE_END {
            self.counts.after_the_end += 1;
            return Ok(());
        }
        let job = self.job(&row)?;
        let number = match self.youngest(job, row.task) {
            Some(number) if !(row.event == Event::Submit && self.tasks[number as usize].over) => {
                number
            }
            known => {
                let number = self.add(&row, job)?;
                self.counts.submitted_again += u64::from(known.is_some());
                self.set_youngest(job, row.task, number);
                number
            }
        };
        self.counts.events[row.event as usize] += 1;
        let task = &mut self.tasks[number as usize];
        task.rows = task.rows.saturating_add(1);
        self.counts.odd += u64::from(!task.happens(&row, self.episode));
        Ok(())
    }

    /// The youngest task of a job under this index.
    #[inline]
    fn youngest(&self, job: u32, index: u32) -> Option<u32> {
        match self.jobs[job as usize].tasks.get(index as usize) {
            Some(&number) if number != ABSENT => Some(number),
            _ => self.strays.get(stray(job, index)),
        }
    }

    fn set_youngest(&mut self, job: u32, index: u32, number: u32) {
        let tasks = &mut self.jobs[job as usize].tasks;
        let place = index as usize;
        if place >= tasks.len() && place <= 2 * tasks.len() + 8 {
            tasks.resize(place + 1, ABSENT);
        }
        match tasks.get_mut(place) {
            Some(known) => *known = number,
            None => self.strays.set(stray(job, index), number),
        }
    }

    fn job(&mut self, row: &Row<'_>) -> Result<u32, BadRow> {
        if let Some(job) = self.job_numbers.get(row.job) {
            return Ok(job);
        }
        check_user(row.user)?;
        let number = number_of(self.jobs.len())?;
        let user = match self.user_numbers.get(row.user) {
            Some(user) => *user,
            None => {
                let user = self.users.len() as u32;
                // Checked to be ASCII.
                self.users.push(String::from_utf8_lossy(row.user).into());
                self.user_numbers.insert(row.user.into(), user);
                user
            }
        };
        self.jobs.push(JobEntry {
            id: row.job,
            user,
            class: row.class,
            priority: row.priority,
            batch: None,
            last_submit: 0,
            tasks: Vec::new(),
        });
        self.job_numbers.set(row.job, number);
        Ok(number)
    }

    /// A new task; what is not submitted in the trace counts as submitted when it is first heard
    /// of.
    fn add(&mut self, row: &Row<'_>, job: u32) -> Result<u32, BadRow> {
        let number = number_of(self.tasks.len())?;
        let entry = &mut self.jobs[job as usize];
        let joins = |batch: &u32| {
            row.time - entry.last_submit <= self.batch_gap
                && self.batches[*batch as usize].count < MAX_TASKS
        };
        let batch = match entry.batch.filter(joins) {
            Some(batch) => batch,
            None => {
                self.batches.push(Batch { job, submit: row.time, count: 0 });
                self.batches.len() as u32 - 1
            }
        };
        self.batches[batch as usize].count += 1;
        (entry.batch, entry.last_submit) = (Some(batch), row.time);
        self.tasks.push(Task {
            start: IDLE,
            span: NONE,
            batch,
            rows: 0,
            request: [0; 3],
            priority: row.priority,
            different: false,
            over: false,
            ran: false,
        });
        Ok(number)
    }

    /// The trace has been read, up to `end`: settles what every task takes, and which are left out.
    /// Of each task's request only what the cluster has a resource for (`found`) counts.
    pub(super) fn settle(
        &mut self,
        assumptions: &GoogleAssumptions,
        found: &[Option<usize>; 3],
        end: u64,
    ) {
        for task in &mut self.tasks {
            let counts = &mut self.counts;
            for (amount, kind) in task.request.iter_mut().zip(found) {
                *amount = kind.map_or(0, |_| *amount);
            }
            let running = task.start != IDLE;
            if running && assumptions.unfinished == GoogleUnfinished::UntilEnd {
                task.ends(end, false, assumptions.episode);
            }
            let early = self.batches[task.batch as usize].submit == 0;
            let high = assumptions.priorities.is_some_and(|(low, high)| {
                task.priority == UNKNOWN || !(low..=high).contains(&task.priority)
            });
            // The first reason that holds.
            let reasons = [
                (high, &mut counts.other_priority),
                (early && !assumptions.keep_earlier, &mut counts.earlier_left_out),
                (task.span == NONE && !task.ran && !running, &mut counts.never_ran),
                (task.span == NONE && !task.ran, &mut counts.without_end),
                (task.span == NONE, &mut counts.never_finished),
                (
                    task.request == [0; 3] && assumptions.missing_demand.is_none(),
                    &mut counts.without_request,
                ),
            ];
            if let Some((_, count)) = reasons.into_iter().find(|(holds, _)| *holds) {
                *count += 1;
                counts.ignored_rows += u64::from(task.rows);
                task.span = NONE;
            } else {
                counts.kept += 1;
                counts.earlier += u64::from(early);
                counts.cut_at_the_end += u64::from(running);
                counts.assumed_request += u64::from(task.request == [0; 3]);
            }
        }
        self.counts.tasks = self.tasks.len() as u64;
        self.counts.jobs = self.jobs.len() as u64;
        self.counts.users = self.users.len() as u64;
        self.counts.ignored_rows += self.counts.after_the_end;
    }

    /// What the queue of job number `job` is called.
    pub(super) fn queue_name(&self, queues: &GoogleQueues, job: u32) -> String {
        let entry = &self.jobs[job as usize];
        match queues {
            GoogleQueues::User => match &*self.users[entry.user as usize] {
                "" => "unknown".to_owned(),
                // SHA-256 in base64, as published: 48 of its bits tell any number of users apart
                // that a trace has.
                hash if hash.len() == 44 && hash.ends_with('=') => hash[..8].to_owned(),
                name => name.to_owned(),
            },
            GoogleQueues::Job => format!("j{}", entry.id),
            GoogleQueues::Class if entry.class == UNKNOWN => "c-unknown".to_owned(),
            GoogleQueues::Class => format!("c{}", entry.class),
            GoogleQueues::Priority => band(entry.priority).to_owned(),
            GoogleQueues::Single(name) => name.clone(),
        }
    }
}

impl Task {
    /// What the event does to the task; false when it does not follow from what was before.
    fn happens(&mut self, row: &Row<'_>, episode: GoogleEpisode) -> bool {
        let running = self.start != IDLE;
        // What it asks for while it runs is what counts; until then the best that is known.
        let of_run = running || row.event == Event::Schedule || !self.ran;
        if let Some(request) = row.request.filter(|_| of_run) {
            self.request = request;
        }
        self.different |= row.different;
        match row.event {
            // A second SUBMIT is odd only where nothing had ended before: the trace repeats none.
            Event::Submit => !running,
            Event::Schedule => {
                self.start = row.time;
                !running
            }
            Event::Evict | Event::Fail | Event::Lost | Event::Finish | Event::Kill => {
                let finished = row.event == Event::Finish;
                self.over = finished || row.event == Event::Kill;
                if running {
                    self.ends(row.time, finished, episode);
                }
                // What waits can be killed, evicted and lost, but it cannot finish or fail.
                running || !matches!(row.event, Event::Finish | Event::Fail)
            }
            Event::UpdatePending => !running,
            Event::UpdateRunning => running,
        }
    }

    /// A run ends at `end`, which is not before its start: rows are in order of time.
    fn ends(&mut self, end: u64, finished: bool, episode: GoogleEpisode) {
        let span = end - self.start;
        self.start = IDLE;
        self.ran = true;
        self.span = match (episode, self.span) {
            (GoogleEpisode::Finished, earlier) if !finished => earlier,
            (GoogleEpisode::Finished | GoogleEpisode::Last, _) | (_, NONE) => span,
            (GoogleEpisode::Longest, earlier) => earlier.max(span),
            (GoogleEpisode::Total, earlier) => (earlier + span).min(MAX_MICROS),
        };
    }
}

/// A job and a task index as one key; there are fewer than 2^32 - 1 jobs.
fn stray(job: u32, index: u32) -> u64 {
    u64::from(job) << 32 | u64::from(index)
}

/// The number of the next entry of a list that has `length` already.
fn number_of(length: usize) -> Result<u32, BadRow> {
    u32::try_from(length).ok().filter(|number| *number != ABSENT).ok_or_else(|| {
        BadRow::line(format!(
            "more than {length} jobs or tasks; split the trace into several files"
        ))
    })
}
