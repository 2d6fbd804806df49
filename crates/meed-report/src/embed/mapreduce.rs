//! What runs on nodes that contend leave besides, as the report carries it: samples of every node
//! as packed whole numbers, folded to fewer where many nodes make many, jobs and changes of slots
//! cut to what can be looked at.

use std::collections::BTreeMap;

use meed_driver::record::Comparison;
use meed_driver::record::mapreduce::{
    MapReduceJobRecord, MapReduceRecord, MapReduceSeries, NodeRecord, NodeSeries, RequestRecord,
    SlotChange,
};

use super::digits;

/// Values over time of all nodes and runs together that one report holds at most; one to three
/// bytes each.
const MAX_VALUES: usize = 2_000_000;
/// So many samples are kept of any node, however many there are.
const MIN_SAMPLES: usize = 24;
/// Jobs of a run that are listed.
const MAX_JOBS: usize = 2000;
/// Changes of slots in all runs together before only the last one of each node between two samples
/// is kept.
const MAX_CHANGES: usize = 40_000;
/// Steps of a quantity without natural steps, from nothing to the largest value: two digits.
const STEPS: f64 = 4095.0;

/// A quantity of nodes over time.
struct Field {
    name: &'static str,
    fold: Fold,
    of: fn(&NodeSeries) -> Vec<f64>,
    /// What one step is worth; nothing: as much as [`STEPS`] of them need.
    step: Option<f64>,
}

/// How several samples become one.
#[derive(Clone, Copy)]
enum Fold {
    /// A state: that of the last.
    Last,
    /// A mean since the sample before: the mean over time.
    Mean,
    /// A count since the sample before: the sum.
    Sum,
}

fn count(values: &[u32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

fn amount(values: &[u64]) -> Vec<f64> {
    values.iter().map(|&v| v as f64).collect()
}

const FIELDS: [Field; 9] = [
    Field { name: "cpu_maps", fold: Fold::Last, of: |n| count(&n.cpu_maps), step: Some(1.0) },
    Field { name: "io_maps", fold: Fold::Last, of: |n| count(&n.io_maps), step: Some(1.0) },
    Field { name: "other_maps", fold: Fold::Last, of: |n| count(&n.other_maps), step: Some(1.0) },
    Field { name: "reduces", fold: Fold::Last, of: |n| count(&n.reduces), step: Some(1.0) },
    Field { name: "cpu_busy", fold: Fold::Mean, of: |n| n.cpu_busy.clone(), step: Some(0.001) },
    Field {
        name: "disk_bytes_per_s",
        fold: Fold::Mean,
        of: |n| amount(&n.disk_bytes_per_s),
        step: None,
    },
    Field {
        name: "network_bytes_per_s",
        fold: Fold::Mean,
        of: |n| amount(&n.network_bytes_per_s),
        step: None,
    },
    Field {
        name: "maps_started",
        fold: Fold::Sum,
        of: |n| count(&n.maps_started),
        step: Some(1.0),
    },
    Field {
        name: "local_maps_started",
        fold: Fold::Sum,
        of: |n| count(&n.local_maps_started),
        step: Some(1.0),
    },
];

/// How a field is written in all runs.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct Scale {
    /// Base-64 digits of a number.
    width: usize,
    /// What 1 is worth, in the field's unit.
    step: f64,
}

/// What is decided over all runs together.
pub(super) struct Plan {
    /// How many samples become one.
    pub(super) stride: usize,
    pub(super) scales: BTreeMap<&'static str, Scale>,
    /// Whether not all changes of slots are listed.
    pub(super) thin_changes: bool,
}

impl Plan {
    pub(super) fn new(comparison: &Comparison) -> Plan {
        let records = || comparison.runs.iter().filter_map(|run| run.mapreduce.as_deref());
        let stride = stride(records().map(|record| &record.series));
        let changes: usize =
            records().flat_map(|record| &record.nodes).map(|node| node.slots.len()).sum();
        let largest = |field: &Field| {
            let folded =
                records().flat_map(|record| folded(&record.series, field, stride)).flatten();
            folded.filter(|v| v.is_finite()).fold(0.0, f64::max)
        };
        let scale = |field: &Field| {
            let largest = largest(field);
            let step = field.step.unwrap_or_else(|| (largest / STEPS).ceil().max(1.0));
            (field.name, Scale { width: digits::width(steps(largest, step)), step })
        };
        let scales = if records().next().is_some() {
            FIELDS.iter().map(scale).collect()
        } else {
            BTreeMap::new()
        };
        Plan { stride, scales, thin_changes: changes > MAX_CHANGES }
    }
}

fn stride<'a>(series: impl Iterator<Item = &'a MapReduceSeries>) -> usize {
    let (mut values, mut samples) = (0, 0);
    for series in series {
        values += FIELDS.len() * series.nodes.len();
        samples = samples.max(series.t_s.len());
    }
    let room = (MAX_VALUES / values.max(1)).max(MIN_SAMPLES);
    samples.div_ceil(room).max(1)
}

