//! What Hadoop itself noted of containers (`org.meed.yarn.Witness`), and what follows from it: the
//! memory x time that the ledger must hold, and the figure that Hadoop itself must show.
//!
//! > ledger of an application = sum over its containers of mebibytes x (end - creation)
//!
//! > Hadoop's `memorySeconds` = sum over those that ended under the last ResourceManager of
//! > floor(mebibytes x milliseconds / 1000)
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
    /// When it ended, and in which ResourceManager's life.
    ended: Option<(u64, usize)>,
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
}

/// By application. An end before `through` (the ledger's last tick under the first ResourceManager)
/// was charged; one after it, that no later ResourceManager told, is charged up to there.
pub(super) fn noted(folder: &Path, through: u64) -> Result<BTreeMap<String, Noted>, String> {
    let mut containers: BTreeMap<String, Container> = BTreeMap::new();
    let files = files(folder)?;
    for (life, file) in files.iter().enumerate() {
        let text = fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))?;
        for line in text.lines() {
            note(&mut containers, line, life).ok_or_else(|| format!("a witness says {line}"))?;
        }
    }
    let last = files.len().saturating_sub(1);
    let mut all: BTreeMap<String, Noted> = BTreeMap::new();
    for (id, container) in containers {
        let app = application(&id).ok_or_else(|| format!("{id} is no container"))?;
        let row = all.entry(app).or_default();
        let (end, life) = container.ended.ok_or_else(|| format!("{id} has not ended"))?;
        row.containers += 1;
        let charged = if life == last { end } else { end.min(through) };
        row.used += container.memory * charged.saturating_sub(container.created);
        match life == last {
            true => row.shown += container.memory * (end - container.created) / 1000,
            false => row.forgotten += 1,
        }
    }
    Ok(all)
}

/// The witnesses, by their time.
fn files(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let all = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let paths = all.filter_map(Result::ok).map(|entry| entry.path());
    let is_one = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("witness-"))
    };
    let mut files: Vec<_> = paths.filter(is_one).collect();
    files.sort();
    Ok(files)
}

fn note(containers: &mut BTreeMap<String, Container>, line: &str, life: usize) -> Option<()> {
    let words: Vec<&str> = line.split(' ').collect();
    match *words.as_slice() {
        ["start", id, memory, created] => {
            let container = containers.entry(id.to_owned()).or_default();
            container.memory = memory.parse().ok()?;
            container.created = created.parse().ok()?;
        }
        ["end", id, at] => {
            let at = at.parse().ok()?;
            containers.entry(id.to_owned()).or_default().ended = Some((at, life));
        }
        _ => return None,
    }
    Some(())
}

/// `container_e01_1760000000000_0001_01_000002` is one of `application_1760000000000_0001`.
fn application(container: &str) -> Option<String> {
    let mut words = container.split('_').skip(1).peekable();
    words.next_if(|word| word.starts_with('e'));
    Some(format!("application_{}_{}", words.next()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lives() {
        let folder = std::env::temp_dir().join(format!("meed-witness-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let first = "start container_1_0001_01_000001 256 1000\n\
            start container_1_0001_01_000002 100 2000\nend container_1_0001_01_000002 3055\n\
            start container_1_0001_01_000003 10 4000\nend container_1_0001_01_000003 9500\n";
        let second = "start container_1_0001_01_000001 256 1000\n\
            end container_1_0001_01_000001 20999\n\
            start container_e01_1_0002_01_000001 7 15000\n\
             end container_e01_1_0002_01_000001 16000\n";
        fs::write(folder.join("witness-1"), first).unwrap();
        fs::write(folder.join("witness-2"), second).unwrap();
        let all = noted(&folder, 9000).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let one = &all["application_1_0001"];
        assert_eq!(one.used, 256 * 19_999 + 100 * 1055 + 10 * 5000);
        assert_eq!((one.shown, one.forgotten, one.containers), (256 * 19_999 / 1000, 2, 3));
        assert_eq!(all["application_1_0002"].used, 7000);
    }
}
