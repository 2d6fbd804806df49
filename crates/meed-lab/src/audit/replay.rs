//! Counterexamples as files, and files evaluated again.
//!
//! One folder for each: `honest.toml`, `deviating.toml` where there is a lie, and `case.json`,
//! which says what is measured for whom under which policy. The scenarios run under `meed simulate`
//! as they are; [`replay`] reads the three and measures again, by the formulas of the search.

use std::path::{Path, PathBuf};

use meed_files::Guard;
use meed_sim::scenario::{STATIC, Scenario};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde::{Deserialize, Serialize};

use super::AuditError;
use super::case::Tasks;
use super::course::Course;
use super::draft::Draft;
use super::measure::{Seen, value};
use super::property::{Against, Property};
use super::result::{Audit, AuditCell, Counterexample};

/// What stands in `case.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    property: String,
    policy: String,
    /// The tenant's queues: its honest one first.
    names: Vec<String>,
    /// Beside this file.
    honest: PathBuf,
    deviating: Option<PathBuf>,
    /// In text: the reader of JSON rounds numbers, and a replay is compared to the last digit.
    value: String,
    tolerance: String,
}

/// A case, evaluated again.
#[derive(Clone, PartialEq, Debug)]
pub struct ReplayedAudit {
    /// Of which property.
    pub property: Property,
    /// Under which policy.
    pub policy: String,
    /// The tenant.
    pub tenant: String,
    /// What the file says.
    pub written: f64,
    /// What came out now.
    pub value: f64,
    /// What whole tasks alone could make of it.
    pub tolerance: f64,
}

/// Writes every counterexample into a folder of its own below `folder`, and returns these.
pub fn write_counterexamples(
    audit: &Audit,
    folder: &Path,
    files: &mut Guard,
) -> Result<Vec<PathBuf>, AuditError> {
    let found = audit.cells.iter().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?)));
    write_each(folder, found, folder_name, |cell, found, place| {
        write_one(cell, found, place, files)
    })
}

/// Writes every counterexample by `write` into a folder of its own, which `name` calls, and returns
/// these.
pub(super) fn write_each<'a, C: 'a, F: 'a>(
    folder: &Path,
    found: impl Iterator<Item = (&'a C, &'a F)>,
    name: impl Fn(&C) -> String,
    mut write: impl FnMut(&C, &F, &Path) -> Result<(), AuditError>,
) -> Result<Vec<PathBuf>, AuditError> {
    let mut written = Vec::new();
    for (cell, found) in found {
        let place = folder.join(name(cell));
        std::fs::create_dir_all(&place)
            .map_err(|cause| AuditError::File { file: place.display().to_string(), cause })?;
        write(cell, found, &place)?;
        written.push(place);
    }
    Ok(written)
}

