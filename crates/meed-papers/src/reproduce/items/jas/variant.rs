//! The environments with one thing changed: what is assumed otherwise, or what the paper says
//! beside its tables, and over how many seeds it is looked at.

use serde_json::Value;

use super::blades::{hosts_follow_nodes, on_paper_hosts};
use super::worlds::{Nodes, World, environments};

/// Seeds of runs on which a claim rests.
pub(super) const MOST_SEEDS: u64 = 5;

/// Seeds of runs that take long, or decide nothing.
pub(super) const FEW_SEEDS: u64 = 2;

/// One assumption, varied.
#[derive(Clone, Copy)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    /// Whether the paper says so: then a claim that agrees under it comes out under a fact.
    pub(super) fact: bool,
    pub(super) change: fn(&mut World),
    /// Over how many seeds it is looked at, at most.
    pub(super) most_seeds: u64,
    /// Whether it changes the paper's hosts, and not a cluster whose machines share nothing.
    on_hosts: bool,
    /// Whether its runs are asked for more than once.
    kept: bool,
}

impl Variant {
    /// Makes the change.
    pub(super) fn apply(&self, world: &mut World) {
        if self.on_hosts {
            on_paper_hosts(world);
        }
        (self.change)(world);
        if self.on_hosts {
            hosts_follow_nodes(world);
        }
    }
}

/// What is assumed otherwise.
pub(super) const fn varied(name: &'static str, change: fn(&mut World)) -> Variant {
    let (most_seeds, on_hosts) = (MOST_SEEDS, false);
    Variant { name, fact: false, change, most_seeds, on_hosts, kept: false }
}

/// The same on the paper's hosts, over few seeds.
pub(super) const fn on_hosts(name: &'static str, variant: &Variant) -> Variant {
    Variant { name, on_hosts: true, ..few(*variant) }
}

/// What the paper says.
pub(super) const fn fact(name: &'static str, change: fn(&mut World)) -> Variant {
    Variant { fact: true, ..varied(name, change) }
}

/// What the paper's Hadoop does by its defaults; runs that take several times as long.
pub(super) const fn slow_fact(name: &'static str, change: fn(&mut World)) -> Variant {
    few(fact(name, change))
}

/// No claim rests on these: they are looked at over few seeds.
pub(super) const fn few(variant: Variant) -> Variant {
    Variant { most_seeds: FEW_SEEDS, ..variant }
}

/// Somebody else asks for the runs of this one as well.
pub(super) const fn kept(variant: Variant) -> Variant {
    Variant { kept: true, ..variant }
}

pub(super) fn each(world: &mut World, change: fn(&mut Nodes)) {
    world.nodes.iter_mut().for_each(change);
}

pub(super) fn set(world: &mut World, key: &'static str, value: impl Into<Value>) {
    world.keys.push((key, value.into()));
}

pub(super) fn request(world: &mut World, key: &str, value: impl Into<Value>) {
    world.requests[0][key] = value.into();
}

/// The environments with three requests and the variant's change.
pub(super) fn worlds(variant: &Variant) -> Vec<World> {
    let mut worlds = environments();
    for world in &mut worlds {
        request(world, "count", 3);
        world.kept = variant.kept;
        variant.apply(world);
    }
    worlds
}
