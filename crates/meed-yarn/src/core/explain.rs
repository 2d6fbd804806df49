//! How queues stand, and why an application waits or runs: JSON for people, as of the last tick.
//!
//! What the engine knows of its order is told as it is ([`QueueStatus`], [`Standing`]); what it
//! would say of room is not, for YARN places containers, and the engine's nodes are closed.

use std::collections::BTreeMap;

use meed::{QueueId, Time, View};
use meed_driver::explain::{GuardStatus, Leaf, Level, QueueStatus, Standing, Subject};
use serde::Serialize;

use super::{Core, CoreError};
use crate::message::Explain;

/// All leaves.
#[derive(Serialize)]
struct QueuesTold {
    /// Milliseconds since 1970.
    at_ms: u64,
    queues: Vec<QueueTold>,
}

#[derive(Serialize)]
struct QueueTold {
    queue: String,
    /// Whose turn it is: its place, from 0, among leaves in which something waits.
    next: Option<usize>,
    /// By what its siblings and it are ordered.
    order: String,
    #[serde(flatten)]
    state: QueueStatus,
}

#[derive(Serialize)]
struct AppTold {
    at_ms: u64,
    application: String,
    queue: String,
    held_mb: u64,
    waiting: u64,
    running: u64,
    /// Who holds what there is: leaves, those that hold most first.
    holders: Vec<Holder>,
    /// Seconds since a container ended anywhere; `null`: none has since the ledger was opened.
    last_end_s: Option<u64>,
    /// Queues of its level and of those above that are served before its own, the root's first.
    before: Vec<String>,
    state: QueueStatus,
    /// Whose turn it is at each level, the root's first.
    levels: Vec<Level>,
    guard: Option<GuardStatus>,
    /// Applications of its queue that are served before it.
    leaf: Option<Leaf>,
}

/// What a leaf holds. When its containers end nobody knows.
#[derive(Serialize)]
struct Holder {
    queue: String,
    containers: u64,
    held_mb: u64,
    held_cores: u64,
    /// Since when the one that has run longest has, and the one that has run shortest.
    oldest_s: u64,
    youngest_s: u64,
}

fn refused(why: impl std::fmt::Display) -> CoreError {
    CoreError::Refused(why.to_string())
}

impl Core {
    pub(super) fn explain(&mut self, explain: &Explain) -> Result<String, CoreError> {
        let now = self.live.instant(self.names.time(explain.now));
        self.live.advance(now).map_err(refused)?;
        let at_ms = (self.names.epoch_us + now.as_micros()) / 1000;
        match &explain.app {
            Some(app) => self.explain_app(app, at_ms),
            None => self.explain_queues(at_ms),
        }
    }

    fn explain_queues(&mut self, at_ms: u64) -> Result<String, CoreError> {
        let now = self.live.engine().now();
        let books = self.live.queues(now).map_err(refused)?;
        let engine = self.live.engine();
        let mut places = BTreeMap::new();
        walk(engine, QueueId::ROOT, &mut places);
        let told = |(id, state): (QueueId, QueueStatus)| {
            let above = engine.queue(id).parent.unwrap_or(QueueId::ROOT);
            let preset = meed::policy::Preset::like(engine.policy(above));
            QueueTold {
                queue: yarn_name(engine.queue(id).name),
                next: places.get(&id).copied(),
                order: preset.map_or("long-term", |preset| preset.name).to_owned(),
                state,
            }
        };
        // Those that are configured now: others have a ledger, and come back with it.
        let here = books.into_iter().filter(|(id, _)| self.queues.contains(id));
        json(&QueuesTold { at_ms, queues: here.map(told).collect() })
    }

