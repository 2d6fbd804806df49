//! SWF: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed_fuzz::{drain, kinds, round_trip};
use meed_workload::swf::{SwfAssumptions, SwfMemory, SwfProcessors, SwfQueues, SwfShape, SwfSource};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let assumptions = SwfAssumptions {
        queues: [SwfQueues::User, SwfQueues::Group, SwfQueues::Queue,
            SwfQueues::Single("all".into())]
            [usize::from(choice & 3)]
        .clone(),
        shape: if choice & 4 == 0 { SwfShape::Rigid } else { SwfShape::Split },
        processors: match choice & 8 == 0 {
            true => SwfProcessors::Allocated,
            false => SwfProcessors::Requested,
        },
        memory: if choice & 16 == 0 { SwfMemory::Requested } else { SwfMemory::Used },
        ..SwfAssumptions::default()
    };
    let kinds = kinds();
    let origin = Origin::bytes("f.swf", file);
    let open = |policy| SwfSource::open(&origin, &kinds, &assumptions, policy);
    let strict = open(OnBadLine::Stop);
    match open(OnBadLine::Skip) {
        Ok(mut source) => {
            let Some(jobs) = drain(&mut source, &kinds) else { panic!("both passes read the \
                same") };
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
