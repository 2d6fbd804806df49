//! The nodes of a MapReduce scenario.

use std::collections::BTreeMap;

use meed::{Span, Time};
use meed_config::nodes::MAX_NODES;
use meed_config::quantity::Quantity;
use meed_config::{Place, TextError};

use super::hosts::Hosts;
use super::keys::{
    MAX_CORES, bandwidth, between, bytes, given, optional, penalty, span, thousandths, whole,
};
use super::raw::{MapReduceForm, Node};
use crate::{AsHadoop, Cluster, HostsOf, Machine, Master, SpeedChange, Speeds};

/// Slowest and fastest core, in thousandths of the reference core.
const SPEEDS: std::ops::RangeInclusive<u64> = 1..=1_000_000;

/// Longest heartbeat, and longest start-up of a task.
const HOUR: Span = match Span::from_secs(3600) {
    Some(span) => span,
    None => Span::ZERO,
};

/// Hadoop's default, and that of the paper (Sec. 2.1).
const HEARTBEAT_MICROS: u64 = 3_000_000;
/// Default of Hadoop 0.20: 64 MB.
const BLOCK_BYTES: u64 = 64 << 20;
/// Hadoop's default.
const REPLICAS: u32 = 3;
/// An assumption: two streams on one disk get 91 % of its bandwidth, five 71 %.
const SEEK_PENALTY: u32 = 100;
/// An assumption: a second to start a Java virtual machine.
const START_UP_MICROS: u64 = 1_000_000;
/// Hadoop 0.20's default for the Java virtual machine of a task.
const TASK_MEMORY: u64 = 200 << 20;
/// Slots of a node in the paper (Sec. 4.1).
const MAP_SLOTS: u32 = 4;
const REDUCE_SLOTS: u32 = 1;

pub(super) fn cluster(raw: &MapReduceForm, place: &Place<'_>) -> Result<Cluster, TextError> {
    let mut hosts = Hosts::read(&raw.host, raw.page_cache, place)?;
    let task_memory = optional(place, &raw.task_memory, "task_memory", bytes)?;
    let memory = Memory { of_task: task_memory.unwrap_or(TASK_MEMORY), pages: raw.page_cache };
    let (machines, changes) = machines(&raw.node, memory, &mut hosts, place)?;
    let heartbeat = optional(place, &raw.heartbeat, "heartbeat", |raw| match span(raw)? {
        span if (1000..=HOUR.as_micros()).contains(&span.as_micros()) => Ok(span),
        _ => Err(format!("{} must be 1ms to 1h", raw.text())),
    })?;
    let up_to_an_hour = |raw: &Option<meed_config::Spanned<Quantity>>, key| {
        optional(place, raw, key, |raw| match span(raw)? {
            span if span <= HOUR => Ok(span),
            _ => Err(format!("{} must be at most 1h", raw.text())),
        })
    };
    let start_up = up_to_an_hour(&raw.start_up, "start_up")?;
    let master = Master {
        beat: up_to_an_hour(&raw.master_heartbeat, "master_heartbeat")?.unwrap_or(Span::ZERO),
        task: up_to_an_hour(&raw.master_task, "master_task")?.unwrap_or(Span::ZERO),
    };
    let block = optional(place, &raw.block, "block", |raw| match bytes(raw)? {
        0 => Err("a block must hold at least one byte".to_owned()),
        bytes => Ok(bytes),
    })?;
    let seek_penalty = optional(place, &raw.seek_penalty, "seek_penalty", penalty)?;
    let nodes = machines.len() as u32;
    let replicas = match &raw.replicas {
        None => REPLICAS.min(nodes),
        Some(replicas) => optional(place, &raw.replicas, "replicas", |&number| match number {
            0 => Err("a block without a replica cannot be read; at least 1 is needed".to_owned()),
            _ if number > i64::from(nodes) => {
                Err(format!("{number} replicas of a block need as many nodes; there are {nodes}"))
            }
            _ => between(number, 1, nodes),
        })?
        .unwrap_or(*replicas.get_ref() as u32),
    };
    let micros = |micros| Span::from_micros(micros).unwrap_or(Span::MAX);
    Ok(Cluster {
        machines,
        hosts: hosts.finish(&raw.host, place)?,
        changes,
        heartbeat: heartbeat.unwrap_or(micros(HEARTBEAT_MICROS)),
        block_bytes: block.unwrap_or(BLOCK_BYTES),
        replicas,
        seek_penalty: seek_penalty.unwrap_or(SEEK_PENALTY),
        uplink_bytes_per_s: optional(
            place,
            &raw.uplink_bytes_per_s,
            "uplink_bytes_per_s",
            bandwidth,
        )?,
        start_up: start_up.unwrap_or(micros(START_UP_MICROS)),
        master,
        output_copies: whole(place, &raw.output_copies, "output_copies", 1, 1000)?.unwrap_or(1),
        as_hadoop: as_hadoop(raw, nodes, place)?,
    })
}

