//! Which files hold logs: a file of one or several applications, the folder of one that is rolled
//! (`eventlog_v2_ID`), or a folder with many of both, and YARN's lists of applications among them.
//!
//! A rolled log has parts `events_1_ID`, `events_2_ID`, ...; a part whose name ends in `.compact`
//! stands for all before it. Names that begin with `.` or `_`, empty files and the mark `appstatus`
//! are passed over.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use meed_files::FileError;
use meed_files::open::Origin;

use super::event::is_event;
use crate::TraceError;

/// The folder of a log that is rolled begins so.
const ROLLED: &str = "eventlog_v2_";
const PART: &str = "events_";
/// Plain bytes of a file that are looked at.
const BEGINNING: u64 = 4 << 10;
/// Files of a folder that are looked at to tell whether it holds event logs.
const LOOKED_AT: usize = 32;

/// The parts of a log, in order.
pub(super) struct Log {
    pub(super) parts: Vec<Origin>,
    /// They are of one application.
    pub(super) is_rolled: bool,
    /// Numbers of parts that are not there.
    pub(super) missing: Vec<u64>,
}

/// What there is to read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) logs: Vec<Log>,
    /// YARN's lists.
    pub(super) lists: Vec<Origin>,
    /// Names of what is neither.
    pub(super) others: Vec<String>,
}

/// What a file is.
enum Is {
    Log,
    List,
    Other,
}

/// How a compression of Spark's begins that is not read, and what it is called.
const NOT_READ: [(&[u8], &str); 2] = [(b"\x82SNAPPY\0", "snappy"), (b"ZV", "lzf")];

/// The compression of a file that begins so, where it is one that Spark may write and that is not
/// read.
pub fn compression_not_read(start: &[u8]) -> Option<&'static str> {
    // Two letters may begin anything: behind them stand the kind of the piece and its length.
    let is_it = |(magic, name): &&(&[u8], &str)| {
        start.starts_with(magic) && (*name != "lzf" || matches!(start, [_, _, 0 | 1, ..]))
    };
    NOT_READ.iter().find(is_it).map(|(_, name)| *name)
}

/// Whether a folder holds event logs: by names, else by the beginning of some of its files.
pub(crate) fn is_folder_of_logs(folder: &Path) -> bool {
    let Ok(entries) = entries_of(folder) else { return false };
    let is_rolled = |name: &str| name.starts_with(ROLLED) || name.starts_with(PART);
    name_of(folder).starts_with(ROLLED)
        || entries.iter().any(|name| is_rolled(name))
        || entries.iter().filter(|name| !is_passed(name)).take(LOOKED_AT).any(|name| {
            let path = folder.join(name);
            path.is_file() && matches!(what_is(&Origin::path(path)), Ok(Some(Is::Log)))
        })
}

/// What is to be read of `origin`.
pub(super) fn find(origin: &Origin) -> Result<Found, TraceError> {
    let folder = origin.place().filter(|path| path.is_dir());
    let Some(folder) = folder else {
        let log = Log { parts: vec![origin.clone()], is_rolled: false, missing: Vec::new() };
        return Ok(Found { logs: vec![log], ..Found::default() });
    };
    let fail = |source| FileError::Io { action: "open", file: Arc::clone(origin.name()), source };
    let names = entries_of(folder).map_err(fail)?;
    let mut found = Found::default();
    if names.iter().any(|name| part_of(name).is_some()) {
        found.logs.push(rolled(folder, names));
        return Ok(found);
    }
    for name in names.into_iter().filter(|name| !is_passed(name)) {
        let path = folder.join(&name);
        if path.is_dir() {
            match entries_of(&path) {
                Ok(parts) if parts.iter().any(|name| part_of(name).is_some()) => {
                    found.logs.push(rolled(&path, parts));
                }
                _ => found.others.push(name),
            }
            continue;
        }
        let file = Origin::path(path);
        match what_is(&file)? {
            Some(Is::Log) => {
                let log = Log { parts: vec![file], is_rolled: false, missing: Vec::new() };
                found.logs.push(log);
            }
            Some(Is::List) => found.lists.push(file),
            Some(Is::Other) => found.others.push(name),
            None => {}
        }
    }
    Ok(found)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Names in a folder, in order.
fn entries_of(folder: &Path) -> std::io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<Vec<String>>>();
    let mut names = names?;
    names.sort();
    Ok(names)
}

fn is_passed(name: &str) -> bool {
    name.starts_with(['.', '_']) || name.starts_with("appstatus_")
}

/// The number of a part by its name, and whether it stands for all before it.
fn part_of(name: &str) -> Option<(u64, bool)> {
    let (number, _) = name.strip_prefix(PART)?.split_once('_')?;
    Some((number.parse().ok()?, name.ends_with(".compact")))
}

/// The log in a folder with these names.
fn rolled(folder: &Path, names: Vec<String>) -> Log {
    let mut parts: Vec<((u64, bool), String)> =
        names.into_iter().filter_map(|name| Some((part_of(&name)?, name))).collect();
    parts.sort();
    let compact = parts.iter().rposition(|((_, is_compact), _)| *is_compact);
    let mut parts = parts.split_off(compact.unwrap_or(0));
    // A part and what it was made into have one number; the latter comes second.
    parts.dedup_by_key(|((number, _), _)| *number);
    let first = parts.first().map_or(1, |((number, is_compact), _)| match is_compact {
        true => *number,
        false => 1,
    });
    let last = parts.last().map_or(0, |((number, _), _)| *number);
    let is_there =
        |wanted: &u64| parts.binary_search_by_key(wanted, |((number, _), _)| *number).is_ok();
    // A few say enough.
    let missing = (first..=last.min(first.saturating_add(100_000)))
        .filter(|number| !is_there(number))
        .take(5)
        .collect();
    let parts = parts.into_iter().map(|(_, name)| Origin::path(folder.join(name))).collect();
    Log { parts, is_rolled: true, missing }
}

/// What a file is; `None`: it is empty.
fn what_is(file: &Origin) -> Result<Option<Is>, TraceError> {
    let start = match file.beginning(BEGINNING) {
        Ok(start) => start,
        // Its reader says what is wrong with it, if it is one.
        Err(FileError::Truncated { .. }) => return Ok(Some(Is::Other)),
        Err(why) if why.is_refusal() => return Err(why.into()),
        Err(_) => return Ok(Some(Is::Other)),
    };
    let trimmed = start.trim_ascii_start();
    Ok(match trimmed {
        [] => None,
        _ if is_event(trimmed) => Some(Is::Log),
        _ if crate::format::is_yarn(trimmed) => Some(Is::List),
        _ => Some(Is::Other),
    })
}
