//! Writes the status of queues: seldom, and only what has changed.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;

use crate::clock::{monotonic, unix_micros};
use crate::crd::{QueueObject, QueueObjectStatus};
use crate::keys;

/// Between two writes: 20 a second.
const PAUSE: Duration = Duration::from_millis(50);

/// What was written last, and when.
#[derive(Default)]
pub(crate) struct StatusBook {
    written: BTreeMap<String, (QueueObjectStatus, Instant)>,
}

impl StatusBook {
    /// What is to be written of these: what was never written, whose condition has changed, or,
    /// after `every`, whatever has.
    pub(crate) fn due(
        &mut self,
        statuses: Vec<(String, QueueObjectStatus)>,
        every: Duration,
    ) -> Vec<(String, QueueObjectStatus)> {
        let now = monotonic();
        let mut due = Vec::new();
        for (name, mut status) in statuses {
            let before = self.written.get(&name);
            for condition in &mut status.conditions {
                let old = before.and_then(|(old, _)| {
                    old.conditions.iter().find(|old| old.kind == condition.kind)
                });
                let same = old.filter(|old| old.status == condition.status);
                condition.last_transition_time =
                    same.map_or_else(present, |old| old.last_transition_time.clone());
            }
            let is_due = before.is_none_or(|(old, at)| {
                let is_old = now.saturating_duration_since(*at) >= every;
                old.conditions != status.conditions || (is_old && differs(old, &status))
            });
            if is_due {
                self.written.insert(name.clone(), (status.clone(), now));
                due.push((name, status));
            }
        }
        due
    }
}

/// Whether more than the instant differs.
fn differs(old: &QueueObjectStatus, new: &QueueObjectStatus) -> bool {
    let timeless =
        |status: &QueueObjectStatus| QueueObjectStatus { as_of_micros: None, ..status.clone() };
    timeless(old) != timeless(new)
}

fn present() -> String {
    let now = Timestamp::from_microsecond(unix_micros() / 1_000_000 * 1_000_000);
    now.map(|now| now.to_string()).unwrap_or_default()
}

/// Writes these. What has no answer is tried once more, on another connection; what cannot be
/// written then is written with the next change.
pub(crate) async fn write(client: Client, due: Vec<(String, QueueObjectStatus)>) {
    let queues: Api<QueueObject> = Api::all(client);
    let parameters =
        PatchParams { field_manager: Some(keys::COMPONENT.into()), ..Default::default() };
    for (name, status) in due {
        let patch = Patch::Merge(json!({ "status": status }));
        if let Err(kube::Error::Service(_)) = queues.patch_status(&name, &parameters, &patch).await
        {
            drop(queues.patch_status(&name, &parameters, &patch).await);
        }
        tokio::time::sleep(PAUSE).await;
    }
}
