//! Supervisors that live, as the system knows them, beside what the folders of their tasks say.
//!
//! A folder that was damaged, or is gone, could be taken for that of a task that never began, or
//! whose supervisor was killed: the task would be begun a second time, or killed. So each living
//! supervisor must be the one that its folder names, and each claim that is held must be a living
//! supervisor's. It is looked at before anything is told.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Places, WorldError};
use crate::run::{FolderState, TaskFolder};
use crate::supervise;

/// How long a supervisor that has just begun, or just ended, may take until its folder says so.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(10);

/// Refuses folders that do not name the supervisors that live.
pub(super) fn check(places: &Places) -> Result<(), WorldError> {
    let runs = places.runs();
    let mut wrong = None;
    for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
        wrong = first_wrong(&runs)?;
        if wrong.is_none() {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    wrong.map_or(Ok(()), Err)
}

fn first_wrong(runs: &Path) -> Result<Option<WorldError>, WorldError> {
    let living = living(runs);
    let shown = runs.display().to_string();
    let entries = std::fs::read_dir(runs).map_err(WorldError::system(shown))?;
    let there: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    for path in there.iter().filter(|path| super::recover::is_of_a_task(path)) {
        let process = path.file_name().and_then(|name| living.get(name)).copied();
        if let Some(wrong) = wrong_of(&TaskFolder::at(path), process) {
            return Ok(Some(wrong));
        }
    }
    let is_there = |name: &OsStr| there.iter().any(|path| path.file_name() == Some(name));
    let missing = living.iter().find(|(name, _)| !is_there(name));
    Ok(missing.map(|(name, process)| {
        let found = format!("is gone, but its supervisor lives (process {process})");
        WorldError::damaged(runs.join(name), found, right(*process))
    }))
}

/// What is wrong with the folder of a task whose supervisor is `process`, where it has one.
fn wrong_of(folder: &TaskFolder, process: Option<i32>) -> Option<WorldError> {
    let file = |name: &str| folder.path().join(name);
    let state = match folder.look() {
        Ok(state) => state,
        Err(error) => {
            let right = "the supervisor's last words, as JSON: restore the file, or remove it, and \
                the task counts as lost and waits again";
            let wrong = WorldError::damaged(file("result.json"), error.to_string(), right.into());
            return Some(wrong);
        }
    };
    match (state, process) {
        (FolderState::Runs(named), Some(process)) if named == process => {
            let error = folder.ticket().err()?;
            let found = format!("{error}; it says which processors and GPUs the task holds");
            Some(WorldError::damaged(file("ticket.json"), found, right(process)))
        }
        (FolderState::Runs(named), Some(process)) => {
            let found = format!("names process {named}, and process {process} runs the task");
            Some(WorldError::damaged(file("claim"), found, format!("the number {process}")))
        }
        (FolderState::Runs(named), None) => {
            let found = format!("is held, and names process {named}, which is no supervisor of it");
            let right = "the number of the supervisor that holds it";
            Some(WorldError::damaged(file("claim"), found, right.into()))
        }
        (FolderState::Ended(_), _) | (_, None) => None,
        (_, Some(process)) => {
            let found = format!(
                "the supervisor of the task lives (process {process}) and does not \
                hold its claim"
            );
            Some(WorldError::damaged(file("claim"), found, right(process)))
        }
    }
}

fn right(process: i32) -> String {
    format!(
        "the folder as the supervisor has made it: restore it, or end the task (`kill {process}`), \
         and it counts as lost and waits again"
    )
}

/// Supervisors of tasks below `runs`, by the names of their folders.
fn living(runs: &Path) -> BTreeMap<std::ffi::OsString, i32> {
    let runs = runs.canonicalize().unwrap_or_else(|_| runs.to_owned());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let supervisor = |entry: std::fs::DirEntry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0).skip(1);
        if words.next()? != supervise::COMMAND.as_bytes() {
            return None;
        }
        let folder = Path::new(OsStr::from_bytes(words.next()?)).to_owned();
        let below = folder.parent()?.canonicalize().ok()?;
        (below == runs).then(|| Some((folder.file_name()?.to_owned(), number)))?
    };
    processes.filter_map(supervisor).collect()
}
