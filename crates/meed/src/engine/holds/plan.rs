//! Where and when held tasks can start: plans are made of profiles, node by node.
//!
//! Where all may not stay as they are (`still`), nor just the only one moves up (`sooner`), every
//! reservation is looked at in the order in which they were made. Those that stand on nodes where
//! nothing but ends happened are known to fit; on other nodes they are taken one by one. A search
//! over all nodes asks `outlook` which are worth a profile.

use std::collections::BTreeSet;

use smallvec::{SmallVec, smallvec};

use super::Holds;
use super::best::{Best, Rank};
use super::hold::{Hold, IdleThere, NOWHERE, Part, Places, Spares};
use super::kept::{Kept, expected_end};
use super::outlook::Outlook;
use super::profile::{Need, Profile, Signed, add, lacks};
use super::rows::RowSet;
use crate::engine::core::Core;
use crate::engine::holds::Reservations;
use crate::engine::room::openings::Openings;
use crate::engine::room::shapes::ShapeId;
use crate::engine::row_map::RowMap;
use crate::ids::{AllocationId, NodeRow};
use crate::place::{Seeker, parts_of_pool};
use crate::resources::Resources;
use crate::time::Time;

/// From when on, where that is known, and where.
pub(super) type Place = (Option<Time>, Places);

/// Of so many nodes all are looked at besides, in builds with checks.
const MANY: usize = 4096;

/// So many profiles stay whether something is held there or not: the next reservation may be for
/// one of these nodes.
const FEW: usize = 4;

/// What a plan works on: the profiles of nodes that were looked at, with what is held on them.
pub(super) struct Plan<'a> {
    pub(super) core: &'a Core,
    pub(super) kept: RowMap<Kept>,
    outlook: Outlook,
    /// Nodes on which something happened since the last plan.
    aside: Vec<NodeRow>,
}

/// What came of a plan.
#[derive(Default)]
pub(super) struct Planned {
    /// The places in the list of those for which there is no node.
    pub(super) placeless: Vec<usize>,
    /// Whether one whose start was known has none any more. Only those after it can have taken it,
    /// which give way to it in the same plan: so another plan is made at once, for nothing may ever
    /// end that would bring one.
    pub(super) some_lost: bool,
}

/// Nodes that were found to be other than they were, while one reservation is looked at after the
/// other.
#[derive(Default)]
pub(super) struct News {
    /// They may be better than when they were looked at last.
    pub(super) freed: RowSet,
    /// The same, for those that are looked at next time.
    vacated: RowSet,
    /// They may be worse.
    pub(super) pushed: RowSet,
}

fn is_later(before: Option<Time>, now: Option<Time>) -> bool {
    before.is_some_and(|before| now.is_none_or(|now| now > before))
}

impl Reservations {
    /// What may be taken of the nodes that were touched, made anew; whoever that helps is told.
    pub(in crate::engine) fn replan_openings(&mut self, core: &mut Core) {
        match &mut self.holds {
            Some(holds) => holds.replan_openings(core),
            None => core.room.sift_fresh(),
        }
    }
}

impl Holds {
    /// The best place of all for the next turn of a shape: from when on, and where, with spares.
    pub(super) fn find_place(&mut self, core: &Core, shape: ShapeId) -> Option<(Place, Spares)> {
        let need = core.need(shape);
        let mut plan = Plan::new(core, self);
        plan.keep_up(&self.list);
        let found = match core.room.turn_of(shape) {
            1 => plan.best_with_spares(shape, &need, self.spares),
            _ => plan.spread(shape, None).map(|place| (place, Spares::new())),
        };
        let nodes = found.as_ref().map(|((_, nodes), _)| nodes);
        let alone = nodes.filter(|nodes| nodes.len() == 1 && nodes[0].len() == 1);
        plan.finish(self, alone.map(|nodes| nodes[0][0].0));
        found
    }

