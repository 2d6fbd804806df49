//! Reservations: room that is held for tasks which fairness serves next and which fit nowhere now
//! (`when_blocked = "reserve"`).
//!
//! The walk serves whoever is first. When the first fits nowhere, room is held for it on the node
//! where it can start earliest, as far as limits of running tasks tell; then others are served who
//! are expected to end before that room is wanted, or who do not touch it (backfilling). One
//! reservation at a time is EASY, one for every task that waits is conservative backfilling
//! (Mu'alem and Feitelson, TPDS 2001).
//!
//! - With `reserve_after` whoever is first and fits nowhere is passed over for so long before it
//!   gets one: meanwhile nobody else gets one either. Not who has lent more than it has borrowed,
//!   where the order has a memory: it gets the next that may be made.
//! - A reservation is kept until its task starts, whoever is first meanwhile. So a task that has
//!   one waits no longer than the tasks that hold its room. Under reclaim it gives way to one for
//!   which its task would be stopped soon after (`reclaim::way`).
//! - It moves to an earlier instant whenever room comes free, in the order in which they were made;
//!   to a later one only where what was expected does not come about: a task runs beyond its limit,
//!   a node goes. That is counted.
//! - A task that runs beyond its limit is expected to run twice as long, and so on.
//! - Where estimates are learned, one that is put off is *drained*: from then on what comes free on
//!   its nodes is kept, and it stays there unless it could start elsewhere at once. Else short
//!   estimates would let others in before it for ever.
//! - Where nobody knows when enough will end, the node is drained: what comes free there is kept.
//!   For a single task more nodes are drained at once (`spares`): it takes the first with room.
//!
//! A gang has one reservation for all tasks that start together, on one node or on several
//! (`spread`), of one group or of several: it is kept, moved and given up as a whole, and its
//! groups are out of the walk.
//!
//! A task that has a reservation is out of the walk: it starts by that. All is planned when
//! decisions are made, never between the events of an instant: a task whose end has not been told
//! yet is not late.
//!
//! Three things plans do not reckon with: tasks of one job that want nodes of their own
//! (`distinct_nodes`: those that run count, those that are held do not), maximum shares (one task
//! more must fit below them; how many have reservations does not count), and, with `offer`, nodes
//! that ask for work: held tasks start by decisions only.
//!
//! Invariant: at every instant from now on, what is held on a node with known instants is expected
//! to be free there. Cost: what is free on nodes with holds is kept (`kept`); a plan looks at few
//! nodes for a task that gets a reservation (`outlook`). Where something ended each reservation is
//! asked whether that could change it (`still`). Where it could, the only reservation moves up
//! where it is, if that is all (`sooner`), or else all are planned anew. With `All` each end is a
//! question to all of them.

mod at_once;
mod before;
mod best;
mod changes;
#[cfg(test)]
mod draws;
mod idle;
mod kept;
mod outlook;
mod plan;
mod profile;
mod reclaim;
mod rows;
mod sooner;
mod spares;
mod spread;
mod state;
mod still;
mod turn;
mod view;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use smallvec::{SmallVec, smallvec};

use super::core::Core;
use super::reserved::Reserved;
use super::room::{Counts, Nodes, ShapeId};
use super::row_map::RowMap;
use crate::node_rows::Moves;
use crate::policy::{Blocked, Estimates, Policy, Reservations as Most};
use crate::reclaim::{Reclaim, Stop};
use crate::resources::Resources;
use crate::spec::{AllocationId, JobId, NodeRow, QueueRow};
use crate::time::{Span, Time};
use before::StoppedBefore;
use idle::IdleThere;
use kept::Kept;
pub(super) use kept::expected_end;
use outlook::Outlook;
use profile::Need;
use rows::RowSet;
use still::alone_on;
pub use view::{HeldWith, ReservationView};

/// The node of a reservation whose node is forgotten, until the next plan.
const NOWHERE: NodeRow = NodeRow(u32::MAX);

/// Nodes for each group of a gang; but for gangs of several groups there is one.
type Places = SmallVec<[Nodes; 1]>;

/// Nodes besides that of a reservation.
type Spares = SmallVec<[NodeRow; 1]>;

/// Tasks of a group that start by a reservation.
#[derive(Clone, Copy, Debug)]
struct Starter {
    slot: u32,
    /// What each task needs, and for how long.
    need: Need,
    /// So many of the group's waiting tasks are out of the walk for it: all of a gang's.
    covers: u64,
}

