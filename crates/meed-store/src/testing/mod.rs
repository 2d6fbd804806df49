//! A disk in memory that tests can break: it loses power, fills up, fails, and flips bits.
//!
//! [`SimDisk`] counts its operations (writes, changes of length, syncs, new, renamed and removed
//! names). A test runs a workload once to count them, then once for each operation with the power
//! going off there ([`SimDisk::power_off_at`]), and opens a store on each disk that may be left
//! ([`SimDisk::after_power_loss`]). What may be left is what [`Disk`](crate::Disk) promises and no
//! more: see the list there.
//!
//! ```
//! use std::sync::Arc;
//! use meed_store::testing::SimDisk;
//! use meed_store::{FileStore, FileStoreOptions, Store, UnixMillis};
//!
//! let disk = SimDisk::new();
//! let options = FileStoreOptions::default;
//! let open = |disk: &SimDisk| FileStore::open(Arc::new(disk.clone()), options());
//! let mut store = open(&disk)?;
//! store.append(&[b"acknowledged"])?;
//! store.commit(UnixMillis::new(0))?;
//! disk.power_off_at(disk.operations() + 1); // in the midst of the next write
//! store.append(&[b"not acknowledged"])?;
//! assert!(store.commit(UnixMillis::new(0)).is_err());
//! for left in disk.after_power_loss(100, 7) {
//!     assert!([1, 2].contains(&open(&left)?.durable().get()));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod image;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, DiskFile, DiskLock, Mode};
use image::{Entry, Image, Piece};

/// What a failing operation answers.
///
/// ```
/// use meed_store::testing::{Fault, SimDisk};
/// use meed_store::{Disk, Mode};
///
/// let disk = SimDisk::new();
/// disk.fail_at(disk.operations(), Fault::Full, true);
/// let written = disk.open("a", Mode::New).and_then(|file| file.write_at(0, b"12345"));
/// assert!(written.is_err());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An input/output error: a write or a sync fails. After a failed sync what was written before
    /// is still read, but is lost with the power, whatever is synced later.
    Broken,
    /// No space left: half of a write is done; the file does not grow further.
    Full,
}

/// A folder in memory. Clones are the same folder.
///
/// ```
/// use std::sync::Arc;
/// use meed_store::testing::SimDisk;
/// use meed_store::{FileStore, FileStoreOptions, Seq, Store, UnixMillis};
///
/// let disk = SimDisk::new();
/// let mut store = FileStore::open(Arc::new(disk.clone()), FileStoreOptions::default())?;
/// store.append(&[b"{}"])?;
/// store.commit(UnixMillis::new(0))?;
/// // Whatever the loss of power leaves, what was acknowledged is there.
/// for left in disk.after_power_loss(10, 1) {
///     let store = FileStore::open(Arc::new(left), FileStoreOptions::default())?;
///     assert_eq!(store.durable(), Seq::new(1));
/// }
/// # Ok::<(), meed_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    image: Image,
    operations: u64,
    power_off_at: Option<u64>,
    fault: Option<(u64, Fault, bool)>,
    locked: bool,
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimDisk({} operations)", self.operations())
    }
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}

/// What an operation is allowed to do.
enum Go {
    On,
    /// Begun, and the power goes off in its midst.
    Last,
    Fail(Fault),
}

