//! Nodes with two kinds of resources, to be asked for the nearest one with room on either side of a
//! demand's direction.
//!
//! All stand in a [`RatioOrder`], but for the few whose free amounts have changed last: those are
//! looked at one by one, and go into the order when newer ones take their place. Near full a node
//! gets room and loses it again in one breath, and the order never hears of it.
//!
//! Invariant: the order holds for each node what was free there when it stood in it last; for a
//! node that is not among the recent ones that is what is free now. A node without anything free is
//! not in the order. Cost: a change is a look at [`RECENT`] numbers, and one node at most is moved
//! in the order. A node of which less is told for a while, for room is held there for somebody,
//! stays among the recent ones so long: the order does not hear of that either.

use super::allowed::Allowed;
use super::missing::{Lacking, Search, Seeker};
use super::ratio_order::{Member, Pair, RatioOrder, cmp_ratio, holds};
use crate::ids::NodeRow;

/// So many nodes are looked at one by one.
const RECENT: usize = 16;

/// See the module.
#[derive(Default)]
pub(super) struct TwoKinds {
    free: Vec<Pair>,
    order: RatioOrder,
    recent: Recent,
}

/// Nodes of which the order may hold what is free there no more.
#[derive(Default)]
struct Recent {
    ids: Vec<u32>,
    /// What the order holds of each.
    ordered: Vec<Pair>,
    /// Who goes next.
    oldest: usize,
    /// Those that stay.
    aside: Vec<u32>,
}

/// So many stay at most.
const ASIDE: usize = RECENT / 4;

impl Recent {
    fn contains(&self, id: u32) -> bool {
        self.ids.contains(&id)
    }

    /// The place of the one that goes.
    fn next(&mut self) -> usize {
        while self.aside.contains(&self.ids[self.oldest]) {
            self.oldest = (self.oldest + 1) % RECENT;
        }
        let at = self.oldest;
        self.oldest = (at + 1) % RECENT;
        at
    }
}

/// The nearest nodes with room on either side of a demand's ratio, of those that were offered.
struct Nearest {
    demand: Pair,
    /// With a ratio at least the demand's.
    right: Option<Member>,
    left: Option<Member>,
}

impl Nearest {
    /// On either side the nearer ratio, of equal ones the node that joined first.
    fn offer(&mut self, member: Member) {
        let right = cmp_ratio((member.a, member.b), self.demand).is_ge();
        let side = if right { &mut self.right } else { &mut self.left };
        let nearer = |best: &Member| {
            let ratio = cmp_ratio((member.a, member.b), (best.a, best.b));
            (if right { ratio } else { ratio.reverse() }).then(member.id.cmp(&best.id)).is_lt()
        };
        if side.as_ref().is_none_or(nearer) {
            *side = Some(member);
        }
    }

    fn best(self, better: impl Fn(Pair, Member, Member) -> bool) -> Option<NodeRow> {
        let best = match (self.left, self.right) {
            (Some(left), Some(right)) if better(self.demand, right, left) => Some(left),
            (left, right) => right.or(left),
        };
        best.map(|member| NodeRow(member.id))
    }
}

impl TwoKinds {
    pub(super) fn may_fit(&self, demand: Pair) -> bool {
        let fits = |&id: &u32| holds(self.free[id as usize], demand);
        self.order.may_hold(demand) || self.recent.ids.iter().any(fits)
    }

    pub(super) fn set_free(&mut self, node: NodeRow, now: Pair) {
        if node.index() >= self.free.len() {
            self.free.resize(node.index() + 1, (0, 0));
        }
        let before = std::mem::replace(&mut self.free[node.index()], now);
        if before == now || self.recent.contains(node.0) {
            return;
        }
        if self.recent.ids.len() < RECENT {
            self.recent.ids.push(node.0);
            return self.recent.ordered.push(before);
        }
        let at = self.recent.next();
        let id = std::mem::replace(&mut self.recent.ids[at], node.0);
        let ordered = std::mem::replace(&mut self.recent.ordered[at], before);
        self.reorder(id, ordered);
    }

    /// Less is told of the node for a while, or no more.
    pub(super) fn set_aside(&mut self, node: NodeRow, aside: bool) {
        let all = &mut self.recent.aside;
        all.retain(|id| *id != node.0);
        if aside && all.len() < ASIDE {
            all.push(node.0);
        }
    }

