//! Gangs: several tasks of a group start as one turn ([`crate::gang`]).
//!
//! A group waits under a shape that says how many of its tasks start together, and, once one of
//! them runs, near whom: `regroup` keeps that true at every start, end and loss. What runs, runs
//! under the shape of a single task.
//!
//! A gang of several groups is one turn as well, while tasks of two of them wait: the first of
//! these stands in the walk for all, and all wait under one shape. Where only one of them waits it
//! is an ordinary gang, of all that it has waiting.
//!
//! Invariant: a gang's turn is taken whole. All its tasks hold their room before anybody else is
//! asked; who calls is told them one after the other, and takes all before telling of events.
//! Cost: O(nodes) for a turn besides its starts, and for each look at one that fits nowhere.

use std::num::NonZeroU32;

use super::Engine;
use super::core::Core;
use super::room::gangs::GangPlace;
use super::room::joint::Member;
use super::room::{Nodes, Room, are_few};
use super::work::Members;
use crate::decision::{Reason, Start};
use crate::error::Rejected;
use crate::gang::{Gang, Turn};
use crate::ids::{JobId, NodeRow};
use crate::spec::TaskGroup;
use crate::state::{GangState, Place, State, StateError, ensure};

impl Engine {
    /// Starts the gang of the group, or marks its shape blocked when it fits nowhere; the first of
    /// its starts, the others are told next.
    pub(super) fn place_gang(&mut self, slot: u32, reason: Option<Box<Reason>>) -> Option<Start> {
        match self.core.room.find_gang_or_block(self.core.work.group(slot).turn())? {
            GangPlace::Alike(tasks, key) => {
                self.start_together(tasks, reason, |room| (slot, room.node_in(&key)))
            }
            GangPlace::Parts(nodes) => {
                let members: Vec<u32> = self.core.work.waiting_members(slot).collect();
                self.start_on(&members, &nodes, reason)
            }
        }
    }

    /// Starts tasks of a gang's groups, the first of which stands in the walk, on these nodes.
    pub(super) fn start_on(
        &mut self,
        members: &[u32],
        nodes: &[Nodes],
        reason: Option<Box<Reason>>,
    ) -> Option<Start> {
        let tasks = nodes.iter().flatten().map(|(_, tasks)| tasks).sum();
        let mut each = members.iter().zip(nodes).flat_map(|(&member, nodes)| {
            let each = nodes.iter().flat_map(|&(node, tasks)| (0..tasks).map(move |_| node));
            each.map(move |node| (member, node))
        });
        self.start_together(tasks, reason, |_| each.next().expect("as many as were counted"))
    }

    /// Starts so many tasks of a gang, each of the group and on the node that `next` says; the
    /// first of them is of the group that stands in the walk.
    fn start_together(
        &mut self,
        tasks: u32,
        reason: Option<Box<Reason>>,
        mut next: impl FnMut(&mut Room) -> (u32, NodeRow),
    ) -> Option<Start> {
        let reason = reason.map(|mut reason| {
            reason.gang = Some(tasks);
            reason
        });
        let mut nodes: Vec<NodeRow> = Vec::new();
        let mut lead = None;
        for _ in 0..tasks {
            let (slot, node) = next(&mut self.core.room);
            lead.get_or_insert(slot);
            nodes.push(node);
            let start = self.start_alone(slot, None, node, reason.clone());
            self.untold.push_back(start);
            if self.reservations.are_made() {
                // The next task takes from what this one has left of held nodes.
                self.reservations.replan_openings(&mut self.core);
            }
        }
        self.regroup(lead?);
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            self.reservations.touch_node(&mut self.core, node, false);
            self.core.room.sift(node);
        }
        self.untold.pop_front()
    }

    /// Tasks of the group have started, ended or come back: brings up to date what the others wait
    /// for, and those of other groups of its gang.
    pub(super) fn regroup(&mut self, slot: u32) {
        let Engine { core, reservations, .. } = self;
        if core.work.group(slot).gang().is_none() {
            return;
        }
        let members = core.work.members(slot);
        let together = core.together_now(&members);
        if members.iter().all(|&slot| core.waits_rightly(slot, &together)) {
            return;
        }
        if !core.waits_for_as_many(slot, &members, &together.0) {
            members.iter().for_each(|&slot| reservations.drop_all_of(core, slot));
        }
        let leaf = core.leaf_of(slot);
        for &slot in &members {
            let group = core.work.group(slot);
            let (shape, before, waiting) = (group.shape, group.turn(), group.waiting());
            let within = group.gang().and_then(|gang| gang.within);
            let in_walk = waiting - core.reserved.of_group(slot);
            core.unlist_group(leaf, slot);
            core.room.sub_waiting(before, in_walk);
            let after = match together.0.is_empty() {
                true => core.room.hold_turn(shape, core.turn_now(slot), within),
                false => core.room.hold_parts(&together.0, together.1),
            };
            core.room.release_shape(before);
            core.work.set_turn(slot, after);
            core.room.add_waiting(after, in_walk);
            reservations.nodes_of_group_changed(core, slot);
        }
        core.reserved.forget_hopeless();
        let held = reservations.are_made();
        let lead = core.work.waiting_members(slot).next();
        if let Some(lead) = lead.filter(|&lead| !core.is_all_held(lead)) {
            core.list_group(leaf, lead);
            if held {
                // It had none of its own, if all of its job had reservations.
                core.update_arrivals(core.work.group(lead).job, true);
            }
            core.wake_leaf(leaf);
        }
    }

    /// Starts that were decided and not told.
    pub(super) fn restore_untold(&mut self, state: &State) -> Result<(), StateError> {
        for &slot in &state.untold {
            let start = self.core.work.running_in(slot).map(|id| self.core.told(id, None));
            let start =
                start.ok_or_else(|| StateError::new("untold", format!("{slot} is free")))?;
            ensure!(!self.untold.contains(&start), "untold", "{slot} stands there twice");
            self.untold.push_back(start);
        }
        Ok(())
    }
}