/// Room that is held for a task, or for all of a gang's that start together.
#[derive(Clone, Debug)]
struct Hold {
    /// It is for the next tasks of these groups: of one, but for a gang of several.
    starters: SmallVec<[Starter; 1]>,
    /// Of each of these.
    nodes: Places,
    /// Nodes that are drained besides, in order: it starts on whichever has room first.
    spares: Spares,
    /// From when on it is expected to be free; `None`: nobody knows, the nodes are drained.
    at: Option<Time>,
    /// Since when.
    since: Time,
    /// How often it was put off.
    moved: u32,
    /// When room may be taken back for it next.
    tries: Time,
    /// Whether tasks were told to stop for it where it is.
    reclaims: bool,
    /// Whether it was put off where estimates are learned: its nodes are drained, and it stays.
    drained: bool,
}

/// What is held on one node.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// What all tasks that start there need.
    need: Need,
    at: Option<Time>,
}

impl Part {
    /// From when to when it is held: from the start where nobody knows.
    fn span(&self) -> (Time, Time) {
        self.at.map_or((Time::ZERO, Time::MAX), |at| (at, self.need.until(at)))
    }
}

impl Hold {
    /// The slot of its group, the first of these.
    fn slot(&self) -> u32 {
        self.starters[0].slot
    }

    /// What each task of that needs.
    fn need(&self) -> &Need {
        &self.starters[0].need
    }

    /// Whether it is for several groups.
    fn is_joint(&self) -> bool {
        self.starters.len() > 1
    }

    fn is_of(&self, slot: u32) -> bool {
        self.starters.iter().any(|starter| starter.slot == slot)
    }

    /// So many waiting tasks are out of the walk for it.
    fn covers(&self) -> u64 {
        self.starters.iter().map(|starter| starter.covers).sum()
    }

    fn is_on(&self, node: NodeRow) -> bool {
        let own = self.nodes.iter().any(|nodes| nodes.iter().any(|(other, _)| *other == node));
        own || self.spares.contains(&node)
    }

    /// Nodes on which it is; where several groups start there more than once.
    fn rows(&self) -> impl Iterator<Item = NodeRow> + '_ {
        self.nodes.iter().flatten().map(|(node, _)| *node).chain(self.spares.iter().copied())
    }

    /// How many tasks of each group start on the node.
    fn on(&self, node: NodeRow) -> Counts {
        let tasks = |nodes: &Nodes| {
            nodes.iter().find(|(other, _)| *other == node).map_or(0, |(_, tasks)| *tasks)
        };
        match self.spares.contains(&node) {
            true => smallvec![1],
            false => self.nodes.iter().map(tasks).collect(),
        }
    }

    /// Whether it waits where it is for tasks that were told to stop: nobody takes that room.
    fn is_pinned(&self) -> bool {
        self.reclaims && self.at.is_none()
    }

    /// Whether it waits on its own nodes for what runs there, whatever comes free elsewhere.
    fn stays(&self) -> bool {
        self.at.is_none() && (self.reclaims || self.drained)
    }

    fn part(&self, tasks: u32) -> Part {
        Part { need: self.need().times(tasks), at: self.at }
    }

    /// What it holds, node by node.
    fn parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        self.own_parts().chain(self.spare_parts())
    }

    /// The same but for spares.
    fn own_parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        let alone: &[(NodeRow, u32)] = if self.is_joint() { &[] } else { &self.nodes[0] };
        let together = if self.is_joint() { self.joint_parts() } else { Vec::new() };
        alone.iter().map(|&(node, tasks)| (node, self.part(tasks))).chain(together)
    }

    /// The same of several groups, whose tasks all hold their room for as long as the longest may
    /// run.
    fn joint_parts(&self) -> Vec<(NodeRow, Part)> {
        let mut sums: BTreeMap<NodeRow, Resources> = BTreeMap::new();
        for (starter, nodes) in self.starters.iter().zip(&self.nodes) {
            for &(node, tasks) in nodes {
                let more = starter.need.times(tasks).demand;
                let sum = sums.entry(node).or_insert_with(|| Resources::zero(more.kinds()));
                *sum = sum.plus(&more);
            }
        }
        let part = |demand| Part { need: Need { demand, ..*self.need() }, at: self.at };
        sums.into_iter().map(|(node, demand)| (node, part(demand))).collect()
    }
}

/// Reservations, where the root's policy makes any: what it does not make costs nothing.
pub(super) struct Reservations {
    holds: Option<Box<Holds>>,
}

