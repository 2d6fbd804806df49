//! How queues stand, for the status of their objects.

use std::collections::{BTreeMap, BTreeSet};

use meed::{QueueId, Resources, Time, Unit};
use meed_driver::counters::{METRICS, Metric};
use meed_driver::explain::QueueStatus;
use meed_driver::metrics::{MetricsPage, queue_gauges};

use super::World;
use super::queue_row::object_in;
use crate::crd::{QueueCondition, QueueObjectStatus};
use crate::error::KubernetesError;

/// Of so many queues below each parent the place is told. It changes with every decision, and
/// statuses are written seldom: of thousands of queues those that are served soon count.
const PLACES: usize = 10;

/// What is said of an accepted queue.
const ACCEPTED: &str = "its pods are served";

impl World {
    /// The status of each object by its name.
    pub(crate) fn statuses(
        &mut self,
        now: Time,
    ) -> Result<Vec<(String, QueueObjectStatus)>, KubernetesError> {
        let books = self.books(now)?;
        let as_of = self.clock.unix(now);
        let late = self.let_go.late();
        let sums = self.sums(books, &late);
        let places = self.places();
        let of_queue = |(name, row): (&String, &super::queue_row::QueueRow)| {
            let id = row.full.as_deref().and_then(|full| self.driver.queue_named(full));
            let sum = row.full.as_deref().and_then(|full| sums.get(full));
            let mut status = sum.map_or_else(QueueObjectStatus::default, |sum| {
                let status = figures(&sum.books, as_of);
                let next = id.and_then(|id| places.get(&id).copied());
                QueueObjectStatus { running: Some(sum.running), next, ..status }
            });
            let alone = || late.get(name.as_str()).copied().unwrap_or(0);
            status.unplaced = Some(sum.map_or_else(alone, |sum| sum.unplaced));
            let (is_accepted, reason, message) = match (&row.problem, id) {
                (None, Some(_)) => match &row.unkept {
                    Some(why) => (true, "MinimumNotKept", why.clone()),
                    None => (true, "Accepted", ACCEPTED.to_owned()),
                },
                (Some(why), Some(_)) => (true, "OldPolicy", why.clone()),
                (Some(why), None) => (false, "Invalid", why.clone()),
                (None, None) => (false, "Pending", "it is not declared yet".to_owned()),
            };
            status.conditions = vec![QueueCondition {
                kind: "Accepted".to_owned(),
                status: if is_accepted { "True" } else { "False" }.to_owned(),
                reason: reason.to_owned(),
                message,
                last_transition_time: String::new(),
            }];
            (name.clone(), status)
        };
        Ok(self.queues.iter().map(of_queue).collect())
    }

    /// The places of those that are served next below each parent, from 1 on. O(queues).
    fn places(&self) -> BTreeMap<QueueId, u64> {
        let engine = self.driver.engine();
        let full = self.queues.values().filter_map(|row| row.full.as_deref());
        let parents = full.filter_map(|full| match full.rsplit_once('.') {
            Some((parent, _)) => self.driver.queue_named(parent),
            None => Some(QueueId::ROOT),
        });
        let parents: BTreeSet<QueueId> = parents.collect();
        let first = parents.into_iter().flat_map(|parent| {
            let children = engine.first_children(parent, PLACES, QueueId::ROOT).first;
            children.into_iter().map(|child| child.queue).zip(1..)
        });
        first.collect()
    }

    /// What queues are entitled to, hold and so on, by their full names: of parents the sums over
    /// all leaves below them. What ran in leaves that are gone counts for nobody any more.
    fn sums(
        &self,
        books: Vec<(QueueId, QueueStatus)>,
        late: &BTreeMap<&str, u64>,
    ) -> BTreeMap<&str, Sum> {
        let engine = self.driver.engine();
        let gangs = self.more_tasks();
        let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
        for (id, books) in books.into_iter().filter(|(id, _)| !engine.is_removed(*id)) {
            let full = engine.queue_name(id);
            let unplaced = late.get(object_in(full)).copied().unwrap_or(0);
            let running = running(&books, gangs.get(&id).copied().unwrap_or(0));
            let ends = full.match_indices('.').map(|(end, _)| end).chain([full.len()]);
            for end in ends {
                sums.entry(&full[..end]).or_default().add(&books, running, unplaced);
            }
        }
        sums
    }

    /// Tasks beyond one for each job, by queue: those of gangs.
    pub(super) fn more_tasks(&self) -> BTreeMap<QueueId, u64> {
        let mut more = BTreeMap::new();
        for job in self.driver.jobs().filter(|job| job.detail.is_gang()) {
            let waiting = job.waiting_tasks();
            let alive = self.driver.engine().running_of(job.id()) + waiting;
            *more.entry(job.queue()).or_default() += alive.saturating_sub(1);
        }
        more
    }
}

