//! Runs from accounting (`sacct --duplicates`): for what ended while nobody looked.

use meed::Resources;

use super::{columns, instant, missing};
use crate::tres::parse_tres;

/// One run of a job: a job that was put back has several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SlurmRun {
    /// Slurm's number of the record.
    pub id: u32,
    /// As people write it.
    pub name: String,
    /// Its account.
    pub account: String,
    /// Its user.
    pub user: String,
    /// When it started; seconds since 1970.
    pub start: i64,
    /// When it ended; `None`: accounting does not know of an end.
    pub end: Option<i64>,
    /// How long it ran, without suspensions; seconds.
    pub elapsed: i64,
    /// What was allocated; of a run that was resized, since the last time.
    pub tres: Resources,
    /// The row ends because the run was resized: its next row goes on with it.
    pub is_resized: bool,
    /// Of a run that was resized: for how many seconds it ran before, and with what.
    pub before: Vec<(i64, Resources)>,
}

/// Reads what `sacct` prints with the columns of [`super::form`]. Rows that held nothing are left
/// out: jobs that were cancelled before they began, and jobs that wait.
///
/// # Errors
///
/// The first line that is not of that form, in a sentence.
pub(crate) fn parse_runs(text: &str) -> Result<Vec<SlurmRun>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.filter_map(|line| run(line).transpose()).collect()
}

fn run(line: &str) -> Result<Option<SlurmRun>, String> {
    let [id, name, account, user, _, start, end, elapsed, tres, state] =
        columns::<10>(line, "sacct")?;
    let wrong = |why: String| format!("job {name} of sacct: {why}");
    let Some(start) = instant(start).map_err(wrong)? else { return Ok(None) };
    // A row that waits keeps the allocation of the run before it.
    if missing(tres) || state == "PENDING" {
        return Ok(None);
    }
    let number = |text: &str| wrong(format!("`{text}` is not a whole number"));
    Ok(Some(SlurmRun {
        id: id.parse().map_err(|_| number(id))?,
        name: name.to_owned(),
        account: account.to_owned(),
        user: user.to_owned(),
        start,
        end: instant(end).map_err(wrong)?,
        elapsed: elapsed.parse().map_err(|_| number(elapsed))?,
        tres: parse_tres(tres).map_err(wrong)?,
        is_resized: state.starts_with("RESIZ"),
        before: Vec::new(),
    }))
}

/// Runs of rows in any order: a row that was read twice counts once, and the rows of a run that was
/// resized are one run with the first start. `slurmdbd` begins a row at each resize, where `squeue`
/// keeps the start.
pub(crate) fn joined(mut rows: Vec<SlurmRun>) -> Vec<SlurmRun> {
    rows.sort_by_key(|row| (row.id, row.start, row.end.unwrap_or(i64::MIN)));
    rows.dedup_by(|next, last| {
        let is_one = (last.id, last.start) == (next.id, next.start);
        let is_read_twice = is_one && (!last.is_resized || last.end == next.end);
        if is_read_twice {
            std::mem::swap(next, last);
        }
        is_read_twice
    });
    let mut runs: Vec<SlurmRun> = Vec::with_capacity(rows.len());
    for mut row in rows {
        if let Some(last) = runs.pop_if(|last| last.id == row.id && last.is_resized) {
            let of_last =
                last.elapsed - last.before.iter().map(|(seconds, _)| seconds).sum::<i64>();
            row.start = last.start;
            row.elapsed += last.elapsed;
            row.before = last.before;
            row.before.push((of_last, last.tres));
        }
        runs.push(row);
    }
    // The row that goes on with it is not there yet.
    runs.iter_mut().filter(|run| run.is_resized).for_each(|run| run.end = None);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_as_sacct_prints_them() {
        let text = "\
5|5|chem|news|1795970750|1795970751|1795970753|2|billing=2,cpu=2,mem=200M,node=1|REQUEUED
3|2+1|optics|man|1795970750|1795970750|1795970780|30|billing=4,cpu=4,mem=1500M|COMPLETED
6|6|chem|lp|1795970750|1795970751|Unknown|4|billing=2,cpu=2,mem=200M,node=1|RUNNING
7|7_[2-5]|chem|proxy|1795970750|Unknown|Unknown|0||PENDING
9|9|chem|proxy|1795970750|None|1795970760|0||CANCELLED by 0
";
        let runs = parse_runs(text).unwrap();
        let found: Vec<_> = runs.iter().map(|run| (run.id, run.end, run.elapsed)).collect();
        let expected = [(5, Some(1_795_970_753), 2), (3, Some(1_795_970_780), 30), (6, None, 4)];
        assert_eq!(found, expected);
        assert!(parse_runs("5|5|chem").unwrap_err().contains("fewer than 10"));
    }

    #[test]
    fn rows_of_a_resized_run_are_one_run_and_rows_read_twice_count_once() {
        let text = "\
5|5|chem|news|100|200|300|100|cpu=4|RESIZING
5|5|chem|news|200|300|Unknown|9|cpu=2|RUNNING
5|5|chem|news|200|300|360|60|cpu=2|COMPLETED
5|5|chem|news|100|200|300|100|cpu=4|RESIZING
6|6|chem|news|100|200|300|100|cpu=4|RESIZING
7|7|chem|news|100|200|300|100|cpu=4|REQUEUED
7|7|chem|news|100|300|310|10|cpu=4|COMPLETED
";
        let runs = joined(parse_runs(text).unwrap());
        let found: Vec<_> = runs.iter().map(|run| (run.id, run.start, run.end)).collect();
        let expected = [(5, 200, Some(360)), (6, 200, None), (7, 200, Some(300))];
        assert_eq!(found, [&expected[..], &[(7, 300, Some(310))]].concat());
        assert_eq!((runs[0].elapsed, runs[0].before.len()), (160, 1));
        assert_eq!(runs[0].before[0], (100, parse_tres("cpu=4").unwrap()));
    }
}
