//! Tests of the macro-workloads: against the papers, and against the page that describes them.

use std::collections::BTreeMap;

use super::*;
use crate::Origin;

fn secs(seconds: u64) -> Time {
    Time::from_secs(seconds).unwrap()
}

fn spec(name: &str) -> MacroSpec {
    MacroSpec {
        workload: Workload::find(name).unwrap(),
        queue: "q".into(),
        start: secs(10),
        demand: Resources::new(&[2, 1000]),
        task_time_scale: 1.0,
        submissions: None,
    }
}

/// All jobs, each ended at `ends` seconds after its submission.
fn all(spec: &MacroSpec, seed: u64, ends: u64) -> Vec<Job> {
    let mut source = MacroSource::new(spec, 2, seed).unwrap();
    let mut jobs = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        let mut next = Some(job);
        while let Some(job) = next.take() {
            let chain = job.chain;
            let end = job.submit.saturating_add(Span::from_secs(ends).unwrap());
            jobs.push(job);
            next = chain.and_then(|chain| source.job_ended(chain, end));
        }
    }
    assert_eq!(source.counts().jobs, u64::from(spec.workload.jobs()));
    assert_eq!(source.progress(), Some(1.0));
    jobs
}

/// Number of jobs by their maps and reduces.
fn bins(jobs: &[Job]) -> BTreeMap<(u32, u32), u32> {
    let mut bins = BTreeMap::new();
    for job in jobs {
        let reduces = job.groups.get(1).map_or(0, |group| group.count);
        *bins.entry((job.groups[0].count, reduces)).or_insert(0) += 1;
    }
    bins
}

#[test]
fn facebook_is_table_3() {
    // Maps, reduces, jobs, as printed (TSC'18 and ICS'14).
    let table = [
        (1, 0, 38),
        (2, 0, 18),
        (10, 2, 14),
        (50, 0, 10),
        (100, 10, 6),
        (200, 0, 6),
        (400, 0, 4),
        (400, 30, 2),
        (800, 60, 2),
    ];
    let expected: BTreeMap<(u32, u32), u32> =
        table.map(|(maps, reduces, jobs)| ((maps, reduces), jobs)).into_iter().collect();
    for seed in 0..5 {
        let jobs = all(&spec("facebook"), seed, 1);
        assert_eq!((jobs.len(), bins(&jobs)), (100, expected.clone()), "seed {seed}");
    }
}

#[test]
fn the_others_follow_their_scripts() {
    let submits = |jobs: &[Job]| -> Vec<u64> {
        jobs.iter().map(|job| job.submit.as_micros() / 1_000_000).collect()
    };
    let names = |jobs: &[Job]| -> Vec<String> {
        jobs.iter()
            .map(|job| job.label.to_string().split(" #").next().unwrap().to_owned())
            .collect()
    };
    let purdue = all(&spec("purdue"), 1, 1);
    assert_eq!(submits(&purdue), [10, 190, 370, 550, 730]);
    assert_eq!(
        names(&purdue),
        ["WordCount", "TeraSort", "Grep", "InvertedIndex", "HistogramMovies"]
    );
    // Each when the last has ended, round robin, five of each.
    let tpch = all(&spec("tpch"), 1, 7);
    assert_eq!(submits(&tpch), (0..20).map(|i| 10 + 7 * i).collect::<Vec<_>>());
    assert_eq!(names(&tpch), ["Q1", "Q9", "Q12", "Q17"].repeat(5));
    // Two minutes after the last has ended.
    let spark = all(&spec("spark"), 1, 7);
    assert_eq!(submits(&spark), (0..20).map(|i| 10 + 127 * i).collect::<Vec<_>>());
    assert_eq!(names(&spark), ["k-means", "ALS"].repeat(10));
}

#[test]
fn jobs_are_sound_and_repeat_and_differ_by_seed_and_queue() {
    for workload in &WORKLOADS {
        let spec = spec(workload.name);
        let jobs = all(&spec, 1, 1);
        assert!(jobs.iter().all(|job| job.check(1, 2).is_ok()), "{}", workload.name);
        assert!(jobs.is_sorted_by_key(|job| job.submit) && jobs[0].submit >= secs(10));
        assert_eq!(jobs, all(&spec, 1, 1));
        assert_ne!(jobs, all(&spec, 2, 1));
        assert_ne!(jobs, all(&MacroSpec { queue: "other".into(), ..spec.clone() }, 1, 1));
    }
}

