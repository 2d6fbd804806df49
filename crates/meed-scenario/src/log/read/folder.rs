//! The folder of a live world's journal, read as a log.
//!
//! Its segments are logs by themselves, but for the first record, which only the first of them has
//! (`meed-store` writes them: `FIRST.jsonl`, closed ones `FIRST.jsonl.zst`, FIRST the number of
//! their first record in twenty digits). Nothing is locked: the world may go on writing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use meed_files::{FileError, Origin};

use super::LogError;

/// The segments of the journal in `folder`, in order. Where one is there twice, as a crash in the
/// middle of compressing leaves it, the plain one counts: it is whole.
pub(super) fn segments(folder: &Path) -> Result<Vec<Origin>, LogError> {
    let name: Arc<str> = folder.display().to_string().into();
    let failed = |source| FileError::Io { action: "read", file: Arc::clone(&name), source };
    let mut found: BTreeMap<u64, (bool, Origin)> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((first, is_plain)) = segment(&file) else { continue };
        let part = (is_plain, Origin::path(&path));
        match found.get(&first) {
            Some((true, _)) => {}
            _ => drop(found.insert(first, part)),
        }
    }
    match found.keys().next() {
        None => Err(LogError::whole(
            &name,
            "holds no journal; its segments are called 00000000000000000001.jsonl and so on",
        )),
        Some(1) => Ok(found.into_values().map(|(_, part)| part).collect()),
        Some(first) => Err(LogError::whole(
            &name,
            format!(
                "begins with record {first}; the records before are forgotten (retention), the \
                 header with them: a replay needs all from the first"
            ),
        )),
    }
}

/// Number of the first record of the segment called `file`, and whether it is plain text.
fn segment(file: &str) -> Option<(u64, bool)> {
    let (digits, is_plain) = match file.strip_suffix(".jsonl.zst") {
        Some(digits) => (digits, false),
        None => (file.strip_suffix(".jsonl")?, true),
    };
    let all_digits = digits.len() == 20 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| all_digits).map(|first| (first, is_plain))
}
