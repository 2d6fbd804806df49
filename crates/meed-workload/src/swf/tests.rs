//! Tests of the SWF reader.

use meed::{Resources, Span, Time, Unit};

use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

fn open(
    text: &str,
    assumptions: &SwfAssumptions,
    policy: OnBadLine,
) -> Result<SwfSource, TraceError> {
    SwfSource::open(&Origin::bytes("t.swf", text.as_bytes()), &kinds(), assumptions, policy)
}

fn all(mut source: SwfSource) -> Vec<Job> {
    std::iter::from_fn(|| source.next_job().unwrap()).collect()
}

/// A line of 18 columns, `-1` but for those given as (column, value).
fn line(columns: &[(usize, &str)]) -> String {
    let mut values = ["-1"; 18];
    let usual = [(1, "1"), (2, "10"), (4, "60"), (5, "4"), (11, "1"), (12, "97")];
    for (column, value) in usual.iter().chain(columns) {
        values[column - 1] = value;
    }
    values.join(" ")
}

/// Processors in thousandths, bytes of memory, microseconds, number of tasks.
type Shape = (u64, u64, u64, u32);

#[test]
fn the_requested_time_is_a_limit() {
    use crate::TimeLimits;
    let limit = |limits: TimeLimits, asked: &str| {
        let assumptions = SwfAssumptions { limits, ..SwfAssumptions::default() };
        let text = line(&[(9, asked)]);
        let job = all(open(&text, &assumptions, OnBadLine::Stop).unwrap()).remove(0);
        assert_eq!(job.groups[0].duration, Durations::Same(Span::from_secs(60).unwrap()));
        job.groups[0].limit.map(Span::as_secs_f64)
    };
    // Users' estimates may be too short: that is kept, unless it is not wanted.
    assert_eq!(limit(TimeLimits::Requested, "3600"), Some(3600.0));
    assert_eq!(limit(TimeLimits::Requested, "45"), Some(45.0));
    assert_eq!(limit(TimeLimits::AtLeastRun, "45"), Some(60.0));
    assert_eq!(limit(TimeLimits::Requested, "-1"), None);
    assert_eq!(limit(TimeLimits::Ignore, "3600"), None);
}

#[test]
fn columns_become_tasks() {
    let default = SwfAssumptions::default();
    let split = SwfAssumptions { shape: SwfShape::Split, ..default.clone() };
    let requested = SwfAssumptions { processors: SwfProcessors::Requested, ..default.clone() };
    let used = SwfAssumptions { memory: SwfMemory::Used, ..default.clone() };
    let no_memory = SwfAssumptions { memory: SwfMemory::Ignore, ..default.clone() };
    let min = SwfAssumptions { min_duration: Span::from_secs(5).unwrap(), ..default.clone() };
    let keep = SwfAssumptions { ignore_cancelled: false, ignore_partial: false, ..default.clone() };
    let both = [(7, "10"), (10, "20")];
    type Row<'a> = (&'a SwfAssumptions, &'a [(usize, &'a str)], Option<Shape>);
    let rows: &[Row<'_>] = &[
        (&default, &[], Some((4000, 0, 60_000_000, 1))),
        (&default, &[(4, "0.0000015")], Some((4000, 0, 2, 1))),
        (&default, &[(4, "0")], Some((4000, 0, 0, 1))),
        (&min, &[(4, "0")], Some((4000, 0, 5_000_000, 1))),
        (&default, &[(4, "-1")], None),
        (&default, &[(5, "-1"), (8, "7")], Some((7000, 0, 60_000_000, 1))),
        (&default, &[(5, "0"), (8, "7")], Some((7000, 0, 60_000_000, 1))),
        (&default, &[(5, "-1"), (8, "-1")], None),
        (&default, &[(5, "0"), (8, "0")], None),
        (&default, &[(8, "7")], Some((4000, 0, 60_000_000, 1))),
        (&requested, &[(8, "7")], Some((7000, 0, 60_000_000, 1))),
        (&requested, &[], Some((4000, 0, 60_000_000, 1))),
        (&split, &[], Some((1000, 0, 60_000_000, 4))),
        (&default, &both, Some((4000, 4 * 20 * 1024, 60_000_000, 1))),
        (&used, &both, Some((4000, 4 * 10 * 1024, 60_000_000, 1))),
        (&default, &both[..1], Some((4000, 4 * 10 * 1024, 60_000_000, 1))),
        (&split, &both, Some((1000, 20 * 1024, 60_000_000, 4))),
        (&no_memory, &both, Some((4000, 0, 60_000_000, 1))),
        (&default, &[(11, "5"), (4, "0")], None),
        (&default, &[(11, "5")], Some((4000, 0, 60_000_000, 1))),
        (&keep, &[(11, "5"), (4, "0")], Some((4000, 0, 0, 1))),
        (&default, &[(11, "2")], None),
        (&default, &[(11, "4")], None),
        (&keep, &[(11, "3")], Some((4000, 0, 60_000_000, 1))),
        (&default, &[(11, "0")], Some((4000, 0, 60_000_000, 1))),
    ];
    for (assumptions, columns, expected) in rows {
        // A job that is kept comes first: a file of ignored jobs alone is an error.
        let text = format!("{}\n{}\n", line(&[]), line(columns));
        let mut source = open(&text, assumptions, OnBadLine::Stop).unwrap();
        source.next_job().unwrap().unwrap();
        let got = source.next_job().unwrap().map(|job| {
            job.check(1, 2).unwrap();
            let group = &job.groups[0];
            (
                group.demand.get(0),
                group.demand.get(1),
                group.duration.get(0).as_micros(),
                group.count,
            )
        });
        assert_eq!(got, *expected, "{columns:?} {assumptions:?}");
        assert_eq!(source.counts().ignored, u64::from(expected.is_none()));
        assert_eq!(source.counts().lines, 2);
    }
}

