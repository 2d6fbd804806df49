//! The supervisor's side of a session ([`crate::session`]): whose task it is talks to it through a
//! socket beside its output.
//!
//! | what | how |
//! |---|---|
//! | who may come | the task's user and root, as the system says of the socket's other end |
//! | the owner | the client with which the task ends. Output waits until the owner has come, so nothing of it is missed; who does not come within [`PATIENCE_US`] has gone |
//! | others | see the output from then on, and type as well (`meed attach`). Who does not read is left |
//! | slow owners | output waits for them, and so does the task, as at a terminal |

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::output_pipe;
use crate::clock::boot_us;
use crate::run::{Ticket, TicketSession};
use crate::session::{Frame, Frames, MAX_CONTENT};

/// How long the owner may take to come.
pub(super) const PATIENCE_US: u64 = 30_000_000;
/// Clients at once.
const MOST_CLIENTS: usize = 16;
/// Output that waits for the owner; above that the task waits.
const MOST_WAITING: usize = 1 << 20;
/// Output that waits for another client; above that the client is left.
const MOST_FOR_OTHERS: usize = 4 << 20;
/// Input that waits for the task; above that nothing more is read.
const MOST_INPUT: usize = 1 << 16;
/// How long the last words may take.
const LAST_US: u64 = 2_000_000;

/// Signals that a client may have sent: 1 HUP, 2 INT, 3 QUIT, 10 USR1, 12 USR2, 15 TERM.
const SIGNALS: [u8; 6] = [1, 2, 3, 10, 12, 15];

/// The ends that the task gets.
pub(super) struct TaskEnds {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) errors: OwnedFd,
}

/// The ends that are read here.
pub(super) struct OurEnds {
    pub(super) output: File,
    /// `None`: both come by the terminal.
    pub(super) errors: Option<File>,
}

struct Client {
    stream: UnixStream,
    is_owner: bool,
    said: Frames,
    /// What it has not taken yet.
    waiting: Vec<u8>,
}

/// See the module.
pub(super) struct Session {
    listener: UnixListener,
    path: PathBuf,
    /// Whose task it is; `None`: the server's own user's.
    uid: Option<u32>,
    terminal: Option<OwnedFd>,
    /// Where input goes, until it ends.
    input: Option<File>,
    to_input: Vec<u8>,
    input_ends: bool,
    clients: Vec<Client>,
    /// Until when the owner is waited for; `None`: the owner has come.
    awaited_until: Option<u64>,
    has_gone: bool,
    signals: Vec<u8>,
}

impl Session {
    /// Opens the socket, and makes the ends.
    pub(super) fn open(
        wish: &TicketSession,
        ticket: &Ticket,
    ) -> io::Result<(Session, TaskEnds, OurEnds)> {
        let path = wish.socket.as_path().to_owned();
        let listener = listen(&path, ticket)?;
        let (terminal, input, theirs, ours) = match wish.wish.terminal {
            true => {
                let (terminal, theirs) = terminal(wish, ticket)?;
                let (input, output) = (terminal.try_clone()?, File::from(terminal.try_clone()?));
                (Some(terminal), input, theirs, OurEnds { output, errors: None })
            }
            false => {
                let (reader, input) = io::pipe()?;
                let (output, to_output) = output_pipe(ticket)?;
                let (errors, to_errors) = output_pipe(ticket)?;
                let theirs = TaskEnds {
                    input: reader.into(),
                    output: to_output.into(),
                    errors: to_errors.into(),
                };
                let ours = OurEnds { output: file(output), errors: Some(file(errors)) };
                (None, OwnedFd::from(input), theirs, ours)
            }
        };
        fcntl_setfl(&input, fcntl_getfl(&input)? | OFlags::NONBLOCK)?;
        let session = Session {
            listener,
            path,
            uid: ticket.account.as_ref().map(|account| account.uid),
            terminal,
            input: Some(File::from(input)),
            to_input: Vec::new(),
            input_ends: false,
            clients: Vec::new(),
            awaited_until: Some(boot_us().saturating_add(PATIENCE_US)),
            has_gone: false,
            signals: Vec::new(),
        };
        Ok((session, theirs, ours))
    }

