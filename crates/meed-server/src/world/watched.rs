//! What others watch: events at the end of a turn, and what is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use meed_driver::explain::QueueStatus;
use meed_driver::metrics::{Buckets, MetricsPage, TURN_BOUNDS, WAIT_BOUNDS, queue_gauges};
use meed_journal::TaskKey;

use super::{Places, World, WorldError};
use crate::clock::{boot_us, wall_us};
use crate::feed::{Feed, FeedEvent};
use crate::protocol::{NotDone, RefusalKind};
use crate::settings::Role;
use crate::user::LocalUser;

/// Most queues whose waits are counted.
const MOST_QUEUES: usize = 4096;

/// See the module.
pub(super) struct Watched {
    /// Where events go; `None`: nobody watches.
    feed: Option<Arc<Feed>>,
    /// Jobs that stand otherwise than at the end of the last turn.
    touched: BTreeSet<u64>,
    turns: Buckets,
    waits: BTreeMap<String, Buckets>,
}

impl Watched {
    pub(super) fn new() -> Watched {
        let (touched, waits) = (BTreeSet::new(), BTreeMap::new());
        Watched { feed: None, touched, turns: Buckets::new(TURN_BOUNDS), waits }
    }

    /// The job stands otherwise.
    pub(super) fn touch(&mut self, job: u64) {
        if self.feed.is_some() {
            self.touched.insert(job);
        }
    }

    /// Whether anybody may watch.
    pub(super) fn is_followed(&self) -> bool {
        self.feed.is_some()
    }

    pub(super) fn rules_changed(&self) {
        if let Some(feed) = &self.feed {
            feed.rules_changed();
        }
    }
}

impl World {
    /// Events from now on.
    pub(crate) fn follow(&mut self) -> Arc<Feed> {
        let feed = self.watched.feed.get_or_insert_with(|| Arc::new(Feed::new(wall_us())));
        let feed = feed.clone();
        // The first step begins now.
        self.sample();
        feed
    }

    /// A turn is over that began then.
    pub(super) fn turn_over(&mut self, began_us: u64) -> Result<(), WorldError> {
        let touched = std::mem::take(&mut self.watched.touched);
        if let Some(feed) = self.watched.feed.clone().filter(|_| !touched.is_empty()) {
            let mut events = Vec::new();
            for id in touched {
                let Some(row) = self.row_of(id)? else { continue };
                let view = Arc::new(self.whole_view(&row));
                events.push(FeedEvent::Job { uid: row.uid, view });
            }
            events.push(FeedEvent::Queues { at_us: wall_us() });
            feed.publish(events);
        }
        let took = boot_us().saturating_sub(began_us);
        self.watched.turns.see(took as f64 / 1e6);
        Ok(())
    }

    /// A task is about to start for the first time: so long it has waited.
    pub(super) fn note_wait(&mut self, task: &TaskKey) {
        if task.attempt > 0 {
            return;
        }
        let Some(job) = self.live.job(&task.job) else { return };
        let engine = self.live.engine();
        let waited = engine.now().as_micros().saturating_sub(job.ready().as_micros());
        let queue = engine.queue(job.queue()).name;
        if let Some(waits) = self.watched.waits.get_mut(queue) {
            waits.see(waited as f64 / 1e6);
        } else if self.watched.waits.len() < MOST_QUEUES {
            let mut waits = Buckets::new(WAIT_BOUNDS);
            waits.see(waited as f64 / 1e6);
            self.watched.waits.insert(queue.to_owned(), waits);
        }
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
        for (queue, waits) in &self.watched.waits {
            page.histogram(name, &[("queue", queue)], waits);
        }
        self.machine_gauges(&mut page);
        page.part(&self.live.counters().prometheus());
        page.family("meed_turn_seconds", "histogram", "How long a turn of the service took.");
        page.histogram("meed_turn_seconds", &[], &self.watched.turns);
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
