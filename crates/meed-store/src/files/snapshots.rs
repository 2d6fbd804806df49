//! Snapshots as files (see `snapshot`).

use crate::disk::{read_all, write_whole};
use crate::error::StoreError;
use crate::snapshot::{head, open};
use crate::store::{Seq, Snapshot};

use super::{FileStore, names};

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
        let stored = read_all(&*self.disk, &name).map_err(StoreError::io("read", place.clone()))?;
        open(place, seq, stored).map(Some)
    }
}
