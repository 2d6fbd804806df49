//! A process that ends when it is dropped, so that an early error of a story leaves none behind.

use std::process::{Child, Command};
use std::time::Duration;

use crate::tools::until;

/// See the module.
pub(super) struct Daemon {
    name: String,
    child: Child,
}

/// So long a daemon may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(10);

impl Daemon {
    /// Starts it.
    pub(super) fn start(name: &str, command: &mut Command) -> Result<Daemon, String> {
        let child = command.spawn().map_err(|why| format!("{name}: {why}"))?;
        Ok(Daemon { name: name.to_owned(), child })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Its number.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it ends by itself.
    pub(super) fn wait(&mut self) -> Result<(), String> {
        self.child.wait().map(drop).map_err(|why| format!("{}: {why}", self.name))
    }

    /// Ends it without notice: kill -9.
    pub(super) fn kill(&mut self) -> Result<(), String> {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(drop).map_err(|why| format!("{}: {why}", self.name))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let _ = Command::new("kill").arg(self.id().to_string()).status();
        let step = Duration::from_millis(50);
        if until(PATIENCE, step, || self.child.try_wait().ok().flatten()).is_none() {
            let _ = self.kill();
        }
    }
}
