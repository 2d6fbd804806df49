//! Reclaim, by definition: at each place the tasks that may be stopped are gone through in order,
//! and the place where the search ends first is taken.

use super::charge::Ratio;
use super::fraction::Fraction;
use super::model::{Model, Task};
use super::reserve::{Held, NEVER, Places, each_start, many};
use meed::*;
use std::cmp::{Ordering, Reverse};

/// When a task started, its job and its number.
type Youth = (u64, usize, u32);

/// Tasks that are stopped together, with the queues at which their path and the winner's part.
#[derive(Clone, PartialEq, Debug)]
struct Unit {
    leaf: usize,
    first: usize,
    last: usize,
    /// Positions among all tasks.
    tasks: Vec<usize>,
    youth: Youth,
    /// The job of its gang, and the first group of that.
    gang: Option<(usize, usize)>,
    /// Of a task of a gang: its group, and how many tasks that has above its least number.
    spare: Option<(usize, usize)>,
    /// Whether all of the gang stops with it.
    core: bool,
}

/// A task that is to stop, and for whom.
pub(crate) type Told = (AllocationId, (usize, u32), u64);

/// How many tasks of a unit's group may be stopped besides these while its gang goes on.
fn spares(unit: &Unit, taken: &[&Unit]) -> usize {
    let Some((group, above)) = unit.spare else { return 1 };
    let same = |other: &&&Unit| other.gang == unit.gang && other.spare == Some((group, above));
    above.saturating_sub(taken.iter().filter(same).count())
}

