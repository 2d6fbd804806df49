//! Nodes, label rules and shapes as plain data, and back. What is free follows from what runs; the
//! placement is told of it, and keeps only what its next draws depend on.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::Room;
use super::joint::joint_key;
use super::shapes::{Parts, ShapeId, ShapeKey, Shapes};
use crate::engine::tree::amounts_of;
use crate::engine::work::Running;
use crate::gang::Turn;
use crate::ids::{JobId, NodeRow};
use crate::place::Placement;
use crate::resources::{ResourceKinds, Resources};
use crate::rows::RowsState;
use crate::spec::NodeSpec;
use crate::state::{NodeState, Place, ShapeState, State, StateError, TurnState, ensure};
use crate::time::Span;

/// What of a state is the room's.
pub(in crate::engine) struct RoomState {
    pub(in crate::engine) nodes: Vec<NodeState>,
    pub(in crate::engine) rows: RowsState,
    pub(in crate::engine) first_node: Option<Vec<u64>>,
    pub(in crate::engine) capacities: Vec<Vec<u64>>,
    pub(in crate::engine) rules: Vec<crate::Constraints>,
    pub(in crate::engine) gang_labels: Vec<String>,
    pub(in crate::engine) shapes: Vec<Option<ShapeState>>,
    pub(in crate::engine) free_shapes: Vec<u32>,
    pub(in crate::engine) fresh: Vec<u32>,
    pub(in crate::engine) placement: u64,
}

impl Room {
    pub(in crate::engine) fn state(&self) -> RoomState {
        let nodes = self.cluster.nodes.iter().enumerate();
        let node = |(index, node): (usize, &crate::cluster::Node)| NodeState {
            name: node.spec.name.clone(),
            number: self.cluster.rows().number_state(NodeRow(index as u32)),
            capacity: node.spec.capacity.as_slice().to_vec(),
            weight: node.spec.weight,
            labels: node.spec.labels.clone(),
            up: node.up,
            cordoned: self.cluster.is_cordoned(NodeRow(index as u32)),
            others: Some(self.cluster.others(NodeRow(index as u32)))
                .filter(|others| !others.is_zero())
                .map_or(Vec::new(), |others| others.as_slice().to_vec()),
        };
        let follows = self.cluster.nodes.first().is_none_or(|it| it.spec.capacity == self.first);
        let first = (!follows).then_some(self.first);
        let (shapes, free_shapes) = self.shapes.slots();
        let number = |&(part, tasks): &(ShapeId, u32)| (part.number(), tasks);
        let shape = |shape: &super::shapes::Shape, blocked: bool| ShapeState {
            demand: shape.demand.as_slice().to_vec(),
            rules: shape.key.rules,
            distinct: shape.key.distinct.map(|job| job.slot() as u32),
            limit: shape.key.limit,
            turn: shape.key.turn.map(|turn| TurnState {
                tasks: turn.tasks.get(),
                same: turn.same,
                tried: shape.tried == self.grown,
                parts: shape.parts.iter().flat_map(|parts| &**parts).map(number).collect(),
            }),
            blocked,
        };
        let shapes = shapes.into_iter().enumerate().map(|(number, living)| {
            let id = self.shapes.id(number as u32)?;
            living.map(|living| shape(living, self.shapes.is_blocked(id)))
        });
        RoomState {
            nodes: nodes.map(node).collect(),
            first_node: first.map(|first| first.as_slice().to_vec()),
            rows: self.cluster.rows().state(),
            capacities: self.cluster.classes().map(|class| class.as_slice().to_vec()).collect(),
            rules: self.rules.all().cloned().collect(),
            gang_labels: self.rules.together().to_vec(),
            shapes: shapes.collect(),
            free_shapes,
            fresh: self.fresh.iter().map(|node| node.0).collect(),
            placement: self.place.random_state(),
        }
    }