impl Core {
    /// A group is a gang's; `joint`: the first of the groups of the same gang, by its number.
    pub(super) fn begin_gang(&mut self, slot: u32, gang: &Gang, joint: Option<u32>) {
        let (shape, same) = (self.work.group(slot).shape, self.room.label_of(gang));
        self.work.set_gang(slot, gang.least, same, joint);
        let turn = self.room.hold_turn(shape, self.turn_now(slot), None);
        self.work.set_turn(slot, turn);
    }

    /// What the waiting tasks of a gang's group wait for, from now on, where no other group of the
    /// gang waits.
    fn turn_now(&self, slot: u32) -> Option<Turn> {
        let group = self.work.group(slot);
        let gang = group.gang()?;
        let left = u64::from(gang.least.saturating_sub(gang.begun)).min(group.waiting());
        let tasks = NonZeroU32::new(left as u32).filter(|tasks| tasks.get() > 1)?;
        let same = if gang.within.is_some() { 0 } else { gang.same };
        Some(Turn { tasks, same, joint: false })
    }

    /// The groups of a gang that wait, where they are several, and the label that is to keep them
    /// together; none where each waits for itself.
    fn together_now(&self, members: &Members) -> (Vec<Member>, u32) {
        let mut same = 0;
        let member = |&slot: &u32| {
            let group = self.work.group(slot);
            let gang = group.gang().filter(|gang| gang.joint.is_some())?;
            same = if gang.within.is_some() { 0 } else { gang.same };
            let tasks = u32::try_from(group.waiting()).ok().filter(|tasks| *tasks > 0)?;
            Some((group.shape, gang.within, tasks))
        };
        let mut waiting: Vec<Member> = members.iter().filter_map(member).collect();
        if waiting.len() < 2 {
            waiting.clear();
        }
        (waiting, same)
    }

    /// Whether the tasks of a group wait for what they should.
    fn waits_rightly(&self, slot: u32, (together, same): &(Vec<Member>, u32)) -> bool {
        let group = self.work.group(slot);
        let within = group.gang().and_then(|gang| gang.within);
        match together.is_empty() {
            true => self.room.is_turn(group.turn(), group.shape, self.turn_now(slot), within),
            false => self.room.is_of_parts(group.turn(), together, *same),
        }
    }

    /// Whether as many tasks of the group start together as before, and only where they may is
    /// another question: then reservations are kept.
    fn waits_for_as_many(&self, slot: u32, members: &Members, together: &[Member]) -> bool {
        let (room, turn) = (&self.room, self.work.group(slot).turn());
        let now = self.turn_now(slot).map_or(1, |turn| turn.tasks.get());
        members.len() == 1
            && together.is_empty()
            && !room.is_joint(turn)
            && room.turn_of(turn) == now
    }

