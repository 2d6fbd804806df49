//! Philly: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::philly::{PhillyAlign, PhillyAssumptions, PhillyShape, PhillySource};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let assumptions = PhillyAssumptions {
        align: if choice & 1 == 0 { PhillyAlign::Start } else { PhillyAlign::End },
        shape: if choice & 2 == 0 { PhillyShape::Rigid } else { PhillyShape::Split },
        ..PhillyAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.csv", file);
    let open = |policy| PhillySource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            assert!(source.size().mean_gpus >= 1 && source.size().widest >= 1);
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("what was opened can be \
                read") };
            assert!(!jobs.is_empty());
            assert_eq!(strict.is_ok(), source.bad_lines().is_empty(), "strict fails on wrong lines \
                only");
            for queue in 0..source.queues().len() as u32 {
                assert!(jobs.iter().any(|job| job.queue == queue), "every queue has a job");
            }
            round_trip(open(OnBadLine::Skip).expect("opened before"), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
