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

use super::key::Key;

/// Position of what is in no heap.
pub(crate) const ABSENT: u32 = u32::MAX;

const ARITY: usize = 4;

/// The heap. `id` numbers index the caller's positions.
#[derive(Default)]
pub(crate) struct Heap {
    items: Vec<(Key, u32)>,
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
    pub(crate) fn peek(&self) -> Option<(Key, u32)> {
        self.items.first().copied()
    }

    /// The smallest stored key but one: a child of the top.
    pub(crate) fn peek_second(&self) -> Option<(Key, u32)> {
        self.items.iter().skip(1).take(ARITY).min_by_key(|(key, _)| *key).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Key, u32)> {
        self.items.iter()
    }

    pub(crate) fn push(&mut self, key: Key, id: u32, positions: &mut [u32]) {
        debug_assert_eq!(positions[id as usize], ABSENT);
        self.items.push((key, id));
        self.rise(self.items.len() - 1, positions);
    }

    /// Stores a new key for `id`, which is in this heap.
    #[inline]
    pub(crate) fn update(&mut self, key: Key, id: u32, positions: &mut [u32]) {
        let place = positions[id as usize] as usize;
        debug_assert_eq!(self.items[place].1, id);
        self.items[place].0 = key;
        if !self.rise(place, positions) {
            self.sink(place, positions);
        }
    }

    /// Removes `id`, which is in this heap.
    pub(crate) fn remove(&mut self, id: u32, positions: &mut [u32]) {
        let place = positions[id as usize] as usize;
        debug_assert_eq!(self.items[place].1, id);
        positions[id as usize] = ABSENT;
        self.items.swap_remove(place);
        if place < self.items.len() {
            positions[self.items[place].1 as usize] = place as u32;
            if !self.rise(place, positions) {
                self.sink(place, positions);
            }
        }
    }

    /// Moves up; whether it moved.
    #[inline]
    fn rise(&mut self, mut place: usize, positions: &mut [u32]) -> bool {
        let item = self.items[place];
        let start = place;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.items[parent].0 <= item.0 {
                break;
            }
            self.items[place] = self.items[parent];
            positions[self.items[place].1 as usize] = place as u32;
            place = parent;
        }
        self.items[place] = item;
        positions[item.1 as usize] = place as u32;
        place != start
    }

    #[inline]
    fn sink(&mut self, mut place: usize, positions: &mut [u32]) {
        let item = self.items[place];
        loop {
            let first = place * ARITY + 1;
            let last = (first + ARITY).min(self.items.len());
            let Some(least) = (first..last).min_by_key(|&child| self.items[child].0) else { break };
            if item.0 <= self.items[least].0 {
                break;
            }
            self.items[place] = self.items[least];
            positions[self.items[place].1 as usize] = place as u32;
            place = least;
        }
        self.items[place] = item;
        positions[item.1 as usize] = place as u32;
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
        fn serves_in_the_order_of_a_scan(steps in prop::collection::vec((0u32..30, 0u64..50, 0u8..3), 1..200)) {
            let (mut heap, mut positions) = (Heap::default(), vec![ABSENT; 30]);
            let mut plain = std::collections::BTreeMap::<u32, u64>::new();
            for (id, amount, action) in steps {
                match (action, plain.contains_key(&id)) {
                    (0, true) => { heap.remove(id, &mut positions); plain.remove(&id); }
                    (_, true) => { heap.update(key(amount, id), id, &mut positions); plain.insert(id, amount); }
                    (_, false) => { heap.push(key(amount, id), id, &mut positions); plain.insert(id, amount); }
                }
                let mut scan: Vec<(u64, u32)> = plain.iter().map(|(&id, &amount)| (amount, id)).collect();
                scan.sort_unstable();
                prop_assert_eq!(heap.peek().map(|(_, id)| id), scan.first().map(|&(_, id)| id));
                prop_assert_eq!(heap.peek_second().map(|(_, id)| id), scan.get(1).map(|&(_, id)| id));
                prop_assert_eq!(heap.len(), plain.len());
            }
        }
    }
}
