//! What is counted, as Prometheus reads it.

use std::collections::BTreeMap;

use meed_driver::explain::QueueStatus;
use meed_driver::metrics::{MetricsPage, queue_gauges};
use meed_journal::TaskKey;

use super::{Places, World};
use crate::protocol::{NotDone, RefusalKind};
use crate::settings::Role;
use crate::user::LocalUser;

impl World {
    /// A task is about to start for the first time: so long it has waited.
    pub(super) fn note_wait(&mut self, task: &TaskKey) {
        if task.attempt > 0 {
            return;
        }
        let Some(job) = self.live.job(&task.job) else { return };
        let engine = self.live.engine();
        let waited = engine.now().as_micros().saturating_sub(job.ready().as_micros());
        let queue = engine.queue(job.queue()).name;
        self.watched.waited(queue, waited as f64 / 1e6);
    }

    /// All that is counted; it tells the ledgers of all, so it is for operators.
    pub(super) fn metrics(&mut self, user: &LocalUser) -> Result<String, NotDone> {
        if self.settings.members.role(user) < Role::Operator {
            let why =
                "metrics tell the books of all queues; only operators and admins may see them";
            return Err(NotDone::new(RefusalKind::Forbidden, why));
        }
        let now = self.live.instant(self.meta.clock.now());
        let failed = |why: meed::Rejected| NotDone::new(RefusalKind::Failed, why.to_string());
        let books = self.live.queues(now).map_err(failed)?;
        let mut running: BTreeMap<String, usize> = BTreeMap::new();
        for (id, tasks) in &self.running {
            if let Some(row) = self.rows.get(id) {
                *running.entry(row.queue.clone()).or_default() += tasks.len();
            }
        }
        let engine = self.live.engine();
        let named: Vec<(String, QueueStatus)> = books
            .into_iter()
            .map(|(id, status)| (engine.queue(id).name.to_owned(), status))
            .collect();
        let mut page = MetricsPage::default();
        queue_gauges(&mut page, &named);
        page.family("meed_queue_running_tasks", "gauge", "Tasks that run.");
        for (queue, _) in &named {
            let tasks = running.get(queue).copied().unwrap_or(0);
            page.sample("meed_queue_running_tasks", &[("queue", queue)], tasks as f64);
        }
        let name = "meed_queue_wait_seconds";
        page.family(name, "histogram", "How long tasks waited before their first start.");
        for (queue, waits) in self.watched.waits() {
            page.histogram(name, &[("queue", queue)], waits);
        }
        self.machine_gauges(&mut page);
        page.part(&self.live.counters().prometheus());
        page.family("meed_turn_seconds", "histogram", "How long a turn of the service took.");
        page.histogram("meed_turn_seconds", &[], self.watched.turns());
        let name = "meed_store_bytes";
        page.family(name, "gauge", "Size of what the server keeps on the disk.");
        for (part, bytes) in sizes(&self.places) {
            page.sample(name, &[("part", part)], bytes as f64);
        }
        let name = "meed_open_jobs";
        page.family(name, "gauge", "Jobs that have not ended.");
        page.sample(name, &[], self.rows.values().filter(|row| !row.is_over()).count() as f64);
        Ok(page.text())
    }

    fn machine_gauges(&self, page: &mut MetricsPage) {
        let resources = self.resources();
        page.family("meed_capacity", "gauge", "What the machine has, in the resource's unit.");
        for shown in &resources {
            page.sample("meed_capacity", &[("resource", &shown.resource)], shown.has);
        }
        page.family("meed_allocated", "gauge", "What tasks hold of it.");
        for shown in &resources {
            page.sample("meed_allocated", &[("resource", &shown.resource)], shown.held);
        }
    }
}

/// Bytes of the journal and of the books.
fn sizes(places: &Places) -> [(&'static str, u64); 2] {
    let size = |folder: &std::path::Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    };
    [("journal", size(&places.state.join("journal"))), ("jobs", size(&places.books()))]
}
