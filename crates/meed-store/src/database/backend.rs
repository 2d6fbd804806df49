//! A file of a [`Disk`](crate::Disk) as redb wants it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::StorageBackend;

use crate::disk::{Disk, DiskFile, Mode};

/// Stands in the folder while a database is open, and stays when a write failed or the process
/// died.
///
/// After a sync that failed the system may show pages that are not on the disk, as long as it
/// runs: so what is found beside this mark is written once more, before redb builds on it. The mark
/// is not synced: a loss of power takes it and the false pages together.
const MARK: &str = "journal.open";

#[derive(Debug)]
pub(super) struct Backend {
    file: Box<dyn DiskFile>,
    failed: Arc<AtomicBool>,
}

/// Removes the mark when it is dropped and nothing has failed.
#[derive(Debug)]
pub(super) struct Mark {
    disk: Arc<dyn Disk>,
    failed: Arc<AtomicBool>,
}

impl Drop for Mark {
    fn drop(&mut self) {
        if !self.failed.load(Ordering::Relaxed) {
            // A mark that stays costs a second writing, no more.
            drop(self.disk.remove(MARK));
        }
    }
}

impl Backend {
    /// The file as redb's storage; what is in it is on the disk.
    pub(super) fn new(disk: &Arc<dyn Disk>, file: Box<dyn DiskFile>) -> io::Result<(Self, Mark)> {
        let failed = Arc::new(AtomicBool::new(true));
        let mark = Mark { disk: disk.clone(), failed: failed.clone() };
        if disk.list()?.iter().any(|name| name == MARK) {
            write_again(&*file)?;
        } else {
            disk.open(MARK, Mode::New)?;
        }
        // Until here a failure keeps the mark.
        failed.store(false, Ordering::Relaxed);
        Ok((Self { file, failed }, mark))
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }
}

/// Writes a file's content over itself, and syncs.
fn write_again(file: &dyn DiskFile) -> io::Result<()> {
    let length = file.length()?;
    let mut bytes = vec![0; 1 << 20];
    let mut offset = 0;
    while offset < length {
        let count = usize::try_from(length - offset).unwrap_or(usize::MAX).min(bytes.len());
        file.read_at(offset, &mut bytes[..count])?;
        file.write_at(offset, &bytes[..count])?;
        offset += count as u64;
    }
    file.sync()
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.note(self.file.length())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(self.file.set_length(len))?;
        // redb believes that the file is as long as its header says, which may be written first.
        self.note(self.file.sync())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.note(self.file.sync())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.note(self.file.write_at(offset, data))
    }
}
