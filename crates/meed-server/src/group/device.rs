//! A device of the system, by its numbers.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A device of characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Device {
    /// Which driver's.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl Device {
    /// That of a file such as `/dev/nvidia0`.
    ///
    /// # Errors
    ///
    /// The system's; the file is no device of characters.
    pub fn of(path: &Path) -> io::Result<Device> {
        let found = std::fs::metadata(path)?;
        if !found.file_type().is_char_device() {
            return Err(io::Error::other("it is no device of characters, as /dev/nvidia0 is"));
        }
        let device = found.rdev();
        Ok(Device { major: rustix::fs::major(device), minor: rustix::fs::minor(device) })
    }
}
