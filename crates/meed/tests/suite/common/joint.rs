//! Gangs of several groups, by definition: all ways to put their tasks on nodes are tried in order,
//! until one holds all.

use super::model::Model;
use super::reserve::{NEVER, Nodes, Parts, Places, Rank, each_start};

/// Whether so many tasks of each group fit on a node together.
type Fits<'a> = &'a dyn Fn(usize, &Parts) -> bool;

impl Model {
    /// The groups that are of one gang with this one, itself too.
    pub(crate) fn members(&self, job: usize, group: usize) -> Vec<usize> {
        let groups = &self.jobs[job].groups;
        match groups[group].joint {
            None => vec![group],
            joint => (0..groups.len()).filter(|&other| groups[other].joint == joint).collect(),
        }
    }

    /// The groups that start together with this one, with how many tasks: none, but where several
    /// of one gang wait.
    pub(crate) fn together(&self, job: usize, group: usize) -> Parts {
        let groups = &self.jobs[job].groups;
        let waiting = |&member: &usize| (member, groups[member].waiting());
        let parts: Parts = self.members(job, group).iter().map(waiting).collect();
        let parts: Parts = parts.into_iter().filter(|(_, tasks)| *tasks > 0).collect();
        if parts.len() > 1 { parts } else { Vec::new() }
    }

    pub(crate) fn is_joint(&self, job: usize, group: usize) -> bool {
        !self.together(job, group).is_empty()
    }

    /// Whether it stands in the order for its gang: the first group of it that waits.
    pub(crate) fn leads(&self, job: usize, group: usize) -> bool {
        self.together(job, group).first().is_none_or(|(first, _)| *first == group)
    }

    /// All ways in order: on the first node as many of the first group as leaves a way for the
    /// rest, then of the second, and so on.
    fn fill(nodes: &[usize], left: &Parts, fits: Fits<'_>) -> Option<Vec<(usize, Parts)>> {
        let Some((&node, behind)) = nodes.split_first() else {
            return left.iter().all(|(_, tasks)| *tasks == 0).then(Vec::new);
        };
        let mut ways: Vec<Parts> = vec![Vec::new()];
        for &(group, tasks) in left {
            let longer = |way: &Parts| {
                let all = (0..=tasks).rev().map(|tasks| [&way[..], &[(group, tasks)]].concat());
                all.collect::<Vec<Parts>>()
            };
            ways = ways.iter().flat_map(longer).collect();
        }
        let none = |way: &Parts| way.iter().all(|(_, tasks)| *tasks == 0);
        ways.into_iter().filter(|way| none(way) || fits(node, way)).find_map(|way| {
            let rest = left.iter().zip(&way).map(|(left, way)| (left.0, left.1 - way.1)).collect();
            let mut all = Model::fill(behind, &rest, fits)?;
            all.insert(0, (node, way));
            Some(all)
        })
    }

    /// How many tasks of each group fit, each by itself, all at most.
    fn each_alone(parts: &Parts, node: usize, fits: Fits<'_>) -> u64 {
        let alone = |&(group, tasks): &(usize, u64)| {
            (1..=tasks).take_while(|&tasks| fits(node, &vec![(group, tasks)])).count() as u64
        };
        parts.iter().map(alone).sum()
    }

    /// Nodes for all, on one of these islands: the one where least fit of those where all do.
    fn fill_tightest(
        islands: &[(Option<String>, Vec<usize>)],
        parts: &Parts,
        fits: Fits<'_>,
    ) -> Option<Places> {
        let sum = |nodes: &Vec<usize>| {
            nodes.iter().map(|&node| Model::each_alone(parts, node, fits)).sum::<u64>()
        };
        let mut islands: Vec<&Vec<usize>> = islands.iter().map(|(_, nodes)| nodes).collect();
        islands.sort_by_key(|nodes| sum(nodes));
        islands.into_iter().find_map(|nodes| {
            let mut nodes = nodes.clone();
            let room = |node: usize| Model::each_alone(parts, node, fits);
            nodes.sort_by_key(|&node| (std::cmp::Reverse(room(node)), node));
            Model::fill(&nodes, parts, fits).map(|all| by_group(parts, &all))
        })
    }

