//! How queues stand, for the status of their objects.

use std::collections::BTreeMap;

use meed::{QueueId, Time};
use meed_driver::explain::QueueStatus;

use super::World;
use crate::crd::{QueueCondition, QueueObjectStatus};
use crate::error::KubernetesError;

/// What is said of an accepted queue.
const ACCEPTED: &str = "its pods are served";

impl World {
    /// The status of each object by its name.
    pub(crate) fn statuses(
        &mut self,
        now: Time,
    ) -> Result<Vec<(String, QueueObjectStatus)>, KubernetesError> {
        let books = self.driver.queues(now);
        let books = books.map_err(|why| KubernetesError::Engine(why.to_string()))?;
        let as_of = self.clock.unix(now);
        let books: BTreeMap<QueueId, QueueStatus> = books.into_iter().collect();
        let of_queue = |(name, row): (&String, &super::queues::QueueRow)| {
            let id = row.full.as_deref().and_then(|full| self.driver.queue_named(full));
            let books = id.and_then(|id| books.get(&id));
            let mut status =
                books.map_or_else(QueueObjectStatus::default, |books| figures(books, as_of));
            let (is_accepted, reason, message) = match (&row.problem, id) {
                (None, Some(_)) => (true, "Accepted", ACCEPTED.to_owned()),
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
}

fn figures(books: &QueueStatus, as_of: i64) -> QueueObjectStatus {
    let of = |amount: f64| format!("{} {}", rounded(amount), books.measured);
    let hours = books.balance / 3600.0;
    let sign = if hours > 0.0 { "+" } else { "" };
    let running = books.jobs.saturating_sub(books.waiting_tasks);
    QueueObjectStatus {
        entitled: Some(of(books.share)),
        used: Some(of(books.held)),
        balance: Some(format!("{sign}{} {}-hours", rounded(hours), books.measured)),
        usage: Some(in_thousandths(books.usage)),
        charged: Some(in_thousandths(books.charged)),
        waiting: Some(books.waiting_tasks),
        running: Some(running),
        as_of_micros: Some(as_of),
        conditions: Vec::new(),
    }
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
        assert_eq!((status.waiting, status.running), (Some(2), Some(3)));
        assert_eq!(status.usage, Some(1.235));
        assert_eq!(rounded(-0.001).to_string(), "0");
    }
}
