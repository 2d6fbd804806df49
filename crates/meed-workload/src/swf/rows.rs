//! SWF lines to rows: everything about a job except the number of its queue.

use meed::{Gang, MAX_AMOUNT, ResourceKinds, Resources, Span, Time, Unit};

use super::{SwfAssumptions, SwfHeader, SwfMemory, SwfProcessors, SwfQueues, SwfShape};
use crate::error::BadRow;
use crate::fields::{Column, span, time};
use crate::ordered::Ordered;
use crate::records::Records;
use crate::{MAX_TASKS, TraceError};

const COLUMNS: usize = 18;
const JOB: Column = Column(1, "job number");
const SUBMIT: Column = Column(2, "submit time");
const WAIT: Column = Column(3, "wait time");
const RUN: Column = Column(4, "run time");
const ALLOCATED: Column = Column(5, "allocated processors");
const USED_MEMORY: Column = Column(7, "used memory");
const REQUESTED: Column = Column(8, "requested processors");
const REQUESTED_TIME: Column = Column(9, "requested time");
const REQUESTED_MEMORY: Column = Column(10, "requested memory");
const STATUS: Column = Column(11, "status");
const USER: Column = Column(12, "user");
const GROUP: Column = Column(13, "group");
const EXECUTABLE: Column = Column(14, "executable");
const QUEUE: Column = Column(15, "queue");
const PARTITION: Column = Column(16, "partition");

/// One job. Small, and copied freely.
pub(super) struct Row {
    pub(super) job: u64,
    pub(super) submit: Time,
    pub(super) duration: Span,
    /// From its submission to its start, where that is known.
    pub(super) wait: Option<Span>,
    pub(super) limit: Option<Span>,
    pub(super) gang: Option<Box<Gang>>,
    /// Which queue: the number in the queue's column; `None` when it is unknown.
    pub(super) key: Option<u64>,
    pub(super) tasks: u32,
    pub(super) demand: Resources,
}

/// How rows are read: the assumptions, with names resolved.
#[derive(Clone)]
pub(super) struct Rules {
    assumptions: SwfAssumptions,
    kinds: usize,
    processor: usize,
    memory: Option<usize>,
    key: Option<(Column, &'static str)>,
}

impl Rules {
    pub(super) fn new(
        assumptions: &SwfAssumptions,
        kinds: &ResourceKinds,
    ) -> Result<Rules, TraceError> {
        let (processor, memory) = assumptions.resolve(kinds)?;
        let key = match assumptions.queues {
            SwfQueues::User => Some((USER, "u")),
            SwfQueues::Group => Some((GROUP, "g")),
            SwfQueues::Executable => Some((EXECUTABLE, "x")),
            SwfQueues::Queue => Some((QUEUE, "q")),
            SwfQueues::Partition => Some((PARTITION, "p")),
            SwfQueues::Single(_) => None,
        };
        Ok(Rules { assumptions: assumptions.clone(), kinds: kinds.len(), processor, memory, key })
    }

    pub(super) fn words(&self, kinds: &ResourceKinds) -> Vec<String> {
        self.assumptions.words(kinds, self.processor, self.memory)
    }

    /// Name of the queue with number `key`.
    pub(super) fn queue_name(&self, key: Option<u64>) -> String {
        match (&self.assumptions.queues, self.key, key) {
            (SwfQueues::Single(name), _, _) => name.clone(),
            (_, Some((_, letter)), Some(key)) => format!("{letter}{key}"),
            (_, Some((_, letter)), None) => format!("{letter}-unknown"),
            (_, None, _) => String::new(),
        }
    }

