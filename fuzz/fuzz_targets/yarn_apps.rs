//! YARN's applications: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::yarn::{YarnAssumptions, YarnQueues, YarnShape, YarnSource};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let assumptions = YarnAssumptions {
        queues: if choice & 1 == 0 { YarnQueues::Queue } else { YarnQueues::User },
        shape: if choice & 2 == 0 { YarnShape::Split } else { YarnShape::Rigid },
        ..YarnAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.json", file);
    let open = |policy| YarnSource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            assert!(source.size().vcores >= 1 && source.size().memory >= 1);
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("what was opened can be \
                read") };
            assert_eq!(strict.is_ok(), source.bad_lines().is_empty(), "strict fails on wrong lines \
                only");
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
