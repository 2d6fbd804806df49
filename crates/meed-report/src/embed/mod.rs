//! The record as the HTML report carries it: the same fields, but floats with [`DIGITS`]
//! significant digits and, where many tenants make many samples, only every k-th sample (the report
//! says so). Nodes: [`mapreduce`], [`chart`].

mod chart;
mod digits;
mod mapreduce;
mod packed;

use std::collections::BTreeMap;
use std::path::Path;

use meed_driver::record::{
    AccountsRecord, Comparison, GroupRecord, JOB_PERCENTILES, QueueRecord, QueueSeries, RunRecord,
    Series,
};
use serde::ser::{Serialize, Serializer};

use self::chart::ChartView;
use self::mapreduce::{MapReduceView, Plan, Scale};
use self::packed::Packed;
use crate::json::ExpectRecord;
use crate::made::Made;
use crate::overtaken::sentence;
use crate::rounded::{Rounded, round};
use crate::shell::json_in_script;

/// Significant digits of a float in the report.
const DIGITS: usize = 5;
/// Values over time that one report holds at most; about six bytes each.
const MAX_VALUES: usize = 1_600_000;
/// From so many tenants on what grows over time is packed: a report of a thousand is to stay small.
const MANY: usize = 100;
/// So many samples are kept of any series, however many tenants there are.
const MIN_SAMPLES: usize = 24;

/// What a report is called: the scenario as it was named, but of an absolute path the file alone. A
/// page is shown to others, who need not know where it was made.
pub(crate) fn title(scenario: &str) -> &str {
    let path = Path::new(scenario);
    let file = path.file_name().filter(|_| path.is_absolute());
    file.and_then(|file| file.to_str()).unwrap_or(scenario)
}

/// The data of the report as JSON that can stand inside a `<script>` element.
pub(crate) fn data(comparison: &Comparison, made: &Made) -> String {
    let stride = stride(comparison);
    let plan = Plan::new(comparison);
    let view = View {
        schema: comparison.schema,
        scenario: title(&comparison.scenario),
        seed: comparison.seed.to_string(),
        assumptions: &comparison.assumptions,
        clock: comparison.clock_us.map(Clock::of),
        made: Some(made).filter(|made| !made.is_empty()),
        percentiles: JOB_PERCENTILES,
        stride,
        node_stride: plan.stride,
        node_scales: &plan.scales,
        slot_changes_thinned: plan.thin_changes,
        pairs: crate::gains::pairs(comparison),
        runs: comparison.runs.iter().map(|run| RunView::new(run, stride, &plan)).collect(),
    };
    let mut bytes = Vec::new();
    view.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Rounded(DIGITS)))
        .expect_record();
    json_in_script(&bytes)
}

/// The float that is written for `value`.
fn written(value: f64) -> f64 {
    if value.is_finite() { round(value, DIGITS) } else { value }
}

/// Every how many-th sample is kept.
fn stride(comparison: &Comparison) -> usize {
    let per_sample: usize = comparison.runs.iter().map(|r| 5 * r.series.queues.len() + 3).sum();
    let samples = comparison.runs.iter().map(|r| r.series.t_s.len()).max().unwrap_or(0);
    let room = (MAX_VALUES / per_sample.max(1)).max(MIN_SAMPLES);
    samples.div_ceil(room).max(1)
}

#[derive(serde::Serialize)]
struct View<'a> {
    schema: u32,
    scenario: &'a str,
    /// As text: a browser's numbers end at 2^53.
    seed: String,
    assumptions: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<Clock>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<&'a Made>,
    percentiles: [f64; 9],
    stride: usize,
    node_stride: usize,
    node_scales: &'a BTreeMap<&'static str, Scale>,
    slot_changes_thinned: bool,
    /// Of which pairs of runs something is said.
    pairs: Vec<[usize; 2]>,
    runs: Vec<RunView<'a>>,
}

/// What the clock said at time 0.
#[derive(serde::Serialize)]
struct Clock {
    at_ms: u64,
    offset_s: i64,
    zone: &'static str,
}

impl Clock {
    fn of(us: u64) -> Clock {
        Clock { at_ms: us / 1000, offset_s: 0, zone: "UTC" }
    }
}

#[derive(serde::Serialize)]
struct RunView<'a> {
    policy: &'a str,
    measured: &'a str,
    end_s: f64,
    events: u64,
    decisions: u64,
    refused: u64,
    unfinished: u64,
    skipped_lines: u64,
    ignored_lines: u64,
    utilization: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_idle: Option<&'a BTreeMap<String, f64>>,
    psi: f64,
    omega: f64,
    jain: Option<f64>,
    mean_job_s: Option<f64>,
    /// Whom others overtook, where that matters, in words.
    overtaken: Option<String>,
    queues: &'a [QueueRecord],
    groups: &'a [GroupRecord],
    series: SeriesView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<ChartView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mapreduce: Option<MapReduceView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accounts: Option<&'a AccountsRecord>,
}

