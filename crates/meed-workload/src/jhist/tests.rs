use std::collections::BTreeMap;

use meed::{ResourceKinds, Unit};

use super::*;

fn kinds() -> ResourceKinds {
    let cpu = ("cpu".to_owned(), Unit::Milli);
    ResourceKinds::new(vec![cpu, ("memory".to_owned(), Unit::Bytes)]).unwrap()
}

fn open(
    bytes: &[u8],
    assumptions: &HistoryAssumptions,
    on_bad_line: OnBadLine,
) -> Result<HistorySource, TraceError> {
    HistorySource::open(&Origin::bytes("h.jhist", bytes), &kinds(), assumptions, on_bad_line)
}

fn jobs(source: &mut HistorySource) -> Vec<Job> {
    let queues = source.queues().len();
    let mut jobs = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(queues, 2).unwrap();
        jobs.push(job);
    }
    jobs
}

fn why(bytes: &[u8]) -> String {
    let opened = open(bytes, &HistoryAssumptions::default(), OnBadLine::Stop);
    opened.err().expect("it is wrong").to_string()
}

/// Four jobs of a Hadoop 3.4.2 (tests/hadoop): the histories as its master wrote them, in both
/// forms, and the counters that its client was told.
const REAL: &[u8] = include_bytes!("../../tests/data/hadoop-3.4.2.jhist.gz");
const COUNTERS: &str = include_str!("../../tests/data/hadoop-3.4.2.counters.tsv");

fn with_maps() -> HistoryAssumptions {
    HistoryAssumptions { reduces: HistoryReduces::WithMaps, ..HistoryAssumptions::default() }
}

/// Sums over the tasks of each job, by Hadoop's names: milliseconds, times MiB, times vcores.
fn sums(jobs: &[Job]) -> BTreeMap<(String, String), u64> {
    let mut sums = BTreeMap::new();
    for job in jobs {
        for (number, group) in job.groups.iter().enumerate() {
            let kind = if number == 0 { "MAPS" } else { "REDUCES" };
            let millis = group.duration.total_micros(group.count) as u64 / 1000;
            let mib = group.demand.get(1) >> 20;
            for (name, times) in
                [("MILLIS", 1), ("MB_MILLIS", mib), ("VCORES_MILLIS", group.demand.get(0) / 1000)]
            {
                sums.insert((job.label.to_string(), format!("{name}_{kind}")), millis * times);
            }
        }
    }
    sums
}

#[test]
fn a_real_history_adds_up_to_hadoops_own_counters() {
    let mut source = open(REAL, &with_maps(), OnBadLine::Stop).unwrap();
    assert_eq!(source.queues(), ["etl", "adhoc.ml"]);
    let words = source.assumptions().join("\n");
    assert!(words.contains("1 jobs do not tell what their tasks held"), "{words}");
    let jobs = jobs(&mut source);
    assert_eq!(source.counts(), SourceCounts { lines: 4, jobs: 4, bad: 0, ignored: 0 });
    let mut ours = sums(&jobs);
    // The job that was killed has no counters: nothing to compare.
    ours.retain(|(job, _), _| !job.ends_with("0004"));
    let told = COUNTERS.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let told: BTreeMap<_, _> = told
        .map(|row| ((row[0].to_owned(), row[1].to_owned()), row[2].parse::<u64>().unwrap()))
        .filter(|((_, name), _)| name.contains("MILLIS_") && !name.starts_with("SLOTS"))
        .collect();
    assert_eq!(told.len(), 15);
    assert_eq!(ours, told);
}

