//! Both stores do what a plain list does.

use std::ops::ControlFlow;

use meed_store::testing::SimDisk;
use meed_store::{Retention, Seq, StoreError, UnixMillis};
use proptest::prelude::*;

use crate::workload::{KINDS, Kind, Progress, Step, read_all};

#[derive(Clone, Debug)]
enum Act {
    Append(Vec<Vec<u8>>),
    Commit,
    Reopen,
    Snapshot(Vec<u8>),
    Retain(Option<u64>, Option<u64>),
    Read(u64),
}

fn acts() -> impl Strategy<Value = Act> {
    let record = proptest::collection::vec(any::<u8>(), 0..80).prop_map(|bytes| {
        let mut record = b"x".to_vec();
        record.extend(bytes.into_iter().filter(|byte| *byte != b'\n' && *byte != 0));
        record
    });
    prop_oneof![
        6 => proptest::collection::vec(record, 0..8).prop_map(Act::Append),
        6 => Just(Act::Commit),
        1 => Just(Act::Reopen),
        2 => proptest::collection::vec(any::<u8>(), 0..300).prop_map(Act::Snapshot),
        1 => (proptest::option::of(0..60_u64), proptest::option::of(0..9_000_u64))
            .prop_map(|(records, bytes)| Act::Retain(records, bytes)),
        3 => (0..200_u64).prop_map(Act::Read),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 48 } else { 200 }))]

    #[test]
    fn a_store_is_a_list(acts in proptest::collection::vec(acts(), 0..60), kind in 0..4_usize) {
        follow(KINDS[kind], &acts);
    }
}

