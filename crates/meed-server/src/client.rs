//! Asking a server.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::protocol::{NotDone, Request, SCHEMA, Told};
use crate::service::{SYSTEM_SOCKET, usual_socket, usual_state};

/// The variable that names the socket.
pub const SOCKET: &str = "MEED_SOCKET";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Nobody answers.
    #[error("no server answers at {}: {error}; {}", path.display(), who_starts_it(path))]
    NoServer {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It went away before it answered.
    #[error("the server went away before it answered")]
    Gone,
    /// The answer is none that this program knows.
    #[error("the server's answer cannot be read: {0}")]
    Answer(String),
    /// It refuses.
    #[error("{}", .0.text)]
    Refused(NotDone),
}

/// What to do where no server answers at a socket. A user of a shared machine is not told to start
/// a server beside the machine's: it would lend the whole machine a second time.
pub(crate) fn who_starts_it(socket: &Path) -> &'static str {
    match socket == Path::new(SYSTEM_SOCKET) && !rustix::process::geteuid().is_root() {
        true => "it is the server of this machine: ask who runs the machine to start it",
        false => "start one with `meed serve`",
    }
}

/// A connection to a server.
pub struct Client {
    stream: BufReader<UnixStream>,
    path: PathBuf,
    is_own: bool,
}

impl Client {
    /// To the socket `given`, or that of the environment, or this user's server, or the machine's.
    ///
    /// # Errors
    ///
    /// Nobody answers.
    pub fn connect(given: Option<&Path>) -> Result<Client, AskError> {
        let named = given.map(Path::to_owned).or_else(|| std::env::var_os(SOCKET).map(Into::into));
        let is_named = named.is_some();
        let places = match named {
            Some(path) => vec![path],
            None => vec![usual_socket(&usual_state()), PathBuf::from(SYSTEM_SOCKET)],
        };
        let mut failed = None;
        for path in places {
            match UnixStream::connect(&path) {
                Ok(stream) => {
                    let is_own = !is_named && path != Path::new(SYSTEM_SOCKET);
                    return Ok(Client { stream: BufReader::new(stream), path, is_own });
                }
                // The machine's server is named rather than the user's own, unless that is there
                // and lets nobody in.
                Err(error) => match &failed {
                    Some(AskError::NoServer { error, .. })
                        if error.kind() == ErrorKind::PermissionDenied => {}
                    _ => failed = Some(AskError::NoServer { path, error }),
                },
            }
        }
        Err(failed.unwrap_or(AskError::Gone))
    }

    /// Whether it is a server of this user alone, found where nobody named one.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// The socket at which it answers.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on no answer is waited for longer than that.
    pub fn set_patience(&mut self, patience: Duration) {
        // Where it cannot be set it is waited for as before.
        let _ = self.stream.get_ref().set_read_timeout(Some(patience));
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// The server refuses, or goes away.
    pub fn ask(&mut self, request: &Request) -> Result<Value, AskError> {
        self.ask_for(request)
    }

    /// The same, as what it is to be.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub fn ask_for<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, AskError> {
        let wrong = |why: serde_json::Error| AskError::Answer(why.to_string());
        let mut line = serde_json::to_vec(request).map_err(wrong)?;
        line.push(b'\n');
        // A server that refuses a request may not read all of it.
        let written = self.stream.get_mut().write_all(&line);
        let mut answer = Vec::new();
        match self.stream.read_until(b'\n', &mut answer) {
            Ok(0) | Err(_) => return Err(AskError::Gone),
            Ok(_) => {}
        }
        let told: Told<T> = serde_json::from_slice(&answer).map_err(wrong)?;
        if told.schema != SCHEMA {
            let (theirs, ours) = (told.schema, SCHEMA);
            return Err(AskError::Answer(format!("it is of schema {theirs}, not {ours}")));
        }
        match (told.ok, told.error) {
            (_, Some(refusal)) => Err(AskError::Refused(refusal)),
            (Some(value), None) if written.is_ok() => Ok(value),
            (Some(_), None) => Err(AskError::Gone),
            (None, None) => Err(AskError::Answer("it says neither what nor why not".to_owned())),
        }
    }
}
