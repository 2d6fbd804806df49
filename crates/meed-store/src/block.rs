//! A block: the records of one group commit, as lines of text below a line of the store.
//!
//! ```text
//! {"block":{"seq":17,"records":2,"bytes":38,"at_ms":1760000000000,"crc":"8 hex","head":"8 hex"}}
//! first record
//! second record
//! ```
//!
//! `seq` is the number of the first record, `bytes` the length of the lines below, `crc` their
//! CRC-32, `head` that of the block's line up to there (so that a wrong length is never believed).
//! The line is read only as it would be written: each field has one spelling.

use memchr::memchr2;

use crate::error::StoreError;
use crate::store::{Seq, UnixMillis};

/// With which the line of a block begins; no record may.
pub(crate) const BLOCK: &[u8] = b"{\"block\":";
/// Longest line of a block, and of a file's head.
pub(crate) const MAX_HEADER: usize = 208;
/// Most bytes of records in one group: 1 GiB.
const MAX_BYTES: usize = 1 << 30;

/// The line of the store above a group's records.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) first: Seq,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) at: UnixMillis,
    pub(crate) crc: u32,
}

impl Header {
    pub(crate) fn render(&self) -> Vec<u8> {
        let Self { first, records, bytes, at, crc } = self;
        let at = at.get();
        let line = format!(
            "{{\"block\":{{\"seq\":{first},\"records\":{records},\"bytes\":{bytes},\
             \"at_ms\":{at},\"crc\":\"{crc:08x}\""
        );
        sign(line)
    }

    /// What `line` (without line feed) says, when it is one that [`render`](Self::render) wrote.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let mut rest = line.strip_prefix(b"{\"block\":{\"seq\":")?;
        let first = Seq::new(number(&mut rest)?);
        rest = rest.strip_prefix(b",\"records\":")?;
        let records = number(&mut rest)?;
        rest = rest.strip_prefix(b",\"bytes\":")?;
        let bytes = number(&mut rest)?;
        rest = rest.strip_prefix(b",\"at_ms\":")?;
        let at = UnixMillis::new(number(&mut rest)?);
        rest = rest.strip_prefix(b",\"crc\":\"")?;
        let crc = u32::from_str_radix(std::str::from_utf8(rest.get(..8)?).ok()?, 16).ok()?;
        let header = Self { first, records, bytes, at, crc };
        (header.render().strip_suffix(b"\n") == Some(line)).then_some(header)
    }

    /// Whether `text` is how the line of a block may begin, but not all of it.
    pub(crate) fn may_begin(text: &[u8]) -> bool {
        let mut rest = text;
        for (literal, field) in FIELDS {
            let common = literal.len().min(rest.len());
            if rest[..common] != literal[..common] {
                return false;
            }
            rest = &rest[common..];
            if common < literal.len() {
                return true;
            }
            let taken = match field {
                Field::Number => rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count(),
                Field::Hex => rest.iter().take(8).take_while(|b| is_hex(**b)).count(),
                Field::End => return false,
            };
            rest = &rest[taken..];
            if rest.is_empty() {
                return true;
            }
        }
        false
    }
}

#[derive(Copy, Clone)]
enum Field {
    Number,
    Hex,
    End,
}

/// The line of a block: what stands before each field, and its kind.
const FIELDS: [(&[u8], Field); 7] = [
    (b"{\"block\":{\"seq\":", Field::Number),
    (b",\"records\":", Field::Number),
    (b",\"bytes\":", Field::Number),
    (b",\"at_ms\":", Field::Number),
    (b",\"crc\":\"", Field::Hex),
    (b"\",\"head\":\"", Field::Hex),
    (b"\"}}", Field::End),
];

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Takes a decimal number from the front.
pub(crate) fn number(rest: &mut &[u8]) -> Option<u64> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (front, back) = rest.split_at(digits);
    *rest = back;
    std::str::from_utf8(front).ok()?.parse().ok()
}

/// Closes a line of the store with its checksum.
pub(crate) fn sign(mut line: String) -> Vec<u8> {
    let head = crc32fast::hash(line.as_bytes());
    line.push_str(&format!(",\"head\":\"{head:08x}\"}}}}\n"));
    line.into_bytes()
}

