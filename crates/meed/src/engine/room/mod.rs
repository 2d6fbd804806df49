//! What fits where: the nodes and what is free on them, the placement that picks among them, the
//! label rules of tasks, and the shapes of tasks that are known to fit nowhere now.
//!
//! It knows demands and jobs' nodes of their own, but neither queues nor order: who comes first is
//! not asked here. Room that came free since the last decisions is looked at in `fresh`.
//!
//! Invariant: the placement and the shapes hear of every change of what is free on a node.

mod asks;
mod demand_list;
mod fresh;
pub(super) mod gangs;
pub(super) mod joint;
mod lasting;
pub(super) mod openings;
mod pack;
pub(super) mod rules;
pub(super) mod shapes;
pub(super) mod state;

pub(super) use lasting::Offers;
pub(super) use openings::Openings;
pub(super) use pack::{Ask, Bin, Counts, Nodes, are_few, most_room_first, pack};
pub(super) use shapes::ShapeId;

use std::collections::BTreeMap;

use super::row_map::RowMap;
use crate::cluster::{Cluster, Node};
use crate::constraints::Labels;
use crate::error::{ConfigError, Rejected};
use crate::ids::{JobId, NodeId, NodeRow};
use crate::node_rows::Moves;
use crate::order::Alone;
use crate::place::{Allowed, Placement, Seeker, TakenNodes};
use crate::resources::{MAX_KINDS, ResourceKinds, Resources};
use crate::spec::{NodeSpec, TaskGroup};
use crate::time::{Span, Time};
use rules::{Rules, check_possible};
use shapes::{Shape, ShapeKey, Shapes};

/// See the module.
pub(super) struct Room {
    cluster: Cluster,
    place: Box<dyn Placement>,
    shapes: Shapes,
    rules: Rules,
    /// Nodes that tasks hold which want a node of their own, by the slot of their job.
    taken: Vec<TakenNodes>,
    /// Nodes that have got room since the last decisions; see `fresh`.
    fresh: Vec<NodeRow>,
    /// How many tasks more than one run on a node that wants to be theirs alone, by the slot of
    /// their job: adopted ones may.
    crowded: BTreeMap<(usize, NodeRow), u32>,
    /// Whether what fits no node yet waits for one.
    waits_for_nodes: bool,
    /// What the first node of all held when it joined: placements fit their quick looks to it.
    first: Resources,
    /// Nodes on which room is held for somebody, and what may be taken of them all the same.
    openings: RowMap<Openings>,
    /// Whether tasks that may run for unlike times are unlike: where room is held, they are.
    tells_limits: bool,
    /// The present, where room is held.
    now: Time,
    /// How often a node has got room, from 1.
    grown: u64,
}

impl Room {
    /// Without nodes.
    pub(super) fn new(kinds: usize, place: Box<dyn Placement>) -> Room {
        Room {
            cluster: Cluster::new(kinds),
            place,
            shapes: Shapes::default(),
            rules: Rules::default(),
            taken: Vec::new(),
            fresh: Vec::new(),
            crowded: BTreeMap::new(),
            waits_for_nodes: false,
            first: Resources::zero(kinds),
            openings: RowMap::default(),
            tells_limits: false,
            now: Time::ZERO,
            grown: 1,
        }
    }

    /// From the start on, tasks are told apart by how long they may run.
    pub(super) fn tell_limits(&mut self) {
        self.tells_limits = true;
        self.shapes.tell_limits();
    }

    /// A node, with what it is and whether it is up.
    pub(super) fn node(&self, node: NodeRow) -> Option<&Node> {
        self.cluster.nodes.get(node.index())
    }

    /// A node that the engine knows.
    pub(super) fn spec(&self, node: NodeRow) -> &NodeSpec {
        &self.cluster.nodes[node.index()].spec
    }

    /// The same by its handle; a nameless one where it is forgotten.
    pub(super) fn spec_of(&self, id: NodeId) -> &NodeSpec {
        self.cluster.spec_of(id)
    }

    /// The row of a node that is remembered.
    #[inline]
    pub(super) fn row(&self, id: NodeId) -> Option<NodeRow> {
        self.cluster.rows().row(id)
    }

