//! The text of a segment, and what is told from a tail that was never acknowledged.
//!
//! A segment is a head line, blocks (see `block`), and line feeds that reserve room for more:
//!
//! ```text
//! {"segment":{"version":1,"first":17,"at_ms":1760000000000,"head":"8 hex"}}
//! ```
//!
//! **What can be torn.** Each group is one write, and the next begins only when it is synced. So
//! only the last block may be incomplete, nothing sound comes behind it, and what is missing of it
//! are bytes that were never written: line feeds (reserved room) or zeros (the file grew), from
//! somewhere to the end of a sector, or of the write. That is visible: records have no NUL and no
//! line feed, and are not empty. Everything else is damage: a flipped bit leaves the block
//! complete, and a lost block in the middle has a sound one behind it.
//!
//! Cost of a scan: each byte is checked once (CRC-32), nothing is copied.

use std::ops::ControlFlow;

use memchr::memchr_iter;

use crate::block::{BLOCK, Header, MAX_HEADER, number, sign};
use crate::disk::SECTOR;
use crate::error::StoreError;
use crate::store::{Seq, UnixMillis, Visit};

/// Version of segments that is written; the newest that can be read.
pub(crate) const VERSION: u64 = 1;

const SEGMENT: &[u8] = b"{\"segment\":{\"version\":";

/// The first line of a segment.
pub(crate) fn head_line(first: Seq, at: UnixMillis) -> Vec<u8> {
    let at = at.get();
    sign(format!("{{\"segment\":{{\"version\":{VERSION},\"first\":{first},\"at_ms\":{at}"))
}

/// Whether the end of a segment may be incomplete.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// All of it was acknowledged.
    Acknowledged,
    /// Its last write may have been cut off.
    MayBeTorn,
}

/// What a scan has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// The number after the last record.
    pub(crate) next: Seq,
    /// Where the sound part ends.
    pub(crate) end: usize,
    /// Where the write of the last sound block began: the first block was written with the head.
    pub(crate) last_write: usize,
    /// Where a torn tail was found: its line, and what is wrong.
    pub(crate) torn: Option<(u64, String)>,
    /// The visitor wanted no more.
    pub(crate) stopped: bool,
}

/// A segment's text.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Segment<'a> {
    /// What people call it.
    pub(crate) place: &'a str,
    /// Uncompressed.
    pub(crate) bytes: &'a [u8],
    /// Number of its first record, as its name says.
    pub(crate) first: Seq,
    /// Whether its end may be incomplete.
    pub(crate) tail: Tail,
}

/// Why something is not as it should be.
struct Wrong {
    found: String,
    expected: String,
    /// It can be what is left of a write that was cut off.
    torn: bool,
}

impl<'a> Segment<'a> {
    /// Visits all records from number `from` on; checks all blocks up to the last that is needed.
    pub(crate) fn scan(&self, from: Seq, visit: &mut Visit<'_>) -> Result<Scanned, StoreError> {
        let mut at =
            Scanned { next: self.first, end: 0, last_write: 0, torn: None, stopped: false };
        let mut line = 1;
        let head = match self.head() {
            Ok(length) => length,
            Err(HeadError::Newer(found)) => {
                let place = self.place.to_owned();
                return Err(StoreError::Newer { place, found, known: VERSION });
            }
            Err(HeadError::Wrong(wrong)) => {
                self.torn_or_damaged(&mut at, line, wrong)?;
                return Ok(at);
            }
        };
        at.end = head;
        line += 1;
        while !self.bytes[at.end..].iter().all(|byte| *byte == b'\n') {
            let (header, start, lines) = match self.block(at.end, at.next) {
                Ok(found) => found,
                Err(wrong) => {
                    self.torn_or_damaged(&mut at, line, wrong)?;
                    return Ok(at);
                }
            };
            if at.next.plus(header.records) > from
                && visit_lines(lines, at.next, from, visit).is_break()
            {
                at.stopped = true;
                return Ok(at);
            }
            at.next = at.next.plus(header.records);
            at.last_write = if at.end == head { 0 } else { at.end };
            at.end = start + lines.len();
            line += 1 + header.records;
        }
        // A head without any block: the write of both was cut off between them.
        if at.next == self.first {
            let found = "no block below the head".to_owned();
            let expected = format!("the block of record {}", self.first);
            self.torn_or_damaged(&mut at, line, Wrong { found, expected, torn: true })?;
        }
        Ok(at)
    }

