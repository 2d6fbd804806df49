//! `[cluster] machines`: nodes from a file or a published mix, and what changes about them later.

use std::path::{Path, PathBuf};

use meed::ResourceKinds;
use meed_config::nodes::MAX_NODES;
use meed_config::{Place, Spanned};
use meed_workload::cluster::{is_cluster, read_cluster};
use meed_workload::format::is_google;
use meed_workload::google::{Draw, PUBLISHED_MACHINES, published_mix, read_machine_events};
use meed_workload::machines::{MachineChange, Machines};
use meed_workload::mwf::read_machines;
use meed_workload::table::{is_openb_nodes, read_openb_nodes};
use meed_workload::{OnBadLine, Origin, TraceError};

use super::cluster::at;
use super::error::LoadError;
use super::raw;
use crate::changes::{Change, TimedChange};

/// Seed of random draws, unless another is given.
const SEED: u64 = 1;

/// Where the machines come from.
enum Plan {
    Mix { count: u32, draw: Draw },
    Alea(PathBuf),
    Google(PathBuf),
    Openb(PathBuf),
    Cluster(PathBuf),
}

/// Reads them; files are looked for in `folder`. Nothing when none are asked for.
pub(super) fn read(
    raw: Option<&Spanned<raw::Machines>>,
    folder: &Path,
    kinds: &ResourceKinds,
    place: &Place<'_>,
    on_bad_line: OnBadLine,
) -> Result<Machines, LoadError> {
    let Some(raw) = raw else { return Ok(Machines::default()) };
    let plan =
        at(place, raw, plan(raw.get_ref(), folder).map_err(|why| format!("machines: {why}")))?;
    Ok(match plan {
        Plan::Mix { count, draw } => {
            at(place, raw, published_mix(kinds, count, draw).map_err(|why| why.to_string()))?
        }
        Plan::Alea(path) => read_machines(&Origin::path(path), kinds, on_bad_line)?,
        Plan::Google(path) => read_machine_events(&Origin::path(path), kinds, on_bad_line)?,
        Plan::Cluster(path) => {
            let read = read_cluster(&Origin::path(&path))?;
            read.machines(kinds).map_err(|why| TraceError::NoMachines {
                file: path.display().to_string().into(),
                why,
            })?
        }
        Plan::Openb(path) => read_openb_nodes(&Origin::path(path), kinds, on_bad_line)?,
    })
}

fn plan(raw: &raw::Machines, folder: &Path) -> Result<Plan, String> {
    let of_mix = [
        ("count", raw.count.is_some()),
        ("draw", raw.draw.is_some()),
        ("seed", raw.seed.is_some()),
    ];
    match (&raw.file, &raw.mix) {
        (Some(file), None) => {
            if let Some((key, _)) = of_mix.iter().find(|(_, given)| *given) {
                return Err(format!("`{key}` belongs to `mix`; a file is read as it is"));
            }
            file_plan(folder.join(file), raw.format.as_deref())
        }
        (None, Some(mix)) => {
            if mix != "google" {
                return Err(format!("mix `{mix}` is not known; there is google"));
            }
            if raw.format.is_some() {
                return Err("`format` belongs to `file`".to_owned());
            }
            mix_plan(raw)
        }
        _ => Err("give either `file` or `mix`".to_owned()),
    }
}

fn file_plan(path: PathBuf, format: Option<&str>) -> Result<Plan, String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match format {
        Some("alea") => Ok(Plan::Alea(path)),
        Some("google") => Ok(Plan::Google(path)),
        Some("openb") => Ok(Plan::Openb(path)),
        Some("cluster") => Ok(Plan::Cluster(path)),
        Some(other) => Err(format!("format `{other}` is not one of alea, google, openb, cluster")),
        None if is_google(&path, "machine_events") => Ok(Plan::Google(path)),
        None if name.contains(".machines") => Ok(Plan::Alea(path)),
        None if is_openb(&path) => Ok(Plan::Openb(path)),
        None if is_cluster(&Origin::path(&path)) => Ok(Plan::Cluster(path)),
        None => Err(format!(
            "the name `{name}` does not tell the format; .machines is Alea's, machine_events*.csv \
             is Google's, a list with sn,cpu_milli,memory_mib,gpu,model is openb's, or say \
             format = \"alea\", \"google\", \"openb\" or \"cluster\" (slurm.conf and others)"
        )),
    }
}

/// Whether its first line is that of openb's node list; what cannot be read is said by its reader.
fn is_openb(path: &Path) -> bool {
    Origin::path(path).beginning(1 << 10).is_ok_and(|start| is_openb_nodes(&start))
}

/// Without a count the cell as it was; with one, drawn at random as in the DRFH paper.
fn mix_plan(raw: &raw::Machines) -> Result<Plan, String> {
    let cell: u32 = PUBLISHED_MACHINES.iter().map(|class| class.count).sum();
    let count = raw.count.unwrap_or(i64::from(cell));
    let count = u32::try_from(count)
        .ok()
        .filter(|count| (1..=MAX_NODES as u32).contains(count))
        .ok_or_else(|| format!("count is {count}; it must be 1 to {MAX_NODES}"))?;
    let draw = match raw.draw.as_deref() {
        Some("exact") => Draw::Exact,
        Some("random") => Draw::Random { seed: raw.seed.unwrap_or(SEED) },
        None if raw.count.is_none() && raw.seed.is_none() => Draw::Exact,
        None => Draw::Random { seed: raw.seed.unwrap_or(SEED) },
        Some(other) => return Err(format!("draw `{other}` is not one of random, exact")),
    };
    match (draw, raw.seed) {
        (Draw::Exact, Some(_)) => {
            Err("`seed` means nothing with draw = \"exact\"; leave it out".to_owned())
        }
        _ => Ok(Plan::Mix { count, draw }),
    }
}

/// The changes of a file, as those of a scenario.
pub(super) fn changes(machines: &Machines) -> Vec<TimedChange> {
    let change = |change: &MachineChange| match change {
        MachineChange::Joins(node) => Change::NodeJoins(node.clone()),
        MachineChange::Leaves(name) => Change::NodeLeaves(name.clone()),
        MachineChange::Resized(name, capacity) => Change::NodeResized(name.clone(), *capacity),
    };
    machines
        .changes
        .iter()
        .map(|(at, what)| TimedChange { at: *at, change: change(what) })
        .collect()
}

/// What was skipped, and what was assumed, as remarks.
pub(super) fn remarks(machines: &Machines) -> Vec<String> {
    let mut remarks = [machines.told.clone(), machines.assumptions.clone()].concat();
    remarks.extend(machines.bad_lines().iter().map(|line| format!("skipped {line}")));
    if machines.bad() > machines.bad_lines().len() as u64 {
        remarks.push(format!("machines: {} wrong lines skipped in all", machines.bad()));
    }
    remarks
}
