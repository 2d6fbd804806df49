//! Snapshots as files: a signed line, then the caller's bytes.
//!
//! ```text
//! {"snapshot":{"version":1,"seq":17,"bytes":38,"crc":"8 hex","head":"8 hex"}}
//! ```

use crate::block::{MAX_HEADER, number, sign};
use crate::disk::{read_all, write_whole};
use crate::error::StoreError;
use crate::store::{Seq, Snapshot};

use super::{FileStore, names};

const VERSION: u64 = 1;

fn head(seq: Seq, bytes: &[u8]) -> Vec<u8> {
    let (length, crc) = (bytes.len(), crc32fast::hash(bytes));
    sign(format!(
        "{{\"snapshot\":{{\"version\":{VERSION},\"seq\":{seq},\"bytes\":{length},\"crc\":\"{crc:08x}\""
    ))
}

/// The version that a head line states, when it is whole.
fn version(file: &[u8]) -> Option<u64> {
    let near = &file[..file.len().min(MAX_HEADER)];
    let line = near.split_inclusive(|byte| *byte == b'\n').next()?;
    let mut rest = line.strip_prefix(b"{\"snapshot\":{\"version\":")?;
    line.ends_with(b"\"}}\n").then(|| number(&mut rest)).flatten()
}

impl FileStore {
    pub(super) fn write_snapshot(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), StoreError> {
        if seq > self.durable {
            return Err(StoreError::Ahead { asked: seq, durable: self.durable });
        }
        let name = names::snapshot(seq);
        let place = self.disk.place(&name);
        write_whole(&*self.disk, &name, &[&head(seq, bytes), bytes])
            .map_err(StoreError::io("write", place))?;
        if let Err(index) = self.snapshots.binary_search(&seq) {
            self.snapshots.insert(index, seq);
        }
        Ok(())
    }

    pub(super) fn read_last_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        let Some(&seq) = self.snapshots.last() else { return Ok(None) };
        let name = names::snapshot(seq);
        let place = self.disk.place(&name);
        let mut file =
            read_all(&*self.disk, &name).map_err(StoreError::io("read", place.clone()))?;
        let line = file.iter().position(|byte| *byte == b'\n').map_or(file.len(), |end| end + 1);
        if file[..line] == head(seq, &file[line..]) {
            file.drain(..line);
            return Ok(Some(Snapshot { seq, bytes: file }));
        }
        if let Some(found) = version(&file).filter(|version| *version > VERSION) {
            return Err(StoreError::Newer { place, found, known: VERSION });
        }
        Err(StoreError::Damaged {
            place,
            line: 1,
            offset: 0,
            found: String::from_utf8_lossy(&file[..line.min(MAX_HEADER)]).trim_end().to_owned(),
            expected: String::from_utf8_lossy(&head(seq, &file[line..])).trim_end().to_owned(),
        })
    }
}