impl Reservations {
    /// Without any yet, under the policy of the root.
    pub(super) fn of(root: &Policy) -> Reservations {
        Reservations { holds: Holds::of(root) }
    }

    /// Whether the policy makes reservations.
    #[inline]
    pub(super) fn are_made(&self) -> bool {
        self.holds.is_some()
    }

    /// Rows of nodes are others.
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        if let Some(holds) = &mut self.holds {
            holds.move_rows(moves);
        }
    }
}

/// All that is known of reservations.
pub(super) struct Holds {
    most: Most,
    /// Whether what is held idle is charged.
    charges: bool,
    /// Whether, and when, room is taken back for them.
    reclaim: Option<Reclaim>,
    /// In the order in which they were made.
    list: Vec<Hold>,
    /// Nodes that have got room since the last plan.
    freed: RowSet,
    /// Nodes where reservations that have moved left room for others that were looked at before:
    /// they look there when room comes free next.
    vacated: RowSet,
    /// Nodes where less may come free than was expected when they were chosen: who waits there
    /// looks at all others when room comes free next.
    pushed: RowSet,
    /// Nodes where something else has changed since.
    touched: RowSet,
    /// What the only reservation misses on the worst of its nodes, where that decides whether it
    /// stays, and nothing has happened on one of these since it was found to.
    misses: Option<u128>,
    /// Nodes with holds, and the instant from which on what is expected there has to be looked at
    /// anew, should nothing happen before.
    nodes: RowMap<Time>,
    /// How long a turn may be passed over before room is held for it.
    patience: Span,
    /// Whether one that is put off is drained: estimates may be wrong as often as tasks end.
    drains: bool,
    /// So many spares has one of which nobody knows when it starts.
    spares: u32,
    /// Whether the order remembers use, and so who has lent.
    remembers: bool,
    /// What is free and held on nodes with holds, where that is known.
    kept: RowMap<Kept>,
    /// Which nodes are worth a look.
    outlook: Outlook,
    /// What is held idle, as of the last decision.
    idle: RowMap<IdleThere>,
    /// Running tasks that were told to stop.
    stopping: BTreeSet<AllocationId>,
    /// Those that the world has not been told.
    stops: VecDeque<Stop>,
    /// Waiting and running tasks that were stopped before.
    stopped_before: StoppedBefore,
}

impl Holds {
    /// `None`: the policy makes no reservations.
    fn of(root: &Policy) -> Option<Box<Holds>> {
        let Blocked::Reserve(most) = root.blocked else { return None };
        Some(Box::new(Holds {
            most,
            charges: root.charge_reservations,
            reclaim: root.reclaim,
            list: Vec::new(),
            freed: RowSet::default(),
            vacated: RowSet::default(),
            pushed: RowSet::default(),
            touched: RowSet::default(),
            misses: None,
            nodes: RowMap::default(),
            patience: root.reserve_after,
            drains: root.estimates == Estimates::Learned,
            spares: root.spares,
            remembers: root.measure.info().keeps_usage,
            kept: RowMap::default(),
            outlook: Outlook::default(),
            idle: RowMap::default(),
            stopping: BTreeSet::new(),
            stops: VecDeque::new(),
            stopped_before: StoppedBefore::default(),
        }))
    }

    /// When room may be taken back first for a reservation that is made now.
    fn first_try(&self, now: Time) -> Time {
        self.reclaim.map_or(Time::MAX, |rules| now.saturating_add(rules.after))
    }

    fn add(&mut self, reserved: &mut Reserved, hold: Hold) {
        hold.starters.iter().for_each(|starter| reserved.add(starter.slot, starter.covers));
        for (node, part) in hold.parts() {
            self.touched.insert(node);
            if let Some(kept) = self.kept.get_mut(node) {
                kept.take(&part);
            }
        }
        self.misses = None;
        self.list.push(hold);
    }

    fn remove(&mut self, reserved: &mut Reserved, index: usize) -> Hold {
        self.misses = None;
        let hold = self.list.remove(index);
        for (node, part) in hold.parts() {
            if let Some(kept) = self.kept.get_mut(node) {
                kept.give_back(&part);
            }
        }
        hold.starters.iter().for_each(|starter| reserved.sub(starter.slot, starter.covers));
        hold
    }

    /// One is given up: its room is free.
    fn give_up(&mut self, reserved: &mut Reserved, index: usize) -> Hold {
        let hold = self.remove(reserved, index);
        self.freed.extend(hold.rows());
        hold
    }