    /// Whether something has happened since the last plan by which reservations may change; those
    /// of queues that may have no more are given up.
    pub(super) fn is_plan_due(&mut self, core: &mut Core) -> bool {
        if self.list.is_empty() && self.nodes.is_empty() {
            // Nothing is held, nor was: whatever happened changes no plan.
            self.forget_all_news();
            return false;
        }
        let slips = self.nodes.iter().filter(|(_, slips)| **slips <= core.now);
        slips.for_each(|(node, _)| self.touched.insert(node));
        let passed = self.list.iter().filter(|hold| hold.at.is_some_and(|at| at < core.now));
        passed.for_each(|hold| self.touched.extend(hold.rows()));
        if self.touched.is_empty() && self.freed.is_empty() {
            return false;
        }
        if core.tree.has_maximums() {
            self.let_capped_go(core);
        }
        let held = |node: &NodeRow| *node == NOWHERE || self.nodes.contains(*node);
        if self.freed.is_empty() && !self.touched.iter().any(held) {
            // What starts elsewhere changes no plan.
            self.touched.clear();
            return false;
        }
        true
    }

    /// Brings all reservations up to date at a decision: those that cannot be kept get others, and
    /// where room has come free each is moved to an earlier instant if it can be.
    pub(super) fn replan(&mut self, core: &mut Core) {
        if !self.all_stay(core) && !self.moves_up(core) {
            self.plan_anew(core);
        }
        self.replan_openings(core);
    }

    /// Not all reservations may stay: they are planned until nobody loses a known start by that.
    #[inline(never)]
    fn plan_anew(&mut self, core: &mut Core) {
        let (mut lost, most) = (0, self.list.len());
        loop {
            let Planned { placeless, some_lost } = self.keep_places(core);
            // Each that lost its instant has one, or none for good, when others have given way.
            debug_assert!(lost <= most, "reservations take turns to lose their place");
            let some_lost = some_lost && lost < most;
            lost += usize::from(some_lost);
            if some_lost {
                self.freed.append(&mut self.vacated);
            }
            if placeless.is_empty() && !some_lost {
                return;
            }
            if !placeless.is_empty() {
                // They are not in these.
                self.kept.clear();
            }
            // No node can hold them any more: they wait in the walk for one. What they had is free.
            placeless.into_iter().rev().for_each(|index| self.let_go(core, index));
            if self.all_stay(core) {
                return;
            }
        }
    }

    /// Reservations of queues that may have no more are given up.
    #[inline(never)]
    fn let_capped_go(&mut self, core: &mut Core) {
        let mut index = 0;
        while let Some(hold) = self.list.get(index) {
            let shape = core.work.group(hold.slot()).turn();
            let (leaf, demand) = (core.leaf_of(hold.slot()), core.room.demand_of_turn(shape));
            match core.books.capped_by(&core.tree, leaf, &demand) {
                Some(_) => self.let_go(core, index),
                None => index += 1,
            }
        }
    }

    /// See [`Reservations::replan_openings`].
    pub(super) fn replan_openings(&mut self, core: &mut Core) {
        let nodes = core.room.nodes();
        while let Some(node) = self.touched.pop_first() {
            if node.index() >= nodes {
                // It is gone.
                continue;
            }
            if self.list.iter().any(|hold| hold.is_on(node)) {
                self.reopen(core, node);
                continue;
            }
            if self.kept.len() > FEW {
                self.kept.remove(node);
            }
            if self.nodes.remove(node).is_some() {
                self.settle_idle(core, node, IdleThere::new());
                if core.room.set_openings(node, None) {
                    core.unblock(node);
                }
            }
        }
        core.room.sift_fresh();
    }

    /// What may be taken of a node with holds, made anew.
    fn reopen(&mut self, core: &mut Core, node: NodeRow) {
        let kept = self.keep_up_with(core, node);
        let (mut openings, first_end) = (Openings::new(), kept.first_end());
        kept.add_openings(&mut openings);
        self.nodes.insert(node, first_end);
        let lasting = openings.last().expect("the last is for ever").1;
        self.settle_idle(core, node, self.idle_on(core, node, &lasting));
        if core.room.set_openings(node, Some(&openings)) {
            core.unblock(node);
        }
    }

    /// The profile of a node with holds, kept as of now.
    fn keep_up_with(&mut self, core: &Core, node: NodeRow) -> &mut Kept {
        let now = core.now;
        match self.kept.get_mut(node).filter(|kept| kept.first_end() > now) {
            Some(kept) => kept.profile.advance(now),
            None => self.keep_anew(core, node),
        }
        debug_assert!(self.is_kept_as_is(core, node), "a profile is what it would be, made anew");
        self.kept.get_mut(node).expect("it is there now")
    }

