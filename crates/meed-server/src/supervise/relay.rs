//! The task's output on its way to the file that the server keeps: through a pipe, so that what
//! would fill the disk is left out, and the journal, which is on the same disk, can be written.
//!
//! While the disk has less than [`reserve`] left, output is read and dropped: the task goes on and
//! never waits for room. In its place a line says how many bytes are missing. Whoever has written
//! little is not to lose it for those who write much: half of the reserve is for the first bytes of
//! each task.
//!
//! What a user sends elsewhere (`--output`, `--error`, files of the task) does not come by here.

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The most that is kept free for the server, in bytes.
const MOST_RESERVED: u64 = 64 << 20;
/// Of a small disk one part of so many.
const PARTS: u64 = 8;
/// What a task may write into the reserve is one part of it of so many.
const LITTLE: u64 = 64;
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;
/// Chunks until the supervisor looks at something else.
const MOST_CHUNKS: usize = 16;
/// Rounds of so many chunks after the end.
const MOST_ROUNDS: usize = 16;

/// See the module.
pub(super) struct Relay {
    /// `None`: nobody can write any more.
    from: Option<PipeReader>,
    to: File,
    chunk: Vec<u8>,
    /// Bytes that were passed on.
    written: u64,
    /// Bytes that were left out since the last line that says so.
    missing: u64,
    /// Whether what was written last ended a line.
    at_line_start: bool,
}

impl Relay {
    /// From the pipe to the file.
    pub(super) fn new(from: PipeReader, to: File) -> io::Result<Relay> {
        fcntl_setfl(&from, fcntl_getfl(&from)? | OFlags::NONBLOCK)?;
        let (from, chunk) = (Some(from), vec![0; CHUNK]);
        Ok(Relay { from, to, chunk, written: 0, missing: 0, at_line_start: true })
    }

    /// What to wait for.
    pub(super) fn pipe(&self) -> Option<&PipeReader> {
        self.from.as_ref()
    }

    /// Passes on what is there, but not without end; whether there may be more.
    pub(super) fn pass(&mut self) -> bool {
        for _ in 0..MOST_CHUNKS {
            let Some(from) = &mut self.from else { return false };
            match from.read(&mut self.chunk) {
                Ok(count @ 1..) => self.keep(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => self.from = None,
            }
        }
        true
    }

    /// Passes on the rest; nobody writes any more.
    pub(super) fn finish(&mut self) {
        // Who has left its parents unseen may write on for ever: a pipe does not hold as much.
        for _ in 0..MOST_ROUNDS {
            if !self.pass() {
                break;
            }
        }
        self.say_missing();
    }

    fn keep(&mut self, count: usize) {
        if !has_room(&self.to, self.written + count as u64) {
            self.missing += count as u64;
            return;
        }
        self.say_missing();
        let mut rest = &self.chunk[..count];
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(written @ 1..) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A disk that is full, a quota: the same as above.
                Ok(0) | Err(_) => break,
            }
        }
        let missing = rest.len();
        self.missing += missing as u64;
        self.written += (count - missing) as u64;
        if let Some(last) = self.chunk[..count - missing].last() {
            self.at_line_start = *last == b'\n';
        }
    }

    /// In the place of what is missing. The line itself may use the reserve.
    fn say_missing(&mut self) {
        if self.missing == 0 {
            return;
        }
        let feed = if self.at_line_start { "" } else { "\n" };
        let line = format!(
            "{feed}meed: {} bytes of output are left out here: the disk of the server's state is \
             nearly full\n",
            self.missing
        );
        if self.to.write_all(line.as_bytes()).is_ok() {
            self.missing = 0;
            self.at_line_start = true;
        }
    }
}

/// Whether the disk of the file has room for a task that will have written so many bytes.
fn has_room(file: impl AsFd, written: u64) -> bool {
    // Where that cannot be asked nothing is left out.
    let Ok(disk) = rustix::fs::fstatvfs(file) else { return true };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let reserve = reserve(disk.f_blocks.saturating_mul(disk.f_frsize));
    free > if written <= reserve / LITTLE { reserve / 2 } else { reserve }
}

/// What is kept free of a disk of so many bytes.
fn reserve(size: u64) -> u64 {
    (size / PARTS).min(MOST_RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_kept_and_the_end_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (reader, mut writer) = io::pipe().unwrap();
        let mut relay = Relay::new(reader, File::create(&path).unwrap()).unwrap();
        assert!(!relay.pass(), "nothing yet");
        let text = "line\n".repeat(10_000);
        writer.write_all(text.as_bytes()).unwrap();
        relay.pass();
        drop(writer);
        relay.finish();
        assert!(relay.pipe().is_none());
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_file_that_takes_nothing_costs_no_more_than_a_line() {
        let (reader, mut writer) = io::pipe().unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut relay = Relay::new(reader, full).unwrap();
        writer.write_all(&[b'x'; 5000]).unwrap();
        drop(writer);
        relay.finish();
        assert_eq!(relay.missing, 5000);
    }

    #[test]
    fn small_disks_keep_an_eighth() {
        assert_eq!(reserve(4 << 20), 512 << 10);
        assert_eq!(reserve(1 << 40), 64 << 20);
    }
}
