//! Counterexamples of a pool as files, and files evaluated again: `honest.toml`, `deviating.toml`
//! where a coalition lies or a user leaves, and `case.json`. [`replay_pool`] decides the scenarios
//! anew and measures by the formulas of the search.

use std::path::{Path, PathBuf};

use meed_files::Guard;
use serde::{Deserialize, Serialize};

use super::case::PoolCase;
use super::measure::value;
use super::property::PoolProperty;
use super::run::{of_text, text};
use super::{AuditError, PoolAudit, PoolCell, PoolCounterexample};
use crate::audit::case_file::{CaseText, ReplayedCase, read};
use crate::audit::replay::{plain, write_each};

/// What stands in `case.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoolCaseFile {
    /// Tells it from a case of tenants over time.
    pool: bool,
    property: PoolProperty,
    policy: String,
    /// Beside this file.
    honest: PathBuf,
    deviating: Option<PathBuf>,
    /// In text: the reader of JSON rounds numbers.
    value: String,
    tolerance: String,
    case: PoolCase,
}

/// Writes every counterexample into a folder of its own below `folder`, and returns these.
pub fn write_pool(
    audit: &PoolAudit,
    folder: &Path,
    files: &mut Guard,
) -> Result<Vec<PathBuf>, AuditError> {
    let found = audit.cells.iter().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?)));
    write_each(folder, found, folder_name, |cell, found, place| {
        write_one(cell, found, place, files)
    })
}

/// `pool-pareto-drf-placement-worst-fit`.
pub(super) fn folder_name(cell: &PoolCell) -> String {
    format!("pool-{}-{}", cell.property.row().name, plain(&cell.policy))
}

fn write_one(
    cell: &PoolCell,
    found: &PoolCounterexample,
    place: &Path,
    files: &mut Guard,
) -> Result<(), AuditError> {
    let mut write = |name: &str, text: &str| -> Result<(), AuditError> {
        Ok(files.write_text(&place.join(name), text)?)
    };
    let deviates = cell.property.deviates();
    write("honest.toml", &text(&found.case, false, &remarks(cell, found, "honest.toml")))?;
    if deviates {
        write("deviating.toml", &text(&found.case, true, &remarks(cell, found, "deviating.toml")))?;
    }
    let case = PoolCaseFile {
        pool: true,
        property: cell.property,
        policy: cell.policy.clone(),
        honest: "honest.toml".into(),
        deviating: deviates.then(|| "deviating.toml".into()),
        value: found.value.to_string(),
        tolerance: found.tolerance.to_string(),
        case: found.case.clone(),
    };
    write("case.json", &format!("{}\n", serde_json::to_string_pretty(&case)?))
}

fn remarks(cell: &PoolCell, found: &PoolCounterexample, file: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "A counterexample to {}, under --policy {}.",
        cell.property.row().title,
        cell.policy
    )];
    lines.extend(found.story.iter().cloned());
    lines.extend([
        format!("meed simulate {file} --policy {}", cell.policy),
        "meed audit --case case.json".to_owned(),
        String::new(),
    ]);
    lines
}

/// Evaluates the case of a `case.json` again.
pub fn replay_pool(file: &Path) -> Result<ReplayedCase<PoolProperty>, AuditError> {
    let (text, case) = CaseText::read::<PoolCaseFile>(file)?;
    let wrong = |what: String| text.wrong(what);
    let property = case.property;
    let mut sound = case.case.clone();
    sound.mend(property);
    if !case.case.is_sound() || !sound.is_of(property) {
        return Err(wrong(
            "its `case` has no servers or users, or rows of different lengths".to_owned(),
        ));
    }
    let run = |scenario: &Path| {
        let path = text.beside(scenario);
        let counts = of_text(&path.display().to_string(), &read(&path)?, &case.policy)?;
        let same = counts.len() == case.case.users.len()
            && counts.iter().all(|row| row.len() == case.case.servers.len());
        if same {
            Ok(counts)
        } else {
            Err(wrong(format!("{} has other users or servers", path.display())))
        }
    };
    let honest = run(&case.honest)?;
    let other = case.deviating.as_deref().map(run).transpose()?;
    let lack = value(property, &case.case, &honest, other.as_ref())?;
    Ok(ReplayedCase {
        property,
        about: PoolCase::name(lack.user),
        written: text.number("value", &case.value)?,
        value: lack.value(),
        tolerance: text.number("tolerance", &case.tolerance)?,
        policy: case.policy,
    })
}
