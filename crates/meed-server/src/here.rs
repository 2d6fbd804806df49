//! What a job takes from where it is submitted: environment, folder, umask, limits.

use std::io;

use crate::spec::{Submission, SystemLimit, TaskRange};
use crate::supervise::begin::LIMITS;
use crate::text::Bytes;

/// A job of `command` as it would run here and now.
///
/// # Errors
///
/// The system's: a folder that is gone.
pub fn job(command: Vec<Bytes>) -> io::Result<Submission> {
    let env = std::env::vars_os().map(|(key, value)| (key.into(), value.into())).collect();
    // Reading it is changing it; this process has not begun anything else yet.
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    rustix::process::umask(umask);
    Ok(Submission {
        name: None,
        shown: None,
        queue: None,
        command,
        env,
        folder: std::env::current_dir()?.into(),
        umask: umask.as_raw_mode() & 0o777,
        limits: limits(),
        demand: Default::default(),
        tasks: TaskRange::default(),
        time_ms: None,
        grace_ms: None,
        after: Vec::new(),
        gang: false,
        retries: 0,
        hold: false,
        stdout: None,
        stderr: None,
        bound_address_space: false,
        session: None,
    })
}

fn limits() -> Vec<SystemLimit> {
    let limit = |&(name, resource): &(&str, _)| {
        let limit = rustix::process::getrlimit(resource);
        SystemLimit { name: name.to_owned(), soft: limit.current, hard: limit.maximum }
    };
    LIMITS.iter().map(limit).collect()
}
