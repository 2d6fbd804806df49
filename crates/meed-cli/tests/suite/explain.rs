//! Why things wait: each obstacle where it is known to stand in the way, and the forecast where the
//! future is known.

use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

fn record(folder: &Path, scenario: &str, policy: &str) {
    fs::write(folder.join("s.toml"), scenario).expect("a writable folder");
    succeed(folder, &["simulate", "s.toml", "--quiet", "--policy", policy, "--log", "log.jsonl"]);
}

fn explain(folder: &Path, args: &[&str]) -> Value {
    let text = succeed(folder, &[&["explain", "log.jsonl", "--json"], args].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn obstacles(told: &Value) -> Vec<&str> {
    let all = told["obstacles"].as_array().expect("a list");
    all.iter().map(|obstacle| obstacle["what"].as_str().expect("a kind")).collect()
}

/// Two nodes of 4; what runs from the start holds 3 on each, so 2 are free, 1 on each.
const NODES: &str = r#"
[cluster]
resources = ["cpu", "memory"]
[[cluster.node]]
count = 2
capacity = { cpu = 4, memory = "4GiB" }
[policy]
quantum = 10
[[queue]]
name = "base"
weight = 4
order = "fifo"
[[queue]]
name = "tree"
[[queue]]
name = "tree.a"
order = "fifo"
max = { cpu = 1 }
[[queue]]
name = "tree.b"
order = "fifo"
[[job]]
queue = "base"
tasks = 2
duration = 100
demand = { cpu = 3, memory = "1GiB" }
"#;

fn job(queue: &str, name: &str, submit: u32, tasks: u32, demand: &str) -> String {
    format!(
        "[[job]]\nqueue = \"{queue}\"\nname = \"{name}\"\nsubmit = {submit}\ntasks = \
         {tasks}\nduration = 10\n\
         demand = {{ {demand} }}\n"
    )
}

#[test]
fn what_stands_in_the_way() {
    let folder = folder();
    for (jobs, of, expected) in [
        // The maximum share of tree.a is 1 core.
        (job("tree.a", "x", 1, 3, "cpu = 1"), "x", vec!["quota"]),
        // 2 cores are free, 1 on each node.
        (job("tree.b", "x", 1, 1, "cpu = 2"), "x", vec!["place"]),
        (job("tree.b", "x", 1, 1, "cpu = 4"), "x", vec!["size"]),
        (job("tree.b", "x", 1, 1, "memory = \"4GiB\""), "x", vec!["place"]),
        // Behind an earlier job of the same queue, and at the root behind nobody.
        (
            job("tree.b", "y", 1, 9, "cpu = 1") + &job("tree.b", "x", 2, 1, "cpu = 1"),
            "x",
            vec!["size", "order"],
        ),
        // `base` has used more for its weight, `tree` is ahead.
        (
            job("tree.b", "y", 1, 9, "cpu = 1") + &job("base", "x", 2, 1, "cpu = 1"),
            "x",
            vec!["size", "turn"],
        ),
    ] {
        record(folder.path(), &(NODES.to_owned() + &jobs), "long-term");
        let at = if expected.contains(&"turn") { "9s" } else { "5s" };
        let told = explain(folder.path(), &["--job", of, "--at", at]);
        if expected == ["size", "turn"] {
            // Which of them is ahead changes with time; the levels say the same as the obstacle.
            let place = told["levels"][0]["place"].as_u64().expect("it waits");
            assert_eq!(obstacles(&told).contains(&"turn"), place > 0, "{told}");
        } else {
            assert_eq!(obstacles(&told), expected, "{told}");
        }
        assert_eq!((&told["waits"], &told["as_recorded"]), (&true.into(), &true.into()));
        let words = succeed(folder.path(), &["explain", "log.jsonl", "--job", of, "--at", at]);
        for part in ["What stands in the way", "Books of queue", "If nothing arrived", expected[0]]
        {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    let quota = job("tree.a", "x", 1, 3, "cpu = 1");
    record(folder.path(), &(NODES.to_owned() + &quota), "long-term");
    let told = explain(folder.path(), &["--job", "tree.a/x", "--at", "5s"]);
    let bound = &told["obstacles"][0]["bounds"][0];
    assert_eq!(
        (&bound["has"], &bound["most"], &bound["asks"]),
        (&1.0.into(), &1.0.into(), &1.0.into())
    );
    assert_eq!(
        (&told["forecast"]["first_start_s"], &told["forecast"]["all_started_s"]),
        (&11.0.into(), &21.0.into())
    );
}

/// Where a task may run counts, and dominant shares are called so.
#[test]
fn constraints_and_dominant_shares() {
    let folder = folder();
    let labels = "capacity = { cpu = 4, memory = \"4GiB\" }\nlabels = { zone = \"a\" \
        }\n[[cluster.node]]\ncapacity = { cpu = 9, memory = \"9GiB\" }";
    let nodes = NODES.replace("capacity = { cpu = 4, memory = \"4GiB\" }", labels);
    let wanting =
        job("tree.b", "x", 1, 1, "cpu = 3") + "constraints = { require = { zone = [\"a\"] } }\n";
    for policy in ["drf", "long-term-drf", "fair"] {
        // Two of 3 run on the first of zone a; the node of 9 would have room for all.
        record(
            folder.path(),
            &(nodes.clone() + &job("base", "b", 0, 1, "cpu = 2") + &wanting),
            policy,
        );
        let told = explain(folder.path(), &["--job", "x", "--at", "5"]);
        assert_eq!(told["levels"][0]["order"], policy, "{told}");
        assert!(
            ["place", "size"].iter().any(|what| obstacles(&told).contains(what)),
            "{policy}: {told}"
        );
    }
}

#[test]
fn when_nothing_arrives_any_more_the_forecast_comes_true() {
    let folder = folder();
    let mut scenario = NODES.replace("max = { cpu = 1 }", "");
    for (number, queue) in ["base", "tree.a", "tree.b"].iter().cycle().take(30).enumerate() {
        let demand = ["cpu = 1", "cpu = 2, memory = \"1GiB\"", "cpu = 0.5"][number / 3 % 3];
        scenario += &job(queue, &format!("j{number}"), 0, 1 + number as u32 % 5, demand);
    }
    for policy in
        ["long-term", "fair", "fifo", "static", "long-term,t_wait=15s", "long-term,half_life=60s"]
    {
        record(folder.path(), &scenario, policy);
        let mut waited = 0;
        for number in [7, 13, 20, 29] {
            let told = explain(folder.path(), &["--job", &format!("j{number}")]);
            if told["waits"] == true {
                assert_eq!(told["at_is"], "middle_of_longest_wait");
                assert_eq!(
                    told["forecast"]["first_start_s"], told["recorded_start_s"],
                    "{policy} {number}"
                );
                assert_eq!(told["guard"].is_null(), !policy.contains("t_wait"));
                waited += 1;
            }
        }
        for queue in ["tree.a", "base"] {
            let told = explain(folder.path(), &["--queue", queue]);
            assert_eq!(
                told["forecast"]["first_start_s"], told["recorded_start_s"],
                "{policy} {queue}"
            );
        }
        assert!(waited >= 3, "{policy}: only {waited} waited");
    }
}

#[test]
fn jobs_and_queues_by_name() {
    let folder = folder();
    let scenario = NODES.to_owned()
        + &job("tree.a", "same", 1, 1, "cpu = 1")
        + &job("tree.b", "same", 1, 1, "cpu = 1")
        + &job("tree.b", "later", 200, 1, "cpu = 1");
    record(folder.path(), &scenario, "fair");
    for (args, expected) in [
        (vec!["--job", "same"], "in 2 queues; say which with --job tree.a/same, tree.b/same"),
        (
            vec!["--job", "tree.a/sane"],
            "has no job `tree.a/sane` under fair; did you mean `tree.a/same`?",
        ),
        (vec!["--queue", "tree.c"], "has no queue `tree.c`; did you mean `tree.a`?"),
        (vec!["--queue", "tree"], "ask for one below it, as in tree.a, tree.b"),
        (vec!["--job", "later", "--at", "2 parsecs"], "--at: \"2 parsecs\""),
    ] {
        let output = meed(folder.path(), &[&["explain", "log.jsonl"][..], &args].concat());
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && words.contains(expected), "{args:?}: {words}");
    }
    let words = succeed(folder.path(), &["explain", "log.jsonl", "--job", "later"]);
    assert!(words.contains("it never waited") && words.contains("Nothing of it waits"), "{words}");
    let words = succeed(folder.path(), &["explain", "log.jsonl", "--job", "later", "--at", "1h"]);
    assert!(words.contains("Nothing of it waits at that time"), "{words}");
}

#[test]
fn a_gang_is_told_how_many_of_it_would_fit() {
    let dir = folder();
    let folder = dir.path();
    // Two are free on two nodes, in racks of their own.
    let racks = NODES.replace(
        "[[cluster.node]]\ncount = 2\ncapacity = { cpu = 4, memory = \"4GiB\" }\n",
        "[[cluster.node]]\nlabels = { rack = \"a\" }\ncapacity = { cpu = 4, memory = \"4GiB\" }\n\
         [[cluster.node]]\nlabels = { rack = \"b\" }\ncapacity = { cpu = 4, memory = \"4GiB\" }\n",
    );
    assert_ne!(racks, NODES);
    let one = job("tree.b", "train", 1, 2, "cpu = 1");
    let scenario = format!("{racks}{one}gang = true\nsame = \"rack\"\n");
    record(folder, &scenario, "fair");
    let told = explain(folder, &["--job", "train", "--at", "50"]);
    assert_eq!(obstacles(&told), ["gang"]);
    let obstacle = &told["obstacles"][0];
    assert_eq!((&obstacle["together"], &obstacle["fit"]), (&2.into(), &1.into()));
    // Wherever they are, both fit at once.
    record(folder, &format!("{racks}{one}gang = true\n"), "fair");
    let log = fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let starts: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line["start"]["queue"] == "tree.b")
        .collect();
    let told: Vec<_> = starts
        .iter()
        .map(|line| (line["t"].as_f64(), line["start"]["node"].clone(), &line["start"]["reason"]))
        .map(|(t, node, reason)| (t, node, reason["gang"].as_u64()))
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!((told[0].0, told[0].2), (Some(1.0), Some(2)));
    assert!(told[0].1 != told[1].1 && told[0].0 == told[1].0, "{told:?}");
    for (key, why) in [
        ("gang = 3", "gang is 3; it must be 1 to 2, the tasks of its group"),
        ("gang = \"yes\"", "wanted is true, how many tasks start together, or \"joint\""),
        ("gang = true\nsame = \"\"", "same names no label"),
    ] {
        fs::write(folder.join("bad.toml"), format!("{racks}{one}{key}\n")).expect("writable");
        let told = meed(folder, &["simulate", "bad.toml"]);
        assert_eq!(told.status.code(), Some(3), "{key}");
        let words = String::from_utf8_lossy(&told.stderr);
        assert!(words.contains(why), "{key}: {words}");
    }
}

/// All queues at an instant are what each is by itself, and their order that of its levels; at the
/// end they are the record's.
#[test]
fn all_queues_at_an_instant_are_each_by_itself() {
    let folder = folder();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lending.toml");
    let text = fs::read_to_string(example).expect("the example");
    record(folder.path(), &text, "long-term");
    let told = explain(folder.path(), &["--at", "14h"]);
    assert_eq!((&told["at_s"], &told["as_recorded"]), (&50_400.0.into(), &true.into()));
    let queues = told["queues"].as_array().expect("queues");
    assert_eq!(queues.len(), 4);
    let waiting = queues.iter().filter(|queue| queue["waiting_tasks"] != 0).count();
    let mut places: Vec<u64> = queues.iter().filter_map(|queue| queue["next"].as_u64()).collect();
    places.sort_unstable();
    assert_eq!(places, (0..waiting as u64).collect::<Vec<_>>());
    for queue in queues {
        let name = queue["queue"].as_str().expect("a name");
        let alone = explain(folder.path(), &["--queue", name, "--at", "14h"]);
        for (key, value) in alone["state"].as_object().expect("books") {
            assert_eq!(&queue[key], value, "{name}, {key}");
        }
        let level = alone["levels"].as_array().and_then(|levels| levels.first());
        let place = level.map_or(&Value::Null, |level| &level["place"]);
        assert_eq!(&queue["next"], place, "{name}");
    }
    // The end of the run, which is later for nobody.
    let args = ["simulate", "s.toml", "--quiet", "--policy", "long-term", "--json", "-"];
    let run: Value = serde_json::from_str(&succeed(folder.path(), &args)).expect("JSON");
    let end = explain(folder.path(), &["--at", "100d"]);
    for (queue, recorded) in end["queues"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(run["runs"][0]["queues"].as_array().unwrap())
    {
        assert_eq!(queue["queue"], recorded["queue"]);
        assert_eq!(queue["usage"], recorded["usage"]["cpu"]);
        assert_eq!((&queue["balance"], &queue["rho"]), (&recorded["balance"], &recorded["rho"]));
        assert_eq!(queue["next"], Value::Null, "nothing waits any more");
    }
    let words = succeed(folder.path(), &["explain", "log.jsonl", "--at", "14h"]);
    assert!(words.starts_with("All queues under long-term, at 14h; fairness is measured in cpu\n"));
    assert_eq!(words.lines().filter(|line| line.contains("cpu-h")).count(), 4, "{words}");
    let failed = meed(folder.path(), &["explain", "log.jsonl"]);
    assert_eq!(failed.status.code(), Some(2));
}

/// Alone on its share nobody is next; and queues of a tree are in the order of their parents.
#[test]
fn nobody_is_next_where_nothing_is_lent_and_parents_come_first() {
    let folder = folder();
    let wide = job("base", "b", 1, 40, "cpu = 1");
    let jobs = [wide, job("tree.a", "a", 1, 40, "cpu = 1"), job("tree.b", "t", 1, 40, "cpu = 1")];
    let scenario = format!("{NODES}{}", jobs.concat());
    let next = |policy: &str| -> Vec<Value> {
        record(folder.path(), &scenario, policy);
        let told = explain(folder.path(), &["--at", "5s"]);
        told["queues"]
            .as_array()
            .expect("queues")
            .iter()
            .map(|queue| queue["next"].clone())
            .collect()
    };
    assert_eq!(next("static"), [Value::Null, Value::Null, Value::Null]);
    let mut order = next("fair");
    order.sort_by_key(|place| place.as_u64());
    assert_eq!(order, [0, 1, 2]);
    let places = next("fair");
    let of = |at: usize| places[at].as_u64().expect("a place");
    assert_eq!(of(1).abs_diff(of(2)), 1, "siblings stand together: {places:?}");
}

/// A log whose trace says what the clock said is asked in dates and answers in dates; one without a
/// clock says that it has none.
#[test]
fn dates_are_understood_where_the_log_has_a_clock() {
    let folder = folder();
    let jobs = "tenant,submit,duration,cpu\na,2026-03-03T12:00:00,7200,2\n\
                b,2026-03-03T13:00:00,7200,2\na,2026-03-03T14:00:00,7200,2\n";
    fs::write(folder.path().join("jobs.csv"), jobs).expect("a writable folder");
    let scenario = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\ncapacity = { cpu = 2 }\n\
                    [trace]\nfile = \"jobs.csv\"\n";
    record(folder.path(), scenario, "fair");
    let whole = explain(folder.path(), &["--at", "2h 30min"]);
    assert_eq!(whole["clock_us"], 1_772_539_200_000_000_u64);
    for date in [
        "Mar 3 14:30",
        "2026-03-03T14:30",
        "2026-03-03 15:30 +01:00",
        "Tue Mar  3 14:30:00 UTC 2026",
        "3 march 2026 14:30",
    ] {
        assert_eq!(explain(folder.path(), &["--at", date]), whole, "{date}");
        let queue = explain(folder.path(), &["--queue", "a", "--at", date]);
        assert_eq!(queue["at_s"], 9000.0, "{date}");
    }
    let told = succeed(folder.path(), &["explain", "log.jsonl", "--at", "Mar 3 14:30"]);
    assert!(told.contains("at 2h 30min (2026-03-03 14:30:00 UTC)"), "{told}");
    let told =
        succeed(folder.path(), &["explain", "log.jsonl", "--queue", "a", "--at", "Mar 3 14:30"]);
    assert!(told.contains("start at 4h (2026-03-03 16:00:00 UTC), after 1h 30min"), "{told}");
    // A replay under another policy keeps the clock.
    let again = ["replay", "log.jsonl", "--policy", "long-term", "--log", "again.jsonl"];
    succeed(folder.path(), &[&again[..], &["--json", "run.json"]].concat());
    let told = succeed(folder.path(), &["explain", "again.jsonl", "--at", "Mar 3 14:30"]);
    assert!(told.contains("(2026-03-03 14:30:00 UTC)"), "{told}");
    let text = fs::read_to_string(folder.path().join("run.json")).expect("it was written");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(run["clock_us"], whole["clock_us"]);

    let wrong = |log: &str, at: &str| {
        let failed = meed(folder.path(), &["explain", log, "--at", at]);
        assert_eq!(failed.status.code(), Some(2), "{at}");
        String::from_utf8_lossy(&failed.stderr).into_owned()
    };
    assert!(wrong("log.jsonl", "Mar 2").contains("goes from 2026-03-03 12:00:00 UTC to"));
    assert!(wrong("log.jsonl", "2025-03-03T14:30").contains("is not a time of the run"));
    assert!(wrong("log.jsonl", "Mar 32").contains("nor is it a date"));
    assert!(wrong("absent.jsonl", "yesterday").contains("nor is it a date"));
    record(folder.path(), &format!("{NODES}{}", job("tree.b", "x", 1, 1, "cpu = 1")), "fair");
    assert!(wrong("log.jsonl", "Mar 3 14:30").contains("does not say what the clock said"));
    assert_eq!(explain(folder.path(), &["--at", "5s"])["clock_us"], Value::Null);
}

/// 6 cores and 2 GPUs are free in rack a, 8 and 4 in rack b, until 100 s.
const RACKS: &str = r#"
[cluster]
resources = ["cpu", "gpu"]
[[cluster.node]]
labels = { rack = "a" }
capacity = { cpu = 8, gpu = 4 }
[[cluster.node]]
labels = { rack = "b" }
capacity = { cpu = 8, gpu = 4 }
[[queue]]
name = "base"
[[queue]]
name = "lab"
order = "fifo"
[[job]]
queue = "base"
demand = { cpu = 2, gpu = 2 }
duration = 100
limit = 100
constraints = { require = { rack = ["a"] } }
"#;

/// A master and two workers that start together.
fn master_and_workers(more: &str, master: &str, worker: &str) -> String {
    let group = |tasks: u32, demand: &str| {
        format!("[[job.group]]\ntasks = {tasks}\ndemand = {{ {demand} }}\nduration = 10\n")
    };
    let job = "[[job]]\nqueue = \"lab\"\nname = \"train\"\nsubmit = 1\ngang = true\n";
    format!("{job}{more}{}{}", group(1, master), group(2, worker))
}

#[test]
fn of_a_gang_of_several_groups_it_is_told_which_lacks_room() {
    let dir = folder();
    let folder = dir.path();
    let told = |gang: &str, policy: &str| {
        record(folder, &format!("{RACKS}{gang}"), policy);
        let words = succeed(folder, &["explain", "log.jsonl", "--job", "train", "--at", "50"]);
        (explain(folder, &["--job", "train", "--at", "50"]), words)
    };
    let of_groups = |told: &Value| -> Vec<(Option<u64>, Option<u64>, Option<u64>)> {
        let groups = told["obstacles"][0]["groups"].as_array().expect("of several").iter();
        groups
            .map(|it| (it["alone"].as_u64(), it["beside"].as_u64(), it["nodes"].as_u64()))
            .collect()
    };
    // A worker finds no room on either node: 3 GPUs are free on one of them.
    let (one, words) = told(&master_and_workers("", "cpu = 7", "cpu = 1, gpu = 3"), "fair");
    assert_eq!(obstacles(&one), ["gang"]);
    assert_eq!(
        (&one["obstacles"][0]["together"], &one["obstacles"][0]["fit"]),
        (&3.into(), &2.into())
    );
    assert_eq!(of_groups(&one), [(Some(1), None, Some(2)), (Some(1), Some(1), Some(2))]);
    for part in [
        "gang      3 tasks of 2 groups start together, and 2 of them would fit now\n",
        "            group 1, 1 task of cpu 7: would fit\n",
        "            group 2, 2 tasks of cpu 1, gpu 3 each: 1 would fit on the 2 nodes allowed, \
         1 missing\n",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Both fit, and not together: the node of the master has a core left for no worker.
    let (both, words) = told(&master_and_workers("", "cpu = 7", "cpu = 2, gpu = 2"), "fair");
    assert_eq!(of_groups(&both), [(Some(1), Some(0), Some(2)), (Some(2), Some(1), Some(2))]);
    for part in [
        "group 1, 1 task of cpu 7: would fit by itself; 0 besides the others, 1 missing\n",
        "would fit by itself; 1 besides the others, 1 missing\n",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // In one rack: that where most of it fits is told.
    let other = "[[job]]\nqueue = \"base\"\ndemand = { cpu = 1 }\nduration = 100\n\
                 constraints = { require = { rack = [\"b\"] } }\n";
    let same = master_and_workers("same = \"rack\"\n", "cpu = 6", "cpu = 1, gpu = 2");
    let (racked, words) = told(&format!("{other}{same}"), "fair");
    assert_eq!(racked["obstacles"][0]["on"]["rack"], "b");
    assert_eq!(of_groups(&racked), [(Some(1), Some(0), Some(1)), (Some(2), Some(1), Some(1))]);
    assert!(words.contains("2 of them would fit now, where rack is b\n"), "{words}");
}

#[test]
fn what_is_told_of_a_gang_of_several_groups_is_of_all_of_them() {
    let dir = folder();
    let folder = dir.path();
    let gang = master_and_workers("", "cpu = 7", "cpu = 2, gpu = 2");
    // A maximum share counts all of it.
    let most = RACKS.replace("name = \"lab\"\n", "name = \"lab\"\nmax = { cpu = 11 }\n");
    let held = "[[job]]\nqueue = \"lab\"\nname = \"first\"\ndemand = { cpu = 1 }\nduration = 80\n";
    record(folder, &format!("{most}{held}{gang}"), "fair");
    let told = explain(folder, &["--job", "train", "--at", "50"]);
    let quota = &told["obstacles"][0];
    assert_eq!((&quota["what"], &quota["together"]), (&"quota".into(), &3.into()), "{told}");
    assert_eq!(quota["bounds"][0]["asks"], 11.0);
    let words = succeed(folder, &["explain", "log.jsonl", "--job", "train", "--at", "50"]);
    assert!(words.contains("the 3 tasks that start together ask for 11"), "{words}");
    // Who comes behind it sees all of it ahead.
    let behind = job("lab", "next", 2, 1, "cpu = 9");
    let behind = behind.replace("cpu = 9", "cpu = 8");
    record(folder, &format!("{RACKS}{gang}{behind}{}", "gang = true\n"), "fair,when_blocked=wait");
    let told = explain(folder, &["--job", "next", "--at", "50"]);
    let ahead = &told["leaf"]["first"][0];
    assert_eq!((&ahead["waiting_tasks"], &ahead["joint"]), (&3.into(), &true.into()), "{told}");
    assert_eq!(ahead["demand"]["cpu"], 11.0);
    let words = succeed(folder, &["explain", "log.jsonl", "--job", "next", "--at", "50"]);
    assert!(
        words.contains("train: 3 tasks that start together, of cpu 11, gpu 4 in all"),
        "{words}"
    );
    // Room is held for all of it.
    record(folder, &format!("{RACKS}{gang}"), "fair,when_blocked=reserve");
    let told = explain(folder, &["--job", "train", "--at", "50"]);
    let held = &told["reservations"][0];
    assert_eq!((&held["tasks"], &held["expected_s"]), (&3.into(), &100.0.into()), "{told}");
    let nodes = held["nodes"].as_array().expect("two");
    let with = |node: &Value| node["others"][0]["tasks"].as_u64().unwrap_or(0);
    assert_eq!(nodes.iter().map(with).sum::<u64>(), 2);
    assert_eq!(nodes.iter().filter_map(|node| node["tasks"].as_u64()).sum::<u64>(), 1);
    let words = succeed(folder, &["explain", "log.jsonl", "--job", "train", "--at", "50"]);
    assert!(words.contains("x cpu 2, gpu 2 on "), "{words}");
}

/// Where nobody knows when tasks end, a wide one takes whichever of two nodes has room first.
#[test]
fn the_spares_of_a_reservation_are_told() {
    let dir = folder();
    let folder = dir.path();
    let full = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\nname = \"n\"\ncount = 3\n\
                capacity = { cpu = 2 }\n[[queue]]\nname = \"base\"\n[[queue]]\nname = \"lab\"\n\
                [[job]]\nqueue = \"base\"\ntasks = 6\nduration = 100\ndemand = { cpu = 1 }\n";
    let scenario = format!("{full}{}", job("lab", "wide", 10, 1, "cpu = 2"));
    for (policy, spares, place) in [
        ("fair,when_blocked=reserve", Some(1), "cpu 2 on n-0 or cpu 2 on n-1, whichever has room "),
        ("fair,spares=0", None, "cpu 2 on n-0: nobody knows from when on"),
    ] {
        record(folder, &scenario, policy);
        let told = explain(folder, &["--job", "wide", "--at", "50"]);
        let held = &told["reservations"][0];
        assert_eq!(held["spares"].as_u64(), spares, "{told}");
        assert_eq!((&held["tasks"], &held["expected_s"]), (&1.into(), &Value::Null), "{told}");
        let nodes = held["nodes"].as_array().expect("a list");
        assert_eq!(nodes.len() as u64, 1 + spares.unwrap_or(0));
        assert!(nodes.iter().all(|node| node["tasks"] == 1), "{told}");
        let words = succeed(folder, &["explain", "log.jsonl", "--job", "wide", "--at", "50"]);
        assert!(words.contains(place), "{words}");
    }
}

const ABOVE_MAXIMUM: &str = "\
[cluster]
resources = [\"cpu\", \"memory\"]
[[cluster.node]]
count = 4
capacity = { cpu = 16, memory = \"64GiB\" }
[[queue]]
name = \"dept\"
max = { cpu = 40 }
[[queue]]
name = \"dept.team\"
[[queue]]
name = \"other\"
[[job]]
queue = \"other\"
tasks = 16
demand = { cpu = 4 }
duration = \"1h\"
[[job]]
queue = \"dept.team\"
name = \"gang\"
submit = \"10s\"
tasks = 6
gang = true
demand = { cpu = 4 }
duration = \"1h\"
[[job]]
queue = \"dept.team\"
name = \"large\"
submit = \"15s\"
tasks = 11
gang = true
demand = { cpu = 4, memory = \"1GiB\" }
duration = \"1h\"
[[job]]
queue = \"dept.team\"
submit = \"20s\"
demand = { cpu = 4 }
duration = \"1h\"
[[change]]
at = \"30min\"
queue = { name = \"dept\", max = { cpu = 20 } }
";

/// A gang asks for all its tasks at once: beside a maximum share that is what counts, and a refusal
/// names the job, the queue and the resource that is bounded.
#[test]
fn a_gang_above_a_maximum_share() {
    let place = folder();
    std::fs::write(place.path().join("s.toml"), ABOVE_MAXIMUM).unwrap();
    let args = ["simulate", "s.toml", "-p", "long-term", "--log", "l.jsonl"];
    let table = succeed(place.path(), &args).split_whitespace().collect::<Vec<_>>().join(" ");
    let refused = "1 job refused (large of queue dept.team: a gang asks for cpu 44, memory \
                   11811160064 bytes at once, more than the maximum share of queue `dept` (cpu \
                   40))";
    assert!(table.contains(refused), "{table}");
    let args = ["explain", "l.jsonl", "--job", "gang", "--at", "90min"];
    let words = succeed(place.path(), &args).split_whitespace().collect::<Vec<_>>().join(" ");
    let quota = "the maximum share of queue dept: cpu: holds 4 of at most 20, the 6 tasks that \
                 start together ask for 24, which is never below it";
    assert!(words.contains(quota), "{words}");
}
