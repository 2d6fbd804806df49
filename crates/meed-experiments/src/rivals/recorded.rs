//! Another scheduler's rule over runs whose starts and ends are known: where it puts each leaf at
//! one instant.
//!
//! > ticks at multiples of the cadence, and a last one at the instant that is asked for
//!
//! No engine and no order: who ran when is given, as a log tells it or as a simulation gave it. So
//! a rule can be held against what its scheduler printed at that instant.
//!
//! Cost: O(ticks x queues + runs log runs).

use std::collections::{BTreeMap, BTreeSet};

use meed::{Config, Rank, Time};

use super::rule::{Child, Rule, Seen};
use super::table::Chosen;

/// Something that was held from one instant to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HeldSpan {
    /// Whose: a place in [`Config::queues`].
    pub(crate) queue: usize,
    pub(crate) from: Time,
    pub(crate) to: Time,
    /// Of the measured resource, smallest units.
    pub(crate) amount: u64,
}

/// Where a leaf stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeafStanding {
    /// Its place in a walk from the root, from 0; siblings that the rule puts alike have one.
    pub place: usize,
    /// What the rule holds against it, unit-seconds.
    pub used: f64,
}

/// A parent's children, as places in [`Config::queues`].
struct Family {
    children: Vec<usize>,
    rule: Box<dyn Rule>,
    seen: Vec<Child>,
}

/// Where `chosen` puts the leaves of `config` at `at`, by their full names.
pub(crate) fn standings(
    config: &Config,
    runs: &[HeldSpan],
    at: Time,
    chosen: &Chosen,
) -> BTreeMap<String, LeafStanding> {
    let unit = config.kinds.unit(config.measured).scale() as f64;
    let above = parents(config);
    let mut families = families(config, &above, chosen);
    let (mut books, mut last) = (Books::of(config.queues.len(), runs, at), Time::ZERO);
    while last < at {
        let tick = last.saturating_add(chosen.cadence).min(at);
        let used = summed(&above, books.used_to(tick));
        let seconds = tick.saturating_since(last).as_secs_f64();
        for family in families.values_mut() {
            for (child, &queue) in family.seen.iter_mut().zip(&family.children) {
                child.used = used[queue] as f64 / unit / 1e6;
            }
            family.rule.tick(&seen(&family.seen, seconds, unit));
        }
        last = tick;
    }
    walk(config, &above, &mut families, unit)
}

fn seen(children: &[Child], seconds: f64, unit: f64) -> Seen<'_> {
    Seen { seconds, capacity: 0.0, unit, children }
}

/// Places in [`Config::queues`] by name.
pub(crate) fn places(config: &Config) -> BTreeMap<&str, usize> {
    config.queues.iter().enumerate().map(|(at, queue)| (queue.name.as_str(), at)).collect()
}

/// The parent of each queue, as a place.
fn parents(config: &Config) -> Vec<Option<usize>> {
    let places = places(config);
    let parent = |name: &str| places.get(name.rsplit_once('.')?.0).copied();
    config.queues.iter().map(|queue| parent(&queue.name)).collect()
}

fn families(
    config: &Config,
    above: &[Option<usize>],
    chosen: &Chosen,
) -> BTreeMap<Option<usize>, Family> {
    let parents: BTreeSet<usize> = above.iter().copied().flatten().collect();
    let mut families: BTreeMap<Option<usize>, Family> = BTreeMap::new();
    for (at, (queue, parent)) in config.queues.iter().zip(above).enumerate() {
        let new = || Family { children: Vec::new(), rule: chosen.rule(), seen: Vec::new() };
        let family = families.entry(*parent).or_insert_with(new);
        family.children.push(at);
        family.seen.push(Child {
            weight: queue.weight as f64 / 1000.0,
            is_leaf: !parents.contains(&at),
            ..Child::default()
        });
    }
    families
}

