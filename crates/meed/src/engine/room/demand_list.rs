//! Demands that wait for room, to be asked which of them a node's free amounts would hold.
//!
//! They stand in sorted blocks of at most [`BLOCK`], amount by amount, each with the least of every
//! kind in it: a block of which some least amount is more than the node has is passed over, and
//! what lies behind the node's first amount is not looked at. Cost for n demands: a change is a
//! binary search over the blocks and a move within one; a question looks at n / BLOCK blocks at
//! most, and into those that hold all amounts, if not always in one demand. Entries stand densely:
//! what bounds it is reading them.

use std::cmp::Ordering;

use crate::resources::{MAX_KINDS, Resources, fits, lower};

/// Most demands of a block: splitting halves it.
const BLOCK: usize = 64;

/// A block this small joins the next.
const SMALL: usize = BLOCK / 4;

/// See the module. Demands are told apart by the caller's numbers.
#[derive(Default)]
pub(crate) struct DemandList {
    /// None is empty.
    blocks: Vec<Block>,
}

#[derive(Default)]
struct Block {
    kinds: usize,
    ids: Vec<u32>,
    /// Of all kinds, demand after demand.
    amounts: Vec<u64>,
    least: [u64; MAX_KINDS],
}

impl Block {
    fn demand(&self, at: usize) -> &[u64] {
        &self.amounts[at * self.kinds..(at + 1) * self.kinds]
    }

    fn cmp(&self, at: usize, demand: &[u64], id: u32) -> Ordering {
        self.demand(at).cmp(demand).then(self.ids[at].cmp(&id))
    }

    /// How many of its demands stand before this one.
    fn place_of(&self, demand: &[u64], id: u32) -> usize {
        let (mut low, mut high) = (0, self.ids.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.cmp(middle, demand, id) {
                Ordering::Less => low = middle + 1,
                _ => high = middle,
            }
        }
        low
    }

    fn count_least(&mut self) {
        self.least = [u64::MAX; MAX_KINDS];
        for demand in self.amounts.chunks_exact(self.kinds) {
            lower(&mut self.least, demand);
        }
    }

    fn insert(&mut self, at: usize, demand: &[u64], id: u32) {
        self.ids.insert(at, id);
        self.amounts.splice(at * self.kinds..at * self.kinds, demand.iter().copied());
        lower(&mut self.least, demand);
    }

    fn remove(&mut self, at: usize) {
        let was_least =
            self.demand(at).iter().zip(&self.least).any(|(amount, least)| amount == least);
        self.ids.remove(at);
        self.amounts.drain(at * self.kinds..(at + 1) * self.kinds);
        if was_least {
            self.count_least();
        }
    }

    fn split(&mut self) -> Block {
        let middle = self.ids.len() / 2;
        let mut tail = Block {
            kinds: self.kinds,
            ids: self.ids.split_off(middle),
            amounts: self.amounts.split_off(middle * self.kinds),
            least: self.least,
        };
        self.count_least();
        tail.count_least();
        tail
    }

    fn append(&mut self, other: Block) {
        self.ids.extend(other.ids);
        self.amounts.extend(other.amounts);
        lower(&mut self.least, &other.least);
    }
}

impl DemandList {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block that a demand belongs to; there is at least one.
    fn block_of(&self, demand: &[u64], id: u32) -> usize {
        self.blocks.partition_point(|block| block.cmp(0, demand, id).is_le()).saturating_sub(1)
    }

    /// Adds a demand that is not there.
    pub(crate) fn insert(&mut self, demand: &Resources, id: u32) {
        let demand = demand.as_slice();
        if self.blocks.is_empty() {
            self.blocks.push(Block {
                kinds: demand.len(),
                least: [u64::MAX; MAX_KINDS],
                ..Block::default()
            });
            return self.blocks[0].insert(0, demand, id);
        }
        let block = self.block_of(demand, id);
        let at = self.blocks[block].place_of(demand, id);
        self.blocks[block].insert(at, demand, id);
        if self.blocks[block].ids.len() > BLOCK {
            let tail = self.blocks[block].split();
            self.blocks.insert(block + 1, tail);
        }
    }

    /// Takes out a demand that is there.
    pub(crate) fn remove(&mut self, demand: &Resources, id: u32) {
        let demand = demand.as_slice();
        let block = self.block_of(demand, id);
        let at = self.blocks[block].place_of(demand, id);
        assert!(self.blocks[block].ids[at] == id, "only a demand that is listed leaves");
        self.blocks[block].remove(at);
        match self.blocks[block].ids.len() {
            0 => drop(self.blocks.remove(block)),
            len if len < SMALL => self.join_next(block),
            _ => {}
        }
    }

    fn join_next(&mut self, block: usize) {
        let both = |next: &Block| next.ids.len() + self.blocks[block].ids.len();
        if self.blocks.get(block + 1).is_some_and(|next| both(next) <= BLOCK - SMALL) {
            let next = self.blocks.remove(block + 1);
            self.blocks[block].append(next);
        }
    }

    /// Whether `test` says yes to one of the demands that fit into `room`; it is asked in order,
    /// until it does.
    #[inline]
    pub(crate) fn any_fitting(&self, room: &[u64], mut test: impl FnMut(u32) -> bool) -> bool {
        for block in self.blocks.iter().take_while(|block| block.amounts[0] <= room[0]) {
            if !fits(&block.least[..block.kinds], room) {
                continue;
            }
            let fitting = block.amounts.chunks_exact(block.kinds).zip(&block.ids);
            for (demand, &id) in fitting.take_while(|(demand, _)| demand[0] <= room[0]) {
                if fits(demand, room) && test(id) {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_those_that_a_scan_would(
            kinds in 1usize..4,
            steps in prop::collection::vec((0u32..400, prop::array::uniform3(0u64..12)), 1..1500),
            room in prop::array::uniform3(0u64..14),
        ) {
            let mut list = DemandList::default();
            let mut plain = std::collections::BTreeMap::<u32, Resources>::new();
            for (id, amounts) in steps {
                let demand = Resources::new(&amounts[..kinds]);
                match plain.remove(&id) {
                    Some(demand) => list.remove(&demand, id),
                    None => {
                        list.insert(&demand, id);
                        plain.insert(id, demand);
                    }
                }
            }
            let room = Resources::new(&room[..kinds]);
            let mut found = Vec::new();
            let none = |id| {
                found.push(id);
                false
            };
            prop_assert_eq!(list.any_fitting(room.as_slice(), none), false);
            found.sort_unstable();
            let scan: Vec<u32> = plain.iter().filter(|(_, demand)| demand.fits_in(&room))
                .map(|(id, _)| *id).collect();
            prop_assert_eq!(list.any_fitting(room.as_slice(), |_| true), !scan.is_empty());
            prop_assert_eq!(list.is_empty(), plain.is_empty());
            prop_assert_eq!(found, scan);
        }
    }
}
