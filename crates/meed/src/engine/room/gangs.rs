//! Room for gangs: how many tasks fit at once, and on which nodes.
//!
//! > fit(node) = min over kinds of floor(may be taken(node) / demand), 1 at most with
//! > `distinct_nodes`
//!
//! A gang of k tasks fits where the sum over nodes is at least k; with `same`, the sum over the
//! nodes with one value of that label: of the values with enough room the one with the least, of
//! like ones the first by name. Which of those nodes its tasks get is the placement's choice, task
//! by task: all of them fit whatever it picks, for all ask for the same.
//!
//! A blocked gang is looked at again when some node has got room since and holds one task more
//! ([`Room::may_turn`]). Cost: O(nodes) for each look.

use std::collections::BTreeMap;

use super::Room;
use super::pack::Nodes;
use super::rules::RulesId;
use super::shapes::{Shape, ShapeId, ShapeKey};
use crate::cluster::in_words;
use crate::constraints::Constraints;
use crate::error::Rejected;
use crate::gang::{Gang, Turn};
use crate::ids::NodeRow;
use crate::resources::{ResourceKinds, Resources};
use crate::spec::{NodeSpec, TaskGroup};

/// Where all tasks of a gang can start now.
pub(in crate::engine) enum GangPlace {
    /// So many tasks of one group: what each asks for, and where it may be.
    Alike(u32, ShapeKey),
    /// Nodes for each of the groups that start.
    Parts(Vec<Nodes>),
}

impl Room {
    /// So many tasks of this shape start together: 1 where it is no gang's.
    #[inline]
    pub(in crate::engine) fn turn_of(&self, shape: ShapeId) -> u32 {
        self.shapes[shape].key.turn.map_or(1, |turn| turn.tasks.get())
    }

    /// Whether room has come since a gang was last found to fit nowhere.
    #[inline]
    pub(super) fn may_turn(&self, shape: &Shape) -> bool {
        shape.key.turn.is_none() || shape.tried < self.grown
    }

    /// Where a gang of this shape can start now; where it cannot the shape is blocked.
    pub(in crate::engine) fn find_gang_or_block(&mut self, shape: ShapeId) -> Option<GangPlace> {
        let found = self.find_gang(shape);
        if found.is_none() {
            self.shapes.block(shape);
        }
        found
    }

    pub(super) fn find_gang(&mut self, shape: ShapeId) -> Option<GangPlace> {
        let row = &self.shapes[shape];
        let (key, turn) = (row.key, row.key.turn?);
        if self.shapes.is_blocked(shape) && !self.may_turn(row) {
            return None;
        }
        if turn.joint {
            let found = self.find_parts(shape);
            if found.is_none() {
                self.shapes.set_tried(shape, self.grown);
            }
            return found.map(GangPlace::Parts);
        }
        let rules = match turn.same {
            0 => {
                let fit = self.fit_now(&key).map(|(_, fit)| fit);
                let enough = fit.sum::<u64>() >= u64::from(turn.tasks.get());
                enough.then_some(key.rules)
            }
            label => self.tightest(&key, label, turn.tasks.get()).map(Some),
        };
        let Some(rules) = rules else {
            self.shapes.set_tried(shape, self.grown);
            return None;
        };
        Some(GangPlace::Alike(turn.tasks.get(), ShapeKey { rules, turn: None, ..key }))
    }

    /// The most tasks of a gang's shape that fit now where it may be; of one of several groups the
    /// most of all of them, each by itself.
    pub(in crate::engine) fn fit_at_once(&self, shape: ShapeId) -> u64 {
        if self.is_joint(shape) {
            let all = u64::from(self.turn_of(shape));
            return match self.find_parts(shape) {
                Some(_) => all,
                // Each group by itself may fit, and not all of them.
                None => self.parts_fit(shape).into_iter().sum::<u64>().min(all - 1),
            };
        }
        let key = &self.shapes[shape].key;
        match key.same() {
            0 => self.fit_now(key).map(|(_, fit)| fit).sum(),
            label => self.by_value(label, self.fit_now(key)).into_values().max().unwrap_or(0),
        }
    }

