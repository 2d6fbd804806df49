//! The children that want something, smallest key first; keys may move with time.
//!
//! Which key is the smallest must be known exactly, but only that one: keys rise with time while
//! tasks outrun their quantum, and rise when a task starts, so **a stored key is never above the
//! true one**. The top is read anew; if it has risen it sinks, and the next top is read, until the
//! top's key is true: it is then the smallest of all. Keys that fall (a task ended before its
//! quantum) are updated at once by the caller.
//!
//! Cost: a 4-ary heap in one array; a change is O(log n) comparisons. A decision re-reads those
//! keys that were passed by the smallest since they were stored: one when nothing outruns its
//! quantum.
//!
//! Positions live outside, in an array indexed by the child's number, because a child is in one
//! heap at most.

use std::cmp::Ordering;

use super::key::Key;
use crate::memory::expect_at;

/// Position of what is in no heap.
pub(crate) const ABSENT: u32 = u32::MAX;

const ARITY: usize = 4;

/// A key and whose it is: as large as a line of memory.
pub(crate) type Item = (Key, u32);

// Where words have less than 64 bits it is smaller.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Item>() == 64);

/// An item that begins with a line of memory: it is read far from what was read before.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Aligned(Item);

/// The heap. `id` numbers index the caller's positions.
#[derive(Clone, Default)]
pub(crate) struct Heap {
    items: Vec<Aligned>,
}

/// By the keys alone, which are exact.
#[inline]
fn by_key(a: &Item, b: &Item) -> Ordering {
    a.0.cmp(&b.0)
}

impl Heap {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<Item> {
        self.items.first().map(|item| item.0)
    }

    /// Has the line of memory brought in which the next key may come to stand.
    #[inline]
    pub(crate) fn expect(&self) {
        expect_at(&self.items, self.items.len());
    }

    /// Whether the top's stored key is the true one, `key`. The law (see `order`): keys never fall
    /// between events.
    #[inline]
    pub(crate) fn certifies(&self, key: &Key) -> bool {
        let stored = &self.items[0].0.0;
        debug_assert!(key >= stored, "a key fell between events: {stored:?} became {key:?}");
        key == stored
    }

    /// The smallest stored key but one: a child of the top.
    pub(crate) fn peek_second(&self) -> Option<Item> {
        self.peek_second_by(by_key)
    }

    /// The same where keys are compared by `order`.
    pub(crate) fn peek_second_by(&self, order: impl Fn(&Item, &Item) -> Ordering) -> Option<Item> {
        self.iter().skip(1).take(ARITY).min_by(|a, b| order(a, b)).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(|item| &item.0)
    }

    /// Takes all out.
    pub(crate) fn drain(&mut self, positions: &mut [u32]) -> Vec<u32> {
        let ids: Vec<u32> = self.items.drain(..).map(|item| item.0.1).collect();
        ids.iter().for_each(|&id| positions[id as usize] = ABSENT);
        ids
    }

