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
//!   one waits no longer than the tasks that hold its room.
//! - It moves to an earlier instant whenever room comes free, in the order in which they were made;
//!   to a later one only where what was expected does not come about: a task runs beyond its limit,
//!   a node goes. That is counted.
//! - A task that runs beyond its limit is expected to run twice as long, and so on.
//! - Where estimates are learned, one that is put off is *drained*: from then on what comes free on
//!   its nodes is kept, and it stays there unless it could start elsewhere at once. Else short
//!   estimates would let others in before it for ever.
//! - Where nobody knows when enough will end, the node is drained: what comes free there is kept.
//!
//! A gang has one reservation for all tasks that start together, on one node or on several
//! (`spread`): it is kept, moved and given up as a whole, and its group is out of the walk.
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
//! nodes for a task that gets a reservation (`outlook`), and at nodes where something ended for one
//! that has it, up to its instant; with `All` that is a look at all of them at each end.

mod idle;
mod kept;
mod outlook;
mod plan;
mod profile;
mod reclaim;
mod spread;
mod state;
mod turn;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use smallvec::{SmallVec, smallvec};

use super::Engine;
use super::room::ShapeId;
use crate::decision::{Reason, Start};
use crate::node_rows::Moves;
use crate::policy::{Blocked, Estimates, Policy, Reservations};
use crate::reclaim::{Reclaim, Stop};
use crate::resources::Resources;
use crate::spec::{AllocationId, JobId, NodeId, NodeRow, QueueRow};
use crate::time::{Span, Time};
use idle::Idle;
use kept::Kept;
pub(super) use kept::expected_end;
use outlook::Outlook;
use profile::Need;

/// The node of a reservation whose node is forgotten, until the next plan.
const NOWHERE: NodeRow = NodeRow(u32::MAX);

/// Nodes, in order, each with how many tasks start there.
type Nodes = SmallVec<[(NodeRow, u32); 1]>;

/// Room that is held for a task, or for all of a gang's that start together.
#[derive(Clone, Debug)]
struct Hold {
    /// The slot of its group: it is for the next tasks of that.
    slot: u32,
    /// What each task needs, and for how long.
    need: Need,
    nodes: Nodes,
    /// From when on it is expected to be free; `None`: nobody knows, the nodes are drained.
    at: Option<Time>,
    /// Since when.
    since: Time,
    /// How often it was put off.
    moved: u32,
    /// So many of the group's waiting tasks are out of the walk for it: all of a gang's.
    covers: u64,
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
    /// How many tasks start by it.
    fn tasks(&self) -> u32 {
        self.nodes.iter().map(|(_, tasks)| tasks).sum()
    }

    fn is_on(&self, node: NodeRow) -> bool {
        self.nodes.iter().any(|(other, _)| *other == node)
    }

    fn rows(&self) -> impl Iterator<Item = NodeRow> + '_ {
        self.nodes.iter().map(|(node, _)| *node)
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
        Part { need: self.need.times(tasks), at: self.at }
    }

    /// What it holds, node by node.
    fn parts(&self) -> impl Iterator<Item = (NodeRow, Part)> + '_ {
        self.nodes.iter().map(|&(node, tasks)| (node, self.part(tasks)))
    }
}

