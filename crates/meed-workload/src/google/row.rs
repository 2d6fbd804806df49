//! Rows of task_events: one line, its 13 columns, checked.

use meed::MAX_MICROS;
use meed_config::decimal::{NumberError, Rounding, parse_scaled, parse_short};

use crate::TraceError;
use crate::error::BadRow;
use crate::fields::Column;
use crate::records::Records;

use super::{AFTER_THE_END, MACHINE};

const COLUMNS: usize = 13;
const TIME: Column = Column(1, "time");
const MISSING: Column = Column(2, "missing info");
const JOB: Column = Column(3, "job id");
const TASK: Column = Column(4, "task index");
const MACHINE_ID: Column = Column(5, "machine id");
const EVENT: Column = Column(6, "event type");
const USER: Column = Column(7, "user");
const CLASS: Column = Column(8, "scheduling class");
const PRIORITY: Column = Column(9, "priority");
const REQUESTS: [Column; 3] =
    [Column(10, "cpu request"), Column(11, "memory request"), Column(12, "disk request")];
const DIFFERENT: Column = Column(13, "different machines");

/// Longest name of a user, in bytes.
const MAX_USER: usize = 200;
/// Largest request: a thousand of the largest machines.
const MAX_REQUEST: u64 = 1000 * MACHINE;
/// Stands for a class or a priority that is not given.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// What happened to a task (column 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Submit,
    Schedule,
    Evict,
    Fail,
    Finish,
    Kill,
    Lost,
    UpdatePending,
    UpdateRunning,
}

/// By their numbers in the trace.
pub(super) const EVENTS: [(Event, &str); 9] = [
    (Event::Submit, "SUBMIT"),
    (Event::Schedule, "SCHEDULE"),
    (Event::Evict, "EVICT"),
    (Event::Fail, "FAIL"),
    (Event::Finish, "FINISH"),
    (Event::Kill, "KILL"),
    (Event::Lost, "LOST"),
    (Event::UpdatePending, "UPDATE_PENDING"),
    (Event::UpdateRunning, "UPDATE_RUNNING"),
];

/// CPU, memory and disk, in millionths of the largest machine's.
pub(super) type Request = [u32; 3];

/// One event.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Microseconds; [`AFTER_THE_END`] for what happens after the trace ends.
    pub(super) time: u64,
    pub(super) job: u64,
    pub(super) task: u32,
    pub(super) event: Event,
    pub(super) user: &'a [u8],
    pub(super) class: u8,
    pub(super) priority: u8,
    /// `None` when it is missing, or asks for nothing at all.
    pub(super) request: Option<Request>,
    pub(super) different: bool,
}

#[inline]
pub(super) fn parse(line: &[u8]) -> Result<Row<'_>, BadRow> {
    let columns = split(line)?;
    let value = |column: Column| columns[column.0 - 1];
    let whole = |column: Column, limit: u64| match parse_short(value(column)) {
        Some(number) if number <= limit => Ok(number),
        _ => column.whole(value(column), limit),
    };
    let optional = |column: Column, limit: u64| match value(column).is_empty() {
        true => Ok(None),
        false => whole(column, limit).map(Some),
    };
    let time = whole(TIME, AFTER_THE_END)?;
    if time > MAX_MICROS && time != AFTER_THE_END {
        return Err(TIME
            .wrong(value(TIME), "is too large; wanted are microseconds, up to 2^53, or 2^63 - 1"));
    }
    optional(MISSING, 255)?;
    optional(MACHINE_ID, u64::MAX)?;
    let event = whole(EVENT, EVENTS.len() as u64 - 1)?;
    let small = |column| Ok(optional(column, 254)?.map_or(UNKNOWN, |number| number as u8));
    let mut request = [0; 3];
    for (amount, column) in request.iter_mut().zip(REQUESTS) {
        *amount = share(column, value(column))?;
    }
    Ok(Row {
        time,
        job: whole(JOB, u64::MAX - 1)?,
        task: whole(TASK, u64::from(u32::MAX))? as u32,
        event: EVENTS[event as usize].0,
        user: value(USER),
        class: small(CLASS)?,
        priority: small(PRIORITY)?,
        request: (request != [0; 3]).then_some(request),
        different: optional(DIFFERENT, 1)? == Some(1),
    })
}

/// What is wrong with the name of a user. Asked once per job: it is the longest column, and the
/// same in all of its rows.
pub(super) fn check_user(user: &[u8]) -> Result<(), BadRow> {
    let printable = user.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'.');
    match user.len() <= MAX_USER && printable {
        true => Ok(()),
        false => Err(USER.wrong(
            user,
            &format!("is no user; wanted are up to {MAX_USER} printable letters, no dot"),
        )),
    }
}

