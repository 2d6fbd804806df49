//! What a run logs, beside what was recorded: the same bytes, or where they part.
//!
//! Bytes are compared line by line until the first difference. From there on decisions are
//! compared: who started where and when, in what order. A log of another version may say the same
//! in other words. In logs of schema 1 the runner-up that a reason names is not compared: it
//! depended on how far earlier decisions had looked.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use meed_journal::{Fact, Kind, Record};

use meed_scenario::log::read::{LogError, LogFile, LogReader, Run};

/// Where a log and its replay part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Number of the recorded line in the file, from 1.
    pub line: u64,
    /// Its text; `None` where the record ends.
    pub recorded: Option<String>,
    /// What the replay writes there; `None` where it ends.
    pub replayed: Option<String>,
}

/// A place to log to that compares. Clones share what they find.
#[derive(Clone)]
pub(crate) struct Compare<'a>(Rc<RefCell<State<'a>>>);

struct State<'a> {
    log: LogFile,
    run: Run,
    recorded: LogReader,
    starts: u64,
    /// From the first difference on: the recorded starts that have not been met.
    left: Option<LogReader>,
    bytes: Option<Difference>,
    decisions: Option<Difference>,
    failure: Option<LogError>,
    /// What is compared was played back: reasons, and orders to stop, are not told again.
    played_back: bool,
    /// Where the bytes go as well.
    copy: Option<&'a mut dyn Write>,
}

impl<'a> Compare<'a> {
    pub(crate) fn new(
        log: &LogFile,
        run: &Run,
        copy: Option<&'a mut dyn Write>,
    ) -> Result<Compare<'a>, LogError> {
        let recorded = log.read(run)?;
        Ok(Compare(Rc::new(RefCell::new(State {
            log: log.clone(),
            run: run.clone(),
            recorded,
            starts: 0,
            left: None,
            bytes: None,
            decisions: None,
            failure: None,
            played_back: false,
            copy,
        }))))
    }

    /// The same for a run that is played back: all lines but their numbers, without what is not
    /// told then.
    pub(crate) fn played_back(log: &LogFile, run: &Run) -> Result<Compare<'a>, LogError> {
        let compare = Compare::new(log, run, None)?;
        compare.0.borrow_mut().played_back = true;
        Ok(compare)
    }

    /// The first difference in bytes, and the first in decisions. `whole`: the run has ended, so
    /// what the record has beyond it is a difference too.
    pub(crate) fn verdict(
        &self,
        whole: bool,
    ) -> Result<(Option<Difference>, Option<Difference>), LogError> {
        let mut state = self.0.borrow_mut();
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        if whole && state.bytes.is_none() {
            let rest = state.recorded.next_raw()?;
            let rest = rest.map(|(line, bytes)| Difference {
                line,
                recorded: Some(text(bytes)),
                replayed: None,
            });
            state.bytes = rest;
        }
        if whole && state.decisions.is_none() {
            let unmet = match &mut state.left {
                Some(left) => left.next(&[Kind::TaskStarted])?,
                None => None,
            };
            state.decisions = unmet.map(|(line, recorded)| Difference {
                line,
                recorded: Some(line_of(&recorded)),
                replayed: None,
            });
        }
        Ok((state.bytes.clone(), state.decisions.clone()))
    }
}