/// A policy's words as a part of a folder's name.
pub(super) fn plain(policy: &str) -> String {
    policy.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

/// `strategy-proofness-long-term-round-10min-unit`.
pub(super) fn folder_name(cell: &AuditCell) -> String {
    let tasks = match cell.tasks {
        Tasks::Unit => "unit",
        Tasks::Whole => "whole",
    };
    format!("{}-{}-{tasks}", cell.property.row().name, plain(&cell.policy))
}

fn write_one(
    cell: &AuditCell,
    found: &Counterexample,
    place: &Path,
    files: &mut Guard,
) -> Result<(), AuditError> {
    let lies = cell.property.row().against == Against::Lie;
    let mut write = |name: &str, text: &str| -> Result<(), AuditError> {
        Ok(files.write_text(&place.join(name), text)?)
    };
    write("honest.toml", &Draft::of(&found.case, false).text(&remarks(cell, found, false)))?;
    if lies {
        write("deviating.toml", &Draft::of(&found.case, true).text(&remarks(cell, found, true)))?;
    }
    let case = CaseFile {
        property: cell.property.row().name.to_owned(),
        policy: cell.policy.clone(),
        names: found.names.clone(),
        honest: "honest.toml".into(),
        deviating: lies.then(|| "deviating.toml".into()),
        value: found.value.to_string(),
        tolerance: found.tolerance.to_string(),
    };
    write("case.json", &format!("{}\n", serde_json::to_string_pretty(&case)?))
}

/// What a reader of the file has to know.
fn remarks(cell: &AuditCell, found: &Counterexample, lying: bool) -> Vec<String> {
    let row = cell.property.row();
    let mut lines = vec![
        format!("A counterexample to {}, under --policy {}.", row.title, cell.policy),
        match (row.against, lying) {
            (Against::Lie, false) => {
                "All are honest; deviating.toml is the same with the lie.".to_owned()
            }
            (Against::Lie, true) => "The same as honest.toml, with the lie.".to_owned(),
            (Against::Alone, _) => "To be compared with --policy static.".to_owned(),
            (Against::Contribution | Against::Idle | Against::Turn, _) => {
                "All are honest.".to_owned()
            }
        },
        String::new(),
    ];
    lines.extend(found.story.iter().cloned());
    lines.extend([
        String::new(),
        format!("Value {}; whole tasks alone could make {}.", found.value, found.tolerance),
        "Useful work is usage of `slot` less usage of `useless`, which no policy counts."
            .to_owned(),
        format!(
            "meed simulate {} --policy {}",
            if lying { "deviating.toml" } else { "honest.toml" },
            cell.policy
        ),
        "meed audit --case case.json".to_owned(),
    ]);
    lines
}

/// Evaluates the case of a `case.json` again.
pub fn replay(file: &Path) -> Result<ReplayedAudit, AuditError> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|cause| AuditError::File { file: name.clone(), cause })?;
    let wrong = |what: String| AuditError::Case { file: name.clone(), what };
    let case: CaseFile = serde_json::from_str(&text)
        .map_err(|why| wrong(format!("is no case as `meed audit --out` writes it: {why}")))?;
    let property = Property::named(&case.property)
        .ok_or_else(|| wrong(format!("unknown property `{}`", case.property)))?;
    let row = property.row();
    let folder = file.parent().unwrap_or(Path::new("."));
    let run = |scenario: &Path, policy: &str, log: &mut Vec<u8>| -> Result<_, AuditError> {
        let scenario = Scenario::load(&folder.join(scenario), &[], OnBadLine::Stop)?;
        let options = SimulateOptions {
            policies: vec![policy.to_owned()],
            strict: true,
            ..SimulateOptions::default()
        };
        let mut comparison = simulate(&scenario, &options, Some(log), &mut Unwatched)?;
        Ok(comparison.runs.remove(0))
    };
    let (mut log, mut unread) = (Vec::new(), Vec::new());
    let honest = run(&case.honest, &case.policy, &mut log)?;
    let other = match (row.against, &case.deviating) {
        (Against::Alone, _) => Some(run(&case.honest, STATIC, &mut unread)?),
        (Against::Lie, Some(deviating)) => Some(run(deviating, &case.policy, &mut unread)?),
        (Against::Lie, None) => return Err(wrong("names no `deviating` scenario".to_owned())),
        (Against::Contribution | Against::Idle | Against::Turn, _) => None,
    };
    let tenant = case.names.first().ok_or_else(|| wrong("`names` is empty".to_owned()))?;
    if !honest.queues.iter().any(|queue| queue.queue == *tenant) {
        return Err(wrong(format!("{} has no queue `{tenant}`", case.honest.display())));
    }
    let number = |what: &str, text: &str| {
        text.parse::<f64>().map_err(|_| wrong(format!("`{what}` is `{text}`, which is no number")))
    };
    let course = Course::of(&log)?;
    let seen = Seen { honest: &honest, course: &course, other: other.as_ref() };
    Ok(ReplayedAudit {
        property,
        tenant: tenant.clone(),
        written: number("value", &case.value)?,
        value: value(row, &seen, &case.names),
        tolerance: number("tolerance", &case.tolerance)?,
        policy: case.policy,
    })
}