    /// The node of that name that is up.
    pub(super) fn find_node(&self, name: &str) -> Option<NodeId> {
        self.cluster.find(name)
    }

    /// Whose row it is.
    #[inline]
    pub(super) fn id(&self, row: NodeRow) -> NodeId {
        self.cluster.rows().id(row)
    }

    /// Nodes that are remembered, in order of joining.
    pub(super) fn node_ids(&self) -> Vec<NodeId> {
        self.cluster.rows().ids()
    }

    /// Nodes that are remembered: those that are up, and the last that left.
    pub(super) fn nodes(&self) -> usize {
        self.cluster.nodes.len()
    }

    pub(super) fn set_remembered(&mut self, least: u32) {
        self.cluster.rows_mut().set_remembered(least);
    }

    /// Another placement in its place, to take this one elsewhere.
    pub(super) fn replace_placement(&mut self, place: Box<dyn Placement>) -> Box<dyn Placement> {
        std::mem::replace(&mut self.place, place)
    }

    /// Forgets nodes that left long ago, where there are too many; how all rows have moved then.
    pub(super) fn forget_nodes(&mut self) -> Option<Moves> {
        let moves = self.cluster.rows_mut().forget_first()?;
        self.cluster.move_rows(&moves);
        let to = |row: &NodeRow| moves.to(*row);
        for taken in &mut self.taken {
            *taken = taken.iter().filter_map(to).collect();
        }
        let crowded = std::mem::take(&mut self.crowded);
        let moved = crowded.into_iter().filter_map(|((job, row), of)| Some(((job, to(&row)?), of)));
        self.crowded = moved.collect();
        self.fresh = self.fresh.iter().filter_map(to).collect();
        self.openings = std::mem::take(&mut self.openings).moved(|row| to(&row));
        self.rules.nodes_moved(&self.cluster);
        self.place.clear();
        // Told first, as at the start of all.
        self.place.set_free(NodeRow(0), &self.first);
        for row in (0..self.cluster.nodes.len() as u32).map(NodeRow) {
            self.tell_free(row);
            if !self.cluster.nodes[row.index()].up {
                self.place.leave(row);
            }
        }
        Some(moves)
    }

    /// Capacity of all nodes that are up.
    pub(super) fn total(&self) -> &Resources {
        &self.cluster.total
    }

    /// What a task could have for itself.
    pub(super) fn alone(&self) -> Alone {
        let up = self.cluster.nodes.iter().filter(|node| node.up);
        Alone::new(up.map(|node| &node.spec.capacity))
    }

    pub(super) fn free(&self, node: NodeRow) -> Resources {
        self.cluster.free(node)
    }

    /// See `ahead`.
    #[inline]
    pub(super) fn expect(&self, node: NodeRow) {
        self.cluster.expect(node);
        self.place.expect(node);
    }

    /// delta of Eq. 9, in thousandths.
    #[inline]
    pub(super) fn weight(&self, node: NodeRow) -> u32 {
        self.cluster.weight(node)
    }

    pub(super) fn join(
        &mut self,
        spec: NodeSpec,
        kinds: &ResourceKinds,
    ) -> Result<NodeRow, ConfigError> {
        self.cluster.check(&spec, kinds)?;
        let (capacity, labels) = (spec.capacity, spec.labels.clone());
        let node = self.cluster.join(spec);
        self.rules.node_joins(node, &labels);
        if self.first.is_zero() {
            self.first = capacity;
        }
        self.place.set_pool(&self.cluster.total);
        self.place.set_free(node, &capacity);
        Ok(node)
    }

    /// An empty node leaves; [`Room::capacity_changed`] comes next.
    pub(super) fn leave(&mut self, node: NodeRow) {
        self.cluster.leave(node);
        self.place.leave(node);
    }

    /// Whether all nodes together stay within bounds when `more` replaces `less`.
    pub(super) fn check_total(
        &self,
        more: &Resources,
        less: &Resources,
        kinds: &ResourceKinds,
    ) -> Result<(), ConfigError> {
        self.cluster.check_total(more, less, kinds)
    }

