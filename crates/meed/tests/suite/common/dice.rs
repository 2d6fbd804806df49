//! Random configurations and jobs from a list of numbers, so that a failing case shrinks to few and
//! small ones.

use super::{S, SimJob, kinds, node, queue, span};
use meed::*;
use proptest::prelude::*;
use std::num::NonZeroU32;

/// A list of throws; zero when it is used up.
#[derive(Clone)]
pub(crate) struct Dice {
    throws: Vec<u16>,
    next: usize,
}

pub(crate) fn dice(most: usize) -> impl Strategy<Value = Dice> {
    prop::collection::vec(any::<u16>(), 0..most).prop_map(|throws| Dice { throws, next: 0 })
}

impl std::fmt::Debug for Dice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.throws.fmt(f)
    }
}

impl Dice {
    /// These throws.
    pub(crate) fn of(throws: Vec<u16>) -> Dice {
        Dice { throws, next: 0 }
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next += 1;
        u64::from(self.throws.get(self.next - 1).copied().unwrap_or(0)) % n
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    pub(crate) fn amounts(&mut self, kinds: usize, most: u64) -> Resources {
        let mut amounts: Vec<u64> = (0..kinds).map(|_| self.below(most + 1)).collect();
        amounts[0] = amounts[0].max(u64::from(amounts.iter().all(|&amount| amount == 0)));
        Resources::new(&amounts)
    }

    /// Constraints that some nodes satisfy, mostly; `None` for most tasks.
    pub(crate) fn constraints(&mut self) -> Option<Box<Constraints>> {
        let mut constraints = Constraints::default();
        let values = |label: &str, values: &[&str]| -> meed::constraints::LabelValues {
            [(label.to_owned(), values.iter().map(|&value| value.to_owned()).collect())].into()
        };
        match self.below(12) {
            0 => constraints.require = values("zone", &["a"]),
            1 => constraints.forbid = values("zone", &["b", "c"]),
            2 => constraints.require = values("disk", &[]),
            3 => constraints.forbid = values("disk", &[]),
            4 => constraints.distinct_nodes = true,
            5 => {
                constraints.distinct_nodes = true;
                constraints.forbid = values("zone", &["a"]);
            }
            _ => return None,
        }
        Some(Box::new(constraints))
    }

    /// A gang of so many tasks, mostly a right one; `None` for most groups.
    pub(crate) fn gang(&mut self, count: u32) -> Option<Box<Gang>> {
        let least = match self.below(8) {
            0 | 1 => count,
            2 => count.div_ceil(2),
            3 => self.below(4) as u32,
            _ => return None,
        };
        let same = self.pick(&[None, None, Some("zone"), Some("disk"), Some("rack")]);
        let same = same.map(str::to_owned);
        Some(Box::new(Gang { least, same, joint: false }))
    }

    pub(crate) fn weight(&mut self) -> u64 {
        self.pick(&[1000, 1000, 2000, 500, 333, 1, 7919])
    }

    /// An order of which each server decides on its own.
    pub(crate) fn by_server(&mut self) -> Policy {
        let mut order =
            super::policy(self.pick(&["per-server-drf", "rps-dsf", "tetris", "tetris"]));
        order.fairness = order.fairness.map(|usual| self.pick(&[usual, 0, 500, 999, 1000]));
        order
    }

    /// An order of a queue. One that is not drawn here is compared with no twin in most suites.
    pub(crate) fn policy(&mut self, kinds: usize) -> Policy {
        let order = self.pick(&["long-term", "fair", "fifo", "long-term", "tsf"]);
        let mut policy = Policy::preset(order).expect("known");
        policy.quantum = Quantum::Fixed(span(self.pick(&[S, 0, 3 * S, S / 2, 20 * S])));
        policy.memory = self.pick(&[Memory::Forever, Memory::Forever, Memory::Rounds(span(7 * S))]);
        policy.discount = self.pick(&[1000, 1000, 500, 0, 250]);
        policy.newcomer =
            self.pick(&[Newcomer::Zero, Newcomer::Zero, Newcomer::EarlyBird, Newcomer::Average]);
        policy.scalar = match self.below(8) {
            _ if policy.measure == Measure::TaskShare => Scalar::Dominant,
            4.. => Scalar::Dominant,
            0 => Scalar::Priced((0..kinds as u64).map(|kind| (1 << 32) >> kind).collect()),
            kind => Scalar::Kind(kind as usize % kinds),
        };
        policy
    }

    pub(crate) fn reclaim(&mut self) -> Reclaim {
        let grace = span(self.pick(&[S, 0, S / 2]));
        Reclaim {
            after: span(self.pick(&[2 * S, S, S / 2, 6 * S])),
            min_runtime: span(self.pick(&[0, S, S / 3])),
            guard: span(self.pick(&[S, 3 * S, 20 * S])),
            grace,
        }
    }

    /// Nested queue names, parents first, with the leaves in the order of their names `l0`, `l1`,
    /// ...
    pub(crate) fn tree(&mut self) -> Vec<(String, bool)> {
        let leaves = 1 + self.below(6);
        let depth = 1 + self.below(4);
        let mut rows: Vec<(String, bool)> = Vec::new();
        for leaf in 0..leaves {
            let mut path = String::new();
            for level in 1..depth {
                // Groups at each level by halves, so that some share a parent and some do not.
                if self.below(3) == 0 {
                    break;
                }
                path.push_str(&format!("g{}", self.below(level + 1)));
                if !rows.iter().any(|(name, _)| *name == path) {
                    rows.push((path.clone(), false));
                }
                path.push('.');
            }
            rows.push((format!("{path}l{leaf}"), true));
        }
        rows
    }

    pub(crate) fn nodes(&mut self, kinds: usize) -> Vec<NodeSpec> {
        let count = 1 + self.below(3);
        let one = |index: u64, dice: &mut Dice| {
            let mut spec = node(&format!("n{index}"), dice.amounts(kinds, 12));
            spec.weight = dice.pick(&[1000, 1000, 1500, 300]);
            spec.labels = dice
                .pick(&[
                    &[][..],
                    &[("zone", "a")],
                    &[("zone", "b")],
                    &[("zone", "a"), ("disk", "ssd")],
                ])
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            spec
        };
        (0..count).map(|index| one(index, self)).collect()
    }

    /// A whole configuration: any policies, bounds on some queues.
    pub(crate) fn config(&mut self) -> Config {
        let kind_count = 1 + self.below(3) as usize;
        let nodes = self.nodes(kind_count);
        let mut root = self.policy(kind_count);
        let two = Reservations::AtMost(NonZeroU32::new(2).expect("above zero"));
        root.blocked = self.pick(&[
            Blocked::Skip,
            Blocked::Skip,
            Blocked::Wait,
            Blocked::Reserve(Reservations::ONE),
            Blocked::Reserve(two),
            Blocked::Reserve(Reservations::All),
        ]);
        root.charge_reservations = nodes.len().is_multiple_of(2);
        if matches!(root.blocked, Blocked::Reserve(_)) && self.below(3) == 0 {
            root.reserve_after = span(self.pick(&[S / 2, S, 3 * S, 10 * S]));
        }
        if matches!(root.blocked, Blocked::Reserve(_)) {
            root.estimates = self.pick(&[Estimates::Limits, Estimates::Learned]);
        }
        if matches!(root.blocked, Blocked::Reserve(_)) && self.below(2) == 0 {
            root.reclaim = Some(self.reclaim());
        }
        let mut queues: Vec<QueueSpec> = Vec::new();
        for (name, _) in self.tree() {
            let mut spec = queue(&name, self.weight(), self.policy(kind_count));
            // Minima on top-level queues only: below, they would have to fit into the parent's.
            if !name.contains('.') && self.below(3) == 0 {
                spec.min = Some(self.amounts(kind_count, 3));
            }
            if self.below(4) == 0 {
                let most = self
                    .amounts(kind_count, 12)
                    .as_slice()
                    .iter()
                    .map(|a| a + 3)
                    .collect::<Vec<_>>();
                spec.max = Some(Resources::new(&most));
            }
            queues.push(spec);
        }
        // Of what was thrown already: what was found at random is found again.
        root.spares = (queues.len() + nodes.len()) as u32 % 3;
        Config {
            kinds: kinds(kind_count),
            measured: self.below(kind_count as u64) as usize,
            root,
            queues,
            nodes,
        }
    }

    /// A tree of up to five levels that orders by dominant shares throughout, without maximum
    /// shares.
    pub(crate) fn deep_drf_config(&mut self, weights: &[u64]) -> Config {
        let kind_count = 1 + self.below(3) as usize;
        let nodes = self.nodes(kind_count);
        let drf = Policy { quantum: Quantum::Fixed(span(S)), ..Policy::new(Measure::Allocation) };
        let drf = Policy { scalar: Scalar::Dominant, ..drf };
        let mut parents = vec![String::new()];
        for number in 0..self.below(7) {
            let above = self.pick(&parents);
            if above.matches('.').count() < 3 {
                let dot = if above.is_empty() { "" } else { "." };
                parents.push(format!("{above}{dot}g{number}"));
            }
        }
        // Every parent has a leaf, and a few have more.
        let more = self.below(5);
        let mut names = parents[1..].to_vec();
        for leaf in 0..parents.len() as u64 + more {
            let above = match parents.get(leaf as usize) {
                Some(parent) => parent.clone(),
                None => self.pick(&parents),
            };
            let dot = if above.is_empty() { "" } else { "." };
            names.push(format!("{above}{dot}l{leaf}"));
        }
        let spec = |(number, name): (usize, &String)| {
            let weight = if self.below(2) == 0 { 1000 } else { weights[number % weights.len()] };
            let min =
                (!name.contains('.') && self.below(4) == 0).then(|| self.amounts(kind_count, 3));
            QueueSpec { min, ..queue(name, weight, drf.clone()) }
        };
        let queues = names.iter().enumerate().map(spec).collect();
        let measured = self.below(kind_count as u64) as usize;
        Config { kinds: kinds(kind_count), measured, root: drf.clone(), queues, nodes }
    }

    /// The same with few parents, two to four levels deep, and many leaves below each, so that
    /// several wait for the same; now and then one has a minimum or a maximum share.
    pub(crate) fn wide_drf_config(&mut self, weights: &[u64], order: &Policy) -> Config {
        let kind_count = 2;
        let mut parents = vec![String::new()];
        for number in 0..1 + self.below(4) {
            let above = self.pick(&parents);
            let dot = if above.is_empty() { "" } else { "." };
            parents.push(format!("{above}{dot}g{number}"));
        }
        let mut names = parents[1..].to_vec();
        for leaf in 0..parents.len() + 6 + self.below(14) as usize {
            let above = &parents[leaf % parents.len()];
            let dot = if above.is_empty() { "" } else { "." };
            names.push(format!("{above}{dot}l{leaf}"));
        }
        let bounded = self.below(3);
        let spec = |(number, name): (usize, &String)| {
            let weight = if self.below(2) == 0 { 1000 } else { weights[number % weights.len()] };
            let min = !name.contains('.') && bounded == 1 && self.below(4) == 0;
            let max = !min && bounded == 2 && self.below(6) == 0;
            let (min, max) = (
                min.then(|| self.amounts(kind_count, 3)),
                max.then(|| self.amounts(kind_count, 12)),
            );
            QueueSpec { min, max, ..queue(name, weight, order.clone()) }
        };
        let queues = names.iter().enumerate().map(spec).collect();
        let nodes = self.nodes(kind_count);
        let measured = self.below(kind_count as u64) as usize;
        Config { kinds: kinds(kind_count), measured, root: order.clone(), queues, nodes }
    }

    /// Up to `most` jobs for the leaves of `config`; only demands that some node can hold and no
    /// maximum forbids.
    pub(crate) fn jobs(&mut self, config: &Config, most: u64) -> Vec<SimJob> {
        let has_child = |q: &QueueSpec| {
            config.queues.iter().any(|o| o.name.starts_with(&format!("{}.", q.name)))
        };
        let ids: Vec<QueueId> = super::engine(config).view().queue_ids().skip(1).collect();
        let leaves: Vec<usize> =
            (0..ids.len()).filter(|&i| !has_child(&config.queues[i])).collect();
        let (count, mut jobs, mut at) = (self.below(most + 1), Vec::new(), 0);
        for _ in 0..count {
            at += self.pick(&[0, 0, S, 2 * S, S / 3, 7 * S]);
            let leaf = self.pick(&leaves);
            let on_path = |q: &&QueueSpec| {
                let name = &config.queues[leaf].name;
                *name == q.name || name.starts_with(&format!("{}.", q.name))
            };
            let maxima: Vec<Resources> =
                config.queues.iter().filter(on_path).filter_map(|q| q.max).collect();
            let mut groups = Vec::new();
            for _ in 0..1 + self.below(3) {
                let demand = self.amounts(config.kinds.len(), 4);
                let fits = config.nodes.iter().any(|node| demand.fits_in(&node.capacity))
                    && maxima.iter().all(|max| demand.fits_in(max));
                let tasks = (0..1 + self.below(4))
                    .map(|_| self.pick(&[S, 2 * S, S / 2, 5 * S, 0, 9 * S]))
                    .collect();
                if fits {
                    groups.push((demand, tasks));
                }
            }
            if !groups.is_empty() {
                jobs.push(SimJob { queue: ids[leaf], at, weight: self.weight(), groups });
            }
        }
        jobs
    }
}
