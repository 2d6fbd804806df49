//! Distinct task demands, and which of them fit on no node now.
//!
//! Most tasks have one of a few demands. Once a demand was found to fit nowhere, no task of that
//! shape is tried again until some node has enough free for it: a saturated cluster costs nothing
//! per waiting tenant.
//!
//! Invariant: a shape that is not marked blocked may fit; one that is marked fits on no node, but
//! perhaps on one of those that have got room since the last decisions (`fresh`): in a
//! saturated cluster what an end frees is taken by the first that fits, and all others stay marked
//! as they were. Cost: interning is one look-up by hash per task group, with hashes that are the
//! same in every run (who makes shapes of equal hash on purpose is looked up among those); whether
//! a node has room for a blocked shape that is waited for is asked of a [`DemandList`].

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::demand_list::DemandList;
use super::lasting::asked;
use super::rules::RulesId;
use crate::gang::Turn;
use crate::ids::JobId;
use crate::resources::Resources;
use crate::time::Span;

/// What decides where a task can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct ShapeKey {
    pub(super) demand: Resources,
    /// Rules about labels.
    pub(super) rules: Option<RulesId>,
    /// The job whose tasks are to run on nodes of their own: such a job has shapes of its own.
    pub(super) distinct: Option<JobId>,
    /// The longest that a task may run, where room is held for tasks: else `None`.
    pub(super) limit: Option<Span>,
    /// Where several start together: how. Those of a joint turn are told by the shape's parts: its
    /// demand is the least of each kind that one of them asks for, its rules are what all have, and
    /// its limit is the longest.
    pub(super) turn: Option<Turn>,
}

/// What starts together where that is of several groups: shapes of single tasks, with how many.
pub(super) type Parts = Vec<(ShapeId, u32)>;

impl ShapeKey {
    /// The label that keeps together what starts together, by number; 0 for none.
    pub(super) fn same(&self) -> u32 {
        self.turn.map_or(0, |turn| turn.same)
    }

    /// The same in every run.
    #[inline]
    fn hash(&self) -> u64 {
        let mut hasher = FixedState::default().build_hasher();
        // Without the length, and what is behind it: all shapes have as many kinds.
        self.demand.as_slice().iter().for_each(|&amount| hasher.write_u64(amount));
        (self.limit, self.rules, self.distinct, self.turn).hash(&mut hasher);
        hasher.finish()
    }

