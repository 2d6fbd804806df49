//! Groups that are made durable beside the caller: the store is a list all the same, and what it
//! says is durable outlives a loss of power at each operation.

use std::ops::ControlFlow;

use meed_store::testing::SimDisk;
use meed_store::{Retention, Seq, Store, StoreError, UnixMillis};
use proptest::prelude::*;

use crate::workload::{KINDS, Kind, read_all, record};

const NOW: UnixMillis = UnixMillis::new(7);

#[derive(Clone, Copy, Debug)]
enum Act {
    Append(u64),
    Begin,
    Commit,
    Snapshot,
    Retain(u64),
    Reopen,
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (1..9u64).prop_map(Act::Append),
        6 => Just(Act::Begin),
        1 => Just(Act::Commit),
        1 => Just(Act::Snapshot),
        1 => (0..60u64).prop_map(Act::Retain),
        1 => Just(Act::Reopen),
    ]
}

/// How many records are durable, on their way, and in the open group.
#[derive(Clone, Copy, Default, Debug)]
struct Counts {
    durable: u64,
    begun: u64,
    open: u64,
}

impl Counts {
    fn all_durable(&mut self) {
        (self.durable, self.begun) = (self.durable + self.begun, 0);
    }
}

fn append(store: &mut dyn Store, from: u64, count: u64) -> Result<Seq, StoreError> {
    let records: Vec<_> = (from..from + count).map(|seq| record(Seq::new(seq))).collect();
    let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    store.append(&records)
}

fn follow(kind: Kind, acts: &[Act]) {
    let disk = SimDisk::new();
    let mut store = kind.open(&disk).unwrap();
    let mut counts = Counts::default();
    for &act in acts {
        match act {
            Act::Append(count) => {
                let Counts { durable, begun, open } = counts;
                let all = durable + begun + open;
                assert_eq!(append(&mut *store, all + 1, count).unwrap().get(), all + count);
                counts.open += count;
            }
            Act::Begin => {
                counts.all_durable();
                let durable = store.begin_commit(NOW).unwrap().get();
                let open = std::mem::take(&mut counts.open);
                // A new segment is begun at once.
                match durable == counts.durable {
                    true => counts.begun = open,
                    false => counts.durable += open,
                }
                assert_eq!(durable, counts.durable);
            }
            Act::Commit => {
                counts.begun += std::mem::take(&mut counts.open);
                counts.all_durable();
                assert_eq!(store.commit(NOW).unwrap().get(), counts.durable);
            }
            Act::Snapshot => {
                counts.all_durable();
                store.snapshot(store.durable(), b"state").unwrap();
            }
            Act::Retain(max_records) => {
                counts.all_durable();
                let rule = Retention { max_records: Some(max_records), ..Retention::default() };
                store.retain(&rule, NOW).unwrap();
            }
            Act::Reopen => {
                counts.all_durable();
                counts.open = 0;
                drop(store);
                store = kind.open(&disk).unwrap();
            }
        }
        assert_eq!(store.durable().get(), counts.durable, "{act:?}");
        read_all(&*store);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 48 } else { 200 }))]

    #[test]
    fn a_store_is_a_list_while_groups_are_on_their_way(
        acts in proptest::collection::vec(acts(), 0..60),
        kind in 0..4_usize,
    ) {
        follow(KINDS[kind], &acts);
    }
}

/// The last number that was said to be durable, and the last that was appended.
fn run(kind: Kind, disk: &SimDisk) -> (Seq, Seq) {
    let (mut said, mut tried) = (Seq::ZERO, Seq::ZERO);
    let Ok(mut store) = kind.open(disk) else { return (said, tried) };
    for (turn, count) in [1, 5, 12, 1, 9, 3, 2, 7, 4].into_iter().enumerate() {
        match append(&mut *store, tried.get() + 1, count) {
            Ok(last) => tried = last,
            Err(_) => return (said, tried),
        }
        match store.begin_commit(NOW) {
            Ok(durable) => said = durable,
            Err(_) => return (said, tried),
        }
        if turn == 5 && store.snapshot(said, b"state").is_err() {
            return (said, tried);
        }
    }
    (store.commit(NOW).unwrap_or(said), tried)
}

#[test]
fn at_each_operation() {
    for kind in KINDS {
        let disk = SimDisk::new();
        assert_eq!(run(kind, &disk), (Seq::new(44), Seq::new(44)));
        for operation in 1..=disk.operations() {
            let disk = SimDisk::new();
            disk.power_off_at(operation);
            let (said, tried) = run(kind, &disk);
            for left in disk.after_power_loss(if kind == Kind::Database { 6 } else { 100 }, 3) {
                let mut store = kind.open(&left).unwrap();
                let durable = store.durable();
                assert!(said <= durable && durable <= tried, "{said} {durable} {tried}");
                read_all(&*store);
                append(&mut *store, durable.get() + 1, 2).unwrap();
                store.commit(NOW).unwrap();
                read_all(&*store);
            }
        }
    }
}

#[test]
fn a_group_that_failed_on_its_way_ends_the_writing() {
    let (kind, disk) = (KINDS[0], SimDisk::new());
    let mut store = kind.open(&disk).unwrap();
    append(&mut *store, 1, 3).unwrap();
    assert_eq!(store.commit(NOW).unwrap(), Seq::new(3));
    disk.fail_at(disk.operations() + 2, meed_store::testing::Fault::Broken, false);
    append(&mut *store, 4, 2).unwrap();
    assert_eq!(store.begin_commit(NOW).unwrap(), Seq::new(3), "its sync has not been asked yet");
    append(&mut *store, 6, 1).unwrap();
    let failed = store.begin_commit(NOW).unwrap_err();
    assert!(failed.to_string().contains("sync"), "{failed}");
    assert_eq!(store.durable(), Seq::new(3));
    assert!(matches!(store.commit(NOW), Err(StoreError::Poisoned { .. })));
    let mut seen = 0;
    let count = &mut |_, _: &[u8]| {
        seen += 1;
        ControlFlow::Continue(())
    };
    store.read(Seq::new(1), count).unwrap();
    assert_eq!(seen, 3);
}
