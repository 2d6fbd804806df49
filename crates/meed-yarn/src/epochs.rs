//! A folder for each epoch of the ResourceManager: `epoch-N` below one folder.
//!
//! A new epoch takes over a copy of the newest one below it and goes on there, so an old
//! ResourceManager that was only stalled can write its own folder and nothing else: harmless.
//! Closed segments of the journal never change, so they are linked, not copied. A folder has its
//! name once it is whole.
//!
//! [`is_fenced`]: there is a higher epoch, so this one writes no more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of older epochs that are kept.
const KEPT: usize = 3;

/// The wall clock at time 0.
const BEGAN: &str = "began-ms";

/// The folder of an epoch, and from where it came.
pub(crate) struct Epoch {
    pub(crate) folder: PathBuf,
    pub(crate) from: Option<u64>,
}

/// The folder of `epoch` below `all`; made from the newest one below it where there is none yet.
pub(crate) fn prepare(all: &Path, epoch: u64) -> io::Result<Epoch> {
    fs::create_dir_all(all).map_err(|why| named(all, &why))?;
    let folder = all.join(name_of(epoch));
    let mut known = known(all)?;
    if let Some(&newer) = known.iter().rev().find(|&&other| other > epoch) {
        return Err(io::Error::other(fenced(newer, epoch)));
    }
    if known.contains(&epoch) {
        return Ok(Epoch { folder, from: None });
    }
    let from = known.last().copied();
    let unfinished = all.join(format!("{}.unfinished", name_of(epoch)));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir(&unfinished).map_err(|why| named(&unfinished, &why))?;
    if let Some(from) = from {
        take_over(&all.join(name_of(from)), &unfinished)?;
    }
    fs::rename(&unfinished, &folder)?;
    fs::File::open(all)?.sync_all()?;
    known.push(epoch);
    let old = known.len().saturating_sub(KEPT);
    for &epoch in &known[..old] {
        // What cannot be removed now is removed another time.
        let _ = fs::remove_dir_all(all.join(name_of(epoch)));
    }
    Ok(Epoch { folder, from })
}

/// Why `epoch` must not write, if there is a newer one.
pub(crate) fn is_fenced(all: &Path, epoch: u64) -> io::Result<Option<String>> {
    let newer = known(all)?.into_iter().rev().find(|&other| other > epoch);
    Ok(newer.map(|newer| fenced(newer, epoch)))
}

/// Keeps what the wall clock said at time 0 of the journal, in milliseconds: the first record says
/// so too, but may be forgotten one day.
pub(crate) fn remember_begin(all: &Path, millis: u64) -> io::Result<()> {
    let (unfinished, file) = (all.join("began-ms.unfinished"), all.join(BEGAN));
    fs::write(&unfinished, format!("{millis}\n"))?;
    fs::File::open(&unfinished)?.sync_all()?;
    fs::rename(&unfinished, &file)?;
    fs::File::open(all)?.sync_all()
}

/// The same, read.
pub(crate) fn begin(all: &Path) -> io::Result<Option<u64>> {
    match fs::read_to_string(all.join(BEGAN)) {
        Ok(text) => Ok(text.trim().parse().ok()),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(why),
    }
}

fn fenced(newer: u64, epoch: u64) -> String {
    format!(
        "epoch {newer} of the ResourceManager has taken over: epoch {epoch} writes no more. If \
         the state store was reset, so that epochs began again, move the older folders away"
    )
}

fn name_of(epoch: u64) -> String {
    format!("epoch-{epoch:010}")
}

/// Epochs with a folder, in order.
fn known(all: &Path) -> io::Result<Vec<u64>> {
    let mut epochs = Vec::new();
    for entry in fs::read_dir(all).map_err(|why| named(all, &why))? {
        let name = entry?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix("epoch-"));
        epochs.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
    }
    epochs.sort_unstable();
    Ok(epochs)
}

/// All files of a store but its lock. Its owner may write meanwhile: what it appends later is not
/// ours, and a last line that is cut is cut off when the copy is opened.
fn take_over(from: &Path, to: &Path) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let name = entry.file_name();
        let text = name.to_string_lossy().into_owned();
        if text == "lock" || text.ends_with(".unfinished") {
            continue;
        }
        let (here, there) = (entry.path(), to.join(&name));
        let settled = text.ends_with(".zst") || text.starts_with("snapshot-");
        let linked = settled && fs::hard_link(&here, &there).is_ok();
        if !linked {
            fs::copy(&here, &there).map_err(|why| named(&here, &why))?;
            fs::File::open(&there)?.sync_all()?;
        }
    }
    fs::File::open(to)?.sync_all()
}

fn named(path: &Path, why: &io::Error) -> io::Error {
    io::Error::new(why.kind(), format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_takes_over_the_newest_and_silences_it() {
        let all = tempfile::tempdir().unwrap();
        let first = prepare(all.path(), 1).unwrap();
        assert_eq!(first.from, None);
        fs::write(first.folder.join("00000000000000000001.jsonl"), "one\n").unwrap();
        fs::write(first.folder.join("lock"), "").unwrap();
        assert_eq!(is_fenced(all.path(), 1).unwrap(), None);

        let third = prepare(all.path(), 3).unwrap();
        assert_eq!(third.from, Some(1));
        let copied = third.folder.join("00000000000000000001.jsonl");
        assert_eq!(fs::read_to_string(&copied).unwrap(), "one\n");
        assert!(!third.folder.join("lock").exists());
        // What the old one writes now is its own.
        fs::write(first.folder.join("00000000000000000001.jsonl"), "two\n").unwrap();
        assert_eq!(fs::read_to_string(&copied).unwrap(), "one\n");
        assert!(is_fenced(all.path(), 1).unwrap().is_some());
        assert!(prepare(all.path(), 2).is_err());
        assert_eq!(prepare(all.path(), 3).unwrap().from, None);
    }

    #[test]
    fn few_old_epochs_are_kept() {
        let all = tempfile::tempdir().unwrap();
        for epoch in 0..6 {
            prepare(all.path(), epoch).unwrap();
        }
        assert_eq!(known(all.path()).unwrap(), [3, 4, 5]);
    }
}
