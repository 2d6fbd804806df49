//! Reservations, by definition: what is free on a node at an instant is counted up from all that
//! runs and is held, and instants are tried one after the other.

use super::model::{Model, Task};
use super::verify::Expected;
use meed::*;

/// Groups of a job, with how many tasks of each.
pub(crate) type Parts = Vec<(usize, u64)>;

/// Nodes for the groups of a gang, the first of them first.
pub(crate) type Places = Vec<(usize, Nodes)>;

/// Nodes, in order, with how many tasks start there.
pub(crate) type Nodes = Vec<(usize, u64)>;

/// Room that is held for a task of a group, or for those of its gang.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) job: usize,
    pub(crate) group: usize,
    pub(crate) nodes: Nodes,
    /// The same of the other groups of its gang.
    pub(crate) with: Vec<(usize, Nodes)>,
    /// Nodes that are drained besides: it starts on whichever has room first.
    pub(crate) spares: Vec<usize>,
    pub(crate) at: Option<u64>,
    pub(crate) since: u64,
    /// When tasks may be stopped for it next.
    pub(crate) tries: u64,
    /// Tasks were told to stop for it where it is.
    pub(crate) reclaims: bool,
    /// It was put off, by what was learned of others: it waits on its nodes, and lets nobody in.
    pub(crate) drained: bool,
    /// So many waiting tasks are in no order for it.
    covers: u64,
    /// It is counted: not while another place is looked for.
    pub(crate) counts: bool,
}

impl Held {
    pub(crate) fn on(&self, node: usize) -> u64 {
        self.parts_on(node).iter().map(|(_, tasks)| tasks).sum()
    }

    /// How many tasks of each group start on the node.
    pub(crate) fn parts_on(&self, node: usize) -> Parts {
        let of = |nodes: &Nodes| {
            nodes.iter().filter(|(other, _)| *other == node).map(|(_, tasks)| tasks).sum()
        };
        let others = self.with.iter().map(|(group, nodes)| (*group, of(nodes)));
        let own = of(&self.nodes) + u64::from(self.spares.contains(&node));
        std::iter::once((self.group, own)).chain(others).collect()
    }

    /// It is somewhere else from now on, and nowhere besides.
    pub(crate) fn stands_on(&mut self, places: Places) {
        (self.nodes, self.with) = split(places);
        self.spares.clear();
    }

    /// Its nodes, each once, with how many tasks of each group start there.
    fn all_parts(&self) -> Vec<(usize, Parts)> {
        let all = self.nodes.iter().chain(self.with.iter().flat_map(|(_, nodes)| nodes));
        let nodes = all.map(|(node, _)| *node);
        let mut nodes: Vec<usize> = nodes.chain(self.spares.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(|node| (node, self.parts_on(node))).collect()
    }
}

/// Room that is, or was, held idle for a job.
#[derive(Clone, Debug)]
pub(crate) struct Idle {
    pub(crate) job: usize,
    pub(crate) queue: usize,
    pub(crate) node: usize,
    pub(crate) amounts: Resources,
    pub(crate) from: u64,
    pub(crate) until: Option<u64>,
}

/// The end of time.
pub(crate) const NEVER: u64 = MAX_MICROS;

/// Nobody knows when; when; how much is missing.
pub(crate) type Rank = (bool, u64, u128);

impl Model {
    /// Whether it waits where it is for what runs there.
    fn stays(&self, held: &Held) -> bool {
        self.is_pinned(held) || held.drained && held.at.is_none()
    }

    /// Whether the order remembers, and the leaf has lent more than it has borrowed, to the nearest
    /// whole unit for a microsecond.
    fn is_owed_back(&self, leaf: usize) -> bool {
        let queue = &self.queues[leaf];
        let remembers = self.queues[0].spec.policy.measure.info().keeps_usage;
        remembers && queue.lent - queue.borrowed as f64 > 0.5
    }

