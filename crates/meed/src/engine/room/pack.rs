//! Whether tasks that ask for different amounts fit at once, and on which nodes: exactly.
//!
//! A gang over several groups has parts, each of equal tasks. Let one part be that with most tasks,
//! n of them, and s a count of each of the others. Of the nodes i, i + 1, ...
//!
//! > F_i(s) = max over o <= s that fit on node i of more_i(o) + F_(i+1)(s - o)
//!
//! tasks of the largest part fit besides s of the others, where more_i(o) fit on node i besides o.
//! All fit at once if and only if F_0(all) >= n. So there is no order in which they were to be
//! tried, and less room never helps: what was found to fit nowhere fits nowhere until a node has
//! got room.
//!
//! Of all ways the nodes that are told first are used first: each takes as many of the first part
//! as leaves a way for the rest, then of the second, and so on.
//!
//! Cost: O(nodes * S * O), S the number of counts s ([`MOST_COUNTS`] at most) and O those that fit
//! on one node, but only where each part by itself fits. Of like nodes no more are looked at than
//! there are tasks.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use crate::ids::NodeRow;
use crate::resources::Resources;

/// Nodes, in order, each with how many tasks start there.
pub(in crate::engine) type Nodes = SmallVec<[(NodeRow, u32); 1]>;

/// A gang may have so many counts s: a look at 10,000 nodes then takes some 40 million steps.
pub(in crate::engine) const MOST_COUNTS: u64 = 64;

/// One number for each part.
pub(in crate::engine) type Counts = SmallVec<[u32; 4]>;

/// One part of a gang.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Ask {
    pub(in crate::engine) demand: Resources,
    pub(in crate::engine) tasks: u32,
    /// No two tasks of such parts may be on one node.
    pub(in crate::engine) distinct: bool,
}

/// A node on which tasks of the gang may be.
#[derive(Clone)]
pub(in crate::engine) struct Bin {
    pub(in crate::engine) node: NodeRow,
    room: Resources,
    /// So many of each part fit there, were they alone; all of a part at most.
    most: Counts,
}

impl Bin {
    /// With so much room; `allows`: whether tasks of a part may be there. `None`: none fits.
    pub(in crate::engine) fn new(
        node: NodeRow,
        room: Resources,
        asks: &[Ask],
        allows: impl Fn(usize) -> bool,
    ) -> Option<Bin> {
        let most = |(part, ask): (usize, &Ask)| {
            let at_most = if ask.distinct { 1 } else { ask.tasks };
            let fit = if allows(part) { ask.demand.copies_in(&room) } else { 0 };
            fit.min(u64::from(at_most)) as u32
        };
        let most: Counts = asks.iter().enumerate().map(most).collect();
        most.iter().any(|&most| most > 0).then_some(Bin { node, room, most })
    }

    /// How many tasks of all parts fit there, each part alone.
    pub(in crate::engine) fn fit(&self) -> u64 {
        self.most.iter().map(|&most| u64::from(most)).sum()
    }
}

/// How many counts s there are; `None`: more than can be told.
fn counts(tasks: impl Iterator<Item = u32>) -> Option<u64> {
    let mut tasks: Vec<u64> = tasks.map(|tasks| u64::from(tasks) + 1).collect();
    tasks.sort_unstable();
    tasks.pop();
    tasks.into_iter().try_fold(1u64, u64::checked_mul)
}

/// Whether a gang of so many tasks in each part can be packed: it has few enough counts s.
pub(in crate::engine) fn are_few(tasks: impl Iterator<Item = u32>) -> bool {
    counts(tasks).is_some_and(|counts| counts <= MOST_COUNTS)
}

/// How many tasks of each part fit at most, each part alone.
pub(in crate::engine) fn alone<'a>(bins: impl Iterator<Item = &'a Bin>, parts: usize) -> Vec<u64> {
    let mut sums = vec![0; parts];
    for bin in bins {
        let both = sums.iter_mut().zip(&bin.most);
        both.for_each(|(sum, &most)| *sum += u64::from(most));
    }
    sums
}

/// The nodes with room for most tasks first, of like ones the first: few are used then.
pub(in crate::engine) fn most_room_first(bins: &mut [Bin]) {
    bins.sort_by_key(|bin| (Reverse(bin.fit()), bin.node));
}

