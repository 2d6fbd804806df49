//! What can never be is refused before it is tried: draws, minimum shares, endless workloads.

use std::fs;

use crate::common::{folder, meed, succeed};

const HEAD: &str = "[cluster]\nresources = [\"cpu\", \"memory\"]\n[[cluster.node]]\ncount = 2\n\
                    capacity = { cpu = 4, memory = \"8GiB\" }\n[[queue]]\nname = \"a\"\n";

/// Runs a scenario that begins with [`HEAD`]; the code, and what is said.
fn run(rest: &str) -> (Option<i32>, String) {
    run_as("fair", rest)
}

/// The same under a policy.
fn run_as(policy: &str, rest: &str) -> (Option<i32>, String) {
    let place = folder();
    fs::write(place.path().join("s.toml"), format!("{HEAD}{rest}")).expect("a writable folder");
    let output = meed(place.path(), &["simulate", "s.toml", "-p", policy]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A minimum that nobody would keep is refused, at the start and in a change.
#[test]
fn minimums_of_what_is_not_counted() {
    let job = "[[job]]\nqueue = \"a\"\nduration = 1\ndemand = { cpu = 1 }\n";
    let why = "queue `a`: a minimum share of memory would not be kept: the order above it (`fair`) \
               counts cpu only";
    let (code, words) = run(&format!("min = {{ memory = \"1GiB\" }}\n{job}"));
    assert_eq!((code, words.contains(why), words.lines().count()), (Some(3), true, 1), "{words}");
    let change = "[[change]]\nat = 5\nqueue = { name = \"a\", min = { memory = \"1GiB\" } }\n";
    let (code, words) = run(&format!("{job}{change}"));
    let place = format!("change at 5 s: {why}");
    assert_eq!((code, words.contains(&place)), (Some(3), true), "{words}");
    let (counted, memory) = ("min = { cpu = 1 }\n", "min = { memory = \"1GiB\" }\n");
    let dominant = "under `drf` the minimum share of `a` is a dominant share: a queue that holds \
                    as large a part of cpu has it, whatever it holds of memory";
    let unread = |policy: &str| {
        format!("`{policy}` reads no minimum shares: those of `a` are not kept under it")
    };
    for (policy, min, told) in [
        ("fair", counted, String::new()),
        ("drf", memory, dominant.to_owned()),
        ("drf", "min = { cpu = 1, memory = \"1GiB\" }\n", String::new()),
        ("slots", memory, unread("slots")),
        ("static", counted, unread("static")),
    ] {
        let (code, words) = run_as(policy, &format!("{min}{job}"));
        assert_eq!(code, Some(0), "{policy}: {words}");
        let is_told = match told.is_empty() {
            true => words.is_empty(),
            false => words.split_whitespace().collect::<Vec<_>>().join(" ").contains(&told),
        };
        assert!(is_told, "{policy}: {words}");
    }
}

#[test]
fn draws_that_cannot_be() {
    let generator = |arrivals: &str, tasks: &str, duration: &str| {
        format!(
            "[[generator]]\nqueue = \"a\"\narrivals = {arrivals}\njobs = 1\ntasks = {tasks}\n\
             duration = {duration}\ndemand = {{ cpu = 1 }}\n"
        )
    };
    let every = "{ every = 1 }";
    for (arrivals, tasks, duration, message) in [
        (every, "{ uniform = [1, 1e300] }", "1", "tasks: 1000"),
        (every, "{ uniform = [1, 16777217] }", "1", "tasks: 16777217 can be drawn; 1 to 16777216"),
        (every, "{ uniform = [0, 4] }", "1", "tasks: 0 can be drawn; 1 to 16777216 are possible"),
        (every, "{ choice = [[1, 5], [99999999, 1]] }", "1", "tasks: 99999999 can be drawn"),
        (every, "{ choice = [[0, 5], [9, 1]] }", "1", "tasks: 0 can be drawn"),
        (every, "{ exponential = 1e300 }", "1", "tasks: 1000"),
        (every, "{ lognormal = [1e300, 1] }", "1", "tasks: 1000"),
        (every, "{ pareto = [1e300, 1] }", "1", "tasks: 1000"),
        (every, "{ pareto = [1, 1], max = 1e300 }", "1", "tasks: 1000"),
        (every, "99999999", "1", "tasks: is 99999999; 1 to 16777216 are possible"),
        (every, "1", "{ uniform = [0, 1e300] }", "duration: 1000"),
        (every, "1", "{ exponential = 1e11 }", "duration: 100000000000 can be drawn; 0 to 9007199"),
        (every, "1", "{ choice = [[1, 1], [1e12, 1]] }", "duration: 1000000000000 can be drawn"),
        ("{ gaps = { uniform = [0, 1e300] } }", "1", "1", "gap: 1000"),
        ("{ closed = 2, pause = { uniform = [0, 1e300] } }", "1", "1", ""),
    ] {
        let (code, words) = run(&generator(arrivals, tasks, duration));
        assert_eq!(code, Some(3), "{tasks} {duration}: {words}");
        assert!(words.contains(message), "{tasks} {duration}: {words}");
        assert_eq!(words.lines().count(), 1, "{words}");
    }
    // What never comes is possible, and rare tails are told.
    let (code, words) = run(&generator(every, "{ choice = [[1, 5], [99999999, 0]] }", "1"));
    assert_eq!((code, words.as_str()), (Some(0), ""));
    let (code, words) = run(&generator(every, "{ pareto = [1, 1.5] }", "{ exponential = 9 }"));
    let cut = "generator `a-0`: tasks above 16777216 may be drawn and are cut to that; `max` says";
    assert_eq!((code, words.contains(cut)), (Some(0), true), "{words}");
    let (code, words) =
        run(&generator(every, "{ pareto = [1, 3], max = 9 }", "{ exponential = 9 }"));
    assert_eq!((code, words.as_str()), (Some(0), ""));
}

#[test]
fn minimums_that_no_cluster_gives() {
    let job = "[[job]]\nqueue = \"a\"\ntasks = 1\ndemand = { cpu = 1 }\nduration = 1\n";
    let (code, words) = run(&format!("min = {{ cpu = 9 }}\n{job}"));
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("a minimum of cpu 9 can never be given; all nodes together have 8"));
    let (code, words) = run(&format!("min = {{ memory = \"17GiB\" }}\n{job}"));
    assert_eq!(code, Some(3), "{words}");
    let change = "[[change]]\nat = 1\nqueue = { name = \"a\", min = { cpu = 9 } }\n";
    let (code, words) = run(&format!("{job}{change}"));
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("a minimum of cpu 9 can never be given; all nodes together have 8"));
    // What joins later counts.
    let joins = "[[change]]\nat = 1\nnode_joins = { name = \"m\", capacity = { cpu = 4 } }\n";
    let (code, words) = run(&format!("min = {{ cpu = 9 }}\n{job}{joins}"));
    assert_ne!(code, Some(3), "{words}");
    // Together they may be above what there is: not all want theirs at once.
    let two = format!("min = {{ cpu = 5 }}\n[[queue]]\nname = \"b\"\nmin = {{ cpu = 5 }}\n{job}");
    let (code, words) = run(&two);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("together above the cpu of all nodes (8)"), "{words}");
}

