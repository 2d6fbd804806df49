//! `cosine`: the node whose free resources point most in the demand's direction.
//!
//! > argmax over nodes with room of (D . c) / (|D| |c|),  D and c as parts of the pool   (named in
//! > DRFH Sec. 5.2)
//!
//! Of two on the same side of the demand's direction the nearer has the larger cosine; so with two
//! kinds it is one of the two nearest that best fit looks at too ([`TwoKinds`]), and their cosines
//! decide. With more kinds every node is looked at: O(k). Ties go to the node that joined first.

use super::max_tree::MaxTree;
use super::ratio_order::Member;
use super::two_kinds::TwoKinds;
use super::{Allowed, Placement};
use crate::resources::Resources;
use crate::spec::NodeRow;

/// See the module.
pub struct Cosine {
    pool: Resources,
    nodes: Nodes,
}

enum Nodes {
    One(MaxTree),
    Two(TwoKinds),
    More(Vec<Resources>),
}

impl Cosine {
    /// For a cluster of that many resource kinds, without nodes yet.
    pub fn new(kinds: usize) -> Cosine {
        let nodes = match kinds {
            0 | 1 => Nodes::One(MaxTree::new(kinds)),
            2 => Nodes::Two(TwoKinds::default()),
            _ => Nodes::More(Vec::new()),
        };
        Cosine { pool: Resources::zero(kinds), nodes }
    }
}

/// The cosine of the angle between two vectors whose kinds are measured by the pool's.
pub(super) fn cosine(demand: &[u64], free: &[u64], pool: &[u64]) -> f64 {
    let (mut dot, mut dd, mut cc) = (0.0, 0.0, 0.0);
    for ((&d, &c), &t) in demand.iter().zip(free).zip(pool) {
        let (d, c) = (d as f64 / t.max(1) as f64, c as f64 / t.max(1) as f64);
        dot += d * c;
        dd += d * d;
        cc += c * c;
    }
    dot / (dd * cc).sqrt()
}

/// Whether `b` has the larger cosine, or the same and joined earlier.
fn closer(pool: &[u64], demand: (u64, u64), a: Member, b: Member) -> bool {
    let score = |member: Member| cosine(&[demand.0, demand.1], &[member.a, member.b], pool);
    score(a).total_cmp(&score(b)).then(b.id.cmp(&a.id)).is_lt()
}

impl Placement for Cosine {
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        let pool = self.pool.as_slice();
        match &self.nodes {
            Nodes::One(tree) => tree.first(demand, allowed),
            Nodes::Two(nodes) => {
                nodes.find((demand.get(0), demand.get(1)), allowed, |demand, a, b| {
                    closer(pool, demand, a, b)
                })
            }
            Nodes::More(free) => {
                let mut best: Option<(f64, NodeRow)> = None;
                for (node, free) in (0..).map(NodeRow).zip(free) {
                    if !demand.fits_in(free) || !allowed.contains(node) {
                        continue;
                    }
                    let score = cosine(demand.as_slice(), free.as_slice(), pool);
                    if best.is_none_or(|(most, _)| score > most) {
                        best = Some((score, node));
                    }
                }
                best.map(|(_, node)| node)
            }
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
                let (pool, demand) = (self.pool.as_slice(), (demand.get(0), demand.get(1)));
                two.find_among(demand, allowed, nodes, |demand, a, b| closer(pool, demand, a, b))
            }
            _ => self.find(demand, allowed),
        }
    }

    fn may_fit(&self, demand: &Resources) -> bool {
        match &self.nodes {
            Nodes::One(tree) => tree.may_fit(demand),
            Nodes::Two(nodes) => nodes.may_fit((demand.get(0), demand.get(1))),
            Nodes::More(free) => free.iter().any(|free| demand.fits_in(free)),
        }
    }

    fn set_free(&mut self, node: NodeRow, free: &Resources) {
        match &mut self.nodes {
            Nodes::One(tree) => tree.set_free(node, free),
            Nodes::Two(nodes) => nodes.set_free(node, (free.get(0), free.get(1))),
            Nodes::More(all) => {
                if node.index() >= all.len() {
                    all.resize(node.index() + 1, Resources::zero(free.kinds()));
                }
                all[node.index()] = *free;
            }
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
            Nodes::More(all) => all.clear(),
        }
    }

    fn set_pool(&mut self, pool: &Resources) {
        self.pool = *pool;
    }

    fn why(&self) -> &'static str {
        "cosine: of the nodes with room the one whose free resources point most in the demand's \
         direction"
    }
}
