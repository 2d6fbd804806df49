//! Which tasks may be stopped for a reservation, and in what order.
//!
//! Where the paths of the winner and of a task part, `first` is the winner's side and `last` the
//! other one. The task may be stopped if
//!
//! - `first` is below its minimum share and `last` is not, or they stand alike in that and `last`
//!   owes: their parent orders them by what they have used, and `first` comes before;
//! - with the winner's task `first` holds no more than its share, unless it is below its minimum:
//!   what a queue may use beyond its share it gets when others end;
//! - it has run as long as the rules ask for.
//!
//! Those come first whose queues owe most: leaves stand as in the walk, backwards, and where a
//! parent keeps no ledger the child declared last comes first; in a leaf the youngest is first.
//! Tasks of a gang that run are stopped together or not at all. Cost: O(running tasks), and a sort
//! of those that may be stopped.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::engine::Engine;
use crate::reclaim::Reclaim;
use crate::resources::Resources;
use crate::spec::{AllocationId, QueueRow};
use crate::time::Time;

/// Where the paths of the winner and of a leaf part: the winner's side, and the leaf's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Sides {
    pub(super) first: QueueRow,
    pub(super) last: QueueRow,
}

/// What is stopped as one: a task, or those of a gang.
pub(super) struct Unit {
    pub(super) leaf: QueueRow,
    pub(super) sides: Sides,
    pub(super) tasks: SmallVec<[AllocationId; 1]>,
    /// When the youngest of them started, its job's number in order of arrival, its own in the job.
    youth: (Time, u64, u32),
}

impl Engine {
    /// All that may be stopped for a task of the leaf `winner`, in order.
    pub(super) fn stoppable(
        &self,
        winner: QueueRow,
        turn: &Resources,
        rules: &Reclaim,
    ) -> Vec<Unit> {
        let mut sides: BTreeMap<QueueRow, Option<Sides>> = BTreeMap::new();
        let mut units: Vec<Unit> = Vec::new();
        // By the first group of each gang: its unit, or none where one of its tasks may not be
        // stopped.
        let mut gangs: BTreeMap<u32, Option<usize>> = BTreeMap::new();
        for (id, task) in self.work.all_running() {
            let leaf = task.queue;
            let known = sides.entry(leaf).or_insert_with(|| {
                self.owing(winner, leaf).filter(|sides| self.is_within_share(sides.first, turn))
            });
            let Some(sides) = *known else { continue };
            let ran = self.now.saturating_since(task.started);
            let may = ran >= rules.min_runtime;
            let youth = (task.started, self.books.arrival(task.job), task.task);
            let unit = || Unit { leaf, sides, tasks: SmallVec::from_elem(id, 1), youth };
            if self.work.group(task.group).gang().is_none() {
                units.extend(may.then(unit));
                continue;
            }
            let gang = self.work.members(task.group)[0];
            match gangs.get(&gang).copied() {
                None => {
                    gangs.insert(gang, may.then_some(units.len()));
                    units.extend(may.then(unit));
                }
                Some(Some(index)) if may => {
                    units[index].tasks.push(id);
                    units[index].youth = units[index].youth.max(youth);
                }
                // One that may not be stopped protects all.
                Some(index) => {
                    index.into_iter().for_each(|index| units[index].tasks.clear());
                    gangs.insert(gang, None);
                }
            }
        }
        units.retain(|unit| !unit.tasks.is_empty());
        let number = |task: &AllocationId| self.work.running(*task).map(|running| running.task);
        units.iter_mut().for_each(|unit| unit.tasks.sort_by_key(number));
        let ranks = self.by_what_they_owe(units.iter().map(|unit| unit.leaf).collect());
        units.sort_by_key(|unit| (ranks[&unit.leaf], Reverse(unit.youth)));
        units
    }

    /// Whether all that have reservations owe the leaf: then it gets one besides theirs.
    pub(in crate::engine) fn is_owed_by_all(&self, leaf: QueueRow) -> bool {
        self.holds.as_ref().is_some_and(|holds| {
            let mut leaves = holds.list.iter().map(|hold| self.leaf_of(hold.slot()));
            leaves.all(|other| self.owing(leaf, other).is_some())
        })
    }

    /// Whether a queue that gets `turn` holds no more than its share of what it asks for, or is
    /// below its minimum.
    fn is_within_share(&self, queue: QueueRow, turn: &Resources) -> bool {
        let (held, share) = (self.books.held(queue), self.tree[queue].share());
        let within = |kind: usize| {
            let (held, more) = (u128::from(held.get(kind)), u128::from(turn.get(kind)));
            more == 0 || held + more <= u128::from(share.get(kind))
        };
        self.books.is_below_minimum(queue) || (0..turn.kinds()).all(within)
    }

    /// Where the paths of two leaves part, if `leaf` owes `winner`.
    pub(super) fn owing(&self, winner: QueueRow, leaf: QueueRow) -> Option<Sides> {
        let sides = self.part(winner, leaf)?;
        let below = |queue| self.books.is_below_minimum(queue);
        let owes = match (below(sides.first), below(sides.last)) {
            (true, false) => true,
            (false, true) => false,
            _ => self.books.is_owed(self.now, sides.first, sides.last),
        };
        owes.then_some(sides)
    }

    /// Where the paths of two leaves part; `None`: they are one.
    fn part(&self, a: QueueRow, b: QueueRow) -> Option<Sides> {
        let (a, b) = (self.tree.path(a), self.tree.path(b));
        let (&first, &last) = a.iter().zip(&b).find(|(a, b)| a != b)?;
        Some(Sides { first, last })
    }

    /// The places of leaves in the order of what they owe.
    fn by_what_they_owe(&self, mut leaves: Vec<QueueRow>) -> BTreeMap<QueueRow, usize> {
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
