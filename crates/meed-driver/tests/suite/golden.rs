//! A snapshot of version 1, kept for ever: what was written then is read now, and goes on.

use meed_driver::live::Live;
use meed_store::Seq;
use meed_store::testing::SimDisk;

use crate::world::{Machine, known, lines, open, opening, step, store_of};

const SEED: u64 = 2;
const STEPS: u64 = 60;

/// A live driver that has told much, and its machine.
fn told(disk: &SimDisk) -> (Live<u32>, Machine) {
    let (mut live, _) = open(disk, SEED).unwrap();
    let mut machine = Machine::default();
    while machine.step < STEPS {
        step(&mut live, &mut machine, SEED).unwrap();
    }
    (live, machine)
}

/// Made by the version that wrote it first; a later version must read it, know what was known, and
/// go on from it by its own rules ([`meed::RULES`]; the snapshot knows no services, so ties go by
/// declaration at first). In the second file, made of the first with `MEED_WRITE_STATE=1`, what
/// there are most of stands in rows without names.
#[test]
fn a_snapshot_of_version_1_is_read_and_goes_on() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let [named, in_rows] =
        ["driver-1.state", "driver-1-rows.state"].map(|name| format!("{folder}/{name}"));
    let story = std::fs::read_to_string(format!("{folder}/driver-1.jsonl")).unwrap();
    let written = goes_on_from(&named, &story);
    if std::env::var_os("MEED_WRITE_STATE").is_some() {
        std::fs::write(&in_rows, &written).unwrap();
    }
    assert_eq!(goes_on_from(&in_rows, &story), std::fs::read(&in_rows).unwrap());
}

/// What is written of a driver that has read the snapshot; then it goes on, as in `story`.
fn goes_on_from(state: &str, story: &str) -> Vec<u8> {
    let disk = SimDisk::new();
    let (live, mut machine) = told(&disk);
    drop(live);
    // In the store of this run, the old snapshot takes the place of its own.
    let mut store = store_of(&disk).unwrap();
    let durable = store.durable();
    store.snapshot(durable, &std::fs::read(state).unwrap()).unwrap();
    drop(store);
    let (mut live, recovered) = Live::open(store_of(&disk).unwrap(), opening(SEED)).unwrap();
    assert_eq!((recovered.snapshot, recovered.played), (Some(durable), 0));
    let from = live.store().durable().next();
    let (before, written) = (known(&live), live.state());
    while machine.step < STEPS + 40 {
        step(&mut live, &mut machine, SEED).unwrap();
    }
    let new = lines(live.store(), Seq::new(from.get())).join("\n") + "\n";
    assert_eq!(new, story);
    assert!(new.contains("\"start\":") && before["jobs"].as_array().unwrap().len() > 3);
    written
}
