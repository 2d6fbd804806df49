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

/// Made with `MEED_WRITE_STATE=1` by the version that wrote it first; a later version must read it,
/// know what was known, and decide as it did.
#[test]
fn a_snapshot_of_version_1_is_read_and_goes_on() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let (state, story) = (format!("{folder}/driver-1.state"), format!("{folder}/driver-1.jsonl"));
    let disk = SimDisk::new();
    let (live, mut machine) = told(&disk);
    let written = live.state();
    drop(live);
    if std::env::var_os("MEED_WRITE_STATE").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&state, &written).unwrap();
    }
    // In the store of this run, the old snapshot takes the place of its own.
    let mut store = store_of(&disk).unwrap();
    let durable = store.durable();
    store.snapshot(durable, &std::fs::read(&state).unwrap()).unwrap();
    drop(store);
    let (mut live, recovered) = Live::open(store_of(&disk).unwrap(), opening(SEED)).unwrap();
    assert_eq!((recovered.snapshot, recovered.played), (Some(durable), 0));
    let from = live.store().durable().next();
    let before = known(&live);
    while machine.step < STEPS + 40 {
        step(&mut live, &mut machine, SEED).unwrap();
    }
    let new = lines(live.store(), Seq::new(from.get())).join("\n") + "\n";
    if std::env::var_os("MEED_WRITE_STATE").is_some() {
        std::fs::write(&story, &new).unwrap();
    }
    assert_eq!(new, std::fs::read_to_string(&story).unwrap());
    assert!(new.contains("\"start\":") && before["jobs"].as_array().unwrap().len() > 3);
}
