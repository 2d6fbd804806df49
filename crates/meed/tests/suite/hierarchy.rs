//! TSC'18 Sec. 5.2: the naive walk, its starvation, and the guard against it (Algorithm 2, Theorem
//! 1).

use crate::common::dice::{Dice, dice};
use crate::common::*;
use meed::*;
use proptest::prelude::*;

fn root(t_wait: Option<u64>) -> Policy {
    let mut root = policy("long-term");
    root.t_wait = t_wait.map(span);
    root
}

/// Fig. 2: 12 units; 200, 10, 50, 60 tasks at the start and 20, 60, 40, 80 more at time 27.
fn figure_2(t_wait: Option<u64>) -> World {
    let config = slots_config(12, &root(t_wait), &["g1", "g2", "g1.a", "g1.b", "g2.c", "g2.d"]);
    let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(3).collect();
    let wave = |at: u64, demands: [u64; 4]| {
        ids.iter().zip(demands).map(move |(&id, n)| unit_job(id, at * S, n)).collect::<Vec<_>>()
    };
    World::new(&config, [wave(0, [200, 10, 50, 60]), wave(27, [20, 60, 40, 80])].concat())
}

fn finish(mut world: World) -> World {
    while world.step().is_some() {}
    world
}

#[test]
fn figure_2_unit_by_unit() {
    let world = finish(figure_2(None));
    let users = ["g1.a", "g1.b", "g2.c", "g2.d"].map(|name| world.started(world.id(name), 0, 27));
    let row = |second: usize| [0, 1, 2, 3].map(|user| users[user][second]);
    for (from, to, expected) in [
        (0, 3, [3, 3, 3, 3]),
        (3, 4, [5, 1, 3, 3]),
        (4, 16, [6, 0, 3, 3]),
        (16, 17, [6, 0, 2, 4]),
        (17, 18, [6, 0, 0, 6]),
        (18, 19, [10, 0, 0, 2]),
        (19, 26, [12, 0, 0, 0]),
        (26, 27, [8, 0, 0, 0]),
    ] {
        for second in from..to {
            assert_eq!(row(second), expected, "unit {second}");
        }
    }
}

#[test]
fn the_worked_choice_takes_g2_then_c() {
    let mut world = figure_2(None);
    while world.shadow.model.now < 26 * S {
        world.step();
    }
    let now = 27 * S;
    let running: Vec<AllocationId> =
        world.shadow.model.running().map(|task| task.allocation).collect();
    for allocation in running {
        world.shadow.apply(now, &shadow::Ev::Ended(allocation)).expect("it runs");
    }
    let ids = ["g1.a", "g1.b", "g2.c", "g2.d"].map(|name| world.id(name));
    for (queue, count) in ids.into_iter().zip([20, 60, 40, 80]) {
        let groups = vec![TaskGroup::new(count, slots(1))];
        let event = shadow::Ev::Job { queue, weight: 1000, groups, open: false, max_attempts: 0 };
        world.shadow.apply(now, &event).expect("sound");
    }
    let starts = world.shadow.decide(now);
    let levels = &starts[0].reason.as_ref().expect("asked for").levels;
    // A key is in thousandths of a unit x microsecond over the weight: 10^9 for a slot-second.
    let shown = |choice: &Choice| {
        let (next, key) = choice.runner_up.expect("two children");
        (
            world.shadow.engine.view().queue(choice.chosen).name,
            choice.key.value / 1e9,
            next,
            key.value / 1e9,
        )
    };
    let rows: Vec<_> = levels.iter().map(shown).collect();
    assert_eq!(
        rows,
        [("g2", 110.0, world.id("g1"), 210.0), ("g2.c", 50.0, world.id("g2.d"), 60.0)]
    );
}

#[test]
fn the_guard_bounds_the_wait() {
    // t_wait in seconds, and how many units B gets in 27, 28, ... before and at its first service.
    for (t_wait, first) in [(None, 8), (Some(0), 0), (Some(1), 1), (Some(2), 2), (Some(5), 5)] {
        let world = finish(figure_2(t_wait.map(|seconds| seconds * S)));
        let b = world.started(world.id("g1.b"), 27, 47);
        assert_eq!(b.iter().position(|&units| units > 0), Some(first), "t_wait {t_wait:?}: {b:?}");
    }
}

