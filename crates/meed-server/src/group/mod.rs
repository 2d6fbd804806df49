//! Control groups (version 2) of tasks: what a task starts stays in its group, whatever it does, so
//! all of it can be killed; and the kernel bounds the memory of all of it together.
//!
//! | folder | what |
//! |---|---|
//! | `BASE` | where this process may make groups (`place`) |
//! | `BASE/meed-NAME` | the server's; its name is that of the state folder's journal |
//! | `BASE/meed-NAME/JOB-TASK-ATTEMPT` | an attempt's, called as its folder is |
//!
//! They are plain files of the kernel, so a group outlives the server, and the next one finds it.
//! Where there are none, tasks run without: their processes are found by their parents and by their
//! environment, and memory is counted only.
//!
//! Invariant: a group is removed only when no process is in it: the kernel refuses otherwise.

mod one;
mod place;

use std::io;
use std::path::{Path, PathBuf};

pub use one::ControlGroup;
use place::{Found, enable_memory};

/// Control groups (version 2) of tasks: what a task starts stays in its group, and the kernel
/// bounds the memory of the group. Without groups it says why.
#[derive(PartialEq, Eq, Debug)]
pub struct Groups {
    /// The server's folder; `None`: there are no groups.
    folder: Option<PathBuf>,
    /// Why memory is not enforced, or there are no groups.
    lacks: Option<String>,
}

impl Groups {
    /// Groups for the server of that name, where this process may make them.
    pub fn find(name: &str) -> Groups {
        let made = place::find().and_then(|found| Groups::make(&found, name));
        made.unwrap_or_else(Groups::none)
    }

    /// No groups, for that reason.
    pub fn none(why: impl Into<String>) -> Groups {
        Groups { folder: None, lacks: Some(why.into()) }
    }

    fn make(found: &Found, name: &str) -> Result<Groups, String> {
        let folder = found.base.join(format!("meed-{name}"));
        // From the base down: a controller reaches a group only through those above it.
        let memory = enable_memory(&found.base);
        let made = std::fs::create_dir(&folder).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(format!("{}: {error}", folder.display())),
        });
        made?;
        let memory = memory.and_then(|()| enable_memory(&folder));
        Ok(Groups { folder: Some(folder), lacks: memory.err() })
    }

    /// Whether the kernel bounds the memory of tasks.
    pub fn bounds_memory(&self) -> bool {
        self.lacks.is_none()
    }

    /// For the operator, when the server starts.
    pub fn remark(&self) -> String {
        let counted = "memory is counted and not enforced (but see --bound-address-space)";
        match (&self.folder, &self.lacks) {
            (Some(folder), None) => {
                format!("control groups at {}: memory is enforced", folder.display())
            }
            (Some(folder), Some(why)) => {
                format!("control groups at {}, but {why}: {counted}", folder.display())
            }
            (None, why) => {
                let why = why.as_deref().unwrap_or("none were looked for");
                format!("no control groups ({why}): {counted}")
            }
        }
    }

    /// The group of the attempt whose folder is called so.
    pub fn of(&self, run: &Path) -> Option<ControlGroup> {
        Some(ControlGroup::at(self.folder.as_ref()?.join(run.file_name()?)))
    }

    /// Kills and removes groups of attempts that are not among `known`: of servers before this one.
    /// How many there were.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn sweep(&self, known: impl Fn(&str) -> bool) -> io::Result<usize> {
        let Some(folder) = &self.folder else { return Ok(0) };
        let mut swept = 0;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_known = name.to_str().is_some_and(&known);
            if entry.file_type()?.is_dir() && !is_known {
                let group = ControlGroup::at(entry.path());
                group.kill();
                group.remove()?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

impl Drop for Groups {
    /// The server's own group goes where nothing is left in it.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
