//! `best-fit`: the node whose free resources match the demand's direction best.
//!
//! > argmin over nodes with room of H(i, l) = || D_i / D_i1 - c_l / c_l1 ||_1   (DRFH Eq. 9)
//!
//! D the demand and c what is free, as parts of the pool. Ties go to the node that joined first.
//! With one kind H is zero everywhere, and best fit is first fit. With two, H is the distance of
//! two ratios, compared exactly; the nearest ratio with room is found on either side
//! ([`TwoKinds`]). With more, ratios of the first two kinds bound H from below: the search goes
//! outwards until the bound is above the best, over classes of nodes that have equal amounts free;
//! H is compared exactly (`fit`). Where nothing is demanded of the first kind, the first kind of
//! which something is demanded takes its place (the paper's demands are all positive), and with
//! more than two kinds every class with room is looked at.
//!
//! Properties: it chooses what a scan over all nodes chooses (tests); where a task would use up
//! what is scarce on a node, it goes elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::allowed::Allowed;
use super::fit::{Fit, Mismatch, Scales};
use super::max_tree::MaxTree;
use super::missing::{Lacking, Seeker};
use super::placement::Placement;
use super::ratio_order::{Member, RatioOrder};
use super::two_kinds::TwoKinds;
use crate::ids::NodeRow;
use crate::order::key::cmp_ratios;
use crate::resources::Resources;

/// The node whose free resources match the demand's direction best (`best-fit`, DRFH Eq. 9): the
/// least distance of D_i / D_i1 and c_l / c_l1. Ties go to the node that joined first.
///
/// ```
/// use meed::place::{Allowed, BestFit, Placement};
/// use meed::{NodeRow, Resources};
///
/// let mut place = BestFit::new(2);
/// place.set_pool(&Resources::new(&[5000, 5000]));
/// place.set_free(NodeRow::new(0), &Resources::new(&[4000, 1000]));
/// place.set_free(NodeRow::new(1), &Resources::new(&[1000, 4000]));
/// let found = place.find(&Resources::new(&[100, 400]), Allowed::default());
/// assert_eq!(found, Some(NodeRow::new(1)));
/// ```
pub struct BestFit {
    nodes: Nodes,
    /// What all nodes have.
    pool: Resources,
}

enum Nodes {
    One(MaxTree),
    Two(TwoKinds),
    More(Box<Classes>),
}

impl BestFit {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize) -> BestFit {
        let nodes = match kinds {
            0 | 1 => Nodes::One(MaxTree::new(kinds)),
            2 => Nodes::Two(TwoKinds::default()),
            _ => Nodes::More(Box::new(Classes::new(&Resources::zero(kinds)))),
        };
        BestFit { nodes, pool: Resources::zero(kinds) }
    }
}

