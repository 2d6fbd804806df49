//! The readers on real traces, from the folder that `MEED_TRACES` names. Without it there is
//! nothing to test; with it a missing file is a failure.

use std::path::{Path, PathBuf};

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::convert::convert;
use meed_workload::google::{
    GoogleAssumptions, GoogleCounts, GoogleEpisode, GoogleQueues, GoogleSource, GoogleTrace,
    GoogleUnfinished,
};
use meed_workload::inspect::inspect;
use meed_workload::mwf::{MwfAssumptions, MwfProperties, MwfSource, read_machines};
use meed_workload::philly::{PhillyAlign, PhillyAssumptions, PhillyShape, PhillySource};
use meed_workload::swf::{SwfAssumptions, SwfShape, SwfSource};
use meed_workload::swim::{SwimAssumptions, SwimSource};
use meed_workload::table::{KnownTable, TableAssumptions, TableSource, read_openb_nodes};
use meed_workload::{JobSource, OnBadLine, Origin, SourceCounts};

fn traces() -> Option<PathBuf> {
    // A relative path counts from the repository, where the command is given; tests run in their
    // package.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("MEED_TRACES").map(|folder| repository.join(folder))
}

fn cpu() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli)]).unwrap()
}

fn cpu_and_memory() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

/// Reads to the end: jobs are ordered and pass every check.
fn drain(source: &mut dyn JobSource, kinds: usize) -> SourceCounts {
    let mut last = meed::Time::ZERO;
    while let Some(job) = source.next_job().unwrap() {
        job.check(source.queues().len(), kinds).unwrap();
        assert!(job.submit >= last);
        last = job.submit;
    }
    source.counts()
}

#[test]
fn swf_logs_are_read_whole() {
    let Some(folder) = traces() else { return };
    // File, lines, ignored, users, processors by the header. None of the three has a wrong line, an
    // unknown run time or an unknown number of processors, so nothing is ignored.
    let rows = [
        ("CTC-SP2-1996-3.1-cln.swf.gz", 77_222, 0, 679, Some(338)),
        ("METACENTRUM-2009-2.swf.gz", 103_656, 0, 147, None),
        ("NASA-iPSC-1993-3.1-cln.swf.gz", 18_239, 0, 69, Some(128)),
    ];
    for (file, lines, ignored, users, processors) in rows {
        let origin = Origin::path(folder.join("swf").join(file));
        for shape in [SwfShape::Rigid, SwfShape::Split] {
            let assumptions = SwfAssumptions { shape, ..SwfAssumptions::default() };
            let mut source =
                SwfSource::open(&origin, &cpu_and_memory(), &assumptions, OnBadLine::Stop).unwrap();
            assert_eq!(
                (source.queues().len(), source.header().processors()),
                (users, processors),
                "{file}"
            );
            let counts = drain(&mut source, 2);
            assert_eq!(
                counts,
                SourceCounts { lines, jobs: lines - ignored, bad: 0, ignored },
                "{file}"
            );
            assert_eq!(source.progress(), Some(1.0));
        }
    }
}

#[test]
fn a_log_of_another_format_is_refused_with_its_first_wrong_line() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("MetaCentrum-wagap-2013.mwf.xz"));
    let error = SwfSource::open(&origin, &cpu(), &SwfAssumptions::default(), OnBadLine::Skip)
        .err()
        .unwrap();
    let message = error.to_string();
    assert!(
        message.contains("17900 of 17900 lines are wrong, 0 left out; the first: "),
        "{message}"
    );
    assert!(message.ends_with(":1: 21 columns; an SWF line has 18"), "{message}");
}

#[test]
fn swim_traces_are_read_whole() {
    let Some(folder) = traces() else { return };
    for (number, jobs) in [(1, 6_638), (0, 5_894)] {
        let file = format!("FB-2009_samples_24_times_1hr_{number}.tsv.xz");
        let origin = Origin::path(folder.join("swim").join(file));
        let mut source =
            SwimSource::open(&origin, &cpu(), &SwimAssumptions::default(), OnBadLine::Stop)
                .unwrap();
        let counts = drain(&mut source, 1);
        assert_eq!(counts, SourceCounts { lines: jobs, jobs, bad: 0, ignored: 0 });
        // What the defaults were chosen for: see `SwimAssumptions`.
        let mut source =
            SwimSource::open(&origin, &cpu(), &SwimAssumptions::default(), OnBadLine::Stop)
                .unwrap();
        let mean_s = inspect(&mut source, &cpu(), None, |_| ()).unwrap().duration_s.mean.unwrap();
        assert!((10.0..14.0).contains(&mean_s), "{mean_s}");
    }
}

