//! What the issue and the papers show, as scenarios through the program.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::{folder, meed, succeed};
use serde_json::Value;

/// The lines of the log of each policy's run.
fn logs(path: &Path) -> BTreeMap<String, Vec<Value>> {
    let text = fs::read_to_string(path).expect("the log was written");
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut policy = String::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        if let Some(run) = line.get("run") {
            policy = run["policy"].as_str().expect("a run names its policy").to_owned();
        }
        runs.entry(policy.clone()).or_default().push(line);
    }
    runs
}

/// Starts of `queue` in each of so many units of `unit_s` seconds.
fn starts(log: &[Value], queue: &str, units: usize, unit_s: f64) -> Vec<u64> {
    let mut counts = vec![0; units];
    for line in log.iter().filter(|line| line["start"]["queue"] == queue) {
        let unit = (line["t"].as_f64().expect("a time") / unit_s) as usize;
        if unit < units {
            counts[unit] += 1;
        }
    }
    counts
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    words.sort_unstable();
    words
}

#[test]
fn the_plain_form_runs_as_it_stands() {
    let form = |submit: &str, kind: &str, amount: &str, capacity: &str| {
        format!(
            "[cluster]\nresources = [\"{kind}\"]\n[[cluster.node]]\ncount = 1\ncapacity = {{ \
             {kind} = {capacity} }}\n\
             [[queue]]\nname = \"a\"\nweight = 1\n[[job]]\nqueue = \"a\"\nsubmit = {submit}\ntasks \
             = 20\n\
             demand = {{ {kind} = {amount} }}\nduration = 1\n[policy]\norder = \
             \"long-term\"\nquantum = 1\n"
        )
    };
    for (submit, kind, amount, capacity, end_s, used) in [
        ("0", "slot", "1", "100", 1.0, 20.0),
        ("\"90s\"", "slot", "1", "100", 91.0, 20.0),
        ("\"3min\"", "slot", "1", "100", 181.0, 20.0),
        ("\"1h\"", "slot", "1", "10", 3602.0, 20.0),
        ("1.5", "memory", "\"4GiB\"", "\"80GiB\"", 2.5, 80.0 * 1_073_741_824.0),
        ("0", "cpu", "\"500m\"", "5", 2.0, 10.0),
    ] {
        let folder = folder();
        fs::write(folder.path().join("s.toml"), form(submit, kind, amount, capacity))
            .expect("a writable folder");
        let json = succeed(folder.path(), &["simulate", "s.toml", "--json", "-", "--quiet"]);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        for run in json["runs"].as_array().expect("runs") {
            assert_eq!(run["end_s"], end_s, "{submit} {kind} {amount}");
            assert_eq!(run["queues"][0]["usage"][kind], used, "{submit} {kind} {amount}");
        }
    }
}

#[test]
fn table_1_of_ics_14() {
    let folder = folder();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/table1.toml");
    succeed(folder.path(), &["simulate", scenario, "--log", "log.jsonl", "--json", "out.json"]);
    let logs = logs(&folder.path().join("log.jsonl"));
    for (policy, a, b) in [
        ("static", [20, 40, 50, 50, 40], [50, 50, 50, 50, 50]),
        ("fair", [20, 40, 50, 50, 40], [80, 60, 50, 50, 20]),
        ("long-term", [20, 40, 80, 60, 0], [80, 60, 20, 40, 60]),
    ] {
        assert_eq!(starts(&logs[policy], "A", 5, 60.0), a, "{policy}");
        assert_eq!(starts(&logs[policy], "B", 5, 60.0), b, "{policy}");
        let start = logs[policy].iter().find(|line| line.get("start").is_some()).expect("a start");
        assert_eq!(keys(start), ["seq", "start", "t"]);
        assert_eq!(keys(&start["start"]), ["job", "node", "queue", "reason", "task"]);
        assert!(!start["start"]["reason"]["levels"].as_array().expect("levels").is_empty());
        let finish = logs[policy].last().expect("an end");
        assert_eq!(finish["finish"]["decisions"], 460, "{policy}");
    }
    let text = fs::read_to_string(folder.path().join("out.json")).expect("written");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(keys(&json), words("schema scenario seed assumptions runs"));
    let run = &json["runs"][2];
    let run_keys = "policy measured end_s events decisions refused failed unfinished trace_lines \
        skipped_lines ignored_lines \
                    utilization psi omega jain dominant_psi dominant_omega dominant_jain \
                    mean_job_s p50_job_s p99_job_s \
                    mean_wait_s longest_wait_s queues groups series";
    assert_eq!(keys(run), words(run_keys));
    let queue_keys = "queue weight share usage charged rho dominant_rho lent borrowed balance jobs \
        tasks mean_job_s p50_job_s \
                      p99_job_s mean_wait_s longest_wait_s speedup job_s_percentiles overtaken";
    assert_eq!(keys(&run["queues"][0]), words(queue_keys));
    assert_eq!(
        keys(&run["series"]),
        words("t_s psi omega dominant_psi dominant_omega utilization queues")
    );
    assert_eq!(
        keys(&run["series"]["queues"][0]),
        words("demand allocation usage rho dominant_rho balance charged quantum_s")
    );
    assert_eq!(run["queues"][0]["usage"]["slot"], 200.0 * 60.0);
    assert_eq!(run["queues"][1]["usage"]["slot"], 260.0 * 60.0);
    assert_eq!(
        run["queues"][0]["balance"].as_f64(),
        run["queues"][1]["balance"].as_f64().map(|b| -b)
    );
}