/// The nodes for each part, in order of the parts; see the module. `None`: not all fit at once.
pub(in crate::engine) fn pack(bins: &[Bin], asks: &[Ask]) -> Option<Vec<Nodes>> {
    let fits = alone(bins.iter(), asks.len()).into_iter().zip(asks);
    if fits.into_iter().any(|(fit, ask)| fit < u64::from(ask.tasks)) {
        return None;
    }
    let search = Search::new(asks);
    let bins = search.first_of_each_kind(bins);
    let tables = search.tables(&bins)?;
    let mut nodes: Vec<Nodes> = asks.iter().map(|_| Nodes::new()).collect();
    let mut left: Counts = asks.iter().map(|ask| ask.tasks).collect();
    for (bin, behind) in bins.iter().zip(&tables[1..]) {
        let taken = search.first_way(bin, behind, &left);
        for (part, &tasks) in taken.iter().enumerate().filter(|(_, tasks)| **tasks > 0) {
            left[part] -= tasks;
            nodes[part].push((bin.node, tasks));
        }
    }
    nodes.iter_mut().for_each(|nodes| nodes.sort_unstable());
    Some(nodes)
}

/// The same on one of several islands: of those where all fit that where least tasks fit, each part
/// by itself; of like ones the first.
pub(in crate::engine) fn pack_tightest(
    mut islands: Vec<Vec<Bin>>,
    asks: &[Ask],
) -> Option<Vec<Nodes>> {
    islands.sort_by_key(|bins| bins.iter().map(Bin::fit).sum::<u64>());
    islands.into_iter().find_map(|mut bins| {
        most_room_first(&mut bins);
        pack(&bins, asks)
    })
}

/// What fits at most, where not all do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::engine) struct Most {
    /// Tasks of all parts, at once.
    pub(in crate::engine) at_once: u64,
    /// Tasks of each part, alone.
    pub(in crate::engine) alone: Vec<u64>,
    /// Tasks of each part besides all of the others; `None`: not all of these fit.
    pub(in crate::engine) beside: Vec<Option<u64>>,
}

/// How many tasks fit at most. O(nodes * S * O), also where a part alone does not fit.
pub(in crate::engine) fn most(bins: &[Bin], asks: &[Ask]) -> Most {
    let search = Search::new(asks);
    let bins = search.first_of_each_kind(bins);
    let all = search.all_counts();
    let behind = |behind, bin: &&Bin| search.table(bin, &behind, &all);
    let first = bins.iter().rev().fold(search.last_table(), behind);
    let needed = |part: usize| u64::from(asks[part].tasks);
    let at = |place: usize| u64::try_from(first[place]).ok().map(|n| n.min(needed(search.largest)));
    let others = |counts: &Counts| counts.iter().map(|&count| u64::from(count)).sum::<u64>();
    let sums = (0..search.counts).filter_map(|place| Some(others(&all[place]) + at(place)?));
    let beside = |part: usize| match part == search.largest {
        true => at(search.counts - 1),
        false => {
            let without = |tasks: u64| search.counts - 1 - tasks as usize * search.steps[part];
            let mut fewer = (0..=needed(part)).filter(|&tasks| {
                at(without(tasks)).is_some_and(|most| most >= needed(search.largest))
            });
            fewer.next().map(|fewer| needed(part) - fewer)
        }
    };
    let fit = alone(bins.iter().copied(), asks.len()).into_iter().enumerate();
    Most {
        at_once: sums.max().unwrap_or(0),
        alone: fit.map(|(part, fit)| fit.min(needed(part))).collect(),
        beside: (0..asks.len()).map(beside).collect(),
    }
}

/// No way.
const NONE: i64 = -1;

/// For each count s: F.
type Table = Vec<i64>;

struct Search<'a> {
    asks: &'a [Ask],
    /// The part with most tasks, the first of these.
    largest: usize,
    /// By how much the place in a table rises with one task of each part; 0 for the largest.
    steps: SmallVec<[usize; 4]>,
    counts: usize,
}

