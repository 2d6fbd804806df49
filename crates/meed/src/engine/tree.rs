//! The queue tree: who is whose child, by what name, weight and bounds, and each queue's share.
//!
//! It knows nothing of what queues have used or want. A removed queue stays as a tombstone, and is
//! the same queue, with its number, when one of its name comes back below the same parent
//! ([`Tree::back`]), unless it is forgotten by then (`forget`). Cost: O(1) for a step up;
//! O(siblings) to add or remove one; sharing out is O(queues).

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::fairness::Entitled;
use crate::fairness::dominant::WHOLE;
use crate::ids::{QueueId, QueueRow};
use crate::memory::expect;
use crate::policy::Policy;
use crate::queue_rows::QueueRows;
use crate::resources::{MAX_AMOUNT, ResourceKinds, Resources};
use crate::rows::RowsState;
use crate::shares::{ExactPart, apportion};
use crate::spec::{MAX_WEIGHT, QueueSpec, Weight};
use crate::state::{QueueState, StateError, ensure};

/// One queue. What a walk needs stands here, in one whole line of memory; the rest lies apart.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Row {
    parent: Option<QueueRow>,
    children: Vec<QueueRow>,
    /// Live jobs of a leaf.
    jobs: u64,
    draining: bool,
    removed: bool,
    max: Option<Box<Resources>>,
    rest: Box<Rest>,
}

/// What is seldom needed of a queue.
#[derive(Clone)]
struct Rest {
    name: String,
    weight: Weight,
    min: Option<Resources>,
    /// S_i in every kind.
    share: Resources,
    /// The part of the pool that its weight gives, of [`WHOLE`].
    part: u64,
    /// The same, exactly.
    exact: ExactPart,
}

/// See the module.
#[derive(Clone)]
pub(super) struct Tree {
    kinds: usize,
    /// In order of declaration; the root is first.
    rows: Vec<Row>,
    numbers: QueueRows,
    /// Live queues by full name.
    names: BTreeMap<String, QueueRow>,
    /// Removed ones, where no live one has the name.
    gone: BTreeMap<String, QueueRow>,
    /// Whether any queue has a maximum share: what nobody has costs nothing.
    has_maximums: bool,
}

impl Row {
    fn new(parent: Option<QueueRow>, spec: &QueueSpec, kinds: usize) -> Row {
        let (name, weight) = (spec.name.clone(), spec.weight);
        let share = Resources::zero(kinds);
        Row {
            parent,
            children: Vec::new(),
            jobs: 0,
            draining: false,
            removed: false,
            max: spec.max.map(Box::new),
            rest: Box::new(Rest {
                name,
                weight,
                min: spec.min,
                share,
                part: 0,
                exact: ExactPart::NOTHING,
            }),
        }
    }

    pub(super) fn parent(&self) -> Option<QueueRow> {
        self.parent
    }

    pub(super) fn children(&self) -> &[QueueRow] {
        &self.children
    }

    pub(super) fn name(&self) -> &str {
        &self.rest.name
    }

    pub(super) fn weight(&self) -> Weight {
        self.rest.weight
    }

    pub(super) fn min(&self) -> Option<Resources> {
        self.rest.min
    }

    pub(super) fn max(&self) -> Option<&Resources> {
        self.max.as_deref()
    }

    pub(super) fn share(&self) -> &Resources {
        &self.rest.share
    }

    /// The part of the pool that its weight gives, exactly.
    pub(super) fn exact_part(&self) -> ExactPart {
        self.rest.exact
    }

    /// What it is entitled to of a pool of so much, where `measured` is measured.
    pub(super) fn entitled(&self, measured: usize, total: &Resources) -> Entitled {
        let (whole, rest) = self.rest.exact.times(total.get(measured));
        let (share, down) = (self.rest.share.get(measured), self.rest.exact.down());
        Entitled { share, whole, rest, down, part: self.rest.part }
    }