impl Placement for BestFit {
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        match &self.nodes {
            Nodes::One(tree) => tree.first(demand, allowed),
            Nodes::Two(nodes) => nodes.find((demand.get(0), demand.get(1)), allowed, nearer),
            Nodes::More(classes) => classes.find(demand, allowed),
        }
    }

    fn find_among(
        &mut self,
        demand: &Resources,
        allowed: Allowed<'_>,
        nodes: &[NodeRow],
    ) -> Option<NodeRow> {
        match &self.nodes {
            Nodes::Two(two) => {
                let demand = (demand.get(0), demand.get(1));
                let found = two.find_among(demand, allowed, nodes, nearer);
                debug_assert!(
                    found == two.find(demand, allowed, nearer),
                    "a node not named has room"
                );
                found
            }
            _ => self.find(demand, allowed),
        }
    }

    fn may_fit(&self, demand: &Resources) -> bool {
        match &self.nodes {
            Nodes::One(tree) => tree.may_fit(demand),
            Nodes::Two(nodes) => nodes.may_fit((demand.get(0), demand.get(1))),
            Nodes::More(classes) => classes.may_fit((demand.get(0), demand.get(1))),
        }
    }

    fn set_free(&mut self, node: NodeRow, free: &Resources) {
        match &mut self.nodes {
            Nodes::One(tree) => tree.set_free(node, free),
            Nodes::Two(nodes) => nodes.set_free(node, (free.get(0), free.get(1))),
            Nodes::More(classes) => classes.set_free(node, free),
        }
    }

    fn set_aside(&mut self, node: NodeRow, aside: bool) {
        if let Nodes::Two(nodes) = &mut self.nodes {
            nodes.set_aside(node, aside);
        }
    }

    fn expect(&self, node: NodeRow) {
        if let Nodes::One(tree) = &self.nodes {
            tree.expect(node);
        }
    }

    fn clear(&mut self) {
        match &mut self.nodes {
            Nodes::One(tree) => tree.clear(),
            Nodes::Two(nodes) => *nodes = TwoKinds::default(),
            Nodes::More(classes) => {
                **classes = Classes::new(&self.pool);
            }
        }
    }

    fn least_missing(&self, demand: &Resources, seeker: &mut dyn Seeker) -> bool {
        let Nodes::Two(nodes) = &self.nodes else { return false };
        let pair = |amounts: &Resources| (amounts.get(0), amounts.get(1));
        nodes.least_missing(&Lacking::of(pair(demand), pair(&self.pool)), seeker)
    }

    fn set_pool(&mut self, pool: &Resources) {
        self.pool = *pool;
        if let Nodes::More(classes) = &mut self.nodes {
            classes.scales = Scales::of(pool);
        }
    }

    fn why(&self) -> &'static str {
        "best fit: of the nodes with room the one whose free resources match the demand's \
         direction best (DRFH Eq. 9)"
    }
}

/// Whether the ratio of `b` is nearer to the demand's than that of `a`, by H of Eq. 9, or as near
/// and joined earlier. With D_1 > 0, H = |D_2 / D_1 - c_2 / c_1|, and D_1 divides both sides away;
/// with D_1 = 0, H = c_1 / c_2.
fn nearer(demand: (u64, u64), a: Member, b: Member) -> bool {
    let distance = |member: Member| match demand.0 {
        0 => (u128::from(member.a), member.b),
        _ => {
            let (up, down) = (
                u128::from(demand.1) * u128::from(member.a),
                u128::from(member.b) * u128::from(demand.0),
            );
            (up.abs_diff(down), member.a)
        }
    };
    let ((n, m), (p, q)) = (distance(a), distance(b));
    cmp_ratios(p, q, n, m).then(b.id.cmp(&a.id)).is_lt()
}

/// Nodes with equal free amounts are a class.
struct Classes {
    scales: Scales,
    free: Vec<Resources>,
    by_free: BTreeMap<Resources, u32>,
    classes: Vec<Class>,
    unused: Vec<u32>,
    /// Classes by the ratio of their first two kinds; of those with neither, none.
    order: RatioOrder,
    /// Classes with nothing free of the first two kinds.
    flat: BTreeSet<u32>,
}

#[derive(Default)]
struct Class {
    free: Resources,
    nodes: BTreeSet<NodeRow>,
}

impl Classes {
    fn new(pool: &Resources) -> Classes {
        Classes {
            scales: Scales::of(pool),
            free: Vec::new(),
            by_free: BTreeMap::new(),
            classes: Vec::new(),
            unused: Vec::new(),
            order: RatioOrder::default(),
            flat: BTreeSet::new(),
        }
    }

    fn may_fit(&self, needs: (u64, u64)) -> bool {
        needs == (0, 0) || self.order.may_hold(needs)
    }

    fn set_free(&mut self, node: NodeRow, now: &Resources) {
        if node.index() >= self.free.len() {
            self.free.resize(node.index() + 1, Resources::zero(now.kinds()));
        }
        let before = std::mem::replace(&mut self.free[node.index()], *now);
        if before == *now {
            return;
        }
        if !before.is_zero() {
            self.leave(node, &before);
        }
        if !now.is_zero() {
            self.join(node, now);
        }
    }

