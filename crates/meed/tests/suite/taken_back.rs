//! Reclaim by the rules of docs/reclaim.md, told from the stream of events alone: who holds and has
//! used what is counted up from starts and ends, and each stop is held against every rule. Nothing
//! is shared with the engine or its twin. One kind of resource, no half-life, no quantum.

use crate::common::dice::{Dice, dice};
use crate::common::stream::{Record, Stream, TaskName, Work, for_seconds, live};
use crate::common::*;
use meed::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Books that are kept from the stream.
struct Audit<'a> {
    config: &'a Config,
    jobs: &'a [Work],
    rules: Reclaim,
    now: u64,
    /// By queue, in the order of the configuration.
    held: Vec<u64>,
    used: Vec<u128>,
    running: BTreeMap<TaskName, (u64, usize)>,
    told: BTreeMap<TaskName, u64>,
    /// How many tasks of each job have ended well.
    ended: Vec<u64>,
}

/// What was told in one decision for one winner.
struct Batch {
    winner: usize,
    waited: u64,
    tasks: Vec<TaskName>,
}

impl Audit<'_> {
    fn new<'a>(config: &'a Config, jobs: &'a [Work]) -> Audit<'a> {
        let (queues, rules) = (config.queues.len(), config.root.reclaim.expect("it reclaims"));
        let (held, used) = (vec![0; queues], vec![0; queues]);
        let (running, told) = (BTreeMap::new(), BTreeMap::new());
        let ended = vec![0; jobs.len()];
        Audit { config, jobs, rules, now: 0, held, used, running, told, ended }
    }

    fn name(&self, queue: usize) -> &str {
        &self.config.queues[queue].name
    }

    /// The queue and those above it, from the top.
    fn path(&self, queue: usize) -> Vec<usize> {
        let name = self.name(queue);
        let above = |other: &str| name == other || name.starts_with(&format!("{other}."));
        let mut path: Vec<usize> =
            (0..self.held.len()).filter(|&other| above(self.name(other))).collect();
        path.sort_by_key(|&other| self.name(other).len());
        path
    }

    fn parent(&self, queue: usize) -> Option<usize> {
        self.path(queue).into_iter().rev().nth(1)
    }

    fn weight(&self, queue: usize) -> u128 {
        u128::from(self.config.queues[queue].weight)
    }

    fn min(&self, queue: usize) -> u64 {
        self.config.queues[queue].min.map_or(0, |min| min.get(0))
    }

    /// weight / sum of its siblings' x the share above, as a fraction.
    fn share(&self, queue: usize) -> (u128, u128) {
        let total: u64 = self.config.nodes.iter().map(|node| node.capacity.get(0)).sum();
        let parent = self.parent(queue);
        let (above, below) = parent.map_or((u128::from(total), 1), |parent| self.share(parent));
        let siblings = (0..self.held.len()).filter(|&other| self.parent(other) == parent);
        let all: u128 = siblings.map(|other| self.weight(other)).sum();
        (above * self.weight(queue), below * all)
    }

    fn demand(&self, task: TaskName) -> u64 {
        self.jobs[task.0].group.demand.get(0)
    }

    fn pass(&mut self, now: u64) {
        for (used, held) in self.used.iter_mut().zip(&self.held) {
            *used += u128::from(*held) * u128::from(now - self.now);
        }
        self.now = now;
    }

    fn count(&mut self, task: TaskName, starts: bool) {
        let demand = self.demand(task);
        for queue in self.path(self.jobs[task.0].queue) {
            match starts {
                true => self.held[queue] += demand,
                false => self.held[queue] -= demand,
            }
        }
    }

    /// All rules, for all that happened; how many tasks were told to stop.
    fn check(&mut self, stream: &Stream) -> usize {
        let (mut at, mut stops) = (0, 0);
        while let Some((now, record)) = stream.get(at) {
            self.pass(*now);
            at += 1;
            match record {
                Record::Arrived => {}
                Record::Started { task, node, .. } => {
                    self.running.insert(*task, (*now, *node));
                    self.count(*task, true);
                }
                Record::Ended(task) | Record::Lost(task) => {
                    self.running.remove(task).expect("it runs");
                    self.count(*task, false);
                    self.ended[task.0] += u64::from(matches!(record, Record::Ended(_)));
                    let told = self.told.remove(task);
                    if let Record::Lost(_) = record {
                        let grace = self.rules.grace.as_micros();
                        assert_eq!(told.map(|told| told + grace), Some(*now), "grace of {task:?}");
                    }
                }
                Record::Told { winner, waited, .. } => {
                    let batch = Batch { winner: *winner, waited: *waited, tasks: Vec::new() };
                    let batch = self.batch(batch, &stream[at - 1..]);
                    (at, stops) = (at - 1 + batch.tasks.len(), stops + batch.tasks.len());
                    self.check_batch(&batch);
                    let told = batch.tasks.iter().map(|task| (*task, *now));
                    self.told.extend(told);
                }
            }
        }
        stops
    }

    /// What is told for one winner without anything in between.
    fn batch(&self, mut batch: Batch, records: &[(u64, Record)]) -> Batch {
        for (_, record) in records {
            let Record::Told { task, winner, ran, .. } = record else { break };
            if *winner != batch.winner {
                break;
            }
            assert!(!self.told.contains_key(task), "{task:?} is told twice");
            let since = self.running[task].0;
            assert_eq!(*ran, self.now - since);
            assert!(*ran >= self.rules.min_runtime.as_micros(), "{task:?} is too young");
            batch.tasks.push(*task);
        }
        batch
    }

    /// What the next tasks of the job ask for that start together (docs/gangs.md).
    fn turn(&self, job: usize) -> u64 {
        let group = &self.jobs[job].group;
        let runs = self.running.keys().filter(|(other, _)| *other == job).count() as u64;
        let begun = runs + self.ended[job];
        let waiting = u64::from(group.count) - begun;
        let least = group.gang.as_ref().map_or(1, |gang| u64::from(gang.least));
        group.demand.get(0) * least.saturating_sub(begun).max(1).min(waiting)
    }

    fn check_batch(&self, batch: &Batch) {
        let winner = self.jobs[batch.winner].queue;
        assert!(batch.waited >= self.rules.after.as_micros(), "waited too short");
        assert!(self.told.keys().all(|task| !self.running.contains_key(task)), "others stop");
        let mut sides: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for &task in &batch.tasks {
            let leaf = self.jobs[task.0].queue;
            assert_ne!(leaf, winner, "a task of the winner's own queue is stopped");
            let (ours, theirs) = (self.path(winner), self.path(leaf));
            let parts = ours.iter().zip(&theirs).find(|(a, b)| a != b).expect("they part");
            *sides.entry((*parts.0, *parts.1)).or_default() += self.demand(task);
        }
        for (&(first, last), &stopped) in &sides {
            self.check_sides(batch, first, last, stopped);
        }
        self.check_minimums(batch, winner);
        self.check_gangs(batch);
        self.check_need(batch);
    }

    fn is_below(&self, queue: usize) -> bool {
        self.held[queue] < self.min(queue)
    }

    /// Whether the first has used no more for its weight than the last.
    fn comes_first(&self, (first, a): (usize, u128), (last, b): (usize, u128)) -> bool {
        a * self.weight(last) <= b * self.weight(first)
    }

    fn check_sides(&self, batch: &Batch, first: usize, last: usize, stopped: u64) {
        let turn = self.turn(batch.winner);
        let names = (self.name(first), self.name(last));
        match (self.is_below(first), self.is_below(last)) {
            (true, false) => return,
            (false, true) => panic!("{names:?}: the loser is below its minimum, the winner not"),
            _ => {}
        }
        let uses = self.config.root.measure == Measure::Usage;
        assert!(uses, "{names:?}: nobody is owed anything");
        let (a, b) = (self.used[first], self.used[last]);
        assert!(self.comes_first((first, a), (last, b)), "{names:?}: {a} and {b} were used");
        if self.is_below(first) {
            return;
        }
        let (share, of) = self.share(first);
        let with = u128::from(self.held[first] + turn);
        assert!(with * of <= share, "{names:?}: {with} of a share of {share}/{of}");
        let guard = u128::from(self.rules.guard.as_micros());
        let a = a + with * guard;
        let b = b + u128::from(self.held[last] - stopped) * guard;
        assert!(self.comes_first((first, a), (last, b)), "{names:?}: the order turns too soon");
    }

    /// No queue falls below its minimum; above the winner his turn counts.
    fn check_minimums(&self, batch: &Batch, winner: usize) {
        let ours = self.path(winner);
        for queue in (0..self.held.len()).filter(|&queue| self.min(queue) > 0) {
            let below = batch
                .tasks
                .iter()
                .filter(|task| self.path(self.jobs[task.0].queue).contains(&queue));
            let lost: u64 = below.map(|&task| self.demand(task)).sum();
            let won = if ours.contains(&queue) { self.turn(batch.winner) } else { 0 };
            let keeps = self.held[queue] + won >= self.min(queue) + lost;
            assert!(lost == 0 || keeps, "{} falls below its minimum", self.name(queue));
        }
    }

    /// A gang keeps its least number, or stops as a whole.
    fn check_gangs(&self, batch: &Batch) {
        for &(job, _) in &batch.tasks {
            let Some(gang) = &self.jobs[job].group.gang else { continue };
            let of_job = |task: &&TaskName| task.0 == job;
            let runs = self.running.keys().filter(of_job).count();
            let stops = batch.tasks.iter().filter(of_job).count();
            let fine = stops == runs || runs - stops >= gang.least as usize;
            assert!(fine, "{stops} of {runs} tasks of a gang of {} are stopped", gang.least);
        }
    }

    /// No more is stopped than the turn asks for: without any one task the others are too little.
    /// Where nobody knows when tasks end, for a single task and single tasks.
    fn check_need(&self, batch: &Batch) {
        let plain = |job: usize| self.jobs[job].group.gang.is_none();
        let limits = self.jobs.iter().any(|job| job.group.limit.is_some());
        let jobs = batch.tasks.iter().map(|task| task.0).chain([batch.winner]);
        if limits || !jobs.into_iter().all(plain) {
            return;
        }
        let nodes: Vec<usize> = batch.tasks.iter().map(|task| self.running[task].1).collect();
        assert!(nodes.iter().all(|&node| node == nodes[0]), "tasks on several nodes for one");
        let all: u64 = batch.tasks.iter().map(|&task| self.demand(task)).sum();
        let least = batch.tasks.iter().map(|&task| self.demand(task)).min().unwrap_or(0);
        let turn = self.turn(batch.winner);
        assert!(all - least < turn, "{all} is stopped for {turn}, {least} in vain");
    }
}

