//! What the rest of the engine tells reservations: tasks start and end, nodes and shares change,
//! and fewer tasks wait. Where the policy makes none, nothing happens.

use smallvec::SmallVec;

use super::hold::Hold;
use super::{Holds, Reservations};
use crate::engine::core::Core;
use crate::engine::room::shapes::ShapeId;
use crate::ids::NodeRow;
use crate::time::Time;

impl Reservations {
    /// A task of this shape starts on the node, and takes its room.
    #[inline]
    pub(in crate::engine) fn started(&mut self, core: &mut Core, node: NodeRow, shape: ShapeId) {
        let Some(holds) = &mut self.holds else { return };
        holds.touch_node(core, node, false);
        let (now, need) = (core.now, core.need(shape));
        let own_node = core.room.wants_own_nodes(shape);
        holds.outlook.starts(now, node, &need);
        if let Some(kept) = holds.kept.get_mut(node) {
            kept.starts(now, &need, own_node);
        }
    }

    /// A task of this shape, which began at `started`, has given back its room on the node.
    #[inline]
    pub(in crate::engine) fn ended(
        &mut self,
        core: &mut Core,
        node: NodeRow,
        shape: ShapeId,
        started: Time,
    ) {
        let Some(holds) = &mut self.holds else { return };
        holds.touch_node(core, node, true);
        let (now, need) = (core.now, core.need(shape));
        holds.outlook.ends(node, &need);
        if let Some(kept) = holds.kept.get_mut(node) {
            kept.ends(now, started, &need);
        }
    }

    /// What is free on the node has changed; whether more may be.
    #[inline]
    pub(in crate::engine) fn touch_node(&mut self, core: &mut Core, node: NodeRow, freed: bool) {
        if let Some(holds) = &mut self.holds {
            holds.touch_node(core, node, freed);
        }
    }

    /// Maximum shares have changed: who has reservations is asked whether it may have more.
    pub(in crate::engine) fn maximums_changed(&mut self) {
        if let Some(holds) = &mut self.holds {
            holds.touched.extend(holds.list.iter().flat_map(Hold::rows));
        }
    }

    /// The pool has changed, by which what is missing is weighed: all are looked for anew when room
    /// comes free next.
    pub(in crate::engine) fn pool_changed(&mut self) {
        if let Some(holds) = &mut self.holds {
            holds.pushed.extend(holds.list.iter().flat_map(Hold::rows));
        }
    }

    /// Something happened on the node that no plan reckoned with: room may have come free, or be
    /// lost.
    pub(in crate::engine) fn upset_node(&mut self, core: &mut Core, node: NodeRow, freed: bool) {
        if let Some(holds) = &mut self.holds {
            holds.touch_node(core, node, freed);
            holds.outlook.upset(node);
            holds.kept.remove(node);
            holds.pushed.insert(node);
        }
    }

    /// The group's tasks may be on other nodes than before: those of its reservations that may not
    /// stay where they are are given up, and the others are looked at anew.
    pub(in crate::engine) fn nodes_of_group_changed(&mut self, core: &mut Core, slot: u32) {
        if core.reserved.of_group(slot) == 0 {
            return;
        }
        let turn = core.work.group(slot).turn();
        let mut any_stays = false;
        let Some(holds) = &mut self.holds else { return };
        for index in (0..holds.list.len()).rev() {
            let hold = &holds.list[index];
            if !hold.is_of(slot) {
                continue;
            }
            let stays = hold.nodes.iter().flatten().all(|(node, _)| core.may_stay(hold, *node));
            any_stays |= stays;
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
        if any_stays {
            // Nodes on which it could not be before may have had room all along.
            let nodes = (0..core.room.nodes() as u32).map(NodeRow);
            holds.freed.extend(nodes.filter(|&node| core.room.could_start(turn, node)));
        }
    }

    /// Fewer tasks of the group may wait than have reservations: the latest of those are given up.
    pub(in crate::engine) fn drop_surplus(&mut self, core: &mut Core, slot: u32) {
        if self.holds.is_some() {
            self.drop_beyond(core, slot, core.work.group(slot).waiting());
        }
    }

    /// What the group's tasks wait for is another: none of them has a reservation any more.
    pub(in crate::engine) fn drop_all_of(&mut self, core: &mut Core, slot: u32) {
        self.drop_beyond(core, slot, 0);
    }

    fn drop_beyond(&mut self, core: &mut Core, slot: u32, most: u64) {
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
    pub(in crate::engine) fn drop_on(&mut self, core: &mut Core, slot: u32, node: NodeRow) {
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
}

impl Holds {
    /// See [`Reservations::touch_node`].
    #[inline]
    fn touch_node(&mut self, core: &mut Core, node: NodeRow, freed: bool) {
        self.outlook.touch(node);
        if self.misses.is_some() && self.list.first().is_some_and(|hold| hold.is_on(node)) {
            self.misses = None;
        }
        match freed {
            true => {
                self.freed.insert(node);
                core.reserved.forget_hopeless();
            }
            false => self.touched.insert(node),
        }
    }
}
