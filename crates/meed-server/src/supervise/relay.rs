//! The task's output on its way to the file that the server keeps: through a pipe, so that what
//! would fill the disk is left out, and the journal, which is on the same disk, can be written.
//!
//! While the disk has less than [`reserve`] left, output is read and dropped: the task goes on and
//! never waits for room. In its place a line says how many bytes are missing. Whoever has written
//! little is not to lose it for those who write much: half of the reserve is for the first bytes of
//! each task.
//!
//! Of one task at most so much is kept as the server allows (`max_output`).
//!
//! What a user sends elsewhere (`--output`, `--error`, files of the task) does not come by here.

use std::fs::File;
use std::io::{self, Read, Write};
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
    from: Option<File>,
    to: File,
    /// The most that is passed on, in bytes.
    most: u64,
    chunk: Vec<u8>,
    /// Bytes that were passed on.
    written: u64,
    /// Bytes that were left out since the last line that says so.
    missing: u64,
    /// Whether `most` was reached: nothing more is passed on.
    is_full: bool,
    /// Whether what was written last ended a line.
    at_line_start: bool,
}

impl Relay {
    /// From the pipe to the file; `most`: so many bytes and no more, those of earlier attempts
    /// among them.
    pub(super) fn new(from: File, to: File, most: Option<u64>) -> io::Result<Relay> {
        fcntl_setfl(&from, fcntl_getfl(&from)? | OFlags::NONBLOCK)?;
        let before = to.metadata()?.len();
        let most = most.map_or(u64::MAX, |most| most.saturating_sub(before));
        let (from, chunk) = (Some(from), vec![0; CHUNK]);
        let (written, missing, is_full, at_line_start) = (0, 0, false, true);
        Ok(Relay { from, to, most, chunk, written, missing, is_full, at_line_start })
    }

    /// What to wait for.
    pub(super) fn pipe(&self) -> Option<&File> {
        self.from.as_ref()
    }

    /// Passes on what is there, but not without end; whether there may be more. `hears` is told of
    /// all of it, also of what is left out.
    pub(super) fn pass(&mut self, hears: &mut impl FnMut(&[u8])) -> bool {
        for _ in 0..MOST_CHUNKS {
            let Some(from) = &mut self.from else { return false };
            match from.read(&mut self.chunk) {
                Ok(count @ 1..) => {
                    hears(&self.chunk[..count]);
                    self.keep(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Ok(0) | Err(_) => self.from = None,
            }
        }
        true
    }

    /// Passes on the rest; nobody writes any more.
    pub(super) fn finish(&mut self, hears: &mut impl FnMut(&[u8])) {
        // Who has left its parents unseen may write on for ever: a pipe does not hold as much.
        for _ in 0..MOST_ROUNDS {
            if !self.pass(hears) {
                break;
            }
        }
        self.say_missing();
    }

    fn keep(&mut self, count: usize) {
        if self.is_full || !has_room(&self.to, self.written + count as u64) {
            self.missing += count as u64;
            return;
        }
        self.say_missing();
        let left = usize::try_from(self.most - self.written).unwrap_or(usize::MAX);
        self.is_full = count > left;
        let mut rest = &self.chunk[..count.min(left)];
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(written @ 1..) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A disk that is full, a quota: the same as above.
                Ok(0) | Err(_) => break,
            }
        }
        let kept = count.min(left) - rest.len();
        self.missing += (count - kept) as u64;
        self.written += kept as u64;
        if let Some(last) = self.chunk[..kept].last() {
            self.at_line_start = *last == b'\n';
        }
        // At once: whoever follows the output is not to take it for silence.
        if self.is_full {
            let feed = if self.at_line_start { "" } else { "\n" };
            let line = format!("{feed}meed: a task keeps no more output (max_output)\n");
            self.at_line_start |= self.to.write_all(line.as_bytes()).is_ok();
        }
    }

    /// In the place of what is missing. The line itself may use the reserve.
    fn say_missing(&mut self) {
        if self.missing == 0 {
            return;
        }
        let feed = if self.at_line_start { "" } else { "\n" };
        let why = match self.is_full {
            true => "it was too much (max_output)",
            false => "the disk of the server's state is nearly full",
        };
        let line =
            format!("{feed}meed: {} bytes of output are left out here: {why}\n", self.missing);
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

    fn pipe() -> (File, io::PipeWriter) {
        let (reader, writer) = io::pipe().unwrap();
        (File::from(std::os::fd::OwnedFd::from(reader)), writer)
    }

    fn nobody(_: &[u8]) {}

    #[test]
    fn what_comes_is_kept_and_the_end_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let (reader, mut writer) = pipe();
        let mut relay = Relay::new(reader, File::create(&path).unwrap(), None).unwrap();
        assert!(!relay.pass(&mut nobody), "nothing yet");
        let text = "line\n".repeat(10_000);
        writer.write_all(text.as_bytes()).unwrap();
        relay.pass(&mut nobody);
        drop(writer);
        relay.finish(&mut nobody);
        assert!(relay.pipe().is_none());
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_file_that_takes_nothing_costs_no_more_than_a_line() {
        let (reader, mut writer) = pipe();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut relay = Relay::new(reader, full, None).unwrap();
        writer.write_all(&[b'x'; 5000]).unwrap();
        drop(writer);
        relay.finish(&mut nobody);
        assert_eq!(relay.missing, 5000);
    }

    #[test]
    fn no_more_is_kept_than_a_task_may_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "of an attempt before\n").unwrap();
        let (reader, mut writer) = pipe();
        let file = File::options().append(true).open(&path).unwrap();
        let mut relay = Relay::new(reader, file, Some(25)).unwrap();
        for text in ["0123456789", "more", "and more"] {
            writer.write_all(text.as_bytes()).unwrap();
            relay.pass(&mut nobody);
        }
        drop(writer);
        relay.finish(&mut nobody);
        let text = std::fs::read_to_string(path).unwrap();
        let wanted = "of an attempt before\n0123\nmeed: a task keeps no more output (max_output)\n\
                      meed: 18 bytes of output are left out here: it was too much (max_output)\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn small_disks_keep_an_eighth() {
        assert_eq!(reserve(4 << 20), 512 << 10);
        assert_eq!(reserve(1 << 40), 64 << 20);
    }
}
