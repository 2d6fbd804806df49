//! The starvation guard in trees whose groups differ in weight and in size (TSC'18 Algorithm 2,
//! Theorem 1): it compares u / e, where e is what a leaf is entitled to as a part of the root.

use std::collections::BTreeMap;

use crate::common::dice::{Dice, dice};
use crate::common::*;
use meed::*;
use proptest::prelude::*;

/// `long-term` with a fixed quantum of a second, and the guard.
fn guarded(t_wait: u64) -> Policy {
    Policy { t_wait: Some(span(t_wait)), ..policy("long-term") }
}

/// Queues of these names and weights (in thousandths) on one node of `n` slots; parents first.
fn tree_of(n: u64, root: &Policy, rows: &[(&str, u64)]) -> Config {
    let names: Vec<&str> = rows.iter().map(|&(name, _)| name).collect();
    let mut config = slots_config(n, root, &names);
    for (spec, &(_, weight)) in config.queues.iter_mut().zip(rows) {
        spec.weight = weight;
        spec.policy.t_wait = None;
    }
    config
}

/// e of each leaf as a fraction, from names and weights alone: the product of w / (sum of w over
/// the children of one parent) along the path.
pub(crate) fn entitlements(config: &Config) -> Vec<(String, u128, u128)> {
    let parent_of = |name: &str| name.rsplit_once('.').map_or("", |(above, _)| above).to_owned();
    let mut sums: BTreeMap<String, u128> = BTreeMap::new();
    for spec in &config.queues {
        *sums.entry(parent_of(&spec.name)).or_default() += u128::from(spec.weight);
    }
    let own = |name: &str| config.queues.iter().find(|spec| spec.name == name).expect("declared");
    let leaves = config.queues.iter().filter(|spec| !sums.contains_key(&spec.name));
    leaves
        .map(|leaf| {
            let (mut part, mut whole, mut at) = (1u128, 1u128, leaf.name.clone());
            while !at.is_empty() {
                part *= u128::from(own(&at).weight);
                at = {
                    let above = parent_of(&at);
                    whole *= sums[&above];
                    above
                };
            }
            (leaf.name.clone(), part, whole)
        })
        .collect()
}

/// What each leaf has used by `until`, in slot-microseconds, where each always wants more. A task
/// of leaf i lasts what `lasts` says.
fn saturated(
    config: &Config,
    until: u64,
    mut lasts: impl FnMut(usize) -> u64,
) -> BTreeMap<String, u128> {
    let mut engine = engine(config);
    let leaves: Vec<(String, QueueId)> = entitlements(config)
        .into_iter()
        .map(|(name, ..)| (name.clone(), engine.view().find_queue(&name).expect("declared")))
        .collect();
    for &(_, queue) in &leaves {
        let groups = [TaskGroup::new(1_000_000, slots(1))];
        let (weight, open, max_attempts) = (1000, false, 0);
        let job = JobSpec { queue, weight, groups: &groups, open, max_attempts };
        engine.apply(micros(0), Event::JobArrived(job)).expect("sound");
    }
    let mut ends: BTreeMap<(u64, u64), AllocationId> = BTreeMap::new();
    let (mut now, mut started) = (0, 0);
    while now < until {
        let mut starts = Vec::new();
        engine.decide(false, |start| starts.push(start));
        for start in starts {
            let leaf = leaves.iter().position(|(_, id)| *id == start.queue).expect("a leaf");
            started += 1;
            ends.insert((now + lasts(leaf), started), start.allocation);
        }
        now = ends.first_key_value().expect("something runs").0.0;
        while let Some(end) = ends.first_entry().filter(|end| end.key().0 == now) {
            engine.apply(micros(now), Event::TaskEnded(end.remove())).expect("it runs");
        }
    }
    let used = |(name, id): (String, QueueId)| {
        (name, engine.view().integrals(id, micros(now)).usage[0] / 1000)
    };
    leaves.into_iter().map(used).collect()
}

/// Each leaf's part of all that was used, over what it is entitled to.
fn rho(config: &Config, used: &BTreeMap<String, u128>) -> Vec<f64> {
    let all = used.values().sum::<u128>() as f64;
    let rho = |(name, part, whole): (String, u128, u128)| {
        used[&name] as f64 / all * whole as f64 / part as f64
    };
    entitlements(config).into_iter().map(rho).collect()
}

/// Numbers that look random, the same on every machine.
fn drawn(from: u64, to: u64) -> impl FnMut(usize) -> u64 {
    let mut seed = 7u64;
    move |_| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (seed >> 33) % (to - from)
    }
}

