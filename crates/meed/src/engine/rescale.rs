//! Hierarchical dominant fairness that does not starve: a parent's share counts its demanding
//! children rescaled.
//!
//! If a parent's share were the plain sum of its children's amounts, one child could starve: a
//! sibling that cannot get more (its tasks fit nowhere now) keeps the parent's share high while
//! another kind of resource lies idle. So, after Bhattacharya et al., "Hierarchical Scheduling for
//! Diverse Datacenter Workloads" (SoCC 2013), Sec. 5:
//!
//! > share(P) = max over r of sum over demanding children i of x_ir * M / (s_i / w_i),  M = min_i
//! > s_i / w_i
//!
//! x_i the amounts of child i as parts of the pool (of a parent: rescaled in the same way), s_i
//! their largest. Children that want nothing, or of which nothing fits, do not count. It applies
//! where a parent and its own parent both order by dominant allocation (`drf`, `drfh`); usage over
//! time (`long-term-drf`) is summed plainly, and the guard `t_wait` helps.
//!
//! Such a key may fall when a child begins or ceases to count, so it is computed anew for every
//! parent on the path whenever that, or an amount, changes; and before each decision those of which
//! nothing fits are set apart, which elsewhere waits until their turn comes. Factors are kept to
//! 2^-40. Amounts count as they are held, whatever the weight of the node. Cost of a decision:
//! O(queues + distinct demands), besides O(demanding children) for each parent on the path.

use super::Engine;
use crate::order::key::Key;
use crate::resources::MAX_KINDS;
use crate::spec::QueueId;

/// Bits of a factor's fraction.
const FRACTION: u32 = 40;

impl Engine {
    /// Whether `queue` stands in its parent by the rescaled amounts of its children.
    #[inline]
    pub(super) fn is_rescaled(&self, queue: QueueId) -> bool {
        let row = &self.tree[queue];
        let above = row.parent().is_some_and(|parent| self.books.domain(parent).rescales());
        above && !row.children().is_empty() && self.books.domain(queue).rescales()
    }

    /// The key of a rescaled parent; `None` for all other queues.
    pub(super) fn rescaled_key(&self, queue: QueueId) -> Option<Key> {
        if !self.rescales || !self.is_rescaled(queue) {
            return None;
        }
        let parts = self.rescaled(queue);
        let share = parts.iter().copied().max().unwrap_or(0);
        Some(self.books.key_of_share(queue, share))
    }

    /// Parts of each kind that count for `queue`.
    fn rescaled(&self, queue: QueueId) -> [u128; MAX_KINDS] {
        if !self.is_rescaled(queue) {
            let above = self.tree[queue].parent().unwrap_or(QueueId::ROOT);
            // All domains that compare dominant shares have the same pool.
            return self.books.domain(above).pool.parts(self.books.held(queue));
        }
        let rows: Vec<([u128; MAX_KINDS], u128, u64)> = self
            .ready
            .demanding(queue)
            .map(|child| {
                let parts = self.rescaled(child);
                let share = parts.iter().copied().max().unwrap_or(0);
                (parts, share, self.books.terms(child).weight)
            })
            .collect();
        let by_ratio = |a: &&(_, u128, u64), b: &&(_, u128, u64)| {
            (a.1 * u128::from(b.2)).cmp(&(b.1 * u128::from(a.2)))
        };
        let mut sum = [0; MAX_KINDS];
        let Some(&(_, least, least_weight)) = rows.iter().min_by(by_ratio) else { return sum };
        if least == 0 {
            return sum;
        }
        for (parts, share, weight) in &rows {
            // M / (s_i / w_i), at most one: shares are below 2^53 and weights below 2^30.
            let up = least * u128::from(*weight);
            let down = share * u128::from(least_weight);
            let factor = (up << FRACTION) / down;
            sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += (part * factor) >> FRACTION);
        }
        sum
    }

    /// Parks every leaf of which nothing can start, so that only those that can count.
    pub(super) fn settle(&mut self) {
        if !self.rescales {
            return;
        }
        if !self.waits {
            for shape in self.room.startable() {
                self.room.find_or_block(shape);
            }
        }
        for leaf in (1..self.tree.len() as u32).map(QueueId) {
            let walked = self.ready.waiting(leaf) > 0 && !self.ready.is_parked(leaf);
            if walked && !self.may_start(leaf) {
                self.park(leaf);
            }
        }
    }

    pub(super) fn may_start(&self, leaf: QueueId) -> bool {
        (0..self.ready.buckets(leaf).len())
            .any(|bucket| self.startable_shape(leaf, bucket).is_some())
    }

    /// The amounts of `leaf`, or who counts on its path, have changed: the keys of the parents
    /// above may have fallen.
    #[inline]
    pub(super) fn rekey_rescaled(&mut self, leaf: QueueId) {
        if !self.rescales {
            return;
        }
        let mut at = leaf;
        while let Some(parent) = self.tree[at].parent() {
            if at != leaf {
                self.rekey(at);
            }
            at = parent;
        }
    }
}
