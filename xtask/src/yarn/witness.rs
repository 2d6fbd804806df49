//! What Hadoop itself noted of containers (`org.meed.yarn.Witness`), and what follows from it: the
//! memory x time that the ledger must hold, and the figure that Hadoop itself must show.
//!
//! > ledger of an application = sum over its containers of mebibytes x (what the first
//! > ResourceManager charged + what the last one charged)
//!
//! > first = from creation to the end that it noted, at the latest to `through`
//!
//! > last = from creation, at the earliest from `through`, to the end that it noted
//!
//! > Hadoop's `memorySeconds` = sum over those that ended under the last ResourceManager of
//! > floor(mebibytes x milliseconds / 1000)
//!
//! `through` is the last tick of the first ResourceManager's ledger: what happened after it nobody
//! told. So a container that was given away just before the kill, and that no node ever heard of,
//! has no end: it is charged up to `through`, and nothing where it was created later. One that the
//! last ResourceManager knows must have ended under it.
//!
//! Hadoop rounds each container down to whole MB s (`RMAppAttemptMetrics.updateUsageMap`), and it
//! keeps what ended containers have used in the memory of the process until the attempt ends
//! (`RMAppAttemptImpl.rememberTargetTransitionsAndStoreState`), so a restart loses it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A container, from the lines of all ResourceManagers.
#[derive(Default, Debug)]
struct Container {
    memory: u64,
    created: u64,
    /// When it ended, by a ResourceManager before the last one.
    ended_before: Option<u64>,
    /// The last ResourceManager knew of it.
    came_back: bool,
    /// When it ended, by the last one.
    ended: Option<u64>,
}

impl Container {
    /// For how many milliseconds it is charged; `None`: it must have ended, and has not.
    fn charged(&self, through: u64) -> Option<u64> {
        let end = match (self.came_back, self.ended) {
            (true, None) => return None,
            (_, end) => end,
        };
        let first = self.ended_before.unwrap_or(through).min(through);
        let first = first.min(end.unwrap_or(first)).saturating_sub(self.created);
        let last = end.map_or(0, |end| end.saturating_sub(self.created.max(through)));
        Some(first + last)
    }
}

/// What an application has used by Hadoop's own notes.
#[derive(Default, Debug)]
pub(super) struct Noted {
    pub(super) containers: u64,
    /// Mebibyte x milliseconds of all its containers.
    pub(super) used: u64,
    /// MB s as Hadoop shows them, in whole numbers.
    pub(super) shown: u64,
    /// Containers that ended under an earlier ResourceManager.
    pub(super) forgotten: u64,
    /// Containers of which Hadoop notes no end: no node ever heard of them.
    pub(super) lost: u64,
}

/// By application. `through`: the ledger's last tick under the first ResourceManager.
pub(super) fn noted(folder: &Path, through: u64) -> Result<BTreeMap<String, Noted>, String> {
    let mut containers: BTreeMap<String, Container> = BTreeMap::new();
    let files = files(folder)?;
    for (life, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))?;
        let is_last = life + 1 == files.len();
        for line in text.lines() {
            note(&mut containers, line, is_last).ok_or_else(|| format!("a witness says {line}"))?;
        }
    }
    let mut all: BTreeMap<String, Noted> = BTreeMap::new();
    for (id, container) in containers {
        let app = application(&id).ok_or_else(|| format!("{id} is no container"))?;
        let row = all.entry(app).or_default();
        let charged = container.charged(through).ok_or_else(|| format!("{id} has not ended"))?;
        row.containers += 1;
        row.used += container.memory * charged;
        match (container.ended, container.ended_before) {
            (Some(end), _) => row.shown += container.memory * (end - container.created) / 1000,
            (None, Some(_)) => row.forgotten += 1,
            (None, None) => row.lost += 1,
        }
    }
    Ok(all)
}

