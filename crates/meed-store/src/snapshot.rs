//! A snapshot as it is stored: a signed line, then the caller's bytes.
//!
//! ```text
//! {"snapshot":{"version":1,"seq":17,"bytes":38,"crc":"8 hex","head":"8 hex"}}
//! ```

use crate::block::{MAX_HEADER, number, sign};
use crate::error::StoreError;
use crate::store::{Seq, Snapshot};

const VERSION: u64 = 1;

/// The line above the bytes of a snapshot.
pub(crate) fn head(seq: Seq, bytes: &[u8]) -> Vec<u8> {
    let (length, crc) = (bytes.len(), crc32fast::hash(bytes));
    sign(format!(
        "{{\"snapshot\":{{\"version\":{VERSION},\"seq\":{seq},\"bytes\":{length},\
         \"crc\":\"{crc:08x}\""
    ))
}

/// Reads what was stored as the snapshot after record `seq`.
pub(crate) fn open(place: String, seq: Seq, mut stored: Vec<u8>) -> Result<Snapshot, StoreError> {
    let near = &stored[..stored.len().min(MAX_HEADER)];
    let line = near.iter().position(|byte| *byte == b'\n').map_or(near.len(), |end| end + 1);
    let expected = head(seq, &stored[line..]);
    if stored[..line] == expected {
        stored.drain(..line);
        return Ok(Snapshot { seq, bytes: stored });
    }
    if let Some(found) = version(&stored[..line]).filter(|version| *version > VERSION) {
        return Err(StoreError::Newer { place, found, known: VERSION });
    }
    let text = |line: &[u8]| String::from_utf8_lossy(line).trim_end().to_owned();
    let (found, expected) = (text(&stored[..line]), text(&expected));
    Err(StoreError::Damaged { place, line: 1, offset: 0, found, expected })
}

/// The version that a head line states, when it is whole.
fn version(line: &[u8]) -> Option<u64> {
    let mut rest = line.strip_prefix(b"{\"snapshot\":{\"version\":")?;
    line.ends_with(b"\"}}\n").then(|| number(&mut rest)).flatten()
}
