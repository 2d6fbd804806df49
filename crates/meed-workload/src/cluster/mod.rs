//! The nodes of a cluster, from what its own scheduler is configured with or prints.
//!
//! | format | what it is | file here |
//! |---|---|---|
//! | `slurm.conf` | Slurm's configuration: nodes, partitions, order and memory | `slurm_conf.rs`, `slurm_order.rs` |
//! | `scontrol` | `scontrol show node`, one line a node or many; also partitions | `scontrol.rs` |
//! | `sinfo`, `lshosts`, `bhosts`, `qhost` | tables with a line of names | `columns.rs` |
//! | `pbsnodes` | `pbsnodes -av` of PBS, `pbsnodes` of Torque | `pbsnodes.rs` |
//! | `condor` | `condor_status -l` | `condor.rs` |
//! | `kubernetes` | `kubectl get nodes -o json` | `kubernetes.rs` |
//! | `yarn` | `/ws/v1/cluster/nodes` of YARN's ResourceManager | `yarn.rs` |
//!
//! Which it is, its content says ([`FORMATS`], in that order). Amounts become integers in the
//! engine's units: thousandths of processors and GPUs, bytes of memory. What is read and cannot be
//! used is said in [`ClusterFile::words`].
//!
//! Cost: the whole file in memory, and one entry per node.

mod amounts;
mod columns;
mod condor;
mod hosts;
mod kubernetes;
mod pbsnodes;
mod scontrol;
mod slurm_conf;
mod slurm_order;
#[cfg(test)]
mod tests;
mod yarn;

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{Labels, NodeSpec, ResourceKinds, Resources, Unit};
use meed_config::words::quote;

pub use hosts::expand_hosts;

use crate::machines::Machines;
use crate::partitions::{PARTITION, PartitionTerms};
use crate::table::resource_named;
use crate::{Origin, TraceError};

/// Most nodes of a cluster.
const MAX_NODES: usize = 1 << 20;

/// What a node has, by the names `cpu`, `memory` and `gpu`: thousandths, bytes, thousandths.
type Amounts = BTreeMap<&'static str, u64>;

const CPU: &str = "cpu";
const MEMORY: &str = "memory";
const GPU: &str = "gpu";

/// A node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClusterNode {
    /// Its name.
    pub name: String,
    /// What it has; what is not named here the file does not tell.
    pub amounts: Amounts,
    /// The partitions or queues that use it, as far as the file tells.
    pub partitions: Vec<String>,
}

/// What a file says of a cluster.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClusterFile {
    /// Its format, a name of [`FORMATS`].
    pub format: &'static str,
    /// Its nodes, each name once, in the order of the file.
    pub nodes: Vec<ClusterNode>,
    /// What it says of partitions; only Slurm's own files tell.
    pub partitions: Vec<PartitionTerms>,
    /// What was left out or taken for granted, in words.
    pub words: Vec<String>,
    /// The order in which the cluster serves, in the words of `meed rivals`, and where that is
    /// said; only a `slurm.conf` tells.
    pub order: Option<(String, String)>,
}

/// What is wrong with a file: the line where there is one, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Fault {
    line: Option<u64>,
    why: String,
}

impl Fault {
    fn at(line: usize, why: impl Into<String>) -> Fault {
        Fault { line: Some(line as u64), why: why.into() }
    }

    fn whole(why: impl Into<String>) -> Fault {
        Fault { line: None, why: why.into() }
    }
}

