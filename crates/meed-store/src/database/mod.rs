//! The same in an embedded database (redb): one file, a copy-on-write tree.
//!
//! | table | key | value |
//! |---|---|---|
//! | `blocks` | number of the first record | a block as in segments (see `block`), with checksum |
//! | `snapshots` | number of the record | a snapshot (see `snapshot`), with checksum |
//!
//! A group is one value, and one transaction with one sync. Each commit writes the tree's path
//! anew, a few pages of 4 KiB: for small groups far more bytes than the records have.
//!
//! Checksums are our own: redb's are looked at when it recovers, not when it reads. Where redb
//! finds its own pages broken it may panic instead of returning an error.

mod backend;

use std::ops::ControlFlow;
use std::sync::Arc;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use crate::block::{Group, Header, MAX_HEADER};
use crate::disk::{Disk, DiskLock, Mode, UNFINISHED};
use crate::error::StoreError;
use crate::identity;
use crate::segment::{Segment, Tail};
use crate::snapshot::{head, open};
use crate::store::{Retained, Retention, Seq, Snapshot, Store, UnixMillis, Visit};
use backend::{Backend, Mark};

const KIND: &str = "redb";
const FILE: &str = "journal.redb";
const BLOCKS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("blocks");
const SNAPSHOTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("snapshots");
/// Memory for pages.
const CACHE_BYTES: usize = 16 << 20;
/// As in the store of files.
const KEPT_SNAPSHOTS: usize = 2;

/// A [`Store`] in an embedded database.
///
/// ```
/// use meed_store::{DatabaseStore, Seq, Store, UnixMillis};
///
/// let folder = tempfile::tempdir()?;
/// let mut store = DatabaseStore::open_folder(folder.path())?;
/// store.append(&[b"{}"])?;
/// assert_eq!(store.commit(UnixMillis::new(0))?, Seq::new(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DatabaseStore {
    place: String,
    group: Group,
    first: Seq,
    durable: Seq,
    poison: Option<String>,
    remarks: Vec<String>,
    // Closed before the mark goes and the lock is given back: fields are dropped in this order.
    database: Database,
    _mark: Mark,
    _lock: DiskLock,
}

impl DatabaseStore {
    /// Opens the store in a folder of the file system; makes it when there is none.
    ///
    /// # Errors
    /// As [`FileStore::open_folder`](crate::FileStore::open_folder).
    pub fn open_folder(folder: impl AsRef<std::path::Path>) -> Result<Self, StoreError> {
        let folder = folder.as_ref();
        let disk = crate::disk::RealDisk::new(folder)
            .map_err(StoreError::io("make", folder.display().to_string()))?;
        Self::open(Arc::new(disk))
    }

    /// Opens the store on a disk; makes it when the disk is empty.
    ///
    /// # Errors
    /// As [`open_folder`](Self::open_folder).
    pub fn open(disk: Arc<dyn Disk>) -> Result<Self, StoreError> {
        let lock = identity::claim(&*disk, KIND)?;
        let place = disk.place(FILE);
        let names = disk.list().map_err(StoreError::io("read", disk.place("")))?;
        let is_new = names.iter().all(|name| name != FILE);
        let beside = format!("{FILE}{UNFINISHED}");
        let (name, mode) = if is_new { (&*beside, Mode::New) } else { (FILE, Mode::Existing) };
        let file = disk.open(name, mode).map_err(StoreError::io("open", place.clone()))?;
        let (backend, mark) =
            Backend::new(&disk, file).map_err(StoreError::io("write", place.clone()))?;
        let database = redb::Builder::new()
            .set_cache_size(CACHE_BYTES)
            .create_with_backend(backend)
            .map_err(|error| failed("open", &place)(error.into()))?;
        if is_new {
            make_tables(&database).map_err(failed("write", &place))?;
            disk.rename(&beside, FILE)
                .and_then(|()| disk.sync_folder())
                .map_err(StoreError::io("make", place.clone()))?;
        }
        // A name that is seen may not have been made to last.
        disk.sync_folder().map_err(StoreError::io("sync", disk.place("")))?;
        let mut store = Self {
            place,
            group: Group::new(),
            first: Seq::new(1),
            durable: Seq::ZERO,
            poison: None,
            remarks: Vec::new(),
            database,
            _mark: mark,
            _lock: lock,
        };
        store.find_ends()?;
        Ok(store)
    }

