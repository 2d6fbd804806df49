//! Gangs, by definition: how many copies of a task a node holds is counted, and summed.

use super::model::{Model, Task};
use super::reserve::{NEVER, Nodes, Parts, Rank, many};
use super::verify::Expected;
use meed::*;

/// A gang of which some have started at this instant, and the others are next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting {
    job: usize,
    group: usize,
    /// How many start in all, and how many of them are left.
    pub(crate) tasks: u64,
    left: u64,
}

/// What of a group's gang changes what its waiting tasks wait for: how many start together, of
/// which groups, where.
pub(crate) type Wants = (u64, Parts, Option<String>);

impl Model {
    /// How many tasks of the group start together, if any do.
    pub(crate) fn turn(&self, job: usize, group: usize) -> u64 {
        let together = self.together(job, group);
        if !together.is_empty() {
            return together.iter().map(|(_, tasks)| tasks).sum();
        }
        let row = &self.jobs[job].groups[group];
        let least = row.gang.as_ref().map_or(1, |gang| u64::from(gang.least));
        least.saturating_sub(row.begun).min(row.waiting()).max(1)
    }

    /// What the next turn of the group takes in all.
    pub(crate) fn turn_demand(&self, job: usize, group: usize) -> Resources {
        match self.together(job, group) {
            parts if parts.is_empty() => {
                many(&self.jobs[job].groups[group].demand, self.turn(job, group))
            }
            parts => self.all_of(job, &parts),
        }
    }

    /// Whether what keeps the gang together lets a task be on the node.
    pub(crate) fn is_near(&self, job: usize, group: usize, node: usize) -> bool {
        let row = &self.jobs[job].groups[group];
        let Some(label) = row.gang.as_ref().and_then(|gang| gang.same.as_ref()) else {
            return true;
        };
        let value = self.nodes[node].spec.labels.get(label);
        value.is_some() && (row.within.is_none() || value == row.within.as_ref())
    }

    /// How many copies of the task could start on the node at once, at most `most`.
    fn copies_on(&self, job: usize, group: usize, node: usize, most: u64) -> u64 {
        let row = &self.jobs[job].groups[group];
        if !self.nodes[node].up || !self.is_allowed(job, group, node) {
            return 0;
        }
        let most = if row.constraints.distinct_nodes { most.min(1) } else { most };
        let free = self.free(node);
        let asked = (0..row.demand.kinds()).filter(|&kind| row.demand.get(kind) > 0);
        let fit = asked.map(|kind| free.get(kind) / row.demand.get(kind)).min();
        let mut copies = fit.unwrap_or(0).min(most);
        // Holds may leave less than is free.
        while copies > 0 && !self.is_left_open_for(&many(&row.demand, copies), row.limit, node) {
            copies -= 1;
        }
        copies
    }

    /// The nodes on which all of the gang may be: with each value of the label that keeps it
    /// together, or all of them.
    pub(crate) fn islands(
        &self,
        (job, group): (usize, usize),
    ) -> Vec<(Option<String>, Vec<usize>)> {
        let row = &self.jobs[job].groups[group];
        let label = row.gang.as_ref().and_then(|gang| gang.same.as_ref());
        let value = |node: usize| label.map(|label| self.nodes[node].spec.labels.get(label));
        let mut values: Vec<Option<String>> =
            (0..self.nodes.len()).map(|node| value(node).flatten().cloned()).collect();
        values.sort();
        values.dedup();
        let nodes = |of: &Option<String>| {
            (0..self.nodes.len()).filter(|&node| value(node).flatten() == of.as_ref()).collect()
        };
        values.into_iter().map(|value| (value.clone(), nodes(&value))).collect()
    }

