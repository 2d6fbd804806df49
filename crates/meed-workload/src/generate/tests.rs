//! Tests of the generator.

use meed::Resources;

use super::*;

fn secs(seconds: u64) -> Time {
    Time::from_secs(seconds).unwrap()
}

fn spec(arrivals: Arrivals) -> GeneratorSpec {
    GeneratorSpec {
        queue: "a".into(),
        stream: "s".into(),
        arrivals,
        limit: Limit { jobs: Some(50), until: None },
        weight: 2,
        stages: vec![StageSpec {
            constraints: None,
            limit: None,
            checkpoint: None,
            gang: None,
            tasks: Dist::Uniform { low: 1.0, high: 9.0 },
            duration_s: Dist::Exponential { mean: 10.0 },
            per: Per::Task,
            demand: Resources::new(&[1000, 5]),
        }],
    }
}

fn all(spec: &GeneratorSpec, seed: u64) -> Vec<Job> {
    let mut generator = Generator::new(spec.clone(), 2, seed).unwrap();
    std::iter::from_fn(|| generator.next_job().unwrap()).collect()
}

#[test]
fn open_arrivals_are_ordered_limited_and_repeatable() {
    let gap = Span::from_secs(3).unwrap();
    for arrivals in [
        Arrivals::Every { start: secs(5), gap },
        Arrivals::poisson(secs(5), gap),
        Arrivals::Gaps { start: secs(5), gap_s: Dist::Pareto { scale: 1.0, shape: 1.5 } },
        Arrivals::At((5..100).map(secs).collect()),
    ] {
        let spec = spec(arrivals);
        let jobs = all(&spec, 1);
        assert_eq!(jobs.len(), 50);
        assert!(jobs.is_sorted_by_key(|job| job.submit) && jobs[0].submit >= secs(5));
        assert!(
            jobs.iter()
                .all(|job| job.check(1, 2).is_ok() && job.weight == 2 && job.chain.is_none())
        );
        assert_eq!(jobs, all(&spec, 1));
        assert_ne!(jobs, all(&spec, 2));
        assert_ne!(jobs, all(&GeneratorSpec { stream: "other".into(), ..spec.clone() }, 1));
    }
}

#[test]
fn generated_numbers_never_change() {
    // If this fails, every published figure made with a generated workload changes as well.
    let jobs = all(&spec(Arrivals::poisson(Time::ZERO, Span::from_secs(3).unwrap())), 1);
    let seen: Vec<(u64, u32, u64)> = jobs[..4]
        .iter()
        .map(|job| {
            let group = &job.groups[0];
            (job.submit.as_micros(), group.count, group.duration.get(0).as_micros())
        })
        .collect();
    assert_eq!(seen, PINNED);
}

/// Submission (us), tasks, first task's duration (us); checked against an independent
/// implementation of ChaCha8.
const PINNED: [(u64, u32, u64); 4] = [
    (2_302_665, 2, 5_510_171),
    (3_629_130, 8, 16_388_816),
    (6_787_564, 7, 350_657),
    (9_592_421, 3, 254_278),
];

#[test]
fn changing_durations_leaves_arrivals_and_sizes() {
    let base = spec(Arrivals::poisson(Time::ZERO, Span::from_secs(3).unwrap()));
    let mut other = base.clone();
    other.stages[0].duration_s = Dist::LogNormal { median: 3.0, sigma: 1.0 };
    let outline = |jobs: Vec<Job>| -> Vec<_> {
        jobs.iter().map(|job| (job.submit, job.groups[0].count)).collect()
    };
    assert_eq!(outline(all(&base, 1)), outline(all(&other, 1)));
}

#[test]
fn until_is_exclusive() {
    let mut spec = spec(Arrivals::Every { start: secs(0), gap: Span::from_secs(10).unwrap() });
    spec.limit = Limit { jobs: None, until: Some(secs(30)) };
    let times: Vec<Time> = all(&spec, 1).iter().map(|job| job.submit).collect();
    assert_eq!(times, [secs(0), secs(10), secs(20)]);
}

fn closed(concurrent: u32, jobs: Option<u64>) -> GeneratorSpec {
    let arrivals = Arrivals::Closed { start: secs(1), concurrent, pause_s: Dist::Constant(2.0) };
    GeneratorSpec { limit: Limit { jobs, until: None }, ..spec(arrivals) }
}

