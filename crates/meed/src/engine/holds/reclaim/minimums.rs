//! Which units may not be stopped because a queue above them would hold too little.
//!
//! **Minimum shares.** A queue keeps its minimum share of every resource of which a unit holds
//! some, and as its parent counts all of them: as a scalar, or as a dominant share. The second rule
//! is for queues whose tasks ask for something else than their minimum share names. Without it a
//! queue is below its minimum share once its task has been stopped, and has another stopped in
//! return, for ever.
//!
//! Above the point where the paths part, the winner's turn counts as well.
//!
//! **Changed places.** Where nobody takes a minimum share back, the unit's side holds more than its
//! share of something that the winner's turn asks for; or it holds more for its weight, without
//! what is stopped, than the winner's side does now:
//!
//! > held(last) - stopped over w(last)  >  held(first) over w(first)
//!
//! Else both would change places. Where not all sides can have their shares at once, because tasks
//! are wide or minimum shares take more, they would stop each other in turn.

use super::super::profile::{Signed, add};
use super::places::{Look, Place};
use super::victims::{Sides, Unit};
use crate::engine::core::Core;
use crate::ids::QueueRow;
use crate::resources::Resources;

/// Amounts of some tasks: each resource, and the sum as the parent of a queue counts it.
#[derive(Clone, Default)]
pub(super) struct Sum {
    amounts: Signed,
    scalar: i128,
}

impl Sum {
    fn of_queue(core: &Core, queue: QueueRow) -> Sum {
        let mut sum = Sum { scalar: core.books.scalar_held(queue).into(), ..Sum::default() };
        add(&mut sum.amounts, core.books.held(queue), 1);
        sum
    }

    /// Adds so many equal tasks below a queue, or takes them away.
    fn count(&mut self, core: &Core, queue: QueueRow, demand: &Resources, tasks: i128) {
        add(&mut self.amounts, demand, tasks);
        self.scalar += i128::from(core.books.scalar_of(queue, demand)) * tasks;
    }

    fn less(mut self, other: &Sum) -> Sum {
        let both = self.amounts.iter_mut().zip(&other.amounts);
        both.for_each(|(amount, less)| *amount -= less);
        self.scalar -= other.scalar;
        self
    }

    /// The amounts, none below zero, and the scalar.
    fn plain(&self, kinds: usize) -> (Resources, u64) {
        let plain = |amount: i128| u64::try_from(amount.max(0)).unwrap_or(u64::MAX);
        let amounts: Vec<u64> = self.amounts[..kinds].iter().map(|&amount| plain(amount)).collect();
        (Resources::new(&amounts), plain(self.scalar))
    }
}

impl Core {
    /// Whether a queue that holds `held` has more than its share of something that `turn` asks for.
    pub(super) fn is_beyond_share(
        &self,
        queue: QueueRow,
        held: &Resources,
        turn: &Resources,
    ) -> bool {
        let share = self.tree[queue].share();
        (0..turn.kinds()).any(|kind| turn.get(kind) > 0 && held.get(kind) > share.get(kind))
    }
}

impl Look<'_> {
    /// Whether stopping a unit besides what is stopped at a place already leaves a queue above it
    /// with less than its minimum share.
    pub(super) fn falls_below_minimum(&self, place: &Place, index: usize) -> bool {
        let unit = &self.units[index];
        self.with_minimum(unit).any(|queue| {
            let mut now = Sum::of_queue(self.core, queue);
            let last = unit.sides.last;
            if queue != last && self.core.tree.path(last).contains(&queue) {
                // The winner is below it too.
                for ask in &self.wanted.asks {
                    now.count(self.core, queue, &ask.demand, ask.tasks.into());
                }
            }
            if let Some(lost) = place.lost.get(&queue) {
                now = now.less(lost);
            }
            let mut less = Sum::default();
            let tasks = self.taken_with(place, index).into_iter();
            for &task in tasks.flat_map(|unit| &self.units[unit].tasks) {
                less.count(self.core, queue, self.core.demand_of_task(task), 1);
            }
            self.is_short(queue, &now, &less)
        })
    }

    /// Whether the sides of a unit would change places, were it stopped besides what is stopped at
    /// a place already.
    pub(super) fn changes_places(&self, place: &Place, index: usize) -> bool {
        let (core, unit) = (self.core, &self.units[index]);
        let Sides { first, last } = unit.sides;
        if core.is_owed_minimum_by(&unit.sides) {
            return false;
        }
        let (held, turn) = (core.books.held(last), &self.wanted.turn);
        if core.is_beyond_share(last, held, turn) {
            return false;
        }
        let mut now = Sum::of_queue(core, last);
        if let Some(lost) = place.lost.get(&last) {
            now = now.less(lost);
        }
        let mut less = Sum::default();
        let tasks = self.taken_with(place, index).into_iter();
        for &task in tasks.flat_map(|unit| &self.units[unit].tasks) {
            less.count(core, last, core.demand_of_task(task), 1);
        }
        !core.books.holds_more((last, now.less(&less).plain(turn.kinds())), first)
    }

    /// Whether a queue that loses so much of what it holds falls below its minimum share.
    fn is_short(&self, queue: QueueRow, now: &Sum, less: &Sum) -> bool {
        let min = self.core.tree[queue].min().unwrap_or_default();
        let then = now.clone().less(less);
        let short = |kind: usize| {
            let least = min.get(kind);
            less.amounts[kind] > 0 && least > 0 && then.amounts[kind] < i128::from(least)
        };
        let kinds = min.kinds();
        (0..kinds).any(short)
            || self.core.books.falls_below_minimum(queue, now.plain(kinds), then.plain(kinds))
    }

    /// What queues lose, of which that counts, when the tasks of a unit are stopped, or are not.
    pub(super) fn count_lost(&self, place: &mut Place, unit: &Unit, stops: bool) {
        let last = unit.sides.last;
        let others = self.with_minimum(unit).filter(|&queue| queue != last);
        for queue in others.chain([last]) {
            let lost = place.lost.entry(queue).or_default();
            for &task in &unit.tasks {
                let demand = self.core.demand_of_task(task);
                lost.count(self.core, queue, demand, if stops { 1 } else { -1 });
            }
        }
    }

    /// The queues above a unit that have minimum shares.
    fn with_minimum(&self, unit: &Unit) -> impl Iterator<Item = QueueRow> + '_ {
        let up = self.core.tree.up(unit.leaf).map(|(queue, _)| queue);
        up.filter(|&queue| self.core.tree[queue].min().is_some())
    }
}
