//! The slow twin's charges, by definition: a sum over all tasks that ever ran, computed anew at
//! each look.

use super::model::{Model, Task};
use meed::*;

/// A key as two integers, amount over weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) tier: Tier,
    pub(crate) amount: u128,
    pub(crate) weight: u64,
    /// What it is shown in.
    pub(crate) unit: f64,
}

impl Ratio {
    /// Whether this one comes before `other` by value alone. The test's amounts are small enough to
    /// multiply.
    pub(crate) fn cmp_value(&self, other: &Ratio) -> std::cmp::Ordering {
        let product =
            |a: u128, b: u64| a.checked_mul(u128::from(b)).expect("test amounts are small");
        let values = product(self.amount, other.weight).cmp(&product(other.amount, self.weight));
        self.tier.cmp(&other.tier).then(values)
    }

    pub(crate) fn as_f64(&self) -> f64 {
        self.amount as f64 / self.weight as f64 * self.unit
    }
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

fn quantum(policy: &Policy) -> u64 {
    match policy.quantum {
        Quantum::Fixed(span) => span.as_micros(),
        Quantum::Adaptive { .. } => panic!("the twin knows fixed quanta only"),
    }
}

impl Model {
    fn rate_of(&self, task: &Task, policy: &Policy) -> u64 {
        rate(&policy.scalar, &task.demand, self.nodes[task.node].spec.weight)
    }

    /// f_i without PAR; of dominant shares the largest part of the pool over all kinds.
    fn used(&self, policy: &Policy, tasks: &[&Task], shares: &[(u64, Resources)]) -> u128 {
        let of_scalar = |scalar: &Scalar| {
            let shares: Vec<(u64, u64)> =
                shares.iter().map(|(at, share)| (*at, rate_of_share(scalar, share))).collect();
            self.used_of(&Policy { scalar: scalar.clone(), ..policy.clone() }, tasks, &shares)
        };
        match &policy.scalar {
            Scalar::Dominant => {
                let kinds = 0..self.share(0).kinds();
                kinds
                    .map(|kind| self.parts(kind, of_scalar(&Scalar::Kind(kind))))
                    .max()
                    .unwrap_or(0)
            }
            scalar => of_scalar(scalar),
        }
    }

    /// How many parts the pool has.
    pub(crate) fn pool_parts(&self) -> u128 {
        let pool = self.pool;
        let there = (0..pool.kinds()).find(|&kind| pool.get(kind) > 0).unwrap_or(0);
        self.parts(there, u128::from(pool.get(there)))
    }

    /// Parts of the pool that an amount of one kind is: of their least common multiple, by
    /// schoolbook.
    fn parts(&self, kind: usize, amount: u128) -> u128 {
        parts_of(&self.pool, kind, amount)
    }

    /// The key of a queue on the server whose turn it is.
    fn key_on_server(&self, q: usize) -> Ratio {
        let node = self.server().expect("some server's turn");
        let whole = self.nodes[node].spec.capacity;
        let here = |task: &&Task| task.node == node && self.is_below(task.queue, q);
        let share = |kind: usize| {
            let held: u64 = self.running().filter(here).map(|task| task.demand.get(kind)).sum();
            parts_of(&whole, kind, u128::from(held))
        };
        let amount = (0..whole.kinds()).map(share).max().unwrap_or(0);
        let there = (0..whole.kinds()).find(|&kind| whole.get(kind) > 0).unwrap_or(0);
        let unit = 1000.0 / parts_of(&whole, there, u128::from(whole.get(there))) as f64;
        Ratio { tier: Tier::Ordinary, amount, weight: self.queues[q].spec.weight, unit }
    }
}

/// Parts of `pool` that an amount of one kind is.
fn parts_of(pool: &Resources, kind: usize, amount: u128) -> u128 {
    let there =
        || pool.as_slice().iter().map(|&amount| u128::from(amount)).filter(|&amount| amount > 0);
    let largest = there().max().unwrap_or(1);
    let parts =
        (1..).map(|times| times * largest).find(|parts| there().all(|amount| parts % amount == 0));
    match pool.get(kind) {
        0 => 0,
        capacity => amount * parts.expect("there is one") / u128::from(capacity),
    }
}

impl Model {
    /// Dominant shares are shown as parts of one, or as such parts x seconds.
    fn unit(&self, policy: &Policy) -> f64 {
        let whole = || self.pool_parts() as f64;
        match (&policy.scalar, policy.measure) {
            (Scalar::Dominant, Measure::Allocation) => 1000.0 / whole(),
            (Scalar::Dominant, Measure::Usage) => 1.0 / (whole() * 1e6),
            _ => 1.0,
        }
    }

