//! Tests of the MWF reader and of its machines files.

use meed::Time;

use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

fn open(
    text: &str,
    assumptions: &MwfAssumptions,
    policy: OnBadLine,
) -> Result<MwfSource, TraceError> {
    MwfSource::open(&Origin::bytes("t.mwf", text.as_bytes()), &kinds(), assumptions, policy)
}

/// A line of the usual values, but for those given as (column, value).
fn line(columns: &[(usize, &str)]) -> String {
    let mut values =
        "1 1356996147 0 60 4 1 1024 4 86400 1000 1 97 1 1 -1 1 1 1 {7,7,7,7} q_1d 1:ppn=4"
            .split(' ')
            .collect::<Vec<_>>();
    columns.iter().for_each(|(column, value)| values[column - 1] = value);
    values.join(" ")
}

/// Each group as `count x [cpu, bytes] seconds constraints`, in words.
fn words(job: &Job) -> Vec<String> {
    let group = |group: &JobGroup| {
        let apart =
            group.constraints.as_ref().is_some_and(|constraints| constraints.distinct_nodes);
        let labels = group
            .constraints
            .as_ref()
            .map(|constraints| constraints.to_string())
            .unwrap_or_default();
        let seconds = group.duration.get(0).as_secs_f64();
        let apart = if apart { " apart" } else { "" };
        format!("{}x{:?} {seconds}s{apart} {labels}", group.count, group.demand)
            .trim_end()
            .to_owned()
    };
    job.groups.iter().map(group).collect()
}

#[test]
fn the_requested_time_is_a_limit() {
    let ignore = MwfAssumptions { limits: crate::TimeLimits::Ignore, ..MwfAssumptions::default() };
    for (assumptions, asked, expected) in [
        (&MwfAssumptions::default(), "86400", Some(86400.0)),
        (&MwfAssumptions::default(), "-1", None),
        (&ignore, "86400", None),
    ] {
        let text = line(&[(9, asked), (21, "1:ppn=1+3:ppn=2")]);
        let job = open(&text, assumptions, OnBadLine::Stop).unwrap().next_job().unwrap().unwrap();
        let limits: Vec<_> =
            job.groups.iter().map(|group| group.limit.map(meed::Span::as_secs_f64)).collect();
        assert_eq!(limits, [expected; 2], "{asked}");
    }
}

#[test]
fn lines_become_tasks() {
    let default = MwfAssumptions::default();
    let ignore = MwfAssumptions { properties: MwfProperties::Ignore, ..default.clone() };
    let no_memory = MwfAssumptions { count_memory: false, ..default.clone() };
    type Row<'a> = (&'a MwfAssumptions, &'a [(usize, &'a str)], &'a [&'a str]);
    let rows: &[Row<'_>] = &[
        (&default, &[], &["1x[4000, 1000] 60s"]),
        (&default, &[(10, "-1")], &["1x[4000, 0] 60s"]),
        (&no_memory, &[], &["1x[4000, 0] 60s"]),
        (&default, &[(21, "2:ppn=8:cl_a")], &["2x[8000, 1000] 60s apart label cluster = a"]),
        (&ignore, &[(21, "2:ppn=8:cl_a")], &["2x[8000, 1000] 60s apart"]),
        (
            &default,
            &[(21, "1:ppn=1+3:ppn=2")],
            &["1x[1000, 1000] 60s apart", "3x[2000, 1000] 60s apart"],
        ),
        (&default, &[(4, "-1")], &[]),
        (&default, &[(4, "-1359980917")], &[]),
    ];
    for (assumptions, columns, expected) in rows {
        let text = format!("; comment\n{}\n{}\n", line(&[]), line(columns));
        let mut source = open(&text, assumptions, OnBadLine::Stop).unwrap();
        source.next_job().unwrap().unwrap();
        let job = source.next_job().unwrap();
        job.iter().for_each(|job| job.check(1, 2).unwrap());
        let got = job.map(|job| words(&job)).unwrap_or_default();
        assert_eq!(got, *expected, "{columns:?}");
        assert_eq!(source.counts().ignored, u64::from(expected.is_empty()));
    }
}

#[test]
fn times_count_from_the_first_job_and_queues_are_named() {
    let text = [
        line(&[(4, "-1"), (12, "5")]),
        line(&[(2, "1356996200")]),
        line(&[(2, "1356996201"), (12, "-1")]),
    ]
    .join("\n");
    let rows: [(MwfQueues, &[&str]); 3] = [
        (MwfQueues::User, &["u97", "u-unknown"]),
        (MwfQueues::Queue, &["q_1d"]),
        (MwfQueues::Single("all".into()), &["all"]),
    ];
    for (queues, expected) in rows {
        let assumptions = MwfAssumptions { queues, ..Default::default() };
        let mut source = open(&text, &assumptions, OnBadLine::Stop).unwrap();
        assert_eq!(source.queues(), expected);
        // The line before is of no job: it says nothing of time 0.
        assert_eq!(source.next_job().unwrap().unwrap().submit, Time::ZERO);
        assert_eq!(source.next_job().unwrap().unwrap().submit, Time::from_secs(1).unwrap());
    }
    let origin = Origin::bytes("t.mwf", text.as_bytes());
    let named = vec!["u97".to_owned()];
    let mut source = MwfSource::with_queues(
        &origin,
        &kinds(),
        &MwfAssumptions::default(),
        OnBadLine::Skip,
        named,
    )
    .unwrap();
    while source.next_job().unwrap().is_some() {}
    assert_eq!(
        source.bad_lines()[0].to_string(),
        "t.mwf:3: unknown queue \"u-unknown\"; known are u97"
    );
}

