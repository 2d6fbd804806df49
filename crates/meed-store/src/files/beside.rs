//! A group that is made durable beside the caller, who goes on with the next one.
//!
//! Invariant: at most one is on its way, and nothing else is written meanwhile. Cost: a thread for
//! each group, some ten microseconds, where a sync is a thousand.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crate::block::Group;
use crate::error::StoreError;
use crate::store::{Store, UnixMillis};

use super::{FileStore, Live, NextBlock};

/// What became of it: where the next block goes and the length of the file, or what failed.
type Written = Result<(u64, u64), (&'static str, io::Error)>;

/// See the module.
#[derive(Debug)]
pub(super) struct Begun {
    records: u64,
    /// Gives the group back, for its room.
    thread: JoinHandle<(Group, Written)>,
}

impl Begun {
    pub(super) fn records(&self) -> u64 {
        self.records
    }
}

impl FileStore {
    /// The open group is on its way; there is none before it.
    pub(super) fn begin(&mut self, now: UnixMillis) -> Result<(), StoreError> {
        let is_full = |live: &Live| live.end >= self.options.segment_bytes;
        let Some(live) = self.live.as_ref().filter(|live| !is_full(live)) else {
            // A segment is begun with it: seldom, and with more than one file.
            return self.commit(now).map(|_| ());
        };
        let (first, room) = (self.durable.next(), self.options.room_bytes);
        let block = NextBlock { first, now, room, ..live.next_block() };
        let file = Arc::clone(&live.file);
        let records = self.group.records();
        let mut group = std::mem::replace(&mut self.group, self.spare.take().unwrap_or_default());
        let write = move || {
            let written = block.write(&*file, &mut group);
            (group, written)
        };
        let thread = Builder::new().name("meed-store".to_owned()).spawn(write);
        let thread = thread.map_err(StoreError::io("begin to write", self.disk.place("")));
        let thread = self.poisoning(thread)?;
        self.begun = Some(Begun { records, thread });
        Ok(())
    }

    /// Nothing is on its way any more, and something can be written.
    pub(super) fn wait_for_begun(&mut self) -> Result<(), StoreError> {
        self.check_writable()?;
        let Some(Begun { records, thread }) = self.begun.take() else { return Ok(()) };
        let gone = |_| ("write", io::Error::other("the thread that wrote it has panicked"));
        let (group, written) = match thread.join().map_err(gone) {
            Ok((group, written)) => (Some(group), written),
            Err(failed) => (None, Err(failed)),
        };
        let live = self.live.as_mut().expect("it was written to");
        let place = self.disk.place(&live.name);
        let written = written.map_err(|(doing, why)| StoreError::io(doing, place)(why));
        (live.end, live.length) = match written {
            Ok(ends) => ends,
            failed => return self.poisoning(failed.map(|_| ())),
        };
        self.durable = self.durable.plus(records);
        self.spare = group.map(|mut group| {
            group.clear();
            group
        });
        Ok(())
    }
}

/// What was begun is written before another may open the store.
impl Drop for FileStore {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            drop(begun.thread.join());
        }
    }
}