/// What queues have used, their own and what is below them.
fn summed(above: &[Option<usize>], mut used: Vec<u128>) -> Vec<u128> {
    // Parents were declared before their children.
    for (queue, parent) in above.iter().enumerate().rev() {
        if let Some(parent) = parent {
            used[*parent] += used[queue];
        }
    }
    used
}

/// Leaves in the order in which a walk from the root comes to them.
fn walk(
    config: &Config,
    above: &[Option<usize>],
    families: &mut BTreeMap<Option<usize>, Family>,
    unit: f64,
) -> BTreeMap<String, LeafStanding> {
    let (mut standings, mut ranks) = (BTreeMap::new(), Vec::new());
    // What is to be visited, the next last: its place among queues, its rank, what it used.
    let mut next: Vec<(Option<usize>, Rank, f64)> = vec![(None, Rank::default(), 0.0)];
    let (mut place, mut before) = (0, None);
    while let Some((at, rank, used)) = next.pop() {
        if let Some(family) = families.get_mut(&at) {
            family.rule.ranks(&seen(&family.seen, 0.0, unit), &mut ranks);
            let used = family.rule.used().iter().copied().chain(std::iter::repeat(0.0));
            let of = family.children.iter().zip(&ranks).zip(used);
            let mut children: Vec<_> =
                of.map(|((queue, rank), used)| (Some(*queue), *rank, used)).collect();
            children.sort_by_key(|(_, rank, _)| std::cmp::Reverse(rank.amount));
            next.extend(children);
            continue;
        }
        let Some(queue) = at else { continue };
        // Siblings alone can be alike.
        let parent = above[queue];
        place += usize::from(!standings.is_empty() && before != Some((parent, rank)));
        before = Some((parent, rank));
        standings.insert(config.queues[queue].name.clone(), LeafStanding { place, used });
    }
    standings
}

/// What leaves hold, and have used since they were asked last, in smallest units x microseconds.
struct Books {
    /// Begins and ends by time, the last first: whose, how much, whether it begins.
    events: Vec<(Time, bool, usize, u64)>,
    held: Vec<u64>,
    used: Vec<u128>,
    /// Up to when the use of each is counted.
    through: Vec<Time>,
}

impl Books {
    fn of(queues: usize, runs: &[HeldSpan], at: Time) -> Books {
        let mut events = Vec::with_capacity(2 * runs.len());
        for run in runs.iter().filter(|run| run.from < run.to.min(at)) {
            events.push((run.from, true, run.queue, run.amount));
            events.push((run.to.min(at), false, run.queue, run.amount));
        }
        events.sort_unstable_by(|a, b| b.cmp(a));
        let (held, used) = (vec![0; queues], vec![0; queues]);
        Books { events, held, used, through: vec![Time::ZERO; queues] }
    }

    /// What each has used up to `at` since this was asked last.
    fn used_to(&mut self, at: Time) -> Vec<u128> {
        while let Some((when, begins, queue, amount)) = self.events.pop_if(|(when, ..)| *when <= at)
        {
            self.settle(queue, when);
            let held = &mut self.held[queue];
            *held = if begins { *held + amount } else { *held - amount };
        }
        (0..self.held.len()).for_each(|queue| self.settle(queue, at));
        let none = vec![0; self.used.len()];
        std::mem::replace(&mut self.used, none)
    }

    fn settle(&mut self, queue: usize, at: Time) {
        let span = at.saturating_since(self.through[queue]).as_micros();
        self.used[queue] += u128::from(self.held[queue]) * u128::from(span);
        self.through[queue] = at;
    }
}

#[cfg(test)]
mod tests {
    use meed::{Policy, QueueSpec, ResourceKinds, Unit};

    use super::*;