    /// It is made anew, from what runs and is held there.
    #[cold]
    fn keep_anew(&mut self, core: &Core, node: NodeRow) {
        self.kept.insert(node, core.profile_with_holds(node, &self.list));
    }

    fn is_kept_as_is(&self, core: &Core, node: NodeRow) -> bool {
        let as_made = |kept: &Kept| kept.is_like(&core.profile_with_holds(node, &self.list));
        self.kept.get(node).is_some_and(|kept| kept.profile.is_long() || as_made(kept))
    }

    /// See [`Reservations::replan`]; `holds` are out of the engine meanwhile.
    pub(super) fn keep_places(&mut self, core: &Core) -> Planned {
        self.misses = None;
        self.drop_lost_spares(core);
        let mut plan = Plan::new(core, self);
        let homeless = plan.find_homeless(&mut self.list);
        // One of which nobody knows when it starts takes nothing from those before it.
        for (hold, homeless) in self.list.iter().zip(&homeless) {
            if hold.at.is_none() && !homeless && !hold.is_pinned() {
                plan.give_back(hold);
            }
        }
        let mut news = News::of(self, &homeless);
        let mut planned = Planned::default();
        // What is freed for one that waits for stopped tasks is its own: it is looked at first.
        let mut order: Vec<usize> = (0..homeless.len()).collect();
        order.sort_by_key(|&index| homeless[index] || !self.list[index].is_pinned());
        for index in order {
            let homeless = homeless[index];
            let hold = &mut self.list[index];
            if hold.reclaims && hold.at.is_some() && !homeless {
                // The room that was freed for it is there: it starts before anybody else gets it.
                self.touched.extend(hold.rows());
                continue;
            }
            if news.freed.is_empty() && !homeless {
                if hold.at.is_none() && !hold.is_pinned() {
                    plan.put_back(hold);
                }
                continue;
            }
            let own = match hold.stays() && !homeless {
                true => plan.own_place_now(hold, &self.stopping),
                false => None,
            };
            hold.reclaims &= own.is_some();
            let better = own.or_else(|| plan.find_better(hold, homeless, &news));
            let Some((at, nodes)) = better else {
                planned.placeless.push(index);
                continue;
            };
            if !homeless && at.is_some() && (at, &nodes) == (hold.at, &hold.nodes) {
                // It takes what it took.
                self.touched.extend(hold.rows());
                continue;
            }
            let hold = &mut self.list[index];
            let before = hold.clone();
            let later = is_later(before.at, at);
            hold.moved = hold.moved.saturating_add(u32::from(later));
            hold.drained |= later && self.drains;
            // Where it could start now it does; elsewhere it would begin to wait anew.
            let waits_on = hold.drained && at != Some(core.now);
            planned.some_lost |= before.at.is_some() && at.is_none();
            hold.at = at.filter(|_| !waits_on);
            hold.nodes = if waits_on && !homeless { before.nodes.clone() } else { nodes };
            hold.spares.clear();
            plan.settle(&before, homeless, hold);
            plan.settle_spares(hold, (&before, homeless), self.spares, &news);
            if hold.stays() && !before.stays() {
                // For those that come before it: what it waits for is kept for it from now on.
                self.pushed.extend(hold.rows());
            }
            self.touched.extend(before.rows().chain(hold.rows()));
            let place = (&hold.nodes, &hold.spares, at);
            if place != (&before.nodes, &before.spares, before.at) {
                // Those before it have not looked at these, and are to next time.
                news.freed.extend(self.vacated.iter().copied());
                news.freed.extend(before.rows());
                news.vacated.extend(before.rows());
                // For those that come after it.
                news.pushed.extend(hold.rows());
            }
        }
        self.touched.append(&mut news.freed);
        self.vacated.append(&mut news.vacated);
        plan.finish(self, None);
        planned.placeless.sort_unstable();
        planned
    }
}