/// The witnesses, by their time.
pub(super) fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let all = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let paths = all.filter_map(Result::ok).map(|entry| entry.path());
    let is_one = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("witness-"))
    };
    let mut files: Vec<_> = paths.filter(is_one).collect();
    files.sort();
    Ok(files)
}

fn note(containers: &mut BTreeMap<String, Container>, line: &str, is_last: bool) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match *words.as_slice() {
        ["start", id, memory, created] => {
            let container = containers.entry(id.to_owned()).or_default();
            container.memory = memory.parse().ok()?;
            container.created = created.parse().ok()?;
            container.came_back |= is_last;
        }
        ["end", id, at] => {
            let at = at.parse().ok()?;
            let container = containers.entry(id.to_owned()).or_default();
            match is_last {
                true => container.ended = Some(at),
                false => container.ended_before = Some(at),
            }
        }
        _ => return None,
    }
    Some(())
}

/// `container_e01_1760000000000_0001_01_000002` is one of `application_1760000000000_0001`.
pub(super) fn application(container: &str) -> Option<String> {
    let mut words = container.split('_').skip(1).peekable();
    words.next_if(|word| word.starts_with('e'));
    Some(format!("application_{}_{}", words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two ResourceManagers noted, where the first one's ledger came to 9000.
    fn lives(name: &str, lives: [&str; 2]) -> Result<BTreeMap<String, Noted>, String> {
        let folder = std::env::temp_dir().join(format!("meed-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (life, lines) in lives.iter().enumerate() {
            fs::write(folder.join(format!("witness-{life}")), lines).unwrap();
        }
        let all = noted(&folder, 9000);
        fs::remove_dir_all(&folder).unwrap();
        all
    }

    #[test]
    fn two_lives() {
        let first = "start container_1_0001_01_000001 256 1000\n\
            start container_1_0001_01_000002 100 2000\nend container_1_0001_01_000002 3055\n\
            start container_1_0001_01_000003 10 4000\nend container_1_0001_01_000003 9500\n";
        let second = "start container_1_0001_01_000001 256 1000\n\
            end container_1_0001_01_000001 20999\n\
            start container_e01_1_0002_01_000001 7 15000\n\
             end container_e01_1_0002_01_000001 16000\n";
        let all = lives("witness", [first, second]).unwrap();
        let one = &all["application_1_0001"];
        assert_eq!(one.used, 256 * 19_999 + 100 * 1055 + 10 * 5000);
        assert_eq!((one.shown, one.forgotten, one.containers), (256 * 19_999 / 1000, 2, 3));
        assert_eq!(all["application_1_0002"].used, 7000);
    }

    #[test]
    fn one_that_no_node_heard_of_is_charged_up_to_the_last_tick() {
        let first = "start container_1_0001_01_000001 256 8750\n\
            start container_1_0001_01_000002 100 9001\n";
        let all = lives("lost", [first, ""]).unwrap();
        let one = &all["application_1_0001"];
        assert_eq!((one.used, one.shown), (256 * 250, 0));
        assert_eq!((one.containers, one.lost, one.forgotten), (2, 2, 0));
    }

    #[test]
    fn one_that_came_back_must_have_ended() {
        let line = "start container_1_0001_01_000001 256 1000\n";
        let why = lives("endless", [line, line]).unwrap_err();
        assert!(why.contains("container_1_0001_01_000001 has not ended"), "{why}");
    }

    /// It was given back, and the kill came before its node heard of that.
    #[test]
    fn one_that_ended_and_came_back_is_charged_for_both_lives() {
        let first = "start container_1_0001_01_000001 256 1000\n\
            end container_1_0001_01_000001 8900\n";
        let second = "start container_1_0001_01_000001 256 1000\n\
            end container_1_0001_01_000001 20000\n";
        let all = lives("again", [first, second]).unwrap();
        let one = &all["application_1_0001"];
        assert_eq!(one.used, 256 * (7900 + 11_000));
        assert_eq!((one.shown, one.forgotten), (256 * 19_000 / 1000, 0));
    }
}