    fn find_ends(&mut self) -> Result<(), StoreError> {
        let place = self.place.clone();
        let ends = || -> Result<_, redb::Error> {
            let table = self.database.begin_read()?.open_table(BLOCKS)?;
            let first = table.first()?.map(|(key, _)| key.value());
            let last = table.last()?.map(|(key, block)| (key.value(), block.value().to_vec()));
            let snapshots = self.database.begin_read()?.open_table(SNAPSHOTS)?;
            let snapshot = snapshots.last()?.map(|(key, _)| key.value());
            Ok((first, last, snapshot.unwrap_or(0)))
        };
        let (first, last, snapshot) = ends().map_err(failed("read", &place))?;
        if let (Some(first), Some((last, block))) = (first, last) {
            let last = Seq::new(last);
            let keep = &mut |_, _: &[u8]| ControlFlow::Continue(());
            let (header, _) = self.scan(last, &block, last, keep)?;
            self.first = Seq::new(first);
            self.durable = last.plus(header.records).before();
        }
        if self.durable < Seq::new(snapshot) {
            let found = format!("a snapshot after record {snapshot}");
            let expected = format!("one up to the last record, {}", self.durable);
            return Err(StoreError::Damaged { place, line: 0, offset: 0, found, expected });
        }
        Ok(())
    }