impl Core {
    /// When tasks that run on a node are expected to end, as far as anybody knows, and what comes
    /// free then. Where no task has a limit nobody asks who runs there: then no lists by node are
    /// kept for it.
    pub(super) fn ends_on(&self, node: NodeRow) -> impl Iterator<Item = (Time, &Resources)> {
        let limited = self.room.any_limited().then(|| self.work.on_node(node));
        limited.into_iter().flatten().filter_map(|task| {
            let limit = self.room.limit(task.shape);
            let end = expected_end(task.started, limit, self.now)?;
            Some((end, self.room.demand(task.shape)))
        })
    }

    /// What is free on a node from now on, but for holds.
    pub(super) fn profile_of(&self, node: NodeRow) -> Kept {
        let ends = self.ends_on(node).map(|(end, amounts)| (end, *amounts));
        let mut ends: Vec<(Time, Resources)> = ends.collect();
        ends.sort_unstable_by_key(|(at, _)| *at);
        let free = self.room.balance(node);
        let profile = Profile::new(self.kinds.len(), self.now, &free, &ends);
        Kept::new(self.now, profile)
    }

    /// The same with what these hold there.
    pub(super) fn profile_with_holds<'h>(
        &self,
        node: NodeRow,
        list: impl IntoIterator<Item = &'h Hold>,
    ) -> Kept {
        let mut kept = self.profile_of(node);
        let parts = list.into_iter().flat_map(Hold::parts).filter(|(on, _)| *on == node);
        parts.for_each(|(_, part)| kept.put_back(&part));
        kept
    }

    pub(super) fn rank(&self, profile: &Profile, need: &Need) -> Rank {
        match profile.earliest(need) {
            Some(at) => (false, at, 0),
            None => self.rank_missing(&profile.missing(&need.demand)),
        }
    }

    /// The same on a node without holds, where nothing is expected to end.
    fn rank_as_it_is(&self, node: NodeRow, need: &Need) -> Rank {
        let free = self.room.balance(node);
        match need.fits(&free) {
            true => (false, self.now, 0),
            false => self.rank_missing(&lacks(&need.demand, &free)),
        }
    }

    /// The same on a node without holds, where room only comes: by its tasks alone.
    fn rank_of_tasks(&self, node: NodeRow, need: &Need) -> Rank {
        let mut free = self.room.balance(node);
        let mut ends: SmallVec<[(Time, &Resources); 16]> = self.ends_on(node).collect();
        ends.sort_unstable_by_key(|(at, _)| *at);
        let mut at = self.now;
        for (end, amounts) in ends {
            if end > at && need.fits(&free) {
                return (false, at, 0);
            }
            at = end;
            add(&mut free, amounts, 1);
        }
        match need.fits(&free) {
            true => (false, at, 0),
            false => self.rank_missing(&lacks(&need.demand, &free)),
        }
    }

    pub(super) fn rank_missing(&self, missing: &Signed) -> Rank {
        let part = |(missing, total): (&i128, &u64)| parts_of_pool(missing.unsigned_abs(), *total);
        let parts = missing.iter().zip(self.room.total().as_slice()).map(part);
        (true, Time::MAX, parts.fold(0, u128::saturating_add))
    }
}

impl News {
    /// What is known before the first is looked at.
    fn of(holds: &mut Holds, homeless: &[bool]) -> News {
        let mut news = News { freed: std::mem::take(&mut holds.freed), ..News::default() };
        if news.freed.is_empty() {
            news.pushed = holds.pushed.clone();
        } else {
            news.pushed = std::mem::take(&mut holds.pushed);
            news.freed.append(&mut holds.vacated);
            let left = holds.list.iter().zip(homeless).filter(|(_, homeless)| **homeless);
            news.freed.extend(left.flat_map(|(hold, _)| hold.rows()));
        }
        news
    }
}

