//! Small records by hand, and what they are as workloads.

use meed::Span;
use meed_files::Origin;
use meed_workload::{Job, JobSource};

use super::cluster::LoggedCluster;
use super::{LogAssumptions, Logged, LoggedJobs};
use crate::changes::{Change, TimedChange};
use crate::log::read::{LogError, LogFile};
use crate::scenario::Scenario;

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
    Logged::of(
        LogFile::of(Origin::bytes("log", text.as_bytes()))?,
        None,
        Scenario::recorded_placing,
    )
}

fn jobs(text: &str, drops_unfinished: bool) -> Result<(Vec<Job>, Vec<String>), LogError> {
    let assumed = LogAssumptions { run: None, drops_unfinished };
    let read = LoggedJobs::of(&logged(text)?, &assumed)?;
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

/// What is told of a task and when, how long tasks of its job run then, and whether what did not
/// end is left out.
type RunTimes<'r> = (&'r [(f64, String)], &'r [f64], bool);

#[test]
fn what_counts_as_a_tasks_length() {
    let (start, told) =
        (|attempt| starts("x", 0, attempt), |kind, attempt| told(kind, "x", 0, attempt));
    let rows: &[RunTimes<'_>] = &[
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
    // The same, and its start is said anew.
    let since = |attempt, since: &str| {
        let said = format!("\"since_s\":{since},\"node\"");
        starts("x", 0, attempt).replace("\"node\"", &said)
    };
    let records = [
        (2.0, start(0)),
        (4.0, told("lost", 0)),
        (4.0, since(1, "4.0")),
        (5.0, told("undone", 1)),
        (5.0, since(1, "4.5")),
        (7.0, told("end", 1)),
    ];
    assert_eq!(lengths(1, &records, true), [4.5]);
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
    // A key comes again when its job has ended, and a queue with others below it takes no jobs.
    let (came, again) = (arrives("x", 1), arrives("x", 1));
    let twice = jobs(&log(&[(1.0, &came), (2.0, &again)]), false).err().unwrap().to_string();
    assert_eq!(twice, "log:3: job x is there already");
    let (starts, ends) = (starts("x", 0, 0), told("end", "x", 0, 0));
    let over = r#""job_end":{"job":"x","outcome":"done"}"#;
    let one = [(1.0, &*came), (1.0, &*starts), (2.0, &*ends), (2.0, over)];
    let two = [(3.0, &*again), (3.0, &*starts), (5.0, &*ends), (5.0, over)];
    let (both, _) = jobs(&log(&[one, two].concat()), false).unwrap();
    let spans: Vec<f64> =
        both.iter().map(|job| job.groups[0].duration.get(0).as_secs_f64()).collect();
    assert_eq!(spans, [1.0, 2.0]);
    let below = r#""queue_added":{"queue":"a.b"}"#;
    let parent = jobs(&log(&[&one[..], &[(3.0, below)]].concat()), false).err().unwrap();
    let parent = parent.to_string();
    assert_eq!(parent, "log: job x: queue `a` has others below it, so it takes no jobs");
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

/// Nodes and changes of a log of these records after one job has come.
fn nodes_and_changes(records: &[(f64, &str)]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let logged = logged(&log(records)).unwrap();
    let read = LoggedCluster::read(&logged, &logged.kinds().unwrap()).unwrap();
    let nodes = read.nodes.iter().map(|node| format!("{} {}", node.name, node.capacity.get(0)));
    let change = |timed: &TimedChange| {
        let what = match &timed.change {
            Change::NodeJoins(node) => format!("{} joins {}", node.name, node.capacity.get(0)),
            Change::NodeLeaves(name) => format!("{name} leaves"),
            Change::NodeResized(name, capacity) => format!("{name} is {}", capacity.get(0)),
            Change::Queue(name, _) => format!("{name} changes"),
            _ => "?".to_owned(),
        };
        format!("{} {what}", timed.at.as_secs_f64())
    };
    (nodes.collect(), read.changes.iter().map(change).collect(), read.remarks)
}

#[test]
fn nodes_change_size_and_strangers_stay_off_them() {
    let joins = |name: &str, cpu: f64| {
        format!(r#""node_joins":{{"name":"{name}","capacity":{{"cpu":{cpu:?}}}}}"#)
    };
    let sized = |name: &str, cpu: f64| joins(name, cpu).replace("node_joins", "node_resized");
    let strangers = |name: &str, cpu: f64| {
        joins(name, cpu).replace("node_joins", "node_strangers").replace("capacity", "used")
    };
    let leaves = |name: &str| format!(r#""node_leaves":{{"name":"{name}"}}"#);
    let all = [
        (0.1, joins("full", 2.0)),
        (0.1, joins("gone", 2.0)),
        (0.2, strangers("n", 1.0)),
        (0.2, strangers("full", 2.0)),
        (0.2, strangers("gone", 2.0)),
        (0.3, strangers("back", 1.0)),
        (0.3, joins("back", 3.0)),
        (1.0, arrives("x", 1)),
        (2.0, sized("n", 5.0)),
        (3.0, sized("full", 3.0)),
        (3.0, leaves("gone")),
        // As large as before, and then larger.
        (4.0, leaves("n")),
        (4.0, joins("n", 5.0)),
        (5.0, leaves("n")),
        (5.0, joins("n", 8.0)),
        (6.0, joins("nothing", 0.0)),
        (7.0, sized("full", 2.0)),
        (8.0, leaves("n")),
        (9.0, joins("n", 8.0)),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (nodes, changes, said) = nodes_and_changes(&all);
    assert_eq!(nodes, ["n 3000", "back 3000"]);
    let expected = [
        "2 n is 4000",
        "3 full joins 1000",
        "5 n is 7000",
        "7 full leaves",
        "8 n leaves",
        "9 n joins 8000",
    ];
    assert_eq!(changes, expected);
    for words in ["1 nodes that were made anew", "4 times a node had nothing"] {
        assert!(said.iter().any(|said| said.contains(words)), "{said:?}");
    }
}

#[test]
fn what_a_scenario_knows_nothing_of_is_counted() {
    let all = [
        (1.0, arrives("x", 1)),
        (2.0, r#""queue_changed":{"name":"a","rank":{"amount":7,"step":1,"per":1}}"#.to_owned()),
        (3.0, r#""queue_added":{"queue":"b","policy":{"order":"fifo"}}"#.to_owned()),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (_, changes, said) = nodes_and_changes(&all);
    assert!(changes.is_empty(), "{changes:?}");
    for words in ["1 ranks of queues", "1 changes of policies"] {
        assert!(said.iter().any(|said| said.contains(words)), "{said:?}");
    }
}

/// Tasks that no node held waited for one that could: so they do here.
#[test]
fn it_is_known_whether_tasks_waited_for_nodes() {
    let waits = |told: &[&str]| {
        let all: Vec<(f64, &str)> = told.iter().map(|record| (1.0, *record)).collect();
        let logged = logged(&log(&all)).unwrap();
        LoggedCluster::read(&logged, &logged.kinds().unwrap()).unwrap().waits_for_nodes
    };
    let (yes, no) = (r#""infeasible":{"waits":true}"#, r#""infeasible":{"waits":false}"#);
    let rows: &[(&[&str], bool)] =
        &[(&[], false), (&[yes], true), (&[yes, no], false), (&[no, yes], true)];
    for (told, expected) in rows {
        assert_eq!(waits(told), *expected, "{told:?}");
    }
}

/// Labels that nodes gain and lose with other tasks say nothing where these are elsewhere.
#[test]
fn what_is_required_holds_where_it_ever_did_and_what_is_forbidden_only_where_it_stays() {
    let asks = concat!(
        r#""constraints":{"require":{"rule":[],"zone":["a"],"disk":["ssd"]},"#,
        r#""forbid":{"kept away: pods":[],"gpu":[]}},"demand""#
    );
    let relabelled =
        |labels: &str| format!(r#""node_relabelled":{{"name":"n","labels":{{{labels}}}}}"#);
    let first = relabelled(r#""rule":"","kept away: pods":"","zone":"a","disk":"ssd""#);
    let all = [
        (0.5, first),
        (1.0, arrives("x", 1).replace("\"demand\"", asks)),
        (1.0, starts("x", 0, 0)),
        (2.0, told("end", "x", 0, 0)),
        (3.0, relabelled(r#""zone":"b","gpu":"""#)),
    ];
    let all: Vec<(f64, &str)> = all.iter().map(|(t, record)| (*t, record.as_str())).collect();
    let (jobs, said) = jobs(&log(&all), false).unwrap();
    let constraints = jobs[0].groups[0].constraints.as_ref().unwrap();
    assert_eq!(constraints.require.keys().collect::<Vec<_>>(), ["disk", "rule"]);
    assert_eq!(constraints.forbid.keys().collect::<Vec<_>>(), ["gpu"]);
    for words in ["1 tasks keep away", "1 tasks required a value"] {
        assert!(said.iter().any(|said| said.contains(words)), "{said:?}");
    }
}
