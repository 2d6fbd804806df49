//! The state folder: journal, what people are told, who holds it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use meed_store::StoreError;

use crate::error::ProgramError;
use crate::world::{LedgerError, Standings};

/// Where the state is.
#[derive(Args, Clone, Debug)]
pub(crate) struct StateArgs {
    /// The folder of the journal and of what is told to people. Where several hosts might run Meed,
    /// it lies on a file system that they share, so that the second is refused.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/meed-slurm")]
    pub state: PathBuf,
}

/// Who holds the folder, and what is told.
const HOLDER: &str = "holder";
const STANDINGS: &str = "standings.json";

impl StateArgs {
    /// Says who holds the folder: host and process.
    pub(crate) fn hold(&self) -> Result<(), ProgramError> {
        let host = fs::read_to_string("/proc/sys/kernel/hostname");
        let host = host.map_or_else(|_| "unknown host".to_owned(), |host| host.trim().to_owned());
        let text = format!("process {} on {host}\n", std::process::id());
        self.write(HOLDER, text.as_bytes())
    }

    /// Who held the folder last.
    pub(crate) fn holder(&self) -> Option<String> {
        let text = fs::read_to_string(self.state.join(HOLDER)).ok()?;
        Some(text.trim().to_owned())
    }

    /// Why the ledger in the folder cannot be opened; where another instance holds it, with its
    /// name.
    pub(crate) fn held(&self, why: LedgerError) -> ProgramError {
        let is_held = matches!(&why, LedgerError::Store(StoreError::InUse { .. }));
        match self.holder().filter(|_| is_held) {
            Some(holder) => ProgramError::File(format!(
                "{}: {holder} holds this state and orders the cluster; stop it first, or give \
                 another folder by --state for a dry run beside it",
                self.state.display()
            )),
            None => why.into(),
        }
    }

    /// Leaves what people are told.
    pub(crate) fn leave(&self, standings: &Standings) -> Result<(), ProgramError> {
        let bytes = serde_json::to_vec(standings);
        let bytes = bytes.map_err(|why| ProgramError::Run(why.to_string()))?;
        self.write(STANDINGS, &bytes)
    }

    /// Reads what people are told.
    pub(crate) fn standings(&self) -> Result<Standings, ProgramError> {
        let path = self.state.join(STANDINGS);
        let text = fs::read_to_string(&path).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => ProgramError::File(format!(
                "{}: not there; `meed slurm run` leaves it with each look at the cluster (--state \
                 names its folder)",
                path.display()
            )),
            _ => named(&path, &why),
        })?;
        serde_json::from_str(&text).map_err(|why| {
            ProgramError::File(format!(
                "{}: {why}; it is of another version of meed slurm, or not its file",
                path.display()
            ))
        })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ProgramError> {
        write_whole(&self.state.join(name), bytes)
    }
}

/// Writes a file: it is whole, or as it was.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ProgramError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    let unfinished = PathBuf::from(name);
    fs::write(&unfinished, bytes).map_err(|why| named(&unfinished, &why))?;
    fs::rename(&unfinished, path).map_err(|why| named(path, &why))
}

fn named(path: &Path, why: &io::Error) -> ProgramError {
    ProgramError::File(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let place = StateArgs { state: folder.path().to_owned() };
        assert!(place.standings().unwrap_err().to_string().contains("meed slurm run"));
        let left = Standings { at: 7, order: "long-term".to_owned(), ..Standings::default() };
        place.leave(&left).unwrap();
        assert_eq!(place.standings().unwrap(), left);
        place.hold().unwrap();
        assert!(place.holder().unwrap().starts_with("process "));
        fs::write(folder.path().join(STANDINGS), "{}").unwrap();
        assert!(place.standings().unwrap_err().to_string().contains("another version"));
    }
}
