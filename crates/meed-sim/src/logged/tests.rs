//! Small records by hand, and what they are as workloads.

use meed::Span;
use meed_workload::{Job, JobSource};

use super::cluster::LoggedCluster;
use super::{LogAssumptions, Logged};
use crate::log::read::{LogError, LogFile};
use crate::world::Change;
use meed_files::Origin;

const HEADER: &str = concat!(
    r#""run":{"schema":2,"world":"server","policy":"fair","resources":["cpu"],"units":["milli"],"#,
    r#""measured":"cpu","placement":"first-fit","root":{"order":"fair"},"#,
    r#""nodes":[{"name":"n","capacity":{"cpu":4.0}}],"queues":[{"queue":"a"},{"queue":"b"}]}"#
);

/// A log of these records, each with its time.
fn log(records: &[(f64, &str)]) -> String {
    let all = std::iter::once((0.0, HEADER)).chain(records.iter().copied());
    let line = |(seq, (t, record)): (usize, (f64, &str))| {
        format!("{{\"seq\":{seq},\"t\":{t:?},{record}}}\n")
    };
    all.enumerate().map(line).collect()
}

fn logged(text: &str) -> Result<Logged, LogError> {
    Logged::of(LogFile::of(Origin::bytes("log", text.as_bytes()))?, None)
}

fn jobs(text: &str, drops_unfinished: bool) -> Result<(Vec<Job>, Vec<String>), LogError> {
    let assumed = LogAssumptions { run: None, drops_unfinished };
    let read = logged(text)?.jobs(&assumed)?;
    let mut source = read.source()?;
    let jobs = std::iter::from_fn(|| source.next_job().unwrap()).collect();
    Ok((jobs, source.assumptions()))
}

