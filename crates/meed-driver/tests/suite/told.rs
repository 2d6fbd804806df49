//! What a live world can tell is drawn by the random runs, and instants rise whatever clocks do.

use std::collections::BTreeMap;

use meed::Time;
use meed_journal::{ClockStep, Fact, Kind, Note, Record};
use meed_store::Seq;
use meed_store::testing::SimDisk;

use crate::world::{Machine, NoSnapshot, WALL, known, lines, open, opening, step, store_of};

/// Kinds that no live driver writes: of simulated runs, and marks of other stores.
const NOT_LIVE: &[Kind] = &[Kind::Snapshot, Kind::Finish];

#[test]
fn random_runs_tell_all_that_can_be_told() {
    let mut told: BTreeMap<Kind, u32> = BTreeMap::new();
    let (mut adopted, mut kept) = (0, 0);
    for seed in 0..24 {
        let disk = SimDisk::new();
        let mut machine = Machine::default();
        while machine.step < 100 {
            let (mut live, _) = open(&disk, seed).unwrap();
            let until = machine.step + 50;
            while machine.step < until {
                step(&mut live, &mut machine, seed).unwrap();
            }
        }
        for line in lines(&*store_of(&disk).unwrap(), Seq::new(1)) {
            let record = Record::decode(line.as_bytes()).unwrap();
            *told.entry(record.fact.kind()).or_insert(0) += 1;
            adopted += u32::from(line.contains("\"since_s\":"));
            kept += u32::from(line.contains("\"keeps_tasks\":true"));
        }
    }
    for kind in Kind::ALL {
        let times = told.get(kind).copied().unwrap_or(0);
        assert_eq!(times == 0, NOT_LIVE.contains(kind), "{}: {times} times", kind.word());
    }
    assert!(adopted > 20 && kept > 20, "{adopted} adopted, {kept} nodes resized");
}

#[test]
fn what_happened_is_counted() {
    use meed_driver::counters::Metric;
    let disk = SimDisk::new();
    let (mut live, _) = open(&disk, 0).unwrap();
    let mut machine = Machine::default();
    while machine.step < 60 {
        step(&mut live, &mut machine, 0).unwrap();
    }
    live.counters().commit_took(meed::Span::from_micros(1500).unwrap());
    let all = lines(live.store(), Seq::new(1));
    let of = |kind| {
        let of = |line: &&String| Record::decode(line.as_bytes()).unwrap().fact.kind() == kind;
        all.iter().filter(of).count() as u64
    };
    let bytes = all.iter().map(|line| line.len() as u64).sum::<u64>();
    let wanted = [
        (Metric::Starts, of(Kind::TaskStarted)),
        (Metric::Ends, of(Kind::TaskEnded)),
        (Metric::Failures, of(Kind::TaskFailed)),
        (Metric::Lost, of(Kind::TaskLost)),
        (Metric::Undone, of(Kind::StartFailed)),
        (Metric::Arrivals, of(Kind::JobArrived)),
        (Metric::Refused, of(Kind::JobRefused)),
        (Metric::Records, all.len() as u64),
        (Metric::Bytes, bytes),
        (Metric::CommitSeconds, 1),
    ];
    for (metric, count) in wanted {
        assert_eq!(live.counters().value(metric).count, count, "{metric:?}");
    }
    assert_eq!(live.counters().value(Metric::CommitRecords).sum, all.len() as u64);
    assert!(live.counters().value(Metric::Decisions).count > 20);
}

/// The wall clock stands still, goes back, and jumps; what only was noted counts as well.
#[test]
fn instants_rise_whatever_the_clock_says() {
    let disk = SimDisk::new();
    let micros = |micros| Time::from_micros(micros).unwrap();
    let mut machine = Machine::default();
    {
        let (mut live, _) = open(&disk, 0).unwrap();
        assert_eq!(live.instant(Time::ZERO), Time::ZERO, "the first one of all");
        step(&mut live, &mut machine, 0).unwrap();
        let first = live.engine().now();
        let next = micros(first.as_micros() + 1);
        assert_eq!([live.instant(first), live.instant(Time::ZERO)], [next; 2]);
        assert!(live.at(first, |_| Ok(())).is_err(), "the same instant twice");
        let later = micros(first.as_micros() + 5_000_000);
        let stepped = ClockStep { was_us: 7, epoch_us: 3_600_000_007 };
        live.at(later, |batch| batch.apply(&Fact::Clock(stepped))).unwrap();
        let next = micros(later.as_micros() + 1);
        assert_eq!(live.instant(first), next, "a note stands at an instant, too");
        live.commit(WALL).unwrap();
    }
    // The clock was put back while nobody looked.
    let (mut live, _) = open(&disk, 0).unwrap();
    assert!(live.instant(Time::ZERO) > live.engine().now());
    let now = live.instant(Time::ZERO);
    live.at(now, |batch| batch.apply(&Fact::Note(Note { about: "x".into(), detail: None })))
        .unwrap();
    step(&mut live, &mut machine, 0).unwrap();
    let state = known(&live);
    drop(live);
    let whole = Box::new(NoSnapshot(store_of(&disk).unwrap()));
    let (live, _) = meed_driver::live::Live::<u32>::open(whole, opening(0)).unwrap();
    assert!(known(&live) == state, "played from the beginning it is another");
    let times: Vec<Time> = lines(live.store(), Seq::new(1))
        .iter()
        .map(|line| Record::decode(line.as_bytes()).unwrap().t)
        .collect();
    assert!(times.is_sorted());
}
