//! The parked leaves, to be asked which of them a node's free amounts help, and whose turn it is among those.
//!
//! A tree over the queues holds, for each subtree and kind, the least that a parked leaf in it waits for, and the least
//! of their keys: a node that has less of some kind helps nobody there, and a subtree whose least key is above that of a
//! leaf that was found need not be looked into. So an end wakes the one leaf whose turn it is, not all that it would
//! help, most of which would find the room taken.
//!
//! Keys are kept as floats at or below the true ones ([`bound`]); the leaves that are looked at are compared exactly.
//! Cost for n queues: O(log n) for a leaf that is parked, woken or rekeyed; a question goes down where least amounts
//! fit and keys are small, and turns back where amounts stem from different leaves.

use crate::order::Tier;
use crate::order::key::Key;
use crate::resources::Resources;
use crate::spec::QueueId;

/// See the module.
#[derive(Default)]
pub(super) struct Parked {
    kinds: usize,
    /// Number of the tree's leaves, a power of two; the root is 1, queue i is `queues + i`.
    queues: usize,
    /// For each vertex the least of each kind; of nothing, more than any node can have.
    least: Vec<u64>,
    bounds: Vec<f64>,
}

const NOTHING: u64 = u64::MAX;

/// The bound of a leaf that is to be woken before all others.
pub(super) const AT_ONCE: f64 = f64::NEG_INFINITY;

/// Where a key stands as a float, to 2^-51 of it: below zero with less than the minimum share.
fn position(key: &Key) -> f64 {
    match key.tier() {
        Tier::BelowMinimum => key.value() - 2.0,
        Tier::Ordinary => key.value(),
    }
}

/// A float that is not above the position of any key that is at least this one.
pub(super) fn bound(key: &Key) -> f64 {
    const MARGIN: f64 = 1.0 / (1u64 << 48) as f64;
    let position = position(key);
    position - position.abs() * MARGIN
}

impl Parked {
    pub(super) fn new(kinds: usize) -> Parked {
        Parked { kinds, queues: 1, least: vec![NOTHING; 2 * kinds], bounds: vec![f64::INFINITY; 2] }
    }

    fn grow(&mut self, queues: usize) {
        let queues = queues.next_power_of_two();
        let (least, bounds) = (vec![NOTHING; 2 * queues * self.kinds], vec![f64::INFINITY; 2 * queues]);
        let mut wider = Parked { kinds: self.kinds, queues, least, bounds };
        let (from, to) = (self.queues * self.kinds, queues * self.kinds);
        wider.least[to..to + from].copy_from_slice(&self.least[from..]);
        wider.bounds[queues..queues + self.queues].copy_from_slice(&self.bounds[self.queues..]);
        for vertex in (1..queues).rev() {
            wider.pull(vertex);
        }
        *self = wider;
    }

    /// Recomputes a vertex from its two children; whether it changed.
    fn pull(&mut self, vertex: usize) -> bool {
        let bound = self.bounds[2 * vertex].min(self.bounds[2 * vertex + 1]);
        let mut changed = std::mem::replace(&mut self.bounds[vertex], bound) != bound;
        for kind in 0..self.kinds {
            let left = self.least[2 * vertex * self.kinds + kind];
            let least = left.min(self.least[(2 * vertex + 1) * self.kinds + kind]);
            let slot = &mut self.least[vertex * self.kinds + kind];
            changed |= *slot != least;
            *slot = least;
        }
        changed
    }

    fn pull_above(&mut self, mut vertex: usize) {
        while vertex > 1 {
            vertex /= 2;
            if !self.pull(vertex) {
                return;
            }
        }
    }

    /// `leaf` is parked, waits for no less than `least` of each kind, and has a key of `bound` or above; `None`: it is
    /// not parked, or waits for no room.
    pub(super) fn set(&mut self, leaf: QueueId, least: Option<&Resources>, bound: f64) {
        if leaf.index() >= self.queues {
            if least.is_none() {
                return;
            }
            self.grow(leaf.index() + 1);
        }
        let vertex = self.queues + leaf.index();
        let row = &mut self.least[vertex * self.kinds..(vertex + 1) * self.kinds];
        match least {
            Some(least) => row.copy_from_slice(least.as_slice()),
            None => row.fill(NOTHING),
        }
        self.bounds[vertex] = if least.is_some() { bound } else { f64::INFINITY };
        self.pull_above(vertex);
    }