/// A share of the largest machine in millionths, rounded; what is above nothing stays above
/// nothing.
fn share(column: Column, text: &[u8]) -> Result<u32, BadRow> {
    if let Some(amount) = short_share(text) {
        return Ok(amount);
    }
    match parse_scaled(text, MACHINE, MAX_REQUEST, Rounding::Nearest) {
        // Less than half a millionth: not nothing, unless all of its digits are 0.
        Ok(0) => {
            Ok(u32::from(parse_scaled(text, 1, 1, Rounding::Exact) == Err(NumberError::TooFine)))
        }
        Ok(amount) => Ok(amount as u32),
        Err(_) => Err(column
            .wrong(text, "is no request; wanted is a share of the largest machine, 0 to 1000")),
    }
}

/// The usual forms: nothing, `0`, `0.0125`.
#[inline]
fn short_share(text: &[u8]) -> Option<u32> {
    let digits = match text {
        [] | [b'0'] => return Some(0),
        [b'0', b'.', digits @ ..] if (1..=9).contains(&digits.len()) => digits,
        _ => return None,
    };
    let number = parse_short(digits)? as u32;
    const POWERS: [u32; 4] = [1, 10, 100, 1_000];
    match digits.len() {
        few @ 1..=6 => Some(number * 10u32.pow(6 - few as u32)),
        many => {
            let power = POWERS[many - 6];
            Some(((number + power / 2) / power).max(u32::from(number > 0)))
        }
    }
}

#[inline]
fn split(line: &[u8]) -> Result<[&[u8]; COLUMNS], BadRow> {
    let mut columns = [&line[..0]; COLUMNS];
    let (mut count, mut start) = (0, 0);
    // Most columns are a few bytes: a plain loop is faster than a search for each comma.
    for (end, byte) in line.iter().enumerate() {
        if *byte == b',' {
            if count < COLUMNS {
                columns[count] = &line[start..end];
            }
            (count, start) = (count + 1, end + 1);
        }
    }
    if count < COLUMNS {
        columns[count] = &line[start..];
    }
    count += 1;
    if count == COLUMNS {
        return Ok(columns);
    }
    Err(BadRow::line(format!(
        "{count} columns; a line of task_events has {COLUMNS}, separated by commas: time, missing \
         info, job id, task \
         index, machine id, event type, user, scheduling class, priority, cpu, memory and disk \
         request, different \
         machines"
    )))
}

/// The rows of a file, in order.
pub(super) struct Rows {
    pub(super) records: Records,
    /// Time of the last row within the trace.
    pub(super) last: u64,
}

impl Rows {
    pub(super) fn new(records: Records) -> Rows {
        Rows { records, last: 0 }
    }

    /// Hands each row to `take`, which says what is wrong with it beyond its own columns.
    pub(super) fn each(
        &mut self,
        mut take: impl FnMut(Row<'_>) -> Result<(), BadRow>,
    ) -> Result<(), TraceError> {
        while let Some(line) = self.records.lines.next_line()? {
            if line.is_empty() {
                continue;
            }
            self.records.read += 1;
            let last = &mut self.last;
            let taken = parse(line).and_then(|row| {
                if row.time < *last {
                    return Err(TIME.wrong(
                        row.time.to_string().as_bytes(),
                        &format!(
                            "is before the preceding row's {last}; a trace is in order of time"
                        ),
                    ));
                }
                take(row)?;
                if row.time != AFTER_THE_END {
                    *last = row.time;
                }
                Ok(())
            });
            if let Err(problem) = taken {
                self.records.note(problem)?;
            }
        }
        self.records.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_millionths_rounded_and_never_to_nothing() {
        let rows = [
            ("", Some(0)),
            ("0", Some(0)),
            ("0.0", Some(0)),
            ("0.0000000", Some(0)),
            ("1", Some(1_000_000)),
            ("0.5", Some(500_000)),
            ("0.0125", Some(12_500)),
            ("0.003124", Some(3_124)),
            ("0.0006247", Some(625)),
            ("3.815e-05", Some(38)),
            ("1.907e-09", Some(1)),
            ("1e-99", Some(1)),
            ("1000", Some(1_000_000_000)),
            ("1000.1", None),
            ("-0.1", None),
            ("0.", Some(0)),
            ("0.x", None),
            ("half", None),
        ];
        for (text, expected) in rows {
            assert_eq!(share(REQUESTS[0], text.as_bytes()).ok(), expected, "{text}");
        }
    }
}
