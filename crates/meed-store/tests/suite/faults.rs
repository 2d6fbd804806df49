//! Disks that fail without a loss of power: errors at writes and syncs, no space left.

use meed_store::testing::{Fault, SimDisk};
use meed_store::{Retention, StoreError, UnixMillis};

use crate::workload::{KINDS, Kind, Progress, SMALL, Step};

fn limit(kind: Kind) -> usize {
    if kind == Kind::Database { 3 } else { 40 }
}

/// After a failure nothing is acknowledged any more, until the store is opened again; then all
/// acknowledged is there, and stays there when the power goes off at once.
#[test]
fn a_failure_at_each_operation() {
    for kind in KINDS {
        for (fault, lasting) in [(Fault::Broken, false), (Fault::Broken, true), (Fault::Full, true)]
        {
            let steps = if kind == Kind::Database { &SMALL[..4] } else { &SMALL[..] };
            let mut operation = 0;
            loop {
                operation += 1;
                let disk = SimDisk::new();
                disk.fail_at(operation, fault, lasting);
                let mut progress = Progress::default();
                if let Ok(mut store) = kind.open(&disk) {
                    let failed = steps.iter().find_map(|step| {
                        progress.step(&mut *store, *step).err().map(|error| (step, error))
                    });
                    let Some((_, error)) = failed else { break };
                    assert!(matches!(error, StoreError::Io { .. }), "{error}");
                    let refused = store.append(&[b"more"]).unwrap_err();
                    assert!(matches!(refused, StoreError::Poisoned { .. }), "{refused}");
                    assert!(store.commit(UnixMillis::new(0)).is_err());
                    assert!(store.retain(&Retention::default(), UnixMillis::new(0)).is_err());
                }
                disk.mend();
                // What is seen after a failed sync may not be on the disk: opening must not build
                // on it.
                let seen = {
                    let store = kind.open(&disk).unwrap();
                    store.durable()
                };
                assert!(seen == progress.acknowledged || seen == progress.tried);
                progress.acknowledged = seen;
                progress.tried = seen;
                for left in disk.after_power_loss(limit(kind), operation) {
                    progress.check(kind, &left);
                }
            }
            assert!(operation > 10);
        }
    }
}

/// A full disk is no loss: with space again the store goes on.
#[test]
fn a_full_disk_that_has_space_again() {
    for kind in KINDS {
        let disk = SimDisk::new();
        let mut progress = Progress::default();
        let mut store = kind.open(&disk).unwrap();
        progress.step(&mut *store, Step::Group(3)).unwrap();
        disk.fail_at(disk.operations() + 1, Fault::Full, true);
        let error = progress.step(&mut *store, Step::Group(30)).unwrap_err().to_string();
        assert!(error.contains("no space left"), "{error}");
        drop(store);
        disk.mend();
        progress.check(kind, &disk);
    }
}
