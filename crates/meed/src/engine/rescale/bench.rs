//! The groups of one parent, shape by shape: who of them counts while some shapes are open is added
//! up from those shapes, and from nothing else.
//!
//! A group counts while one shape of its signature is open. With F the open shapes,
//!
//! > sum(F)   = sum over s in F of own(s)  +  sum of the groups of which the first shape is not in
//! > F, but another is
//! >
//! > first(F) = min over s in F of first(s)
//!
//! own(s) the sum of the groups of which s is the first shape, first(s) the first leaf of all
//! groups that have s. Both are kept, for they change only with the leaves. So a group that begins
//! or ceases to count is not touched, unless it waits for several shapes; and closed shapes cost
//! nothing: there are few open ones where a backlog waits, and they differ from end to end.
//!
//! Adding up waits until somebody asks. Who only wants to know that a parent does not come first
//! asks for a bound from below ([`Bench::quick`]): the own sums of the open shapes are no more than
//! all of it, and their floats lie side by side.
//!
//! Cost: O(kinds) for each open shape, and for each of its groups that has another shape before it;
//! a look at each block of 16 shapes. A leaf that changes: O(kinds) for each shape of its
//! signature, and a look at the groups that have a shape where the first of them comes later now,
//! or has gone. Whoever starts is mostly such a first one.

use std::cell::OnceCell;

use super::groups::{Group, GroupId, all_groups};
use super::waiting::Open;
use crate::engine::room::ShapeId;
use crate::order::Tier;
use crate::order::heap::Item;
use crate::order::rescaled::{Lows, Sum, Term};

/// See the module.
#[derive(Default)]
pub(super) struct Bench {
    /// By number, which is that of a shape without its last bits.
    blocks: Vec<Block>,
    /// While it is known.
    counted: OnceCell<Box<Counted>>,
}

/// Shapes of numbers that differ in their last bits only.
const WIDTH: usize = 16;

/// Cells of one block, with what a look at all of them reads side by side.
struct Block {
    number: u32,
    /// Of the shapes that have a cell.
    bits: u16,
    quick: [Quick; WIDTH],
    cells: [Option<Box<Cell>>; WIDTH],
}

/// What counts below a parent.
pub(super) struct Counted {
    /// Of the leaves in groups.
    first: Option<First>,
    /// Of all its children, those that stand by themselves too.
    pub(super) total: Sum,
}

impl Counted {
    pub(super) fn first(&self) -> Option<Item> {
        self.first.map(|(item, _)| item)
    }
}

/// What is known of a cell, or of a parent before its groups are added up, in floats.
#[derive(Clone, Copy)]
pub(super) struct Quick {
    /// The least key of a leaf; below zero where it has less than its minimum share.
    pub(super) least: f64,
    /// Of the own sum, but for its rounding.
    pub(super) lows: Lows,
}

impl Default for Quick {
    fn default() -> Quick {
        Quick { least: f64::INFINITY, lows: Lows::default() }
    }
}

/// The first leaf of several groups, and its group.
type First = (Item, GroupId);

/// One shape.
#[derive(Default)]
struct Cell {
    first: Option<First>,
    /// Of `own`.
    sum: Sum,
    /// Groups of which it is the first shape.
    own: Vec<GroupId>,
    /// The other groups that have it, each with its first shape.
    shared: Vec<(ShapeId, GroupId)>,
}

impl Cell {
    fn find_first(&self, groups: &[Option<Group>]) -> Option<First> {
        let shared = self.shared.iter().map(|&(_, id)| id);
        let all = self.own.iter().copied().chain(shared);
        let firsts = all.map(|id| (all_groups(groups, id).first(), id));
        firsts.min_by(|a, b| a.0.0.cmp(&b.0.0))
    }

    /// Its groups that count and of which no shape before it is open.
    fn counting<'a>(
        &'a self,
        shape: ShapeId,
        open: &'a Open,
        groups: &'a [Option<Group>],
    ) -> impl Iterator<Item = &'a Group> {
        let own = self.own.iter().map(|&id| all_groups(groups, id));
        own.chain(self.shared_counting(shape, open, groups))
    }

    #[inline]
    fn shared_counting<'a>(
        &'a self,
        shape: ShapeId,
        open: &'a Open,
        groups: &'a [Option<Group>],
    ) -> impl Iterator<Item = &'a Group> {
        let apart = self.shared.iter().filter(|(first, _)| !open.has(*first));
        let shared = apart.map(|&(_, id)| all_groups(groups, id));
        shared.filter(move |group| open.first_of(group.signature()) == Some(shape))
    }
}

