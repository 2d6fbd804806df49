//! Machines files of the Alea simulator, as they lie beside its logs.
//!
//! One cluster a line, separated by tabs: number, name, nodes, processors of each, speed, memory of
//! each in kB. Nodes are called by the cluster and a number from 1, as in the log's host names.
//! Labels: cluster, host, cpus. The speed is checked, not used: tasks take as long everywhere.

use std::sync::Arc;

use meed::{Labels, MAX_AMOUNT, NodeSpec, ResourceKinds, Resources, Unit};

use super::assumptions::resolve;
use super::hosts::Hosts;
use super::nodespec::{CLUSTER, CPUS, HOST};
use crate::error::{BadLines, BadRow};
use crate::fields::Column;
use crate::machines::Machines;
use crate::{OnBadLine, TraceError};
use meed_config::words::quote;
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

const COLUMNS: std::ops::RangeInclusive<usize> = 5..=6;
const NUMBER: Column = Column(1, "number");
const NAME: Column = Column(2, "name");
const NODES: Column = Column(3, "nodes");
const PROCESSORS: Column = Column(4, "processors of a node");
const SPEED: Column = Column(5, "speed");
const MEMORY: Column = Column(6, "memory of a node, kB");

/// Most nodes of a file.
const MAX_NODES: usize = 1 << 20;

/// Reads a machines file for a cluster with these `kinds`: processors are the first kind, memory
/// the first in bytes.
pub fn read_machines(
    origin: &Origin,
    kinds: &ResourceKinds,
    on_bad_line: OnBadLine,
) -> Result<Machines, TraceError> {
    let found = resolve(kinds, None, None, "a machines file's")?;
    let mut lines = Lines::new(origin.open()?, LINE_LIMIT);
    let mut machines = Machines { bad: BadLines::new(on_bad_line), ..Machines::default() };
    let mut hosts = Hosts::default();
    while let Some(line) = lines.next_line()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        machines.lines += 1;
        let room = MAX_NODES - machines.nodes.len();
        match cluster(line, found, kinds, room, &mut hosts) {
            Ok(nodes) => machines.nodes.extend(nodes),
            Err(problem) => {
                let (name, number) = (Arc::clone(lines.input().name()), lines.number());
                machines.bad.note(&name, number, problem)?;
            }
        }
    }
    if !machines.nodes.is_empty() {
        return Ok(machines);
    }
    let wanted = "a machines file has number, name, nodes, processors, speed and memory (kB), \
        separated by tabs";
    let why = match machines.bad.first().first() {
        Some(first) => format!("all {} lines are wrong; the first: {first}", machines.lines),
        None => format!("the file is empty; {wanted}"),
    };
    Err(TraceError::NoMachines { file: Arc::clone(origin.name()), why })
}

/// The nodes of one line, which `hosts` takes note of.
fn cluster(
    line: &[u8],
    (cpu, ram): (usize, Option<usize>),
    kinds: &ResourceKinds,
    room: usize,
    hosts: &mut Hosts,
) -> Result<Vec<NodeSpec>, BadRow> {
    let columns: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty()).collect();
    if !COLUMNS.contains(&columns.len()) {
        return Err(BadRow::line(format!(
            "{} columns; a line has number, name, nodes, processors, speed and memory (kB)",
            columns.len()
        )));
    }
    let value = |column: Column| columns[column.0 - 1];
    NUMBER.whole(value(NUMBER), u64::MAX)?;
    SPEED
        .seconds(value(SPEED))
        .map_err(|_| SPEED.wrong(value(SPEED), "is no speed; wanted is a number"))?;
    let name = match std::str::from_utf8(value(NAME)) {
        Ok(name) if name.len() <= 200 => name.to_owned(),
        _ => return Err(NAME.wrong(value(NAME), "is no name; wanted are up to 200 letters")),
    };
    let count = NODES.whole(value(NODES), room as u64)?;
    let processors = PROCESSORS.whole(value(PROCESSORS), MAX_AMOUNT / Unit::Milli.scale())?;
    if count == 0 || processors == 0 {
        return Err(BadRow::line("no nodes, or nodes without processors; leave the line out"));
    }
    let mut capacity = Resources::zero(kinds.len());
    capacity.as_mut_slice()[cpu] = processors * Unit::Milli.scale();
    if let Some(kind) = ram {
        let Some(text) = columns.get(MEMORY.0 - 1) else {
            return Err(BadRow::line(format!(
                "no memory (column 6, in kB), but the cluster has the resource \"{}\"",
                kinds.name(kind)
            )));
        };
        capacity.as_mut_slice()[kind] = MEMORY.whole(text, MAX_AMOUNT / 1024)? * 1024;
    }
    hosts.add(&name, count).map_err(|host| {
        let what = format!("has a node {}, which is there already", quote(host.as_bytes()));
        NAME.wrong(value(NAME), &what)
    })?;
    let node = |number: u64| {
        let host = format!("{name}{number}");
        let labels =
            [(CLUSTER, name.clone()), (HOST, host.clone()), (CPUS, processors.to_string())];
        let labels: Labels = labels.map(|(label, value)| (label.to_owned(), value)).into();
        NodeSpec { labels, ..NodeSpec::new(host, capacity) }
    };
    Ok((1..=count).map(node).collect())
}
