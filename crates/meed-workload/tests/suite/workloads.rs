//! Whole paths through the crate: generated, merged, converted, read again and summed up.

use meed::{ResourceKinds, Resources, Span, Time, Unit};
use meed_files::Guard;
use meed_workload::canonical::CanonicalSource;
use meed_workload::convert::convert;
use meed_workload::generate::{Arrivals, Dist, Generator, GeneratorSpec, Limit, Per, StageSpec};
use meed_workload::inline::Inline;
use meed_workload::inspect::{Quantiles, inspect};
use meed_workload::merge::Merge;
use meed_workload::swim::{SwimAssumptions, SwimSource};
use meed_workload::{Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, Origin};

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

fn generator(queue: &str, arrivals: Arrivals) -> GeneratorSpec {
    let stage = |per, mean| StageSpec {
        constraints: None,
        limit: None,
        checkpoint: None,
        gang: None,
        tasks: Dist::Uniform { low: 1.0, high: 20.0 },
        duration_s: Dist::LogNormal { median: mean, sigma: 1.0 },
        per,
        demand: Resources::new(&[500, 1 << 30]),
    };
    GeneratorSpec {
        queue: queue.into(),
        stream: queue.into(),
        arrivals,
        limit: Limit { jobs: Some(200), until: None },
        weight: 1,
        stages: vec![stage(Per::Task, 10.0), stage(Per::Job, 20.0)],
    }
}

fn workload() -> Merge<'static> {
    let gap = Span::from_secs(2).unwrap();
    let specs = [
        generator("a", Arrivals::poisson(Time::ZERO, gap)),
        generator("b", Arrivals::Every { start: Time::ZERO, gap }),
    ];
    let boxed = specs
        .map(|spec| Box::new(Generator::new(spec, 2, 3).unwrap()) as Box<dyn JobSource + Send>);
    Merge::new(boxed.into()).unwrap()
}

#[test]
fn a_generated_workload_survives_every_file_format() {
    let folder = tempfile::tempdir().unwrap();
    let expected: Vec<Job> = {
        let mut source = workload();
        std::iter::from_fn(|| source.next_job().unwrap()).collect()
    };
    assert_eq!(expected.len(), 400);
    for name in ["w.jsonl", "w.jsonl.gz", "w.jsonl.zst", "w.jsonl.xz"] {
        let path = folder.path().join(name);
        let output = Guard::new().create(&path).unwrap();
        let (output, counts) = convert(&mut workload(), &kinds(), output, name).unwrap();
        output.finish().unwrap();
        assert_eq!(counts.jobs, 400);
        let origin = Origin::path(&path);
        let mut copy = CanonicalSource::open(&origin, Some(&kinds()), OnBadLine::Stop).unwrap();
        assert_eq!(copy.queues(), ["a", "b"]);
        let jobs: Vec<Job> = std::iter::from_fn(|| copy.next_job().unwrap()).collect();
        assert!(jobs == expected, "{name} reads back differently");
    }
}

#[test]
fn closed_workloads_are_not_converted() {
    let arrivals =
        Arrivals::Closed { start: Time::ZERO, concurrent: 2, pause_s: Dist::Constant(1.0) };
    let mut source = Generator::new(generator("a", arrivals), 2, 1).unwrap();
    let message = convert(&mut source, &kinds(), Vec::new(), "out").unwrap_err().to_string();
    assert!(message.starts_with("out: job 0: it belongs to a closed chain"), "{message}");
}

#[test]
fn the_documented_example_is_read() {
    let text = include_str!("../../../../docs/trace-format.md");
    let example = text.split("```").nth(1).unwrap().trim_start();
    let origin = Origin::bytes("example", example.as_bytes());
    let mut source = CanonicalSource::open(&origin, None, OnBadLine::Stop).unwrap();
    let jobs: Vec<Job> = std::iter::from_fn(|| source.next_job().unwrap()).collect();
    assert_eq!(jobs.len(), 2);
    assert_eq!((jobs[0].tasks(), jobs[1].tasks(), jobs[1].weight), (20, 4, 2));
}

