//! What one server alone has: its state folder and its socket.
//!
//! Both go with the process that has them, so a server that was killed leaves nothing to clear
//! away by hand. But a child that it was just starting holds them until the child runs its own
//! program, some milliseconds later: whoever finds them taken looks again for [`PATIENCE`] before
//! it believes in another server.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::ServeError;
use crate::world::WorldError;

/// How long what is taken may still be what a killed server has left.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(5);

/// The state folder, made where it is not there, for as long as the file lives.
pub(super) fn lock(state: &Path) -> Result<File, ServeError> {
    let named = |error| ServeError::File { path: state.to_owned(), error };
    let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    is_not(state, |found| !found.is_dir(), ("is no folder", "a folder, or nothing there"))?;
    DirBuilder::new().recursive(true).mode(mode).create(state).map_err(named)?;
    let lock = state.join("lock");
    is_not(&lock, |found| !found.is_file(), ("is no file", "an empty file, or nothing there"))?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(lock).map_err(named)?;
    let taken = || match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(named(error.into())),
    };
    if stays(taken)? {
        return Err(ServeError::InUse(state.to_owned()));
    }
    Ok(file)
}

/// What is there is damaged if it is of the wrong kind.
fn is_not(
    path: &Path,
    wrong: impl Fn(&Metadata) -> bool,
    (found, right): (&str, &str),
) -> Result<(), ServeError> {
    match std::fs::metadata(path) {
        Ok(there) if wrong(&there) => {
            Err(WorldError::damaged(path.to_owned(), found.to_owned(), right.to_owned()).into())
        }
        _ => Ok(()),
    }
}

/// The socket: open to all where the server is root's, for it asks the system who comes; else to
/// its own user. What a killed server has left there is removed.
pub(super) fn listen(path: &Path) -> Result<UnixListener, ServeError> {
    let named = |error| ServeError::File { path: path.to_owned(), error };
    let is_root = rustix::process::geteuid().is_root();
    if let Some(folder) = path.parent() {
        let mode = if is_root { 0o755 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(folder).map_err(named)?;
    }
    if stays(|| Ok(UnixStream::connect(path).is_ok()))? {
        return Err(ServeError::SocketInUse(path.to_owned()));
    }
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => {
            std::fs::remove_file(path).map_err(named)?;
        }
        Ok(_) => return Err(named(io::Error::other("is there, and no socket"))),
        Err(_) => {}
    }
    let listener = UnixListener::bind(path).map_err(named)?;
    let mode = if is_root { 0o666 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(named)?;
    Ok(listener)
}

/// Whether it is taken, and stays so.
fn stays(taken: impl Fn() -> Result<bool, ServeError>) -> Result<bool, ServeError> {
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        if !taken()? {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
    taken()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_of_the_wrong_kind_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let told = |state: &Path| match lock(state) {
            Err(ServeError::World(WorldError::Damaged { found, .. })) => found,
            other => panic!("{other:?}"),
        };
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(told(&folder.path().join("file")), "is no folder");
        std::fs::create_dir(folder.path().join("lock")).unwrap();
        assert_eq!(told(folder.path()), "is no file");
    }

    #[test]
    fn what_a_killed_server_leaves_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("meed.sock");
        let left = (lock(folder.path()).unwrap(), listen(&socket).unwrap());
        let goes = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(left);
        });
        let held = lock(folder.path()).unwrap();
        let listener = listen(&socket).unwrap();
        goes.join().unwrap();
        // Who lives is not waited for without end, and nothing of theirs is taken.
        assert!(matches!(lock(folder.path()), Err(ServeError::InUse(_))));
        assert!(matches!(listen(&socket), Err(ServeError::SocketInUse(_))));
        assert!(UnixStream::connect(&socket).is_ok());
        drop((held, listener));
    }
}
