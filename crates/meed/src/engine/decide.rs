//! Who is served next: the walk from the root, until nothing more can start.
//!
//! At each level the demanding child with the smallest key is chosen; in the leaf, the best job of
//! which a task fits. A leaf of which nothing fits is parked until a place or its share has room
//! again, and the walk goes on with the next: whatever can start does (work conservation), unless
//! the root's policy says to wait.

use super::{Engine, NO_PLACE};
use crate::decision::{Choice, KeyValue, Reason, Start};
use crate::order::Tier;
use crate::order::key::Key;
use crate::resources::Resources;
use crate::shapes::ShapeId;
use crate::spec::{NodeId, QueueId};

/// What a leaf would start.
enum Candidate {
    /// A group, and the node that was found for it where one was looked for.
    Group(u32, Option<NodeId>),
    /// The best one fits nowhere now, and the policy is to wait for it.
    Wait,
    /// Nothing fits.
    Nothing,
}

impl Engine {
    /// Starts tasks while any can start, in order; `on` is told each. With `explain`, each comes
    /// with its reason, which costs a second look at every heap on the way.
    pub fn decide(&mut self, explain: bool, on: impl FnMut(Start)) {
        self.decide_all(explain, on);
        self.forget_fresh();
    }

    fn decide_all(&mut self, explain: bool, mut on: impl FnMut(Start)) {
        self.sift_fresh();
        if self.servers.is_some() {
            return self.decide_by_server(explain, on);
        }
        while self.any_startable() {
            self.wake_next(explain);
            self.settle();
            let mut reason = explain.then(|| Reason {
                levels: Vec::new(),
                starved_for: None,
                place: self.place.why(),
            });
            let Some(leaf) = self.choose_leaf(reason.as_mut()) else { return };
            let (slot, node) = match self.choose_group(leaf) {
                Candidate::Group(slot, node) => (slot, node),
                Candidate::Wait => return,
                Candidate::Nothing => {
                    self.park(leaf);
                    continue;
                }
            };
            if let Some(start) = self.place_group(leaf, slot, node, reason) {
                on(start);
            }
        }
    }

    /// Starts a task of the group, on the node that was found for it if one was looked for already,
    /// or marks its shape blocked when it fits on no node.
    fn place_group(
        &mut self,
        leaf: QueueId,
        slot: u32,
        node: Option<NodeId>,
        reason: Option<Reason>,
    ) -> Option<Start> {
        let group = &self.groups[slot as usize];
        let (job, number, shape) = (group.job, group.number, group.shape);
        let demand = self.shapes[shape].demand;
        let node = node.or_else(|| self.find_or_block(shape))?;
        let (allocation, task, failures) = self.start(slot, node);
        self.sift(node);
        // Seen now it spares a walk that would only end in not finding a node.
        if !self.place.may_fit(&demand) {
            self.shapes.block(shape);
        }
        let reason = reason.map(Box::new);
        Some(Start { allocation, job, task, group: number, queue: leaf, node, failures, reason })
    }

    /// A node for tasks of this shape.
    #[inline]
    pub(super) fn find_node(&mut self, shape: ShapeId) -> Option<NodeId> {
        if !self.is_open(shape) {
            return None;
        }
        let blocked = self.shapes.is_blocked(shape);
        let shape = &self.shapes[shape];
        let allowed = self.rules.allowed(&shape.key, &self.jobs);
        match blocked {
            true => self.place.find_among(&shape.demand, allowed, &self.fresh),
            false => self.place.find(&shape.demand, allowed),
        }
    }

    /// The same; where there is none the shape is blocked.
    #[inline]
    pub(super) fn find_or_block(&mut self, shape: ShapeId) -> Option<NodeId> {
        let found = self.find_node(shape);
        if found.is_none() {
            self.shapes.block(shape);
        }
        found
    }

    /// The shape of a bucket of the leaf, if tasks of it wait, are not known to fit nowhere (or the
    /// policy is to wait for them) and stay within the maximum shares.
    #[inline]
    pub(super) fn startable_shape(&self, leaf: QueueId, bucket: usize) -> Option<ShapeId> {
        let bucket = &self.queues[leaf.index()].buckets[bucket];
        let open = !bucket.groups.is_empty() && (self.waits || self.is_open_bucket(bucket));
        (open && self.capped_by(leaf, bucket.shape).is_none()).then_some(bucket.shape)
    }

