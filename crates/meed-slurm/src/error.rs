//! How the program fails: one sentence, and the exit codes of `meed`.

use std::process::ExitCode;

use crate::slurm::SlurmError;
use crate::world::LedgerError;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ProgramError {
    /// 3: the policy, or an argument.
    #[error("{0}")]
    Input(String),
    /// 4: a file.
    #[error("{0}")]
    File(String),
    /// 5: it could not go on.
    #[error("{0}")]
    Run(String),
    /// 6: Slurm does not answer.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// 4: the ledger.
    #[error(transparent)]
    SlurmWorld(#[from] LedgerError),
}

impl ProgramError {
    /// The exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            ProgramError::Input(_) => 3,
            ProgramError::File(_) | ProgramError::SlurmWorld(_) => 4,
            ProgramError::Run(_) => 5,
            ProgramError::Slurm(_) => 6,
        })
    }
}

impl From<meed_driver::Failed> for ProgramError {
    fn from(why: meed_driver::Failed) -> ProgramError {
        ProgramError::Run(why.to_string())
    }
}
