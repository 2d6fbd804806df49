//! The bound of docs/reservations.md, told from the stream of events alone: with one reservation at
//! a time, limits that hold and no maximum shares nobody waits longer than (others that had a
//! reservation meanwhile + 1) x L, where L is the longest that a task may run. Gangs start at one
//! instant, and what wants one label has one. Nothing is shared with the engine or its twin.

use crate::common::dice::{Dice, dice};
use crate::common::stream::{Record, Stream, TaskName, Work, live};
use crate::common::*;
use meed::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A start by a reservation: of which job, from when to when it had it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Reserved {
    job: usize,
    from: u64,
    to: u64,
    /// The task, but for a gang, which has one for all.
    task: Option<u32>,
}

struct Seen<'a> {
    config: &'a Config,
    jobs: &'a [Work],
    stream: &'a Stream,
}

impl Seen<'_> {
    fn gang(&self, job: usize) -> Option<&Gang> {
        self.jobs[job].groups[0].gang.as_deref().filter(|gang| gang.least > 1)
    }

    fn starts(&self) -> impl Iterator<Item = (u64, TaskName, usize, Option<u64>)> + '_ {
        self.stream.iter().filter_map(|(at, record)| match record {
            Record::Started { task, node, reserved_for } => {
                Some((*at, *task, *node, *reserved_for))
            }
            _ => None,
        })
    }

    fn reserved(&self) -> Vec<Reserved> {
        let of = |(to, (job, task), _, reserved): (u64, TaskName, usize, Option<u64>)| {
            let task = self.gang(job).is_none().then_some(task);
            reserved.map(|reserved| Reserved { job, from: to - reserved, to, task })
        };
        let mut all: Vec<Reserved> = self.starts().filter_map(of).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn check_bound(&self) {
        let limits = self.jobs.iter().filter_map(|job| job.groups[0].limit);
        let longest = limits.map(Span::as_micros).max().unwrap_or(0);
        let reserved = self.reserved();
        for (at, (job, task), ..) in self.starts() {
            let since = self.jobs[job].at;
            let own =
                |it: &Reserved| it.job == job && it.task.map_or(it.to == at, |other| other == task);
            let meanwhile = |it: &&Reserved| it.to >= since && it.from <= at && !own(it);
            let others = reserved.iter().filter(meanwhile).count() as u64;
            let waited = at - since;
            assert!(
                waited <= (others + 1) * longest,
                "task {task} of job {job} waited {waited} us for {others} others of {longest} us"
            );
        }
    }

    /// No node holds more than it has, and all tasks start.
    fn check_room(&self) {
        let mut free: Vec<u64> = self.config.nodes.iter().map(|it| it.capacity.get(0)).collect();
        let mut on: BTreeMap<TaskName, usize> = BTreeMap::new();
        let demand = |task: TaskName| self.jobs[task.0].groups[0].demand.get(0);
        let mut started = 0;
        for (at, record) in self.stream {
            match record {
                Record::Started { task, node, .. } => {
                    let left = free[*node].checked_sub(demand(*task));
                    free[*node] = left.unwrap_or_else(|| panic!("{task:?} has no room at {at}"));
                    on.insert(*task, *node);
                    started += 1;
                }
                Record::Ended(task) => free[on[task]] += demand(*task),
                Record::Arrived => {}
                other => panic!("{other:?} where nothing is taken back"),
            }
        }
        let tasks: u32 = self.jobs.iter().map(|job| job.groups[0].count).sum();
        assert_eq!(started, tasks, "all tasks start");
    }

    fn check_gangs(&self) {
        for (number, job) in self.jobs.iter().enumerate() {
            let Some(gang) = job.groups[0].gang.as_deref() else { continue };
            let ours = self.starts().filter(|(_, task, ..)| task.0 == number);
            let mut starts: Vec<(u64, usize)> = ours.map(|(at, _, node, _)| (at, node)).collect();
            starts.sort_unstable();
            let first = &starts[..gang.least as usize];
            assert!(first.iter().all(|(at, _)| *at == first[0].0), "gang {number} is torn");
            let Some(label) = &gang.same else { continue };
            let value = |node: usize| self.config.nodes[node].labels.get(label);
            let near = first.iter().all(|(_, node)| value(*node) == value(first[0].1));
            assert!(near, "gang {number} is on nodes with several values of {label}");
        }
    }
}

fn any_config(dice: &mut Dice) -> Config {
    let order = dice.pick(&["fifo", "fair", "long-term", "drf"]);
    let root = Policy { blocked: Blocked::Reserve(Reservations::ONE), ..policy(order) };
    let mut config = slots_config(8, &root, &["a", "b", "c"]);
    config.nodes = (0..1 + dice.below(4)).map(|at| node(&format!("n{at}"), slots(8))).collect();
    for (at, node) in config.nodes.iter_mut().enumerate() {
        let rack = ["x", "y"][at % 2].to_owned();
        node.labels = [("rack".to_owned(), rack)].into_iter().collect();
    }
    config
}

fn any_work(dice: &mut Dice) -> Work {
    let (tasks, wide) = (dice.pick(&[1, 2, 3, 4]), dice.pick(&[1, 2, 3, 4, 6, 8]));
    let (runs, more) = (dice.pick(&[1, 5, 15, 40]) * S, dice.pick(&[0, 0, 1, 20]) * S);
    let mut group =
        TaskGroup { limit: Some(span(runs + more)), ..TaskGroup::new(tasks, slots(wide)) };
    let fits = u64::from(tasks) * wide <= 8;
    group.gang = match dice.below(4) {
        0 => Some(Gang::of(1).within("rack")),
        1 if fits => Some(Gang::of(tasks)),
        2 if fits => Some(Gang::of(tasks).within("rack")),
        _ => None,
    }
    .map(Box::new);
    let soon = dice.below(60) * S;
    Work { queue: dice.below(3) as usize, at: dice.pick(&[0, 0, soon]), runs, groups: vec![group] }
}

proptest! {
    #![proptest_config(cases(1600))]
    #[test]
    fn nobody_waits_longer_than_those_that_had_reservations(mut dice in dice(140)) {
        let config = any_config(&mut dice);
        let mut jobs: Vec<Work> = (0..3 + dice.below(12)).map(|_| any_work(&mut dice)).collect();
        jobs.sort_by_key(|job| job.at);
        let stream = live(&config, &jobs, usize::MAX);
        let seen = Seen { config: &config, jobs: &jobs, stream: &stream };
        seen.check_room();
        seen.check_gangs();
        seen.check_bound();
    }
}
