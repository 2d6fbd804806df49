//! Journals of either schema: read as records, or refused with a message. What was read is written
//! and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_journal::{BufLines, Fact, Kind, Reader, Record, runs};

fuzz_target!(|data: &[u8]| {
    let open = || Reader::new("log".into(), BufLines::new(data));
    let mut reader = open();
    let error = loop {
        match reader.next_any() {
            Ok(Some((_, record))) => survives(&record),
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert!(error.as_ref().is_none_or(|words| words.starts_with("log:")), "{error:?}");
    match runs(open()) {
        Ok(found) => assert!(found.iter().all(|run| run.first_line <= run.last_line)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let mut starts = open();
    while let Ok(Some((_, record))) = starts.next(&[Kind::TaskStarted]) {
        assert_eq!(record.fact.kind(), Kind::TaskStarted);
    }
});

fn survives(record: &Record) {
    // What is not known is passed over.
    if let Fact::Other(_) = record.fact {
        return;
    }
    let mut line = Vec::new();
    record.encode(&mut line);
    let back = Record::decode(&line).expect("it was written");
    let mut again = Vec::new();
    back.encode(&mut again);
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&line));
}
