//! Flipped bits: an error that names the place, or everything is right; never a wrong record.

use std::ops::ControlFlow;

use std::path::Path;

use meed_store::testing::SimDisk;
use meed_store::{FileStore, FileStoreOptions, Seq, Store, StoreError, UnixMillis};

use crate::workload::{Kind, Progress, SMALL, Step, record, snapshot};

fn filled(kind: Kind, steps: &[Step]) -> (SimDisk, Progress) {
    let disk = SimDisk::new();
    let mut progress = Progress::default();
    let mut store = kind.open(&disk).unwrap();
    for step in steps {
        progress.step(&mut *store, *step).unwrap();
    }
    drop(store);
    (disk.copy(), progress)
}

/// Reads what there is; whatever is read is right.
fn read(store: &dyn Store) -> Result<Seq, StoreError> {
    let mut last = store.first();
    store.read(store.first(), &mut |seq, bytes| {
        assert_eq!(bytes, record(seq), "a wrong record {seq}");
        last = seq;
        ControlFlow::Continue(())
    })?;
    if let Some(found) = store.last_snapshot()? {
        assert_eq!(found.bytes, snapshot(found.seq));
    }
    Ok(last)
}

#[test]
fn each_bit_of_each_file() {
    let kind = Kind::Files(1500, 1024);
    let (disk, progress) = filled(kind, &SMALL[..7]);
    let names = [
        "store.json",
        "00000000000000000001.jsonl",
        "00000000000000000019.jsonl",
        "snapshot-00000000000000000028",
    ];
    let mut errors = 0;
    for name in names {
        for bit in 0..disk.length(name).unwrap() * 8 {
            let broken = disk.copy();
            broken.flip(name, bit);
            match kind.open(&broken).and_then(|store| read(&*store)) {
                Ok(last) => assert_eq!(last, progress.acknowledged, "{name}, bit {bit}"),
                Err(error) => {
                    assert!(
                        matches!(
                            error,
                            StoreError::Damaged { .. }
                                | StoreError::Newer { .. }
                                | StoreError::Foreign { .. }
                        ),
                        "{name}, bit {bit}: {error}"
                    );
                    assert!(error.to_string().contains(name), "{name}, bit {bit}: {error}");
                    errors += 1;
                }
            }
        }
    }
    assert!(errors > 10_000, "{errors}");
}

#[test]
fn each_bit_of_a_compressed_segment() {
    let kind = Kind::Files(1500, 1024);
    let (disk, progress) = filled(kind, &SMALL[..8]);
    let name = "00000000000000000001.jsonl.zst";
    for bit in 0..disk.length(name).unwrap() * 8 {
        let broken = disk.copy();
        broken.flip(name, bit);
        match read(&*kind.open(&broken).unwrap()) {
            Ok(last) => assert_eq!(last, progress.acknowledged, "bit {bit}"),
            Err(error) => assert!(error.to_string().contains(name), "bit {bit}: {error}"),
        }
    }
}