impl Search<'_> {
    fn new(asks: &[Ask]) -> Search<'_> {
        let most = |&part: &usize| (asks[part].tasks, Reverse(part));
        let largest = (0..asks.len()).max_by_key(most).unwrap_or(0);
        let (mut steps, mut counts) = (SmallVec::new(), 1);
        for (part, ask) in asks.iter().enumerate() {
            let is_counted = part != largest;
            steps.push(if is_counted { counts } else { 0 });
            counts *= if is_counted { ask.tasks as usize + 1 } else { 1 };
        }
        Search { asks, largest, steps, counts }
    }

    /// Of nodes that are alike as many as there are tasks: no more are used.
    fn first_of_each_kind<'b>(&self, bins: &'b [Bin]) -> Vec<&'b Bin> {
        let all: u64 = self.asks.iter().map(|ask| u64::from(ask.tasks)).sum();
        let mut seen: BTreeMap<(&Resources, &Counts), u64> = BTreeMap::new();
        let mut first = Vec::new();
        for bin in bins {
            let seen = seen.entry((&bin.room, &bin.most)).or_default();
            *seen += 1;
            if *seen <= all {
                first.push(bin);
            }
        }
        first
    }

    fn place(&self, counts: &[u32]) -> usize {
        counts.iter().zip(&self.steps).map(|(&count, step)| count as usize * step).sum()
    }

    /// F for the nodes from each on; `None`: not all fit.
    fn tables(&self, bins: &[&Bin]) -> Option<Vec<Table>> {
        let mut tables = vec![self.last_table()];
        let all = self.all_counts();
        for bin in bins.iter().rev() {
            tables.push(self.table(bin, &tables[tables.len() - 1], &all));
        }
        tables.reverse();
        let needed = i64::from(self.asks.get(self.largest)?.tasks);
        (tables[0][self.counts - 1] >= needed).then_some(tables)
    }

    /// F where no node is left.
    fn last_table(&self) -> Table {
        let mut table = vec![NONE; self.counts];
        table[0] = 0;
        table
    }

    /// F from a node on, by that of the nodes behind it.
    fn table(&self, bin: &Bin, behind: &Table, all: &[Counts]) -> Table {
        let ways = self.ways(bin);
        let most = |(place, counts): (usize, &Counts)| {
            let fitting = ways.iter().filter(|(way, ..)| is_within(way, counts));
            let after = fitting.filter_map(|(_, step, more)| {
                Some(behind[place - step]).filter(|&most| most != NONE).map(|most| most + more)
            });
            after.max().unwrap_or(NONE)
        };
        all.iter().enumerate().map(most).collect()
    }

    /// The counts of all places of a table.
    fn all_counts(&self) -> Vec<Counts> {
        (0..self.counts).map(|place| self.counts_at(place)).collect()
    }

    /// The counts at a place of a table; of the largest part none.
    fn counts_at(&self, place: usize) -> Counts {
        let of = |(part, ask): (usize, &Ask)| match part == self.largest {
            true => 0,
            false => (place / self.steps[part] % (ask.tasks as usize + 1)) as u32,
        };
        self.asks.iter().enumerate().map(of).collect()
    }

    /// What fits on a node of the other parts, with its place in a table and how many of the
    /// largest fit besides.
    fn ways(&self, bin: &Bin) -> Vec<(Counts, usize, i64)> {
        let mut ways: Vec<(Counts, Resources, bool)> =
            vec![(smallvec![0; self.asks.len()], bin.room, false)];
        for (part, ask) in self.asks.iter().enumerate().filter(|(part, _)| *part != self.largest) {
            for at in 0..ways.len() {
                let (mut way, mut room, mut alone) = ways[at].clone();
                for _ in 0..bin.most[part] {
                    if !ask.demand.fits_in(&room) || ask.distinct && alone {
                        break;
                    }
                    room.sub(&ask.demand);
                    (way[part], alone) = (way[part] + 1, alone | ask.distinct);
                    ways.push((way.clone(), room, alone));
                }
            }
        }
        let (ask, most) = (&self.asks[self.largest], i64::from(bin.most[self.largest]));
        let more = |room: &Resources, alone: bool| match ask.distinct && alone {
            true => 0,
            false => i64::try_from(ask.demand.copies_in(room)).unwrap_or(most).min(most),
        };
        let told = |(way, room, alone): (Counts, Resources, bool)| {
            let place = self.place(&way);
            (way, place, more(&room, alone))
        };
        ways.into_iter().map(told).collect()
    }

    /// The first way in order of which the nodes behind hold the rest.
    fn first_way(&self, bin: &Bin, behind: &Table, left: &Counts) -> Counts {
        let (place, largest) = (self.place(left), self.largest);
        let ways = self.ways(bin).into_iter().filter(|(way, ..)| is_within(way, left));
        let holding = ways.filter_map(|(mut way, step, more)| {
            way[largest] = left[largest].min(more as u32);
            let rest = behind[place - step];
            (rest >= i64::from(left[largest] - way[largest])).then_some(way)
        });
        holding.max().expect("the nodes hold all that is left")
    }
}

