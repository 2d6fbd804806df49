//! Spark's event logs: the first byte chooses the assumptions, the rest is the file, compressed or
//! not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain_events, kinds, round_trip};
use meed_workload::spark::{
    SparkAssumptions, SparkEpisode, SparkQueues, SparkShape, SparkSource, SparkUnfinished,
};
use meed_workload::{OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let bit = |bit: u8| choice & bit != 0;
    let assumptions = SparkAssumptions {
        queues: if bit(1) { SparkQueues::Name } else { SparkQueues::Queue },
        shape: if bit(2) { SparkShape::Tasks } else { SparkShape::Executors },
        episode: if bit(4) { SparkEpisode::Finished } else { SparkEpisode::Total },
        unfinished: if bit(8) { SparkUnfinished::Drop } else { SparkUnfinished::UntilEnd },
        container_step: if bit(16) { 1 } else { 1 << 30 },
        ..SparkAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("log", file);
    let open = |policy| SparkSource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            let Some(jobs) = drain_events(&mut source, &kinds) else {
                panic!("what was opened can be read")
            };
            assert!(!jobs.is_empty());
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
