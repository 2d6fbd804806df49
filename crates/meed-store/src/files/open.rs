//! Opening: what is there, what was left unfinished, and where writing goes on.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::block::Group;
use crate::disk::{Disk, DiskFile, Mode, UNFINISHED, read_all};
use crate::error::StoreError;
use crate::identity;
use crate::segment::{Scanned, Segment, Tail};
use crate::store::{Seq, UnixMillis};

use super::names::{self, Name};
use super::{FileStore, FileStoreOptions, KIND, Live, Piece, zst};

impl FileStore {
    /// Opens the store on a disk; makes it when the disk is empty.
    ///
    /// Reads the live segment only: closed ones are checked when they are read.
    ///
    /// # Errors
    /// As [`open_folder`](Self::open_folder).
    pub fn open(disk: Arc<dyn Disk>, options: FileStoreOptions) -> Result<Self, StoreError> {
        let lock = identity::claim(&*disk, KIND)?;
        let mut store = Self {
            disk,
            options,
            segments: Vec::new(),
            live: None,
            group: Group::new(),
            begun: None,
            spare: None,
            durable: Seq::ZERO,
            snapshots: Vec::new(),
            poison: None,
            remarks: Vec::new(),
            _lock: lock,
        };
        let place = store.disk.place("");
        store.take_stock().map_err(StoreError::io("read", place))?;
        store.find_end()?;
        if let Some(&seq) = store.snapshots.last()
            && seq > store.durable
        {
            return Err(StoreError::Damaged {
                place: store.disk.place(&names::snapshot(seq)),
                line: 1,
                offset: 0,
                found: format!("a snapshot after record {seq}"),
                expected: format!("one up to the last record, {}", store.durable),
            });
        }
        Ok(store)
    }

    /// Notes segments and snapshots; removes what was left unfinished.
    fn take_stock(&mut self) -> std::io::Result<()> {
        // Names that are seen are made to last before anything is removed because of them.
        self.disk.sync_folder()?;
        for name in self.disk.list()? {
            match names::parse(&name) {
                Some(Name::Plain(first)) => self.segments.push(Piece { first, compressed: false }),
                Some(Name::Compressed(first)) => {
                    self.segments.push(Piece { first, compressed: true });
                }
                Some(Name::Snapshot(seq)) => self.snapshots.push(seq),
                None if name.ends_with(UNFINISHED) => self.disk.remove(&name)?,
                None => {}
            }
        }
        // A segment that has been compressed, but not been removed any more.
        self.segments.sort_by_key(|piece| (piece.first, !piece.compressed));
        let mut kept: Vec<Piece> = Vec::with_capacity(self.segments.len());
        for piece in std::mem::take(&mut self.segments) {
            if kept.last().is_some_and(|last| last.first == piece.first) {
                self.disk.remove(&piece.name())?;
            } else {
                kept.push(piece);
            }
        }
        self.segments = kept;
        Ok(())
    }

