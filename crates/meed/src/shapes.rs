//! Distinct task demands, and which of them fit on no node now.
//!
//! Most tasks have one of a few demands. Once a demand was found to fit nowhere, no task of that shape is tried
//! again until some node has enough free for it: a saturated cluster costs nothing per waiting tenant. Leaves of
//! which nothing fits are parked at the shapes they wait for and woken with them.
//!
//! Invariant: a shape that is not marked blocked may fit; one that is marked fits on no node.
//! Cost: interning is one ordered look-up per task group; freeing resources looks at the blocked shapes whose
//! first amount would fit the node.

use std::collections::{BTreeMap, BTreeSet};

use crate::resources::Resources;
use crate::spec::QueueId;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ShapeId(u32);

#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) demand: Resources,
    /// Whether the largest nodes ever seen could hold it; refreshed when the cluster changes.
    pub(crate) possible: bool,
    /// Task groups of this shape that are alive.
    groups: u64,
    /// Tasks of this shape that wait.
    waiting: u64,
    blocked: bool,
    parked: BTreeSet<QueueId>,
}

#[derive(Default)]
pub(crate) struct Shapes {
    shapes: Vec<Shape>,
    unused: Vec<ShapeId>,
    by_demand: BTreeMap<Resources, ShapeId>,
    /// Blocked shapes by their first amount: a plain sorted list, for they are few and change at every turn of a
    /// saturated cluster.
    blocked: Vec<(u64, ShapeId)>,
    /// Shapes that have waiting tasks and are not blocked.
    startable: usize,
    last: Option<ShapeId>,
}

impl Shapes {
    /// Whether the cluster could ever hold `demand`: remembered for known shapes, asked for others.
    pub(crate) fn known_possible(&self, demand: &Resources, ask: impl FnOnce() -> bool) -> bool {
        match self.find(demand) {
            Some(id) => self[id].possible,
            None => ask(),
        }
    }

    /// The shape of this demand, held once more. The cluster could hold it: the caller has asked.
    pub(crate) fn hold(&mut self, demand: &Resources) -> ShapeId {
        let id = match self.find(demand) {
            Some(id) => id,
            None => self.add(demand),
        };
        self.get_mut(id).groups += 1;
        self.last = Some(id);
        id
    }

    /// The last one first: most tasks ask for what the ones before them did.
    #[inline]
    fn find(&self, demand: &Resources) -> Option<ShapeId> {
        let last = self.last.filter(|&last| self[last].demand == *demand && self[last].groups > 0);
        last.or_else(|| self.by_demand.get(demand).copied())
    }

    fn add(&mut self, demand: &Resources) -> ShapeId {
        let shape = Shape {
            demand: *demand,
            possible: true,
            groups: 0,
            waiting: 0,
            blocked: false,
            parked: BTreeSet::new(),
        };
        let id = match self.unused.pop() {
            Some(id) => {
                *self.get_mut(id) = shape;
                id
            }
            None => {
                self.shapes.push(shape);
                ShapeId(self.shapes.len() as u32 - 1)
            }
        };
        self.by_demand.insert(*demand, id);
        id
    }

    /// Lets go of a shape held by [`Shapes::hold`].
    pub(crate) fn release(&mut self, id: ShapeId) {
        let shape = self.get_mut(id);
        shape.groups -= 1;
        if shape.groups > 0 {
            return;
        }
        debug_assert_eq!(shape.waiting, 0);
        shape.parked.clear();
        let (demand, blocked) = (shape.demand, std::mem::take(&mut shape.blocked));
        if blocked {
            let found = self.blocked.binary_search(&(demand.get(0), id)).expect("a blocked shape is listed");
            self.blocked.remove(found);
        }
        self.by_demand.remove(&demand);
        self.unused.push(id);
    }

    pub(crate) fn add_waiting(&mut self, id: ShapeId, tasks: u64) {
        let shape = self.get_mut(id);
        let becomes_startable = shape.waiting == 0 && tasks > 0 && !shape.blocked;
        shape.waiting += tasks;
        self.startable += usize::from(becomes_startable);
    }

    pub(crate) fn sub_waiting(&mut self, id: ShapeId, tasks: u64) {
        let shape = self.get_mut(id);
        shape.waiting = shape.waiting.checked_sub(tasks).expect("only waiting tasks leave");
        let was_last = tasks > 0 && shape.waiting == 0 && !shape.blocked;
        self.startable -= usize::from(was_last);
    }

    /// Whether some waiting task may fit somewhere.
    pub(crate) fn any_startable(&self) -> bool {
        self.startable > 0
    }

    pub(crate) fn is_blocked(&self, id: ShapeId) -> bool {
        self[id].blocked
    }

    /// No node has room for this shape now.
    pub(crate) fn block(&mut self, id: ShapeId) {
        let shape = self.get_mut(id);
        if shape.blocked {
            return;
        }
        shape.blocked = true;
        let (waiting, first) = (shape.waiting, shape.demand.get(0));
        self.startable -= usize::from(waiting > 0);
        let place = self.blocked.partition_point(|listed| *listed < (first, id));
        self.blocked.insert(place, (first, id));
    }

    /// Wakes `leaf` when this shape is no longer blocked.
    pub(crate) fn park(&mut self, id: ShapeId, leaf: QueueId) {
        self.get_mut(id).parked.insert(leaf);
    }

    /// A node has `free` now: unblocks the shapes that fit it and hands out the leaves parked at them.
    pub(crate) fn unblock(&mut self, free: &Resources, woken: &mut Vec<QueueId>) {
        let mut next = 0;
        while let Some(&(first, id)) = self.blocked.get(next).filter(|(first, _)| *first <= free.get(0)) {
            debug_assert_eq!(first, self[id].demand.get(0));
            if !self[id].demand.fits_in(free) {
                next += 1;
                continue;
            }
            self.blocked.remove(next);
            let shape = self.get_mut(id);
            shape.blocked = false;
            woken.extend(std::mem::take(&mut shape.parked));
            let waiting = shape.waiting;
            self.startable += usize::from(waiting > 0);
        }
    }

    /// The cluster has changed: asks anew which shapes it could ever hold.
    pub(crate) fn refresh_possible(&mut self, possible: impl Fn(&Resources) -> bool) {
        for id in self.by_demand.values().copied().collect::<Vec<_>>() {
            let shape = self.get_mut(id);
            shape.possible = possible(&shape.demand);
        }
    }

    fn get_mut(&mut self, id: ShapeId) -> &mut Shape {
        &mut self.shapes[id.0 as usize]
    }
}

impl std::ops::Index<ShapeId> for Shapes {
    type Output = Shape;
    fn index(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }
}
