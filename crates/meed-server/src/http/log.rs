//! Output of tasks, as the server has kept it.
//!
//! The server may be root, and the file is its user's: who could put another in its place must not
//! make the server read that one. So the path is followed below the state folder only and through
//! no link, what is opened must be a file and belong to the job's user, and files that a user named
//! are not opened at all: the user's own rights are for those.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::Deserialize;
use utoipa::IntoParams;

use super::problem::Problem;
use crate::protocol::LogPlace;

/// Most bytes of one answer.
const MOST: u64 = 1 << 20;

/// Which part.
#[derive(Clone, Copy, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogRange {
    /// From this byte on.
    offset: Option<u64>,
    /// At most so many bytes; at most, and unless given, 1 MiB.
    limit: Option<u64>,
    /// Only the last so many bytes, instead of `offset`.
    tail: Option<u64>,
}

/// A part of it.
pub(crate) struct LogPart {
    pub(crate) bytes: Vec<u8>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) running: bool,
}

pub(crate) fn read_log(
    state: &Path,
    place: &LogPlace,
    range: LogRange,
) -> Result<LogPart, Problem> {
    if range.offset.is_some() && range.tail.is_some() {
        return Err(Problem::malformed("offset and tail exclude each other"));
    }
    let path = place.path.as_deref().ok_or_else(|| {
        Problem::unknown(
            "this job writes to a file of its user's own, which the server never reads",
        )
    })?;
    let running = place.running;
    let Some(file) = open(state, path, place.uid)? else {
        return Ok(LogPart { bytes: Vec::new(), offset: 0, size: 0, running });
    };
    let unreadable = |why: std::io::Error| Problem::busy(format!("the output: {why}"));
    let size = file.metadata().map_err(unreadable)?.len();
    let offset = match range.tail {
        Some(tail) => size - tail.min(size).min(MOST),
        None => range.offset.unwrap_or(0).min(size),
    };
    let most = range.limit.unwrap_or(MOST).min(MOST).min(size - offset);
    let mut bytes = vec![0; usize::try_from(most).unwrap_or(0)];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64).map_err(unreadable)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(LogPart { bytes, offset, size, running })
}

/// `None`: nothing has been written yet.
fn open(state: &Path, path: &str, uid: u32) -> Result<Option<File>, Problem> {
    let unreadable = |why: std::io::Error| Problem::busy(format!("the output: {why}"));
    let folder = File::open(state).map_err(unreadable)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match rustix::fs::openat2(&folder, path, flags, Mode::empty(), inside) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(why) => return Err(unreadable(why.into())),
    };
    let found = file.metadata().map_err(unreadable)?;
    match found.is_file() && found.uid() == uid {
        true => Ok(Some(file)),
        false => Err(Problem::forbidden("what is there is not the job's output")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(state: &Path, path: &str, uid: u32, range: LogRange) -> Result<Vec<u8>, u16> {
        let place = LogPlace { path: Some(path.to_owned()), uid, running: false };
        let read = read_log(state, &place, range).map(|part| part.bytes);
        read.map_err(|why| axum::response::IntoResponse::into_response(why).status().as_u16())
    }

    #[test]
    fn parts_are_read_and_nothing_else_than_the_jobs_file() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        std::fs::create_dir(&state).unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::fs::write(state.join("a.log"), "0123456789").unwrap();
        std::os::unix::fs::symlink("../secret", state.join("link.log")).unwrap();
        std::os::unix::fs::symlink(".", state.join("around")).unwrap();
        let uid = std::fs::metadata(&state).unwrap().uid();
        let range = |offset, limit, tail| LogRange { offset, limit, tail };
        let read = |path: &str, uid, range| part(&state, path, uid, range);
        let all = range(None, None, None);
        assert_eq!(read("a.log", uid, all).unwrap(), b"0123456789");
        assert_eq!(read("a.log", uid, range(Some(3), Some(4), None)).unwrap(), b"3456");
        assert_eq!(read("a.log", uid, range(Some(99), None, None)).unwrap(), b"");
        assert_eq!(read("a.log", uid, range(None, None, Some(2))).unwrap(), b"89");
        assert_eq!(read("a.log", uid, range(Some(1), None, Some(2))), Err(400));
        assert_eq!(read("not-there.log", uid, all).unwrap(), b"");
        assert_eq!(read("a.log", uid + 1, all), Err(403), "a file of another");
        for path in ["link.log", "../secret", "around/a.log", "/etc/passwd"] {
            assert_eq!(read(path, uid, all), Err(503), "{path}");
        }
        assert_eq!(read(".", uid, all), Err(403), "a folder");
    }
}
