//! What the tests do to a store, and what must be true of it afterwards.

use std::ops::ControlFlow;
use std::sync::Arc;

use meed_store::testing::SimDisk;
use meed_store::{
    DatabaseStore, FileStore, FileStoreOptions, Retention, Seq, Store, StoreError, UnixMillis,
};

/// The stores under test.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Segments of this many bytes, with this much room ahead.
    Files(u64, u64),
    Database,
}

pub(crate) const KINDS: [Kind; 4] =
    [Kind::Files(1500, 1024), Kind::Files(1500, 1), Kind::Files(1 << 20, 4096), Kind::Database];

impl Kind {
    pub(crate) fn open(self, disk: &SimDisk) -> Result<Box<dyn Store>, StoreError> {
        let disk = Arc::new(disk.clone());
        Ok(match self {
            Self::Files(segment, room) => {
                let options = FileStoreOptions::default().segment_bytes(segment).room_bytes(room);
                Box::new(FileStore::open(disk, options)?)
            }
            Self::Database => Box::new(DatabaseStore::open(disk)?),
        })
    }
}

/// Record number `seq`: told from all others, and of a length of its own.
pub(crate) fn record(seq: Seq) -> Vec<u8> {
    let seq = seq.get();
    let filler = "Job*".repeat(usize::try_from(seq * 7 % 60).unwrap());
    format!("{{\"t\":{seq},\"start\":\"{filler}\"}}").into_bytes()
}

pub(crate) fn snapshot(seq: Seq) -> Vec<u8> {
    format!("state after {seq}\n").repeat(40).into_bytes()
}

/// One step of a workload.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Step {
    /// Appends so many records and commits.
    Group(u64),
    /// A snapshot after the last durable record.
    Snapshot,
    /// Keeps so many records at most.
    Retain(u64),
}

pub(crate) const SMALL: [Step; 12] = [
    Step::Group(1),
    Step::Group(5),
    Step::Snapshot,
    Step::Group(12),
    Step::Group(1),
    Step::Group(9),
    Step::Snapshot,
    Step::Retain(30),
    Step::Group(3),
    Step::Snapshot,
    Step::Group(2),
    Step::Retain(5),
];

/// What was acknowledged, and what was tried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) acknowledged: Seq,
    pub(crate) tried: Seq,
    pub(crate) snapshot: Seq,
    pub(crate) tried_snapshot: Seq,
    /// What may have been forgotten: all before this.
    pub(crate) first: Seq,
}

impl Progress {
    /// Takes a step; an error is the store's.
    pub(crate) fn step(&mut self, store: &mut dyn Store, step: Step) -> Result<(), StoreError> {
        let now = UnixMillis::new(self.tried.get() * 1000);
        match step {
            Step::Group(count) => {
                let from = store.durable().get() + 1;
                let records: Vec<_> =
                    (from..from + count).map(|seq| record(Seq::new(seq))).collect();
                let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
                let last = store.append(&records)?;
                assert_eq!(last, Seq::new(from + count - 1));
                self.tried = last;
                assert_eq!(store.commit(now)?, last);
                self.acknowledged = last;
            }
            Step::Snapshot => {
                self.tried_snapshot = store.durable();
                store.snapshot(store.durable(), &snapshot(store.durable()))?;
                self.snapshot = self.tried_snapshot;
            }
            Step::Retain(max_records) => {
                // Where it would be interrupted, anything up to the last snapshot may be gone.
                self.first = self.first.max(self.snapshot);
                let rule = Retention { max_records: Some(max_records), ..Retention::default() };
                store.retain(&rule, now)?;
            }
        }
        Ok(())
    }

    /// Opens what is left, checks that it is what it may be, and goes on with it.
    pub(crate) fn check(&self, kind: Kind, disk: &SimDisk) -> Progress {
        let mut store = kind.open(disk).unwrap_or_else(|error| panic!("{error}\n{self:?}"));
        let durable = store.durable();
        assert!(
            durable == self.acknowledged || durable == self.tried,
            "{durable} of {self:?}; {:?}",
            store.remarks()
        );
        assert!(store.first() <= self.first.next(), "{} of {self:?}", store.first());
        read_all(&*store);
        let found = store.last_snapshot().unwrap();
        let seq = found.as_ref().map_or(Seq::ZERO, |snapshot| snapshot.seq);
        assert!(seq == self.snapshot || seq == self.tried_snapshot, "{seq} of {self:?}");
        assert!(found.is_none_or(|found| found.bytes == snapshot(seq)));
        let mut progress = Self {
            acknowledged: durable,
            tried: durable,
            snapshot: seq,
            tried_snapshot: seq,
            first: self.first,
        };
        progress.step(&mut *store, Step::Group(2)).unwrap();
        drop(store);
        let store = kind.open(disk).unwrap();
        assert_eq!(store.durable(), progress.acknowledged);
        read_all(&*store);
        progress
    }
}

/// Reads all, and checks that each record is the one it should be.
pub(crate) fn read_all(store: &dyn Store) {
    let mut next = store.first();
    let read = store.read(next, &mut |seq, bytes| {
        assert_eq!(seq, next);
        assert_eq!(bytes, record(seq), "record {seq}");
        next = seq.next();
        ControlFlow::Continue(())
    });
    read.unwrap();
    assert_eq!(next, store.durable().next());
}
