//! Who stands where in the fair order, where more than the first are looked at (`tetris`): the
//! children of each parent, and the leaves that wait with each shape, by their keys.
//!
//! Heaps know who is first; here the first so many are wanted, how many there are, and who is first
//! of those that wait with one shape. Whoever changes is noted ([`FairOrder::touch`]) and moved
//! before the next walk.
//!
//! Invariant: after [`FairOrder::settle`] the children of a parent that want something stand in
//! order of their true keys, and so do the leaves of a shape. Only for orders whose keys move at
//! events alone: no time is told here. Cost: O(log n) comparisons for each list of each queue that
//! was touched, and 4 bytes moved for each that stands behind it; where many were touched at once,
//! one sort.

use smallvec::SmallVec;

use super::room::ShapeId;
use super::tree::Tree;
use crate::ids::QueueRow;
use crate::order::key::Key;

type Shapes = SmallVec<[ShapeId; 4]>;

/// See the module.
#[derive(Default)]
pub(super) struct FairOrder {
    /// By number of a parent.
    children: Vec<Vec<QueueRow>>,
    /// By number of a shape.
    waiting: Vec<Vec<QueueRow>>,
    rows: Vec<Row>,
    touched: Vec<QueueRow>,
    /// How often leaves wait with a shape that are no children of the root.
    deep: usize,
}

/// One queue.
#[derive(Default)]
struct Row {
    /// What it stands by, if it does.
    key: Option<Key>,
    /// Shapes that it waits with.
    shapes: Shapes,
    /// Those of them where it stands.
    listed: Shapes,
    is_touched: bool,
}

/// So many are moved one by one in any case.
const FEW: usize = 16;