/// How a format is read: from its text alone, or with files beside it, by their names.
#[derive(Clone, Copy)]
enum Reads {
    Alone(fn(&str, &mut ClusterFile) -> Result<(), Fault>),
    Beside(fn(&str, &Beside<'_>, &mut ClusterFile) -> Result<(), Fault>),
}

/// The content of a file by its name, or why it cannot be read.
type Beside<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// A format.
pub struct ClusterFormat {
    /// Its name.
    pub name: &'static str,
    /// The command that prints it, or the file.
    pub source: &'static str,
    is: fn(&str) -> bool,
    read: Reads,
}

/// All formats that are read, in the order in which a file is compared with them.
pub const FORMATS: [ClusterFormat; 10] = [
    ClusterFormat {
        name: "kubernetes",
        source: "kubectl get nodes -o json",
        is: kubernetes::is,
        read: Reads::Alone(kubernetes::read),
    },
    ClusterFormat {
        name: "yarn",
        source: "/ws/v1/cluster/nodes of YARN",
        is: yarn::is,
        read: Reads::Alone(yarn::read),
    },
    ClusterFormat {
        name: "condor",
        source: "condor_status -l",
        is: condor::is,
        read: Reads::Alone(condor::read),
    },
    ClusterFormat {
        name: "scontrol",
        source: "scontrol show node",
        is: scontrol::is,
        read: Reads::Alone(scontrol::read),
    },
    ClusterFormat {
        name: "slurm.conf",
        source: "slurm.conf",
        is: slurm_conf::is,
        read: Reads::Beside(slurm_conf::read),
    },
    ClusterFormat {
        name: "pbsnodes",
        source: "pbsnodes -av",
        is: pbsnodes::is,
        read: Reads::Alone(pbsnodes::read),
    },
    ClusterFormat {
        name: "sinfo",
        source: "sinfo -N -o '%N %c %m %G %P'",
        is: columns::is_sinfo,
        read: Reads::Alone(columns::read_sinfo),
    },
    ClusterFormat {
        name: "lshosts",
        source: "lshosts -w",
        is: columns::is_lshosts,
        read: Reads::Alone(columns::read_lshosts),
    },
    ClusterFormat {
        name: "bhosts",
        source: "bhosts -w",
        is: columns::is_bhosts,
        read: Reads::Alone(columns::read_bhosts),
    },
    ClusterFormat {
        name: "qhost",
        source: "qhost",
        is: columns::is_qhost,
        read: Reads::Alone(columns::read_qhost),
    },
];

/// Reads what `origin` says of a cluster.
///
/// # Errors
///
/// The file cannot be read, is of no known format, or tells of no node.
pub fn read_cluster(origin: &Origin) -> Result<ClusterFile, TraceError> {
    let bytes = origin.whole()?;
    let text = String::from_utf8_lossy(&bytes);
    let none = |why: String| TraceError::NoMachines { file: Arc::clone(origin.name()), why };
    let Some(format) = FORMATS.iter().find(|format| (format.is)(&text)) else {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.source).collect();
        let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else {
            return Err(none(format!("the file is empty; known are {}", known.join(", "))));
        };
        return Err(none(format!(
            "its content is of no known form, and begins with {}; known are {}",
            quote(first.as_bytes()),
            known.join(", ")
        )));
    };
    let mut cluster = ClusterFile { format: format.name, ..ClusterFile::default() };
    let beside = |name: &str| {
        let other = origin.beside(name).ok_or("it has no place on a disk")?;
        let bytes = other.whole().map_err(|why| why.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let read = match format.read {
        Reads::Alone(read) => read(&text, &mut cluster),
        Reads::Beside(read) => read(&text, &beside, &mut cluster),
    };
    read.map_err(|fault| match fault.line {
        Some(line) => TraceError::Header { file: Arc::clone(origin.name()), line, why: fault.why },
        None => none(fault.why),
    })?;
    if cluster.nodes.is_empty() {
        let why = match cluster.words.is_empty() {
            true => format!("it holds no node; {} prints them", format.source),
            false => cluster.words.join("; "),
        };
        return Err(none(why));
    }
    Ok(cluster)
}

/// Bytes in the largest unit that they fill, to the nearest tenth: `251.6GiB`.
fn size_in_words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let power = (1..UNITS.len()).rev().find(|power| bytes >> (10 * power) > 0).unwrap_or(0);
    let unit = 1u128 << (10 * power);
    let tenths = (u128::from(bytes) * 10 + unit / 2) / unit;
    let name = UNITS[power];
    match tenths % 10 {
        0 => format!("{}{name}", tenths / 10),
        rest => format!("{}.{rest}{name}", tenths / 10),
    }
}

/// `1 node that takes no pods is left out`, `2 nodes that take no pods are left out`.
fn left_out(count: usize, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one} is left out"),
        _ => format!("{count} {several} are left out"),
    }
}

/// Whether the content of a file is of a form that [`read_cluster`] knows; what cannot be read is
/// said by that one.
pub fn is_cluster(origin: &Origin) -> bool {
    const BEGINNING: u64 = 1 << 20;
    origin.beginning(BEGINNING).is_ok_and(|start| {
        let text = String::from_utf8_lossy(&start);
        FORMATS.iter().any(|format| (format.is)(&text))
    })
}

impl ClusterFile {
    /// Adds a node, or what another line says of the same one: the larger amounts, and further
    /// partitions. `known` has the places of nodes by name.
    fn add(
        &mut self,
        node: ClusterNode,
        known: &mut BTreeMap<String, usize>,
    ) -> Result<(), String> {
        if let Some(&at) = known.get(&node.name) {
            let there = &mut self.nodes[at];
            for (name, amount) in node.amounts {
                let own = there.amounts.entry(name).or_default();
                *own = (*own).max(amount);
            }
            let new = node.partitions.into_iter().filter(|name| !there.partitions.contains(name));
            let new: Vec<String> = new.collect();
            there.partitions.extend(new);
            return Ok(());
        }
        if self.nodes.len() >= MAX_NODES {
            return Err(format!("more than {MAX_NODES} nodes"));
        }
        known.insert(node.name.clone(), self.nodes.len());
        self.nodes.push(node);
        Ok(())
    }

