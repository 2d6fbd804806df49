//! What is kept of some nodes, by their rows and in order of them, made for few.
//!
//! Where one reservation is made at a time they are one or two. Few stand in a sorted list, which
//! is read through; where they are many they go to a tree. Cost: a look at up to 8 rows, or O(log
//! nodes), for each question and change.

use std::collections::BTreeMap;

use crate::ids::NodeRow;

/// So many stand in a list.
const FEW: usize = 8;

/// See the module. One of both is empty.
#[derive(Clone, Debug)]
pub(super) struct RowMap<T> {
    few: Vec<(NodeRow, T)>,
    many: BTreeMap<NodeRow, T>,
}

impl<T> Default for RowMap<T> {
    fn default() -> RowMap<T> {
        RowMap { few: Vec::new(), many: BTreeMap::new() }
    }
}

impl<T> RowMap<T> {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    #[inline]
    pub(super) fn get(&self, node: NodeRow) -> Option<&T> {
        match self.many.is_empty() {
            true => self.few.iter().find(|(row, _)| *row == node).map(|(_, of)| of),
            false => self.many.get(&node),
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, node: NodeRow) -> Option<&mut T> {
        match self.many.is_empty() {
            true => self.few.iter_mut().find(|(row, _)| *row == node).map(|(_, of)| of),
            false => self.many.get_mut(&node),
        }
    }

    #[inline]
    pub(super) fn contains(&self, node: NodeRow) -> bool {
        self.get(node).is_some()
    }

    /// What is kept of the node, which is made if nothing is.
    #[inline]
    pub(super) fn get_or_insert_with(&mut self, node: NodeRow, of: impl FnOnce() -> T) -> &mut T {
        if !self.contains(node) {
            self.insert_new(node, of());
        }
        self.get_mut(node).expect("it is there now")
    }

    /// From now on that is kept of the node; what was before.
    #[inline]
    pub(super) fn insert(&mut self, node: NodeRow, of: T) -> Option<T> {
        match self.get_mut(node) {
            Some(before) => Some(std::mem::replace(before, of)),
            None => {
                self.insert_new(node, of);
                None
            }
        }
    }

    #[cold]
    fn insert_new(&mut self, node: NodeRow, of: T) {
        if self.few.len() < FEW && self.many.is_empty() {
            let place = self.few.partition_point(|(row, _)| *row < node);
            self.few.insert(place, (node, of));
            return;
        }
        self.many.extend(self.few.drain(..));
        self.many.insert(node, of);
    }

    pub(super) fn remove(&mut self, node: NodeRow) -> Option<T> {
        match self.few.iter().position(|(row, _)| *row == node) {
            Some(place) => Some(self.few.remove(place).1),
            None => self.many.remove(&node),
        }
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(NodeRow, &mut T) -> bool) {
        self.few.retain_mut(|(row, of)| keep(*row, of));
        self.many.retain(|row, of| keep(*row, of));
    }

    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeRow, &T)> {
        let many = self.many.iter().map(|(row, of)| (*row, of));
        self.few.iter().map(|(row, of)| (*row, of)).chain(many)
    }

    #[inline]
    pub(super) fn rows(&self) -> impl Iterator<Item = NodeRow> + '_ {
        self.iter().map(|(row, _)| row)
    }

    pub(super) fn into_all(self) -> impl Iterator<Item = (NodeRow, T)> {
        self.few.into_iter().chain(self.many)
    }

    /// The same, with other rows; `None`: it is kept no more.
    pub(super) fn moved(self, to: impl Fn(NodeRow) -> Option<NodeRow>) -> RowMap<T> {
        let mut moved = RowMap::default();
        for (row, of) in self.into_all() {
            if let Some(row) = to(row) {
                moved.insert(row, of);
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u32, u8),
        GetOrInsert(u32, u8),
        Remove(u32),
        RetainBelow(u8),
        MoveUp(u32),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        let node = 0u32..24;
        prop_oneof![
            8 => (node.clone(), any::<u8>()).prop_map(|(node, of)| Step::Insert(node, of)),
            4 => (node.clone(), any::<u8>()).prop_map(|(node, of)| Step::GetOrInsert(node, of)),
            5 => node.clone().prop_map(Step::Remove),
            1 => any::<u8>().prop_map(Step::RetainBelow),
            1 => node.prop_map(Step::MoveUp),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        /// Whatever is put in, be they few or many, it is what a tree would be.
        #[test]
        fn is_a_map_in_order(steps in prop::collection::vec(step(), 0..120)) {
            let (mut map, mut tree) = (RowMap::default(), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Insert(node, of) => {
                        let before = map.insert(NodeRow(node), of);
                        prop_assert_eq!(before, tree.insert(NodeRow(node), of));
                    }
                    Step::GetOrInsert(node, of) => {
                        let told = *map.get_or_insert_with(NodeRow(node), || of);
                        prop_assert_eq!(told, *tree.entry(NodeRow(node)).or_insert(of));
                    }
                    Step::Remove(node) => {
                        let node = NodeRow(node);
                        prop_assert_eq!(map.remove(node), tree.remove(&node));
                    }
                    Step::RetainBelow(most) => {
                        map.retain(|_, of| *of < most);
                        tree.retain(|_, of| *of < most);
                    }
                    Step::MoveUp(gone) => {
                        let to = |row: NodeRow| {
                            (row.0 != gone).then(|| NodeRow(row.0 - u32::from(row.0 > gone)))
                        };
                        map = map.moved(to);
                        let all = tree.into_iter();
                        tree = all.filter_map(|(row, of)| Some((to(row)?, of))).collect();
                    }
                    Step::Clear => {
                        map.clear();
                        tree.clear();
                    }
                }
                let told: Vec<(NodeRow, u8)> = map.iter().map(|(row, of)| (row, *of)).collect();
                let plain: Vec<(NodeRow, u8)> = tree.iter().map(|(row, of)| (*row, *of)).collect();
                prop_assert_eq!(told, plain);
                prop_assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
                for node in (0..24).map(NodeRow) {
                    prop_assert_eq!(map.get(node), tree.get(&node));
                    prop_assert_eq!(map.get_mut(node).copied(), tree.get(&node).copied());
                    prop_assert_eq!(map.contains(node), tree.contains_key(&node));
                }
                prop_assert!(map.rows().eq(tree.keys().copied()));
            }
        }
    }
}
