//! Which tasks may be stopped for a reservation, and in what order.
//!
//! Where the paths of the winner and of a task part, `first` is the winner's side and `last` the
//! other one. The task may be stopped if
//!
//! - `first` is below its minimum share and `last` is not, or they stand alike in that and `last`
//!   owes: their parent orders them by what they have used, and `first` comes before;
//! - with the winner's task `first` holds no more than its share, unless it is below its minimum
//!   and the task asks for some of what that counts: what a queue may use beyond its share it gets
//!   when others end. One reservation stops tasks at a time, and starts before the next looks: so
//!   what `first` holds is all it was promised;
//! - it has run as long as the rules ask for, and if it was stopped before, more than twice as long
//!   as then (`before`).
//!
//! Those come first whose queues owe most: leaves stand as in the walk, backwards, and where a
//! parent keeps no ledger the child declared last comes first; in a leaf the youngest is first.
//!
//! A gang gives up tasks above its least number one by one, whichever they are ([`Spare`]). More of
//! them are stopped together or not at all, with all of the gang: its core stands for that, where
//! the youngest of those that started first would be. Cost: O(running tasks), and a sort of those
//! that may be stopped.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::engine::core::Core;
use crate::engine::holds::before::StoppedBefore;
use crate::ids::{AllocationId, QueueRow};
use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::time::Time;

/// Where the paths of the winner and of a leaf part: the winner's side, and the leaf's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Sides {
    pub(super) first: QueueRow,
    pub(super) last: QueueRow,
}

/// When a task started, its job's number in order of arrival, its own in the job: the greater the
/// younger.
type Youth = (Time, u64, u32);

/// So many tasks of a gang's group may be stopped while the others go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spare {
    /// The group.
    pub(super) slot: u32,
    pub(super) tasks: u32,
}

/// What is stopped as one: a task, or the core of a gang.
pub(super) struct Unit {
    pub(super) leaf: QueueRow,
    pub(super) sides: Sides,
    pub(super) tasks: SmallVec<[AllocationId; 1]>,
    /// Of the youngest of them.
    youth: Youth,
    /// The first group of its gang, if it is of one.
    gang: Option<u32>,
    /// Of a task of a gang: how many of its group may be stopped as it is.
    pub(super) spare: Option<Spare>,
    /// Whether it is the core of that gang. Its tasks are those of groups that spare none.
    pub(super) is_core: bool,
    /// Of a core: the places of the other units of that gang, which are stopped with it.
    pub(super) with: Vec<usize>,
}

impl Unit {
    fn alone(leaf: QueueRow, sides: Sides, id: AllocationId, youth: Youth) -> Unit {
        let tasks = SmallVec::from_elem(id, 1);
        let (gang, spare, is_core, with) = (None, None, false, Vec::new());
        Unit { leaf, sides, tasks, youth, gang, spare, is_core, with }
    }
}

/// The tasks of a gang that run.
struct GangRuns {
    leaf: QueueRow,
    sides: Sides,
    /// Whether all of them may be stopped.
    all_may: bool,
    tasks: Vec<GangTask>,
}

struct GangTask {
    /// Its group.
    slot: u32,
    youth: Youth,
    id: AllocationId,
    may: bool,
}

impl Core {
    /// All that may be stopped for a task of the leaf `winner`, in order.
    pub(super) fn stoppable(
        &self,
        winner: QueueRow,
        turn: &Resources,
        rules: &Reclaim,
        before: &StoppedBefore,
    ) -> Vec<Unit> {
        let mut sides: BTreeMap<QueueRow, Option<Sides>> = BTreeMap::new();
        let mut units: Vec<Unit> = Vec::new();
        // By the first group of each.
        let mut gangs: BTreeMap<u32, GangRuns> = BTreeMap::new();
        for (id, task) in self.work.all_running() {
            let leaf = task.queue;
            let known = sides.entry(leaf).or_insert_with(|| {
                self.owing(winner, leaf).filter(|sides| self.may_get(sides.first, turn))
            });
            let Some(sides) = *known else { continue };
            let ran = self.now.saturating_since(task.started);
            let may = ran >= rules.min_runtime
                && (self.is_owed_minimum_by(&sides)
                    || before.allow((task.job.slot() as u32, task.task), ran));
            let youth = (task.started, self.books.arrival(task.job), task.task);
            if self.work.group(task.group).gang().is_none() {
                units.extend(may.then(|| Unit::alone(leaf, sides, id, youth)));
                continue;
            }
            let new = || GangRuns { leaf, sides, all_may: true, tasks: Vec::new() };
            let gang = gangs.entry(self.work.members(task.group)[0]).or_insert_with(new);
            gang.all_may &= may;
            gang.tasks.push(GangTask { slot: task.group, youth, id, may });
        }
        for (first, gang) in gangs {
            self.add_units_of_gang(first, gang, &mut units);
        }
        let ranks = self.by_what_they_owe(units.iter().map(|unit| unit.leaf).collect());
        units.sort_by_key(|unit| (ranks[&unit.leaf], Reverse(unit.youth)));
        link_gangs(&mut units);
        units
    }

