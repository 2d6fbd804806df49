//! Reading and writing a task's folder; see the module above.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Began, StopOrder, TaskEnd, Ticket};

/// Most bytes of a file here that are read.
const MAX_BYTES: u64 = 32 << 20;

/// The folder of an attempt of a task: what is to run, and what became of it.
#[derive(Clone, Debug)]
pub struct TaskFolder {
    path: PathBuf,
}

/// What became of an attempt, as its folder tells.
#[derive(Clone, PartialEq, Debug)]
pub enum FolderState {
    /// It has ended.
    Ended(TaskEnd),
    /// Its supervisor lives, and is this process.
    Runs(i32),
    /// Its supervisor was killed: nobody knows how it ended.
    Orphaned,
    /// It was never begun, and its ticket is there.
    Waits,
    /// There is nothing.
    Nothing,
}

impl TaskFolder {
    /// The folder at `path`.
    pub fn at(path: impl Into<PathBuf>) -> TaskFolder {
        TaskFolder { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, with its ticket. One that is there already is left as it is.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn make(&self, ticket: &Ticket) -> io::Result<()> {
        let made = fs::DirBuilder::new().mode(0o700).create(&self.path);
        match made {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        match self.path.join("ticket.json").exists() {
            true => Ok(()),
            false => self.write("ticket.json", ticket, false),
        }
    }

    /// What is to be run.
    ///
    /// # Errors
    ///
    /// The system's; a ticket of another version.
    pub fn ticket(&self) -> io::Result<Ticket> {
        let ticket: Ticket = self.read("ticket.json")?;
        match ticket.version {
            Ticket::VERSION => Ok(ticket),
            other => {
                let (ours, path) = (Ticket::VERSION, self.path.display());
                Err(io::Error::other(format!("{path}: a ticket of version {other}, not {ours}")))
            }
        }
    }

    /// Takes the right to begin, for as long as the file is held; `None`: somebody has it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn claim(&self) -> io::Result<Option<File>> {
        let own = self.path.join(format!("claim.{}", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&own)?;
        write!(file, "{}", std::process::id())?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let linked = fs::hard_link(&own, self.path.join("claim"));
        fs::remove_file(&own)?;
        match linked {
            Ok(()) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sees to it that it never begins; whether that was in time.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn forbid(&self) -> io::Result<bool> {
        Ok(self.claim()?.is_some())
    }

    /// What became of it. A server asks this where nobody else writes but its supervisor.
    ///
    /// # Errors
    ///
    /// The system's; files that are none.
    pub fn look(&self) -> io::Result<FolderState> {
        // In this order: a supervisor leaves its result before it lets go of its claim, and it is
        // durable only then.
        let claim = match File::open(self.path.join("claim")) {
            Ok(mut file) => {
                let mut number = String::new();
                file.read_to_string(&mut number)?;
                Some((file, number.parse().unwrap_or(0)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let is_held = claim
            .as_ref()
            .is_some_and(|(claim, _)| flock(claim, FlockOperation::NonBlockingLockShared).is_err());
        if let (Some((_, supervisor)), true) = (&claim, is_held) {
            return Ok(FolderState::Runs(*supervisor));
        }
        if let Some(ended) = self.ended()? {
            return Ok(FolderState::Ended(ended));
        }
        match claim {
            Some(_) => Ok(FolderState::Orphaned),
            None if self.path.join("ticket.json").exists() => Ok(FolderState::Waits),
            None => Ok(FolderState::Nothing),
        }
    }

    /// Since when it runs.
    ///
    /// # Errors
    ///
    /// The system's; a file that is none.
    pub fn began(&self) -> io::Result<Option<Began>> {
        there(self.read("began.json"))
    }

    /// How it ended.
    ///
    /// # Errors
    ///
    /// The system's; a file that is none.
    pub fn ended(&self) -> io::Result<Option<TaskEnd>> {
        there(self.read("result.json"))
    }

    /// Notes since when it runs: for who asks, so it need not be durable.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn write_began(&self, began: &Began) -> io::Result<()> {
        self.write("began.json", began, false)
    }

    /// Notes that it is to stop for another. It need not be durable: after a crash of the machine
    /// nothing runs that could be stopped.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn write_stop(&self, order: &StopOrder) -> io::Result<()> {
        self.write("stop.json", order, false)
    }

    /// Whether it is to stop for another.
    ///
    /// # Errors
    ///
    /// The system's; a file that is none.
    pub fn stop_order(&self) -> io::Result<Option<StopOrder>> {
        there(self.read("stop.json"))
    }

    /// Leaves how it ended, durably.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn write_ended(&self, ended: &TaskEnd) -> io::Result<()> {
        self.write("result.json", ended, true)
    }

    /// A file for the reason why the command could not begin.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn problem_file(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(self.path.join("problem"))
    }

    /// That reason, where there is one.
    pub fn problem(&self) -> Option<String> {
        let text = fs::read_to_string(self.path.join("problem")).ok()?;
        (!text.is_empty()).then(|| text.chars().take(1000).collect())
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<T> {
        let path = self.path.join(name);
        let mut text = Vec::new();
        File::open(&path)?.take(MAX_BYTES).read_to_end(&mut text)?;
        let wrong = |why| io::Error::other(format!("{}: {why}", path.display()));
        serde_json::from_slice(&text).map_err(wrong)
    }

    /// Under its name it is whole, also after a loss of power (so the file is synced before it gets
    /// it), and durable when this comes back.
    fn write(&self, name: &str, value: &impl Serialize, durably: bool) -> io::Result<()> {
        let beside = self.path.join(format!("{name}.{}", std::process::id()));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        let text = serde_json::to_vec(value).map_err(io::Error::other)?;
        file.write_all(&text)?;
        if durably {
            file.sync_all()?;
        }
        drop(file);
        fs::rename(&beside, self.path.join(name))?;
        if durably {
            File::open(&self.path)?.sync_all()?;
        }
        Ok(())
    }
}

fn there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        Ticket {
            version: Ticket::VERSION,
            cookie: "c".into(),
            command: vec!["true".into()],
            env: Vec::new(),
            folder: "/".into(),
            umask: 0o022,
            limits: Vec::new(),
            account: None,
            log: "log".into(),
            stdout: None,
            stderr: None,
            time_ms: None,
            grace_ms: 0,
            group: None,
            closed: Vec::new(),
            max_output: None,
            session: None,
            processors: Vec::new(),
            gpus: Vec::new(),
        }
    }

    #[test]
    fn one_may_begin_and_its_death_is_seen() {
        let base = tempfile::tempdir().unwrap();
        let folder = TaskFolder::at(base.path().join("1-0-0"));
        assert_eq!(folder.look().unwrap(), FolderState::Nothing);
        folder.make(&ticket()).unwrap();
        folder.make(&ticket()).unwrap();
        assert_eq!(folder.look().unwrap(), FolderState::Waits);
        assert_eq!(folder.ticket().unwrap(), ticket());
        let claim = folder.claim().unwrap().expect("nobody has it");
        assert!(folder.claim().unwrap().is_none(), "there is one for ever");
        assert!(!folder.forbid().unwrap());
        assert_eq!(folder.look().unwrap(), FolderState::Runs(std::process::id() as i32));
        drop(claim);
        assert_eq!(folder.look().unwrap(), FolderState::Orphaned);
        assert!(folder.claim().unwrap().is_none(), "even after a death");
        folder.remove().unwrap();
        assert!(folder.claim().is_err(), "who comes late finds no folder");
    }

    #[test]
    fn what_is_forbidden_in_time_never_begins() {
        let base = tempfile::tempdir().unwrap();
        let folder = TaskFolder::at(base.path().join("1-0-0"));
        folder.make(&ticket()).unwrap();
        assert!(folder.forbid().unwrap());
        assert!(folder.claim().unwrap().is_none());
    }
}