    /// The order is told what is free on a node, of which it holds `ordered`.
    fn reorder(&mut self, id: u32, ordered: Pair) {
        let now = self.free[id as usize];
        if now == ordered {
            return;
        }
        if ordered != (0, 0) {
            self.order.remove(Member { a: ordered.0, b: ordered.1, id });
        }
        if now != (0, 0) {
            self.order.insert(Member { a: now.0, b: now.1, id });
        }
    }

    /// The nearest node with room on either side of the demand's ratio, the better of them by
    /// `better(demand, a, b)`: whether b is better than a.
    pub(super) fn find(
        &self,
        demand: Pair,
        allowed: Allowed<'_>,
        better: impl Fn(Pair, Member, Member) -> bool,
    ) -> Option<NodeRow> {
        let mut nearest = Nearest { demand, right: None, left: None };
        if let Some(middle) = self.order.seek(demand) {
            self.look_right(&mut nearest, middle, allowed);
            self.look_left(&mut nearest, middle, allowed);
        }
        self.offer_all(nearest, self.recent.ids.iter().copied(), allowed).best(better)
    }

    /// From the block that the demand belongs to up to the first that has a node to the right.
    fn look_right(&self, nearest: &mut Nearest, middle: usize, allowed: Allowed<'_>) {
        let mut block = self.order.right(middle, nearest.demand);
        while let Some(at) = block.filter(|_| nearest.right.is_none()) {
            self.offer_block(nearest, at, allowed);
            block = self.order.right(at + 1, nearest.demand);
        }
    }

    /// From before that block, which has been looked into, down to the first that has a node to the
    /// left.
    fn look_left(&self, nearest: &mut Nearest, middle: usize, allowed: Allowed<'_>) {
        let demand = nearest.demand;
        let (mut block, mut last) = (self.order.left(middle, demand), middle);
        while let Some(at) = block.filter(|_| nearest.left.is_none()) {
            self.offer_block(nearest, at, allowed);
            (block, last) = (self.order.left(at, demand), at);
        }
        // Of those with the same ratio the node that joined first: it is in the first block that
        // has one.
        let Some(found) = nearest.left else { return };
        let mut block =
            self.order.seek((found.a, found.b)).and_then(|from| self.order.right(from, demand));
        while let Some(at) = block.filter(|&at| at < last && nearest.left == Some(found)) {
            self.offer_block(nearest, at, allowed);
            block = self.order.right(at + 1, demand);
        }
    }

    fn offer_block(&self, nearest: &mut Nearest, block: usize, allowed: Allowed<'_>) {
        let ok = |member: &Member| {
            allowed.contains(NodeRow(member.id)) && !self.recent.contains(member.id)
        };
        self.order
            .having(block, nearest.demand)
            .filter(ok)
            .for_each(|member| nearest.offer(member));
    }

    /// The same, where no node but some of these has room.
    pub(super) fn find_among(
        &self,
        demand: Pair,
        allowed: Allowed<'_>,
        nodes: &[NodeRow],
        better: impl Fn(Pair, Member, Member) -> bool,
    ) -> Option<NodeRow> {
        let nearest = Nearest { demand, right: None, left: None };
        self.offer_all(nearest, nodes.iter().map(|node| node.0), allowed).best(better)
    }

    /// Asks for the nodes on which least is missing of a demand, and as many more as it needs to
    /// know that; whether no other can be one of them.
    pub(super) fn least_missing(&self, lacking: &Lacking, seeker: &mut dyn Seeker) -> bool {
        let mut search = Search::new(lacking, seeker);
        for &id in &self.recent.ids {
            search.offer(id, self.free[id as usize]);
        }
        search.through(&self.order, |id| self.recent.contains(id))
    }

    fn offer_all(
        &self,
        mut nearest: Nearest,
        ids: impl Iterator<Item = u32>,
        allowed: Allowed<'_>,
    ) -> Nearest {
        for id in ids {
            let (a, b) = self.free[id as usize];
            if holds((a, b), nearest.demand) && allowed.contains(NodeRow(id)) {
                nearest.offer(Member { a, b, id });
            }
        }
        nearest
    }
}
