//! A log in the Standard Workload Format, read by a few lines of its own.

use std::path::Path;

use meed_workload::Origin;

use crate::twins::Job;

/// Columns, counted from 1 as the format does.
const SUBMIT: usize = 2;
const RUN: usize = 4;
const ALLOCATED: usize = 5;
const REQUESTED: usize = 8;
const REQUESTED_TIME: usize = 9;
const STATUS: usize = 11;

pub(super) struct Log {
    /// Of the machine, where the header says it.
    pub(super) processors: Option<u64>,
    pub(super) jobs: Vec<Job>,
}

/// The header of a log and its first jobs.
pub(super) fn first_jobs(path: &Path, jobs: usize) -> String {
    let text = Origin::path(path).whole().expect("the log is there");
    let text = String::from_utf8_lossy(&text);
    let (header, rows): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with(';'));
    let rows = rows.into_iter().filter(|line| !line.trim().is_empty()).take(jobs);
    header.into_iter().chain(rows).map(|line| format!("{line}\n")).collect()
}

/// Reads the jobs that Meed's reader takes: those whose run time and processors are known, without
/// parts of jobs (status 2 to 4) and those cancelled before they ran. Run times are raised to
/// `shortest`. An estimate is what was asked for, but at least the run time, and the run time where
/// nothing was asked for.
pub(super) fn read(path: &Path, shortest: u64) -> Log {
    let text = Origin::path(path).whole().expect("the log is there");
    let mut log = Log { processors: None, jobs: Vec::new() };
    for line in String::from_utf8_lossy(&text).lines() {
        if let Some(size) = line.strip_prefix("; MaxProcs:") {
            log.processors = size.trim().parse().ok();
        }
        if line.starts_with(';') || line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split_whitespace().collect();
        let known = |column: usize| columns[column - 1].parse::<u64>().ok();
        let above_0 = |column| known(column).filter(|number| *number > 0);
        let Some(run) = known(RUN) else { continue };
        let Some(processors) = above_0(ALLOCATED).or(above_0(REQUESTED)) else { continue };
        if matches!((known(STATUS), run), (Some(2..=4), _) | (Some(5), 0)) {
            continue;
        }
        let submit = known(SUBMIT).expect("every job was submitted");
        let run = run.max(shortest);
        let estimate = above_0(REQUESTED_TIME).unwrap_or(run).max(run).max(1);
        log.jobs.push(Job { submit, processors, run, estimate });
    }
    log
}