    /// Whether the next turn of a shape, one task or a gang, could start if nothing of ours ran.
    pub(in crate::engine) fn could_turn(&self, shape: ShapeId) -> bool {
        if self.is_joint(shape) {
            return self.parts_could_fit(shape);
        }
        let tasks = u64::from(self.turn_of(shape));
        let rows = (0..self.cluster.nodes.len() as u32).map(NodeRow);
        let mut copies = rows.map(|node| (node, self.copies_on(shape, node)));
        match self.shapes[shape].key.same() {
            0 => {
                let mut lacking = tasks;
                copies.any(|(_, here)| {
                    lacking = lacking.saturating_sub(here);
                    lacking == 0
                })
            }
            label => self.by_value(label, copies).into_values().any(|there| there >= tasks),
        }
    }

    /// Nodes on which tasks of this key can start now, with how many.
    fn fit_now(&self, key: &ShapeKey) -> impl Iterator<Item = (NodeRow, u64)> {
        let rows = (0..self.cluster.nodes.len() as u32).map(NodeRow);
        rows.filter_map(move |node| {
            if !self.cluster.has_room(node, &key.demand) || !self.allowed(key).contains(node) {
                return None;
            }
            let fit = key.demand.copies_in(&self.takable(key, node));
            let fit = if key.distinct.is_some() { fit.min(1) } else { fit };
            (fit > 0).then_some((node, fit))
        })
    }

    /// What tasks of this key may take of `node` now.
    pub(super) fn takable(&self, key: &ShapeKey, node: NodeRow) -> Resources {
        let mut room = self.cluster.free(node);
        if let Some(openings) = self.openings.get(node) {
            let nothing = Resources::zero(room.kinds());
            room.lower(self.opening_for(key, openings).unwrap_or(&nothing));
        }
        room
    }

    /// The value of the label that keeps a gang of this shape together, on `node`; `Some(None)`:
    /// none has to.
    pub(in crate::engine) fn value_of(
        &self,
        shape: ShapeId,
        node: NodeRow,
    ) -> Option<Option<&str>> {
        match self.shapes[shape].key.same() {
            0 => Some(None),
            label => self.labelled(node, label).map(Some),
        }
    }

    /// The value that a node has of a label, by its number.
    fn labelled(&self, node: NodeRow, label: u32) -> Option<&str> {
        self.spec(node).labels.get(self.rules.label(label)).map(String::as_str)
    }

