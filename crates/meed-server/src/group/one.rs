//! The group of one attempt.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Rounds in which what was killed may go; the kernel needs a moment for each process.
const ROUNDS: u32 = 500;
/// Between two rounds.
const PAUSE: Duration = Duration::from_millis(2);

/// The bound of what is swapped out.
const SWAP: &str = "memory.swap.max";
/// The kernel counts time of processors by so many microseconds (`cpu.max`).
const PERIOD_US: u64 = 100_000;
/// The least of it that can be given.
const LEAST_US: u64 = 1000;

/// What the kernel is to bound for all processes of a group together; what is not named is not
/// bounded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// Memory, in bytes: what is above is killed as a whole. Nothing of it is swapped out, for swap
    /// is nobody's share.
    pub memory: Option<u64>,
    /// Its part where processors are short, in thousandths of one.
    pub part_milli: Option<u64>,
    /// The most time of processors, in thousandths of one.
    pub most_milli: Option<u64>,
    /// The processors that it may run on; empty: all.
    pub processors: Vec<u32>,
    /// Processes and threads.
    pub processes: Option<u64>,
}

impl Bounds {
    /// Files of the group, and what is written into each.
    fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = Vec::new();
        if let Some(bytes) = self.memory {
            files.push(("memory.max", bytes.to_string()));
            files.push(("memory.oom.group", "1".to_owned()));
            files.push((SWAP, "0".to_owned()));
        }
        if let Some(milli) = self.part_milli {
            // 100 is the weight of who says nothing; the kernel has 1 to 10000.
            files.push(("cpu.weight", (milli / 10).clamp(1, 10_000).to_string()));
        }
        if let Some(milli) = self.most_milli {
            let micros = milli.saturating_mul(PERIOD_US / 1000).max(LEAST_US);
            files.push(("cpu.max", format!("{micros} {PERIOD_US}")));
        }
        if !self.processors.is_empty() {
            let numbers: Vec<String> = self.processors.iter().map(u32::to_string).collect();
            files.push(("cpuset.cpus", numbers.join(",")));
        }
        if let Some(most) = self.processes {
            files.push(("pids.max", most.to_string()));
        }
        files
    }
}

/// The control group of one attempt of a task: a folder of `cgroup` version 2.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// The group of that folder.
    pub fn at(path: impl Into<PathBuf>) -> ControlGroup {
        ControlGroup { path: path.into() }
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, with what bounds it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn make(&self, bounds: &Bounds) -> io::Result<()> {
        fs::create_dir(&self.path).or_else(|error| match error.kind() {
            // Made before a crash.
            ErrorKind::AlreadyExists => Ok(()),
            _ => Err(named(&self.path, error)),
        })?;
        for (file, text) in bounds.files() {
            match self.write(file, &text) {
                // The kernel may have been built without.
                Err(error) if error.kind() == ErrorKind::NotFound && file == SWAP => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// This process enters it, and all that it starts from then on.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn enter(&self) -> io::Result<()> {
        self.write("cgroup.procs", "0")
    }

    /// Whether no process is in it, or it is gone.
    pub fn is_empty(&self) -> bool {
        match fs::read_to_string(self.path.join("cgroup.events")) {
            Ok(events) => value_of(&events, "populated") != Some(1),
            Err(_) => true,
        }
    }

    /// Kills all of it, whoever forks meanwhile.
    pub fn kill(&self) {
        for _ in 0..ROUNDS {
            if self.is_empty() {
                return;
            }
            self.kill_once();
            std::thread::sleep(PAUSE);
        }
    }

    /// Kills all that are in it now, without waiting for their ends.
    pub fn kill_once(&self) {
        if self.write("cgroup.kill", "1").is_ok() {
            return;
        }
        // Before Linux 5.14: one by one.
        let numbers = fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        for pid in numbers.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// How often it was out of memory, and something of it was killed for that.
    pub fn out_of_memory(&self) -> u64 {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        value_of(&events, "oom_kill").unwrap_or(0)
    }

    /// The most memory that all of it has used together, where the kernel knows.
    pub fn peak_bytes(&self) -> Option<u64> {
        fs::read_to_string(self.path.join("memory.peak")).ok()?.trim().parse().ok()
    }

    /// Removes it; that it is gone is as well.
    ///
    /// # Errors
    ///
    /// The system's: somebody is in it.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(named(&self.path, error)),
            Ok(()) => Ok(()),
        }
    }

    /// A file of the kernel is there or not; it is not made.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path.join(name);
        let mut file =
            fs::OpenOptions::new().write(true).open(&path).map_err(|why| named(&path, why))?;
        io::Write::write_all(&mut file, text.as_bytes()).map_err(|why| named(&path, why))
    }
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The number behind that word, in lines of a word and a number.
fn value_of(lines: &str, word: &str) -> Option<u64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_by_their_whole_word() {
        let events = "low 0\nhigh 2\nmax 9\noom 3\noom_kill 1\noom_group_kill 1\n";
        assert_eq!(value_of(events, "oom"), Some(3));
        assert_eq!(value_of(events, "oom_kill"), Some(1));
        assert_eq!(value_of(events, "oom_k"), None);
    }

    #[test]
    fn bounds_are_written_into_files_of_the_kernel_only() {
        let base = tempfile::tempdir().unwrap();
        let group = ControlGroup::at(base.path().join("1-0-0"));
        group.make(&Bounds::default()).unwrap();
        let bounds = Bounds {
            memory: Some(1 << 20),
            part_milli: Some(2500),
            most_milli: Some(2500),
            processors: vec![1, 3],
            processes: Some(99),
        };
        let why = group.make(&bounds).unwrap_err().to_string();
        assert!(why.contains("1-0-0/memory.max"), "{why}");
        let wanted = [
            ("memory.max", "1048576"),
            ("memory.oom.group", "1"),
            ("cpu.weight", "250"),
            ("cpu.max", "250000 100000"),
            ("cpuset.cpus", "1,3"),
            ("pids.max", "99"),
        ];
        wanted.iter().for_each(|(name, _)| fs::write(group.path().join(name), "").unwrap());
        group.make(&bounds).unwrap();
        for (name, text) in wanted {
            assert_eq!(fs::read_to_string(group.path().join(name)).unwrap(), text, "{name}");
        }
        assert!(group.is_empty() && group.out_of_memory() == 0 && group.peak_bytes().is_none());
    }

    #[test]
    fn who_asks_for_little_gets_the_least_that_the_kernel_has() {
        let bounds = Bounds { part_milli: Some(1), most_milli: Some(1), ..Bounds::default() };
        let files = bounds.files();
        let wanted = [("cpu.weight", "1".to_owned()), ("cpu.max", "1000 100000".to_owned())];
        assert_eq!(files, wanted);
    }
}
