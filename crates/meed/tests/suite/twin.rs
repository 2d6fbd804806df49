//! Every decision equals a plain scan's over charges counted up by definition: random trees,
//! policies, weights, bounds, kinds and nodes. The comparison itself is in `common::verify`.

use crate::common::dice::{Dice, dice};
use crate::common::*;
use meed::*;
use proptest::prelude::*;
use std::num::NonZeroU32;

fn drf_quantum() -> Quantum {
    Quantum::Fixed(span(S))
}

/// Quanta that are learnt, at some levels or all.
fn learn_quanta(dice: &mut Dice, config: &mut Config) {
    let initial = span(dice.pick(&[2 * S, 0, S / 2, 20 * S, 5 * S]));
    let interval = span(dice.pick(&[S, S / 2, 3 * S]));
    let untried = dice.pick(&[Untried::Handed, Untried::Ended]);
    let queues = config.queues.iter_mut().map(|queue| &mut queue.policy);
    for policy in std::iter::once(&mut config.root).chain(queues) {
        if dice.below(4) > 0 {
            policy.quantum = Quantum::Adaptive { initial, interval, untried };
        }
        if dice.below(3) > 0 && policy.measure != Measure::TaskShare {
            policy.measure = Measure::Usage;
        }
    }
}

proptest! {
    #![proptest_config(cases(4000))]
    /// Running tasks are charged by the quantum of now (ICS'14 Eq. 15): by the job's, learnt from
    /// its tasks that have ended, under every memory, discount and newcomer's term.
    #[test]
    fn decides_as_a_plain_scan_with_adaptive_quanta(mut dice in dice(260)) {
        let mut config = dice.config();
        learn_quanta(&mut dice, &mut config);
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// The same under the guard, whose ledgers follow as well.
    #[test]
    fn decides_as_a_plain_scan_with_adaptive_quanta_under_the_guard(
        mut dice in dice(260), wait in 0u64..6,
    ) {
        let mut config = dice.config();
        config.root.measure = Measure::Usage;
        learn_quanta(&mut dice, &mut config);
        (config.root.newcomer, config.root.t_wait) = (Newcomer::Zero, Some(span(wait * S)));
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    #[test]
    fn decides_as_a_plain_scan(mut dice in dice(260)) {
        let config = dice.config();
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// Trees that order by dominant shares throughout, where parents count their children rescaled.
    #[test]
    fn decides_as_a_plain_scan_under_hierarchical_drf(mut dice in dice(260), inner in 0u64..4) {
        let mut config = dice.config();
        let drf = policy("drf");
        for policy in std::iter::once(&mut config.root)
            .chain(config.queues.iter_mut().map(|q| &mut q.policy)) {
            let blocked = policy.blocked;
            *policy = Policy { blocked, quantum: policy.quantum, ..drf.clone() };
        }
        if inner == 0 {
            // A level in between that knows nothing of dominant shares.
            config.queues[0].policy = Policy { quantum: drf_quantum(), ..policy("fair") };
        }
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// Each server by itself; below the root some parents keep an order of their own over the pool.
    #[test]
    fn decides_as_a_plain_scan_server_by_server(
        mut dice in dice(260), others in 0u64..8,
    ) {
        let mut config = dice.config();
        let order = dice.by_server();
        config.root = order.clone();
        for (number, queue) in config.queues.iter_mut().enumerate() {
            if others >> (number % 3) & 1 == 0 {
                queue.policy = order.clone();
                // Each level may turn the knob otherwise.
                let knob = dice.pick(&[250, 0, 600]);
                queue.policy.fairness = queue.policy.fairness.map(|_| knob);
            }
        }
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// Task shares at some levels, or all, whatever happens when a task fits nowhere.
    #[test]
    fn decides_as_a_plain_scan_under_tsf(mut dice in dice(260), others in 0u64..8) {
        let mut config = dice.config();
        let own = Policy { blocked: config.root.blocked, ..policy("tsf") };
        let root = config.root;
        config.root = Policy {
            charge_reservations: root.charge_reservations,
            reserve_after: root.reserve_after,
            spares: root.spares,
            estimates: root.estimates,
            reclaim: root.reclaim,
            quantum: root.quantum,
            ..own
        };
        for (number, queue) in config.queues.iter_mut().enumerate() {
            if others >> (number % 3) & 1 == 0 {
                queue.policy = Policy { quantum: queue.policy.quantum, ..policy("tsf") };
            }
        }
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// Several reservations take room back, and most queues have a minimum share, some of resources
    /// for which their tasks do not ask: every run ends.
    #[test]
    fn decides_as_a_plain_scan_where_minimums_take_back(mut dice in dice(260), tasks in 0u64..2) {
        let mut config = dice.config();
        let kinds = config.kinds.len();
        if tasks == 0 {
            let Policy { quantum, spares, estimates, .. } = config.root;
            config.root = Policy { quantum, spares, estimates, ..policy("tsf") };
        }
        let most = NonZeroU32::new(1 + dice.below(4) as u32).expect("above zero");
        config.root.blocked = Blocked::Reserve(Reservations::AtMost(most));
        config.root.reclaim = Some(dice.reclaim());
        for queue in config.queues.iter_mut().filter(|queue| !queue.name.contains('.')) {
            queue.min = queue.min.or_else(|| Some(dice.amounts(kinds, 3)));
        }
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    #[test]
    fn decides_as_a_plain_scan_under_long_term_drf(mut dice in dice(260)) {
        let mut config = dice.config();
        for policy in std::iter::once(&mut config.root)
            .chain(config.queues.iter_mut().map(|q| &mut q.policy)) {
            (policy.measure, policy.scalar) = (Measure::Usage, Scalar::Dominant);
        }
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// Only leaves of which something fits can starve.
    #[test]
    fn decides_as_a_plain_scan_under_the_guard_with_unequal_tasks(mut dice in dice(260),
        wait in 0u64..6) {
        let mut config = dice.config();
        config.root.measure = Measure::Usage;
        (config.root.newcomer, config.root.t_wait) = (Newcomer::Zero, Some(span(wait * S)));
        let jobs = dice.jobs(&config, 16);
        World::run_with_gangs(&config, jobs);
    }

    /// With equal tasks whoever wants something is ready.
    #[test]
    fn decides_as_a_plain_scan_under_the_guard(mut dice in dice(200), wait in 0u64..6) {
        let mut config = dice.config();
        (config.kinds, config.measured, config.nodes) = (kinds(1), 0, vec![node("n", slots(5))]);
        config.root.measure = Measure::Usage;
        (config.root.newcomer, config.root.t_wait) = (Newcomer::Zero, Some(span(wait * S)));
        config.root.scalar = Scalar::Kind(0);
        for queue in &mut config.queues {
            (queue.min, queue.max) = (None, None);
            if queue.policy.measure != Measure::TaskShare {
                queue.policy.scalar = Scalar::Kind(0);
            }
        }
        let mut jobs = dice.jobs(&config, 16);
        for (demand, _) in jobs.iter_mut().flat_map(|job| &mut job.groups) {
            *demand = slots(1);
        }
        World::run_with_gangs(&config, jobs);
    }
}

proptest! {
    #![proptest_config(cases(1000))]
    /// The same with deeper trees, weights of nodes, capacities and weights that share no factor,
    /// unequal children, amounts in whole pieces, minimum shares at all levels.
    #[test]
    fn decides_as_a_plain_scan_under_deep_hierarchical_drf(
        mut dice in dice(300),
        capacities in prop::array::uniform3(prop::array::uniform3(1u64..40)),
        weights in prop::collection::vec(1u64..40_000, 16),
        large in 0u64..4,
    ) {
        let mut config = dice.deep_drf_config(&weights);
        // Now and then capacities whose least common multiple is above 2^53.
        let scale = if large == 0 { (1 << 33) - 9 } else { 1 };
        for (node, capacity) in config.nodes.iter_mut().zip(&capacities) {
            for (amount, more) in node.capacity.as_mut_slice().iter_mut().zip(capacity) {
                *amount = *amount * scale + more;
            }
        }
        let mut jobs = dice.jobs(&config, 16);
        for (demand, _) in jobs.iter_mut().flat_map(|job| &mut job.groups) {
            let scaled: Vec<u64> = demand.as_slice().iter().map(|a| a * scale).collect();
            if large == 0 && config.nodes.iter()
                .any(|n| Resources::new(&scaled).fits_in(&n.capacity)) {
                *demand = Resources::new(&scaled);
            }
        }
        World::run_with_gangs(&config, jobs);
    }
}

/// Found at random: room that tasks were stopped for has come free, on a node that others drain
/// whose reservations are older; at that instant somebody else starts first.
#[test]
fn room_that_was_freed_for_one_is_its_own() {
    let mut dice = Dice::of(vec![
        61884, 10120, 18460, 0, 0, 15883, 0, 0, 0, 0, 0, 52343, 0, 0, 3875, 892, 2569, 37542, 0, 0,
        0, 0, 25551, 22121, 56307, 784, 14696, 1657, 3768, 1, 9289, 13493, 0, 0, 0, 0, 0, 0, 2650,
        3753, 55998, 0, 0, 0, 0, 0, 0, 0, 48770, 37, 40529, 0, 0, 0, 0, 0, 0, 57, 8918, 0, 0, 0, 0,
        0, 0, 853, 12787, 0, 0, 0, 0, 0, 0, 112, 1, 0, 0, 0, 0, 0, 0, 0, 10805, 0, 13352, 0, 50349,
        7517, 5280, 14913, 18743, 11598, 19660, 15984, 90, 5, 1711, 30, 30, 0, 0, 0, 45089, 1299,
        42871, 20427, 24451, 2802, 52518, 2147, 62888, 915, 62383, 25219, 12889, 3039, 2346, 21,
        19800, 14655, 4638, 20444, 12213, 8704, 27921, 0, 22042, 1018, 60889, 129, 802, 1781, 30,
        3962, 3650, 2115, 4160, 8040, 17102, 14748, 0, 49233, 37971, 12260, 1647, 42230, 0, 2357,
        1262, 18718, 16688, 0, 35032, 22516, 23775, 0, 39242, 29101, 21346, 14785, 39869, 55,
        47825, 11922, 4121, 5862, 4782, 0, 0, 16542, 0, 0, 1, 210, 2,
    ]);
    let mut config = dice.config();
    config.root.spares = 0;
    for policy in
        std::iter::once(&mut config.root).chain(config.queues.iter_mut().map(|q| &mut q.policy))
    {
        (policy.measure, policy.scalar) = (Measure::Usage, Scalar::Dominant);
    }
    let jobs = dice.jobs(&config, 16);
    World::run_with_gangs(&config, jobs);
}