    /// The leaf whose turn it is.
    fn choose_leaf(&mut self, mut reason: Option<&mut Reason>) -> Option<QueueId> {
        if let Some((leaf, waited)) = self.starved() {
            if let Some(reason) = reason {
                reason.starved_for = Some(waited);
            }
            return Some(leaf);
        }
        let mut at = QueueId::ROOT;
        loop {
            let (key, child) = self.least_child(at)?;
            if let Some(reason) = reason.as_deref_mut() {
                let runner_up = self.runner_up(at);
                reason.levels.push(Choice {
                    among: at,
                    chosen: child,
                    key: self.shown(at, &key),
                    runner_up,
                });
            }
            if self.queues[child.index()].children.is_empty() {
                return Some(child);
            }
            at = child;
        }
    }

    /// The demanding child with the smallest key, certified at this instant (see `order::heap`).
    #[inline]
    pub(super) fn least_child(&mut self, parent: QueueId) -> Option<(Key, QueueId)> {
        loop {
            let (stored, id) = self.queues[parent.index()].demanding.peek()?;
            if self.holds_true_keys(parent) {
                return Some((stored, QueueId(id)));
            }
            let key = self.queue_key(parent, QueueId(id));
            if self.queues[parent.index()].demanding.certifies(&key) {
                return Some((key, QueueId(id)));
            }
            self.queues[parent.index()].demanding.update(key, id, &mut self.queue_places);
        }
    }

    fn runner_up(&mut self, parent: QueueId) -> Option<(QueueId, KeyValue)> {
        loop {
            if self.holds_true_keys(parent) {
                let (key, id) = self.second_child(parent)?;
                return Some((QueueId(id), self.shown(parent, &key)));
            }
            let (stored, id) = self.queues[parent.index()].demanding.peek_second()?;
            let key = self.queue_key(parent, QueueId(id));
            if key == stored {
                return Some((QueueId(id), self.shown(parent, &key)));
            }
            self.queues[parent.index()].demanding.update(key, id, &mut self.queue_places);
        }
    }

    #[inline]
    pub(super) fn queue_key(&mut self, parent: QueueId, child: QueueId) -> Key {
        if let Some(key) = self.rescaled_key(parent, child) {
            return key;
        }
        let domain = &self.domains[self.queues[parent.index()].domain];
        let queue = &mut self.queues[child.index()];
        queue.standing.key(self.now, domain, &queue.terms)
    }

    /// The best waiting group of the leaf among those whose shape is not known to be blocked and
    /// that stay within the maximum shares.
    fn choose_group(&mut self, leaf: QueueId) -> Candidate {
        let mut best: Option<(Key, u32)> = None;
        let mut node = None;
        // With many shapes, those that fit nowhere are found on the way: one walk for each would be
        // quadratic.
        let probes = !self.waits && self.queues[leaf.index()].buckets.len() > 1;
        for i in 0..self.queues[leaf.index()].buckets.len() {
            let Some(shape) = self.startable_shape(leaf, i) else { continue };
            let Some(candidate) = self.least_group(leaf, i) else { continue };
            if best.is_none_or(|(key, _)| candidate.0 < key) {
                if probes {
                    let Some(found) = self.find_or_block(shape) else { continue };
                    node = Some(found);
                }
                best = Some(candidate);
            }
        }
        match best {
            Some((_, slot)) if !self.is_open(self.groups[slot as usize].shape) => Candidate::Wait,
            Some((_, slot)) => Candidate::Group(slot, node),
            None => Candidate::Nothing,
        }
    }

    #[inline]
    pub(super) fn least_group(&mut self, leaf: QueueId, bucket: usize) -> Option<(Key, u32)> {
        loop {
            let (_, slot) = self.queues[leaf.index()].buckets[bucket].groups.peek()?;
            let key = self.group_key(slot);
            if self.queues[leaf.index()].buckets[bucket].groups.certifies(&key) {
                return Some((key, slot));
            }
            self.queues[leaf.index()].buckets[bucket].groups.update(
                key,
                slot,
                &mut self.group_places,
            );
        }
    }

    /// The queue on the path whose maximum share a task of this shape would exceed.
    #[inline]
    pub(super) fn capped_by(&self, leaf: QueueId, shape: ShapeId) -> Option<QueueId> {
        if !self.has_maximums {
            return None;
        }
        let mut at = Some(leaf);
        while let Some(id) = at {
            let queue = &self.queues[id.index()];
            if let Some(max) = &queue.max {
                let mut with = queue.held;
                with.add(&self.shapes[shape].demand);
                if !with.fits_in(max) {
                    return Some(id);
                }
            }
            at = queue.parent;
        }
        None
    }

