//! Where and when held tasks can start: plans are made of profiles, node by node.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::{Need, Profile};
use super::{Hold, Holds};
use crate::engine::Engine;
use crate::engine::room::ShapeId;
use crate::resources::Resources;
use crate::spec::NodeRow;
use crate::time::{Span, Time};

/// A place for a task, the best first: known instants before unknown ones, earlier before later;
/// where nobody knows, the node on which least is missing; of like ones the first.
type Rank = (bool, Time, u128);

/// How finely what is missing is weighed: parts of the pool.
const PARTS: u128 = 1 << 32;

/// When a task that began at `started` is expected to end: at its limit, and where it runs beyond
/// that, at twice, four times as much and so on. `None`: nobody knows.
fn expected_end(started: Time, limit: Option<Span>, now: Time) -> Option<Time> {
    let mut limit = limit?.as_micros().max(1);
    loop {
        let end = Span::from_micros(limit).map_or(Time::MAX, |span| started.saturating_add(span));
        if end > now || end == Time::MAX {
            return Some(end).filter(|&end| end < Time::MAX);
        }
        limit = limit.saturating_mul(2);
    }
}

/// What a plan works on: nodes whose profiles, holds included, were looked at.
struct Plan {
    now: Time,
    profiles: BTreeMap<NodeRow, Profile>,
}

/// Nodes that were found to be other than they were, while one reservation is looked at after the
/// other.
#[derive(Default)]
struct News {
    /// They may be better than when they were looked at last.
    freed: BTreeSet<NodeRow>,
    /// The same, for those that are looked at next time.
    vacated: BTreeSet<NodeRow>,
    /// They may be worse.
    pushed: BTreeSet<NodeRow>,
}

fn is_later(before: Option<Time>, now: Option<Time>) -> bool {
    before.is_some_and(|before| now.is_none_or(|now| now > before))
}

impl Engine {
    /// What is free on a node from now on, but for holds; and the first expected end there.
    fn profile_of(&self, node: NodeRow) -> (Profile, Time) {
        let mut ends: Vec<(Time, Resources)> = Vec::new();
        for task in self.work.on_node(node) {
            let limit = self.room.limit(task.shape);
            if let Some(end) = expected_end(task.started, limit, self.now) {
                ends.push((end, *self.room.demand(task.shape)));
            }
        }
        let first = ends.iter().map(|(at, _)| *at).min().unwrap_or(Time::MAX);
        (Profile::new(self.now, self.room.balance(node), &mut ends), first)
    }

    /// The same with all that is held there.
    fn profile_with_holds(&self, node: NodeRow) -> (Profile, Time) {
        let (mut profile, first) = self.profile_of(node);
        let holds = self.holds.iter().filter(|holds| holds.nodes.contains_key(&node));
        for hold in holds.flat_map(|holds| &holds.list).filter(|hold| hold.node == node) {
            let (from, until) = hold.span(self.now);
            profile.take(&hold.need.demand, from, until);
        }
        (profile, first)
    }

    fn rank(&self, profile: &Profile, need: &Need) -> Rank {
        if let Some(at) = profile.earliest(need) {
            return (false, at, 0);
        }
        let (missing, total) = (profile.missing(&need.demand), self.room.total());
        let part = |(&missing, &total): (&i128, &u64)| {
            missing.unsigned_abs().saturating_mul(PARTS) / u128::from(total.max(1))
        };
        let parts = missing.iter().zip(total.as_slice()).map(part);
        (true, Time::MAX, parts.fold(0, u128::saturating_add))
    }

    /// The best place for a task that needs a node, of all nodes: from when on, and where.
    pub(super) fn find_place(
        &self,
        shape: ShapeId,
        need: &Need,
    ) -> Option<(Option<Time>, NodeRow)> {
        let nodes = (0..self.room.nodes() as u32).map(NodeRow);
        let ranks = nodes.filter(|&node| self.room.could_start(shape, node)).map(|node| {
            let (profile, _) = self.profile_with_holds(node);
            (self.rank(&profile, need), node)
        });
        let ((unknown, at, _), node) = ranks.min()?;
        Some(((!unknown).then_some(at), node))
    }

