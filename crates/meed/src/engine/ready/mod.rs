//! Who may be asked: the heaps of what wants something, level by level down to the task groups of a
//! leaf, and the leaves that are out of them because nothing of them fits.
//!
//! It keeps keys and compares them; what they are made of, and what fits, is told by the caller.
//! Keys that are stored are lower bounds of the true ones (`order::heap`).
//!
//! Invariant: a leaf with waiting tasks is in its parent's heap, or parked; a parent is in its own
//! parent's heap as long as its heap is not empty. Cost: O(log children) for each change.

mod least_tree;
mod parked;
mod state;
mod wide;

pub(super) use parked::{AT_ONCE, bound};
pub(super) use wide::{Place, Wide};

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::room::ShapeId;
use super::tree::Tree;
use crate::ids::QueueRow;
use crate::memory::{expect, expect_at};
use crate::order::heap::{ABSENT, Heap, Item};
use crate::order::key::Key;
use crate::resources::Resources;
use crate::time::Time;
use parked::Parked;

/// What of one queue wants something: one whole line of memory.
#[repr(align(64))]
struct Row {
    /// Child queues that want something.
    demanding: Heap,
    /// Waiting task groups of a leaf, by the shape of their tasks.
    buckets: Vec<Bucket>,
    /// Waiting tasks of a leaf.
    waiting: u64,
    /// The later of a leaf's last service and the moment its demand began.
    waits_since: Time,
}

/// Waiting groups of one shape, best first by the leaf's policy. In this order all that one needs
/// of few kinds stands in one line of memory.
#[repr(C, align(64))]
pub(super) struct Bucket {
    groups: Heap,
    shape: ShapeId,
    /// The shape's, at hand.
    demand: Resources,
}

impl Bucket {
    pub(super) fn shape(&self) -> ShapeId {
        self.shape
    }