    /// How many reservations may be made; `None`: the policy makes none.
    fn most_reservations(&self) -> Option<usize> {
        match self.queues[0].spec.policy.blocked {
            Blocked::Reserve(Reservations::AtMost(most)) => Some(most.get() as usize),
            Blocked::Reserve(Reservations::All) => Some(usize::MAX),
            _ => None,
        }
    }

    /// Waiting tasks of the group that have a reservation.
    fn held_of(&self, job: usize, group: usize) -> u64 {
        let ours = self.holds.iter().filter(|held| held.job == job);
        ours.map(|held| {
            let with = held.with.iter().filter(|(other, _)| *other == group);
            let with: u64 = with.flat_map(|(_, nodes)| nodes).map(|(_, tasks)| tasks).sum();
            if held.group == group { held.covers } else { with }
        })
        .sum()
    }

    /// Waiting tasks of the group that have none.
    pub(crate) fn unheld(&self, job: usize, group: usize) -> u64 {
        self.jobs[job].groups[group].waiting() - self.held_of(job, group)
    }

    /// Tasks have started elsewhere or are wanted no more: the latest reservations go.
    pub(crate) fn drop_surplus(&mut self) {
        let jobs = &self.jobs;
        self.passed
            .retain(|&(job, group), _| jobs[job].alive && jobs[job].groups[group].waiting() > 0);
        for at in (0..self.holds.len()).rev() {
            let held = &self.holds[at];
            let groups = held.with.iter().map(|(group, _)| *group).chain([held.group]);
            let too_many = |group: usize| {
                self.held_of(held.job, group) > self.jobs[held.job].groups[group].waiting()
            };
            if groups.into_iter().any(too_many) {
                self.holds.remove(at);
                self.freed = true;
            }
        }
    }

    pub(crate) fn end_of(&self, task: &Task) -> u64 {
        let limit = self.jobs[task.job].groups[task.group].limit;
        let ends = limit.map(|limit| {
            let times = (0..64).map(|power| u128::from(task.start) + (u128::from(limit) << power));
            times.into_iter().find(|&end| end > u128::from(self.now)).unwrap_or(u128::MAX)
        });
        ends.map_or(NEVER, |end| u64::try_from(end).unwrap_or(NEVER).min(NEVER))
    }

    fn until(&self, held: &Held, from: u64) -> u64 {
        let groups: Vec<usize> =
            held.with.iter().map(|(group, _)| *group).chain([held.group]).collect();
        let limit = self.longest(held.job, &groups);
        limit.map_or(NEVER, |limit| from.saturating_add(limit).min(NEVER))
    }

    /// The longest that tasks of some groups may run.
    pub(crate) fn longest(&self, job: usize, groups: &[usize]) -> Option<u64> {
        let mut limits = groups.iter().map(|&group| self.jobs[job].groups[group].limit);
        limits.try_fold(0, |longest, limit| Some(limit?.max(longest)))
    }

    /// What is held of a kind on the node.
    pub(crate) fn amount(&self, held: &Held, node: usize, kind: usize) -> u64 {
        let groups = &self.jobs[held.job].groups;
        let parts = held.parts_on(node).into_iter();
        parts.map(|(group, tasks)| tasks * groups[group].demand.get(kind)).sum()
    }

    /// What tasks of some groups ask for together.
    pub(crate) fn all_of(&self, job: usize, parts: &Parts) -> Resources {
        let mut all = Resources::zero(self.share(0).kinds());
        let groups = &self.jobs[job].groups;
        parts.iter().for_each(|&(group, tasks)| all.add(&many(&groups[group].demand, tasks)));
        all
    }

    /// Whether all have what they need from `from` on for as long as the longest may run.
    pub(crate) fn all_fit_from(
        &self,
        job: usize,
        (node, parts): (usize, &Parts),
        from: u64,
        skip: Option<usize>,
    ) -> bool {
        let groups: Vec<usize> = parts.iter().map(|(group, _)| *group).collect();
        let limit = self.longest(job, &groups);
        self.demand_fits_from(&self.all_of(job, parts), limit, node, from, skip)
    }

