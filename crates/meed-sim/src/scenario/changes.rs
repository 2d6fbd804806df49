//! Changes of a scenario: nodes and queues that come, change and go, jobs that are cancelled.

use meed::{QueueChange, ResourceKinds, Time};
use toml::Spanned;

use super::cluster::{amounts, at, node_group, weight};
use super::error::{Place, ScenarioError};
use super::jobs::span;
use super::queues;
use super::raw;
use crate::world::{Change, TimedChange};

pub(super) fn read(
    raw: &[Spanned<raw::Change>],
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Vec<TimedChange>, ScenarioError> {
    let mut changes = Vec::new();
    for (number, entry) in raw.iter().enumerate() {
        changes.extend(at(place, entry, change(entry.get_ref(), number, kinds))?);
    }
    changes.sort_by_key(|change| change.at);
    Ok(changes)
}

fn change(raw: &raw::Change, number: usize, kinds: &ResourceKinds) -> Result<Vec<TimedChange>, String> {
    let time = Time::ZERO.saturating_add(span("at", &raw.at)?);
    let mut found: Vec<Vec<Change>> = Vec::new();
    if let Some(node) = &raw.node_joins {
        // Names of joining nodes count on from those of the start, so that they stay distinct.
        let nodes = node_group(node, 1_000_000 + number, kinds)?;
        found.push(nodes.into_iter().map(Change::NodeJoins).collect());
    }
    found.extend(raw.node_leaves.clone().map(|name| vec![Change::NodeLeaves(name)]));
    if let Some(resized) = &raw.node_resized {
        let capacity = amounts(&resized.capacity, kinds)?;
        found.push(vec![Change::NodeResized(resized.name.clone(), capacity)]);
    }
    if let Some(queue) = &raw.queue {
        let bound = |raw: &Option<raw::Amounts>, missing: u64| {
            raw.as_ref().map(|raw| queues::bound(raw, kinds, missing).map(Some)).transpose()
        };
        let change = QueueChange {
            weight: queue.weight.as_ref().map(weight).transpose()?,
            min: bound(&queue.min, queues::NO_MIN)?,
            max: bound(&queue.max, queues::NO_MAX)?,
        };
        found.push(vec![Change::Queue(queue.name.clone(), change)]);
    }
    found.extend(raw.queue_removed.clone().map(|name| vec![Change::QueueRemoved(name)]));
    found.extend(raw.job_cancelled.as_ref().map(|job| vec![Change::JobCancelled(job.text())]));
    match (found.pop(), found.is_empty()) {
        (Some(changes), true) => {
            Ok(changes.into_iter().map(|change| TimedChange { at: time, change }).collect())
        }
        _ => Err(
            "a change is one of node_joins, node_leaves, node_resized, queue, queue_removed, job_cancelled"
                .to_owned(),
        ),
    }
}
