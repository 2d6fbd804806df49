//! This end of a session: the keys that are typed, and what the task says ([`crate::session`]).

use std::io::{ErrorKind, IsTerminal, Read, Write, stderr, stdin, stdout};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use meed_cli::exit::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use crate::session::{Frame, Frames};

/// The key that leaves a session: Ctrl-], as of telnet.
const LEAVES: u8 = 0x1d;
/// A terminal's end of input.
const END_OF_INPUT: u8 = 4;

/// How a session is held.
pub(super) struct Talk {
    /// The task ends with it.
    pub(super) is_owner: bool,
    /// The task has a terminal.
    pub(super) has_terminal: bool,
    /// A key leaves it, and the task goes on.
    pub(super) can_leave: bool,
}

/// How a session came to its end.
pub(super) enum Told {
    /// The task has ended so.
    Ended(u8),
    /// Somebody here has left it.
    Left,
    /// The other end is gone.
    Lost,
}

/// Lines and columns of this terminal.
pub(super) fn window() -> Option<(u16, u16)> {
    let (columns, rows) = crossterm::terminal::size().ok()?;
    stdout().is_terminal().then_some((rows, columns))
}

/// The terminal while each key goes to the task.
struct Raw;

impl Raw {
    fn take() -> std::io::Result<Raw> {
        enable_raw_mode()?;
        Ok(Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = disable_raw_mode();
    }
}

/// Says frames, from several threads.
#[derive(Clone)]
struct Mouth(Arc<Mutex<UnixStream>>);

impl Mouth {
    /// Whether the other end takes them.
    fn say(&self, frame: &Frame) -> bool {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(&frame.bytes()).is_ok()
    }

    /// The session is over here.
    fn shut(&self) {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = stream.shutdown(Shutdown::Both);
    }
}

impl Talk {
    /// Talks until one of both ends.
    pub(super) fn over(self, stream: UnixStream) -> Result<Told, Failure> {
        let failed = |what: &str, why: std::io::Error| Failure::File(format!("{what}: {why}"));
        let ears = stream.try_clone().map_err(|why| failed("the session", why))?;
        let mouth = Mouth(Arc::new(Mutex::new(stream)));
        mouth.say(&Frame::Hello { is_owner: self.is_owner });
        let is_raw = self.has_terminal && stdin().is_terminal();
        let raw = is_raw.then(Raw::take).transpose();
        let _raw = raw.map_err(|why| failed("the terminal", why))?;
        if self.has_terminal
            && let Some((rows, columns)) = window()
        {
            mouth.say(&Frame::Resize { rows, columns });
        }
        let left = Arc::new(Mutex::new(false));
        self.signals(&mouth, &left).map_err(|why| failed("signals", why))?;
        self.keys(&mouth, &left);
        let told = hear(ears)?;
        let has_left = *left.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(if has_left && !matches!(told, Told::Ended(_)) { Told::Left } else { told })
    }

    /// What is typed goes to the task.
    fn keys(&self, mouth: &Mouth, left: &Arc<Mutex<bool>>) {
        let (mouth, left) = (mouth.clone(), left.clone());
        let (has_terminal, can_leave) = (self.has_terminal, self.can_leave);
        let leaves = can_leave && has_terminal && stdin().is_terminal();
        // It ends with the process: nobody can be kept from typing.
        std::thread::spawn(move || {
            let (mut keys, mut bytes) = (stdin().lock(), [0; 1 << 14]);
            loop {
                match keys.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) if leaves && bytes[..count].contains(&LEAVES) => {
                        *left.lock().unwrap_or_else(PoisonError::into_inner) = true;
                        return mouth.shut();
                    }
                    Ok(count) => {
                        if !mouth.say(&Frame::Input(bytes[..count].to_vec())) {
                            return;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Who only looks on ends nobody's input.
            if !can_leave {
                let last = Frame::Input(vec![END_OF_INPUT]);
                mouth.say(if has_terminal { &last } else { &Frame::InputEnds });
            }
        });
    }

    /// Signals: a window's size is told; others reach the task where it has no terminal to type
    /// them at, and the second one in vain ends the session.
    fn signals(&self, mouth: &Mouth, left: &Arc<Mutex<bool>>) -> std::io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH])?;
        let (mouth, left) = (mouth.clone(), left.clone());
        let passes = !self.has_terminal && self.is_owner;
        std::thread::spawn(move || {
            let mut told = 0;
            for signal in &mut signals {
                match signal {
                    SIGWINCH => {
                        if let Some((rows, columns)) = window() {
                            mouth.say(&Frame::Resize { rows, columns });
                        }
                    }
                    SIGINT | SIGTERM | SIGQUIT if passes && told == 0 => {
                        told += 1;
                        mouth.say(&Frame::Signal(u8::try_from(signal).unwrap_or_default()));
                    }
                    _ => {
                        *left.lock().unwrap_or_else(PoisonError::into_inner) = true;
                        mouth.shut();
                    }
                }
            }
        });
        Ok(())
    }
}

/// What the task says, until it ends.
fn hear(mut ears: UnixStream) -> Result<Told, Failure> {
    let (mut frames, mut bytes) = (Frames::default(), vec![0; 1 << 16]);
    loop {
        match ears.read(&mut bytes) {
            Ok(0) => return Ok(Told::Lost),
            Ok(count) => frames.push(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Ok(Told::Lost),
        }
        loop {
            let frame = frames.next_frame();
            match frame.map_err(|why| Failure::Run(format!("the session: {why}")))? {
                None => break,
                Some(Frame::Output(bytes)) => write(&mut stdout().lock(), &bytes)?,
                Some(Frame::Errors(bytes)) => write(&mut stderr().lock(), &bytes)?,
                Some(Frame::Ended(status)) => return Ok(Told::Ended(status)),
                Some(_) => {}
            }
        }
    }
}

/// As it was written: it is the user's own.
fn write(to: &mut impl Write, bytes: &[u8]) -> Result<(), Failure> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Silent),
        Err(error) => Err(Failure::File(format!("cannot write to standard output: {error}"))),
    }
}