    /// The value of the label that keeps it together where the gang fits now, if it does: of all
    /// values the one with the least room; `Some(None)`: nothing keeps it together.
    fn gang_fits(&self, job: usize, group: usize) -> Option<Option<String>> {
        let (turn, row) = (self.turn(job, group), &self.jobs[job].groups[group]);
        let is_kept = row.gang.as_ref().is_some_and(|gang| gang.same.is_some());
        let most = if is_kept { u64::MAX } else { turn };
        let sums = self.islands((job, group)).into_iter().map(|(value, nodes)| {
            let copies = nodes.into_iter().map(|node| self.copies_on(job, group, node, most));
            (copies.sum::<u64>(), value)
        });
        Some(sums.filter(|(sum, _)| *sum >= turn).min()?.1)
    }

    /// How many tasks of the gang, all at most, a node could hold for which `fit` says so.
    fn count(&self, of: (usize, usize), fit: impl Fn(u64) -> bool) -> u64 {
        (1..=self.turn(of.0, of.1)).take_while(|&tasks| fit(tasks)).count() as u64
    }

    fn most_on(&self, of: (usize, usize), node: usize) -> u64 {
        self.count(of, |tasks| self.could_hold(of, (node, tasks)))
    }

    pub(crate) fn gang_has_hope(&self, of: (usize, usize)) -> bool {
        let all = |nodes: Vec<usize>| nodes.iter().map(|&node| self.most_on(of, node)).sum::<u64>();
        self.islands(of).into_iter().any(|(_, nodes)| all(nodes) >= self.turn(of.0, of.1))
    }

    /// The best place for a gang that starts later: the first instant at which enough of it fits.
    pub(crate) fn best_places(
        &self,
        of: (usize, usize),
        skip: Option<usize>,
    ) -> Option<(Rank, Nodes)> {
        let (turn, islands) = (self.turn(of.0, of.1), self.islands(of));
        let mut instants: Vec<u64> =
            (0..self.nodes.len()).flat_map(|node| self.instants(node)).collect();
        instants.sort_unstable();
        instants.dedup();
        for at in instants {
            let fit = |node: usize| {
                let fits = |on| self.could_hold(of, on) && self.fit_from(of, on, at, skip);
                (node, self.count(of, |tasks| fits((node, tasks))))
            };
            let with_room = islands.iter().map(|(value, nodes)| {
                let fit: Nodes = nodes.iter().map(|&node| fit(node)).collect();
                (fit.iter().map(|(_, tasks)| tasks).sum::<u64>(), value.clone(), fit)
            });
            let Some((.., mut fit)) = with_room.filter(|(sum, ..)| *sum >= turn).min() else {
                continue;
            };
            fit.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            let mut left = turn;
            for (_, tasks) in &mut fit {
                *tasks = (*tasks).min(left);
                left -= *tasks;
            }
            fit.retain(|(_, tasks)| *tasks > 0);
            fit.sort_unstable();
            return Some(((false, at, 0), fit));
        }
        let drained = islands.iter().filter_map(|(_, nodes)| self.drain(of, nodes, skip));
        let (missing, nodes) = drained.min_by_key(|(missing, _)| *missing)?;
        Some(((true, NEVER, missing), nodes))
    }

    /// Task by task the node of `among` where one more lacks least.
    fn drain(
        &self,
        of: (usize, usize),
        among: &[usize],
        skip: Option<usize>,
    ) -> Option<(u128, Nodes)> {
        let mut nodes: Nodes = among.iter().map(|&node| (node, 0)).collect();
        for _ in 0..self.turn(of.0, of.1) {
            let more = |&(node, has): &(usize, u64)| {
                let lacks = |tasks| self.missing(of, (node, tasks), skip);
                lacks(has + 1) - lacks(has)
            };
            let open = |(node, has): &(usize, u64)| self.could_hold(of, (*node, has + 1));
            let open = nodes.iter().filter(|on| open(on));
            let (_, next) = open.map(|on| (more(on), on.0)).min()?;
            nodes.iter_mut().filter(|(node, _)| *node == next).for_each(|(_, has)| *has += 1);
        }
        nodes.retain(|(_, has)| *has > 0);
        Some((nodes.iter().map(|&on| self.missing(of, on, skip)).sum(), nodes))
    }

