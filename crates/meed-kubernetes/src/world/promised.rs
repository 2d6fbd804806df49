//! What is let go and not bound is promised: it counts against what is free, also where
//! kube-scheduler chooses another node than the engine assumed.
//!
//! The engine assumes each pod that is let go on a node with room for it. kube-scheduler may bind
//! it elsewhere, on a node whose room is assumed for another pod. Before every decision such
//! *crowded* nodes are looked at, and room is kept from all others by telling the engine that
//! somebody else uses it:
//!
//! | a pod that was let go and is not bound | then |
//! |---|---|
//! | its node is too full, and another has room for it | it is assumed there |
//! | no node has room for it | what is missing is kept free elsewhere, in any pieces |
//! | kube-scheduler says that it is Unschedulable, for [`HOLD_BACK`] after it was let go | a node that it may be on and that has no room for it has room for nobody |
//!
//! The last row is for pods that are smaller: one of them, assumed in a gap, might be bound where
//! the waiting pod is to go. One that is let go for a node with room for the waiting pod does no
//! harm, for the two can change places. A pod may be Unschedulable for reasons that Meed does not
//! know (a rule, a volume), so it holds others back for a while only.
//!
//! A pod of mode Pins is assumed nowhere else, and holds nobody back: it can go to its node alone.
//! What is moved is only where pods are assumed, so rules between pods (spread, affinity, host
//! ports) are not asked: kube-scheduler keeps them.
//!
//! Invariant: after a decision all that is bound and let go is no more than the nodes have, as far
//! as was heard; but for nodes that go or shrink, pods of strangers, and pods that gave their room
//! up ([`super::unplaced`]) and are placed later. Cost: nothing where no node is crowded and no pod
//! Unschedulable; else O(nodes) for each pod that is to be moved or holds others back.

use std::collections::BTreeMap;
use std::time::Duration;

use meed::{NodeId, Resources, Span, Time};

use super::node_row::NodeRow;
use super::{Placed, Stand, World, must};
use crate::error::KubernetesError;

/// For so long after it was let go a pod that is not placed holds others back: kube-scheduler tries
/// again after 10 s at the latest.
const HOLD_BACK: Span = match Span::from_micros(30_000_000) {
    Some(span) => span,
    None => Span::ZERO,
};

/// A pod that was let go and is not bound.
struct Open {
    uid: String,
    placed: Placed,
    demand: Resources,
    pins: bool,
}

/// What open pods lack.
struct Lack {
    /// In all.
    amounts: Resources,
    /// Pods that hold others back.
    urgent: Vec<Open>,
}

impl World {
    /// Pods are assumed where there is room for them, and what others lack is kept free.
    pub(super) fn settle_promised(&mut self, now: Time) -> Result<(), KubernetesError> {
        self.gaps.let_all_on();
        if self.gaps.are_none() {
            return Ok(());
        }
        let mut lack = Lack { amounts: Resources::zero(self.kinds.len()), urgent: Vec::new() };
        for name in self.gaps.take_crowded() {
            self.spread_out(&name, now)?;
            self.note_lack(&name, &mut lack);
        }
        self.note_unschedulable(&mut lack, now);
        let kept = self.to_keep(&lack);
        self.dirty.extend(self.gaps.keep(kept));
        Ok(())
    }

    /// Pods that are assumed on a node that is too full are assumed elsewhere, where there is room.
    fn spread_out(&mut self, name: &str, now: Time) -> Result<(), KubernetesError> {
        let Some(id) = self.nodes.get(name).map(|row| row.id) else { return Ok(()) };
        if self.excess(name).is_zero() {
            return Ok(());
        }
        for open in self.open_on(id) {
            if self.excess(name).is_zero() {
                break;
            }
            if !open.pins
                && let Some(to) = self.room_for(&open, id)
            {
                self.told = true;
                must(self.driver.task_moved(now, open.placed.task, to))?;
            }
        }
        Ok(())
    }

    /// The node with the least room that has room for a pod, and is not this one.
    fn room_for(&self, open: &Open, but: NodeId) -> Option<NodeId> {
        let has_room = |row: &&NodeRow| {
            let free = self.free_on(row);
            row.id != but && open.demand.fits_in(&free) && self.may_be_on(open, row)
        };
        let fits = self.nodes.values().filter(has_room);
        fits.min_by_key(|row| self.free_on(row)).map(|row| row.id)
    }

    /// A node that is too full still, and what pods lack that are assumed there.
    fn note_lack(&mut self, name: &str, lack: &mut Lack) {
        let excess = self.excess(name);
        let Some(id) = self.nodes.get(name).map(|row| row.id) else { return };
        if excess.is_zero() {
            return;
        }
        let open = self.open_on(id);
        if open.is_empty() {
            return;
        }
        self.gaps.crowds(name);
        let mut sum = Resources::zero(self.kinds.len());
        open.iter().for_each(|open| sum.add(&open.demand));
        let least = excess.as_slice().iter().zip(sum.as_slice()).map(|(a, b)| *a.min(b));
        lack.amounts.add(&Resources::new(&least.collect::<Vec<u64>>()));
    }

