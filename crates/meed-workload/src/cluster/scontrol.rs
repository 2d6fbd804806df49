//! `scontrol show node`, with `-o` or without: `KEY=VALUE` by white space, a node from `NodeName=`
//! to the next. The output of `scontrol show partition` may stand in the same file: a partition
//! begins with `PartitionName=`, and says what a line of `slurm.conf` says.
//!
//! `CfgTRES` has the processors that jobs can be given (16 less a reserved core of two threads are
//! 14), and memory of which `MemSpecLimit` (MiB) is not taken off yet. It has GPUs only where
//! accounting tracks them, so `Gres` says them. `CPUTot` and `RealMemory` (MiB) are of all.
//! A node that never registered has no `Arch`, and one of the state FUTURE is not printed. Source:
//! slurmctld and scontrol of Slurm 22.05.8, run.

use std::collections::BTreeMap;

use super::slurm_conf::Keys;
use super::{
    Amounts, CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, amounts, left_out, slurm_order,
};

pub(super) fn is(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let begins = |key: &str| first.starts_with(key);
    let of_nodes =
        first.contains(" Arch=") || ["CPUTot=", " CPUAlloc="].iter().any(|key| text.contains(key));
    (begins("NodeName=") && of_nodes) || (begins("PartitionName=") && text.contains(" TotalNodes="))
}

/// A node or a partition: the line where it begins, and what it says. A key counts once.
struct Entry<'t> {
    line: usize,
    is_partition: bool,
    keys: BTreeMap<&'t str, &'t str>,
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let mut known = BTreeMap::new();
    let (mut gone, mut partitions) = (0, Vec::new());
    for entry in entries(text) {
        match entry.is_partition {
            true => partitions.push(keys_of(&entry)),
            false => add(&entry, cluster, &mut known, &mut gone)?,
        }
    }
    if gone > 0 {
        let (one, several) = ("node of the state FUTURE", "nodes of the state FUTURE");
        cluster.words.push(left_out(gone, one, several));
    }
    cluster.partitions.extend(partitions.iter().map(slurm_order::terms));
    cluster.words.extend(slurm_order::not_followed(&Keys::new(), partitions.iter()));
    if cluster.nodes.is_empty() && !partitions.is_empty() {
        return Err(Fault::whole(
            "it tells of partitions, and of no node: put what `scontrol show node` prints into \
             the same file",
        ));
    }
    Ok(())
}

fn entries(text: &str) -> Vec<Entry<'_>> {
    let mut all: Vec<Entry<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else { continue };
            let is_partition = key == "PartitionName";
            if is_partition || key == "NodeName" {
                all.push(Entry { line: number + 1, is_partition, keys: BTreeMap::new() });
            }
            if let Some(entry) = all.last_mut() {
                entry.keys.entry(key).or_insert(value);
            }
        }
    }
    all
}

/// What a partition says, with keys as those of a `slurm.conf`.
fn keys_of(entry: &Entry<'_>) -> Keys {
    let keys = entry.keys.iter();
    keys.map(|(key, value)| (key.to_ascii_lowercase(), (*value).to_owned())).collect()
}

fn add(
    entry: &Entry<'_>,
    cluster: &mut ClusterFile,
    known: &mut BTreeMap<String, usize>,
    gone: &mut usize,
) -> Result<(), Fault> {
    let get = |key: &str| entry.keys.get(key).copied().unwrap_or_default();
    if get("State").starts_with("FUTURE") {
        *gone += 1;
        return Ok(());
    }
    let amounts = amounts_of(&get).map_err(|why| Fault::at(entry.line, why))?;
    let partitions = get("Partitions").split(',').filter(|name| !name.is_empty());
    let node = ClusterNode {
        name: get("NodeName").to_owned(),
        amounts,
        partitions: partitions.map(str::to_owned).collect(),
    };
    cluster.add(node, known).map_err(|why| Fault::at(entry.line, why))
}

fn amounts_of<'a>(get: &impl Fn(&str) -> &'a str) -> Result<Amounts, String> {
    let wrong = |key: &str| format!("{key}={} is no amount", get(key));
    let mut all = Amounts::new();
    if !get("CPUTot").is_empty() {
        all.insert(CPU, amounts::pieces(get("CPUTot")).ok_or_else(|| wrong("CPUTot"))?);
    }
    if !get("RealMemory").is_empty() {
        let memory = amounts::size(get("RealMemory"), 1 << 20);
        all.insert(MEMORY, memory.ok_or_else(|| wrong("RealMemory"))?);
    }
    all.insert(GPU, amounts::gpus(get("Gres")).ok_or_else(|| wrong("Gres"))?);
    let mut typed = 0;
    for entry in get("CfgTRES").split(',').filter(|entry| !entry.is_empty()) {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        let none = || wrong("CfgTRES");
        match name {
            "cpu" => drop(all.insert(CPU, amounts::pieces(value).ok_or_else(none)?)),
            "mem" => drop(all.insert(MEMORY, amounts::size(value, 1 << 20).ok_or_else(none)?)),
            "gres/gpu" => drop(all.insert(GPU, amounts::pieces(value).ok_or_else(none)?)),
            _ if name.starts_with("gres/gpu:") => {
                typed += amounts::pieces(value).ok_or_else(none)?;
            }
            _ => {}
        }
    }
    let gpus = all.entry(GPU).or_default();
    *gpus = (*gpus).max(typed);
    if let Some(memory) = all.get_mut(MEMORY) {
        let kept = amounts::size(get("MemSpecLimit"), 1 << 20).unwrap_or(0);
        *memory = memory.saturating_sub(kept);
    }
    Ok(all)
}