    /// Gives `node` another capacity, be it too small for what runs there;
    /// [`Room::capacity_changed`] comes next.
    pub(super) fn resize(&mut self, node: NodeRow, capacity: Resources) {
        self.cluster.resize(node, capacity);
    }

    /// What is free, what all nodes hold, and what is possible, after `node` changed.
    pub(super) fn capacity_changed(&mut self, node: NodeRow) {
        self.tell_free(node);
        self.place.set_pool(&self.cluster.total);
        let (rules, cluster) = (&self.rules, &self.cluster);
        self.shapes.refresh_possible(|key| rules.could_hold(key, cluster));
    }

    /// Whether a node that is remembered could hold a task of `group` when empty; why not.
    pub(super) fn check_possible(
        &self,
        group: &TaskGroup,
        kinds: &ResourceKinds,
    ) -> Result<(), Rejected> {
        if self.waits_for_nodes {
            return Ok(());
        }
        self.check_gang(group, kinds)?;
        // Most tasks are like others before them.
        if group.constraints.is_none() && self.shapes.known_possible(&group.demand) {
            return Ok(());
        }
        check_possible(group, &self.cluster, kinds)
    }

    /// The shape of tasks of `group` that are expected to run for `expected` at most, held until
    /// [`Room::release_shape`].
    pub(super) fn hold_shape(
        &mut self,
        group: &TaskGroup,
        job: JobId,
        expected: Option<Span>,
    ) -> ShapeId {
        if group.constraints.is_none()
            && group.gang.is_none()
            && !self.tells_limits
            && let Some(last) = self.shapes.hold_last_plain(&group.demand)
        {
            return last;
        }
        let mut key = self.rules.key(group, job, &self.cluster);
        key.limit = expected.filter(|_| self.tells_limits);
        let possible = !self.waits_for_nodes || self.rules.could_hold(&key, &self.cluster);
        self.shapes.hold(&key, possible)
    }

    pub(super) fn release_shape(&mut self, shape: ShapeId) {
        self.shapes.release(shape);
    }

    #[inline]
    pub(super) fn demand(&self, shape: ShapeId) -> &Resources {
        &self.shapes[shape].demand
    }

    /// The shape of this number, alive or not.
    pub(super) fn shape_numbered(&self, number: u32) -> Option<ShapeId> {
        self.shapes.id(number)
    }

    /// `tasks` more of this shape wait.
    pub(super) fn add_waiting(&mut self, shape: ShapeId, tasks: u64) {
        self.shapes.add_waiting(shape, tasks);
    }

    /// `tasks` of this shape wait no more, and do not run either.
    pub(super) fn sub_waiting(&mut self, shape: ShapeId, tasks: u64) {
        self.shapes.sub_waiting(shape, tasks);
    }

    /// A task starts: takes its room.
    #[inline]
    pub(super) fn start(&mut self, shape: ShapeId, job: JobId, node: NodeRow) {
        self.share_node(shape, job, node);
        let free = self.cluster.take(node, &self.shapes[shape].demand);
        self.told_free(node, &free);
    }

    /// A task holds its room on `node`, whether it is there or not.
    pub(super) fn hold_anyway(&mut self, shape: ShapeId, job: JobId, node: NodeRow) {
        self.share_node(shape, job, node);
        let free = self.cluster.take_anyway(node, &self.shapes[shape].demand);
        self.told_free(node, &free);
    }

    /// A task that wants a node of its own has `node`, be it not alone there.
    #[inline]
    fn share_node(&mut self, shape: ShapeId, job: JobId, node: NodeRow) {
        if self.shapes[shape].key.distinct.is_none() {
            return;
        }
        if job.slot() >= self.taken.len() {
            self.taken.resize(job.slot() + 1, TakenNodes::new());
        }
        if !self.taken[job.slot()].insert(node) {
            *self.crowded.entry((job.slot(), node)).or_default() += 1;
        }
    }

