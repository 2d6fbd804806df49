//! Segments of the journal: whatever stands in the live one, opening it is an error, or gives
//! records that are whole and can be followed by others; so does a loss of power after that.
#![no_main]

use std::ops::ControlFlow;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use meed_store::testing::SimDisk;
use meed_store::{FileStore, FileStoreOptions, Seq, Store, UnixMillis};

const RECORD: &[u8] = b"{\"t\":1}";

/// All records, or nothing when the store is refused.
fn read(disk: &SimDisk) -> Option<(FileStore, Vec<Vec<u8>>)> {
    let options = FileStoreOptions::default().room_bytes(512);
    let store = match FileStore::open(Arc::new(disk.clone()), options) {
        Ok(store) => store,
        Err(error) => {
            assert!(error.to_string().len() < 2500, "{error}");
            return None;
        }
    };
    let mut records = Vec::new();
    let done = store.read(Seq::new(1), &mut |seq, record| {
        records.push(record.to_vec());
        assert_eq!(seq.get(), records.len() as u64);
        assert!(!record.is_empty() && !record.contains(&b'\n'));
        ControlFlow::Continue(())
    });
    done.expect("the live segment was checked when it was opened");
    Some((store, records))
}

fuzz_target!(|data: &[u8]| {
    let disk = SimDisk::new();
    disk.put("store.json", b"{\"store\":\"segments\",\"version\":1}\n");
    disk.put("00000000000000000001.jsonl", data);
    let Some((mut store, mut records)) = read(&disk) else { return };
    store.append(&[RECORD]).expect("a record");
    store.commit(UnixMillis::new(1)).expect("the disk is sound");
    records.push(RECORD.to_vec());
    drop(store);
    for left in disk.after_power_loss(3, 1) {
        assert_eq!(read(&left).expect("as it was").1, records);
    }
});
