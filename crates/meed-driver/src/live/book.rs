//! The journal of a live world: records go to a store as lines.
//!
//! Here, and only here, meet two ways to count: a store numbers its records from 1 ([`Seq`]), a
//! journal from 0 in each run ([`meed_journal::Record::seq`]). A store holds one run, so record `n`
//! of the journal is number `n + 1` of the store.

use std::io;

use meed::Time;
use meed_journal::{Fact, LineMaker, Record};
use meed_store::{Seq, Store, StoreError, UnixMillis};

use super::SnapshotRule;
use crate::counters::Counters;
use crate::journal::Journal;

/// See the module.
#[derive(Debug)]
pub(super) struct Book {
    store: Box<dyn Store>,
    /// The last record that was appended, durable or not.
    appended: Seq,
    /// Records of something that happened, since the book was opened: each instant that has one
    /// has one decision.
    told: u64,
    /// The last snapshot, and the bytes of records since.
    snapshot: Seq,
    bytes: u64,
    lines: LineMaker,
    counters: Counters,
}

impl Book {
    pub(super) fn new(store: Box<dyn Store>, snapshot: Seq) -> Book {
        let appended = store.durable();
        Book {
            store,
            appended,
            told: 0,
            snapshot,
            bytes: 0,
            lines: LineMaker::default(),
            counters: Counters::default(),
        }
    }

    pub(super) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(super) fn store_mut(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    /// The last record that was appended.
    pub(super) fn appended(&self) -> Seq {
        self.appended
    }

    /// Records of something that happened.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    /// Whether nothing but the beginning of the run is told.
    pub(super) fn is_empty_but_for_header(&self) -> bool {
        self.appended <= Seq::new(1)
    }

    pub(super) fn is_due(&self, rule: SnapshotRule) -> bool {
        let records = self.appended.get() - self.snapshot.get();
        records >= rule.records || self.bytes >= rule.bytes
    }

    pub(super) fn commit_all(&mut self, wall: UnixMillis) -> Result<Seq, StoreError> {
        let durable = self.store.commit(wall)?;
        self.counters.committed();
        Ok(durable)
    }

    /// Begins to make all durable; what is durable now.
    pub(super) fn begin_commit(&mut self, wall: UnixMillis) -> Result<Seq, StoreError> {
        let durable = self.store.begin_commit(wall)?;
        // As one commit, which it will be when the world hears of it.
        self.counters.committed();
        Ok(durable)
    }

    pub(super) fn counters(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(super) fn snapshot(&mut self, seq: Seq, state: &[u8]) -> Result<(), StoreError> {
        self.store.snapshot(seq, state)?;
        (self.snapshot, self.bytes) = (seq, 0);
        Ok(())
    }
}

impl Journal for Book {
    fn append(&mut self, at: Time, fact: &Fact) -> io::Result<()> {
        let seq = self.appended.get();
        let line = self.lines.line(seq, at, fact);
        self.appended = self.store.append(&[line]).map_err(io::Error::other)?;
        self.bytes += line.len() as u64;
        self.counters.appended(fact.kind(), line.len());
        self.told += u64::from(fact.kind().happens());
        Ok(())
    }
    // A commit is the world's: it takes several decisions together.
}

/// The record that is number `seq` of the store.
pub(super) fn read(seq: Seq, line: &[u8]) -> Result<Record, String> {
    let record = Record::decode(line).map_err(|why| why.to_string())?;
    if record.seq + 1 == seq.get() {
        return Ok(record);
    }
    Err(format!("it calls itself record {}, and is the journal's {}", record.seq, seq.get() - 1))
}
