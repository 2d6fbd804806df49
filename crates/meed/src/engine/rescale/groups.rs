//! Leaves of one parent that wait for the same shapes: they begin and cease to count as one.
//!
//! Whether a leaf counts depends on nothing but the shapes that it waits with: it does while one of
//! them is open (fits somewhere). So the leaves of a parent that wait with the same shapes form a
//! *group*, which keeps a heap of their keys and the sum of their terms whether it counts or not.
//! What counts below a parent is added up from the groups' sums, and its first leaf found among
//! their first ones (`bench`). What its leaves number does not matter.
//!
//! Of the shapes of a leaf only the easiest are told apart: where a shape fits one that wants no
//! more of any kind fits too, so the others decide nothing, and far fewer sets of shapes differ.
//!
//! Invariants: no group is empty. But while leaves are settled, what counts below a parent is what
//! the shapes say that are open now. Keys of leaves are ratios, so they compare without a look at
//! anything else.
//!
//! Cost: O(log leaves) for a leaf that comes, goes or changes, besides the bench.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::bench::{Bench, Counted, Quick};
use super::waiting::Open;
use crate::engine::room::ShapeId;
use crate::ids::QueueRow;
use crate::order::heap::{ABSENT, Heap, Item};
use crate::order::key::Key;
use crate::order::rescaled::{Sum, Term};

/// The easiest shapes that a leaf waits with, in order.
pub(super) type Signature = SmallVec<[ShapeId; 4]>;

/// The number of a group.
pub(super) type GroupId = u32;

const NONE: GroupId = GroupId::MAX;

/// See the module.
pub(super) struct Group {
    /// The leaf with the smallest key; the top of `leaves`.
    first: Option<Item>,
    sum: Sum,
    leaves: Heap,
    parent: QueueRow,
    signature: Signature,
}

impl Group {
    pub(super) fn signature(&self) -> &[ShapeId] {
        &self.signature
    }

    pub(super) fn sum(&self) -> &Sum {
        &self.sum
    }

    /// The leaf with the smallest key.
    pub(super) fn first(&self) -> Item {
        self.first.expect("no group is empty")
    }

    /// The leaf after it.
    pub(super) fn second(&self) -> Option<Item> {
        self.leaves.peek_second()
    }

    /// Its leaves, in no order.
    pub(super) fn leaves(&self) -> impl Iterator<Item = QueueRow> + '_ {
        self.leaves.iter().map(|&(_, leaf)| QueueRow(leaf))
    }
}

/// The group of this number among `groups`.
#[inline]
pub(super) fn all_groups(groups: &[Option<Group>], id: GroupId) -> &Group {
    groups[id as usize].as_ref().expect("a group that is referred to is there")
}

/// All groups.
#[derive(Default)]
pub(super) struct Groups {
    rows: Vec<Option<Group>>,
    unused: Vec<GroupId>,
    by_signature: BTreeMap<(QueueRow, Signature), GroupId>,
    /// By queue: which group it is in.
    of: Vec<GroupId>,
    /// By queue: where in the heap of its group.
    places: Vec<u32>,
    /// By queue: the groups below it.
    benches: Vec<Option<Box<Bench>>>,
    /// How many of them have a shape.
    occupied: usize,
    /// By number of a shape: the parents below which there is a group that has it, in no order.
    parents: Vec<Vec<QueueRow>>,
}

/// A leaf that was in a group: by what key, and whether it counted.
pub(super) struct Left {
    pub(super) parent: QueueRow,
    pub(super) key: Key,
    pub(super) counts: bool,
}

impl Groups {
    /// Nobody is in a group.
    pub(super) fn clear(&mut self, queues: usize) {
        *self = Groups {
            of: vec![NONE; queues],
            places: vec![ABSENT; queues],
            benches: (0..queues).map(|_| None).collect(),
            ..Groups::default()
        };
    }

    fn id_of(&self, queue: QueueRow) -> Option<GroupId> {
        self.of.get(queue.index()).copied().filter(|&group| group != NONE)
    }

