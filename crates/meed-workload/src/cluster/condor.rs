//! `condor_status -l`: ClassAds of slots, `Key = Value` a line, an empty line between them.
//!
//! A machine is what its slots have together. A partitionable slot tells what it had before it was
//! parted (`TotalSlotCpus`, `TotalSlotMemory`, `TotalSlotGPUs`); its dynamic slots are left out.
//! Source: HTCondor's manual, ClassAd attributes of machines.

use std::collections::BTreeMap;

use super::{CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, amounts};

pub(super) fn is(text: &str) -> bool {
    let keys = || text.lines().take(1000).filter_map(|line| line.split_once('='));
    let has = |name: &str| keys().any(|(key, _)| key.trim().eq_ignore_ascii_case(name));
    has("Machine") && (has("TotalSlotCpus") || has("Cpus")) && has("Name")
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let mut machines: BTreeMap<String, usize> = BTreeMap::new();
    let mut ad: BTreeMap<String, &str> = BTreeMap::new();
    let mut start = 1;
    let lines = text.lines().enumerate().chain([(text.lines().count(), "")]);
    for (number, line) in lines {
        if line.trim().is_empty() {
            slot(&ad, start, cluster, &mut machines)?;
            ad.clear();
            start = number + 2;
        } else if let Some((key, value)) = line.split_once('=') {
            ad.insert(key.trim().to_ascii_lowercase(), value.trim().trim_matches('"'));
        }
    }
    Ok(())
}

fn slot(
    ad: &BTreeMap<String, &str>,
    line: usize,
    cluster: &mut ClusterFile,
    machines: &mut BTreeMap<String, usize>,
) -> Result<(), Fault> {
    let get = |key: &str| ad.get(key).copied();
    let Some(machine) = get("machine") else { return Ok(()) };
    let kind = get("slottype").unwrap_or("Static");
    if kind.eq_ignore_ascii_case("Dynamic") {
        return Ok(());
    }
    let whole = kind.eq_ignore_ascii_case("Partitionable");
    let amount = |total: &str, own: &str, read: &dyn Fn(&str) -> Option<u64>| {
        let text = get(total).filter(|_| whole).or_else(|| get(own));
        let read = text.map(|text| {
            read(text).ok_or_else(|| Fault::at(line, format!("{own} = {text} is no amount")))
        });
        read.transpose()
    };
    let found = [
        (CPU, amount("totalslotcpus", "cpus", &amounts::pieces)?),
        (MEMORY, amount("totalslotmemory", "memory", &|text| amounts::size(text, 1 << 20))?),
        (GPU, Some(amount("totalslotgpus", "gpus", &amounts::pieces)?.unwrap_or(0))),
    ];
    let at = match machines.get(machine) {
        Some(&at) => at,
        None => {
            let node = ClusterNode { name: machine.to_owned(), ..ClusterNode::default() };
            cluster.add(node, machines).map_err(|why| Fault::at(line, why))?;
            cluster.nodes.len() - 1
        }
    };
    for (name, amount) in found {
        let Some(amount) = amount else { continue };
        let own = cluster.nodes[at].amounts.entry(name).or_default();
        *own = own.saturating_add(amount);
    }
    Ok(())
}