    pub(super) fn jobs(&self) -> u64 {
        self.jobs
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removed
    }

    /// Whether it has no children and may take jobs; never the root.
    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty() && self.parent.is_some()
    }
}

impl std::ops::Index<QueueRow> for Tree {
    type Output = Row;
    #[inline]
    fn index(&self, queue: QueueRow) -> &Row {
        &self.rows[queue.index()]
    }
}

impl Tree {
    /// The root alone.
    pub(super) fn new(root: &QueueSpec, kinds: usize) -> Tree {
        let mut numbers = QueueRows::default();
        numbers.come();
        Tree {
            kinds,
            rows: vec![Row::new(None, root, kinds)],
            numbers,
            names: BTreeMap::new(),
            gone: BTreeMap::new(),
            has_maximums: false,
        }
    }

    /// Which row is whose.
    pub(super) fn rows(&self) -> &QueueRows {
        &self.numbers
    }

    pub(super) fn rows_mut(&mut self) -> &mut QueueRows {
        &mut self.numbers
    }

    /// The row of a queue that is remembered.
    #[inline]
    pub(super) fn row(&self, id: QueueId) -> Option<QueueRow> {
        self.numbers.row(id)
    }

    /// Whose row it is.
    #[inline]
    pub(super) fn id(&self, row: QueueRow) -> QueueId {
        self.numbers.id(row)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, queue: QueueRow) -> Option<&Row> {
        self.rows.get(queue.index())
    }

