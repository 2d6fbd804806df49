//! Nodes over a window of time, as the report carries them: columns of numbers, times in
//! milliseconds since the window's beginning.

use meed_driver::record::{ChartNode, ChartStart, NodeChart};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ChartView<'a> {
    from_s: f64,
    /// Milliseconds: integers are not rounded.
    length_ms: u64,
    why: &'a str,
    nodes_in_all: usize,
    left_out: usize,
    nodes: Vec<(&'a str, f64)>,
    /// Node, queue, start, end, amount, how it came to start (0 as ever, 1 backfilled, 2 in room
    /// that was held for it; 4 more where it was stopped for another), job.
    tasks: Vec<(usize, usize, u64, u64, f64, u8, String)>,
    /// Node, queue, from, to, amount, job.
    holds: Vec<(usize, usize, u64, u64, f64, String)>,
}

impl<'a> ChartView<'a> {
    pub(super) fn new(chart: &'a NodeChart) -> Self {
        let since = |at: f64| ((at - chart.from_s).max(0.0) * 1000.0).round() as u64;
        let tasks = chart.tasks.iter().map(|task| {
            let how = match task.how {
                ChartStart::Plain => 0,
                ChartStart::Backfilled => 1,
                ChartStart::Reserved => 2,
            };
            let how = how + if task.stopped { 4 } else { 0 };
            let (from, to) = (since(task.from_s), since(task.to_s));
            (task.node, task.queue, from, to, task.amount, how, task.job.to_string())
        });
        let holds = chart.holds.iter().map(|hold| {
            let (from, to) = (since(hold.from_s), since(hold.to_s));
            (hold.node, hold.queue, from, to, hold.amount, hold.job.to_string())
        });
        let node = |node: &'a ChartNode| (node.name.as_str(), node.capacity);
        Self {
            from_s: chart.from_s,
            length_ms: since(chart.to_s),
            why: &chart.why,
            nodes_in_all: chart.nodes_in_all,
            left_out: chart.left_out,
            nodes: chart.nodes.iter().map(node).collect(),
            tasks: tasks.collect(),
            holds: holds.collect(),
        }
    }
}
