//! Control groups (version 2) of tasks: what a task starts stays in its group, whatever it does, so
//! all of it can be killed; and the kernel bounds all of it together: memory, time of processors,
//! processors by number, number of processes, and which GPUs can be opened (`walls`, `filter`).
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

mod device;
mod filter;
mod one;
mod place;
mod walls;

use std::io;
use std::path::{Path, PathBuf};

pub use device::Device;
pub use filter::DeviceFilter;
pub use one::{Bounds, ControlGroup};
use place::{Found, enable};
pub use walls::{Wall, Walls};

/// Why there are no groups where the configuration wants none.
pub const NO_GROUPS: &str = "control_groups = false";
/// Who may set a filter of devices.
const FILTER_RIGHTS: &str = "a filter of devices is set by root";

/// Whether groups can have a filter of devices: one is set, and taken away.
fn can_filter(folder: &Path) -> Result<(), String> {
    let group = ControlGroup::at(folder.join("filter"));
    let set = group.make(&Bounds::default()).and_then(|()| DeviceFilter::attach(group.path(), &[]));
    let removed = set.map(drop).and(group.remove());
    removed.map_err(|why| match rustix::process::geteuid().is_root() {
        true => format!("the kernel takes no filter of devices: {why}"),
        false => FILTER_RIGHTS.to_owned(),
    })
}

/// Control groups (version 2) of tasks: what a task starts stays in its group, and the kernel
/// bounds the group. Without groups it says why.
#[derive(PartialEq, Eq, Debug)]
pub struct Groups {
    /// The server's folder, or why there are no groups.
    folder: Result<PathBuf, String>,
    walls: Walls,
}

impl Groups {
    /// Groups for the server of that name, where this process may make them.
    pub fn find(name: &str) -> Groups {
        let made = place::find().and_then(|found| Groups::make(&found, name));
        made.unwrap_or_else(Groups::none)
    }

    /// The walls that a server of this process would have. Nothing is made.
    pub fn look() -> Walls {
        let found = match place::find() {
            Ok(found) => found,
            Err(why) => return Walls::none(&why),
        };
        Walls::found(|wall| match wall.controller() {
            Some(controller) => enable(&found.base, controller, false),
            // Only a group of one's own says whether it can be had.
            None if rustix::process::geteuid().is_root() => Ok(()),
            None => Err(FILTER_RIGHTS.to_owned()),
        })
    }

    /// No groups, for that reason.
    pub fn none(why: impl Into<String>) -> Groups {
        let why = why.into();
        Groups { walls: Walls::none(&why), folder: Err(why) }
    }

    fn make(found: &Found, name: &str) -> Result<Groups, String> {
        let folder = found.base.join(format!("meed-{name}"));
        let made = std::fs::create_dir(&folder).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(format!("{}: {error}", folder.display())),
        });
        made?;
        let walls = Walls::found(|wall| match wall.controller() {
            // From the base down: a controller reaches a group only through those above it.
            Some(controller) => {
                enable(&found.base, controller, true)?;
                enable(&folder, controller, true)
            }
            None => can_filter(&folder),
        });
        Ok(Groups { folder: Ok(folder), walls })
    }

    /// What the kernel bounds.
    pub fn walls(&self) -> &Walls {
        &self.walls
    }

    /// For the operator, when the server starts. `gpus`: whether tasks are kept from GPUs, where
    /// that can be.
    pub fn remark(&self, gpus: bool) -> String {
        let counted = "memory is counted and not enforced (but see --bound-address-space)";
        match (&self.folder, self.walls.words(gpus), self.walls.why_not(Wall::Memory)) {
            (Ok(folder), Some(words), None) => {
                format!("control groups at {}: {words}", folder.display())
            }
            (Ok(folder), words, why) => {
                let words = words.map(|words| format!("; {words}")).unwrap_or_default();
                let why = why.unwrap_or_default();
                format!("control groups at {}, but {why}: {counted}{words}", folder.display())
            }
            (Err(why), ..) => format!("no control groups ({why}): {counted}"),
        }
    }

    /// The group of the attempt whose folder is called so.
    pub fn of(&self, run: &Path) -> Option<ControlGroup> {
        Some(ControlGroup::at(self.folder.as_ref().ok()?.join(run.file_name()?)))
    }

    /// Kills and removes groups of attempts that are not among `known`: of servers before this one.
    /// How many there were.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn sweep(&self, known: impl Fn(&str) -> bool) -> io::Result<usize> {
        let Ok(folder) = &self.folder else { return Ok(0) };
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
        if let Ok(folder) = &self.folder {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
