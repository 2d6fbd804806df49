//! A node's weight is what an hour there counts in ledgers: what is held, and with it minimum
//! shares and memoryless orders, does not know it.

use crate::common::*;
use meed::*;

/// Slots that each leaf gets of the given nodes (slots, weight), ten wanted by each, all at once.
fn first_starts(policy: &Policy, nodes: &[(u64, u32)], queues: &[(&str, u64)]) -> Vec<u64> {
    let names: Vec<&str> = queues.iter().map(|(name, _)| *name).collect();
    let mut config = slots_config(1, policy, &names);
    let one = |(number, &(held, weight)): (usize, &(u64, u32))| NodeSpec {
        weight,
        ..node(&format!("n{number}"), slots(held))
    };
    config.nodes = nodes.iter().enumerate().map(one).collect();
    for (queue, &(_, min)) in config.queues.iter_mut().zip(queues) {
        queue.min = (min > 0).then(|| slots(min));
    }
    let ids = engine(&config).view().queue_ids().skip(1).collect::<Vec<_>>();
    let leaf = |index: usize| !names.iter().any(|n| n.starts_with(&format!("{}.", names[index])));
    let jobs = (0..ids.len()).filter(|&index| leaf(index)).map(|index| unit_job(ids[index], 0, 10));
    let mut world = World::new(&config, jobs.collect());
    world.step();
    ids.iter().map(|&id| world.started(id, 0, 1)[0]).collect()
}

#[test]
fn siblings_are_compared_in_one_currency() {
    // A leaf beside a parent: each gets half, on a node of any weight.
    let queues = [("q", 0), ("p", 0), ("p.c", 0)];
    for (order, weight) in [("drf", 10_000), ("drf", 100), ("fair", 10_000), ("fair", 1000)] {
        let got = first_starts(&policy(order), &[(10, weight)], &queues);
        assert_eq!(got, [5, 0, 5], "{order}, weight {weight}");
    }
}

#[test]
fn minimum_shares_are_amounts_of_nodes_as_they_are() {
    // Below its minimum of one only until it holds one.
    let low = first_starts(&policy("fair"), &[(10, 100)], &[("b", 0), ("a", 1)]);
    assert_eq!(low, [5, 5]);
    // The first slot is on a heavy node; two more belong to the minimum of three.
    let heavy = first_starts(&policy("fair"), &[(1, 10_000), (5, 1000)], &[("a", 3), ("b", 0)]);
    assert_eq!(heavy, [3, 3]);
    let dominant = first_starts(&policy("drf"), &[(1, 10_000), (5, 1000)], &[("a", 3), ("b", 0)]);
    assert_eq!(dominant, [3, 3]);
}