    /// A task runs no more: gives its room back. Who that helps is asked next.
    #[inline]
    pub(super) fn end(&mut self, shape: ShapeId, job: JobId, node: NodeRow) {
        let row = &self.shapes[shape];
        if row.key.distinct.is_some() {
            match self.crowded.get_mut(&(job.slot(), node)) {
                Some(1) => drop(self.crowded.remove(&(job.slot(), node))),
                Some(more) => *more -= 1,
                None => drop(self.taken[job.slot()].remove(&node)),
            }
        }
        let free = self.cluster.give_back(node, &row.demand);
        self.told_free(node, &free);
    }

    /// So much is free on `node` now.
    #[inline]
    fn told_free(&mut self, node: NodeRow, free: &Resources) {
        match self.openings.is_empty() {
            true => self.place.set_free(node, free),
            false => self.tell_free(node),
        }
    }

    /// What fits no node yet waits for one from now on, or is refused.
    pub(super) fn set_waits_for_nodes(&mut self, waits: bool) {
        self.waits_for_nodes = waits;
    }

    pub(super) fn waits_for_nodes(&self) -> bool {
        self.waits_for_nodes
    }

    /// Nothing new starts on `node`, or again; who is helped by that is asked next.
    pub(super) fn set_cordoned(&mut self, node: NodeRow, cordoned: bool) {
        self.cluster.set_cordoned(node, cordoned);
        self.tell_free(node);
    }

    pub(super) fn is_cordoned(&self, node: NodeRow) -> bool {
        self.cluster.is_cordoned(node)
    }

    pub(super) fn is_over_full(&self, node: NodeRow) -> bool {
        self.cluster.is_over_full(node)
    }

    /// Others use so much of `node`.
    pub(super) fn set_others(&mut self, node: NodeRow, others: Resources) {
        self.cluster.set_others(node, others);
        self.tell_free(node);
    }

    /// What tasks hold on `node`.
    pub(super) fn held(&self, node: NodeRow) -> Resources {
        self.cluster.held(node)
    }

    pub(super) fn others(&self, node: NodeRow) -> Resources {
        self.cluster.others(node)
    }

    /// `node` has these labels from now on.
    pub(super) fn relabel(&mut self, node: NodeRow, labels: Labels) {
        self.rules.node_joins(node, &labels);
        self.cluster.relabel(node, labels);
    }

