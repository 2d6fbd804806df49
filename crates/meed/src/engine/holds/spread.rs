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
//!
//! A gang of several groups starts at the first instant at which `room::pack` finds nodes for all;
//! it is asked where each group by itself fits. Where nobody knows such an instant, those nodes are
//! drained on which least is missing for one task of each group, as far as they lead to room for
//! all. Cost: that of `pack` for each of these instants.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use smallvec::smallvec;

use super::best::Rank;
use super::hold::{Hold, Part, Places};
use super::plan::{Place, Plan};
use super::profile::{Need, Profile};
use crate::engine::core::Core;
use crate::engine::room::pack;
use crate::engine::room::shapes::ShapeId;
use crate::engine::room::{Ask, Bin, Counts, Nodes, most_room_first};
use crate::ids::NodeRow;
use crate::time::Time;

/// A node on which tasks of the gang may be.
struct Able<'a> {
    node: NodeRow,
    /// So many of each group at most, whatever has ended.
    most: Counts,
    profile: Cow<'a, Profile>,
}

/// Nodes on which all of the gang may be.
type Island<'a> = Vec<Able<'a>>;

/// What is to start together.
struct Wanted {
    asks: Vec<Ask>,
    /// What one task of each group needs.
    needs: Vec<Need>,
}

impl Wanted {
    fn is_joint(&self) -> bool {
        self.asks.len() > 1
    }
}

impl Plan<'_> {
    /// The best place for the next turn of a gang's shape; before `own`, where that is known, there
    /// must be a better one.
    pub(super) fn spread(&self, shape: ShapeId, own: Option<Rank>) -> Option<Place> {
        let (room, limit) = (&self.core.room, self.core.room.limit(shape));
        let asks = room.parts_of(shape);
        let needs = asks.iter().map(|ask| Need { demand: ask.demand, limit }).collect();
        let wanted = Wanted { asks, needs };
        let islands = self.islands(shape);
        let (unknown, end, most) = own.unwrap_or((true, Time::MAX, u128::MAX));
        if let Some((at, nodes)) = first_together(&islands, &wanted, end) {
            return Some((Some(at), nodes));
        }
        if !unknown {
            return None;
        }
        let drained = islands.iter().filter_map(|island| match wanted.is_joint() {
            false => self.core.drain(island, &wanted.needs[0], wanted.asks[0].tasks),
            true => self.core.drain_for_all(island, &wanted),
        });
        let (missing, nodes) = drained.min_by_key(|(missing, _)| *missing)?;
        (own.is_none() || missing < most).then_some((None, nodes))
    }

    /// The better of the place that it has, if it can keep that, and of all others.
    pub(super) fn find_better_spread(
        &mut self,
        shape: ShapeId,
        hold: &Hold,
        homeless: bool,
    ) -> Option<Place> {
        if homeless {
            return self.spread(shape, None);
        }
        let Some(at) = hold.at else {
            // It takes nothing as it is.
            let own = (true, Time::MAX, self.missing_for(hold));
            let better = self.spread(shape, Some(own));
            return better.or_else(|| Some((None, hold.nodes.clone())));
        };
        self.give_back(hold);
        // Those before it may have come into its way.
        let fits = |(node, part): (NodeRow, Part)| self.at(node).profile.fits(&part.need, at);
        let better = match hold.parts().all(fits) {
            true => {
                let better = self.spread(shape, Some((false, at, 0)));
                better.or_else(|| Some((Some(at), hold.nodes.clone())))
            }
            false => self.spread(shape, None),
        };
        self.put_back(hold);
        better
    }

    fn missing_for(&mut self, hold: &Hold) -> u128 {
        let core = self.core;
        let of = |(node, part): (NodeRow, Part)| {
            core.rank_missing(&self.at(node).profile.missing(&part.need.demand)).2
        };
        hold.parts().map(of).fold(0, u128::saturating_add)
    }

    /// The nodes on which the gang may be, by the value of the label that keeps it together.
    fn islands(&self, shape: ShapeId) -> Vec<Island<'_>> {
        let room = &self.core.room;
        let mut islands: BTreeMap<Option<&str>, Island<'_>> = BTreeMap::new();
        for node in (0..room.nodes() as u32).map(NodeRow) {
            let most = room.most_on(shape, node);
            let any = most.iter().any(|&most| most > 0);
            let Some(value) = room.value_of(shape, node).filter(|_| any) else { continue };
            let profile = match self.kept.get(node) {
                Some(kept) => Cow::Borrowed(&kept.profile),
                None => Cow::Owned(self.core.profile_of(node).profile),
            };
            islands.entry(value).or_default().push(Able { node, most, profile });
        }
        islands.into_values().collect()
    }
}