    /// Single tasks that may run anywhere, for nobody knows how long.
    pub(super) fn of(demand: Resources) -> ShapeKey {
        ShapeKey { demand, rules: None, distinct: None, limit: None, turn: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ShapeId(u32);

#[derive(Debug)]
pub(super) struct Shape {
    pub(super) demand: Resources,
    pub(super) key: ShapeKey,
    /// Of the key.
    hash: u64,
    /// Whether the largest nodes ever seen could hold it; refreshed when the cluster changes.
    pub(super) possible: bool,
    /// Task groups of this shape that are alive.
    groups: u64,
    /// Tasks of this shape that wait.
    waiting: u64,
    /// Only while tasks of it wait.
    blocked: bool,
    /// While tasks of it wait and it is not blocked: where it stands among those that may start.
    place: u32,
    /// Of a gang: how often any node had got room when it was last found to fit nowhere.
    pub(super) tried: u64,
    /// Of a gang of several groups: at least two.
    pub(super) parts: Option<Box<Parts>>,
}

impl Shape {
    /// What starts together where that is of several groups; else nothing.
    pub(super) fn parts(&self) -> &[(ShapeId, u32)] {
        self.parts.as_deref().map_or(&[], Vec::as_slice)
    }

    fn new(key: &ShapeKey, possible: bool) -> Shape {
        Shape {
            demand: key.demand,
            key: *key,
            hash: key.hash(),
            possible,
            groups: 0,
            waiting: 0,
            blocked: false,
            place: 0,
            tried: 0,
            parts: None,
        }
    }
}

#[derive(Default)]
pub(super) struct Shapes {
    shapes: Vec<Shape>,
    unused: Vec<ShapeId>,
    /// Shapes that are held, by their keys. Nothing is ever read in the order of the table.
    by_key: HashTable<ShapeId>,
    /// The same for those of several groups, by the label that keeps them together.
    by_parts: BTreeMap<(u32, Parts), ShapeId>,
    /// Shapes that are blocked.
    blocked: DemandList,
    /// Shapes that have waiting tasks and are not blocked, in no order.
    startable: Vec<ShapeId>,
    last: Option<ShapeId>,
    /// Whether how long tasks may run is one kind more (`asks`).
    tells_limits: bool,
    /// Whether tasks of some shape had a limit, ever.
    any_limited: bool,
    /// Those that were blocked and are no more, the latest last; and how many came before these.
    opened: Vec<ShapeId>,
    opened_before: u64,
}

/// So many that were opened are told one by one.
const OPENED: usize = 1 << 12;

impl Shapes {
    /// Whether tasks of this demand without constraints are known, and possible.
    pub(super) fn known_possible(&self, demand: &Resources) -> bool {
        match self.last_plain(demand) {
            Some(last) => self[last].possible,
            None => self.find(&ShapeKey::of(*demand)).is_some_and(|id| self[id].possible),
        }
    }

    /// The shape of single tasks of this demand that may run anywhere, where the last that was held
    /// is it, held once more: most tasks ask for what the ones before them did.
    #[inline]
    pub(super) fn hold_last_plain(&mut self, demand: &Resources) -> Option<ShapeId> {
        let last = self.last_plain(demand)?;
        self.get_mut(last).groups += 1;
        Some(last)
    }

    #[inline]
    fn last_plain(&self, demand: &Resources) -> Option<ShapeId> {
        let last = self.last?;
        let shape = &self[last];
        let ShapeKey { rules, distinct, limit, turn, .. } = &shape.key;
        let plain = rules.is_none() && distinct.is_none() && limit.is_none() && turn.is_none();
        (plain && shape.groups > 0 && shape.demand == *demand).then_some(last)
    }

    /// The shape of this key, held once more; `possible` says whether the cluster could hold it.
    pub(super) fn hold(&mut self, key: &ShapeKey, possible: bool) -> ShapeId {
        let id = match self.find(key) {
            Some(id) => id,
            None => self.add(key, possible),
        };
        self.get_mut(id).groups += 1;
        self.last = Some(id);
        id
    }

    /// The last one first: most tasks ask for what the ones before them did.
    #[inline]
    fn find(&self, key: &ShapeKey) -> Option<ShapeId> {
        let last = self.last.filter(|&last| self[last].key == *key && self[last].groups > 0);
        last.or_else(|| self.by_key.find(key.hash(), |&id| self[id].key == *key).copied())
    }

    fn add(&mut self, key: &ShapeKey, possible: bool) -> ShapeId {
        let id = self.add_row(Shape::new(key, possible));
        self.name(id);
        id
    }

    /// A shape is found by its key from now on.
    fn name(&mut self, id: ShapeId) {
        let shapes = &self.shapes;
        let hash = |id: &ShapeId| shapes[id.0 as usize].hash;
        self.by_key.insert_unique(hash(&id), id, hash);
    }

    /// Whether tasks of some shape had a limit, ever.
    #[inline]
    pub(super) fn any_limited(&self) -> bool {
        self.any_limited
    }

    fn add_row(&mut self, shape: Shape) -> ShapeId {
        self.any_limited |= shape.key.limit.is_some();
        match self.unused.pop() {
            Some(id) => {
                *self.get_mut(id) = shape;
                id
            }
            None => {
                self.shapes.push(shape);
                ShapeId(self.shapes.len() as u32 - 1)
            }
        }
    }

    /// The shape of these parts, which are held, held once more; each holds its parts. `key` is
    /// made of them.
    pub(super) fn hold_joint(&mut self, key: &ShapeKey, parts: Parts) -> ShapeId {
        parts.iter().for_each(|(part, _)| self.get_mut(*part).groups += 1);
        let by = (key.same(), parts);
        let id = match self.by_parts.get(&by) {
            Some(&id) => id,
            None => {
                let parts = Some(Box::new(by.1.clone()));
                let id = self.add_row(Shape { parts, ..Shape::new(key, true) });
                self.by_parts.insert(by, id);
                id
            }
        };
        self.get_mut(id).groups += 1;
        id
    }

    /// Lets go of a shape held by [`Shapes::hold`] or [`Shapes::hold_joint`].
    pub(super) fn release(&mut self, id: ShapeId) {
        let shape = self.get_mut(id);
        shape.groups -= 1;
        if shape.parts.is_some() {
            return self.release_joint(id);
        }
        if shape.groups > 0 {
            return;
        }
        debug_assert_eq!(shape.waiting, 0);
        let hash = shape.hash;
        let named = self.by_key.find_entry(hash, |other| *other == id);
        named.expect("each that is held has its name").remove();
        self.unused.push(id);
    }

    fn release_joint(&mut self, id: ShapeId) {
        let shape = &self[id];
        let (same, parts) = (shape.key.same(), shape.parts().to_vec());
        if shape.groups == 0 {
            debug_assert_eq!(shape.waiting, 0);
            self.by_parts.remove(&(same, parts.clone()));
            self.get_mut(id).parts = None;
            self.unused.push(id);
        }
        parts.into_iter().for_each(|(part, _)| self.release(part));
    }

    pub(super) fn add_waiting(&mut self, id: ShapeId, tasks: u64) {
        let shape = self.get_mut(id);
        let is_first = shape.waiting == 0 && tasks > 0;
        shape.waiting += tasks;
        if is_first {
            self.list_startable(id);
        }
    }

    fn list_startable(&mut self, id: ShapeId) {
        self.get_mut(id).place = self.startable.len() as u32;
        self.startable.push(id);
    }

    fn unlist_startable(&mut self, id: ShapeId) {
        let place = self[id].place;
        self.startable.swap_remove(place as usize);
        if let Some(&moved) = self.startable.get(place as usize) {
            self.get_mut(moved).place = place;
        }
    }

    pub(super) fn sub_waiting(&mut self, id: ShapeId, tasks: u64) {
        let shape = self.get_mut(id);
        shape.waiting = shape.waiting.checked_sub(tasks).expect("only waiting tasks leave");
        if tasks == 0 || shape.waiting > 0 {
            return;
        }
        // Nobody tells it of room from now on.
        match std::mem::take(&mut shape.blocked) {
            true => {
                self.unlist_blocked(id);
                self.note_opened(id);
            }
            false => self.unlist_startable(id),
        }
    }

    /// From the start on, tasks are told apart by how long they may run.
    pub(super) fn tell_limits(&mut self) {
        self.tells_limits = true;
    }

    fn note_opened(&mut self, id: ShapeId) {
        if self.opened.len() >= OPENED {
            self.opened_before += self.opened.len() as u64;
            self.opened.clear();
        }
        self.opened.push(id);
    }

    /// How many shapes were ever opened.
    pub(super) fn opened(&self) -> u64 {
        self.opened_before + self.opened.len() as u64
    }

    /// Those that were opened after the first `told`; `None`: too many to be told.
    pub(super) fn opened_since(&self, told: u64) -> Option<&[ShapeId]> {
        let from = told.checked_sub(self.opened_before)?;
        self.opened.get(from as usize..)
    }

    fn asks(&self, id: ShapeId) -> Resources {
        let shape = &self[id];
        asked(&shape.demand, shape.key.limit, self.tells_limits)
    }

    /// Shapes that have waiting tasks and are not blocked, in no order.
    pub(super) fn startable(&self) -> &[ShapeId] {
        &self.startable
    }

    /// Whether a task waits whose shape is not blocked.
    pub(super) fn any_startable(&self) -> bool {
        !self.startable.is_empty()
    }

    pub(super) fn is_blocked(&self, id: ShapeId) -> bool {
        self[id].blocked
    }

    /// A gang of this shape fits nowhere, though nodes have got room `grown` times so far.
    pub(super) fn set_tried(&mut self, id: ShapeId, grown: u64) {
        self.get_mut(id).tried = grown;
    }

    /// No node has room for this shape now.
    pub(super) fn block(&mut self, id: ShapeId) {
        let shape = &mut self.shapes[id.0 as usize];
        if shape.waiting > 0 && !shape.blocked {
            shape.blocked = true;
            let asks = asked(&shape.demand, shape.key.limit, self.tells_limits);
            self.blocked.insert(&asks, id.0);
            self.unlist_startable(id);
        }
    }

    fn unlist_blocked(&mut self, id: ShapeId) {
        let asks = self.asks(id);
        self.blocked.remove(&asks, id.0);
    }

    /// Whether a task waits whose shape is blocked, would fit into this offer and is allowed there.
    #[inline]
    pub(super) fn any_blocked_fits(&self, free: &[u64], allowed: impl Fn(&Shape) -> bool) -> bool {
        self.blocked.any_fitting(free, |id| allowed(&self[ShapeId(id)]))
    }

    /// Whether a task waits whose shape is blocked.
    #[inline]
    pub(super) fn any_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// A node has `offers`: the shapes of waiting tasks that fit and are allowed there are blocked
    /// no more.
    pub(super) fn unblock(&mut self, offers: &[Resources], allowed: impl Fn(&Shape) -> bool) {
        let mut fitting = Vec::new();
        for free in offers {
            self.blocked.any_fitting(free.as_slice(), |id| {
                fitting.extend(allowed(&self[ShapeId(id)]).then_some(ShapeId(id)));
                false
            });
        }
        if offers.len() > 1 {
            fitting.sort_unstable();
            fitting.dedup();
        }
        for id in fitting {
            self.unlist_blocked(id);
            self.get_mut(id).blocked = false;
            self.list_startable(id);
            self.note_opened(id);
        }
    }

    /// The cluster has changed: asks anew which shapes it could ever hold.
    pub(super) fn refresh_possible(&mut self, possible: impl Fn(&ShapeKey) -> bool) {
        // Constrained tasks are asked for anew each time.
        let open = |key: &ShapeKey| key.rules.is_none() && key.distinct.is_none();
        let held = self.shapes.iter_mut().filter(|shape| shape.groups > 0);
        for shape in held.filter(|shape| shape.parts.is_none() && open(&shape.key)) {
            shape.possible = possible(&shape.key);
        }
    }

    fn get_mut(&mut self, id: ShapeId) -> &mut Shape {
        &mut self.shapes[id.0 as usize]
    }
}

impl ShapeId {
    pub(in crate::engine) fn numbered(number: u32) -> ShapeId {
        ShapeId(number)
    }

    /// Its number, which the next shape may have when it is gone.
    pub(in crate::engine) fn number(self) -> u32 {
        self.0
    }
}

/// As plain data, and back.
impl Shapes {
    /// All numbers, with the shapes that live; and the free ones, the next one last.
    pub(super) fn slots(&self) -> (Vec<Option<&Shape>>, Vec<u32>) {
        let living = self.shapes.iter().map(|shape| (shape.groups > 0).then_some(shape));
        (living.collect(), self.unused.iter().map(|id| id.0).collect())
    }

    /// Without groups and tasks. `None`: a key stands twice.
    pub(super) fn of_slots(keys: &[Option<(ShapeKey, Parts)>], unused: &[u32]) -> Option<Shapes> {
        let nothing = ShapeKey::of(Resources::default());
        let mut shapes = Shapes::default();
        for (number, row) in keys.iter().enumerate() {
            let mut shape = Shape::new(&row.as_ref().map_or(nothing, |(key, _)| *key), true);
            let id = ShapeId(number as u32);
            let twice = match row {
                None => false,
                Some((key, parts)) if parts.is_empty() => shapes.find(key).is_some(),
                Some((key, parts)) => {
                    shape.parts = Some(Box::new(parts.clone()));
                    shapes.by_parts.insert((key.same(), parts.clone()), id).is_some()
                }
            };
            shapes.any_limited |= shape.key.limit.is_some();
            shapes.shapes.push(shape);
            if twice {
                return None;
            }
            if row.as_ref().is_some_and(|(_, parts)| parts.is_empty()) {
                shapes.name(id);
            }
        }
        shapes.unused = unused.iter().map(|&id| ShapeId(id)).collect();
        Some(shapes)
    }

    /// A group more is of the shape of this number.
    pub(super) fn hold_number(&mut self, number: u32) -> Option<ShapeId> {
        let shape = self.shapes.get_mut(number as usize)?;
        shape.groups += 1;
        for (part, _) in shape.parts().to_vec() {
            self.get_mut(part).groups += 1;
        }
        Some(ShapeId(number))
    }

    pub(super) fn is_held(&self, id: ShapeId) -> bool {
        self[id].groups > 0
    }

    pub(super) fn is_waited_for(&self, id: ShapeId) -> bool {
        self[id].waiting > 0
    }

    pub(super) fn id(&self, number: u32) -> Option<ShapeId> {
        ((number as usize) < self.shapes.len()).then_some(ShapeId(number))
    }
}

impl std::ops::Index<ShapeId> for Shapes {
    type Output = Shape;
    fn index(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Those that may start are those that wait and are not blocked, whatever came before.
        #[test]
        fn who_may_start_is_listed(steps in prop::collection::vec((0u64..6, 0u8..4), 0..80)) {
            let mut shapes = Shapes::default();
            let key = |size: u64| ShapeKey::of(Resources::new(&[size + 1]));
            let ids: Vec<ShapeId> = (0..6).map(|size| shapes.hold(&key(size), true)).collect();
            for (which, step) in steps {
                let id = ids[which as usize];
                match step {
                    0 => shapes.add_waiting(id, 1),
                    1 if shapes.is_waited_for(id) => shapes.sub_waiting(id, 1),
                    2 => shapes.block(id),
                    _ => shapes.unblock(&[Resources::new(&[which + 1])], |_| true),
                }
                let mut listed = shapes.startable().to_vec();
                listed.sort_unstable();
                let may = |id: &ShapeId| shapes.is_waited_for(*id) && !shapes.is_blocked(*id);
                let plain: Vec<ShapeId> = ids.iter().copied().filter(may).collect();
                prop_assert_eq!(shapes.any_startable(), !plain.is_empty());
                prop_assert_eq!(listed, plain);
            }
        }
    }
}
