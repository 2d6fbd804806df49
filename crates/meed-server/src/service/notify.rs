//! What the service manager is told (sd_notify): ready, alive, stopping. Without one, nothing.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// See the module.
#[derive(Debug)]
pub(super) struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
}

impl Notify {
    pub(super) fn from_environment() -> Notify {
        let name = std::env::var_os("NOTIFY_SOCKET").unwrap_or_default();
        let address = match name.as_bytes() {
            [b'@', name @ ..] => SocketAddr::from_abstract_name(name).ok(),
            [b'/', ..] => SocketAddr::from_pathname(&name).ok(),
            _ => None,
        };
        let socket = address.and_then(|address| Some((UnixDatagram::unbound().ok()?, address)));
        Notify { socket }
    }

    pub(super) fn ready(&self) {
        self.tell("READY=1");
    }

    /// Within the time of the watchdog, where there is one.
    pub(super) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    pub(super) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    fn tell(&self, what: &str) {
        if let Some((socket, address)) = &self.socket {
            // A manager that does not listen is not this program's to mend.
            let _ = socket.send_to_addr(what.as_bytes(), address);
        }
    }
}
