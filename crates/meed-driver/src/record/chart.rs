//! Nodes over a window of a run's time: what ran where, and for whom room was held.

use meed_journal::JobKey;

/// What a chart of nodes over time shows. Amounts of the measured resource.
///
/// It is part of a [`RunRecord`](super::RunRecord), whose page has an example.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeChart {
    /// When the window begins.
    pub from_s: f64,
    /// When it ends.
    pub to_s: f64,
    /// Why it was chosen, in words.
    pub why: String,
    /// How many nodes there are in the window.
    pub nodes_in_all: usize,
    /// Those that are shown, in order of joining.
    pub nodes: Vec<ChartNode>,
    /// Tasks that ran on them, in order of their starts.
    pub tasks: Vec<ChartTask>,
    /// Later tasks that are not shown: there were too many.
    pub left_out: usize,
    /// Room that was held on them, in order of time.
    pub holds: Vec<ChartHold>,
}

/// A node.
///
/// It is part of a [`NodeChart`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct ChartNode {
    /// Its name.
    pub name: String,
    /// What it has.
    pub capacity: f64,
}

/// A task that ran.
///
/// It is part of a [`NodeChart`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct ChartTask {
    /// Where, as an index into [`NodeChart::nodes`].
    pub node: usize,
    /// Whose, as an index into [`super::RunRecord::queues`].
    pub queue: usize,
    /// Its job.
    pub job: JobKey,
    /// Its start, or the window's where that is later.
    pub from_s: f64,
    /// Its end, or the window's where that is earlier.
    pub to_s: f64,
    /// What it held.
    pub amount: f64,
    /// How it came to start.
    pub how: ChartStart,
    /// At its end it was stopped for another: its room was taken back.
    pub stopped: bool,
}

/// How a task came to start.
///
/// It is part of a [`ChartTask`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChartStart {
    /// As ever.
    Plain,
    /// While room was held for another: backfilled.
    Backfilled,
    /// In room that was held for it.
    Reserved,
}

/// Room that was held on a node for a task.
///
/// It is part of a [`NodeChart`]: the page of [`RunRecord`](super::RunRecord) has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct ChartHold {
    /// Where, as an index into [`NodeChart::nodes`].
    pub node: usize,
    /// For a task of which queue, as an index into [`super::RunRecord::queues`].
    pub queue: usize,
    /// For a task of which job.
    pub job: JobKey,
    /// From when on it was held there.
    pub from_s: f64,
    /// Until when: the task started, or the reservation moved.
    pub to_s: f64,
    /// How much.
    pub amount: f64,
}