/// The same leaves in a random tree of unequal groups and flat, there by what they are entitled to,
/// with the same jobs; nothing where that is no weight.
fn theorem_1(dice: &mut Dice) -> Option<(Config, Config, Vec<SimJob>)> {
    let mut rule = root(None);
    rule.memory =
        dice.pick(&[Memory::Forever, Memory::Rounds(span(9 * S)), Memory::HalfLife(span(5 * S))]);
    rule.quantum = dice.pick(&[Quantum::Fixed(span(S)), Quantum::Fixed(span(4 * S)), rule.quantum]);
    let (kind_count, rows) = (1 + dice.below(2) as usize, dice.tree());
    let nodes = dice.nodes(kind_count);
    let mut config =
        Config { kinds: kinds(kind_count), measured: 0, root: rule, queues: Vec::new(), nodes };
    let mut flat = config.clone();
    for (name, is_leaf) in rows {
        let inner = if is_leaf { policy("fifo") } else { dice.policy(kind_count) };
        // Small ones, so that parts of the root are whole numbers of something.
        let weight = dice.pick(&[1, 1, 2, 3, 4, 6, 9]);
        config.queues.push(queue(&name, weight, inner.clone()));
        if is_leaf {
            let own = name.rsplit('.').next().unwrap_or(&name);
            flat.queues.push(queue(own, weight, inner));
        }
    }
    for (spec, weight) in flat.queues.iter_mut().zip(whole_parts(&config)?) {
        spec.weight = weight;
    }
    let jobs = dice.jobs(&config, 14);
    Some((config, flat, jobs))
}

/// What the leaves are entitled to, as whole numbers, where these are weights.
fn whole_parts(config: &Config) -> Option<Vec<u64>> {
    let rows = super::guard::entitlements(config);
    let gcd = |mut a: u128, mut b: u128| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let lowest = |part: u128, whole: u128| whole / gcd(part, whole);
    let all = rows.iter().try_fold(1u128, |all, &(_, part, whole)| {
        let own = lowest(part, whole);
        (all / gcd(all, own)).checked_mul(own)
    })?;
    let weight = |(_, part, whole): (String, u128, u128)| {
        let common = gcd(part, whole);
        let weight = u64::try_from(all / (whole / common) * (part / common)).ok()?;
        (1..=1_000_000_000).contains(&weight).then_some(weight)
    };
    rows.into_iter().map(weight).collect()
}

fn sequence(config: &Config, jobs: &[SimJob]) -> Vec<(String, usize, u32, u64)> {
    let mut world = World::new(config, jobs.to_vec());
    // Half-lives are floats: this test compares engines, not with the twin.
    world.shadow.judge = |_, _| ();
    finish(world).sequence()
}

proptest! {
    #![proptest_config(cases(300))]
    #[test]
    fn theorem_1_holds(mut dice in dice(200)) {
        let Some((mut tree, flat, jobs)) = theorem_1(&mut dice) else { return Ok(()) };
        let leaf_of = |id: QueueId| tree.queues[id.index() - 1].name.rsplit('.').next()
            .map(str::to_owned);
        let single = engine(&flat);
        let flat_id = |id: QueueId| {
            leaf_of(id).and_then(|name| single.view().find_queue(&name)).expect("the same leaf")
        };
        let flat_jobs: Vec<SimJob> = jobs.iter()
            .map(|job| SimJob { queue: flat_id(job.queue), ..job.clone() }).collect();
        let naive = sequence(&tree, &jobs);
        tree.root.t_wait = Some(Span::MAX);
        prop_assert_eq!(sequence(&tree, &jobs), naive, "t_wait = infinity is the naive walk");
        tree.root.t_wait = Some(Span::ZERO);
        prop_assert_eq!(sequence(&tree, &jobs), sequence(&flat, &flat_jobs), "t_wait = 0 is \
            single-level");
    }
}
