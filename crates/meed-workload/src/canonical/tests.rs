//! Tests of the format.

use meed::{MAX_AMOUNT, MAX_MICROS, Resources, Span, Time, Unit};
use proptest::prelude::*;

use super::*;
use crate::{Durations, Job, JobGroup, JobLabel, JobSource, OnBadLine, Origin};
use meed::ResourceKinds;

const HEADER: &str =
    r#"{"meed_trace":1,"resources":{"slot":"milli","memory":"bytes"},"queues":["a","b"]}"#;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("slot".into(), Unit::Milli), ("memory".into(), Unit::Bytes)]).unwrap()
}

fn open(text: &str, cluster: Option<&ResourceKinds>) -> Result<CanonicalSource, crate::TraceError> {
    CanonicalSource::open(&Origin::bytes("t.jsonl", text.as_bytes()), cluster, OnBadLine::Stop)
}

fn all(mut source: impl JobSource) -> Vec<Job> {
    std::iter::from_fn(|| source.next_job().unwrap()).collect()
}

#[test]
fn a_job_is_read_exactly() {
    let line = r#"{"submit_s":12.5,"queue":"b","job":"17","weight":3,"tasks":[
        {"count":3,"demand":{"slot":0.5},"duration_s":11},
        {"stage":1,"count":2,"demand":{"memory":4096,"slot":1e0},"duration_s":[3,4.000001]}]}"#
        .replace('\n', "");
    let jobs = all(open(&format!("{HEADER}\n{line}\n"), None).unwrap());
    let group = |stage, count, demand: [u64; 2], duration| JobGroup {
        stage,
        ..JobGroup::new(count, Resources::new(&demand), duration)
    };
    let micros = |micros| Span::from_micros(micros).unwrap();
    let expected = Job {
        label: JobLabel::Name("17".into()),
        queue: 1,
        submit: Time::from_micros(12_500_000).unwrap(),
        weight: 3,
        chain: None,
        groups: vec![
            group(0, 3, [500, 0], Durations::Same(micros(11_000_000))),
            group(
                1,
                2,
                [1000, 4096],
                Durations::Each([micros(3_000_000), micros(4_000_001)].into()),
            ),
        ],
    };
    assert_eq!(jobs, [expected]);
}

#[test]
fn defaults_are_one_task_one_weight_and_the_jobs_number() {
    let line = r#"{"submit_s":1,"queue":"a","tasks":[{"demand":{"slot":1},"duration_s":0}]}"#;
    let jobs = all(open(&format!("\u{feff}{HEADER}\r\n\r\n{line}\r\n{line}"), None).unwrap());
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[1].label, JobLabel::Number(2));
    assert_eq!((jobs[1].weight, jobs[1].groups[0].count, jobs[1].groups[0].stage), (1, 1, 0));
}

#[test]
fn demands_follow_the_clusters_kinds() {
    let line =
        r#"{"submit_s":1,"queue":"a","tasks":[{"demand":{"slot":1,"memory":7},"duration_s":0}]}"#;
    let text = format!("{HEADER}\n{line}");
    let cluster = |list: &[(&str, Unit)]| {
        ResourceKinds::new(list.iter().map(|(name, unit)| ((*name).to_owned(), *unit)).collect())
            .unwrap()
    };
    let wide = cluster(&[("gpu", Unit::Milli), ("memory", Unit::Bytes), ("slot", Unit::Milli)]);
    assert_eq!(
        all(open(&text, Some(&wide)).unwrap())[0].groups[0].demand,
        Resources::new(&[0, 7, 1000])
    );
    let message = |kinds| open(&text, Some(&kinds)).err().unwrap().to_string();
    assert_eq!(
        message(cluster(&[("slots", Unit::Milli), ("memory", Unit::Bytes)])),
        "t.jsonl:1: the trace has the resource \"slot\", the cluster has not; did you mean \
         \"slots\"?"
    );
    assert_eq!(
        message(cluster(&[("slot", Unit::Milli), ("memory", Unit::Milli)])),
        "t.jsonl:1: the trace counts \"memory\" in bytes, the cluster in milli"
    );
}

