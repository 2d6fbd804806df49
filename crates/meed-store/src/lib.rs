//! Durable storage of a sequence of records and of snapshots.
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

#[cfg(feature = "redb")]
pub use database::DatabaseStore;
pub use disk::{Disk, DiskFile, DiskLock, Mode, RealDisk, SECTOR};
pub use error::StoreError;
pub use files::{FileStore, FileStoreOptions};
pub use store::{Retained, Retention, Seq, Snapshot, Store, UnixMillis, Visit};
#[cfg(feature = "testing")]
pub mod testing;