/// So many records are more than any of these scenarios has whose run ends.
const MANY: usize = 4000;

fn audited(config: &Config, jobs: &[Work]) -> (usize, Stream) {
    let stream = live(config, jobs, MANY);
    assert!(stream.len() < MANY, "the run does not end");
    let stops = Audit::new(config, jobs).check(&stream);
    (stops, stream)
}

fn some(reservations: u32) -> Reservations {
    NonZeroU32::new(reservations).map_or(Reservations::All, Reservations::AtMost)
}

/// Reservations 0 is all.
fn under(order: &str, rules: [u64; 4], reservations: u32) -> Policy {
    let [after, min_runtime, guard, grace] = rules.map(for_seconds);
    let reclaim = Some(Reclaim { after, min_runtime, guard, grace });
    let quantum = Quantum::Fixed(Span::ZERO);
    Policy { blocked: Blocked::Reserve(some(reservations)), reclaim, quantum, ..policy(order) }
}

/// So many nodes of so many slots.
fn cluster(policy: &Policy, (nodes, slots_each): (usize, u64), names: &[&str]) -> Config {
    let mut config = slots_config(slots_each, policy, names);
    config.nodes = (0..nodes).map(|at| node(&format!("n{at}"), slots(slots_each))).collect();
    config
}

const HOUR: u64 = 3600;