    /// Whether some node says how much of `resource` it has.
    fn tells(&self, resource: &str) -> bool {
        self.nodes.iter().any(|node| node.amounts.contains_key(resource))
    }

    /// The nodes in words, those together that look alike: `5 x (128 cpu, 1TiB memory, 8 gpu)`.
    /// Memory is rounded to a tenth of its unit.
    pub fn nodes_in_words(&self) -> String {
        let words = |amounts: &Amounts| {
            let each = [(CPU, Unit::Milli), (MEMORY, Unit::Bytes), (GPU, Unit::Milli)];
            let each = each.iter().filter_map(|(name, unit)| {
                let amount = amounts.get(name).filter(|amount| **amount > 0)?;
                let amount = match unit {
                    Unit::Bytes => size_in_words(*amount),
                    Unit::Milli => meed_config::units::format_amount(*amount, *unit),
                };
                Some(format!("{amount} {name}"))
            });
            each.collect::<Vec<_>>().join(", ")
        };
        let mut alike: Vec<(String, usize)> = Vec::new();
        for node in &self.nodes {
            let one = words(&node.amounts);
            match alike.iter_mut().find(|(known, _)| *known == one) {
                Some((_, count)) => *count += 1,
                None => alike.push((one, 1)),
            }
        }
        const SHOWN: usize = 4;
        let one = |(words, count): &(String, usize)| format!("{count} x ({words})");
        let mut words: Vec<String> = alike.iter().take(SHOWN).map(one).collect();
        if alike.len() > SHOWN {
            words.push(format!("and {} other kinds of nodes", alike.len() - SHOWN));
        }
        words.join(", ")
    }

    /// The nodes for a run that counts `kinds`. A resource of which the file says nothing is no
    /// limit: each node has as much of it as can be counted for all, and the assumptions say so.
    ///
    /// # Errors
    ///
    /// In words: the file says nothing of any of `kinds`.
    pub fn machines(&self, kinds: &ResourceKinds) -> Result<Machines, String> {
        let known: Vec<Option<&'static str>> = (0..kinds.len())
            .map(|kind| {
                let (name, unit) = resource_named(kinds.name(kind))?;
                (unit == kinds.unit(kind) && self.tells(name)).then_some(name)
            })
            .collect();
        if known.iter().all(Option::is_none) {
            let names: Vec<&str> = kinds.names().collect();
            return Err(format!(
                "it tells of {}, and the jobs hold {}",
                [CPU, MEMORY, GPU]
                    .into_iter()
                    .filter(|name| self.tells(name))
                    .collect::<Vec<_>>()
                    .join(", "),
                names.join(", ")
            ));
        }
        let no_limit = meed::MAX_AMOUNT / self.nodes.len().max(1) as u64;
        let mut machines = Machines::default();
        let mut left_out = 0;
        for node in &self.nodes {
            let mut capacity = Resources::zero(kinds.len());
            for (kind, name) in known.iter().enumerate() {
                let amount = match name {
                    Some(name) => node.amounts.get(name).copied().unwrap_or(0),
                    None => no_limit,
                };
                capacity.as_mut_slice()[kind] = amount;
            }
            let holds =
                |(kind, name): (usize, &Option<&str>)| name.is_some() && capacity.get(kind) > 0;
            if !known.iter().enumerate().any(holds) {
                left_out += 1;
                continue;
            }
            let labels: Labels = match node.partitions.is_empty() {
                true => Labels::default(),
                false => [(PARTITION.to_owned(), node.partitions.join(","))].into(),
            };
            machines.nodes.push(NodeSpec { labels, ..NodeSpec::new(&node.name, capacity) });
        }
        machines.partitions = self.partitions.clone();
        machines.lines = self.nodes.len() as u64;
        machines.ignored = left_out;
        let nodes = self.nodes_in_words();
        machines.told.push(format!("the cluster, by {}: {nodes}", self.format));
        machines.told.extend(self.words.iter().cloned());
        let unknown = known.iter().enumerate().filter(|(_, name)| name.is_none());
        machines.told.extend(unknown.map(|(kind, _)| {
            let name = kinds.name(kind);
            format!("{name} is no limit: {} tells of no {name}", self.format)
        }));
        if machines.nodes.is_empty() {
            return Err("no node of it has anything that the jobs hold".to_owned());
        }
        Ok(machines)
    }
}