#[test]
fn philly_jobs_are_read_whole_and_laid_over_each_other() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("philly/philly_via_gavel_vc_jobs.csv.xz"));
    let kinds = ResourceKinds::new(vec![("gpu".into(), Unit::Milli)]).unwrap();
    for align in [PhillyAlign::Start, PhillyAlign::End] {
        for (shape, tasks) in [
            (PhillyShape::Gang, 42_192),
            (PhillyShape::Rigid, 15_264),
            (PhillyShape::Split, 42_192),
        ] {
            let assumptions = PhillyAssumptions { align, shape, ..PhillyAssumptions::default() };
            let open =
                || PhillySource::open(&origin, &kinds, &assumptions, OnBadLine::Stop).unwrap();
            let counts = drain(&mut open(), 1);
            assert_eq!(counts, SourceCounts { lines: 15_264, jobs: 15_264, bad: 0, ignored: 0 });
            let summary = inspect(&mut open(), &kinds, None, |_| ()).unwrap();
            assert_eq!((summary.queues.len(), summary.tasks), (15, tasks));
            // xz -dc FILE | awk -F, 'NR > 1 { w += $3 * $4; n += $3; if ($2 > z) z = $2; if ($3 >
            // m) m = $3 } END { print n, w, z, m }'
            assert_eq!(summary.resources[0].work, 6_270_499_380.0);
            assert_eq!(
                (summary.first_submit_s, summary.last_submit_s),
                (Some(0.0), Some(10_817_570.0))
            );
            let size = open().size();
            assert_eq!((size.mean_gpus, size.widest), (579, 64));
        }
    }
}

#[test]
fn a_converted_log_is_the_same_log() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("METACENTRUM-2009-2.swf.gz"));
    let kinds = cpu_and_memory();
    let open =
        || SwfSource::open(&origin, &kinds, &SwfAssumptions::default(), OnBadLine::Stop).unwrap();
    let (bytes, counts) = convert(&mut open(), &kinds, Vec::new(), "out").unwrap();
    assert_eq!(counts.jobs, 103_656);
    let mut copy =
        CanonicalSource::open(&Origin::bytes("out", bytes), None, OnBadLine::Stop).unwrap();
    let mut original = open();
    assert_eq!(copy.queues(), original.queues());
    while let Some(job) = original.next_job().unwrap() {
        assert_eq!(copy.next_job().unwrap(), Some(job));
    }
    assert_eq!(copy.next_job().unwrap(), None);
}

#[test]
fn a_summary_agrees_with_an_independent_sum() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swf").join("CTC-SP2-1996-3.1-cln.swf.gz"));
    let kinds = cpu();
    let mut source =
        SwfSource::open(&origin, &kinds, &SwfAssumptions::default(), OnBadLine::Stop).unwrap();
    let capacity = meed::Resources::new(&[338_000]);
    let summary = inspect(&mut source, &kinds, Some(&capacity), |_| ()).unwrap();
    // zcat FILE | awk '!/^;/ { n++; w += $4 * $5; if (!f) { f = 1; a = $2 } z = $2; if ($5 > m) m =
    // $5 } END { print n, w, a, z, m }'
    assert_eq!((summary.jobs, summary.tasks, summary.queues.len()), (77_222, 77_222, 679));
    assert_eq!(summary.resources[0].work, SUM.0);
    assert_eq!((summary.first_submit_s, summary.last_submit_s), (Some(SUM.1), Some(SUM.2)));
    assert_eq!(summary.resources[0].largest_task, SUM.3);
    let load = SUM.0 / (338.0 * (SUM.2 - SUM.1));
    assert!((summary.resources[0].offered_load.unwrap() - load).abs() < 1e-9);
    let of_queues: f64 = summary.queues.iter().map(|queue| queue.work[0]).sum();
    assert!((of_queues - SUM.0).abs() < 1.0);
}

/// Work, first and last submission, most processors; computed with awk, see above.
const SUM: (f64, f64, f64, f64) = (8_334_848_002.0, 0.0, 29_299_062.0, 336.0);

fn shares() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Milli)]).unwrap()
}