/// Two teams of equal weight, one with one member, one with nine, all always busy, tasks of 1 to 3
/// hours: members wait for a free slot longer than the guard lets them now and then.
#[test]
fn a_small_team_keeps_its_share_under_the_guard() {
    for t_wait in [60, 600] {
        let memory = Memory::HalfLife(span(7 * 86_400 * S));
        let quantum = Quantum::Fixed(span(7200 * S));
        let root = Policy { memory, quantum, ..guarded(t_wait * S) };
        let mut rows = vec![("robots", 1000), ("robots.ann", 1000), ("vision", 1000)];
        let members = (0..9).map(|number| format!("vision.m{number}")).collect::<Vec<_>>();
        rows.extend(members.iter().map(|name| (name.as_str(), 1000)));
        let config = tree_of(32, &root, &rows);
        let used = saturated(&config, 28 * 86_400 * S, drawn(3600 * S, 10_800 * S));
        let rho = rho(&config, &used);
        assert!(rho.iter().all(|rho| (rho - 1.0).abs() < 0.03), "{t_wait} s: {rho:?}");
    }
}

/// Two groups of weight 3 and 1, each of one leaf: 3 to 1, however short the guard's wait is.
#[test]
fn groups_of_unequal_weight_keep_their_shares_under_the_guard() {
    for t_wait in [0, 2 * S, 10 * S, 30 * S] {
        let rows = [("x", 3000), ("x.a", 1000), ("y", 1000), ("y.b", 1000)];
        let config = tree_of(8, &guarded(t_wait), &rows);
        let used = saturated(&config, 3600 * S, drawn(5 * S, 15 * S));
        let rho = rho(&config, &used);
        assert!(rho.iter().all(|rho| (rho - 1.0).abs() < 0.02), "t_wait {t_wait}: {rho:?}");
    }
}

/// A random tree of unequal groups; every parent is ordered by long-term use.
fn unequal(dice: &mut Dice, t_wait: u64) -> Config {
    let rows = dice.tree();
    let weights: Vec<u64> =
        rows.iter().map(|_| dice.pick(&[1000, 2000, 3000, 500, 7000])).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(name, _)| name.as_str()).zip(weights).collect();
    tree_of(1 + dice.below(12), &guarded(t_wait), &rows)
}

proptest! {
    #![proptest_config(cases(200))]
    /// Sharing incentive under saturation (TSC'18 Table 2): whatever the tree, the weights and the
    /// guard's wait, nobody gets less than what it is entitled to, but for a few tasks.
    #[test]
    fn nobody_falls_below_its_share_for_good(mut dice in dice(60), wait in 0u64..5) {
        let config = unequal(&mut dice, wait * S);
        let until = 2_000 * S;
        let used = saturated(&config, until, drawn(S / 2, 3 * S / 2));
        let nodes = config.nodes[0].capacity.get(0) / 1000;
        for (name, part, whole) in entitlements(&config) {
            let entitled = u128::from(nodes * until) * part / whole;
            let few = u128::from(8 * nodes * S) + entitled / 50;
            prop_assert!(used[&name] + few >= entitled, "{name}: {} of {entitled}", used[&name]);
        }
    }
}

/// Weights or queues that change take effect at once, also where others wait already.
#[test]
fn a_change_of_weights_reaches_the_guard_at_once() {
    let rows = [("x", 1000), ("x.a", 1000), ("y", 1000), ("y.b", 1000), ("y.c", 1000)];
    let config = tree_of(1, &guarded(0), &rows);
    let mut engine = engine(&config);
    let ids = ["x.a", "y.b", "y.c"].map(|name| engine.view().find_queue(name).expect("declared"));
    for queue in ids {
        let groups = [TaskGroup::new(1000, slots(1))];
        let (weight, open, max_attempts) = (1000, false, 0);
        let job = JobSpec { queue, weight, groups: &groups, open, max_attempts };
        engine.apply(micros(0), Event::JobArrived(job)).expect("sound");
    }
    let mut now = 0;
    let mut served = |engine: &mut Engine, count: usize| {
        let mut counts = [0; 3];
        for _ in 0..count {
            let start = engine.next_start(true).expect("it is idle");
            assert!(start.reason.expect("asked for").starved_for.is_some());
            let at = ids.iter().position(|id| *id == start.queue).expect("a leaf");
            counts[at] += 1;
            now += S;
            engine.apply(micros(now), Event::TaskEnded(start.allocation)).expect("it runs");
        }
        counts
    };
    assert_eq!(served(&mut engine, 40), [20, 10, 10]);
    // From here on x has 3/4, y.b 3/4 of the rest: 3/4, 3/16 and 1/16.
    let x = engine.view().find_queue("x").expect("declared");
    let weight = |weight| QueueChange { weight: Some(weight), ..QueueChange::default() };
    let at = engine.view().now();
    engine.apply(at, Event::QueueChanged(x, weight(3000))).expect("sound");
    engine.apply(at, Event::QueueChanged(ids[1], weight(3000))).expect("sound");
    // y.c has used 10 units already, its part of 160: of those the others get what they lack.
    assert_eq!(served(&mut engine, 120), [100, 20, 0]);
    assert_eq!(served(&mut engine, 64), [48, 12, 4]);
}