    pub(super) fn demand(&self) -> &Resources {
        &self.demand
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Slots of the groups, in no order.
    pub(super) fn groups(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().map(|&(_, slot)| slot)
    }
}

/// See the module.
pub(super) struct Ready {
    /// By number of the queue.
    rows: Vec<Row>,
    /// Where each queue stands in its parent's heap.
    places: Vec<u32>,
    /// Where each group stands in its leaf's bucket.
    group_places: Vec<u32>,
    /// Which leaves are out of their parent's heap until they are woken: nothing of them fits now.
    is_parked: Vec<bool>,
    parked: Parked,
    /// Leaves that wait for a queue above to fall below its maximum share, if any do.
    capped: BTreeMap<QueueRow, BTreeSet<QueueRow>>,
    /// Leaves to be put back into the walk: a maximum share has room.
    woken: Vec<QueueRow>,
    /// What is known of leaves in which many shapes wait.
    wide: BTreeMap<QueueRow, Box<Wide>>,
    /// Heaps of buckets that are gone, for those that come: where each job has a shape of its own,
    /// a bucket comes and goes with it.
    spare: Vec<Heap>,
}

/// Spare heaps that are kept.
const SPARES: usize = 16;

impl Ready {
    /// Without queues.
    pub(super) fn new(kinds: usize) -> Ready {
        Ready {
            rows: Vec::new(),
            places: Vec::new(),
            group_places: Vec::new(),
            is_parked: Vec::new(),
            parked: Parked::new(kinds),
            capped: BTreeMap::new(),
            woken: Vec::new(),
            wide: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    pub(super) fn add_queue(&mut self) {
        self.rows.push(Row {
            demanding: Heap::default(),
            buckets: Vec::new(),
            waiting: 0,
            waits_since: Time::ZERO,
        });
        self.places.push(ABSENT);
        self.is_parked.push(false);
    }

    /// See `ahead`.
    #[inline]
    pub(super) fn expect(&self, leaf: QueueRow) {
        expect(&self.rows[leaf.index()]);
        expect_at(&self.places, leaf.index());
    }

    /// Where a group stands among those of its leaf: the next in its slot is listed there.
    #[inline]
    pub(super) fn expect_group(&self, slot: u32) {
        expect_at(&self.group_places, slot as usize);
    }

    /// The same of what lies behind it.
    #[inline]
    pub(super) fn expect_behind(&self, leaf: QueueRow) {
        expect_at(&self.rows[leaf.index()].buckets, 0);
    }

    /// The same of what lies behind that.
    #[inline]
    pub(super) fn expect_last(&self, leaf: QueueRow) {
        if let Some(bucket) = self.rows[leaf.index()].buckets.first() {
            bucket.groups.expect();
        }
    }

    /// Waiting tasks of a leaf.
    #[inline]
    pub(super) fn waiting(&self, leaf: QueueRow) -> u64 {
        self.rows[leaf.index()].waiting
    }

    #[inline]
    pub(super) fn waits_since(&self, leaf: QueueRow) -> Time {
        self.rows[leaf.index()].waits_since
    }

    #[inline]
    pub(super) fn is_parked(&self, leaf: QueueRow) -> bool {
        self.is_parked[leaf.index()]
    }

    /// Whether it stands in its parent's heap.
    #[inline]
    pub(super) fn is_in_heap(&self, queue: QueueRow) -> bool {
        self.places[queue.index()] != ABSENT
    }

    /// Children of `parent` that want something, in no order.
    pub(super) fn demanding(&self, parent: QueueRow) -> impl Iterator<Item = QueueRow> + '_ {
        self.rows[parent.index()].demanding.iter().map(|&(_, child)| QueueRow(child))
    }

    /// The demanding child with the smallest stored key.
    #[inline]
    pub(super) fn first(&self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        let (key, child) = self.rows[parent.index()].demanding.peek()?;
        Some((key, QueueRow(child)))
    }

    /// Whether the smallest stored key is the true one, `key`.
    #[inline]
    pub(super) fn certifies(&self, parent: QueueRow, key: &Key) -> bool {
        self.rows[parent.index()].demanding.certifies(key)
    }

    /// Whether a child of `parent` wants something.
    pub(super) fn wants(&self, parent: QueueRow) -> bool {
        !self.rows[parent.index()].demanding.is_empty()
    }

    /// The next after it.
    pub(super) fn second(&self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        let (key, child) = self.rows[parent.index()].demanding.peek_second()?;
        Some((key, QueueRow(child)))
    }

    /// The same where keys are compared by `order`.
    pub(super) fn second_by(
        &self,
        parent: QueueRow,
        order: impl Fn(&Item, &Item) -> Ordering,
    ) -> Option<(Key, QueueRow)> {
        let (key, child) = self.rows[parent.index()].demanding.peek_second_by(order)?;
        Some((key, QueueRow(child)))
    }

    /// Puts `queue` into its parent's heap.
    pub(super) fn insert(&mut self, parent: QueueRow, queue: QueueRow, key: Key) {
        self.rows[parent.index()].demanding.push(key, queue.0, &mut self.places);
    }

    /// Stores a new key of `queue`, which is in its parent's heap.
    #[inline]
    pub(super) fn update(&mut self, parent: QueueRow, queue: QueueRow, key: Key) {
        self.rows[parent.index()].demanding.update(key, queue.0, &mut self.places);
    }

    /// Stores the key of `queue`, whose parent's heap compares by `order`; `None`: it is in it no
    /// more. `order` may read all heaps but that one.
    pub(super) fn place_by(
        &mut self,
        parent: QueueRow,
        queue: QueueRow,
        key: Option<Key>,
        order: impl Fn(&Ready, &Item, &Item) -> Ordering,
    ) {
        let mut heap = std::mem::take(&mut self.rows[parent.index()].demanding);
        let mut places = std::mem::take(&mut self.places);
        let order = |a: &Item, b: &Item| order(self, a, b);
        match (key, places[queue.index()] != ABSENT) {
            (Some(key), true) => {
                if !key.is_the_same(heap.stored(queue.0, &places)) {
                    heap.update_by(key, queue.0, &mut places, order);
                }
            }
            (Some(key), false) => heap.push_by(key, queue.0, &mut places, order),
            (None, true) => heap.remove_by(queue.0, &mut places, order),
            (None, false) => {}
        }
        self.places = places;
        self.rows[parent.index()].demanding = heap;
    }

    /// Takes some children out of the heap of `parent` and puts others in, by keys that `order`
    /// compares; it may read all heaps but that one.
    pub(super) fn exchange_by(
        &mut self,
        parent: QueueRow,
        out: &[u32],
        new: &[Item],
        order: impl Fn(&Ready, &Item, &Item) -> Ordering,
    ) {
        let mut heap = std::mem::take(&mut self.rows[parent.index()].demanding);
        let mut places = std::mem::take(&mut self.places);
        heap.exchange_by(out, new, &mut places, |a, b| order(self, a, b));
        self.places = places;
        self.rows[parent.index()].demanding = heap;
    }

    /// Takes all out of the heap of `parent`.
    pub(super) fn drain(&mut self, parent: QueueRow) -> Vec<QueueRow> {
        let children = self.rows[parent.index()].demanding.drain(&mut self.places);
        children.into_iter().map(QueueRow).collect()
    }

    /// The leaf wants nothing (or nothing that fits): it and the parents that are left without
    /// leave their heaps.
    pub(super) fn remove(&mut self, tree: &Tree, leaf: QueueRow) {
        for (at, parent) in tree.up(leaf) {
            if !self.is_in_heap(at) {
                break;
            }
            let heap = &mut self.rows[parent.index()].demanding;
            heap.remove(at.0, &mut self.places);
            if !heap.is_empty() {
                break;
            }
        }
    }

    /// The leaf has `tasks` more to start.
    pub(super) fn add_waiting(&mut self, now: Time, leaf: QueueRow, tasks: u64) {
        let row = &mut self.rows[leaf.index()];
        if row.waiting == 0 {
            row.waits_since = now;
        }
        row.waiting += tasks;
    }

    /// The leaf has `tasks` fewer to start; whether none is left.
    pub(super) fn sub_waiting(&mut self, leaf: QueueRow, tasks: u64) -> bool {
        let row = &mut self.rows[leaf.index()];
        row.waiting = row.waiting.checked_sub(tasks).expect("only waiting tasks leave");
        row.waiting == 0
    }

    /// The leaf waits since then: a start of it is undone.
    pub(super) fn set_waits_since(&mut self, leaf: QueueRow, since: Time) {
        self.rows[leaf.index()].waits_since = since;
    }

    /// A task of the leaf starts, or has started then.
    pub(super) fn served(&mut self, since: Time, leaf: QueueRow) {
        let row = &mut self.rows[leaf.index()];
        row.waits_since = row.waits_since.max(since);
    }
}

/// The task groups of a leaf.
impl Ready {
    #[inline]
    pub(super) fn buckets(&self, leaf: QueueRow) -> &[Bucket] {
        &self.rows[leaf.index()].buckets
    }

