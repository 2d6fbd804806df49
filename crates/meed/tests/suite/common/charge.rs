//! The slow twin's charges, by definition: a sum over all tasks that ever ran, computed anew at
//! each look.

use super::fraction::{Fraction, largest};
use super::model::{Model, Task};
use super::reserve::Idle;
use meed::*;

/// They fade, which no fraction tells.
const COMMITMENTS: &str = "commitments have a twin of their own, `commitment`";

/// A key, exact.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    pub(crate) tier: Tier,
    pub(crate) value: Fraction,
    /// What it is shown in.
    pub(crate) unit: f64,
}

impl Ratio {
    fn ordinary(value: Fraction, unit: f64) -> Ratio {
        Ratio { tier: Tier::Ordinary, value, unit }
    }

    /// Whether this one comes before `other` by value alone.
    pub(crate) fn cmp_value(&self, other: &Ratio) -> std::cmp::Ordering {
        self.tier.cmp(&other.tier).then_with(|| self.value.order(&other.value))
    }

    /// Whether it is shown as `value`: floats are for people.
    pub(crate) fn is_shown_as(&self, value: f64) -> bool {
        let own = self.value.as_f64() * self.unit;
        (own - value).abs() <= 1e-12 * own
    }
}

/// A weight of thousandths.
fn whole(weight: u64) -> Fraction {
    Fraction::new(u128::from(weight), 1)
}

/// theta * delta of ICS'14 Eq. 9.
pub(crate) fn rate(scalar: &Scalar, demand: &Resources, node_weight: u32) -> u64 {
    let plain = match scalar {
        Scalar::Dominant => panic!("a dominant share is no amount of one task"),
        Scalar::Kind(kind) => u128::from(demand.get(*kind)),
        Scalar::Priced(prices) => {
            let parts = demand.as_slice().iter().zip(prices);
            parts.map(|(&amount, &price)| u128::from(amount) * u128::from(price)).sum::<u128>()
                >> 32
        }
    };
    (plain * u128::from(node_weight) / 1000) as u64
}

fn rate_of_share(scalar: &Scalar, share: &Resources) -> u64 {
    rate(scalar, share, 1000)
}

/// Start of the round that `now` lies in (Eq. 12).
fn round_start(policy: &Policy, now: u64) -> u64 {
    match policy.memory {
        Memory::Rounds(length) => now / length.as_micros() * length.as_micros(),
        _ => 0,
    }
}

/// Q of Eq. 15: the one of now, however long the task runs.
fn quantum(policy: &Policy, task: &Charged) -> u64 {
    match policy.quantum {
        Quantum::Fixed(span) => span.as_micros(),
        Quantum::Adaptive { .. } => task.quantum,
    }
}

/// What is charged, and from when to when.
pub(crate) struct Charged {
    demand: Resources,
    node: usize,
    start: u64,
    end: Option<u64>,
    /// Its job's, where it is learnt.
    quantum: u64,
}

impl Model {
    fn charged(&self, task: &Task) -> Charged {
        let &Task { demand, node, start, end, .. } = task;
        Charged { demand, node, start, end, quantum: self.jobs[task.job].quantum }
    }

    fn rate_of(&self, task: &Charged, policy: &Policy) -> u64 {
        rate(&policy.scalar, &task.demand, self.nodes[task.node].spec.weight)
    }

    /// f_i without PAR; of dominant shares the largest part of the pool over all kinds.
    fn used(&self, policy: &Policy, tasks: &[Charged], shares: &[(u64, Resources)]) -> Fraction {
        let of_scalar = |scalar: &Scalar| self.used_of_scalar(scalar, policy, tasks, shares);
        match &policy.scalar {
            Scalar::Dominant => largest(self.there().map(|kind| {
                Fraction::new(of_scalar(&Scalar::Kind(kind)), u128::from(self.pool.get(kind)))
            })),
            scalar => Fraction::new(of_scalar(scalar), 1),
        }
    }

    fn used_of_scalar(
        &self,
        scalar: &Scalar,
        policy: &Policy,
        tasks: &[Charged],
        shares: &[(u64, Resources)],
    ) -> u128 {
        let shares: Vec<(u64, u64)> =
            shares.iter().map(|(at, share)| (*at, rate_of_share(scalar, share))).collect();
        self.used_of(&Policy { scalar: scalar.clone(), ..policy.clone() }, tasks, &shares)
    }

