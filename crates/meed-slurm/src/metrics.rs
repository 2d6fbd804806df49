//! What a running program counts, as a page in the text format of Prometheus: a file that
//! `node_exporter` hands on (`--collector.textfile.directory`), written whole.

use std::time::Duration;

use meed_driver::explain::QueueStatus;
use meed_driver::metrics::{Buckets, MetricsPage, queue_gauges};

use crate::due::Due;
use crate::world::Standings;

/// Upper bounds of rounds, in seconds.
const ROUND_BOUNDS: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Site factors that were set.
    pub factors: u64,
    /// Rounds that read jobs, that found the order anew, that did nothing.
    rounds: [u64; 3],
    took: Buckets,
    /// As of the last order.
    at: i64,
    waiting: usize,
    placed: usize,
    queues: Vec<(String, QueueStatus)>,
}

impl Default for Measured {
    fn default() -> Measured {
        Measured {
            factors: 0,
            rounds: [0; 3],
            took: Buckets::new(ROUND_BOUNDS),
            at: 0,
            waiting: 0,
            placed: 0,
            queues: Vec::new(),
        }
    }
}

/// What rounds do, as labels.
const KINDS: [(Due, &str); 3] =
    [(Due::Look, "look"), (Due::Turn, "order"), (Due::Nothing, "nothing")];

impl Measured {
    /// A round is over.
    pub(crate) fn round(&mut self, due: Due, took: Duration) {
        self.rounds[due as usize] += 1;
        self.took.see(took.as_secs_f64());
    }

    /// An order was found.
    pub(crate) fn stands(&mut self, standings: &Standings, queues: Vec<(String, QueueStatus)>) {
        self.at = standings.at;
        self.waiting = standings.jobs.len();
        self.placed = standings.jobs.iter().filter(|job| job.place.is_some()).count();
        self.queues = queues;
    }

    /// The page. `slurm`, `accounting`: these answer. `counted`: what the ledger counts, as a part
    /// of a page.
    pub(crate) fn page(&self, slurm: bool, accounting: bool, counted: &str) -> String {
        let mut page = MetricsPage::default();
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            page.family(name, kind, help);
            page.sample(name, &[], value);
        };
        let yes = |is_so: bool| f64::from(u8::from(is_so));
        let gauge = "gauge";
        one("meed_slurm_answers", gauge, "1: Slurm answered in the last round.", yes(slurm));
        let help = "1: accounting answered when it was asked last.";
        one("meed_slurm_accounting_answers", gauge, help, yes(accounting));
        let help = "The second of the last order, since 1970.";
        one("meed_slurm_order_timestamp_seconds", gauge, help, self.at as f64);
        one("meed_slurm_jobs_waiting", gauge, "Records that wait.", self.waiting as f64);
        let help = "Records that wait for their turn alone.";
        one("meed_slurm_jobs_in_order", gauge, help, self.placed as f64);
        let help = "Site factors that were set.";
        one("meed_slurm_factors_set_total", "counter", help, self.factors as f64);
        let name = "meed_slurm_rounds_total";
        page.family(name, "counter", "Rounds, by what they did.");
        for (due, kind) in KINDS {
            page.sample(name, &[("kind", kind)], self.rounds[due as usize] as f64);
        }
        let name = "meed_slurm_round_seconds";
        page.family(name, "histogram", "How long rounds took, with the commands of Slurm.");
        page.histogram(name, &[], &self.took);
        queue_gauges(&mut page, &self.queues);
        page.part(counted);
        page.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::JobTold;

    #[test]
    fn a_page_has_what_was_counted() {
        let mut measured = Measured { factors: 7, ..Measured::default() };
        measured.round(Due::Look, Duration::from_millis(30));
        measured.round(Due::Nothing, Duration::from_millis(3));
        let placed = JobTold { place: Some(0), ..JobTold::default() };
        let standings =
            Standings { at: 9, jobs: vec![placed, JobTold::default()], ..Standings::default() };
        measured.stands(&standings, vec![("bio.ann".to_owned(), QueueStatus::default())]);
        let page = measured.page(true, false, "meed_starts_total 3\n");
        for line in [
            "meed_slurm_answers 1",
            "meed_slurm_accounting_answers 0",
            "meed_slurm_order_timestamp_seconds 9",
            "meed_slurm_jobs_waiting 2",
            "meed_slurm_jobs_in_order 1",
            "meed_slurm_factors_set_total 7",
            "meed_slurm_rounds_total{kind=\"look\"} 1",
            "meed_slurm_rounds_total{kind=\"order\"} 0",
            "meed_slurm_rounds_total{kind=\"nothing\"} 1",
            "meed_slurm_round_seconds_bucket{le=\"0.005\"} 1",
            "meed_slurm_round_seconds_count 2",
            "meed_queue_waiting_tasks{queue=\"bio.ann\"} 0",
            "meed_starts_total 3",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
        }
    }
}
