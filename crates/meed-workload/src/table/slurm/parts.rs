//! Rows of Slurm's accounting that are parts of one job.
//!
//! - The components of a heterogeneous job are rows of their own, `123+0`, `123+1`, with one
//!   submission. They start together, so they are one job of several groups (a joint gang).
//! - A job that was resized has a row for each size, all but the last of state `RESIZING`. The
//!   sizes follow each other, so they are one job of several stages. Slurm 22.05 gives the later
//!   rows the time of the change as `Submit` (`as_mysql_job_start`), so the name alone ties them,
//!   and their starts tell their order.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use meed_config::decimal::parse_short;
use meed_config::text::counted;

use super::super::mapping::Mapping;
use super::super::record::Record;
use super::super::rows::{NO_WAIT, Row};
use super::jobs::{self, Component};
use super::part::Part;
use crate::whole::Whole;

/// What is said where sacct was not asked when jobs could first start.
const NO_ELIGIBLE: &str = "no column says when a job could first start: dependencies, holds and \
    limits of arrays look like waits (ask sacct for Eligible)";

/// What is said where neither a run time nor a time of suspension was asked for.
const NO_SUSPENDED: &str = "no column says how long a job ran or was suspended: the time from \
    start to end holds the time in which it was suspended (ask sacct for Elapsed)";

/// The state of a row that ends where the job changed its size.
const RESIZING: &[u8] = b"RESIZING";
/// States of runs that did not end with their job: it runs again, in another row, or was lost.
const LOST: [&[u8]; 4] = [b"REQUEUED", b"PREEMPTED", b"NODE_FAIL", b"BOOT_FAIL"];

/// Gives rows their parts, in the order of the file.
pub(in super::super) struct Parts {
    name: Option<usize>,
    state: Option<usize>,
    /// Heterogeneous jobs by name, submission and queue.
    components: BTreeMap<(Vec<u8>, u64, u32), u32>,
    /// The name of each row's job, as a number.
    names: Vec<u64>,
    /// Names of jobs that were resized.
    resized: BTreeSet<u64>,
    count: u32,
    /// Resized jobs without their last size.
    open: usize,
    lost: usize,
}

impl Parts {
    /// For a table with these columns.
    pub(in super::super) fn of(names: &[String]) -> Parts {
        let column = |known: &str| names.iter().position(|name| name == known);
        Parts {
            name: column("JobID").or_else(|| column("JobIDRaw")),
            state: column("State"),
            components: BTreeMap::new(),
            names: Vec::new(),
            resized: BTreeSet::new(),
            count: 0,
            open: 0,
            lost: 0,
        }
    }

    /// The part that the job in `record` is, with its submission and its queue. Sizes of resized
    /// jobs are told apart by [`Parts::arrange`].
    pub(in super::super) fn part(&mut self, record: &Record, submit: u64, queue: u32) -> Part {
        let Some(name) = self.name.map(|name| record.get(name)) else { return Part::Whole };
        let number = number_of(name);
        self.names.push(number);
        let state = self.state.map_or(&b""[..], |state| record.get(state));
        self.lost += usize::from(LOST.iter().any(|lost| state.starts_with(lost)));
        if state.starts_with(RESIZING) {
            self.resized.insert(number);
            return Part::Size(0);
        }
        let Some(plus) = name.iter().position(|byte| *byte == b'+') else { return Part::Whole };
        let key = (name[..plus].to_vec(), submit, queue);
        let count = &mut self.count;
        Part::Component(*self.components.entry(key).or_insert_with(|| next(count)))
    }

    /// Ties the sizes of each resized job together, whatever the order of its rows: by their
    /// starts a size follows the one before, and the first that is not `RESIZING` is the last. The
    /// name may come again for another job. All rows are those that were given a part.
    pub(in super::super) fn arrange(&mut self, whole: &mut Whole<Row>) {
        if self.resized.is_empty() {
            return;
        }
        let mut named: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (place, name) in self.names.iter().enumerate() {
            if self.resized.contains(name) {
                named.entry(*name).or_default().push(place);
            }
        }
        let rows = whole.rows();
        let mut places: Vec<usize> = (0..rows.len()).collect();
        for slots in named.into_values() {
            let mut sizes = slots.clone();
            let is_last = |row: &Row| !matches!(row.part, Part::Size(_));
            sizes.sort_by_key(|place| (rows[*place].start(), is_last(&rows[*place])));
            for (place, slot) in sizes.iter().zip(slots) {
                places[*place] = slot;
            }
            for job in sizes.chunk_by(|before, _| !is_last(&rows[*before])).collect::<Vec<_>>() {
                let is_open = job.last().is_some_and(|last| !is_last(&rows[*last]));
                self.open += usize::from(is_open);
                if job.len() > 1 || is_open {
                    tie(rows, job, next(&mut self.count));
                }
            }
        }
        whole.reorder(&places);
    }