fn arrives(job: &str, tasks: u32) -> String {
    let groups = format!(r#"[{{"tasks":{tasks},"demand":{{"cpu":1.0}}}}]"#);
    format!(r#""arrive":{{"queue":"a","job":"{job}","groups":{groups}}}"#)
}

fn starts(job: &str, task: u32, attempt: u32) -> String {
    format!(r#""start":{{"queue":"a","job":"{job}","task":{task},"attempt":{attempt},"node":"n"}}"#)
}

fn told(kind: &str, job: &str, task: u32, attempt: u32) -> String {
    format!(r#""{kind}":{{"job":"{job}","task":{task},"attempt":{attempt}}}"#)
}

/// Seconds that the tasks run of which these records tell, one job of `tasks` that came at 1 s.
fn lengths(tasks: u32, records: &[(f64, String)], drops: bool) -> Vec<f64> {
    let mut all = vec![(1.0, arrives("x", tasks)), (1.0, arrives("y", 1))];
    all.extend([(1.0, starts("y", 0, 0)), (1.5, told("end", "y", 0, 0))]);
    all.extend(records.iter().cloned());
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (jobs, _) = jobs(&log(&all), drops).unwrap();
    let of_x = jobs.iter().filter(|job| job.label.to_string() == "x");
    let groups = of_x.flat_map(|job| &job.groups);
    let spans = groups.flat_map(|group| (0..group.count).map(|task| group.duration.get(task)));
    spans.map(Span::as_secs_f64).collect()
}

#[test]
fn what_counts_as_a_tasks_length() {
    let (start, told) =
        (|attempt| starts("x", 0, attempt), |kind, attempt| told(kind, "x", 0, attempt));
    let rows: &[(&[(f64, String)], &[f64], bool)] = &[
        (&[(2.0, start(0)), (5.0, told("end", 0))], &[3.0], true),
        // Work that failed is work; what is lost, and what was undone, is not.
        (
            &[(2.0, start(0)), (4.0, told("fail", 0)), (5.0, start(1)), (9.0, told("end", 1))],
            &[6.0],
            true,
        ),
        (
            &[(2.0, start(0)), (4.0, told("lost", 0)), (5.0, start(1)), (6.0, told("end", 1))],
            &[1.0],
            true,
        ),
        (
            &[(2.0, start(0)), (4.0, told("undone", 0)), (5.0, start(1)), (6.0, told("end", 1))],
            &[1.0],
            true,
        ),
        (&[(2.0, start(0)), (4.0, told("fail", 0))], &[2.0], true),
        (&[(2.0, start(0)), (6.0, told("stop", 0))], &[4.0], true),
        (&[(2.0, start(0)), (6.0, told("withdrawn", 0))], &[4.0], true),
        // No end is known: so long at least.
        (&[(2.0, start(0)), (9.0, "\"decide\":{}".to_owned())], &[7.0], false),
        (&[(2.0, start(0)), (9.0, "\"decide\":{}".to_owned())], &[], true),
        (&[(2.0, start(0)), (5.0, told("lost", 0))], &[3.0], false),
        // It never ran.
        (&[(2.0, told("withdrawn", 0))], &[], false),
        (&[(9.0, "\"decide\":{}".to_owned())], &[], false),
    ];
    for (records, expected, drops) in rows {
        assert_eq!(lengths(1, records, *drops), *expected, "{records:?}");
    }
    // It ran already when it was heard of.
    let adopted = starts("x", 0, 0).replace("\"node\"", "\"since_s\":0.5,\"node\"");
    let records = [(2.0, adopted), (5.0, told("end", 0))];
    assert_eq!(lengths(1, &records, true), [4.5]);
    // Its node was made anew, and it went on.
    let again = starts("x", 0, 1).replace("\"node\"", "\"since_s\":4.0,\"node\"");
    let records = [(2.0, start(0)), (4.0, told("lost", 0)), (4.0, again), (7.0, told("end", 1))];
    assert_eq!(lengths(1, &records, true), [5.0]);
}

#[test]
fn tasks_that_are_added_come_when_they_were_and_gangs_are_of_those_that_ran() {
    let added = r#""tasks_added":{"job":"x","groups":[{"tasks":2,"demand":{"cpu":0.5}}]}"#;
    let gang = arrives("x", 4).replace("\"tasks\":4", "\"tasks\":4,\"gang\":true");
    let all = [
        (1.0, gang),
        (2.0, starts("x", 0, 0)),
        (2.0, starts("x", 1, 0)),
        (2.0, starts("x", 3, 0)),
        (3.0, added.to_owned()),
        (3.0, starts("x", 5, 0)),
        (5.0, told("end", "x", 1, 0)),
        (6.0, told("end", "x", 0, 0)),
        (7.0, told("end", "x", 5, 0)),
        (8.0, told("end", "x", 3, 0)),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (jobs, said) = jobs(&log(&all), false).unwrap();
    let [first, second] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((first.submit.as_secs_f64(), second.submit.as_secs_f64()), (1.0, 3.0));
    let group = &first.groups[0];
    assert_eq!((group.count, group.gang.as_ref().unwrap().least), (3, 3));
    assert_eq!((second.tasks(), second.groups[0].demand.get(0)), (1, 500));
    assert_eq!(second.groups[0].duration.get(0).as_secs_f64(), 4.0);
    assert!(said.iter().any(|words| words.contains("2 tasks never ran")), "{said:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let rows: &[(&[(f64, &str)], &str)] = &[
        (
            &[(1.0, r#""start":{"queue":"a","job":"x","task":0,"node":"n"}"#)],
            "log:2: there is no job x",
        ),
        (
            &[(1.0, r#""arrive":{"queue":"q","job":"x","groups":[]}"#)],
            "log:2: there is no queue `q` by then",
        ),
        (&[(1.0, &arrives("x", 1)), (2.0, &starts("x", 1, 0))], "log:3: job x has no task 1"),
        (&[(1.0, &arrives("x", 1))], "log: holds no task that ran"),
        (
            &[(
                1.0,
                r#""arrive":{"queue":"a","job":"x","groups":[{"tasks":1,"demand":{"gpu":1.0}}]}"#,
            )],
            "log:2: demand: unknown resource `gpu`; the header has cpu",
        ),
    ];
    for (records, expected) in rows {
        let error = jobs(&log(records), false).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(error.starts_with(expected), "{error}");
    }
    let newer = log(&[]).replace("\"schema\":2", "\"schema\":7");
    let error = logged(&newer).err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(error, "log:1: schema 7 is not known; this Meed reads 1 and 2");
    let mapreduce = log(&[]).replace("\"world\":\"server\"", "\"world\":\"mapreduce\"");
    let error = logged(&mapreduce).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("`meed replay` runs it"), "{error}");
}

#[test]
fn nodes_are_as_they_were_and_what_is_left_out_is_said() {
    let node = |name: &str| format!(r#""node_joins":{{"name":"{name}","capacity":{{"cpu":2.0}}}}"#);
    let all = [
        (0.5, node("early")),
        (0.6, r#""node_strangers":{"name":"n","used":{"cpu":1.0}}"#.to_owned()),
        (1.0, arrives("x", 1)),
        (1.0, starts("x", 0, 0)),
        (2.0, node("late")),
        (3.0, r#""node_relabelled":{"name":"n","labels":{"gpu":"a"}}"#.to_owned()),
        (3.0, r#""node_relabelled":{"name":"n","labels":{}}"#.to_owned()),
        (4.0, r#""node_cordoned":{"name":"n"}"#.to_owned()),
        (4.0, r#""node_leaves":{"name":"early"}"#.to_owned()),
        (4.0, r#""node_joins":{"name":"early","capacity":{"cpu":2.0},"weight":2.0}"#.to_owned()),
        (5.0, r#""queue_added":{"queue":"c","weight":2.0}"#.to_owned()),
        (6.0, r#""queue_changed":{"name":"a","weight":3.0}"#.to_owned()),
        (7.0, told("end", "x", 0, 0)),
        (8.0, r#""node_leaves":{"name":"late"}"#.to_owned()),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let logged = logged(&log(&all)).unwrap();
    let read = LoggedCluster::read(&logged, &logged.kinds().unwrap()).unwrap();
    let nodes: Vec<(&str, u64)> =
        read.nodes.iter().map(|node| (node.name.as_str(), node.capacity.get(0))).collect();
    assert_eq!(nodes, [("n", 3000), ("early", 2000)]);
    assert_eq!(read.nodes[0].labels.get("gpu").map(String::as_str), Some("a"));
    let changes: Vec<(f64, String)> = read
        .changes
        .iter()
        .map(|timed| {
            let what = match &timed.change {
                Change::NodeJoins(node) => format!("{} joins", node.name),
                Change::NodeLeaves(name) => format!("{name} leaves"),
                Change::Queue(name, _) => format!("{name} changes"),
                _ => "?".to_owned(),
            };
            (timed.at.as_secs_f64(), what)
        })
        .collect();
    let expected = [(2.0, "late joins"), (6.0, "a changes"), (8.0, "late leaves")];
    assert_eq!(changes, expected.map(|(t, what)| (t, what.to_owned())));
    let queues: Vec<&str> = read.queues.iter().map(|entry| entry.queue.as_str()).collect();
    assert_eq!(queues, ["a", "b", "c"]);
    for said in ["2 changes of labels", "1 cordons", "1 nodes that were made anew", "1 queues that"]
    {
        assert!(read.remarks.iter().any(|words| words.contains(said)), "{:?}", read.remarks);
    }
}

/// Labels that nodes gain and lose with other tasks say nothing where these are elsewhere.
#[test]
fn what_is_required_holds_where_it_ever_did_and_what_is_forbidden_only_where_it_stays() {
    let asks = r#""constraints":{"require":{"rule":[]},"forbid":{"pods":[],"gpu":[]}},"demand""#;
    let all = [
        (0.5, r#""node_relabelled":{"name":"n","labels":{"rule":"","pods":""}}"#.to_owned()),
        (1.0, arrives("x", 1).replace("\"demand\"", asks)),
        (1.0, starts("x", 0, 0)),
        (2.0, told("end", "x", 0, 0)),
        (3.0, r#""node_relabelled":{"name":"n","labels":{}}"#.to_owned()),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (jobs, said) = jobs(&log(&all), false).unwrap();
    let constraints = jobs[0].groups[0].constraints.as_ref().unwrap();
    assert_eq!(constraints.require.keys().collect::<Vec<_>>(), ["rule"]);
    assert_eq!(constraints.forbid.keys().collect::<Vec<_>>(), ["gpu"]);
    assert!(said.iter().any(|words| words.contains("1 tasks keep away")), "{said:?}");
}
