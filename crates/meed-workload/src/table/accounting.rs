//! Accounting logs of PBS: PBS Professional, OpenPBS and Torque.
//!
//! A line is `MM/DD/YYYY HH:MM:SS;TYPE;JOB;KEY=VALUE KEY=VALUE ...`. Only records of type `E` (a
//! job has ended) are of interest; of the others the type is all that is read. Columns are
//! `record.date`, `record.type` and `record.job`, the keys as they are written
//! (`Resource_List.ncpus`), and two that are counted from `exec_host`:
//!
//! | `exec_host` | `slots` | `hosts` |
//! |---|---|---|
//! | `n1/0+n1/1+n2/0` (Torque) | 3 | 2 |
//! | `n1/0-5,8+n2/3` (Torque from 5) | 8 | 2 |
//! | `n1/0*8+n2/1*8` (PBS Professional: processors behind the star) | 16 | 2 |
//!
//! A value in double quotes may hold blanks; what has no `=` goes on with the value before it.
//! Dates are not used: `ctime`, `start` and `end` are seconds since 1970.
//!
//! The vendors' guides were read, and samples in them; no log of a real site was at hand.

use std::collections::BTreeSet;

use super::columns::Columns;
use super::record::Record;
use crate::error::BadRow;

/// The type of a record that says how a job has ended.
pub(super) const ENDED: &str = "E";

/// Columns of records of all types.
pub(super) const OF_ALL: [&str; 3] = ["record.date", "record.type", "record.job"];

/// Whether this is a line of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    parts(line).is_some_and(|[date, kind, job, _]| {
        let digits = date.iter().filter(|byte| byte.is_ascii_digit()).count();
        let marks = date.iter().filter(|byte| matches!(byte, b'/' | b':')).count();
        (digits, marks, date.len()) == (14, 4, 19) && kind.len() == 1 && !job.is_empty()
    })
}

fn parts(line: &[u8]) -> Option<[&[u8]; 4]> {
    let mut parts = line.splitn(4, |byte| *byte == b';').map(<[u8]>::trim_ascii);
    Some([parts.next()?, parts.next()?, parts.next()?, parts.next()?])
}

/// Puts what a line says into a record.
pub(super) fn put(columns: &mut Columns, record: &mut Record, line: &[u8]) -> Result<(), BadRow> {
    let Some([date, kind, job, said]) = parts(line) else {
        return Err(BadRow::line("wanted is DATE;TYPE;JOB;KEY=VALUE ..., as PBS writes it"));
    };
    for (name, value) in OF_ALL.into_iter().zip([date, kind, job]) {
        columns.put(record, name, value)?;
    }
    if kind != ENDED.as_bytes() {
        return Ok(());
    }
    for (key, value) in Pairs(said) {
        let key = std::str::from_utf8(key).map_err(|_| BadRow::line("a key is no UTF-8"))?;
        columns.put(record, key, value)?;
        if key == "exec_host" {
            let (slots, hosts) = slots(value)?;
            columns.put(record, "slots", slots.to_string().as_bytes())?;
            columns.put(record, "hosts", hosts.to_string().as_bytes())?;
        }
    }
    Ok(())
}

/// Keys and values of a record.
struct Pairs<'a>(&'a [u8]);

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let at = key_at(self.0)?;
        let (key, rest) = (&self.0[..at], &self.0[at + 1..]);
        if let Some(quoted) = rest.strip_prefix(b"\"")
            && let Some(end) = quoted.iter().position(|byte| *byte == b'"')
        {
            self.0 = quoted[end + 1..].trim_ascii_start();
            return Some((key, &quoted[..end]));
        }
        let blanks = (0..rest.len()).filter(|at| rest[*at].is_ascii_whitespace());
        let next = |at: &usize| key_at(&rest[at + 1..]).is_some();
        let end = blanks.into_iter().find(next).unwrap_or(rest.len());
        self.0 = rest[end..].trim_ascii_start();
        Some((key, rest[..end].trim_ascii()))
    }
}

/// Where the key at the beginning ends, if one is there: at its `=`.
fn key_at(text: &[u8]) -> Option<usize> {
    let is_of_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let end = text.iter().position(|byte| !is_of_key(byte))?;
    (text[end] == b'=' && text[0].is_ascii_alphabetic()).then_some(end)
}

/// Processors, or slots, and hosts of an `exec_host`.
fn slots(value: &[u8]) -> Result<(u64, usize), BadRow> {
    let (mut slots, mut hosts) = (0u64, BTreeSet::new());
    for part in value.split(|byte| *byte == b'+').filter(|part| !part.is_empty()) {
        let wrong = || {
            let part = meed_config::words::quote(part);
            BadRow::line(format!("exec_host: {part} is not HOST/SLOT, HOST/FROM-TO or HOST/TASK*N"))
        };
        let mut halves = part.rsplitn(2, |byte| *byte == b'/');
        let (last, host) = (halves.next().unwrap_or_default(), halves.next());
        hosts.insert(host.unwrap_or(last));
        let here = if host.is_some() { count(last).ok_or_else(wrong)? } else { 1 };
        slots = slots.checked_add(here).ok_or_else(wrong)?;
    }
    Ok((slots, hosts.len()))
}

/// How many slots `0`, `0-5,8` or `0*8` are.
fn count(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    if let Some((task, processors)) = text.split_once('*') {
        return task.parse::<u64>().ok().and_then(|_| processors.parse().ok());
    }
    text.split(',').try_fold(0u64, |sum, range| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        sum.checked_add(to.checked_sub(from)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_every_form() {
        for (text, expected) in [
            ("n1/0+n1/1+n2/0", Some((3, 2))),
            ("n1/0-5,8+n2/3", Some((8, 2))),
            ("n1/0*8+n2/1*8", Some((16, 2))),
            ("n1/0", Some((1, 1))),
            ("n1", Some((1, 1))),
            ("", Some((0, 0))),
            ("n1/5-3", None),
            ("n1/x", None),
            ("n1/0*many", None),
            ("n1/0-18446744073709551615", None),
        ] {
            assert_eq!(slots(text.as_bytes()).ok(), expected, "{text}");
        }
    }

    #[test]
    fn pairs_with_blanks_and_quotes() {
        let text = "user=ann jobname=my job 2 account=\"a b=c\" x= Resource_List.mem=8gb a=b=c";
        let pairs: Vec<(String, String)> = Pairs(text.as_bytes())
            .map(|pair| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (text(pair.0), text(pair.1))
            })
            .collect();
        let expected = [
            ("user", "ann"),
            ("jobname", "my job 2"),
            ("account", "a b=c"),
            ("x", ""),
            ("Resource_List.mem", "8gb"),
            ("a", "b=c"),
        ];
        assert_eq!(pairs, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn lines_are_told_from_others() {
        for (line, expected) in [
            ("06/06/2005 14:04:25;D;408.ign1;requestor=guest@ign1", true),
            ("06/06/2005 14:04:25;E;408;", true),
            ("06/06/2005 14:04:25;E;408", false),
            ("2005-06-06 14:04:25;E;408;a=b", false),
            ("User;Submit;Start;End", false),
        ] {
            assert_eq!(is_line(line.as_bytes()), expected, "{line}");
        }
    }
}
