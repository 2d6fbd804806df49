//! The decision log: what happened and what was decided, in the form of docs/log.md, for `meed
//! replay --verify` and `meed explain`.
//!
//! Nobody decides by it, and nothing is lost with it: a log that cannot be written is given up, and
//! the operator is told. Each term of a leader begins a run of its own, with the state of its
//! driver at that instant, so it replays from there whatever became of the runs before. Several
//! runs may stand in one file, one behind the other; a last line that a crash has cut is taken off.
//!
//! Invariant: what was told at one instant stands together, its decision behind it, and instants
//! rise; so whoever plays it decides when it was decided. Cost: a line of JSON for each record, one
//! write for each turn.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use meed::Time;
use meed_driver::{Driver, Journal, header_of};
use meed_journal::{Decide, Fact, Header, Kind, Name, Note, Writer};
use serde::Serialize;

/// What notes are about that hold the state, as `meed replay` reads them.
const STATE: &str = "state";
/// Bytes of a piece of the state: readers take lines of a mebibyte, and escapes lengthen it.
const PIECE: usize = 400 << 10;
/// The path that means standard output.
const STDOUT: &str = "-";

/// See the module.
#[derive(Default)]
pub(crate) struct DecisionLog {
    out: Option<Writer<Box<dyn Write + Send>>>,
    /// Something happened since the last decision.
    told: bool,
    /// Why it was given up.
    wrong: Option<String>,
}

impl DecisionLog {
    /// Goes on behind what stands in the file.
    pub(crate) fn open(path: &str) -> io::Result<DecisionLog> {
        let out: Box<dyn Write + Send> = match path {
            STDOUT => Box::new(BufWriter::new(io::stdout())),
            path => Box::new(BufWriter::new(whole_lines(path)?)),
        };
        Ok(DecisionLog { out: Some(Writer::new(out)), ..DecisionLog::default() })
    }

    /// Whether something happened since the last decision.
    pub(crate) fn take_told(&mut self) -> bool {
        std::mem::take(&mut self.told)
    }

    /// Passes on what is buffered; once, why the log was given up.
    pub(crate) fn flush(&mut self) -> Option<String> {
        let flushed = self.out.as_mut().map_or(Ok(()), Writer::flush);
        self.keep(flushed);
        self.wrong.take()
    }

    fn keep(&mut self, done: io::Result<()>) {
        if let Err(why) = done {
            self.out = None;
            self.wrong = Some(format!("the decision log is given up: {why}"));
        }
    }
}

/// A file at its end, behind its last whole line.
fn whole_lines(path: &str) -> io::Result<File> {
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = vec![0; 1 << 16];
    while end > 0 {
        let from = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - from).unwrap_or(0)];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(part)?;
        if let Some(place) = part.iter().rposition(|&byte| byte == b'\n') {
            end = from + place as u64 + 1;
            break;
        }
        end = from;
    }
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok(file)
}

impl Journal for DecisionLog {
    fn is_on(&self) -> bool {
        self.out.is_some()
    }

    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        self.told |= !matches!(fact.kind(), Kind::Run | Kind::Note | Kind::Finish);
        let written = self.out.as_mut().map_or(Ok(0), |out| out.append(at, fact));
        self.keep(written.map(drop));
        Ok(())
    }
}

/// Begins a run with the state that the driver has now.
pub(crate) fn begin<J: Clone + Serialize>(
    driver: Driver<J, DecisionLog>,
    log: DecisionLog,
    header: Header,
) -> Result<Driver<J, DecisionLog>, meed_driver::Failed> {
    let state = String::from_utf8_lossy(&driver.state()).into_owned();
    let mut driver = driver.with_journal(log);
    let now = driver.engine().now();
    driver.note(now, || Fact::Run(Box::new(header)))?;
    for piece in pieces(&state) {
        let detail = Some(Box::new(serde_json::Value::from(piece)));
        driver.note(now, || Fact::Note(Note { about: Name::from(STATE), detail }))?;
    }
    // The first decision is at this instant, whether something starts or not.
    driver.note(now, || Fact::TimePassed(Decide {}))?;
    Ok(driver)
}

/// The header of a run.
pub(crate) fn header(
    config: &meed::Config,
    (policy, placement): (&str, &str),
    (epoch, origin): (i32, i64),
) -> Header {
    Header {
        epoch_us: u64::try_from(origin).ok(),
        scenario: format!("epoch {epoch}"),
        // Each pod is one attempt.
        max_attempts: 1,
        ..header_of("kubernetes", policy, config, placement)
    }
}

/// A text in pieces that lines hold.
fn pieces(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while rest.len() > PIECE {
        let mut cut = PIECE;
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        let (piece, after) = rest.split_at(cut);
        all.push(piece);
        rest = after;
    }
    all.push(rest);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_line_is_taken_off_and_what_is_whole_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let path = path.to_str().unwrap();
        let long = "x".repeat(100_000);
        for (before, after) in [
            (String::new(), String::new()),
            ("a\nb\n".to_owned(), "a\nb\n".to_owned()),
            ("a\nb".to_owned(), "a\n".to_owned()),
            ("cut".to_owned(), String::new()),
            (format!("a\n{long}"), "a\n".to_owned()),
        ] {
            std::fs::write(path, &before).unwrap();
            let mut file = whole_lines(path).unwrap();
            file.write_all(b"more\n").unwrap();
            let found = std::fs::read_to_string(path).unwrap();
            assert!(found == format!("{after}more\n"), "{} bytes before", before.len());
        }
    }

    #[test]
    fn pieces_are_the_text() {
        let text = "ä".repeat(PIECE + 1);
        let all = pieces(&text);
        assert!(all.len() > 2 && all.iter().all(|piece| piece.len() <= PIECE));
        assert_eq!(all.concat(), text);
        assert_eq!(pieces(""), [""]);
    }
}