    /// A task of the group starts, or runs already, on `node`.
    pub(super) fn gang_begins(&mut self, slot: u32, node: NodeRow) {
        let Some(gang) = self.work.group(slot).gang() else { return };
        let (same, within) = (gang.same, gang.within);
        self.work.gang_begins(slot);
        if same == 0 || within.is_some() {
            return;
        }
        for slot in self.work.members(slot) {
            let within = self.room.rules_at(self.work.group(slot).shape, same, node);
            self.work.set_within(slot, within);
        }
    }

    /// A restored group is a gang's, as far as that can be checked before its tasks run.
    pub(super) fn restore_gang(
        &mut self,
        slot: u32,
        state: &GangState,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let at = |field: &str| format!("{place}.gang.{field}");
        let alone = self.servers.is_some();
        ensure!(!alone, format!("{place}.gang"), "each server decides on its own: no gang starts");
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
        let (id, number) = (group.job, group.number);
        let turn = self.room.restore_turn(state.turn, id, format_args!("{place}.gang.turn"))?;
        self.work.restore_gang(slot, state, turn);
        let Some(first) = state.joint else {
            let right = self.room.is_turn(turn, shape, self.turn_now(slot), state.within);
            ensure!(right, at("turn"), "not what its tasks wait for");
            return Ok(());
        };
        // What they wait for is looked at when all of them are there.
        let last = |slot: u32| self.work.group(slot).gang().and_then(|gang| gang.joint);
        let before = self.work.job(id).and_then(|job| job.groups().iter().rev().nth(1).copied());
        let goes_on = first == number || first < number && before.and_then(last) == Some(first);
        ensure!(goes_on, at("joint"), "its gang does not begin there");
        Ok(())
    }

    /// All groups of a job are restored: what those of gangs of several wait for is right.
    pub(super) fn check_members(&self, id: JobId, place: Place<'_>) -> Result<(), StateError> {
        let job = self.work.job(id).expect("it has just been restored");
        for (number, &slot) in job.groups().iter().enumerate() {
            let members = self.work.members(slot);
            let least = |&slot: &u32| self.work.group(slot).gang().map_or(1, |gang| gang.least);
            let at = || format!("{place}.groups[{number}].gang.least");
            let is_few = members.len() == 1 || are_few(members.iter().map(least));
            ensure!(is_few, at(), "more of its gang than can be packed");
            let all = |&slot: &u32| self.work.group(slot).waiting() <= u64::from(least(&slot));
            ensure!(members.len() == 1 || members.iter().all(all), at(), "fewer than wait");
            let right = self.waits_rightly(slot, &self.together_now(&members));
            let at = || format!("{place}.groups[{number}].gang.turn");
            let joint = self.work.group(slot).gang().is_some_and(|gang| gang.joint.is_some());
            ensure!(right || !joint, at(), "not what the tasks of its gang wait for");
        }
        Ok(())
    }

    /// Whether a live job has a gang. O(groups).
    pub(super) fn any_gang(&self) -> bool {
        let mut jobs = self.work.job_ids().filter_map(|id| self.work.job(id));
        jobs.any(|job| job.groups().iter().any(|&slot| self.work.group(slot).gang().is_some()))
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

    /// Refuses groups that are to start together, and are no gang or one that could never run.
    pub(super) fn check_joint(&self, groups: &[TaskGroup]) -> Result<(), Rejected> {
        let Some(first) = joint(groups) else { return Ok(()) };
        let problem = |problem| Err(Rejected::GangOfParts { problem });
        for group in groups {
            match group.gang.as_deref() {
                Some(gang) if !gang.joint => {
                    return problem("a group that comes with it is a gang of its own");
                }
                None => return problem("a group that comes with it is of no gang"),
                Some(gang) if gang.least != group.count => {
                    return problem("all tasks of each group start together: no number is right");
                }
                Some(gang) if gang.same != first.same => {
                    return problem("its groups are to be kept together by one label, or by none");
                }
                Some(_) => {}
            }
        }
        self.room.check_parts(groups, &self.kinds)
    }
}

/// What these groups are one gang by, if they are.
pub(super) fn joint(groups: &[TaskGroup]) -> Option<&Gang> {
    groups.iter().filter_map(|group| group.gang.as_deref()).find(|gang| gang.joint)
}