    /// One line that is neither empty nor a comment; `None` for a job that is left out.
    fn parse(&self, line: &[u8]) -> Result<Option<Row>, BadRow> {
        let columns = split(line)?;
        let value = |column: Column| columns[column.0 - 1];
        // -1 is unknown; any other negative number is an error.
        let known = |column: Column, limit| match value(column) {
            b"-1" => Ok(None),
            text => column.whole(text, limit).map(Some),
        };
        // Parts of jobs that were swapped out may have none.
        let submit = match value(SUBMIT) {
            b"-1" => None,
            text => Some(time(SUBMIT.seconds(text)?)),
        };
        let job = JOB.whole(value(JOB), u64::MAX)?;
        let duration = match value(RUN) {
            b"-1" => None,
            text => Some(span(RUN.seconds(text)?)),
        };
        let some =
            |column, limit| known(column, limit).map(|number| number.filter(|number| *number > 0));
        let allocated = some(ALLOCATED, u64::MAX)?;
        let requested = some(REQUESTED, u64::MAX)?;
        let status = known(STATUS, u64::MAX)?;
        let key = match self.key {
            Some((column, _)) => known(column, u64::MAX)?,
            None => None,
        };
        let (column, processors) = match self.assumptions.processors {
            SwfProcessors::Allocated if allocated.is_some() => (ALLOCATED, allocated),
            SwfProcessors::Requested if requested.is_none() => (ALLOCATED, allocated),
            _ => (REQUESTED, requested),
        };
        let memory = match self.memory {
            None => 0,
            Some(_) => {
                let used = some(USED_MEMORY, MAX_AMOUNT)?;
                let requested = some(REQUESTED_MEMORY, MAX_AMOUNT)?;
                match self.assumptions.memory {
                    SwfMemory::Used => used.or(requested),
                    SwfMemory::Requested | SwfMemory::Ignore => requested.or(used),
                }
                .unwrap_or(0)
            }
        };
        let (Some(duration), Some(processors)) = (duration, processors) else { return Ok(None) };
        let cancelled =
            status == Some(5) && duration == Span::ZERO && self.assumptions.ignore_cancelled;
        let partial = matches!(status, Some(2..=4)) && self.assumptions.ignore_partial;
        if cancelled || partial {
            return Ok(None);
        }
        let submit = submit.map_or_else(|| SUBMIT.seconds(value(SUBMIT)).map(time), Ok)?;
        let (tasks, each) = match self.assumptions.shape {
            SwfShape::Rigid => (1, processors),
            _ if processors <= u64::from(MAX_TASKS) => (processors as u32, 1),
            SwfShape::Split | SwfShape::Gang => {
                return Err(column.wrong(
                    value(column),
                    &format!("is too large; a job has at most {MAX_TASKS} tasks"),
                ));
            }
        };
        let mut demand = Resources::zero(self.kinds);
        demand.as_mut_slice()[self.processor] =
            amount(each, Unit::Milli.scale()).ok_or_else(|| {
                column.wrong(value(column), "is too large; no cluster has that many processors")
            })?;
        if let Some(kind) = self.memory {
            demand.as_mut_slice()[kind] =
                amount(each, 1024).and_then(|each| amount(each, memory)).ok_or_else(|| {
                    BadRow::line(format!(
                        "{memory} KB on each of {each} processors is more memory than can be \
                         counted"
                    ))
                })?;
        }
        let duration = duration.max(self.assumptions.min_duration);
        let limit = self.assumptions.limits.of(REQUESTED_TIME, value(REQUESTED_TIME), duration)?;
        let gang = Gang::all(tasks).filter(|_| self.assumptions.shape == SwfShape::Gang);
        // What is no wait is none: nothing but the size of a cluster rests on it.
        let wait = match value(WAIT) {
            b"-1" => None,
            text => WAIT.seconds(text).ok().map(span),
        };
        Ok(Some(Row { job, submit, duration, wait, limit, gang, key, tasks, demand }))
    }
}

fn amount(number: u64, scale: u64) -> Option<u64> {
    number.checked_mul(scale).filter(|amount| *amount <= MAX_AMOUNT)
}

fn split(line: &[u8]) -> Result<[&[u8]; COLUMNS], BadRow> {
    let mut columns = [&line[..0]; COLUMNS];
    let (mut count, mut from, mut is_in) = (0, 0, false);
    let mut ends = |from: usize, to: usize| {
        if let Some(place) = columns.get_mut(count) {
            *place = &line[from..to];
        }
        count += 1;
    };
    for (at, byte) in line.iter().enumerate() {
        match (byte.is_ascii_whitespace(), is_in) {
            (false, false) => (from, is_in) = (at, true),
            (true, true) => {
                ends(from, at);
                is_in = false;
            }
            _ => {}
        }
    }
    if is_in {
        ends(from, line.len());
    }
    if count == COLUMNS { Ok(columns) } else { Err(wrong_columns(line, count)) }
}

fn wrong_columns(line: &[u8], count: usize) -> BadRow {
    match std::str::from_utf8(line) {
        Err(_) => BadRow::line("not text (invalid UTF-8); SWF is 18 numbers a line"),
        Ok(_) => BadRow::line(format!("{count} columns; an SWF line has {COLUMNS}")),
    }
}

/// The rows of a file, in order: of each, what its reader keeps.
pub(super) struct Rows<R> {
    pub(super) records: Records,
    pub(super) header: SwfHeader,
    rules: Rules,
    ordered: Ordered<R>,
}

impl<R> Rows<R> {
    pub(super) fn new(records: Records, rules: Rules) -> Rows<R> {
        Rows { records, header: SwfHeader::default(), rules, ordered: Ordered::new() }
    }

    /// What `keep` keeps of the next row in order of submission, with its line.
    pub(super) fn next(&mut self, keep: impl Fn(Row) -> R) -> Result<Option<(u64, R)>, TraceError> {
        let Rows { records, header, rules, ordered } = self;
        ordered.next(records, |records| {
            let row = read_row(records, header, rules)?;
            Ok(row.map(|row| (row.submit, keep(row))))
        })
    }
}

/// The next row that counts, in the order of the file.
fn read_row(
    records: &mut Records,
    header: &mut SwfHeader,
    rules: &Rules,
) -> Result<Option<Row>, TraceError> {
    loop {
        let Some(line) = records.lines.next_line()? else {
            records.end()?;
            return Ok(None);
        };
        let line = line.trim_ascii();
        match line {
            [] => continue,
            [b';', ..] => {
                // Only the comments before the first job are the header.
                if records.read == 0 {
                    header.read(line);
                }
                continue;
            }
            _ => records.read += 1,
        }
        match rules.parse(line) {
            Ok(Some(row)) => return Ok(Some(row)),
            Ok(None) => records.ignored += 1,
            Err(problem) => records.note(problem)?,
        }
    }
}
