//! Which format a trace file has, told by its name: `.swf`, `.tsv` (SWIM) or `.jsonl`, compressed or not.

use std::path::Path;

use crate::TraceError;

/// The trace formats that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Standard Workload Format, [`crate::swf`].
    Swf,
    /// SWIM, [`crate::swim`].
    Swim,
    /// Meed's own, [`crate::canonical`].
    Canonical,
}

impl TraceFormat {
    /// Told by the name of the file, without the ending of a compression.
    pub fn of_name(path: &Path) -> Result<TraceFormat, TraceError> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let name = [".gz", ".zst", ".xz"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("swf") => Ok(TraceFormat::Swf),
            Some("tsv" | "swim") => Ok(TraceFormat::Swim),
            Some("jsonl" | "meed") => Ok(TraceFormat::Canonical),
            _ => Err(TraceError::settings(
                path.display().to_string(),
                "the name does not tell the format of the trace; .swf is SWF, .tsv is SWIM, .jsonl is Meed's own \
                 (compressed or not), or say which it is",
            )),
        }
    }
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
            ("x.csv", None),
            ("swf", None),
            ("", None),
        ];
        for (name, expected) in rows {
            assert_eq!(TraceFormat::of_name(Path::new(name)).ok(), expected, "{name}");
        }
    }
}
