//! Damage, a full disk, a disk that fails: clear errors, and what was acknowledged is there.

use std::collections::BTreeMap;

use meed_store::Seq;
use meed_store::testing::{Fault, SimDisk};

use crate::world::{
    Machine, NoSnapshot, agree, known, lines, open, opening, reconcile, step, store_of,
};

const SEED: u64 = 0;

fn written(steps: u64) -> (SimDisk, Machine) {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, SEED).unwrap();
    let mut machine = Machine::default();
    while machine.step < steps {
        step(&mut live, &mut machine, SEED).unwrap();
    }
    drop(live);
    (disk, machine)
}

/// Each flipped bit is an error that names its place, or changes nothing that is read.
#[test]
fn flipped_bits_are_told_with_their_place() {
    let (disk, _) = written(30);
    let sound = known(&open(&disk.copy(), SEED).unwrap().0);
    let names: Vec<String> = meed_store::Disk::list(&disk).unwrap();
    let (mut told, mut harmless) = (0, 0);
    for name in names {
        let bits = disk.length(&name).unwrap() * 8;
        for bit in (0..bits).step_by(1 + bits / 150) {
            let broken = disk.copy();
            broken.flip(&name, bit);
            match open(&broken, SEED) {
                Ok((live, recovered)) => {
                    // Records before the snapshot are not read, nor is the snapshot before it; in
                    // what is read a flipped bit looks like a torn tail at most where a write may
                    // have been torn.
                    assert!(
                        known(&live) == sound || !recovered.remarks.is_empty(),
                        "{name}, {bit}"
                    );
                    harmless += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains(&name), "{name}, bit {bit}: {error}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > 100, "{told} told, {harmless} harmless");
}

/// A record that is whole but contradicts the others is told with its number.
#[test]
fn records_that_contradict_each_other_are_told() {
    let whole = lines(&*store_of(&written(30).0).unwrap(), Seq::new(1));
    let start = whole.iter().position(|line| line.contains("\"start\":")).unwrap();
    let changes: [(&str, &str); 3] =
        [("\"job\":", "\"job\":7"), ("\"node\":\"n", "\"node\":\"m"), ("\"seq\":", "\"seq\":9")];
    for (from, to) in changes {
        let disk = SimDisk::new();
        let mut store = store_of(&disk).unwrap();
        let changed = whole[start].replacen(from, to, 1);
        assert_ne!(changed, whole[start]);
        let all = whole[..start].iter().map(String::as_str).chain([changed.as_str()]);
        let all: Vec<&[u8]> = all.map(str::as_bytes).collect();
        store.append(&all).unwrap();
        store.commit(crate::world::WALL).unwrap();
        drop(store);
        let store = Box::new(NoSnapshot(store_of(&disk).unwrap()));
        let opened = meed_driver::live::Live::<u32>::open(store, opening(SEED));
        let error = opened.err().expect("it contradicts the others").to_string();
        assert!(error.starts_with(&format!("record {} of the store: ", start + 1)), "{error}");
    }
}

/// Each operation fails once, or from then on; then the disk is mended.
#[test]
fn after_a_fault_nothing_is_lost() {
    let operations = written(10).0.operations();
    let mut failed = BTreeMap::new();
    for fault in [Fault::Broken, Fault::Full] {
        for (operation, lasting) in (1..=operations).flat_map(|op| [(op, false), (op, true)]) {
            let disk = SimDisk::new();
            disk.fail_at(operation, fault, lasting);
            let mut machine = Machine::default();
            let mut acknowledged = 0;
            if let Ok((mut live, _)) = open(&disk, SEED) {
                while machine.step < 10 {
                    if step(&mut live, &mut machine, SEED).is_err() {
                        *failed.entry(lasting).or_insert(0) += 1;
                        break;
                    }
                }
                acknowledged = live.store().durable().get();
            }
            disk.mend();
            let (mut live, _) = open(&disk, SEED).unwrap_or_else(|error| panic!("{error}"));
            assert!(live.store().durable().get() > acknowledged);
            reconcile(&mut live, &mut machine);
            for _ in 0..3 {
                step(&mut live, &mut machine, SEED).unwrap();
                agree(&live, &machine);
            }
        }
    }
    assert!(failed.values().all(|count| *count > 10), "{failed:?}");
}

/// Snapshots of another version, and a journal of another configuration.
#[test]
fn what_cannot_be_read_is_said() {
    let (disk, _) = written(3);
    let store = Box::new(NoSnapshot(store_of(&disk).unwrap()));
    let error = meed_driver::live::Live::<u32>::open(store, opening(SEED + 6)).err().unwrap();
    assert!(error.to_string().contains("with the configuration it began with"), "{error}");
    let mut store = store_of(&disk).unwrap();
    let durable = store.durable();
    store.snapshot(durable, b"meed driver state 9\n{}").unwrap();
    drop(store);
    let error = open(&disk, SEED).err().unwrap().to_string();
    assert!(error.contains("state 9") && error.contains("state 1"), "{error}");
}
