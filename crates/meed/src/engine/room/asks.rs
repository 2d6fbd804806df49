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

use smallvec::SmallVec;

use super::{Openings, Room, ShapeId};
use crate::resources::{MAX_KINDS, Resources};
use crate::spec::NodeRow;
use crate::time::{Span, Time};

/// What a node has, by how long it is taken.
pub(in crate::engine) type Offers = SmallVec<[Resources; 1]>;

/// Of whoever may run as long as he likes. More than that is nobody's.
const FOREVER: u64 = u64::MAX - 1;

/// Openings that are told apart: the others are one.
const MANY: usize = 8;

/// Amounts, and for how long.
fn lasting(amounts: &Resources, micros: u64) -> Resources {
    let kinds = amounts.kinds();
    if kinds == MAX_KINDS {
        return *amounts;
    }
    amounts.with_one_more(micros)
}

/// The same of amounts that stand elsewhere, told to `look`: nothing of it is moved.
#[inline]
fn look_at_lasting(
    kinds: usize,
    amount: impl Fn(usize) -> u64,
    micros: u64,
    look: impl FnOnce(&[u64]) -> bool,
) -> bool {
    let mut row = [0; MAX_KINDS];
    (0..kinds).for_each(|kind| row[kind] = amount(kind));
    match row.get_mut(kinds) {
        Some(time) => {
            *time = micros;
            look(&row[..=kinds])
        }
        None => look(&row),
    }
}

/// What tasks of this demand ask for.
pub(super) fn asked(demand: &Resources, limit: Option<Span>, tells_limits: bool) -> Resources {
    match tells_limits {
        true => lasting(demand, limit.map_or(FOREVER, |limit| limit.as_micros().min(FOREVER))),
        false => *demand,
    }
}

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
        let free = self.cluster.free_row(node);
        if let Some(openings) = self.openings_on(node) {
            return self.offers_by(openings).any(|(room, micros)| {
                let amount = |kind: usize| room.get(kind).min(free[kind]);
                look_at_lasting(free.len(), amount, micros, &will_do)
            });
        }
        if !self.tells_limits || free.len() == MAX_KINDS {
            // At each end and start: the row is read where it stands.
            return will_do(free);
        }
        look_at_lasting(free.len(), |kind| free[kind], FOREVER, will_do)
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
        match self.openings_on(node) {
            Some(openings) => {
                let all = self.offers_by(openings);
                offers.extend(all.map(|(room, micros)| lasting(&room.lowered_to(&free), micros)));
            }
            None => offers.push(self.for_ever(&free)),
        }
    }

    /// The openings of a node on which room is held.
    #[inline]
    fn openings_on(&self, node: NodeRow) -> Option<&Openings> {
        if self.openings.is_empty() { None } else { self.openings.get(node) }
    }

    /// What a node offers of what is free there, and for how many microseconds.
    fn offers_by<'o>(
        &self,
        openings: &'o Openings,
    ) -> impl Iterator<Item = (&'o Resources, u64)> + use<'o> {
        let now = self.now;
        openings.iter().enumerate().take(MANY).map(move |(number, (until, room))| {
            let all_others = number + 1 == MANY;
            let micros = match *until == Time::MAX || all_others {
                true => FOREVER,
                false => until.saturating_since(now).as_micros(),
            };
            (room, micros)
        })
    }
}
