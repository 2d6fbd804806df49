//! Which format a trace file has, told by its name: `.swf`, `.mwf`, `.tsv` (SWIM), `.jsonl`, `.csv`
//! with `task_events` in its name or its folder's (Google), any other `.csv` (Philly); compressed
//! or not.

use std::path::Path;

use crate::TraceError;

/// The trace formats that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Standard Workload Format, [`crate::swf`].
    Swf,
    /// Extended SWF of the Alea simulator, [`crate::mwf`].
    Mwf,
    /// task_events of Google's traces of 2011, [`crate::google`].
    Google,
    /// SWIM, [`crate::swim`].
    Swim,
    /// Philly, [`crate::philly`].
    Philly,
    /// Meed's own, [`crate::canonical`].
    Canonical,
}

impl TraceFormat {
    /// Told by the name of the file, without the ending of a compression.
    pub fn of_name(path: &Path) -> Result<TraceFormat, TraceError> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name =
            [".gz", ".zst", ".xz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("swf") => Ok(TraceFormat::Swf),
            Some("mwf") => Ok(TraceFormat::Mwf),
            Some("csv") if is_google(path, "task_events") => Ok(TraceFormat::Google),
            Some("tsv" | "swim") => Ok(TraceFormat::Swim),
            Some("csv") => Ok(TraceFormat::Philly),
            Some("jsonl" | "meed") => Ok(TraceFormat::Canonical),
            _ => Err(TraceError::settings(
                path.display().to_string(),
                "the name does not tell the format of the trace; .swf is SWF, .mwf is MWF, .tsv is \
                 SWIM, .jsonl is \
                 Meed's own, task_events*.csv is Google's, other .csv is Philly (compressed or \
                 not), or say which it is",
            )),
        }
    }
}

/// Whether the file or its folder is named after this `table` of Google's traces:
/// `task_events/part-00000-of-00500.csv.gz`.
pub fn is_google(path: &Path, table: &str) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    [path.file_name(), folder]
        .into_iter()
        .flatten()
        .any(|name| name.to_string_lossy().contains(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let rows = [
            ("a.swf", Some(TraceFormat::Swf)),
            ("dir.swf/a-3.1-cln.SWF.gz", Some(TraceFormat::Swf)),
            ("x_1.tsv.xz", Some(TraceFormat::Swim)),
            ("x.jsonl.zst", Some(TraceFormat::Canonical)),
            ("x.csv.xz", Some(TraceFormat::Philly)),
            ("x.txt", None),
            ("wagap-2013.mwf.xz", Some(TraceFormat::Mwf)),
            ("task_events_p00-13.csv.zst", Some(TraceFormat::Google)),
            ("d/task_events/part-00000-of-00500.csv.gz", Some(TraceFormat::Google)),
            ("task_events/d/part-00000-of-00500.csv.gz", Some(TraceFormat::Philly)),
            ("task_events.txt", None),
            ("swf", None),
            ("", None),
        ];
        for (name, expected) in rows {
            assert_eq!(TraceFormat::of_name(Path::new(name)).ok(), expected, "{name}");
        }
    }
}