    /// Whether a group stands in its leaf's bucket.
    #[inline]
    pub(super) fn is_listed(&self, slot: u32) -> bool {
        self.group_places.get(slot as usize).is_some_and(|&place| place != ABSENT)
    }

    /// Puts a waiting group that is not listed into its leaf's bucket; whether it is the first
    /// there. `asks`: what tasks of a shape ask for.
    #[inline(always)]
    pub(super) fn list(
        &mut self,
        leaf: QueueRow,
        slot: u32,
        shape: ShapeId,
        demand: &Resources,
        key: Key,
        asks: impl Fn(ShapeId) -> Resources,
    ) -> bool {
        if slot as usize >= self.group_places.len() {
            self.group_places.resize(slot as usize + 1, ABSENT);
        }
        let found = self.bucket_of(leaf, shape);
        let buckets = &mut self.rows[leaf.index()].buckets;
        let bucket = match found {
            Some(found) => found,
            None => {
                let groups = self.spare.pop().unwrap_or_default();
                buckets.push(Bucket { shape, demand: *demand, groups });
                buckets.len() - 1
            }
        };
        // An empty bucket may be of a shape that is gone, whose number another has now.
        buckets[bucket].demand = *demand;
        let first = buckets[bucket].groups.is_empty();
        buckets[bucket].groups.push(key, slot, &mut self.group_places);
        if self.is_wide(leaf) {
            self.note_listed(leaf, bucket, first, asks);
        }
        first
    }

