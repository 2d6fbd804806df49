//! What a live driver counts for whoever watches it: plain numbers, named in one table.
//!
//! No clock is read: how long a commit took is the world's to say ([`Counters::commit_took`]).
//! [`Counters::prometheus`] renders all of them in the text format of Prometheus; another form can
//! be made from [`METRICS`] and [`Counters::value`]. They count from the opening of the journal on:
//! a crash sets them back, as it does those of any process.

use std::fmt::Write;

use meed::Span;
use meed_journal::Kind;

/// What is counted.
///
/// The example of [`MetricInfo`] finds the row of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Metric {
    /// Instants that were decided.
    Decisions,
    /// Starts that were decided, adopted tasks too.
    Starts,
    /// Tasks that ended well.
    Ends,
    /// Attempts that failed.
    Failures,
    /// Tasks that were lost without their fault.
    Lost,
    /// Tasks that were told to stop for others.
    Reclaims,
    /// Starts that could not be carried out.
    Undone,
    /// Jobs that arrived.
    Arrivals,
    /// Jobs that were refused.
    Refused,
    /// Records that were made durable.
    Records,
    /// Bytes of them.
    Bytes,
    /// Commits, and how many records each had.
    CommitRecords,
    /// How long commits took.
    CommitSeconds,
}

/// A row of [`METRICS`].
///
/// ```
/// use meed_driver::counters::{METRICS, Metric};
///
/// let row = METRICS.iter().find(|row| row.metric == Metric::Starts).ok_or("each has a row")?;
/// assert_eq!((row.name, row.buckets.is_none()), ("meed_starts_total", true));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// Which.
    pub metric: Metric,
    /// Its name; its unit stands at its end, before `_total`.
    pub name: &'static str,
    /// For people.
    pub help: &'static str,
    /// Of a histogram: upper bounds of its buckets in smallest units, and how many of these are one
    /// unit of the name.
    pub buckets: Option<(&'static [u64], u64)>,
}

const fn counter(metric: Metric, name: &'static str, help: &'static str) -> MetricInfo {
    MetricInfo { metric, name, help, buckets: None }
}

/// All that is counted.
pub const METRICS: &[MetricInfo] = &[
    counter(Metric::Decisions, "meed_decisions_total", "Instants at which starts were decided."),
    counter(Metric::Starts, "meed_starts_total", "Tasks started or adopted."),
    counter(Metric::Ends, "meed_ends_total", "Tasks that ended well."),
    counter(Metric::Failures, "meed_failures_total", "Attempts of tasks that failed."),
    counter(Metric::Lost, "meed_lost_total", "Tasks lost without their fault."),
    counter(Metric::Reclaims, "meed_reclaims_total", "Tasks told to stop for others."),
    counter(Metric::Undone, "meed_undone_total", "Starts that could not be carried out."),
    counter(Metric::Arrivals, "meed_arrivals_total", "Jobs that arrived and were taken."),
    counter(Metric::Refused, "meed_refused_total", "Jobs that were refused."),
    counter(Metric::Records, "meed_journal_records_total", "Records made durable."),
    counter(Metric::Bytes, "meed_journal_bytes_total", "Bytes of records made durable."),
    MetricInfo {
        metric: Metric::CommitRecords,
        name: "meed_commit_records",
        help: "Records in one commit.",
        buckets: Some((&[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000], 1)),
    },
    MetricInfo {
        metric: Metric::CommitSeconds,
        name: "meed_commit_seconds",
        help: "How long a commit took, its sync included.",
        buckets: Some((
            &[
                100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
                1_000_000, 2_500_000,
            ],
            1_000_000,
        )),
    },
];

/// A counter, or a histogram.
///
/// The example of [`Counters`] reads one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetricValue {
    /// Of a counter its value, of a histogram the number of what it has seen.
    pub count: u64,
    /// Of a histogram the sum of what it has seen, in smallest units.
    pub sum: u64,
    /// Of a histogram how many it has seen in each bucket, and above the last.
    pub buckets: Vec<u64>,
}

/// What a live driver counts for whoever watches it: plain numbers, named in [`METRICS`]. They
/// count from the opening of the journal on.
///
/// ```
/// use meed::Span;
/// use meed_driver::counters::{Counters, Metric};
///
/// let mut counters = Counters::default();
/// counters.commit_took(Span::from_micros(300).ok_or("in range")?);
/// let took = counters.value(Metric::CommitSeconds);
/// assert_eq!((took.count, took.sum), (1, 300)); // microseconds
/// assert!(counters.prometheus().contains("meed_commit_seconds_count 1\n"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counters {
    /// In the order of the table.
    values: Vec<MetricValue>,
    /// Records since the last commit, and their bytes.
    waiting: (u64, u64),
}

impl Default for Counters {
    fn default() -> Counters {
        let value = |row: &MetricInfo| MetricValue {
            buckets: row.buckets.map_or_else(Vec::new, |(bounds, _)| vec![0; bounds.len() + 1]),
            ..MetricValue::default()
        };
        Counters { values: METRICS.iter().map(value).collect(), waiting: (0, 0) }
    }
}

