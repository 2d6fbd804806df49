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

use crate::engine::RulesId;
use crate::resources::Resources;
use crate::spec::{JobId, QueueId};

/// What decides where a task can run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ShapeKey {
    pub(crate) demand: Resources,
    /// Rules about labels.
    pub(crate) rules: Option<RulesId>,
    /// The job whose tasks are to run on nodes of their own: such a job has shapes of its own.
    pub(crate) distinct: Option<JobId>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ShapeId(u32);

#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) demand: Resources,
    pub(crate) key: ShapeKey,
    /// Whether the largest nodes ever seen could hold it; refreshed when the cluster changes.
    pub(crate) possible: bool,
    /// Task groups of this shape that are alive.
    groups: u64,
    /// Tasks of this shape that wait.
    waiting: u64,
    blocked: bool,
    /// It was blocked until room came free: whatever node has room for it is one of those.
    reopened: bool,
    parked: BTreeSet<QueueId>,
}

#[derive(Default)]
pub(crate) struct Shapes {
    shapes: Vec<Shape>,
    unused: Vec<ShapeId>,
    by_key: BTreeMap<ShapeKey, ShapeId>,
    /// Blocked shapes by their first amount: a plain sorted list, for they are few and change at every turn of a
    /// saturated cluster.
    blocked: Vec<(u64, ShapeId)>,
    /// Shapes that have waiting tasks and are not blocked.
    startable: usize,
    /// Those that are marked `reopened`, and some that were.
    reopened: Vec<ShapeId>,
    last: Option<ShapeId>,
}

impl Shapes {
    /// Whether tasks of this demand without constraints are known, and possible.
    pub(crate) fn known_possible(&self, demand: &Resources) -> bool {
        self.find(&ShapeKey { demand: *demand, rules: None, distinct: None })
            .is_some_and(|id| self[id].possible)
    }

    /// The shape of this key, held once more. The cluster could hold it: the caller has asked.
    pub(crate) fn hold(&mut self, key: &ShapeKey) -> ShapeId {
        let id = match self.find(key) {
            Some(id) => id,
            None => self.add(key),
        };
        self.get_mut(id).groups += 1;
        self.last = Some(id);
        id
    }

    /// The last one first: most tasks ask for what the ones before them did.
    #[inline]
    fn find(&self, key: &ShapeKey) -> Option<ShapeId> {
        let last = self.last.filter(|&last| self[last].key == *key && self[last].groups > 0);
        last.or_else(|| self.by_key.get(key).copied())
    }

    fn add(&mut self, key: &ShapeKey) -> ShapeId {
        let shape = Shape {
            demand: key.demand,
            key: *key,
            possible: true,
            groups: 0,
            waiting: 0,
            blocked: false,
            reopened: false,
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
        self.by_key.insert(*key, id);
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
        let (key, blocked) = (shape.key, std::mem::take(&mut shape.blocked));
        if blocked {
            let found =
                self.blocked.binary_search(&(key.demand.get(0), id)).expect("a blocked shape is listed");
            self.blocked.remove(found);
        }
        self.by_key.remove(&key);
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

    /// Shapes that have waiting tasks and are not known to fit nowhere.
    pub(crate) fn startable(&self) -> Vec<ShapeId> {
        let ids = self.by_key.values().copied();
        ids.filter(|&id| self[id].waiting > 0 && !self[id].blocked).collect()
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
        (shape.blocked, shape.reopened) = (true, false);
        let (waiting, first) = (shape.waiting, shape.demand.get(0));
        self.startable -= usize::from(waiting > 0);
        let place = self.blocked.partition_point(|listed| *listed < (first, id));
        self.blocked.insert(place, (first, id));
    }

    /// Wakes `leaf` when this shape is no longer blocked.
    pub(crate) fn park(&mut self, id: ShapeId, leaf: QueueId) {
        self.get_mut(id).parked.insert(leaf);
    }

    /// A node has `free` now: unblocks the shapes that fit it and are allowed there, and hands out the leaves parked at
    /// them.
    pub(crate) fn unblock(
        &mut self,
        free: &Resources,
        woken: &mut Vec<QueueId>,
        allowed: impl Fn(&ShapeKey) -> bool,
    ) {
        let mut next = 0;
        while let Some(&(first, id)) = self.blocked.get(next).filter(|(first, _)| *first <= free.get(0)) {
            debug_assert_eq!(first, self[id].demand.get(0));
            if !self[id].demand.fits_in(free) || !allowed(&self[id].key) {
                next += 1;
                continue;
            }
            self.blocked.remove(next);
            let shape = self.get_mut(id);
            (shape.blocked, shape.reopened) = (false, true);
            woken.extend(std::mem::take(&mut shape.parked));
            let waiting = shape.waiting;
            self.startable += usize::from(waiting > 0);
            self.reopened.push(id);
        }
    }

    /// Whether only nodes that have had room since may hold it.
    pub(crate) fn is_reopened(&self, id: ShapeId) -> bool {
        self[id].reopened
    }

    /// Where room has come free is forgotten: any node may hold any shape that is not blocked.
    pub(crate) fn forget_reopened(&mut self) {
        while let Some(id) = self.reopened.pop() {
            self.get_mut(id).reopened = false;
        }
    }

    /// The cluster has changed: asks anew which shapes it could ever hold.
    pub(crate) fn refresh_possible(&mut self, possible: impl Fn(&ShapeKey) -> bool) {
        // Constrained tasks are asked for anew each time.
        let open = |key: &ShapeKey| key.rules.is_none() && key.distinct.is_none();
        for id in self.by_key.iter().filter(|(key, _)| open(key)).map(|(_, id)| *id).collect::<Vec<_>>() {
            let shape = self.get_mut(id);
            shape.possible = possible(&shape.key);
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
