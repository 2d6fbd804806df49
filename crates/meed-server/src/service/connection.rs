//! Connections: who comes, how much they may ask, and for how long.
//!
//! A request is one line. It must be whole within [`REQUEST_TIME`], and has at most
//! [`MAX_REQUEST`] bytes; so a slow or large one holds one thread for a bounded time, and each user
//! has a bounded number of them.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Message;
use crate::clock::boot_us;
use crate::protocol::{Answer, AnswerBody, JobQuery, MAX_REQUEST, NotDone, RefusalKind, Request};
use crate::user::LocalUser;
use crate::world::{Ask, TurnEvent};

/// A request is whole within this time; so is the reading of its answer.
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Connections at once, of one user and of all.
const MOST_OF_ONE: usize = 128;
const MOST: usize = 1024;
/// Jobs that hang on one connection.
const MOST_TIED: usize = 100;
/// How often is looked whether who waits is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Connections that there are, by user.
#[derive(Default)]
pub(super) struct Limits {
    open: Mutex<BTreeMap<u32, usize>>,
}

impl Limits {
    fn enter(self: &Arc<Limits>, uid: u32) -> Option<Place> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = open.values().sum();
        let own = open.entry(uid).or_default();
        // One user can never take the last place of all others.
        let is_full = *own >= MOST_OF_ONE || (all >= MOST && uid != 0);
        (!is_full).then(|| {
            *own += 1;
            Place { limits: self.clone(), uid }
        })
    }
}

/// A connection's place; it is given back with it.
struct Place {
    limits: Arc<Limits>,
    uid: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.limits.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.uid) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.uid);
            }
        }
    }
}

/// Takes connections for ever.
pub(super) fn accept(listener: &UnixListener, sender: &SyncSender<Message>, limits: &Arc<Limits>) {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => {
                // Too many open files: some will be closed.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
        };
        let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream) else { continue };
        let (uid, gid) = (peer.uid.as_raw(), peer.gid.as_raw());
        let own = rustix::process::geteuid().as_raw();
        let refusal = match limits.enter(uid) {
            None => NotDone::new(RefusalKind::Limit, "too many connections; close some"),
            Some(_) if own != 0 && uid != own && uid != 0 => {
                NotDone::new(RefusalKind::Forbidden, "this server serves its own user only")
            }
            Some(place) => {
                let sender = sender.clone();
                let serve = move || {
                    let _place = place;
                    // Who goes away in the middle is not told.
                    let _ = Connection { stream, sender, uid, gid }.serve();
                };
                let _ = std::thread::Builder::new().stack_size(512 << 10).spawn(serve);
                continue;
            }
        };
        let _ = stream.set_nonblocking(true);
        let _ = (&stream).write_all(&Answer::of(Err::<(), _>(refusal)).line());
    }
}

struct Connection {
    stream: UnixStream,
    sender: SyncSender<Message>,
    uid: u32,
    gid: u32,
}

impl Connection {
    fn serve(&self) -> io::Result<()> {
        self.stream.set_write_timeout(Some(REQUEST_TIME))?;
        let mut tied = Vec::new();
        let served = self.serve_until_gone(&mut tied);
        // Who has gone wants these no more.
        for job in tied {
            let query = JobQuery { job, from: 0 };
            self.tell(Request::Cancel(query));
        }
        served
    }

    /// `tied`: jobs that are wanted as long as the connection is there.
    fn serve_until_gone(&self, tied: &mut Vec<String>) -> io::Result<()> {
        let mut rest = Vec::new();
        while let Some(request) = self.request(&mut rest, tied.is_empty())? {
            let answer = match request.and_then(|line| read(&line)) {
                Ok(request) => {
                    let ties = matches!(request, Request::Tie(_));
                    match self.ask(request)? {
                        Some(answer) if ties && tied.len() < MOST_TIED => {
                            tied.extend(number_in(&answer));
                            answer
                        }
                        Some(answer) => answer,
                        None => return Ok(()),
                    }
                }
                Err(refusal) => {
                    (&self.stream).write_all(&Answer::of(Err::<(), _>(refusal)).line())?;
                    return Ok(());
                }
            };
            (&self.stream).write_all(&answer.line())?;
        }
        Ok(())
    }

    /// The next line; `rest`: what came behind the one before. `hurries`: it is to come soon.
    fn request(
        &self,
        rest: &mut Vec<u8>,
        hurries: bool,
    ) -> io::Result<Option<Result<Vec<u8>, NotDone>>> {
        if !hurries && rest.is_empty() {
            // A job hangs on it, which may wait and run for days.
            let mut ends = [PollFd::new(&self.stream, PollFlags::IN | PollFlags::RDHUP)];
            while poll(&mut ends, None) == Err(rustix::io::Errno::INTR) {}
        }
        let until = boot_us() + REQUEST_TIME.as_micros() as u64;
        let mut line = std::mem::take(rest);
        let mut looked = 0;
        loop {
            if let Some(end) = line[looked..].iter().position(|&byte| byte == b'\n') {
                *rest = line.split_off(looked + end + 1);
                line.truncate(looked + end);
                return Ok(Some(Ok(line)));
            }
            if line.len() > MAX_REQUEST {
                let why = format!("a request has at most {MAX_REQUEST} bytes");
                return Ok(Some(Err(NotDone::new(RefusalKind::Limit, why))));
            }
            looked = line.len();
            let left = until.saturating_sub(boot_us());
            if left == 0 && line.is_empty() {
                return Ok(None);
            }
            if left == 0 {
                let why = format!("a request must be whole within {} s", REQUEST_TIME.as_secs());
                return Ok(Some(Err(NotDone::new(RefusalKind::Limit, why))));
            }
            self.stream.set_read_timeout(Some(Duration::from_micros(left.max(1000))))?;
            let mut bytes = [0; 1 << 14];
            match (&self.stream).read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(count) => line.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks the world; `None`: the server stops, or who asked has gone.
    fn ask(&self, request: Request) -> io::Result<Option<Answer>> {
        let (reply, answer) = sync_channel(1);
        let user = LocalUser::of(self.uid, self.gid);
        // Who has gone does not hear it.
        let reply = Box::new(move |answer| drop(reply.try_send(answer)));
        let ask = Ask { user, request, reply };
        if self.sender.send(Message::Event(TurnEvent::Ask(Box::new(ask)))).is_err() {
            return Ok(None);
        }
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return Ok(Some(answer)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if self.has_gone()? => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Asks the world, and does not hear the answer.
    fn tell(&self, request: Request) {
        let user = LocalUser::of(self.uid, self.gid);
        let ask = Ask { user, request, reply: Box::new(drop) };
        drop(self.sender.send(Message::Event(TurnEvent::Ask(Box::new(ask)))));
    }

    fn has_gone(&self) -> io::Result<bool> {
        let mut ends = [PollFd::new(&self.stream, PollFlags::RDHUP)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        Ok(poll(&mut ends, Some(&at_once))? > 0)
    }
}

/// The number of the job that an answer shows.
fn number_in(answer: &Answer) -> Option<String> {
    match &answer.what {
        AnswerBody::Ok(job) => Some(job.get("id")?.to_string()),
        _ => None,
    }
}

fn read(line: &[u8]) -> Result<Request, NotDone> {
    let wrong =
        |why: serde_json::Error| NotDone::new(RefusalKind::Malformed, format!("no request: {why}"));
    serde_json::from_slice(line).map_err(wrong)
}