    fn leave(&mut self, node: NodeRow, free: &Resources) {
        let id = self.by_free[free];
        let class = &mut self.classes[id as usize];
        class.nodes.remove(&node);
        if !class.nodes.is_empty() {
            return;
        }
        self.by_free.remove(free);
        self.unused.push(id);
        match (free.get(0), free.get(1)) {
            (0, 0) => drop(self.flat.remove(&id)),
            (a, b) => self.order.remove(Member { a, b, id }),
        }
    }

    fn join(&mut self, node: NodeRow, free: &Resources) {
        let id = match self.by_free.get(free) {
            Some(&id) => id,
            None => self.new_class(free),
        };
        self.classes[id as usize].nodes.insert(node);
    }

    fn new_class(&mut self, free: &Resources) -> u32 {
        let class = Class { free: *free, nodes: BTreeSet::new() };
        let id = match self.unused.pop() {
            Some(id) => {
                self.classes[id as usize] = class;
                id
            }
            None => {
                self.classes.push(class);
                self.classes.len() as u32 - 1
            }
        };
        self.by_free.insert(*free, id);
        match (free.get(0), free.get(1)) {
            (0, 0) => drop(self.flat.insert(id)),
            (a, b) => self.order.insert(Member { a, b, id }),
        }
        id
    }

    fn find(&self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        let needs = (demand.get(0), demand.get(1));
        let by = Mismatch::new(&self.scales, demand);
        let mut best = Best { demand, by, allowed, found: None };
        if needs.0 == 0 {
            // The first two kinds bound nothing.
            self.flat.iter().for_each(|&id| best.offer(&self.classes[id as usize]));
        }
        let middle = self.order.seek(needs);
        let mut right = middle.and_then(|middle| self.order.right(middle, needs));
        let mut left = middle.and_then(|middle| self.order.left(middle, needs));
        // The nearest block of either side in turn.
        while right.is_some() || left.is_some() {
            if let Some(at) = right {
                self.offer_block(&mut best, at, needs);
                right = self
                    .order
                    .right(at + 1, needs)
                    .filter(|&at| best.may_improve(self.order.bound(at)));
            }
            if let Some(at) = left {
                self.offer_block(&mut best, at, needs);
                left = self
                    .order
                    .left(at, needs)
                    .filter(|&at| best.may_improve(self.order.bound(at + 1)));
            }
        }
        best.found.map(|(_, node)| node)
    }

    fn offer_block<'a>(&'a self, best: &mut Best<'a>, block: usize, needs: (u64, u64)) {
        for member in self.order.having(block, needs) {
            if best.may_improve(Some((member.a, member.b))) {
                best.offer(&self.classes[member.id as usize]);
            }
        }
    }
}

/// The best node so far.
struct Best<'a> {
    demand: &'a Resources,
    by: Mismatch<'a>,
    allowed: Allowed<'a>,
    found: Option<(Fit<'a>, NodeRow)>,
}

impl<'a> Best<'a> {
    fn offer(&mut self, class: &'a Class) {
        if !self.demand.fits_in(&class.free) {
            return;
        }
        let Some(&node) = class.nodes.iter().find(|&&node| self.allowed.contains(node)) else {
            return;
        };
        let fit = self.by.of(class.free.as_slice());
        let better = |(best, at): &(Fit<'_>, NodeRow)| {
            self.by.compare(&fit, best).then(node.cmp(at)).is_lt()
        };
        if self.found.as_ref().is_none_or(better) {
            self.found = Some((fit, node));
        }
    }

    /// Whether a class with a ratio no nearer than that of `pair` may be as good as the best.
    fn may_improve(&self, pair: Option<(u64, u64)>) -> bool {
        let (Some(pair), Some((best, _))) = (pair, &self.found) else { return true };
        !self.by.is_of_first() || self.by.may_match(pair, best)
    }
}
