//! A set of nodes in order of their rows, made for few: what happened since the last decision.
//!
//! Few stand in a sorted list of their own, so that an event takes no memory; where they are many
//! they go to a tree. Cost: O(log nodes) for each question and change, and a move of up to 8 rows.

use std::collections::BTreeSet;

use crate::ids::NodeRow;

/// So many stand in a list.
const FEW: usize = 8;

/// See the module. One of both is empty.
#[derive(Clone, Debug)]
pub(super) struct RowSet {
    /// The first `len` are in it, in order.
    list: [NodeRow; FEW],
    len: u32,
    many: Option<BTreeSet<NodeRow>>,
}

impl Default for RowSet {
    fn default() -> RowSet {
        RowSet { list: [NodeRow(0); FEW], len: 0, many: None }
    }
}

impl PartialEq for RowSet {
    fn eq(&self, other: &RowSet) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for RowSet {}

impl RowSet {
    #[inline]
    fn few(&self) -> &[NodeRow] {
        &self.list[..self.len as usize]
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && self.many.is_none()
    }

    #[inline]
    pub(super) fn contains(&self, node: &NodeRow) -> bool {
        self.few().contains(node) || self.many.as_ref().is_some_and(|many| many.contains(node))
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &NodeRow> {
        self.few().iter().chain(self.many.iter().flat_map(|many| many.iter()))
    }

    #[inline]
    pub(super) fn insert(&mut self, node: NodeRow) {
        let len = self.len as usize;
        let place = self.few().iter().position(|row| *row >= node).unwrap_or(len);
        if place < len && self.list[place] == node {
            return;
        }
        if len == FEW || self.many.is_some() {
            return self.insert_in_tree(node);
        }
        let mut moved = node;
        self.list[place..=len].iter_mut().for_each(|row| std::mem::swap(row, &mut moved));
        self.len += 1;
    }

    #[cold]
    fn insert_in_tree(&mut self, node: NodeRow) {
        let mut many = self.many.take().unwrap_or_default();
        many.extend(self.few().iter().copied().chain([node]));
        (self.len, self.many) = (0, Some(many));
    }

    /// The first in order, which is not in it from now on.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<NodeRow> {
        if let Some(many) = &mut self.many {
            let first = many.pop_first();
            if many.is_empty() {
                self.many = None;
            }
            return first;
        }
        let first = *self.few().first()?;
        let len = self.len as usize;
        self.list[..len].rotate_left(1);
        self.len -= 1;
        Some(first)
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.len = 0;
        if self.many.is_some() {
            self.many = None;
        }
    }

    /// All of another, which has none from now on.
    #[inline]
    pub(super) fn append(&mut self, other: &mut RowSet) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() && other.many.is_some() {
            return std::mem::swap(self, other);
        }
        self.extend(other.iter().copied());
        other.clear();
    }
}

impl Extend<NodeRow> for RowSet {
    fn extend<Nodes: IntoIterator<Item = NodeRow>>(&mut self, nodes: Nodes) {
        nodes.into_iter().for_each(|node| self.insert(node));
    }
}

impl FromIterator<NodeRow> for RowSet {
    fn from_iter<Nodes: IntoIterator<Item = NodeRow>>(nodes: Nodes) -> RowSet {
        let mut set = RowSet::default();
        set.extend(nodes);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    /// Whatever is put in, and in whatever order, it is what a tree would be.
    #[test]
    fn is_a_set_in_order_be_they_few_or_many() {
        let mut draws = Draws(7);
        let mut draw = |below| draws.below(below);
        let (mut set, mut other, mut tree) =
            (RowSet::default(), RowSet::default(), BTreeSet::new());
        for step in 0..2000 {
            let node = NodeRow(draw(60) as u32);
            match draw(40) {
                0 => {
                    set.clear();
                    tree.clear();
                }
                1 => {
                    tree.extend(other.iter().copied());
                    set.append(&mut other);
                }
                2..5 => {
                    let first = set.iter().next().copied();
                    assert_eq!(set.pop_first(), first, "step {step}");
                    // Not what was put aside, too.
                    if let Some(first) = first.filter(|first| !other.contains(first)) {
                        tree.remove(&first);
                    }
                }
                5..11 => {
                    other.insert(node);
                    tree.insert(node);
                }
                _ => {
                    set.insert(node);
                    tree.insert(node);
                }
            }
            let both: BTreeSet<NodeRow> = set.iter().chain(other.iter()).copied().collect();
            let told: BTreeSet<NodeRow> = tree.iter().copied().collect();
            // What was put aside is not cleared with the rest.
            let aside: BTreeSet<NodeRow> = other.iter().copied().collect();
            assert_eq!(both, &told | &aside, "step {step}");
            assert!(set.iter().is_sorted_by(|a, b| a < b));
            let asked = NodeRow(draw(60) as u32);
            assert_eq!(set.contains(&asked), set.iter().any(|node| *node == asked));
        }
    }
}
