//! `scontrol show node`, with `-o` or without: `KEY=VALUE` by white space, a node from `NodeName=`
//! to the next.
//!
//! `CfgTRES` has the processors that jobs can be given (16 less a reserved core of two threads are
//! 14), and memory of which `MemSpecLimit` (MiB) is not taken off yet. It has GPUs only where
//! accounting tracks them, so `Gres` says them. `CPUTot` and `RealMemory` (MiB) are of all.
//! A node that never registered has no `Arch`, and one of the state FUTURE is not printed. Source:
//! slurmctld and scontrol of Slurm 22.05.8, run.

use std::collections::BTreeMap;

use super::{Amounts, CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, amounts};

pub(super) fn is(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.starts_with("NodeName=")
        && (first.contains(" Arch=") || text.contains("CPUTot=") || text.contains(" CPUAlloc="))
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let mut known = BTreeMap::new();
    let mut open: Option<(usize, BTreeMap<&str, &str>)> = None;
    let mut gone = 0;
    for (number, line) in text.lines().enumerate() {
        for word in line.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else { continue };
            if key == "NodeName" {
                finish(open.take(), cluster, &mut known, &mut gone)?;
                open = Some((number + 1, BTreeMap::new()));
            }
            if let Some((_, keys)) = &mut open {
                keys.entry(key).or_insert(value);
            }
        }
    }
    finish(open, cluster, &mut known, &mut gone)?;
    if gone > 0 {
        cluster.words.push(format!("{gone} nodes of the state FUTURE are left out"));
    }
    Ok(())
}

fn finish(
    open: Option<(usize, BTreeMap<&str, &str>)>,
    cluster: &mut ClusterFile,
    known: &mut BTreeMap<String, usize>,
    gone: &mut usize,
) -> Result<(), Fault> {
    let Some((line, keys)) = open else { return Ok(()) };
    let get = |key: &str| keys.get(key).copied().unwrap_or_default();
    if get("State").starts_with("FUTURE") {
        *gone += 1;
        return Ok(());
    }
    let amounts = amounts_of(&get).map_err(|why| Fault::at(line, why))?;
    let partitions = get("Partitions").split(',').filter(|name| !name.is_empty());
    let node = ClusterNode {
        name: get("NodeName").to_owned(),
        amounts,
        partitions: partitions.map(str::to_owned).collect(),
    };
    cluster.add(node, known).map_err(|why| Fault::at(line, why))
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
