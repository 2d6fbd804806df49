//! Logs in which something is odd: rows that do not count, names that are too deep, lists of
//! nothing, jobs as they were published.

use std::fmt::Write as _;

use meed::{ResourceKinds, Unit};
use meed_workload::canonical::CanonicalSource;
use meed_workload::format::TraceFormat;
use meed_workload::philly::{PhillyAlign, PhillyAssumptions, PhillySource};
use meed_workload::swf::{SwfAssumptions, SwfSource};
use meed_workload::{JobSource, OnBadLine, Origin, SourceCounts, TraceError};

fn kinds(name: &str) -> ResourceKinds {
    ResourceKinds::new(vec![(name.to_owned(), Unit::Milli)]).unwrap()
}

fn swf(text: &str) -> Result<SwfSource, TraceError> {
    let origin = Origin::bytes("t.swf", text.as_bytes());
    SwfSource::open(&origin, &kinds("cpu"), &SwfAssumptions::default(), OnBadLine::Skip)
}

/// Reads to the end: the last submission, and what was counted.
fn whole(source: &mut dyn JobSource) -> (f64, SourceCounts) {
    let mut last = 0.0;
    while let Some(job) = source.next_job().unwrap() {
        last = job.submit.as_secs_f64();
    }
    (last, source.counts())
}

/// 200 jobs, one a minute; number 50 is this line.
fn minutes(odd: &str) -> String {
    let mut text = String::new();
    for job in 1..=200 {
        let at = job * 60;
        match job {
            50 => writeln!(text, "{odd}").unwrap(),
            _ => writeln!(text, "{job} {at} 10 600 8 -1 -1 8 1200 -1 1 1 1 1 1 1 -1 -1").unwrap(),
        }
    }
    text
}

#[test]
fn one_absurd_time_of_swf_costs_one_row() {
    // Cancelled: it does not count, whatever its time is. Run: it is the one that is wrong.
    let cancelled = "50 99999999 10 -1 -1 -1 -1 8 1200 -1 5 1 1 1 1 1 -1 -1";
    let run = "50 99999999 10 600 8 -1 -1 8 1200 -1 1 1 1 1 1 1 -1 -1";
    let early = "50 0 10 600 8 -1 -1 8 1200 -1 1 1 1 1 1 1 -1 -1";
    for (odd, bad, ignored) in [(cancelled, 0, 1), (run, 1, 0), (early, 1, 0)] {
        let mut source = swf(&minutes(odd)).unwrap();
        let counts = SourceCounts { lines: 200, jobs: 199, bad, ignored };
        assert_eq!(whole(&mut source), (12_000.0, counts), "{odd}");
    }
    let mut source = swf(&minutes(run)).unwrap();
    whole(&mut source);
    let told = source.bad_lines()[0].to_string();
    let expected = "t.swf:50: submitted at 99999999 s (1157d 9h 46min 39s), after most of the 31 \
                    jobs that follow; a trace is in order of submission";
    assert_eq!(told, expected);
}

#[test]
fn parts_of_swapped_jobs_of_swf_need_no_time() {
    let text = "\
6 50 10 1000 8 -1 -1 8 3600 -1 1 5 1 1 1 1 -1 -1
6 50 10 400 8 -1 -1 8 3600 -1 2 5 1 1 1 1 -1 -1
6 -1 20 600 8 -1 -1 8 3600 -1 3 5 1 1 1 1 -1 -1
7 60.5 5 12.25 8 -1 -1 8 3600 -1 1 6 1 1 1 1 -1 -1
8 -1 5 12.25 8 -1 -1 8 3600 -1 1 6 1 1 1 1 -1 -1
";
    let counts = SourceCounts { lines: 5, jobs: 2, bad: 1, ignored: 2 };
    assert_eq!(whole(&mut swf(text).unwrap()), (60.5, counts));
}

#[test]
fn a_file_of_swf_most_of_whose_rows_are_wrong_is_refused() {
    let good = "1 60 10 600 8 -1 -1 8 1200 -1 1 1 1 1 1 1 -1 -1\n";
    let told = swf(&format!("{good}1 2 3\n4 5 6\n")).err().unwrap().to_string();
    let expected = "t.swf:2: 2 of 3 lines are wrong, so the file is read wrongly, or is damaged; \
                    3 columns; an SWF line has 18";
    assert!(told.starts_with(expected), "{told}");
    assert!(swf(&format!("{good}{good}1 2 3\n4 5 6\n")).is_ok());
}

#[test]
fn names_in_a_trace_are_as_deep_as_in_a_scenario() {
    let open = |name: &str| {
        let text = format!(
            "{{\"meed_trace\":1,\"resources\":{{\"cpu\":\"milli\"}},\"queues\":[\"{name}\"]}}\n\
             {{\"submit_s\":0,\"queue\":\"{name}\",\"tasks\":[{{\"demand\":{{\"cpu\":1}},\
             \"duration_s\":1}}]}}\n"
        );
        let origin = Origin::bytes("t.jsonl", text.into_bytes());
        CanonicalSource::open(&origin, None, OnBadLine::Stop)
            .map(drop)
            .map_err(|why| why.to_string())
    };
    assert_eq!(open(&vec!["a"; 200].join(".")), Ok(()));
    let told = open(&vec!["a"; 201].join(".")).unwrap_err();
    assert!(told.starts_with("t.jsonl:1: \"queues\": queue name"), "{told}");
    assert!(told.ends_with("has 201 levels; at most 200 are possible"), "{told}");
    assert!(open(&"a".repeat(1024)).is_ok());
    let told = open(&"a".repeat(1025)).unwrap_err();
    assert!(told.ends_with("has 1025 bytes; at most 1024 are possible"), "{told}");
    // Names of 40 kB are refused before anything is made of them.
    assert!(open(&vec!["a"; 20_000].join(".")).unwrap_err().len() < 300);
}