    fn move_rows(&mut self, moves: &Moves) {
        let to = |row: NodeRow| moves.to(row);
        self.kept.clear();
        self.outlook.forget();
        self.misses = None;
        // A node that is forgotten is told as nowhere: the next plan still knows that one has gone.
        let sets = [&mut self.freed, &mut self.vacated, &mut self.pushed, &mut self.touched];
        for set in sets {
            *set = set.iter().map(|&row| to(row).unwrap_or(NOWHERE)).collect();
        }
        for hold in &mut self.list {
            let all = hold.nodes.iter_mut().flatten();
            all.for_each(|(node, _)| *node = to(*node).unwrap_or(NOWHERE));
            if hold.move_spares(moves) {
                self.freed.insert(NOWHERE);
                self.pushed.extend(hold.rows());
            }
            if hold.is_on(NOWHERE) {
                // All of it is looked for anew at the next plan: what it has elsewhere is free.
                self.freed.extend(hold.rows());
                for nodes in &mut hold.nodes {
                    *nodes = smallvec![(NOWHERE, nodes.iter().map(|(_, tasks)| tasks).sum())];
                }
                hold.spares.clear();
            }
        }
        // Nothing is held idle on a node that has left.
        self.idle = std::mem::take(&mut self.idle).moved(to);
        self.nodes = std::mem::take(&mut self.nodes).moved(to);
    }
}

/// What the rest of the engine tells.
impl Reservations {
    /// A task of this shape starts on the node, and takes its room.
    #[inline]
    pub(super) fn note_start_on(&mut self, core: &mut Core, node: NodeRow, shape: ShapeId) {
        if self.holds.is_none() {
            return;
        }
        self.touch_node(core, node, false);
        let (now, need) = (core.now, core.need(shape));
        let own_node = core.room.wants_own_nodes(shape);
        let holds = self.holds.as_mut().expect("it makes reservations");
        holds.outlook.starts(now, node, &need);
        if let Some(kept) = holds.kept.get_mut(node) {
            kept.starts(now, &need, own_node);
        }
    }

    /// A task of this shape, which began at `started`, has given back its room on the node.
    #[inline]
    pub(super) fn note_end_on(
        &mut self,
        core: &mut Core,
        node: NodeRow,
        shape: ShapeId,
        started: Time,
    ) {
        if self.holds.is_none() {
            return;
        }
        self.touch_node(core, node, true);
        let (now, need) = (core.now, core.need(shape));
        let holds = self.holds.as_mut().expect("it makes reservations");
        holds.outlook.ends(node, &need);
        if let Some(kept) = holds.kept.get_mut(node) {
            kept.ends(now, started, &need);
        }
    }

    /// What is free on the node has changed; whether more may be.
    #[inline]
    pub(super) fn touch_node(&mut self, core: &mut Core, node: NodeRow, freed: bool) {
        let Some(holds) = &mut self.holds else { return };
        holds.outlook.touch(node);
        if holds.misses.is_some() && holds.list.first().is_some_and(|hold| hold.is_on(node)) {
            holds.misses = None;
        }
        match freed {
            true => {
                holds.freed.insert(node);
                core.reserved.forget_hopeless();
            }
            false => holds.touched.insert(node),
        }
    }

    /// Maximum shares have changed: who has reservations is asked whether it may have more.
    pub(super) fn touch_all_holds(&mut self) {
        if let Some(holds) = &mut self.holds {
            holds.touched.extend(holds.list.iter().flat_map(Hold::rows));
        }
    }

    /// The pool has changed, by which what is missing is weighed: all are looked for anew when room
    /// comes free next.
    pub(super) fn upset_all_holds(&mut self) {
        if let Some(holds) = &mut self.holds {
            holds.pushed.extend(holds.list.iter().flat_map(Hold::rows));
        }
    }

    /// Something happened on the node that no plan reckoned with: room may have come free, or be
    /// lost.
    pub(super) fn upset_node(&mut self, core: &mut Core, node: NodeRow, freed: bool) {
        self.touch_node(core, node, freed);
        if let Some(holds) = &mut self.holds {
            holds.outlook.upset(node);
            holds.kept.remove(node);
            holds.pushed.insert(node);
        }
    }

