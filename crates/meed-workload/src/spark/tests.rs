use meed::{ResourceKinds, Unit};

use super::*;

/// Logs of our own runs (tests/spark makes such): Spark 3.5.6 and 4.3.0 on machines of their own,
/// 3.5.9 and 4.3.0 on YARN.
fn sample(name: &str) -> Origin {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/spark");
    Origin::path(data.join(name))
}

const BASIC: &str = "app-20261201102910-0000";

fn kinds() -> ResourceKinds {
    let cpu = ("cpu".to_owned(), Unit::Milli);
    ResourceKinds::new(vec![cpu, ("memory".to_owned(), Unit::Bytes)]).unwrap()
}

fn tasks() -> SparkAssumptions {
    SparkAssumptions { shape: SparkShape::Tasks, ..SparkAssumptions::default() }
}

fn open(origin: &Origin, assumptions: &SparkAssumptions) -> Result<SparkSource, TraceError> {
    SparkSource::open(origin, &kinds(), assumptions, OnBadLine::Stop)
}

fn jobs(source: &mut SparkSource) -> Vec<Job> {
    let queues = source.queues().len();
    let mut jobs: Vec<Job> = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(queues, 2).unwrap();
        assert!(jobs.last().is_none_or(|last| last.submit <= job.submit));
        jobs.push(job);
    }
    jobs
}

fn read(name: &str, assumptions: &SparkAssumptions) -> (Vec<Job>, String) {
    let mut source = open(&sample(name), assumptions).unwrap();
    let words = source.assumptions().join("\n");
    (jobs(&mut source), words)
}

/// Milliseconds of each task, in order of groups.
fn millis(job: &Job) -> Vec<Vec<u64>> {
    let of = |group: &JobGroup| {
        (0..group.count).map(|task| group.duration.get(task).as_micros() / 1000).collect()
    };
    job.groups.iter().map(of).collect()
}

/// MiB x milliseconds of all tasks.
fn mib_millis(jobs: &[Job]) -> u128 {
    let groups = jobs.iter().flat_map(|job| &job.groups);
    let of = |group: &JobGroup| {
        u128::from(group.demand.get(1) >> 20) * group.duration.total_micros(group.count) / 1000
    };
    groups.map(of).sum()
}

#[test]
fn executors_hold_until_their_application_ends() {
    let (jobs, words) = read(BASIC, &SparkAssumptions::default());
    let [job] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!(job.label.to_string(), BASIC);
    // Registered at ...960.595 and ...960.806, and the application ended at ...973.027.
    assert_eq!(millis(job), [[12_432, 12_221]]);
    // A standalone master counts the memory alone.
    assert_eq!(job.groups[0].demand.as_slice(), [2000, 512 << 20]);
    assert!(words.contains("32.2 % idle"), "{words}");
    assert!(words.contains("passed over: 5 events of 2 kinds"), "{words}");
    let mut source = open(&sample(BASIC), &SparkAssumptions::default()).unwrap();
    let first = source.next_job().unwrap().map(|job| job.submit);
    // The driver began at ...939.097.
    assert_eq!((first, source.waited()), (Some(Time::ZERO), Some(span(21_498_000))));
    assert_eq!(source.counts(), SourceCounts { lines: 1, jobs: 1, bad: 0, ignored: 0 });
    let used = source.used()[0].clone();
    assert_eq!((used.queue.as_str(), used.held_core_s), ("ann", 2.0 * 24.653));
}

#[test]
fn tasks_stand_in_their_stages_and_hold_a_part_of_an_executor() {
    let (jobs, _) = read(BASIC, &tasks());
    let shapes: Vec<Vec<(u16, u32)>> = jobs
        .iter()
        .map(|job| job.groups.iter().map(|group| (group.stage, group.count)).collect())
        .collect();
    assert_eq!(shapes, [vec![(0, 8), (1, 3)], vec![(0, 4)]]);
    assert_eq!(jobs[0].groups[0].demand.as_slice(), [1000, 256 << 20]);
    // What is held and what is needed have one idle share: tasks are in both.
    let mut source = open(&sample(BASIC), &tasks()).unwrap();
    let of_tasks: u128 = self::jobs(&mut source)
        .iter()
        .flat_map(|job| &job.groups)
        .map(|group| group.duration.total_micros(group.count))
        .sum();
    assert_eq!(source.used()[0].used_core_s, of_tasks as f64 / 1e6);
}

