//! Tests of the reader of Google's traces, on files written by hand.

use meed::{Span, Unit};

use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".into(), Unit::Milli), ("memory".into(), Unit::Milli)]).unwrap()
}

fn open(
    text: &str,
    assumptions: &GoogleAssumptions,
    policy: OnBadLine,
) -> Result<GoogleSource, TraceError> {
    GoogleSource::open(&Origin::bytes("g.csv", text.as_bytes()), &kinds(), assumptions, policy)
}

/// Lines of `time job.index event`, with the usual values in all other columns; `+` before the time
/// of what asks for different machines.
fn trace(events: &str) -> String {
    let line = |event: &str| {
        let words: Vec<&str> = event.split_whitespace().collect();
        let (job, index) = words[1].split_once('.').unwrap();
        let different = u8::from(words[0].starts_with('+'));
        let time = words[0].trim_start_matches('+');
        format!("{time},,{job},{index},77,{},user{job},2,4,0.5,0.25,0.001,{different}\n", words[2])
    };
    events.split(", ").map(line).collect()
}

/// Label, queue, submit and each group as `count x [cpu, memory] seconds...`, in words.
fn words(source: &mut GoogleSource) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(job) = source.next_job().unwrap() {
        job.check(source.queues().len(), 2).unwrap();
        let mut text = format!("{} at {}:", job.label, job.submit.as_micros());
        for group in &job.groups {
            let spans: Vec<u64> =
                (0..group.count).map(|n| group.duration.get(n).as_micros()).collect();
            let apart = if group.constraints.is_some() { " apart" } else { "" };
            text += &format!(" {:?}x{spans:?}{apart}", group.demand);
        }
        all.push(text);
    }
    all
}

