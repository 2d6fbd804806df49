//! A store that keeps nothing: for a ledger without a folder, which ends with its process.

use meed_store::{Retained, Retention, Seq, Snapshot, Store, StoreError, UnixMillis, Visit};

#[derive(Debug, Default)]
pub(crate) struct Nowhere {
    appended: Seq,
    durable: Seq,
}

impl Store for Nowhere {
    fn append(&mut self, records: &[&[u8]]) -> Result<Seq, StoreError> {
        records.iter().for_each(|_| self.appended = self.appended.next());
        Ok(self.appended)
    }

    fn commit(&mut self, _: UnixMillis) -> Result<Seq, StoreError> {
        self.durable = self.appended;
        Ok(self.durable)
    }

    fn first(&self) -> Seq {
        self.durable.next()
    }

    fn durable(&self) -> Seq {
        self.durable
    }

    fn read(&self, _: Seq, _: &mut Visit<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn snapshot(&mut self, _: Seq, _: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn last_snapshot(&self) -> Result<Option<Snapshot>, StoreError> {
        Ok(None)
    }

    fn retain(&mut self, _: &Retention, _: UnixMillis) -> Result<Retained, StoreError> {
        Ok(Retained::default())
    }

    fn remarks(&self) -> &[String] {
        &[]
    }
}