/// Each of these jobs is a task that runs for a day.
fn days(queue: usize, at: u64, jobs: usize, limited: bool) -> Vec<Work> {
    let (runs, limit) = (24 * HOUR * S, limited.then(|| for_seconds(24 * HOUR)));
    let group = TaskGroup { limit, ..TaskGroup::new(1, slots(1)) };
    vec![Work { queue, at: at * S, runs, group }; jobs]
}

/// How many tasks are told to stop before the first ends.
fn stops_at_first(stream: &Stream) -> usize {
    let before = stream.iter().take_while(|(_, record)| !matches!(record, Record::Ended(_)));
    before.filter(|(_, record)| matches!(record, Record::Told { .. })).count()
}

const AN_HOUR: [u64; 4] = [HOUR, 300, HOUR, 30];

#[test]
fn with_many_reservations_no_more_is_taken_back_than_with_one() {
    for reservations in [1, 2, 3, 4, 6, 8, 0] {
        for (limited, late) in [(false, 5), (false, 6), (false, 7), (false, 8), (true, 8)] {
            let config = cluster(&under("long-term", AN_HOUR, reservations), (1, 8), &["a", "b"]);
            let jobs = [days(0, 0, 8, limited), days(1, 600, late, limited)].concat();
            let (stops, stream) = audited(&config, &jobs);
            let told = (stops_at_first(&stream), stops);
            assert_eq!(told, (4, 4), "{late} jobs, {reservations} reservations, {limited}");
        }
    }
}