    /// Whether the node could hold all of these if nothing else ran there.
    pub(crate) fn could_hold_all(&self, job: usize, (node, parts): (usize, &Parts)) -> bool {
        let (row, groups) = (&self.nodes[node], &self.jobs[job].groups);
        let here = || parts.iter().filter(|(_, tasks)| *tasks > 0);
        let alone = here().filter(|(group, _)| groups[*group].constraints.distinct_nodes);
        let alone: u64 = alone.map(|(_, tasks)| tasks).sum();
        let demand = self.all_of(job, parts);
        let room = |kind: usize| row.spec.capacity.get(kind).saturating_sub(row.others.get(kind));
        row.up
            && !row.cordoned
            && alone <= 1
            && (0..demand.kinds()).all(|kind| demand.get(kind) <= room(kind))
            && here().all(|(group, _)| self.is_allowed(job, *group, node))
    }

    /// What all of these will lack on the node, in parts of the pool.
    pub(crate) fn all_missing(
        &self,
        job: usize,
        (node, parts): (usize, &Parts),
        skip: Option<usize>,
    ) -> u128 {
        self.demand_missing(&self.all_of(job, parts), node, skip)
    }

    /// What is free of a kind at `t`, now or later, by all that is expected; `skip`: but for that
    /// reservation.
    pub(crate) fn free_at(&self, node: usize, t: u64, kind: usize, skip: Option<usize>) -> i128 {
        let runs = |task: &&Task| task.node == node && self.end_of(task) > t;
        let ours: i128 =
            self.running().filter(runs).map(|task| i128::from(task.demand.get(kind))).sum();
        let counts = |(at, held): &(usize, &Held)| {
            let from = held.at.unwrap_or(self.now);
            let until = if held.at.is_none() { NEVER } else { self.until(held, from) };
            let now = from.max(self.now) <= t && (t < until || until == NEVER);
            held.counts && Some(*at) != skip && now
        };
        let holds = self.holds.iter().enumerate().filter(counts);
        let held: i128 = holds.map(|(_, held)| i128::from(self.amount(held, node, kind))).sum();
        let row = &self.nodes[node];
        i128::from(row.spec.capacity.get(kind)) - i128::from(row.others.get(kind)) - ours - held
    }