impl<'a> Plan<'a> {
    /// With what is kept of earlier ones.
    fn new(core: &'a Core, holds: &mut Holds) -> Plan<'a> {
        let sets = [&holds.freed, &holds.vacated, &holds.touched];
        let aside = sets.into_iter().flat_map(RowSet::iter);
        Plan {
            core,
            kept: std::mem::take(&mut holds.kept),
            aside: aside.copied().filter(|node| node.index() < core.room.nodes()).collect(),
            outlook: std::mem::take(&mut holds.outlook),
        }
    }

    /// What is kept for the next one: of nodes with holds, and of `node`; where they are few, all.
    fn finish(mut self, holds: &mut Holds, node: Option<NodeRow>) {
        if self.kept.len() > FEW {
            self.kept.retain(|row, kept| kept.has_holds() || Some(row) == node);
        }
        (holds.kept, holds.outlook) = (self.kept, self.outlook);
    }

    /// The profile of a node, with what was taken since.
    pub(super) fn at(&mut self, node: NodeRow) -> &mut Kept {
        self.kept.get_or_insert_with(node, || self.core.profile_of(node))
    }

    fn take(&mut self, hold: &Hold) {
        hold.parts().for_each(|(node, part)| self.at(node).take(&part));
    }

    pub(super) fn put_back(&mut self, hold: &Hold) {
        hold.parts().for_each(|(node, part)| self.at(node).put_back(&part));
    }

    pub(super) fn give_back(&mut self, hold: &Hold) {
        hold.parts().for_each(|(node, part)| self.at(node).give_back(&part));
    }

    /// Time has passed: what is kept is brought up to date, or forgotten where it cannot be.
    fn let_time_pass(&mut self, list: &[Hold]) {
        let now = self.core.now;
        for node in
            list.iter().filter(|hold| hold.at.is_some_and(|at| at < now)).flat_map(Hold::rows)
        {
            self.kept.remove(node);
        }
        self.kept.retain(|_, kept| {
            kept.profile.advance(now);
            kept.first_end() > now
        });
    }

    /// Profiles of all nodes with holds, these included.
    fn keep_up(&mut self, list: &[Hold]) {
        self.let_time_pass(list);
        for node in list.iter().flat_map(Hold::rows) {
            if !self.kept.contains(node) && node.index() < self.core.room.nodes() {
                self.kept.insert(node, self.core.profile_with_holds(node, list));
            }
        }
    }

    /// Whether all reservations on a node were found to fit.
    fn kept_fit(&self, node: NodeRow) -> bool {
        self.kept.get(node).is_some_and(Kept::all_fit)
    }

    fn is_possible(&self, hold: &Hold, node: NodeRow) -> bool {
        self.core.may_stay(hold, node)
    }

    /// Which reservations cannot be kept where and when they are. Those that can are taken.
    fn find_homeless(&mut self, list: &mut [Hold]) -> Vec<bool> {
        self.let_time_pass(list);
        // Where they are looked at one by one.
        let mut anew: BTreeSet<NodeRow> = BTreeSet::new();
        let mut sound: BTreeSet<NodeRow> = BTreeSet::new();
        let rows = list.iter().flat_map(|hold| hold.rows().map(move |node| (hold, node)));
        for (hold, node) in rows {
            if self.kept_fit(node) {
                continue;
            }
            let sure = sound.contains(&node)
                || self.kept.get_mut(node).is_some_and(Kept::has_room_for_all);
            match sure && self.is_possible(hold, node) {
                true => sound.insert(node),
                false => anew.insert(node),
            };
        }
        for node in &anew {
            sound.remove(node);
            self.kept.remove(*node);
        }
        let mut homeless = vec![false; list.len()];
        // What was freed for one by stopping tasks is its own, whoever drains the node before it.
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by_key(|&index| !list[index].reclaims);
        for index in order {
            homeless[index] = !self.keeps_place(&mut list[index], &anew);
        }
        for node in anew.into_iter().chain(sound) {
            if let Some(kept) = self.kept.get_mut(node) {
                kept.set_fit();
            }
        }
        homeless
    }

    /// Whether a reservation can be kept where and when it is; `anew`: nodes on which nothing
    /// is taken but what was found to fit. On others its own is.
    fn keeps_place(&mut self, hold: &mut Hold, anew: &BTreeSet<NodeRow>) -> bool {
        if !hold.rows().any(|node| anew.contains(&node)) {
            return true;
        }
        // One whose instant has come starts, or is late.
        let at = hold.at.map(|at| at.max(self.core.now));
        let mut fits = true;
        for (node, part) in hold.parts() {
            fits &= !anew.contains(&node)
                || self.is_possible(hold, node)
                    && at.is_none_or(|at| self.at(node).profile.fits(&part.need, at));
        }
        for (node, part) in hold.parts() {
            match (fits, anew.contains(&node)) {
                (true, true) => self.at(node).put_back(&Part { at, ..part }),
                (false, false) => self.at(node).give_back(&part),
                _ => {}
            }
        }
        if fits {
            hold.at = at;
        }
        fits
    }

    /// The place of one that stays where it is: it starts as soon as there is room. `None`: there
    /// is none, and no task is being stopped there.
    fn own_place_now(&mut self, hold: &Hold, stopping: &BTreeSet<AllocationId>) -> Option<Place> {
        if hold.is_pinned() {
            self.give_back(hold);
        }
        let now = self.core.now;
        let fits = hold.own_parts().all(|(node, part)| self.at(node).profile.fits(&part.need, now));
        if let Some(spare) = self.spare_with_room(hold).filter(|_| !fits) {
            return Some((Some(now), smallvec![smallvec![(spare, 1)]]));
        }
        let waits = fits || self.core.stops_there(hold, stopping);
        waits.then(|| (fits.then_some(now), hold.nodes.clone()))
    }

    /// The best place for a reservation now; its own unless there is a better one.
    fn find_better(&mut self, hold: &Hold, homeless: bool, news: &News) -> Option<Place> {
        let shape = self.core.work.group(hold.slot()).turn();
        if self.core.room.turn_of(shape) > 1 {
            return self.find_better_spread(shape, hold, homeless);
        }
        if homeless {
            return self.best(shape, hold.need(), None, None);
        }
        let (own, node) = (self.own_rank(hold), hold.nodes[0][0].0);
        // Where its place has become worse, any other may be better.
        let among = (!news.pushed.contains(&node)).then_some(&news.freed);
        self.best(shape, hold.need(), Some((own, node)), among)
    }

    /// What its own node has for a reservation that was not homeless.
    fn own_rank(&mut self, hold: &Hold) -> Rank {
        let core = self.core;
        let (kept, part) = (self.at(hold.nodes[0][0].0), hold.part(1));
        match hold.at {
            Some(at) if kept.each_has_its_own() => {
                (false, kept.profile.earlier_than(hold.need(), at), 0)
            }
            Some(_) => {
                kept.give_back(&part);
                let rank = core.rank(&kept.profile, hold.need());
                kept.put_back(&part);
                rank
            }
            None => core.rank(&kept.profile, hold.need()),
        }
    }

    /// A reservation is where it was found best.
    fn settle(&mut self, before: &Hold, homeless: bool, hold: &Hold) {
        let same = (&before.nodes, before.at) == (&hold.nodes, hold.at);
        if !homeless && before.at.is_some() {
            self.give_back(before);
        }
        match same && !homeless {
            true => self.put_back(hold),
            false => self.take(hold),
        }
    }

    /// The best place on one of `among`, or of all nodes, unless `own` is as good, which is not
    /// looked at again.
    fn best(
        &mut self,
        shape: ShapeId,
        need: &Need,
        own: Option<(Rank, NodeRow)>,
        among: Option<&RowSet>,
    ) -> Option<Place> {
        let best = Best::one(own.map(|(rank, _)| rank));
        let own = own.map(|(_, node)| node);
        match among {
            Some(nodes) => nodes.iter().for_each(|&node| self.look(shape, need, node, &best)),
            None => self.search(shape, need, own.as_slice(), &best),
        }
        let ((unknown, at, _), node) = best.first()?;
        Some(((!unknown).then_some(at), smallvec![smallvec![(node.or(own)?, 1)]]))
    }

    /// The best place of all, and so many of those after it where nobody knows when it starts.
    fn best_with_spares(
        &mut self,
        shape: ShapeId,
        need: &Need,
        spares: u32,
    ) -> Option<(Place, Spares)> {
        let best = Best::few(1 + spares as usize);
        self.search(shape, need, &[], &best);
        let ((unknown, at, _), node) = best.first()?;
        let mut spares: Spares = best.others().collect();
        spares.sort_unstable();
        let nodes = smallvec![smallvec![(node.expect("it has none yet"), 1)]];
        Some((((!unknown).then_some(at), nodes), spares))
    }

    /// Whether a node is better than the best is seen by its profile; where nothing is held on it,
    /// by what runs there.
    pub(super) fn look(&self, shape: ShapeId, need: &Need, node: NodeRow, best: &Best) {
        let core = self.core;
        if node.index() >= core.room.nodes() {
            return;
        }
        let rank = match self.kept.get(node) {
            Some(kept) => core.rank(&kept.profile, need),
            None if self.outlook.expects_no_end(core, node) => core.rank_as_it_is(node, need),
            None => core.rank_of_tasks(node, need),
        };
        if best.takes(rank, node) && core.room.could_start(shape, node) {
            best.add(rank, node);
        }
    }

    /// The best of all nodes but some, of which profiles are kept. Those on which something is
    /// held, or happened since the last plan, are all looked at: on others the task does not fit
    /// now.
    pub(super) fn search(&mut self, shape: ShapeId, need: &Need, without: &[NodeRow], best: &Best) {
        let kept = self.kept.rows().filter(|node| !without.contains(node));
        let mut aside: SmallVec<[NodeRow; 8]> = kept.collect();
        aside.extend(self.aside.iter().copied().filter(|node| !self.kept.contains(*node)));
        for node in aside {
            self.look(shape, need, node, best);
        }
        let all_known = self.kept.len() == self.core.room.nodes();
        if all_known || self.is_sought_by_placement(shape, need, best) {
            return;
        }
        self.outlook.refresh(self.core);
        // It is read while it answers.
        let mut outlook = std::mem::take(&mut self.outlook);
        let others = Others { core: self.core, known: &self.kept, shape, need, best };
        let look = |node: NodeRow, no_end: bool| others.look_at(node, no_end);
        let known_at = |at, node| best.takes((false, at, 0), node);
        outlook.search_known(self.core, &need.demand, known_at, look);
        let missing = |missing, node| best.takes((true, Time::MAX, u128::from(missing)), node);
        if !best.has_known() {
            outlook.search_missing(self.core, &need.demand, || best.most(), missing, look);
        }
        self.outlook = outlook;
    }

    /// Whether the placement knows all nodes that may be the best: where nothing is expected to
    /// end, for what is free is all that counts then, and of nodes on which other than that may be
    /// taken profiles are kept.
    fn is_sought_by_placement(&self, shape: ShapeId, need: &Need, best: &Best) -> bool {
        let room = &self.core.room;
        if room.any_limited() {
            return false;
        }
        // One that starts now is better than all on which something is missing.
        if best.has_known() {
            return true;
        }
        let slow = cfg!(debug_assertions).then(|| best.clone());
        let mut others = Others { core: self.core, known: &self.kept, shape, need, best };
        let finds = room.least_missing(&need.demand, &mut others);
        if let Some(best) = slow.filter(|_| finds && room.nodes() <= MANY) {
            let rows = (0..room.nodes() as u32).map(NodeRow);
            rows.for_each(|node| Others { best: &best, ..others }.look_at(node, true));
            debug_assert!(best == *others.best, "a scan of all nodes finds others");
        }
        finds
    }
}

/// Nodes on which nothing is held, and nothing happened since the last plan.
struct Others<'a> {
    core: &'a Core,
    known: &'a RowMap<Kept>,
    shape: ShapeId,
    need: &'a Need,
    best: &'a Best,
}

impl Others<'_> {
    /// One of them, if it is one; `no_end`: whether nothing is expected to end there.
    fn look_at(&self, node: NodeRow, no_end: bool) {
        let Others { core, known, shape, need, best } = *self;
        // Who asks may know of more nodes than there are.
        if known.contains(node) || node.index() >= core.room.nodes() {
            return;
        }
        if let Some((false, at, _)) = best.least()
            && !core.may_start_by(node, need, at)
        {
            return;
        }
        let rank = match no_end {
            true => core.rank_as_it_is(node, need),
            false => core.rank_of_tasks(node, need),
        };
        if best.takes(rank, node) && core.room.could_start(shape, node) {
            best.add(rank, node);
        }
    }
}

impl Seeker for Others<'_> {
    fn bar(&self) -> (u64, NodeRow) {
        self.best.bar_of_missing()
    }

    fn look(&mut self, node: NodeRow) {
        self.look_at(node, true);
    }
}