    /// Whether output is to be read now: the owner is there and takes it.
    pub(super) fn takes_output(&self) -> bool {
        let waits = |client: &&Client| client.is_owner && client.waiting.len() > MOST_WAITING;
        self.has_gone || (self.awaited_until.is_none() && !self.clients.iter().any(|it| waits(&it)))
    }

    /// What to wait for.
    pub(super) fn ends<'s>(&'s self, ends: &mut Vec<PollFd<'s>>) {
        ends.push(PollFd::new(&self.listener, PollFlags::IN));
        for client in &self.clients {
            let mut flags = PollFlags::RDHUP;
            if self.to_input.len() <= MOST_INPUT {
                flags |= PollFlags::IN;
            }
            if !client.waiting.is_empty() {
                flags |= PollFlags::OUT;
            }
            ends.push(PollFd::new(&client.stream, flags));
        }
        if let Some(input) = self.input.as_ref().filter(|_| !self.to_input.is_empty()) {
            ends.push(PollFd::new(input, PollFlags::OUT));
        }
    }

    /// When something is to be looked at, by the clock of the boot.
    pub(super) fn next_us(&self) -> Option<u64> {
        self.awaited_until.filter(|_| !self.has_gone)
    }

    /// Does what can be done now. Signals that the task is to get.
    pub(super) fn turn(&mut self) -> Vec<u8> {
        self.welcome();
        self.listen_to_all();
        self.give_input();
        self.give_output();
        if self.awaited_until.is_some_and(|until| boot_us() >= until) {
            self.has_gone = true;
        }
        std::mem::take(&mut self.signals)
    }

    /// Whether the task is to end, for its owner has gone.
    pub(super) fn owner_has_gone(&self) -> bool {
        self.has_gone
    }

    /// Passes output on.
    pub(super) fn tell(&mut self, frame: fn(Vec<u8>) -> Frame, bytes: &[u8]) {
        for piece in bytes.chunks(MAX_CONTENT) {
            let bytes = frame(piece.to_vec()).bytes();
            self.clients.iter_mut().for_each(|client| client.waiting.extend_from_slice(&bytes));
        }
        self.clients.retain(|it| it.is_owner || it.waiting.len() <= MOST_FOR_OTHERS);
        self.give_output();
    }

    /// The last words: how it ended, as a shell tells it.
    pub(super) fn close(mut self, status: u8) {
        self.tell(|bytes| Frame::Ended(bytes.first().copied().unwrap_or_default()), &[status]);
        let until = boot_us().saturating_add(LAST_US);
        while self.clients.iter().any(|client| !client.waiting.is_empty()) && boot_us() < until {
            std::thread::sleep(std::time::Duration::from_millis(5));
            self.give_output();
        }
        let _ = std::fs::remove_file(&self.path);
    }

    fn welcome(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            let peer = rustix::net::sockopt::socket_peercred(&stream);
            let own = rustix::process::geteuid().as_raw();
            let may = peer.is_ok_and(|peer| {
                let uid = peer.uid.as_raw();
                uid == 0 || uid == self.uid.unwrap_or(own)
            });
            if may && self.clients.len() < MOST_CLIENTS && stream.set_nonblocking(true).is_ok() {
                let (said, waiting) = (Frames::default(), Vec::new());
                self.clients.push(Client { stream, is_owner: false, said, waiting });
            }
        }
    }

    fn listen_to_all(&mut self) {
        let mut at = 0;
        while at < self.clients.len() {
            match self.listen_to(at) {
                true => at += 1,
                false => {
                    let client = self.clients.remove(at);
                    self.has_gone |= client.is_owner;
                }
            }
        }
    }

    /// Whether the client is still there.
    fn listen_to(&mut self, at: usize) -> bool {
        let mut bytes = [0; 1 << 14];
        while self.to_input.len() <= MOST_INPUT {
            match self.clients[at].stream.read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) => {
                    self.clients[at].said.push(&bytes[..count]);
                    if !self.obey(at) {
                        return false;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }

    fn obey(&mut self, at: usize) -> bool {
        loop {
            match self.clients[at].said.next_frame() {
                Ok(None) => return true,
                Ok(Some(Frame::Hello { is_owner })) => {
                    let is_owner = is_owner && self.awaited_until.is_some();
                    self.clients[at].is_owner |= is_owner;
                    if is_owner {
                        self.awaited_until = None;
                    }
                }
                Ok(Some(Frame::Input(bytes))) if !self.input_ends => {
                    self.to_input.extend_from_slice(&bytes);
                }
                Ok(Some(Frame::Input(_))) => {}
                // A terminal's end of input is a character.
                Ok(Some(Frame::InputEnds)) => self.input_ends |= self.terminal.is_none(),
                Ok(Some(Frame::Resize { rows, columns })) => self.resize(rows, columns),
                Ok(Some(Frame::Signal(signal))) => {
                    self.signals.extend(SIGNALS.contains(&signal).then_some(signal));
                }
                Ok(Some(_)) | Err(_) => return false,
            }
        }
    }

    fn resize(&self, rows: u16, columns: u16) {
        if let Some(terminal) = &self.terminal {
            // It keeps its size where the system takes no other.
            let _ = tcsetwinsize(terminal, window(rows, columns));
        }
    }

    fn give_input(&mut self) {
        while let Some(input) = self.input.as_mut().filter(|_| !self.to_input.is_empty()) {
            match input.write(&self.to_input) {
                Ok(count @ 1..) => drop(self.to_input.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Nobody reads any more.
                Ok(0) | Err(_) => {
                    self.input = None;
                    self.to_input.clear();
                }
            }
        }
        if self.input_ends {
            self.input = None;
        }
        if self.input.is_none() {
            self.to_input.clear();
        }
    }

    fn give_output(&mut self) {
        for client in &mut self.clients {
            while !client.waiting.is_empty() {
                match client.stream.write(&client.waiting) {
                    Ok(count @ 1..) => drop(client.waiting.drain(..count)),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // Who has gone is noticed when it is listened to.
                    Ok(0) | Err(_) => break,
                }
            }
        }
    }
}

fn file(end: PipeReader) -> File {
    File::from(OwnedFd::from(end))
}

fn window(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// The folder belongs to the server: nobody else can put something there.
fn listen(path: &Path, ticket: &Ticket) -> io::Result<UnixListener> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("{}: its session: {error}", path.display()))
    };
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(named(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(named)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(named)?;
    if let Some(account) = &ticket.account {
        std::os::unix::fs::chown(path, Some(account.uid), Some(account.gid)).map_err(named)?;
    }
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// A terminal, and the task's ends of it, which are its user's.
fn terminal(wish: &TicketSession, ticket: &Ticket) -> io::Result<(OwnedFd, TaskEnds)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = openpt(flags)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    let end = ioctl_tiocgptpeer(&terminal, flags)?;
    if let Some(account) = &ticket.account {
        std::os::unix::fs::fchown(end.as_fd(), Some(account.uid), None)?;
    }
    tcsetwinsize(&terminal, window(wish.wish.rows, wish.wish.columns))?;
    let input = end.try_clone()?;
    let output = end.try_clone()?;
    Ok((terminal, TaskEnds { input, output, errors: end }))
}

/// The ends of a task that nobody talks to: output and errors go to one pipe.
pub(super) fn plain(ticket: &Ticket) -> io::Result<(TaskEnds, OurEnds)> {
    let (reader, writer): (PipeReader, PipeWriter) = output_pipe(ticket)?;
    let input = File::open("/dev/null")?;
    let errors = writer.try_clone()?.into();
    let theirs = TaskEnds { input: input.into(), output: writer.into(), errors };
    Ok((theirs, OurEnds { output: file(reader), errors: None }))
}
