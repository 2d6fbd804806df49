//! Output of sacct that is not the table that is read: aligned by blanks (without `--parsable2`),
//! or without the line that names the columns (`--noheader`).

use super::super::presets::SLURM_RECIPE;
use super::super::times::is_date;

/// Why the first line of sacct's output names no columns that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Unnamed {
    /// Its columns are aligned by blanks, in which names are cut off.
    Aligned,
    /// It is a job.
    NoNames,
}

/// Columns of which an aligned line names one beside `JobID`.
const COLUMNS: [&str; 8] =
    ["JobName", "User", "Account", "Partition", "Submit", "Start", "Elapsed", "State"];
/// States of jobs.
const STATES: [&str; 13] = [
    "BOOT_FAIL",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PENDING",
    "PREEMPTED",
    "REQUEUED",
    "RESIZING",
    "RUNNING",
    "SUSPENDED",
    "TIMEOUT",
];

/// What this first line is, if it is one of sacct's that names no columns that can be read.
pub(in super::super) fn what(line: &[u8]) -> Option<Unnamed> {
    let has_bars = line.contains(&b'|');
    if !has_bars && line.iter().any(|byte| matches!(byte, b',' | b';' | b'\t')) && !has_jobs(line) {
        return None;
    }
    let parts: Vec<&[u8]> = match has_bars {
        true => line.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii).collect(),
        false => line.split(|byte| *byte == b' ').filter(|part| !part.is_empty()).collect(),
    };
    let has = |name: &str| parts.contains(&name.as_bytes());
    if !has_bars && (has("JobID") || has("JobIDRaw")) && COLUMNS.into_iter().any(has) {
        return Some(Unnamed::Aligned);
    }
    is_job(&parts).then_some(Unnamed::NoNames)
}

/// Whether blanks of this line stand between values of a job.
fn has_jobs(line: &[u8]) -> bool {
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    is_job(&parts)
}

/// Whether a state stands among these values, and a time or an exit code.
fn is_job(values: &[&[u8]]) -> bool {
    let is_state = |value: &&[u8]| {
        STATES.iter().any(|state| *value == state.as_bytes()) || value.starts_with(b"CANCELLED")
    };
    let is_code = |value: &[u8]| {
        let mut parts = value.split(|byte| *byte == b':');
        let mut is_number =
            || parts.next().is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit));
        is_number() && is_number() && parts.next().is_none()
    };
    let is_time = |value: &[u8]| value.get(10) == Some(&b'T') && is_date(value);
    values.iter().any(is_state) && values.iter().any(|value| is_time(value) || is_code(value))
}

impl Unnamed {
    /// What is wrong, and the command that is right.
    pub(in super::super) fn words(self) -> String {
        let why = match self {
            Unnamed::Aligned => {
                "the columns are aligned by blanks, and what is too long is cut off; wanted are \
                 bars between them"
            }
            Unnamed::NoNames => "no line names the columns; wanted is sacct without --noheader",
        };
        format!("{why}; {SLURM_RECIPE}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_sacct_that_name_no_columns() {
        let aligned = "JobID           JobName  Partition    Account  AllocCPUS      State";
        let row = "5|x|main|lab|2026-03-02T08:00:00|cpu=4,mem=2G|CANCELLED by 1000";
        for (line, expected) in [
            (aligned, Some(Unnamed::Aligned)),
            ("       JobIDRaw               Submit ", Some(Unnamed::Aligned)),
            (row, Some(Unnamed::NoNames)),
            ("5|x|main|lab|1|COMPLETED|0:0", Some(Unnamed::NoNames)),
            ("5    x   main   1 COMPLETED   0:0", Some(Unnamed::NoNames)),
            ("5    ann  2026-03-02T08:00:00 cpu=1,mem=2G  FAILED", Some(Unnamed::NoNames)),
            ("JobID|User|Submit|State", None),
            ("JobID,User,Submit", None),
            ("JobID User", Some(Unnamed::Aligned)),
            ("ann|2026-03-02T08:00:00|60|4", None),
            ("the job COMPLETED, it says", None),
            ("", None),
        ] {
            assert_eq!(what(line.as_bytes()), expected, "{line}");
        }
    }
}
