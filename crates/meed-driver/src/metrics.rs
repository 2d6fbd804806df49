//! The text format of Prometheus, version 0.0.4: families, samples, histograms; and what every live
//! world tells of its queues, by the same names ([`queue_gauges`]).

use std::fmt::Write;

use crate::explain::QueueStatus;

/// Upper bounds of waits, in seconds.
pub const WAIT_BOUNDS: &[f64] =
    &[0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0];
/// Upper bounds of turns of the service, in seconds.
pub const TURN_BOUNDS: &[f64] =
    &[0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// What was seen, by size.
///
/// The example of [`MetricsPage`] writes some.
#[derive(Clone, Debug)]
pub struct Buckets {
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
}

impl Buckets {
    /// Nothing seen yet; `bounds` rise.
    pub fn new(bounds: &'static [f64]) -> Buckets {
        Buckets { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Another value.
    pub fn see(&mut self, value: f64) {
        self.counts[self.bounds.partition_point(|&bound| bound < value)] += 1;
        self.sum += value;
    }
}

/// A page of metrics. Writing to memory does not fail.
///
/// ```
/// use meed_driver::metrics::{Buckets, MetricsPage};
///
/// let mut seen = Buckets::new(&[1.0, 10.0]);
/// seen.see(3.0);
/// let mut page = MetricsPage::default();
/// page.family("wait_seconds", "histogram", "How long jobs wait.");
/// page.histogram("wait_seconds", &[("queue", "ads")], &seen);
/// assert!(page.text().contains("wait_seconds_bucket{queue=\"ads\",le=\"10\"} 1\n"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct MetricsPage {
    text: String,
}

impl MetricsPage {
    /// Samples of this name follow.
    pub fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample of the family, with these labels.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        let mut sign = '{';
        for (label, text) in labels {
            let _ = write!(self.text, "{sign}{label}=\"{}\"", escaped(text));
            sign = ',';
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    /// All samples of a histogram.
    pub fn histogram(&mut self, name: &str, labels: &[(&str, &str)], seen: &Buckets) {
        let bounds = seen.bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        let mut below = 0;
        for (bound, count) in bounds.zip(&seen.counts) {
            below += count;
            let labels = [labels, &[("le", bound.as_str())]].concat();
            self.sample(&format!("{name}_bucket"), &labels, below as f64);
        }
        self.sample(&format!("{name}_sum"), labels, seen.sum);
        self.sample(&format!("{name}_count"), labels, below as f64);
    }

    /// A part that is in this format already.
    pub fn part(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The page.
    pub fn text(self) -> String {
        self.text
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Name and help of a gauge, and where its value is.
type Gauge = (&'static str, &'static str, fn(&QueueStatus) -> Option<f64>);

/// What each queue has. Amounts are in the unit of the resource that fairness is measured in.
const GAUGES: &[Gauge] = &[
    ("meed_queue_weight", "Weight among its siblings.", |q| Some(q.weight)),
    ("meed_queue_entitled", "What it is entitled to.", |q| Some(q.share)),
    ("meed_queue_allocated", "What its tasks hold.", |q| Some(q.held)),
    ("meed_queue_demand", "What it holds and waits for.", |q| Some(q.demand)),
    ("meed_queue_charged_resource_seconds", "What its ledger holds against it.", |q| {
        Some(q.charged)
    }),
    ("meed_queue_balance_resource_seconds", "What it has lent less what it borrowed.", |q| {
        Some(q.balance)
    }),
    ("meed_queue_rho_ratio", "Fairness degree; absent before its first demand.", |q| q.rho),
    ("meed_queue_waiting_tasks", "Tasks that wait.", |q| Some(q.waiting_tasks as f64)),
    ("meed_queue_live_jobs", "Jobs that the scheduler knows.", |q| Some(q.jobs as f64)),
];

/// The gauges of all queues, each with its name.
pub fn queue_gauges(page: &mut MetricsPage, queues: &[(String, QueueStatus)]) {
    let mut family =
        |name: &str, kind: &str, help: &str, value: fn(&QueueStatus) -> Option<f64>| {
            page.family(name, kind, help);
            for (queue, status) in queues {
                let labels = [("queue", queue.as_str()), ("resource", status.measured.as_str())];
                // Of what is counted in tasks and jobs the resource says nothing.
                let plain = name.ends_with("_tasks") || name.ends_with("_jobs");
                let labels = if plain { &labels[..1] } else { &labels[..] };
                if let Some(value) = value(status) {
                    page.sample(name, labels, value);
                }
            }
        };
    for (name, help, value) in GAUGES {
        family(name, "gauge", help, *value);
    }
    let help = "What its tasks have held so far.";
    family("meed_queue_usage_resource_seconds_total", "counter", help, |q| Some(q.usage));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_queues_stay_within_their_quotes() {
        let mut page = MetricsPage::default();
        page.family("a_total", "counter", "Things.");
        page.sample("a_total", &[("queue", "x\"} 1\nb 2"), ("b", "\\")], 3.0);
        let mut seen = Buckets::new(&[0.5, 1.0]);
        [0.5, 0.7, 9.0].iter().for_each(|&value| seen.see(value));
        page.histogram("w", &[("q", "a")], &seen);
        let wanted = "# HELP a_total Things.\n# TYPE a_total counter\n\
                      a_total{queue=\"x\\\"} 1\\nb 2\",b=\"\\\\\"} 3\n\
                      w_bucket{q=\"a\",le=\"0.5\"} 1\nw_bucket{q=\"a\",le=\"1\"} 2\n\
                      w_bucket{q=\"a\",le=\"+Inf\"} 3\nw_sum{q=\"a\"} 10.2\nw_count{q=\"a\"} 3\n";
        assert_eq!(page.text(), wanted);
    }
}