fn follow(kind: Kind, acts: &[Act]) {
    let disk = SimDisk::new();
    let mut store = kind.open(&disk).unwrap();
    let (mut list, mut open): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    let mut snapshot = None;
    for (time, act) in acts.iter().enumerate() {
        match act {
            Act::Append(records) => {
                open.extend(records.iter().cloned());
                let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
                let last = store.append(&records).unwrap();
                assert_eq!(last.get(), (list.len() + open.len()) as u64);
            }
            Act::Commit => {
                list.append(&mut open);
                let durable = store.commit(UnixMillis::new(time as u64)).unwrap();
                assert_eq!(durable.get(), list.len() as u64);
            }
            Act::Reopen => {
                open.clear();
                drop(store);
                store = kind.open(&disk).unwrap();
            }
            Act::Snapshot(bytes) => {
                store.snapshot(store.durable(), bytes).unwrap();
                snapshot = Some((store.durable(), bytes.clone()));
                let beyond = store.snapshot(store.durable().next(), bytes).unwrap_err();
                assert!(matches!(beyond, StoreError::Ahead { .. }));
            }
            Act::Retain(max_records, max_bytes) => {
                let before = store.first();
                let (max_records, max_bytes) = (*max_records, *max_bytes);
                let rule = Retention { max_records, max_bytes, max_age: None };
                let done = store.retain(&rule, UnixMillis::new(time as u64)).unwrap();
                assert_eq!(done.forgotten, store.first().get() - before.get());
                let last = snapshot.as_ref().map_or(Seq::ZERO, |(seq, _)| *seq);
                assert!(store.first() <= last.next() || done.forgotten == 0);
                // Where bytes are bounded too, they may be why.
                if let (Some(max), None) = (max_records, max_bytes)
                    && done.forgotten > 0
                {
                    assert!(before.get() + max <= store.durable().get());
                }
            }
            Act::Read(from) => {
                let from = Seq::new(*from);
                let mut next = from;
                let read = store.read(from, &mut |seq, bytes| {
                    assert_eq!(seq, next);
                    assert_eq!(bytes, list[usize::try_from(seq.get() - 1).unwrap()]);
                    next = seq.next();
                    ControlFlow::Continue(())
                });
                match read {
                    Ok(()) => assert_eq!(next, store.durable().next()),
                    Err(StoreError::Forgotten { first, .. }) => assert!(from < first),
                    Err(StoreError::Ahead { durable, .. }) => assert!(from > durable.next()),
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert_eq!(store.durable().get(), list.len() as u64);
        let kept = store.last_snapshot().unwrap().map(|found| (found.seq, found.bytes));
        assert_eq!(kept, snapshot);
    }
}

#[test]
fn the_visitor_may_stop() {
    for kind in KINDS {
        let mut store = kind.open(&SimDisk::new()).unwrap();
        for _ in 0..3 {
            store.append(&[&[b'a'; 900], b"b"]).unwrap();
            store.commit(UnixMillis::new(0)).unwrap();
        }
        let mut seen = Vec::new();
        let stop = &mut |seq: Seq, _: &[u8]| {
            seen.push(seq.get());
            if seen.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        store.read(Seq::new(2), stop).unwrap();
        assert_eq!(seen, [2, 3, 4]);
    }
}

/// Segments and blocks go when all of their records are old enough, and a snapshot has them.
#[test]
fn age() {
    for kind in [Kind::Files(1, 1), Kind::Database] {
        let mut store = kind.open(&SimDisk::new()).unwrap();
        for second in 0..10 {
            store.append(&[b"a", b"b"]).unwrap();
            store.commit(UnixMillis::new(second * 1000)).unwrap();
        }
        let max_age = Some(std::time::Duration::from_millis(6500));
        let rule = Retention { max_age, ..Retention::default() };
        let now = UnixMillis::new(10_000);
        assert_eq!(store.retain(&rule, now).unwrap().forgotten, 0, "no snapshot");
        store.snapshot(Seq::new(6), b"").unwrap();
        store.retain(&rule, now).unwrap();
        // Groups of seconds 0 to 3 are older, those of 0 to 2 whole in the snapshot.
        assert_eq!(store.first().get(), 7, "{kind:?}");
        store.snapshot(Seq::new(20), b"").unwrap();
        store.retain(&rule, now).unwrap();
        // A segment's age is known by the next one's begin, so the last old one stays a bit.
        let expected = if kind == Kind::Database { 9 } else { 7 };
        assert_eq!(store.first().get(), expected, "{kind:?}");
    }
}

/// A change of a text: cut out, copied elsewhere, or overwritten.
#[derive(Clone, Debug)]
struct Edit {
    from: usize,
    to: usize,
    length: usize,
    what: u8,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (0..4000_usize, 0..4000_usize, 0..600_usize, any::<u8>());
    let edit = edit.prop_map(|(from, to, length, what)| Edit { from, to, length, what });
    proptest::collection::vec(edit, 1..4)
}

fn edit(text: &mut Vec<u8>, edit: &Edit) {
    let from = edit.from.min(text.len());
    let end = (from + edit.length).min(text.len());
    let to = edit.to.min(text.len());
    match edit.what % 5 {
        0 => drop(text.drain(from..end)),
        1 => {
            let copy = text[from..end].to_vec();
            text.splice(to..to, copy);
        }
        2 => text[from..end].fill(b'\n'),
        3 => text[from..end].fill(0),
        _ => text[from..end].iter_mut().for_each(|byte| *byte ^= edit.what),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever stands in the live segment: an error, or the first of its records, to be followed
    /// by others for good.
    #[test]
    fn an_edited_segment(edits in edits(), groups in proptest::collection::vec(1..9_u64, 1..6)) {
        let kind = Kind::Files(1 << 20, 512);
        let (disk, mut progress) = (SimDisk::new(), Progress::default());
        let mut store = kind.open(&disk).unwrap();
        for group in &groups {
            progress.step(&mut *store, Step::Group(*group)).unwrap();
        }
        drop(store);
        let name = "00000000000000000001.jsonl";
        let mut text = disk.content(name).unwrap();
        edits.iter().for_each(|one| edit(&mut text, one));
        disk.put(name, &text);
        let Ok(store) = kind.open(&disk) else { return Ok(()) };
        read_all(&*store);
        let left = Progress { acknowledged: store.durable(), tried: store.durable(), ..progress };
        drop(store);
        left.check(kind, &disk);
    }
}