    /// Finds the last record, cuts a torn tail, and makes the last group durable.
    fn find_end(&mut self) -> Result<(), StoreError> {
        // The segment behind the one that is looked at, of which nothing was acknowledged.
        let mut unborn: Option<Seq> = None;
        while let Some(&piece) = self.segments.last() {
            let name = piece.name();
            let place = self.disk.place(&name);
            let stored = read_all(&*self.disk, &name);
            let stored = stored.map_err(StoreError::io("read", place.clone()))?;
            let text = if piece.compressed { zst::unpack(&place, &stored)? } else { stored };
            let first = piece.first;
            let may_be_torn = !piece.compressed && unborn.is_none();
            let tail = if may_be_torn { Tail::MayBeTorn } else { Tail::Acknowledged };
            let segment = Segment { place: &place, bytes: &text, first, tail };
            let found = segment.scan(Seq::new(u64::MAX), &mut |_, _| ControlFlow::Continue(()))?;
            self.check_acknowledged(&place, &text, &found)?;
            if let Some((line, why)) = &found.torn {
                let offset = found.end;
                self.remarks.push(format!(
                    "{place}, line {line}, byte {offset}: a write that was cut off and never \
                     acknowledged is removed: {why}"
                ));
            }
            if found.next == first {
                let removed = self.disk.remove(&name).and_then(|()| self.disk.sync_folder());
                removed.map_err(StoreError::io("remove", place))?;
                self.segments.pop();
                unborn = Some(first);
                continue;
            }
            if let Some(expected) = unborn.filter(|expected| *expected != found.next) {
                return Err(StoreError::Damaged {
                    place,
                    line: text[..found.end].iter().filter(|byte| **byte == b'\n').count() as u64,
                    offset: found.end as u64,
                    found: format!("the segment ends with record {}", found.next.before()),
                    expected: format!("records up to {}", expected.before()),
                });
            }
            self.durable = found.next.before();
            if !piece.compressed {
                let block = (found.last_write, &text[found.last_write..found.end]);
                let live = self.make_live(name, text.len(), block);
                self.live = Some(live.map_err(StoreError::io("write", place))?);
            }
            return Ok(());
        }
        self.check_not_empty()?;
        match unborn {
            // Nothing was ever acknowledged, or all of it is gone.
            Some(first) if first != Seq::new(1) => Err(StoreError::Damaged {
                place: self.disk.place(&names::plain(first)),
                line: 1,
                offset: 0,
                found: "no sound record, and no segment before".to_owned(),
                expected: format!("record {} in the segment before", first.before()),
            }),
            _ => Ok(()),
        }
    }

    /// Whether the last segment holds all that was acknowledged. It is asked before anything is cut
    /// or removed.
    fn check_acknowledged(
        &self,
        place: &str,
        text: &[u8],
        found: &Scanned,
    ) -> Result<(), StoreError> {
        let (last, acknowledged) = (found.next.before(), self.options.acknowledged);
        if last >= acknowledged {
            return Ok(());
        }
        let lines = text[..found.end].iter().filter(|byte| **byte == b'\n').count() as u64;
        let (line, found_there) = match &found.torn {
            Some((line, why)) => (*line, why.clone()),
            None => (lines + 1, format!("the journal ends with record {last}")),
        };
        Err(StoreError::Damaged {
            place: place.to_owned(),
            line,
            offset: found.end as u64,
            found: found_there,
            expected: format!("records up to {acknowledged}, which were acknowledged"),
        })
    }

    /// Without any segment nothing may have been acknowledged.
    fn check_not_empty(&self) -> Result<(), StoreError> {
        let acknowledged = self.options.acknowledged;
        if acknowledged == Seq::ZERO {
            return Ok(());
        }
        Err(StoreError::Damaged {
            place: self.disk.place(""),
            line: 1,
            offset: 0,
            found: "no records".to_owned(),
            expected: format!("records up to {acknowledged}, which were acknowledged"),
        })
    }

    /// Cuts what is behind the last block, writes that block once more and syncs.
    fn make_live(
        &self,
        name: String,
        length: usize,
        last: (usize, &[u8]),
    ) -> std::io::Result<Live> {
        let (offset, block) = (last.0 as u64, last.1);
        let file: Arc<dyn DiskFile> = self.disk.open(&name, Mode::Existing)?.into();
        let end = offset + block.len() as u64;
        file.write_at(offset, block)?;
        if length as u64 > end {
            file.set_length(end)?;
        }
        file.sync()?;
        Ok(Live { file, name, end, length: end })
    }

    /// When a segment was begun: no later than its first record.
    pub(super) fn begun(&self, index: usize) -> Option<UnixMillis> {
        let piece = self.segments.get(index)?;
        let stored = read_all(&*self.disk, &piece.name()).ok()?;
        if piece.compressed {
            return Segment::begun(&zst::unpack_front(&stored, crate::block::MAX_HEADER));
        }
        Segment::begun(&stored)
    }
}
