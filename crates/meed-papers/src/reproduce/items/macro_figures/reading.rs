//! Reading numbers and lines off a run's samples.

use std::borrow::Cow;
use std::ops::Range;

use meed_report::page::{Block, Line, LineChart, Mark};
use meed_sim::record::{QueueSeries, RunRecord};

use super::experiment::{CONTAINER, NAMES};

/// Points of a drawn line; more are thinned out.
const POINTS: usize = 900;

/// A run with its samples.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) run: &'a RunRecord,
    /// Whether what masters of jobs hold is left out of [`Reading::held`].
    aside: bool,
}

/// Containers of masters, where a container of a queue may be one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Masters {
    /// No master holds any.
    HoldNone,
    /// They are no tasks, and none is running where they alone are there.
    Aside,
    /// They count among running tasks; but none is running where they alone are there.
    Counted,
}

impl Masters {
    /// The run as it says when tasks run at all.
    pub(super) fn starved(self, run: &RunRecord) -> Reading<'_> {
        Reading { run, aside: self != Masters::HoldNone }
    }

    /// The run as it says how many tasks run.
    pub(super) fn running(self, run: &RunRecord) -> Reading<'_> {
        Reading { run, aside: self == Masters::Aside }
    }
}

impl<'a> Reading<'a> {
    pub(super) fn of(run: &'a RunRecord) -> Reading<'a> {
        Reading { run, aside: false }
    }

    pub(super) fn times(self) -> &'a [f64] {
        &self.run.series.t_s
    }

    pub(super) fn queue(self, i: usize) -> &'a QueueSeries {
        &self.run.series.queues[i]
    }

    /// The first sample at or after `when`.
    pub(super) fn index(self, when: f64) -> usize {
        self.times().partition_point(|t| *t < when).min(self.times().len().saturating_sub(1))
    }

    /// Samples from `from` on, before `to`.
    pub(super) fn within(self, from: f64, to: f64) -> Range<usize> {
        let place = |when: f64| self.times().partition_point(|t| *t < when);
        place(from)..place(to).max(place(from))
    }

    /// When `holds` is first so, at or after `from`.
    pub(super) fn first(self, from: f64, holds: impl Fn(usize) -> bool) -> Option<f64> {
        (self.within(from, f64::INFINITY)).find(|&i| holds(i)).map(|i| self.times()[i])
    }

    /// When `holds` is last so.
    pub(super) fn last(self, holds: impl Fn(usize) -> bool) -> Option<f64> {
        (0..self.times().len()).rfind(|&i| holds(i)).map(|i| self.times()[i])
    }

    /// When `queue`'s demand first falls to `share` or below after it was above.
    pub(super) fn overload_ends(self, queue: usize, share: f64) -> Option<f64> {
        let demand = &self.queue(queue).demand;
        let begins = self.first(0.0, |i| demand[i] > share)?;
        self.first(begins, |i| demand[i] <= share)
    }

    /// What `queue` holds at each sample. A master is asked for as its job comes, and is there as
    /// long as the job; while some wait to be granted, too many are left out.
    pub(super) fn held(self, queue: usize) -> Cow<'a, [f64]> {
        let all = &self.queue(queue).allocation;
        if !self.aside {
            return Cow::Borrowed(all);
        }
        let jobs: Vec<(f64, f64)> = (self.run.jobs.iter())
            .filter(|job| job.queue == queue)
            .map(|job| (job.submit_s, job.ended_s.unwrap_or(f64::INFINITY)))
            .collect();
        let masters = |t: f64| {
            let there = jobs.iter().filter(|(from, to)| *from <= t && t < *to).count();
            there as f64 * CONTAINER
        };
        let tasks = self.times().iter().zip(all).map(|(t, held)| (held - masters(*t)).max(0.0));
        Cow::Owned(tasks.collect())
    }

    /// Mean number of `queue`'s running containers over the samples of `range`.
    pub(super) fn mean_running(self, queue: usize, range: Range<usize>) -> Option<f64> {
        let all = self.held(queue);
        let held = all.get(range).filter(|held| !held.is_empty())?;
        Some(held.iter().sum::<f64>() / CONTAINER / held.len() as f64)
    }

    /// A line of `values` over time up to `until`, divided by `unit`.
    pub(super) fn line(self, name: &str, values: &[f64], unit: f64, until: f64) -> Line {
        let points: Vec<(f64, Option<f64>)> =
            self.times().iter().copied().zip(values.iter().map(|v| Some(v / unit))).collect();
        thinned(name, points, until)
    }

    /// One line for each workload.
    pub(super) fn lines(
        self,
        unit: f64,
        until: f64,
        value: fn(&QueueSeries) -> &[f64],
    ) -> Vec<Line> {
        (0..NAMES.len()).map(|i| self.line(NAMES[i], value(self.queue(i)), unit, until)).collect()
    }

    /// The fairness degrees, for each workload.
    pub(super) fn rhos(self, until: f64) -> Vec<Line> {
        let line = |i: usize| {
            let points =
                self.times().iter().copied().zip(self.queue(i).rho.iter().copied()).collect();
            thinned(NAMES[i], points, until)
        };
        (0..NAMES.len()).map(line).collect()
    }
}

/// At most about [`POINTS`] of the points up to `until`.
fn thinned(name: &str, mut points: Vec<(f64, Option<f64>)>, until: f64) -> Line {
    points.truncate(points.partition_point(|(t, _)| *t <= until));
    let step = points.len().div_ceil(POINTS).max(1);
    let (x, y) = points.into_iter().step_by(step).unzip();
    Line { name: name.to_owned(), x, y, ..Line::default() }
}

/// A chart over time.
pub(super) fn chart(
    title: &str,
    y: &str,
    lines: Vec<Line>,
    marks: &[(f64, &str)],
    levels: &[(f64, &str)],
) -> Block {
    let all = |marks: &[(f64, &str)]| -> Vec<Mark> {
        marks.iter().map(|&(at, label)| Mark { at, label: label.to_owned() }).collect()
    };
    Block::Lines(LineChart {
        title: title.to_owned(),
        caption: "One run: the first seed, task times as assumed.".to_owned(),
        x: "time (s)".to_owned(),
        y: y.to_owned(),
        lines,
        marks: all(marks),
        levels: all(levels),
    })
}