    /// Instants from now on at which anything there may change.
    pub(crate) fn instants(&self, node: usize) -> Vec<u64> {
        let mut instants = vec![self.now];
        instants.extend(self.running().filter(|task| task.node == node).map(|t| self.end_of(t)));
        for held in self.holds.iter().filter(|held| held.on(node) > 0) {
            instants.extend(held.at);
            instants.extend(held.at.map(|at| self.until(held, at)));
        }
        instants.retain(|&at| at >= self.now && at < NEVER);
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// Whether so many tasks of the group have all they need from `from` on for as long as they may
    /// run.
    pub(crate) fn fit_from(
        &self,
        (job, group): (usize, usize),
        (node, tasks): (usize, u64),
        from: u64,
        skip: Option<usize>,
    ) -> bool {
        let group = &self.jobs[job].groups[group];
        self.demand_fits_from(&many(&group.demand, tasks), group.limit, node, from, skip)
    }

    fn demand_fits_from(
        &self,
        demand: &Resources,
        limit: Option<u64>,
        node: usize,
        from: u64,
        skip: Option<usize>,
    ) -> bool {
        let until = limit.map_or(NEVER, |limit| from.saturating_add(limit).min(NEVER));
        let mut times = self.instants(node);
        times.retain(|&at| at > from && at < until);
        times.push(from);
        let fits = |kind: usize, t: u64| {
            let amount = demand.get(kind);
            amount == 0 || i128::from(amount) <= self.free_at(node, t, kind, skip)
        };
        times.iter().all(|&t| (0..demand.kinds()).all(|kind| fits(kind, t)))
    }

    /// Whether the node could hold so many tasks of the group if nothing else ran there.
    pub(crate) fn could_hold(
        &self,
        (job, group): (usize, usize),
        (node, tasks): (usize, u64),
    ) -> bool {
        let (row, asked) = (&self.nodes[node], &self.jobs[job].groups[group]);
        let demand = many(&asked.demand, tasks);
        let room = |kind: usize| row.spec.capacity.get(kind).saturating_sub(row.others.get(kind));
        row.up
            && !row.cordoned
            && (tasks <= 1 || !asked.constraints.distinct_nodes)
            && (0..demand.kinds()).all(|kind| demand.get(kind) <= room(kind))
            && self.is_allowed(job, group, node)
    }

    pub(crate) fn has_hope(&self, job: usize, group: usize) -> bool {
        if self.is_joint(job, group) {
            return self.parts_have_hope(job, group);
        }
        match self.turn(job, group) {
            1 => (0..self.nodes.len()).any(|node| self.could_hold((job, group), (node, 1))),
            _ => self.gang_has_hope((job, group)),
        }
    }

    /// What so many tasks of the group will lack on the node, in parts of the pool.
    pub(crate) fn missing(
        &self,
        of: (usize, usize),
        (node, tasks): (usize, u64),
        skip: Option<usize>,
    ) -> u128 {
        self.demand_missing(&many(&self.jobs[of.0].groups[of.1].demand, tasks), node, skip)
    }

    fn demand_missing(&self, demand: &Resources, node: usize, skip: Option<usize>) -> u128 {
        let part = |kind: usize| {
            let amount = i128::from(demand.get(kind));
            let missing = (amount - self.free_at(node, NEVER - 1, kind, skip)).max(0);
            let total = u128::from(self.share(0).get(kind).max(1));
            if amount == 0 { 0 } else { (missing as u128) * (1 << 32) / total }
        };
        (0..demand.kinds()).map(part).sum()
    }

    fn rank(&self, of: (usize, usize), node: usize, skip: Option<usize>) -> Rank {
        let fits = |&from: &u64| self.fit_from(of, (node, 1), from, skip);
        match self.instants(node).into_iter().find(fits) {
            Some(at) => (false, at, 0),
            None => (true, NEVER, self.missing(of, (node, 1), skip)),
        }
    }

    /// The best place of all, of like ones the first.
    fn best_place(&self, of: (usize, usize), skip: Option<usize>) -> Option<(Rank, Places)> {
        if self.is_joint(of.0, of.1) {
            return self.best_places_for_parts(of, skip);
        }
        let alone = |(rank, nodes)| (rank, vec![(of.1, nodes)]);
        if self.turn(of.0, of.1) > 1 {
            return self.best_places(of, skip).map(alone);
        }
        let nodes = (0..self.nodes.len()).filter(|&node| self.could_hold(of, (node, 1)));
        let (rank, node) = nodes.map(|node| (self.rank(of, node, skip), node)).min()?;
        Some(alone((rank, vec![(node, 1)])))
    }

    /// What the place is worth that a reservation has.
    fn own_rank(&self, at: usize) -> Rank {
        let held = &self.holds[at];
        let of = (held.job, held.group);
        let parts = held.all_parts();
        let fit = |from| {
            let fits = |(node, parts): &(usize, Parts)| {
                self.all_fit_from(held.job, (*node, parts), from, Some(at))
            };
            parts.iter().all(fits)
        };
        match (self.turn(held.job, held.group), held.at) {
            (1, _) => self.rank(of, held.nodes[0].0, Some(at)),
            // Those before it may have come into its way.
            (_, Some(instant)) if !fit(instant) => (true, NEVER, u128::MAX),
            (_, Some(instant)) => (false, instant, 0),
            (_, None) => {
                let missing = |(node, parts): &(usize, Parts)| {
                    self.all_missing(held.job, (*node, parts), Some(at))
                };
                (true, NEVER, parts.iter().map(missing).sum())
            }
        }
    }

    /// The nodes that are drained besides for a single task of which nobody knows when it starts,
    /// of all that could hold it the best. `had`: nodes that it had; where it stays, these stay.
    fn choose_spares(&self, at: usize, had: &[usize]) -> Vec<usize> {
        let held = &self.holds[at];
        let of = (held.job, held.group);
        let alone = self.turn(of.0, of.1) == 1 && !self.is_joint(of.0, of.1);
        if held.at.is_some() || held.reclaims || !alone {
            return Vec::new();
        }
        let others = (0..self.nodes.len()).filter(|&node| node != held.nodes[0].0);
        let worth = |node: usize| {
            let had = had.contains(&node);
            (!(had && held.drained), self.rank(of, node, Some(at)), !had, node)
        };
        let mut worths: Vec<_> =
            others.filter(|&node| self.could_hold(of, (node, 1))).map(worth).collect();
        worths.sort_unstable();
        let most = self.queues[0].spec.policy.spares as usize;
        let mut spares: Vec<usize> = worths.into_iter().take(most).map(|it| it.3).collect();
        spares.sort_unstable();
        spares
    }

    /// Those on which the task can be no more are given up.
    fn drop_lost_spares(&mut self) {
        for at in 0..self.holds.len() {
            let held = self.holds[at].clone();
            let could = |node: &usize| self.could_hold((held.job, held.group), (*node, 1));
            let left: Vec<usize> = held.spares.iter().copied().filter(could).collect();
            self.freed |= left.len() < held.spares.len();
            self.holds[at].spares = left;
        }
    }

    /// Where one that stays has room now: on its own nodes, or on the first spare.
    fn place_now(&self, at: usize) -> Option<Nodes> {
        let held = &self.holds[at];
        let of = (held.job, held.group);
        let own = Held { spares: Vec::new(), ..held.clone() };
        let fit = |(node, parts): &(usize, Parts)| {
            self.all_fit_from(held.job, (*node, parts), self.now, Some(at))
        };
        if own.all_parts().iter().all(fit) {
            return Some(held.nodes.clone());
        }
        let room = |node: &usize| self.fit_from(of, (*node, 1), self.now, Some(at));
        let spare = held.spares.iter().copied().find(room);
        spare.map(|node| vec![(node, 1)])
    }

    /// Brings reservations up to date: those that cannot be kept get other places; when room has
    /// come free each moves to a better place, in order.
    pub(crate) fn plan(&mut self) {
        let capped: Vec<bool> = self
            .holds
            .iter()
            .map(|held| {
                let demand = self.turn_demand(held.job, held.group);
                self.is_capped(self.jobs[held.job].queue, &demand)
            })
            .collect();
        for at in (0..capped.len()).rev().filter(|&at| capped[at]) {
            self.holds.remove(at);
            self.freed = true;
        }
        self.drop_lost_spares();
        self.holds.iter_mut().for_each(|held| held.counts = false);
        // What was freed for one by stopping tasks is its own, whoever drains the node before it.
        let mut order: Vec<usize> = (0..self.holds.len()).collect();
        order.sort_by_key(|&at| !self.holds[at].reclaims);
        for at in order {
            let held = self.holds[at].clone();
            let from = |at: u64| at.max(self.now);
            let kept = held.all_parts().iter().all(|(node, parts)| {
                let on = (*node, parts);
                let fit = |at: u64| self.all_fit_from(held.job, on, from(at), None);
                self.could_hold_all(held.job, on) && held.at.is_none_or(fit)
            });
            let at_then = held.at.map(from);
            if kept {
                (self.holds[at].counts, self.holds[at].at) = (true, at_then);
            }
        }
        let mut freed = std::mem::take(&mut self.freed);
        let kept: Vec<bool> = self.holds.iter().map(|held| held.counts).collect();
        // One of which nobody knows when it starts takes nothing from those before it.
        self.holds.iter_mut().for_each(|held| held.counts &= held.at.is_some() || held.reclaims);
        let mut gone = Vec::new();
        // What is freed for one that waits for stopped tasks is its own.
        let mut order: Vec<usize> = (0..kept.len()).collect();
        order.sort_by_key(|&at| !(kept[at] && self.is_pinned(&self.holds[at])));
        for at in order {
            let (kept, held) = (kept[at], self.holds[at].clone());
            let of = (held.job, held.group);
            // The room that was freed for one is there: it starts before anybody else gets it.
            if kept && (!freed || held.reclaims && held.at.is_some()) {
                self.holds[at].counts = true;
                continue;
            }
            let pinned = kept && self.stays(&held);
            let had: Vec<usize> = held.all_parts().into_iter().map(|(node, _)| node).collect();
            let had = if kept { had } else { Vec::new() };
            let room = if pinned { self.place_now(at) } else { None };
            if room.is_some() || pinned && self.stops_there(&held) {
                freed |= room.is_some();
                self.holds[at].counts = true;
                self.holds[at].at = room.is_some().then_some(self.now);
                self.holds[at].nodes = room.unwrap_or(held.nodes);
                self.holds[at].spares = self.choose_spares(at, &had);
                continue;
            }
            self.holds[at].reclaims = false;
            self.holds[at].counts &= !pinned;
            let own = kept.then(|| self.own_rank(at));
            let Some((best, places)) = self.best_place(of, Some(at)) else {
                gone.push(at);
                continue;
            };
            let (rank, (nodes, with)) = match own {
                Some(own) if own <= best => (own, (held.nodes.clone(), held.with.clone())),
                _ => (best, split(places)),
            };
            let mut starts = (!rank.0).then_some(rank.1);
            let put_off = held.at.is_some_and(|at| starts.is_none_or(|now| now > at));
            let learns = self.queues[0].spec.policy.estimates == Estimates::Learned;
            // Who took that comes after it and gives way below: then there is another plan.
            self.freed |= held.at.is_some() && starts.is_none();
            let (mut nodes, before) = ((nodes, with), ((held.nodes, held.with), held.at));
            let spares_before = held.spares;
            let held = &mut self.holds[at];
            held.drained |= learns && put_off;
            // It waits on its nodes, unless it could start elsewhere now.
            if held.drained && starts != Some(self.now) {
                starts = None;
                if kept {
                    nodes = before.0.clone();
                }
            }
            (held.at, held.counts) = (starts, true);
            // What it left is there for those after it.
            freed |= (&nodes, held.at) != (&before.0, before.1);
            (held.nodes, held.with) = nodes;
            let spares = self.choose_spares(at, &had);
            freed |= spares != spares_before;
            self.holds[at].spares = spares;
        }
        gone.sort_unstable();
        for at in gone.into_iter().rev() {
            self.holds.remove(at);
            self.freed = true;
        }
    }

    /// What is held idle from now on: of each hold, what it takes from what lasts.
    pub(crate) fn settle_idle(&mut self) {
        let mut now: Vec<Idle> = Vec::new();
        let holds = std::mem::take(&mut self.holds);
        for node in 0..self.nodes.len() {
            let mut before = self.lasting(node);
            for held in holds.iter().filter(|held| held.on(node) > 0) {
                self.holds.push(held.clone());
                let after = self.lasting(node);
                let (job, queue) = (held.job, self.jobs[held.job].queue);
                let mut amounts = before;
                amounts.sub(&after);
                before = after;
                let (from, until) = (self.now, None);
                now.push(Idle { job, queue, node, amounts, from, until });
            }
            self.holds.clear();
        }
        self.holds = holds;
        now.retain(|idle| !idle.amounts.is_zero());
        let ends: Vec<&mut Idle> = self.idle.iter_mut().filter(|it| it.until.is_none()).collect();
        for open in ends {
            let same = |idle: &Idle| {
                (idle.job, idle.node, idle.amounts) == (open.job, open.node, open.amounts)
            };
            match now.iter().position(same) {
                Some(at) => drop(now.remove(at)),
                None => open.until = Some(self.now),
            }
        }
        self.idle.append(&mut now);
    }

    /// What is held idle for jobs, and on nodes, that are gone is so no more.
    pub(crate) fn end_idle(&mut self) {
        let (jobs, nodes, now) = (&self.jobs, &self.nodes, self.now);
        let gone = |idle: &Idle| !jobs[idle.job].alive || !nodes[idle.node].up;
        for idle in self.idle.iter_mut().filter(|idle| idle.until.is_none() && gone(idle)) {
            idle.until = Some(now);
        }
    }

    /// What was held idle for a leaf, over time.
    pub(crate) fn held_idle(&self, leaf: usize, kind: usize) -> u128 {
        let ours = self.idle.iter().filter(|idle| idle.queue == leaf);
        ours.map(|idle| {
            let lasted = idle.until.unwrap_or(self.now) - idle.from;
            u128::from(idle.amounts.get(kind)) * u128::from(lasted)
        })
        .sum()
    }

    /// What may be taken of a node whoever takes it and for ever.
    pub(crate) fn lasting(&self, node: usize) -> Resources {
        let free = self.free(node);
        let least = |kind: usize| {
            let times = self.instants(node).into_iter().chain([NEVER - 1]);
            let least = times.map(|t| self.free_at(node, t, kind, None)).min().unwrap_or(0);
            free.get(kind).min(u64::try_from(least.max(0)).unwrap_or(u64::MAX))
        };
        Resources::new(&(0..free.kinds()).map(least).collect::<Vec<_>>())
    }

    /// Whether holds let a task of the group start on a node now that has room.
    pub(crate) fn is_left_open(&self, job: usize, group: usize, node: usize) -> bool {
        let group = &self.jobs[job].groups[group];
        self.is_left_open_for(&group.demand, group.limit, node)
    }

    /// The same of so much, for so long.
    pub(crate) fn is_left_open_for(
        &self,
        demand: &Resources,
        limit: Option<u64>,
        node: usize,
    ) -> bool {
        self.holds.is_empty() || self.demand_fits_from(demand, limit, node, self.now, None)
    }

    /// What the group's tasks wait for is another.
    pub(crate) fn drop_holds(&mut self, job: usize, group: usize) {
        let before = self.holds.len();
        self.holds.retain(|held| {
            let with = held.with.iter().any(|(other, _)| *other == group);
            held.job != job || !(with || held.group == group)
        });
        self.freed |= self.holds.len() < before;
    }

    /// The group's tasks may be on other nodes than before.
    pub(crate) fn drop_holds_elsewhere(&mut self, job: usize, group: usize) {
        for at in (0..self.holds.len()).rev() {
            let held = &self.holds[at];
            if (held.job, held.group) != (job, group) {
                continue;
            }
            self.freed = true;
            if !held.nodes.iter().all(|on| self.could_hold((job, group), *on)) {
                self.holds.remove(at);
            }
        }
    }

    /// Whether room is held on a node.
    pub(crate) fn has_holds(&self, node: usize) -> bool {
        self.holds.iter().any(|held| held.on(node) > 0)
    }

    /// What the engine shows of reservations is what was counted up here, after decisions.
    pub(crate) fn check_holds(&self, engine: &Engine) {
        let shown: Vec<_> = engine
            .view()
            .reservations()
            .map(|view| {
                let at = view.at.map(Time::as_micros);
                let on = |&(node, tasks): &(NodeId, u32)| (node.index(), u64::from(tasks));
                let told = |nodes: &[(NodeId, u32)]| -> Nodes { nodes.iter().map(on).collect() };
                let with = |other: &HeldWith| (other.group as usize, told(&other.nodes));
                let nodes = (told(&view.nodes), view.others.iter().map(with).collect::<Places>());
                let spares: Vec<usize> = view.spares.iter().map(|node| node.index()).collect();
                let state = (view.reclaims, view.drained, spares);
                let place = (nodes, at, view.since.as_micros(), state);
                (self.job(view.job), view.group as usize, place)
            })
            .collect();
        let held = |held: &Held| {
            let state = (self.is_pinned(held), held.drained, held.spares.clone());
            let nodes = (held.nodes.clone(), held.with.clone());
            let place = (nodes, held.at, held.since, state);
            (held.job, held.group, place)
        };
        let expected: Vec<_> = self.holds.iter().map(held).collect();
        assert_eq!(shown, expected, "reservations, at {} us", self.now);
        let next_look = engine.view().next_look().map(Time::as_micros);
        assert_eq!(next_look, self.next_look(), "when to look next, at {} us", self.now);
    }

    /// What starts by a reservation, or as the first in turn; reservations are made on the way.
    pub(crate) fn expect_with_holds(&mut self) -> Option<Expected> {
        let most = self.most_reservations()?;
        self.plan();
        while self.freed {
            // What lost its place is in the walk again, and whoever lost its instant may have one.
            self.plan();
        }
        self.settle_idle();
        if let Some(due) = self.first_due() {
            if let Some(expected) = self.who_has_its_room(due) {
                return Some(expected);
            }
            let held = self.holds.remove(due);
            let (job, group, waited) = (held.job, held.group, self.now - held.since);
            let mut starts = each_start(held.group, &held.nodes);
            held.with.iter().for_each(|(group, nodes)| starts.extend(each_start(*group, nodes)));
            let (_, node) = starts.remove(0);
            self.starts_on = starts;
            return Some(Expected::Held { job, group, node, waited: Some(waited) });
        }
        let reclaims = self.queues[0].spec.policy.reclaim.is_some();
        while self.holds.len() < most || reclaims {
            self.any_size = true;
            let found = self.walk();
            let picked = found.map(|(leaf, starved)| (leaf, starved, self.pick(leaf)));
            self.any_size = false;
            let (leaf, starved, ((job, group), node)) = picked?;
            if let Some(node) = node {
                let any_size = true;
                return Some(Expected::Walked { leaf, starved, job, group, node, any_size });
            }
            let patience = self.queues[0].spec.policy.reserve_after.as_micros();
            if patience > 0 {
                let since = *self.passed.entry((job, group)).or_insert(self.now);
                if self.now - since < patience && !self.is_owed_back(leaf) {
                    break;
                }
            }
            if self.holds.len() >= most && !self.is_owed_by_all(leaf) {
                break;
            }
            self.passed.remove(&(job, group));
            let (rank, places) = self.best_place((job, group), None).expect("there is hope");
            let (nodes, with) = split(places);
            let (at, since) = ((!rank.0).then_some(rank.1), self.now);
            let all = self.jobs[job].groups[group].waiting();
            let covers = if self.turn(job, group) > 1 { all } else { 1 };
            let after = self.queues[0].spec.policy.reclaim.map_or(0, |it| it.after.as_micros());
            let tries = since + after;
            let (reclaims, drained, counts) = (false, false, true);
            self.holds.push(Held {
                job,
                group,
                nodes,
                with,
                spares: Vec::new(),
                at,
                since,
                tries,
                reclaims,
                drained,
                covers,
                counts,
            });
            let last = self.holds.len() - 1;
            self.holds[last].spares = self.choose_spares(last, &[]);
            self.settle_idle();
        }
        None
    }
}

/// The nodes of the first group of a gang, and those of the others.
fn split(mut places: Places) -> (Nodes, Places) {
    let (_, first) = places.remove(0);
    (first, places)
}

/// Each start of a group on its nodes.
pub(crate) fn each_start(group: usize, nodes: &Nodes) -> Vec<(usize, usize)> {
    let each = |&(node, tasks): &(usize, u64)| (0..tasks).map(move |_| (group, node));
    nodes.iter().flat_map(each).collect()
}

/// What so many tasks ask for together.
pub(crate) fn many(demand: &Resources, tasks: u64) -> Resources {
    Resources::new(&demand.as_slice().iter().map(|&amount| amount * tasks).collect::<Vec<_>>())
}
