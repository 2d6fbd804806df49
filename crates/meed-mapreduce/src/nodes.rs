//! What the world knows of a node: which slots are taken, and what it has done up to its last
//! heartbeat.

use crate::classes::{Class, ClassLoad, Classes, SlotKind};
use meed::{Resources, Time};
use meed_driver::record::mapreduce::SlotChange;

use super::cluster::Machine;
use super::machines::{Usage, per_second, quotient};

/// What the world knows of a node.
pub(super) struct Node {
    reduce_slots: u32,
    /// Maps that hold a slot, by kind of slot; those that have ended since the last heartbeat still
    /// do.
    occupied: [u32; KINDS],
    reduces: u32,
    /// Map slots that the engine counts with.
    capacity: u32,
    /// Tasks that have ended since the last heartbeat.
    pub(super) ended: Vec<u32>,
    last_beat: Time,
    usage: Usage,
    pub(super) counts: NodeCounts,
    pub(super) slots: Vec<SlotChange>,
}

/// Tasks started on a node so far.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct NodeCounts {
    pub(super) maps: u64,
    pub(super) local: u64,
    pub(super) reduces: u64,
}

/// Kinds of map slots.
const KINDS: usize = 3;

fn index(kind: SlotKind) -> usize {
    match kind {
        SlotKind::Any => 0,
        SlotKind::Of(Class::Cpu) => 1,
        SlotKind::Of(Class::Io) => 2,
    }
}

impl Node {
    pub(super) fn new(number: usize, machine: &Machine, classes: &Classes) -> Node {
        Node {
            reduce_slots: machine.reduce_slots,
            occupied: [0; KINDS],
            reduces: 0,
            capacity: machine.map_slots,
            ended: Vec::new(),
            last_beat: Time::ZERO,
            usage: Usage::default(),
            counts: NodeCounts::default(),
            slots: vec![slots_now(Time::ZERO, number, classes)],
        }
    }

    /// Maps that hold a slot of the kind.
    pub(super) fn occupied(&self, kind: SlotKind) -> u32 {
        self.occupied[index(kind)]
    }

    /// Whether a slot for reduces is free.
    pub(super) fn has_free_reduce(&self) -> bool {
        self.reduces < self.reduce_slots
    }

    /// A task takes its slot: of a kind for maps, or one for reduces.
    pub(super) fn occupy(&mut self, slot: Option<SlotKind>) {
        match slot {
            Some(kind) => self.occupied[index(kind)] += 1,
            None => self.reduces += 1,
        }
    }

    /// A task leaves its slot.
    pub(super) fn vacate(&mut self, slot: Option<SlotKind>) {
        match slot {
            Some(kind) => self.occupied[index(kind)] -= 1,
            None => self.reduces -= 1,
        }
    }

    /// What the node, which has `cores` and has used `usage` by now, did since its last heartbeat.
    pub(super) fn load(&mut self, now: Time, usage: Usage, cores: u32) -> ClassLoad {
        let since = now - std::mem::replace(&mut self.last_beat, now);
        let before = std::mem::replace(&mut self.usage, usage);
        let all = u128::from(since.as_micros()) * u128::from(cores);
        ClassLoad {
            cpu_busy: quotient(usage.core_micros - before.core_micros, 1000, all) as u32,
            io_bytes_per_s: per_second(usage.disk_bytes - before.disk_bytes, since),
        }
    }

    /// Its map slots are `wanted` to the engine: its capacity, where that is another.
    pub(super) fn set_map_slots(&mut self, wanted: u32) -> Option<Resources> {
        if wanted == self.capacity {
            return None;
        }
        self.capacity = wanted;
        Some(Resources::new(&[u64::from(wanted) * 1000, u64::from(self.reduce_slots) * 1000]))
    }

    /// Its slots are set to what they are `now`, which may be no change.
    pub(super) fn set_slots(&mut self, now: SlotChange) {
        let last = self.slots.last().expect("the slots at the start");
        if (now.any, now.cpu, now.io) != (last.any, last.cpu, last.io) {
            self.slots.push(now);
        }
    }
}

/// The slots of a node as the rule has set them.
pub(super) fn slots_now(now: Time, node: usize, classes: &Classes) -> SlotChange {
    let slots = classes.slots(node);
    let of = |kind| classes.slot_kinds().contains(&kind).then(|| slots.of(kind));
    SlotChange {
        t_s: now.as_secs_f64(),
        any: of(SlotKind::Any),
        cpu: of(SlotKind::Of(Class::Cpu)),
        io: of(SlotKind::Of(Class::Io)),
    }
}
