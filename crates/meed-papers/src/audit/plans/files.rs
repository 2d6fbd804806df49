//! Counterexamples as files, and files evaluated again: `honest.toml`, `deviating.toml`,
//! `alone.toml` and `deviating-alone.toml` as far as they are compared, and `case.json`.
//! [`replay_plans`] runs the scenarios anew and measures by the formulas of the search.

use std::path::{Path, PathBuf};

use meed_files::Guard;
use serde::{Deserialize, Serialize};

use super::case::{PlanCase, name};
use super::measure::{Runs, texts, tolerance, value};
use super::property::PlanProperty;
use super::result::{PlanAudit, PlanCell, PlanCounterexample};
use crate::audit::case_file::{CaseText, ReplayedCase, read};
use crate::audit::error::AuditError;
use crate::audit::replay::{plain, write_each};

/// Names of the files, in the order of [`Runs`], and what each is.
const FILES: [(&str, &str); 4] = [
    ("honest.toml", "All are honest."),
    ("deviating.toml", "The same as honest.toml, with the lie."),
    ("alone.toml", "The tenant alone, honest; the order does not matter."),
    ("deviating-alone.toml", "The tenant alone, with the lie; the order does not matter."),
];

/// What stands in `case.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanCaseFile {
    /// Tells it from other cases.
    plans: bool,
    property: PlanProperty,
    policy: String,
    tenant: String,
    /// Beside this file, where they are compared and somebody has work: all honest, with the lie,
    /// and both alone.
    scenarios: [Option<PathBuf>; 4],
    /// In text: the reader of JSON rounds numbers.
    value: String,
    case: PlanCase,
}

/// Writes every counterexample into a folder of its own below `folder`, and returns these.
pub fn write_plans(
    audit: &PlanAudit,
    folder: &Path,
    files: &mut Guard,
) -> Result<Vec<PathBuf>, AuditError> {
    let found = audit.cells.iter().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?)));
    write_each(folder, found, folder_name, |cell, found, place| {
        write_one(cell, found, place, files)
    })
}

/// `plans-1-2-splitting-as-you-pay`.
pub(super) fn folder_name(cell: &PlanCell) -> String {
    format!("plans-{}-{}-{}", cell.problem.name(), cell.property.row().name, plain(&cell.policy))
}

fn write_one(
    cell: &PlanCell,
    found: &PlanCounterexample,
    place: &Path,
    files: &mut Guard,
) -> Result<(), AuditError> {
    let tenant = tenant_of(&found.tenant).unwrap_or(found.case.liar);
    let remarks = |at: usize| {
        let mut lines = vec![
            format!(
                "A counterexample to {} in problem {}, under --policy {}.",
                cell.property.row().name,
                cell.problem.name(),
                cell.policy
            ),
            FILES[at].1.to_owned(),
        ];
        lines.extend(found.story.iter().cloned());
        lines.push(format!(
            "Value {}; whole tasks and ticks explain {}.",
            found.value, found.tolerance
        ));
        lines.push("meed audit --case case.json".to_owned());
        lines
    };
    let mut scenarios = [const { None }; 4];
    let texts = texts(cell.property, &found.case, tenant, &remarks);
    for ((text, (name, _)), scenario) in texts.iter().zip(FILES).zip(&mut scenarios) {
        if let Some(text) = text {
            files.write_text(&place.join(name), text)?;
            *scenario = Some(PathBuf::from(name));
        }
    }
    let case = PlanCaseFile {
        plans: true,
        property: cell.property,
        policy: cell.policy.clone(),
        tenant: found.tenant.clone(),
        scenarios,
        value: found.value.to_string(),
        case: found.case.clone(),
    };
    let text = format!("{}\n", serde_json::to_string_pretty(&case)?);
    Ok(files.write_text(&place.join("case.json"), &text)?)
}

/// The tenant that is called so.
fn tenant_of(own: &str) -> Option<usize> {
    (0..26).find(|&tenant| name(tenant) == own)
}

/// Evaluates the case of a `case.json` again.
pub fn replay_plans(file: &Path) -> Result<ReplayedCase<PlanProperty>, AuditError> {
    let (text, file_of) = CaseText::read::<PlanCaseFile>(file)?;
    let wrong = |what: String| text.wrong(what);
    let (property, case) = (file_of.property, &file_of.case);
    let tenant = tenant_of(&file_of.tenant).filter(|&tenant| tenant < case.tenants.len());
    let tenant =
        tenant.ok_or_else(|| wrong(format!("nobody of `case` is called `{}`", file_of.tenant)))?;
    if !case.is_sound(property) {
        return Err(wrong("its `case` is none that a search could have drawn".to_owned()));
    }
    let needed = texts(property, case, tenant, &|_| Vec::new()).map(|text| text.is_some());
    if needed != [0, 1, 2, 3].map(|at| file_of.scenarios[at].is_some()) {
        let of = property.row().name;
        return Err(wrong(format!("`scenarios` names others than {of} compares")));
    }
    let mut texts = [const { None }; 4];
    for (path, scenario) in file_of.scenarios.iter().zip(&mut texts) {
        *scenario = path.as_ref().map(|path| read(&text.beside(path))).transpose()?;
    }
    let runs = Runs::of(&texts, &file_of.policy, None)?;
    let written = text.number("value", &file_of.value)?;
    Ok(ReplayedCase {
        property,
        value: value(property, case, &runs, tenant),
        written,
        tolerance: tolerance(property, case, tenant),
        about: file_of.tenant,
        policy: file_of.policy,
    })
}
