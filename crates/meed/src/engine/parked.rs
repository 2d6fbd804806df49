//! The parked leaves, to be asked which of them a node's free amounts may help.
//!
//! A tree over the queues holds, for each subtree and kind, the least that a parked leaf in it waits for: a node that has
//! less of some kind helps nobody there. Cost for n queues: O(log n) for a leaf that is parked or woken; a question
//! goes down to the leaves that may be helped, and turns back where the least amounts stem from different ones.

use crate::resources::Resources;
use crate::spec::QueueId;

/// See the module.
pub(super) struct Parked {
    kinds: usize,
    /// Number of the tree's leaves, a power of two; the root is 1, queue i is `queues + i`.
    queues: usize,
    /// For each vertex the least of each kind; of nothing, more than any node can have.
    least: Vec<u64>,
}

const NOTHING: u64 = u64::MAX;

impl Parked {
    pub(super) fn new(kinds: usize) -> Parked {
        Parked { kinds, queues: 1, least: vec![NOTHING; 2 * kinds] }
    }

    fn grow(&mut self, queues: usize) {
        let queues = queues.next_power_of_two();
        let mut wider = Parked { kinds: self.kinds, queues, least: vec![NOTHING; 2 * queues * self.kinds] };
        let (from, to) = (self.queues * self.kinds, queues * self.kinds);
        wider.least[to..to + from].copy_from_slice(&self.least[from..]);
        for vertex in (1..queues).rev() {
            wider.pull(vertex);
        }
        *self = wider;
    }

    /// Recomputes a vertex from its two children; whether it changed.
    fn pull(&mut self, vertex: usize) -> bool {
        let mut changed = false;
        for kind in 0..self.kinds {
            let left = self.least[2 * vertex * self.kinds + kind];
            let least = left.min(self.least[(2 * vertex + 1) * self.kinds + kind]);
            let slot = &mut self.least[vertex * self.kinds + kind];
            changed |= *slot != least;
            *slot = least;
        }
        changed
    }

    /// `leaf` is parked and waits for no less than `least` of each kind; `None`: it is not parked, or waits for no room.
    pub(super) fn set(&mut self, leaf: QueueId, least: Option<&Resources>) {
        if leaf.index() >= self.queues {
            if least.is_none() {
                return;
            }
            self.grow(leaf.index() + 1);
        }
        let mut vertex = self.queues + leaf.index();
        let row = &mut self.least[vertex * self.kinds..(vertex + 1) * self.kinds];
        match least {
            Some(least) => row.copy_from_slice(least.as_slice()),
            None => row.fill(NOTHING),
        }
        while vertex > 1 {
            vertex /= 2;
            if !self.pull(vertex) {
                return;
            }
        }
    }

    /// Adds the leaves that `free` may help to `found`, in order of their numbers.
    pub(super) fn helped_by(&self, free: &Resources, found: &mut Vec<QueueId>) {
        self.descend(1, free.as_slice(), found);
    }

    fn descend(&self, vertex: usize, free: &[u64], found: &mut Vec<QueueId>) {
        let least = &self.least[vertex * self.kinds..(vertex + 1) * self.kinds];
        if !least.iter().zip(free).all(|(need, have)| need <= have) {
            return;
        }
        if vertex >= self.queues {
            return found.push(QueueId((vertex - self.queues) as u32));
        }
        self.descend(2 * vertex, free, found);
        self.descend(2 * vertex + 1, free, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn helps_those_that_a_scan_would(
            kinds in 1usize..4,
            steps in prop::collection::vec((0u32..70, prop::option::of(prop::array::uniform3(0u64..9))), 1..200),
            free in prop::array::uniform3(0u64..10),
        ) {
            let mut parked = Parked::new(kinds);
            let mut plain = std::collections::BTreeMap::<u32, Resources>::new();
            for (leaf, least) in steps {
                let least = least.map(|amounts| Resources::new(&amounts[..kinds]));
                parked.set(QueueId(leaf), least.as_ref());
                plain.remove(&leaf);
                plain.extend(least.map(|least| (leaf, least)));
            }
            let free = Resources::new(&free[..kinds]);
            let mut found = Vec::new();
            parked.helped_by(&free, &mut found);
            let scan: Vec<QueueId> =
                plain.iter().filter(|(_, least)| least.fits_in(&free)).map(|(leaf, _)| QueueId(*leaf)).collect();
            prop_assert_eq!(found, scan);
        }
    }
}