    /// The same in what newcomers are topped up in: of dominant shares parts of the pool, rounded
    /// down where they are not whole.
    fn units(&self, policy: &Policy, tasks: &[Charged], shares: &[(u64, Resources)]) -> u128 {
        let of_scalar = |scalar: &Scalar| self.used_of_scalar(scalar, policy, tasks, shares);
        match &policy.scalar {
            Scalar::Dominant => {
                let parts = self.pool_parts();
                let part = |kind: usize| {
                    of_scalar(&Scalar::Kind(kind)) * parts / u128::from(self.pool.get(kind))
                };
                self.there().map(part).max().unwrap_or(0)
            }
            scalar => of_scalar(scalar),
        }
    }

    /// What somebody was topped up with.
    fn topped_up(&self, policy: &Policy, pseudo: u128) -> Fraction {
        match policy.scalar {
            _ if pseudo == 0 => Fraction::zero(),
            Scalar::Dominant => Fraction::new(pseudo, self.pool_parts().max(1)),
            _ => Fraction::new(pseudo, 1),
        }
    }

    /// Kinds of which there is something.
    fn there(&self) -> impl Iterator<Item = usize> {
        (0..self.pool.kinds()).filter(|&kind| self.pool.get(kind) > 0)
    }

    /// How many parts the pool has: the least common multiple of its capacities, by trying; 2^53
    /// where it is larger.
    pub(crate) fn pool_parts(&self) -> u128 {
        let there = || self.there().map(|kind| u128::from(self.pool.get(kind)));
        let Some(largest) = there().max() else { return 0 };
        let multiples = (1..).map(|times| times * largest).take_while(|&parts| parts <= 1 << 53);
        multiples
            .into_iter()
            .find(|parts| there().all(|amount| parts % amount == 0))
            .unwrap_or(1 << 53)
    }

    /// The dominant share of amounts.
    fn share_of(&self, amounts: &Resources) -> Fraction {
        dominant_share(amounts, &self.pool)
    }

    /// All that a queue holds as the largest part of what is free on a server; beyond all where
    /// nothing is.
    pub(crate) fn residual_key(&self, q: usize, node: usize) -> Ratio {
        let (held, free) = (self.held(q), self.free(node));
        let kinds = (0..held.kinds()).filter(|&kind| held.get(kind) > 0);
        let parts = kinds.map(|kind| match free.get(kind) {
            0 => None,
            free => Some(Fraction::new(u128::from(held.get(kind)), u128::from(free))),
        });
        let value = match parts.collect::<Option<Vec<Fraction>>>() {
            None => Fraction::new(1 << 120, 1),
            Some(parts) => largest(parts).over(&whole(self.queues[q].spec.weight)),
        };
        Ratio::ordinary(value, 1000.0)
    }

    /// The key of a queue on the server whose turn it is.
    fn key_on_server(&self, q: usize) -> Ratio {
        let node = self.server().expect("some server's turn");
        if self.queues[0].spec.policy.residual {
            return self.residual_key(q, node);
        }
        let here = |task: &&Task| task.node == node && self.is_below(task.queue, q);
        let mut held = Resources::zero(self.pool.kinds());
        self.running().filter(here).for_each(|task| held.add(&task.demand));
        let share = dominant_share(&held, &self.nodes[node].spec.capacity);
        Ratio::ordinary(share.over(&whole(self.queues[q].spec.weight)), 1000.0)
    }
}

/// The largest part of `pool` that `amounts` are.
fn dominant_share(amounts: &Resources, pool: &Resources) -> Fraction {
    let there = (0..pool.kinds()).filter(|&kind| pool.get(kind) > 0);
    largest(
        there.map(|kind| Fraction::new(u128::from(amounts.get(kind)), u128::from(pool.get(kind)))),
    )
}

impl Model {
    /// Dominant shares are shown as parts of one per weight 1, or as such parts x seconds.
    fn unit(&self, policy: &Policy) -> f64 {
        match (&policy.scalar, policy.measure) {
            (Scalar::Dominant, Measure::Allocation | Measure::TaskShare) => 1000.0,
            (Scalar::Dominant, Measure::Usage) => 1.0 / 1e6,
            _ => 1.0,
        }
    }