    /// Brings all reservations up to date at a decision: those that cannot be kept get others, and
    /// where room has come free each is moved to an earlier instant if it can be.
    pub(super) fn replan(&mut self) {
        let now = self.now;
        let Some(holds) = &mut self.holds else { return };
        let late = holds.nodes.iter().filter(|(_, slips)| **slips <= now).map(|(&node, _)| node);
        let passed = |hold: &&Hold| hold.at.is_some_and(|at| at < now);
        let passed = holds.list.iter().filter(passed).map(|hold| hold.node);
        let late: Vec<NodeRow> = late.chain(passed).collect();
        holds.touched.extend(late);
        if holds.touched.is_empty() && holds.freed.is_empty() {
            return;
        }
        self.let_capped_go();
        let Some(holds) = &mut self.holds else { return };
        let held = |node: &NodeRow| holds.nodes.contains_key(node);
        if holds.freed.is_empty() && !holds.touched.iter().any(held) {
            // What starts elsewhere changes no plan.
            return holds.touched.clear();
        }
        loop {
            let mut holds = self.holds.take().expect("it was there");
            let placeless = self.keep_places(&mut holds);
            self.holds = Some(holds);
            if placeless.is_empty() {
                break;
            }
            // No node can hold them any more: they wait in the walk for one. What they had is free.
            placeless.into_iter().rev().for_each(|index| self.let_go(index));
        }
        self.replan_openings();
    }

    /// Reservations of queues that may have no more are given up.
    fn let_capped_go(&mut self) {
        if !self.tree.has_maximums() {
            return;
        }
        let mut index = 0;
        while let Some(hold) = self.holds.as_ref().and_then(|holds| holds.list.get(index)) {
            let (leaf, demand) = (self.leaf_of(hold.slot), hold.need.demand);
            match self.books.capped_by(&self.tree, leaf, &demand) {
                Some(_) => self.let_go(index),
                None => index += 1,
            }
        }
    }

    /// See [`Engine::replan`]. `holds` are out of the engine meanwhile. The places in the list of
    /// those for which there is none.
    fn keep_places(&self, holds: &mut Holds) -> Vec<usize> {
        let mut plan = Plan { now: self.now, profiles: BTreeMap::new() };
        let homeless = self.find_homeless(&mut plan, &mut holds.list);
        // One of which nobody knows when it starts takes nothing from those before it.
        for (hold, homeless) in holds.list.iter().zip(&homeless) {
            if hold.at.is_none() && !homeless {
                plan.give_back(self, hold);
            }
        }
        let mut news = News { freed: std::mem::take(&mut holds.freed), ..News::default() };
        if news.freed.is_empty() {
            news.pushed = holds.pushed.clone();
        } else {
            news.pushed = std::mem::take(&mut holds.pushed);
            news.freed.append(&mut holds.vacated);
            let left = holds.list.iter().zip(&homeless).filter(|(_, homeless)| **homeless);
            news.freed.extend(left.map(|(hold, _)| hold.node));
        }
        let mut placeless = Vec::new();
        for (index, homeless) in homeless.into_iter().enumerate() {
            let before = holds.list[index].clone();
            if news.freed.is_empty() && !homeless {
                if before.at.is_none() {
                    plan.take(self, &before);
                }
                continue;
            }
            let Some((at, node)) = self.find_better(&mut plan, &before, homeless, &news) else {
                placeless.push(index);
                continue;
            };
            let hold = &mut holds.list[index];
            let later = homeless && is_later(before.at, at);
            hold.moved = hold.moved.saturating_add(u32::from(later));
            (hold.at, hold.node) = (at, node);
            if (node, at) != (before.node, before.at) {
                news.freed.append(&mut holds.vacated);
                news.freed.insert(before.node);
                news.vacated.insert(before.node);
                // For those that come after it.
                news.pushed.insert(node);
            }
            holds.touched.extend([before.node, node]);
            plan.take(self, &holds.list[index]);
        }
        holds.touched.append(&mut news.freed);
        holds.vacated.append(&mut news.vacated);
        placeless
    }

