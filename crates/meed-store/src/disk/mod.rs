//! The narrow layer between stores and the disk, so that tests can put a breakable one there.
//!
//! What a store assumes of a disk, and a [`Disk`] has to keep:
//! - What was written to a file before its [`sync`](DiskFile::sync) returned without error is
//!   there after a loss of power, with the file's length.
//! - What was written since may be there or not, in any order, by pieces: a write may be cut at any
//!   byte, and each sector of [`SECTOR`] bytes that it covers is old or new, apart from the one in
//!   which it is cut. Where a file became longer, bytes never written are zeros.
//! - New names, renamed and removed ones are there for good when
//!   [`sync_folder`](Disk::sync_folder) has returned; before that each may be there or not. A
//!   renamed file is under one of its names.
//! - After a sync that failed nothing is known of what was written since the one before.

mod real;

use std::fmt;
use std::io;

pub use real::RealDisk;

/// A unit that a disk writes whole, apart from the one in which the power fails.
pub const SECTOR: usize = 512;

/// How a file is opened.
///
/// The example of [`Disk`] opens a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It has to exist.
    Existing,
    /// It is new, or emptied.
    New,
}

/// A folder of files.
///
/// ```
/// use meed_store::{Disk, DiskFile, Mode, RealDisk};
///
/// let folder = tempfile::tempdir()?;
/// let disk = RealDisk::new(folder.path())?;
/// let file = disk.open("a", Mode::New)?;
/// file.write_at(0, b"12345")?;
/// file.sync()?;
/// disk.sync_folder()?;
/// let mut bytes = [0; 2];
/// file.read_at(3, &mut bytes)?;
/// assert_eq!((file.length()?, &bytes, disk.list()?), (5, b"45", vec!["a".to_owned()]));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Disk: fmt::Debug + Send + Sync {
    /// What people call this file; of an empty name the folder.
    fn place(&self, name: &str) -> String;
    /// Names of all files, sorted.
    ///
    /// # Errors
    /// What the system says.
    fn list(&self) -> io::Result<Vec<String>>;
    /// Opens a file for reading and writing.
    ///
    /// # Errors
    /// What the system says.
    fn open(&self, name: &str, mode: Mode) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name; what had that name before is gone.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes new, renamed and removed names durable.
    ///
    /// # Errors
    /// What the system says.
    fn sync_folder(&self) -> io::Result<()>;
    /// Takes the lock of that name until the result is dropped; `None` when another has it. A
    /// process that dies has none.
    ///
    /// # Errors
    /// What the system says.
    fn lock(&self, name: &str) -> io::Result<Option<DiskLock>>;
}

/// Holds a lock until it is dropped.
pub type DiskLock = Box<dyn fmt::Debug + Send + Sync>;

/// An open file.
///
/// The example of [`Disk`] writes and reads one.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Length in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn length(&self) -> io::Result<u64>;
    /// Fills `bytes` from `offset` on.
    ///
    /// # Errors
    /// What the system says; also when the file ends before.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Writes all of `bytes` from `offset` on.
    ///
    /// # Errors
    /// What the system says; a part may have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts the file, or lets it grow by zeros.
    ///
    /// # Errors
    /// What the system says.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Makes content and length durable.
    ///
    /// # Errors
    /// What the system says; then nothing is known of what was written since the last sync.
    fn sync(&self) -> io::Result<()>;
}

/// The whole content of a file.
pub(crate) fn read_all(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
    let file = disk.open(name, Mode::Existing)?;
    let length = usize::try_from(file.length()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_at(0, &mut bytes)?;
    Ok(bytes)
}

/// Lets a file appear under its name whole or not at all, durably.
pub(crate) fn write_whole(disk: &dyn Disk, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    let beside = format!("{name}{UNFINISHED}");
    let file = disk.open(&beside, Mode::New)?;
    let mut offset = 0;
    for part in parts {
        file.write_at(offset, part)?;
        offset += part.len() as u64;
    }
    file.sync()?;
    disk.rename(&beside, name)?;
    disk.sync_folder()
}

/// Ending of files that are being written; one found when a store is opened is removed.
pub(crate) const UNFINISHED: &str = ".unfinished";