    /// The nodes that tasks of a shape may run on.
    #[inline]
    fn allowed(&self, key: &ShapeKey) -> Allowed<'_> {
        self.rules.allowed(key, &self.taken)
    }

    /// Whether constraints let tasks of this shape run on `node`.
    #[inline]
    pub(super) fn allows(&self, shape: ShapeId, node: NodeRow) -> bool {
        self.allowed(&self.shapes[shape].key).contains(node)
    }

    /// Whether a task of this shape, which asks for `demand`, could start on `node` now.
    #[inline]
    pub(super) fn fits(&self, shape: ShapeId, demand: &Resources, node: NodeRow) -> bool {
        let row = &self.shapes[shape];
        self.cluster.has_room(node, demand) && self.lets_in(row, node)
    }

    /// The same of one task by its key.
    fn fits_key(&self, key: &ShapeKey, node: NodeRow) -> bool {
        self.cluster.has_room(node, &key.demand)
            && self.allowed(key).contains(node)
            && self.is_left_open(key, node)
    }

    /// Whether tasks of this shape want nodes without others of their job.
    #[inline]
    pub(super) fn wants_own_nodes(&self, shape: ShapeId) -> bool {
        self.shapes[shape].key.distinct.is_some()
    }

    /// The longest that tasks of this shape may run, where that is told apart.
    #[inline]
    pub(super) fn limit(&self, shape: ShapeId) -> Option<Span> {
        self.shapes[shape].key.limit
    }

    /// Whether some tasks had limits, ever.
    #[inline]
    pub(super) fn any_limited(&self) -> bool {
        self.shapes.any_limited()
    }

    /// What is free on `node`; below zero where more is used than it has.
    pub(super) fn balance(&self, node: NodeRow) -> [i128; MAX_KINDS] {
        self.cluster.balance(node)
    }

    /// Whether `node` could hold a task of this shape if nothing of ours ran there.
    pub(super) fn could_start(&self, shape: ShapeId, node: NodeRow) -> bool {
        let room = self.room_if_ours_left(node);
        room.is_some_and(|room| self.shapes[shape].demand.fits_in(&room))
            && self.allows(shape, node)
    }

    /// What `node` has for us, were nothing of ours there; `None`: nothing new may start on it.
    pub(super) fn room_if_ours_left(&self, node: NodeRow) -> Option<Resources> {
        self.cluster.for_ours(node)
    }

    /// How many tasks of this shape `node` could hold if nothing of ours ran there.
    pub(super) fn copies_on(&self, shape: ShapeId, node: NodeRow) -> u64 {
        let Shape { key, demand, .. } = &self.shapes[shape];
        let room = self.room_if_ours_left(node).filter(|_| self.allows(shape, node));
        let copies = room.map_or(0, |room| demand.copies_in(&room));
        if key.distinct.is_some() { copies.min(1) } else { copies }
    }

    /// Whether `easier` fits wherever `shape` does: it asks for no more of any kind, by the same
    /// rules. Of two shapes that ask for the same neither is.
    pub(super) fn is_easier(&self, easier: ShapeId, shape: ShapeId) -> bool {
        let (easier, shape) = (&self.shapes[easier].key, &self.shapes[shape].key);
        let shorter = match (easier.limit, shape.limit) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(easier), Some(shape)) => easier <= shape,
        };
        let is_joint = easier.turn.is_some_and(|turn| turn.joint);
        let together = !is_joint && easier.turn == shape.turn && easier.distinct == shape.distinct;
        let alike = easier.rules == shape.rules && together && shorter;
        alike && easier.demand != shape.demand && easier.demand.fits_in(&shape.demand)
    }

    /// A node for tasks of this shape, which is known to be open; for a gang's any of those where
    /// it may be.
    #[inline]
    fn find_open(&mut self, shape: ShapeId) -> Option<NodeRow> {
        if self.shapes[shape].key.turn.is_some() {
            return self.find_gang(shape).and_then(|place| self.any_node_in(&place));
        }
        let blocked = self.shapes.is_blocked(shape);
        let row = &self.shapes[shape];
        let allowed = self.rules.allowed(&row.key, &self.taken);
        let found = match blocked {
            true => self.place.find_among(&row.demand, allowed, &self.fresh),
            false => self.place.find(&row.demand, allowed),
        };
        match found {
            None if !self.openings.is_empty() => self.find_opening(shape, blocked),
            found => found,
        }
    }

    /// The same; where there is none the shape is blocked.
    #[inline]
    pub(super) fn find_open_or_block(&mut self, shape: ShapeId) -> Option<NodeRow> {
        let found = self.find_open(shape);
        if found.is_none() {
            self.shapes.block(shape);
        }
        found
    }

    /// The same of any shape: one that is not open is blocked already.
    #[inline]
    pub(super) fn find_or_block(&mut self, shape: ShapeId) -> Option<NodeRow> {
        if self.is_open(shape) { self.find_open_or_block(shape) } else { None }
    }

    /// The same, only to look: a placement that draws draws as it would have without.
    pub(super) fn look_or_block(&mut self, shape: ShapeId) -> Option<NodeRow> {
        let random = self.place.random_state();
        let found = self.find_or_block(shape);
        self.place.set_random_state(random);
        found
    }

    /// A task of this shape has started: marks the shape blocked where a quick look says that no
    /// second one fits. Seen now it spares a walk that would only end in not finding a node.
    #[inline]
    pub(super) fn block_if_full(&mut self, shape: ShapeId) {
        let full = !self.place.may_fit(&self.shapes[shape].demand);
        if full && (self.openings.is_empty() || self.find_opening(shape, false).is_none()) {
            self.shapes.block(shape);
        }
    }

    /// See [`Placement::least_missing`]: by what may be taken of nodes for ever.
    pub(super) fn least_missing(&self, demand: &Resources, seeker: &mut dyn Seeker) -> bool {
        self.place.least_missing(demand, seeker)
    }

    /// Whether the placement draws.
    pub(super) fn draws(&self) -> bool {
        self.place.draws()
    }

    /// Why the placement picks as it does.
    pub(super) fn why(&self) -> &'static str {
        self.place.why()
    }
}