    /// Which reservations cannot be kept where and when they are. Those that can are in the plan.
    fn find_homeless(&self, plan: &mut Plan, list: &mut [Hold]) -> Vec<bool> {
        let mut homeless = Vec::new();
        for hold in list {
            let shape = self.work.group(hold.slot).shape;
            let there =
                hold.node.index() < self.room.nodes() && self.room.could_start(shape, hold.node);
            // One whose instant has come starts, or is late.
            let at = hold.at.map(|at| at.max(self.now));
            let kept = there && at.is_none_or(|at| plan.at(self, hold.node).fits(&hold.need, at));
            if kept {
                hold.at = at;
                plan.take(self, hold);
            }
            homeless.push(!kept);
        }
        homeless
    }

    /// The best place for a reservation now; its own unless there is a better one.
    fn find_better(
        &self,
        plan: &mut Plan,
        hold: &Hold,
        homeless: bool,
        news: &News,
    ) -> Option<(Option<Time>, NodeRow)> {
        let shape = self.work.group(hold.slot).shape;
        if homeless {
            return plan.best(self, shape, hold, false, None);
        }
        if hold.at.is_some() {
            plan.give_back(self, hold);
        }
        // Where its place has become worse, any other may be better.
        let among = (!news.pushed.contains(&hold.node)).then_some(&news.freed);
        plan.best(self, shape, hold, true, among)
    }

    /// What may be taken of the nodes that were touched, made anew; whoever that helps is told.
    pub(super) fn replan_openings(&mut self) {
        let Some(holds) = &mut self.holds else { return };
        let touched = std::mem::take(&mut holds.touched);
        for node in touched {
            if node.index() >= self.room.nodes() {
                continue;
            }
            let holds = self.holds.as_mut().expect("it was there");
            if !holds.list.iter().any(|hold| hold.node == node) {
                if holds.nodes.remove(&node).is_some() {
                    self.room.set_openings(node, None);
                    self.unblock(node);
                }
                continue;
            }
            holds.nodes.entry(node).or_insert(Time::MAX);
            let (profile, first) = self.profile_with_holds(node);
            let openings = profile.openings(self.kinds.len());
            self.holds.as_mut().expect("it was there").nodes.insert(node, first);
            self.room.set_openings(node, Some(openings));
            self.unblock(node);
        }
        self.room.sift_fresh();
    }
}

impl Plan {
    /// The profile of a node, with what was taken since.
    fn at(&mut self, engine: &Engine, node: NodeRow) -> &mut Profile {
        self.profiles.entry(node).or_insert_with(|| engine.profile_of(node).0)
    }

    fn take(&mut self, engine: &Engine, hold: &Hold) {
        if hold.node.index() < engine.room.nodes() {
            let (from, until) = hold.span(self.now);
            self.at(engine, hold.node).take(&hold.need.demand, from, until);
        }
    }

    fn give_back(&mut self, engine: &Engine, hold: &Hold) {
        let (from, until) = hold.span(self.now);
        self.at(engine, hold.node).give_back(&hold.need.demand, from, until);
    }

    /// The best place for `hold`, which is taken out, on one of `among`, or of all nodes; with
    /// `keeps` its own, unless there is a better one.
    fn best(
        &mut self,
        engine: &Engine,
        shape: ShapeId,
        hold: &Hold,
        keeps: bool,
        among: Option<&BTreeSet<NodeRow>>,
    ) -> Option<(Option<Time>, NodeRow)> {
        let mut best: Option<(Rank, NodeRow)> = keeps.then(|| {
            let own = engine.rank(self.at(engine, hold.node), &hold.need);
            (own, hold.node)
        });
        let all = || (0..engine.room.nodes() as u32).map(NodeRow);
        let mut look = |node: NodeRow| {
            if !engine.room.could_start(shape, node) {
                return;
            }
            let rank = engine.rank(self.at(engine, node), &hold.need);
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, node));
            }
        };
        match among {
            Some(nodes) => nodes.iter().copied().for_each(&mut look),
            None => all().for_each(&mut look),
        }
        best.map(|((unknown, at, _), node)| ((!unknown).then_some(at), node))
    }
}
