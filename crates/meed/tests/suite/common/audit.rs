//! Reclaim by the rules of docs/reclaim.md, told from the stream of events alone: who holds and has
//! used what is counted up from starts and ends, and each stop is held against every rule. Nothing
//! is shared with the engine or its twin. Any number of resources, of which the policy counts one
//! or the dominant share; one policy for all parents; no half-life, no quantum.

use super::stream::{Record, Stream, TaskName, Work};
use meed::*;
use std::collections::BTreeMap;

/// Books that are kept from the stream.
pub(crate) struct Audit<'a> {
    config: &'a Config,
    jobs: &'a [Work],
    rules: Reclaim,
    now: u64,
    /// By queue, in the order of the configuration, of each resource.
    held: Vec<Vec<u64>>,
    used: Vec<Vec<u128>>,
    running: BTreeMap<TaskName, (u64, usize)>,
    told: BTreeMap<TaskName, u64>,
    /// How many tasks of each job and group have ended well.
    ended: BTreeMap<(usize, usize), u64>,
    /// Until when one side keeps what was taken back from the other, while nothing else changes.
    keeps: BTreeMap<(usize, usize), u64>,
    /// Jobs for which tasks were stopped, and which have not started since.
    owed: Vec<usize>,
    /// The longest that tasks had run when they were stopped.
    ran: BTreeMap<TaskName, u64>,
    /// How many jobs have come.
    came: usize,
    /// Whether all tasks are alike, single, and without limits.
    alike: bool,
}

/// What was told in one decision for one winner.
struct Batch {
    winner: usize,
    group: usize,
    waited: u64,
    tasks: Vec<TaskName>,
}