/// See the module.
pub(super) struct Holds {
    most: Reservations,
    /// Whether what is held idle is charged.
    charges: bool,
    /// Whether, and when, room is taken back for them.
    reclaim: Option<Reclaim>,
    /// In the order in which they were made.
    list: Vec<Hold>,
    /// How many of the waiting tasks of a group have one.
    of_groups: BTreeMap<u32, u64>,
    /// Nodes that have got room since the last plan.
    freed: BTreeSet<NodeRow>,
    /// Nodes where reservations that have moved left room for others that were looked at before:
    /// they look there when room comes free next.
    vacated: BTreeSet<NodeRow>,
    /// Nodes where less may come free than was expected when they were chosen: who waits there
    /// looks at all others when room comes free next.
    pushed: BTreeSet<NodeRow>,
    /// Nodes where something else has changed since.
    touched: BTreeSet<NodeRow>,
    /// Nodes with holds, and the instant from which on what is expected there has to be looked at
    /// anew, should nothing happen before.
    nodes: BTreeMap<NodeRow, Time>,
    /// How long a turn may be passed over before room is held for it.
    patience: Span,
    /// Whether one that is put off is drained: estimates may be wrong as often as tasks end.
    drains: bool,
    /// Whether the order remembers use, and so who has lent.
    remembers: bool,
    /// Groups whose turn has come and that fit nowhere, by slot: since when. Kept up to their next
    /// start, or reservation.
    passed: BTreeMap<u32, Time>,
    /// Shapes for which no node can be held as things stand.
    hopeless: BTreeSet<ShapeId>,
    /// What is free and held on nodes with holds, where that is known.
    kept: BTreeMap<NodeRow, Kept>,
    /// Which nodes are worth a look.
    outlook: Outlook,
    /// What is held idle, as of the last decision.
    idle: BTreeMap<NodeRow, Vec<Idle>>,
    /// Running tasks that were told to stop.
    stopping: BTreeSet<AllocationId>,
    /// Those that the world has not been told.
    stops: VecDeque<Stop>,
}

impl Holds {
    /// `None`: the policy makes no reservations.
    pub(super) fn of(root: &Policy) -> Option<Box<Holds>> {
        let Blocked::Reserve(most) = root.blocked else { return None };
        Some(Box::new(Holds {
            most,
            charges: root.charge_reservations,
            reclaim: root.reclaim,
            list: Vec::new(),
            of_groups: BTreeMap::new(),
            freed: BTreeSet::new(),
            vacated: BTreeSet::new(),
            pushed: BTreeSet::new(),
            touched: BTreeSet::new(),
            nodes: BTreeMap::new(),
            patience: root.reserve_after,
            drains: root.estimates == Estimates::Learned,
            remembers: root.measure.info().keeps_usage,
            passed: BTreeMap::new(),
            hopeless: BTreeSet::new(),
            kept: BTreeMap::new(),
            outlook: Outlook::default(),
            idle: BTreeMap::new(),
            stopping: BTreeSet::new(),
            stops: VecDeque::new(),
        }))
    }

    /// When room may be taken back first for a reservation that is made now.
    fn first_try(&self, now: Time) -> Time {
        self.reclaim.map_or(Time::MAX, |rules| now.saturating_add(rules.after))
    }

    /// Whether no node can be held for tasks of this shape, as things stand.
    pub(super) fn is_hopeless(&self, shape: ShapeId) -> bool {
        self.hopeless.contains(&shape)
    }

    /// New shapes may have the numbers of those that are gone.
    pub(super) fn forget_hopeless(&mut self) {
        self.hopeless.clear();
    }

    /// How many waiting tasks of the group have one.
    fn of_group(&self, slot: u32) -> u64 {
        self.of_groups.get(&slot).copied().unwrap_or(0)
    }

    fn add(&mut self, hold: Hold) {
        *self.of_groups.entry(hold.slot).or_default() += hold.covers;
        for (node, part) in hold.parts() {
            self.touched.insert(node);
            if let Some(kept) = self.kept.get_mut(&node) {
                kept.take(&part);
            }
        }
        self.list.push(hold);
    }

    fn remove(&mut self, index: usize) -> Hold {
        let hold = self.list.remove(index);
        for (node, part) in hold.parts() {
            if let Some(kept) = self.kept.get_mut(&node) {
                kept.give_back(&part);
            }
        }
        let of_group = self.of_groups.get_mut(&hold.slot).expect("each is counted");
        *of_group -= hold.covers;
        if *of_group == 0 {
            self.of_groups.remove(&hold.slot);
        }
        hold
    }

    /// One is given up: its room is free.
    fn give_up(&mut self, index: usize) -> Hold {
        let hold = self.remove(index);
        self.freed.extend(hold.rows());
        hold
    }

