//! `[[workload]]`: the macro-workloads of the LTYARN papers in queues of a scenario.

use std::collections::BTreeSet;
use std::path::Path;

use meed::{ResourceKinds, Time};
use meed_config::quantity::demand;
use meed_config::words::did_you_mean;
use meed_config::{Place, Spanned};
use meed_workload::Origin;
use meed_workload::macro_workload::{Flow, MacroSpec, WORKLOADS, Workload, read_submissions};

use super::cluster::at;
use super::error::LoadError;
use super::jobs::span;
use super::raw;

/// Reads all `[[workload]]` tables; files of submissions are looked for in `folder` and read at
/// once.
pub(super) fn read(
    raw: &[Spanned<raw::Workload>],
    kinds: &ResourceKinds,
    folder: &Path,
    place: &Place<'_>,
) -> Result<Vec<MacroSpec>, LoadError> {
    let mut specs: Vec<MacroSpec> = Vec::new();
    let mut streams = BTreeSet::new();
    for entry in raw {
        let mut spec = at(place, entry, workload(entry.get_ref(), kinds))?;
        if !streams.insert(spec.stream()) {
            let what = format!(
                "workload `{}`: queue `{}` has it twice, which would draw equal jobs",
                spec.workload.name, spec.queue
            );
            return Err(place.error(entry.span(), what).into());
        }
        if let Some(file) = &entry.get_ref().submissions {
            if !matches!(spec.workload.flow, Flow::Submissions { .. }) {
                let what = format!(
                    "workload `{}`: leave `submissions` out; only facebook takes its times from a \
                     file",
                    spec.workload.name
                );
                return Err(place.error(entry.span(), what).into());
            }
            let origin = Origin::path(folder.join(file));
            spec.submissions = Some(read_submissions(&origin, spec.workload.jobs())?);
        }
        at(place, entry, spec.check(kinds.len()).map_err(|why| why.to_string()))?;
        specs.push(spec);
    }
    Ok(specs)
}

fn workload(raw: &raw::Workload, kinds: &ResourceKinds) -> Result<MacroSpec, String> {
    let Some(workload) = Workload::find(&raw.name) else {
        let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        let near = did_you_mean(&raw.name, names.iter().copied()).unwrap_or_default();
        return Err(format!(
            "there is no workload `{}`, only {}. {near}",
            raw.name,
            names.join(", ")
        )
        .trim_end()
        .to_owned());
    };
    let in_words = |why: String| format!("workload `{}`: {why}", raw.name);
    let start =
        raw.start.as_ref().map(|start| span("start", start)).transpose().map_err(in_words)?;
    Ok(MacroSpec {
        workload,
        queue: raw.queue.clone(),
        start: start.map_or(Time::ZERO, |start| Time::ZERO.saturating_add(start)),
        demand: demand(&raw.demand, kinds).map_err(in_words)?,
        task_time_scale: raw.task_time_scale.unwrap_or(1.0),
        submissions: None,
    })
}
