//! Reading: what is passed over, what is refused, and what a crash leaves.

use meed::Time;
use meed_journal::*;

/// A header of schema `schema`, which has a number in schema 2.
fn header(schema: u32) -> String {
    let seq = if schema == 1 { "" } else { "\"seq\":0," };
    format!(
        "{{{seq}\"t\":0.0,\"run\":{{\"schema\":{schema},\"policy\":\"fair\",\
         \"resources\":[\"cpu\"],\"units\":[\"milli\"],\"measured\":\"cpu\",\
         \"placement\":\"first-fit\",\"max_attempts\":4,\
         \"root\":{{}},\"nodes\":[],\"queues\":[]}}}}"
    )
}

/// How many records are read, or the first error.
fn read(text: &str) -> Result<usize, String> {
    let mut reader = Reader::new("a.jsonl".into(), BufLines::new(text.as_bytes()));
    let mut count = 0;
    while reader.next_any().map_err(|error| error.to_string())?.is_some() {
        count += 1;
    }
    assert!(matches!(reader.next_any(), Ok(None)), "the end stays the end");
    Ok(count)
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let two = |lines: &str| format!("{}\n{lines}\n", header(2));
    let one = |lines: &str| format!("{}\n{lines}\n", header(1));
    let twice = r#"{"seq":1,"t":1.0,"node_strangers":{"name":"n","used":{"cpu":1,"cpu":2}}}"#;
    let two_kinds = r#"{"seq":1,"t":1.0,"decide":{},"end":{"job":1,"task":1}}"#;
    let back = "{\"seq\":1,\"t\":2.0,\"decide\":{}}\n{\"seq\":2,\"t\":1.5,\"decide\":{}}";
    let no_job = r#"{"t":1.0,"end":{"queue":"a","job":5,"task":0,"node":"n"}}"#;
    let two_changes = r#"{"t":1.0,"change":{"node_leaves":"n","queue_removed":"q"}}"#;
    for (text, expected) in [
        (
            two("{\"seq\":1,\"t\":1.0,\"end\":{\"job\":1}}\n{}"),
            "a.jsonl:2: not a line of a log: missing field `task` (column 32)",
        ),
        (
            two("{\"seq\":2,\"t\":1.0,\"decide\":{}}"),
            "a.jsonl:2: record 2 of kind `decide` stands where record 1 belongs",
        ),
        (two("{\"t\":1.0,\"decide\":{}}"), "a.jsonl:2: it has no `seq`, which numbers records"),
        (two(back), "a.jsonl:3: t is 1.5 s, after 2 s in the line before"),
        (two("{\"seq\":1,\"decide\":{}}"), "missing field `t`"),
        (two(two_kinds), "`end` besides another kind of line"),
        (two("{\"seq\":1,\"t\":-1.0,\"decide\":{}}"), "t: -1 is out of range"),
        (two("{\"seq\":1,\"t\":1e-7,\"decide\":{}}"), "finer than one part in 1000000"),
        (two(twice), "`cpu` twice; name it once"),
        (two("[1]"), "an object with `seq`, `t` and one more key"),
        (two("{\"seq\":1,\"t\":1.0,\n\"decide\":{}}"), "a.jsonl:2: not a line of a log: EOF"),
        (
            "{\"seq\":0,\"t\":0.0,\"decide\":{}}\n".to_owned(),
            "a.jsonl:1: stands before any line `run`",
        ),
        (header(3), "a.jsonl:1: schema 3 is not known; this Meed reads 1 and 2"),
        (one(no_job), "a.jsonl:2: there is no such task of a job 5 of `a`"),
        (one(two_changes), "a.jsonl:2: a change is one thing"),
    ] {
        let found = read(&text).expect_err(&text);
        assert!(found.contains(expected), "{text}\n{found}\nnot: {expected}");
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    let text = format!(
        "{}\n\n{}\n{}\n{}\n",
        header(2),
        "{\"seq\":1,\"t\":1.0,\"quota_lent\":{\"x\":[1]}}",
        "{\"seq\":2,\"t\":1.0,\"end\":{\"job\":1,\"task\":0,\"energy_j\":7},\"host\":\"x\"}",
        "{\"seq\":3,\"t\":1.0,\"finish\":{\"events\":1,\"decisions\":0}}",
    );
    assert_eq!(read(&text), Ok(4));
    let mut reader = Reader::new("a".into(), BufLines::new(text.as_bytes()));
    let (line, record) = reader.next(&[Kind::TaskEnded]).expect("good").expect("one");
    assert_eq!((line, record.seq), (4, 2));
}

#[test]
fn what_a_crash_leaves_is_good_up_to_there() {
    let text = format!("{}\n{{\"seq\":1,\"t\":1.0,\"decide\":{{}}}}\n", header(2));
    for cut in header(2).len() + 1..text.len() {
        let whole = 1 + usize::from(cut >= text.len() - 1);
        assert_eq!(read(&text[..cut]), Ok(whole), "{cut}");
    }
    assert!(read(&text.replace("}}\n", "\n")).is_err(), "in the middle it is an error");
}

#[test]
fn runs_of_both_schemas_are_found() {
    let decide = |seq: u64, t: f64| format!("{{\"seq\":{seq},\"t\":{t:.1},\"decide\":{{}}}}\n");
    let finish = "{\"seq\":2,\"t\":5.0,\"finish\":{\"events\":0,\"decisions\":0}}\n";
    let old = "{\"t\":3.0,\"change\":{\"node_leaves\":\"n\"}}\n";
    let (first, third) = (decide(1, 4.0), decide(1, 9.0));
    let (one, two) = (header(1), header(2));
    let text = format!("{two}\n{first}{finish}{one}\n{old}{two}\n{third}");
    let lines = || Reader::new("a".into(), BufLines::new(text.as_bytes()));
    let all = runs(lines()).expect("a good log");
    let of = |run: &Run| (run.number, run.first_line, run.last_line, run.end, run.finished);
    let found: Vec<_> = all.iter().map(of).collect();
    let at = |seconds| Time::from_secs(seconds).expect("in range");
    assert_eq!(found, [(1, 1, 3, at(5), true), (2, 4, 5, at(3), false), (3, 6, 7, at(9), false)]);
    let mut second = lines().within(4, 5).expect("good");
    let (line, record) = second.next(&[Kind::NodeLeft]).expect("good").expect("one");
    assert_eq!((line, record.seq), (5, 1));
    assert!(second.next_any().expect("good").is_none(), "the next run is another's");
}

#[test]
fn a_journal_is_read_from_its_middle() {
    let text = "{\"seq\":7,\"t\":4.0,\"decide\":{}}\n{\"seq\":8,\"t\":4.0,\"decide\":{}}\n";
    let at = |seconds| Time::from_secs(seconds).expect("in range");
    let from = |seq, t| Reader::going_on("a".into(), BufLines::new(text.as_bytes()), seq, t);
    let mut reader = from(7, at(4));
    assert_eq!(reader.next_any().expect("good").expect("one").1.seq, 7);
    assert!(reader.next_any().expect("good").is_some());
    assert!(from(6, at(4)).next_any().is_err());
    assert!(from(7, at(5)).next_any().is_err());
    let mut writer = Writer::going_on(Vec::new(), 9);
    assert_eq!(writer.append(at(4), &Fact::TimePassed(Decide {})).expect("memory"), 9);
    assert_eq!(writer.into_inner(), b"{\"seq\":9,\"t\":4.0,\"decide\":{}}\n");
}

/// Deeper and longer names than a configuration may have are those of no world's queue.
#[test]
fn names_of_queues_have_the_bounds_of_configurations() {
    for schema in [1, 2] {
        let read_deep = |levels: usize| {
            let name = vec!["a"; levels].join(".");
            let queues = format!("\"queues\":[{{\"queue\":\"{name}\"}}]");
            read(&header(schema).replace("\"queues\":[]", &queues))
        };
        assert_eq!(read_deep(200), Ok(1));
        let told = read_deep(201).unwrap_err();
        assert!(told.contains("has 201 levels; at most 200 are possible"), "{told}");
    }
}