    /// Groups and nodes for all tasks that start together, if they fit now.
    pub(crate) fn places_now(&self, job: usize, group: usize) -> Option<Vec<(usize, usize)>> {
        let parts = self.together(job, group);
        let groups: Vec<usize> = parts.iter().map(|(group, _)| *group).collect();
        let longest = self.longest(job, &groups);
        let fits = |node: usize, here: &Parts| {
            let demand = self.all_of(job, here);
            self.could_hold_all(job, (node, here))
                && demand.fits_in(&self.free(node))
                && self.is_left_open_for(&demand, longest, node)
        };
        let places = Model::fill_tightest(&self.islands((job, group)), &parts, &fits)?;
        Some(places.iter().flat_map(|(group, nodes)| each_start(*group, nodes)).collect())
    }

    /// Where all of it starts on these nodes, if it fits in what is left of each.
    pub(crate) fn places_in(
        &self,
        (job, group): (usize, usize),
        nodes: &[usize],
        left: &dyn Fn(usize, usize) -> i128,
    ) -> Option<Places> {
        let fits = |node: usize, here: &Parts| {
            let demand = self.all_of(job, here);
            let has = |kind: usize| {
                let asked = i128::from(demand.get(kind));
                asked == 0 || asked <= left(node, kind)
            };
            self.could_hold_all(job, (node, here)) && (0..demand.kinds()).all(has)
        };
        let island = [(None, nodes.to_vec())];
        Model::fill_tightest(&island, &self.together(job, group), &fits)
    }

    pub(crate) fn parts_have_hope(&self, job: usize, group: usize) -> bool {
        let fits = |node: usize, here: &Parts| self.could_hold_all(job, (node, here));
        let parts = self.together(job, group);
        Model::fill_tightest(&self.islands((job, group)), &parts, &fits).is_some()
    }

    /// The best place for a gang that starts later: the first instant at which all of it fits.
    pub(crate) fn best_places_for_parts(
        &self,
        (job, group): (usize, usize),
        skip: Option<usize>,
    ) -> Option<(Rank, Places)> {
        let (parts, islands) = (self.together(job, group), self.islands((job, group)));
        let mut instants: Vec<u64> =
            (0..self.nodes.len()).flat_map(|node| self.instants(node)).collect();
        instants.sort_unstable();
        instants.dedup();
        let with_all = |here: &Parts| -> Parts {
            // All hold their room as long as the longest may run.
            let of = |&(group, _): &(usize, u64)| {
                let tasks = here.iter().find(|(other, _)| *other == group);
                (group, tasks.map_or(0, |(_, tasks)| *tasks))
            };
            parts.iter().map(of).collect()
        };
        for at in instants {
            let fits = |node: usize, here: &Parts| {
                self.could_hold_all(job, (node, here))
                    && self.all_fit_from(job, (node, &with_all(here)), at, skip)
            };
            if let Some(places) = Model::fill_tightest(&islands, &parts, &fits) {
                return Some(((false, at, 0), places));
            }
        }
        let could = |node: usize, here: &Parts| self.could_hold_all(job, (node, here));
        let drained = islands.iter().filter_map(|(_, nodes)| {
            let missing = |node: usize| {
                let one = parts.iter().map(|&(group, _)| vec![(group, 1)]);
                let able = one.filter(|one| could(node, one));
                able.map(|one| self.all_missing(job, (node, &one), skip)).sum::<u128>()
            };
            let mut nodes = nodes.clone();
            nodes.sort_by_key(|&node| (missing(node), node));
            let all = Model::fill(&nodes, &parts, &could)?;
            let lacks = |(node, here): &(usize, Parts)| self.all_missing(job, (*node, here), skip);
            Some((all.iter().map(lacks).sum::<u128>(), by_group(&parts, &all)))
        });
        let (missing, places) = drained.min_by_key(|(missing, _)| *missing)?;
        Some(((true, NEVER, missing), places))
    }
}

/// Nodes for each group, in order.
fn by_group(parts: &Parts, all: &[(usize, Parts)]) -> Places {
    let of = |(at, &(group, _)): (usize, &(usize, u64))| {
        let mut nodes: Nodes = all.iter().map(|(node, here)| (*node, here[at].1)).collect();
        nodes.retain(|(_, tasks)| *tasks > 0);
        nodes.sort_unstable();
        (group, nodes)
    };
    parts.iter().enumerate().map(of).collect()
}