    /// The group's tasks may be on other nodes than before: those of its reservations that may not
    /// stay where they are are given up, and the others are looked at anew.
    pub(super) fn upset_holds_of(&mut self, core: &mut Core, slot: u32) {
        if core.held_of(slot) == 0 {
            return;
        }
        let turn = core.work.group(slot).turn();
        let mut any_stays = false;
        for index in (0..self.holds.as_ref().map_or(0, |holds| holds.list.len())).rev() {
            let Some(holds) = self.holds.as_deref() else { return };
            let hold = &holds.list[index];
            if !hold.is_of(slot) {
                continue;
            }
            let stays = hold.nodes.iter().flatten().all(|(node, _)| core.may_stay(hold, *node));
            any_stays |= stays;
            let Some(holds) = self.holds.as_mut() else { return };
            if !stays {
                let covers = holds.give_up(&mut core.reserved, index).covers();
                core.room.add_waiting(turn, covers);
                continue;
            }
            holds.misses = None;
            for node in holds.list[index].rows().collect::<SmallVec<[NodeRow; 4]>>() {
                holds.kept.remove(node);
                for set in [&mut holds.freed, &mut holds.pushed, &mut holds.touched] {
                    set.insert(node);
                }
            }
        }
        if let Some(holds) = self.holds.as_mut().filter(|_| any_stays) {
            // Nodes on which it could not be before may have had room all along.
            let nodes = (0..core.room.nodes() as u32).map(NodeRow);
            holds.freed.extend(nodes.filter(|&node| core.room.could_start(turn, node)));
        }
    }

    /// Fewer tasks of the group may wait than have reservations: the latest of those are given up.
    pub(super) fn drop_surplus_holds(&mut self, core: &mut Core, slot: u32) {
        if self.holds.is_some() {
            self.drop_holds_beyond(core, slot, core.work.group(slot).waiting());
        }
    }

    /// What the group's tasks wait for is another: none of them has a reservation any more.
    pub(super) fn drop_all_holds(&mut self, core: &mut Core, slot: u32) {
        self.drop_holds_beyond(core, slot, 0);
    }

    fn drop_holds_beyond(&mut self, core: &mut Core, slot: u32, most: u64) {
        let Some(holds) = &mut self.holds else { return };
        if core.reserved.is_empty() {
            return;
        }
        let turn = core.work.group(slot).turn();
        while core.reserved.of_group(slot) > most {
            let last = holds.list.iter().rposition(|hold| hold.is_of(slot));
            let hold = holds.give_up(&mut core.reserved, last.expect("each is counted"));
            core.room.add_waiting(turn, hold.covers());
        }
    }

    /// A task of the group is told to start on `node`: by its reservation, if there is one.
    pub(super) fn drop_hold_on(&mut self, core: &mut Core, slot: u32, node: NodeRow) {
        let Some(holds) = &mut self.holds else { return };
        let there = |hold: &Hold| hold.is_of(slot) && hold.is_on(node);
        if let Some(index) = holds.list.iter().position(there) {
            let hold = holds.remove(&mut core.reserved, index);
            holds.touched.extend(hold.rows());
            if !hold.spares.is_empty() {
                holds.freed.extend(hold.rows());
            }
            core.room.add_waiting(core.work.group(slot).turn(), hold.covers());
        }
    }

    /// The tasks of the group that are first in turn get a reservation, and leave the walk. Whether
    /// there are nodes on which they can have one.
    fn hold(&mut self, core: &mut Core, slot: u32) -> bool {
        let shape = core.work.group(slot).turn();
        let found = self.find_place(core, shape);
        let (now, leaf) = (core.now, core.leaf_of(slot));
        let starters = core.starters(slot);
        let holds = self.holds.as_mut().expect("only where there are reservations");
        let Some(((at, nodes), spares)) = found else {
            core.reserved.set_hopeless(shape);
            return false;
        };
        let tries = holds.first_try(now);
        let (since, moved, reclaims, drained) = (now, 0, false, false);
        let hold = Hold { starters, nodes, spares, at, since, moved, tries, reclaims, drained };
        debug_assert!(hold.has_sound_spares(holds.spares), "no node is held twice");
        let covers = hold.covers();
        holds.add(&mut core.reserved, hold);
        core.room.sub_waiting(shape, covers);
        core.reserved.take_turn(slot);
        core.fewer_in_walk(leaf, slot);
        core.park_if_all_held(leaf);
        self.replan_openings(core);
        true
    }

    /// A reservation is given up: its tasks are in the walk again.
    fn let_go(&mut self, core: &mut Core, index: usize) {
        let holds = self.holds.as_mut().expect("it has one");
        let hold = holds.give_up(&mut core.reserved, index);
        let (slot, covers) = (hold.slot(), hold.covers());
        let (shape, leaf) = (core.work.group(slot).turn(), core.leaf_of(slot));
        core.room.add_waiting(shape, covers);
        core.list_group(leaf, slot);
        let job = core.work.group(slot).job;
        core.update_arrivals(job, true);
        if core.ready.unpark(leaf) {
            core.join_heaps(leaf);
        }
    }
}

