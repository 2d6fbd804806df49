//! A recovered driver decides for ever after what one that never crashed decides.

use std::cell::RefCell;
use std::rc::Rc;

use meed_driver::Failed;
use meed_driver::live::Live;
use meed_store::Seq;
use meed_store::testing::SimDisk;
use proptest::prelude::*;

use crate::world::{Machine, NoSnapshot, WALL, known, lines, open, opening, step, store_of};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The process is killed after any step; another run is not. From then on both journals hold
    /// the same lines, but for their numbers and the line that says that one was opened again.
    #[test]
    fn a_recovered_driver_decides_the_same(seed in 0..10_000_u64, crash in 0..60_u64) {
        let (whole, broken) = (SimDisk::new(), SimDisk::new());
        let (mut one, _) = open(&whole, seed).unwrap();
        let mut first = Machine::default();
        let mut second = Machine::default();
        {
            let (mut other, _) = open(&broken, seed).unwrap();
            while second.step < crash {
                step(&mut one, &mut first, seed).unwrap();
                step(&mut other, &mut second, seed).unwrap();
            }
        }
        let from = one.store().durable().next();
        let (mut other, recovered) = open(&broken.after_kill(), seed).unwrap();
        prop_assert!(recovered.remarks.is_empty(), "{:?}", recovered.remarks);
        prop_assert!(as_told(&one) == as_told(&other));
        for _ in 0..40 {
            step(&mut one, &mut first, seed).unwrap();
            step(&mut other, &mut second, seed).unwrap();
        }
        prop_assert!(known(&one) == known(&other));
        let unnumbered = |lines: Vec<String>| -> Vec<String> {
            lines.iter().map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
        };
        let (all, rest) = (lines(one.store(), from), lines(other.store(), from.next()));
        prop_assert_eq!(unnumbered(all), unnumbered(rest));
    }
}

/// What a driver knows, but for how late it is: a step that changed nothing leaves no line.
fn as_told(live: &Live<u32>) -> serde_json::Value {
    let mut all = known(live);
    all.as_object_mut().unwrap().remove("touched");
    all["engine"].as_object_mut().unwrap().remove("now");
    all
}

/// Nothing is handed out that is not durable: a store that fails hands out nothing, ever.
#[test]
fn what_is_not_durable_is_not_handed_out() {
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, 1).unwrap();
    let mut machine = Machine::default();
    while machine.starts() == 0 {
        step(&mut live, &mut machine, 1).unwrap();
    }
    disk.fail_at(disk.operations() + 1, meed_store::testing::Fault::Broken, false);
    let (durable, before) = (live.store().durable(), machine.clone());
    let failed = (0..20).find_map(|_| step(&mut live, &mut machine, 1).err());
    assert!(matches!(failed, Some(Failed::Journal(_))), "{failed:?}");
    assert_eq!(live.store().durable(), durable);
    assert_eq!(machine.starts(), before.starts());
    let why = live.commit(WALL).unwrap_err().to_string();
    assert!(why.contains("open the journal again"), "{why}");
}

/// What another version decided is taken as recorded, and said.
#[test]
fn decisions_of_another_version_are_taken_as_recorded() {
    let disk = SimDisk::new();
    let mut machine = Machine::default();
    // Recorded under first fit, gone on with under another placement.
    {
        let (mut live, _) = open(&disk, 3).unwrap();
        while machine.step < 12 {
            step(&mut live, &mut machine, 3).unwrap();
        }
    }
    let asked = Rc::new(RefCell::new(0));
    let count = Rc::clone(&asked);
    let worst = Box::new(move || {
        *count.borrow_mut() += 1;
        Box::new(meed::place::WorstFit::new(2)) as Box<dyn meed::place::Placement>
    });
    let other = meed_driver::live::Opening { place: worst, ..opening(3) };
    let store = crate::world::NoSnapshot(crate::world::store_of(&disk.copy()).unwrap());
    let (live, recovered): (Live<u32>, _) = Live::open(Box::new(store), other).unwrap();
    assert_eq!(*asked.borrow(), 2);
    assert!(recovered.remarks[0].contains("taken as recorded"), "{:?}", recovered.remarks);
    assert_eq!(recovered.played, live.store().durable().get() - 1);
    crate::world::agree(&live, &machine);
    assert_eq!(live.store().first(), Seq::new(1));
}

/// A journal without snapshots that an earlier edition of the rules began is the journal of this
/// run: only the edition differs.
#[test]
fn a_journal_of_an_earlier_edition_goes_on() {
    let disk = SimDisk::new();
    let mut earlier = opening(3);
    earlier.header.rules = None;
    let (mut live, _) = Live::open(store_of(&disk).unwrap(), earlier).unwrap();
    let mut machine = Machine::default();
    while machine.step < 20 {
        step(&mut live, &mut machine, 3).unwrap();
    }
    drop(live);
    let store = Box::new(NoSnapshot(store_of(&disk).unwrap()));
    let (_, recovered) = Live::open(store, opening(3)).unwrap();
    assert_eq!(recovered.snapshot, None);
    assert!(recovered.played > 20, "{recovered:?}");
    let store = Box::new(NoSnapshot(store_of(&disk).unwrap()));
    let mut other = opening(3);
    other.header.policy = "another".to_owned();
    assert!(Live::open(store, other).is_err(), "the journal of another run");
}
