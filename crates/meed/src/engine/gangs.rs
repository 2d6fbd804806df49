//! Gangs: several tasks of a group start as one turn ([`crate::gang`]).
//!
//! A group waits under a shape that says how many of its tasks start together, and, once one of
//! them runs, near whom: `regroup` keeps that true at every start, end and loss. What runs, runs
//! under the shape of a single task.
//!
//! Invariant: a gang's turn is taken whole. All its tasks hold their room before anybody else is
//! asked; who calls is told them one after the other, and takes all before telling of events.
//! Cost: O(nodes) for a turn besides its starts, and for each look at one that fits nowhere.

use std::num::NonZeroU32;

use super::Engine;
use super::room::Room;
use crate::decision::{Reason, Start};
use crate::error::Rejected;
use crate::gang::{Gang, Turn};
use crate::spec::{NodeRow, TaskGroup};
use crate::state::{GangState, Place, State, StateError, ensure};

impl Engine {
    /// Starts the gang of the group, or marks its shape blocked when it fits nowhere; the first of
    /// its starts, the others are told next.
    pub(super) fn place_gang(&mut self, slot: u32, reason: Option<Reason>) -> Option<Start> {
        let place = self.room.find_gang_or_block(self.work.group(slot).turn())?;
        self.start_together(slot, place.tasks(), reason, |room| Some(room.node_in(&place)))
    }

    /// Starts so many tasks of the group, each on the node that is told for it.
    pub(super) fn start_together(
        &mut self,
        slot: u32,
        tasks: u32,
        reason: Option<Reason>,
        mut node: impl FnMut(&mut Room) -> Option<NodeRow>,
    ) -> Option<Start> {
        let reason = reason.map(|reason| Reason { gang: Some(tasks), ..reason });
        let mut nodes: Vec<NodeRow> = Vec::new();
        for _ in 0..tasks {
            let node = node(&mut self.room).expect("there is room for each");
            nodes.push(node);
            let start = self.start_alone(slot, None, node, reason.clone());
            self.untold.push_back(start);
            if self.holds.is_some() {
                // The next task takes from what this one has left of held nodes.
                self.replan_openings();
            }
        }
        self.regroup(slot);
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            self.touch_node(node, false);
            self.room.sift(node);
        }
        self.untold.pop_front()
    }

    /// A group is a gang's.
    pub(super) fn begin_gang(&mut self, slot: u32, gang: &Gang) {
        let (shape, same) = (self.work.group(slot).shape, self.room.label_of(gang));
        self.work.set_gang(slot, gang.least, same);
        let turn = self.room.hold_turn(shape, self.turn_now(slot), None);
        self.work.set_turn(slot, turn);
    }

    /// What the waiting tasks of a gang's group wait for, from now on.
    fn turn_now(&self, slot: u32) -> Option<Turn> {
        let group = self.work.group(slot);
        let gang = group.gang()?;
        let left = u64::from(gang.least.saturating_sub(gang.begun)).min(group.waiting());
        let tasks = NonZeroU32::new(left as u32).filter(|tasks| tasks.get() > 1)?;
        let same = if gang.within.is_some() { 0 } else { gang.same };
        Some(Turn { tasks, same })
    }

    /// Tasks of the group have started, ended or come back: brings up to date what the others wait
    /// for.
    pub(super) fn regroup(&mut self, slot: u32) {
        let group = self.work.group(slot);
        let Some(gang) = group.gang() else { return };
        let (shape, within, before) = (group.shape, gang.within, group.turn());
        let turn = self.turn_now(slot);
        if self.room.is_turn(before, shape, turn, within) {
            return;
        }
        self.drop_all_holds(slot);
        let (waiting, leaf) = (self.work.group(slot).waiting(), self.leaf_of(slot));
        self.unlist_group(leaf, slot);
        self.room.sub_waiting(before, waiting);
        let after = self.room.hold_turn(shape, turn, within);
        self.room.release_shape(before);
        self.work.set_turn(slot, after);
        self.room.add_waiting(after, waiting);
        let held = self.holds.as_mut().map(|holds| holds.forget_hopeless()).is_some();
        if waiting > 0 {
            self.list_group(leaf, slot);
            if held {
                // It had none of its own, if all of its job had reservations.
                self.update_arrivals(self.work.group(slot).job, true);
            }
            self.wake_leaf(leaf);
        }
    }

    /// A task of the group starts, or runs already, on `node`.
    pub(super) fn gang_begins(&mut self, slot: u32, node: NodeRow) {
        let group = self.work.group(slot);
        let Some(gang) = group.gang() else { return };
        let within = match (gang.same, gang.within) {
            (0, _) => None,
            (_, Some(within)) => Some(within),
            (label, None) => self.room.rules_at(group.shape, label, node),
        };
        self.work.gang_begins(slot, within);
    }

    /// A restored group is a gang's, as far as that can be checked before its tasks run.
    pub(super) fn restore_gang(
        &mut self,
        slot: u32,
        state: &GangState,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let at = |field: &str| format!("{place}.gang.{field}");
        let group = self.work.group(slot);
        let (count, waiting, shape) = (group.numbers().len() as u64, group.waiting(), group.shape);
        let fine = state.least > 0 && u64::from(state.least) <= count;
        ensure!(fine, at("least"), "not from 1 to all of its tasks");
        let labels = self.room.gang_labels();
        ensure!(state.same as usize <= labels, at("same"), "there is no such label");
        let begun = u64::from(state.begun) + waiting <= count;
        ensure!(begun, at("begun"), "more than do not wait");
        let known = state.within.is_none_or(|rules| self.room.knows_rules(rules));
        ensure!(known, at("within"), "there are no such rules");
        let id = self.work.group(slot).job;
        let turn = self.room.restore_group(state.turn, id, format_args!("{place}.gang.turn"))?;
        self.work.restore_gang(slot, state, turn);
        let right = self.room.is_turn(turn, shape, self.turn_now(slot), state.within);
        ensure!(right, at("turn"), "not what its tasks wait for");
        Ok(())
    }

    /// Starts that were decided and not told.
    pub(super) fn restore_untold(&mut self, state: &State) -> Result<(), StateError> {
        for &slot in &state.untold {
            let start = self.work.running_in(slot).map(|id| self.told(id, None));
            let start =
                start.ok_or_else(|| StateError::new("untold", format!("{slot} is free")))?;
            ensure!(!self.untold.contains(&start), "untold", "{slot} stands there twice");
            self.untold.push_back(start);
        }
        Ok(())
    }

    /// Refuses what is no gang, or one that could never run in a queue like this.
    pub(super) fn check_gang(&self, group: &TaskGroup) -> Result<(), Rejected> {
        let Some(gang) = group.gang.as_deref() else { return Ok(()) };
        let (least, count) = (gang.least, group.count);
        if least == 0 || least > count {
            return Err(Rejected::GangOfOthers { least, count });
        }
        match self.servers.is_some() {
            true => Err(Rejected::GangPerServer),
            false => Ok(()),
        }
    }
}
