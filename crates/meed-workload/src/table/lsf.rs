//! Accounting logs of IBM Spectrum LSF: `lsb.acct`.
//!
//! A line is fields between blanks, texts in double quotes, in which two quotes are one. Of records
//! `JOB_FINISH` the fields are read in their order up to `maxRSwap`; those behind it differ between
//! versions, and are passed over. Of other records only the kind is read. Columns are the fields by
//! the names of the manual, without the lists of hosts, of which two are counted:
//!
//! | `execHosts` | `slots` | `hosts` |
//! |---|---|---|
//! | `3 "n1" "n1" "n2"` | 3 | 2 |
//! | `2 "16*n1" "16*n2"` (SHORT_EVENTFILE) | 32 | 2 |
//!
//! The end of a job is the time of its record. What is not known (0, -1 or nothing) makes no column
//! of `maxRMem`. The manual was read, and three records that others have published; no log of a
//! real site was at hand.

use std::collections::BTreeSet;

use super::columns::Columns;
use super::record::Record;
use crate::error::BadRow;

/// The kind of a record that says how a job has ended.
pub(super) const ENDED: &str = "JOB_FINISH";

/// Kinds of records that a log may begin with.
const KINDS: [&str; 3] = [ENDED, "JOB_RESIZE", "EVENT_ADRSV_FINISH"];

/// Fields behind the kind, up to the lists of hosts.
const FIRST: [&str; 21] = [
    "version",
    "eventTime",
    "jobId",
    "userId",
    "options",
    "numProcessors",
    "submitTime",
    "beginTime",
    "termTime",
    "startTime",
    "userName",
    "queue",
    "resReq",
    "dependCond",
    "preExecCmd",
    "fromHost",
    "cwd",
    "inFile",
    "outFile",
    "errFile",
    "jobFile",
];

/// Fields behind the lists of hosts.
const THEN: [&str; 4] = ["jStatus", "hostFactor", "jobName", "command"];
/// Numbers of what the job has used, which are passed over.
const USED: usize = 19;
/// Fields behind those.
const LAST: [&str; 9] = [
    "mailUser",
    "projectName",
    "exitStatus",
    "maxNumProcessors",
    "loginShell",
    "timeEvent",
    "idx",
    "maxRMem",
    "maxRSwap",
];

/// Whether this is a line of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    let mut fields = Fields(line);
    let kind = fields.next();
    let is_known = KINDS.iter().any(|known| kind.as_deref() == Some(known.as_bytes()));
    is_known && line.starts_with(b"\"") && fields.0.trim_ascii_start().starts_with(b"\"")
}

/// Puts what a line says into a record.
pub(super) fn put(columns: &mut Columns, record: &mut Record, line: &[u8]) -> Result<(), BadRow> {
    let mut fields = Fields(line);
    let kind = fields.next().unwrap_or_default();
    columns.put(record, "record.type", &kind)?;
    if kind != ENDED.as_bytes() {
        return Ok(());
    }
    for name in FIRST {
        columns.put(record, name, &fields.named(name)?)?;
    }
    for _ in 0..fields.number("numAskedHosts")? {
        fields.named("askedHosts")?;
    }
    let (mut slots, mut hosts) = (0u64, BTreeSet::new());
    for _ in 0..fields.number("numExHosts")? {
        let text = fields.named("execHosts")?;
        let (count, host) = of_host(&text);
        slots = slots.saturating_add(count);
        hosts.insert(host.to_vec());
    }
    if slots > 0 {
        columns.put(record, "slots", slots.to_string().as_bytes())?;
        columns.put(record, "hosts", hosts.len().to_string().as_bytes())?;
    }
    for name in THEN {
        columns.put(record, name, &fields.named(name)?)?;
    }
    for _ in 0..USED {
        fields.named("lsfRusage")?;
    }
    for name in LAST {
        let value = fields.named(name)?;
        if name != "maxRMem" || !matches!(&value[..], b"" | b"0" | b"-1") {
            columns.put(record, name, &value)?;
        }
    }
    Ok(())
}

/// Slots and name of `n1` or `16*n1`.
fn of_host(text: &[u8]) -> (u64, &[u8]) {
    let star = text.iter().position(|byte| *byte == b'*');
    let count = |at: usize| std::str::from_utf8(&text[..at]).ok()?.parse().ok();
    match star.and_then(|at| Some((count(at)?, &text[at + 1..]))) {
        Some(found) => found,
        None => (1, text),
    }
}

/// Fields of a line.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn named(&mut self, name: &str) -> Result<Vec<u8>, BadRow> {
        let wrong = || BadRow::line(format!("it ends before `{name}`; wanted is a whole record"));
        self.next().ok_or_else(wrong)
    }

    fn number(&mut self, name: &str) -> Result<u32, BadRow> {
        let text = self.named(name)?;
        let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
        let shown = meed_config::words::quote(&text);
        number.ok_or_else(|| BadRow::line(format!("`{name}` is {shown}; wanted is a number")))
    }
}

impl Iterator for Fields<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        self.0 = self.0.trim_ascii_start();
        let Some(mut rest) = self.0.strip_prefix(b"\"") else {
            let end = self.0.iter().position(u8::is_ascii_whitespace).unwrap_or(self.0.len());
            let (field, rest) = self.0.split_at(end);
            self.0 = rest;
            return (!field.is_empty()).then(|| field.to_vec());
        };
        let mut field = Vec::new();
        loop {
            let end = rest.iter().position(|byte| *byte == b'"').unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            match rest[end..].strip_prefix(b"\"\"") {
                Some(more) => {
                    field.push(b'"');
                    rest = more;
                }
                None => {
                    self.0 = rest.get(end + 1..).unwrap_or_default();
                    return Some(field);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_hosts() {
        let text = "\"JOB_FINISH\" \"10.1\" 7  \"a \"\"b\"\" c\" \"\" -1 \"open";
        let fields: Vec<String> =
            Fields(text.as_bytes()).map(|field| String::from_utf8(field).unwrap()).collect();
        assert_eq!(fields, ["JOB_FINISH", "10.1", "7", "a \"b\" c", "", "-1", "open"]);
        for (text, expected) in [("n1", (1, "n1")), ("16*n1", (16, "n1")), ("x*n1", (1, "x*n1"))] {
            let (slots, host) = of_host(text.as_bytes());
            assert_eq!((slots, std::str::from_utf8(host).unwrap()), expected);
        }
        assert!(is_line(text.as_bytes()) && !is_line(b"JOB_FINISH 10.1 7"));
        assert!(!is_line(b"\"user\",\"submit\"") && !is_line(b"\"JOB_FINISH\",\"10.1\""));
    }
}
