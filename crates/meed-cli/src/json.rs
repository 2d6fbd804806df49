//! `--json [FILE]` of commands that compare many runs.

use std::path::{Path, PathBuf};

use clap::Args;
use meed_files::Guard;

use crate::exit::Failure;
use crate::output::print_data;

#[derive(Args)]
pub(crate) struct JsonArgs {
    /// Writes JSON into FILE, beside the table; without FILE, or with `-`, prints JSON instead of
    /// the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl JsonArgs {
    /// The file, where it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// Writes the text where it was asked for; whether it went to standard output.
    pub(crate) fn write(
        &self,
        files: &mut Guard,
        text: impl FnOnce() -> String,
    ) -> Result<bool, Failure> {
        match (&self.json, self.file()) {
            (None, _) => Ok(false),
            (Some(_), Some(path)) => {
                files.write_text(path, &text())?;
                Ok(false)
            }
            (Some(_), None) => print_data(&text()).map(|()| true),
        }
    }
}