/// What is needed of units that are enough: from the last on each is let be without which it is
/// enough still. Of a gang that need not stop as a whole, as many tasks as it can do without.
fn needed<'u>(
    mut taken: Vec<&'u Unit>,
    units: &'u [Unit],
    enough: impl Fn(&[&'u Unit]) -> bool,
) -> Vec<&'u Unit> {
    let without = |some: &[&'u Unit], one: &Unit| -> Vec<&'u Unit> {
        some.iter().copied().filter(|other| *other != one).collect()
    };
    taken.sort_by_key(|unit| units.iter().position(|other| other == *unit));
    for unit in taken.clone().into_iter().rev() {
        let is_bound = taken.iter().any(|other| other.core && other.gang == unit.gang);
        if unit.core {
            let mut some = without(&taken, unit);
            if !enough(&some) {
                continue;
            }
            for one in units.iter().rev().filter(|other| !other.core && other.gang == unit.gang) {
                let fewer = without(&some, one);
                if enough(&fewer) {
                    some = fewer;
                }
            }
            let goes_on = |one: &&Unit| {
                let (_, above) = one.spare.expect("only the core has more");
                let same = some.iter().filter(|other| other.gang == one.gang);
                same.filter(|other| other.spare == one.spare).count() <= above
            };
            let of_gang = |other: &&Unit| !other.core && other.gang == unit.gang;
            if units.iter().filter(of_gang).all(|one| goes_on(&one)) {
                taken = some;
            }
        } else if taken.contains(&unit) && !is_bound {
            let fewer = without(&taken, unit);
            if enough(&fewer) {
                taken = fewer;
            }
        }
    }
    taken
}

impl Model {
    /// Tells tasks to stop for the first reservation that waits too long and for which that helps.
    pub(crate) fn reclaim(&mut self) -> bool {
        let Some(rules) = self.queues[0].spec.policy.reclaim else { return false };
        if self.running().any(|task| self.stopping.contains(&task.allocation)) {
            return false;
        }
        for at in 0..self.holds.len() {
            let held = self.holds[at].clone();
            let soon = self.now + rules.grace.as_micros();
            let waits = held.at.is_none_or(|at| at > soon) && !self.is_pinned(&held);
            if held.tries > self.now || !waits {
                continue;
            }
            self.holds[at].tries = (self.now + rules.after.as_micros()).min(NEVER);
            let Some((stopped, nodes)) = self.first_victims(at, rules) else { continue };
            let to = &mut self.holds[at];
            to.stands_on(nodes);
            (to.at, to.reclaims) = (None, true);
            let (waited, any) = (self.now - held.since, !stopped.is_empty());
            for task in stopped {
                let allocation = self.tasks[task].allocation;
                self.stopping.push(allocation);
                self.stops.push((allocation, (held.job, held.group as u32), waited));
            }
            self.freed = true;
            if !any {
                self.settle_idle();
                return true;
            }
            // Nothing starts after tasks were told to stop: ledgers and shares are as they were.
            while self.freed {
                self.plan();
            }
            self.settle_idle();
            return false;
        }
        false
    }

    /// Whether it waits where it is for tasks that were told to stop.
    pub(crate) fn is_pinned(&self, held: &Held) -> bool {
        held.reclaims && held.at.is_none()
    }

    pub(crate) fn stops_there(&self, held: &Held) -> bool {
        let stops = |task: &Task| self.stopping.contains(&task.allocation);
        self.running().filter(|task| held.on(task.node) > 0).any(stops)
    }

    fn first_victims(&mut self, at: usize, rules: Reclaim) -> Option<(Vec<usize>, Places)> {
        self.refresh_counts();
        let held = &self.holds[at];
        let of = (held.job, held.group);
        let turn = self.turn_demand(held.job, held.group);
        let units = self.stoppable(self.jobs[held.job].queue, &turn, rules);
        let places = self.reclaim_places(of);
        let until = self.longest_from(at, self.now + rules.grace.as_micros());
        let found = places.iter().enumerate().filter_map(|(number, nodes)| {
            let of = (at, until);
            let (position, stopped, starts) = self.search_place(of, rules, &units, nodes)?;
            Some(((position, number), (stopped, starts)))
        });
        found.min_by_key(|(place, _)| *place).map(|(_, found)| found)
    }

    /// Nodes one by one; for gangs all that may be together.
    fn reclaim_places(&self, of: (usize, usize)) -> Vec<Vec<usize>> {
        let parts = self.together(of.0, of.1);
        let groups =
            if parts.is_empty() { vec![of.1] } else { parts.iter().map(|it| it.0).collect() };
        let any = |&node: &usize| groups.iter().any(|&it| self.could_hold((of.0, it), (node, 1)));
        let all: Vec<usize> = (0..self.nodes.len()).filter(any).collect();
        let group = &self.jobs[of.0].groups[of.1];
        if self.turn(of.0, of.1) == 1 {
            return all.into_iter().map(|node| vec![node]).collect();
        }
        let Some(label) = group.gang.as_ref().and_then(|gang| gang.same.as_ref()) else {
            return vec![all];
        };
        let value = |node: usize| self.nodes[node].spec.labels.get(label);
        let mut places: Vec<Vec<usize>> = Vec::new();
        for node in all.into_iter().filter(|&node| value(node).is_some()) {
            match places.iter_mut().find(|place| value(place[0]) == value(node)) {
                Some(place) => place.push(node),
                None => places.push(vec![node]),
            }
        }
        places
    }

    /// After which unit there is enough, which tasks are stopped, and where the turn starts.
    fn search_place(
        &self,
        (at, until): (usize, u64),
        rules: Reclaim,
        units: &[Unit],
        nodes: &[usize],
    ) -> Option<(usize, Vec<usize>, Places)> {
        let mut taken: Vec<&Unit> = Vec::new();
        for (position, unit) in units.iter().enumerate() {
            // With the core of a gang all others of the gang stop.
            let of_gang = |other: &&Unit| *other == unit || unit.core && other.gang == unit.gang;
            let mut with = units.iter().filter(of_gang).flat_map(|other| &other.tasks);
            let here = with.any(|&task| nodes.contains(&self.tasks[task].node));
            let more = units.iter().filter(of_gang);
            let more: Vec<&Unit> = more.filter(|other| !taken.contains(other)).collect();
            let may = !taken.contains(&unit) && spares(unit, &taken) > 0;
            let held = &self.holds[at];
            let too_little = !self.leaves_minimum(held, &taken, &more)
                || !self.leaves_place(held, &taken, &more);
            if !here || !may || too_little {
                continue;
            }
            taken.extend(more);
            if self.enough(at, until, &taken, nodes).is_none() {
                continue;
            }
            let enough = |some: &[&Unit]| self.enough(at, until, some, nodes).is_some();
            let taken = needed(taken, units, enough);
            let starts = self.enough(at, until, &taken, nodes).expect("so much is enough");
            let tasks: Vec<usize> = taken.iter().flat_map(|unit| unit.tasks.clone()).collect();
            return self
                .keeps_order(at, rules, &taken, &starts)
                .then_some((position, tasks, starts));
        }
        None
    }

    /// Until when a reservation's tasks may run that start at `from`.
    fn longest_from(&self, at: usize, from: u64) -> u64 {
        let held = &self.holds[at];
        let groups: Vec<usize> =
            held.with.iter().map(|(group, _)| *group).chain([held.group]).collect();
        let limit = self.longest(held.job, &groups);
        limit.map_or(NEVER, |limit| from.saturating_add(limit).min(NEVER))
    }

    /// What is free of a kind on a node at an instant, by what is expected to end and by the
    /// reservations with a known start that count; these tasks have stopped.
    fn free_without(
        &self,
        at: usize,
        (node, kind): (usize, usize),
        t: u64,
        gone: &[usize],
    ) -> i128 {
        let row = &self.nodes[node];
        let mut free = i128::from(row.spec.capacity.get(kind)) - i128::from(row.others.get(kind));
        for (index, task) in self.tasks.iter().enumerate() {
            let runs = task.end.is_none() && task.node == node && self.end_of(task) > t;
            if runs && !gone.contains(&index) {
                free -= i128::from(task.demand.get(kind));
            }
        }
        for other in self.counted_against(at) {
            let Some(from) = self.holds[other].at else { continue };
            let until = self.longest_from(other, from);
            if from.max(self.now) <= t && (t < until || until == NEVER) {
                free -= i128::from(self.amount(&self.holds[other], node, kind));
            }
        }
        free
    }

    /// The reservations that hold something against one that takes room back.
    fn counted_against(&self, at: usize) -> Vec<usize> {
        let winner = self.jobs[self.holds[at].job].queue;
        let mut counted: Vec<(usize, usize)> = Vec::new();
        for (other, held) in self.holds.iter().enumerate().filter(|(other, _)| *other != at) {
            let leaf = self.jobs[held.job].queue;
            let sides = self.path(winner).into_iter().zip(self.path(leaf));
            let side = match sides.into_iter().find(|(a, b)| a != b) {
                // Of its own queue, later ones wait for it anyway.
                None if other > at => continue,
                None => leaf,
                Some((first, last)) if self.owes(first, last) => continue,
                Some((_, last)) => last,
            };
            // What a side has reserved beyond its share does not count.
            let demand =
                |held: &Held, kind: usize| self.turn_demand(held.job, held.group).get(kind);
            let kinds = self.share(side).kinds();
            let before = |kind: usize| -> u64 {
                let ours = counted.iter().filter(|(_, of)| *of == side);
                ours.map(|(it, _)| demand(&self.holds[*it], kind)).sum()
            };
            let within = (0..kinds).all(|kind| {
                let more = before(kind) + demand(held, kind);
                more == 0 || self.held(side).get(kind) + more <= self.share(side).get(kind)
            });
            let min = self.queues[side].spec.min;
            let short = |kind: usize| {
                min.is_some_and(|min| self.held(side).get(kind) + before(kind) < min.get(kind))
            };
            if within || self.is_below_minimum(side) && (0..kinds).any(short) {
                counted.push((other, side));
            }
        }
        counted.into_iter().map(|(other, _)| other).collect()
    }

    /// What of a kind reservations hold on a node, that count and of which nobody knows when they
    /// start; `foreign`: those of other queues alone.
    fn drained_against(&self, at: usize, (node, kind): (usize, usize), foreign: bool) -> i128 {
        let queue = |held: &Held| self.jobs[held.job].queue;
        let others = self.counted_against(at).into_iter().filter(|&other| {
            let held = &self.holds[other];
            held.at.is_none() && !(foreign && queue(held) == queue(&self.holds[at]))
        });
        let amount = |other: usize| {
            let held = &self.holds[other];
            // On one of its nodes a task starts; it is owed its room on its own.
            let is_spare = foreign && held.spares.contains(&node);
            if is_spare { 0 } else { i128::from(self.amount(held, node, kind)) }
        };
        others.map(amount).sum()
    }

    /// Where the turn starts when these have stopped.
    fn enough(&self, at: usize, until: u64, taken: &[&Unit], nodes: &[usize]) -> Option<Places> {
        let held = &self.holds[at];
        let of = (held.job, held.group);
        let demand = self.jobs[of.0].groups[of.1].demand;
        let turn = self.turn(of.0, of.1);
        let stopped: Vec<usize> = taken.iter().flat_map(|unit| unit.tasks.clone()).collect();
        let left = |node: usize, kind: usize| {
            let least = |gone: &[usize]| {
                let mut times = self.instants(node);
                times.retain(|&t| t < until);
                let free = |t: &u64| self.free_without(at, (node, kind), *t, gone);
                times.iter().map(free).min().expect("the present is one of them")
            };
            // What is free already is theirs, and what is stopped is not.
            let held_back = least(&[]).max(0).min(self.drained_against(at, (node, kind), false));
            let row = &self.nodes[node];
            let ever = i128::from(row.spec.capacity.get(kind).saturating_sub(row.others.get(kind)));
            let others = self.drained_against(at, (node, kind), true);
            (least(&stopped) - held_back).min(ever - others)
        };
        if self.is_joint(of.0, of.1) {
            return self.places_in(of, nodes, &left);
        }
        let copies = |node: usize| {
            let fits = |&tasks: &u64| {
                let all = many(&demand, tasks);
                self.could_hold(of, (node, tasks))
                    && (0..demand.kinds()).all(|kind| {
                        all.get(kind) == 0 || i128::from(all.get(kind)) <= left(node, kind)
                    })
            };
            (1..=turn).rev().find(fits).unwrap_or(0)
        };
        let mut rows: Vec<(usize, u64)> = nodes.iter().map(|&node| (node, copies(node))).collect();
        rows.sort_by_key(|&(node, copies)| (Reverse(copies), node));
        let (mut starts, mut missing) = (Vec::new(), turn);
        for (node, copies) in rows.into_iter().filter(|(_, copies)| *copies > 0) {
            let here = copies.min(missing);
            if here > 0 {
                starts.push((node, here));
            }
            missing -= here;
        }
        starts.sort_unstable();
        (missing == 0).then(|| vec![(of.1, starts)])
    }

    /// Whether all queues above a unit keep their minimum shares: of each resource that it holds,
    /// and as their parents count all of them.
    fn leaves_minimum(&self, held: &Held, taken: &[&Unit], more: &[&Unit]) -> bool {
        let unit = more[0];
        let turn = self.turn_demand(held.job, held.group);
        let sum = |tasks: &mut dyn Iterator<Item = usize>, kind: usize| -> u64 {
            tasks.map(|task| self.tasks[task].demand.get(kind)).sum()
        };
        self.path(unit.leaf).into_iter().filter(|&q| q > 0).all(|q| {
            let Some(min) = self.queues[q].spec.min else { return true };
            let all = taken.iter().chain(more).filter(|u| self.is_below(u.leaf, q));
            let tasks: Vec<usize> = all.flat_map(|unit| unit.tasks.clone()).collect();
            let new: Vec<usize> = more.iter().flat_map(|unit| unit.tasks.clone()).collect();
            // The winner is below it as well.
            let wins = self.is_below(unit.first, q);
            let keeps_each = (0..min.kinds()).all(|kind| {
                let less = sum(&mut tasks.iter().copied(), kind);
                let more = if wins { turn.get(kind) } else { 0 };
                let takes = sum(&mut new.iter().copied(), kind) > 0;
                let held = self.held(q).get(kind) + more;
                !takes || min.get(kind) == 0 || held >= min.get(kind) + less
            });
            let starts = if wins { self.turn_tasks(held) } else { Vec::new() };
            let before: Vec<usize> =
                tasks.iter().copied().filter(|task| !new.contains(task)).collect();
            let now = self.counted_without(q, &before, &starts);
            let then = self.counted_without(q, &tasks, &starts);
            let least = self.bound(&self.policy_above(q), &min);
            keeps_each && (then.order(&now).is_ge() || then.order(&least).is_ge())
        })
    }

    /// Whether the side of what is stopped holds more than its share of something that the turn
    /// asks for, or still holds more for its weight than the winner's side does.
    fn leaves_place(&self, held: &Held, taken: &[&Unit], more: &[&Unit]) -> bool {
        let Unit { first, last, .. } = *more[0];
        if self.is_below_minimum(first) && !self.is_below_minimum(last) {
            return true;
        }
        let stopped = |units: &[&Unit]| -> Vec<usize> {
            let ours = units.iter().filter(|unit| self.is_below(unit.leaf, last));
            ours.flat_map(|unit| unit.tasks.clone()).collect()
        };
        let turn = self.turn_demand(held.job, held.group);
        let beyond = |kind: usize| {
            turn.get(kind) > 0 && self.held(last).get(kind) > self.share(last).get(kind)
        };
        if (0..turn.kinds()).any(beyond) {
            return true;
        }
        let gone = [stopped(taken), stopped(more)].concat();
        self.holds_more_for_weight((last, &gone), first)
    }

    /// Whether a side holds more for its weight than another, with these stopped.
    pub(crate) fn holds_more_for_weight(
        &self,
        (last, gone): (usize, &[usize]),
        first: usize,
    ) -> bool {
        let per_weight = |q: usize, gone: &[usize]| {
            let weight = Fraction::new(u128::from(self.queues[q].spec.weight), 1);
            self.counted_without(q, gone, &[]).over(&weight)
        };
        per_weight(last, gone).order(&per_weight(first, &[])).is_gt()
    }

    /// What each task asks for that starts with the reservation's turn.
    fn turn_tasks(&self, held: &Held) -> Vec<Resources> {
        let of = |group: usize, tasks: u64| {
            let demand = self.jobs[held.job].groups[group].demand;
            vec![demand; tasks as usize]
        };
        match self.together(held.job, held.group) {
            parts if parts.is_empty() => of(held.group, self.turn(held.job, held.group)),
            parts => parts.into_iter().flat_map(|(group, tasks)| of(group, tasks)).collect(),
        }
    }

    fn policy_above(&self, q: usize) -> Policy {
        self.queues[self.queues[q].parent.expect("not the root")].spec.policy.clone()
    }

    /// What a queue holds as its parent counts it, with these tasks stopped and those started.
    fn counted_without(&self, q: usize, gone: &[usize], starts: &[Resources]) -> Fraction {
        let policy = self.policy_above(q);
        let runs = self.tasks.iter().enumerate();
        let runs = runs.filter(|(index, task)| {
            task.end.is_none() && self.is_below(task.queue, q) && !gone.contains(index)
        });
        let demands = runs.map(|(_, task)| task.demand).chain(starts.iter().copied());
        match policy.scalar {
            Scalar::Dominant => {
                let mut all = Resources::zero(self.share(0).kinds());
                demands.for_each(|demand| all.add(&demand));
                self.bound(&policy, &all)
            }
            _ => demands.fold(Fraction::zero(), |sum, one| sum.plus(&self.bound(&policy, &one))),
        }
    }

    /// Whether the winner's side comes before the others still when the guard has passed.
    fn keeps_order(&self, at: usize, rules: Reclaim, taken: &[&Unit], starts: &Places) -> bool {
        let mut sides: Vec<(usize, usize)> =
            taken.iter().map(|unit| (unit.first, unit.last)).collect();
        sides.sort_unstable();
        sides.dedup();
        let stopped: Vec<usize> = taken.iter().flat_map(|unit| unit.tasks.clone()).collect();
        let job = self.holds[at].job;
        let keeps = |sides| self.comes_first_then(job, rules, sides, &stopped, starts);
        sides.into_iter().all(keeps)
    }

    /// Whether by the ledgers the first side comes before the last when the guard has passed, with
    /// a turn of the job started and these stopped.
    pub(crate) fn comes_first_then(
        &self,
        job: usize,
        rules: Reclaim,
        (first, last): (usize, usize),
        stopped: &[usize],
        starts: &Places,
    ) -> bool {
        let parent = self.queues[first].parent.expect("not the root");
        let mut then = self.now + rules.guard.as_micros();
        if let Memory::Rounds(length) = self.queues[parent].spec.policy.memory {
            let length = length.as_micros();
            then = then.min(self.now / length * length + length - 1);
        }
        self.is_below_minimum(first) || {
            let a = self.key_then(job, first, then, stopped, starts);
            let b = self.key_then(job, last, then, stopped, starts);
            a.0.cmp_value(&b.0).then(a.1.cmp(&b.1)) == Ordering::Less
        }
    }

    /// Whether a queue that gets `turn` holds no more than its share of what that asks for, or is
    /// below its minimum share and gets some of that.
    pub(crate) fn may_get(&self, first: usize, turn: &Resources) -> bool {
        let within = |kind: usize| {
            let with = self.held(first).get(kind) + turn.get(kind);
            turn.get(kind) == 0 || with <= self.share(first).get(kind)
        };
        match self.is_below_minimum(first) {
            true => self.counts_some(first, turn),
            false => (0..turn.kinds()).all(within),
        }
    }

    /// All that may be stopped for a task of the leaf, in order.
    fn stoppable(&self, winner: usize, turn: &Resources, rules: Reclaim) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for (index, task) in self.tasks.iter().enumerate().filter(|(_, task)| task.end.is_none()) {
            let sides = self.path(winner).into_iter().zip(self.path(task.queue));
            let Some((first, last)) = sides.into_iter().find(|(a, b)| a != b) else { continue };
            let youth = (task.start, task.job, task.number);
            let leaf = task.queue;
            let alone = Unit {
                leaf,
                first,
                last,
                tasks: vec![index],
                youth,
                gang: None,
                spare: None,
                core: false,
            };
            let Some(of) = &self.jobs[task.job].groups[task.group].gang else {
                units.push(alone);
                continue;
            };
            let gang = Some((task.job, self.members(task.job, task.group)[0]));
            let of_group = |other: &&Task| (other.job, other.group) == (task.job, task.group);
            let older =
                |other: &&Task| of_group(other) && (other.start, other.number) < (youth.0, youth.2);
            let is_first = self.running().filter(older).count() < of.least as usize;
            let above = self.running().filter(of_group).count().saturating_sub(of.least as usize);
            let core = match units.iter().position(|unit| unit.core && unit.gang == gang) {
                Some(core) => core,
                None => {
                    let (tasks, youth) = (Vec::new(), (0, 0, 0));
                    units.push(Unit { tasks, youth, gang, core: true, ..alone.clone() });
                    units.len() - 1
                }
            };
            // The core comes where the youngest of those comes that started first.
            if is_first {
                units[core].youth = units[core].youth.max(youth);
            }
            match above {
                0 => units[core].tasks.push(index),
                _ => units.push(Unit { gang, spare: Some((task.group, above)), ..alone }),
            }
        }
        let may = |&task: &usize| {
            let task = &self.tasks[task];
            self.now - task.start >= rules.min_runtime.as_micros()
                && !self.stopping.contains(&task.allocation)
        };
        let all = units.clone();
        units.retain(|unit| {
            // With the core all of the gang stops.
            let of_gang = |other: &&Unit| *other == unit || unit.core && other.gang == unit.gang;
            let minimum = self.is_below_minimum(unit.first) && !self.is_below_minimum(unit.last);
            let again = |task: &usize| minimum || self.has_run_twice_as_long(*task);
            let tasks = || all.iter().filter(of_gang).flat_map(|other| &other.tasks);
            tasks().all(may)
                && tasks().all(again)
                && self.owes(unit.first, unit.last)
                && self.may_get(unit.first, turn)
        });
        let by_number = |task: &usize| self.tasks[*task].number;
        units.iter_mut().for_each(|unit| unit.tasks.sort_by_key(by_number));
        units.sort_by(|a, b| {
            let place = self.owes_more(a.leaf, b.leaf).then(b.youth.cmp(&a.youth));
            // The core is before no task of its age.
            place.then(a.core.cmp(&b.core))
        });
        units
    }

    /// Whether a task has run more than twice as long as each time when it was stopped.
    fn has_run_twice_as_long(&self, task: usize) -> bool {
        let task = &self.tasks[task];
        let same = |other: &&Task| (other.job, other.number) == (task.job, task.number);
        let before = self.tasks.iter().filter(same).filter(|other| other.was_stopped);
        let ran = before.filter_map(|other| Some(other.end? - other.start));
        ran.max().is_none_or(|longest| self.now - task.start > 2 * longest)
    }

    /// Whether the policy above a queue counts some of this.
    fn counts_some(&self, q: usize, amounts: &Resources) -> bool {
        let parent = self.queues[q].parent.expect("not the root");
        (0..amounts.kinds()).any(|kind| {
            let counts = match &self.queues[parent].spec.policy.scalar {
                Scalar::Kind(counted) => *counted == kind,
                Scalar::Priced(prices) => prices[kind] > 0,
                Scalar::Dominant => true,
            };
            counts && amounts.get(kind) > 0
        })
    }

    pub(crate) fn is_below_minimum(&self, q: usize) -> bool {
        self.key_below_minimum(q).is_some()
    }

    /// The key of a queue at an instant to come, and its tie, if these tasks stop now and the turn
    /// starts.
    fn key_then(
        &self,
        job: usize,
        q: usize,
        then: u64,
        stopped: &[usize],
        starts: &Places,
    ) -> (Ratio, (usize, usize)) {
        let mut model = self.clone();
        stopped.iter().for_each(|&task| model.tasks[task].end = Some(self.now));
        let each = starts.iter().flat_map(|(group, nodes)| each_start(*group, nodes));
        model.tasks.extend(each.map(|(group, node)| Task {
            // Of any: nobody asks for it.
            allocation: self.tasks[0].allocation,
            queue: self.jobs[job].queue,
            job,
            group,
            number: 0,
            failures: 0,
            node,
            demand: self.jobs[job].groups[group].demand,
            start: self.now,
            seen: self.now,
            end: None,
            undone: false,
            was_stopped: false,
        }));
        model.now = then;
        (model.queue_key(q), model.tie(q))
    }

    /// Whether all that have reservations owe the leaf.
    pub(crate) fn is_owed_by_all(&self, leaf: usize) -> bool {
        let mut holds = self.holds.iter();
        holds.all(|held| self.owing(leaf, self.jobs[held.job].queue).is_some())
    }

    /// Where the paths of two leaves part, if the second one owes the first.
    pub(crate) fn owing(&self, leaf: usize, other: usize) -> Option<(usize, usize)> {
        let mut sides = self.path(leaf).into_iter().zip(self.path(other));
        sides.find(|(a, b)| a != b).filter(|&(a, b)| self.owes(a, b))
    }

    fn owes(&self, first: usize, last: usize) -> bool {
        match (self.is_below_minimum(first), self.is_below_minimum(last)) {
            (true, false) => true,
            (false, true) => false,
            _ => {
                let parent = self.queues[first].parent.expect("not the root");
                let policy = &self.queues[parent].spec.policy;
                let arrived = self.queues[first].counts.since.is_some();
                policy.measure == Measure::Usage
                    && (policy.newcomer == Newcomer::Zero || arrived)
                    && self.comes_before(first, last) == Ordering::Less
            }
        }
    }

    fn comes_before(&self, a: usize, b: usize) -> Ordering {
        self.queue_key(a).cmp_value(&self.queue_key(b)).then(self.tie(a).cmp(&self.tie(b)))
    }

    /// The leaf that owes most is first.
    fn owes_more(&self, a: usize, b: usize) -> Ordering {
        let sides = self.path(a).into_iter().zip(self.path(b));
        let Some((a, b)) = sides.into_iter().find(|(a, b)| a != b) else { return Ordering::Equal };
        let parent = self.queues[a].parent.expect("not the root");
        match self.queues[parent].spec.policy.measure {
            Measure::Usage => self.comes_before(b, a),
            _ => b.cmp(&a),
        }
    }

    /// What the world has not been told of.
    pub(crate) fn take_stops(&mut self) -> Vec<Told> {
        let stops = std::mem::take(&mut self.stops);
        let runs = |told: &Told| self.running().any(|task| task.allocation == told.0);
        stops.into_iter().filter(runs).collect()
    }

    /// When a reservation has waited long enough, next.
    pub(crate) fn next_look(&self) -> Option<u64> {
        self.queues[0].spec.policy.reclaim?;
        let next = |held: &Held| match held.tries > self.now {
            true => Some(held.tries).filter(|&tries| tries < NEVER),
            false => held.at.filter(|&at| at > self.now),
        };
        self.holds.iter().filter_map(next).min()
    }
}
