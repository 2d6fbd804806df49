//! Segments of JSON lines, and a file for each snapshot.
//!
//! | file | what |
//! |---|---|
//! | `store.json` | kind and version of the store |
//! | `lock` | held while the store is open |
//! | `FIRST.jsonl` | a segment (see `segment`), named after its first record; the last is live |
//! | `FIRST.jsonl.zst` | a closed segment, compressed |
//! | `snapshot-SEQ` | a snapshot after record SEQ |
//! | `*.unfinished` | being written; removed when the store is opened |
//!
//! **Invariants.** One unsynced write at a time: a group is one write into the live segment and one
//! sync. A segment is closed by beginning the next; its last block was synced before. A compressed
//! segment is durable under its name before the plain one is removed. Snapshots appear by renaming.
//!
//! **Room ahead.** Where a group would make the file longer, line feeds behind it are written with
//! it. Later groups then overwrite them: the length does not change, and a sync need not write the
//! file system's own journal. A reader of JSON lines passes over empty lines.
//!
//! **Beside the caller** ([`Store::begin_commit`]) a group is written and synced by a thread of its
//! own (`beside`). There is one such group at most, and whatever else writes waits for it first, so
//! the invariants above hold as without it.
//!
//! **After a failed sync** the system may hold in memory what it could not write, and show it to
//! readers. So opening writes the last block once more and syncs, before anybody builds on it.

mod beside;
mod names;
mod open;
mod retain;
mod snapshots;
mod zst;

use std::io;
use std::sync::Arc;

use crate::block::Group;
use crate::disk::{Disk, DiskFile, DiskLock, Mode, read_all};
use crate::error::StoreError;
use crate::segment::{Segment, Tail, head_line};
use crate::store::{Retained, Retention, Seq, Snapshot, Store, UnixMillis, Visit};
use beside::Begun;

/// Kind of this store in `store.json`.
pub(crate) const KIND: &str = "segments";

/// Sizes of a [`FileStore`].
///
/// ```
/// use meed_store::{FileStoreOptions, Seq};
///
/// let options = FileStoreOptions::default().segment_bytes(1 << 20).acknowledged(Seq::new(7));
/// assert_eq!((options.segment_bytes, options.room_bytes), (1 << 20, 256 << 10));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileStoreOptions {
    /// A segment that has this many bytes is closed. 16 MiB.
    pub segment_bytes: u64,
    /// Room that is reserved ahead, in bytes, while groups are smaller than a quarter of it. 256
    /// KiB.
    pub room_bytes: u64,
    /// The last record that the caller knows to have been acknowledged. A journal that ends before
    /// is damaged: its tail is not cut as a write that was never acknowledged, and nothing is
    /// changed. [`Seq::ZERO`].
    pub acknowledged: Seq,
}

impl Default for FileStoreOptions {
    fn default() -> Self {
        Self { segment_bytes: 16 << 20, room_bytes: 256 << 10, acknowledged: Seq::ZERO }
    }
}

impl FileStoreOptions {
    /// With segments of about `bytes`.
    #[must_use]
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// With `bytes` of room reserved ahead.
    #[must_use]
    pub fn room_bytes(mut self, bytes: u64) -> Self {
        self.room_bytes = bytes;
        self
    }

    /// Refuses a journal that ends before record `seq`, which was acknowledged.
    #[must_use]
    pub fn acknowledged(mut self, seq: Seq) -> Self {
        self.acknowledged = seq;
        self
    }
}

/// A [`Store`] in plain files: the live segment is text that any tool reads, closed ones are
/// compressed text.
///
/// ```
/// use meed_store::{FileStore, FileStoreOptions, Seq, Store, StoreError, UnixMillis};
///
/// let folder = tempfile::tempdir()?;
/// let mut store = FileStore::open_folder(folder.path(), FileStoreOptions::default())?;
/// store.append(&[b"{}"])?;
/// assert_eq!(store.commit(UnixMillis::new(0))?, Seq::new(1));
/// // One folder has one writer.
/// let second = FileStore::open_folder(folder.path(), FileStoreOptions::default());
/// assert!(matches!(second, Err(StoreError::InUse { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore {
    disk: Arc<dyn Disk>,
    options: FileStoreOptions,
    /// All segments, in order; the live one, if any, is last.
    segments: Vec<Piece>,
    live: Option<Live>,
    group: Group,
    /// The group before, while it is on its way to the disk.
    begun: Option<Begun>,
    /// Its room, once it is there.
    spare: Option<Group>,
    durable: Seq,
    /// Numbers of the snapshots, in order.
    snapshots: Vec<Seq>,
    /// The failure after which nothing is written.
    poison: Option<String>,
    remarks: Vec<String>,
    _lock: DiskLock,
}

