//! The nodes on which least of a demand is missing, where two kinds are demanded and nodes stand in
//! order of what is free of one for each of the other ([`RatioOrder`]).
//!
//! > missing(node) = sum over both kinds of floor(max(0, demand - free) 2^32 / pool)
//!
//! Nodes of one block have about the same ratio, so that one of them has about the most of both:
//! what a demand misses by the maxima of a block is about what it misses on its best node. So the
//! blocks are looked into from the best on, until those that are left cannot be as good, and few
//! are.
//!
//! Invariant: a node that is passed over misses more than whoever asks looks for. Bounds are in
//! floats, lowered by more than all roundings take. Cost for n nodes: n / 2,000 bounds, 32 for each
//! group of blocks that is looked into, 64 for each block; where more than [`ENOUGH`] nodes are
//! worth a look, for all of them miss as much, the search is given up.

use smallvec::SmallVec;

use super::ratio_order::{Pair, RatioOrder, holds};
use crate::ids::NodeRow;

/// Parts of the pool: what is missing is told in these.
pub const PARTS: u128 = 1 << 32;

/// So much of a kind in parts of what the pool has of it, rounded down.
#[inline]
pub(crate) fn parts_of_pool(amount: u128, pool: u64) -> u128 {
    match u32::try_from(amount) {
        Ok(amount) => u128::from((u64::from(amount) << 32) / pool.max(1)),
        Err(_) => amount.saturating_mul(PARTS) / u128::from(pool.max(1)),
    }
}

/// Of more nodes that are about as good as the best none is looked at.
const ENOUGH: u32 = 4096;

/// Who asks for the nodes on which least is missing.
///
/// [`Placement::least_missing`](crate::place::Placement::least_missing) asks it.
///
/// ```
/// use meed::place::{BestFit, Placement, Seeker};
/// use meed::{NodeRow, Resources};
///
/// struct All(Vec<NodeRow>);
/// impl Seeker for All {
///     fn bar(&self) -> (u64, NodeRow) {
///         (u64::MAX, NodeRow::new(u32::MAX))
///     }
///     fn look(&mut self, node: NodeRow) {
///         self.0.push(node);
///     }
/// }
///
/// let mut place = BestFit::new(2);
/// place.set_pool(&Resources::new(&[4000, 4000]));
/// place.set_free(NodeRow::new(0), &Resources::new(&[4000, 4000]));
/// let mut all = All(Vec::new());
/// place.least_missing(&Resources::new(&[5000, 5000]), &mut all);
/// assert_eq!(all.0, [NodeRow::new(0)]);
/// ```
pub trait Seeker {
    /// How much may be missing on a node that is still worth a look; where just so much is missing,
    /// only nodes before this one are. Only a look changes it.
    fn bar(&self) -> (u64, NodeRow);

    /// Looks at a node.
    fn look(&mut self, node: NodeRow);
}

/// What a demand misses where so much is free.
pub(super) struct Lacking {
    needs: Pair,
    pool: Pair,
    weights: [f64; 2],
}

/// By so much of itself a bound may be off, and by so much besides: each kind is rounded down.
const SLACK: f64 = 1.0 / (1u64 << 40) as f64;
const FLOORS: f64 = 2.0;

/// A float near it: amounts are below 2^63, or as good as that.
#[inline]
fn float(amount: u64) -> f64 {
    amount.min(i64::MAX as u64) as i64 as f64
}

impl Lacking {
    pub(super) fn of(needs: Pair, pool: Pair) -> Lacking {
        let weight = |pool: u64| PARTS as f64 / float(pool.max(1)) * (1.0 - SLACK);
        Lacking { needs, pool, weights: [weight(pool.0), weight(pool.1)] }
    }

    /// What is missing of either kind.
    #[inline]
    fn lacks(&self, (a, b): Pair) -> [u64; 2] {
        [self.needs.0.saturating_sub(a), self.needs.1.saturating_sub(b)]
    }

    /// In parts of the pool; never more than what is missing.
    #[inline]
    fn at_least(&self, free: Pair) -> f64 {
        let [a, b] = self.lacks(free);
        float(a) * self.weights[0] + float(b) * self.weights[1] - FLOORS
    }

    /// In parts of the pool, where no more is used than there is.
    fn missing(&self, free: Pair) -> u64 {
        let [a, b] = self.lacks(free);
        let parts = |missing: u64, pool: u64| parts_of_pool(u128::from(missing), pool);
        u64::try_from(parts(a, self.pool.0) + parts(b, self.pool.1)).unwrap_or(u64::MAX)
    }