    /// s of TSF: the sum over tasks of 1 / h, h = the sum over servers of min over r of C_r / D_r.
    /// Of more than four demands each task's part is rounded down to 2^-96.
    fn task_share<'a>(&self, tasks: impl Iterator<Item = &'a Task>) -> Fraction {
        let demands: Vec<Resources> = tasks.map(|task| task.demand).collect();
        let shapes: std::collections::BTreeSet<&Resources> = demands.iter().collect();
        let part = |demand: &Resources| match shapes.len() {
            0..5 => self.part_of_all(demand),
            _ => self.part_of_all(demand).in_grains(1 << 96),
        };
        demands.iter().fold(Fraction::zero(), |sum, demand| sum.plus(&part(demand)))
    }

    /// 1 / h.
    fn part_of_all(&self, demand: &Resources) -> Fraction {
        let up = || self.nodes.iter().filter(|node| node.up).map(|node| node.spec.capacity);
        let asked = |kind: &usize| demand.get(*kind) > 0 && up().any(|node| node.get(*kind) > 0);
        let asked: Vec<usize> = (0..demand.kinds()).filter(asked).collect();
        let fit = |node: Resources| {
            let fractions = asked.iter().map(|&kind| {
                Fraction::new(u128::from(node.get(kind)), u128::from(demand.get(kind)))
            });
            fractions.min_by(Fraction::order).unwrap_or_else(Fraction::zero)
        };
        let one = Fraction::new(1, 1);
        match up().fold(Fraction::zero(), |sum, node| sum.plus(&fit(node))) {
            _ if asked.is_empty() => Fraction::zero(),
            none if none.is_zero() => one,
            all => one.over(&all),
        }
    }

    fn is_rescaled(&self, q: usize) -> bool {
        let dominant = |q: usize| {
            let policy = &self.queues[q].spec.policy;
            policy.scalar == Scalar::Dominant
                && policy.measure == Measure::Allocation
                && !policy.per_server
        };
        let by_server = self.queues[0].spec.policy.per_server;
        !by_server
            && !self.children(q).is_empty()
            && dominant(q)
            && self.queues[q].parent.is_some_and(dominant)
    }

    /// x of `q` among its siblings, kind by kind: what it holds as parts of the pool, or, of a
    /// parent, share(P) before the maximum is taken: the sum over its ready children of x_i * M /
    /// (s_i / w_i), M = min of s_i / w_i.
    fn rescaled(&self, q: usize, ready: &[usize]) -> Vec<Fraction> {
        let kinds = 0..self.pool.kinds();
        if !self.is_rescaled(q) {
            let held = self.held(q);
            let part = |kind: usize| match self.pool.get(kind) {
                0 => Fraction::zero(),
                pool => Fraction::new(u128::from(held.get(kind)), u128::from(pool)),
            };
            return kinds.map(part).collect();
        }
        let leads = |&c: &usize| ready.iter().any(|&leaf| self.is_below(leaf, c));
        let children: Vec<(Vec<Fraction>, Fraction)> = self
            .children(q)
            .into_iter()
            .filter(leads)
            .map(|c| {
                let x = self.rescaled(c, ready);
                let level = largest(x.clone()).over(&whole(self.queues[c].spec.weight));
                (x, level)
            })
            .collect();
        let levels = children.iter().map(|(_, level)| level);
        let Some(least) = levels.min_by(|a, b| a.order(b)).filter(|least| !least.is_zero()) else {
            return kinds.map(|_| Fraction::zero()).collect();
        };
        let term =
            |(x, level): &(Vec<Fraction>, Fraction), kind: usize| x[kind].times(least).over(level);
        let zero = Fraction::zero;
        kinds
            .map(|kind| children.iter().fold(zero(), |sum, child| sum.plus(&term(child, kind))))
            .collect()
    }

    /// Eq. 9, 13, 15; with a discount Eq. 7, 8. `shares` is the history of S_i.
    fn used_of(&self, policy: &Policy, tasks: &[Charged], shares: &[(u64, u64)]) -> u128 {
        let (now, from) = (self.now, round_start(policy, self.now));
        let begin = |task: &Charged| task.start.max(from);
        if policy.discount == 1000 {
            let lasted = |task: &Charged| match task.end {
                Some(end) => end.saturating_sub(begin(task)),
                None => (now - begin(task)).max(quantum(policy, task)),
            };
            return tasks
                .iter()
                .map(|t| u128::from(self.rate_of(t, policy)) * 1000 * u128::from(lasted(t)))
                .sum();
        }
        let mut cuts: Vec<u64> = vec![from, now];
        for task in tasks {
            cuts.extend([task.start, task.end.unwrap_or(now), begin(task) + quantum(policy, task)]);
        }
        cuts.extend(shares.iter().map(|(at, _)| *at));
        cuts.sort_unstable();
        let mut sum = 0;
        for cut in cuts.windows(2).filter(|cut| cut[0] >= from && cut[0] < cut[1]) {
            let holds = |task: &&Charged| match task.end {
                Some(end) => task.start <= cut[0] && cut[0] < end,
                None => {
                    let assumed_end = begin(task) + quantum(policy, task);
                    task.start <= cut[0] && (cut[0] < now || cut[0] < assumed_end)
                }
            };
            let held: u64 = tasks.iter().filter(holds).map(|task| self.rate_of(task, policy)).sum();
            let share =
                shares.iter().rev().find(|(at, _)| *at <= cut[0]).map_or(0, |(_, share)| *share);
            let within = held.min(share);
            let counted =
                u128::from(within) * 1000 + u128::from(held - within) * u128::from(policy.discount);
            sum += counted * u128::from(cut[1] - cut[0]);
        }
        sum
    }

    /// A start that was undone never was.
    fn charged_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.undone)
    }

    fn charged_tasks_from(&self, first: usize) -> impl Iterator<Item = &Task> {
        self.tasks[first..].iter().filter(|task| !task.undone)
    }

    /// f_i of a queue by its parent's policy, PAR included.
    fn queue_charge(&self, q: usize, policy: &Policy) -> Fraction {
        let used = self.used(policy, &self.tasks_below(q), &self.queues[q].shares);
        used.plus(&self.topped_up(policy, self.queues[q].counts.pseudo))
    }

    fn job_charge(&self, job: usize, policy: &Policy) -> Fraction {
        let used = self.used(policy, &self.tasks_of(job), &self.no_bound());
        used.plus(&self.topped_up(policy, self.jobs[job].counts.pseudo))
    }

    fn tasks_below(&self, q: usize) -> Vec<Charged> {
        let known = self.charged_tasks_from(self.queues[q].first_task);
        let below =
            known.filter(|task| self.is_below(task.queue, q)).map(|task| self.charged(task));
        let idle = self.idle[self.queues[q].first_idle..].iter();
        let idle = idle.filter(|idle| self.is_charged(idle) && self.is_below(idle.queue, q));
        below.chain(idle.map(|idle| self.charged_idle(idle))).collect()
    }

    fn tasks_of(&self, job: usize) -> Vec<Charged> {
        let ours =
            self.charged_tasks().filter(|task| task.job == job).map(|task| self.charged(task));
        let idle = self.idle.iter().filter(|idle| self.is_charged(idle) && idle.job == job);
        ours.chain(idle.map(|idle| self.charged_idle(idle))).collect()
    }

    fn is_charged(&self, idle: &Idle) -> bool {
        self.queues[0].spec.policy.charge_reservations && idle.from < self.now
    }

    /// Room held idle counts as a task that has ended: by now, if it is held still.
    fn charged_idle(&self, idle: &Idle) -> Charged {
        let (start, end) = (idle.from, Some(idle.until.unwrap_or(self.now)));
        Charged { demand: idle.amounts, node: idle.node, start, end, quantum: 0 }
    }

    /// Jobs have no share.
    fn no_bound(&self) -> [(u64, Resources); 1] {
        let mut no_bound = self.share(0);
        no_bound.as_mut_slice().fill(u64::MAX);
        [(0, no_bound)]
    }

    /// What is held is held, whatever the weight of the node.
    fn scalar_held<'a>(&self, tasks: impl Iterator<Item = &'a Task>, policy: &Policy) -> Fraction {
        if policy.scalar == Scalar::Dominant {
            let mut held = Resources::zero(self.share(0).kinds());
            tasks.for_each(|task| held.add(&task.demand));
            return self.share_of(&held);
        }
        let held: u64 = tasks.map(|task| rate(&policy.scalar, &task.demand, 1000)).sum();
        Fraction::new(u128::from(held), 1)
    }

    pub(crate) fn bound(&self, policy: &Policy, amounts: &Resources) -> Fraction {
        match &policy.scalar {
            Scalar::Dominant => self.share_of(amounts),
            scalar => Fraction::new(u128::from(rate(scalar, amounts, 1000)), 1),
        }
    }

    fn held_of_queue(&self, q: usize, policy: &Policy) -> Fraction {
        let below = |task: &&Task| self.is_below(task.queue, q);
        self.scalar_held(self.running().filter(below), policy)
    }

    /// The key of a queue that holds less than its minimum share.
    pub(crate) fn key_below_minimum(&self, q: usize) -> Option<Ratio> {
        let policy = &self.queues[self.queues[q].parent.expect("not the root")].spec.policy;
        let held = self.held_of_queue(q, policy);
        let min = self.queues[q].spec.min.map_or(Fraction::zero(), |min| self.bound(policy, &min));
        let key = || Ratio { tier: Tier::BelowMinimum, value: held.over(&min), unit: 1.0 };
        held.order(&min).is_lt().then(key)
    }

    pub(crate) fn queue_key(&self, q: usize) -> Ratio {
        if let Some(key) = self.key_below_minimum(q) {
            return key;
        }
        let policy = &self.queues[self.queues[q].parent.expect("not the root")].spec.policy;
        let (spec, held) = (&self.queues[q].spec, self.held_of_queue(q, policy));
        if policy.per_server && policy.fairness.is_none() {
            return self.key_on_server(q);
        }
        let value = match policy.measure {
            Measure::Arrival => {
                let waits = |&j: &usize| self.jobs[j].alive && self.is_below(self.jobs[j].queue, q);
                let first = (0..self.jobs.len()).filter(waits).find(|&j| {
                    (0..self.jobs[j].groups.len()).any(|group| self.unheld(j, group) > 0)
                });
                Fraction::new(first.expect("it demands something") as u128, 1)
            }
            Measure::Allocation if self.is_rescaled(q) => {
                largest(self.rescaled(q, &self.ready())).over(&whole(spec.weight))
            }
            Measure::Allocation => held.over(&whole(spec.weight)),
            Measure::TaskShare => {
                let below = self.running().filter(|task| self.is_below(task.queue, q));
                self.task_share(below).over(&whole(spec.weight))
            }
            Measure::Usage => self.queue_charge(q, policy).over(&whole(spec.weight)),
            Measure::Commitment => unreachable!("{COMMITMENTS}"),
            Measure::Told => {
                let Rank { amount, step, per, quota } = self.queues[q].rank;
                let beyond = if held.order(&whole(quota)).is_lt() { 0 } else { 1u128 << 87 };
                let held = held.times(&whole(u64::from(step)));
                let stands = whole(amount).plus(&held).over(&whole(per.get().into()));
                stands.plus(&Fraction::new(beyond, 1))
            }
        };
        Ratio::ordinary(value, self.unit(policy))
    }

    pub(crate) fn job_key(&self, job: usize) -> Ratio {
        let policy = &self.queues[self.jobs[job].queue].spec.policy;
        let weight = whole(self.jobs[job].weight);
        let value = match policy.measure {
            Measure::Arrival | Measure::Told => Fraction::new(job as u128, 1),
            Measure::Allocation => {
                let ours = self.running().filter(|task| task.job == job);
                self.scalar_held(ours, policy).over(&weight)
            }
            Measure::TaskShare => {
                self.task_share(self.running().filter(|task| task.job == job)).over(&weight)
            }
            Measure::Usage => self.job_charge(job, policy).over(&weight),
            Measure::Commitment => unreachable!("{COMMITMENTS}"),
        };
        Ratio::ordinary(value, self.unit(policy))
    }

    /// u_i / S_i of the starvation guard (TSC'18 Algorithm 2, with the single-level LTRF of Theorem
    /// 1: Algorithm 1, whose user i contributed S_i, Eq. 2): by the root's policy, whatever the
    /// parents', over the leaf's part of the root.
    pub(crate) fn guard_key(&self, leaf: usize) -> Ratio {
        let policy = &self.queues[0].spec.policy;
        let ours = self.charged_tasks().filter(|task| task.queue == leaf);
        let tasks: Vec<Charged> = ours.map(|task| self.charged(task)).collect();
        let used = self.used(policy, &tasks, &self.queues[leaf].shares);
        Ratio::ordinary(used.over(&self.part_of_root(leaf)), 1.0)
    }

    /// A queue's part of its parent, times its parent's part of the root: w_i over the sum of w_k
    /// of all children of the parent, whether they want anything or not.
    fn part_of_root(&self, q: usize) -> Fraction {
        let Some(parent) = self.queues[q].parent else { return Fraction::new(1, 1) };
        let all: u64 = self.children(parent).iter().map(|&c| self.queues[c].spec.weight).sum();
        let part = whole(self.queues[q].spec.weight).over(&whole(all));
        part.times(&self.part_of_root(parent))
    }

    /// A new round forgets who arrived when, but for those with a task across its start (Eq. 14).
    pub(crate) fn refresh_counts(&mut self) {
        let now = self.now;
        let straddles =
            |task: &Task, round: u64| task.start <= round && task.end.is_none_or(|end| end > round);
        for q in 1..self.queues.len() {
            let policy = &self.queues[self.queues[q].parent.expect("not the root")].spec.policy;
            let round = round_start(policy, now);
            if round > self.queues[q].counts.round {
                let any =
                    self.tasks.iter().any(|t| self.is_below(t.queue, q) && straddles(t, round));
                let counts = &mut self.queues[q].counts;
                (counts.round, counts.pseudo, counts.since) = (round, 0, any.then_some(round));
                counts.straddles = any;
            }
        }
        for job in 0..self.jobs.len() {
            let round = round_start(&self.queues[self.jobs[job].queue].spec.policy, now);
            if round > self.jobs[job].counts.round {
                let any = self.tasks.iter().any(|t| t.job == job && straddles(t, round));
                let counts = &mut self.jobs[job].counts;
                (counts.round, counts.pseudo, counts.since) = (round, 0, any.then_some(round));
                counts.straddles = any;
            }
        }
    }

    pub(crate) fn top_up_queue(&mut self, q: usize) {
        let parent = self.queues[q].parent.expect("not the root");
        let policy = self.queues[parent].spec.policy.clone();
        if !tops_up(&policy) {
            return;
        }
        let since = self.queues[q].counts.since;
        let active = |&o: &usize| {
            self.waiting(o) > 0 || self.running().any(|task| self.is_below(task.queue, o))
        };
        let earlier = |&o: &usize| self.queues[o].counts.since.is_some_and(|at| Some(at) < since);
        let others =
            self.children(parent).into_iter().filter(|&o| o != q).filter(active).filter(earlier);
        let units = |o: usize| {
            let used = self.units(&policy, &self.tasks_below(o), &self.queues[o].shares);
            used + self.queues[o].counts.pseudo
        };
        let rows = others.map(|o| (units(o), self.queues[o].spec.weight)).collect();
        self.queues[q].counts.pseudo = pseudo(&policy, self.queues[q].spec.weight, rows);
    }

    pub(crate) fn top_up_job(&mut self, job: usize) {
        let queue = self.jobs[job].queue;
        let policy = self.queues[queue].spec.policy.clone();
        if !tops_up(&policy) {
            return;
        }
        let since = self.jobs[job].counts.since;
        let active =
            |&o: &usize| self.job_waiting(o) > 0 || self.running().any(|task| task.job == o);
        let earlier = |&o: &usize| self.jobs[o].counts.since.is_some_and(|at| Some(at) < since);
        let ours = |&o: &usize| o != job && self.jobs[o].alive && self.jobs[o].queue == queue;
        let others = (0..self.jobs.len()).filter(ours).filter(active).filter(earlier);
        let units = |o: usize| {
            let used = self.units(&policy, &self.tasks_of(o), &self.no_bound());
            used + self.jobs[o].counts.pseudo
        };
        let rows = others.map(|o| (units(o), self.jobs[o].weight)).collect();
        self.jobs[job].counts.pseudo = pseudo(&policy, self.jobs[job].weight, rows);
    }
}

/// Whether newcomers get anything.
pub(crate) fn tops_up(policy: &Policy) -> bool {
    policy.measure == Measure::Usage && policy.newcomer != Newcomer::Zero
}

/// phi of a newcomer (Eq. 10, 16), weighted.
fn pseudo(policy: &Policy, weight: u64, earlier: Vec<(u128, u64)>) -> u128 {
    let phi = |(charge, of): &(u128, u64)| charge * u128::from(weight) / u128::from(*of);
    match policy.newcomer {
        Newcomer::Zero => 0,
        Newcomer::EarlyBird => earlier.iter().map(phi).max().unwrap_or(0),
        Newcomer::Average => {
            let sums = earlier.iter().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
            if sums.1 == 0 { 0 } else { phi(&sums) }
        }
    }
}
