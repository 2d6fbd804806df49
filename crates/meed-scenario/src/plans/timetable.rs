//! What all contributions come to, in order of time: who pays how much and gives how much, from
//! each instant on at which that changes.
//!
//! Memory: a row for each tenant and instant at which something of it changes. Cost of making it:
//! O(rows log rows).

use std::collections::BTreeMap;

use meed::{NodeSpec, QueueChange, Time};
use num_bigint::BigUint;

use super::contribution::Contribution;
use super::terms::{Entitled, Terms};
use super::weights;
use crate::changes::{Change, TimedChange};

/// What a tenant pays and gives for the time being.
///
/// The example of [`Pool`] divides by two.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlanPart {
    /// Micro-units an hour, which are grains a microsecond.
    pub rate: u128,
    /// Per resource: capacity x weight, in thousandths of smallest units.
    pub has: Vec<u128>,
}

/// What changes at an instant.
///
/// It is part of a [`Timetable`]: the example of [`Pool`] says what a moment changes.
#[derive(Debug)]
pub struct PlanMoment {
    /// When.
    pub at: Time,
    /// By tenant.
    parts: Vec<(usize, PlanPart)>,
    /// Grains that are paid at once, by tenant.
    pub lumps: Vec<(usize, u128)>,
}

/// All tenants' parts, and their sums.
///
/// ```
/// use meed_scenario::plans::{Entitled, PlanPart, Pool};
///
/// let part = |rate| PlanPart { rate, has: vec![1000] };
/// let pool = Pool { parts: vec![part(3), part(1)], sum: PlanPart { rate: 4, has: vec![2000] } };
/// let paid = pool.shares(Entitled::Paid);
/// assert_eq!(paid[0], 3 * paid[1]);
/// let contributed = pool.shares(Entitled::Contributed);
/// assert_eq!(contributed[0], contributed[1]);
/// ```
#[derive(Clone, Debug)]
pub struct Pool {
    /// By tenant.
    pub parts: Vec<PlanPart>,
    /// What all have together.
    pub sum: PlanPart,
}

impl Pool {
    /// The moment has come.
    pub fn turn(&mut self, moment: &PlanMoment) {
        for (tenant, part) in &moment.parts {
            let old = std::mem::replace(&mut self.parts[*tenant], part.clone());
            self.sum.rate = self.sum.rate + part.rate - old.rate;
            for (kind, sum) in self.sum.has.iter_mut().enumerate() {
                *sum = *sum + part.has[kind] - old.has[kind];
            }
        }
    }

    /// What the tenant gives in a microsecond, at the pool's price of the moment: grains / `whole`.
    pub fn gives(&self, tenant: usize, whole: &BigUint) -> BigUint {
        let there = self.sum.has.iter().filter(|has| **has > 0).count() as u128;
        let each = self.parts[tenant].has.iter().zip(&self.sum.has).filter(|(own, _)| **own > 0);
        each.map(|(own, all)| whole / (all * there) * own * self.sum.rate).sum()
    }

    /// How what all are entitled to is divided: one number for each tenant, whose ratios count.
    pub fn shares(&self, entitled: Entitled) -> Vec<u128> {
        let contributed = |part: &PlanPart| match self.sum.has.len() {
            1 => part.has[0],
            // The mean of the parts of all resources, to 12 digits.
            _ => {
                let each = part.has.iter().zip(&self.sum.has);
                each.map(|(own, all)| own * 1_000_000_000_000 / (*all).max(1)).sum()
            }
        };
        let share = |part: &PlanPart| match entitled {
            Entitled::Paid => part.rate,
            Entitled::Contributed => contributed(part),
        };
        self.parts.iter().map(share).collect()
    }
}

/// What all contributions come to, in order of time: who pays how much and gives how much, from
/// each instant on at which one of these changes.
///
/// [`Scenario::timetable`](crate::Scenario::timetable) makes it; [`Pool`] has an example of what
/// holds at an instant.
#[derive(Debug)]
pub struct Timetable {
    /// Full names of the leaves that contribute, in order of their first contributions.
    pub tenants: Vec<String>,
    /// How accounts are kept.
    pub terms: Terms,
    kinds: usize,
    moments: Vec<PlanMoment>,
    /// Nodes with the times of their coming and going.
    nodes: Vec<(NodeSpec, Time, Time)>,
    /// A multiple of every capacity that the pool ever has, and of the number of its resources.
    pub whole: BigUint,
    /// The most that the pool ever has, per resource.
    pub most: Vec<u128>,
    /// The weight of all nodes, where they have the same.
    pub weight: Option<u32>,
}

/// What a tenant's part changes by.
#[derive(Default)]
struct Delta {
    rate: i128,
    has: Vec<i128>,
    lump: u128,
}