#[test]
fn queues_are_collected_in_order_of_first_appearance() {
    let text = [
        line(&[(12, "9")]),
        line(&[(12, "3"), (4, "-1")]),
        line(&[(12, "97"), (13, "5"), (14, "6"), (15, "7"), (16, "8")]),
        line(&[(12, "-1")]),
        line(&[(12, "9")]),
    ]
    .join("\n");
    let rows: [(SwfQueues, &[&str]); 6] = [
        (SwfQueues::User, &["u9", "u97", "u-unknown"]),
        (SwfQueues::Group, &["g-unknown", "g5"]),
        (SwfQueues::Executable, &["x-unknown", "x6"]),
        (SwfQueues::Queue, &["q-unknown", "q7"]),
        (SwfQueues::Partition, &["p-unknown", "p8"]),
        (SwfQueues::Single("all".into()), &["all"]),
    ];
    for (queues, expected) in rows {
        let source =
            open(&text, &SwfAssumptions { queues, ..Default::default() }, OnBadLine::Stop).unwrap();
        assert_eq!(source.queues(), expected);
        let count = expected.len();
        assert!(all(source).iter().all(|job| job.check(count, 2).is_ok()));
    }
}

#[test]
fn named_queues_are_taken_as_given() {
    let users = ["9", "3", "7", "9", "3"];
    let text = users.map(|user| line(&[(12, user)])).join("\n");
    let origin = Origin::bytes("t.swf", text.as_bytes());
    let names = vec!["u3".to_owned(), "u9".to_owned()];
    let assumptions = SwfAssumptions::default();
    let mut source =
        SwfSource::with_queues(&origin, &kinds(), &assumptions, OnBadLine::Skip, names).unwrap();
    let queues: Vec<u32> =
        std::iter::from_fn(|| source.next_job().unwrap()).map(|job| job.queue).collect();
    assert_eq!(queues, [1, 0, 1, 0]);
    assert_eq!(
        source.bad_lines()[0].to_string(),
        "t.swf:3: unknown queue \"u7\"; did you mean \"u3\"?"
    );
}