/// A segment on the disk.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Piece {
    first: Seq,
    compressed: bool,
}

/// The segment that is written to.
#[derive(Debug)]
struct Live {
    file: Arc<dyn DiskFile>,
    name: String,
    /// Where the next block goes.
    end: u64,
    /// Length of the file, with the reserved room.
    length: u64,
}

impl FileStore {
    /// Opens the store in a folder of the file system; makes it when there is none.
    ///
    /// # Errors
    /// A folder that another process uses, that a newer version has written, or that is something
    /// else; damage in the live segment; what the system says.
    pub fn open_folder(
        folder: impl AsRef<std::path::Path>,
        options: FileStoreOptions,
    ) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        let disk = crate::disk::RealDisk::new(folder)
            .map_err(StoreError::io("make", folder.display().to_string()))?;
        Self::open(Arc::new(disk), options)
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        match &self.poison {
            Some(cause) => Err(StoreError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    /// Notes a failure after which nothing is written any more.
    fn poisoning<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(error) = &result {
            self.poison = Some(error.to_string());
        }
        result
    }

    fn write_group(&mut self, now: UnixMillis) -> Result<(), StoreError> {
        let first = self.durable.next();
        let is_full = |live: &Live| live.end >= self.options.segment_bytes;
        if self.live.as_ref().is_none_or(is_full) {
            return self.begin_segment(first, now);
        }
        let live = self.live.as_mut().expect("there is one, or it was begun above");
        let block = NextBlock { first, now, room: self.options.room_bytes, ..live.next_block() };
        let written = block.write(&*live.file, &mut self.group);
        (live.end, live.length) = written
            .map_err(|(doing, why)| StoreError::io(doing, self.disk.place(&live.name))(why))?;
        Ok(())
    }

    /// Begins a segment with the open group.
    fn begin_segment(&mut self, first: Seq, now: UnixMillis) -> Result<(), StoreError> {
        let name = names::plain(first);
        let place = self.disk.place(&name);
        let head = head_line(first, now);
        let room = self.options.room_bytes;
        let block = self.group.seal(first, now, &head, |bytes| room_ahead(0, 0, bytes, room));
        let (end, length) = (block.length as u64, block.bytes.len() as u64);
        let write = || {
            let file: Arc<dyn DiskFile> = self.disk.open(&name, Mode::New)?.into();
            file.write_at(0, block.bytes)?;
            file.sync()?;
            self.disk.sync_folder()?;
            Ok(file)
        };
        let file = write().map_err(StoreError::io("begin the segment", place))?;
        self.live = Some(Live { file, name, end, length });
        self.segments.push(Piece { first, compressed: false });
        Ok(())
    }

    /// The text of a segment, without reserved room where it is the live one.
    fn text(&self, index: usize) -> Result<(String, Vec<u8>), StoreError> {
        let piece = self.segments[index];
        let name = piece.name();
        let place = self.disk.place(&name);
        let is_live = index + 1 == self.segments.len();
        if let (true, Some(live)) = (is_live, &self.live) {
            let length = usize::try_from(live.end).expect("it was in memory when it was written");
            let mut bytes = vec![0; length];
            let read = live.file.read_at(0, &mut bytes);
            read.map_err(StoreError::io("read", place.clone()))?;
            return Ok((place, bytes));
        }
        let stored = read_all(&*self.disk, &name);
        let stored = stored.map_err(StoreError::io("read", place.clone()))?;
        let bytes = if piece.compressed { zst::unpack(&place, &stored)? } else { stored };
        Ok((place, bytes))
    }

    /// Checks a closed or live segment whole, visiting its records from `from` on; gives the text's
    /// sound length, or nothing when the visitor has stopped.
    fn scan(
        &self,
        index: usize,
        text: (&str, &[u8]),
        from: Seq,
        visit: &mut Visit<'_>,
    ) -> Result<Option<usize>, StoreError> {
        let first = self.segments[index].first;
        let (place, bytes) = text;
        let segment = Segment { place, bytes, first, tail: Tail::Acknowledged };
        let scanned = segment.scan(from, visit)?;
        if scanned.stopped {
            return Ok(None);
        }
        let following = self.segments.get(index + 1);
        let next = following.map_or(self.durable.next(), |piece| piece.first);
        if scanned.next == next {
            return Ok(Some(scanned.end));
        }
        Err(StoreError::Damaged {
            place: place.to_owned(),
            line: bytes[..scanned.end].iter().filter(|byte| **byte == b'\n').count() as u64 + 1,
            offset: scanned.end as u64,
            found: format!("the segment ends with record {}", scanned.next.before()),
            expected: format!("records up to {}: a segment or part of one is gone", next.before()),
        })
    }
}

impl Live {
    fn next_block(&self) -> NextBlock {
        let (first, now) = (Seq::ZERO, UnixMillis::new(0));
        NextBlock { first, now, end: self.end, length: self.length, room: 0 }
    }
}

/// Where the next block of the live segment goes, and what its line says.
struct NextBlock {
    first: Seq,
    now: UnixMillis,
    end: u64,
    length: u64,
    room: u64,
}

impl NextBlock {
    /// Writes and syncs it: where the block after it goes, and the length of the file. On failure
    /// what was being done.
    fn write(
        &self,
        file: &dyn DiskFile,
        group: &mut Group,
    ) -> Result<(u64, u64), (&'static str, io::Error)> {
        let &NextBlock { first, now, end, length, room } = self;
        let block = group.seal(first, now, &[], |bytes| room_ahead(end, length, bytes, room));
        file.write_at(end, block.bytes).map_err(|why| ("write", why))?;
        file.sync().map_err(|why| ("sync", why))?;
        Ok((end + block.length as u64, length.max(end + block.bytes.len() as u64)))
    }
}

impl Piece {
    fn name(self) -> String {
        if self.compressed { names::compressed(self.first) } else { names::plain(self.first) }
    }
}

/// How many line feeds follow a block of `bytes` at `end` of a file of `length` bytes.
fn room_ahead(end: u64, length: u64, bytes: usize, room: u64) -> usize {
    let bytes = bytes as u64;
    if end + bytes <= length || bytes > room / 4 {
        return 0;
    }
    usize::try_from((end + bytes).next_multiple_of(room) - end - bytes).unwrap_or(0)
}

impl Store for FileStore {
    fn append(&mut self, records: &[&[u8]]) -> Result<Seq, StoreError> {
        self.check_writable()?;
        self.group.push(records)?;
        let begun = self.begun.as_ref().map_or(0, Begun::records);
        Ok(self.durable.plus(begun + self.group.records()))
    }

