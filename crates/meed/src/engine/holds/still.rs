//! Whether all reservations stay as they are, seen without a plan.
//!
//! Most ends change no reservation: what comes free is too little for whoever waits, or comes too
//! late. So before all are looked at by profiles, each is asked for what could change it:
//!
//! - All that is held on its node fits, by all that is held there together.
//! - Its own node has no earlier instant for it, or no less missing, than it had.
//! - No node on which room has come is better, were nothing held there. What runs there ends one by
//!   one, so that room only comes: with free(n, t) what is free there at t,
//!
//! > n is better for one that starts at `at` only if its demand fits in free(n, t), t < at
//! >
//! > for one of which nobody knows when it starts only if free(n, ever) lacks less than its node
//!
//! One with spares is better off on n, too, where n lacks less than the worst of its nodes: n would
//! take the place of that. And it would move to a spare that lacks less than its own node.
//!
//! Where any of this is in doubt (gangs, fewer spares than there may be, room that is taken back,
//! several that drain one node), the answer is no, and `sooner` or the plan decides. Invariant:
//! where the answer is yes, the plan would leave all as it is. Cost: O(tasks on the nodes on which
//! room has come + reservations x these nodes).

use smallvec::SmallVec;

use super::Holds;
use super::hold::Hold;
use super::kept::Kept;
use super::plan::Planned;
use super::profile::{Need, Signed, add, lacks};
use super::rows::RowSet;
use crate::engine::core::Core;
use crate::ids::NodeRow;
use crate::resources::Resources;
use crate::time::Time;

/// So many are checked by the plan at every turn, in builds with checks.
const MANY: usize = 16;

/// What is free on a node, and comes free there, were nothing held.
struct Coming<'a> {
    node: NodeRow,
    free: Signed,
    /// The same when all has ended that is expected to end.
    ever: Signed,
    /// The first expected end.
    first: Time,
    ends: SmallVec<[(Time, &'a Resources); 8]>,
}

impl Coming<'_> {
    /// Whether a task of this need could start before `at`.
    fn fits_before(&self, now: Time, need: &Need, at: Time) -> bool {
        if at <= self.first || !need.fits(&self.ever) {
            return now < at && need.fits(&self.free);
        }
        let mut free = self.free;
        let ended = self.ends.iter().filter(|(end, _)| *end < at);
        ended.for_each(|(_, amounts)| add(&mut free, amounts, 1));
        need.fits(&free)
    }
}

/// What a reservation has, which others have to be better than.
enum Own {
    Starts(Time),
    /// What is missing on the worst of its nodes.
    Misses(u128),
}

impl Holds {
    /// See the module. What a plan forgets of what has happened is forgotten, if so.
    pub(super) fn all_stay(&mut self, core: &Core) -> bool {
        let stay = self.each_stays(core);
        debug_assert!(
            !stay || self.list.len() > MANY || self.plan_agrees(core),
            "a reservation stays that the plan would move"
        );
        if stay {
            let asked = !self.freed.is_empty();
            for hold in &self.list {
                if let Some(kept) = self.kept.get_mut(hold.nodes[0][0].0) {
                    kept.set_fit();
                    // Else nobody has looked for an earlier instant.
                    if asked {
                        kept.set_still();
                    }
                }
            }
            if asked {
                self.forget_news();
            }
        }
        stay
    }

    /// Whether the plan leaves all as it is, too: the slow twin.
    fn plan_agrees(&mut self, core: &Core) -> bool {
        let facts = |hold: &Hold| {
            (hold.nodes.clone(), hold.spares.clone(), hold.at, hold.moved, hold.stays())
        };
        let before: Vec<_> = self.list.iter().map(facts).collect();
        self.plan_on_trial(core, |planned, holds| {
            planned.placeless.is_empty() && holds.list.iter().map(facts).eq(before)
        })
    }

    /// What the plan makes of all reservations, told to `look`; news stay what they were.
    pub(super) fn plan_on_trial<T>(
        &mut self,
        core: &Core,
        look: impl FnOnce(&Planned, &Holds) -> T,
    ) -> T {
        let (before, misses) = (self.happened(), self.misses);
        let planned = self.keep_places(core);
        let seen = look(&planned, self);
        [self.freed, self.vacated, self.pushed, self.touched] = before;
        self.misses = misses;
        seen
    }

