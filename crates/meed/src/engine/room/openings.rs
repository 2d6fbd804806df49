//! What may be taken of nodes on which room is held for somebody (`engine::holds`).
//!
//! A node without holds gives what is free on it, for ever. On one with holds a task may start
//! where it is expected to have ended before the held room is wanted, or does not touch it:
//!
//! > a task of demand d and limit l may start now, if d <= room_i with the first i for which
//! > now + l <= until_i
//!
//! Placements are told what may be taken for ever; the rest is looked at here, node by node, when a
//! placement finds nothing. Invariant: rooms fall from one opening to the next. As time passes less
//! may be taken, never more. Cost: O(nodes with holds) where nothing else fits.

use smallvec::SmallVec;

use super::Room;
use super::shapes::{ShapeId, ShapeKey};
use crate::ids::NodeRow;
use crate::resources::Resources;
use crate::time::Time;

/// The openings of one node: until when, and how much. The last is for ever; where one reservation
/// is there are two at most.
pub(in crate::engine) type Openings = SmallVec<[(Time, Resources); 2]>;

/// Whether openings let take as much for as long.
fn was_given(openings: &Openings, (until, room): &(Time, Resources)) -> bool {
    openings.iter().find(|(end, _)| until <= end).is_some_and(|(_, before)| room.fits_in(before))
}

impl Room {
    /// The time goes on.
    #[inline]
    pub(in crate::engine) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// What may be taken of `node` from now on; `None`: all that is free. Whether that may be more
    /// than before: not where it is the same or less, or room is held on a node that had none held.
    pub(in crate::engine) fn set_openings(
        &mut self,
        node: NodeRow,
        openings: Option<&[(Time, Resources)]>,
    ) -> bool {
        let was_open = self.openings.contains(node);
        if was_open != openings.is_some() {
            self.place.set_aside(node, !was_open);
        }
        let more = match openings {
            Some(openings) => match self.openings.get_mut(node) {
                None => {
                    self.openings.insert(node, Openings::from_slice(openings));
                    false
                }
                Some(before) => {
                    if before[..] == *openings {
                        return false;
                    }
                    let more = !openings.iter().all(|opening| was_given(before, opening));
                    // One by one: they are one or two, and no call copies them.
                    before.clear();
                    openings.iter().for_each(|opening| before.push(*opening));
                    more
                }
            },
            None => self.openings.remove(node).is_some(),
        };
        self.tell_free(node);
        more
    }

    /// What may be taken of a node with holds.
    pub(in crate::engine) fn openings(&self, node: NodeRow) -> &[(Time, Resources)] {
        self.openings.get(node).map_or(&[], |openings| openings)
    }

    /// Tells the placement what may be taken of `node`, by whoever and for ever.
    #[inline]
    pub(super) fn tell_free(&mut self, node: NodeRow) {
        let free = self.cluster.free(node);
        match self.openings.get(node).and_then(|all| all.last()) {
            Some((_, lasting)) => self.place.set_free(node, &free.lowered_to(lasting)),
            None => self.place.set_free(node, &free),
        }
    }

    /// Whether holds let a task of this shape start on `node`, if it has room.
    #[inline]
    pub(super) fn is_left_open(&self, key: &ShapeKey, node: NodeRow) -> bool {
        self.openings.get(node).is_none_or(|all| self.opens(key, all))
    }

    fn opens(&self, key: &ShapeKey, openings: &[(Time, Resources)]) -> bool {
        self.opening_for(key, openings).is_some_and(|room| key.demand.fits_in(room))
    }

    /// What tasks of this key may take, by how long they may run.
    pub(super) fn opening_for<'o>(
        &self,
        key: &ShapeKey,
        openings: &'o [(Time, Resources)],
    ) -> Option<&'o Resources> {
        let ends = key.limit.map_or(Time::MAX, |limit| self.now.saturating_add(limit));
        openings.iter().find(|(until, _)| ends <= *until).map(|(_, room)| room)
    }

    /// A node with holds on which a task of this shape may start; with `fresh` of those only.
    pub(super) fn find_opening(&self, shape: ShapeId, fresh: bool) -> Option<NodeRow> {
        let demand = &self.shapes[shape].demand;
        let mut nodes = self.openings.rows();
        nodes.find(|node| (!fresh || self.fresh.contains(node)) && self.fits(shape, demand, *node))
    }
}
