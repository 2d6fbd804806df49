//! Waits for the ends of supervisors, all of them in one thread, through handles of processes: a
//! number that is used again is never mistaken.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::epoll;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process that is waited for.
#[derive(Clone, Debug)]
pub struct Watched {
    handle: Arc<OwnedFd>,
}

impl Watched {
    /// Asks it to end.
    pub fn ask_to_end(&self) {
        // Who is gone already need not be asked.
        let _ = pidfd_send_signal(self.handle.as_fd(), Signal::TERM);
    }
}

/// By token; with those that are this process's own children.
type Rows = Mutex<BTreeMap<u64, (Watched, Option<Child>)>>;

/// Waits for the ends of supervisors, all of them in one thread, through handles of processes.
pub struct SupervisorWatch {
    epoll: Arc<OwnedFd>,
    all: Arc<Rows>,
}

impl SupervisorWatch {
    /// Calls `gone` with the token of each process that has ended, once.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn start(gone: impl Fn(u64) + Send + 'static) -> io::Result<SupervisorWatch> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let all: Arc<Rows> = Arc::default();
        let (of_thread, rows) = (epoll.clone(), all.clone());
        let watch = move || {
            let mut events = Vec::with_capacity(64);
            loop {
                events.clear();
                let room = rustix::buffer::spare_capacity(&mut events);
                if let Err(error) = epoll::wait(&*of_thread, room, None)
                    && error != rustix::io::Errno::INTR
                {
                    return;
                }
                for event in &events {
                    let token = event.data.u64();
                    let row = rows.lock().unwrap_or_else(PoisonError::into_inner).remove(&token);
                    let Some((watched, child)) = row else { continue };
                    let _ = epoll::delete(&*of_thread, &*watched.handle);
                    if let Some(mut child) = child {
                        let _ = child.wait();
                    }
                    gone(token);
                }
            }
        };
        std::thread::Builder::new().name("watch".to_owned()).spawn(watch)?;
        Ok(SupervisorWatch { epoll, all })
    }

    /// Waits for a process; `child`: it is this process's own, which must take note of its end.
    ///
    /// # Errors
    ///
    /// The system's: there is no such process.
    pub fn add(&self, token: u64, number: i32, child: Option<Child>) -> io::Result<Watched> {
        let none = || io::Error::from(io::ErrorKind::NotFound);
        let pid = Pid::from_raw(number).ok_or_else(none)?;
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        let watched = Watched { handle: Arc::new(handle) };
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(token, (watched.clone(), child));
        drop(all);
        let data = epoll::EventData::new_u64(token);
        epoll::add(&*self.epoll, &*watched.handle, data, epoll::EventFlags::IN)?;
        Ok(watched)
    }
}
