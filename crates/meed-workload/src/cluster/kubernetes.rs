//! `kubectl get nodes -o json`: what pods can be given (`status.allocatable`).
//!
//! Nodes that take no pods are left out, and said: `spec.unschedulable`, and the taint of the
//! control plane. GPUs are `nvidia.com/gpu`, `amd.com/gpu` and `gpu.intel.com/*`. Source: the API
//! of Kubernetes 1.37, core/v1 NodeList.

use std::collections::BTreeMap;

use meed::Unit;
use meed_pods::quantity::amount;
use serde_json::Value;

use super::{Amounts, CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, left_out};

/// Names of taints that keep pods of users away.
const CONTROL_PLANE: [&str; 2] =
    ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

pub(super) fn is(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('{') && text.contains("\"allocatable\"")
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let list: Value = serde_json::from_str(text)
        .map_err(|why| Fault::at(why.line().max(1), format!("this is no JSON: {why}")))?;
    // One node alone is printed as itself.
    let one = std::slice::from_ref(&list);
    let items = list["items"].as_array().map_or(one, Vec::as_slice);
    let mut known = BTreeMap::new();
    let mut closed = 0;
    for item in items {
        let Some(name) = item["metadata"]["name"].as_str() else { continue };
        let taints = item["spec"]["taints"].as_array().map_or(&[][..], Vec::as_slice);
        let is_kept =
            |taint: &Value| taint["key"].as_str().is_some_and(|key| CONTROL_PLANE.contains(&key));
        let is_closed = item["spec"]["unschedulable"] == Value::Bool(true);
        if is_closed || taints.iter().any(is_kept) {
            closed += 1;
            continue;
        }
        let node = ClusterNode {
            name: name.to_owned(),
            amounts: amounts_of(&item["status"]["allocatable"])
                .map_err(|why| Fault::whole(format!("node {name}: {why}")))?,
            partitions: Vec::new(),
        };
        cluster.add(node, &mut known).map_err(Fault::whole)?;
    }
    if closed > 0 {
        let (one, several) = ("node that takes no pods", "nodes that take no pods");
        cluster.words.push(left_out(closed, one, several));
    }
    Ok(())
}

fn amounts_of(allocatable: &Value) -> Result<Amounts, String> {
    let mut all = Amounts::from([(GPU, 0)]);
    for (name, value) in allocatable.as_object().into_iter().flatten() {
        let (resource, unit) = match name.as_str() {
            "cpu" => (CPU, Unit::Milli),
            "memory" => (MEMORY, Unit::Bytes),
            "nvidia.com/gpu" | "amd.com/gpu" => (GPU, Unit::Milli),
            name if name.starts_with("gpu.intel.com/") => (GPU, Unit::Milli),
            _ => continue,
        };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let own = all.entry(resource).or_default();
        *own = own.saturating_add(amount(&text, unit)?);
    }
    Ok(all)
}
