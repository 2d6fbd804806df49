//! Loss of power at each operation of a small run, with what may be left; at random ones of long
//! runs, again and again on the same disk.

use std::collections::BTreeMap;

use meed::Time;
use meed_driver::explain::Subject;
use meed_driver::live::Live;
use meed_store::testing::SimDisk;

use crate::world::{
    Machine, NoSnapshot, agree, draw, known, open, opening, reconcile, step, store_of,
};

/// States of a run that does not crash, by the instant of its last batch.
type States = BTreeMap<Time, serde_json::Value>;

fn reference(seed: u64, steps: u64) -> (States, u64) {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, seed).unwrap();
    let mut machine = Machine::default();
    let mut states = States::from([(live.engine().now(), known(&live))]);
    while machine.step < steps {
        step(&mut live, &mut machine, seed).unwrap();
        states.insert(live.engine().now(), known(&live));
    }
    assert!(machine.starts() > steps as usize / 4, "{}", machine.starts());
    (states, disk.operations())
}

/// Runs until something fails. The number of records that were acknowledged.
fn run(disk: &SimDisk, machine: &mut Machine, seed: u64, steps: u64) -> u64 {
    let Ok((mut live, _)) = open(disk, seed) else { return 0 };
    let mut acknowledged = live.store().durable().get();
    while machine.step < steps && step(&mut live, machine, seed).is_ok() {
        acknowledged = live.store().durable().get();
    }
    acknowledged.max(live.store().durable().get())
}

/// Opens what is left, and checks that it is what it may be.
fn check(left: &SimDisk, machine: &Machine, seed: u64, acknowledged: u64) -> Live<u32> {
    let played = Live::open(Box::new(NoSnapshot(store_of(&left.copy()).unwrap())), opening(seed));
    let (mut live, recovered) = open(left, seed).unwrap_or_else(|error| panic!("{error}"));
    // Recovery adds a record: what was there is one less.
    let durable = live.store().durable().get().saturating_sub(1);
    assert!(durable >= acknowledged, "{durable} of {acknowledged}, {recovered:?}");
    let (played, all) = played.unwrap_or_else(|error| panic!("without snapshots: {error}"));
    assert_eq!(all.snapshot, None);
    let differ = |remark: &&String| remark.contains("starts are taken as recorded");
    assert_eq!(recovered.remarks.iter().chain(&all.remarks).find(differ), None);
    assert!(known(&played) == known(&live), "a snapshot and the whole journal differ");
    if durable == acknowledged {
        let tasks: Vec<_> = live.running().map(|running| running.task).collect();
        assert!(machine.running.keys().all(|task| tasks.contains(task)), "a task is unknown");
        let is_there = |task| machine.knows(task);
        assert!(tasks.iter().all(is_there), "a start that was handed out is missing");
    }
    let now = live.engine().now();
    for (leaf, state) in live.queues(now).unwrap() {
        let standing = live.explain(now, leaf, Subject::Queue).unwrap();
        assert_eq!(standing.state.weight, state.weight);
    }
    live
}

#[test]
fn at_each_operation_of_a_small_run() {
    let mut checked = 0;
    for seed in [0, 5] {
        let steps = 14;
        let (states, operations) = reference(seed, steps);
        for operation in 1..=operations {
            let disk = SimDisk::new();
            disk.power_off_at(operation);
            let mut machine = Machine::default();
            let acknowledged = run(&disk, &mut machine, seed, steps);
            for left in disk.after_power_loss(6, operation) {
                let mut machine = machine.clone();
                let mut live = check(&left, &machine, seed, acknowledged);
                let now = live.engine().now();
                assert!(states[&now] == known(&live), "another state than without a crash");
                reconcile(&mut live, &mut machine);
                for _ in 0..3 {
                    step(&mut live, &mut machine, seed).unwrap();
                    agree(&live, &machine);
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn at_random_operations_of_long_runs() {
    let runs = 12 + 2 * crate::kill::seconds();
    for seed in 0..runs {
        let mut disk = SimDisk::new();
        let mut machine = Machine::default();
        for round in 0..12 {
            disk.power_off_at(disk.operations() + 1 + draw(&[seed, round], 90));
            let until = machine.step + 60;
            let acknowledged = run(&disk, &mut machine, seed, until);
            let mut left = disk.after_power_loss(3, seed * 100 + round);
            let which = draw(&[seed, round, 1], 3) as usize;
            disk = left.swap_remove(which.min(left.len() - 1));
            let mut live = check(&disk, &machine, seed, acknowledged);
            reconcile(&mut live, &mut machine);
        }
        assert!(machine.starts() > 8, "{}", machine.starts());
    }
}
