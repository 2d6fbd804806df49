//! Files of the operating system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{Disk, DiskFile, DiskLock, Mode};

/// A folder of the real file system.
///
/// The example of [`Disk`] uses one.
#[derive(Debug)]
pub struct RealDisk {
    folder: PathBuf,
}

impl RealDisk {
    /// The folder, which is made when it does not exist.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            // Its own name has to last as well.
            if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                sync_folder(parent)?;
            }
        }
        Ok(Self { folder })
    }
}

/// A folder is synced by a handle of it; systems that have none for folders order names themselves.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

impl Disk for RealDisk {
    fn place(&self, name: &str) -> String {
        let path = if name.is_empty() { self.folder.clone() } else { self.folder.join(name) };
        path.display().to_string()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn open(&self, name: &str, mode: Mode) -> io::Result<Box<dyn DiskFile>> {
        let new = mode == Mode::New;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(new).truncate(new);
        Ok(Box::new(RealFile(options.open(self.folder.join(name))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.folder.join(from), self.folder.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_folder(&self.folder)
    }

    fn lock(&self, name: &str) -> io::Result<Option<DiskLock>> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false);
        let file = file.open(self.folder.join(name))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, bytes, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        (&self.0).seek(SeekFrom::Start(offset))?;
        (&self.0).read_exact(bytes)
    }

    #[cfg(not(unix))]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        (&self.0).seek(SeekFrom::Start(offset))?;
        (&self.0).write_all(bytes)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
