//! Tests of the SWIM reader.

use meed::Unit;

use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("memory".into(), Unit::Bytes), ("slot".into(), Unit::Milli)]).unwrap()
}

fn open(
    text: &str,
    assumptions: &SwimAssumptions,
    policy: OnBadLine,
) -> Result<SwimSource, TraceError> {
    SwimSource::open(&Origin::bytes("t.tsv", text.as_bytes()), &kinds(), assumptions, policy)
}

fn all(mut source: SwimSource) -> Vec<Job> {
    std::iter::from_fn(|| source.next_job().unwrap()).collect()
}

#[test]
fn bytes_become_tasks() {
    const MIB: u64 = 1 << 20;
    let base = SwimAssumptions {
        task_base: Span::from_secs(5).unwrap(),
        map_bytes_per_s: MIB,
        reduce_bytes: 100 * MIB,
        reduce_bytes_per_s: 10 * MIB,
        ..SwimAssumptions::default()
    };
    // Input and shuffle MiB; then (tasks, seconds) of maps and reduces.
    type Stage = (u32, f64);
    let rows: &[(u64, u64, Stage, Option<Stage>)] = &[
        (0, 0, (1, 5.0), None),
        (1, 0, (1, 6.0), None),
        (64, 0, (1, 69.0), None),
        (65, 1, (2, 37.5), Some((1, 5.1))),
        (640, 1000, (10, 69.0), Some((10, 15.0))),
        (64 * 20_000, 0, (10_000, 133.0), None),
    ];
    for (input, shuffle, maps, reduces) in rows {
        let text = format!("job0\t23\t23\t{}\t{}\t5\n", input * MIB, shuffle * MIB);
        let job = all(open(&text, &base, OnBadLine::Stop).unwrap()).remove(0);
        job.check(4, 2).unwrap();
        assert_eq!((job.label.to_string().as_str(), job.submit.as_secs_f64()), ("job0", 23.0));
        let stages: Vec<(u16, Stage, u64)> = job
            .groups
            .iter()
            .map(|group| {
                let stage = (group.count, group.duration.get(0).as_secs_f64());
                (group.stage, stage, group.demand.get(1))
            })
            .collect();
        let mut expected = vec![(0, *maps, 1000)];
        expected.extend(reduces.map(|reduces| (1, reduces, 1000)));
        assert_eq!(stages, expected);
    }
}

#[test]
fn tenants_are_dealt_as_asked() {
    let text: String = (0..4000).map(|job| format!("job{job}\t{job}\t1\t0\t0\t0\n")).collect();
    let counts = |split: TenantSplit| {
        let assumptions = SwimAssumptions { split, ..Default::default() };
        let jobs = all(open(&text, &assumptions, OnBadLine::Stop).unwrap());
        let queues: Vec<u32> = jobs.iter().map(|job| job.queue).collect();
        let mut counts = [0u32; 4];
        queues.iter().for_each(|queue| counts[*queue as usize] += 1);
        (queues, counts)
    };
    let (queues, counted) = counts(TenantSplit::RoundRobin);
    assert_eq!((&queues[..6], counted), (&[0, 1, 2, 3, 0, 1][..], [1000; 4]));
    let random =
        |seed, weights: &[u32]| counts(TenantSplit::Random { seed, weights: weights.to_vec() });
    assert_eq!(random(1, &[]), random(1, &[1, 1, 1, 1]));
    assert_ne!(random(1, &[]).0, random(2, &[]).0);
    assert!(random(1, &[]).1.iter().all(|count| (900..1100).contains(count)));
    let weighted = random(1, &[6, 0, 1, 1]).1;
    assert!((2850..3150).contains(&weighted[0]) && weighted[1] == 0, "{weighted:?}");
}

#[test]
fn wrong_lines_say_what_is_wrong() {
    let rows = [
        ("job1\t126\t103", "3 columns; a SWIM line has 6, separated by tabs"),
        ("job1 126 103 1 2 3", "1 columns; a SWIM line has 6, separated by tabs"),
        ("job1\t126\t103\t1\t2\t3\t4", "7 columns; a SWIM line has 6, separated by tabs"),
        ("\t126\t103\t1\t2\t3", "column 1 (job id): \"\" is no job id; wanted are 1 to 200 bytes"),
        (
            "job1\tsoon\t103\t1\t2\t3",
            "column 2 (submit time): \"soon\" is not a number; wanted is seconds, 0 or more, up to \
             285 years",
        ),
        (
            "job1\t22\t0\t1\t2\t3",
            "submitted at 22 s (22s), before the preceding job's 23 s (23s); a trace is in order \
             of submission",
        ),
        (
            "job1\t24\t0\t-1\t2\t3",
            "column 4 (map input bytes): \"-1\" is negative; wanted is a whole number from 0 to \
             4611686018427387904",
        ),
        (
            "job1\t24\t0\t1\t2.5\t3",
            "column 5 (shuffle bytes): \"2.5\" is not a whole number; wanted is a whole number \
             from 0 to 4611686018427387904",
        ),
        (
            "job1\t24\t0\t1\t2\t1e30",
            "column 6 (reduce output bytes): \"1e30\" is too large; wanted is a whole number from \
             0 to 4611686018427387904",
        ),
    ];
    for (bad, expected) in rows {
        let text = format!("job0\t23\t23\t1\t1\t1\n{bad}\njob2\t30\t1\t1\t1\t1");
        let strict = open(&text, &Default::default(), OnBadLine::Stop).and_then(|mut source| {
            while source.next_job()?.is_some() {}
            Ok(())
        });
        let strict = strict.unwrap_err();
        assert_eq!(strict.to_string(), format!("t.tsv:2: {expected}"));
        let mut source = open(&text, &Default::default(), OnBadLine::Skip).unwrap();
        while source.next_job().unwrap().is_some() {}
        assert_eq!(source.counts(), SourceCounts { lines: 3, jobs: 2, bad: 1, ignored: 0 });
        assert_eq!(source.bad_lines()[0].to_string(), format!("t.tsv:2: {expected}"));
    }
    let empty = open("", &Default::default(), OnBadLine::Skip).err().unwrap();
    assert_eq!(
        empty.to_string(),
        "t.tsv: no jobs: the file is empty; a SWIM file has six columns separated by tabs"
    );
}

#[test]
fn settings_are_checked() {
    type Change = fn(&mut SwimAssumptions);
    let rows: [(Change, &str); 6] = [
        (|a| a.tenants.clear(), "tenants: there are none; name at least one"),
        (|a| a.tenants[3] = "t1".into(), "tenants: a name comes twice"),
        (|a| a.map_bytes = 0, "map_bytes: is 0; at least 1 is needed"),
        (
            |a| a.split = TenantSplit::Random { seed: 1, weights: vec![1] },
            "weights: 1 weights for 4 tenants",
        ),
        (
            |a| a.split = TenantSplit::Random { seed: 1, weights: vec![0; 4] },
            "weights: all are 0; at least one tenant must get jobs",
        ),
        (
            |a| a.map_demand = Some(Resources::new(&[1])),
            "demand: does not fit the cluster's resources, or is nothing",
        ),
    ];
    for (change, expected) in rows {
        let mut assumptions = SwimAssumptions::default();
        change(&mut assumptions);
        let error = open("", &assumptions, OnBadLine::Skip).err().unwrap();
        assert_eq!(error.to_string(), format!("the SWIM reader's {expected}"));
    }
    assert_eq!(SwimAssumptions::default().words().len(), 3);
}
