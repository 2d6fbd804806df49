//! Whose turn it is, and why: JSON for people and for the ResourceManager's metrics.

use serde::Serialize;

use super::{Core, CoreError};
use crate::message::Explain;

#[derive(Serialize)]
struct QueueRow<'a> {
    queue: String,
    weight: f64,
    /// Mebibytes held now.
    held_mb: u64,
    /// Mebibytes x seconds charged, by the parent's policy.
    charged_mb_s: f64,
    /// Per weight 1, as it is compared.
    charged_per_weight: f64,
    waiting: u64,
    applications: u64,
    policy: &'a str,
}

#[derive(Serialize)]
struct AppRow {
    application: String,
    queue: String,
    held_mb: u64,
    waiting: u64,
    /// Queues of its level and of those above that are served before its own, the root's first.
    before: Vec<String>,
}

impl Core {
    pub(super) fn explain(&mut self, explain: &Explain) -> Result<String, CoreError> {
        let now = self.live.instant(self.names.time(explain.now));
        let told = self.live.advance(now);
        told.map_err(|why| CoreError::Refused(why.to_string()))?;
        match &explain.app {
            Some(app) => self.explain_app(app),
            None => self.explain_queues(),
        }
    }

    fn explain_queues(&self) -> Result<String, CoreError> {
        let engine = self.live.engine();
        let row = |&id: &meed::QueueId| {
            let queue = engine.queue(id);
            let mib = super::UNITS[0] as f64;
            let (weight, charged) =
                (queue.weight as f64 / 1000.0, engine.charged(id, engine.now()));
            let preset = meed::policy::Preset::like(engine.policy(id));
            QueueRow {
                queue: format!("root.{}", queue.name),
                weight,
                held_mb: queue.held.get(0) / super::UNITS[0],
                charged_mb_s: charged / mib,
                charged_per_weight: charged / mib / weight,
                waiting: queue.waiting,
                applications: queue.jobs,
                policy: preset.map_or("long-term", |preset| preset.name),
            }
        };
        let known = self.queues.iter().filter(|id| engine.queue(**id).parent.is_some());
        json(&known.map(row).collect::<Vec<_>>())
    }

    fn explain_app(&self, app: &str) -> Result<String, CoreError> {
        let unknown = || CoreError::Refused(format!("application {app} is not known here"));
        let row = self.names.apps.get(app).ok_or_else(unknown)?;
        let engine = self.live.engine();
        let leaf = engine.find_queue(&row.queue).ok_or_else(unknown)?;
        let mut before = Vec::new();
        let mut at = leaf;
        while let Some(parent) = engine.queue(at).parent {
            let order = engine.children_in_order(parent);
            let ahead = order.iter().take_while(|child| child.queue != at);
            let names = ahead.map(|child| format!("root.{}", engine.queue(child.queue).name));
            let mut names: Vec<String> = names.collect();
            names.append(&mut before);
            before = names;
            at = parent;
        }
        let ranges = row.waiting.values().flatten();
        json(&AppRow {
            application: app.to_owned(),
            queue: format!("root.{}", row.queue),
            held_mb: row.held[0],
            waiting: ranges.map(|range| u64::from(range.end - range.start)).sum(),
            before,
        })
    }
}

fn json<T: Serialize>(value: &T) -> Result<String, CoreError> {
    serde_json::to_string(value).map_err(|why| CoreError::Refused(why.to_string()))
}