/// The open group: records that are appended and not committed yet.
///
/// Its lines stand behind room for the store's own lines, so that one write takes all.
#[derive(Debug)]
pub(crate) struct Group {
    /// `ROOM` bytes, then the records, each with a line feed.
    buffer: Vec<u8>,
    records: u64,
}

/// Room for the head of a file and the line of a block.
const ROOM: usize = 2 * MAX_HEADER;

impl Default for Group {
    fn default() -> Self {
        Self::new()
    }
}

impl Group {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; ROOM], records: 0 }
    }

    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Adds all of `records`, or none.
    pub(crate) fn push(&mut self, records: &[&[u8]]) -> Result<(), StoreError> {
        let before = self.buffer.len();
        for (index, record) in records.iter().enumerate() {
            if let Some(why) = self.why_not(record) {
                self.buffer.truncate(before);
                return Err(StoreError::BadRecord { index: index + 1, why });
            }
            self.buffer.extend_from_slice(record);
            self.buffer.push(b'\n');
        }
        self.records += records.len() as u64;
        Ok(())
    }

    /// Why a record cannot be the next.
    fn why_not(&self, record: &[u8]) -> Option<&'static str> {
        let why = if record.is_empty() {
            "is empty"
        } else if let Some(at) = memchr2(b'\n', 0, record) {
            if record[at] == 0 { "has a NUL byte" } else { "has a line feed" }
        } else if record.starts_with(BLOCK) {
            "begins like a line of the store itself, {\"block\":"
        } else if self.buffer.len() + record.len() >= MAX_BYTES {
            "makes the group longer than 1 GiB: commit before it"
        } else {
            return None;
        };
        Some(why)
    }

    /// The bytes of the block, with `above` before it, and `fill` line feeds behind it when its
    /// own end is known. `fill` gets the length without them.
    pub(crate) fn seal(
        &mut self,
        first: Seq,
        at: UnixMillis,
        above: &[u8],
        fill: impl FnOnce(usize) -> usize,
    ) -> Sealed<'_> {
        let lines = &self.buffer[ROOM..];
        let (bytes, crc) = (lines.len() as u64, crc32fast::hash(lines));
        let header = Header { first, records: self.records, bytes, at, crc }.render();
        let start = ROOM - header.len() - above.len();
        self.buffer[start..start + above.len()].copy_from_slice(above);
        self.buffer[ROOM - header.len()..ROOM].copy_from_slice(&header);
        let length = self.buffer.len() - start;
        let filled = self.buffer.len() + fill(length);
        self.buffer.resize(filled, b'\n');
        Sealed { bytes: &self.buffer[start..], length }
    }

    pub(crate) fn clear(&mut self) {
        self.buffer.truncate(ROOM);
        self.records = 0;
    }
}

/// A block as it is written.
pub(crate) struct Sealed<'a> {
    /// With line feeds behind it that reserve room.
    pub(crate) bytes: &'a [u8],
    /// Without them.
    pub(crate) length: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written_and_otherwise_not_at_all() {
        let header = Header {
            first: Seq::new(u64::MAX),
            records: u64::MAX,
            bytes: u64::MAX,
            at: UnixMillis::new(u64::MAX),
            crc: u32::MAX,
        };
        let line = header.render();
        assert!(line.len() < MAX_HEADER);
        let text = line.strip_suffix(b"\n").unwrap();
        assert_eq!(Header::parse(text), Some(header));
        assert!(!Header::may_begin(text));
        for end in 0..text.len() {
            assert_eq!(Header::parse(&text[..end]), None);
            assert!(Header::may_begin(&text[..end]), "{end}");
        }
        for bit in 0..text.len() * 8 {
            let mut wrong = text.to_vec();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::parse(&wrong), None);
            assert!(!Header::may_begin(&wrong), "{bit}: {}", String::from_utf8_lossy(&wrong));
        }
        assert_eq!(Header::parse(b"{\"block\":{\"seq\":01,\"records\":1,\"bytes\":1,"), None);
    }

    #[test]
    fn a_batch_with_one_bad_record_adds_none() {
        let mut group = Group::new();
        for bad in [&b""[..], b"a\nb", b"\0", b"{\"block\":1}"] {
            let error = group.push(&[b"good", bad]).unwrap_err().to_string();
            assert!(error.starts_with("record 2 of the batch"), "{error}");
        }
        assert_eq!((group.records(), group.buffer.len()), (0, ROOM));
    }
}