    /// Nodes, rules and shapes. Groups, tasks and [`Room::restored`] come next; `job_in` tells the
    /// handle of the job that lives in a slot.
    pub(in crate::engine) fn from_state(
        state: &State,
        kinds: &ResourceKinds,
        mut place: Box<dyn Placement>,
        job_in: impl Fn(u32) -> Option<JobId>,
    ) -> Result<Room, StateError> {
        place.set_random_state(state.placement);
        let mut room = Room::new(kinds.len(), place);
        room.waits_for_nodes = state.infeasible_waits;
        let first = amounts_of(state.first_node.as_ref(), kinds, || "first_node".to_owned())?;
        if let Some(first) = first.filter(|first| !first.is_zero() && !state.nodes.is_empty()) {
            room.first = first;
            room.place.set_free(NodeRow(0), &first);
        }
        for (index, node) in state.nodes.iter().enumerate() {
            let at = || format!("nodes[{index}].capacity");
            let capacity = amounts_of(Some(&node.capacity), kinds, at)?.unwrap_or_default();
            let (name, labels) = (node.name.clone(), node.labels.clone());
            let spec = NodeSpec { name, capacity, weight: node.weight, labels };
            let id = room.join(spec, kinds)?;
            if node.up && node.cordoned {
                room.cluster.set_cordoned(id, true);
            }
            let others = || format!("nodes[{index}].others");
            if node.up && !node.others.is_empty() {
                let others = amounts_of(Some(&node.others), kinds, others)?.unwrap_or_default();
                room.cluster.set_others(id, others);
            }
            if !node.up {
                room.cluster.leave(id);
                room.place.set_free(id, &room.cluster.free(id));
                room.place.leave(id);
            }
        }
        room.place.set_pool(&room.cluster.total);
        let rows = RowsState {
            next: state.nodes_joined,
            gone: state.nodes_gone.clone(),
            remembered: state.remembered_nodes,
        };
        room.cluster.restore_rows(&state.nodes, &rows)?;
        let mut classes = BTreeSet::new();
        for (index, capacity) in state.capacities.iter().enumerate() {
            let at = || format!("capacities[{index}]");
            classes.extend(amounts_of(Some(capacity), kinds, at)?);
        }
        room.cluster.set_classes(classes);
        for row in (0..room.nodes() as u32).map(NodeRow) {
            room.cluster.add_class(room.spec(row).capacity);
        }
        for (index, rules) in state.rules.iter().enumerate() {
            let number = room.rules.intern(rules, &room.cluster);
            let new = number == Some(index as u32);
            ensure!(new, format!("rules[{index}]"), "it names no labels, or stands there twice");
        }
        for (index, label) in state.gang_labels.iter().enumerate() {
            let new = room.rules.number_label(label) as usize == index + 1;
            ensure!(new, format!("gang_labels[{index}]"), "it stands there twice");
        }
        room.shapes = room.shapes_of(state, kinds, job_in)?;
        let mut fresh: Vec<NodeRow> = Vec::new();
        for &node in &state.fresh {
            let new = room.node(NodeRow(node)).is_some() && !fresh.contains(&NodeRow(node));
            ensure!(new, "fresh", "node {node} is not there, or stands there twice");
            fresh.push(NodeRow(node));
            ensure!(fresh.len() <= 64, "fresh", "more nodes than are looked at one by one");
        }
        room.fresh = fresh;
        Ok(room)
    }

    fn shapes_of(
        &self,
        state: &State,
        kinds: &ResourceKinds,
        job_in: impl Fn(u32) -> Option<JobId>,
    ) -> Result<Shapes, StateError> {
        let mut keys: Vec<Option<(ShapeKey, Parts)>> = Vec::new();
        for (number, shape) in state.shapes.iter().enumerate() {
            let at = |field: &str| format!("shapes[{number}].{field}");
            let Some(shape) = shape else {
                keys.push(None);
                continue;
            };
            let demand = amounts_of(Some(&shape.demand), kinds, || at("demand"))?;
            let parts = shape.turn.as_ref().map_or(&[][..], |turn| &turn.parts);
            // Of a gang of several groups it is what all ask for: of a kind perhaps, none.
            let demand = demand.filter(|demand| !demand.is_zero() || !parts.is_empty());
            let demand = demand.ok_or_else(|| StateError::new(at("demand"), "of nothing"))?;
            let rules = shape.rules;
            let known = rules.is_none_or(|rules| (rules as usize) < state.rules.len());
            ensure!(known, at("rules"), "there are no such rules");
            let distinct = match shape.distinct {
                None => None,
                Some(slot) => Some(job_in(slot).ok_or_else(|| {
                    StateError::new(at("distinct"), format!("no job lives in slot {slot}"))
                })?),
            };
            let limit = shape.limit;
            ensure!(limit != Some(Span::ZERO), at("limit"), "no time at all");
            let labels = state.gang_labels.len();
            let turn = match &shape.turn {
                None => None,
                &Some(TurnState { tasks, same, .. }) => {
                    ensure!(same as usize <= labels, at("turn.same"), "there is no such label");
                    let tasks = NonZeroU32::new(tasks).filter(|tasks| tasks.get() > 1);
                    let one = || StateError::new(at("turn.tasks"), "a turn of several has two");
                    Some(Turn { tasks: tasks.ok_or_else(one)?, same, joint: !parts.is_empty() })
                }
            };
            let mut all = Parts::new();
            for &(part, tasks) in parts {
                let known = Room::shapes_with(state, part);
                let single = known.filter(|shape| shape.turn.is_none() && tasks > 0);
                ensure!(single.is_some(), at("turn.parts"), "{part} is no shape of single tasks");
                all.push((ShapeId::numbered(part), tasks));
            }
            ensure!(all.len() != 1, at("turn.parts"), "one is not several");
            keys.push(Some((ShapeKey { demand, rules, distinct, limit, turn }, all)));
        }
        let mut free = vec![false; keys.len()];
        for &number in &state.free_shapes {
            let row = free.get_mut(number as usize).filter(|free| !**free);
            let row = row.ok_or_else(|| {
                StateError::new("free_shapes", format!("{number} is not there, or twice"))
            })?;
            *row = true;
        }
        let wrong = (0..keys.len()).find(|&number| free[number] == keys[number].is_some());
        let wrong_number = wrong.unwrap_or_default();
        ensure!(
            wrong.is_none(),
            "free_shapes",
            "shape {wrong_number} is both free and used, or neither"
        );
        for (number, row) in keys.iter().enumerate() {
            let Some((key, parts)) = row.as_ref().filter(|(_, parts)| !parts.is_empty()) else {
                continue;
            };
            let part = |&(part, tasks): &(ShapeId, u32)| {
                keys.get(part.number() as usize)?.as_ref().map(|(key, _)| (*key, tasks))
            };
            let right = joint_key(parts.iter().filter_map(part), key.same()) == Some(*key);
            ensure!(right, format!("shapes[{number}]"), "not what its parts ask for");
        }
        Shapes::of_slots(&keys, &state.free_shapes)
            .ok_or_else(|| StateError::new("shapes", "two of them are the same"))
    }