impl State<'_> {
    fn line(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let mine = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let is_start = begins(mine, "start");
        if self.bytes.is_none() {
            let (is_old, is_played) = (self.recorded.is_converted(), self.played_back);
            let same = |theirs: &[u8]| {
                theirs == mine
                    || is_old && same_but_next(theirs, mine)
                    || is_played && same_when_played(theirs, mine)
            };
            loop {
                match self.recorded.next_raw()? {
                    Some((_, theirs)) if is_played && begins(theirs, "reclaim") => {}
                    Some((_, theirs)) if same(theirs) => {
                        self.starts += u64::from(is_start);
                        return Ok(());
                    }
                    // A record that was cut short says nothing about what came later.
                    None if !self.run.finished => return Ok(()),
                    theirs => {
                        let line = theirs.map_or(self.run.last_line + 1, |(line, _)| line);
                        let (recorded, replayed) =
                            (theirs.map(|(_, theirs)| text(theirs)), Some(text(mine)));
                        self.bytes = Some(Difference { line, recorded, replayed });
                        break;
                    }
                }
            }
            self.left = Some(self.starts_from(self.starts)?);
        }
        if is_start && self.decisions.is_none() { self.start(mine) } else { Ok(()) }
    }

    /// The recorded starts after the first `skipped`.
    fn starts_from(&self, skipped: u64) -> Result<LogReader, LogError> {
        let mut reader = self.log.read(&self.run)?;
        let mut seen = 0;
        while seen < skipped && reader.next(&[Kind::TaskStarted])?.is_some() {
            seen += 1;
        }
        Ok(reader)
    }

    fn start(&mut self, mine: &[u8]) -> Result<(), LogError> {
        let Some(left) = &mut self.left else { return Ok(()) };
        let own = Record::decode(mine).ok();
        let theirs = left.next(&[Kind::TaskStarted])?;
        let (line, recorded) = match theirs {
            Some((_, theirs)) if own.is_some_and(|own| same_start(&own, &theirs)) => return Ok(()),
            Some((line, theirs)) => (line, Some(line_of(&theirs))),
            None if !self.run.finished => return Ok(()),
            None => (self.run.last_line + 1, None),
        };
        self.decisions = Some(Difference { line, recorded, replayed: Some(text(mine)) });
        Ok(())
    }
}

/// Whether a line as this program writes it is of the kind: after number and time.
fn begins(line: &[u8], kind: &str) -> bool {
    let after = line.splitn(3, |&byte| byte == b',').nth(2).unwrap_or_default();
    after
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_prefix(kind.as_bytes()))
        .is_some_and(|rest| rest.starts_with(b"\":"))
}

/// Whether the same task starts at the same time on the same node; why does not matter.
fn same_start(one: &Record, other: &Record) -> bool {
    match (&one.fact, &other.fact) {
        (Fact::TaskStarted(mine), Fact::TaskStarted(theirs)) => {
            let who = |start: &meed_journal::Started| (start.job.clone(), start.task);
            one.t == other.t && who(mine) == who(theirs) && mine.node == theirs.node
        }
        _ => false,
    }
}

/// Whether two lines of starts are the same but for the runners-up that their reasons name.
fn same_but_next(one: &[u8], other: &[u8]) -> bool {
    let without = |line: &[u8]| {
        let mut record = Record::decode(line).ok()?;
        let Fact::TaskStarted(start) = &mut record.fact else { return None };
        let levels = start.reason.iter_mut().flat_map(|reason| &mut reason.levels);
        levels.for_each(|level| (level.runner_up, level.runner_up_key) = (None, None));
        Some(record)
    };
    without(one).is_some_and(|one| Some(one) == without(other))
}

/// Whether two lines say the same but for their numbers and the reasons of starts.
fn same_when_played(one: &[u8], other: &[u8]) -> bool {
    let told = |line: &[u8]| {
        let mut record = Record::decode(line).ok()?;
        record.seq = 0;
        if let Fact::TaskStarted(start) = &mut record.fact {
            start.reason = None;
        }
        Some(record)
    };
    told(one).is_some_and(|one| Some(one) == told(other))
}

fn line_of(record: &Record) -> String {
    let mut line = Vec::new();
    record.encode(&mut line);
    text(&line)
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

impl Write for Compare<'_> {
    /// Gets whole lines, as [`crate::log::Log`] writes them.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.borrow_mut();
        if let Some(copy) = &mut state.copy {
            copy.write_all(bytes)?;
        }
        if let Err(failure) = state.line(bytes) {
            let words = failure.to_string();
            state.failure = Some(failure);
            return Err(io::Error::other(words));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().copy.as_mut().map_or(Ok(()), |copy| copy.flush())
    }
}