    /// The key of a parked leaf that waits for room has changed.
    pub(super) fn set_bound(&mut self, leaf: QueueId, bound: f64) {
        let vertex = self.queues + leaf.index();
        if self.bounds.get(vertex).is_some_and(|&now| now != bound && now != f64::INFINITY) {
            self.bounds[vertex] = bound;
            self.pull_above(vertex);
        }
    }

    /// Of the leaves that one of `rooms` helps the one with the smallest key, below `below`. `key_of` tells the key of one whose least
    /// amounts fit, if something of it does start there.
    pub(super) fn first_helped(
        &self,
        rooms: &[Resources],
        below: Option<Key>,
        key_of: impl FnMut(QueueId) -> Option<Key>,
    ) -> Option<(Key, QueueId)> {
        let mut search = Search { rooms, key_of, below, found: None };
        self.descend(1, &mut search);
        search.below.zip(search.found)
    }

    fn descend<F: FnMut(QueueId) -> Option<Key>>(&self, vertex: usize, search: &mut Search<'_, F>) {
        if search.below.as_ref().is_some_and(|key| self.bounds[vertex] > position(key)) {
            return;
        }
        let least = &self.least[vertex * self.kinds..(vertex + 1) * self.kinds];
        let fits = |room: &Resources| least.iter().zip(room.as_slice()).all(|(need, have)| need <= have);
        if !search.rooms.iter().any(fits) {
            return;
        }
        if vertex >= self.queues {
            let leaf = QueueId((vertex - self.queues) as u32);
            if let Some(key) = (search.key_of)(leaf)
                && search.below.is_none_or(|least| key < least)
            {
                (search.below, search.found) = (Some(key), Some(leaf));
            }
            return;
        }
        // The smaller keys first.
        let (left, right) = (2 * vertex, 2 * vertex + 1);
        let (first, second) =
            if self.bounds[right] < self.bounds[left] { (right, left) } else { (left, right) };
        self.descend(first, search);
        self.descend(second, search);
    }
}

/// A question to the tree.
struct Search<'a, F> {
    rooms: &'a [Resources],
    key_of: F,
    /// The key of what was found, or what it has to be below.
    below: Option<Key>,
    found: Option<QueueId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(amount: u64, leaf: u32) -> Key {
        let tier = if leaf.is_multiple_of(3) { Tier::BelowMinimum } else { Tier::Ordinary };
        Key::new(tier, u128::from(amount), 70, (u64::from(leaf), 0))
    }

    type Step = (u32, Option<[u64; 3]>, u64, u64);

    fn step() -> impl Strategy<Value = Step> {
        (0u32..70, prop::option::of(prop::array::uniform3(0u64..9)), 0u64..7, 0u64..3)
    }

    proptest! {
        /// Keys may have risen since their bounds were set, and some leaves can start nothing after all.
        #[test]
        fn helps_the_one_that_a_scan_would(
            kinds in 1usize..4,
            steps in prop::collection::vec(step(), 1..200),
            rooms in prop::collection::vec(prop::array::uniform3(0u64..10), 1..4),
            barred in 0u32..9,
        ) {
            let mut parked = Parked::new(kinds);
            let mut plain = std::collections::BTreeMap::<u32, (Resources, Key)>::new();
            for (leaf, least, amount, risen) in steps {
                let least = least.map(|amounts| Resources::new(&amounts[..kinds]));
                let (low, high) = (key(amount, leaf), key(amount + risen, leaf));
                parked.set(QueueId(leaf), least.as_ref(), bound(&low));
                parked.set_bound(QueueId(leaf), bound(&low));
                plain.remove(&leaf);
                plain.extend(least.map(|least| (leaf, (least, high))));
            }
            let rooms: Vec<Resources> = rooms.iter().map(|room| Resources::new(&room[..kinds])).collect();
            let ready = |leaf: u32| leaf % 9 != barred;
            let found = parked.first_helped(&rooms, None, |leaf| Some(plain[&leaf.0].1).filter(|_| ready(leaf.0)));
            let fits = |least: &Resources| rooms.iter().any(|room| least.fits_in(room));
            let scan = plain.iter().filter(|(leaf, (least, _))| ready(**leaf) && fits(least));
            prop_assert_eq!(found.map(|(_, leaf)| leaf.0), scan.min_by_key(|(_, (_, key))| *key).map(|(leaf, _)| *leaf));
        }
    }
}
