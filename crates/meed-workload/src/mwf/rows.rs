//! MWF lines to rows: everything about a job except the number of its queue.

use meed::{MAX_AMOUNT, ResourceKinds, Span, Time, Unit};

use super::nodespec::{self, Chunk};
use super::{MwfAssumptions, MwfQueues};
use crate::TraceError;
use crate::error::BadRow;
use crate::fields::{Column, span, time, words};
use crate::ordered::Ordered;
use crate::records::Records;

const COLUMNS: usize = 21;
const JOB: Column = Column(1, "job number");
const SUBMIT: Column = Column(2, "submit time");
const RUN: Column = Column(4, "run time");
const REQUESTED_TIME: Column = Column(9, "requested time");
const MEMORY: Column = Column(10, "requested memory, bytes");
const USER: Column = Column(12, "user");
const QUEUE: Column = Column(20, "queue name");
const NODES: Column = Column(21, "requested nodes");

/// Longest name of a queue, in bytes.
const MAX_QUEUE: usize = 200;

/// One job.
pub(super) struct Row {
    pub(super) job: u64,
    pub(super) submit: Time,
    pub(super) duration: Span,
    pub(super) limit: Option<Span>,
    pub(super) queue: String,
    /// Bytes per node.
    pub(super) memory: u64,
    pub(super) chunks: Vec<Chunk>,
}

/// How rows are read: the assumptions, with names resolved.
#[derive(Clone)]
pub(super) struct Rules {
    assumptions: MwfAssumptions,
    pub(super) kinds: usize,
    pub(super) processor: usize,
    pub(super) memory: Option<usize>,
}

impl Rules {
    pub(super) fn new(
        assumptions: &MwfAssumptions,
        kinds: &ResourceKinds,
    ) -> Result<Rules, TraceError> {
        let (processor, memory) = assumptions.resolve(kinds)?;
        Ok(Rules { assumptions: assumptions.clone(), kinds: kinds.len(), processor, memory })
    }

    pub(super) fn words(&self, kinds: &ResourceKinds) -> Vec<String> {
        self.assumptions.words(kinds, self.processor, self.memory)
    }

    /// One line that is neither empty nor a comment; `None` for a job that is left out. Times are
    /// as in the file.
    fn parse(&self, line: &[u8]) -> Result<Option<Row>, BadRow> {
        let columns = split(line)?;
        let value = |column: Column| columns[column.0 - 1];
        let submit = time(SUBMIT.seconds(value(SUBMIT))?);
        let job = JOB.whole(value(JOB), u64::MAX)?;
        // Negative where the end is not known: some are -1, some the start less than nothing.
        let duration = match value(RUN) {
            [b'-', digits @ ..] if RUN.seconds(digits).is_ok() => None,
            text => Some(span(RUN.seconds(text)?)),
        };
        let queue = match &self.assumptions.queues {
            MwfQueues::User => match value(USER) {
                b"-1" => "u-unknown".to_owned(),
                text => format!("u{}", USER.whole(text, u64::MAX)?),
            },
            MwfQueues::Queue => queue_name(value(QUEUE))?,
            MwfQueues::Single(name) => name.clone(),
        };
        let memory = match value(MEMORY) {
            _ if self.memory.is_none() => 0,
            b"-1" => 0,
            text => MEMORY.whole(text, MAX_AMOUNT)?,
        };
        let nodes = value(NODES);
        let chunks = nodespec::parse(nodes, self.assumptions.properties)
            .map_err(|why| NODES.wrong(nodes, &why))?;
        if chunks.iter().any(|chunk| chunk.processors > MAX_AMOUNT / Unit::Milli.scale()) {
            return Err(NODES.wrong(nodes, "is too much; no node has that many processors"));
        }
        let Some(duration) = duration else { return Ok(None) };
        let limit = self.assumptions.limits.of(REQUESTED_TIME, value(REQUESTED_TIME), duration)?;
        Ok(Some(Row { job, submit, duration, limit, queue, memory, chunks }))
    }
}

fn queue_name(text: &[u8]) -> Result<String, BadRow> {
    match std::str::from_utf8(text) {
        Ok(name) if name.len() <= MAX_QUEUE && !name.contains(['.', '`']) => Ok(name.to_owned()),
        _ => Err(QUEUE.wrong(text, "is no queue; wanted are up to 200 letters, no dot")),
    }
}

fn split(line: &[u8]) -> Result<[&[u8]; COLUMNS], BadRow> {
    let mut columns = [&line[..0]; COLUMNS];
    let mut count = 0;
    for column in words(line) {
        if let Some(place) = columns.get_mut(count) {
            *place = column;
        }
        count += 1;
    }
    if count == COLUMNS {
        return Ok(columns);
    }
    Err(BadRow::line(format!(
        "{count} columns; an MWF line has {COLUMNS}: the 18 of SWF, the processors used, the \
         queue, the nodes asked for"
    )))
}

/// The rows of a file, in order.
pub(super) struct Rows {
    pub(super) records: Records,
    rules: Rules,
    ordered: Ordered<Row>,
    /// Submission of the first job: time 0 from then on.
    first: Option<Time>,
}

impl Rows {
    pub(super) fn new(records: Records, rules: Rules) -> Rows {
        Rows { records, rules, ordered: Ordered::new(), first: None }
    }

    /// When time 0 was, since 1970.
    pub(super) fn first(&self) -> Option<Time> {
        self.first
    }

    /// The next row in order of submission, with its line.
    pub(super) fn next_row(&mut self) -> Result<Option<(u64, Row)>, TraceError> {
        let Rows { records, rules, ordered, first } = self;
        let Some((line, row)) = ordered.next(records, |records| read_row(records, rules))? else {
            return Ok(None);
        };
        let first = *first.get_or_insert(row.submit);
        let submit = Time::ZERO.saturating_add(row.submit.saturating_since(first));
        Ok(Some((line, Row { submit, ..row })))
    }
}

/// The next row that counts, in the order of the file, with its submission.
fn read_row(records: &mut Records, rules: &Rules) -> Result<Option<(Time, Row)>, TraceError> {
    loop {
        let Some(line) = records.lines.next_line()? else {
            records.end()?;
            return Ok(None);
        };
        let line = line.trim_ascii();
        if matches!(line, [] | [b';', ..]) {
            continue;
        }
        records.read += 1;
        match rules.parse(line) {
            Ok(Some(row)) => return Ok(Some((row.submit, row))),
            Ok(None) => records.ignored += 1,
            Err(problem) => records.note(problem)?,
        }
    }
}
