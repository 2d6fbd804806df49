//! The queue tree of a scenario.

use meed::{ResourceKinds, Resources};
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
        QueuePlan { name: name.to_owned(), weight: 1000, min: None, max: None, keys: PolicyKeys::default() }
    }
}

/// The declared queues, parents before children, siblings in the order of their declaration. Parents that are not
/// declared are added with weight 1, each with a warning.
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
            let what = format!("queue name `{}` has an empty part; write `parent.child`", queue.name);
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
        raw.as_ref().map(|raw| self::bound(raw, kinds, missing).map_err(|why| named(part, why))).transpose()
    };
    Ok(QueuePlan {
        name: queue.name.clone(),
        weight: queue
            .weight
            .as_ref()
            .map_or(Ok(1000), |raw| weight(raw).map_err(|why| named("weight", why)))?,
        min: bound("min", &queue.min, NO_MIN)?,
        max: bound("max", &queue.max, NO_MAX)?,
        keys,
    })
}

/// What a minimum share is of a resource that it does not name.
pub(super) const NO_MIN: u64 = 0;
/// The same of a maximum share.
pub(super) const NO_MAX: u64 = meed::MAX_AMOUNT;

/// A minimum or maximum share: what it does not name it does not bound.
pub(super) fn bound(raw: &Amounts, kinds: &ResourceKinds, missing: u64) -> Result<Resources, String> {
    let mut bound = amounts(raw, kinds)?;
    for kind in 0..kinds.len() {
        if !raw.contains_key(kinds.name(kind)) {
            bound.as_mut_slice()[kind] = missing;
        }
    }
    Ok(bound)
}

fn with_parents(plans: Vec<QueuePlan>, warnings: &mut Vec<String>) -> Vec<QueuePlan> {
    let declared: std::collections::BTreeSet<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    let mut added = std::collections::BTreeSet::new();
    let mut all = Vec::with_capacity(plans.len());
    for plan in plans {
        for (end, _) in plan.name.match_indices('.') {
            let parent = &plan.name[..end];
            if !declared.contains(parent) && added.insert(parent.to_owned()) {
                warnings
                    .push(format!("queue `{parent}` is not declared; it is taken as a parent of weight 1"));
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
pub(super) fn add_of_trace(plans: &mut Vec<QueuePlan>, names: &[String], warnings: &mut Vec<String>) {
    let known: std::collections::BTreeSet<&str> = plans.iter().map(|plan| plan.name.as_str()).collect();
    let new: Vec<QueuePlan> = names
        .iter()
        .filter(|name| !known.contains(name.as_str()))
        .map(|name| QueuePlan::plain(name))
        .collect();
    plans.extend(new);
    *plans = with_parents(std::mem::take(plans), warnings);
}

/// Whether jobs can go to `name`: it is declared, and nothing lies below it.
pub(super) fn check_leaf(plans: &[QueuePlan], name: &str) -> Result<(), String> {
    if !plans.iter().any(|plan| plan.name == name) {
        let near = super::error::did_you_mean(name, plans.iter().map(|plan| plan.name.as_str()));
        let near = near.map(|near| format!("; {near}")).unwrap_or_default();
        return Err(format!("unknown queue `{name}`{near}"));
    }
    let below = |plan: &&QueuePlan| plan.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    match plans.iter().find(below) {
        Some(child) => Err(format!("queue `{name}` is a parent (of `{}`); jobs go to leaves", child.name)),
        None => Ok(()),
    }
}
