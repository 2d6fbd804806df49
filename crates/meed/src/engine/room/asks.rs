//! What tasks ask of a node and what it has for them, as amounts that are compared kind by kind.
//!
//! Where room is held for somebody, how long a task may run decides as well as what it asks for
//! (`openings`). So time is one kind more there, the last:
//!
//! > asks(shape)  = (demand, limit)
//! >
//! > offers(node) = (room_i, until_i - now) for each opening i
//!
//! A task whose shape fits into none of a node's offers fits nowhere on it. Where tasks have as
//! many kinds as there can be, time is left out: then the offers say less.

use super::Room;
use super::lasting::{FOREVER, Offers, asked, lasting};
use super::openings::Openings;
use super::shapes::ShapeId;
use crate::ids::NodeRow;
use crate::resources::{MAX_KINDS, Resources};
use crate::time::Time;

/// Openings that are told apart: the others are one.
const MANY: usize = 8;

impl Room {
    /// See the module.
    pub(in crate::engine) fn asks(&self, shape: ShapeId) -> Resources {
        let row = &self.shapes[shape];
        asked(&row.demand, row.key.limit, self.tells_limits)
    }

    /// The amounts of `room`, for ever.
    pub(in crate::engine) fn for_ever(&self, room: &Resources) -> Resources {
        asked(room, None, self.tells_limits)
    }

    /// Whether some offer of `node` will do; most nodes have one, of all that is free there.
    #[inline]
    pub(super) fn any_offer(&self, node: NodeRow, will_do: impl Fn(&[u64]) -> bool) -> bool {
        if let Some(openings) = self.openings.get(node) {
            let free = self.cluster.free(node);
            return self.offers_by(openings, &free).any(|offer| will_do(offer.as_slice()));
        }
        let free = self.cluster.free_row(node);
        if !self.tells_limits || free.len() == MAX_KINDS {
            // At each end and start: the row is read where it stands.
            return will_do(free);
        }
        will_do(Resources::new(free).with_one_more(FOREVER).as_slice())
    }

    /// See the module.
    pub(super) fn offers(&self, node: NodeRow) -> Offers {
        let mut offers = Offers::new();
        self.add_offers(node, &mut offers);
        offers
    }

    /// The same of several nodes.
    pub(in crate::engine) fn offers_of(&self, nodes: &[NodeRow]) -> Offers {
        let mut offers = Offers::new();
        nodes.iter().for_each(|&node| self.add_offers(node, &mut offers));
        offers
    }

    fn add_offers(&self, node: NodeRow, offers: &mut Offers) {
        let free = self.cluster.free(node);
        match self.openings.get(node) {
            Some(openings) => offers.extend(self.offers_by(openings, &free)),
            None => offers.push(self.for_ever(&free)),
        }
    }

    /// What a node offers that has so much free.
    fn offers_by(&self, openings: &Openings, free: &Resources) -> impl Iterator<Item = Resources> {
        openings.iter().enumerate().take(MANY).map(|(number, (until, room))| {
            let room = room.lowered_to(free);
            let all_others = number + 1 == MANY;
            let micros = match *until == Time::MAX || all_others {
                true => FOREVER,
                false => until.saturating_since(self.now).as_micros(),
            };
            lasting(&room, micros)
        })
    }
}
