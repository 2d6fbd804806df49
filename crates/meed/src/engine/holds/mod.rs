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
mod hold;
mod idle;
pub(super) mod kept;
mod notices;
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
pub(super) mod view;

use std::collections::{BTreeSet, VecDeque};

use smallvec::{SmallVec, smallvec};

use super::core::Core;
use super::reserved::Reserved;
use super::room::ShapeId;
use super::row_map::RowMap;
use crate::ids::{AllocationId, NodeRow};
use crate::node_rows::Moves;
use crate::policy::{Blocked, Estimates, Policy, Reservations as Most};
use crate::reclaim::Reclaim;
use crate::stop::Stop;
use crate::time::{Span, Time};
use before::StoppedBefore;
use hold::{Hold, IdleThere, NOWHERE, Starter};
use kept::Kept;
use outlook::Outlook;
use profile::Need;
use rows::RowSet;

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

impl Core {
    /// Whether a reservation may stay on a node, which may have left.
    fn may_stay(&self, hold: &Hold, node: NodeRow) -> bool {
        node.index() < self.room.nodes() && self.is_possible(hold, node)
    }

    /// What tasks of a shape need.
    fn need(&self, shape: ShapeId) -> Need {
        Need { demand: *self.room.demand(shape), limit: self.room.limit(shape) }
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

    /// Whether a node could hold what a reservation holds there, were nothing of ours there.
    fn is_possible(&self, hold: &Hold, node: NodeRow) -> bool {
        let shape = self.work.group(hold.slot()).turn();
        let room = &self.room;
        if hold.alone_on().is_some() {
            return room.could_start(shape, node);
        }
        match &hold.on(node)[..] {
            [tasks] => room.copies_on(shape, node) >= u64::from(*tasks),
            all => room.could_hold_parts(shape, node, all),
        }
    }
}