#[test]
fn the_error_says_where_and_what() {
    let kind = Kind::Files(1 << 20, 1);
    let (disk, _) = filled(kind, &[Step::Group(2), Step::Group(1)]);
    let name = "00000000000000000001.jsonl";
    let text = disk.content(name).unwrap();
    let place = text.windows(5).position(|bytes| bytes == b"\"t\":2").unwrap();
    disk.flip(name, place * 8 + 32);
    let error = kind.open(&disk).unwrap_err().to_string();
    let block = text.windows(8).position(|bytes| bytes == b"{\"block\"").unwrap();
    let expected =
        format!("disk/{name}, line 2, byte {block}: damaged: records 1 to 2 with checksum ");
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_lost_segment_and_lost_records_are_noticed() {
    let kind = Kind::Files(1500, 1);
    let (disk, _) = filled(kind, &SMALL[..5]);
    let first = disk.content("00000000000000000001.jsonl").unwrap();
    // The last block of a closed segment is cut off: no torn tail, for another segment follows.
    let cut = disk.copy();
    cut.put("00000000000000000001.jsonl", &first[..first.len() - 30]);
    let error = read(&*kind.open(&cut).unwrap()).unwrap_err().to_string();
    assert!(error.contains("00000000000000000001.jsonl, line 10"), "{error}");
    // Whole blocks are gone from its end.
    let cut = disk.copy();
    let block = first.windows(8).rposition(|bytes| bytes == b"{\"block\"").unwrap();
    cut.put("00000000000000000001.jsonl", &first[..block]);
    let error = read(&*kind.open(&cut).unwrap()).unwrap_err().to_string();
    assert!(error.contains("ends with record 6; expected records up to 18"), "{error}");
    // In the live segment it may be a torn tail: it is cut, with a remark.
    let name = "00000000000000000019.jsonl";
    let live = Kind::Files(1 << 20, 1);
    let (disk, _) = filled(live, &SMALL[..4]);
    let text = disk.content("00000000000000000001.jsonl").unwrap();
    disk.put("00000000000000000001.jsonl", &text[..text.len() - 30]);
    let store = live.open(&disk).unwrap();
    assert_eq!((store.durable(), store.remarks().len()), (Seq::new(6), 1), "{name}");
    assert!(store.remarks()[0].contains("cut off and never acknowledged"));
}

/// redb does not look at its checksums when it reads, and may panic: what it hands out is checked
/// by ours all the same.
#[test]
fn bits_of_the_database() {
    let (disk, progress) = filled(Kind::Database, &SMALL[..7]);
    let length = disk.length("journal.redb").unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (mut right, mut errors, mut panics) = (0, 0, 0);
    for bit in (0..length * 8).step_by(4099) {
        let broken = disk.copy();
        broken.flip("journal.redb", bit);
        let outcome = std::panic::catch_unwind(|| {
            Kind::Database.open(&broken).and_then(|store| read(&*store))
        });
        match outcome {
            Ok(Ok(last)) if last == progress.acknowledged => right += 1,
            Ok(Ok(last)) => panic!("bit {bit}: only {last}"),
            Ok(Err(_)) => errors += 1,
            Err(_) => panics += 1,
        }
    }
    std::panic::set_hook(hook);
    assert!(right + errors > panics, "{right} right, {errors} errors, {panics} panics");
}

/// What looks like a torn write is none when acknowledged data follows.
#[test]
fn a_hole_before_acknowledged_data_is_damage() {
    let kind = Kind::Files(1 << 20, 4096);
    let (disk, _) = filled(kind, &[Step::Group(5), Step::Group(12), Step::Group(1)]);
    let name = "00000000000000000001.jsonl";
    let text = disk.content(name).unwrap();
    let blocks: Vec<usize> =
        (0..text.len()).filter(|at| text[*at..].starts_with(b"{\"block\"")).collect();
    let hole = (blocks[1] + 300).next_multiple_of(512);
    assert!(hole + 512 < blocks[2]);
    for (upto, torn) in [(text.len(), false), (blocks[2], true)] {
        let mut holed = text[..upto].to_vec();
        holed[hole..hole + 512].fill(b'\n');
        disk.put(name, &holed);
        match kind.open(&disk) {
            Ok(store) => assert!(torn && store.durable() == Seq::new(5)),
            Err(error) => {
                let place = format!("{name}, line 8, byte {}: damaged", blocks[1]);
                assert!(!torn && error.to_string().contains(&place), "{error}");
            }
        }
    }
}

/// Opens a store that was open a moment ago. A process that another test begins has all files of
/// this one until it runs its own program, the lock too: so it may be held still.
fn open(folder: &Path, options: FileStoreOptions) -> Result<FileStore, StoreError> {
    for _ in 0..1000 {
        match FileStore::open_folder(folder, options.clone()) {
            Err(StoreError::InUse { .. }) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            done => return done,
        }
    }
    FileStore::open_folder(folder, options)
}

/// A cut at the end looks like a write that was never acknowledged. Who knows what was acknowledged
/// says so, and gets an error that names the file; nothing is cut or removed then.
#[test]
fn a_cut_of_what_was_acknowledged_is_refused_and_changes_nothing() {
    let made = tempfile::tempdir().unwrap();
    let mut last = Seq::ZERO;
    {
        let mut store = FileStore::open_folder(made.path(), FileStoreOptions::default()).unwrap();
        for group in 1..4 {
            for _ in 0..group {
                last = store.append(&[&record(last.next())]).unwrap();
            }
            store.commit(UnixMillis::new(group)).unwrap();
        }
    }
    let name = "00000000000000000001.jsonl";
    let whole = std::fs::read(made.path().join(name)).unwrap();
    let text = whole.iter().rposition(|byte| *byte != b'\n').unwrap() + 2;
    for length in (0..text).filter(|length| length % 3 == 0 || text - length < 40) {
        let folder = tempfile::tempdir().unwrap();
        for file in [name, "store.json"] {
            std::fs::copy(made.path().join(file), folder.path().join(file)).unwrap();
        }
        std::fs::write(folder.path().join(name), &whole[..length]).unwrap();
        let knows = FileStoreOptions::default().acknowledged(last);
        let error = open(folder.path(), knows).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{length}: {error}");
        assert!(error.to_string().contains(name), "{length}: {error}");
        let left = std::fs::read(folder.path().join(name)).unwrap();
        assert_eq!(left, whole[..length], "{length}: the file was changed");
        // Who does not know it takes the cut for a write that was cut off.
        let store = open(folder.path(), FileStoreOptions::default()).unwrap();
        assert!(store.durable() < last, "{length}");
    }
    let knows = FileStoreOptions::default().acknowledged(last);
    assert_eq!(open(made.path(), knows.clone()).unwrap().durable(), last);
    std::fs::remove_file(made.path().join(name)).unwrap();
    let error = open(made.path(), knows).unwrap_err();
    assert!(error.to_string().contains("which were acknowledged"), "{error}");
}