#[test]
fn what_is_owed_comes_back_on_several_nodes() {
    for reservations in [1, 4, 8, 10, 0] {
        let config = cluster(&under("long-term", AN_HOUR, reservations), (4, 4), &["a", "b"]);
        let jobs = [days(0, 0, 16, false), days(1, 600, 16, false)].concat();
        let (_, stream) = audited(&config, &jobs);
        assert_eq!(stops_at_first(&stream), 8, "{reservations} reservations");
    }
}

#[test]
fn a_minimum_is_given_back_whatever_is_reserved() {
    for reservations in [1, 2, 4, 8, 0] {
        let mut config = cluster(&under("fair", AN_HOUR, reservations), (1, 8), &["a", "b"]);
        config.queues.iter_mut().for_each(|queue| queue.min = Some(slots(4)));
        let jobs = [days(0, 0, 8, false), days(1, 600, 8, false)].concat();
        let (_, stream) = audited(&config, &jobs);
        assert_eq!(stops_at_first(&stream), 4, "{reservations} reservations");
    }
}

/// A task of `queue` that asks for `wide` slots and runs for so long; so many of them.
fn work(queue: usize, at: u64, tasks: u32, wide: u64, runs: u64) -> Work {
    Work { queue, at: at * S, runs: runs * S, group: TaskGroup::new(tasks, slots(wide)) }
}

fn by_usage(mut config: Config) -> Config {
    for queue in &mut config.queues {
        queue.policy = Policy { quantum: Quantum::Fixed(Span::ZERO), ..policy("long-term") };
    }
    config
}

/// What is reserved for `b` leaves room for a narrow task of its own: it starts when others stop,
/// by what is held then.
#[test]
fn nobody_is_stopped_for_a_queue_that_is_owed_no_more() {
    let rules = under("long-term", [1, 5, 1, 0], 1);
    let mut config = by_usage(cluster(&rules, (2, 8), &["a", "a.x", "a.y", "b"]));
    config.queues[3].min = Some(slots(2));
    let jobs = [
        work(3, 0, 2, 4, 50),
        work(3, 0, 1, 8, 300),
        work(1, 7, 1, 4, 100),
        work(2, 27, 1, 1, 100),
    ];
    audited(&config, &jobs);
}

#[test]
fn nobody_is_stopped_for_a_queue_above_its_share() {
    let rules = under("long-term", [1, 5, 2, 2], 1);
    let mut config = by_usage(cluster(&rules, (2, 8), &["a", "b", "c"]));
    config.queues[0].weight = 2000;
    let jobs = [
        work(1, 0, 4, 1, 50),
        work(1, 0, 1, 1, 300),
        work(0, 0, 4, 4, 20),
        work(2, 0, 4, 1, 100),
        work(0, 24, 1, 3, 300),
    ];
    audited(&config, &jobs);
}