    fn shapes_with(state: &State, number: u32) -> Option<&ShapeState> {
        state.shapes.get(number as usize)?.as_ref()
    }

    /// The shape of that number, for what a gang's group of `job` waits for.
    pub(in crate::engine) fn restore_turn(
        &mut self,
        number: u32,
        job: JobId,
        place: Place<'_>,
    ) -> Result<ShapeId, StateError> {
        let joint = self.shapes.id(number).is_some_and(|id| self.shapes[id].parts.is_some());
        match joint {
            false => self.restore_group(number, job, place),
            true => {
                let none = || StateError::new(format!("{place}.shape"), "there is none");
                self.shapes.hold_number(number).ok_or_else(none)
            }
        }
    }

    /// The shape of that number, for a group of `job`.
    pub(in crate::engine) fn restore_group(
        &mut self,
        number: u32,
        job: JobId,
        place: Place<'_>,
    ) -> Result<ShapeId, StateError> {
        let at = || format!("{place}.shape");
        let shape = self.shapes.id(number).map(|id| &self.shapes[id]);
        let there = shape.is_some_and(|shape| !shape.demand.is_zero() && shape.parts.is_none());
        ensure!(there, at(), "there is no shape {number}");
        let own = shape.and_then(|shape| shape.key.distinct).is_none_or(|of| of == job);
        ensure!(own, at(), "shape {number} is another job's");
        self.shapes.hold_number(number).ok_or_else(|| StateError::new(at(), "there is none"))
    }

    /// A task runs: it holds its room.
    pub(in crate::engine) fn restore_running(
        &mut self,
        task: &Running,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let at = || format!("{place}.node");
        let node = task.node;
        let up = self.node(node).is_some_and(|node| node.up);
        ensure!(up, at(), "there is no such node, or it has left");
        // Tasks that were adopted may run where there is no room, or their constraints forbid it.
        self.hold_anyway(task.shape, task.job, node);
        Ok(())
    }

    /// All groups and tasks have been told: what is free, what is possible, what is blocked.
    pub(in crate::engine) fn restored(&mut self, state: &State) -> Result<(), StateError> {
        for node in (0..self.cluster.nodes.len() as u32).map(NodeRow) {
            let free: Resources = self.cluster.free(node);
            if self.cluster.nodes[node.index()].up && free != self.spec(node).capacity {
                self.tell_free(node);
            }
        }
        for (number, shape) in state.shapes.iter().enumerate() {
            let (Some(shape), Some(id)) = (shape, self.shapes.id(number as u32)) else { continue };
            let at = |field: &str| format!("shapes[{number}].{field}");
            ensure!(self.shapes.is_held(id), format!("shapes[{number}]"), "no group has it");
            let waited_for = self.shapes.is_waited_for(id);
            ensure!(waited_for || !shape.blocked, at("blocked"), "no task of it waits");
            if shape.blocked {
                self.shapes.block(id);
            }
            if shape.turn.as_ref().is_some_and(|turn| turn.tried) {
                self.shapes.set_tried(id, self.grown);
            }
        }
        let (rules, cluster) = (&self.rules, &self.cluster);
        self.shapes.refresh_possible(|key| rules.could_hold(key, cluster));
        Ok(())
    }
}