/// What comes first, once the first leaf of the group of this number is `item`, or it has none: all
/// are looked at, by `find`, where it has been the first and comes later now.
fn renewed(
    first: Option<First>,
    id: GroupId,
    item: Option<Item>,
    find: impl FnOnce() -> Option<First>,
) -> Option<First> {
    match (first, item) {
        (None, item) => item.map(|item| (item, id)),
        (Some((before, of)), Some(item)) if of == id && before.0 < item.0 => find(),
        (Some((_, of)), None) if of == id => find(),
        (Some((before, of)), Some(item)) if of == id || item.0 < before.0 => Some((item, id)),
        (first, _) => first,
    }
}

/// A key as a float, below zero where it says less than a minimum share.
fn float(first: &Option<First>) -> f64 {
    match first {
        None => f64::INFINITY,
        Some(((key, _), _)) if key.tier() == Tier::BelowMinimum => -1.0,
        Some(((key, _), _)) => key.value(),
    }
}

/// The block of a shape, and its place there.
fn split(shape: ShapeId) -> (u32, usize) {
    (shape.number() / WIDTH as u32, shape.number() as usize % WIDTH)
}

/// Two floats of keys that are nearer than this part of them are compared exactly.
const NEAR: f64 = 1.0 / (1u64 << 40) as f64;