#[test]
fn a_lost_executor_ends_and_its_tasks_run_again() {
    let (held, _) = read("app-20261201102959-0000.lz4", &SparkAssumptions::default());
    // The third replaced the first, which was lost after 2.279 s.
    assert_eq!(millis(&held[0]), [[2_279, 18_543]]);
    assert_eq!(millis(&held[1]), [[8_965]]);
    assert_eq!(held[1].submit.as_micros(), (1_013_523 - 997_357) * 1000);
    let total = millis(&read("app-20261201102959-0000.lz4", &tasks()).0[0]);
    let finished = SparkAssumptions { episode: SparkEpisode::Finished, ..tasks() };
    let finished = millis(&read("app-20261201102959-0000.lz4", &finished).0[0]);
    // Partitions 0 and 2 were tried twice: 13.522 - 12.283 and 13.507 - 12.314 s were in vain.
    let mut expected = finished.clone();
    expected[0][0] += 1_239;
    expected[0][2] += 1_193;
    assert_eq!((total.len(), total[0].len(), total[1].len()), (2, 12, 2));
    assert_eq!(total, expected);
}

#[test]
fn executors_that_are_asked_for_later_come_later() {
    let (jobs, _) = read("app-20261201103037-0000.zstd", &SparkAssumptions::default());
    let submits: Vec<u64> = jobs.iter().map(|job| job.submit.as_micros() / 1000).collect();
    // Request times ...040.342, ...041.409 and twice ...064.467; the driver began at ...035.542.
    assert_eq!(submits, [0, 1_067, 24_125]);
    assert_eq!(jobs.iter().map(Job::tasks).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(jobs.iter().all(|job| job.label == jobs[0].label));
}

#[test]
fn rolled_logs_are_read_by_their_folders() {
    let folder = "eventlog_v2_app-20261201103127-0000";
    let (held, _) = read(folder, &SparkAssumptions::default());
    assert_eq!(held[0].tasks(), 2);
    // A stage of six tasks, of which one failed four times, and one of four tasks.
    let (needed, _) = read(folder, &tasks());
    assert_eq!(needed.iter().map(Job::tasks).collect::<Vec<_>>(), [6, 4]);
    let finished = SparkAssumptions { episode: SparkEpisode::Finished, ..tasks() };
    assert!(read(folder, &finished).0[0].tasks() < 6);
    let (one, _) = read(&format!("{folder}/events_1_app-20261201103127-0000.zstd"), &tasks());
    assert_eq!(one, needed);
    let (jobs, words) = read("", &SparkAssumptions::default());
    assert_eq!(jobs.iter().map(Job::tasks).sum::<u64>(), 15);
    // YARN's lie in a folder of their own.
    assert!(
        words.contains("no event logs that can be read: 1 file of the folder (yarn)"),
        "{words}"
    );
}

#[test]
fn gpus_are_counted_where_the_cluster_has_some() {
    let folder = sample("eventlog_v2_app-20261201105401-0000");
    assert!(tells_gpus(&folder) && tells_gpus(&sample("")) && !tells_gpus(&sample(BASIC)));
    let all = ["cpu", "gpu"].map(|name| (name.to_owned(), Unit::Milli));
    let kinds = ResourceKinds::new(all.to_vec()).unwrap();
    for (assumptions, expected) in [(SparkAssumptions::default(), 1000), (tasks(), 500)] {
        let mut source = SparkSource::open(&folder, &kinds, &assumptions, OnBadLine::Stop).unwrap();
        let job = source.next_job().unwrap().unwrap();
        assert_eq!(job.groups[0].demand.get(1), expected);
    }
    let (_, words) = read("eventlog_v2_app-20261201105401-0000", &SparkAssumptions::default());
    assert!(
        words.contains("GPUs, which are no resource here, were held by 1 application"),
        "{words}"
    );
}

#[test]
fn with_yarns_list_containers_add_up_to_it() {
    let (jobs, words) = read("yarn", &SparkAssumptions::default());
    let of = |id: &str| {
        let own = jobs.iter().filter(|job| job.label.to_string() == id).cloned();
        mib_millis(&own.collect::<Vec<_>>())
    };
    // memorySeconds of YARN; what the log tells is 210,412 and 263,494 of them.
    for (id, mib_seconds) in
        [("application_1795917867770_0001", 318_892), ("application_1795917867770_0002", 364_058)]
    {
        let apart = mib_seconds * 1000 - of(id);
        // Less than a millisecond for each of three executors of 1,024 MiB.
        assert!(apart < 3 * 1024, "{id}: {apart}");
    }
    assert!(words.contains("20.6 s in the median of 2 applications, 33.5 s at most"), "{words}");
    assert!(words.contains("containers of 1 application on YARN"), "{words}");
    // Given by its name it is the same; without it the log alone tells.
    let apps = sample("yarn/apps.json").place().unwrap().to_owned();
    let given = SparkAssumptions { applications: Some(apps), ..SparkAssumptions::default() };
    let log = "yarn/application_1795917867770_0002.zstd";
    let with = mib_millis(&read(log, &given).0);
    assert!(with > 364_050_000 && with <= 364_058_000, "{with}");
    let (alone, words) = read(log, &SparkAssumptions::default());
    assert!(mib_millis(&alone) < 300_000_000, "{alone:?}");
    assert!(words.contains("YARN's list of applications tells it"), "{words}");
    let small = SparkAssumptions { container_step: 1, ..SparkAssumptions::default() };
    assert_eq!(read(log, &small).0[0].groups[0].demand.get(1), 896 << 20);
}

/// A log of one application; `lines` stand between its beginning and its end.
fn log(id: &str, lines: &str, has_end: bool) -> String {
    let end = "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":9000}\n";
    format!(
        "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.6\"}}\n\
         {{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"{id}\",\
         \"Timestamp\":1000,\"User\":\"a.b\"}}\n\
         {{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":2000,\"Executor ID\":\"1\",\
         \"Executor Info\":{{\"Total Cores\":2}}}}\n{lines}{}",
        if has_end { end } else { "" }
    )
}