impl Timetable {
    pub(crate) fn of(contributions: &[Contribution], kinds: usize, terms: Terms) -> Timetable {
        let mut tenants: Vec<String> = Vec::new();
        let mut deltas: BTreeMap<Time, BTreeMap<usize, Delta>> = BTreeMap::new();
        let mut nodes = Vec::new();
        for one in contributions {
            let tenant = tenants.iter().position(|name| *name == one.tenant);
            let tenant = tenant.unwrap_or_else(|| {
                tenants.push(one.tenant.clone());
                tenants.len() - 1
            });
            let has = one.weighed(kinds);
            let mut add = |at: Time, sign: i128, rate: u64, lump: u128| {
                let delta = deltas.entry(at).or_default().entry(tenant).or_default();
                delta.has.resize(kinds, 0);
                delta.rate += sign * i128::from(rate);
                delta.lump += lump;
                delta.has.iter_mut().zip(&has).for_each(|(sum, has)| *sum += sign * *has as i128);
            };
            let mut times: Vec<(Time, Time)> = Vec::new();
            for piece in one.pieces() {
                add(piece.from, 1, piece.rate, piece.lumps.0);
                if piece.until != Time::MAX {
                    add(piece.until, -1, piece.rate, piece.lumps.1);
                }
                match times.last_mut().filter(|last| last.1 == piece.from) {
                    Some(last) => last.1 = piece.until,
                    None => times.push((piece.from, piece.until)),
                }
            }
            let there = times.iter().flat_map(|&(from, until)| {
                one.nodes.iter().map(move |node| (node.clone(), from, until))
            });
            nodes.extend(there);
        }
        let weights = || contributions.iter().flat_map(|one| &one.nodes).map(|node| node.weight);
        let first = weights().next().filter(|first| weights().all(|weight| weight == *first));
        let mut table = Timetable {
            moments: moments(deltas, tenants.len(), kinds),
            tenants,
            terms,
            kinds,
            nodes,
            whole: BigUint::from(420u32),
            most: vec![0; kinds],
            weight: first,
        };
        table.measure();
        table
    }

    /// The capacities that the pool ever has.
    fn measure(&mut self) {
        let mut pool = self.empty();
        for moment in &self.moments {
            pool.turn(moment);
            for (kind, &has) in pool.sum.has.iter().enumerate().filter(|(_, has)| **has > 0) {
                self.most[kind] = self.most[kind].max(has);
                // has x 420 divides it from now on.
                let rest = u128::try_from(&self.whole / 420u32 % has).unwrap_or(0);
                self.whole *= has / gcd(has, rest);
            }
        }
    }

    /// Before anybody has contributed.
    pub fn empty(&self) -> Pool {
        let nothing = PlanPart { rate: 0, has: vec![0; self.kinds] };
        Pool { parts: vec![nothing.clone(); self.tenants.len()], sum: nothing }
    }

    /// What changes when, in order of time.
    pub fn moments(&self) -> &[PlanMoment] {
        &self.moments
    }

    /// Nodes that are there at the start.
    pub(crate) fn nodes(&self) -> Vec<NodeSpec> {
        let first = self.nodes.iter().filter(|(_, from, _)| *from == Time::ZERO);
        first.map(|(node, ..)| node.clone()).collect()
    }

    /// Nodes that come and go later; at an instant first those that come.
    pub(crate) fn node_changes(&self) -> Vec<TimedChange> {
        let later = self.nodes.iter().filter(|(_, from, _)| *from > Time::ZERO);
        let joins = later.map(|(node, at, _)| (*at, Change::NodeJoins(node.clone())));
        let gone = self.nodes.iter().filter(|(.., until)| *until != Time::MAX);
        let leaves = gone.map(|(node, _, at)| (*at, Change::NodeLeaves(node.name.clone())));
        let mut all: Vec<TimedChange> =
            joins.chain(leaves).map(|(at, change)| TimedChange { at, change }).collect();
        all.sort_by_key(|timed| timed.at);
        all
    }

    /// Weights of `queues` (all of the tree) at the start, in thousandths, and how they change.
    pub(crate) fn weights(&self, queues: &[&str]) -> (Vec<u64>, Vec<TimedChange>) {
        let mut changes: Vec<TimedChange> = Vec::new();
        let tree = weights::Tree::of(queues, &self.tenants);
        let mut pool = self.empty();
        let mut known = tree.weights(&pool.shares(self.terms.entitled));
        let mut first = known.clone();
        for moment in &self.moments {
            pool.turn(moment);
            let now = tree.weights(&pool.shares(self.terms.entitled));
            if moment.at == Time::ZERO {
                first = now.clone();
            }
            for (queue, (old, new)) in known.iter().zip(&now).enumerate() {
                if old != new && moment.at > Time::ZERO {
                    let weight = QueueChange { weight: Some(*new), ..QueueChange::default() };
                    let change = Change::Queue(queues[queue].to_owned(), weight);
                    changes.push(TimedChange { at: moment.at, change });
                }
            }
            known = now;
        }
        (first, changes)
    }
}

fn moments(
    deltas: BTreeMap<Time, BTreeMap<usize, Delta>>,
    tenants: usize,
    kinds: usize,
) -> Vec<PlanMoment> {
    let mut now = vec![PlanPart { rate: 0, has: vec![0; kinds] }; tenants];
    let moment = |(at, deltas): (Time, BTreeMap<usize, Delta>)| {
        let (mut parts, mut lumps) = (Vec::new(), Vec::new());
        for (tenant, delta) in deltas {
            let part = &mut now[tenant];
            let moved = delta.rate != 0 || delta.has.iter().any(|has| *has != 0);
            part.rate = part.rate.wrapping_add_signed(delta.rate);
            for (has, delta) in part.has.iter_mut().zip(&delta.has) {
                *has = has.wrapping_add_signed(*delta);
            }
            if moved {
                parts.push((tenant, part.clone()));
            }
            if delta.lump > 0 {
                lumps.push((tenant, delta.lump));
            }
        }
        PlanMoment { at, parts, lumps }
    };
    let all = deltas.into_iter().map(moment);
    all.filter(|moment| !moment.parts.is_empty() || !moment.lumps.is_empty()).collect()
}

/// The greatest common divisor; of a number and nothing, the number.
pub(super) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