#[test]
fn wrong_lines_say_what_is_wrong() {
    let rows: Vec<(String, &str)> = vec![
        ("1 2 3".into(), "3 columns; an SWF line has 18"),
        (line(&[]) + " 7", "19 columns; an SWF line has 18"),
        (
            line(&[(2, "x")]),
            "column 2 (submit time): \"x\" is not a number; wanted is seconds, 0 or more, up to \
             285 years",
        ),
        (
            line(&[(2, "-1")]),
            "column 2 (submit time): \"-1\" is negative; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            line(&[(4, "-5")]),
            "column 4 (run time): \"-5\" is negative; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            line(&[(4, "NaN")]),
            "column 4 (run time): \"NaN\" is not a number; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            line(&[(4, "1e20")]),
            "column 4 (run time): \"1e20\" is too large; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            line(&[(5, "1.5")]),
            "column 5 (allocated processors): \"1.5\" is not a whole number; wanted is a whole \
             number from 0 to 18446744073709551615",
        ),
        (
            line(&[(5, "10000000000000")]),
            "column 5 (allocated processors): \"10000000000000\" is too large; no cluster has that \
             many processors",
        ),
        (
            line(&[(10, "9007199254740992")]),
            "9007199254740992 KB on each of 4 processors is more memory than can be counted",
        ),
        (
            line(&[(2, "9")]),
            "submitted at 9 s (9s), before the preceding job's 10 s (10s); a trace is in order of \
             submission",
        ),
    ];
    for (bad, expected) in rows {
        let text = format!("; a comment\n{}\n{bad}\n{}\n", line(&[]), line(&[]));
        let strict = open(&text, &SwfAssumptions::default(), OnBadLine::Stop).err().unwrap();
        assert_eq!(strict.to_string(), format!("t.swf:3: {expected}"));
        let mut source = open(&text, &SwfAssumptions::default(), OnBadLine::Skip).unwrap();
        while source.next_job().unwrap().is_some() {}
        assert_eq!(source.counts(), SourceCounts { lines: 3, jobs: 2, bad: 1, ignored: 0 });
        assert_eq!(source.bad_lines()[0].to_string(), format!("t.swf:3: {expected}"));
    }
    let split = SwfAssumptions { shape: SwfShape::Split, ..Default::default() };
    assert_eq!(
        open(&line(&[(5, "20000000")]), &split, OnBadLine::Stop).err().unwrap().to_string(),
        "t.swf:1: column 5 (allocated processors): \"20000000\" is too large; a job has at most \
         16777216 tasks"
    );
    let not_text = SwfSource::open(
        &Origin::bytes("t.swf", b"\xff\xfe 1 2\n".as_slice()),
        &kinds(),
        &SwfAssumptions::default(),
        OnBadLine::Stop,
    );
    assert_eq!(
        not_text.err().unwrap().to_string(),
        "t.swf:1: not text (invalid UTF-8); SWF is 18 numbers a line"
    );
}

#[test]
fn files_without_jobs_say_why() {
    let ignored = line(&[(4, "-1")]);
    let rows = [
        ("", "t.swf: no jobs: the file is empty; an SWF file has 18 numbers a line"),
        (
            "; Version: 2\n\n",
            "t.swf: no jobs: the file is empty; an SWF file has 18 numbers a line",
        ),
        (
            &ignored,
            "t.swf: no jobs: all 1 were left out by the reader's assumptions; an SWF file has 18 \
             numbers a line",
        ),
        (
            "1 2\n3\n",
            "t.swf: no jobs: 2 of 2 lines are wrong, 0 left out; the first: t.swf:1: 2 columns; an \
             SWF line has 18",
        ),
    ];
    for (text, expected) in rows {
        let error = open(text, &SwfAssumptions::default(), OnBadLine::Skip).err().unwrap();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn kinds_are_picked_and_checked() {
    let kind =
        |name: &str| SwfAssumptions { processor_kind: Some(name.into()), ..Default::default() };
    let fail =
        |assumptions| open(&line(&[]), &assumptions, OnBadLine::Stop).err().unwrap().to_string();
    assert_eq!(
        fail(kind("cpus")),
        "the SWF reader's processor_kind: the cluster has no resource \"cpus\"; did you mean \
         \"cpu\"?"
    );
    assert_eq!(
        fail(kind("memory")),
        "the SWF reader's processor_kind: \"memory\" is counted in bytes; name a resource that is \
         counted in pieces, such as cores"
    );
    let memory = SwfAssumptions { memory_kind: Some("cpu".into()), ..Default::default() };
    assert_eq!(fail(memory), "the SWF reader's memory_kind: \"cpu\" is not counted in bytes");
}

#[test]
fn the_header_is_there_before_the_first_job() {
    let text = format!("; MaxProcs: 338\n{}\n; MaxProcs: 7\n; Note: late\n", line(&[]));
    let mut source = open(&text, &SwfAssumptions::default(), OnBadLine::Stop).unwrap();
    assert_eq!(source.header().processors(), Some(338));
    let job = source.next_job().unwrap().unwrap();
    assert_eq!(source.header().get("Note"), None);
    assert_eq!((job.label, job.submit), (JobLabel::Number(1), Time::from_secs(10).unwrap()));
    assert_eq!(job.groups[0].demand, Resources::new(&[4000, 0]));
    assert_eq!(source.next_job().unwrap(), None);
    assert_eq!(source.progress(), Some(1.0));
}

#[test]
fn a_header_is_read_without_the_rows_behind_it() {
    let header = |text: &str| {
        let origin = Origin::bytes("t.swf", text.as_bytes());
        SwfSource::header_of(&origin, &kinds(), &SwfAssumptions::default())
    };
    let head = "; MaxProcs: 64\n";
    let text = format!("{head}{}\n{}", line(&[]), "no row\n".repeat(2000));
    assert!(open(&text, &SwfAssumptions::default(), OnBadLine::Skip).is_err());
    assert_eq!(header(&text).unwrap().processors(), Some(64));
    assert!(header(head).is_err(), "no jobs");
}
