//! Samples **made by hand**, each of which says what the text of 22.05 says: of v0.0.39 from the
//! source of `data_parser` (`JOB_INFO`, `JOB`, `NODE`), of the others from what Slurm 22.05.8,
//! 24.11.5 (v0.0.40 to v0.0.42) and 26.05.5 (v0.0.43 to v0.0.45) print.

use super::*;
use crate::read::form::FORMS;
use crate::read::jobs::parse_jobs;
use crate::read::nodes::parse_nodes;
use crate::read::runs::parse_runs;

/// How a version writes what differs.
struct Hand {
    parser: &'static str,
    state: fn(&str, &str) -> String,
    instant: fn(i64) -> String,
    number: fn(Option<i64>) -> String,
}

fn told(number: Option<i64>) -> String {
    let set = number.is_some();
    format!(r#"{{"set": {set}, "infinite": false, "number": {}}}"#, number.unwrap_or(0))
}

fn plain(number: Option<i64>) -> String {
    number.map_or("null".to_owned(), |number| number.to_string())
}

fn words(state: &str, flag: &str) -> String {
    match flag {
        "" => format!(r#"["{state}"]"#),
        flag => format!(r#"["{state}", "{flag}"]"#),
    }
}

/// A word: the flag hides the state, as in the text.
fn word(state: &str, flag: &str) -> String {
    format!(r#""{}""#, if flag.is_empty() { state } else { flag })
}

const fn later(parser: &'static str) -> Hand {
    Hand { parser, state: words, instant: |at| told(Some(at)), number: told }
}

const HANDS: [Hand; 8] = [
    Hand { parser: "v0.0.38", state: word, instant: |at| at.to_string(), number: plain },
    Hand { parser: "v0.0.39", state: word, instant: |at| at.to_string(), number: told },
    later("v0.0.40"),
    later("v0.0.41"),
    later("v0.0.42"),
    later("v0.0.43"),
    later("v0.0.44"),
    later("v0.0.45"),
];

/// What the text of 22.05 says of the same jobs, asked in the second 1795970800.
const TEXT: &str = "\
1|1_[4-10%3]|optics|games|PENDING|1795970750|N/A|N/A|0:00|JobArrayTaskLimit|cpu=1,mem=100M|main
2|1_3|optics|games|COMPLETING|1795970750|1795970760|1795970790|0:30|None|cpu=1,mem=100M|main
4|3+1|optics|man|RUNNING|1795970750|1795970750|1795971050|0:50|None|cpu=4,mem=1500M|main
6|6|chem|lp|SUSPENDED|1795970750|1795970751|1795971051|0:02|None|cpu=2,mem=200M,billing=2|main
7|7|chem|lp|PENDING|1795970750|N/A|N/A|0:00|Nodes required are DOWN|cpu=2|main
";

struct Row<'a> {
    id: u32,
    /// Array, element, elements that wait.
    array: (i64, Option<i64>, &'a str),
    het: Option<(i64, i64)>,
    who: (&'a str, &'a str),
    state: (&'a str, &'a str),
    /// Submission, start, end, suspension, seconds before it.
    times: [i64; 5],
    reason: (&'a str, &'a str),
    tres: &'a str,
}

fn row(hand: &Hand, row: &Row<'_>) -> String {
    let [submit, start, end, suspended, before] = row.times.map(|at| (hand.instant)(at));
    let waits = row.state.0 == "PENDING";
    format!(
        r#"{{"job_id": {}, "array_job_id": {}, "array_task_id": {}, "array_task_string": "{}",
            "het_job_id": {}, "het_job_offset": {}, "account": "{}", "user_name": "{}",
            "job_state": {}, "submit_time": {submit}, "start_time": {start}, "end_time": {end},
            "suspend_time": {suspended}, "pre_sus_time": {before}, "state_reason": "{}",
            "state_description": "{}", "tres_alloc_str": "{}", "tres_req_str": "{}",
            "partition": "main", "unknown_to_us": [1]}}"#,
        row.id,
        (hand.number)(Some(row.array.0)),
        (hand.number)(row.array.1),
        row.array.2,
        (hand.number)(Some(row.het.map_or(0, |het| het.0))),
        (hand.number)(row.het.map(|het| het.1)),
        row.who.0,
        row.who.1,
        (hand.state)(row.state.0, row.state.1),
        row.reason.0,
        row.reason.1,
        if waits { "" } else { row.tres },
        row.tres,
    )
}

fn queue(hand: &Hand) -> String {
    let at = 1_795_970_750;
    let plain = Row {
        id: 7,
        array: (0, None, ""),
        het: None,
        who: ("chem", "lp"),
        state: ("PENDING", ""),
        times: [at, 0, 0, 0, 0],
        reason: ("None", ""),
        tres: "cpu=2",
    };
    let rows = [
        Row {
            id: 1,
            array: (1, None, "4-10%3"),
            who: ("optics", "games"),
            reason: ("JobArrayTaskLimit", ""),
            tres: "cpu=1,mem=100M",
            ..plain
        },
        Row {
            id: 2,
            array: (1, Some(3), ""),
            who: ("optics", "games"),
            state: ("COMPLETED", "COMPLETING"),
            times: [at, at + 10, at + 40, 0, 0],
            tres: "cpu=1,mem=100M",
            ..plain
        },
        Row {
            id: 4,
            het: Some((3, 1)),
            who: ("optics", "man"),
            state: ("RUNNING", ""),
            times: [at, at, at + 300, 0, 0],
            tres: "cpu=4,mem=1500M",
            ..plain
        },
        Row {
            id: 6,
            state: ("SUSPENDED", ""),
            times: [at, at + 1, at + 301, at + 3, 2],
            tres: "cpu=2,mem=200M,billing=2",
            ..plain
        },
        Row { reason: ("Resources", "Nodes required are DOWN"), ..plain },
    ];
    let rows: Vec<String> = rows.iter().map(|told| row(hand, told)).collect();
    format!(r#"{{"meta": {{"Slurm": {{}}}}, "jobs": [{}], "errors": []}}"#, rows.join(","))
}

#[test]
fn each_version_has_a_form_and_a_sample() {
    let forms: Vec<&str> = FORMS.iter().map(|form| form.json.parser).collect();
    let hands: Vec<&str> = HANDS.iter().map(|hand| hand.parser).collect();
    assert_eq!(forms, hands);
}

#[test]
fn jobs_are_those_of_the_text_in_each_version() {
    let text = parse_jobs(TEXT).unwrap();
    for hand in &HANDS {
        let (jobs, suspensions) = parse_jobs_json(&queue(hand), 1_795_970_800).unwrap();
        assert_eq!(jobs, text, "{}", hand.parser);
        let suspended = Suspension { at: 1_795_970_753, ran_before: 2 };
        assert_eq!(suspensions, BTreeMap::from([(6, suspended)]), "{}", hand.parser);
    }
}

#[test]
fn runs_are_those_of_the_text_in_each_version() {
    let text = "\
5|5|chem|news|1795970750|1795970751|1795970753|2|billing=2,cpu=2,mem=200M,gres/gpu=1|REQUEUED
9|1_3|optics|man|1795970750|1795970750|Unknown|30|cpu=4,mem=1500M|RUNNING
8|7+1|optics|man|1795970750|1795970750|1795970780|30|cpu=4|RESIZING
";
    let tres = |rows: &[(&str, &str, i64)]| {
        let rows = rows.iter().map(|(kind, name, count)| {
            format!(r#"{{"type": "{kind}", "name": "{name}", "id": 1, "count": {count}}}"#)
        });
        // What Slurm does not measure has no count, or a negative one.
        let unknown = ["null", "-2"].map(|count| {
            format!(r#"{{"type": "energy", "name": null, "id": 3, "count": {count}}}"#)
        });
        rows.chain(unknown).collect::<Vec<_>>().join(",")
    };
    for hand in &HANDS {
        let job = |id: u32, who: &str, array: &str, het: &str, state: &str, time: &str, tres| {
            format!(
                r#"{{"job_id": {id}, {who}, "array": {array}, "het": {het}, "steps": [],
                    "state": {{"current": {state}, "reason": "None"}}, "time": {time},
                    "tres": {{"requested": [], "allocated": [{tres}]}}}}"#
            )
        };
        let none = (hand.number)(None);
        let no_array = format!(r#"{{"job_id": 0, "task_id": {none}, "task": ""}}"#);
        let no_het = format!(r#"{{"job_id": 0, "job_offset": {none}}}"#);
        let (news, man) =
            (r#""account": "chem", "user": "news""#, r#""account": "optics", "user": "man""#);
        let time = |start: i64, end: i64, elapsed: i64| {
            format!(r#"{{"start": {start}, "end": {end}, "elapsed": {elapsed}, "suspended": 0}}"#)
        };
        let at = 1_795_970_750;
        let first = [("billing", "", 2), ("cpu", "", 2), ("mem", "", 200), ("gres", "gpu", 1)];
        let jobs = [
            job(
                5,
                news,
                &no_array,
                &no_het,
                &(hand.state)("PENDING", "REQUEUED"),
                &time(at + 1, at + 3, 2),
                tres(&first),
            ),
            job(
                9,
                man,
                &format!(r#"{{"job_id": 1, "task_id": {}}}"#, (hand.number)(Some(3))),
                &no_het,
                &(hand.state)("RUNNING", ""),
                &time(at, 0, 30),
                tres(&[("cpu", "", 4), ("mem", "", 1500)]),
            ),
            job(
                8,
                man,
                &no_array,
                &format!(r#"{{"job_id": 7, "job_offset": {}}}"#, (hand.number)(Some(1))),
                &(hand.state)("PENDING", "RESIZING"),
                &time(at, at + 30, 30),
                tres(&[("cpu", "", 4)]),
            ),
            job(
                7,
                man,
                &no_array,
                &no_het,
                &(hand.state)("CANCELLED", ""),
                &time(0xffff_fffe, at, 0),
                tres(&[("billing", "", 3)]),
            ),
            job(
                6,
                man,
                &no_array,
                &no_het,
                &(hand.state)("PENDING", ""),
                &time(0, 0, 0),
                String::new(),
            ),
        ];
        let runs = parse_runs_json(&format!(r#"{{"jobs": [{}]}}"#, jobs.join(","))).unwrap();
        assert_eq!(runs, parse_runs(text).unwrap(), "{}", hand.parser);
    }
}

#[test]
fn nodes_are_those_of_the_text() {
    let text = "\
NodeName=n1 State=MIXED+PLANNED CfgTRES=cpu=8,mem=8000M,billing=8
NodeName=n2 State=IDLE+DRAIN CfgTRES=cpu=8,mem=8000M,billing=8
NodeName=n3 State=DOWN* CfgTRES=cpu=8,mem=8000M,billing=8
";
    let node = |name: &str, state: &str| {
        format!(r#"{{"name": "{name}", "state": [{state}], "tres": "cpu=8,mem=8000M,billing=8"}}"#)
    };
    let json = format!(
        r#"{{"nodes": [{},{},{}]}}"#,
        node("n1", r#""MIXED", "PLANNED""#),
        node("n2", r#""IDLE", "DRAIN""#),
        node("n3", r#""DOWN", "NOT_RESPONDING""#),
    );
    assert_eq!(parse_nodes_json(&json).unwrap(), parse_nodes(text).unwrap());
}

#[test]
fn what_is_not_of_the_form_is_named() {
    for (text, word) in [("", "squeue --json"), (r#"{"jobs": [{"job_id": 1}]}"#, "job_state")] {
        let why = parse_jobs_json(text, 0).unwrap_err();
        assert!(why.contains(word) && why.contains("--read text"), "{why}");
    }
    let odd = queue(&HANDS[2]).replace("SUSPENDED", "DANCING");
    assert!(parse_jobs_json(&odd, 0).unwrap_err().contains("DANCING"));
}