    pub(super) fn move_rows(&mut self, moves: &Moves) {
        let to = |row: NodeRow| moves.to(row);
        self.kept.clear();
        self.outlook.forget();
        // A node that is forgotten is told as nowhere: the next plan still knows that one has gone.
        let sets = [&mut self.freed, &mut self.vacated, &mut self.pushed, &mut self.touched];
        for set in sets {
            *set = set.iter().map(|&row| to(row).unwrap_or(NOWHERE)).collect();
        }
        for hold in &mut self.list {
            hold.nodes.iter_mut().for_each(|(node, _)| *node = to(*node).unwrap_or(NOWHERE));
            if hold.is_on(NOWHERE) {
                // All of it is looked for anew at the next plan: what it has elsewhere is free.
                self.freed.extend(hold.rows());
                hold.nodes = smallvec![(NOWHERE, hold.tasks())];
            }
        }
        let idle = std::mem::take(&mut self.idle);
        // Nothing is held idle on a node that has left.
        self.idle = idle.into_iter().filter_map(|(row, idle)| Some((to(row)?, idle))).collect();
        let nodes = std::mem::take(&mut self.nodes);
        self.nodes = nodes.into_iter().filter_map(|(row, at)| Some((to(row)?, at))).collect();
    }
}

/// What the rest of the engine tells.
impl Engine {
    /// Whether the group's waiting tasks all have reservations: then it is not in the walk.
    pub(super) fn is_all_held(&self, slot: u32) -> bool {
        let held = self.holds.as_ref().map_or(0, |holds| holds.of_group(slot));
        held > 0 && held >= self.work.group(slot).waiting()
    }

    /// A task of this shape starts on the node, and takes its room.
    #[inline]
    pub(super) fn note_start_on(&mut self, node: NodeRow, shape: ShapeId) {
        if self.holds.is_none() {
            return;
        }
        self.touch_node(node, false);
        let (now, need) = (self.now, self.need(shape));
        let holds = self.holds.as_mut().expect("it makes reservations");
        holds.outlook.starts(now, node, &need);
        if let Some(kept) = holds.kept.get_mut(&node) {
            kept.starts(now, &need);
        }
    }

    /// A task of this shape, which began at `started`, has given back its room on the node.
    #[inline]
    pub(super) fn note_end_on(&mut self, node: NodeRow, shape: ShapeId, started: Time) {
        if self.holds.is_none() {
            return;
        }
        self.touch_node(node, true);
        let (now, need) = (self.now, self.need(shape));
        let holds = self.holds.as_mut().expect("it makes reservations");
        holds.outlook.ends(node, &need);
        if let Some(kept) = holds.kept.get_mut(&node) {
            kept.ends(now, started, &need);
        }
    }

