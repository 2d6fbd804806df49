//! `/ws/v1/cluster/nodes` of YARN's ResourceManager.
//!
//! `totalResource` is what a node has, of Hadoop 3; before it is what is used and what is free
//! together. Nodes of another state than `RUNNING` are left out, and said. GPUs are `yarn.io/gpu`.
//! Source: Hadoop's documentation of the ResourceManager's REST API.

use std::collections::BTreeMap;

use meed::MAX_AMOUNT;
use serde_json::Value;

use super::{Amounts, CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, left_out};

pub(super) fn is(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('{') && text.contains("\"nodes\"") && text.contains("\"nodeHostName\"")
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let all: Value = serde_json::from_str(text)
        .map_err(|why| Fault::at(why.line().max(1), format!("this is no JSON: {why}")))?;
    let nodes = all["nodes"]["node"].as_array().map_or(&[][..], Vec::as_slice);
    let mut known = BTreeMap::new();
    let mut gone = 0;
    for node in nodes {
        let name = node["id"].as_str().or_else(|| node["nodeHostName"].as_str());
        let Some(name) = name else { continue };
        if node["state"].as_str().is_some_and(|state| state != "RUNNING") {
            gone += 1;
            continue;
        }
        let label = node["nodeLabels"].as_array().map_or(&[][..], Vec::as_slice);
        let node = ClusterNode {
            name: name.to_owned(),
            amounts: amounts_of(node).ok_or_else(|| {
                Fault::whole(format!("node {name}: it does not tell memory and vcores"))
            })?,
            partitions: label.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        };
        cluster.add(node, &mut known).map_err(Fault::whole)?;
    }
    if gone > 0 {
        let (one, several) =
            ("node of another state than RUNNING", "nodes of another state than RUNNING");
        cluster.words.push(left_out(gone, one, several));
    }
    Ok(())
}

fn amounts_of(node: &Value) -> Option<Amounts> {
    let sum = |parts: [&str; 2]| {
        let parts = parts.map(|part| node[part].as_u64());
        parts[0]?.checked_add(parts[1]?)
    };
    let total = &node["totalResource"];
    let memory = total["memory"].as_u64();
    let memory = memory.or_else(|| sum(["usedMemoryMB", "availMemoryMB"]))?;
    let cores = total["vCores"].as_u64();
    let cores = cores.or_else(|| sum(["usedVirtualCores", "availableVirtualCores"]))?;
    let list = total["resourceInformations"]["resourceInformation"].as_array();
    let gpus = list.into_iter().flatten().filter(|one| one["name"] == "yarn.io/gpu");
    let gpus = gpus.filter_map(|one| one["value"].as_u64()).fold(0u64, u64::saturating_add);
    let scaled =
        |amount: u64, scale: u64| amount.checked_mul(scale).filter(|amount| *amount <= MAX_AMOUNT);
    Some(Amounts::from([
        (CPU, scaled(cores, 1000)?),
        (MEMORY, scaled(memory, 1 << 20)?),
        (GPU, scaled(gpus, 1000)?),
    ]))
}
