//! The queue tree of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use meed::{ResourceKinds, Resources};
use meed_config::words::did_you_mean;
use toml::Spanned;

use super::cluster::{amounts, at, weight};
use super::error::{Place, ScenarioError};
use super::raw::{Amounts, PolicyKeys, Queue};

/// A queue as declared; its policy depends on the run's.
#[derive(Clone, Debug)]
pub(super) struct QueuePlan {
    pub(super) name: String,
    pub(super) weight: u64,
    pub(super) min: Option<Resources>,
    pub(super) max: Option<Resources>,
    /// Its own keys; what is missing comes from the run's policy.
    pub(super) keys: PolicyKeys,
}

impl QueuePlan {
    fn plain(name: &str) -> QueuePlan {
        QueuePlan {
            name: name.to_owned(),
            weight: 1000,
            min: None,
            max: None,
            keys: PolicyKeys::default(),
        }
    }
}

/// The declared queues, parents before children, siblings in the order of their declaration.
/// Parents that are not declared are added with weight 1, each with a warning.
pub(super) fn queues(
    raw: &[Spanned<Queue>],
    kinds: &ResourceKinds,
    place: &Place<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<QueuePlan>, ScenarioError> {
    let mut plans: Vec<QueuePlan> = Vec::new();
    for entry in raw {
        let queue = entry.get_ref();
        if queue.name.split('.').any(|part| part.trim().is_empty()) {
            let what =
                format!("queue name `{}` has an empty part; write `parent.child`", queue.name);
            return Err(place.error(entry.span(), what));
        }
        plans.push(at(place, entry, plan(queue, kinds))?);
    }
    // Sorted rather than compared in pairs: a scenario can have ten thousand tenants.
    let mut names: Vec<(&str, usize)> =
        plans.iter().enumerate().map(|(i, plan)| (plan.name.as_str(), i)).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let what = format!("queue `{}` is declared twice", pair[1].0);
        return Err(place.error(raw[pair[1].1].span(), what));
    }
    Ok(with_parents(plans, warnings))
}

fn plan(queue: &Queue, kinds: &ResourceKinds) -> Result<QueuePlan, String> {
    let named = |part: &str, why: String| format!("queue `{}`, {part}: {why}", queue.name);
    let mut keys = queue.policy.clone().unwrap_or_default();
    if queue.order.is_some() {
        if keys.order.is_some() {
            return Err(named("order", "given twice, in the queue and in its policy".to_owned()));
        }
        keys.order = queue.order.clone();
    }
    let bound = |part: &str, raw: &Option<Amounts>, missing: u64| {
        bound(raw.as_ref(), kinds, missing).map_err(|why| named(part, why))
    };
    Ok(QueuePlan {
        name: queue.name.clone(),
        weight: queue
            .weight
            .as_ref()
            .map_or(Ok(1000), |raw| weight(raw).map_err(|why| named("weight", why)))?,
        min: bound("min", &queue.min, 0)?,
        max: bound("max", &queue.max, meed::MAX_AMOUNT)?,
        keys,
    })
}

/// A minimum or maximum share. What it does not name it does not bound: that is `missing`.
pub(super) fn bound(
    raw: Option<&Amounts>,
    kinds: &ResourceKinds,
    missing: u64,
) -> Result<Option<Resources>, String> {
    let Some(raw) = raw else { return Ok(None) };
    let mut bound = amounts(raw, kinds)?;
    for kind in (0..kinds.len()).filter(|&kind| !raw.contains_key(kinds.name(kind))) {
        bound.as_mut_slice()[kind] = missing;
    }
    Ok(Some(bound))
}

fn with_parents(plans: Vec<QueuePlan>, warnings: &mut Vec<String>) -> Vec<QueuePlan> {
    let declared: BTreeSet<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    let mut added = BTreeSet::new();
    let mut all = Vec::with_capacity(plans.len());
    for plan in plans {
        for (end, _) in plan.name.match_indices('.') {
            let parent = &plan.name[..end];
            if !declared.contains(parent) && added.insert(parent.to_owned()) {
                warnings.push(format!(
                    "queue `{parent}` is not declared; it is taken as a parent of weight 1"
                ));
                all.push(QueuePlan::plain(parent));
            }
        }
        all.push(plan);
    }
    // Stable: siblings keep their order, a parent declared after its children moves before them.
    all.sort_by_key(|plan| plan.name.matches('.').count());
    all
}

/// Adds the queues of a trace that are not declared, with weight 1.
pub(super) fn add_of_trace(
    plans: &mut Vec<QueuePlan>,
    names: &[String],
    warnings: &mut Vec<String>,
) {
    let known: BTreeSet<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    let new: Vec<QueuePlan> = names
        .iter()
        .filter(|name| !known.contains(name.as_str()))
        .map(|name| QueuePlan::plain(name))
        .collect();
    plans.extend(new);
    *plans = with_parents(std::mem::take(plans), warnings);
}

/// The tree's names, to be looked up.
pub(super) struct Names<'a> {
    all: BTreeSet<&'a str>,
    /// Each parent, with one of its children.
    parents: BTreeMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    pub(super) fn of(plans: &'a [QueuePlan]) -> Names<'a> {
        let names = || plans.iter().map(|plan| plan.name.as_str());
        let above = |name: &'a str| name.rsplit_once('.').map(|(parent, _)| (parent, name));
        Names { all: names().collect(), parents: names().filter_map(above).collect() }
    }

    /// Whether jobs can go to `name`: it is declared, and nothing lies below it.
    pub(super) fn check_leaf(&self, name: &str) -> Result<(), String> {
        if !self.all.contains(name) {
            let near = did_you_mean(name, self.all.iter().copied());
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            return Err(format!("unknown queue `{name}`{near}"));
        }
        match self.parents.get(name) {
            Some(child) => {
                Err(format!("queue `{name}` is a parent (of `{child}`); jobs go to leaves"))
            }
            None => Ok(()),
        }
    }
}