/// Equal jobs of one slot that run long, on few nodes, of few tenants.
fn equal_jobs(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term", "long-term", "fair"]);
    let mut policy = under(order, [HOUR, 300, HOUR, 30], dice.below(9) as u32);
    policy.spares = dice.below(3) as u32;
    let names = &["a", "b", "c", "d"][..2 + dice.below(3) as usize];
    let (nodes, each) = dice.pick(&[(1, 8), (1, 4), (2, 4), (4, 4), (2, 8), (1, 16), (3, 3)]);
    let mut config = cluster(&policy, (nodes, each), names);
    let all = nodes as u64 * each;
    if order == "fair" || dice.below(3) == 0 {
        let min = Some(slots(all / names.len() as u64));
        config.queues.iter_mut().for_each(|queue| queue.min = min);
    }
    let limited = dice.below(3) == 0;
    let mut jobs = days(0, 0, all as usize, limited);
    for queue in 1..names.len() {
        let many = dice.below(all + 4) as usize;
        jobs.extend(days(queue, 60 * (1 + dice.below(90)), many, limited));
    }
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

/// Any jobs, with gangs, on one to three nodes.
fn any_jobs(dice: &mut Dice) -> (Config, Vec<Work>) {
    let order = dice.pick(&["long-term", "long-term", "long-term", "fair"]);
    let [after, min_runtime] = [dice.pick(&[1, 3, 10]), dice.pick(&[0, 1, 5])];
    let grace = dice.pick(&[0, 1, 2]);
    let guard = grace + dice.pick(&[0, 1, 5, 30]);
    let policy = under(order, [after, min_runtime, guard, grace], 1 + dice.below(4) as u32);
    let flat = ["a", "b", "c"];
    let deep = ["a", "a.x", "a.y", "b", "b.z"];
    let names: &[&str] = if dice.below(2) == 0 { &flat } else { &deep };
    let mut config = by_usage(cluster(&policy, (1 + dice.below(3) as usize, 8), names));
    for queue in &mut config.queues {
        queue.policy.measure = config.root.measure;
        queue.weight = dice.pick(&[1000, 1000, 2000, 3000]);
        if !queue.name.contains('.') && dice.below(4) == 0 {
            queue.min = Some(slots(1 + dice.below(3)));
        }
    }
    let leaves: Vec<usize> = match names.len() {
        3 => vec![0, 1, 2],
        _ => vec![1, 2, 4],
    };
    let mut jobs: Vec<Work> = (0..3 + dice.below(8)).map(|_| any_job(dice, &leaves)).collect();
    jobs.sort_by_key(|job| job.at);
    (config, jobs)
}

fn any_job(dice: &mut Dice, leaves: &[usize]) -> Work {
    let (tasks, wide) = (dice.pick(&[1, 2, 4, 8]), dice.pick(&[1, 1, 2, 3, 4, 6, 8]));
    let (soon, late) = (dice.below(30), dice.below(100));
    let at = dice.pick(&[0, 0, soon, late]);
    let runs = dice.pick(&[5, 20, 50, 100, 300]);
    let mut job = work(dice.pick(leaves), at, tasks, wide, runs);
    if tasks > 1 && u64::from(tasks) * wide <= 8 && dice.below(3) == 0 {
        let least = dice.pick(&[tasks, tasks / 2]);
        job.group.gang = Some(Box::new(Gang::of(least)));
    }
    job
}

/// What each queue holds when the first task ends, in slots.
fn held_at_first_end(config: &Config, jobs: &[Work], stream: &Stream) -> Vec<u64> {
    let mut held = vec![0; config.queues.len()];
    for (_, record) in stream {
        match record {
            Record::Started { task, .. } => held[jobs[task.0].queue] += 1,
            Record::Lost(task) => held[jobs[task.0].queue] -= 1,
            Record::Ended(_) => break,
            _ => {}
        }
    }
    held
}

proptest! {
    #![proptest_config(cases(1600))]

    /// No more is stopped than the others are owed together, every run ends, and who has a minimum
    /// share and work for it has it before the first task ends.
    #[test]
    fn stops_are_bounded_by_what_is_owed(mut dice in dice(60)) {
        let (config, jobs) = equal_jobs(&mut dice);
        let (_, stream) = audited(&config, &jobs);
        let held = held_at_first_end(&config, &jobs, &stream);
        let all: u64 = config.nodes.iter().map(|node| node.capacity.get(0) / 1000).sum();
        let share = all / config.queues.len() as u64;
        let work = |queue: usize| jobs.iter().filter(|job| job.queue == queue).count() as u64;
        let owed: u64 = (1..config.queues.len()).map(|queue| work(queue).min(share)).sum();
        let stops = stops_at_first(&stream) as u64;
        prop_assert!(stops <= owed, "{stops} stops where {owed} are owed");
        // Where starts are promised, a share that is no minimum waits for these.
        let promised = jobs.iter().any(|job| job.group.limit.is_some());
        let lasts = |queue: &QueueSpec| queue.min.is_some() || !promised;
        for (queue, &held) in held.iter().enumerate().filter(|it| lasts(&config.queues[it.0])) {
            let least = work(queue).min(share);
            let times = || jobs.iter().map(|job| (job.queue, job.at / S)).collect::<Vec<_>>();
            let stops = stops_at_first(&stream);
            prop_assert!(
                held >= least,
                "queue {queue} holds {held} of {least} after {stops} stops: {:?} {:?}",
                config.root.blocked,
                times(),
            );
        }
    }

    /// Each stop is right by every rule.
    #[test]
    fn each_stop_is_right_by_the_rules(mut dice in dice(120)) {
        let (config, jobs) = any_jobs(&mut dice);
        audited(&config, &jobs);
    }
}
