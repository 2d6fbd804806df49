//! Where and when all tasks of a gang can start together.
//!
//! > copies(node, t) = how many of its tasks have all they need there from t on, for as long as
//! > they may run
//! >
//! > at = the first t with sum of copies(node, t) >= k
//!
//! With `same` the sum is over the nodes with one value of that label: at that instant, of the
//! values with enough room the one with the least, of like ones the first by name. Of its nodes
//! those with room for most come first, so that few are held.
//!
//! Where nobody knows such an instant nodes are drained: task by task that on which one task more
//! lacks least of what will be free when all has ended that is expected to end; of values that for
//! which least is missing in all.
//!
//! copies(node, t) rises only where a step of the node's profile begins, so the instants at which a
//! step begins anywhere are all that can be the first. Cost: O(nodes + steps log steps), and the
//! square of the steps of one node.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::plan::{Place, Plan, Rank};
use super::profile::{Need, Profile};
use super::{Hold, Nodes, Part};
use crate::engine::Engine;
use crate::engine::room::ShapeId;
use crate::spec::NodeRow;
use crate::time::Time;

/// A node on which tasks of the gang may be.
struct Able<'a> {
    node: NodeRow,
    /// So many at most, whatever has ended.
    most: u32,
    profile: Cow<'a, Profile>,
}

/// Nodes on which all of the gang may be.
type Island<'a> = Vec<Able<'a>>;

impl Plan<'_> {
    /// The best place for `tasks` of a shape that start together; before `own`, where that is
    /// known, there must be a better one.
    pub(super) fn spread(
        &self,
        shape: ShapeId,
        need: &Need,
        tasks: u32,
        own: Option<Rank>,
    ) -> Option<Place> {
        let islands = self.islands(shape, tasks);
        let (unknown, end, most) = own.unwrap_or((true, Time::MAX, u128::MAX));
        if let Some((at, nodes)) = first_together(&islands, need, tasks, end) {
            return Some((Some(at), nodes));
        }
        if !unknown {
            return None;
        }
        let drained = islands.iter().filter_map(|island| self.engine.drain(island, need, tasks));
        let (missing, nodes) = drained.min_by_key(|(missing, _)| *missing)?;
        (own.is_none() || missing < most).then_some((None, nodes))
    }

    /// The better of the place that it has, if it can keep that, and of all others.
    pub(super) fn find_better_spread(
        &mut self,
        shape: ShapeId,
        tasks: u32,
        hold: &Hold,
        homeless: bool,
    ) -> Option<Place> {
        if homeless {
            return self.spread(shape, &hold.need, tasks, None);
        }
        let Some(at) = hold.at else {
            // It takes nothing as it is.
            let own = (true, Time::MAX, self.missing_for(hold));
            let better = self.spread(shape, &hold.need, tasks, Some(own));
            return better.or_else(|| Some((None, hold.nodes.clone())));
        };
        self.give_back(hold);
        // Those before it may have come into its way.
        let fits = |(node, part): (NodeRow, Part)| self.at(node).profile.fits(&part.need, at);
        let better = match hold.parts().all(fits) {
            true => {
                let better = self.spread(shape, &hold.need, tasks, Some((false, at, 0)));
                better.or_else(|| Some((Some(at), hold.nodes.clone())))
            }
            false => self.spread(shape, &hold.need, tasks, None),
        };
        self.put_back(hold);
        better
    }

    fn missing_for(&mut self, hold: &Hold) -> u128 {
        let engine = self.engine;
        let of = |(node, tasks): &(NodeRow, u32)| {
            engine.missing_of(&self.at(*node).profile, &hold.need, *tasks)
        };
        hold.nodes.iter().map(of).fold(0, u128::saturating_add)
    }

    /// The nodes on which the gang may be, by the value of the label that keeps it together.
    fn islands(&self, shape: ShapeId, tasks: u32) -> Vec<Island<'_>> {
        let room = &self.engine.room;
        let mut islands: BTreeMap<Option<&str>, Island<'_>> = BTreeMap::new();
        for node in (0..room.nodes() as u32).map(NodeRow) {
            let most = room.copies_on(shape, node).min(u64::from(tasks)) as u32;
            let Some(value) = room.value_of(shape, node).filter(|_| most > 0) else { continue };
            let profile = match self.kept.get(&node) {
                Some(kept) => Cow::Borrowed(&kept.profile),
                None => Cow::Owned(self.engine.profile_of(node).profile),
            };
            islands.entry(value).or_default().push(Able { node, most, profile });
        }
        islands.into_values().collect()
    }
}