    /// A node for the first task of the gang's turn, if all of it fits now.
    pub(crate) fn node_for_gang(&self, job: usize, group: usize) -> Option<usize> {
        let value = self.gang_fits(job, group)?;
        self.node_among(job, group, &|node| {
            let gang = self.jobs[job].groups[group].gang.as_ref();
            let label = gang.and_then(|gang| gang.same.as_ref());
            label.is_none_or(|label| self.nodes[node].spec.labels.get(label) == value.as_ref())
        })
    }

    /// The next task of a gang that has begun to start.
    pub(crate) fn expect_gang(&mut self) -> Option<Expected> {
        let Starting { job, group, .. } = self.starting?;
        if !self.starts_on.is_empty() {
            let (group, node) = self.starts_on.remove(0);
            return Some(Expected::WithGang { job, group, node });
        }
        let node = self.node_among(job, group, &|_| true).expect("all of a gang fits");
        Some(Expected::WithGang { job, group, node })
    }

    /// A task starts: the others of its gang are next.
    pub(crate) fn gang_starts(&mut self, job: usize, group: usize) {
        self.starting = match self.starting {
            Some(Starting { left, .. }) if left <= 1 => None,
            Some(starting) => Some(Starting { left: starting.left - 1, ..starting }),
            None => {
                let tasks = self.turn(job, group);
                if self.is_joint(job, group) && self.starts_on.is_empty() {
                    self.starts_on = self.places_now(job, group).expect("all of it fits");
                    self.starts_on.remove(0);
                }
                (tasks > 1).then_some(Starting { job, group, tasks, left: tasks - 1 })
            }
        };
    }

    /// A task of the group runs from now on.
    pub(crate) fn gang_begins(&mut self, job: usize, group: usize, node: usize) {
        let row = &mut self.jobs[job].groups[group];
        row.begun += 1;
        let Some(label) = row.gang.as_ref().and_then(|gang| gang.same.clone()) else { return };
        if row.within.is_some() {
            return;
        }
        let value = self.nodes[node].spec.labels.get(&label).cloned();
        for member in self.members(job, group) {
            self.jobs[job].groups[member].within = value.clone();
        }
    }

    fn wants(&self, job: usize, group: usize) -> Wants {
        let row = &self.jobs[job].groups[group];
        let label = row.gang.as_ref().and_then(|gang| gang.same.as_ref());
        let asked = label.and_then(|label| row.constraints.require.get(label));
        // What is asked for anyway changes nothing.
        let is_new = |value: &String| asked != Some(&vec![value.clone()]);
        let together = self.together(job, group);
        let is_joint = !together.is_empty();
        let within = row.within.clone().filter(|value| is_joint || is_new(value));
        (self.turn(job, group), together, within)
    }

    /// Something has happened to tasks: whose gang waits for something else now has no reservation
    /// any more.
    pub(crate) fn regroup(&mut self) {
        for job in 0..self.jobs.len() {
            for group in 0..self.jobs[job].groups.len() {
                let members = self.members(job, group);
                let runs = |task: &Task| task.job == job && members.contains(&task.group);
                if !self.running().any(runs) {
                    self.jobs[job].groups[group].within = None;
                }
                if self.jobs[job].groups[group].gang.is_none() || self.starting.is_some() {
                    continue;
                }
                let wants = self.wants(job, group);
                let before = self.jobs[job].groups[group].wanted.replace(wants.clone());
                let Some(before) = before.filter(|before| *before != wants) else { continue };
                // Where only the nodes are others on which they may be, those are kept that may
                // stay.
                let as_many = before.0 == wants.0 && before.1.is_empty() && wants.1.is_empty();
                match as_many && members.len() == 1 {
                    true => self.drop_holds_elsewhere(job, group),
                    false => self.drop_holds(job, group),
                }
            }
        }
    }
}