fn of_text(text: &str) -> Result<(Vec<Job>, String), TraceError> {
    let mut source = open(&Origin::bytes("log", text.as_bytes()), &SparkAssumptions::default())?;
    let words = source.assumptions().join("\n");
    Ok((jobs(&mut source), words))
}

#[test]
fn several_logs_may_follow_each_other() {
    let both = log("one", "", true) + &log("two", "", true) + &log("one", "", false);
    let (jobs, words) = of_text(&both).unwrap();
    assert_eq!(jobs.iter().map(|job| job.label.to_string()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(jobs.iter().all(|job| millis(job) == [[7000]]));
    assert!(words.contains("dots, shown as _, are in 2 names"), "{words}");
    // A list of YARN's may be among them, and the log of one that was killed may lack its end.
    let list = "{\"apps\":{\"app\":[{\"id\":\"application_1_1\",\"user\":\"u\",\
        \"queue\":\"root.q\",\
        \"startedTime\":1000,\"launchTime\":1500,\"finishedTime\":8000,\"memorySeconds\":20480,\
        \"vcoreSeconds\":1}]}}\n";
    let (jobs, words) = of_text(&(log("application_1_1", "", false) + list)).unwrap();
    // The master holds 1 GiB for 6.5 s, so 13.5 s of the 20 are its executor's, of 2 GiB.
    assert_eq!(millis(&jobs[0]), [[6500], [6750]]);
    assert!(words.contains("held longer than its log tells: 0.8 s"), "{words}");
}

#[test]
fn a_log_without_an_end_holds_until_its_last_event() {
    let job = "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Submission Time\":6000,\
        \"Stage IDs\":[0]}\n";
    let text = log("one", job, false);
    let (jobs, words) = of_text(&text).unwrap();
    assert_eq!(millis(&jobs[0]), [[4000]]);
    assert!(jobs[0].groups[0].cut);
    assert!(words.contains("no end in the log: 1 application"), "{words}");
    // Half a line is what a killed driver leaves.
    let (cut, words) =
        of_text(&(text.clone() + "{\"Event\":\"SparkListenerTaskEnd\",\"Sta")).unwrap();
    assert_eq!(cut, jobs);
    assert!(words.contains("cut in the middle of an event: 1 log"), "{words}");
    let drop =
        SparkAssumptions { unfinished: SparkUnfinished::Drop, ..SparkAssumptions::default() };
    let why = open(&Origin::bytes("log", text.as_bytes()), &drop).err().unwrap().to_string();
    assert!(why.contains("all 1 were left out"), "{why}");
}

#[test]
fn cut_compressed_logs_count_as_far_as_they_are_whole() {
    for name in ["app-20261201102959-0000.lz4", "app-20261201103037-0000.zstd"] {
        let bytes = std::fs::read(sample(name).place().unwrap()).unwrap();
        let cut = bytes[..bytes.len() * 3 / 4].to_vec();
        let mut source = open(&Origin::bytes(name, cut), &SparkAssumptions::default()).unwrap();
        let words = source.assumptions().join("\n");
        assert!(jobs(&mut source)[0].tasks() >= 1);
        assert!(words.contains("no end in the log: 1 application"), "{name}: {words}");
        // Nothing tells whose it is.
        let start = Origin::bytes(name, bytes[..100].to_vec());
        let why = open(&start, &SparkAssumptions::default()).err().unwrap().to_string();
        assert!(why.contains("cut") || why.contains("no event log of Spark"), "{name}: {why}");
    }
}

#[test]
fn wrong_lines_are_told_with_their_numbers() {
    let rows = [
        (
            "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":-5,\"Executor ID\":\"1\"}\n",
            "log:4: Timestamp: -5; wanted are milliseconds since 1970",
        ),
        (
            "{\"Event\":\"SparkListenerJobStart\",\"Stage IDs\":[0]}\n",
            "log:4: SparkListenerJobStart: missing field `Submission Time`",
        ),
        ("half a line\n", "log:4: expected value; wanted is an event of Spark, an object of JSON"),
        ("{\"Event\":\"SparkListenerBlockUpdated\",\n", "SparkListenerBlockUpdated: the line ends"),
        (
            "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\
          \"Task Info\":\
          {\"Task ID\":1,\"Index\":0,\"Launch Time\":5000,\"Finish Time\":4000}}\n",
            "log:4: Finish Time: 4000, before its launch at 5000",
        ),
    ];
    for (line, expected) in rows {
        let text = log("one", line, true);
        let why = of_text(&text).err().unwrap().to_string();
        assert!(why.contains(expected), "{why}: {expected}");
        let origin = Origin::bytes("log", text.as_bytes());
        let assumptions = SparkAssumptions::default();
        let mut source =
            SparkSource::open(&origin, &kinds(), &assumptions, OnBadLine::Skip).unwrap();
        assert_eq!(millis(&jobs(&mut source)[0]), [[7000]]);
        assert_eq!(source.counts().bad, 1);
    }
    let text = "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":0}\n";
    let why = of_text(text).err().unwrap().to_string();
    assert!(why.contains("log:1: no event tells which application it is of"), "{why}");
}

#[test]
fn applications_that_are_too_large_are_wrong() {
    let memory = "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":0,\
        \"Executor Resource Requests\":{\"memory\":{\"Amount\":1e30}}}\n";
    let why = of_text(&log("one", memory, true)).err().unwrap().to_string();
    assert!(why.contains("application one: ") && why.contains("the largest amount"), "{why}");
    let why = of_text(&log(&"x".repeat(201), "", true)).err().unwrap().to_string();
    assert!(why.contains("App ID: 201 bytes long"), "{why}");
}

#[test]
fn folders_without_logs_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let origin = Origin::path(folder.path());
    let why = open(&origin, &SparkAssumptions::default()).err().unwrap().to_string();
    assert!(why.contains("there is no event log of Spark"), "{why}");
    assert!(!is_folder_of_logs(folder.path()));
    std::fs::write(folder.path().join("app-1"), log("one", "", true)).unwrap();
    assert!(is_folder_of_logs(folder.path()));
    // Parts that are not there, and one that stands for those before it.
    let rolled = folder.path().join("eventlog_v2_app-2");
    std::fs::create_dir(&rolled).unwrap();
    let all = log("two", "", true);
    let (start, end) = all.split_at(all.find("{\"Event\":\"SparkListenerApplicationEnd").unwrap());
    for (name, text) in [
        ("events_1_app-2", "not read"),
        ("events_2_app-2.compact", start),
        ("events_2_app-2", "not read"),
        ("events_4_app-2", end),
        ("appstatus_app-2", ""),
    ] {
        std::fs::write(rolled.join(name), text).unwrap();
    }
    let mut source = open(&origin, &SparkAssumptions::default()).unwrap();
    let words = source.assumptions().join("\n");
    assert!(words.contains("parts of logs that are not there: 3 (of "), "{words}");
    assert_eq!(jobs(&mut source).len(), 2);
}

#[test]
fn compressions_that_are_not_read_are_known() {
    for (start, expected) in [
        (b"\x82SNAPPY\0\0\0\0\x01".as_slice(), Some("snappy")),
        (b"ZV\x01\x00\x10", Some("lzf")),
        (b"ZVEREV", None),
        (b"{\"Event\":", None),
        (b"", None),
    ] {
        assert_eq!(compression_not_read(start), expected);
    }
}