#[test]
fn a_summary_adds_up() {
    let secs = |seconds| Span::from_secs(seconds).unwrap();
    let job = |number, queue, submit_s, count, duration| Job {
        label: JobLabel::Number(number),
        queue,
        submit: Time::from_secs(submit_s).unwrap(),
        weight: 1,
        chain: None,
        groups: vec![JobGroup::new(count, Resources::new(&[500, 100]), duration)],
    };
    // Out of order on purpose: the source sorts.
    let jobs = vec![
        job(2, 0, 30, 3, Durations::Each([secs(1), secs(2), secs(7)].into())),
        job(1, 2, 10, 2, Durations::Same(secs(5))),
    ];
    let queues = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut source = Inline::new(queues, jobs, 2).unwrap();
    let capacity = Resources::new(&[2000, 0]);
    let summary = inspect(&mut source, &kinds(), Some(&capacity), |_| ()).unwrap();
    assert_eq!((summary.jobs, summary.tasks), (2, 5));
    assert_eq!((summary.first_submit_s, summary.last_submit_s), (Some(10.0), Some(30.0)));
    // 20 s of task time, half a core and 100 bytes each; 2 cores for 20 s; no memory to load.
    assert_eq!((summary.resources[0].work, summary.resources[1].work), (10.0, 2000.0));
    assert_eq!(
        (summary.resources[0].largest_task, summary.resources[1].largest_task),
        (0.5, 100.0)
    );
    assert_eq!(summary.resources[0].offered_load, Some(0.25));
    assert_eq!(summary.resources[1].offered_load, None);
    let queues: Vec<_> =
        summary.queues.iter().map(|q| (q.queue.as_str(), q.jobs, q.tasks, q.work[0])).collect();
    assert_eq!(queues, [("a", 1, 3, 5.0), ("b", 0, 0, 0.0), ("c", 1, 2, 5.0)]);
    let near = |value: Option<f64>, expected: f64| (value.unwrap() / expected - 1.0).abs() < 0.002;
    let Quantiles { min, mean, p50, max, .. } = summary.duration_s;
    assert_eq!((min, mean, max), (Some(1.0), Some(4.0), Some(7.0)));
    assert!(near(p50, 5.0), "{p50:?}");
    assert!(near(summary.gap_s.mean, 20.0) && near(summary.tasks_per_job.mean, 2.5));
    // Without jobs there are no quantiles.
    let mut empty = Inline::new(vec!["a".into()], Vec::new(), 2).unwrap();
    let summary = inspect(&mut empty, &kinds(), Some(&capacity), |_| ()).unwrap();
    assert_eq!((summary.first_submit_s, summary.duration_s), (None, Quantiles::default()));
    assert_eq!(summary.resources[0].offered_load, None);
}

#[test]
fn a_summary_tells_of_wrong_lines_and_assumptions() {
    let text = "job0\t1\t1\t1\t0\t1\nodd\njob1\t2\t1\t1\t0\t1\n";
    let origin = Origin::bytes("t.tsv", text.as_bytes());
    let assumptions = SwimAssumptions::default();
    let mut source = SwimSource::open(&origin, &kinds(), &assumptions, OnBadLine::Skip).unwrap();
    let summary = inspect(&mut source, &kinds(), None, |_| ()).unwrap();
    assert_eq!(
        (summary.lines, summary.bad_lines, summary.ignored_lines, summary.jobs),
        (3, 1, 0, 2)
    );
    assert_eq!(
        summary.first_bad_lines,
        ["t.tsv:2: 1 columns; a SWIM line has 6, separated by tabs"]
    );
    assert_eq!(summary.assumptions, source.assumptions());
    assert!(summary.assumptions[0].contains("4 invented tenants"));
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let text: String =
        (0..200_000).map(|job| format!("job{job}\t{job}\t1\t{job}\t0\t1\n")).collect();
    let origin = Origin::bytes("t.tsv", text.into_bytes());
    let assumptions = SwimAssumptions::default();
    let mut source = SwimSource::open(&origin, &kinds(), &assumptions, OnBadLine::Stop).unwrap();
    let mut last = source.progress().unwrap();
    assert!(last < 0.1, "{last} read for the first job");
    let mut seen = Vec::new();
    inspect(&mut source, &kinds(), None, |progress| seen.push(progress.unwrap())).unwrap();
    assert_eq!(seen.len(), 200);
    for now in seen {
        assert!(now >= last);
        last = now;
    }
    assert_eq!(last, 1.0);
}

#[test]
fn sources_can_move_to_another_thread() {
    fn movable<T: JobSource + Send>() {}
    movable::<meed_workload::swf::SwfSource>();
    movable::<SwimSource>();
    movable::<CanonicalSource>();
    movable::<Generator>();
    movable::<Inline>();
    movable::<Merge<'static>>();
}
