//! The paper's own hosts (Sec. 4.1): its 99 machines lie on seven blades, and their disks on four
//! partitions that all blades share.

use serde_json::{Value, json};

use super::worlds::{DISK_MB_S, NETWORK_MB_S, World, megabytes};

/// Of a partition, unless varied: that of the one disk that is assumed everywhere else, for 750 GB
/// are one disk.
pub(super) const PARTITION_MB_S: f64 = DISK_MB_S;

/// Sec. 4.1: 84 processors in seven blades.
pub(super) const BLADES: u32 = 7;
pub(super) const PROCESSORS: u32 = 84 / BLADES;

/// Sec. 4.1.
pub(super) const PARTITIONS: u32 = 4;

/// Sec. 4.1: 1,450 GB in seven blades.
pub(super) const BLADE_GB: u32 = 1450 / BLADES;

/// What a partition is called.
pub(super) const PARTITION: &str = "partition";

/// All machines are on hosts of this name, one after the other.
pub(super) fn on(world: &mut World, name: &str, count: u32, key: &str, value: impl Into<Value>) {
    let mut host = json!({ "name": name, "count": count });
    host[key] = value.into();
    world.hosts.push(host);
}

/// Processors that the machines of a blade share.
pub(super) fn processors(world: &mut World) {
    on(world, "blade", BLADES, "cores", PROCESSORS);
}

/// A card of 1 Gbit/s for the machines of a blade.
pub(super) fn cards(world: &mut World) {
    on(world, "card", BLADES, "network_bytes_per_s", megabytes(NETWORK_MB_S));
}

/// A machine alone gets all of its partition.
pub(super) fn partitions(world: &mut World, mb_s: f64, seek_penalty: f64) {
    on(world, PARTITION, PARTITIONS, "disk_bytes_per_s", megabytes(mb_s));
    if let Some(partition) = world.hosts.last_mut() {
        partition["seek_penalty"] = seek_penalty.into();
    }
    world.nodes.iter_mut().for_each(|nodes| nodes.disk_mb_s = mb_s);
}

/// Where machines' disks and links were changed, partitions and cards are changed alike: a machine
/// alone gets all of its partition.
pub(super) fn hosts_follow_nodes(world: &mut World) {
    let Some(nodes) = world.nodes.first() else { return };
    for host in &mut world.hosts {
        for (key, mb_s) in
            [("disk_bytes_per_s", nodes.disk_mb_s), ("network_bytes_per_s", nodes.network_mb_s)]
        {
            if host[key].is_string() {
                host[key] = megabytes(mb_s).into();
            }
        }
    }
}

/// The machines of Sec. 4.1 on its blades and partitions.
pub(super) fn on_paper_hosts(world: &mut World) {
    hosts_with(world, PARTITION_MB_S, 0.0);
}

/// The same with partitions of another rate, and of another loss for each further stream.
pub(super) fn hosts_with(world: &mut World, mb_s: f64, seek_penalty: f64) {
    processors(world);
    cards(world);
    partitions(world, mb_s, seek_penalty);
}