    /// Sums by the value that nodes have of a label; those that have none are left out.
    fn by_value(
        &self,
        label: u32,
        nodes: impl Iterator<Item = (NodeRow, u64)>,
    ) -> BTreeMap<&str, u64> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for (node, fit) in nodes {
            if let Some(value) = self.labelled(node, label) {
                let sum = sums.entry(value).or_default();
                *sum = sum.saturating_add(fit);
            }
        }
        sums
    }

    /// The rules that keep a gang on the nodes with one value of `label`: of the values with room
    /// for `tasks` the one with the least.
    fn tightest(&mut self, key: &ShapeKey, label: u32, tasks: u32) -> Option<RulesId> {
        let sums = self.by_value(label, self.fit_now(key)).into_iter();
        let enough = sums.filter(|(_, sum)| *sum >= u64::from(tasks));
        let value = enough.min_by_key(|(_, sum)| *sum)?.0.to_owned();
        self.rules.narrowed(key.rules, label, value, &self.cluster)
    }

    /// A node where a task of the gang fits; nothing is drawn for that.
    pub(super) fn any_node_in(&self, place: &GangPlace) -> Option<NodeRow> {
        match place {
            GangPlace::Alike(_, key) => self.fit_now(key).map(|(node, _)| node).next(),
            GangPlace::Parts(nodes) => nodes.first()?.first().map(|(node, _)| *node),
        }
    }

    /// A node for the next task of a gang that has a place.
    pub(in crate::engine) fn node_in(&mut self, key: &ShapeKey) -> NodeRow {
        let allowed = self.rules.allowed(key, &self.taken);
        let found = self.place.find(&key.demand, allowed);
        let found = found.or_else(|| {
            let mut held = self.openings.rows();
            held.find(|&node| self.fits_key(key, node))
        });
        found.expect("as many tasks fit as were counted")
    }

    /// The rules of tasks that are to be where one of their gang is, on `node`.
    pub(in crate::engine) fn rules_at(
        &mut self,
        shape: ShapeId,
        label: u32,
        node: NodeRow,
    ) -> Option<RulesId> {
        let value = self.labelled(node, label)?.to_owned();
        let rules = self.shapes[shape].key.rules;
        self.rules.narrowed(rules, label, value, &self.cluster)
    }

    /// The number of a label that keeps gangs together; 0 for none.
    pub(in crate::engine) fn label_of(&mut self, gang: &Gang) -> u32 {
        gang.same.as_deref().map_or(0, |label| self.rules.number_label(label))
    }

    /// The shape under which tasks of `shape` wait: for a turn, or single ones by other rules.
    /// Held once more.
    pub(in crate::engine) fn hold_turn(
        &mut self,
        shape: ShapeId,
        turn: Option<Turn>,
        within: Option<RulesId>,
    ) -> ShapeId {
        let key = self.shapes[shape].key;
        let key = ShapeKey { rules: within.or(key.rules), turn, ..key };
        self.shapes.hold(&key, self.shapes[shape].possible)
    }

    /// Whether `waits` is what [`Room::hold_turn`] would hold.
    pub(in crate::engine) fn is_turn(
        &self,
        waits: ShapeId,
        shape: ShapeId,
        turn: Option<Turn>,
        within: Option<RulesId>,
    ) -> bool {
        let (waits, shape) = (&self.shapes[waits].key, &self.shapes[shape].key);
        waits.turn == turn && waits.rules == within.or(shape.rules)
    }

    /// How many labels keep gangs together.
    pub(in crate::engine) fn gang_labels(&self) -> usize {
        self.rules.together().len()
    }

    /// Whether there are rules of that number.
    pub(in crate::engine) fn knows_rules(&self, rules: RulesId) -> bool {
        self.rules.all().count() > rules as usize
    }

    /// Refuses a label that no node has, of those that are remembered.
    pub(super) fn check_label(&self, same: Option<&String>) -> Result<(), Rejected> {
        let has = |label: &&String| {
            self.cluster.nodes.iter().any(|node| node.spec.labels.contains_key(*label))
        };
        match same.filter(|label| !has(label)) {
            Some(label) => Err(Rejected::UnknownLabel { label: label.clone() }),
            None => Ok(()),
        }
    }

    /// All nodes that are remembered, each with its value of the label that is to keep a gang
    /// together: without those that have none, if there is such a label.
    pub(super) fn nodes_by<'a>(
        &'a self,
        same: Option<&'a String>,
    ) -> impl Iterator<Item = (&'a NodeSpec, Option<&'a str>)> {
        self.cluster.nodes.iter().filter_map(move |node| {
            let value = match same {
                None => None,
                Some(label) => Some(node.spec.labels.get(label)?.as_str()),
            };
            Some((&node.spec, value))
        })
    }

    /// Whether the cluster, as far as it is remembered, could hold the gang of `group` when empty.
    pub(super) fn check_gang(
        &self,
        group: &TaskGroup,
        kinds: &ResourceKinds,
    ) -> Result<(), Rejected> {
        let Some(gang) = group.gang.as_deref().filter(|gang| !gang.joint) else { return Ok(()) };
        let constraints = group.constraints.as_deref();
        self.check_label(gang.same.as_ref())?;
        let mut most = 0;
        let mut sums: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        for (node, value) in self.nodes_by(gang.same.as_ref()) {
            if constraints.is_some_and(|rules| !rules.allow(&node.labels)) {
                continue;
            }
            let fit = group.demand.copies_in(&node.capacity);
            let distinct = constraints.is_some_and(|rules| rules.distinct_nodes);
            let sum = sums.entry(value).or_default();
            *sum = sum.saturating_add(if distinct { fit.min(1) } else { fit });
            most = most.max(*sum);
        }
        if most >= u64::from(gang.least) {
            return Ok(());
        }
        let each = format!("{} each{}", in_words(&group.demand, kinds), within(group));
        Err(Rejected::GangTooWide { least: gang.least, each, most })
    }
}

/// What narrows down where a gang may be, in words that follow a comma; nothing for nothing.
pub(super) fn within(group: &TaskGroup) -> String {
    let constraints = group.constraints.as_deref();
    let label = group.gang.as_ref().and_then(|gang| gang.same.as_ref());
    let words = [
        constraints.filter(|rules| rules.names_labels()).map(Constraints::to_string),
        constraints
            .filter(|rules| rules.distinct_nodes)
            .map(|_| "each on a node of its own".to_owned()),
        label.map(|label| format!("all on nodes with the same `{label}`")),
    ];
    words.into_iter().flatten().map(|words| format!(", {words}")).collect()
}