impl Counters {
    /// One of them.
    pub fn value(&self, metric: Metric) -> &MetricValue {
        &self.values[metric as usize]
    }

    /// A commit took so long by the world's clock.
    pub fn commit_took(&mut self, took: Span) {
        self.observe(Metric::CommitSeconds, took.as_micros());
    }

    pub(crate) fn decided(&mut self) {
        self.add(Metric::Decisions, 1);
    }

    /// A record of that kind and length waits to be durable.
    pub(crate) fn appended(&mut self, kind: Kind, bytes: usize) {
        self.waiting.0 += 1;
        self.waiting.1 += bytes as u64;
        let metric = match kind {
            Kind::TaskStarted => Metric::Starts,
            Kind::TaskEnded => Metric::Ends,
            Kind::TaskFailed => Metric::Failures,
            Kind::TaskLost => Metric::Lost,
            Kind::TaskReclaimed => Metric::Reclaims,
            Kind::StartFailed => Metric::Undone,
            Kind::JobArrived => Metric::Arrivals,
            Kind::JobRefused => Metric::Refused,
            _ => return,
        };
        self.add(metric, 1);
    }

    /// What waited is durable.
    pub(crate) fn committed(&mut self) {
        let (records, bytes) = std::mem::take(&mut self.waiting);
        if records > 0 {
            self.add(Metric::Records, records);
            self.add(Metric::Bytes, bytes);
            self.observe(Metric::CommitRecords, records);
        }
    }

    fn add(&mut self, metric: Metric, count: u64) {
        self.values[metric as usize].count += count;
    }

    fn observe(&mut self, metric: Metric, seen: u64) {
        let bounds = METRICS[metric as usize].buckets.map_or(&[][..], |(bounds, _)| bounds);
        let value = &mut self.values[metric as usize];
        value.count += 1;
        value.sum = value.sum.saturating_add(seen);
        value.buckets[bounds.partition_point(|&bound| bound < seen)] += 1;
    }

    /// All of them in the text format of Prometheus (0.0.4).
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        for (row, value) in METRICS.iter().zip(&self.values) {
            // Writing to memory does not fail.
            let _ = render(&mut text, row, value);
        }
        text
    }
}

fn render(text: &mut String, row: &MetricInfo, value: &MetricValue) -> std::fmt::Result {
    let MetricInfo { name, help, buckets, .. } = row;
    let kind = if buckets.is_some() { "histogram" } else { "counter" };
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
    let Some((bounds, scale)) = buckets else {
        return writeln!(text, "{name} {}", value.count);
    };
    let mut below = 0;
    for (bound, count) in bounds.iter().zip(&value.buckets) {
        below += count;
        writeln!(text, "{name}_bucket{{le=\"{}\"}} {below}", *bound as f64 / *scale as f64)?;
    }
    writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {}", value.count)?;
    writeln!(text, "{name}_sum {}", value.sum as f64 / *scale as f64)?;
    writeln!(text, "{name}_count {}", value.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_where_their_metric_says() {
        for (place, row) in METRICS.iter().enumerate() {
            assert_eq!(row.metric as usize, place, "{}", row.name);
            assert_eq!(row.name.ends_with("_total"), row.buckets.is_none(), "{}", row.name);
            let letters = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(row.name.starts_with("meed_") && row.name.chars().all(letters));
            assert!(!row.help.contains(['\n', '\\']));
            assert!(row.buckets.is_none_or(|(bounds, _)| bounds.is_sorted()));
        }
    }

    #[test]
    fn text_is_what_prometheus_reads() {
        let mut counters = Counters::default();
        for _ in 0..3 {
            counters.appended(Kind::TaskStarted, 100);
        }
        counters.decided();
        counters.committed();
        counters.committed();
        let span = |micros| Span::from_micros(micros).expect("in range");
        for micros in [100, 101, 9_000_000] {
            counters.commit_took(span(micros));
        }
        let text = counters.prometheus();
        let expected = [
            "# HELP meed_decisions_total Instants at which starts were decided.\n\
             # TYPE meed_decisions_total counter\nmeed_decisions_total 1\n",
            "\nmeed_starts_total 3\n",
            "\nmeed_journal_bytes_total 300\n",
            "# TYPE meed_commit_records histogram\nmeed_commit_records_bucket{le=\"1\"} 0\n\
             meed_commit_records_bucket{le=\"2\"} 0\nmeed_commit_records_bucket{le=\"5\"} 1\n",
            "\nmeed_commit_seconds_bucket{le=\"0.0001\"} 1\n\
             meed_commit_seconds_bucket{le=\"0.00025\"} 2\n",
            "\nmeed_commit_seconds_bucket{le=\"2.5\"} 2\n\
             meed_commit_seconds_bucket{le=\"+Inf\"} 3\n\
             meed_commit_seconds_sum 9.000201\nmeed_commit_seconds_count 3\n",
        ];
        for part in expected {
            assert!(text.contains(part), "{part}\nnot in\n{text}");
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (_, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
}