    /// What is to be said of these rows, whose parts they are given.
    pub(in super::super) fn words<'r>(
        &self,
        rows: impl Iterator<Item = &'r Row>,
        mapping: &Mapping,
    ) -> Vec<String> {
        let mut parts: BTreeMap<Part, Vec<Component>> = BTreeMap::new();
        rows.filter(|row| row.part != Part::Whole)
            .for_each(|row| parts.entry(row.part).or_default().push(Component::of(row)));
        parts.retain(|_, rows| rows.len() > 1);
        let of = |is: fn(&Part) -> bool| {
            let counts = || parts.iter().filter(|(part, _)| is(part));
            (counts().count(), counts().map(|(_, rows)| rows.len()).sum::<usize>())
        };
        let mut words = Vec::new();
        if mapping.eligible.is_none() {
            words.push(NO_ELIGIBLE.to_owned());
        }
        if mapping.length.said().is_none() && mapping.suspended.is_none() {
            words.push(NO_SUSPENDED.to_owned());
        }
        let (jobs, rows) = of(|part| matches!(part, Part::Component(_)));
        if jobs > 0 {
            let components = parts.iter().filter(|(part, _)| matches!(part, Part::Component(_)));
            let apart = components.filter(|(_, rows)| !jobs::is_one_gang(rows)).count();
            let but = match apart {
                0 => String::new(),
                apart => format!(
                    ", but for {}. Unlike components, or their tasks, are more there than one \
                     gang can have: each group of like ones starts by itself",
                    counted(apart as u64, "job")
                ),
            };
            words.push(format!(
                "{rows} rows are components of {}: those of a job start together{but}",
                counted(jobs as u64, "heterogeneous job")
            ));
        }
        let (jobs, rows) = of(|part| matches!(part, Part::Size(_)));
        if jobs > 0 {
            words.push(format!(
                "{rows} rows are sizes of {}: they follow each other, and a later one may wait",
                counted(jobs as u64, "resized job")
            ));
        }
        if self.open > 0 {
            words.push(format!(
                "{} without a row behind the last RESIZING",
                counted(self.open as u64, "resized job")
            ));
        }
        if self.lost > 0 {
            words.push(format!(
                "{} requeued, preempted or lost with the node: each counts as a job, as in Slurm's \
                 own sums",
                counted(self.lost as u64, "run")
            ));
        }
        words
    }
}

/// The name of a job as a number: itself, where it is one.
fn number_of(name: &[u8]) -> u64 {
    // Numbers of jobs have 32 bits; what is no such number is above them.
    let number = parse_short(name).filter(|number| *number <= u64::from(u32::MAX));
    number.unwrap_or_else(|| {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hasher.finish() | 1 << 63
    })
}

/// Makes these rows the sizes of one job, which comes with the first of them.
fn tie(rows: &mut [Row], job: &[usize], number: u32) {
    let submit = job.iter().map(|place| rows[*place].submit).min().unwrap_or(0);
    for place in job {
        let row = &mut rows[*place];
        if row.wait != NO_WAIT {
            row.wait = row.start() - submit;
        }
        (row.submit, row.part) = (submit, Part::Size(number));
    }
}

fn next(count: &mut u32) -> u32 {
    *count += 1;
    *count
}

/// Puts the rows of each job of several rows behind the first of them. The rows are in order of
/// submission, and are so afterwards.
pub(in super::super) fn group(whole: &mut Whole<Row>) {
    let rows = whole.rows();
    if rows.iter().all(|row| row.part == Part::Whole) {
        return;
    }
    let mut first: BTreeMap<Part, (usize, u64)> = BTreeMap::new();
    let mut places = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter_mut().enumerate() {
        if row.part == Part::Whole {
            places.push(place);
            continue;
        }
        let (head, submit) = *first.entry(row.part).or_insert((place, row.submit));
        row.submit = submit;
        places.push(head);
    }
    whole.reorder(&places);
}
