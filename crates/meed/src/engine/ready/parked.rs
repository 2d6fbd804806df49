//! The parked leaves, to be asked which of them a node's free amounts help, and whose turn it is
//! among those.
//!
//! They have places in a [`LeastTree`], which holds for each subtree the least of their keys and,
//! kind by kind, the least that one of them waits for: a node that has less of some kind helps
//! nobody there, and a subtree whose least key is above that of a leaf that was found need not be
//! looked into. So an end wakes the one leaf whose turn it is, not all that it would help, most of
//! which would find the room taken.
//!
//! Leaves that wait for like amounts stand near each other, in the order of [`likeness`], so that
//! what is the least in a subtree is not much less than what each there waits for. The order is as
//! good as it is: whoever comes takes a free place near those that are like it, and now and then
//! all are put in order anew. No answer depends on it.
//!
//! Keys are kept as floats at or below the true ones ([`bound`]); the leaves that are looked at are
//! compared exactly. Cost for n parked leaves: O(log n) for one that is parked, woken or rekeyed,
//! and a look at few places; a question goes down where least amounts fit and keys are small, and
//! turns back where amounts stem from different leaves.

use super::least_tree::LeastTree;
use crate::ids::QueueRow;
use crate::order::Tier;
use crate::order::key::Key;
use crate::resources::{MAX_KINDS, Resources};

/// See the module.
#[derive(Default)]
pub(in crate::engine) struct Parked {
    kinds: usize,
    tree: LeastTree,
    /// For each leaf its place in the tree.
    places: Vec<u32>,
    /// Who stands where.
    leaves: Vec<u32>,
    parked: usize,
    /// Those who were parked when all were put in order last, in order.
    order: Vec<Likeness>,
    /// How often somebody has come since.
    came: usize,
    /// Where a free place was found last when there was none near.
    hand: usize,
}

/// Nowhere, or nobody.
const NONE: u32 = u32::MAX;

/// Fewest places.
const FEW: usize = 16;

/// So far to either side a free place is looked for.
const NEAR: usize = 32;

/// The bound of a leaf that is to be woken before all others.
pub(in crate::engine) const AT_ONCE: f64 = f64::NEG_INFINITY;

/// What leaves are put in order by: [`likeness`], and the leaf's number, stirred: those that are
/// alike often come in the order of their numbers, and would all ask for the places at one end.
type Likeness = (u64, u32);

fn like(least: &[u64], leaf: u32) -> Likeness {
    (likeness(least), leaf.wrapping_mul(0x9e37_79b1))
}

/// Where a key stands as a float, to 2^-51 of it: below zero with less than the minimum share.
fn position(key: &Key) -> f64 {
    match key.tier() {
        Tier::BelowMinimum => key.value() - 2.0,
        Tier::Ordinary => key.value(),
    }
}

/// A float that is not above the position of any key that is at least this one.
pub(in crate::engine) fn bound(key: &Key) -> f64 {
    const MARGIN: f64 = 1.0 / (1u64 << 48) as f64;
    let position = position(key);
    position - position.abs() * MARGIN
}

