//! The many shapes that wait in one leaf, to be asked which of them comes first: of all, or of
//! those that room helps.
//!
//! A leaf with few shapes is looked at shape by shape. One with more has two trees
//! ([`Parked`], where leaves are told apart here shapes are): of the shapes that may be open, and
//! of those that are known to be blocked. Each holds for a subtree the least key and the least that
//! is asked for, so that the first in turn is found without a look at those behind it, and whom a
//! node helps without a look at those that ask for more.
//!
//! Invariant: each shape that waits in the leaf stands in one of the trees, with a key at or below
//! the true one; a shape that is not blocked stands among the open ones, once the list of those
//! that were opened has been read up to its end. Cost for n shapes: O(log n) for one that comes,
//! goes or is rekeyed; a question as in [`Parked`]. None of it is in the state: no answer depends
//! on it.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::parked::{Parked, bound};
use super::{Bucket, Ready};
use crate::engine::room::ShapeId;
use crate::ids::QueueRow;
use crate::resources::Resources;

/// So many shapes are looked at one by one. In builds with checks few are many, so that random runs
/// go this way too.
const FEW: usize = if cfg!(debug_assertions) { 3 } else { 64 };

/// A shape by the place of its bucket: a [`Parked`] calls it a leaf.
pub(in crate::engine) type Place = QueueRow;

/// See the module.
pub(in crate::engine) struct Wide {
    /// The place of each shape's bucket.
    places: Places,
    pub(in crate::engine) open: Parked,
    pub(in crate::engine) shut: Parked,
    /// How many of the shapes that were ever opened have been told.
    pub(in crate::engine) told: u64,
}

/// Places by the numbers of shapes, which nobody reads in order.
#[derive(Default)]
struct Places(HashTable<(u32, u32)>);

impl Places {
    fn hash(shape: u32) -> u64 {
        FixedState::default().hash_one(shape)
    }

    fn get(&self, shape: u32) -> Option<u32> {
        self.0.find(Self::hash(shape), |(other, _)| *other == shape).map(|(_, place)| *place)
    }

    fn insert(&mut self, shape: u32, place: u32) {
        match self.0.find_mut(Self::hash(shape), |(other, _)| *other == shape) {
            Some((_, before)) => *before = place,
            None => {
                let hash = |(shape, _): &(u32, u32)| Self::hash(*shape);
                self.0.insert_unique(Self::hash(shape), (shape, place), hash);
            }
        }
    }

    fn remove(&mut self, shape: u32) {
        if let Ok(found) = self.0.find_entry(Self::hash(shape), |(other, _)| *other == shape) {
            found.remove();
        }
    }
}

fn place(bucket: usize) -> Place {
    QueueRow(bucket as u32)
}

impl Bucket {
    /// At or below the key of its first group, which there is.
    fn bound(&self) -> f64 {
        self.groups.peek().map_or(f64::INFINITY, |(key, _)| bound(&key))
    }
}

impl Wide {
    fn of(buckets: &[Bucket], asks: impl Fn(ShapeId) -> Resources) -> Wide {
        // The shape of one where nothing waits may be gone.
        let first = buckets.iter().find(|bucket| !bucket.is_empty());
        let kinds = first.map_or(0, |bucket| asks(bucket.shape).kinds());
        let (open, shut) = (Parked::new(kinds), Parked::new(kinds));
        let mut wide = Wide { places: Places::default(), open, shut, told: 0 };
        for (at, bucket) in buckets.iter().enumerate() {
            wide.places.insert(bucket.shape.number(), at as u32);
            if !bucket.is_empty() {
                wide.open.set(place(at), Some(&asks(bucket.shape)), bucket.bound());
            }
        }
        wide
    }

    /// The least of each kind that one of the shapes asks for.
    fn least(&self) -> Option<Resources> {
        let both = [&self.open, &self.shut].into_iter().filter_map(Parked::least);
        both.map(Resources::new).reduce(|mut least, other| {
            least.lower(&other);
            least
        })
    }

    fn leave(&mut self, at: Place) {
        self.open.set(at, None, 0.0);
        self.shut.set(at, None, 0.0);
    }

    /// The first key of a shape is at or above this.
    pub(in crate::engine) fn set_bound(&mut self, at: Place, bound: f64) {
        self.open.set_bound(at, bound);
        self.shut.set_bound(at, bound);
    }

    /// The shape is blocked.
    pub(in crate::engine) fn shut(&mut self, at: Place, bound: f64) {
        Wide::pass(&mut self.open, &mut self.shut, at, at, bound);
    }

    fn open_up(&mut self, at: Place, bound: f64) {
        Wide::pass(&mut self.shut, &mut self.open, at, at, bound);
    }

    /// Takes a shape out of one tree and puts it into another, if it is there.
    fn pass(from: &mut Parked, to: &mut Parked, before: Place, after: Place, bound: f64) {
        if let Some(asks) = from.least_of(before).map(Resources::new) {
            from.set(before, None, 0.0);
            to.set(after, Some(&asks), bound);
        }
    }

