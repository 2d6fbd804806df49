//! Rows of Slurm's accounting that are parts of one job.
//!
//! - The components of a heterogeneous job are rows of their own, `123+0`, `123+1`, with one
//!   submission. They start together, so they are one job of several groups (a joint gang).
//! - A job that was resized has a row for each size, all but the last of state `RESIZING`. The
//!   sizes follow each other, so they are one job of several stages. Slurm 22.05 gives the later
//!   rows the time of the change as `Submit` (`as_mysql_job_start`), so the name alone ties them.

use std::collections::BTreeMap;

use super::super::record::Record;
use super::super::rows::Row;
use crate::whole::Whole;

/// What is said where sacct was not asked when jobs could first start.
const NO_ELIGIBLE: &str = "no column says when a job could first start: dependencies, holds and \
    limits of arrays look like waits (ask sacct for Eligible)";

/// Which job of several rows a row is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(in super::super) enum Part {
    /// Of none: it is a job by itself.
    #[default]
    Whole,
    /// Of the heterogeneous job of this number.
    Component(u32),
    /// Of the resized job of this number.
    Size(u32),
}

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
    /// Resized jobs by name, of which a further row may come.
    sizes: BTreeMap<Vec<u8>, u32>,
    count: u32,
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
            sizes: BTreeMap::new(),
            count: 0,
            lost: 0,
        }
    }

    /// The part that the job in `record` is, with its submission and its queue.
    pub(in super::super) fn part(&mut self, record: &Record, submit: u64, queue: u32) -> Part {
        let Some(name) = self.name.map(|name| record.get(name)) else { return Part::Whole };
        let state = self.state.map_or(&b""[..], |state| record.get(state));
        self.lost += usize::from(LOST.iter().any(|lost| state.starts_with(lost)));
        if state.starts_with(RESIZING) {
            let count = &mut self.count;
            let number = *self.sizes.entry(name.to_vec()).or_insert_with(|| next(count));
            return Part::Size(number);
        }
        // The last size; the name may come again for another job.
        if !self.sizes.is_empty()
            && let Some(number) = self.sizes.remove(name)
        {
            return Part::Size(number);
        }
        let Some(plus) = name.iter().position(|byte| *byte == b'+') else { return Part::Whole };
        let key = (name[..plus].to_vec(), submit, queue);
        let count = &mut self.count;
        Part::Component(*self.components.entry(key).or_insert_with(|| next(count)))
    }

    /// What is to be said of these rows, whose parts they are given. `has_eligible`: the mapping
    /// has a time since which jobs could start.
    pub(in super::super) fn words(
        &self,
        rows: impl Iterator<Item = Part>,
        has_eligible: bool,
    ) -> Vec<String> {
        let mut sizes: BTreeMap<Part, u64> = BTreeMap::new();
        rows.filter(|part| *part != Part::Whole)
            .for_each(|part| *sizes.entry(part).or_default() += 1);
        let of = |is: fn(&Part) -> bool| {
            let counts = || sizes.iter().filter(|(part, rows)| is(part) && **rows > 1);
            (counts().count(), counts().map(|(_, rows)| rows).sum::<u64>())
        };
        let mut words = Vec::new();
        if !has_eligible {
            words.push(NO_ELIGIBLE.to_owned());
        }
        let (jobs, rows) = of(|part| matches!(part, Part::Component(_)));
        if jobs > 0 {
            words.push(format!(
                "{rows} rows are components of {}: those of a job start together",
                counted(jobs, "heterogeneous job")
            ));
        }
        let (jobs, rows) = of(|part| matches!(part, Part::Size(_)));
        if jobs > 0 {
            words.push(format!(
                "{rows} rows are sizes of {}: they follow each other, and a later one may wait",
                counted(jobs, "resized job")
            ));
        }
        if !self.sizes.is_empty() {
            let open = self.sizes.len();
            words.push(format!(
                "{} without a row behind the last RESIZING",
                counted(open, "resized job")
            ));
        }
        if self.lost > 0 {
            words.push(format!(
                "{} requeued, preempted or lost with the node: each counts as a job, as in Slurm's \
                 own sums",
                counted(self.lost, "run")
            ));
        }
        words
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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
