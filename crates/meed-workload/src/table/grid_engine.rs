//! The accounting file of Grid Engine: Sun, Son of, Open and Univa Grid Engine.
//!
//! A line is fields between colons, one line for each run of a job or of a task of an array; lines
//! that begin with `#` are comments. The first 42 fields are read by the names of accounting(5) of
//! 8.1.9, which has 45; the fields behind them differ between versions and are passed over. A colon
//! cannot stand in names, but may stand in `category` (field 40), behind which only the task of a
//! parallel job is looked for. Columns are those fields, and some that are made of them:
//!
//! | column | of |
//! |---|---|
//! | `job` | `7`, or `7.3` for task 3 of the array 7 (`task_number` is 0 where there is no array) |
//! | `request.NAME` | `-l NAME=VALUE` in `category`, such as `request.h_rt` |
//! | `slave` | the task of a parallel job (`pe_taskid`) that has a line of its own |
//!
//! `NONE` is nothing. Source: outputs of 8.1.9, and its manual; no file of another version was at
//! hand.

use super::columns::Columns;
use super::record::Record;
use crate::error::BadRow;

/// Fields of a line, in order.
const FIELDS: [&str; 42] = [
    "qname",
    "hostname",
    "group",
    "owner",
    "job_name",
    "job_number",
    "account",
    "priority",
    "submission_time",
    "start_time",
    "end_time",
    "failed",
    "exit_status",
    "ru_wallclock",
    "ru_utime",
    "ru_stime",
    "ru_maxrss",
    "ru_ixrss",
    "ru_ismrss",
    "ru_idrss",
    "ru_isrss",
    "ru_minflt",
    "ru_majflt",
    "ru_nswap",
    "ru_inblock",
    "ru_oublock",
    "ru_msgsnd",
    "ru_msgrcv",
    "ru_nsignals",
    "ru_nvcsw",
    "ru_nivcsw",
    "project",
    "department",
    "granted_pe",
    "slots",
    "task_number",
    "cpu",
    "mem",
    "io",
    "category",
    "iow",
    "pe_taskid",
];
/// Places of some of them.
const NUMBER: usize = 5;
const SUBMITTED: usize = 8;
const ENDED: usize = 10;
const SLOTS: usize = 34;
const TASK: usize = 35;
const CATEGORY: usize = 39;
const SLAVE: usize = 41;

/// Whether this is a line of such a file.
pub(super) fn is_line(line: &[u8]) -> bool {
    let fields = fields(line);
    let is_number = |at: usize| {
        let field = fields.get(at).copied().unwrap_or_default();
        !field.is_empty() && field.iter().all(u8::is_ascii_digit)
    };
    fields.len() >= FIELDS.len()
        && is_number(NUMBER)
        && (SUBMITTED..=ENDED).all(is_number)
        && is_number(SLOTS)
        && is_number(TASK)
}

/// Whether a file begins with such a line, behind comments, or has only those.
pub(super) fn is_beginning(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !is_comment(line)).is_some_and(is_line) || is_without_jobs(start)
}

/// Whether a file has nothing but the comments with which such a file begins: no job has ended yet.
pub(super) fn is_without_jobs(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let begins = |line: &[u8]| {
        let has = |words: &[u8]| memchr::memmem::find(line, words).is_some();
        line.starts_with(b"# Version") || has(b"DO NOT MODIFY THIS FILE")
    };
    lines.clone().any(begins) && lines.all(is_comment)
}

/// Whether a line says nothing.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(line, [] | [b'#', ..])
}

fn fields(line: &[u8]) -> Vec<&[u8]> {
    line.split(|byte| *byte == b':').map(<[u8]>::trim_ascii).collect()
}

/// Puts what a line says into a record.
pub(super) fn put(columns: &mut Columns, record: &mut Record, line: &[u8]) -> Result<(), BadRow> {
    let fields = fields(line);
    if fields.len() < FIELDS.len() {
        return Err(BadRow::line(format!(
            "{} fields between colons; wanted are 45, as in accounting(5) of Grid Engine",
            fields.len()
        )));
    }
    for (name, field) in FIELDS.into_iter().zip(&fields) {
        let value = if *field == b"NONE" { &b""[..] } else { field };
        columns.put(record, name, value)?;
    }
    let job = match fields[TASK] {
        b"0" => fields[NUMBER].to_vec(),
        task => [fields[NUMBER], b".", task].concat(),
    };
    columns.put(record, "job", &job)?;
    let slave = if is_slave(fields[SLAVE]) { fields[SLAVE] } else { b"" };
    columns.put(record, "slave", slave)?;
    let category = String::from_utf8_lossy(fields[CATEGORY]).into_owned();
    for (name, value) in requests(&category) {
        columns.put(record, &format!("request.{name}"), value.as_bytes())?;
    }
    Ok(())
}

/// Whether this names a task of a parallel job: `1.node02`. Where a colon in the category has moved
/// the fields, a number or anything else stands here.
fn is_slave(field: &[u8]) -> bool {
    let digits = field.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = field.get(digits + 1).copied().unwrap_or_default();
    digits > 0 && field.get(digits) == Some(&b'.') && !behind.is_ascii_digit() && behind != 0
}

/// What `-l` asks for in a category: `-l h_rt=10,mem_free=1G -pe smp 2`.
fn requests(category: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut words = category.split_ascii_whitespace();
    let lists = std::iter::from_fn(move || {
        words.find(|word| *word == "-l")?;
        words.next()
    });
    lists.flat_map(|list| list.split(',')).filter_map(|one| one.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_from_others() {
        let line = "all.q:n1:g:ann:x:1:sge:0:100:110:120:0:0:10:0.1:0.1:0:0:0:0:0:0:0:0:0:0:0:0:0:\
                    0:0:NONE:d:NONE:1:0:0.1:0:0:NONE:0.0:NONE:0:0:0";
        assert!(is_line(line.as_bytes()));
        assert!(is_beginning(format!("# Version: 8.1.9\n#\n{line}\n").as_bytes()));
        assert!(!is_line(line.replace(":100:", ":soon:").as_bytes()));
        assert!(!is_line(b"a:b:c"));
        assert!(!is_beginning(b"# only comments\n"));
    }

    #[test]
    fn requests_and_slaves() {
        let found: Vec<_> = requests("-U x -l h_rt=10,mem_free=1G -pe smp 2 -l gpu=1").collect();
        assert_eq!(found, [("h_rt", "10"), ("mem_free", "1G"), ("gpu", "1")]);
        assert_eq!(requests("NONE").count(), 0);
        for (field, expected) in [
            ("1.node02", true),
            ("12.n", true),
            ("NONE", false),
            ("0.000000", false),
            ("node1.x", false),
            ("7.", false),
            ("", false),
        ] {
            assert_eq!(is_slave(field.as_bytes()), expected, "{field}");
        }
    }
}