#[test]
fn closed_chains_follow_ends_and_do_not_depend_on_their_order() {
    let run = |order: [u32; 5]| {
        let mut generator = Generator::new(closed(2, Some(5)), 2, 9).unwrap();
        let mut jobs: Vec<Job> = std::iter::from_fn(|| generator.next_job().unwrap()).collect();
        assert_eq!(jobs.len(), 2);
        assert!(jobs.iter().all(|job| job.submit == secs(1)));
        for (index, chain) in order.into_iter().enumerate() {
            let now = secs(100 + index as u64);
            if let Some(job) = generator.job_ended(chain, now) {
                assert_eq!((job.submit, job.chain), (secs(102 + index as u64), Some(chain)));
                jobs.push(job);
            }
        }
        assert_eq!(generator.counts().jobs, 5);
        assert_eq!(generator.progress(), Some(1.0));
        let mut made: Vec<_> =
            jobs.into_iter().map(|job| (job.label.to_string(), job.chain, job.groups)).collect();
        made.sort_by(|a, b| a.0.cmp(&b.0));
        made
    };
    assert_eq!(run([0, 0, 1, 1, 0]), run([1, 1, 0, 0, 0]));
}

#[test]
fn a_chain_whose_jobs_are_refused_at_once_stops() {
    let mut spec = closed(1, None);
    spec.arrivals =
        Arrivals::Closed { start: secs(1), concurrent: 1, pause_s: Dist::Constant(0.0) };
    let mut generator = Generator::new(spec, 2, 1).unwrap();
    let first = generator.next_job().unwrap().unwrap();
    let refused = std::iter::from_fn(|| generator.job_ended(0, first.submit)).take(5000).count();
    assert_eq!(refused as u32, MAX_INSTANT_ENDS - 1);
}

#[test]
fn nonsense_is_refused() {
    let base = || spec(Arrivals::Every { start: secs(0), gap: Span::ZERO });
    let stage = |change: fn(&mut StageSpec)| {
        let mut spec = base();
        change(&mut spec.stages[0]);
        spec
    };
    let rows = [
        (
            GeneratorSpec { limit: Limit::default(), ..base() },
            "gap: is 0; give a gap or a number of jobs",
        ),
        (GeneratorSpec { weight: 0, ..base() }, "weight: is 0; at least 1 is needed"),
        (GeneratorSpec { stages: vec![], ..base() }, "stages: there are 0; 1 to 100 are needed"),
        (GeneratorSpec { queue: String::new(), ..base() }, "queue: it has no name"),
        (
            GeneratorSpec { arrivals: Arrivals::At(vec![secs(2), secs(1)]), ..base() },
            "times: are not in order",
        ),
        (closed(0, None), "concurrent: is 0; 1 to 1048576 are possible"),
        (
            stage(|stage| stage.tasks = Dist::Constant(0.0)),
            "tasks: is 0; 1 to 16777216 are possible",
        ),
        (
            stage(|stage| stage.demand = Resources::new(&[1])),
            "demand: does not fit the cluster's resources, or is nothing",
        ),
        (
            stage(|stage| stage.duration_s = Dist::Constant(f64::NAN)),
            "duration: the value is NaN; a number of 0 or more is needed",
        ),
    ];
    for (spec, expected) in rows {
        let message = Generator::new(spec, 2, 1).err().unwrap().to_string();
        assert_eq!(message, format!("generator \"s\", {expected}"));
    }
}

#[test]
fn groups_that_start_together_are_of_one_stage() {
    let gang = |least| Some(GangSpec { least, same: Some("rack".to_owned()) });
    let base = spec(Arrivals::Every { start: secs(0), gap: Span::from_secs(1).unwrap() });
    let worker = base.stages[0].clone();
    let master = StageSpec { tasks: Dist::Constant(1.0), ..worker.clone() };
    let of = |least| GeneratorSpec {
        stages: [&master, &worker]
            .map(|stage| StageSpec { gang: gang(least), ..stage.clone() })
            .to_vec(),
        ..base.clone()
    };
    let together = all(&of(GangLeast::Together), 1);
    for job in &together {
        assert!(job.check(1, 2).is_ok() && job.groups.len() == 2);
        for group in &job.groups {
            let gang = group.gang.as_deref().unwrap();
            assert_eq!((group.stage, gang.least, gang.joint), (0, group.count, true));
            assert_eq!(gang.same.as_deref(), Some("rack"));
        }
    }
    // All draws are as those of stages one after the other.
    let drawn = |jobs: Vec<Job>| -> Vec<(u32, Durations)> {
        let groups = jobs.into_iter().flat_map(|job| job.groups);
        groups.map(|group| (group.count, group.duration)).collect()
    };
    assert_eq!(drawn(together), drawn(all(&of(GangLeast::All), 1)));
    let mut mixed = of(GangLeast::Together);
    mixed.stages[1].gang = None;
    let why = mixed.check(2).unwrap_err().to_string();
    assert!(why.contains("gang: some groups start together, and some do not"), "{why}");
}