    /// The last bucket has taken another's place.
    fn moves(&mut self, before: Place, after: Place, bucket: &Bucket) {
        for tree in [&mut self.open, &mut self.shut] {
            if let Some(asks) = tree.least_of(before).map(Resources::new) {
                tree.set(before, None, 0.0);
                tree.set(after, Some(&asks), bucket.bound());
            }
        }
        self.places.insert(bucket.shape.number(), after.0);
    }
}

impl Ready {
    /// Whether so many shapes wait in the leaf that they are not looked at one by one.
    #[inline]
    pub(in crate::engine) fn is_wide(&self, leaf: QueueRow) -> bool {
        self.buckets(leaf).len() > FEW
    }

    /// The bucket of a shape.
    #[inline]
    pub(in crate::engine) fn bucket_of(&self, leaf: QueueRow, shape: ShapeId) -> Option<usize> {
        let buckets = self.buckets(leaf);
        if buckets.len() > FEW
            && let Some(wide) = self.wide.get(&leaf)
        {
            return wide.places.get(shape.number()).map(|at| at as usize);
        }
        buckets.iter().position(|bucket| bucket.shape == shape)
    }

    /// What is known of the shapes of a wide leaf, if anybody has asked.
    pub(in crate::engine) fn wide(&self, leaf: QueueRow) -> Option<&Wide> {
        self.is_wide(leaf).then(|| self.wide.get(&leaf)).flatten().map(|wide| &**wide)
    }

    /// The same to work on, made where nobody has asked: to be put back.
    pub(in crate::engine) fn take_wide(
        &mut self,
        leaf: QueueRow,
        asks: impl Fn(ShapeId) -> Resources,
    ) -> Box<Wide> {
        let known = self.wide.remove(&leaf);
        known.unwrap_or_else(|| Box::new(Wide::of(self.buckets(leaf), asks)))
    }

    pub(in crate::engine) fn put_wide(&mut self, leaf: QueueRow, wide: Box<Wide>) {
        self.wide.insert(leaf, wide);
    }

    /// Shapes have been opened, told by their numbers: those of the leaf that wait stand among the
    /// open ones. `None`: any may have been.
    pub(in crate::engine) fn open_in(
        &self,
        leaf: QueueRow,
        wide: &mut Wide,
        opened: Option<&[ShapeId]>,
    ) {
        let buckets = self.buckets(leaf);
        match opened {
            Some(opened) => {
                for shape in opened {
                    if let Some(at) = wide.places.get(shape.number()) {
                        wide.open_up(QueueRow(at), buckets[at as usize].bound());
                    }
                }
            }
            None => {
                for (at, bucket) in buckets.iter().enumerate() {
                    wide.open_up(place(at), bucket.bound());
                }
            }
        }
    }

    /// The least of each kind that waits in a wide leaf; `None`: it is not known.
    pub(in crate::engine) fn least_in(&self, leaf: QueueRow) -> Option<Resources> {
        self.wide(leaf)?.least()
    }

    /// A group was listed in a bucket; whether it is the first there.
    pub(super) fn note_listed(
        &mut self,
        leaf: QueueRow,
        bucket: usize,
        first: bool,
        asks: impl Fn(ShapeId) -> Resources,
    ) {
        let buckets = &self.rows[leaf.index()].buckets;
        let Some(wide) = self.wide.get_mut(&leaf) else {
            let wide = Wide::of(buckets, asks);
            return self.put_wide(leaf, Box::new(wide));
        };
        let row = &buckets[bucket];
        if !first {
            return wide.set_bound(place(bucket), row.bound());
        }
        wide.places.insert(row.shape.number(), bucket as u32);
        wide.leave(place(bucket));
        wide.open.set(place(bucket), Some(&asks(row.shape)), row.bound());
    }

    /// A group of a shape has left a bucket, of a leaf that was wide; whether the bucket has gone
    /// with it, and the last has its place now.
    pub(super) fn note_unlisted(
        &mut self,
        leaf: QueueRow,
        bucket: usize,
        shape: ShapeId,
        gone: bool,
    ) {
        let buckets = &self.rows[leaf.index()].buckets;
        if buckets.len() <= FEW {
            self.wide.remove(&leaf);
            return;
        }
        let Some(wide) = self.wide.get_mut(&leaf) else { return };
        match buckets.get(bucket) {
            Some(row) if !gone && !row.is_empty() => wide.set_bound(place(bucket), row.bound()),
            _ => wide.leave(place(bucket)),
        }
        if gone {
            wide.places.remove(shape.number());
            if let Some(moved) = buckets.get(bucket) {
                wide.moves(place(buckets.len()), place(bucket), moved);
            }
        }
    }

    /// The first key of a bucket of a wide leaf has changed.
    pub(super) fn note_rekeyed(&mut self, leaf: QueueRow, bucket: usize) {
        if let Some(wide) = self.wide.get_mut(&leaf) {
            wide.set_bound(place(bucket), self.rows[leaf.index()].buckets[bucket].bound());
        }
    }
}
