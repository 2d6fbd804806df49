//! MWF: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::mwf::{MwfAssumptions, MwfProperties, MwfQueues, MwfSource};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let assumptions = MwfAssumptions {
        queues: [MwfQueues::User, MwfQueues::Queue,
            MwfQueues::Single("all".into())][usize::from(choice % 3)]
            .clone(),
        properties: [MwfProperties::Known, MwfProperties::All, MwfProperties::Ignore]
            [usize::from(choice / 3 % 3)],
        count_memory: choice & 64 == 0,
        ..MwfAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.mwf", file);
    let open = |policy| MwfSource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("both passes read the \
                same") };
            assert_eq!(strict.is_ok(), source.bad_lines().is_empty(), "strict fails on wrong lines \
                only");
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
