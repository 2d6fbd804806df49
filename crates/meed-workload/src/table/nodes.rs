//! The node list of Alibaba's GPU cluster of 2023 (openb): a line that names the columns `sn`,
//! `cpu_milli`, `memory_mib`, `gpu`, `model`, and a node on each other.
//!
//! Nodes are called as in the file; the model of their GPUs is the label `model`. A cluster counts
//! of cpu, memory and gpu what it has a resource for.

use std::collections::BTreeSet;
use std::sync::Arc;

use meed::{Labels, NodeSpec, ResourceKinds, Resources};
use meed_config::words::quote;
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

use super::amounts::{AmountUnit, PIECES, amount};
use super::guess;
use super::record::{Record, names_of};
use super::separated::Separated;
use crate::error::{BadLines, BadRow, header};
use crate::fields::MAX_NAME;
use crate::machines::Machines;
use crate::{OnBadLine, TraceError};

/// Each resource, its column and the unit of it.
const COLUMNS: [(&str, &str, &str); 3] =
    [("cpu", "cpu_milli", "milli"), ("memory", "memory_mib", "MiB"), ("gpu", "gpu", "pieces")];
/// Most nodes of a file.
const MAX_NODES: usize = 1 << 20;
/// Where each resource of the cluster stands: kind, column, unit.
type Held = (usize, usize, AmountUnit);

/// Reads a node list for a cluster with these `kinds`.
pub fn read_openb_nodes(
    origin: &Origin,
    kinds: &ResourceKinds,
    on_bad_line: OnBadLine,
) -> Result<Machines, TraceError> {
    let mut lines = Separated::new(Lines::new(origin.open()?, LINE_LIMIT), b',');
    let mut record = Record::default();
    let mut machines = Machines { bad: BadLines::new(on_bad_line), ..Machines::default() };
    let Some(first) = lines.next(&mut record)? else {
        return Err(no_nodes(origin, "the file is empty".to_owned()));
    };
    let names = first.map_err(|why| why.to_string()).and_then(|()| names_of(&record));
    let names = names.map_err(|why| header(origin.name(), record.line, why))?;
    let column = |name: &str| {
        names.iter().position(|found| found == name).ok_or_else(|| {
            let why =
                format!("no column {name}; a node list has sn,cpu_milli,memory_mib,gpu,model");
            header(origin.name(), record.line, why)
        })
    };
    let (sn, model) = (column("sn")?, column("model")?);
    let mut held: Vec<Held> = Vec::new();
    for (resource, name, unit) in COLUMNS {
        let at = column(name)?;
        let is = |kind: &usize| {
            let own = guess::resource_of(kinds.name(*kind)).map(|(of, unit, _)| (of, unit));
            own == Some((resource, kinds.unit(*kind)))
        };
        let kind = (0..kinds.len()).find(is);
        held.extend(kind.map(|kind| (kind, at, AmountUnit::named(unit).unwrap_or(PIECES))));
    }
    let mut known = BTreeSet::new();
    while let Some(found) = lines.next(&mut record)? {
        machines.lines += 1;
        let room = machines.nodes.len() < MAX_NODES;
        let node = found.and_then(|()| node(&record, sn, model, &held, kinds));
        let node = node.and_then(|node| match room && known.insert(node.name.clone()) {
            true => Ok(node),
            false => Err(BadRow::line("a node that is there already, or one too many")),
        });
        match node {
            Ok(node) => machines.nodes.push(node),
            Err(problem) => machines.bad.note(&Arc::clone(origin.name()), record.line, problem)?,
        }
    }
    if machines.nodes.is_empty() {
        let first = machines.bad.first().first();
        let why = first.map_or_else(|| "no line holds a node".to_owned(), ToString::to_string);
        return Err(no_nodes(origin, why));
    }
    machines.assumptions.push("openb: GPUs of a node are one pool".to_owned());
    Ok(machines)
}

fn no_nodes(origin: &Origin, why: String) -> TraceError {
    TraceError::NoMachines { file: Arc::clone(origin.name()), why }
}

fn node(
    record: &Record,
    sn: usize,
    model: usize,
    held: &[Held],
    kinds: &ResourceKinds,
) -> Result<NodeSpec, BadRow> {
    let text = |column: usize, name: &str| {
        let value = record.get(column);
        let text = std::str::from_utf8(value).ok().filter(|text| text.len() <= MAX_NAME);
        let wrong = || format!("{} is no name of at most {MAX_NAME} bytes", quote(value));
        text.ok_or_else(|| BadRow::field(name, wrong()))
    };
    let name = text(sn, "sn")?;
    if name.is_empty() {
        return Err(BadRow::field("sn", "the node has no name"));
    }
    let mut capacity = Resources::zero(kinds.len());
    for (kind, column, unit) in held {
        let value = record.get(*column);
        let wrong = || {
            let resource = kinds.name(*kind);
            BadRow::field(resource, format!("{} is no amount; wanted is a number", quote(value)))
        };
        let (amount, _) = amount(value, *unit, true).map_err(|_| wrong())?;
        capacity.as_mut_slice()[*kind] = amount;
    }
    if capacity.is_zero() {
        return Err(BadRow::line("a node without anything that the cluster counts"));
    }
    let model = text(model, "model")?;
    let labels: Labels = match model {
        "" => Labels::default(),
        model => [("model".to_owned(), model.to_owned())].into(),
    };
    Ok(NodeSpec { labels, ..NodeSpec::new(name, capacity) })
}

/// Whether a file with this first line is a node list.
pub fn is_openb_nodes(start: &[u8]) -> bool {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let names: Vec<&[u8]> = line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
    ["sn", "cpu_milli", "memory_mib", "gpu", "model"]
        .iter()
        .all(|name| names.contains(&name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use meed::Unit;
    use meed_config::units::format_amount;

    use super::*;

    #[test]
    fn nodes_are_read_with_their_models() {
        let text = "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,96000,393216,8,T4\n\
                    n-1,1,1,1,T4\n,1,1,1,\nn-2,x,1,1,\n";
        let kinds = ["gpu", "cpus", "mem"].map(|name| {
            let unit = if name == "mem" { Unit::Bytes } else { Unit::Milli };
            (name.to_owned(), unit)
        });
        let kinds = ResourceKinds::new(kinds.to_vec()).unwrap();
        let origin = Origin::bytes("nodes.csv", text.as_bytes());
        let machines = read_openb_nodes(&origin, &kinds, OnBadLine::Skip).unwrap();
        let told: Vec<String> = machines
            .nodes
            .iter()
            .map(|node| {
                let amount = |kind: usize| format_amount(node.capacity.get(kind), kinds.unit(kind));
                let model = node.labels.get("model").cloned().unwrap_or_default();
                format!("{} {} {} {} {model}", node.name, amount(0), amount(1), amount(2))
            })
            .collect();
        assert_eq!(told, ["n-0 0 32 256GiB ", "n-1 8 96 384GiB T4"]);
        assert_eq!((machines.lines, machines.bad()), (5, 3));
        assert!(is_openb_nodes(text.as_bytes()) && !is_openb_nodes(b"sn,cpu_milli\n"));
        let empty = Origin::bytes("nodes.csv", &b""[..]);
        let error = read_openb_nodes(&empty, &kinds, OnBadLine::Skip).unwrap_err();
        assert_eq!(error.to_string(), "nodes.csv: no machines: the file is empty");
    }
}
