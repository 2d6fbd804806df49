//! What journal and books held when something was last acknowledged, in a small file beside both:
//! `marks`.
//!
//! A file that was cut at its end, or restored from an older copy, looks like one whose last write
//! a crash has cut off. The marks tell the two apart: they are written behind each write that is
//! durable, and before anybody is answered and anything is started. They are not synced: a process
//! that dies leaves them exact, a loss of power may leave older ones. So they never say too much,
//! and where they are missing or cannot be read nothing is compared.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::text::hex;

/// Digits of the checksum, in hexadecimal.
const CHECK_DIGITS: usize = 16;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    /// Records of the journal.
    pub(super) journal: u64,
    /// Writes of the database of jobs.
    pub(super) jobs: u64,
}

impl Marks {
    /// One line, of the same length whatever it says.
    fn line(self) -> String {
        let text = format!("meed marks 1 {:020} {:020} ", self.journal, self.jobs);
        let check = Sha256::digest(text.as_bytes());
        let check = hex(&check);
        format!("{text}{}\n", &check[..CHECK_DIGITS])
    }

    fn of(line: &str) -> Option<Marks> {
        let mut numbers = line.strip_prefix("meed marks 1 ")?.split(' ');
        let mut number = || numbers.next()?.parse().ok();
        let marks = Marks { journal: number()?, jobs: number()? };
        (marks.line() == line).then_some(marks)
    }
}

/// The file.
pub(super) struct MarksFile {
    file: File,
    last: Option<Marks>,
}

impl MarksFile {
    /// Name of the file in the state folder.
    pub(super) const NAME: &str = "marks";

    /// Opens it, or makes it.
    pub(super) fn open(state: &Path) -> io::Result<MarksFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(state.join(MarksFile::NAME))?;
        let mut text = Vec::new();
        (&file).take(4096).read_to_end(&mut text)?;
        let last = std::str::from_utf8(&text).ok().and_then(Marks::of);
        Ok(MarksFile { file, last })
    }

    /// What it says, where it can be read.
    pub(super) fn last(&self) -> Option<Marks> {
        self.last
    }

    /// Writes them, where they have changed.
    pub(super) fn write(&mut self, marks: Marks) -> io::Result<()> {
        if self.last == Some(marks) {
            return Ok(());
        }
        self.file.write_all_at(marks.line().as_bytes(), 0)?;
        self.last = Some(marks);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_were_written_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MarksFile::NAME);
        assert_eq!(MarksFile::open(folder.path()).unwrap().last(), None);
        let marks = Marks { journal: 17, jobs: u64::MAX };
        MarksFile::open(folder.path()).unwrap().write(marks).unwrap();
        assert_eq!(MarksFile::open(folder.path()).unwrap().last(), Some(marks));
        let written = std::fs::read(&path).unwrap();
        for bit in 0..written.len() * 8 {
            let mut broken = written.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &broken).unwrap();
            assert_eq!(MarksFile::open(folder.path()).unwrap().last(), None, "bit {bit}");
        }
        for length in 0..written.len() {
            std::fs::write(&path, &written[..length]).unwrap();
            assert_eq!(MarksFile::open(folder.path()).unwrap().last(), None, "{length} bytes");
        }
    }
}