    /// Whoever misses no more than this has so much of both at least.
    fn least_free(&self, most: f64) -> Pair {
        let least = |needs: u64, weight: f64| {
            // A float beyond all integers becomes the largest.
            let missing = ((most + FLOORS) / weight * (1.0 + SLACK)) as u64;
            needs.saturating_sub(missing.saturating_add(1))
        };
        (least(self.needs.0, self.weights[0]), least(self.needs.1, self.weights[1]))
    }
}

/// A search under way.
pub(super) struct Search<'a> {
    lacking: &'a Lacking,
    seeker: &'a mut dyn Seeker,
    /// What the seeker says.
    bar: (u64, NodeRow),
    /// What follows from that.
    most: f64,
    least_free: Pair,
    /// What was missing on the node that was offered last, by what is free there: many are alike.
    last: (Pair, u64),
    offers: u32,
}

/// What groups of blocks, or blocks, miss at least, and which of them it is.
type Bounds = SmallVec<[(f64, u32); 64]>;

impl<'a> Search<'a> {
    pub(super) fn new(lacking: &'a Lacking, seeker: &'a mut dyn Seeker) -> Search<'a> {
        let (bar, last) = (seeker.bar(), ((0, 0), lacking.missing((0, 0))));
        let mut search =
            Search { lacking, seeker, bar, most: 0.0, least_free: (0, 0), last, offers: 0 };
        search.set_bar(bar);
        search
    }

    fn set_bar(&mut self, bar: (u64, NodeRow)) {
        (self.bar, self.most) = (bar, bar.0 as f64);
        self.least_free = self.lacking.least_free(self.most);
    }

    fn is_over(&self) -> bool {
        self.offers > ENOUGH
    }

    /// A node with so much free.
    pub(super) fn offer(&mut self, node: u32, free: Pair) {
        if !holds(free, self.least_free) {
            return;
        }
        self.offers += 1;
        if self.last.0 != free {
            self.last = (free, self.lacking.missing(free));
        }
        let node = NodeRow(node);
        if (self.last.1, node) < self.bar {
            self.seeker.look(node);
            let bar = self.seeker.bar();
            if bar != self.bar {
                self.set_bar(bar);
            }
        }
    }

    /// Members of the order but for some; whether no other can be as good, nor one without anything
    /// free, which is in no order.
    pub(super) fn through(&mut self, order: &RatioOrder, skips: impl Fn(u32) -> bool) -> bool {
        let (mut groups, mut blocks) = (Bounds::new(), Bounds::new());
        self.add(order.groups(), 0, &mut groups);
        while !self.is_over() {
            // What became too bad meanwhile is passed over from now on.
            let (group, block) = (best_of(&mut groups, self.most), best_of(&mut blocks, self.most));
            match (group, block) {
                (Some(group), _) if block.is_none_or(|block| groups[group].0 < blocks[block].0) => {
                    let (_, at) = groups.swap_remove(group);
                    let (first, most) = order.blocks_of(at as usize);
                    self.add(most, first as u32, &mut blocks);
                }
                (_, Some(block)) => {
                    let at = blocks.swap_remove(block).1 as usize;
                    if self.may_have_better(order.best_of_block(at)) {
                        self.through_block(order.block(at), &skips);
                    }
                }
                _ => break,
            }
        }
        !self.is_over() && self.lacking.at_least((0, 0)) > self.most
    }

    /// Whether a block with these maxima, whose first node is that, may have one: where many nodes
    /// miss as much, most blocks have none that comes before the one that was found.
    fn may_have_better(&self, (most, first): (Pair, u32)) -> bool {
        (self.lacking.missing(most), NodeRow(first)) < self.bar
    }

    fn through_block(&mut self, (ids, amounts): (&[u32], &[Pair]), skips: &impl Fn(u32) -> bool) {
        for (at, &free) in amounts.iter().enumerate() {
            if holds(free, self.least_free)
                && self.lacking.at_least(free) <= self.most
                && !skips(ids[at])
            {
                self.offer(ids[at], free);
            }
        }
    }

    /// Those that may be good enough; the first has that number.
    fn add(&self, most: &[Pair], first: u32, bounds: &mut Bounds) {
        for (at, &most) in (first..).zip(most) {
            if holds(most, self.least_free) {
                let least = self.lacking.at_least(most);
                if least <= self.most {
                    bounds.push((least, at));
                }
            }
        }
    }
}

/// The place of the best; those that miss more than so much are left out.
#[inline]
fn best_of(bounds: &mut Bounds, most: f64) -> Option<usize> {
    let (mut best, mut least, mut kept) = (None, f64::INFINITY, 0);
    let all = bounds.as_mut_slice();
    for at in 0..all.len() {
        let bound = all[at];
        if bound.0 <= most {
            if bound.0 < least {
                (best, least) = (Some(kept), bound.0);
            }
            all[kept] = bound;
            kept += 1;
        }
    }
    bounds.truncate(kept);
    best
}