    /// All queues in order of declaration, the root first, removed ones too.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (QueueRow, &Row)> {
        self.rows.iter().enumerate().map(|(index, row)| (QueueRow(index as u32), row))
    }

    /// The live queue called `name`.
    pub(super) fn find(&self, name: &str) -> Option<QueueRow> {
        self.names.get(name).copied()
    }

    /// See `ahead`.
    #[inline]
    pub(super) fn expect(&self, queue: QueueRow) {
        expect(&self[queue]);
    }

    pub(super) fn has_maximums(&self) -> bool {
        self.has_maximums
    }

    #[inline]
    pub(super) fn is_parent(&self, queue: QueueRow) -> bool {
        !self[queue].children.is_empty()
    }

    /// `queue` and all above it but the root, each with its parent.
    #[inline]
    pub(super) fn up(&self, queue: QueueRow) -> impl Iterator<Item = (QueueRow, QueueRow)> + '_ {
        let mut at = queue;
        std::iter::from_fn(move || {
            let (child, parent) = (at, self[at].parent?);
            at = parent;
            Some((child, parent))
        })
    }

    /// Queues from just below the root down to `leaf`.
    pub(super) fn path(&self, leaf: QueueRow) -> SmallVec<[QueueRow; 8]> {
        let mut path: SmallVec<[QueueRow; 8]> = self.up(leaf).map(|(queue, _)| queue).collect();
        path.reverse();
        path
    }

    /// The removed queue that one of this full name below `parent` is.
    pub(super) fn back(&self, parent: QueueRow, name: &str) -> Option<QueueRow> {
        self.gone.get(name).copied().filter(|&id| self[id].parent == Some(parent))
    }

    /// A removed queue comes back, without sharing out anew. It stands among its siblings where it
    /// stood.
    pub(super) fn revive(&mut self, id: QueueRow, spec: &QueueSpec) {
        self.gone.remove(&spec.name);
        self.numbers.come_back(id);
        self.names.insert(spec.name.clone(), id);
        self.has_maximums |= spec.max.is_some();
        let row = &mut self.rows[id.index()];
        (row.removed, row.max) = (false, spec.max.map(Box::new));
        (row.rest.weight, row.rest.min) = (spec.weight, spec.min);
        let parent = row.parent.expect("the root stays");
        let children = &mut self.rows[parent.index()].children;
        let before = children.partition_point(|&child| child < id);
        children.insert(before, id);
    }

    /// Adds a queue below `parent`, without sharing out anew.
    pub(super) fn add(&mut self, parent: QueueRow, spec: &QueueSpec) -> QueueRow {
        let id = self.numbers.come();
        self.rows[parent.index()].children.push(id);
        self.names.insert(spec.name.clone(), id);
        self.has_maximums |= spec.max.is_some();
        self.rows.push(Row::new(Some(parent), spec, self.kinds));
        id
    }

    pub(super) fn set_weight(&mut self, queue: QueueRow, weight: Weight) {
        self.rows[queue.index()].rest.weight = weight;
    }

    /// Gives `queue` other bounds; what they were.
    pub(super) fn set_bounds(
        &mut self,
        queue: QueueRow,
        min: Option<Resources>,
        max: Option<Resources>,
    ) -> (Option<Resources>, Option<Resources>) {
        let row = &mut self.rows[queue.index()];
        let before = (row.rest.min, row.max.take().map(|max| *max));
        (row.rest.min, row.max) = (min, max.map(Box::new));
        self.has_maximums |= max.is_some();
        before
    }

    pub(super) fn add_job(&mut self, leaf: QueueRow) {
        self.rows[leaf.index()].jobs += 1;
    }

    /// A job of `leaf` is gone; whether the queue was only waiting for that to go itself.
    pub(super) fn remove_job(&mut self, leaf: QueueRow) -> bool {
        let row = &mut self.rows[leaf.index()];
        row.jobs -= 1;
        row.draining && row.jobs == 0
    }

    /// `queue` takes no more jobs.
    pub(super) fn drain(&mut self, queue: QueueRow) {
        self.rows[queue.index()].draining = true;
    }

    /// Takes a queue without jobs out of the tree; its parent. It is entitled to nothing now.
    pub(super) fn remove(&mut self, queue: QueueRow) -> Option<QueueRow> {
        let (kinds, row) = (self.kinds, &mut self.rows[queue.index()]);
        (row.removed, row.draining) = (true, false);
        (row.rest.share, row.rest.part) = (Resources::zero(kinds), 0);
        row.rest.exact = ExactPart::NOTHING;
        if let Some((name, id)) = self.names.remove_entry(&row.rest.name) {
            self.gone.insert(name, id);
            self.numbers.go(id);
        }
        let parent = row.parent?;
        let children = &mut self.rows[parent.index()].children;
        if let Ok(at) = children.binary_search(&queue) {
            children.remove(at);
        }
        Some(parent)
    }

    /// S_i of all queues, level by level down the tree, of `total`.
    pub(super) fn share_out(&mut self, total: &Resources) {
        (self.rows[0].rest.share, self.rows[0].rest.part) = (*total, WHOLE);
        self.rows[0].rest.exact = ExactPart::WHOLE;
        for parent in 0..self.rows.len() {
            let row = &self.rows[parent];
            if row.removed || row.children.is_empty() {
                continue;
            }
            let (children, share, part) = (row.children.clone(), row.rest.share, row.rest.part);
            let weights: Vec<u64> = children.iter().map(|&child| self[child].weight()).collect();
            for (child, part) in children.iter().zip(apportion(part, &weights)) {
                self.rows[child.index()].rest.part = part;
            }
            let whole = self.rows[parent].rest.exact;
            let all = weights.iter().sum();
            let mut last = (0, ExactPart::NOTHING);
            for (child, &weight) in children.iter().zip(&weights) {
                // Most weigh as much as the one before.
                if weight != last.0 {
                    last = (weight, whole.of(weight, all));
                }
                self.rows[child.index()].rest.exact = last.1;
            }
            for kind in 0..self.kinds {
                for (child, part) in children.iter().zip(apportion(share.get(kind), &weights)) {
                    self.rows[child.index()].rest.share.as_mut_slice()[kind] = part;
                }
            }
        }
    }
}

