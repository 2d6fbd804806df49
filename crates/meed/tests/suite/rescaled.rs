//! Parents that count their children rescaled (H-DRF), by hand; every decision is also compared
//! with the twin's.

use crate::common::*;
use meed::*;
use proptest::prelude::*;

/// Who is served first at second 1, when all three leaves want more. Of a pool of ten units, c1
/// holds one, c2 three, q three. share(p) = 1/10 + 3/10 * (1/10) / (3/10) = 0.2.
fn served_first(unit: u64, weight_of_q: u64) -> String {
    let mut config = slots_config(1, &policy("drf"), &["q", "p", "p.c1", "p.c2"]);
    config.nodes = vec![node("n", Resources::new(&[10 * unit]))];
    config.queues[0].weight = weight_of_q;
    let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1).collect();
    let job = |leaf: usize, second: u64, tasks: usize, units: u64| SimJob {
        queue: ids[leaf],
        at: second * S,
        weight: 1000,
        groups: vec![(Resources::new(&[units * unit]), vec![100 * S; tasks])],
    };
    let held = [job(2, 0, 1, 1), job(3, 0, 1, 3), job(0, 0, 1, 3)];
    let more = [job(2, 1, 1, 1), job(3, 1, 1, 1), job(0, 1, 5, 1)];
    let mut world = World::new(&config, [held, more].concat());
    world.step();
    let before = world.sequence().len();
    world.step();
    world.sequence()[before].0.clone()
}

#[test]
fn a_share_is_not_understated() {
    // share(q) / w = 0.3 / 2 = 0.15 < 0.2, also where a tenth of the pool is one whole piece.
    for unit in [1, 7, 1000] {
        assert_eq!(served_first(unit, 2000), "q", "{unit}");
    }
    // 0.3 / 1.5 = 0.2: a tie, which belongs to q, declared first; a little less weight, and not.
    for unit in [1, 1000] {
        assert_eq!(served_first(unit, 1500), "q", "{unit}");
        assert_eq!(served_first(unit, 1499), "c1", "{unit}");
    }
}

/// Two groups of two leaves each that stand even although none of the fractions is finite in
/// binary: ties go to the first, at every turn.
#[test]
fn parents_that_are_even_are_known_to_be() {
    let names = ["g", "h", "g.a", "g.b", "h.a", "h.b"];
    let mut config = slots_config(1, &policy("drf"), &names);
    config.kinds = kinds(2);
    config.nodes = vec![node("n", Resources::new(&[90, 210]))];
    let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1).collect();
    // Dominant in the first resource by 9 to 1 (1/9 and 1/70), in the second (1/90 and 1/3).
    let of = [[10, 3], [1, 10], [10, 3], [1, 10]];
    let jobs = ids[2..].iter().zip(of).map(|(&queue, amounts)| SimJob {
        queue,
        at: 0,
        weight: 1000,
        groups: vec![(Resources::new(&amounts), vec![S; 20])],
    });
    let world = World::run(&config, jobs.collect());
    let at_once = world.sequence().iter().filter(|row| row.3 == 0).count();
    assert!(at_once > 12, "{at_once}");
}

/// A chain of parents is as exact as a flat tree: the numbers grow with its depth, and still fit.
#[test]
fn deep_trees_are_decided_exactly() {
    const DEPTH: usize = 8;
    let mut names: Vec<String> = (1..=DEPTH).map(|level| vec!["x"; level].join(".")).collect();
    // A leaf at every level, so that fractions of all levels meet.
    names.extend((0..DEPTH).map(|level| {
        let above = if level == 0 { String::new() } else { vec!["x"; level].join(".") + "." };
        format!("{above}l{level}")
    }));
    names.push(["x"; DEPTH].join(".") + ".end");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut config = slots_config(1, &policy("drf"), &names);
    config.kinds = kinds(2);
    config.nodes = vec![node("n", Resources::new(&[997, 1009]))];
    for (number, queue) in config.queues.iter_mut().enumerate() {
        queue.weight = [1000, 333, 7919][number % 3];
    }
    let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1 + DEPTH).collect();
    let jobs = ids.iter().enumerate().map(|(number, &queue)| SimJob {
        queue,
        at: 0,
        weight: 1000,
        groups: vec![(Resources::new(&[[3, 7], [11, 2]][number % 2]), vec![S; 3])],
    });
    let mut world = World::new(&config, jobs.collect());
    world.step();
    assert_eq!(world.sequence().len(), 27);
}

proptest! {
    #![proptest_config(cases(400))]
    /// A cluster that is full, many leaves below few parents, one below the other or not, and up to
    /// 16 demands that wait, several of them in one leaf: at each end some begin to fit, at each
    /// start some cease to, and with them many leaves.
    #[test]
    fn many_demands_wait_for_little_room(
        parents in 1usize..5,
        chained in any::<bool>(),
        leaves in 8usize..40,
        nodes in prop::collection::vec(prop::array::uniform2(4u64..20), 1..4),
        jobs in prop::collection::vec((0usize..40, 0usize..16, 1usize..4, 1u64..9), 10..60),
        demands in 1usize..17,
        minimum in prop::option::of(1u64..4),
        maximum in prop::option::of(4u64..12),
        // Beside two: bounds look at the first three.
        more_kinds in 0usize..4,
    ) {
        let all_kinds = 2 + more_kinds;
        let name = |parent: usize| match chained {
            true => (0..=parent).map(|level| format!("g{level}")).collect::<Vec<_>>().join("."),
            false => format!("g{parent}"),
        };
        let mut names: Vec<String> = (0..parents).map(name).collect();
        names.extend((0..leaves).map(|leaf| format!("{}.l{leaf}", name(leaf % parents))));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut config = slots_config(1, &policy("drf"), &names);
        config.kinds = kinds(all_kinds);
        let capacities = nodes.iter().enumerate();
        config.nodes = capacities
            .map(|(number, capacity)| {
                let amounts: Vec<u64> = capacity.iter().copied().cycle().take(all_kinds).collect();
                node(&format!("n{number}"), Resources::new(&amounts))
            })
            .collect();
        config.queues[0].max = maximum.map(|most| Resources::new(&vec![most; all_kinds]));
        config.queues[parents].min = minimum.map(|least| Resources::new(&vec![least; all_kinds]));
        for (number, queue) in config.queues.iter_mut().enumerate() {
            queue.weight = [1000, 333, 7919][number % 3];
        }
        let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1 + parents).collect();
        let job = |(at, &(leaf, demand, tasks, seconds)): (usize, &(usize, usize, usize, u64))| {
            let demand = (demand % demands) as u64;
            let mut amounts = vec![1 + demand % 4, 1 + demand / 4];
            amounts.extend((0..more_kinds as u64).map(|kind| (demand + kind) % 5));
            SimJob {
                queue: ids[leaf % leaves],
                at: at as u64 / 8 * S,
                weight: 1000,
                groups: vec![(Resources::new(&amounts), vec![seconds * S; tasks])],
            }
        };
        World::run(&config, jobs.iter().enumerate().map(job).collect());
    }
}