/// Demand x duration over all tasks, smallest units x microseconds, and how many tasks ask for
/// different machines.
fn work(trace: GoogleTrace) -> ([u128; 2], u64, u64) {
    let mut source = GoogleSource::new(trace.into());
    let (mut work, mut apart, mut jobs) = ([0; 2], 0, 0);
    let mut last = meed::Time::ZERO;
    while let Some(job) = source.next_job().unwrap() {
        job.check(source.queues().len(), 2).unwrap();
        assert!(job.submit >= last);
        (last, jobs) = (job.submit, jobs + 1);
        for group in &job.groups {
            let micros: u128 =
                (0..group.count).map(|task| u128::from(group.duration.get(task).as_micros())).sum();
            work[0] += micros * u128::from(group.demand.get(0));
            work[1] += micros * u128::from(group.demand.get(1));
            apart += u64::from(group.count) * u64::from(group.constraints.is_some());
        }
    }
    (work, apart, jobs)
}

#[test]
fn google_task_events_are_read_whole() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("google2011/task_events_p00-13.csv.zst"));
    let read = |assumptions: &GoogleAssumptions| {
        GoogleTrace::read(&origin, &shares(), assumptions, OnBadLine::Stop).unwrap()
    };
    let default = read(&GoogleAssumptions::default());
    // Rows by event: cut -d, -f6 | sort | uniq -c. The rest, and the sums below: a separate program
    // that keeps every run.
    let expected = GoogleCounts {
        events: [936_182, 890_517, 219_839, 18_604, 330_742, 213_308, 0, 3, 140],
        jobs: 19_146,
        users: 567,
        tasks: 698_740,
        submitted_again: 84_721,
        kept: 657_882,
        earlier: 134_196,
        cut_at_the_end: 137_576,
        never_ran: 40_622,
        without_request: 236,
        ignored_rows: 69_195,
        ..GoogleCounts::default()
    };
    assert_eq!(*default.counts(), expected);
    assert_eq!(default.counts().events.iter().sum::<u64>(), 2_609_335);
    let until_end = [477_337_159_493_538_340_632, 354_006_565_438_402_943_480];
    assert_eq!(work(default), (until_end, 148_372, 51_076));
    // Episode, unfinished, work, different machines, jobs.
    type Row = (GoogleEpisode, GoogleUnfinished, [u128; 2], u64, u64);
    let rows: [Row; 2] = [
        (
            GoogleEpisode::Last,
            GoogleUnfinished::Drop,
            [83_105_929_595_788_878_667, 74_606_368_748_141_886_007],
            108_622,
            45_892,
        ),
        (
            GoogleEpisode::Total,
            GoogleUnfinished::UntilEnd,
            [531_951_943_952_436_080_592, 397_208_806_550_618_287_214],
            148_372,
            51_076,
        ),
    ];
    for (episode, unfinished, expected, apart, jobs) in rows {
        let assumptions = GoogleAssumptions { episode, unfinished, ..Default::default() };
        assert_eq!(work(read(&assumptions)), (expected, apart, jobs), "{episode:?} {unfinished:?}");
    }
    let high = GoogleAssumptions {
        priorities: Some((9, 11)),
        queues: GoogleQueues::Priority,
        ..Default::default()
    };
    let high = read(&high).counts().to_owned();
    assert_eq!(high.tasks - high.other_priority, 60_578);
}

#[test]
fn mwf_logs_are_read_whole() {
    let Some(folder) = traces() else { return };
    let folder = folder.join("swf");
    let origin = Origin::path(folder.join("MetaCentrum-wagap-2013.mwf.xz"));
    let kinds = cpu_and_memory();
    let machines = read_machines(
        &Origin::path(folder.join("MetaCentrum-wagap-2013.machines")),
        &kinds,
        OnBadLine::Stop,
    )
    .unwrap();
    assert_eq!(machines.nodes.len(), 20 + 48);
    let capacity: u64 = machines.nodes.iter().map(|node| node.capacity.get(0)).sum();
    assert_eq!(capacity, (20 * 80 + 48 * 12) * 1000);
    let mut source =
        MwfSource::open(&origin, &kinds, &MwfAssumptions::default(), OnBadLine::Stop).unwrap();
    assert_eq!(source.queues().len(), 75);
    let (mut tasks, mut constrained, mut apart, mut processor_s, mut homeless) = (0, 0, 0, 0, 0);
    while let Some(job) = source.next_job().unwrap() {
        job.check(75, 2).unwrap();
        tasks += job.tasks();
        for group in &job.groups {
            let work = group.duration.get(0).as_micros() / 1_000_000 * group.demand.get(0) / 1000;
            processor_s += work * u64::from(group.count);
            let constraints = group.constraints.as_deref().cloned().unwrap_or_default();
            constrained += u64::from(constraints.names_labels());
            apart += u64::from(constraints.distinct_nodes);
            let fits = |node: &&meed::NodeSpec| {
                constraints.allow(&node.labels) && group.demand.fits_in(&node.capacity)
            };
            homeless += u64::from(!machines.nodes.iter().any(|node| fits(&node)));
        }
    }
    assert_eq!(source.counts(), SourceCounts { lines: 17_900, jobs: 17_898, bad: 0, ignored: 2 });
    // awk '$4 > 0 { s += $4 * $5 } END { print s }'
    assert_eq!(processor_s, 9_647_254_226);
    assert_eq!((tasks, constrained, apart, homeless), (19_194, CONSTRAINED, APART, HOMELESS));
    let ignore = MwfAssumptions { properties: MwfProperties::Ignore, ..Default::default() };
    let counts = drain(&mut MwfSource::open(&origin, &kinds, &ignore, OnBadLine::Stop).unwrap(), 2);
    assert_eq!(counts.jobs, 17_898);
}