    fn commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError> {
        self.wait_for_begun()?;
        let records = self.group.records();
        if records > 0 {
            let written = self.write_group(now);
            self.poisoning(written)?;
            self.durable = self.durable.plus(records);
            self.group.clear();
        }
        Ok(self.durable)
    }

    fn begin_commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError> {
        self.wait_for_begun()?;
        if self.group.records() > 0 {
            self.begin(now)?;
        }
        Ok(self.durable)
    }

    fn first(&self) -> Seq {
        self.segments.first().map_or(self.durable.next(), |piece| piece.first)
    }

    fn durable(&self) -> Seq {
        self.durable
    }

    fn read(&self, from: Seq, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        let (asked, first, durable) = (from, self.first(), self.durable);
        if from < first {
            return Err(StoreError::Forgotten { asked, first });
        }
        if from > durable.next() {
            return Err(StoreError::Ahead { asked, durable });
        }
        let begin = self.segments.partition_point(|piece| piece.first <= from).saturating_sub(1);
        for index in begin..self.segments.len() {
            let (place, bytes) = self.text(index)?;
            if self.scan(index, (&place, &bytes), from, visit)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn snapshot(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), StoreError> {
        self.wait_for_begun()?;
        let written = self.write_snapshot(seq, bytes);
        match written {
            Err(StoreError::Ahead { .. }) => written,
            _ => self.poisoning(written),
        }
    }

    fn last_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        self.read_last_snapshot()
    }

    fn retain(&mut self, rule: &Retention, now: UnixMillis) -> Result<Retained, StoreError> {
        self.wait_for_begun()?;
        let done = self.tidy(rule, now);
        self.poisoning(done)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