    /// The one block of which all of the text consists, without a head: visits its records from
    /// `from` on.
    #[cfg(feature = "redb")]
    pub(crate) fn scan_block(
        &self,
        from: Seq,
        visit: &mut Visit<'_>,
    ) -> Result<(Header, ControlFlow<()>), StoreError> {
        match self.block(0, self.first) {
            Ok((header, start, lines)) if start + lines.len() == self.bytes.len() => {
                Ok((header, visit_lines(lines, self.first, from, visit)))
            }
            other => {
                let (found, expected) = match other {
                    Ok((header, ..)) => (
                        format!("{} bytes", self.bytes.len()),
                        format!("a block with {} bytes of records", header.bytes),
                    ),
                    Err(wrong) => (wrong.found, wrong.expected),
                };
                let place = self.place.to_owned();
                Err(StoreError::Damaged { place, line: 1, offset: 0, found, expected })
            }
        }
    }

    /// When the segment was begun, as its first line says.
    pub(crate) fn begun(first_bytes: &[u8]) -> Option<UnixMillis> {
        let mut rest = first_bytes.strip_prefix(SEGMENT)?;
        number(&mut rest)?;
        rest = rest.strip_prefix(b",\"first\":")?;
        number(&mut rest)?;
        rest = rest.strip_prefix(b",\"at_ms\":")?;
        number(&mut rest).map(UnixMillis::new)
    }

    /// Length of the head line.
    fn head(&self) -> Result<usize, HeadError> {
        let end = line_end(self.bytes, 0);
        let text = &self.bytes[..end];
        let at = Self::begun(text);
        let expected = at.map(|at| head_line(self.first, at));
        if expected.as_ref().is_some_and(|line| self.bytes.starts_with(line)) {
            return Ok(end + 1);
        }
        // Another version may have another line behind its number, and signs it as we do.
        if let Some(mut rest) = text.strip_prefix(SEGMENT)
            && let Some(version) = number(&mut rest)
            && version > VERSION
            && is_signed(text)
        {
            return Err(HeadError::Newer(version));
        }
        let found = shown(text);
        let is_whole = expected.is_some_and(|line| line.strip_suffix(b"\n") == Some(text));
        let expected = format!("the head of a segment that begins with record {}", self.first);
        let torn = (is_whole || !is_signed(text)) && self.unwritten_from(end);
        Err(HeadError::Wrong(Wrong { found, expected, torn }))
    }

    /// The block that begins at `offset`: its line, where its records begin, and their lines.
    fn block(&self, offset: usize, next: Seq) -> Result<(Header, usize, &'a [u8]), Wrong> {
        let end = line_end(self.bytes, offset);
        let text = &self.bytes[offset..end];
        let expected = format!("the block of record {next}");
        let is_ended = self.bytes.get(end) == Some(&b'\n');
        let Some(header) = Header::parse(text).filter(|_| is_ended) else {
            let torn = (Header::parse(text).is_some() || Header::may_begin(text))
                && self.unwritten_from(end);
            return Err(Wrong { found: shown(text), expected, torn });
        };
        if header.first != next || header.records == 0 {
            let found = format!("a block of {} records from {}", header.records, header.first);
            return Err(Wrong { found, expected, torn: false });
        }
        let below = &self.bytes[end + 1..];
        let whole = usize::try_from(header.bytes).ok().and_then(|bytes| below.get(..bytes));
        let Some(lines) = whole else {
            let found = format!("{} bytes to the end of the file", below.len());
            let expected = format!("{} bytes of records from {next}", header.bytes);
            return Err(Wrong { found, expected, torn: true });
        };
        let crc = crc32fast::hash(lines);
        let count = memchr_iter(b'\n', lines).count() as u64;
        if crc == header.crc && count == header.records && lines.last() == Some(&b'\n') {
            return Ok((header, end + 1, lines));
        }
        let last = next.plus(header.records).before();
        Err(Wrong {
            found: format!("records {next} to {last} with checksum {crc:08x}"),
            expected: format!("{:08x}", header.crc),
            torn: self.has_hole(end + 1, end + 1 + lines.len(), count > header.records),
        })
    }

