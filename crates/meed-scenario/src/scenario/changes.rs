//! Changes of a scenario: nodes and queues that come, change and go, jobs that are cancelled.

use std::collections::BTreeSet;

use meed::{NodeSpec, QueueChange, ResourceKinds, Resources, Time};
use meed_config::Spanned;
use meed_config::quantity::{amounts, bound, weight};
use meed_config::queues::QueuePlan;
use meed_config::words::did_you_mean;
use meed_config::{Place, TextError as ScenarioError};

use super::cluster::at;
use super::jobs::span;
use super::raw;
use crate::changes::{Change, TimedChange};

/// The changes of the scenario, after those `of_machines` at the same instant.
pub(super) fn read(
    raw: &[Spanned<raw::Change>],
    of_machines: Vec<TimedChange>,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Vec<TimedChange>, ScenarioError> {
    let mut changes = of_machines;
    for (number, entry) in raw.iter().enumerate() {
        changes.extend(at(place, entry, change(entry.get_ref(), number, kinds))?);
    }
    changes.sort_by_key(|change| change.at);
    Ok(changes)
}

/// What is wrong with one change of `changes`, by its names: nodes that are there then, declared
/// queues, jobs.
pub(super) fn check(
    changes: &[TimedChange],
    nodes: &[NodeSpec],
    queues: &[QueuePlan],
    jobs: Option<&BTreeSet<String>>,
) -> Result<(), String> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut nodes: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    let mut queues: BTreeSet<&str> = queues.iter().map(|plan| plan.name.as_str()).collect();
    let unknown = |what: &str, name: &str, known: &BTreeSet<&str>, at: Time| {
        let near = did_you_mean(name, known.iter().copied())
            .map(|near| format!("; {near}"))
            .unwrap_or_default();
        format!("change at {at}: there is no {what} `{name}` then{near}")
    };
    for TimedChange { at, change } in changes {
        match change {
            Change::NodeJoins(spec) if !nodes.insert(&spec.name) => {
                return Err(format!("change at {at}: there is a node `{}` already", spec.name));
            }
            Change::NodeLeaves(name) if !nodes.remove(name.as_str()) => {
                return Err(unknown("node", name, &nodes, *at));
            }
            Change::NodeResized(name, _) if !nodes.contains(name.as_str()) => {
                return Err(unknown("node", name, &nodes, *at));
            }
            Change::Queue(name, _) if !queues.contains(name.as_str()) => {
                return Err(unknown("queue", name, &queues, *at));
            }
            Change::QueueRemoved(name) => {
                if !queues.remove(name.as_str()) {
                    return Err(unknown("queue", name, &queues, *at));
                }
                let below = |queue: &&&str| {
                    queue.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
                };
                if let Some(child) = queues.iter().find(below) {
                    return Err(format!(
                        "change at {at}: queue `{name}` still has `{child}` below it; remove that \
                         first"
                    ));
                }
            }
            Change::JobCancelled(label) => {
                if let Some(jobs) = jobs.filter(|jobs| !jobs.contains(label)) {
                    let jobs = jobs.iter().map(String::as_str).collect();
                    return Err(unknown("job", label, &jobs, *at));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The queue to which this change gives a minimum share, and that share.
pub(super) fn minimum<'a>(
    raw: &'a raw::Change,
    kinds: &ResourceKinds,
) -> Option<(&'a str, Resources)> {
    let queue = raw.queue.as_ref()?;
    let min = bound(queue.min.as_ref(), kinds, 0).ok().flatten()?;
    Some((&queue.name, min))
}

fn change(
    raw: &raw::Change,
    number: usize,
    kinds: &ResourceKinds,
) -> Result<Vec<TimedChange>, String> {
    let time = Time::ZERO.saturating_add(span("at", &raw.at)?);
    let mut found: Vec<Vec<Change>> = Vec::new();
    if let Some(node) = &raw.node_joins {
        // Told apart from the nodes of the start, and from those of other changes.
        let nodes = node.nodes(&format!("joined{number}"), kinds)?;
        found.push(nodes.into_iter().map(Change::NodeJoins).collect());
    }
    found.extend(raw.node_leaves.clone().map(|name| vec![Change::NodeLeaves(name)]));
    if let Some(resized) = &raw.node_resized {
        let capacity = amounts(&resized.capacity, kinds)?;
        found.push(vec![Change::NodeResized(resized.name.clone(), capacity)]);
    }
    if let Some(queue) = &raw.queue {
        let bound = |raw: &Option<raw::AmountsByName>, missing| {
            bound(raw.as_ref(), kinds, missing).map(|b| b.map(Some))
        };
        let change = QueueChange {
            weight: queue.weight.as_ref().map(weight).transpose()?,
            min: bound(&queue.min, 0)?,
            max: bound(&queue.max, meed::MAX_AMOUNT)?,
            rank: None,
        };
        found.push(vec![Change::Queue(queue.name.clone(), change)]);
    }
    found.extend(raw.queue_removed.clone().map(|name| vec![Change::QueueRemoved(name)]));
    found.extend(raw.job_cancelled.as_ref().map(|job| vec![Change::JobCancelled(job.text())]));
    match (found.pop(), found.is_empty()) {
        (Some(changes), true) => {
            Ok(changes.into_iter().map(|change| TimedChange { at: time, change }).collect())
        }
        _ => {
            Err("a change is one of node_joins, node_leaves, node_resized, queue, queue_removed, \
             job_cancelled"
                .to_owned())
        }
    }
}