impl Bench {
    /// Whether all groups in it wait for nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn find(&self, number: u32) -> Result<usize, usize> {
        self.blocks.binary_search_by_key(&number, |block| block.number)
    }

    /// The cell of a shape that a group has.
    fn cell(&mut self, shape: ShapeId) -> (&mut Cell, &mut Quick) {
        let (number, place) = split(shape);
        let found = self.find(number).expect("shapes of a group have cells");
        let block = &mut self.blocks[found];
        let cell = block.cells[place].as_deref_mut().expect("shapes of a group have cells");
        (cell, &mut block.quick[place])
    }

    /// A group comes, which has no leaves yet; the shapes that no other had.
    pub(super) fn add(&mut self, id: GroupId, signature: &[ShapeId]) -> Vec<ShapeId> {
        let mut new = Vec::new();
        for &shape in signature {
            let (number, place) = split(shape);
            let found = self.find(number).unwrap_or_else(|found| {
                let (cells, quick) = (Default::default(), Default::default());
                self.blocks.insert(found, Block { number, bits: 0, quick, cells });
                found
            });
            let block = &mut self.blocks[found];
            if block.bits >> place & 1 == 0 {
                block.bits |= 1 << place;
                new.push(shape);
            }
            let cell = block.cells[place].get_or_insert_default();
            match signature[0] == shape {
                true => cell.own.push(id),
                false => cell.shared.push((signature[0], id)),
            }
        }
        new
    }

    /// A group goes, which has no leaves any more; the shapes that no other has.
    pub(super) fn remove(
        &mut self,
        id: GroupId,
        signature: &[ShapeId],
        groups: &[Option<Group>],
    ) -> Vec<ShapeId> {
        let mut gone = Vec::new();
        for &shape in signature {
            let (cell, quick) = self.cell(shape);
            cell.own.retain(|&other| other != id);
            cell.shared.retain(|&(_, other)| other != id);
            if cell.own.is_empty() && cell.shared.is_empty() {
                self.remove_cell(shape);
                gone.push(shape);
            } else {
                cell.first = renewed(cell.first, id, None, || cell.find_first(groups));
                quick.least = float(&cell.first);
            }
        }
        gone
    }

    fn remove_cell(&mut self, shape: ShapeId) {
        let (number, place) = split(shape);
        let Ok(found) = self.find(number) else { return };
        let block = &mut self.blocks[found];
        block.bits &= !(1 << place);
        block.cells[place] = None;
        block.quick[place] = Quick::default();
        if block.bits == 0 {
            self.blocks.remove(found);
        }
    }

    /// The term of a leaf of the group is another.
    pub(super) fn replace(&mut self, signature: &[ShapeId], before: &Term, after: &Term) {
        let Some(&first) = signature.first().filter(|_| before != after) else { return };
        let (cell, quick) = self.cell(first);
        cell.sum.replace(before, after);
        quick.lows = cell.sum.lows();
    }

    /// The first leaf of the group is another, or its key is.
    pub(super) fn renew(&mut self, id: GroupId, groups: &[Option<Group>]) {
        let group = all_groups(groups, id);
        for &shape in group.signature() {
            let (cell, quick) = self.cell(shape);
            let item = Some(group.first());
            cell.first = renewed(cell.first, id, item, || cell.find_first(groups));
            quick.least = float(&cell.first);
        }
    }

    /// What counts is not known any more.
    pub(super) fn forget(&mut self) {
        self.counted.take();
    }

    pub(super) fn is_counted(&self) -> bool {
        self.counted.get().is_some()
    }

    /// Changes the sum of all that counts, while it is known.
    pub(super) fn change_total(&mut self, change: impl FnOnce(&mut Sum)) {
        if let Some(counted) = self.counted.get_mut() {
            change(&mut counted.total);
        }
    }

    /// The first leaf of a group that counts is another, or its key is; `None`: the group is gone.
    pub(super) fn renew_counted(&mut self, id: GroupId, item: Option<Item>, open: &Open) {
        let Some(first) = self.counted.get().map(|counted| counted.first) else { return };
        let first = renewed(first, id, item, || self.find_first(open));
        if let Some(counted) = self.counted.get_mut() {
            counted.first = first;
        }
    }

    /// What counts while these shapes are open, with `alone`, the sum of the children that stand by
    /// themselves; as it was added up last, as long as nobody has forgotten it.
    pub(super) fn counted(
        &self,
        open: &Open,
        groups: &[Option<Group>],
        alone: Option<&Sum>,
    ) -> &Counted {
        self.counted.get_or_init(|| {
            let first = self.find_first(open);
            let mut total = Sum::default();
            if let Some(alone) = alone {
                total.add(alone);
                for (shape, _, cell) in self.open_cells(open) {
                    total.add(&cell.sum);
                    let shared = cell.shared_counting(shape, open, groups);
                    shared.for_each(|group| total.add(group.sum()));
                }
            }
            Box::new(Counted { first, total })
        })
    }

    /// The first leaf of the groups that count.
    fn find_first(&self, open: &Open) -> Option<First> {
        let mut least = f64::INFINITY;
        let mut first: Option<First> = None;
        for (_, quick, cell) in self.open_cells(open) {
            let (float, margin) = (quick.least, least.abs() * NEAR);
            if float > least + margin {
                continue;
            }
            let other = cell.first;
            let near = float >= least - margin;
            if !near || first.zip(other).is_none_or(|(first, other)| other.0.0 < first.0.0) {
                (least, first) = (float, other);
            }
        }
        first
    }

    /// Whether any group counts.
    pub(super) fn any_counts(&self, open: &Open) -> bool {
        self.blocks.iter().any(|block| block.bits & open.part(block.number) != 0)
    }

    /// The least key, or zero where that does not tell, and the sums from below.
    pub(super) fn quick(&self, open: &Open) -> Quick {
        let mut all = Quick::default();
        for block in &self.blocks {
            let mut bits = block.bits & open.part(block.number);
            while bits != 0 {
                let quick = &block.quick[bits.trailing_zeros() as usize % WIDTH];
                all.least = if quick.least < all.least { quick.least } else { all.least };
                all.lows.add(&quick.lows);
                bits &= bits - 1;
            }
        }
        Quick { least: all.least.max(0.0), ..all }
    }

    /// The groups that count.
    pub(super) fn counting<'a>(
        &'a self,
        open: &'a Open,
        groups: &'a [Option<Group>],
    ) -> impl Iterator<Item = &'a Group> {
        let cells = self.open_cells(open);
        cells.flat_map(move |(shape, _, cell)| cell.counting(shape, open, groups))
    }

    /// The cells of the open shapes, in order.
    #[inline]
    fn open_cells<'a>(
        &'a self,
        open: &'a Open,
    ) -> impl Iterator<Item = (ShapeId, &'a Quick, &'a Cell)> {
        self.blocks.iter().flat_map(move |block| {
            let mut bits = block.bits & open.part(block.number);
            std::iter::from_fn(move || {
                let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                let shape = ShapeId::numbered(block.number * WIDTH as u32 + place as u32);
                let cell = block.cells[place].as_deref().expect("its bit is set");
                Some((shape, &block.quick[place], cell))
            })
        })
    }
}
