//! Which nodes a task may run on, as a placement is told.

use std::collections::BTreeSet;

use crate::ids::NodeRow;

/// A set of nodes as a bitmap: one bit for each node that ever joined.
///
/// ```
/// use meed::NodeRow;
/// use meed::place::NodeSet;
///
/// let mut set = NodeSet::default();
/// set.set(NodeRow::new(70), true);
/// assert!(set.contains(NodeRow::new(70)) && !set.contains(NodeRow::new(71)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// Puts `node` in, or takes it out.
    pub fn set(&mut self, node: NodeRow, member: bool) {
        let (word, bit) = (node.index() / 64, 1 << (node.index() % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        match member {
            true => self.words[word] |= bit,
            false => self.words[word] &= !bit,
        }
    }

    /// Whether `node` is in it.
    #[inline]
    pub fn contains(&self, node: NodeRow) -> bool {
        self.words.get(node.index() / 64).is_some_and(|word| word >> (node.index() % 64) & 1 == 1)
    }
}

/// Nodes that tasks hold which want a node of their own.
pub type TakenNodes = BTreeSet<NodeRow>;

/// Which nodes a task may run on: those of a set, without those that are taken.
///
/// ```
/// use meed::NodeRow;
/// use meed::place::{Allowed, NodeSet, TakenNodes};
///
/// let mut eligible = NodeSet::default();
/// (0..2).for_each(|row| eligible.set(NodeRow::new(row), true));
/// let taken = TakenNodes::from([NodeRow::new(0)]);
/// let allowed = Allowed { eligible: Some(&eligible), taken: Some(&taken) };
/// assert!(!allowed.contains(NodeRow::new(0)) && allowed.contains(NodeRow::new(1)));
/// assert!(Allowed::default().is_any());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed<'a> {
    /// `None`: all.
    pub eligible: Option<&'a NodeSet>,
    /// `None`: none.
    pub taken: Option<&'a TakenNodes>,
}

impl Allowed<'_> {
    /// Every node.
    pub const ANY: Allowed<'static> = Allowed { eligible: None, taken: None };

    /// Whether it is every node.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.eligible.is_none() && self.taken.is_none()
    }

    /// Whether `node` is one of them.
    #[inline]
    pub fn contains(&self, node: NodeRow) -> bool {
        self.eligible.is_none_or(|set| set.contains(node))
            && self.taken.is_none_or(|taken| !taken.contains(&node))
    }
}
