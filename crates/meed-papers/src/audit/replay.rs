//! Counterexamples as files, and files evaluated again.
//!
//! One folder for each: `honest.toml`, `deviating.toml` where there is a lie, and `case.json`,
//! which says what is measured for whom under which policy. The scenarios run under `meed simulate`
//! as they are; [`replay`] reads the three and measures again, by the formulas of the search.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use meed_experiments::rivals::Teller;
use meed_experiments::rivals::table::Chosen;
use meed_files::Guard;
use meed_scenario::{STATIC, Scenario};
use meed_sim::record::RunRecord;
use meed_sim::world::Attendant;
use meed_sim::{Overtaking, SimulateOptions, Unwatched, simulate_attended};
use meed_workload::OnBadLine;
use serde::{Deserialize, Serialize};

use super::case::Tasks;
use super::case_file::{CaseText, ReplayedCase};
use super::course::Course;
use super::draft::Draft;
use super::error::AuditError;
use super::ground::order_of;
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
    /// Minute from which on the liar is honest again, where what came later is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<u32>,
    /// In text: the reader of JSON rounds numbers, and a replay is compared to the last digit.
    value: String,
    tolerance: String,
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
    let against = cell.property.row().against;
    let lies = against.is_lie();
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
        since: (against == Against::Past).then(|| found.case.honest_again()),
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
        match row.against {
            _ if lying => "The same as honest.toml, with the lie.".to_owned(),
            against if against.is_lie() => {
                "All are honest; deviating.toml is the same with the lie.".to_owned()
            }
            against if against.is_alone() => "To be compared with --policy static.".to_owned(),
            _ => "All are honest.".to_owned(),
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
            "meed {} {} --policy {}",
            if is_rival(&cell.policy) { "rivals" } else { "simulate" },
            if lying { "deviating.toml" } else { "honest.toml" },
            cell.policy
        ),
        "meed audit --case case.json".to_owned(),
    ]);
    lines
}

/// Evaluates the case of a `case.json` again.
pub fn replay(file: &Path) -> Result<ReplayedCase<Property>, AuditError> {
    let (text, case) = CaseText::read::<CaseFile>(file)?;
    let wrong = |what: String| text.wrong(what);
    let property = Property::named(&case.property)
        .ok_or_else(|| wrong(format!("unknown property `{}`", case.property)))?;
    let row = property.row();
    let run = |scenario: &Path, policy: &str| run_file(&text.beside(scenario), policy);
    let (honest, log) = run(&case.honest, &case.policy)?;
    let (other, other_log) = match (row.against, &case.deviating) {
        (against, _) if against.is_alone() => Some(run(&case.honest, STATIC)?),
        (against, Some(deviating)) if against.is_lie() => Some(run(deviating, &case.policy)?),
        (against, None) if against.is_lie() => {
            return Err(wrong("names no `deviating` scenario".to_owned()));
        }
        _ => None,
    }
    .unzip();
    let since_s = match (row.against, case.since) {
        (Against::Past, None) => return Err(wrong("says no `since`".to_owned())),
        (_, since) => f64::from(since.unwrap_or(0)) * 60.0,
    };
    let tenant = case.names.first().ok_or_else(|| wrong("`names` is empty".to_owned()))?;
    if !honest.queues.iter().any(|queue| queue.queue == *tenant) {
        return Err(wrong(format!("{} has no queue `{tenant}`", case.honest.display())));
    }
    let seen = Seen {
        honest: &honest,
        course: &Course::of(&log)?,
        other: other.as_ref(),
        other_course: &Course::of(&other_log.unwrap_or_default())?,
        since_s,
        spells: OnceCell::new(),
    };
    Ok(ReplayedCase {
        property,
        about: tenant.clone(),
        written: text.number("value", &case.value)?,
        value: value(row, &seen, &case.names),
        tolerance: text.number("tolerance", &case.tolerance)?,
        policy: case.policy,
    })
}

fn is_rival(policy: &str) -> bool {
    matches!(Chosen::find(policy, None), Ok(Some(_)))
}

/// Runs a scenario file under a policy or a rival, with its log.
fn run_file(file: &Path, policy: &str) -> Result<(RunRecord, Vec<u8>), AuditError> {
    let scenario = Scenario::load(file, &[], OnBadLine::Stop)?;
    let wrong = |what| AuditError::Case { file: format!("--policy {policy}"), what };
    let rival = Chosen::find(policy, None).map_err(wrong)?;
    let options = SimulateOptions {
        policies: vec![order_of(policy, rival.as_ref()).to_owned()],
        strict: true,
        ..SimulateOptions::default()
    };
    let mut teller = rival.map(Teller::new);
    let attendant = teller.as_mut().map(|teller| teller as &mut dyn Attendant);
    let mut log = Vec::new();
    let mut comparison = simulate_attended(
        &scenario,
        &options,
        Overtaking::Nothing,
        vec![attendant],
        Some(&mut log),
        &mut Unwatched,
    )?;
    Ok((comparison.runs.remove(0), log))
}
