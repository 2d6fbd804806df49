//! The papers' tables, cell by cell: ICS'14 Table 1 (= TSC'18 Table 1), CloudCom'14 Table I and
//! Fig. 1.

use crate::common::*;
use meed::*;

/// New demand, total demand, current allocation, total allocation, preempt.
type Cells = [i64; 5];

/// Runs two users of equal share with tasks of one slot and one second; a row for each second.
fn table(root: &Policy, capacity: u64, demands: &[[u64; 2]], counted: bool) -> Vec<[Cells; 2]> {
    let config = slots_config(capacity, root, &["a", "b"]);
    let users = [engine(&config).view().find_queue("a"), engine(&config).view().find_queue("b")]
        .map(|id| id.expect("declared"));
    let job = |(second, row): (usize, &[u64; 2])| {
        [0, 1].map(|i| unit_job(users[i], second as u64 * S, row[i]))
    };
    let mut world = World::new(&config, demands.iter().enumerate().flat_map(job).collect());
    let (mut rows, mut totals) = (Vec::new(), [0, 0]);
    for new in demands {
        let now = world.step().expect("work at each second");
        let row = [0, 1].map(|i| {
            let engine = &world.shadow.engine;
            let view = engine.view().queue(users[i]);
            let held = (view.held.get(0) / 1000) as i64;
            let before = totals[i];
            totals[i] = if counted {
                (engine.view().charged(users[i], micros(now)) / 1000.0) as i64
            } else {
                before + held
            };
            let share = (view.share.get(0) / 1000) as i64;
            [new[i] as i64, view.waiting as i64 + held, totals[i] - before, totals[i], held - share]
        });
        rows.push(row);
    }
    rows
}

fn check(
    name: &str,
    policy: &Policy,
    capacity: u64,
    demands: &[[u64; 2]],
    expected: &[[Cells; 2]],
) {
    let counted = policy.discount != 1000;
    assert_eq!(table(policy, capacity, demands, counted), expected, "{name}");
}

const DEMANDS: [[u64; 2]; 4] = [[20, 100], [40, 60], [80, 50], [60, 50]];

#[test]
fn table_1_of_ltrf() {
    let mut discounted = policy("long-term");
    discounted.discount = 500;
    check(
        "(a) MLRF",
        &policy("fair"),
        100,
        &DEMANDS,
        &[
            [[20, 20, 20, 20, -30], [100, 100, 80, 80, 30]],
            [[40, 40, 40, 60, -10], [60, 80, 60, 140, 10]],
            [[80, 80, 50, 110, 0], [50, 70, 50, 190, 0]],
            [[60, 90, 50, 160, 0], [50, 70, 50, 240, 0]],
        ],
    );
    check(
        "(b) LTRF",
        &policy("long-term"),
        100,
        &DEMANDS,
        &[
            [[20, 20, 20, 20, -30], [100, 100, 80, 80, 30]],
            [[40, 40, 40, 60, -10], [60, 80, 60, 140, 10]],
            [[80, 80, 80, 140, 30], [50, 70, 20, 160, -30]],
            [[60, 60, 60, 200, 10], [50, 100, 40, 200, -10]],
        ],
    );
    check(
        "(c) LTRF, discount",
        &discounted,
        100,
        &DEMANDS,
        &[
            [[20, 20, 20, 20, -30], [100, 100, 65, 65, 30]],
            [[40, 40, 40, 60, -10], [60, 80, 55, 120, 10]],
            [[80, 80, 65, 125, 30], [50, 70, 20, 140, -30]],
            [[60, 60, 55, 180, 10], [50, 100, 40, 180, -10]],
        ],
    );
}

#[test]
fn table_i_of_economic_fairness() {
    let demands = DEMANDS.map(|row| row.map(|demand| 2 * demand));
    check(
        "(a) LTRF",
        &policy("long-term"),
        200,
        &demands,
        &[
            [[40, 40, 40, 40, -60], [200, 200, 160, 160, 60]],
            [[80, 80, 80, 120, -20], [120, 160, 120, 280, 20]],
            [[160, 160, 160, 280, 60], [100, 140, 40, 320, -60]],
            [[120, 120, 120, 400, 20], [100, 200, 80, 400, -20]],
        ],
    );
    check(
        "(b) memoryless",
        &policy("fair"),
        200,
        &demands,
        &[
            [[40, 40, 40, 40, -60], [200, 200, 160, 160, 60]],
            [[80, 80, 80, 120, -20], [120, 160, 120, 280, 20]],
            [[160, 160, 100, 220, 0], [100, 140, 100, 380, 0]],
            [[120, 180, 100, 320, 0], [100, 140, 100, 480, 0]],
        ],
    );
}

#[test]
fn memoryless_sharing_rewards_a_lie() {
    for (name, demands, expected) in [
        ("honest", [40, 30, 60], [40, 30, 50]),
        ("U1 reports 100 instead of 40", [100, 30, 60], [45, 30, 45]),
    ] {
        let config = slots_config(120, &policy("fair"), &["u1", "u2", "u3"]);
        let ids: Vec<QueueId> = engine(&config).view().queue_ids().skip(1).collect();
        let jobs = ids.iter().zip(demands).map(|(&id, demand)| unit_job(id, 0, demand)).collect();
        let mut world = World::new(&config, jobs);
        world.step();
        let got: Vec<u64> =
            ids.iter().map(|&id| world.shadow.engine.view().queue(id).held.get(0) / 1000).collect();
        assert_eq!(got, expected, "{name}");
    }
}