impl<'a> RunView<'a> {
    fn new(run: &'a RunRecord, stride: usize, plan: &Plan) -> Self {
        Self {
            policy: &run.policy,
            measured: &run.measured,
            end_s: run.end_s,
            events: run.events,
            decisions: run.decisions,
            refused: run.refused,
            unfinished: run.unfinished,
            skipped_lines: run.skipped_lines,
            ignored_lines: run.ignored_lines,
            utilization: &run.utilization,
            held_idle: run.held_idle.as_ref(),
            psi: run.psi,
            omega: run.omega,
            jain: run.jain,
            mean_job_s: run.mean_job_s,
            overtaken: sentence(run),
            queues: &run.queues,
            groups: &run.groups,
            series: SeriesView::new(&run.series, stride, run.queues.len() >= MANY),
            chart: run.chart.as_deref().map(ChartView::new),
            accounts: run.accounts.as_deref(),
            mapreduce: run.mapreduce.as_deref().map(|record| MapReduceView::new(record, plan)),
        }
    }
}

#[derive(serde::Serialize)]
struct SeriesView<'a> {
    /// Milliseconds: integers are not rounded.
    t_ms: Vec<u64>,
    psi: Every<'a, f64>,
    omega: Every<'a, f64>,
    utilization: BTreeMap<&'a str, Every<'a, f64>>,
    queues: Vec<QueueSeriesView<'a>>,
}

impl<'a> SeriesView<'a> {
    fn new(series: &'a Series, stride: usize, many: bool) -> Self {
        let every = |values| Every { values, stride };
        Self {
            t_ms: every(&series.t_s).kept().map(|t| (t * 1000.0).round() as u64).collect(),
            psi: every(&series.psi),
            omega: every(&series.omega),
            utilization: series.utilization.iter().map(|(k, v)| (k.as_str(), every(v))).collect(),
            queues: queues(series, stride, many),
        }
    }
}

fn queues(series: &Series, stride: usize, many: bool) -> Vec<QueueSeriesView<'_>> {
    series.queues.iter().map(|q| QueueSeriesView::new(q, stride, many)).collect()
}

#[derive(serde::Serialize)]
struct QueueSeriesView<'a> {
    demand: Every<'a, f64>,
    allocation: Every<'a, f64>,
    usage: Values<'a, f64>,
    rho: Values<'a, Option<f64>>,
    balance: Values<'a, f64>,
}

/// As numbers, or packed.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Values<'a, T: Serialize> {
    Plain(Every<'a, T>),
    Packed(Packed),
}

impl<'a> QueueSeriesView<'a> {
    fn new(q: &'a QueueSeries, stride: usize, many: bool) -> Self {
        let every = |values| Every { values, stride };
        let values = |values: &'a [f64]| match many {
            true => Values::Packed(Packed::of(every(values).kept().copied().map(Some), 3)),
            false => Values::Plain(every(values)),
        };
        Self {
            demand: every(&q.demand),
            allocation: every(&q.allocation),
            usage: values(&q.usage),
            rho: match many {
                true => {
                    Values::Packed(Packed::of(Every { values: &q.rho, stride }.kept().copied(), 3))
                }
                false => Values::Plain(Every { values: &q.rho, stride }),
            },
            balance: values(&q.balance),
        }
    }
}

/// Every k-th value, and the last.
struct Every<'a, T> {
    values: &'a [T],
    stride: usize,
}

impl<'a, T> Every<'a, T> {
    fn kept(&self) -> impl Iterator<Item = &'a T> {
        let (values, stride) = (self.values, self.stride);
        let last = values.last().filter(|_| (values.len() - 1) % stride != 0);
        values.iter().step_by(stride).chain(last)
    }
}

impl<T: Serialize> Serialize for Every<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.kept())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_first_and_the_last_sample() {
        let values: Vec<u32> = (0..10).collect();
        let kept = |stride| Every { values: &values, stride }.kept().copied().collect::<Vec<_>>();
        assert_eq!(kept(1), values);
        assert_eq!(kept(3), [0, 3, 6, 9]);
        assert_eq!(kept(4), [0, 4, 8, 9]);
        assert_eq!(Every::<u32> { values: &[], stride: 4 }.kept().count(), 0);
    }
}
