//! `pbsnodes -av` of PBS, and `pbsnodes` of Torque: a name at the beginning of a line, and
//! `key = value` on indented lines below it.
//!
//! PBS: `resources_available.ncpus`, `.mem`, `.ngpus`. Torque: `np`, `gpus`, and `physmem` within
//! `status`. A vnode is a node. Source: pbsnodes(8B) of OpenPBS 22 and of Torque 6.

use std::collections::BTreeMap;

use super::{CPU, ClusterFile, ClusterNode, Fault, GPU, MEMORY, amounts};

pub(super) fn is(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_name = !first.starts_with(char::is_whitespace) && !first.contains(['=', ' ', '\t']);
    is_name && second.starts_with(char::is_whitespace) && second.contains(" = ")
}

pub(super) fn read(text: &str, cluster: &mut ClusterFile) -> Result<(), Fault> {
    let mut known = BTreeMap::new();
    let mut open: Option<(usize, ClusterNode)> = None;
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        if line.trim().is_empty() {
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            if let Some((line, node)) = open.take() {
                cluster.add(node, &mut known).map_err(|why| Fault::at(line, why))?;
            }
            let name = line.trim().to_owned();
            open = Some((at, ClusterNode { name, ..ClusterNode::default() }));
            continue;
        }
        let Some((_, node)) = &mut open else {
            return Err(Fault::at(at, "an attribute before the first node"));
        };
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let wrong = || Fault::at(at, format!("{key} = {value} is no amount"));
        match key {
            "resources_available.ncpus" | "np" => {
                node.amounts.insert(CPU, amounts::pieces(value).ok_or_else(wrong)?);
            }
            "resources_available.mem" => {
                node.amounts.insert(MEMORY, amounts::size(value, 1).ok_or_else(wrong)?);
            }
            "resources_available.ngpus" | "gpus" => {
                node.amounts.insert(GPU, amounts::pieces(value).ok_or_else(wrong)?);
            }
            "status" => {
                let memory = value.split(',').find_map(|part| part.trim().strip_prefix("physmem="));
                if let Some(memory) = memory.and_then(|memory| amounts::size(memory, 1)) {
                    node.amounts.insert(MEMORY, memory);
                }
            }
            "queue" => node.partitions.push(value.to_owned()),
            _ => {}
        }
    }
    if let Some((line, node)) = open {
        cluster.add(node, &mut known).map_err(|why| Fault::at(line, why))?;
    }
    Ok(())
}