fn steps(value: f64, step: f64) -> u64 {
    // A float that is not finite becomes zero.
    (value / step).round() as u64
}

/// The samples that are kept: the first, every `stride`-th after it, and the last.
fn kept(samples: usize, stride: usize) -> Vec<usize> {
    let last = samples.checked_sub(1).filter(|last| last % stride != 0);
    (0..samples).step_by(stride).chain(last).collect()
}

/// A field of every node with only the samples that are kept.
fn folded<'a>(
    series: &'a MapReduceSeries,
    field: &'a Field,
    stride: usize,
) -> impl Iterator<Item = Vec<f64>> + 'a {
    let kept = kept(series.t_s.len(), stride);
    series.nodes.iter().map(move |node| {
        let values = (field.of)(node);
        let mut from = 0;
        kept.iter()
            .map(|&at| {
                let value = fold(field.fold, &values, &series.t_s, from, at);
                from = at + 1;
                value
            })
            .collect()
    })
}

/// One value for the samples `from..=at`.
fn fold(how: Fold, values: &[f64], t_s: &[f64], from: usize, at: usize) -> f64 {
    let part = values.get(from..=at).unwrap_or_default();
    match how {
        Fold::Last => part.last().copied().unwrap_or(0.0),
        Fold::Sum => part.iter().sum(),
        Fold::Mean if part.len() == 1 => part[0],
        Fold::Mean => {
            let long = |i: usize| t_s[i] - i.checked_sub(1).map_or(0.0, |before| t_s[before]);
            let done: f64 = part.iter().enumerate().map(|(k, v)| v * long(from + k)).sum();
            let time: f64 = (from..=at).map(long).sum();
            if time > 0.0 { done / time } else { 0.0 }
        }
    }
}

/// One run's part of the report.
#[derive(serde::Serialize)]
pub(super) struct MapReduceView<'a> {
    rule: &'a str,
    maps: u64,
    local_maps: u64,
    rack_maps: u64,
    locality: Option<f64>,
    reduces: u64,
    heartbeats: u64,
    slot_settings: u64,
    mean_request_s: Option<f64>,
    requests: &'a [RequestRecord],
    jobs: &'a [MapReduceJobRecord],
    /// Jobs that are not listed: those submitted last.
    jobs_left_out: usize,
    nodes: Vec<NodeView<'a>>,
    t_ms: Vec<u64>,
    /// Per node: its fields, packed.
    series: Vec<BTreeMap<&'static str, String>>,
}

#[derive(serde::Serialize)]
struct NodeView<'a> {
    node: &'a str,
    cpu_busy: f64,
    disk_bytes_per_s: f64,
    network_bytes_per_s: f64,
    maps: u64,
    local_maps: u64,
    reduces: u64,
    /// Changes of slots in all, also where not all are listed.
    slot_changes: usize,
    slots: Vec<&'a SlotChange>,
}