impl Audit<'_> {
    pub(crate) fn new<'a>(config: &'a Config, jobs: &'a [Work]) -> Audit<'a> {
        let (queues, rules) = (config.queues.len(), config.root.reclaim.expect("it reclaims"));
        let kinds = config.kinds.len();
        let mut groups = jobs.iter().flat_map(|job| &job.groups);
        let alike = groups.all(|group| {
            let plain = group.gang.is_none() && group.limit.is_none();
            plain && group.demand == jobs[0].groups[0].demand
        });
        Audit {
            config,
            jobs,
            rules,
            now: 0,
            held: vec![vec![0; kinds]; queues],
            used: vec![vec![0; kinds]; queues],
            running: BTreeMap::new(),
            told: BTreeMap::new(),
            ended: BTreeMap::new(),
            keeps: BTreeMap::new(),
            owed: Vec::new(),
            ran: BTreeMap::new(),
            came: 0,
            alike,
        }
    }

    fn kinds(&self) -> std::ops::Range<usize> {
        0..self.config.kinds.len()
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

    fn min(&self, queue: usize, kind: usize) -> u64 {
        self.config.queues[queue].min.map_or(0, |min| min.get(kind))
    }

    fn total(&self, kind: usize) -> u128 {
        self.config.nodes.iter().map(|node| u128::from(node.capacity.get(kind))).sum()
    }

    /// weight / sum of its siblings' x the share above, as a fraction.
    pub(crate) fn share(&self, queue: usize, kind: usize) -> (u128, u128) {
        let parent = self.parent(queue);
        let top = (self.total(kind), 1);
        let (above, below) = parent.map_or(top, |parent| self.share(parent, kind));
        let siblings = (0..self.held.len()).filter(|&other| self.parent(other) == parent);
        let all: u128 = siblings.map(|other| self.weight(other)).sum();
        (above * self.weight(queue), below * all)
    }

    /// Amounts as the policy counts them, in parts that all queues have alike: of one resource, or
    /// the largest x[r] / total[r], by a denominator of all totals.
    fn counted(&self, amounts: &[u128]) -> u128 {
        match &self.config.root.scalar {
            Scalar::Kind(kind) => amounts[*kind],
            Scalar::Dominant => {
                let others = |kind: usize| -> u128 {
                    self.kinds().filter(|&other| other != kind).map(|it| self.total(it)).product()
                };
                self.kinds().map(|kind| amounts[kind] * others(kind)).max().unwrap_or(0)
            }
            Scalar::Priced(_) => unreachable!("no scenario has prices"),
        }
    }

    fn demand(&self, task: TaskName) -> &Resources {
        let job = &self.jobs[task.0];
        &job.groups[job.group_of(task.1)].demand
    }

    fn demand_of(&self, tasks: &[TaskName], kind: usize) -> u64 {
        tasks.iter().map(|&task| self.demand(task).get(kind)).sum()
    }

    fn pass(&mut self, now: u64) {
        for (used, held) in self.used.iter_mut().flatten().zip(self.held.iter().flatten()) {
            *used += u128::from(*held) * u128::from(now - self.now);
        }
        self.now = now;
    }

    fn count(&mut self, task: TaskName, starts: bool) {
        let demand = *self.demand(task);
        for queue in self.path(self.jobs[task.0].queue) {
            for kind in self.kinds() {
                match starts {
                    true => self.held[queue][kind] += demand.get(kind),
                    false => self.held[queue][kind] -= demand.get(kind),
                }
            }
        }
    }

    /// All rules, for all that happened; how many tasks were told to stop.
    pub(crate) fn check(&mut self, stream: &Stream) -> usize {
        let (mut at, mut stops) = (0, 0);
        while let Some((now, record)) = stream.get(at) {
            self.pass(*now);
            at += 1;
            match record {
                Record::Arrived => {
                    self.came += 1;
                    self.keeps.clear();
                }
                Record::Started { task, node, reserved_for } => {
                    if reserved_for.is_some() {
                        self.check_gives_way(*task);
                    }
                    self.running.insert(*task, (*now, *node));
                    self.count(*task, true);
                    // Whoever starts besides those for whom others stopped changes what is owed.
                    match self.owed.contains(&task.0) {
                        true => self.owed.retain(|job| *job != task.0),
                        false => self.keeps.clear(),
                    }
                }
                Record::Ended(task) | Record::Lost(task) => {
                    let since = self.running.remove(task).expect("it runs").0;
                    self.count(*task, false);
                    let told = self.told.remove(task);
                    if let Record::Lost(_) = record {
                        let grace = self.rules.grace.as_micros();
                        assert_eq!(told.map(|told| told + grace), Some(*now), "grace of {task:?}");
                        let longest = self.ran.entry(*task).or_default();
                        *longest = (*longest).max(now - since);
                    } else {
                        let group = self.jobs[task.0].group_of(task.1);
                        *self.ended.entry((task.0, group)).or_default() += 1;
                        self.keeps.clear();
                    }
                }
                Record::Told { winner, group, waited, .. } => {
                    let (winner, group, waited) = (*winner, *group, *waited);
                    let batch = Batch { winner, group, waited, tasks: Vec::new() };
                    let batch = self.batch(batch, &stream[at - 1..]);
                    (at, stops) = (at - 1 + batch.tasks.len(), stops + batch.tasks.len());
                    self.check_batch(&batch);
                    self.told.extend(batch.tasks.iter().map(|task| (*task, *now)));
                    self.owed.push(winner);
                }
            }
        }
        stops
    }

    /// What is told for one winner without anything in between.
    fn batch(&self, mut batch: Batch, records: &[(u64, Record)]) -> Batch {
        for (_, record) in records {
            let Record::Told { task, winner, group, ran, .. } = record else { break };
            if (*winner, *group) != (batch.winner, batch.group) {
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

    /// How many tasks of a group run or have ended.
    fn begun(&self, job: usize, group: usize) -> u64 {
        let of_group = |task: &&TaskName| task.0 == job && self.jobs[job].group_of(task.1) == group;
        let runs = self.running.keys().filter(of_group).count() as u64;
        runs + self.ended.get(&(job, group)).copied().unwrap_or(0)
    }

    /// What the next tasks of the group ask for that start together (docs/gangs.md).
    fn turn(&self, batch: &Batch) -> Vec<u64> {
        let group = &self.jobs[batch.winner].groups[batch.group];
        let begun = self.begun(batch.winner, batch.group);
        let waiting = u64::from(group.count) - begun;
        let least = group.gang.as_ref().map_or(1, |gang| u64::from(gang.least));
        let tasks = least.saturating_sub(begun).max(1).min(waiting);
        self.kinds().map(|kind| group.demand.get(kind) * tasks).collect()
    }

    fn check_batch(&mut self, batch: &Batch) {
        let winner = self.jobs[batch.winner].queue;
        assert!(batch.waited >= self.rules.after.as_micros(), "waited too short");
        assert!(self.told.keys().all(|task| !self.running.contains_key(task)), "others stop");
        let mut sides: BTreeMap<(usize, usize), Vec<TaskName>> = BTreeMap::new();
        for &task in &batch.tasks {
            let leaf = self.jobs[task.0].queue;
            assert_ne!(leaf, winner, "a task of the winner's own queue is stopped");
            let (ours, theirs) = (self.path(winner), self.path(leaf));
            let parts = ours.iter().zip(&theirs).find(|(a, b)| a != b).expect("they part");
            sides.entry((*parts.0, *parts.1)).or_default().push(task);
        }
        for (&(first, last), stopped) in &sides {
            self.check_sides(batch, (first, last), stopped);
            if !self.is_below(first) || self.is_below(last) {
                self.check_not_for_ever(stopped);
            }
            self.check_no_stop_back(first, last);
            self.check_places(batch, (first, last), stopped);
        }
        self.check_minimums(batch, winner);
        self.check_gangs(batch);
        self.check_need(batch);
    }

    /// Who is stopped for no minimum holds more than its share of something that the turn asks for,
    /// or is better placed afterwards than the winner was before.
    fn check_places(&self, batch: &Batch, (first, last): (usize, usize), stopped: &[TaskName]) {
        if self.is_below(first) && !self.is_below(last) {
            return;
        }
        let turn = self.turn(batch);
        let beyond = |kind: usize| {
            let (share, of) = self.share(last, kind);
            turn[kind] > 0 && u128::from(self.held[last][kind]) * of > share
        };
        let left = |kind: usize| self.held[last][kind] - self.demand_of(stopped, kind);
        let left: Vec<u128> = self.kinds().map(|kind| left(kind).into()).collect();
        let own: Vec<u128> = self.held[first].iter().map(|&held| held.into()).collect();
        let better =
            self.counted(&left) * self.weight(first) > self.counted(&own) * self.weight(last);
        let names = (self.name(first), self.name(last));
        let fine = better || self.kinds().any(beyond);
        assert!(fine, "{names:?} change places: {stopped:?} for {turn:?}");
    }

    /// What a queue holds, and its minimum share, as the policy counts both.
    fn of_minimum(&self, queue: usize) -> (u128, u128) {
        let min: Vec<u128> = self.kinds().map(|kind| self.min(queue, kind).into()).collect();
        let held: Vec<u128> = self.held[queue].iter().map(|&held| held.into()).collect();
        (self.counted(&held), self.counted(&min))
    }

    fn is_below(&self, queue: usize) -> bool {
        let (held, min) = self.of_minimum(queue);
        held < min
    }

    /// What a queue has used after so long, if it holds this meanwhile, over its weight, but for
    /// the weight of the other.
    fn key(&self, queue: usize, other: usize, held: &[u64], micros: u128) -> u128 {
        let used = self.used[queue].iter().zip(held);
        let used: Vec<u128> = used.map(|(used, &held)| used + u128::from(held) * micros).collect();
        self.counted(&used) * self.weight(other)
    }

    fn check_sides(&self, batch: &Batch, (first, last): (usize, usize), stopped: &[TaskName]) {
        let turn = self.turn(batch);
        let names = (self.name(first), self.name(last));
        if self.is_below(first) {
            let counted: Vec<u128> = turn.iter().map(|&turn| turn.into()).collect();
            assert!(self.counted(&counted) > 0, "{names:?}: {turn:?} is nothing of the minimum");
        }
        match (self.is_below(first), self.is_below(last)) {
            (true, false) => return,
            (false, true) => panic!("{names:?}: the loser is below its minimum, the winner not"),
            _ => {}
        }
        let uses = self.config.root.measure == Measure::Usage;
        assert!(uses, "{names:?}: nobody is owed anything");
        if self.is_below(first) {
            // Both are: they stand by the parts of their minimums that they hold.
            let (a, b) = (self.of_minimum(first), self.of_minimum(last));
            assert!(a.0 * b.1 <= b.0 * a.1, "{names:?}: {a:?} and {b:?} of the minimums are held");
            return;
        }
        let a = self.key(first, last, &self.held[first], 0);
        let b = self.key(last, first, &self.held[last], 0);
        assert!(a <= b, "{names:?}: {a} and {b} were used");
        let mut with = self.held[first].clone();
        for kind in self.kinds() {
            with[kind] += turn[kind];
            let (share, of) = self.share(first, kind);
            let fits = turn[kind] == 0 || u128::from(with[kind]) * of <= share;
            assert!(fits, "{names:?}: {} of a share of {share}/{of}", with[kind]);
        }
        let less = |kind: usize| self.held[last][kind] - self.demand_of(stopped, kind);
        let less: Vec<u64> = self.kinds().map(less).collect();
        let guard = u128::from(self.rules.guard.as_micros());
        let a = self.key(first, last, &with, guard);
        let b = self.key(last, first, &less, guard);
        assert!(a < b, "{names:?}: the order turns too soon");
    }

    /// Where all tasks are alike, nobody starts by a reservation whose task could be stopped for
    /// one that waits. What was freed by stopping tasks is its own, and while tasks stop nobody
    /// gives way.
    fn check_gives_way(&self, task: TaskName) {
        if !self.alike || self.owed.contains(&task.0) || !self.told.is_empty() {
            return;
        }
        let leaf = self.jobs[task.0].queue;
        for (job, work) in self.jobs[..self.came].iter().enumerate() {
            let (ours, theirs) = (self.path(work.queue), self.path(leaf));
            let Some((&first, &last)) = ours.iter().zip(&theirs).find(|(a, b)| a != b) else {
                continue;
            };
            let waits = (0..work.groups.len())
                .any(|group| self.begun(job, group) < u64::from(work.groups[group].count));
            let names = (self.name(first), self.name(last));
            assert!(
                !waits || !self.could_stop(first, last),
                "{task:?} starts by its reservation, {names:?}: job {job} is owed"
            );
        }
    }

    /// Whether one task of all alike could have one of another side stopped, if that has run long
    /// enough, ties apart.
    fn could_stop(&self, first: usize, last: usize) -> bool {
        let demand = &self.jobs[0].groups[0].demand;
        let turn: Vec<u64> = self.kinds().map(|kind| demand.get(kind)).collect();
        if self.is_below(first) {
            let counted: Vec<u128> = turn.iter().map(|&turn| turn.into()).collect();
            let (a, b) = (self.of_minimum(first), self.of_minimum(last));
            let uses = self.config.root.measure == Measure::Usage;
            let less = !self.is_below(last) || uses && a.0 * b.1 < b.0 * a.1;
            return self.counted(&counted) > 0 && less;
        }
        if self.is_below(last) || self.config.root.measure != Measure::Usage {
            return false;
        }
        let mut with = self.held[first].clone();
        self.kinds().for_each(|kind| with[kind] += turn[kind]);
        let within = |kind: usize| {
            let (share, of) = self.share(first, kind);
            turn[kind] == 0 || u128::from(with[kind]) * of <= share
        };
        let comes_first = |ours: &[u64], micros: u128| {
            let a = self.key(first, last, ours, micros);
            a < self.key(last, first, &self.held[last], micros)
        };
        // The task that is about to start counts on its side; all tasks are alike.
        let beyond = |kind: usize| {
            let (share, of) = self.share(last, kind);
            turn[kind] > 0 && u128::from(self.held[last][kind] + turn[kind]) * of > share
        };
        let counted = |queue: usize| {
            let held: Vec<u128> = self.held[queue].iter().map(|&held| held.into()).collect();
            self.counted(&held)
        };
        let better = counted(last) * self.weight(first) > counted(first) * self.weight(last);
        if !(better || self.kinds().any(beyond)) {
            return false;
        }
        let guard = u128::from(self.rules.guard.as_micros());
        self.kinds().all(within) && comes_first(&self.held[first], 0) && comes_first(&with, guard)
    }

    /// Who was stopped before has run more than twice as long as then.
    fn check_not_for_ever(&self, stopped: &[TaskName]) {
        for task in stopped {
            let ran = self.now - self.running[task].0;
            let before = self.ran.get(task);
            let fine = before.is_none_or(|&before| ran > 2 * before);
            assert!(fine, "{task:?} is stopped after {ran} us, and was after {before:?} us");
        }
    }

    /// Nobody is stopped for those from whom room was taken back within the guard, while nothing
    /// else has changed: no job has come, no task has ended, nobody else has started. What a side
    /// below its minimum share gets beyond that has no guard: it keeps its minimum alone.
    fn check_no_stop_back(&mut self, first: usize, last: usize) {
        if let Some(&keeps) = self.keeps.get(&(last, first)) {
            let names = (self.name(first), self.name(last));
            assert!(keeps <= self.now, "{names:?}: stopped back {} us early", keeps - self.now);
        }
        if !self.is_below(first) {
            self.keeps.insert((first, last), self.now + self.rules.guard.as_micros());
        }
    }

    /// No queue falls below its minimum, of any resource and as the policy counts all of them;
    /// above the winner his turn counts.
    fn check_minimums(&self, batch: &Batch, winner: usize) {
        let ours = self.path(winner);
        let turn = self.turn(batch);
        for queue in 0..self.held.len() {
            let below = |task: &TaskName| self.path(self.jobs[task.0].queue).contains(&queue);
            let tasks: Vec<TaskName> = batch.tasks.iter().copied().filter(below).collect();
            for kind in self.kinds().filter(|&kind| self.min(queue, kind) > 0) {
                let lost = self.demand_of(&tasks, kind);
                let won = if ours.contains(&queue) { turn[kind] } else { 0 };
                let keeps = self.held[queue][kind] + won >= self.min(queue, kind) + lost;
                assert!(lost == 0 || keeps, "{} falls below its minimum", self.name(queue));
            }
            let won = |kind: usize| if ours.contains(&queue) { turn[kind] } else { 0 };
            let now: Vec<u128> =
                self.kinds().map(|kind| u128::from(self.held[queue][kind] + won(kind))).collect();
            let lost = |kind: usize| u128::from(self.demand_of(&tasks, kind));
            let then: Vec<u128> = self.kinds().map(|kind| now[kind] - lost(kind)).collect();
            let (now, then) = (self.counted(&now), self.counted(&then));
            let keeps = then == now || then >= self.of_minimum(queue).1;
            assert!(keeps, "{} falls below its minimum as it is counted", self.name(queue));
        }
    }

    /// A gang keeps its least number, or stops as a whole.
    fn check_gangs(&self, batch: &Batch) {
        for &(job, task) in &batch.tasks {
            let number = self.jobs[job].group_of(task);
            let Some(gang) = &self.jobs[job].groups[number].gang else { continue };
            let of_group =
                |task: &&TaskName| task.0 == job && self.jobs[job].group_of(task.1) == number;
            let runs = self.running.keys().filter(of_group).count();
            let stops = batch.tasks.iter().filter(of_group).count();
            let fine = stops == runs || runs - stops >= gang.least as usize;
            assert!(fine, "{stops} of {runs} tasks of a gang of {} are stopped", gang.least);
        }
    }

    /// No more is stopped than the turn asks for: without any one task the others are too little of
    /// some resource. Where nobody knows when tasks end, for a single task and single tasks.
    fn check_need(&self, batch: &Batch) {
        let group_of = |task: &TaskName| {
            let job = &self.jobs[task.0];
            &job.groups[job.group_of(task.1)]
        };
        let winner = &self.jobs[batch.winner].groups[batch.group];
        let mut groups = batch.tasks.iter().map(group_of).chain([winner]);
        let limits = self.jobs.iter().flat_map(|job| &job.groups).any(|it| it.limit.is_some());
        if limits || groups.any(|group| group.gang.is_some()) {
            return;
        }
        let nodes: Vec<usize> = batch.tasks.iter().map(|task| self.running[task].1).collect();
        assert!(nodes.iter().all(|&node| node == nodes[0]), "tasks on several nodes for one");
        let turn = self.turn(batch);
        for &task in &batch.tasks {
            let others =
                |kind: usize| self.demand_of(&batch.tasks, kind) - self.demand(task).get(kind);
            let short = self.kinds().any(|kind| others(kind) < turn[kind]);
            assert!(short, "{:?} are stopped for {turn:?}, {task:?} in vain", batch.tasks);
        }
    }
}