    /// Whether bytes that were never written begin at `start`: up to the end of its sector, or of
    /// the file.
    fn unwritten_from(&self, start: usize) -> bool {
        let sector_end = ((start / SECTOR + 1) * SECTOR).min(self.bytes.len());
        self.bytes[start..sector_end].iter().all(|byte| is_unwritten(*byte))
    }

    /// Whether some bytes from `start` to `end` were never written: a run of them up to the end of
    /// a sector, or of the block, that is not just the end of one line. (Where just the last byte
    /// of a sector is missing, one line too many tells it.)
    fn has_hole(&self, start: usize, end: usize, too_many_lines: bool) -> bool {
        let mut stop = end;
        while stop > start {
            let bytes = &self.bytes[start..stop];
            let run = bytes.iter().rev().take_while(|byte| is_unwritten(**byte)).count();
            let hole = &bytes[stop - start - run..];
            if run > 1 || hole.contains(&0) || (run == 1 && too_many_lines && stop != end) {
                return true;
            }
            stop = (stop - 1) / SECTOR * SECTOR;
        }
        false
    }

    fn torn_or_damaged(&self, at: &mut Scanned, line: u64, why: Wrong) -> Result<(), StoreError> {
        let Wrong { found, expected, torn } = why;
        if self.tail == Tail::MayBeTorn && torn && !self.sound_block_behind(at.end) {
            at.torn = Some((line, format!("{found}; expected {expected}")));
            return Ok(());
        }
        let (place, offset) = (self.place.to_owned(), at.end as u64);
        Err(StoreError::Damaged { place, line, offset, found, expected })
    }

    /// Whether a sound line of a block stands behind the one at `offset`.
    fn sound_block_behind(&self, offset: usize) -> bool {
        let mut rest = &self.bytes[offset..];
        while let Some(feed) = rest.iter().position(|byte| is_unwritten(*byte)) {
            rest = &rest[feed + 1..];
            let is_sound = || Header::parse(&rest[..line_end(rest, 0)]).is_some();
            if rest.starts_with(BLOCK) && is_sound() {
                return true;
            }
        }
        false
    }
}

enum HeadError {
    Newer(u64),
    Wrong(Wrong),
}

fn visit_lines(lines: &[u8], first: Seq, from: Seq, visit: &mut Visit<'_>) -> ControlFlow<()> {
    let (mut seq, mut start) = (first, 0);
    for end in memchr_iter(b'\n', lines) {
        if seq >= from {
            visit(seq, &lines[start..end])?;
        }
        (seq, start) = (seq.next(), end + 1);
    }
    ControlFlow::Continue(())
}

/// What a byte is that was never written: of reserved room, or where the file grew.
fn is_unwritten(byte: u8) -> bool {
    byte == b'\n' || byte == 0
}

/// Where the line of the store that begins at `offset` ends; it is not looked for any further than
/// such a line is long.
fn line_end(bytes: &[u8], offset: usize) -> usize {
    let rest = &bytes[offset..];
    let near = &rest[..rest.len().min(MAX_HEADER)];
    offset + near.iter().position(|byte| is_unwritten(*byte)).unwrap_or(near.len())
}

/// Whether a line of the store ends with its checksum, right or wrong.
fn is_signed(text: &[u8]) -> bool {
    text.ends_with(b"\"}}")
}

/// The beginning of a line, for people.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
    if text.is_empty() { "an empty line".to_owned() } else { format!("{text:?}") }
}
