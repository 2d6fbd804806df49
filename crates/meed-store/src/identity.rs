//! Whose folder it is: a lock, and a file that names kind and version of the store.

use crate::block::number;
use crate::disk::{Disk, DiskLock, UNFINISHED, read_all, write_whole};
use crate::error::StoreError;

/// Version of the folder's layout.
const VERSION: u64 = 1;
const LOCK: &str = "lock";
const IDENTITY: &str = "store.json";

fn content(kind: &str) -> String {
    format!("{{\"store\":\"{kind}\",\"version\":{VERSION}}}\n")
}

/// Locks the folder, and makes sure that it holds a store of this kind and version, or nothing.
pub(crate) fn claim(disk: &dyn Disk, kind: &str) -> Result<DiskLock, StoreError> {
    let place = disk.place(LOCK);
    let lock = disk.lock(LOCK).map_err(StoreError::io("lock", place.clone()))?;
    let lock = lock.ok_or(StoreError::InUse { place })?;
    let names = disk.list().map_err(StoreError::io("read", disk.place("")))?;
    let place = disk.place(IDENTITY);
    if names.iter().any(|name| name == IDENTITY) {
        let found = read_all(disk, IDENTITY).map_err(StoreError::io("read", place.clone()))?;
        check(&found, kind, place)?;
        return Ok(lock);
    }
    if let Some(other) = names.iter().find(|name| *name != LOCK && !name.ends_with(UNFINISHED)) {
        let why = format!(
            "the folder has \"{other}\" but no {IDENTITY}, so it is no store; choose an empty one"
        );
        return Err(StoreError::Foreign { place: disk.place(""), why });
    }
    let written = write_whole(disk, IDENTITY, &[content(kind).as_bytes()]);
    written.map_err(StoreError::io("write", place))?;
    Ok(lock)
}

fn check(found: &[u8], kind: &str, place: String) -> Result<(), StoreError> {
    let expected = content(kind);
    if found == expected.as_bytes() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(found);
    let parts = text.strip_prefix("{\"store\":\"").and_then(|rest| rest.split_once('"'));
    if let Some((other, rest)) = parts {
        let version = rest.strip_prefix(",\"version\":");
        let version = version.and_then(|rest| number(&mut rest.as_bytes()));
        if let Some(found) = version.filter(|version| *version > VERSION) {
            return Err(StoreError::Newer { place, found, known: VERSION });
        }
        if other != kind && version == Some(VERSION) {
            let why = format!("this is a store of kind \"{other}\", not \"{kind}\"");
            return Err(StoreError::Foreign { place, why });
        }
    }
    let (found, expected) = (text.trim_end().to_owned(), expected.trim_end().to_owned());
    Err(StoreError::Damaged { place, line: 1, offset: 0, found, expected })
}
