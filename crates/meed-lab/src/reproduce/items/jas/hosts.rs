//! The claims of Fig. 6, 8, 9, 11 and 12 on the paper's own hosts (Sec. 4.1): which fact of the
//! environment moves which verdict.
//!
//! The 99 machines run on seven blades with 84 processors, and their disks lie on four partitions
//! that all blades share. So a machine has a processor of its own only while no more than twelve
//! are wanted on its blade, and a quarter of all machines share one partition. The rate of a
//! partition is not printed; it is varied, as is what they lose by seeking.

use serde_json::{Value, json};

use super::single::{claims_of_figure_6, figure_6_in};
use super::study::{Variant, compare, request, set};
use super::worlds::{NETWORK_MB_S, World, megabytes};
use crate::reproduce::{Context, ItemOutcome, ReproduceError};

/// Of a partition, unless varied: four disks of 60 MB/s. With the NAS there are 6 TB.
const PARTITION_MB_S: f64 = 240.0;

/// Sec. 4.1: 84 processors in seven blades.
const BLADES: u32 = 7;
const PROCESSORS: u32 = 84 / BLADES;

/// Sec. 4.1.
const PARTITIONS: u32 = 4;

const VARIANTS: [Variant; 12] = [
    Variant { name: "a disk and processors for each machine", fact: false, change: |_| {} },
    Variant { name: "84 processors for all", fact: true, change: processors },
    Variant {
        name: "four partitions, 240 MB/s each",
        fact: true,
        change: |world| partitions(world, PARTITION_MB_S, 0.0),
    },
    Variant { name: "seven cards of 1 Gbit/s", fact: true, change: cards },
    Variant { name: "all of these", fact: true, change: hosts },
    Variant {
        name: "all, partitions of 60 MB/s",
        fact: false,
        change: |world| hosts_with(world, PARTITION_MB_S / 4.0, 0.0),
    },
    Variant {
        name: "all, partitions of 960 MB/s",
        fact: false,
        change: |world| hosts_with(world, PARTITION_MB_S * 4.0, 0.0),
    },
    Variant {
        name: "all, partitions lose 1 % for each further stream",
        fact: false,
        change: |world| hosts_with(world, PARTITION_MB_S, 0.01),
    },
    Variant {
        name: "all, partitions lose 10 % for each further stream",
        fact: false,
        change: |world| hosts_with(world, PARTITION_MB_S, 0.1),
    },
    Variant {
        name: "all, cards of 10 Gbit/s",
        fact: false,
        change: |world| {
            processors(world);
            partitions(world, PARTITION_MB_S, 0.0);
        },
    },
    Variant {
        name: "all, output written three times",
        fact: false,
        change: |world| {
            hosts(world);
            set(world, "output_copies", 3);
        },
    },
    Variant {
        name: "all, 100 GB a request",
        fact: false,
        change: |world| {
            hosts(world);
            request(world, "input", "12.5GB");
        },
    },
];

/// All machines are on hosts of this name, one after the other.
fn on(world: &mut World, name: &str, count: u32, key: &str, value: impl Into<Value>) {
    let mut host = json!({ "name": name, "count": count });
    host[key] = value.into();
    world.hosts.push(host);
}

fn processors(world: &mut World) {
    on(world, "blade", BLADES, "cores", PROCESSORS);
}

fn cards(world: &mut World) {
    on(world, "card", BLADES, "network_bytes_per_s", megabytes(NETWORK_MB_S));
}

/// A machine alone gets all of its partition.
fn partitions(world: &mut World, mb_s: f64, seek_penalty: f64) {
    on(world, "partition", PARTITIONS, "disk_bytes_per_s", megabytes(mb_s));
    if let Some(partition) = world.hosts.last_mut() {
        partition["seek_penalty"] = seek_penalty.into();
    }
    world.nodes.iter_mut().for_each(|nodes| nodes.disk_mb_s = mb_s);
}

fn hosts(world: &mut World) {
    hosts_with(world, PARTITION_MB_S, 0.0);
}

fn hosts_with(world: &mut World, mb_s: f64, seek_penalty: f64) {
    processors(world);
    cards(world);
    partitions(world, mb_s, seek_penalty);
}

/// The study.
pub(in super::super) fn on_hosts(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = compare(context, &VARIANTS)?;
    let alone = figure_6_in(context, hosts)?;
    let alone = claims_of_figure_6(&alone).into_iter();
    outcome.checks.extend(alone.map(|check| check.again("jas-fig6", "all of these")));
    outcome.assumptions = assumptions();
    Ok(outcome)
}

fn assumptions() -> Vec<String> {
    let of_jobs = super::worlds::assumptions().swap_remove(0);
    vec![
        of_jobs,
        format!(
            "As in Sec. 4.1: {BLADES} blades of {PROCESSORS} processors, {PARTITIONS} partitions; \
             machines are dealt to them one after the other. Assumed: {PARTITION_MB_S} MB/s for a \
             partition, a card of {NETWORK_MB_S} MB/s for each blade (what machines of one blade \
             send each other counts too). A host that has less than its machines want gives each \
             the same part of what it wants."
        ),
        "Three requests instead of ten; one fact at a time, then all, then all with one varied."
            .to_owned(),
    ]
}