impl Core {
    /// How many of the group's waiting tasks have reservations.
    pub(super) fn held_of(&self, slot: u32) -> u64 {
        self.reserved.of_group(slot)
    }

    /// Whether the group's waiting tasks all have reservations: then it is not in the walk.
    pub(super) fn is_all_held(&self, slot: u32) -> bool {
        let held = self.held_of(slot);
        held > 0 && held >= self.work.group(slot).waiting()
    }

    /// Whether a reservation may stay on a node, which may have left.
    fn may_stay(&self, hold: &Hold, node: NodeRow) -> bool {
        node.index() < self.room.nodes() && self.is_possible(hold, node)
    }

    /// A leaf of which all that waits has reservations is out of the walk.
    pub(super) fn park_if_all_held(&mut self, leaf: QueueRow) {
        if self.reserved.is_empty() {
            return;
        }
        let wants = self.ready.buckets(leaf).iter().any(|bucket| !bucket.is_empty());
        if !wants && self.ready.waiting(leaf) > 0 && !self.ready.is_parked(leaf) {
            self.park(leaf);
        }
    }

    /// What tasks of a shape need.
    fn need(&self, shape: ShapeId) -> Need {
        Need { demand: *self.room.demand(shape), limit: self.room.limit(shape) }
    }

    /// The queue of a group.
    pub(super) fn leaf_of(&self, slot: u32) -> QueueRow {
        let job = self.work.group(slot).job;
        self.work.job(job).expect("a group's job is alive").queue
    }

    /// The groups whose tasks start with the next turn of a group, and how many waiting tasks leave
    /// the walk for a reservation: all of a gang's, for those that it could do without follow when
    /// it has begun.
    fn starters(&self, slot: u32) -> SmallVec<[Starter; 1]> {
        let turn = self.work.group(slot).turn();
        let starter = |slot: u32| {
            let group = self.work.group(slot);
            let need =
                Need { demand: *self.room.demand(group.shape), limit: self.room.limit(turn) };
            let covers = if self.room.turn_of(turn) > 1 { group.waiting() } else { 1 };
            Starter { slot, need, covers }
        };
        match self.room.is_joint(turn) {
            false => smallvec![starter(slot)],
            true => self.work.waiting_members(slot).map(starter).collect(),
        }
    }

    /// Fewer tasks of the group wait, or more of them have reservations: where none is left for the
    /// walk, the group is unlisted, and queues that stand by the arrival of its job are told.
    #[inline]
    pub(super) fn fewer_in_walk(&mut self, leaf: QueueRow, slot: u32) {
        let group = self.work.group(slot);
        let (id, waits) = (group.job, group.waiting() > 0);
        if !waits {
            self.reserved.take_turn(slot);
        }
        if !waits || self.is_all_held(slot) {
            self.unlist_group(leaf, slot);
        }
        match self.work.job(id).is_some_and(|job| job.waiting() > 0) {
            false => self.update_arrivals(id, false),
            true => self.note_job_held(slot),
        }
    }

    /// Where all waiting tasks of the job have reservations, queues that stand by the arrival of
    /// what waits stand by others.
    fn note_job_held(&mut self, slot: u32) {
        if self.reserved.is_empty() || !self.books.orders_by_arrival() {
            return;
        }
        let id = self.work.group(slot).job;
        if self.is_job_held(id) {
            self.update_arrivals(id, false);
        }
    }

    fn is_job_held(&self, id: JobId) -> bool {
        let job = self.work.job(id).expect("a group's job is alive");
        let held = |&slot: &u32| self.work.group(slot).waiting() == 0 || self.is_all_held(slot);
        job.groups().iter().all(held)
    }

    /// Whether a node could hold what a reservation holds there, were nothing of ours there.
    fn is_possible(&self, hold: &Hold, node: NodeRow) -> bool {
        let shape = self.work.group(hold.slot()).turn();
        let room = &self.room;
        if alone_on(hold).is_some() {
            return room.could_start(shape, node);
        }
        match &hold.on(node)[..] {
            [tasks] => room.copies_on(shape, node) >= u64::from(*tasks),
            all => room.could_hold_parts(shape, node, all),
        }
    }
}