/// The first instant before `end` at which all fit together, and where.
fn first_together(islands: &[Island<'_>], wanted: &Wanted, end: Time) -> Option<(Time, Places)> {
    let parts = wanted.asks.len();
    // Of a gang of several groups any step counts: more of one may fit besides the others.
    let mut changes: Vec<(Time, usize, usize, usize, u32)> = Vec::new();
    for (number, island) in islands.iter().enumerate() {
        for (index, able) in island.iter().enumerate() {
            for (part, need) in wanted.needs.iter().enumerate() {
                let of = able.profile.copies(need, able.most[part], wanted.is_joint());
                let before = of.into_iter().filter(|(at, _)| *at < end);
                changes.extend(before.map(|(at, copies)| (at, number, index, part, copies)));
            }
        }
    }
    changes.sort_unstable();
    let zero = |island: &Island<'_>| vec![Counts::from_elem(0, parts); island.len()];
    let mut copies: Vec<Vec<Counts>> = islands.iter().map(zero).collect();
    let mut sums = vec![vec![0u64; parts]; islands.len()];
    for now in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, number, index, part, to) in now {
            let before = std::mem::replace(&mut copies[number][index][part], to);
            let sum = &mut sums[number][part];
            *sum = *sum + u64::from(to) - u64::from(before);
        }
        let fits = |(sum, ask): (&u64, &Ask)| *sum >= u64::from(ask.tasks);
        let enough = |&number: &usize| sums[number].iter().zip(&wanted.asks).all(fits);
        let mut enough: Vec<usize> = (0..islands.len()).filter(enough).collect();
        enough.sort_by_key(|&number| sums[number].iter().sum::<u64>());
        let at = now[0].0;
        let places = enough.into_iter().find_map(|number| {
            let island = &islands[number];
            match wanted.is_joint() {
                false => {
                    let all = island.iter().zip(&copies[number]);
                    let all = all.map(|(able, copies)| (able.node, copies[0])).collect();
                    fewest(all, wanted.asks[0].tasks).map(|nodes| smallvec![nodes])
                }
                true => pack_at(island, wanted, at),
            }
        });
        if let Some(places) = places {
            return Some((at, places));
        }
    }
    None
}

/// Where all of a gang of several groups fit at an instant.
fn pack_at(island: &Island<'_>, wanted: &Wanted, at: Time) -> Option<Places> {
    let bin = |able: &Able<'_>| {
        let room = able.profile.room_from(&wanted.needs[0], at);
        Bin::new(able.node, room, &wanted.asks, |part| able.most[part] > 0)
    };
    let mut bins: Vec<Bin> = island.iter().filter_map(bin).collect();
    most_room_first(&mut bins);
    pack(&bins, &wanted.asks).map(Places::from_vec)
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

impl Core {
    /// What so many tasks will lack on a node, in parts of the pool.
    fn missing_of(&self, profile: &Profile, need: &Need, tasks: u32) -> u128 {
        self.rank_missing(&profile.missing(&need.times(tasks).demand)).2
    }

    /// The nodes of an island that are drained for so many tasks, and what is missing there;
    /// `None`: they cannot all be there.
    fn drain(&self, island: &[Able<'_>], need: &Need, tasks: u32) -> Option<(u128, Places)> {
        if island.iter().map(|able| u64::from(able.most[0])).sum::<u64>() < u64::from(tasks) {
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
            if counts[index] < able.most[0] {
                next.push(Reverse((more(able, counts[index]), index)));
            }
        }
        let used = island.iter().zip(counts).filter(|(_, tasks)| *tasks > 0);
        let (mut sum, mut nodes) = (0u128, Nodes::new());
        for (able, tasks) in used {
            sum = sum.saturating_add(missing(able, tasks));
            nodes.push((able.node, tasks));
        }
        Some((sum, smallvec![nodes]))
    }

    /// The same for a gang of several groups: nodes first on which least is missing for one task of
    /// each.
    fn drain_for_all(&self, island: &[Able<'_>], wanted: &Wanted) -> Option<(u128, Places)> {
        let bin = |able: &Able<'_>| {
            let room = self.room.room_if_ours_left(able.node)?;
            let bin = Bin::new(able.node, room, &wanted.asks, |part| able.most[part] > 0)?;
            let one = (0..wanted.asks.len()).filter(|&part| able.most[part] > 0);
            let missing = one.map(|part| self.missing_of(&able.profile, &wanted.needs[part], 1));
            Some((missing.fold(0, u128::saturating_add), bin))
        };
        let mut bins: Vec<(u128, Bin)> = island.iter().filter_map(bin).collect();
        bins.sort_by_key(|(missing, bin)| (*missing, bin.node));
        let bins: Vec<Bin> = bins.into_iter().map(|(_, bin)| bin).collect();
        let nodes = Places::from_vec(pack(&bins, &wanted.asks)?);
        let missing = |able: &Able<'_>| {
            let mut demand = crate::resources::Resources::zero(self.kinds.len());
            for (ask, nodes) in wanted.asks.iter().zip(&nodes) {
                let here = nodes.iter().find(|(node, _)| *node == able.node);
                demand = demand.plus(&ask.demand.times(here.map_or(0, |(_, tasks)| *tasks)));
            }
            self.rank_missing(&able.profile.missing(&demand)).2
        };
        Some((island.iter().map(missing).fold(0, u128::saturating_add), nodes))
    }
}
