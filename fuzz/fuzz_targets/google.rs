//! Google's task_events: the first byte chooses the assumptions, the rest is the file.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use meed::{Resources, Span};
use meed_fuzz::{drain_events, round_trip, shares};
use meed_workload::google::{
    GoogleAssumptions, GoogleEpisode, GoogleQueues, GoogleSource, GoogleTrace, GoogleUnfinished,
};
use meed_workload::{JobSource, OnBadLine, Origin};

fuzz_target!(|data: &[u8]| {
    let Some((choice, file)) = data.split_first() else { return };
    let assumptions = GoogleAssumptions {
        queues: [GoogleQueues::User, GoogleQueues::Job, GoogleQueues::Class, GoogleQueues::Priority]
            [usize::from(choice & 3)]
        .clone(),
        episode: [GoogleEpisode::Last, GoogleEpisode::Longest, GoogleEpisode::Finished,
            GoogleEpisode::Total]
            [usize::from(choice >> 2 & 3)],
        unfinished: match choice & 16 == 0 {
            true => GoogleUnfinished::UntilEnd,
            false => GoogleUnfinished::Drop,
        },
        missing_demand: (choice & 32 != 0).then(|| Resources::new(&[1, 2])),
        keep_earlier: choice & 64 == 0,
        batch_gap: if choice & 128 == 0 { Span::ZERO } else { GoogleAssumptions::default()
            .batch_gap },
        ..GoogleAssumptions::default()
    };
    let kinds = shares();
    let origin = Origin::bytes("f.csv", file);
    let read = |policy| GoogleTrace::read(&origin, &kinds, &assumptions, policy);
    let strict = read(OnBadLine::Stop);
    match read(OnBadLine::Skip) {
        Ok(trace) => {
            let trace = Arc::new(trace);
            let mut source = GoogleSource::new(Arc::clone(&trace));
            let jobs = drain_events(&mut source, &kinds).expect("what was read is handed out");
            let counts = trace.counts();
            assert_eq!(jobs.iter().map(|job| job.tasks()).sum::<u64>(), counts.kept);
            let left_out = counts.other_priority
                + counts.earlier_left_out
                + counts.never_ran
                + counts.without_end
                + counts.never_finished
                + counts.without_request;
            assert_eq!(counts.tasks, counts.kept + left_out, "every task is accounted for");
            let rows = counts.events.iter().sum::<u64>() + counts.after_the_end + trace.bad_lines();
            assert_eq!(rows, source.counts().lines, "every row is accounted for");
            assert_eq!(strict.is_ok(), trace.bad_lines() == 0, "strict fails on wrong lines only");
            for queue in 0..source.queues().len() as u32 {
                assert!(jobs.iter().any(|job| job.queue == queue), "every queue has a job");
            }
            round_trip(GoogleSource::new(trace), &kinds, &jobs);
        }
        Err(error) => assert!(strict.is_err(), "{error}"),
    }
});