/// TSC'18 Fig. 2: twelve slots, two groups of two.
fn figure_2(t_wait: &str) -> String {
    let mut text = format!(
        "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncapacity = {{ slot = 12 }}\n\
         [policy]\norder = \"long-term\"\nquantum = 1\nt_wait = {t_wait}\n"
    );
    for queue in ["G1", "G1.A", "G1.B", "G2", "G2.C", "G2.D"] {
        text += &format!("[[queue]]\nname = \"{queue}\"\n");
    }
    for (submit, tasks) in [(0, [200, 10, 50, 60]), (27, [20, 60, 40, 80])] {
        for (queue, tasks) in ["G1.A", "G1.B", "G2.C", "G2.D"].iter().zip(tasks) {
            text += &format!(
                "[[job]]\nqueue = \"{queue}\"\nsubmit = {submit}\ntasks = {tasks}\ndemand = {{ \
                 slot = 1 }}\nduration = 1\n"
            );
        }
    }
    text
}

#[test]
fn figure_2_of_tsc_18() {
    let served = |t_wait: &str| {
        let folder = folder();
        fs::write(folder.path().join("s.toml"), figure_2(t_wait)).expect("a writable folder");
        succeed(
            folder.path(),
            &["simulate", "s.toml", "--policy", "long-term", "--log", "l.jsonl", "--quiet"],
        );
        starts(&logs(&folder.path().join("l.jsonl"))["long-term"], "G1.B", 60, 1.0)
    };
    let naive = served("\"never\"");
    assert_eq!(naive[..4], [3, 3, 3, 1]);
    assert_eq!(naive[27..35], [0; 8], "starved while G2 catches up");
    assert_eq!(naive.iter().sum::<u64>(), 70);
    let at_once = served("0");
    assert_eq!(at_once[27], 12, "it has used least");
    let patient = served("3");
    assert!(patient[27..30].iter().all(|&n| n == 0) && patient[30] > 0, "{patient:?}");
}

/// TPDS'15 Fig. 2 and 3 with whole tasks: each server by itself gives both users six, and what it
/// cannot mean is refused.
#[test]
fn each_server_by_itself() {
    let folder = folder();
    let scenario = "[cluster]\nresources = [\"cpu\", \"memory\"]\n\
        [[cluster.node]]\nname = \"s1\"\ncapacity = { cpu = 2, memory = \"12GB\" }\n\
        [[cluster.node]]\nname = \"s2\"\ncapacity = { cpu = 12, memory = \"2GB\" }\n\
        [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n\
        [[job]]\nqueue = \"a\"\ntasks = 30\nduration = 10\ndemand = { cpu = 0.2, memory = \"1GB\" \
        }\n\
        [[job]]\nqueue = \"b\"\ntasks = 30\nduration = 10\ndemand = { cpu = 1, memory = \"0.2GB\" \
        }\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    succeed(
        folder.path(),
        &[
            "simulate",
            "s.toml",
            "-p",
            "per-server-drf",
            "-p",
            "drfh",
            "--log",
            "log.jsonl",
            "--quiet",
        ],
    );
    let runs = logs(&folder.path().join("log.jsonl"));
    for (policy, first) in [("per-server-drf", 6), ("drfh", 10)] {
        for queue in ["a", "b"] {
            assert_eq!(starts(&runs[policy], queue, 1, 10.0), [first], "{queue} under {policy}");
        }
    }
    let on = |node: &str, queue: &str| {
        let log = runs["per-server-drf"].iter();
        let here = |line: &&Value| {
            line["start"]["queue"] == queue && line["start"]["node"] == node && line["t"] == 0.0
        };
        log.filter(here).count()
    };
    let counts = [on("s1", "a"), on("s1", "b"), on("s2", "a"), on("s2", "b")];
    assert_eq!(counts, [5, 1, 1, 5]);
    succeed(folder.path(), &["replay", "log.jsonl", "--verify", "--run", "per-server-drf"]);
    let queue = scenario.replace("name = \"a\"\n", "name = \"a\"\norder = \"per-server-drf\"\n");
    fs::write(folder.path().join("q.toml"), queue).expect("a writable folder");
    for (args, part) in [
        (["s.toml", "-p", "per-server-drf,placement=best-fit"], "takes no placement"),
        (["s.toml", "-p", "per-server-drf,when_blocked=wait"], "each server decides on its own"),
        (["q.toml", "-p", "drf"], "make it the order of the whole run"),
    ] {
        let output = meed(folder.path(), &[&["simulate"], &args[..]].concat());
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {words}");
        assert!(words.contains(part), "{args:?}: {words}");
    }
}