    /// Each task of the gang's groups that spare some, and its core, if all of the gang may be
    /// stopped.
    fn add_units_of_gang(&self, first: u32, mut runs: GangRuns, units: &mut Vec<Unit>) {
        runs.tasks.sort_unstable_by_key(|task| task.youth);
        let (leaf, sides, gang) = (runs.leaf, runs.sides, Some(first));
        let mut running: BTreeMap<u32, u32> = BTreeMap::new();
        runs.tasks.iter().for_each(|task| *running.entry(task.slot).or_default() += 1);
        let least = |slot: u32| self.work.group(slot).gang().map_or(1, |gang| gang.least);
        let mut started: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut youth, mut bound) = (None, Vec::new());
        for task in &runs.tasks {
            let (slot, least) = (task.slot, least(task.slot));
            let so_far = started.entry(slot).or_default();
            *so_far += 1;
            if *so_far <= least {
                youth = Some(task.youth);
            }
            let spare = Spare { slot, tasks: running[&slot].saturating_sub(least) };
            if spare.tasks == 0 {
                bound.push(task);
            } else if task.may {
                let alone = Unit::alone(leaf, sides, task.id, task.youth);
                units.push(Unit { gang, spare: Some(spare), ..alone });
            }
        }
        bound.sort_unstable_by_key(|task| task.youth.2);
        if let Some(youth) = youth.filter(|_| runs.all_may) {
            let tasks = bound.iter().map(|task| task.id).collect();
            let (spare, is_core, with) = (None, true, Vec::new());
            units.push(Unit { leaf, sides, tasks, youth, gang, spare, is_core, with });
        }
    }

    /// Whether a queue that gets `turn` holds no more than its share of what it asks for, or is
    /// below its minimum and gets some of what that counts: by anything else it stays below.
    pub(super) fn may_get(&self, queue: QueueRow, turn: &Resources) -> bool {
        match self.books.is_below_minimum(queue) {
            true => self.books.counts_some(queue, turn),
            false => self.is_within_share(queue, turn),
        }
    }

    /// Whether a queue that gets `more` holds no more than its share of what that asks for.
    pub(super) fn is_within_share(&self, queue: QueueRow, more: &Resources) -> bool {
        let (held, share) = (self.books.held(queue), self.tree[queue].share());
        let within = |kind: usize| {
            let (held, more) = (u128::from(held.get(kind)), u128::from(more.get(kind)));
            more == 0 || held + more <= u128::from(share.get(kind))
        };
        (0..more.kinds()).all(within)
    }

    /// Whether a queue above the leaf owes one above the winner.
    pub(in crate::engine::holds) fn is_owed(&self, winner: QueueRow, leaf: QueueRow) -> bool {
        self.owing(winner, leaf).is_some()
    }

    /// Where the paths of two leaves part, if `leaf` owes `winner`.
    pub(super) fn owing(&self, winner: QueueRow, leaf: QueueRow) -> Option<Sides> {
        self.part(winner, leaf).filter(|sides| self.owes(sides))
    }

    /// Whether the last of two sides owes the first.
    pub(super) fn owes(&self, sides: &Sides) -> bool {
        let below = |queue| self.books.is_below_minimum(queue);
        match (below(sides.first), below(sides.last)) {
            (true, false) => true,
            (false, true) => false,
            _ => self.books.is_owed(self.now, sides.first, sides.last),
        }
    }

    /// Whether the first of two sides is below its minimum share, and the last is not.
    pub(super) fn is_owed_minimum_by(&self, sides: &Sides) -> bool {
        self.books.is_below_minimum(sides.first) && !self.books.is_below_minimum(sides.last)
    }

    /// Where the paths of two leaves part; `None`: they are one.
    pub(super) fn part(&self, a: QueueRow, b: QueueRow) -> Option<Sides> {
        let (a, b) = (self.tree.path(a), self.tree.path(b));
        let (&first, &last) = a.iter().zip(&b).find(|(a, b)| a != b)?;
        Some(Sides { first, last })
    }

    /// The places of leaves in the order of what they owe.
    pub(super) fn by_what_they_owe(&self, mut leaves: Vec<QueueRow>) -> BTreeMap<QueueRow, usize> {
        leaves.sort_unstable();
        leaves.dedup();
        leaves.sort_by(|&a, &b| self.owes_more(a, b));
        leaves.into_iter().enumerate().map(|(place, leaf)| (leaf, place)).collect()
    }

    fn owes_more(&self, a: QueueRow, b: QueueRow) -> Ordering {
        let Some(Sides { first: a, last: b }) = self.part(a, b) else { return Ordering::Equal };
        match self.books.stands_by_usage(a) {
            true => self.books.key_seen(self.now, b).cmp(&self.books.key_seen(self.now, a)),
            false => b.cmp(&a),
        }
    }
}

/// The core of each gang is told of the other units of the gang.
fn link_gangs(units: &mut [Unit]) {
    let mut of_gangs: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, unit) in units.iter().enumerate().filter(|(_, unit)| !unit.is_core) {
        if let Some(gang) = unit.gang {
            of_gangs.entry(gang).or_default().push(place);
        }
    }
    for unit in units.iter_mut().filter(|unit| unit.is_core) {
        unit.with = unit.gang.and_then(|gang| of_gangs.remove(&gang)).unwrap_or_default();
    }
}
