//! Durable storage of a sequence of records, and of snapshots: the floor of the journal.
//!
//! A world appends records of what happened and what is decided, makes them durable in groups, and
//! only then acts on them; now and then it leaves a snapshot of its state. After a crash it reads
//! the last snapshot and the records behind it. What a record means is not known here: it is a line
//! of text. [`Store`] is the contract; there are two stores behind it:
//!
//! - [`FileStore`]: segments of JSON lines in a folder. A group is one write and one sync. The live
//!   segment is plain text for any tool; closed ones are compressed (feature `zstd`, on by default)
//!   and kept as long as a [`Retention`] says. Damage is always an error that names file, line,
//!   byte and what was expected. **The one to use.**
//! - `DatabaseStore` (feature `redb`): one file of an embedded database. More work for each commit;
//!   `docs/decisions/0009-segments-not-a-database.md` compares.
//!
//! Both stand on [`Disk`], a narrow layer of files, with what is assumed of it: after a sync what
//! was written is there, before it anything may be. With the feature `testing` there is a disk
//! that breaks in each of these ways, and some more (`testing::SimDisk`).
//!
//! # Invariants
//!
//! Each with what checks it, in `tests/suite`:
//!
//! - No acknowledged record is lost; no part of a group is found, nor a group without the one
//!   before; no half snapshot. `power.rs`: the power goes off at every operation of a small run,
//!   and whatever may be left is (writes by sectors, in any order, cut at any byte); at random
//!   operations of long runs; while recovering, and after. `kill.rs`: processes that are killed.
//! - No wrong record is read; damage is an error that names its place; no torn tail hides damage.
//!   `damage.rs`: each bit of each file is flipped. `segment.rs` says how they are told apart.
//! - After a failed write or sync nothing is acknowledged, and what is read after opening again is
//!   on the disk. `faults.rs`: each operation fails.
//! - Two processes never write one folder; newer versions are refused. `folder.rs`.
//!
//! No threads, no clock: committing in the background, and the time of each commit, are the
//! caller's.

mod block;
#[cfg(feature = "redb")]
mod database;
mod disk;
mod error;
mod files;
mod identity;
mod segment;
mod snapshot;
mod store;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "redb")]
pub use database::DatabaseStore;
pub use disk::{Disk, DiskFile, DiskLock, Mode, RealDisk, SECTOR};
pub use error::StoreError;
pub use files::{FileStore, FileStoreOptions};
pub use store::{Retained, Retention, Seq, Snapshot, Store, UnixMillis, Visit};