    /// Parts of each kind that `tasks` hold.
    fn parts_held<'a>(&self, tasks: impl Iterator<Item = &'a Task>) -> Vec<u128> {
        let mut held = vec![0u128; self.share(0).kinds()];
        for task in tasks {
            (0..held.len()).for_each(|kind| held[kind] += u128::from(task.demand.get(kind)));
        }
        held.iter().enumerate().map(|(kind, &amount)| self.parts(kind, amount)).collect()
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

    /// Parts that count for `q` among its siblings: those of its ready children at the level of the
    /// least of them.
    fn rescaled(&self, q: usize, ready: &[usize]) -> Vec<u128> {
        if !self.is_rescaled(q) {
            // Node weights are the ledgers' business; what a queue holds is held whatever the node.
            let held = self.held(q);
            return (0..held.kinds())
                .map(|kind| self.parts(kind, u128::from(held.get(kind))))
                .collect();
        }
        let leads = |&c: &usize| ready.iter().any(|&leaf| self.is_below(leaf, c));
        let children: Vec<(Vec<u128>, u64)> = self
            .children(q)
            .into_iter()
            .filter(leads)
            .map(|c| (self.rescaled(c, ready), self.queues[c].spec.weight))
            .collect();
        let share = |parts: &[u128]| parts.iter().copied().max().unwrap_or(0);
        let mut sum = vec![0; self.share(0).kinds()];
        let least = children
            .iter()
            .min_by(|a, b| (share(&a.0) * u128::from(b.1)).cmp(&(share(&b.0) * u128::from(a.1))));
        let Some((least, least_weight)) = least else { return sum };
        for (parts, weight) in children.iter().filter(|_| share(least) > 0) {
            let factor = ((share(least) * u128::from(*weight)) << 40)
                / (share(parts) * u128::from(*least_weight));
            (0..sum.len()).for_each(|kind| sum[kind] += (parts[kind] * factor) >> 40);
        }
        sum
    }

    /// Eq. 9, 13, 15; with a discount Eq. 7, 8. `shares` is the history of S_i.
    fn used_of(&self, policy: &Policy, tasks: &[&Task], shares: &[(u64, u64)]) -> u128 {
        let (now, from) = (self.now, round_start(policy, self.now));
        let begin = |task: &Task| task.start.max(from);
        if policy.discount == 1000 {
            let lasted = |task: &&Task| match task.end {
                Some(end) => end.saturating_sub(begin(task)),
                None => (now - begin(task)).max(quantum(policy)),
            };
            return tasks
                .iter()
                .map(|t| u128::from(self.rate_of(t, policy)) * 1000 * u128::from(lasted(t)))
                .sum();
        }
        let mut cuts: Vec<u64> = vec![from, now];
        for task in tasks {
            cuts.extend([task.start, task.end.unwrap_or(now), begin(task) + quantum(policy)]);
        }
        cuts.extend(shares.iter().map(|(at, _)| *at));
        cuts.sort_unstable();
        let mut sum = 0;
        for cut in cuts.windows(2).filter(|cut| cut[0] >= from && cut[0] < cut[1]) {
            let holds = |task: &&&Task| match task.end {
                Some(end) => task.start <= cut[0] && cut[0] < end,
                None => {
                    task.start <= cut[0] && (cut[0] < now || cut[0] < begin(task) + quantum(policy))
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

    /// f_i of a queue by its parent's policy, PAR included.
    pub(crate) fn queue_charge(&self, q: usize, policy: &Policy) -> u128 {
        let tasks: Vec<&Task> =
            self.charged_tasks().filter(|task| self.is_below(task.queue, q)).collect();
        self.used(policy, &tasks, &self.queues[q].shares) + self.queues[q].counts.pseudo
    }

    fn job_charge(&self, job: usize, policy: &Policy) -> u128 {
        let tasks: Vec<&Task> = self.charged_tasks().filter(|task| task.job == job).collect();
        let mut no_bound = self.share(0);
        no_bound.as_mut_slice().fill(u64::MAX);
        self.used(policy, &tasks, &[(0, no_bound)]) + self.jobs[job].counts.pseudo
    }

    fn scalar_held<'a>(&self, tasks: impl Iterator<Item = &'a Task>, policy: &Policy) -> u64 {
        if policy.scalar == Scalar::Dominant {
            return self.parts_held(tasks).into_iter().max().unwrap_or(0) as u64;
        }
        // What is held is held, whatever the weight of the node.
        tasks.map(|task| rate(&policy.scalar, &task.demand, 1000)).sum()
    }

    fn bound(&self, policy: &Policy, amounts: &Resources) -> u64 {
        match &policy.scalar {
            Scalar::Dominant => {
                let kinds = 0..amounts.kinds();
                kinds.map(|kind| self.parts(kind, u128::from(amounts.get(kind)))).max().unwrap_or(0)
                    as u64
            }
            scalar => rate(scalar, amounts, 1000),
        }
    }

    pub(crate) fn queue_key(&self, q: usize) -> Ratio {
        let policy = &self.queues[self.queues[q].parent.expect("not the root")].spec.policy;
        let (spec, below) = (&self.queues[q].spec, |task: &&Task| self.is_below(task.queue, q));
        let held = self.scalar_held(self.running().filter(below), policy);
        let min = spec.min.map_or(0, |min| self.bound(policy, &min));
        if held < min {
            return Ratio {
                tier: Tier::BelowMinimum,
                amount: u128::from(held),
                weight: min,
                unit: 1.0,
            };
        }
        if policy.per_server {
            return self.key_on_server(q);
        }
        let (amount, weight) = match policy.measure {
            Measure::Arrival => {
                let waits = |&j: &usize| self.jobs[j].alive && self.is_below(self.jobs[j].queue, q);
                let first = (0..self.jobs.len()).filter(waits).find(|&j| self.job_waiting(j) > 0);
                (first.expect("it demands something") as u128, 1)
            }
            Measure::Allocation if self.is_rescaled(q) => {
                (self.rescaled(q, &self.ready()).into_iter().max().unwrap_or(0), spec.weight)
            }
            Measure::Allocation => (u128::from(held), spec.weight),
            Measure::Usage => (self.queue_charge(q, policy), spec.weight),
        };
        Ratio { tier: Tier::Ordinary, amount, weight, unit: self.unit(policy) }
    }

    pub(crate) fn job_key(&self, job: usize) -> Ratio {
        let policy = &self.queues[self.jobs[job].queue].spec.policy;
        let (amount, weight) = match policy.measure {
            Measure::Arrival => (job as u128, 1),
            Measure::Allocation => {
                let ours = self.running().filter(|task| task.job == job);
                (u128::from(self.scalar_held(ours, policy)), self.jobs[job].weight)
            }
            Measure::Usage => (self.job_charge(job, policy), self.jobs[job].weight),
        };
        Ratio { tier: Tier::Ordinary, amount, weight, unit: self.unit(policy) }
    }

    /// u_i / w_i of the starvation guard: by the root's policy, whatever the parents'.
    pub(crate) fn guard_key(&self, leaf: usize) -> Ratio {
        let policy = &self.queues[0].spec.policy;
        let tasks: Vec<&Task> = self.charged_tasks().filter(|task| task.queue == leaf).collect();
        let amount = self.used(policy, &tasks, &self.queues[leaf].shares);
        Ratio { tier: Tier::Ordinary, amount, weight: self.queues[leaf].spec.weight, unit: 1.0 }
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
            }
        }
        for job in 0..self.jobs.len() {
            let round = round_start(&self.queues[self.jobs[job].queue].spec.policy, now);
            if round > self.jobs[job].counts.round {
                let any = self.tasks.iter().any(|t| t.job == job && straddles(t, round));
                let counts = &mut self.jobs[job].counts;
                (counts.round, counts.pseudo, counts.since) = (round, 0, any.then_some(round));
            }
        }
    }

    pub(crate) fn top_up_queue(&mut self, q: usize) {
        let parent = self.queues[q].parent.expect("not the root");
        let policy = self.queues[parent].spec.policy.clone();
        let since = self.queues[q].counts.since;
        let active = |&o: &usize| {
            self.waiting(o) > 0 || self.running().any(|task| self.is_below(task.queue, o))
        };
        let earlier = |&o: &usize| self.queues[o].counts.since.is_some_and(|at| Some(at) < since);
        let others =
            self.children(parent).into_iter().filter(|&o| o != q).filter(active).filter(earlier);
        let rows =
            others.map(|o| (self.queue_charge(o, &policy), self.queues[o].spec.weight)).collect();
        self.queues[q].counts.pseudo = pseudo(&policy, self.queues[q].spec.weight, rows);
    }

    pub(crate) fn top_up_job(&mut self, job: usize) {
        let queue = self.jobs[job].queue;
        let policy = self.queues[queue].spec.policy.clone();
        let since = self.jobs[job].counts.since;
        let active =
            |&o: &usize| self.job_waiting(o) > 0 || self.running().any(|task| task.job == o);
        let earlier = |&o: &usize| self.jobs[o].counts.since.is_some_and(|at| Some(at) < since);
        let ours = |&o: &usize| o != job && self.jobs[o].alive && self.jobs[o].queue == queue;
        let others = (0..self.jobs.len()).filter(ours).filter(active).filter(earlier);
        let rows = others.map(|o| (self.job_charge(o, &policy), self.jobs[o].weight)).collect();
        self.jobs[job].counts.pseudo = pseudo(&policy, self.jobs[job].weight, rows);
    }
}

/// phi of a newcomer (Eq. 10, 16), weighted.
fn pseudo(policy: &Policy, weight: u64, earlier: Vec<(u128, u64)>) -> u128 {
    if policy.measure != Measure::Usage {
        return 0;
    }
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
