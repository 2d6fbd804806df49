//! SWIM: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::swim::{SwimAssumptions, SwimSource, TenantSplit};
use meed_workload::{OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let mut assumptions = SwimAssumptions::default();
    if choice & 1 == 0 {
        assumptions.split = TenantSplit::RoundRobin;
    }
    if choice & 2 == 0 {
        assumptions.map_bytes = 1;
        assumptions.max_tasks = 1 << 20;
    }
    if choice & 4 == 0 {
        assumptions.reduce_bytes_per_s = 1;
    }
    let kinds = kinds();
    let origin = Origin::bytes("f.tsv", file);
    let open = |policy| SwimSource::open(&origin, &kinds, &assumptions, policy);
    let Ok(mut source) = open(OnBadLine::Skip) else {
        assert!(open(OnBadLine::Stop).is_err());
        return;
    };
    if let Some(jobs) = drain(&mut source, &kinds) {
        assert!(!jobs.is_empty());
        round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
    }
});
