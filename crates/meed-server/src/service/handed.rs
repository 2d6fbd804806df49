//! The socket that the service manager hands over (sd_listen_fds): it is there before the server
//! is, and stays while that is started again, so clients wait instead of being refused.
//!
//! The manager leaves it as file 3 and says so by `LISTEN_PID` and `LISTEN_FDS`. It is taken by a
//! handle of this very process, and file 3 is closed: what this process starts must not have it.

use std::io;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use super::ServeError;

/// The first file that is handed over.
const FIRST: i32 = 3;

/// The socket, where one was handed over.
pub(super) fn socket() -> Result<Option<UnixListener>, ServeError> {
    let number = |name: &str| std::env::var(name).ok()?.parse::<i32>().ok();
    let (Some(process), Some(count)) = (number("LISTEN_PID"), number("LISTEN_FDS")) else {
        return Ok(None);
    };
    if process != getpid().as_raw_nonzero().get() || count == 0 {
        return Ok(None);
    }
    let named = |error| ServeError::File { path: PathBuf::from("the socket handed over"), error };
    if count != 1 {
        let why = format!("LISTEN_FDS is {count}; one socket is served");
        return Err(named(io::Error::other(why)));
    }
    take().map(Some).map_err(named)
}

fn take() -> io::Result<UnixListener> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    let taken = pidfd_getfd(own, FIRST, PidfdGetfdFlags::empty())?;
    nix::unistd::close(FIRST)?;
    // With `Accept=yes` it is a connection, on which nobody could ever be accepted.
    if !rustix::net::sockopt::socket_acceptconn(&taken)? {
        return Err(io::Error::other(
            "it does not listen: say Accept=no in the unit of the socket",
        ));
    }
    let listener = UnixListener::from(taken);
    listener.local_addr()?;
    listener.set_nonblocking(false)?;
    Ok(listener)
}