#[test]
fn lives_of_tasks() {
    let default = GoogleAssumptions::default();
    let with = |episode| GoogleAssumptions { episode, ..default.clone() };
    let drop = GoogleAssumptions { unfinished: GoogleUnfinished::Drop, ..default.clone() };
    let late = GoogleAssumptions { keep_earlier: false, ..default.clone() };
    let near = GoogleAssumptions { batch_gap: Span::ZERO, ..default.clone() };
    // Evicted, failed, lost, then finished; its runs took 10, 40, 5 and 20.
    let repeated = "5 1.0 0, 10 1.0 1, 20 1.0 2, 21 1.0 0, 30 1.0 1, 70 1.0 3, 71 1.0 0, 75 1.0 1, \
        80 1.0 6, \
                    81 1.0 0, 90 1.0 1, 110 1.0 4";
    let failed = "5 1.0 0, 10 1.0 1, 20 1.0 3, 30 2.0 0, 30 2.0 1, 31 2.0 4";
    let cut = "5 1.0 0, 10 1.0 1, 20 1.0 2, 21 1.0 0, 25 1.0 1, 30 2.0 0, 30 2.0 1, 100 2.0 4";
    type Row<'a> = (&'a str, GoogleAssumptions, &'a str, &'a [&'a str]);
    let d = "[500000, 250000]";
    let rows: &[Row<'_>] = &[
        ("the last run counts", default.clone(), repeated, &["1 at 5: Dx[20]"]),
        ("or the longest", with(GoogleEpisode::Longest), repeated, &["1 at 5: Dx[40]"]),
        ("or the finished one", with(GoogleEpisode::Finished), repeated, &["1 at 5: Dx[20]"]),
        ("or all together", with(GoogleEpisode::Total), repeated, &["1 at 5: Dx[75]"]),
        (
            "a failed run is work too",
            default.clone(),
            failed,
            &["1 at 5: Dx[10]", "2 at 30: Dx[1]"],
        ),
        ("but has not finished", with(GoogleEpisode::Finished), failed, &["2 at 30: Dx[1]"]),
        ("cut at the end", default.clone(), cut, &["1 at 5: Dx[75]", "2 at 30: Dx[70]"]),
        ("or left out", drop.clone(), cut, &["1 at 5: Dx[10]", "2 at 30: Dx[70]"]),
        ("cut is not finished", with(GoogleEpisode::Finished), cut, &["2 at 30: Dx[70]"]),
        (
            "only an unfinished run",
            drop,
            "5 1.0 0, 5 1.0 1, 6 2.0 0, 7 2.0 1, 9 2.0 5",
            &["2 at 6: Dx[2]"],
        ),
        (
            "killed or evicted while it waits",
            default.clone(),
            "5 1.0 0, 6 1.0 5, 7 2.0 0, 8 2.0 2, 9 2.0 0, 10 2.0 1, 20 2.0 4",
            &["2 at 7: Dx[10]"],
        ),
        (
            "after its end it is a new task",
            default.clone(),
            "5 1.0 0, 6 1.0 1, 8 1.0 5, 2000000 1.0 0, 2000001 1.0 1, 2000005 1.0 4",
            &["1 at 5: Dx[2]", "1 at 2000000: Dx[4]"],
        ),
        (
            "tasks submitted together are one job, later ones another",
            default.clone(),
            "5 1.0 0, 5 1.1 0, 6 1.2 0, 1000006 1.3 0, 2000007 1.4 0, 2000008 1.0 1, 2000008 1.1 \
             1, 2000008 1.2 1, \
             2000008 1.3 1, 2000008 1.4 1, 2000009 1.0 4, 2000009 1.1 4, 2000009 1.2 4, 2000009 \
             1.3 4, 2000009 1.4 4",
            &["1 at 5: Dx[1, 1, 1, 1]", "1 at 2000007: Dx[1]"],
        ),
        (
            "as the gap says",
            near,
            "5 1.0 0, 5 1.1 0, 6 1.2 0, 8 1.0 1, 8 1.1 1, 8 1.2 1, 9 1.0 4, 9 1.1 4, 9 1.2 4",
            &["1 at 5: Dx[1, 1]", "1 at 6: Dx[1]"],
        ),
        (
            "different machines",
            default.clone(),
            "+5 1.0 0, +5 1.1 0, 5 1.2 0, 8 1.0 1, 8 1.1 1, 8 1.2 1, 9 1.0 4, 9 1.2 4, 10 1.1 4",
            &["1 at 5: Dx[1, 2] apart Dx[1]"],
        ),
        (
            "from before the trace",
            default.clone(),
            "0 1.0 0, 0 1.0 1, 7 2.0 0, 8 2.0 1, 9 1.0 4, 9 2.0 4",
            &["1 at 0: Dx[9]", "2 at 7: Dx[1]"],
        ),
        (
            "left out",
            late,
            "0 1.0 0, 0 1.0 1, 7 2.0 0, 8 2.0 1, 9 1.0 4, 9 2.0 4",
            &["2 at 7: Dx[1]"],
        ),
        (
            "after the end nothing counts",
            default.clone(),
            "5 1.0 0, 6 1.0 1, 9 1.0 4, 9223372036854775807 2.0 0, 9223372036854775807 2.0 1",
            &["1 at 5: Dx[3]"],
        ),
        (
            "without a SUBMIT, or started twice",
            default.clone(),
            "5 1.0 1, 7 1.0 1, 9 1.0 4, 9 2.0 4, 9 1.0 7, 9 1.0 8",
            &["1 at 5: Dx[2]"],
        ),
        (
            "far indices",
            default.clone(),
            "5 1.4294967295 0, 5 1.9 0, 5 1.0 0, 6 1.9 1, 7 1.4294967295 1, 9 1.9 5, 20 \
             1.4294967295 4",
            &["1 at 5: Dx[13, 3]"],
        ),
    ];
    for (what, assumptions, events, expected) in rows {
        let mut source = open(&trace(events), assumptions, OnBadLine::Stop).unwrap();
        let expected: Vec<String> = expected.iter().map(|text| text.replace('D', d)).collect();
        assert_eq!(words(&mut source), expected, "{what}");
        let counts = source.trace().counts();
        let SourceCounts { lines, ignored, bad, .. } = source.counts();
        assert_eq!((lines, bad), (events.split(", ").count() as u64, 0), "{what}");
        assert_eq!(counts.events.iter().sum::<u64>() + counts.after_the_end, lines, "{what}");
        assert!(ignored >= counts.after_the_end && ignored < lines, "{what}");
    }
}

#[test]
fn counts_say_what_became_of_every_task() {
    let events =
        "0 1.0 0, 0 1.0 1, 5 2.0 0, 5 2.1 0, 6 2.0 1, 7 2.0 1, 8 2.0 5, 9 2.0 0, 9 3.0 4, 9 2.1 8";
    let mut source = open(&trace(events), &GoogleAssumptions::default(), OnBadLine::Stop).unwrap();
    assert_eq!(words(&mut source).len(), 2);
    let expected = GoogleCounts {
        events: [4, 3, 0, 0, 1, 1, 0, 0, 1],
        jobs: 3,
        users: 3,
        tasks: 5,
        submitted_again: 1,
        kept: 2,
        earlier: 1,
        cut_at_the_end: 1,
        // 2.1, the second 2.0 and 3.0.
        never_ran: 3,
        ignored_rows: 4,
        // A second start, an end and an update without a start.
        odd: 3,
        ..GoogleCounts::default()
    };
    assert_eq!(*source.trace().counts(), expected);
    assert_eq!(source.counts(), SourceCounts { lines: 10, jobs: 2, bad: 0, ignored: 4 });
    let words = source.assumptions();
    assert!(words.iter().any(|word| word.ends_with("left out: 3 never ran")), "{words:?}");
    assert!(words.iter().any(|word| word
        == "Google: 3 rows do not follow from those before; taken as \
            they are"));
}

#[test]
fn requests_and_priorities() {
    let line = |job: u32, event: u32, priority: &str, requests: &str| {
        format!("{},,{job},0,,{event},u,1,{priority},{requests},0\n", 10 * event + job)
    };
    let job = |number, priority: &str, requests: &str| {
        [0, 1, 4].map(|event| (event, line(number, event, priority, requests)))
    };
    let trace = |jobs: &[[(u32, String); 3]]| {
        let mut lines: Vec<&(u32, String)> = jobs.iter().flatten().collect();
        lines.sort_by_key(|(event, _)| *event);
        lines.into_iter().map(|(_, line)| line.as_str()).collect::<String>()
    };
    let text = trace(&[
        job(1, "0", "0.5,0.25,0.1"),
        job(2, "9", ",,"),
        job(3, "11", "0,0,0"),
        // Disk alone is nothing where the cluster has no disk.
        job(4, "", "0,0,0.5"),
        job(5, "4", "0,0.1,0"),
    ]);
    let assumed = Resources::new(&[7, 8]);
    let missing = GoogleAssumptions { missing_demand: Some(assumed), ..Default::default() };
    let only = GoogleAssumptions { priorities: Some((4, 9)), ..missing.clone() };
    let bands = GoogleAssumptions { queues: GoogleQueues::Priority, ..missing.clone() };
    type Row<'a> = (&'a GoogleAssumptions, &'a [u64], [u64; 3], &'a [&'a str]);
    let rows: [Row<'_>; 4] = [
        (&GoogleAssumptions::default(), &[1, 5], [3, 0, 0], &["u"]),
        (&missing, &[1, 2, 3, 4, 5], [0, 3, 0], &["u"]),
        (&only, &[2, 5], [0, 1, 3], &["u"]),
        (
            &bands,
            &[1, 2, 3, 4, 5],
            [0, 3, 0],
            &["free", "production", "monitoring", "unknown", "other"],
        ),
    ];
    for (assumptions, expected, [without, given, other], queues) in rows {
        let mut source = open(&text, assumptions, OnBadLine::Stop).unwrap();
        let jobs: Vec<Job> = std::iter::from_fn(|| source.next_job().unwrap()).collect();
        let labels: Vec<JobLabel> = jobs.iter().map(|job| job.label.clone()).collect();
        assert_eq!(
            labels,
            expected.iter().map(|label| JobLabel::Number(*label)).collect::<Vec<_>>()
        );
        assert_eq!(source.queues(), queues);
        assert_eq!(jobs[0].groups[0].demand == assumed, expected[0] == 2);
        let counts = source.trace().counts();
        assert_eq!(
            (counts.without_request, counts.assumed_request, counts.other_priority),
            (without, given, other)
        );
    }
}

#[test]
fn queues_in_order_of_their_first_job() {
    let hash = "70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=";
    let line = |time: u32, job: u32, event: u32, user: &str, class: &str| {
        format!("{time},,{job},0,,{event},{user},{class},4,0.5,0.25,0,0\n")
    };
    let jobs = [(7, hash, "3"), (8, "", ""), (9, "ann", "0"), (10, "ann", "3")];
    let text: String = [(0, 5), (1, 6), (4, 7)]
        .iter()
        .flat_map(|(event, time)| {
            jobs.map(|(job, user, class)| line(*time, job, *event, user, class))
        })
        .collect();
    let rows: [(GoogleQueues, &[&str]); 5] = [
        (GoogleQueues::User, &["70s3v5qR", "unknown", "ann"]),
        (GoogleQueues::Job, &["j7", "j8", "j9", "j10"]),
        (GoogleQueues::Class, &["c3", "c-unknown", "c0"]),
        (GoogleQueues::Priority, &["other"]),
        (GoogleQueues::Single("all".into()), &["all"]),
    ];
    for (queues, expected) in rows {
        let assumptions = GoogleAssumptions { queues, ..Default::default() };
        assert_eq!(open(&text, &assumptions, OnBadLine::Stop).unwrap().queues(), expected);
    }
}

#[test]
fn wrong_lines_say_what_is_wrong() {
    let columns = |changes: &[(usize, &str)]| {
        let mut values = ["5", "", "1", "0", "", "0", "u", "2", "4", "0.5", "0.25", "0", "0"];
        changes.iter().for_each(|(column, value)| values[column - 1] = value);
        values.join(",")
    };
    let rows = [
        (
            "1,2,3".to_owned(),
            "3 columns; a line of task_events has 13, separated by commas: time, ",
        ),
        (columns(&[(13, "0,1")]), "14 columns; a line of task_events has 13"),
        (
            "time,missing,job,task,machine,event,user,class,priority,cpu,memory,disk,apart"
                .to_owned(),
            "column 1 (time): \"time\" is not a number; wanted is a whole number",
        ),
        (
            columns(&[(1, "9007199254740993")]),
            "column 1 (time): \"9007199254740993\" is too large; wanted are micros",
        ),
        (
            columns(&[(1, "4")]),
            "column 1 (time): \"4\" is before the preceding row's 5; a trace is in order of time",
        ),
        (
            columns(&[(3, "")]),
            "column 3 (job id): \"\" is not a number; wanted is a whole number from 0 to \
             18446744073709551614",
        ),
        (
            columns(&[(4, "-1")]),
            "column 4 (task index): \"-1\" is negative; wanted is a whole number from 0 to \
             4294967295",
        ),
        (
            columns(&[(6, "9")]),
            "column 6 (event type): \"9\" is too large; wanted is a whole number from 0 to 8",
        ),
        (
            columns(&[(3, "99"), (7, "a.b")]),
            "column 7 (user): \"a.b\" is no user; wanted are up to 200 printable letters, no dot",
        ),
        (
            columns(&[(9, "255")]),
            "column 9 (priority): \"255\" is too large; wanted is a whole number from 0 to 254",
        ),
        (
            columns(&[(10, "half")]),
            "column 10 (cpu request): \"half\" is no request; wanted is a share of the largest \
             machine, 0 to 1000",
        ),
        (
            columns(&[(13, "2")]),
            "column 13 (different machines): \"2\" is too large; wanted is a whole number from 0 \
             to 1",
        ),
    ];
    let good = format!("{}\n{}\n", columns(&[]), columns(&[(6, "1")]));
    for (line, expected) in rows {
        let text = format!("{good}\n{line}\n{}\n", columns(&[(1, "8"), (6, "4")]));
        let strict =
            open(&text, &GoogleAssumptions::default(), OnBadLine::Stop).err().unwrap().to_string();
        assert!(strict.starts_with(&format!("g.csv:4: {expected}")), "{strict}");
        let mut source = open(&text, &GoogleAssumptions::default(), OnBadLine::Skip).unwrap();
        assert_eq!(words(&mut source), ["1 at 5: [500000, 250000]x[3]"], "{line}");
        assert_eq!(source.counts(), SourceCounts { lines: 4, jobs: 1, bad: 1, ignored: 0 });
    }
    let rows = [
        ("", "g.csv: no jobs: the file is empty; task_events has 13 columns separated by commas"),
        (
            "x\n",
            "g.csv: no jobs: 1 of 1 lines are wrong, 0 left out; the first: g.csv:1: 1 columns; ",
        ),
        (&columns(&[]), "g.csv: no jobs: all 1 were left out by the reader's assumptions; "),
    ];
    for (text, expected) in rows {
        let error =
            open(text, &GoogleAssumptions::default(), OnBadLine::Skip).err().unwrap().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn settings_are_checked() {
    let of = |kinds: &[(&str, Unit)], assumptions: &GoogleAssumptions| {
        let kinds = kinds.iter().map(|(name, unit)| ((*name).to_owned(), *unit)).collect();
        let kinds = ResourceKinds::new(kinds).unwrap();
        let origin = Origin::bytes("g.csv", b"".as_slice());
        GoogleSource::open(&origin, &kinds, assumptions, OnBadLine::Skip).err().unwrap().to_string()
    };
    let both = [("cpu", Unit::Milli), ("memory", Unit::Milli)];
    let with = |change: fn(&mut GoogleAssumptions)| {
        let mut assumptions = GoogleAssumptions::default();
        change(&mut assumptions);
        of(&both, &assumptions)
    };
    let default = GoogleAssumptions::default();
    assert_eq!(
        of(&[("slot", Unit::Milli)], &default),
        "the Google reader's resources: the trace has requests for cpu, memory and disk; the \
         cluster has only slot"
    );
    assert_eq!(
        of(&[("cpu", Unit::Milli), ("memory", Unit::Bytes)], &default),
        "the Google reader's resources: \"memory\" is counted in bytes, but the trace has shares \
         of the largest \
         machine; declare { name = \"memory\", unit = \"milli\" }"
    );
    assert_eq!(
        with(|a| a.priorities = Some((3, 1))),
        "the Google reader's priorities: 3 to 1 are none; the lowest comes first"
    );
    assert_eq!(
        with(|a| a.missing_demand = Some(Resources::new(&[0, 0]))),
        "the Google reader's missing_demand: does not fit the cluster's resources, or is nothing"
    );
}