    /// What is free on the node has changed; whether more may be.
    #[inline]
    pub(super) fn touch_node(&mut self, node: NodeRow, freed: bool) {
        let Some(holds) = &mut self.holds else { return };
        holds.outlook.touch(node);
        match freed {
            true => {
                holds.freed.insert(node);
                holds.hopeless.clear();
            }
            false => drop(holds.touched.insert(node)),
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
    pub(super) fn upset_node(&mut self, node: NodeRow, freed: bool) {
        self.touch_node(node, freed);
        if let Some(holds) = &mut self.holds {
            holds.outlook.upset(node);
            holds.kept.remove(&node);
            holds.pushed.insert(node);
        }
    }

    /// See [`Holds::is_hopeless`].
    pub(super) fn is_hopeless(&self, shape: ShapeId) -> bool {
        self.holds.as_deref().is_some_and(|holds| holds.is_hopeless(shape))
    }

    /// Fewer tasks of the group may wait than have reservations: the latest of those are given up.
    pub(super) fn drop_surplus_holds(&mut self, slot: u32) {
        if self.holds.is_some() {
            self.drop_holds_beyond(slot, self.work.group(slot).waiting());
        }
    }

    /// What the group's tasks wait for is another: none of them has a reservation any more.
    pub(super) fn drop_all_holds(&mut self, slot: u32) {
        self.drop_holds_beyond(slot, 0);
    }

    fn drop_holds_beyond(&mut self, slot: u32, most: u64) {
        let Some(holds) = &mut self.holds else { return };
        let turn = self.work.group(slot).turn();
        while holds.of_group(slot) > most {
            let last = holds.list.iter().rposition(|hold| hold.slot == slot);
            let hold = holds.give_up(last.expect("each is counted"));
            self.room.add_waiting(turn, hold.covers);
        }
    }

    /// A task of the group is told to start on `node`: by its reservation, if there is one.
    pub(super) fn drop_hold_on(&mut self, slot: u32, node: NodeRow) {
        let Some(holds) = &mut self.holds else { return };
        let there = |hold: &Hold| hold.slot == slot && hold.is_on(node);
        if let Some(index) = holds.list.iter().position(there) {
            let hold = holds.remove(index);
            holds.touched.extend(hold.rows());
            self.room.add_waiting(self.work.group(slot).turn(), hold.covers);
        }
    }

    /// A leaf of which all that waits has reservations is out of the walk.
    pub(super) fn park_if_all_held(&mut self, leaf: QueueRow) {
        if self.holds.as_ref().is_none_or(|holds| holds.list.is_empty()) {
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

    /// The tasks of the group that are first in turn get a reservation, and leave the walk. Whether
    /// there are nodes on which they can have one.
    fn hold(&mut self, slot: u32) -> bool {
        let shape = self.work.group(slot).turn();
        let need = self.need(shape);
        let found = self.find_place(shape, &need);
        let (now, leaf, covers) = (self.now, self.leaf_of(slot), self.covered(slot));
        let holds = self.holds.as_mut().expect("only where there are reservations");
        let Some((at, nodes)) = found else {
            holds.hopeless.insert(shape);
            return false;
        };
        let tries = holds.first_try(now);
        let (since, moved, reclaims, drained) = (now, 0, false, false);
        holds.add(Hold { slot, need, nodes, at, since, moved, covers, tries, reclaims, drained });
        self.room.sub_waiting(shape, covers);
        self.note_turn_taken(slot);
        self.fewer_in_walk(leaf, slot);
        self.park_if_all_held(leaf);
        self.replan_openings();
        true
    }

    /// How many waiting tasks of the group leave the walk for a reservation: all of a gang's, for
    /// those that it could do without follow when it has begun.
    fn covered(&self, slot: u32) -> u64 {
        let group = self.work.group(slot);
        if self.room.turn_of(group.turn()) > 1 { group.waiting() } else { 1 }
    }

    /// A reservation is given up: its tasks are in the walk again.
    fn let_go(&mut self, index: usize) {
        let Hold { slot, covers, .. } = self.holds.as_mut().expect("it has one").give_up(index);
        let (shape, leaf) = (self.work.group(slot).turn(), self.leaf_of(slot));
        self.room.add_waiting(shape, covers);
        self.list_group(leaf, slot);
        let job = self.work.group(slot).job;
        self.update_arrivals(job, true);
        if self.ready.unpark(leaf) {
            self.join_heaps(leaf);
        }
    }

    /// Fewer tasks of the group wait, or more of them have reservations: where none is left for the
    /// walk, the group is unlisted, and queues that stand by the arrival of its job are told.
    #[inline]
    pub(super) fn fewer_in_walk(&mut self, leaf: QueueRow, slot: u32) {
        let group = self.work.group(slot);
        let (id, waits) = (group.job, group.waiting() > 0);
        if !waits {
            self.note_turn_taken(slot);
        }
        if !waits || self.is_all_held(slot) {
            self.unlist_group(leaf, slot);
        }
        match self.work.job(id).is_some_and(|job| job.waiting() > 0) {
            false => self.update_arrivals(id, false),
            true => self.note_job_held(slot),
        }
    }

    /// A task of the group starts or has got a reservation, or none waits any more: how long its
    /// turn was passed over is forgotten.
    #[inline]
    pub(super) fn note_turn_taken(&mut self, slot: u32) {
        if let Some(holds) = &mut self.holds {
            holds.passed.remove(&slot);
        }
    }

    /// Where all waiting tasks of the job have reservations, queues that stand by the arrival of
    /// what waits stand by others.
    fn note_job_held(&mut self, slot: u32) {
        let none = self.holds.as_ref().is_none_or(|holds| holds.list.is_empty());
        if none || !self.books.orders_by_arrival() {
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

    /// Starts what is first in order of the reservations whose room is there.
    fn start_held(&mut self, explain: bool) -> Option<Start> {
        let holds = self.holds.as_ref()?;
        // The plan says that there is room; a state from elsewhere may not be so exact.
        let due = |hold: &Hold| {
            let shape = self.work.group(hold.slot).turn();
            let has_room = |(node, part): (NodeRow, Part)| {
                self.room.could_start(shape, node)
                    && part.need.demand.fits_in(&self.room.free(node))
            };
            hold.at == Some(self.now) && hold.parts().all(has_room)
        };
        let index = holds.list.iter().position(due)?;
        let hold = self.holds.as_mut()?.remove(index);
        let shape = self.work.group(hold.slot).turn();
        self.room.add_waiting(shape, hold.covers);
        let reason = explain.then(|| Reason {
            reserved_for: Some(self.now.saturating_since(hold.since)),
            ..Reason::of("where its room was held")
        });
        if self.room.turn_of(shape) == 1 {
            return Some(self.start(hold.slot, None, hold.nodes[0].0, reason));
        }
        let each = |&(node, tasks): &(NodeRow, u32)| (0..tasks).map(move |_| node);
        let mut nodes = hold.nodes.iter().flat_map(each);
        self.start_together(hold.slot, hold.tasks(), reason, |_| nodes.next())
    }
}

/// Room that is held for a waiting task, or for all tasks of a gang that start together
/// ([`Engine::reservations`]).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReservationView {
    /// Its job.
    pub job: JobId,
    /// The number of its group among the job's groups: it is the next of that.
    pub group: u32,
    /// What each task asks for.
    pub demand: Resources,
    /// Where room is held, for how many tasks: one, but for a gang. In order of joining.
    pub nodes: Vec<(NodeId, u32)>,
    /// When it is expected to start; `None`: nobody knows, what comes free on the nodes is kept.
    pub at: Option<Time>,
    /// Since when it has the reservation.
    pub since: Time,
    /// How often it was put off, for something ran longer than was expected, or a node went.
    pub moved: u32,
    /// Whether it waits where it is for tasks that were told to stop.
    pub reclaims: bool,
    /// Whether it was put off where estimates are learned: nobody is let in before it any more.
    pub drained: bool,
}

impl ReservationView {
    /// How many tasks start by it.
    pub fn tasks(&self) -> u32 {
        self.nodes.iter().map(|(_, tasks)| tasks).sum()
    }
}

impl Engine {
    /// Whether the policy makes reservations.
    pub fn makes_reservations(&self) -> bool {
        self.holds.is_some()
    }

    /// All reservations, in the order in which they were made, as of the last decision. O(these).
    pub fn reservations(&self) -> impl Iterator<Item = ReservationView> + '_ {
        let list = self.holds.iter().flat_map(|holds| &holds.list);
        // Of a node that is forgotten nothing can be told; the next decision finds another.
        list.filter(|hold| !hold.is_on(NOWHERE)).map(|hold| {
            let group = self.work.group(hold.slot);
            let (job, group, id) = (group.job, group.number, |node| self.room.id(node));
            let nodes = hold.nodes.iter().map(|&(node, tasks)| (id(node), tasks)).collect();
            let Hold { at, since, moved, drained, need, .. } = hold;
            let (at, since, moved, drained, demand) = (*at, *since, *moved, *drained, need.demand);
            let reclaims = hold.is_pinned();
            ReservationView { job, group, demand, nodes, at, since, moved, reclaims, drained }
        })
    }
}