#[test]
fn means_are_those_of_the_table_and_scale_stretches_the_same_draws() {
    for workload in &WORKLOADS {
        let base = spec(workload.name);
        let jobs = all(&base, 3, 1);
        let times = |jobs: &[Job]| -> Vec<f64> {
            let groups = jobs.iter().flat_map(|job| &job.groups);
            groups.flat_map(|g| (0..g.count).map(|i| g.duration.get(i).as_secs_f64())).collect()
        };
        let stages = || {
            workload
                .kinds
                .iter()
                .flat_map(|kind| kind.stages.iter().map(|stage| (kind.jobs, stage)))
        };
        let tasks: f64 = stages().map(|(jobs, stage)| f64::from(jobs * stage.tasks)).sum();
        let expected =
            stages().map(|(jobs, stage)| f64::from(jobs * stage.tasks) * stage.mean_s).sum::<f64>()
                / tasks;
        let drawn = times(&jobs);
        assert_eq!(drawn.len() as f64, tasks);
        let mean = drawn.iter().sum::<f64>() / tasks;
        assert!((mean / expected - 1.0).abs() < 0.03, "{}: {mean}, not {expected}", workload.name);
        let doubled = all(&MacroSpec { task_time_scale: 2.0, ..base }, 3, 1);
        let close = |(one, two): (&f64, &f64)| (two - 2.0 * one).abs() < 2e-6;
        assert!(drawn.iter().zip(&times(&doubled)).all(close), "{}", workload.name);
        assert!(
            jobs.iter().zip(&doubled).all(|(a, b)| (&a.label, a.submit) == (&b.label, b.submit))
        );
    }
}

#[test]
fn submissions_are_taken_from_the_file_or_fitted() {
    let lines: String = (0..120).map(|i| format!("job{i}\t{}\t3\t0\t0\t0\n", 23 + 3 * i)).collect();
    let times = read_submissions(&Origin::bytes("fb.tsv", lines.into_bytes()), 100).unwrap();
    let given = MacroSpec { submissions: Some(times), ..spec("facebook") };
    let submits: Vec<Time> = all(&given, 1, 1).iter().map(|job| job.submit).collect();
    assert_eq!(submits, (0..100).map(|i| secs(10 + 23 + 3 * i)).collect::<Vec<_>>());
    // Fitted: median 6.19 s; over many seeds the median of a hundred gaps is near it.
    let gaps = |seed| -> Vec<u64> {
        all(&spec("facebook"), seed, 1)
            .windows(2)
            .map(|pair| (pair[1].submit - pair[0].submit).as_micros())
            .collect()
    };
    let mut all_gaps: Vec<u64> = (0..30).flat_map(gaps).collect();
    all_gaps.sort_unstable();
    let median = all_gaps[all_gaps.len() / 2] as f64 / 1e6;
    assert!((median / 6.19 - 1.0).abs() < 0.1, "{median}");
}

#[test]
fn nonsense_is_refused() {
    let short = Origin::bytes("fb.tsv", b"job0\t23\t3\t0\t0\t0\n".to_vec());
    let message = read_submissions(&short, 100).unwrap_err().to_string();
    assert_eq!(message, "submissions, fb.tsv: the file has 1 jobs; 100 are needed");
    let base = || spec("purdue");
    let times: Submissions = vec![secs(1)].into();
    let rows = [
        (
            MacroSpec { demand: Resources::new(&[1]), ..base() },
            "workload \"q/purdue\", demand: does not fit the cluster's resources, or is nothing",
        ),
        (
            MacroSpec { task_time_scale: 0.0, ..base() },
            "workload \"q/purdue\", task_time_scale: is 0; 0.001 to 1000 are possible",
        ),
        (
            MacroSpec { task_time_scale: f64::NAN, ..base() },
            "workload \"q/purdue\", task_time_scale: is NaN; 0.001 to 1000 are possible",
        ),
        (
            MacroSpec { submissions: Some(times.clone()), ..base() },
            "workload \"q/purdue\", submissions: only facebook takes its times from a file",
        ),
        (
            MacroSpec { submissions: Some(times), ..spec("facebook") },
            "workload \"q/facebook\", submissions: there are 1; 100 are needed",
        ),
    ];
    for (spec, expected) in rows {
        assert_eq!(MacroSource::new(&spec, 2, 1).err().unwrap().to_string(), expected);
    }
}

#[test]
fn the_page_has_every_number() {
    let page = include_str!("../../../../docs/macro-workloads.md");
    for workload in &WORKLOADS {
        for kind in workload.kinds {
            let stage = |stage: &Stage| format!("{} x {} s", stage.tasks, stage.mean_s);
            let stages: Vec<String> = kind.stages.iter().map(stage).collect();
            let row = format!(
                "| {} | {} | {} | {} |",
                workload.name,
                kind.name,
                kind.jobs,
                stages.join(", ")
            );
            assert!(page.contains(&row), "not in the page: {row}");
        }
        let row = format!("| spread of task times, {} | {} |", workload.name, workload.sigma);
        assert!(page.contains(&row), "not in the page: {row}");
    }
    let Flow::Submissions { median_s, sigma } = WORKLOADS[0].flow else {
        panic!("facebook has submissions")
    };
    assert!(page.contains(&format!("log-normal, median {median_s} s, sigma {sigma}")));
}