#[test]
fn more_jobs_than_anybody_waits_for() {
    let generator = |arrivals: &str, end: &str| {
        format!(
            "[[generator]]\nqueue = \"a\"\narrivals = {arrivals}\n{end}\ntasks = 1\nduration = 1\n\
             demand = {{ cpu = 1 }}\n"
        )
    };
    for (arrivals, end, message) in [
        (
            "{ every = \"1us\" }",
            "until = \"365d\"",
            "a job each 1us for 365d makes about 31536000000000 jobs, more than the 1000000000",
        ),
        ("{ poisson = \"1us\" }", "until = \"365d\"", "makes about 31536000000000 jobs"),
        ("{ every = \"1s\" }", "jobs = 2000000000", "2000000000 jobs are more than the 1000000000"),
    ] {
        let (code, words) = run(&generator(arrivals, end));
        assert_eq!(code, Some(3), "{words}");
        assert!(words.contains(message) && words.contains("most_jobs in [run]"), "{words}");
    }
    let (code, words) = run(&format!(
        "{}[run]\nuntil = 10\nmost_jobs = 5\n",
        generator("{ every = 1 }", "until = \"10s\"")
    ));
    assert_eq!(code, Some(3), "{words}");
    let few = generator("{ every = \"1us\" }", "until = \"365d\"\njobs = 10");
    let place = folder();
    fs::write(place.path().join("s.toml"), format!("{HEAD}{few}")).expect("a writable folder");
    let told = succeed(place.path(), &["trace", "inspect", "s.toml"]);
    assert!(told.starts_with("10 jobs"), "{told}");
}
