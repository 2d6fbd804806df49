//! Meed's own format: what is read, written and read again is equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::canonical::CanonicalSource;
use meed_workload::{OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let origin = Origin::bytes("f.jsonl", data);
    for cluster in [None, Some(kinds())] {
        let open = || CanonicalSource::open(&origin, cluster.as_ref(), OnBadLine::Skip);
        let Ok(mut source) = open() else { continue };
        let kinds = source.kinds().clone();
        if let Some(jobs) = drain(&mut source, &kinds) {
            assert!(!jobs.is_empty());
            round_trip(open().expect("opened before"), &kinds, &jobs);
        }
    }
});