impl FairOrder {
    /// The key of `queue`, or whether it wants something, may have changed.
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueRow) {
        self.make_room(queue.index() + 1);
        let row = &mut self.rows[queue.index()];
        if !std::mem::replace(&mut row.is_touched, true) {
            self.touched.push(queue);
        }
    }

    /// Those that are new are looked at the next time.
    fn make_room(&mut self, queues: usize) {
        if queues > self.rows.len() {
            let new = self.rows.len() as u32..queues as u32;
            self.touched.extend(new.map(QueueRow));
            self.rows.resize_with(queues, || Row { is_touched: true, ..Row::default() });
            self.children.resize_with(queues, Vec::new);
        }
    }

    /// `leaf`, a child of `parent`, has begun, or ceased, to wait with tasks of a shape.
    pub(super) fn note_waiting(
        &mut self,
        (leaf, parent): (QueueRow, QueueRow),
        shape: ShapeId,
        waits: bool,
    ) {
        self.touch(leaf);
        let shapes = &mut self.rows[leaf.index()].shapes;
        let before = shapes.len();
        shapes.retain(|other| *other != shape);
        if waits {
            shapes.push(shape);
        }
        if parent != QueueRow::ROOT {
            self.deep = self.deep + shapes.len() - before;
        }
        let number = shape.number() as usize;
        if number >= self.waiting.len() {
            self.waiting.resize_with(number + 1, Vec::new);
        }
    }

    /// Moves whoever was touched; `key_of`: of whoever wants something, if it stands in an order.
    pub(super) fn settle(&mut self, tree: &Tree, mut key_of: impl FnMut(QueueRow) -> Option<Key>) {
        self.make_room(tree.len());
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        let many = touched.len() > FEW && touched.len() * 8 > tree.len();
        // All go before any comes: keys from before and after a change of the pool do not compare.
        touched.iter().for_each(|&queue| self.take_out(tree, queue, many));
        if many {
            let stays = |at: &QueueRow| self.rows[at.index()].key.is_some();
            self.children.iter_mut().chain(&mut self.waiting).for_each(|list| list.retain(stays));
        }
        for queue in touched.drain(..) {
            let key = key_of(queue);
            self.put_in(tree, queue, key, many);
        }
        if many {
            let rows = &self.rows;
            let by_key =
                |queue: &QueueRow| rows[queue.index()].key.expect("whoever stands has one");
            let lists = self.children.iter_mut().chain(&mut self.waiting);
            lists.for_each(|list| list.sort_unstable_by_key(by_key));
        }
        self.touched = touched;
    }

    /// `queue` stands nowhere, though with `many` lists still have it.
    fn take_out(&mut self, tree: &Tree, queue: QueueRow, many: bool) {
        let row = &mut self.rows[queue.index()];
        row.is_touched = false;
        let listed = std::mem::take(&mut row.listed);
        let (Some(parent), Some(key)) = (tree[queue].parent(), row.key) else { return };
        if !many {
            let FairOrder { children, waiting, rows, .. } = self;
            let take = |list: &mut Vec<QueueRow>| {
                let place = place(list, rows, &key);
                debug_assert_eq!(list.get(place), Some(&queue));
                list.remove(place);
            };
            take(&mut children[parent.index()]);
            listed.iter().for_each(|shape| take(&mut waiting[shape.number() as usize]));
        }
        self.rows[queue.index()].key = None;
    }

    fn put_in(&mut self, tree: &Tree, queue: QueueRow, key: Option<Key>, many: bool) {
        let (Some(parent), Some(key)) = (tree[queue].parent(), key) else { return };
        let shapes = self.rows[queue.index()].shapes.clone();
        let FairOrder { children, waiting, rows, .. } = self;
        let put = |list: &mut Vec<QueueRow>| {
            let place = if many { list.len() } else { place(list, rows, &key) };
            list.insert(place, queue);
        };
        put(&mut children[parent.index()]);
        shapes.iter().for_each(|shape| put(&mut waiting[shape.number() as usize]));
        let row = &mut self.rows[queue.index()];
        (row.key, row.listed) = (Some(key), shapes);
    }

    /// The children of `parent` that want something, the first one first.
    #[inline]
    pub(super) fn children_of(&self, parent: QueueRow) -> &[QueueRow] {
        self.children.get(parent.index()).map_or(&[], Vec::as_slice)
    }

    /// The leaves that wait with a shape, if their parents keep this order.
    #[inline]
    pub(super) fn waiting(&self, shape: ShapeId) -> &[QueueRow] {
        self.waiting.get(shape.number() as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether all leaves that wait are children of the root.
    pub(super) fn is_flat(&self) -> bool {
        self.deep == 0
    }

    /// The key that `queue` stands by, if it does.
    #[inline]
    pub(super) fn key(&self, queue: QueueRow) -> Option<&Key> {
        self.rows.get(queue.index())?.key.as_ref()
    }

    /// Whether all stand by these keys, for tests.
    pub(super) fn is_true(&self, mut key_of: impl FnMut(QueueRow) -> Option<Key>) -> bool {
        let mut is_true = |queue: u32| match (key_of(QueueRow(queue)), self.key(QueueRow(queue))) {
            (Some(now), Some(key)) => now == *key,
            (now, key) => now.is_none() && key.is_none(),
        };
        (1..self.rows.len() as u32).all(&mut is_true)
    }
}

/// Where a key stands in a list, or would.
fn place(list: &[QueueRow], rows: &[Row], key: &Key) -> usize {
    list.partition_point(|at| rows[at.index()].key.is_some_and(|other| other < *key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Tier;
    use crate::policy::Policy;
    use crate::spec::QueueSpec;
    use proptest::prelude::*;

    fn tree(queues: u32) -> Tree {
        let spec = |name: String| QueueSpec {
            name,
            weight: 1000,
            min: None,
            max: None,
            policy: Policy::preset("tetris").expect("a preset"),
        };
        let mut tree = Tree::new(&spec("root".to_owned()), 1);
        (0..queues).for_each(|number| {
            tree.add(QueueRow::ROOT, &spec(format!("q{number}")));
        });
        tree
    }

    proptest! {
        /// However many are touched at once, each list is what a plain sort makes of it.
        #[test]
        fn few_or_many_that_move_end_up_sorted(
            rounds in prop::collection::vec(
                prop::collection::vec((1u32..41, prop::option::of(0u8..20), 0u32..3), 0..60), 1..8,
            ),
        ) {
            let tree = tree(40);
            let mut order = FairOrder::default();
            let mut keys: [Option<Key>; 41] = [None; 41];
            let mut shapes = [[false; 3]; 41];
            for round in rounds {
                for (queue, amount, shape) in round {
                    let key = |amount| Key::new(Tier::Ordinary, u128::from(amount), 1, (0, queue));
                    keys[queue as usize] = amount.map(key);
                    let waits = &mut shapes[queue as usize][shape as usize];
                    *waits = !*waits;
                    let leaf = (QueueRow(queue), QueueRow::ROOT);
                    order.note_waiting(leaf, ShapeId::numbered(shape), *waits);
                }
                order.settle(&tree, |queue| keys[queue.index()]);
                let sorted = |stands: &dyn Fn(usize) -> bool| {
                    let mut all: Vec<(Key, QueueRow)> = (1..41u32)
                        .filter(|&row| stands(row as usize))
                        .filter_map(|row| Some((keys[row as usize]?, QueueRow(row))))
                        .collect();
                    all.sort_unstable_by_key(|row| row.0);
                    all.into_iter().map(|(_, row)| row).collect::<Vec<_>>()
                };
                let children = sorted(&|_| true);
                prop_assert_eq!(order.children_of(QueueRow::ROOT), &children[..]);
                for shape in 0..3u32 {
                    let waiting = sorted(&|row| shapes[row][shape as usize]);
                    let id = ShapeId::numbered(shape);
                    prop_assert_eq!(order.waiting(id), &waiting[..]);
                }
            }
        }
    }
}
