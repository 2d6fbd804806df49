//! What is charged in the end, and what a half-life forgets.

use crate::common::dice::dice;
use crate::common::model::{Model, Task};
use crate::common::*;
use meed::*;
use proptest::prelude::*;

/// Decayed use of a leaf at this instant as a float: sum of rate x integral of 2^((s - t) / H).
fn decayed(model: &Model, leaf: usize, half_life: f64, quantum: f64) -> f64 {
    let now = model.now as f64;
    let weight = |at: f64| libm::exp2((at - now) / half_life) * half_life / std::f64::consts::LN_2;
    let of = |task: &Task| {
        let assumed = task.start as f64 + quantum.min(8.0 * half_life);
        let end = task.end.map_or(assumed.max(now), |end| end as f64);
        task.demand.get(0) as f64 * (weight(end) - weight(task.start as f64))
    };
    let sum: f64 = model.tasks.iter().filter(|task| task.queue == leaf).map(of).sum();
    sum / model.queues[leaf].spec.weight as f64
}

fn judge(model: &mut Model, start: &Start) {
    let policy = &model.queues[0].spec.policy;
    let (Memory::HalfLife(half_life), Quantum::Fixed(quantum)) = (policy.memory, policy.quantum)
    else {
        return;
    };
    let key = |leaf| decayed(model, leaf, half_life.as_micros() as f64, quantum.as_micros() as f64);
    let chosen = key(start.queue.index());
    for other in model.children(0).into_iter().filter(|&leaf| model.waiting(leaf) > 0) {
        let key = key(other);
        assert!(
            key >= chosen * (1.0 - 1e-5) - 10.0,
            "{other} with {key} before {chosen}: {start:?}"
        );
    }
}

proptest! {
    #![proptest_config(cases(600))]
    #[test]
    fn a_half_life_orders_by_decayed_use(mut dice in dice(160), half_life in 1u64..40,
        quantum in 0u64..30) {
        let mut root = policy("long-term");
        (root.memory, root.quantum) = (Memory::HalfLife(span(half_life * S)),
            Quantum::Fixed(span(quantum * S)));
        let config = slots_config(3, &root, &["a", "b", "c", "d"]);
        let mut jobs = dice.jobs(&config, 24);
        for (index, job) in jobs.iter_mut().enumerate() {
            job.at += dice.below(3) * index as u64 * 10 * S;
            job.groups.iter_mut().for_each(|(demand, _)| *demand = slots(1));
        }
        let mut world = World::new(&config, jobs);
        world.shadow.judge = judge;
        while world.step().is_some() {}
    }

    #[test]
    fn charges_end_equal_to_real_use(mut dice in dice(220)) {
        let mut config = dice.config();
        (config.root.measure, config.root.charge_reservations) = (Measure::Usage, false);
        for policy in std::iter::once(&mut config.root)
            .chain(config.queues.iter_mut().map(|q| &mut q.policy)) {
            (policy.memory, policy.discount, policy.newcomer) =
                (Memory::Forever, 1000, Newcomer::Zero);
        }
        let jobs = dice.jobs(&config, 14);
        let world = World::run(&config, jobs);
        let (engine, model) = (&world.shadow.engine, &world.shadow.model);
        let ends_all = model.running().next().is_none();
        prop_assert!(ends_all || config.root.blocked == Blocked::Wait);
        for id in engine.view().queue_ids().skip(1).filter(|_| ends_all) {
            let parent = model.queues[id.index()].parent.expect("not the root");
            let policy = &model.queues[parent].spec.policy;
            if policy.measure != Measure::Usage {
                continue;
            }
            let below = || model.tasks.iter().filter(|task| model.is_below(task.queue, id.index()));
            let lasted = |task: &Task| u128::from(task.end.expect("all have ended") - task.start);
            let used = |scalar: &Scalar| -> u128 {
                let rate = |task: &Task| charge::rate(scalar, &task.demand, model.nodes[task.node]
                    .spec.weight);
                below().map(|task| u128::from(rate(task)) * lasted(task)).sum()
            };
            let charged = engine.view().charged(id, engine.view().now());
            if policy.scalar == Scalar::Dominant {
                // The largest part of the pool, as an amount of the measured kind.
                let pool = model.share(0);
                let part = |kind: usize| used(&Scalar::Kind(kind)) as f64 / pool.get(kind)
                    .max(1) as f64;
                let share = (0..pool.kinds()).filter(|&kind| pool.get(kind) > 0).map(part)
                    .fold(0.0, f64::max);
                let expected = share * pool.get(config.measured) as f64 / 1e6;
                prop_assert!((charged - expected).abs() <= 1e-12 * expected, "{} is not \
                    {}", charged, expected);
            } else {
                prop_assert_eq!(charged, (used(&policy.scalar) * 1000) as f64 / 1000.0 / 1e6);
            }
        }
    }
}