/// A parent one of whose children holds a resource that nobody else wants does not starve its other
/// child of another (Bhattacharya et al., SoCC 2013): the plain sum of its amounts would stand at 1
/// and the sibling would get every core.
#[test]
fn hierarchical_drf_does_not_starve() {
    let folder = folder();
    let scenario = "[cluster]\nresources = [\"cpu\", \"gpu\"]\n[[cluster.node]]\ncapacity = { cpu \
        = 10, gpu = 10 }\n\
        [[queue]]\nname = \"a\"\n[[queue]]\nname = \"p.cores\"\n[[queue]]\nname = \"p.graphics\"\n\
        [[job]]\nqueue = \"a\"\ntasks = 5000\nduration = 1\ndemand = { cpu = 1 }\n\
        [[job]]\nqueue = \"p.cores\"\ntasks = 5000\nduration = 1\ndemand = { cpu = 1 }\n\
        [[job]]\nqueue = \"p.graphics\"\ntasks = 5000\nduration = 1000\ndemand = { gpu = 1 }\n\
        [run]\nuntil = 60\n";
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    for policy in ["drf", "drfh"] {
        succeed(
            folder.path(),
            &["simulate", "s.toml", "-p", policy, "--log", "log.jsonl", "--quiet"],
        );
        let runs = logs(&folder.path().join("log.jsonl"));
        let [mine, theirs] = ["p.cores", "a"].map(|queue| starts(&runs[policy], queue, 50, 1.0));
        let graphics: u64 = starts(&runs[policy], "p.graphics", 50, 1.0).iter().sum();
        assert_eq!(graphics, 10, "{policy}");
        assert_eq!((&mine[5..], &theirs[5..]), (&[5; 45][..], &[5; 45][..]), "{policy}");
    }
}

/// With one resource `long-term-drf` is `long-term` under every choice that this has, and every
/// choice changes something, with one resource and with two.
#[test]
fn long_term_drf_takes_every_choice_of_long_term() {
    const CHOICES: [&str; 9] = [
        "",
        ",round=7s",
        ",half_life=5s",
        ",newcomer=early-bird",
        ",newcomer=average",
        ",discount=0.2",
        ",quantum=1s",
        ",quantum_interval=30s",
        ",t_wait=2s",
    ];
    let folder = folder();
    let started = |scenario: &str, policy: &str| -> Vec<(String, String)> {
        fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
        succeed(
            folder.path(),
            &["simulate", "s.toml", "-p", policy, "--log", "log.jsonl", "--quiet"],
        );
        let runs = logs(&folder.path().join("log.jsonl"));
        let lines = runs[policy].iter().filter(|line| !line["start"].is_null());
        lines.map(|line| (line["t"].to_string(), line["start"]["queue"].to_string())).collect()
    };
    // Bounds of queues are the scenario's.
    for (memory, bounds) in
        [("", ""), ("", "min = { cpu = 3 }\n"), ("", "max = { cpu = 2 }\n"), (", memory = 1", "")]
    {
        let (kinds, capacity) = match memory {
            "" => ("\"cpu\"", ""),
            _ => ("\"cpu\", \"memory\"", ", memory = 20"),
        };
        let job = |queue: &str, submit: u32, tasks: u32, duration: u32, cpu: u32, memory: &str| {
            format!(
                "[[job]]\nqueue = \"{queue}\"\nsubmit = {submit}\ntasks = {tasks}\nduration = \
                 {duration}\n\
                 demand = {{ cpu = {cpu}{memory} }}\n"
            )
        };
        let jobs = [
            job("x.a", 0, 60, 3, 1, memory),
            job("x.b", 4, 40, 2, 1, ""),
            job("y.c", 6, 60, 5, 1, memory),
            job("y.d", 15, 30, 1, 2, memory),
        ];
        let scenario = format!(
            "[cluster]\nresources = [{kinds}]\n[[cluster.node]]\ncapacity = {{ cpu = 8{capacity} \
             }}\n\
             [[queue]]\nname = \"x\"\nweight = 2\n[[queue]]\nname = \"x.a\"\n[[queue]]\nname = \
             \"x.b\"\n\
             [[queue]]\nname = \"y\"\n{bounds}[[queue]]\nname = \"y.c\"\n[[queue]]\nname = \
             \"y.d\"\n{}",
            jobs.concat()
        );
        let plain = started(&scenario, "long-term-drf,placement=first-fit");
        for choice in CHOICES {
            let dominant =
                started(&scenario, &format!("long-term-drf,placement=first-fit{choice}"));
            assert!(
                choice.is_empty() || dominant != plain,
                "`{choice}` changes nothing {memory} {bounds}"
            );
            if memory.is_empty() {
                let counted = started(&scenario, &format!("long-term{choice}"));
                assert_eq!(dominant, counted, "`{choice}` {bounds}");
            }
        }
        if !bounds.is_empty() {
            let without = scenario.replace(bounds, "");
            assert_ne!(
                started(&without, "long-term-drf,placement=first-fit"),
                plain,
                "{bounds} changes nothing"
            );
        }
    }
}