    #[inline]
    pub(super) fn has(&self, queue: QueueRow) -> bool {
        self.id_of(queue).is_some()
    }

    /// The group that `queue` is in.
    pub(super) fn of(&self, queue: QueueRow) -> Option<&Group> {
        self.id_of(queue).map(|id| all_groups(&self.rows, id))
    }

    /// Whether the group that `queue` is in counts.
    pub(super) fn counts_with(&self, queue: QueueRow, open: &Open) -> Option<bool> {
        self.of(queue).map(|group| open.first_of(&group.signature).is_some())
    }

    /// Who is in a group.
    pub(super) fn grouped(&self) -> impl Iterator<Item = QueueRow> + '_ {
        (0..self.of.len() as u32).map(QueueRow).filter(|&queue| self.has(queue))
    }

    fn bench(&self, parent: QueueRow) -> Option<&Bench> {
        self.benches.get(parent.index())?.as_deref()
    }

    fn bench_mut(&mut self, parent: QueueRow) -> Option<&mut Bench> {
        self.benches.get_mut(parent.index())?.as_deref_mut()
    }

    /// What counts below `parent`, where there are groups; see [`Bench::counted`].
    #[inline]
    pub(super) fn counted(
        &self,
        parent: QueueRow,
        open: &Open,
        alone: Option<&Sum>,
    ) -> Option<&Counted> {
        let bench = self.bench(parent).filter(|bench| !bench.is_empty())?;
        Some(bench.counted(open, &self.rows, alone))
    }

    /// Whether any group below `parent` counts.
    pub(super) fn any_counts(&self, parent: QueueRow, open: &Open) -> bool {
        self.bench(parent).is_some_and(|bench| bench.any_counts(open))
    }

    /// What is known of the groups below `parent`, where these are not added up.
    pub(super) fn quick(&self, parent: QueueRow, open: &Open) -> Option<Quick> {
        let bench = self.bench(parent).filter(|bench| !bench.is_empty() && !bench.is_counted())?;
        Some(bench.quick(open))
    }

    /// What counts below `parent` is to be added up anew.
    pub(super) fn forget_counted(&mut self, parent: QueueRow) {
        if let Some(bench) = self.bench_mut(parent) {
            bench.forget();
        }
    }

    /// Changes the sum of all that counts below `parent`, while it is known.
    pub(super) fn change_total(&mut self, parent: QueueRow, change: impl FnOnce(&mut Sum)) {
        if let Some(bench) = self.bench_mut(parent) {
            bench.change_total(change);
        }
    }

    /// The groups below `parent` that count.
    pub(super) fn counting<'a>(
        &'a self,
        parent: QueueRow,
        open: &'a Open,
    ) -> impl Iterator<Item = &'a Group> {
        self.bench(parent).into_iter().flat_map(move |bench| bench.counting(open, &self.rows))
    }

    /// The parents below which a group may begin or cease to count with a shape.
    pub(super) fn parents(&self, shape: ShapeId) -> &[QueueRow] {
        self.parents.get(shape.number() as usize).map_or(&[], Vec::as_slice)
    }

    /// Below how many parents there are groups that may count.
    pub(super) fn benches(&self) -> usize {
        self.occupied
    }

    /// `leaf` comes into the group of those below `parent` that wait for the same; what
    /// counts below its parent is to be added up anew.
    pub(super) fn join(
        &mut self,
        (parent, leaf): (QueueRow, QueueRow),
        signature: Signature,
        key: Key,
        term: &Term,
    ) {
        let id = match self.by_signature.get(&(parent, signature.clone())) {
            Some(&id) => id,
            None => self.add(parent, signature),
        };
        self.of[leaf.index()] = id;
        let group = self.rows[id as usize].as_mut().expect("it is there");
        group.leaves.push(key, leaf.0, &mut self.places);
        group.first = group.leaves.peek();
        group.sum.replace(&Term::Absent, term);
        let bench = self.benches[parent.index()].get_or_insert_default();
        bench.replace(&all_groups(&self.rows, id).signature, &Term::Absent, term);
        bench.renew(id, &self.rows);
    }

    fn add(&mut self, parent: QueueRow, signature: Signature) -> GroupId {
        let (leaves, sum) = (Heap::default(), Sum::default());
        let group = Group { first: None, sum, leaves, parent, signature: signature.clone() };
        let id = match self.unused.pop() {
            Some(id) => {
                self.rows[id as usize] = Some(group);
                id
            }
            None => {
                self.rows.push(Some(group));
                self.rows.len() as GroupId - 1
            }
        };
        let bench = self.benches[parent.index()].get_or_insert_default();
        let was_empty = bench.is_empty();
        let new = bench.add(id, &signature);
        self.occupied += usize::from(was_empty && !bench.is_empty());
        for shape in new {
            let number = shape.number() as usize;
            if number >= self.parents.len() {
                self.parents.resize_with(number + 1, Vec::new);
            }
            self.parents[number].push(parent);
        }
        self.by_signature.insert((parent, signature), id);
        id
    }

    /// Takes `leaf` out of its group, if it is in one. If it counts, it counts by itself now.
    pub(super) fn leave(&mut self, leaf: QueueRow, term: &Term, open: &Open) -> Option<Left> {
        let id = self.id_of(leaf)?;
        self.of[leaf.index()] = NONE;
        let group = self.rows[id as usize].as_mut().expect("it is there");
        let key = *group.leaves.stored(leaf.0, &self.places);
        group.leaves.remove(leaf.0, &mut self.places);
        group.first = group.leaves.peek();
        group.sum.replace(term, &Term::Absent);
        let (parent, first) = (group.parent, group.first);
        let counts = open.first_of(&group.signature).is_some();
        let bench = self.benches[parent.index()].as_deref_mut().expect("it has groups");
        bench.replace(&group.signature, term, &Term::Absent);
        match first {
            Some(_) => bench.renew(id, &self.rows),
            None => self.remove(id),
        }
        if counts && let Some(bench) = self.bench_mut(parent) {
            // All that counts is the same.
            bench.renew_counted(id, first, open);
        }
        Some(Left { parent, key, counts })
    }

    /// Nobody is left in the group.
    fn remove(&mut self, id: GroupId) {
        self.unused.push(id);
        let Group { parent, signature, .. } = self.rows[id as usize].take().expect("it is there");
        let bench = self.benches[parent.index()].as_deref_mut().expect("it has groups");
        let was_empty = bench.is_empty();
        let gone = bench.remove(id, &signature, &self.rows);
        self.occupied -= usize::from(!was_empty && bench.is_empty());
        for shape in gone {
            self.parents[shape.number() as usize].retain(|&other| other != parent);
        }
        self.by_signature.remove(&(parent, signature));
    }

    /// Stores what `leaf`, which is in a group, stands at, and its term; whether it counts.
    pub(super) fn update(
        &mut self,
        leaf: QueueRow,
        key: Key,
        (before, after): (&Term, &Term),
        open: &Open,
    ) -> bool {
        let id = self.of[leaf.index()];
        let group = self.rows[id as usize].as_mut().expect("it is there");
        if !key.is_the_same(group.leaves.stored(leaf.0, &self.places)) {
            group.leaves.update(key, leaf.0, &mut self.places);
            group.first = group.leaves.peek();
        }
        if before != after {
            group.sum.replace(before, after);
        }
        let (parent, first) = (group.parent, group.first);
        let counts = open.first_of(&group.signature).is_some();
        let bench = self.benches[parent.index()].as_deref_mut().expect("it has groups");
        bench.replace(&group.signature, before, after);
        bench.renew(id, &self.rows);
        if counts {
            bench.change_total(|total| total.replace(before, after));
            bench.renew_counted(id, first, open);
        }
        counts
    }
}