/// Whether no count of the other parts is above that of `all`.
fn is_within(way: &Counts, all: &Counts) -> bool {
    way.iter().zip(all).all(|(way, all)| way <= all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All counts up to these, in order.
    fn all_counts(most: &[u32]) -> Vec<Counts> {
        let mut ways: Vec<Counts> = vec![Counts::new()];
        for &most in most {
            let longer = |way: &Counts| {
                (0..=most).map(|tasks| [&way[..], &[tasks]].concat().into()).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        ways.sort_unstable();
        ways
    }

    /// Whether so many tasks of the parts fit on a node.
    fn fits_on(bin: &Bin, asks: &[Ask], way: &Counts) -> bool {
        let both = || way.iter().zip(asks);
        let alone: u32 = both().filter(|(_, ask)| ask.distinct).map(|(tasks, _)| tasks).sum();
        let sum = |kind| both().map(|(&n, ask)| u64::from(n) * ask.demand.get(kind)).sum::<u64>();
        let fits = (0..bin.room.kinds()).all(|kind| sum(kind) <= bin.room.get(kind));
        alone <= 1 && fits && way.iter().zip(&bin.most).all(|(way, most)| way <= most)
    }

    /// All ways on the nodes from the first on, in order, until one holds all.
    fn try_all(bins: &[Bin], asks: &[Ask], left: &[u32]) -> Option<Vec<Counts>> {
        let Some((bin, behind)) = bins.split_first() else {
            return left.iter().all(|&left| left == 0).then(Vec::new);
        };
        all_counts(left).into_iter().rev().find_map(|way| {
            if !fits_on(bin, asks, &way) {
                return None;
            }
            let rest: Vec<u32> = left.iter().zip(&way).map(|(left, way)| left - way).collect();
            let mut ways = try_all(behind, asks, &rest)?;
            ways.insert(0, way);
            Some(ways)
        })
    }

    /// All counts that fit at once.
    fn all_that_fit(bins: &[Bin], asks: &[Ask]) -> BTreeSet<Vec<u32>> {
        let mut fitting = BTreeSet::from([vec![0; asks.len()]]);
        for bin in bins {
            for before in fitting.clone() {
                let left: Vec<u32> = asks.iter().zip(&before).map(|(a, b)| a.tasks - b).collect();
                let here = all_counts(&left).into_iter().filter(|way| fits_on(bin, asks, way));
                let sum = |way: Counts| before.iter().zip(&way).map(|(a, b)| a + b).collect();
                fitting.extend(here.map(sum));
            }
        }
        fitting
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn finds_the_first_way_if_there_is_one(
            asks in prop::collection::vec((prop::array::uniform2(0u64..4), 1u32..4, 0u32..4), 1..4),
            nodes in prop::collection::vec((prop::array::uniform2(0u64..9), 0u32..8), 0..5),
        ) {
            let asks: Vec<Ask> = asks.iter().map(|&([a, b], tasks, distinct)| Ask {
                demand: Resources::new(&[a.max(u64::from(b == 0)), b]),
                tasks,
                distinct: distinct == 0,
            }).collect();
            let bin = |(node, (room, barred)): (usize, &([u64; 2], u32))| {
                let room = Resources::new(room);
                Bin::new(NodeRow(node as u32), room, &asks, |part| part as u32 != *barred)
            };
            let mut bins: Vec<Bin> = nodes.iter().enumerate().filter_map(bin).collect();
            most_room_first(&mut bins);
            let tasks: Vec<u32> = asks.iter().map(|ask| ask.tasks).collect();
            let expected = try_all(&bins, &asks, &tasks).map(|ways| {
                let nodes = |part: usize| {
                    let on = bins.iter().zip(&ways).map(|(bin, way)| (bin.node, way[part]));
                    let mut nodes: Nodes = on.filter(|(_, tasks)| *tasks > 0).collect();
                    nodes.sort_unstable();
                    nodes
                };
                (0..asks.len()).map(nodes).collect::<Vec<_>>()
            });
            prop_assert_eq!(pack(&bins, &asks), expected);
            let all = all_that_fit(&bins, &asks);
            let most_of = |is_meant: &dyn Fn(usize, u32) -> bool, of: &dyn Fn(&[u32]) -> u32| {
                let meant =
                    |way: &&Vec<u32>| (0..asks.len()).all(|part| is_meant(part, way[part]));
                all.iter().filter(meant).map(|way| u64::from(of(way))).max()
            };
            let parts = || 0..asks.len();
            let alone = |of: usize| most_of(&|at, n| at == of || n == 0, &|way| way[of]);
            let beside = |of: usize| most_of(&|at, n| at == of || n == tasks[at], &|way| way[of]);
            prop_assert_eq!(most(&bins, &asks), Most {
                at_once: most_of(&|_, _| true, &|way| way.iter().sum()).unwrap(),
                alone: parts().map(|of| alone(of).unwrap()).collect(),
                beside: parts().map(beside).collect(),
            });
        }
    }
}