    fn explain_app(&mut self, app: &str, at_ms: u64) -> Result<String, CoreError> {
        let unknown = || CoreError::Refused(format!("application {app} is not known here"));
        let now = self.live.engine().now();
        let row = self.names.apps.named(app).ok_or_else(unknown)?;
        let leaf = self.live.engine().find_queue(&row.queue).ok_or_else(unknown)?;
        let job = row.job.as_ref().and_then(|job| self.live.job(job)).map(|live| live.id());
        let standing = self.live.explain(now, leaf, Subject::Job(job)).map_err(refused)?;
        let row = self.names.apps.named(app).ok_or_else(unknown)?;
        let Standing { running, state, levels, guard, leaf: in_leaf, .. } = standing;
        let engine = self.live.engine();
        let ranges = row.waiting.values().flatten();
        json(&AppTold {
            at_ms,
            application: app.to_owned(),
            queue: yarn_name(&row.queue),
            held_mb: row.held[0],
            waiting: ranges.map(|range| u64::from(range.end - range.start)).sum(),
            running,
            holders: self.holders(now),
            last_end_s: self.names.last_end.map(|at| secs(now, at)),
            before: before(engine, leaf),
            state,
            levels: levels.into_iter().map(renamed).collect(),
            guard: guard.map(|guard| GuardStatus {
                before: guard.before.iter().map(|leaf| yarn_name(leaf)).collect(),
                ..guard
            }),
            leaf: in_leaf.map(applications),
        })
    }
}

fn secs(now: Time, since: Time) -> u64 {
    now.saturating_since(since).as_micros() / 1_000_000
}

impl Core {
    fn holders(&self, now: Time) -> Vec<Holder> {
        let engine = self.live.engine();
        let mut by_leaf: BTreeMap<&str, Holder> = BTreeMap::new();
        for id in engine.running_ids() {
            let job = engine.running_job(id).and_then(|job| engine.queue_of(job));
            let (Some(leaf), Some(demand)) = (job, engine.demand_of(id)) else { continue };
            let ran = secs(now, engine.started(id).unwrap_or(now));
            let name = engine.queue_name(leaf);
            let holder = by_leaf.entry(name).or_insert_with(|| Holder {
                queue: yarn_name(name),
                containers: 0,
                held_mb: 0,
                held_cores: 0,
                oldest_s: ran,
                youngest_s: ran,
            });
            holder.containers += 1;
            holder.held_mb += demand.get(0) / super::UNITS[0];
            holder.held_cores += demand.get(1) / super::UNITS[1];
            holder.oldest_s = holder.oldest_s.max(ran);
            holder.youngest_s = holder.youngest_s.min(ran);
        }
        let mut holders: Vec<Holder> = by_leaf.into_values().collect();
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.held_mb));
        holders
    }
}

/// Leaves in the order in which a walk down from `parent` comes to them.
fn walk(engine: View<'_>, parent: QueueId, places: &mut BTreeMap<QueueId, usize>) {
    for child in engine.children_in_order(parent) {
        if engine.queue(child.queue).is_leaf {
            places.insert(child.queue, places.len());
        } else {
            walk(engine, child.queue, places);
        }
    }
}

fn before(engine: View<'_>, leaf: QueueId) -> Vec<String> {
    let mut levels = Vec::new();
    let mut at = leaf;
    while let Some(parent) = engine.queue(at).parent {
        let order = engine.children_in_order(parent);
        let ahead = order.iter().take_while(|child| child.queue != at);
        let names = ahead.map(|child| yarn_name(engine.queue(child.queue).name));
        levels.push(names.collect::<Vec<_>>());
        at = parent;
    }
    levels.into_iter().rev().flatten().collect()
}

/// The engine's name of a queue as YARN's.
fn yarn_name(engine: &str) -> String {
    match engine {
        "" => "root".to_owned(),
        name => format!("root.{name}"),
    }
}

fn renamed(mut level: Level) -> Level {
    level.among = yarn_name(&level.among);
    for child in &mut level.children {
        child.queue = yarn_name(&child.queue);
    }
    level
}

/// What follows a slash says which of several jobs of one application it is.
fn applications(mut leaf: Leaf) -> Leaf {
    for ahead in &mut leaf.first {
        if let Some((application, _)) = ahead.job.split_once('/') {
            ahead.job = application.to_owned();
        }
    }
    leaf
}

fn json<T: Serialize>(value: &T) -> Result<String, CoreError> {
    serde_json::to_string(value).map_err(refused)
}