impl<'a> MapReduceView<'a> {
    pub(super) fn new(record: &'a MapReduceRecord, plan: &Plan) -> Self {
        let jobs = &record.jobs[..record.jobs.len().min(MAX_JOBS)];
        let kept: Vec<f64> = kept(record.series.t_s.len(), plan.stride)
            .iter()
            .map(|&i| record.series.t_s[i])
            .collect();
        let mut series = vec![BTreeMap::new(); record.series.nodes.len()];
        for field in &FIELDS {
            let Some(Scale { width, step }) = plan.scales.get(field.name).copied() else {
                continue;
            };
            for (node, values) in series.iter_mut().zip(folded(&record.series, field, plan.stride))
            {
                let numbers: Vec<u64> = values.into_iter().map(|v| steps(v, step)).collect();
                node.insert(field.name, digits::pack(&numbers, width));
            }
        }
        Self {
            rule: &record.rule,
            maps: record.maps,
            local_maps: record.local_maps,
            rack_maps: record.rack_maps,
            locality: record.locality,
            reduces: record.reduces,
            heartbeats: record.heartbeats,
            slot_settings: record.slot_settings,
            mean_request_s: record.mean_request_s,
            requests: &record.requests,
            jobs,
            jobs_left_out: record.jobs.len() - jobs.len(),
            nodes: record.nodes.iter().map(|node| node_view(node, plan, &kept)).collect(),
            t_ms: kept.iter().map(|t| (t * 1000.0).round() as u64).collect(),
            series,
        }
    }
}

fn node_view<'a>(node: &'a NodeRecord, plan: &Plan, t_s: &[f64]) -> NodeView<'a> {
    let slots = if plan.thin_changes {
        last_of_each(&node.slots, t_s)
    } else {
        node.slots.iter().collect()
    };
    NodeView {
        node: &node.node,
        cpu_busy: node.cpu_busy,
        disk_bytes_per_s: node.disk_bytes_per_s,
        network_bytes_per_s: node.network_bytes_per_s,
        maps: node.maps,
        local_maps: node.local_maps,
        reduces: node.reduces,
        slot_changes: node.slots.len().saturating_sub(1),
        slots,
    }
}

/// The first change, and of those between two samples the last.
fn last_of_each<'a>(changes: &'a [SlotChange], t_s: &[f64]) -> Vec<&'a SlotChange> {
    let after = |change: &SlotChange| t_s.partition_point(|&t| t < change.t_s);
    let mut kept: Vec<&SlotChange> = Vec::new();
    for change in changes {
        if kept.len() > 1 && kept.last().is_some_and(|last| after(last) == after(change)) {
            kept.pop();
        }
        kept.push(change);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_keeps_what_was_done() {
        let t_s = [0.0, 1.0, 2.0, 4.0, 8.0, 9.0];
        let values = [0.0, 1.0, 3.0, 2.0, 1.0, 5.0];
        assert_eq!(kept(6, 2), [0, 2, 4, 5]);
        assert_eq!(kept(5, 2), [0, 2, 4]);
        assert_eq!(kept(0, 2), [0; 0]);
        let all = |how| {
            let mut from = 0;
            let of = |at: usize| {
                let value = fold(how, &values, &t_s, from, at);
                from = at + 1;
                value
            };
            kept(6, 2).into_iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(all(Fold::Last), [0.0, 3.0, 1.0, 5.0]);
        assert_eq!(all(Fold::Sum), [0.0, 4.0, 3.0, 5.0]);
        // (1 x 1 + 3 x 1) / 2, (2 x 2 + 1 x 4) / 6.
        assert_eq!(all(Fold::Mean), [0.0, 2.0, 8.0 / 6.0, 5.0]);
    }

    #[test]
    fn of_many_changes_the_last_between_two_samples_is_kept() {
        let change = |t_s: f64| SlotChange { t_s, any: None, cpu: Some(t_s as u32), io: Some(1) };
        let changes: Vec<SlotChange> = [0.0, 1.0, 2.0, 11.0, 12.0, 25.0].map(change).to_vec();
        let times = |kept: Vec<&SlotChange>| kept.iter().map(|c| c.t_s).collect::<Vec<_>>();
        assert_eq!(times(last_of_each(&changes, &[0.0, 10.0, 20.0])), [0.0, 2.0, 12.0, 25.0]);
        assert_eq!(times(last_of_each(&changes, &[])), [0.0, 25.0]);
        assert_eq!(times(last_of_each(&[], &[0.0])), [0.0; 0]);
    }
}
