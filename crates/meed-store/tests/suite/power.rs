//! Loss of power: at each operation of a small run, with what may be left; at random ones of long
//! runs, again and again on the same disk.

use meed_store::testing::SimDisk;

use crate::workload::{KINDS, Kind, Progress, SMALL, Step};

/// Runs steps until one fails; opening counts too.
fn run(kind: Kind, disk: &SimDisk, steps: &[Step], progress: &mut Progress) -> bool {
    let Ok(mut store) = kind.open(disk) else { return false };
    steps.iter().all(|step| progress.step(&mut *store, *step).is_ok())
}

/// Loss of power at each operation of a run on a new disk; gives how many disks were checked.
fn at_each_operation(kind: Kind, steps: &[Step], limit: usize) -> usize {
    let disk = SimDisk::new();
    assert!(run(kind, &disk, steps, &mut Progress::default()));
    let mut checked = 0;
    for operation in 1..=disk.operations() {
        let disk = SimDisk::new();
        disk.power_off_at(operation);
        let mut progress = Progress::default();
        run(kind, &disk, steps, &mut progress);
        for left in disk.after_power_loss(limit, operation) {
            progress.check(kind, &left);
            checked += 1;
        }
    }
    checked
}

#[test]
fn files_at_each_operation() {
    for kind in KINDS.into_iter().filter(|kind| *kind != Kind::Database) {
        let checked = at_each_operation(kind, &SMALL, 300);
        assert!(checked > 2_000, "{checked}");
    }
}

#[test]
fn database_at_each_operation() {
    let checked = at_each_operation(Kind::Database, &SMALL[..4], 12);
    assert!(checked > 200, "{checked}");
}

/// Power also goes off while the store recovers from the loss before.
#[test]
fn again_while_recovering() {
    let kind = Kind::Files(1500, 1024);
    let disk = SimDisk::new();
    let mut progress = Progress::default();
    assert!(run(kind, &disk, &SMALL[..5], &mut progress));
    disk.power_off_at(disk.operations() + 4);
    run(kind, &disk, &SMALL[5..], &mut progress);
    for left in disk.after_power_loss(200, 1) {
        for operation in 1.. {
            let again = left.copy();
            again.power_off_at(operation);
            if kind.open(&again).is_ok() {
                break;
            }
            for left in again.after_power_loss(6, operation) {
                progress.check(kind, &left);
            }
        }
    }
}

/// And at the first write after a recovery: nothing that was cut off may come back with it.
#[test]
fn at_the_first_write_after_a_recovery() {
    let kind = Kind::Files(1 << 20, 1024);
    let disk = SimDisk::new();
    let mut progress = Progress::default();
    assert!(run(kind, &disk, &[Step::Group(5), Step::Group(1)], &mut progress));
    disk.power_off_at(disk.operations() + 4);
    assert!(!run(kind, &disk, &[Step::Group(12)], &mut progress));
    for left in disk.after_power_loss(60, 1) {
        let recovering = left.copy();
        let mut progress = progress.clone();
        let store = kind.open(&recovering).unwrap();
        progress.acknowledged = store.durable();
        drop(store);
        for further in 1..=3 {
            let again = left.copy();
            again.power_off_at(recovering.operations() + further);
            let mut progress = progress.clone();
            run(kind, &again, &[Step::Group(7)], &mut progress);
            for left in again.after_power_loss(60, further) {
                progress.check(kind, &left);
            }
        }
    }
}

#[test]
fn at_random_operations_of_long_runs() {
    let runs = 16 + 4 * crate::kill::seconds();
    for seed in 0..runs {
        let kind = KINDS[usize::try_from(seed % 4).unwrap()];
        let rounds = if kind == Kind::Database { 4 } else { 25 };
        let mut disk = SimDisk::new();
        let mut progress = Progress::default();
        for round in 0..rounds {
            let mixed = (seed * 1_000 + round).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            disk.power_off_at(disk.operations() + 1 + mixed % 60);
            let steps = (0..40).map(|i| match (mixed >> (i % 30)) % 11 {
                0 => Step::Snapshot,
                1 => Step::Retain(mixed % 50),
                count => Step::Group(count * count),
            });
            run(kind, &disk, &steps.collect::<Vec<_>>(), &mut progress);
            let mut left = disk.after_power_loss(3, mixed);
            disk = left.swap_remove(usize::try_from(mixed % 3).unwrap().min(left.len() - 1));
            progress = progress.check(kind, &disk);
        }
    }
}