    /// Pods that kube-scheduler could not place.
    fn note_unschedulable(&mut self, lack: &mut Lack, now: Time) {
        let all: Vec<String> = self.gaps.unschedulable().cloned().collect();
        for uid in all {
            match self.pods.get(&uid).and_then(|row| self.open(&row.stand)) {
                Some(open) => self.holds_back(open, lack, now),
                None => self.gaps.tells(&uid, false),
            }
        }
    }

    /// A pod holds others back, where it was let go a short while ago.
    fn holds_back(&mut self, open: Open, lack: &mut Lack, now: Time) {
        let Some(since) = self.driver.engine().started(open.placed.task) else { return };
        let until = since.saturating_add(HOLD_BACK);
        if !open.pins && now < until {
            self.gaps.hold_until(until);
            lack.urgent.push(open);
        }
    }

    /// What is to be kept free, by node.
    fn to_keep(&self, lack: &Lack) -> BTreeMap<String, Resources> {
        let mut kept = BTreeMap::new();
        if lack.urgent.is_empty() && lack.amounts.is_zero() {
            return kept;
        }
        let mut short = lack.amounts;
        let mut left = Vec::new();
        for (name, row) in &self.nodes {
            let free = self.free_on(row);
            let is_gap = |open: &Open| !open.demand.fits_in(&free) && self.may_be_on(open, row);
            if free.is_zero() {
                continue;
            }
            match lack.urgent.iter().any(is_gap) {
                true => {
                    take(&mut short, &free);
                    kept.insert(name.clone(), free);
                }
                false => left.push((name, free)),
            }
        }
        for (name, free) in left {
            let some = take(&mut short, &free);
            if !some.is_zero() {
                kept.insert(name.clone(), some);
            }
        }
        kept
    }

    /// Pods that are assumed on a node.
    fn open_on(&self, node: NodeId) -> Vec<Open> {
        let views = self.driver.engine().running_on(node).into_iter();
        let stand = |placed: Placed| {
            let detail = &self.driver.job(placed.job)?.detail;
            let pod = detail.pod_of(self.number_of(placed))?;
            Some(&self.pods.get(&pod.uid)?.stand)
        };
        let open =
            views.filter_map(|view| self.open(stand(Placed { job: view.job, task: view.task })?));
        open.collect()
    }

    /// The pod that stands so, where it was let go and is not bound.
    fn open(&self, stand: &Stand) -> Option<Open> {
        let (Stand::Sent(placed) | Stand::Lifted(placed)) = *stand else { return None };
        let detail = &self.driver.job(placed.job)?.detail;
        let uid = detail.pod_of(self.number_of(placed))?.uid.clone();
        let demand = Resources::new(&detail.asks_of_pod(&uid).amounts);
        (!detail.binds).then_some(Open { uid, placed, demand, pins: detail.pins })
    }

    /// Whether the rule of a pod allows a node.
    fn may_be_on(&self, open: &Open, node: &NodeRow) -> bool {
        let rule = self.pods.get(&open.uid).and_then(|row| row.rule.as_ref());
        let rule = rule.and_then(|text| self.rules.get(text));
        rule.is_none_or(|row| row.rule.allows(&node.facts))
    }

    /// What is free on a node, whatever is kept.
    fn free_on(&self, row: &NodeRow) -> Resources {
        let engine = self.driver.engine();
        if engine.is_overfull(row.id) {
            return self.balance(row).0;
        }
        let (mut free, told) = (engine.node(row.id).1, engine.used_by_others(row.id));
        let others = told.as_slice().iter().zip(row.strangers.as_slice());
        for (free, (told, strangers)) in free.as_mut_slice().iter_mut().zip(others) {
            *free = free.saturating_add(*told).saturating_sub(*strangers);
        }
        free
    }

    /// What a node holds more than it has.
    fn excess(&self, name: &str) -> Resources {
        let none = || Resources::zero(self.kinds.len());
        self.nodes.get(name).map_or_else(none, |row| self.balance(row).1)
    }

    /// What is free on a node, and what it holds more than it has. O(pods of the node).
    fn balance(&self, row: &NodeRow) -> (Resources, Resources) {
        let engine = self.driver.engine();
        let has = engine.node(row.id).0.capacity;
        let mut held = row.strangers;
        for view in engine.running_on(row.id) {
            let both = held.as_mut_slice().iter_mut().zip(view.demand.as_slice());
            both.for_each(|(held, more)| *held = held.saturating_add(*more));
        }
        let less = |from: &Resources, by: &Resources| {
            let both = from.as_slice().iter().zip(by.as_slice());
            Resources::new(&both.map(|(a, b)| a.saturating_sub(*b)).collect::<Vec<u64>>())
        };
        (less(&has, &held), less(&held, &has))
    }

    /// How long until a pod ceases to hold others back.
    pub(super) fn until_let_on(&self) -> Option<Duration> {
        let until = self.gaps.until()?;
        Some(Duration::from_micros(until.saturating_since(self.now()).as_micros()))
    }
}

/// Takes of `wanted` as much as there is; what was taken.
fn take(wanted: &mut Resources, there: &Resources) -> Resources {
    let mut taken = *there;
    for (wanted, taken) in wanted.as_mut_slice().iter_mut().zip(taken.as_mut_slice()) {
        *taken = (*taken).min(*wanted);
        *wanted -= *taken;
    }
    taken
}
