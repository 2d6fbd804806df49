//! `cosine`: the node whose free resources point most in the demand's direction.
//!
//! > argmax over nodes with room of (D . c) / (|D| |c|),  D and c as parts of the pool   (named in
//! > DRFH Sec. 5.2)
//!
//! Of two on the same side of the demand's direction the nearer has the larger cosine; so with two
//! kinds it is one of the two nearest that best fit looks at too ([`TwoKinds`]), and their cosines
//! decide. With more kinds every node is looked at: O(k). Cosines are compared exactly (`fit`); of
//! equal ones the node that joined first is taken.

use super::allowed::Allowed;
use super::fit::{Cosines, Fit, Scales};
use super::max_tree::MaxTree;
use super::placement::Placement;
use super::ratio_order::{Member, Pair};
use super::two_kinds::TwoKinds;
use crate::ids::NodeRow;
use crate::resources::Resources;

/// The node whose free resources point most in the demand's direction (`cosine`, named in DRFH
/// Sec. 5.2): the largest (D . c) / (|D| |c|) over nodes with room. Ties go to the node that joined
/// first.
///
/// ```
/// use meed::place::{Allowed, Cosine, Placement};
/// use meed::{NodeRow, Resources};
///
/// let mut place = Cosine::new(2);
/// place.set_pool(&Resources::new(&[5000, 5000]));
/// place.set_free(NodeRow::new(0), &Resources::new(&[4000, 1000]));
/// place.set_free(NodeRow::new(1), &Resources::new(&[1000, 4000]));
/// let found = place.find(&Resources::new(&[100, 400]), Allowed::default());
/// assert_eq!(found, Some(NodeRow::new(1)));
/// ```
pub struct Cosine {
    scales: Scales,
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
        Cosine { scales: Scales::of(&Resources::zero(kinds)), nodes }
    }
}

impl Cosine {
    /// Whether `b` has the larger cosine, or an equal one and joined earlier.
    fn is_closer(&self, demand: Pair, a: Member, b: Member) -> bool {
        let (demand, of_a, of_b) = ([demand.0, demand.1], [a.a, a.b], [b.a, b.b]);
        let by = Cosines::new(&self.scales, &demand);
        by.compare(&by.of(&of_a), &by.of(&of_b)).then(b.id.cmp(&a.id)).is_lt()
    }
}

impl Placement for Cosine {
    fn find(&mut self, demand: &Resources, allowed: Allowed<'_>) -> Option<NodeRow> {
        match &self.nodes {
            Nodes::One(tree) => tree.first(demand, allowed),
            Nodes::Two(nodes) => {
                let closer = |demand, a, b| self.is_closer(demand, a, b);
                nodes.find((demand.get(0), demand.get(1)), allowed, closer)
            }
            Nodes::More(free) => {
                let by = Cosines::new(&self.scales, demand.as_slice());
                let mut best: Option<(Fit<'_>, NodeRow)> = None;
                for (node, free) in (0..).map(NodeRow).zip(free) {
                    if !demand.fits_in(free) || !allowed.contains(node) {
                        continue;
                    }
                    let fit = by.of(free.as_slice());
                    if best.as_ref().is_none_or(|(best, _)| by.compare(&fit, best).is_gt()) {
                        best = Some((fit, node));
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
                let closer = |demand, a, b| self.is_closer(demand, a, b);
                two.find_among((demand.get(0), demand.get(1)), allowed, nodes, closer)
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
        self.scales = Scales::of(pool);
    }

    fn why(&self) -> &'static str {
        "cosine: of the nodes with room the one whose free resources point most in the demand's \
         direction"
    }
}