/// The first instant before `end` at which so many tasks fit together, and where.
fn first_together(
    islands: &[Island<'_>],
    need: &Need,
    tasks: u32,
    end: Time,
) -> Option<(Time, Nodes)> {
    let mut changes: Vec<(Time, usize, usize, u32)> = Vec::new();
    for (number, island) in islands.iter().enumerate() {
        for (index, able) in island.iter().enumerate() {
            let of = able.profile.copies(need, able.most);
            let before = of.into_iter().filter(|(at, _)| *at < end);
            changes.extend(before.map(|(at, copies)| (at, number, index, copies)));
        }
    }
    changes.sort_unstable();
    let mut copies: Vec<Vec<u32>> = islands.iter().map(|island| vec![0; island.len()]).collect();
    let mut sums = vec![0u64; islands.len()];
    for now in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, number, index, to) in now {
            let before = std::mem::replace(&mut copies[number][index], to);
            sums[number] = sums[number] + u64::from(to) - u64::from(before);
        }
        let enough = (0..islands.len()).filter(|&number| sums[number] >= u64::from(tasks));
        if let Some(number) = enough.min_by_key(|&number| sums[number]) {
            let island = islands[number].iter().zip(&copies[number]);
            let copies = island.map(|(able, &copies)| (able.node, copies)).collect();
            return fewest(copies, tasks).map(|nodes| (now[0].0, nodes));
        }
    }
    None
}

/// Nodes for so many tasks, those with room for most first; in order. `None`: there is not enough.
pub(super) fn fewest(mut copies: Vec<(NodeRow, u32)>, tasks: u32) -> Option<Nodes> {
    copies.sort_by_key(|&(node, copies)| (Reverse(copies), node));
    let (mut nodes, mut left) = (Nodes::new(), tasks);
    for (node, copies) in copies {
        let taken = copies.min(left);
        left -= taken;
        if taken > 0 {
            nodes.push((node, taken));
        }
    }
    nodes.sort_unstable();
    (left == 0).then_some(nodes)
}

impl Engine {
    /// What so many tasks will lack on a node, in parts of the pool.
    fn missing_of(&self, profile: &Profile, need: &Need, tasks: u32) -> u128 {
        self.rank_missing(&profile.missing(&need.times(tasks).demand)).2
    }

    /// The nodes of an island that are drained for so many tasks, and what is missing there;
    /// `None`: they cannot all be there.
    fn drain(&self, island: &[Able<'_>], need: &Need, tasks: u32) -> Option<(u128, Nodes)> {
        if island.iter().map(|able| u64::from(able.most)).sum::<u64>() < u64::from(tasks) {
            return None;
        }
        let missing = |able: &Able<'_>, tasks: u32| self.missing_of(&able.profile, need, tasks);
        let more = |able: &Able<'_>, has: u32| missing(able, has + 1) - missing(able, has);
        let mut counts = vec![0u32; island.len()];
        let first = island.iter().enumerate().map(|(index, able)| Reverse((more(able, 0), index)));
        let mut next: BinaryHeap<_> = first.collect();
        for _ in 0..tasks {
            let Reverse((_, index)) = next.pop().expect("they have room for all");
            let able = &island[index];
            counts[index] += 1;
            if counts[index] < able.most {
                next.push(Reverse((more(able, counts[index]), index)));
            }
        }
        let used = island.iter().zip(counts).filter(|(_, tasks)| *tasks > 0);
        let (mut sum, mut nodes) = (0u128, Nodes::new());
        for (able, tasks) in used {
            sum = sum.saturating_add(missing(able, tasks));
            nodes.push((able.node, tasks));
        }
        Some((sum, nodes))
    }
}
