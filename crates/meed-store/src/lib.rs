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
//! - `DatabaseStore` (feature `redb`): one file of an embedded database. More bytes for each commit;
//!   `docs/decisions/0009-segments-not-a-database.md` says when it may serve all the same.
//!
//! Both stand on [`Disk`], a narrow layer of files, with what is assumed of it: after a sync what
//! was written is there, before it anything may be. With the feature `testing` there is a disk
//! that breaks in each of these ways, and some more (`testing::SimDisk`).
//!
//! # Invariants
//!
//! | never | checked by |
//! |---|---|
//! | an acknowledged record is lost | `tests/suite/power.rs`: power off at every operation of a small run, with what may be left of unsynced writes, whole, by sectors, cut at any byte; at random ones of long runs, and while recovering. `tests/suite/kill.rs`: processes that are killed |
//! | a part of a group is found, or a group without the one before | the same |
//! | half a snapshot is found | the same; snapshots are renamed into place |
//! | a wrong record is read | `tests/suite/damage.rs`: each bit of each file flipped |
//! | a torn tail hides damage, or damage passes for a torn tail | `segment.rs` says how they are told apart; `tests/suite/damage.rs` |
//! | a store goes on after a failed sync | `tests/suite/faults.rs`: each operation fails; what is read after is on the disk |
//! | two processes write one folder | `tests/suite/folder.rs`; a lock of the system, which dies with its process |
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