/// A float as an integer, in the same order.
fn rank(bound: f64) -> u64 {
    let bits = bound.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// A number that is near for amounts that are like each other: the leading bits of the logarithms
/// of all kinds, the highest of each first (Morton's order).
fn likeness(amounts: &[u64]) -> u64 {
    const BITS: usize = 64 / MAX_KINDS;
    // Six bits of exponent, the others of what follows the leading one.
    let log = |amount: u64| {
        let amount = amount.max(1);
        let exponent = u64::from(amount.ilog2());
        let rest = (amount << amount.leading_zeros()) << 1;
        (exponent << (BITS - 6)) | (rest >> (64 - (BITS - 6)))
    };
    (0..BITS)
        .rev()
        .fold(0, |bits, bit| amounts.iter().fold(bits, |bits, &of| bits << 1 | log(of) >> bit & 1))
}

impl Parked {
    pub(super) fn new(kinds: usize) -> Parked {
        Parked { kinds, ..Parked::default() }
    }

    fn place(&self, leaf: QueueRow) -> Option<usize> {
        self.places.get(leaf.index()).filter(|&&place| place != NONE).map(|&place| place as usize)
    }

    /// `leaf` is parked, waits for no less than `least` of each kind, and has a key of `bound` or
    /// above; `None`: it is not parked, or waits for no room.
    pub(super) fn set(&mut self, leaf: QueueRow, least: Option<&Resources>, bound: f64) {
        self.leave(leaf);
        let Some(least) = least else { return };
        if 4 * self.parked >= 3 * self.leaves.len() || self.came > 2 * self.leaves.len() {
            self.put_in_order();
        }
        let place = self.free_place(&like(least.as_slice(), leaf.0));
        if leaf.index() >= self.places.len() {
            self.places.resize(leaf.index() + 1, NONE);
        }
        (self.places[leaf.index()], self.leaves[place]) = (place as u32, leaf.0);
        (self.parked, self.came) = (self.parked + 1, self.came + 1);
        self.tree.set(place, rank(bound), least.as_slice());
    }

    /// What a parked leaf waits for at least, if it waits for room.
    pub(super) fn least_of(&self, leaf: QueueRow) -> Option<&[u64]> {
        self.place(leaf).map(|place| self.tree.least(place))
    }

    fn leave(&mut self, leaf: QueueRow) {
        if let Some(place) = self.place(leaf) {
            (self.places[leaf.index()], self.leaves[place]) = (NONE, NONE);
            self.parked -= 1;
            self.tree.clear(place);
        }
    }

    /// The key of a parked leaf that waits for room has changed.
    pub(super) fn set_bound(&mut self, leaf: QueueRow, bound: f64) {
        if let Some(place) = self.place(leaf) {
            self.tree.set_rank(place, rank(bound));
        }
    }

    /// A free place next to where such a leaf would have been put, or, where all near there are
    /// taken, any.
    fn free_place(&mut self, like: &Likeness) -> usize {
        let before = self.order.partition_point(|other| other < like);
        let target = before * self.leaves.len() / self.order.len().max(1);
        let is_free = |&place: &usize| self.leaves.get(place) == Some(&NONE);
        let near = |distance: usize| {
            [target.checked_add(distance), target.checked_sub(distance)]
                .into_iter()
                .flatten()
                .find(is_free)
        };
        if let Some(place) = (0..NEAR).find_map(near) {
            return place;
        }
        // Every round of the hand passes a quarter of free places at least: a few steps each, over
        // many.
        while self.leaves[self.hand] != NONE {
            self.hand = (self.hand + 1) % self.leaves.len();
        }
        self.hand
    }

    /// Puts all in order, evenly over twice to four times as many places.
    fn put_in_order(&mut self) {
        let standing = |(place, &leaf): (usize, &u32)| {
            (leaf != NONE).then(|| (like(self.tree.least(place), leaf), leaf, place))
        };
        let mut members: Vec<(Likeness, u32, usize)> =
            self.leaves.iter().enumerate().filter_map(standing).collect();
        members.sort_unstable();
        let places = (2 * members.len()).next_power_of_two().max(FEW);
        let mut tree = LeastTree::new(self.kinds, places);
        self.leaves = vec![NONE; places];
        for (at, &(_, leaf, from)) in members.iter().enumerate() {
            let to = at * places / members.len();
            tree.put(to, self.tree.row(from));
            (self.leaves[to], self.places[leaf as usize]) = (leaf, to as u32);
        }
        tree.pull_all();
        self.tree = tree;
        self.order = members.into_iter().map(|(like, ..)| like).collect();
        (self.came, self.hand) = (0, 0);
    }

    /// The least of each kind that one of them waits for.
    pub(super) fn least(&self) -> Option<&[u64]> {
        (!self.is_empty()).then(|| self.tree.least_of_all())
    }

    /// Whether the key of one of them may be below this one, as their bounds tell.
    pub(super) fn may_be_before(&self, key: &Key) -> bool {
        !self.is_empty() && self.tree.least_rank() <= rank(position(key))
    }

    /// Whether no leaf waits for room.
    #[inline]
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.parked == 0
    }

    /// Of the leaves that one of `rooms` helps the one with the smallest key, below `below`.
    /// `key_of` tells the key of one whose least amounts fit, if something of it does start there.
    pub(in crate::engine) fn first_helped(
        &self,
        rooms: &[Resources],
        below: Option<Key>,
        mut key_of: impl FnMut(QueueRow) -> Option<Key>,
    ) -> Option<(Key, QueueRow)> {
        if self.is_empty() {
            return None;
        }
        let (mut below, mut found) = (below, None);
        let most = below.as_ref().map_or(u64::MAX, |key| rank(position(key)));
        self.tree.search(rooms, most, &mut |place| {
            let leaf = QueueRow(self.leaves[place]);
            let key = key_of(leaf)?;
            if below.is_some_and(|least| key >= least) {
                return None;
            }
            (below, found) = (Some(key), Some(leaf));
            Some(rank(position(&key)))
        });
        below.zip(found)
    }
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
        (any::<u32>(), prop::option::of(prop::array::uniform3(0u64..9)), 0u64..9, 0u64..3)
    }

    proptest! {
        /// Keys may have risen since their bounds were set, and some leaves can start nothing after
        /// all.
        #[test]
        fn helps_the_one_that_a_scan_would(
            kinds in 1usize..4,
            leaves in 1u32..200,
            steps in prop::collection::vec(step(), 1..500),
            rooms in prop::collection::vec(prop::array::uniform3(0u64..10), 1..4),
            barred in 0u32..9,
            below in prop::option::of((0u64..9, 0u32..200)),
        ) {
            let below = below.map(|(amount, leaf)| key(amount, leaf));
            let mut parked = Parked::new(kinds);
            let mut plain = std::collections::BTreeMap::<u32, (Resources, Key)>::new();
            for (leaf, least, amount, risen) in steps {
                let leaf = leaf % leaves;
                let least = least.map(|amounts| Resources::new(&amounts[..kinds]));
                let (low, high) = (key(amount, leaf), key(amount + risen, leaf));
                parked.set(QueueRow(leaf), least.as_ref(), bound(&low));
                parked.set_bound(QueueRow(leaf), bound(&low));
                plain.remove(&leaf);
                plain.extend(least.map(|least| (leaf, (least, high))));
            }
            let rooms: Vec<Resources> = rooms.iter().map(|room| Resources::new(&room[..kinds]))
                .collect();
            let ready = |leaf: u32| leaf % 9 != barred;
            let found = parked.first_helped(&rooms, below, |leaf| Some(plain[&leaf.0].1)
                .filter(|_| ready(leaf.0)));
            let fits = |least: &Resources| rooms.iter().any(|room| least.fits_in(room));
            let before = |key: &Key| below.is_none_or(|below| *key < below);
            let scan = plain.iter().filter(|(leaf, (least, key))| ready(**leaf) && fits(least)
                && before(key));
            prop_assert_eq!(found.map(|(_, leaf)| leaf.0), scan.min_by_key(|(_, (_, key))| *key)
                .map(|(leaf, _)| *leaf));
        }
    }
}