/// Made up, in the form of `cluster_job_log`: two attempts with a pause; one that still runs; none;
/// a lost time; one of which the hours are in the night when the clocks go back.
const PHILLY: &str = r#"[
 {"status": "Pass", "vc": "aa11", "jobid": "application_1_0001", "attempts": [
   {"start_time": "2017-10-09 07:00:00", "end_time": "2017-10-09 08:00:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]},
   {"start_time": "2017-10-09 09:00:00", "end_time": "2017-10-09 11:00:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}, {"ip": "m2", "gpus": ["gpu3", "gpu4"]}]}],
  "submitted_time": "2017-10-09 06:55:00", "user": "u1"},
 {"status": "Killed", "vc": "bb22", "jobid": "application_1_0002", "attempts": [
   {"start_time": "2017-10-09 07:00:00", "end_time": "None",
    "detail": [{"ip": "m2", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-10-09 06:56:00", "user": "u2"},
 {"status": "Failed", "vc": "bb22", "jobid": "application_1_0003", "attempts": [],
  "submitted_time": "2017-10-09 06:57:00", "user": "u2"},
 {"status": "Pass", "vc": "bb22", "jobid": "application_1_0004", "attempts": [
   {"start_time": null, "end_time": "2017-10-09 07:10:00",
    "detail": [{"ip": "m2", "gpus": ["gpu0"]}]},
   {"start_time": "2017-10-09 07:20:00", "end_time": "2017-10-09 07:30:00",
    "detail": [{"ip": "m2", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-10-09 06:58:00", "user": "u2"},
 {"status": "Pass", "vc": "bb22", "jobid": "application_1_0005", "attempts": [
   {"start_time": "2017-11-05 01:50:00", "end_time": "2017-11-05 01:10:00",
    "detail": [{"ip": "m2", "gpus": ["gpu0"]}]}],
  "submitted_time": "2017-11-05 01:40:00", "user": "u2"}
]"#;

#[test]
fn the_jobs_of_philly_are_read_as_they_were_published() {
    assert_eq!(TraceFormat::of_content(PHILLY.as_bytes()), Some(TraceFormat::Philly));
    let open = |align| {
        let assumptions = PhillyAssumptions { align, ..PhillyAssumptions::default() };
        let origin = Origin::bytes("cluster_job_log", PHILLY.as_bytes());
        PhillySource::open(&origin, &kinds("gpu"), &assumptions, OnBadLine::Stop).unwrap()
    };
    let mut source = open(PhillyAlign::Usual);
    assert_eq!(source.queues(), ["aa11", "bb22"]);
    // 2017-10-09 06:55 in California.
    assert_eq!(source.clock_us(), Some(1_507_557_300_000_000));
    let row = |source: &mut PhillySource| {
        let job = source.next_job().unwrap()?;
        let group = &job.groups[0];
        let seconds = group.duration.get(0).as_secs_f64();
        Some((job.label.to_string(), job.submit.as_secs_f64(), group.count, seconds))
    };
    let jobs: Vec<_> = std::iter::from_fn(|| row(&mut source)).collect();
    let job = |label: &str, at: f64, gpus: u32, seconds: f64| (label.to_owned(), at, gpus, seconds);
    // 2 GPUs for an hour and 3 for two are 8 GPU-hours: 3 GPUs for 9600 s.
    let expected = [
        job("application_1_0001", 0.0, 3, 9600.0),
        job("application_1_0004", 180.0, 1, 600.0),
        job("application_1_0005", 2_313_900.0, 1, 1200.0),
    ];
    assert_eq!(jobs, expected);
    assert_eq!(source.counts(), SourceCounts { lines: 5, jobs: 3, bad: 0, ignored: 2 });
    let words = source.assumptions().join("\n");
    for told in [
        "virtual clusters keep their dates; time 0 is the first submission, 2017-10-09T13:55:00Z",
        "dates without a zone are in America/Los_Angeles (time_zone says another)",
        "1 jobs left out: no attempt of them is recorded with start and end",
        "1 jobs left out: their last attempt has no end, so they still ran",
        "1 attempts without a recorded start or end are not counted",
    ] {
        assert!(words.contains(told), "{told}\n{words}");
    }
    // Clocks that all begin with the first job of their own.
    let mut source = open(PhillyAlign::Start);
    let starts: Vec<f64> = std::iter::from_fn(|| row(&mut source)).map(|job| job.1).collect();
    assert_eq!((starts, source.clock_us()), (vec![0.0, 0.0, 2_313_720.0], None));
}