    fn scan(
        &self,
        first: Seq,
        bytes: &[u8],
        from: Seq,
        visit: &mut Visit<'_>,
    ) -> Result<(Header, ControlFlow<()>), StoreError> {
        let place = format!("{}, block of record {first}", self.place);
        let block = Segment { place: &place, bytes, first, tail: Tail::Acknowledged };
        block.scan_block(from, visit)
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        match &self.poison {
            Some(cause) => Err(StoreError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    /// Does something in one transaction; after a failure nothing is written any more.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StoreError> {
        let done = transact(&self.database, work).map_err(failed("write", &self.place));
        if let Err(error) = &done {
            self.poison = Some(error.to_string());
        }
        done
    }
}

fn transact<T>(
    database: &Database,
    work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
) -> Result<T, redb::Error> {
    let transaction = database.begin_write()?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn make_tables(database: &Database) -> Result<(), redb::Error> {
    transact(database, |transaction| {
        transaction.open_table(BLOCKS)?;
        transaction.open_table(SNAPSHOTS)?;
        Ok(())
    })
}

/// redb's errors as ours.
fn failed(doing: &'static str, place: &str) -> impl Fn(redb::Error) -> StoreError {
    let place = place.to_owned();
    move |error| match error {
        redb::Error::Io(source) => StoreError::Io { doing, place: place.clone(), source },
        redb::Error::Corrupted(found) => StoreError::Damaged {
            place: place.clone(),
            line: 0,
            offset: 0,
            found,
            expected: "a sound redb database".to_owned(),
        },
        other => {
            let source = std::io::Error::other(other.to_string());
            StoreError::Io { doing, place: place.clone(), source }
        }
    }
}

impl Store for DatabaseStore {
    fn append(&mut self, records: &[&[u8]]) -> Result<Seq, StoreError> {
        self.check_writable()?;
        self.group.push(records)?;
        Ok(self.durable.plus(self.group.records()))
    }

    fn commit(&mut self, now: UnixMillis) -> Result<Seq, StoreError> {
        self.check_writable()?;
        let records = self.group.records();
        if records > 0 {
            let first = self.durable.next();
            let mut group = std::mem::take(&mut self.group);
            let block = group.seal(first, now, &[], |_| 0);
            self.write(|transaction| {
                transaction.open_table(BLOCKS)?.insert(first.get(), block.bytes)?;
                Ok(())
            })?;
            group.clear();
            self.group = group;
            self.durable = self.durable.plus(records);
        }
        Ok(self.durable)
    }

    fn first(&self) -> Seq {
        self.first
    }

    fn durable(&self) -> Seq {
        self.durable
    }

    fn read(&self, from: Seq, visit: &mut Visit<'_>) -> Result<(), StoreError> {
        let (asked, first, durable) = (from, self.first, self.durable);
        if from < first {
            return Err(StoreError::Forgotten { asked, first });
        }
        if from > durable.next() {
            return Err(StoreError::Ahead { asked, durable });
        }
        let read = failed("read", &self.place);
        let table = (|| Ok(self.database.begin_read()?.open_table(BLOCKS)?))().map_err(&read)?;
        let begin = (|| Ok(table.range(..=from.get())?.next_back().transpose()?))();
        let begin = begin.map_err(&read)?.map_or(from.get(), |(key, _)| key.value());
        let mut next = Seq::new(begin);
        for entry in table.range(begin..).map_err(|e| read(e.into()))? {
            let (_, block) = entry.map_err(|e| read(e.into()))?;
            let (header, flow) = self.scan(next, block.value(), from, visit)?;
            if flow.is_break() {
                return Ok(());
            }
            next = next.plus(header.records);
        }
        if next == durable.next() {
            return Ok(());
        }
        let found = format!("the last block ends with record {}", next.before());
        let (place, expected) = (self.place.clone(), format!("records up to {durable}"));
        Err(StoreError::Damaged { place, line: 0, offset: 0, found, expected })
    }

    fn snapshot(&mut self, seq: Seq, bytes: &[u8]) -> Result<(), StoreError> {
        self.check_writable()?;
        if seq > self.durable {
            return Err(StoreError::Ahead { asked: seq, durable: self.durable });
        }
        let mut stored = head(seq, bytes);
        stored.extend_from_slice(bytes);
        self.write(|transaction| {
            transaction.open_table(SNAPSHOTS)?.insert(seq.get(), stored.as_slice())?;
            Ok(())
        })
    }

    fn last_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        let last = || -> Result<_, redb::Error> {
            let table = self.database.begin_read()?.open_table(SNAPSHOTS)?;
            Ok(table.last()?.map(|(key, stored)| (key.value(), stored.value().to_vec())))
        };
        let Some((seq, stored)) = last().map_err(failed("read", &self.place))? else {
            return Ok(None);
        };
        open(format!("{}, snapshot {seq}", self.place), Seq::new(seq), stored).map(Some)
    }

    fn retain(&mut self, rule: &Retention, now: UnixMillis) -> Result<Retained, StoreError> {
        self.check_writable()?;
        let mut done = Retained::default();
        let (first, durable) = (self.first, self.durable);
        let next = self.write(|transaction| {
            let mut snapshots = transaction.open_table(SNAPSHOTS)?;
            let keys: Result<Vec<u64>, _> =
                snapshots.iter()?.map(|entry| entry.map(|(key, _)| key.value())).collect();
            let keys = keys?;
            let old = keys.len().saturating_sub(KEPT_SNAPSHOTS);
            for key in &keys[..old] {
                snapshots.remove(key)?;
            }
            done.snapshots = old as u64;
            let last = Seq::new(keys.last().copied().unwrap_or(0));
            let mut blocks = transaction.open_table(BLOCKS)?;
            forget(&mut blocks, rule, now, (first, durable, last))
        })?;
        done.forgotten = next.get() - first.get();
        self.first = next;
        Ok(done)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// Removes the oldest blocks that the rule lets go; gives the first record that is left.
fn forget(
    blocks: &mut redb::Table<'_, u64, &'static [u8]>,
    rule: &Retention,
    now: UnixMillis,
    (first, durable, snapshot): (Seq, Seq, Seq),
) -> Result<Seq, redb::Error> {
    let mut all = Vec::new();
    for entry in blocks.iter()? {
        let (key, block) = entry?;
        let block = block.value();
        let near = &block[..block.len().min(MAX_HEADER)];
        let line = near.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let at = Header::parse(line).map(|header| header.at);
        all.push((Seq::new(key.value()), block.len() as u64, at));
    }
    let mut bytes: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
    let mut left = first;
    for (index, (seq, length, at)) in all.iter().enumerate() {
        let next = all.get(index + 1).map_or(durable.next(), |(seq, ..)| *seq);
        let is_old = |max| at.is_some_and(|at| at.age(now) > max);
        let goes = rule.max_bytes.is_some_and(|max| bytes > max)
            || rule.max_records.is_some_and(|max| durable.next().get() - seq.get() > max)
            || rule.max_age.is_some_and(is_old);
        // The last block stays: it says which number comes next.
        if next.before() > snapshot || index + 1 == all.len() || !goes {
            break;
        }
        blocks.remove(seq.get())?;
        bytes -= length;
        left = next;
    }
    Ok(left)
}