/// What of Hadoop is modelled besides.
fn as_hadoop(raw: &MapReduceForm, nodes: u32, place: &Place<'_>) -> Result<AsHadoop, TextError> {
    let replicas =
        optional(place, &raw.output_replicas, "output_replicas", |&number| match number {
            0 => Err("an output without a replica is nowhere; at least 1 is needed".to_owned()),
            _ if number > i64::from(nodes) => {
                Err(format!("{number} replicas of a block need as many nodes; there are {nodes}"))
            }
            _ if raw.output_copies.is_some() => Err("output_copies says already how often a \
                reduce writes its output; give one of the two"
                .to_owned()),
            _ => between(number, 1, nodes),
        })?;
    Ok(AsHadoop {
        output_replicas: replicas,
        parallel_copies: whole(place, &raw.parallel_copies, "parallel_copies", 1, 1000)?,
        speculative: raw.speculative,
        page_cache: raw.page_cache,
    })
}

fn speed(raw: &Quantity) -> Result<u32, String> {
    let speed = thousandths(raw)?;
    if SPEEDS.contains(&speed) {
        return Ok(speed as u32);
    }
    Err(format!("{} must be 0.001 to 1000 times the reference core", raw.text()))
}

/// What memory is for.
#[derive(Clone, Copy)]
struct Memory {
    /// Of each slot.
    of_task: u64,
    /// Whether the rest is a page cache.
    pages: bool,
}

type Nodes = (Vec<Machine>, Vec<SpeedChange>);

fn machines(
    raw: &[meed_config::Spanned<Node>],
    memory: Memory,
    hosts: &mut Hosts,
    place: &Place<'_>,
) -> Result<Nodes, TextError> {
    if raw.is_empty() {
        return Err(place.whole(
            "has no nodes; add [[mapreduce.node]] with count, cores, \
            disk_bytes_per_s and network_bytes_per_s",
        ));
    }
    let racked = raw.iter().filter(|entry| entry.get_ref().rack.is_some()).count();
    let (mut machines, mut changes) = (Vec::new(), Vec::new());
    let (mut racks, mut names) = (BTreeMap::new(), std::collections::BTreeSet::new());
    for (number, entry) in raw.iter().enumerate() {
        let node = entry.get_ref();
        let base = node.name.clone().unwrap_or_else(|| format!("n{number}"));
        let fail = |what: String| place.error(entry.span(), format!("node `{base}`{what}"));
        if racked > 0 && node.rack.is_none() {
            return Err(fail(
                ": has no rack, but others have; name one for each node, or for none".to_owned(),
            ));
        }
        let next = racks.len() as u32;
        let rack = *racks.entry(node.rack.clone()).or_insert(next);
        let count = between(node.count.unwrap_or(1), 1, MAX_NODES as u32)
            .map_err(|why| fail(format!(", count: {why}")))?;
        if machines.len() + count as usize > MAX_NODES {
            return Err(fail(format!(": more than {MAX_NODES} nodes")));
        }
        let machine = machine(node, rack, memory).map_err(&fail)?;
        let later = later(node).map_err(&fail)?;
        for i in 0..count {
            let name = if count == 1 { base.clone() } else { format!("{base}-{i}") };
            if !names.insert(name.clone()) {
                return Err(place.error(
                    entry.span(),
                    format!("node `{name}` is declared twice; names must be distinct"),
                ));
            }
            let node = machines.len();
            changes.extend(later.iter().map(|change| SpeedChange { node, ..*change }));
            let hosts = hosts.deal(entry.get_ref().host.as_ref()).map_err(&fail)?;
            if memory.pages && machine.memory_bytes.is_none() && hosts.memory.is_none() {
                return Err(fail(
                    ": page_cache needs memory; say how much it has, or one of its hosts"
                        .to_owned(),
                ));
            }
            machines.push(Machine { name, hosts, ..machine.clone() });
        }
    }
    changes.sort_by_key(|change| change.at);
    Ok((machines, changes))
}