    /// Puts in `id`, which is in no heap. Most heaps of a leaf's groups hold nothing: there the key
    /// is made in its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: Key, id: u32, positions: &mut [u32]) {
        if self.items.is_empty() {
            debug_assert_eq!(positions[id as usize], ABSENT);
            positions[id as usize] = 0;
            return self.items.push(Aligned((key, id)));
        }
        self.push_by(key, id, positions, by_key);
    }

    /// The same where keys are compared by `order`.
    #[inline(never)]
    pub(crate) fn push_by(
        &mut self,
        key: Key,
        id: u32,
        positions: &mut [u32],
        order: impl Fn(&Item, &Item) -> Ordering,
    ) {
        debug_assert_eq!(positions[id as usize], ABSENT);
        let item = (key, id);
        let last = self.items.len();
        let place = self.place_above(last, &item, &order);
        if place == last {
            positions[id as usize] = place as u32;
            return self.items.push(Aligned(item));
        }
        // Its place is known before anything is written: who reads what he has just written waits
        // until it has come to memory.
        self.items.push(self.items[(last - 1) / ARITY]);
        self.move_down(last, place, positions);
        self.put(place, item, positions);
    }

    /// Where `item` belongs on the way from `place` to the top.
    #[inline]
    fn place_above(
        &self,
        mut place: usize,
        item: &Item,
        order: &impl Fn(&Item, &Item) -> Ordering,
    ) -> usize {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if order(self.at(parent), item) != Ordering::Greater {
                break;
            }
            place = parent;
        }
        place
    }

    /// Those on the way from `top` to `place` come one step down; `top` is to be written anew.
    #[inline]
    fn move_down(&mut self, mut place: usize, top: usize, positions: &mut [u32]) {
        while place != top {
            let parent = (place - 1) / ARITY;
            self.put(place, *self.at(parent), positions);
            place = parent;
        }
    }

    #[inline]
    fn at(&self, place: usize) -> &Item {
        &self.items[place].0
    }

    #[inline]
    fn put(&mut self, place: usize, item: Item, positions: &mut [u32]) {
        positions[item.1 as usize] = place as u32;
        self.items[place] = Aligned(item);
    }

    /// The key that is stored for `id`, which is in this heap.
    pub(crate) fn stored(&self, id: u32, positions: &[u32]) -> &Key {
        &self.at(positions[id as usize] as usize).0
    }

    /// Stores a new key for `id`, which is in this heap.
    #[inline]
    pub(crate) fn update(&mut self, key: Key, id: u32, positions: &mut [u32]) {
        self.update_by(key, id, positions, by_key);
    }

    /// The same where keys are compared by `order`.
    #[inline]
    pub(crate) fn update_by(
        &mut self,
        key: Key,
        id: u32,
        positions: &mut [u32],
        order: impl Fn(&Item, &Item) -> Ordering,
    ) {
        let place = positions[id as usize] as usize;
        debug_assert_eq!(self.at(place).1, id);
        self.settle(place, (key, id), positions, &order);
    }

    /// Removes `id`, which is in this heap.
    pub(crate) fn remove(&mut self, id: u32, positions: &mut [u32]) {
        self.remove_by(id, positions, by_key);
    }

    /// The same where keys are compared by `order`.
    #[inline]
    pub(crate) fn remove_by(
        &mut self,
        id: u32,
        positions: &mut [u32],
        order: impl Fn(&Item, &Item) -> Ordering,
    ) {
        let place = positions[id as usize] as usize;
        debug_assert_eq!(self.at(place).1, id);
        positions[id as usize] = ABSENT;
        let Some(Aligned(last)) = self.items.pop() else { return };
        if place < self.items.len() {
            self.settle(place, last, positions, &order);
        }
    }

    /// Takes out `out`, which are in this heap, and puts in `new`, which are in none: where they
    /// are many, all in one pass. Cost: O(changes x log n), and no more than O(n).
    pub(crate) fn exchange_by(
        &mut self,
        out: &[u32],
        new: &[Item],
        positions: &mut [u32],
        order: impl Fn(&Item, &Item) -> Ordering,
    ) {
        // A change in place moves two or three items, and a pass looks at each once.
        if 4 * (out.len() + new.len()) < self.items.len() {
            out.iter().for_each(|&id| self.remove_by(id, positions, &order));
            new.iter().for_each(|&(key, id)| self.push_by(key, id, positions, &order));
            return;
        }
        out.iter().for_each(|&id| positions[id as usize] = ABSENT);
        self.items.retain(|item| positions[item.0.1 as usize] != ABSENT);
        self.items.extend(new.iter().copied().map(Aligned));
        for (place, &(_, id)) in self.iter().enumerate() {
            positions[id as usize] = place as u32;
        }
        for place in (0..self.items.len().div_ceil(ARITY)).rev() {
            self.sink(place, *self.at(place), positions, &order);
        }
    }

    /// Puts `item` where it belongs, above or below `place`, which is to be written anew.
    #[inline]
    fn settle(
        &mut self,
        place: usize,
        item: Item,
        positions: &mut [u32],
        order: &impl Fn(&Item, &Item) -> Ordering,
    ) {
        let above = self.place_above(place, &item, order);
        if above == place {
            return self.sink(place, item, positions, order);
        }
        self.move_down(place, above, positions);
        self.put(above, item, positions);
    }

    /// Puts `item` where it belongs at `place` or below, which is to be written anew.
    #[inline]
    fn sink(
        &mut self,
        mut place: usize,
        item: Item,
        positions: &mut [u32],
        order: &impl Fn(&Item, &Item) -> Ordering,
    ) {
        loop {
            let first = place * ARITY + 1;
            let last = (first + ARITY).min(self.items.len());
            let least = (first..last).min_by(|&a, &b| order(self.at(a), self.at(b)));
            let Some(least) = least else { break };
            if order(&item, self.at(least)) != Ordering::Greater {
                break;
            }
            self.put(place, *self.at(least), positions);
            place = least;
        }
        self.put(place, item, positions);
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Tier;
    use super::*;
    use proptest::prelude::*;

    fn key(amount: u64, id: u32) -> Key {
        Key::new(Tier::Ordinary, u128::from(amount), 1, (u64::from(id), 0))
    }

    proptest! {
        #[test]
        fn serves_in_the_order_of_a_scan(
            steps in prop::collection::vec((0u32..30, 0u64..50, 0u8..3), 1..200)) {
            let (mut heap, mut positions) = (Heap::default(), vec![ABSENT; 30]);
            let mut plain = std::collections::BTreeMap::<u32, u64>::new();
            for (id, amount, action) in steps {
                match (action, plain.contains_key(&id)) {
                    (0, true) => { heap.remove(id, &mut positions); plain.remove(&id); }
                    (1, true) => {
                        // The ids up to it change places with those that are absent.
                        let (out, new): (Vec<u32>, Vec<u32>) = (0..=id)
                            .partition(|id| plain.contains_key(id));
                        let new: Vec<Item> = new.iter().map(|&id| (key(amount, id), id)).collect();
                        heap.exchange_by(&out, &new, &mut positions, by_key);
                        out.iter().for_each(|id| { plain.remove(id); });
                        plain.extend(new.iter().map(|&(_, id)| (id, amount)));
                    }
                    (_, true) => { heap.update(key(amount, id), id,
                        &mut positions); plain.insert(id, amount); }
                    (_, false) => { heap.push(key(amount, id), id, &mut positions); plain.insert(id,
                        amount); }
                }
                let mut scan: Vec<(u64, u32)> = plain.iter().map(|(&id, &amount)| (amount, id))
                    .collect();
                scan.sort_unstable();
                prop_assert_eq!(heap.peek().map(|(_, id)| id), scan.first().map(|&(_, id)| id));
                prop_assert_eq!(heap.peek_second().map(|(_, id)| id), scan.get(1)
                    .map(|&(_, id)| id));
                prop_assert_eq!(heap.len(), plain.len());
            }
        }
    }
}