#[test]
fn reduces_that_wait_for_maps_count_from_the_last_maps_end() {
    let whole = jobs(&mut open(REAL, &with_maps(), OnBadLine::Stop).unwrap());
    let mut source = open(REAL, &HistoryAssumptions::default(), OnBadLine::Stop).unwrap();
    let words = source.assumptions().join("\n");
    assert!(words.contains("s while maps ran, which is not counted"), "{words}");
    let split = jobs(&mut source);
    // The second job: four maps, of which one was tried twice; a reduce that came early.
    let (whole, split) = (&whole[1], &split[1]);
    assert_eq!(whole.label.to_string(), "job_1795547385234_0002");
    assert_eq!(whole.groups.iter().map(|group| group.stage).collect::<Vec<_>>(), [0, 0]);
    assert_eq!(split.groups.iter().map(|group| group.stage).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(whole.groups[0], split.groups[0]);
    let micros = |job: &Job, group: usize, task| job.groups[group].duration.get(task).as_micros();
    // Attempts by hand from the file: of the reduce and of the map that ended last.
    let (start, end, maps_end) = (1_795_547_426_465, 1_795_547_436_531, 1_795_547_435_100);
    assert_eq!(micros(whole, 1, 0), (end - start) * 1000);
    assert_eq!(micros(split, 1, 0), (end - maps_end) * 1000);
    let twice = (1_795_547_414_383 - 1_795_547_405_321) + (1_795_547_435_100 - 1_795_547_425_453);
    assert_eq!(micros(whole, 0, 1), twice * 1000);
    let finished =
        HistoryAssumptions { episode: HistoryEpisode::Finished, ..HistoryAssumptions::default() };
    let good = jobs(&mut open(REAL, &finished, OnBadLine::Stop).unwrap());
    let last = 1_795_547_435_100u64 - 1_795_547_425_453;
    assert_eq!(micros(&good[1], 0, 1), last * 1000);
    // No task of the job that was killed ended well.
    assert_eq!((good.len(), good[2].groups.len()), (3, 1));
    for (queues, names) in
        [(HistoryQueues::User, &["root"][..]), (HistoryQueues::Single("all".to_owned()), &["all"])]
    {
        let assumptions = HistoryAssumptions { queues, ..HistoryAssumptions::default() };
        assert_eq!(open(REAL, &assumptions, OnBadLine::Stop).unwrap().queues(), names);
    }
}

/// A history in JSON, of a job without counters.
fn plain(id: &str, queue: &str, submit: u64, events: &[(&str, &str)]) -> String {
    let name = |kind: &str| format!("org.apache.hadoop.mapreduce.jobhistory.{kind}");
    let mut text = "Avro-Json\n{\"type\":\"record\"}\n".to_owned();
    let submitted = format!(
        "{{\"jobid\":\"{id}\",\"userName\":\"ann\",\"jobQueueName\":\"{queue}\",\
         \"submitTime\":{submit}}}"
    );
    for (kind, fields) in [("JOB_SUBMITTED", submitted.as_str())].iter().chain(events) {
        let event = format!("{{\"{}\":{fields}}}", name("X"));
        text += &format!("{{\"type\":\"{kind}\",\"event\":{event}}}\n\n");
    }
    text
}

const START: (&str, &str) =
    ("MAP_ATTEMPT_STARTED", r#"{"attemptId":"attempt_1_0001_m_000000_0","startTime":2000}"#);
const END: (&str, &str) =
    ("MAP_ATTEMPT_FINISHED", r#"{"attemptId":"attempt_1_0001_m_000000_0","finishTime":5500}"#);
const DONE: (&str, &str) = ("JOB_KILLED", r#"{"jobid":"job_1_0001","finishTime":9000}"#);

#[test]
fn what_is_not_told_is_assumed_and_what_did_not_run_is_left_out() {
    let waits =
        ("REDUCE_ATTEMPT_STARTED", r#"{"attemptId":"attempt_1_0001_r_000000_0","startTime":3000}"#);
    let text = [
        plain("job_1_0001", "root.a", 1000, &[START, waits, DONE]),
        plain("job_1_0002", "b", 500, &[START, END, DONE]),
        plain("job_1_0002", "b", 500, &[START, END, DONE]),
        plain("job_1_0003", "b", 500, &[START, END]),
        plain("job_1_0004", "b", 500, &[DONE]),
    ];
    let text = text.concat();
    let default = HistoryAssumptions::default();
    let mut source = open(text.as_bytes(), &default, OnBadLine::Stop).unwrap();
    assert_eq!(source.queues(), ["a", "b"]);
    let found = jobs(&mut source);
    assert_eq!(source.counts(), SourceCounts { lines: 5, jobs: 2, bad: 0, ignored: 3 });
    // In order of submission; a vcore and a gibibyte; ended with its job; a reduce that waited.
    let labels: Vec<String> = found.iter().map(|job| job.label.to_string()).collect();
    assert_eq!(labels, ["job_1_0002", "job_1_0001"]);
    let [first, last] = [&found[0].groups, &found[1].groups];
    assert_eq!((first.len(), last.len()), (1, 1));
    assert_eq!(first[0].duration, Durations::Same(Span::from_micros(3_500_000).unwrap()));
    assert_eq!(last[0].duration, Durations::Same(Span::from_micros(7_000_000).unwrap()));
    assert_eq!(first[0].demand.as_slice(), [1000, 1 << 30]);
    assert_eq!(found[1].submit.as_micros(), 500_000);
    let words = source.assumptions().join("\n");
    assert!(words.contains("2 jobs do not tell") && words.contains("1970-01-01"), "{words}");
    // With the maps it has run until it was stopped.
    let found = jobs(&mut open(text.as_bytes(), &with_maps(), OnBadLine::Stop).unwrap());
    assert_eq!(found[1].groups[1].duration.get(0).as_micros(), 6_000_000);
}

#[test]
fn what_is_wrong_costs_one_history() {
    let good = plain("job_1_0001", "root.a", 1000, &[START, END, DONE]);
    let table: &[(String, &str)] = &[
        (good.replace("\"finishTime\":5500", "\"finishTime\":1"), "wanted is a time after its"),
        (good.replace("\"finishTime\":9000", "\"finishTime\":-9"), "-9; wanted are milliseconds"),
        (good.replace("\"submitTime\":1000", "\"submitTme\":1000"), "submitTime: it is not there"),
        (good.replace("m_000000_0", "m"), "wanted is one as attempt_1700000000000_0001_m_"),
        (good.replace("\"userName\":\"ann\",", ""), "userName: 0 bytes long; wanted are 1 to 200"),
        (good.replace("root.a", "a..b"), "queue name `a..b` has an empty part"),
        (good.replace("{\"type\":\"JOB_KILLED\"", "{\"type\":"), "is no event of a job: "),
        (good.replace(":9000", ":90x"), "is no event of a job: "),
        ("Avro-Binary\n{\"type\":\"record\"}\n".to_owned(), "is no schema of Avro: a type with"),
        ("Avro-Binary\n{}x\n".to_owned(), "is no schema of Avro: trailing characters"),
    ];
    for (wrong, expected) in table {
        let other = good.replace("job_1_0001", "job_1_0002");
        let text = [wrong.as_str(), &other].concat();
        let error = why(text.as_bytes());
        assert!(error.starts_with("h.jhist:1: ") && error.contains(expected), "{error}");
        let default = HistoryAssumptions::default();
        let mut source = open(text.as_bytes(), &default, OnBadLine::Skip).unwrap();
        assert_eq!((jobs(&mut source).len(), source.counts().bad), (1, 1), "{error}");
    }
    assert!(why(b"").contains("the file is empty"));
    assert!(why(b"x\n").contains("begins with the line Avro-Binary or Avro-Json"));
    assert!(why(plain("job_1_0001", "a", 1, &[]).as_bytes()).contains("no jobs"));
}

/// A history in binary that is cut anywhere, or of which a byte is another, is read or refused, and
/// costs the one behind it nothing.
#[test]
fn binary_histories_can_be_damaged() {
    let mut plain_bytes = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(REAL), &mut plain_bytes).unwrap();
    let ends: Vec<usize> = memchr::memmem::find_iter(&plain_bytes, b"Avro-").collect();
    assert!(plain_bytes.starts_with(b"Avro-Binary\n{") && ends.len() == 4);
    let whole = &plain_bytes[..ends[1]];
    let behind = plain("job_1_0009", "b", 5, &[START, END, DONE]);
    let read = |bytes: &[u8]| {
        let text = [bytes, behind.as_bytes()].concat();
        let mut source = open(&text, &with_maps(), OnBadLine::Skip).unwrap();
        let labels: Vec<String> =
            jobs(&mut source).iter().map(|job| job.label.to_string()).collect();
        (labels, source.counts().bad)
    };
    let both = ["job_1_0009", "job_1795547385234_0001"].map(str::to_owned);
    assert_eq!(read(whole), (both.into(), 0));
    let body = memchr::memchr_iter(b'\n', whole).nth(1).unwrap() + 1;
    for cut in (body..whole.len()).step_by(101) {
        let (labels, _) = read(&whole[..cut]);
        assert!(labels.contains(&"job_1_0009".to_owned()), "cut at {cut}");
    }
    let mut bytes = whole.to_vec();
    for at in (body..whole.len()).step_by(211) {
        let was = std::mem::replace(&mut bytes[at], 0xff);
        let (labels, _) = read(&bytes);
        assert!(labels.contains(&"job_1_0009".to_owned()), "another byte at {at}");
        bytes[at] = was;
    }
    let cut = why(&whole[..whole.len() - 3]);
    assert!(cut.contains("the history ends in the middle of it"), "{cut}");
}

#[test]
fn schemas_that_never_end_do() {
    let nest = |depth: usize| {
        let mut schema = "\"null\"".to_owned();
        for level in 0..depth {
            schema = format!(
                "{{\"type\":\"record\",\"name\":\"R{level}\",\"fields\":[{{\"name\":\"a\",\
                 \"type\":{schema}}}{}]}}",
                if level > 0 {
                    format!(",{{\"name\":\"b\",\"type\":\"R{}\"}}", level - 1)
                } else {
                    String::new()
                }
            );
        }
        schema
    };
    let event = |of: &str| {
        format!(
            "Avro-Binary\n{{\"type\":\"record\",\"name\":\"Event\",\"fields\":[{{\"name\":\"type\",\
             \"type\":{{\"type\":\"enum\",\"name\":\"T\",\"symbols\":[\"JOB_FINISHED\"]}}}},\
             {{\"name\":\"event\",\"type\":[{of}]}}]}}\n"
        )
    };
    let own = "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"a\",\"type\":\"A\"}]}";
    let list = "{\"type\":\"record\",\"name\":\"A\",\"fields\":[{\"name\":\"a\",\"type\":\
        {\"type\":\"array\",\"items\":\"null\"}}]}";
    let many = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let rows: [(String, &[u8], &str); 4] = [
        (nest(28), b"\0\0\0\0", "values of no bytes"),
        (own.to_owned(), b"\0\0", "values in values without end"),
        (list.to_owned(), &[&b"\0\0"[..], &many[..]].concat(), "values of no bytes"),
        ("\"string\"".to_owned(), b"\0\0", "an event that is no record"),
    ];
    for (of, bytes, expected) in rows {
        let error = why(&[event(&of).as_bytes(), bytes].concat());
        assert!(error.contains(expected), "{error}");
    }
}