    /// Takes a group that no longer waits out of its bucket; whether it was the last there. Empty
    /// buckets go when there are many.
    pub(super) fn unlist(&mut self, leaf: QueueRow, slot: u32, shape: ShapeId) -> bool {
        const KEPT: usize = 4;
        let found = self.bucket_of(leaf, shape).expect("a waiting group is listed");
        let was_wide = self.is_wide(leaf);
        let buckets = &mut self.rows[leaf.index()].buckets;
        buckets[found].groups.remove(slot, &mut self.group_places);
        let last = buckets[found].groups.is_empty();
        let gone = last && buckets.len() > KEPT;
        if gone {
            let bucket = buckets.swap_remove(found);
            if self.spare.len() < SPARES {
                self.spare.push(bucket.groups);
            }
        }
        if was_wide {
            self.note_unlisted(leaf, found, shape, gone);
        }
        last
    }

    /// Stores a new key of a listed group.
    pub(super) fn update_group(&mut self, leaf: QueueRow, slot: u32, shape: ShapeId, key: Key) {
        let Some(bucket) = self.bucket_of(leaf, shape) else { return };
        self.update_in(leaf, bucket, slot, key);
        if self.is_wide(leaf) {
            self.note_rekeyed(leaf, bucket);
        }
    }

    /// The group of a bucket with the smallest stored key.
    #[inline]
    pub(super) fn first_group(&self, leaf: QueueRow, bucket: usize) -> Option<(Key, u32)> {
        self.rows[leaf.index()].buckets[bucket].groups.peek()
    }

    /// Whether the smallest stored key there is the true one, `key`.
    #[inline]
    pub(super) fn certifies_group(&self, leaf: QueueRow, bucket: usize, key: &Key) -> bool {
        self.rows[leaf.index()].buckets[bucket].groups.certifies(key)
    }

    /// Stores a new key of a group in that bucket.
    #[inline]
    pub(super) fn update_in(&mut self, leaf: QueueRow, bucket: usize, slot: u32, key: Key) {
        self.rows[leaf.index()].buckets[bucket].groups.update(key, slot, &mut self.group_places);
    }
}

/// Leaves that are out of the walk.
impl Ready {
    /// Nothing of the leaf, which leaves its heap, fits: it waits for no less than `least` of each
    /// kind (`None`: for no room), and is woken by a key of `bound` or above.
    pub(super) fn park(&mut self, leaf: QueueRow, least: Option<&Resources>, bound: f64) {
        self.parked.set(leaf, least, bound);
        self.is_parked[leaf.index()] = true;
    }

    /// The leaf is parked no more, if it was.
    pub(super) fn unpark(&mut self, leaf: QueueRow) -> bool {
        let was = std::mem::take(&mut self.is_parked[leaf.index()]);
        if was {
            self.parked.set(leaf, None, f64::INFINITY);
        }
        was
    }

    /// The key of a parked leaf that waits for room has changed.
    pub(super) fn set_bound(&mut self, leaf: QueueRow, bound: f64) {
        self.parked.set_bound(leaf, bound);
    }

    /// Whether a leaf is parked that waits for room.
    #[inline]
    pub(super) fn any_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Whether the key of a leaf that waits for room may be below this one, as a quick look tells.
    pub(super) fn may_wait_before(&self, key: &Key) -> bool {
        self.parked.may_be_before(key)
    }

    /// Of the parked leaves that one of `rooms` helps the one with the smallest key, below `below`;
    /// see [`Parked::first_helped`].
    pub(super) fn first_helped(
        &self,
        rooms: &[Resources],
        below: Option<Key>,
        key_of: impl FnMut(QueueRow) -> Option<Key>,
    ) -> Option<(Key, QueueRow)> {
        self.parked.first_helped(rooms, below, key_of)
    }

    /// The parked leaf waits for `queue` to fall below its maximum share.
    pub(super) fn wait_for_maximum(&mut self, queue: QueueRow, leaf: QueueRow) {
        self.capped.entry(queue).or_default().insert(leaf);
    }

    /// `queue` may be below its maximum share: whoever waited for that is to be woken.
    #[inline]
    pub(super) fn below_maximum(&mut self, queue: QueueRow) {
        if self.capped.is_empty() {
            return;
        }
        self.woken.extend(self.capped.remove(&queue).into_iter().flatten());
    }

    /// The next leaf to be woken.
    #[inline]
    pub(super) fn next_woken(&mut self) -> Option<QueueRow> {
        self.woken.pop()
    }
}
