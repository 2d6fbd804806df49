//! Hadoop's job histories: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::jhist::{
    HistoryAssumptions, HistoryEpisode, HistoryQueues, HistoryReduces, HistorySource,
};
use meed_workload::{OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let bit = |bit: u8| choice & bit != 0;
    let assumptions = HistoryAssumptions {
        queues: if bit(1) { HistoryQueues::User } else { HistoryQueues::Queue },
        episode: if bit(2) { HistoryEpisode::Finished } else { HistoryEpisode::Total },
        reduces: if bit(4) { HistoryReduces::WithMaps } else { HistoryReduces::AfterMaps },
        ..HistoryAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.jhist", file);
    let open = |policy| HistorySource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("what was opened can be \
                read") };
            assert!(!jobs.is_empty());
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