impl World {
    /// What is counted, in the text format of Prometheus. Queues have their full names.
    pub(crate) fn figures(&mut self, now: Time) -> Result<String, KubernetesError> {
        let books = self.books(now)?;
        let engine = self.driver.engine();
        let gangs = self.more_tasks();
        let all: Vec<(String, u64)> = books
            .iter()
            .map(|(id, books)| {
                let more = gangs.get(id).copied().unwrap_or(0);
                (engine.queue_name(*id).to_owned(), running(books, more))
            })
            .collect();
        let named: Vec<(String, QueueStatus)> = books
            .into_iter()
            .map(|(id, books)| (engine.queue_name(id).to_owned(), books))
            .collect();
        let mut page = MetricsPage::default();
        queue_gauges(&mut page, &named);
        let name = "meed_queue_running_tasks";
        page.family(name, "gauge", "Tasks that run.");
        for (queue, running) in &all {
            page.sample(name, &[("queue", queue)], *running as f64);
        }
        let mut capacity = Resources::zero(self.kinds.len());
        for id in engine.node_ids().filter(|&id| engine.is_up(id)) {
            let own = engine.node(id).0.capacity;
            let sums = capacity.as_mut_slice().iter_mut().zip(own.as_slice());
            sums.for_each(|(sum, own)| *sum = sum.saturating_add(*own));
        }
        let held = engine.queue(QueueId::ROOT).held;
        for (name, help, amounts) in [
            ("meed_capacity", "What the nodes have, in the resource's unit.", &capacity),
            ("meed_allocated", "What tasks hold of it.", held),
        ] {
            page.family(name, "gauge", help);
            for (kind, amount) in amounts.as_slice().iter().enumerate() {
                let scale = if self.kinds.unit(kind) == Unit::Milli { 1000.0 } else { 1.0 };
                let labels = [("resource", self.kinds.name(kind))];
                page.sample(name, &labels, *amount as f64 / scale);
            }
        }
        let starts = self.driver.counted().totals.starts;
        for (metric, count) in [(Metric::Decisions, self.decisions), (Metric::Starts, starts)] {
            if let Some(row) = METRICS.iter().find(|row| row.metric == metric) {
                page.family(row.name, "counter", row.help);
                page.sample(row.name, &[], count as f64);
            }
        }
        Ok(page.text())
    }
}

/// Leaves, added up.
#[derive(Default)]
struct Sum {
    books: QueueStatus,
    running: u64,
    unplaced: u64,
}

impl Sum {
    fn add(&mut self, leaf: &QueueStatus, running: u64, unplaced: u64) {
        let sum = &mut self.books;
        sum.measured.clone_from(&leaf.measured);
        sum.share += leaf.share;
        sum.held += leaf.held;
        sum.balance += leaf.balance;
        sum.usage += leaf.usage;
        sum.charged += leaf.charged;
        sum.waiting_tasks += leaf.waiting_tasks;
        self.running += running;
        self.unplaced += unplaced;
    }
}

fn figures(books: &QueueStatus, as_of: i64) -> QueueObjectStatus {
    let of = |amount: f64| format!("{} {}", rounded(amount), books.measured);
    let hours = books.balance / 3600.0;
    let sign = if hours > 0.0 { "+" } else { "" };
    QueueObjectStatus {
        entitled: Some(of(books.share)),
        used: Some(of(books.held)),
        balance: Some(format!("{sign}{} {}-hours", rounded(hours), books.measured)),
        usage: Some(in_thousandths(books.usage)),
        charged: Some(in_thousandths(books.charged)),
        waiting: Some(books.waiting_tasks),
        next: None,
        unplaced: None,
        running: None,
        as_of_micros: Some(as_of),
        conditions: Vec::new(),
    }
}

/// Tasks that run, where jobs have so many tasks more than one each.
fn running(books: &QueueStatus, more: u64) -> u64 {
    (books.jobs + more).saturating_sub(books.waiting_tasks)
}

fn in_thousandths(amount: f64) -> f64 {
    (amount * 1000.0).round() / 1000.0
}

/// At most two digits behind the point, and none that say nothing.
fn rounded(amount: f64) -> f64 {
    // Zero without a sign.
    (amount * 100.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let books = QueueStatus {
            measured: "cpu".to_owned(),
            share: 40.0,
            held: 12.345_6,
            jobs: 5,
            waiting_tasks: 2,
            balance: -3_600.4,
            usage: 1.234_56,
            ..QueueStatus::default()
        };
        let status = figures(&books, 7);
        assert_eq!(status.entitled.as_deref(), Some("40 cpu"));
        assert_eq!(status.used.as_deref(), Some("12.35 cpu"));
        assert_eq!(status.balance.as_deref(), Some("-1 cpu-hours"));
        assert_eq!(status.waiting, Some(2));
        assert_eq!((running(&books, 0), running(&books, 4)), (3, 7));
        assert_eq!(status.usage, Some(1.235));
        assert_eq!(rounded(-0.001).to_string(), "0");
    }
}
