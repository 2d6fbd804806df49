//! A folder for each epoch of the ResourceManager: `epoch-N` below one folder.
//!
//! A new epoch takes over a copy of the newest one below it and goes on there, so an old
//! ResourceManager that was only stalled can write its own folder and nothing else: harmless.
//! Closed segments of the journal never change, so they are linked, not copied. A folder has its
//! name once it is whole. `models/epochs.pml` searches what two ResourceManagers can do at once.
//!
//! [`is_fenced`]: there is a higher epoch, so this one writes no more.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of older epochs that are kept.
const KEPT: usize = 3;

/// The wall clock at time 0: in the folder of the epoch, which one ResourceManager alone writes.
const BEGAN: &str = "began-ms";

/// A folder whose files go while they are copied is copied anew so often at most.
const ATTEMPTS: usize = 5;

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
    let from_folder = from.map(|from| all.join(name_of(from)));
    take_over(from_folder.as_deref(), &unfinished, |here, there| fs::copy(here, there).map(drop))?;
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

/// Keeps what the wall clock said at time 0 of the journal in `folder`, in milliseconds: the first
/// record says so too, but may be forgotten one day.
pub(crate) fn remember_begin(folder: &Path, millis: u64) -> io::Result<()> {
    let (unfinished, file) = (folder.join("began-ms.unfinished"), folder.join(BEGAN));
    fs::write(&unfinished, format!("{millis}\n"))?;
    fs::File::open(&unfinished)?.sync_all()?;
    fs::rename(&unfinished, &file)?;
    fs::File::open(folder)?.sync_all()
}

/// What [`remember_begin`] kept for the epoch in `folder`. Meed 0.2 kept it for all epochs at once,
/// in the folder above.
pub(crate) fn begin(folder: &Path) -> io::Result<Option<u64>> {
    for folder in [Some(folder), folder.parent()].into_iter().flatten() {
        match fs::read_to_string(folder.join(BEGAN)) {
            Ok(text) => return Ok(text.trim().parse().ok()),
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(named(folder, &why)),
        }
    }
    Ok(None)
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

/// Makes `to` of all files of a store but its lock. The owner of the store may write meanwhile:
/// what it appends later is not ours, and a last line that is cut is cut off when the copy is
/// opened. It may also compress and forget segments: where a file has gone that was listed, all
/// begins anew.
fn take_over(
    from: Option<&Path>,
    to: &Path,
    mut copy: impl FnMut(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let mut left = ATTEMPTS;
    loop {
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        fs::create_dir(to).map_err(|why| named(to, &why))?;
        let Some(from) = from else { return Ok(()) };
        left -= 1;
        match copy_all(from, to, &mut copy) {
            Err(why) if why.kind() == io::ErrorKind::NotFound && left > 0 => {}
            copied => return copied,
        }
    }
}

fn copy_all(
    from: &Path,
    to: &Path,
    copy: &mut impl FnMut(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
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
            copy(&here, &there).map_err(|why| named(&here, &why))?;
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

    /// The ResourceManager before compresses a segment and forgets another while the copy is made.
    #[test]
    fn files_that_go_while_they_are_copied_are_listed_anew() {
        let all = tempfile::tempdir().unwrap();
        let first = prepare(all.path(), 1).unwrap().folder;
        let second = all.path().join("second");
        for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
            fs::write(first.join(name), name).unwrap();
        }
        let mut copies = 0;
        let copied = take_over(Some(&first), &second, |here, there| {
            copies += 1;
            if copies == 1 {
                fs::remove_file(first.join("a.jsonl")).unwrap();
                fs::rename(first.join("b.jsonl"), first.join("b.jsonl.zst")).unwrap();
            }
            fs::copy(here, there).map(drop)
        });
        copied.unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&second).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["b.jsonl.zst", "c.jsonl"]);

        let mut copies = 0;
        let gone = take_over(Some(&first), &second, |here, _| {
            copies += 1;
            fs::copy(here.with_extension("gone"), here).map(drop)
        });
        let why = gone.unwrap_err().to_string();
        assert!(why.contains("c.jsonl"), "{why}");
        assert_eq!(copies, ATTEMPTS);
    }

    /// One that stalled before it told when its journal began tells it to nobody else.
    #[test]
    fn each_epoch_has_its_own_begin_and_the_next_takes_it_over() {
        let all = tempfile::tempdir().unwrap();
        let folder = |epoch| prepare(all.path(), epoch).unwrap().folder;
        let first = folder(1);
        let second = folder(2);
        remember_begin(&second, 2000).unwrap();
        remember_begin(&first, 1000).unwrap();
        assert_eq!(begin(&folder(3)).unwrap(), Some(2000));
        assert_eq!(begin(&first).unwrap(), Some(1000));
    }

    #[test]
    fn the_begin_that_an_older_meed_kept_above_all_epochs_is_read() {
        let all = tempfile::tempdir().unwrap();
        let first = prepare(all.path(), 1).unwrap().folder;
        assert_eq!(begin(&first).unwrap(), None);
        fs::write(all.path().join(BEGAN), "1000\n").unwrap();
        assert_eq!(begin(&first).unwrap(), Some(1000));
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