fn machine(raw: &Node, rack: u32, memory: Memory) -> Result<Machine, String> {
    let key = |key: &'static str| move |why: String| format!(", {key}: {why}");
    let slots = |raw: &Option<i64>, key, usual: u32| -> Result<u32, String> {
        Ok(given(raw, key, |&slots| between(slots, 1, 10_000))?.unwrap_or(usual))
    };
    let map_slots = slots(&raw.map_slots, "map_slots", MAP_SLOTS)?;
    let reduce_slots = slots(&raw.reduce_slots, "reduce_slots", REDUCE_SLOTS)?;
    let task_bytes = u64::from(map_slots + reduce_slots).saturating_mul(memory.of_task);
    let cache = |memory: u64| memory.saturating_sub(task_bytes) / u64::from(reduce_slots);
    let memory_bytes = given(&raw.memory, "memory", bytes)?;
    Ok(Machine {
        name: String::new(),
        cache_bytes: memory_bytes.filter(|_| !memory.pages).map(cache),
        memory_bytes,
        task_bytes,
        cores: between(raw.cores, 1, MAX_CORES).map_err(key("cores"))?,
        speeds: Speeds {
            core: given(&raw.speed, "speed", speed)?.unwrap_or(1000),
            disk_bytes_per_s: bandwidth(&raw.disk_bytes_per_s).map_err(key("disk_bytes_per_s"))?,
            network_bytes_per_s: bandwidth(&raw.network_bytes_per_s)
                .map_err(key("network_bytes_per_s"))?,
        },
        rack,
        hosts: HostsOf::default(),
        map_slots,
        reduce_slots,
    })
}

/// The changes of a node's speeds; of node 0.
fn later(raw: &Node) -> Result<Vec<SpeedChange>, String> {
    raw.change.iter().map(|raw| change(raw).map_err(|why| format!(", change{why}"))).collect()
}

fn change(raw: &super::raw::SpeedChange) -> Result<SpeedChange, String> {
    let change = SpeedChange {
        at: Time::ZERO.saturating_add(span(&raw.at).map_err(|why| format!(", at: {why}"))?),
        node: 0,
        core: given(&raw.speed, "speed", speed)?,
        disk_bytes_per_s: given(&raw.disk_bytes_per_s, "disk_bytes_per_s", bandwidth)?,
        network_bytes_per_s: given(&raw.network_bytes_per_s, "network_bytes_per_s", bandwidth)?,
    };
    let changes = [
        change.core.is_some(),
        change.disk_bytes_per_s.is_some(),
        change.network_bytes_per_s.is_some(),
    ];
    if !changes.contains(&true) {
        return Err(": give speed, disk_bytes_per_s or network_bytes_per_s".to_owned());
    }
    Ok(change)
}