    fn each_stays(&mut self, core: &Core) -> bool {
        if let Some(misses) = self.misses_as_before(core) {
            return !self.any_freed_misses_less(core, misses);
        }
        let freed = !self.freed.is_empty();
        let mut coming: SmallVec<[Coming<'_>; 1]> = SmallVec::new();
        self.others_with_room(core).for_each(|node| coming.push(core.coming_on(node)));
        for index in 0..self.list.len() {
            let Some(own) = self.own_if_sound(core, index, freed) else { return false };
            if let Own::Misses(most) = own
                && freed
            {
                self.misses = (self.list.len() == 1).then_some(most);
            }
            let hold = &self.list[index];
            let others = coming.iter().filter(|other| !hold.is_on(other.node));
            if others.into_iter().any(|other| core.may_be_better(other, hold.need(), &own)) {
                return false;
            }
        }
        true
    }

    /// Nodes on which room has come; one on which all reservations are is asked as their own.
    fn others_with_room<'h>(&'h self, core: &'h Core) -> impl Iterator<Item = NodeRow> + 'h {
        let freed = !self.freed.is_empty();
        let rows = freed.then(|| self.freed.iter().chain(self.vacated.iter()));
        rows.into_iter().flatten().copied().filter(|node| {
            node.index() < core.room.nodes() && !self.list.iter().all(|hold| hold.is_on(*node))
        })
    }

    /// What the only reservation misses on the worst of its nodes, if nothing has happened there
    /// since that was seen, nor by time alone.
    fn misses_as_before(&self, core: &Core) -> Option<u128> {
        let [hold] = &self.list[..] else { return None };
        let as_before = self.pushed.is_empty() && !hold.reclaims && !hold.stays();
        self.misses.filter(|_| as_before && !core.room.any_limited())
    }

    /// Whether less is missing for the only reservation on a node on which room has come.
    fn any_freed_misses_less(&self, core: &Core, misses: u128) -> bool {
        let need = self.list[0].need();
        self.others_with_room(core)
            .any(|node| core.misses_less(need, &core.room.balance(node), misses))
    }

    /// What the reservation has, if it keeps its place and has no better one on its own node;
    /// `freed`: whether room has come anywhere.
    fn own_if_sound(&mut self, core: &Core, index: usize, freed: bool) -> Option<Own> {
        let hold = &self.list[index];
        let node = hold.alone_on()?;
        let pushed = freed && hold.rows().any(|row| self.pushed.contains(&row));
        let lacks_spares = hold.at.is_none() && hold.spares.len() < self.spares as usize;
        if hold.reclaims || hold.stays() || lacks_spares || pushed {
            return None;
        }
        let kept = self.kept.get_mut(node)?;
        kept.profile.advance(core.now);
        let late = kept.first_end() <= core.now || hold.at.is_some_and(|at| at < core.now);
        let fits = kept.all_fit()
            || kept.surely_fit() && (kept.all_possible() || core.is_possible(hold, node));
        if late || !fits {
            return None;
        }
        let need = hold.need();
        match hold.at {
            Some(at) => (!freed || kept.is_earliest(need, at)).then_some(Own::Starts(at)),
            None => {
                let own = if freed { core.misses(kept, need)? } else { 0 };
                self.worst_of_spares(core, index, own, freed).map(Own::Misses)
            }
        }
    }

    /// What is missing on the worst of its nodes, of which its own misses so much. `None`:
    /// it may be worth to move to a spare, or one is lost.
    fn worst_of_spares(
        &mut self,
        core: &Core,
        index: usize,
        own: u128,
        freed: bool,
    ) -> Option<u128> {
        let hold = &self.list[index];
        let mut worst = own;
        for &spare in &hold.spares {
            let kept = self.kept.get_mut(spare)?;
            kept.profile.advance(core.now);
            if kept.first_end() <= core.now || !core.is_possible(hold, spare) {
                return None;
            }
            if freed {
                let missing = core.misses(kept, hold.need()).filter(|missing| *missing >= own)?;
                worst = worst.max(missing);
            }
        }
        Some(worst)
    }
}

impl Core {
    /// Whether less than `most` is missing for such a need where so much is free.
    fn misses_less(&self, need: &Need, free: &Signed, most: u128) -> bool {
        need.fits(free) || self.rank_missing(&lacks(&need.demand, free)).2 < most
    }

    /// What is free on a node from now on, were nothing held there.
    fn coming_on(&self, node: NodeRow) -> Coming<'_> {
        let free = self.room.balance(node);
        let mut coming = Coming { node, free, ever: free, first: Time::MAX, ends: SmallVec::new() };
        for (end, amounts) in self.ends_on(node) {
            add(&mut coming.ever, amounts, 1);
            coming.first = coming.first.min(end);
            coming.ends.push((end, amounts));
        }
        coming
    }

    /// Whether a task of this need could start on the node at `at` or before, were nothing held
    /// there.
    pub(super) fn may_start_by(&self, node: NodeRow, need: &Need, at: Time) -> bool {
        let mut free = self.room.balance(node);
        let ended = self.ends_on(node).filter(|(end, _)| *end <= at);
        ended.for_each(|(_, amounts)| add(&mut free, amounts, 1));
        need.fits(&free)
    }

    /// What a reservation that drains a node misses there, where it is the only one there.
    fn misses(&self, kept: &Kept, need: &Need) -> Option<u128> {
        Some(self.rank_missing(&kept.still_missing(&need.demand)?).2)
    }

    fn may_be_better(&self, other: &Coming, need: &Need, own: &Own) -> bool {
        match *own {
            Own::Starts(at) => other.fits_before(self.now, need, at),
            Own::Misses(most) => self.misses_less(need, &other.ever, most),
        }
    }
}

impl Holds {
    /// Nothing is held, nor was: what has happened concerns nobody.
    pub(super) fn forget_all_news(&mut self) {
        let sets = [&mut self.freed, &mut self.vacated, &mut self.pushed, &mut self.touched];
        sets.into_iter().for_each(RowSet::clear);
    }

    /// What has happened changes nothing more: all reservations were asked, or none is left.
    pub(super) fn forget_news(&mut self) {
        self.pushed.clear();
        self.touched.append(&mut self.vacated);
        self.touched.append(&mut self.freed);
    }
}
