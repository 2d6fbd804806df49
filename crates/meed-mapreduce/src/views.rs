//! Samples of every node over a run whose length is not known: bounded in number, evenly spaced in
//! time.
//!
//! As [`meed_driver::Sampler`]: at multiples of an interval, which doubles when there are twice as
//! many samples as wanted. What was done is kept as a running sum, so leaving out every other
//! sample loses nothing of what lies between.

use meed::{Span, Time};
use meed_driver::record::mapreduce::{MapReduceSeries, NodeSeries};

use super::machines::{Usage, per_second};
use super::nodes::NodeCounts;

/// Samples of all nodes together that a run may keep: with many nodes there are fewer per node.
const NODE_SAMPLES: usize = 24_000;

/// Most samples of a node, and the fewest that are wanted however many nodes there are.
const MOST: usize = 240;
const FEWEST: usize = 30;

/// See the module.
pub(super) struct Views {
    /// Never more than this many, nor (but at the start) fewer than half of it.
    most: usize,
    interval: Span,
    next: Time,
    times: Vec<Time>,
    /// A row per sample, a cell per node.
    rows: Vec<Vec<Cell>>,
}

/// A node at one instant: what runs, and what it has done so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    pub(super) cpu_maps: u32,
    pub(super) io_maps: u32,
    pub(super) other_maps: u32,
    pub(super) reduces: u32,
    pub(super) usage: Usage,
    pub(super) counts: NodeCounts,
}

impl Views {
    pub(super) fn new(wanted: usize, nodes: usize, heartbeat: Span) -> Views {
        let most = wanted.min(MOST).min((NODE_SAMPLES / nodes.max(1)).max(FEWEST)).max(2);
        Views { most, interval: heartbeat, next: Time::ZERO, times: Vec::new(), rows: Vec::new() }
    }

    /// The next time to sample, when it lies before `at`.
    pub(super) fn due_before(&self, at: Time) -> Option<Time> {
        (self.next < at).then_some(self.next)
    }

    /// `row` has a cell for each node, as of `t`.
    pub(super) fn sample(&mut self, t: Time, row: Vec<Cell>) {
        self.note(t, row);
        if self.rows.len() > self.most {
            let mut keep = (0..).map(|i: u64| i.is_multiple_of(2));
            self.rows.retain(|_| keep.next() == Some(true));
            let mut keep = (0..).map(|i: u64| i.is_multiple_of(2));
            self.times.retain(|_| keep.next() == Some(true));
            self.interval += self.interval;
        }
        self.next = self.times.last().map_or(Time::ZERO, |last| last.saturating_add(self.interval));
    }

    /// The state at the end of the run, which is `row`.
    pub(super) fn last(&mut self, end: Time, row: impl FnOnce() -> Vec<Cell>) {
        if self.times.last() != Some(&end) {
            self.note(end, row());
        }
    }

    fn note(&mut self, t: Time, row: Vec<Cell>) {
        self.times.push(t);
        self.rows.push(row);
    }

    /// The samples as the record has them. `cores` of each node.
    pub(super) fn series(&self, cores: impl Iterator<Item = u32>) -> MapReduceSeries {
        MapReduceSeries {
            t_s: self.times.iter().map(|t| t.as_secs_f64()).collect(),
            nodes: cores.enumerate().map(|(node, cores)| self.node(node, cores)).collect(),
        }
    }

    fn node(&self, node: usize, cores: u32) -> NodeSeries {
        let mut series = NodeSeries::default();
        let (mut before, mut at) = (Cell::default(), Time::ZERO);
        for (row, &t) in self.rows.iter().zip(&self.times) {
            let (cell, since) = (row[node], t - at);
            let busy = cell.usage.core_micros - before.usage.core_micros;
            series.cpu_maps.push(cell.cpu_maps);
            series.io_maps.push(cell.io_maps);
            series.other_maps.push(cell.other_maps);
            series.reduces.push(cell.reduces);
            series.cpu_busy.push(busy_part(busy, cores, since));
            series
                .disk_bytes_per_s
                .push(per_second(cell.usage.disk_bytes - before.usage.disk_bytes, since));
            series
                .network_bytes_per_s
                .push(per_second(cell.usage.network_bytes - before.usage.network_bytes, since));
            series.maps_started.push((cell.counts.maps - before.counts.maps) as u32);
            series.local_maps_started.push((cell.counts.local - before.counts.local) as u32);
            (before, at) = (cell, t);
        }
        series
    }
}

/// Busy part of `cores` in `span`, in whole thousandths: enough to draw, and short to write.
pub(super) fn busy_part(core_micros: u64, cores: u32, span: Span) -> f64 {
    let all = u128::from(span.as_micros()) * u128::from(cores);
    let thousandths = (u128::from(core_micros) * 1000 + all / 2).checked_div(all).unwrap_or(0);
    thousandths as f64 / 1000.0
}