    /// Nothing of the leaf fits: takes it out of the walk until one of the reasons is gone.
    pub(super) fn park(&mut self, leaf: QueueId) {
        let mut least: Option<Resources> = None;
        for i in 0..self.queues[leaf.index()].buckets.len() {
            let bucket = &self.queues[leaf.index()].buckets[i];
            let shape = bucket.shape;
            if bucket.groups.is_empty() {
                continue;
            }
            match self.capped_by(leaf, shape) {
                Some(queue) => {
                    self.queues[queue.index()].rest.capped.insert(leaf);
                }
                None => match &mut least {
                    Some(least) => least.lower(&bucket.demand),
                    None => least = Some(bucket.demand),
                },
            }
        }
        if !self.rescales {
            let bound = self.bound_of(leaf);
            self.parked.set(leaf, least.as_ref(), bound);
        }
        self.queues[leaf.index()].parked = true;
        self.leave_heaps(leaf);
    }

    /// Puts the leaves below their maximum shares back into the walk.
    pub(super) fn wake(&mut self) {
        while let Some(leaf) = self.woken.pop() {
            self.wake_leaf(leaf);
        }
    }

    pub(super) fn wake_leaf(&mut self, leaf: QueueId) {
        if self.rescales {
            return self.unsettle(leaf);
        }
        if self.queues[leaf.index()].parked {
            self.unpark(leaf);
            if self.queues[leaf.index()].waiting > 0 {
                self.join_heaps(leaf);
            }
        }
    }

    fn unpark(&mut self, leaf: QueueId) {
        self.queues[leaf.index()].parked = false;
        self.parked.set(leaf, None, f64::INFINITY);
    }

    /// A leaf has `tasks` more to start.
    pub(super) fn add_leaf_waiting(&mut self, leaf: QueueId, tasks: u64) {
        let now = self.now;
        let queue = &mut self.queues[leaf.index()];
        if queue.waiting == 0 {
            queue.waits_since = now;
        }
        queue.waiting += tasks;
        if queue.parked {
            self.unpark(leaf);
        }
        self.join_heaps(leaf);
    }

    /// A leaf has `tasks` fewer to start.
    pub(super) fn sub_leaf_waiting(&mut self, leaf: QueueId, tasks: u64) {
        let queue = &mut self.queues[leaf.index()];
        queue.waiting = queue.waiting.checked_sub(tasks).expect("only waiting tasks leave");
        if queue.waiting == 0 {
            if queue.parked {
                self.unpark(leaf);
            }
            self.leave_heaps(leaf);
        }
    }

    /// The leaf wants something: it and, where they wanted nothing before, its parents join their
    /// heaps.
    pub(super) fn join_heaps(&mut self, leaf: QueueId) {
        if self.rescales {
            // Until it is looked at.
            self.unsettle(leaf);
            self.refresh_path(leaf, true);
        }
        let mut at = leaf;
        while let Some(parent) = self.queues[at.index()].parent {
            if self.queue_places[at.index()] != NO_PLACE {
                break;
            }
            let key = self.queue_key(parent, at);
            self.queues[parent.index()].demanding.push(key, at.0, &mut self.queue_places);
            at = parent;
        }
        if let Some(guard) = &mut self.guard {
            guard.add(self.now, leaf);
        }
    }

    /// The leaf wants nothing (or nothing that fits): it and the parents that are left without
    /// leave their heaps.
    fn leave_heaps(&mut self, leaf: QueueId) {
        if self.rescales {
            self.refresh_path(leaf, false);
        }
        let mut at = leaf;
        while let Some(parent) = self.queues[at.index()].parent {
            if self.queue_places[at.index()] == NO_PLACE {
                break;
            }
            self.queues[parent.index()].demanding.remove(at.0, &mut self.queue_places);
            if !self.queues[parent.index()].demanding.is_empty() {
                break;
            }
            at = parent;
        }
        if let Some(guard) = &mut self.guard {
            guard.remove(leaf);
        }
    }

    /// A queue's key has changed, perhaps fallen.
    pub(super) fn rekey(&mut self, queue: QueueId) {
        let Some(parent) = self.queues[queue.index()].parent else { return };
        if self.rescales {
            return self.refresh(queue, self.queue_places[queue.index()] != NO_PLACE);
        }
        if self.queue_places[queue.index()] != NO_PLACE {
            let key = self.queue_key(parent, queue);
            self.queues[parent.index()].demanding.update(key, queue.0, &mut self.queue_places);
        } else if self.queues[queue.index()].parked {
            let bound = self.bound_of(queue);
            self.parked.set_bound(queue, bound);
        }
    }
}

impl Engine {
    /// A key among the children of `parent` as decisions tell it.
    pub(super) fn shown(&self, parent: QueueId, key: &Key) -> KeyValue {
        let unit = match key.tier() {
            Tier::Ordinary => self.domain(parent).unit_of_key(),
            Tier::BelowMinimum => 1.0,
        };
        KeyValue { tier: key.tier(), value: key.value() * unit }
    }
}
