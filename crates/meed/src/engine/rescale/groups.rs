//! Leaves of one parent that wait for the same shapes: they begin and cease to count as one.
//!
//! Whether a leaf counts depends on nothing but the shapes that it waits with: it does while one of
//! them is open (fits somewhere). So the leaves of a parent that wait with the same shapes form a
//! *group*, which keeps a heap of their keys and the sum of their terms whether it counts or not.
//! When it begins to count its sum is added to the parent's, and its first leaf, the *leader*,
//! stands for it in the parent's heap; when it ceases both are taken out. What its leaves number
//! does not matter.
//!
//! Of the shapes of a leaf only the easiest are told apart: where a shape fits one that wants no
//! more of any kind fits too, so the others decide nothing, and far fewer sets of shapes differ.
//!
//! Invariants: no group is empty; a group has a leader just while it counts, and that is the first
//! of its heap; `open` is the number of its shapes that were open when they were looked at last.
//! Keys of leaves are ratios, so they compare without a look at anything else.
//!
//! Cost: O(log leaves) for a leaf that comes, goes or changes.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::engine::room::ShapeId;
use crate::order::heap::{ABSENT, Heap, Item};
use crate::order::key::Key;
use crate::order::rescaled::{Sum, Term};
use crate::spec::QueueRow;

/// The easiest shapes that a leaf waits with, in order.
pub(super) type Signature = SmallVec<[ShapeId; 4]>;

/// The number of a group.
pub(super) type GroupId = u32;

const NONE: GroupId = GroupId::MAX;

/// Whether a group counts, and where: what is read and written whenever a shape opens or closes.
/// Apart from the rest, so that those of all groups lie in few lines of memory.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    parent: QueueRow,
    /// How many of its shapes are open.
    open: u32,
    /// Who stands for it in the heap of its parent.
    leader: Option<QueueRow>,
}

/// See the module.
pub(super) struct Group {
    /// The leaf with the smallest key; the top of `leaves`.
    first: Option<Item>,
    sum: Sum,
    leaves: Heap,
    parent: QueueRow,
    signature: Signature,
}

impl Standing {
    pub(super) fn parent(&self) -> QueueRow {
        self.parent
    }

    /// Whether it counts.
    pub(super) fn counts(&self) -> bool {
        self.leader.is_some()
    }

    pub(super) fn leader(&self) -> Option<QueueRow> {
        self.leader
    }

    pub(super) fn set_leader(&mut self, leader: Option<QueueRow>) {
        self.leader = leader;
    }

    /// A shape of it has opened, or has closed.
    pub(super) fn shape_opens(&mut self, opens: bool) {
        match opens {
            true => self.open += 1,
            false => self.open -= 1,
        }
    }

    /// Whether it should count.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }
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

/// All groups.
#[derive(Default)]
pub(super) struct Groups {
    rows: Vec<Option<Group>>,
    /// Of the same groups; of one that is gone nothing is asked.
    standings: Vec<Standing>,
    unused: Vec<GroupId>,
    by_signature: BTreeMap<(QueueRow, Signature), GroupId>,
    /// By queue: which group it is in.
    of: Vec<GroupId>,
    /// By queue: where in the heap of its group.
    places: Vec<u32>,
}

impl Groups {
    /// Nobody is in a group.
    pub(super) fn clear(&mut self, queues: usize) {
        *self = Groups { of: vec![NONE; queues], places: vec![ABSENT; queues], ..Groups::default() }
    }

    pub(super) fn id_of(&self, queue: QueueRow) -> Option<GroupId> {
        self.of.get(queue.index()).copied().filter(|&group| group != NONE)
    }

    /// The group that `queue` is in.
    pub(super) fn of(&self, queue: QueueRow) -> Option<&Group> {
        self.id_of(queue).map(|id| self.get(id))
    }

    pub(super) fn get(&self, id: GroupId) -> &Group {
        self.rows[id as usize].as_ref().expect("a group that is referred to is there")
    }

    pub(super) fn standing(&self, id: GroupId) -> &Standing {
        &self.standings[id as usize]
    }

    pub(super) fn standing_mut(&mut self, id: GroupId) -> &mut Standing {
        &mut self.standings[id as usize]
    }

    /// Whether the group that `queue` is in counts.
    pub(super) fn counts_with(&self, queue: QueueRow) -> Option<bool> {
        self.id_of(queue).map(|id| self.standing(id).counts())
    }

    /// Who is in a group.
    pub(super) fn grouped(&self) -> impl Iterator<Item = QueueRow> + '_ {
        let all = (0..self.of.len() as u32).map(QueueRow);
        all.filter(|&queue| self.id_of(queue).is_some())
    }

    /// The group of these shapes; `Err` where it is made, with `open` of them open.
    pub(super) fn find_or_add(
        &mut self,
        parent: QueueRow,
        signature: Signature,
        open: u32,
    ) -> Result<GroupId, GroupId> {
        if let Some(&id) = self.by_signature.get(&(parent, signature.clone())) {
            return Ok(id);
        }
        let (leaves, sum) = (Heap::default(), Sum::default());
        let group = Group { first: None, sum, leaves, parent, signature: signature.clone() };
        let standing = Standing { parent, open, leader: None };
        let id = match self.unused.pop() {
            Some(id) => {
                self.rows[id as usize] = Some(group);
                self.standings[id as usize] = standing;
                id
            }
            None => {
                self.rows.push(Some(group));
                self.standings.push(standing);
                self.rows.len() as GroupId - 1
            }
        };
        self.by_signature.insert((parent, signature), id);
        Err(id)
    }

    pub(super) fn join(&mut self, id: GroupId, leaf: QueueRow, key: Key, term: &Term) {
        self.of[leaf.index()] = id;
        let group = self.rows[id as usize].as_mut().expect("it is there");
        group.leaves.push(key, leaf.0, &mut self.places);
        group.first = group.leaves.peek();
        group.sum.replace(&Term::Absent, term);
    }

    /// Takes `leaf` out of its group: the key that it had there, and the group if nobody is left.
    pub(super) fn leave(&mut self, leaf: QueueRow, term: &Term) -> (Key, Option<Group>) {
        let id = std::mem::replace(&mut self.of[leaf.index()], NONE);
        let group = self.rows[id as usize].as_mut().expect("it is there");
        let key = *group.leaves.stored(leaf.0, &self.places);
        group.leaves.remove(leaf.0, &mut self.places);
        group.first = group.leaves.peek();
        group.sum.replace(term, &Term::Absent);
        if !group.leaves.is_empty() {
            return (key, None);
        }
        self.unused.push(id);
        let gone = self.rows[id as usize].take().expect("it is there");
        self.by_signature.remove(&(gone.parent, gone.signature.clone()));
        (key, Some(gone))
    }

    /// Stores what `leaf` stands at, and its term.
    pub(super) fn update(&mut self, leaf: QueueRow, key: Key, before: &Term, after: &Term) {
        let id = self.of[leaf.index()];
        let group = self.rows[id as usize].as_mut().expect("it is there");
        if !key.is_the_same(group.leaves.stored(leaf.0, &self.places)) {
            group.leaves.update(key, leaf.0, &mut self.places);
            group.first = group.leaves.peek();
        }
        if before != after {
            group.sum.replace(before, after);
        }
    }
}
