//! How often a waiting task was overtaken, and by whom: one look through the recorded lines.
//!
//! The definition is that of reports (`world/notes/overtaken.rs`, docs/reservations.md): a narrower
//! task that began to wait later has started. Memory: the jobs that are alive.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use meed::{NodeSpec, ResourceKinds, Time};
use meed_driver::record::{OVERTAKERS, Overtaker};
use meed_journal::{Fact, Group, JobKey, Kind, Name, NodeEntry};
use meed_scenario::log::read::LogError;
use meed_scenario::logged::recorded::arrival_of;
use meed_sim::world::Widths;
use serde::Serialize;

use crate::replay::Recording;

/// How often a waiting task was overtaken so far.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OvertakenSoFar {
    /// How often.
    pub times: u64,
    /// By tasks of which queues, most often first.
    pub by: Vec<Overtaker>,
}

/// A job that is alive.
struct Live {
    queue: Name,
    /// When the tasks that were added last began to wait.
    ready: Time,
    /// Of each group the number of the task behind its last one, and how wide its tasks are.
    groups: Vec<(u32, usize)>,
    /// Which of them were added last.
    last: usize,
}

impl Live {
    fn add(&mut self, t: Time, groups: &[Group], widths: &Widths, kinds: &ResourceKinds) {
        (self.ready, self.last) = (t, self.groups.len());
        let mut end = self.groups.last().map_or(0, |(end, _)| *end);
        for group in groups {
            end += group.tasks;
            let width = group.demand.read(kinds).map_or(1, |demand| widths.width(&demand));
            self.groups.push((end, width));
        }
    }

    fn width_of(&self, task: u32) -> usize {
        self.groups.iter().find(|(end, _)| task < *end).map_or(1, |(_, width)| *width)
    }

    /// Of what was added last, the widest.
    fn widest(&self) -> usize {
        self.groups[self.last..].iter().map(|(_, width)| *width).max().unwrap_or(1)
    }
}

/// How often tasks of the job that arrived as number `number`, which have waited since `since`,
/// were overtaken by the end of `at`. `None`: never.
pub(super) fn overtaken(
    recording: &Recording,
    number: u64,
    since: Time,
    at: Time,
) -> Result<Option<OvertakenSoFar>, LogError> {
    let kinds = recording.units();
    let widths = widths(recording)?;
    let mut jobs: BTreeMap<JobKey, Live> = BTreeMap::new();
    let (mut arrived, mut own) = (0, None);
    let mut by: BTreeMap<Name, u64> = BTreeMap::new();
    let wanted =
        [Kind::JobArrived, Kind::JobRefused, Kind::TasksAdded, Kind::TaskStarted, Kind::JobEnded];
    let mut reader = recording.log.read(&recording.run)?;
    while let Some((_, record)) = reader.next(&wanted)?.filter(|(_, record)| record.t <= at) {
        if let Some(arrival) = arrival_of(&record.fact) {
            if arrived == number {
                own = Some(arrival.job.clone());
            }
            arrived += 1;
        }
        match &record.fact {
            Fact::JobArrived(arrival) => {
                let queue = arrival.queue.clone();
                let mut live = Live { queue, ready: record.t, groups: Vec::new(), last: 0 };
                live.add(record.t, &arrival.groups, &widths, kinds);
                jobs.insert(arrival.job.clone(), live);
            }
            Fact::TasksAdded(added) => {
                if let Some(live) = jobs.get_mut(&added.job) {
                    live.add(record.t, &added.groups, &widths, kinds);
                }
            }
            Fact::JobEnded(end) => drop(jobs.remove(&end.job)),
            Fact::TaskStarted(start) if start.attempt == 0 => {
                let Some(mine) = own.as_ref().and_then(|own| jobs.get(own)) else { continue };
                let Some(other) = jobs.get(&start.job) else { continue };
                let passes = other.ready > since && other.width_of(start.task) < mine.widest();
                if passes {
                    *by.entry(other.queue.clone()).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    let times: u64 = by.values().sum();
    let mut by: Vec<Overtaker> = by
        .into_iter()
        .map(|(queue, times)| Overtaker { queue: queue.to_string(), times })
        .collect();
    by.sort_by_key(|overtaker| Reverse(overtaker.times));
    by.truncate(OVERTAKERS);
    Ok((times > 0).then_some(OvertakenSoFar { times, by }))
}

/// How wide tasks are, by all nodes that there ever are.
fn widths(recording: &Recording) -> Result<Widths, LogError> {
    let kinds = recording.units();
    let spec = |node: &NodeEntry| node.read(kinds).ok();
    let mut nodes: Vec<NodeSpec> = recording.run.header.nodes.iter().filter_map(spec).collect();
    let mut reader = recording.log.read(&recording.run)?;
    while let Some((_, record)) = reader.next(&[Kind::NodeJoined])? {
        if let Fact::NodeJoined(node) = &record.fact {
            nodes.extend(spec(node));
        }
    }
    Ok(Widths::of(nodes.iter(), kinds.len()))
}