/// As plain data, and back.
impl Tree {
    /// The rows of `queues`, with the shares of those that are gone; the live ones get theirs when
    /// they are shared out.
    pub(super) fn from_state(
        queues: &[QueueState],
        numbers: &RowsState,
        policy_of: impl Fn(usize) -> Option<Policy>,
        kinds: &ResourceKinds,
    ) -> Result<Tree, StateError> {
        let mut tree = Tree {
            kinds: kinds.len(),
            rows: Vec::new(),
            numbers: QueueRows::of_queues(queues, numbers)?,
            names: BTreeMap::new(),
            gone: BTreeMap::new(),
            has_maximums: false,
        };
        for (index, state) in queues.iter().enumerate() {
            let at = |field: &str| format!("queues[{index}].{field}");
            let policy = policy_of(state.order);
            let policy =
                policy.ok_or_else(|| StateError::new(at("order"), "there is no such order"))?;
            let min = amounts_of(state.min.as_ref(), kinds, || at("min"))?;
            let max = amounts_of(state.max.as_ref(), kinds, || at("max"))?;
            let gone = amounts_of(state.removed.as_ref(), kinds, || at("removed"))?;
            ensure!((1..=MAX_WEIGHT).contains(&state.weight), at("weight"), "out of range");
            let parent = tree.parent_in_state(index, state)?;
            let name = state.name.clone();
            let spec = QueueSpec { name, weight: state.weight, min, max, policy };
            let id = QueueRow(index as u32);
            let mut row = Row::new(parent, &spec, tree.kinds);
            (row.draining, row.removed) = (state.draining, gone.is_some());
            row.rest.share = gone.unwrap_or(row.rest.share);
            tree.has_maximums |= max.is_some();
            tree.rows.push(row);
            let Some(parent) = parent.filter(|_| gone.is_none()) else { continue };
            tree.rows[parent.index()].children.push(id);
            let taken = tree.names.insert(state.name.clone(), id).is_some();
            ensure!(!taken, at("name"), "two queues are called `{}`", state.name);
        }
        // Earlier versions gave a queue that came back another row: the last one counts.
        let removed = tree.rows.iter().zip(0..).filter(|(row, _)| row.removed);
        let removed = removed.filter(|(row, _)| !tree.names.contains_key(row.name()));
        tree.gone = removed.map(|(row, id)| (row.name().to_owned(), QueueRow(id))).collect();
        Ok(tree)
    }

    /// The parent of the queue that comes next, by name and number.
    fn parent_in_state(
        &self,
        index: usize,
        state: &QueueState,
    ) -> Result<Option<QueueRow>, StateError> {
        let at = |field: &str| format!("queues[{index}].{field}");
        let Some(parent) = state.parent else {
            ensure!(index == 0, at("parent"), "only the first queue is the root");
            ensure!(state.removed.is_none() && !state.draining, at("removed"), "it is the root");
            return Ok(None);
        };
        let Some(above) = self.rows.get(parent as usize) else {
            return Err(StateError::new(at("parent"), "parents come before their children"));
        };
        let alive = !above.removed || state.removed.is_some();
        ensure!(alive, at("parent"), "its parent is gone");
        let (prefix, last) = state.name.rsplit_once('.').unwrap_or(("", &state.name));
        let whose = if parent == 0 { "" } else { above.name() };
        let named = prefix == whose && !last.is_empty();
        ensure!(named, at("name"), "`{}` is no child of `{whose}`", state.name);
        Ok(Some(QueueRow(parent)))
    }
}

/// Amounts of a state, one for each kind.
pub(super) fn amounts_of(
    given: Option<&Vec<u64>>,
    kinds: &ResourceKinds,
    place: impl Fn() -> String,
) -> Result<Option<Resources>, StateError> {
    let Some(given) = given else { return Ok(None) };
    ensure!(given.len() == kinds.len(), place(), "{} amounts, {} kinds", given.len(), kinds.len());
    ensure!(given.iter().all(|&amount| amount <= MAX_AMOUNT), place(), "more than {MAX_AMOUNT}");
    Ok(Some(Resources::new(given)))
}