/// Groups of tasks with labels and of jobs on several nodes, counted from column 21 alone; and the
/// one job that asks for 512 GiB, more than any machine has.
const CONSTRAINED: u64 = 1042;
const APART: u64 = 346;
const HOMELESS: u64 = 1;

#[test]
fn the_papers_submissions_are_the_first_of_the_swim_sample() {
    let Some(folder) = traces() else { return };
    let origin = Origin::path(folder.join("swim/FB-2009_samples_24_times_1hr_1.tsv.xz"));
    let times = meed_workload::macro_workload::read_submissions(&origin, 100).unwrap();
    let between = |from: u64, to: u64| {
        times.iter().filter(|time| (from..=to).contains(&(time.as_micros() / 1_000_000))).count()
    };
    // The two bursts that docs/macro-workloads.md speaks of, and the whole.
    assert_eq!((between(183, 222), between(1411, 1436), between(23, 1618)), (10, 12, 100));
}

/// Counts and sums by a script of its own over the published files.
#[test]
fn pods_and_nodes_of_openb_are_those_of_the_files() {
    let Some(folder) = traces() else { return };
    let file =
        |name: &str| Origin::path(folder.join(format!("alibaba/gpu_v2023_openb_{name}.csv.xz")));
    let kinds = [("cpu", Unit::Milli), ("memory", Unit::Bytes), ("gpu", Unit::Milli)];
    let kinds = kinds.map(|(name, unit)| (name.to_owned(), unit));
    let kinds = ResourceKinds::new(kinds.to_vec()).unwrap();
    let options =
        TableAssumptions { known: Some(KnownTable::Openb), ..TableAssumptions::default() };
    let open =
        || TableSource::open(&file("pod_list_default"), &kinds, &options, OnBadLine::Stop).unwrap();
    let counts = drain(&mut open(), 3);
    assert_eq!(counts, SourceCounts { lines: 8152, jobs: 7255, bad: 0, ignored: 897 });
    let mut source = open();
    let names = source.queues().to_vec();
    let (mut jobs, mut work) = (vec![0u64; names.len()], [0u128; 3]);
    while let Some(job) = source.next_job().unwrap() {
        jobs[job.queue as usize] += 1;
        let group = &job.groups[0];
        let seconds = u128::from(group.duration.get(0).as_micros() / 1_000_000);
        for (kind, work) in work.iter_mut().enumerate() {
            *work += u128::from(group.demand.get(kind)) * seconds;
        }
    }
    let mut tenants: Vec<(String, u64)> = names.into_iter().zip(jobs).collect();
    tenants.sort();
    let tenant = |name: &str, jobs: u64| (name.to_owned(), jobs);
    let expected =
        [tenant("BE", 2957), tenant("Burstable", 98), tenant("Guaranteed", 7), tenant("LS", 4193)];
    assert_eq!(tenants, expected);
    // Thousandths of a cpu, bytes, thousandths of a GPU; times seconds.
    assert_eq!(work, [2_506_537_593_492, 6_667_484_940_915_965_952, 185_294_426_970]);
    let machines = read_openb_nodes(&file("node_list_all_node"), &kinds, OnBadLine::Stop).unwrap();
    let sum = |kind: usize| machines.nodes.iter().map(|node| node.capacity.get(kind)).sum::<u64>();
    assert_eq!(machines.nodes.len(), 1523);
    assert_eq!([sum(0), sum(1) >> 20, sum(2)], [125_514_000, 612_028_416, 6_212_000]);
}