impl SimDisk {
    /// An empty folder.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::default())
    }

    fn of(image: Image) -> Self {
        Self(Arc::new(Mutex::new(State { image, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many operations were begun.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Lets the power go off in the midst of operation `number` (the first has number 1): it and
    /// all later ones fail.
    pub fn power_off_at(&self, number: u64) {
        self.state().power_off_at = Some(number);
    }

    /// Lets operation `number` fail, and when `lasting` all later ones of its kind: for
    /// [`Fault::Full`] writes, for [`Fault::Broken`] writes and syncs.
    pub fn fail_at(&self, number: u64, fault: Fault, lasting: bool) {
        self.state().fault = Some((number, fault, lasting));
    }

    /// No operation fails any more.
    pub fn mend(&self) {
        let mut state = self.state();
        (state.power_off_at, state.fault) = (None, None);
    }

    /// The disks that a loss of power now may leave: all of them when there are at most `limit`;
    /// else the most telling (nothing of what is not synced, all, all but one piece, one piece
    /// alone, and each cut within a sector), filled up to `limit` with random ones drawn from
    /// `seed`.
    #[must_use]
    pub fn after_power_loss(&self, limit: usize, seed: u64) -> Vec<Self> {
        let images = self.state().image.after_power_loss(limit, seed);
        images.into_iter().map(Self::of).collect()
    }

    /// The disk after a crash of the process alone: everything that was written is there.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        Self::of(self.state().image.clone())
    }

    /// A copy of all that is there, synced: to damage it.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::of(self.state().image.settled())
    }

    /// Length of a file; nothing when there is none.
    #[must_use]
    pub fn length(&self, name: &str) -> Option<usize> {
        let state = self.state();
        state.image.find(name).map(|id| state.image.seen(id).len())
    }

    /// What is in a file.
    #[must_use]
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        state.image.find(name).map(|id| state.image.seen(id).to_vec())
    }

    /// Turns a bit of a file; nothing happens when there is no such file or bit.
    pub fn flip(&self, name: &str, bit: usize) {
        let mut state = self.state();
        if let Some(id) = state.image.find(name) {
            state.image.flip(id, bit);
        }
    }

    /// Puts another content in a file's place, synced.
    pub fn put(&self, name: &str, content: &[u8]) {
        self.state().image.put(name, content);
    }

    /// Counts an operation, and says whether it may be done.
    fn begin(&self, may_be_full: bool) -> io::Result<(MutexGuard<'_, State>, Go)> {
        let mut state = self.state();
        let state_now = &mut *state;
        state_now.operations += 1;
        let number = state_now.operations;
        let off = io::Error::new(io::ErrorKind::BrokenPipe, "the power is off");
        let go = match (state_now.power_off_at, state_now.fault) {
            (Some(at), _) if number > at => return Err(off),
            (Some(at), _) if number == at => Go::Last,
            (_, Some((at, fault, lasting)))
                if (number == at || lasting && number > at)
                    && (may_be_full || fault == Fault::Broken) =>
            {
                Go::Fail(fault)
            }
            _ => Go::On,
        };
        Ok((state, go))
    }

    fn change(&self, entry: Entry) -> io::Result<()> {
        let (mut state, go) = self.begin(false)?;
        if let Go::Fail(fault) = go {
            return Err(fault.error());
        }
        state.image.change(entry);
        go.finish()
    }
}

impl Fault {
    fn error(self) -> io::Error {
        match self {
            Self::Broken => io::Error::other("input/output error"),
            Self::Full => io::Error::new(io::ErrorKind::StorageFull, "no space left on device"),
        }
    }
}

impl Go {
    fn finish(self) -> io::Result<()> {
        match self {
            Self::On => Ok(()),
            Self::Last => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the power goes off")),
            Self::Fail(fault) => Err(fault.error()),
        }
    }
}

impl Disk for SimDisk {
    fn place(&self, name: &str) -> String {
        format!("disk/{name}")
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().image.names())
    }

    fn open(&self, name: &str, mode: Mode) -> io::Result<Box<dyn DiskFile>> {
        let found = self.state().image.find(name);
        let id = match (found, mode) {
            (Some(id), Mode::Existing) => id,
            (None, Mode::Existing) => return Err(io::ErrorKind::NotFound.into()),
            (Some(id), Mode::New) => {
                SimFile { disk: self.clone(), id }.set_length(0)?;
                id
            }
            (None, Mode::New) => {
                let id = self.state().image.new_file();
                self.change(Entry::Added { name: name.to_owned(), id })?;
                id
            }
        };
        Ok(Box::new(SimFile { disk: self.clone(), id }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let id = self.state().image.find(from).ok_or(io::ErrorKind::NotFound)?;
        self.change(Entry::Renamed { from: from.to_owned(), to: to.to_owned(), id })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.state().image.find(name).ok_or(io::ErrorKind::NotFound)?;
        self.change(Entry::Removed { name: name.to_owned() })
    }

    fn sync_folder(&self) -> io::Result<()> {
        let (mut state, go) = self.begin(false)?;
        if matches!(go, Go::On) {
            state.image.sync_folder();
        }
        go.finish()
    }

    fn lock(&self, _name: &str) -> io::Result<Option<DiskLock>> {
        let mut state = self.state();
        if state.locked {
            return Ok(None);
        }
        state.locked = true;
        Ok(Some(Box::new(SimLock(self.clone()))))
    }
}

#[derive(Debug)]
struct SimLock(SimDisk);

impl Drop for SimLock {
    fn drop(&mut self) {
        self.0.state().locked = false;
    }
}

#[derive(Debug)]
struct SimFile {
    disk: SimDisk,
    id: usize,
}

impl DiskFile for SimFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.state().image.seen(self.id).len() as u64)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let state = self.disk.state();
        let seen = state.image.seen(self.id);
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let found = seen.get(start..).and_then(|rest| rest.get(..bytes.len()));
        bytes.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (mut state, go) = self.disk.begin(true)?;
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        let done = match go {
            Go::Fail(Fault::Broken) => &[],
            Go::Fail(Fault::Full) => &bytes[..bytes.len() / 2],
            Go::On | Go::Last => bytes,
        };
        state.image.write(self.id, Piece::Bytes { offset, bytes: done.to_vec() });
        go.finish()
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        let (mut state, go) = self.disk.begin(false)?;
        let length = usize::try_from(length).map_err(io::Error::other)?;
        if !matches!(go, Go::Fail(_)) {
            state.image.write(self.id, Piece::Length(length));
        }
        go.finish()
    }

    fn sync(&self) -> io::Result<()> {
        let (mut state, go) = self.disk.begin(false)?;
        match go {
            Go::On => state.image.sync(self.id),
            Go::Fail(_) => state.image.drop_unsynced(self.id),
            Go::Last => {}
        }
        go.finish()
    }
}
