//! Processes whose supervisor was killed. The first process of a task dies with its supervisor (a
//! parent-death signal); those that it started are found by what they began with in their
//! environment, and killed.
//!
//! A process that has wiped its environment and left its parents is not found: only a control group
//! could. Cost: one look at each process of the machine for each round.

use std::fs;
use std::os::fd::AsFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::Ticket;

/// Rounds in which new ones may appear; each kills all that are there.
const ROUNDS: usize = 100;

/// Kills every process that began with this cookie; how many there were. Those that cannot be
/// killed are left.
pub fn kill_leftovers(cookie: &str) -> usize {
    let wanted = format!("{}={cookie}", Ticket::COOKIE);
    let mut killed = 0;
    for _ in 0..ROUNDS {
        let hit = processes().filter(|&pid| kill_if(pid, wanted.as_bytes())).count();
        if hit == 0 {
            break;
        }
        killed += hit;
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    killed
}

fn processes() -> impl Iterator<Item = Pid> {
    let own = rustix::process::getpid();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(move |entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Pid::from_raw(number).filter(|&pid| pid != own)
    })
}

/// Kills the process if it began so. It is taken hold of first: should it die meanwhile, no other
/// of the same number is meant.
fn kill_if(pid: Pid, wanted: &[u8]) -> bool {
    if !began_with(pid, wanted) {
        return false;
    }
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    began_with(pid, wanted) && pidfd_send_signal(handle.as_fd(), Signal::KILL).is_ok()
}

/// A process that has died and waits for its parent has no environment.
fn began_with(pid: Pid, wanted: &[u8]) -> bool {
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let Ok(environ) = fs::read(path) else { return false };
    environ.split(|&byte| byte == 0).any(|variable| variable == wanted)
}
