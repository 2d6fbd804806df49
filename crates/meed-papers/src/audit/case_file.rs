//! A `case.json`, as all three audits write and read it: of what it is, what it says, and how it is
//! said what is wrong with it.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::error::AuditError;

/// Of what a `case.json` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaseKind {
    /// Of tenants over time: [`super::replay`].
    Tenants,
    /// Of a pool: [`super::pool::replay_pool`].
    Pool,
    /// Of prices and plans: [`super::plans::replay_plans`].
    Plans,
}

impl CaseKind {
    /// As the file says itself. One that cannot be read is of none but the first, whose reader
    /// says why.
    pub fn of(file: &Path) -> CaseKind {
        let value = std::fs::read(file)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
        let says = |key: &str| value.as_ref().is_some_and(|value| value[key] == true);
        match (says("pool"), says("plans")) {
            (true, _) => CaseKind::Pool,
            (_, true) => CaseKind::Plans,
            _ => CaseKind::Tenants,
        }
    }
}

/// A case, evaluated again.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayedCase<P> {
    /// Of which property.
    pub property: P,
    /// Under which policy.
    pub policy: String,
    /// The tenant, or the user, that it is about.
    pub about: String,
    /// What the file says.
    pub written: f64,
    /// What came out now.
    pub value: f64,
    /// What whole tasks, or ticks, explain of it.
    pub tolerance: f64,
}

/// The file, for messages and for what stands beside it.
pub(super) struct CaseText {
    name: String,
    folder: PathBuf,
}

impl CaseText {
    /// With what it says.
    pub(super) fn read<C: DeserializeOwned>(file: &Path) -> Result<(CaseText, C), AuditError> {
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        let text = CaseText { name: file.display().to_string(), folder };
        let is_none = |why| format!("is no case as `meed audit --out` writes it: {why}");
        let case: Result<C, serde_json::Error> = serde_json::from_str(&read(file)?);
        let case = case.map_err(|why| text.wrong(is_none(why)))?;
        Ok((text, case))
    }

    /// A file beside it.
    pub(super) fn beside(&self, file: &Path) -> PathBuf {
        self.folder.join(file)
    }

    pub(super) fn wrong(&self, what: String) -> AuditError {
        AuditError::Case { file: self.name.clone(), what }
    }

    /// A number that stands there as text: the reader of JSON rounds numbers.
    pub(super) fn number(&self, what: &str, text: &str) -> Result<f64, AuditError> {
        let wrong = |_| self.wrong(format!("`{what}` is `{text}`, which is no number"));
        text.parse::<f64>().map_err(wrong)
    }
}

pub(super) fn read(path: &Path) -> Result<String, AuditError> {
    std::fs::read_to_string(path)
        .map_err(|cause| AuditError::File { file: path.display().to_string(), cause })
}