    /// Full names and shares.
    type Shares = [(&'static str, u64)];

    fn config(shares: &Shares) -> Config {
        let policy = || Policy::preset("told").unwrap();
        let spec = |&(name, weight): &(&str, u64)| QueueSpec {
            weight: weight * 1000,
            ..QueueSpec::new(name, policy())
        };
        Config {
            kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap(),
            measured: 0,
            root: policy(),
            queues: shares.iter().map(spec).collect(),
            nodes: Vec::new(),
        }
    }

    fn secs(seconds: u64) -> Time {
        Time::from_secs(seconds).unwrap()
    }

    /// What a leaf has used at `at`, run by run and tick by tick, of a half-life of 300 s and ticks
    /// of 60 s.
    fn used_slowly(runs: &[HeldSpan], queue: usize, at: u64) -> f64 {
        let decay: f64 = 1.0 - 0.693 / 300.0;
        let seconds = |time: Time| time.as_micros() / 1_000_000;
        let mut sum = 0.0;
        for run in runs.iter().filter(|run| run.queue == queue) {
            for tick in 0..at.div_ceil(60) {
                let (from, to) = (tick * 60, (tick * 60 + 60).min(at));
                let held = seconds(run.to).min(to).saturating_sub(seconds(run.from).max(from));
                sum +=
                    held as f64 * run.amount as f64 / 1000.0 * libm::pow(decay, (at - from) as f64);
            }
        }
        sum
    }

    const SITE: &Shares = &[
        ("physics", 3),
        ("physics.optics", 2),
        ("physics.optics.games", 1),
        ("physics.optics.man", 3),
        ("physics.mail", 1),
        ("chem", 1),
        ("chem.news", 2),
        ("chem.lp", 1),
    ];

    /// Random runs: use is the sum of its pieces, and siblings stand by shares over use.
    #[test]
    fn use_is_the_sum_of_its_pieces() {
        let config = config(SITE);
        let chosen = Chosen::find("fair-tree,half_life=5min,cadence=1min", None).unwrap().unwrap();
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for at in [1, 59, 60, 61, 754] {
            let run = |_| {
                let queue = [2, 3, 4, 6, 7][random(5) as usize];
                let from = random(at);
                let to = secs(from + random(200));
                HeldSpan { queue, from: secs(from), to, amount: 1000 * (1 + random(4)) }
            };
            let runs: Vec<HeldSpan> = (0..40).map(run).collect();
            let told = standings(&config, &runs, secs(at), &chosen);
            let slowly: Vec<f64> = (0..8).map(|queue| used_slowly(&runs, queue, at)).collect();
            for queue in [2, 3, 4, 6, 7] {
                let own = told[SITE[queue].0].used;
                assert!((own - slowly[queue]).abs() <= 1e-9 * slowly[queue], "{at}: {told:?}");
            }
            let place = |queue: usize| told[SITE[queue].0].place;
            let first = |a: f64, b: f64| a < b;
            let [games, man, mail, news, lp] = [2, 3, 4, 6, 7].map(|queue| slowly[queue]);
            assert_eq!(place(2) < place(3), first(games / 1.0, man / 3.0), "{at}");
            assert_eq!(place(6) < place(7), first(news / 2.0, lp / 1.0), "{at}");
            assert_eq!(place(4) < place(2), first(mail / 1.0, (games + man) / 2.0), "{at}");
            let physics = (games + man + mail) / 3.0;
            assert_eq!(place(2) < place(6), first(physics, news + lp), "{at}");
        }
    }

    /// Siblings who have used nothing have one place; an account and a user do not.
    #[test]
    fn who_has_used_nothing_stands_beside_the_others_of_the_kind() {
        let chosen = Chosen::find("fair-tree", None).unwrap().unwrap();
        let config = config(&[("a", 1), ("p", 1), ("p.b", 1), ("p.c", 5), ("d", 1), ("e", 1)]);
        let runs = [HeldSpan { queue: 5, from: secs(0), to: secs(9), amount: 1000 }];
        let told = standings(&config, &runs, secs(10), &chosen);
        let places = ["a", "p.b", "p.c", "d", "e"].map(|name| told[name].place);
        assert_eq!(places, [0, 1, 1, 0, 2]);
    }
}