#[test]
fn wrong_lines_say_what_is_wrong() {
    let job = |tasks: &str| format!(r#"{{"submit_s":5,"queue":"a","tasks":[{tasks}]}}"#);
    let task = |demand: &str, duration: &str| {
        job(&format!(r#"{{"demand":{{{demand}}},"duration_s":{duration}}}"#))
    };
    let slot = r#""slot":1"#;
    let rows: Vec<(String, &str)> = vec![
        (r#"{"submit_s":1}"#.into(), "character 14: missing field `queue`"),
        ("{".into(), "character 1: EOF while parsing an object"),
        (
            job("").replace("submit_s", "submit"),
            "character 9: unknown field `submit`, expected one of `submit_s`, `queue`, `job`, \
             `weight`, `tasks`",
        ),
        (job(""), "it has no tasks; a job has at least one"),
        (task("", "1"), "a task that holds nothing; demand some of at least one resource"),
        (
            task(r#""slot":0"#, "1"),
            "a task that holds nothing; demand some of at least one resource",
        ),
        (task(r#""slot":-1"#, "1"), "demand of slot: \"-1\" is negative"),
        (task(r#""slot":0.0001"#, "1"), "demand of slot: \"0.0001\" is finer than a thousandth"),
        (task(r#""memory":0.5"#, "1"), "demand of memory: \"0.5\" is finer than a byte"),
        (task(r#""slot":1e15"#, "1"), "demand of slot: \"1e15\" is too large"),
        (task(r#""slot":"1""#, "1"), "demand of slot: \"\\\"1\\\"\" is not a number"),
        (task(r#""slot":1,"slot":2"#, "1"), "demand: \"slot\" comes twice"),
        (
            task(r#""slots":1"#, "1"),
            "demand: resource \"slots\" is not in the header; did you mean \"slot\"?",
        ),
        (
            task(slot, "-3"),
            "duration_s: \"-3\" is negative; wanted is seconds, 0 or more, up to 285 years",
        ),
        (
            task(slot, "[1,null]"),
            "duration_s: \"null\" is not a number; wanted is seconds, 0 or more, up to 285 years",
        ),
        (task(slot, "[1,2]"), "2 durations for 1 tasks; give one for each"),
        (
            task(slot, "1").replace("\"a\"", "\"c\""),
            "queue: \"c\" is not in the header; did you mean \"a\"?",
        ),
        (
            task(slot, "1").replace(":5", ":1e99"),
            "submit_s: \"1e99\" is too large; wanted is seconds, 0 or more, up to 285 years",
        ),
        (
            task(slot, "1").replace(":5", ":3"),
            "submitted at 3 s (3s), before the preceding job's 4 s (4s); a trace is in order of \
             submission",
        ),
        (
            job(r#"{"count":0,"demand":{"slot":1},"duration_s":1}"#),
            "a group of 0 tasks; a group has at least one",
        ),
        (task(slot, "1,\"gang\":2"), "gang: gang is 2; it must be 1 to 1, the tasks of its group"),
        (
            task(slot, "1,\"gang\":\"yes\""),
            "character 84: wanted is true, how many tasks start together, or \"joint\"",
        ),
        (task(slot, "1,\"limit_s\":0"), "a time limit of 0; a limit is above zero"),
        (
            task(slot, "1,\"checkpoint_s\":0"),
            "a checkpoint every 0 s; the time between two is above zero",
        ),
        (
            task(slot, r#"1,"limit_s":"1h""#),
            "limit_s: \"\\\"1h\\\"\" is not a number; wanted is seconds, 0 or more, up to 285 \
             years",
        ),
        (
            job(r#"{"stage":1,"demand":{"slot":1},"duration_s":1}"#),
            "a group of stage 1 follows stage 0; stages begin at 0, ascend and leave no gap",
        ),
        (
            job(r#"{"count":20000000,"demand":{"slot":1},"duration_s":1}"#),
            "it has 20000000 tasks; a job has at most 16777216",
        ),
        (
            task(slot, "1").replace(r#""queue""#, r#""weight":0,"queue""#),
            "its weight is 0; a weight is at least 1",
        ),
        (
            task(slot, "1").replace(r#""queue""#, r#""job":1.5,"queue""#),
            "job: \"1.5\" is no label; a string or a whole number is needed",
        ),
    ];
    let good = task(slot, "1").replace(":5", ":4");
    for (line, expected) in rows {
        let mut source = match open(&format!("{HEADER}\n{good}\n{line}\n"), None) {
            Err(error) => panic!("{line}: {error}"),
            Ok(source) => source,
        };
        let message = source.next_job().unwrap_err().to_string();
        assert_eq!(message, format!("t.jsonl:3: {expected}"), "{line}");
    }
}

#[test]
fn wrong_headers_say_what_is_wrong() {
    let rows = [
        (
            "",
            "t.jsonl: no jobs: the file is empty; after the header, every line is a job as \
             docs/trace-format.md describes it",
        ),
        (
            "\n\n",
            "t.jsonl: no jobs: the file is empty; after the header, every line is a job as \
             docs/trace-format.md describes it",
        ),
        (
            HEADER,
            "t.jsonl: no jobs: 1 lines, none of them a job; after the header, every line is a job \
             as docs/trace-format.md describes it",
        ),
        (
            r#"{"meed_trace":2,"resources":{"slot":"milli"},"queues":["a"]}"#,
            "t.jsonl:1: version 2 of the format; this program reads 1",
        ),
        (
            r#"{"meed_trace":1,"clock_us":253402300800000000,"resources":{},"queues":["a"]}"#,
            "t.jsonl:1: \"clock_us\" is 253402300800000000; clocks are before the year 10000 \
             (253402300800000000)",
        ),
        (
            r#"{"meed_trace":1,"resources":{"slot":"milli"},"queues":[]}"#,
            "t.jsonl:1: \"queues\" is empty; name every queue that the jobs go to",
        ),
        (
            r#"{"meed_trace":1,"resources":{"slot":"milli"},"queues":["a","b","a"]}"#,
            "t.jsonl:1: \"queues\" names \"a\" twice",
        ),
        (
            r#"{"meed_trace":1,"resources":{"slot":"cores"},"queues":["a"]}"#,
            "t.jsonl:1: resource \"slot\" has an unknown unit; \"milli\" (cores, slots: exact to a \
             thousandth) or \"bytes\" is needed",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(open(text, None).err().unwrap().to_string(), expected, "{text:?}");
    }
    let message = open("job0\t1\t2\t3\t4\t5\n", None).err().unwrap().to_string();
    assert!(message.starts_with("t.jsonl:1: not a header: expected value"), "{message}");
    // Jobs of somebody else: what to do with them is told, with their names.
    let message = open("{\"account\":\"a\",\"nodes\":1}\n", None).err().unwrap().to_string();
    let start = "t.jsonl:1: this is no trace of Meed's own, whose first line has \"meed_trace\"; a \
                 table of JSON lines is read with --format jsonl --map";
    assert!(message.starts_with(start), "{message}");
    assert!(message.ends_with("its names are \"account\", \"nodes\""), "{message}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let group = JobGroup::new(1, Resources::new(&[1, 0]), Durations::Same(Span::ZERO));
    let job = Job {
        label: JobLabel::Number(9),
        queue: 0,
        submit: Time::from_secs(5).unwrap(),
        weight: 1,
        chain: None,
        groups: vec![group],
    };
    let mut writer = CanonicalWriter::new(Vec::new(), "out", &kinds(), &["a".into()]).unwrap();
    writer.write(&job).unwrap();
    let mut refuse = |job: Job| writer.write(&job).unwrap_err().to_string();
    assert!(
        refuse(Job { chain: Some(0), ..job.clone() })
            .starts_with("out: job 9: it belongs to a closed chain")
    );
    assert_eq!(
        refuse(Job { queue: 1, ..job.clone() }),
        "out: job 9: its queue has the number 1, but there are 1 queues"
    );
    assert_eq!(
        refuse(Job { submit: Time::ZERO, ..job }),
        "out: job 9: it is submitted at 0 s, before the preceding job's 5 s"
    );
}

fn any_micros() -> impl Strategy<Value = u64> {
    prop_oneof![0..=MAX_MICROS, 0..100_000_000u64, Just(0), Just(MAX_MICROS)]
}

fn any_span() -> impl Strategy<Value = Span> {
    any_micros().prop_map(|micros| Span::from_micros(micros).unwrap())
}

fn any_group() -> impl Strategy<Value = JobGroup> {
    let same =
        (1..=1_000_000u32, any_span()).prop_map(|(count, span)| (count, Durations::Same(span)));
    let each = prop::collection::vec(any_span(), 1..5)
        .prop_map(|spans| (spans.len() as u32, Durations::Each(spans.into())));
    let amounts = prop_oneof![
        (1..=MAX_AMOUNT, 0..=MAX_AMOUNT),
        (Just(0), 1..=MAX_AMOUNT),
        (1..5000u64, 0..5000u64)
    ];
    let above_zero =
        || prop::option::of(any_span().prop_filter("above zero", |span| *span > Span::ZERO));
    let limits = (above_zero(), above_zero());
    let gang = (0..5u32, prop::option::of(any::<String>()));
    let all = (amounts, prop_oneof![same, each], limits, gang);
    all.prop_map(|(amounts, (count, duration), (limit, checkpoint), (least, same))| {
        // A gang of one that may be anywhere is none.
        let same = same.filter(|label| !label.is_empty());
        let joint = least == 4;
        let least = if joint { count } else { least.clamp(1, count) };
        let gang = meed::Gang { least, same, joint };
        JobGroup {
            limit,
            checkpoint,
            gang: (gang.least > 1 || joint || gang.same.is_some()).then(|| Box::new(gang)),
            cut: count % 3 == 0,
            ..JobGroup::new(count, Resources::new(&[amounts.0, amounts.1]), duration)
        }
    })
}

fn any_job() -> impl Strategy<Value = Job> {
    let label = prop_oneof![
        any::<u64>().prop_map(JobLabel::Number),
        any::<String>().prop_map(|name| JobLabel::Name(name.into()))
    ];
    let groups = prop::collection::vec((any_group(), any::<bool>()), 1..5);
    (label, 0..2u32, any_micros(), 1..=u32::MAX, groups).prop_map(
        |(label, queue, submit, weight, groups)| {
            let mut stage = 0;
            let place = |(number, (group, next)): (usize, (JobGroup, bool))| {
                stage += u16::from(next && number > 0);
                JobGroup { stage, ..group }
            };
            let groups = groups.into_iter().enumerate().map(place).collect();
            let submit = Time::from_micros(submit).unwrap();
            Job { label, queue, submit, weight, chain: None, groups }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back_equal(
        mut jobs in prop::collection::vec(any_job(), 1..8),
        queues in prop::collection::btree_set("\\PC{1,8}", 2),
        clock in prop::option::of(0..crate::CLOCK_END_US),
    ) {
        jobs.sort_by_key(|job| job.submit);
        let queues: Vec<String> = queues.into_iter().collect();
        let mut writer =
            CanonicalWriter::since(Vec::new(), "out", &kinds(), &queues, clock).unwrap();
        for job in &jobs {
            writer.write(job).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let source = CanonicalSource::open(&Origin::bytes("t", bytes), None, OnBadLine::Stop)
            .unwrap();
        prop_assert_eq!(source.queues(), &queues[..]);
        prop_assert_eq!(source.kinds(), &kinds());
        prop_assert_eq!(source.clock_us(), clock);
        prop_assert_eq!(all(source), jobs);
    }
}