#[test]
fn wrong_lines_say_what_is_wrong() {
    let rows = [
        (
            "1 2 3".to_owned(),
            "3 columns; an MWF line has 21: the 18 of SWF, the processors used, the queue, the \
             nodes asked for",
        ),
        (
            line(&[(2, "x")]),
            "column 2 (submit time): \"x\" is not a number; wanted is seconds, 0 or more, up to \
             285 years",
        ),
        (
            line(&[(2, "5")]),
            "submitted at 5 s (5s), before the preceding job's 1356996147 s (15705d 23h 22min \
             27s); a trace is in order of submission",
        ),
        (
            line(&[(4, "-")]),
            "column 4 (run time): \"-\" is not a number; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            line(&[(10, "9007199254740993")]),
            "column 10 (requested memory, bytes): \"9007199254740993\" is too large; wanted is a \
             whole number from 0 to 9007199254740992",
        ),
        (
            line(&[(21, "1:ppn=")]),
            "column 21 (requested nodes): \"1:ppn=\" has \"\"; wanted is a whole number from 1 to \
             4294967295",
        ),
    ];
    for (bad, expected) in rows {
        let text = format!("{}\n{bad}\n{}\n", line(&[]), line(&[]));
        let strict = open(&text, &MwfAssumptions::default(), OnBadLine::Stop).err().unwrap();
        assert_eq!(strict.to_string(), format!("t.mwf:2: {expected}"));
        let mut source = open(&text, &MwfAssumptions::default(), OnBadLine::Skip).unwrap();
        while source.next_job().unwrap().is_some() {}
        assert_eq!(source.counts(), SourceCounts { lines: 3, jobs: 2, bad: 1, ignored: 0 });
    }
    let queue = MwfAssumptions { queues: MwfQueues::Queue, ..Default::default() };
    assert_eq!(
        open(&line(&[(20, "a.b")]), &queue, OnBadLine::Stop).err().unwrap().to_string(),
        "t.mwf:1: column 20 (queue name): \"a.b\" is no queue; wanted are up to 200 letters, no dot"
    );
    assert_eq!(
        open("", &MwfAssumptions::default(), OnBadLine::Skip).err().unwrap().to_string(),
        "t.mwf: no jobs: the file is empty; an MWF file has 21 columns a line"
    );
}

#[test]
fn machines_files_become_nodes_with_labels() {
    let read = |text: &str, policy| {
        read_machines(&Origin::bytes("t.machines", text.as_bytes()), &kinds(), policy)
    };
    let good = "0\tzewura\t2\t80\t1\t529426432\n1\tzegox\t1\t12\t1\t94035968";
    let machines = read(good, OnBadLine::Stop).unwrap();
    let names: Vec<&str> = machines.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["zewura1", "zewura2", "zegox1"]);
    assert_eq!(machines.nodes[1].capacity, Resources::new(&[80_000, 529_426_432 * 1024]));
    let labels: Vec<(&str, &str)> = machines.nodes[1]
        .labels
        .iter()
        .map(|(label, value)| (label.as_str(), value.as_str()))
        .collect();
    assert_eq!(labels, [("cluster", "zewura"), ("cpus", "80"), ("host", "zewura2")]);
    let rows = [
        ("0 a 1", "3 columns; a line has number, name, nodes, processors, speed and memory (kB)"),
        (
            "0 a x 1 1 1",
            "column 3 (nodes): \"x\" is not a number; wanted is a whole number from 0 to 1048573",
        ),
        ("0 a 0 1 1 1", "no nodes, or nodes without processors; leave the line out"),
        ("0 a 1 1 fast 1", "column 5 (speed): \"fast\" is no speed; wanted is a number"),
        ("0 a 1 1 1", "no memory (column 6, in kB), but the cluster has the resource \"memory\""),
        (
            "0 zegox 1 1 1 1",
            "column 2 (name): \"zegox\" has a node \"zegox1\", which is there already",
        ),
    ];
    for (line, expected) in rows {
        let text = format!("{good}\n{line}\n");
        let strict = read(&text, OnBadLine::Stop).unwrap_err().to_string();
        assert_eq!(strict, format!("t.machines:3: {expected}"));
        let lenient = read(&text, OnBadLine::Skip).unwrap();
        assert_eq!((lenient.bad(), lenient.nodes.len()), (1, 3));
    }
    let empty = read("", OnBadLine::Skip).unwrap_err().to_string();
    assert!(
        empty
            .starts_with("t.machines: no machines: the file is empty; a machines file has number,"),
        "{empty}"
    );
}
