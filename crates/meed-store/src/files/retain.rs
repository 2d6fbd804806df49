//! Tidying up: compression of closed segments, and the retention rule.

use std::ops::ControlFlow;

use crate::disk::{Mode, write_whole};
use crate::error::StoreError;
use crate::store::{Retained, Retention, Seq, Store, UnixMillis};

use super::{FileStore, names, zst};

/// Snapshots that are kept: the last, and one more for people who have to mend a broken disk.
const SNAPSHOTS: usize = 2;

impl FileStore {
    pub(super) fn tidy(
        &mut self,
        rule: &Retention,
        now: UnixMillis,
    ) -> Result<Retained, StoreError> {
        let mut done = Retained::default();
        let place = self.disk.place("");
        let failed = |doing| StoreError::io(doing, place.clone());
        if zst::COMPRESSES {
            done.compressed = self.compress_closed()?;
        }
        let count = self.to_forget(rule, now).map_err(failed("read"))?;
        let first = self.first();
        for piece in self.segments.drain(..count) {
            // Oldest first and durably, so that no gap can remain.
            self.disk.remove(&piece.name()).map_err(failed("remove a segment in"))?;
            self.disk.sync_folder().map_err(failed("sync"))?;
        }
        done.forgotten = self.first().get() - first.get();
        let old = self.snapshots.len().saturating_sub(SNAPSHOTS);
        for seq in self.snapshots.drain(..old) {
            self.disk.remove(&names::snapshot(seq)).map_err(failed("remove a snapshot in"))?;
            done.snapshots += 1;
        }
        Ok(done)
    }

    fn compress_closed(&mut self) -> Result<u64, StoreError> {
        let mut compressed = 0;
        let closed = self.segments.len() - usize::from(self.live.is_some());
        for index in 0..closed {
            let piece = self.segments[index];
            if piece.compressed {
                continue;
            }
            let (place, text) = self.text(index)?;
            // Damage is found here rather than packed; reserved room is left out.
            let visit = &mut |_, _: &[u8]| ControlFlow::Continue(());
            let end = self.scan(index, (&place, &text), Seq::new(u64::MAX), visit)?;
            let end = end.expect("the visitor never stops");
            let pack = || {
                let packed = zst::pack(&text[..end])?;
                write_whole(&*self.disk, &names::compressed(piece.first), &[&packed])?;
                self.disk.remove(&piece.name())
            };
            pack().map_err(StoreError::io("compress", place))?;
            self.segments[index].compressed = true;
            compressed += 1;
        }
        Ok(compressed)
    }

    /// How many of the oldest segments go.
    fn to_forget(&self, rule: &Retention, now: UnixMillis) -> std::io::Result<usize> {
        let Some(&snapshot) = self.snapshots.last() else { return Ok(0) };
        let mut bytes = Vec::with_capacity(self.segments.len());
        for piece in &self.segments {
            bytes.push(self.disk.open(&piece.name(), Mode::Existing)?.length()?);
        }
        let mut kept_bytes: u64 = bytes.iter().sum();
        let mut count = 0;
        while count + 1 < self.segments.len() {
            let next = self.segments[count + 1].first;
            if next.before() > snapshot {
                break;
            }
            let records = self.durable.next().get() - self.segments[count].first.get();
            // All of a segment is older than the beginning of the next.
            let is_old = |max| self.begun(count + 1).is_some_and(|begun| begun.age(now) > max);
            if !(rule.max_bytes.is_some_and(|max| kept_bytes > max)
                || rule.max_records.is_some_and(|max| records > max)
                || rule.max_age.is_some_and(is_old))
            {
                break;
            }
            kept_bytes -= bytes[count];
            count += 1;
        }
        Ok(count)
    }
}
