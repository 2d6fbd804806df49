//! What is wrong is said in one sentence, with the documented exit code, and leaves no file behind.

use std::fs;
use std::path::Path;

use crate::common::{folder, meed};

pub(crate) const GOOD: &str = "[cluster]\nresources = [\"slot\"]\n\
                               [[cluster.node]]\ncapacity = { slot = 4 }\n\
                               [[queue]]\nname = \"a\"\n[[queue]]\nname = \"p.b\"\n\
                               [[job]]\nqueue = \"a\"\ntasks = 2\ndemand = { slot = 1 }\n\
                               duration = 1\n";

/// Runs the scenario with `args`; the exit code and a part of the message are known, and no file is
/// left.
pub(crate) fn check(scenario: &str, args: &[&str], code: i32, message: &str) {
    let folder = folder();
    traces(folder.path());
    fs::write(folder.path().join("s.toml"), scenario).expect("a writable folder");
    let before = files(folder.path());
    let mut all = vec![
        "simulate",
        "s.toml",
        "--json",
        "out.json",
        "--report",
        "out.html",
        "--log",
        "out.jsonl",
    ];
    all.extend(args);
    fails(folder.path(), &all, code, message);
    assert_eq!(files(folder.path()), before, "{args:?} {scenario}");
}

pub(crate) fn fails(folder: &Path, args: &[&str], code: i32, message: &str) {
    let output = meed(folder, args);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {words}");
    assert!(words.contains(message), "{args:?}: `{message}` is not in: {words}");
    assert!(!words.contains("panicked") && !words.contains("untagged"), "{words}");
    if code != 2 {
        let sentence = words.lines().last().unwrap_or_default();
        assert!(sentence.starts_with("meed: ") && sentence.len() < 800, "{words}");
    }
}

/// All files below, in order.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").path().display().to_string()).collect();
    names.sort();
    names
}

/// Traces that are wrong in some way.
fn traces(folder: &Path) {
    let head = "{\"meed_trace\":1,\"resources\":{\"slot\":\"milli\"},\"queues\":[\"a\",\"x\"]}\n";
    let job = |submit: &str| {
        format!(
            "{{\"submit_s\":{submit},\"queue\":\"x\",\"tasks\":[{{\"demand\":{{\"slot\":1}},\"dura\
                tion_s\":1}}]}}\n"
        )
    };
    let swf = |line: &str| format!("; MaxProcs: 4\n{line}");
    let good = "1 0 0 5 2 -1 -1 2 5 -1 1 3 1 1 1 1 -1 -1\n";
    let write =
        |name: &str, text: &str| fs::write(folder.join(name), text).expect("a writable folder");
    write("order.jsonl", &format!("{head}{}{}", job("5"), job("4")));
    write("cut.jsonl", &format!("{head}{}", job("5").trim_end_matches("1}]}\n")));
    write("parent.jsonl", &format!("{}{}", head.replace("\"a\"", "\"x.y\""), job("1")));
    write("below.jsonl", &format!("{}{}", head.replace("\"x\"]", "\"x\",\"a.y\"]"), job("1")));
    write("columns.swf", &swf(&format!("{good}1 0 0 5\n")));
    write("none.swf", &swf(""));
    write("words.swf", &swf("one two\n"));
    write("wide.jsonl", &format!("{head}{}", job("1").replace("\"slot\":1}", "\"slot\":9}")));
    // A gzip file that ends in the middle: magic, method, and the start of a stored block.
    fs::write(
        folder.join("cut.swf.gz"),
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0, 99, 0, 156, 255, b'1'],
    )
    .expect("a writable folder");
    fs::create_dir(folder.join("dir")).expect("a writable folder");
    fs::write(folder.join("bytes.toml"), [0xff, 0xfe, 0x00]).expect("a writable folder");
}

#[test]
fn the_good_one_is_good() {
    let folder = folder();
    fs::write(folder.path().join("s.toml"), GOOD).expect("a writable folder");
    crate::common::succeed(folder.path(), &["simulate", "s.toml", "--strict"]);
}

#[test]
fn scenarios_that_are_wrong() {
    for (from, to, message) in [
        ("slot = 4", "slot = 0", "s.toml:3: node `n0`: capacity of `slot` is zero"),
        ("slot = 4", "slot = -4", "s.toml:3: node `n0`, capacity: `slot`"),
        ("slot = 4", "slot = nan", "s.toml:3: node `n0`, capacity: `slot`"),
        ("slot = 4", "slot = 1e30", "s.toml:3: node `n0`, capacity: `slot`"),
        ("slot = 4", "slot = true", "s.toml:4: expected a number, or text with a unit"),
        ("slot = 4", "gpu = 4", "unknown resource `gpu`; the cluster has slot"),
        (
            "slot = 4 }",
            "slot = 4 }\nweight = 11",
            "s.toml:3: node `n0`: weight must be above 0 and at most 10",
        ),
        ("slot = 4 }", "slot = 4 }\ncount = 0", "s.toml:3: node `n0`: count is 0"),
        (
            "slot = 4 }",
            "slot = 4 }\ncount = 16777216",
            "s.toml:3: node `n0`: count is 16777216; at most 1048576 are possible",
        ),
        (
            "slot = 4 }",
            "slot = 4000000000000 }\ncount = 3",
            "s.toml:3: the cluster's total of `slot` exceeds",
        ),
        (
            "[[queue]]",
            "[[cluster.node]]\nname = \"n0\"\ncapacity = { slot = 1 }\n[[queue]]",
            "s.toml:5: node `n0` is declared twice",
        ),
        ("[\"slot\"]", "[\"slot\", \"slot\"]", "s.toml:2: resources"),
        ("[\"slot\"]", "[]", "s.toml:2: resources"),
        ("[\"slot\"]", "[1]", "s.toml:2: expected a resource's name"),
        (
            "\"a\"\n[[queue]]",
            "\"a\"\nweight = 0\n[[queue]]",
            "s.toml:5: queue `a`, weight: 0 is not a weight",
        ),
        ("\"a\"\n[[queue]]", "\"a\"\nweight = -1\n[[queue]]", "s.toml:5: queue `a`, weight:"),
        ("\"a\"\n[[queue]]", "\"a\"\nweight = inf\n[[queue]]", "s.toml:5: queue `a`, weight:"),
        ("\"a\"\n[[queue]]", "\"a\"\nweight = 1000001\n[[queue]]", "s.toml:5: queue `a`, weight:"),
        ("name = \"p.b\"", "name = \"a\"", "s.toml:7: queue `a` is declared twice"),
        ("name = \"p.b\"", "name = \"p..b\"", "s.toml:7: queue name `p..b` has an empty part"),
        ("queue = \"a\"", "queue = \"aa\"", "s.toml:9: unknown queue `aa`; did you mean `a`?"),
        (
            "queue = \"a\"",
            "queue = \"p\"",
            "s.toml:9: queue `p` is a parent (of `p.b`); jobs go to leaves",
        ),
        (
            "{ slot = 1 }",
            "{ slot = 5 }",
            "s.toml:9: queue `a`: a task asks for slot 5, which fits no node; the largest has slot \
             4",
        ),
        ("{ slot = 1 }", "{ slot = 0 }", "s.toml:9: job 0: demand: a task must ask for some"),
        ("{ slot = 1 }", "{ slot = [1] }", "s.toml:12: expected a number, or text with a unit"),
        ("tasks = 2", "tasks = 0", "s.toml:9: job 0: tasks is 0"),
        (
            "tasks = 2",
            "tasks = 99999999",
            "s.toml:9: job 0: tasks is 99999999; it must be 1 to 16777216",
        ),
        ("duration = 1", "duration = -1", "s.toml:9: job 0: duration:"),
        ("duration = 1", "duration = \"300y\"", "s.toml:9: job 0: duration:"),
        ("duration = 1", "duration = nan", "s.toml:9: job 0: duration:"),
        ("duration = 1", "duration = [1, 2, 3]", "3 durations for 2 tasks"),
        ("duration = 1", "duration = { a = 1 }", "s.toml:13: expected a duration"),
        ("duration = 1", "duration = 1\nweight = 0", "s.toml:9: job 0: weight is 0"),
        ("duration = 1", "duration = 1\nsubmit = \"10000000000s\"", "s.toml:9: job 0: submit:"),
        ("duration = 1", "duration = 1\nsumbit = 4", "s.toml:14: unknown field `sumbit`"),
        ("duration = 1", "duration = 1\nsumbit = 4", "did you mean `submit`?"),
        (
            "duration = 1\n",
            "duration = 1\n[policy]\norder = \"longterm\"\n",
            "s.toml:15: unknown order `longterm`; known are fifo, fair, long-term",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[policy]\nround = 0\n",
            "s.toml:15: round must be above zero",
        ),
        ("duration = 1\n", "duration = 1\n[policy]\nhalf_life = \"2y\"\n", "s.toml:15: half_life"),
        (
            "duration = 1\n",
            "duration = 1\n[policy]\ndiscount = nan\n",
            "s.toml:15: discount is NaN",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[policy]\nround = 1\nhalf_life = 1\n",
            "rounds or a half-life, not both",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[fairness]\nresource = \"slots\"\n",
            "s.toml:15: fairness is measured in an unknown resource; did you mean `slot`?",
        ),
        (
            "name = \"p.b\"",
            "name = \"p\"\nmin = { slot = 1 }\n[[queue]]\nname = \"p.b\"\nmin = { slot = 2 }",
            "s.toml:7: queue `p`: the minimum shares of `slot` below it",
        ),
        (
            "name = \"p.b\"",
            "name = \"p.b\"\nmin = { slot = 3 }\nmax = { slot = 2 }",
            "s.toml:7: queue `p.b`: minimum share of `slot` is above its maximum",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[run]\nfail_rate = 1.0\n",
            "s.toml:15: fail_rate is a chance",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[run]\nload = 0\n",
            "s.toml:15: load is 0; it must be 0.001 to 1000",
        ),
        ("duration = 1\n", "duration = 1\n[run]\nload = nan\n", "s.toml:15: load is NaN"),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"none.csv\"\nalign = \"middle\"\n",
            "s.toml:14: trace, align: `middle` is not one of start, end",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"none.csv\"\noffsets = { a = \"x\" }\n",
            "s.toml:14: trace, offsets: \"x\" is not a duration",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"none.csv\"\ntenants = 4\n",
            "s.toml:14: `tenants` means nothing for a trace of this format",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[run]\nuntil = 0\n",
            "s.toml:15: until must be above zero",
        ),
        ("duration = 1\n", "duration = 1\n[run]\nseed = -1\n", "s.toml:15: "),
        (
            "duration = 1\n",
            "duration = 1\n[[change]]\nat = 1\nnode_leaves = \"n1\"\n",
            "there is no node `n1` then; did you mean `n0`?",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[[change]]\nat = 1\nqueue_removed = \"b\"\n",
            "there is no queue `b` then; did you mean `a`?",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[[change]]\nat = 1\nqueue_removed = \"p\"\n",
            "queue `p` still has `p.b` below it",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[[change]]\nat = 1\njob_cancelled = \"x\"\n",
            "there is no job `x` then",
        ),
        ("duration = 1\n", "duration = 1\n[[change]]\nat = 1\n", "s.toml:14: a change is one of"),
        (
            "duration = 1\n",
            "duration = 1\n[[generator]]\nqueue = \"a\"\nduration = 1\ndemand = { slot = 1 \
             }\narrivals = { every = 1 }\n",
            "s.toml:14: generator `a-0` never ends",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[[generator]]\nqueue = \"a\"\nduration = { exp = 1 }\ndemand = { slot = \
             1 }\narrivals = { every = 1 }\njobs = 2\n",
            "s.toml:16: expected a number, or one of { uniform",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"none.swf\"\nprocessor_resource = \"slot\"\n",
            "none.swf",
        ),
        ("duration = 1\n", "duration = 1\n[trace]\nfile = \"none.txt\"\n", "s.toml:14: "),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"parent.jsonl\"\n[[queue]]\nname = \"x.z\"\n",
            "the trace: queue `x` is a parent",
        ),
        (
            "duration = 1\n",
            "duration = 1\n[trace]\nfile = \"below.jsonl\"\n",
            "s.toml:9: queue `a` is a parent (of `a.y`); jobs go to leaves",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        check(&GOOD.replacen(from, to, 1), &[], 3, message);
    }
    for (scenario, message) in [
        ("", "s.toml: is empty"),
        (" \n\n", "s.toml: is empty"),
        ("[cluster", "s.toml:1: "),
        ("[cluster]\nresources = [\"slot\"]\n[[queue]]\nname = \"a\"\n", "s.toml: has no jobs"),
        ("[[queue]]\nname = \"a\"\n", "missing field `cluster`"),
    ] {
        check(scenario, &[], 3, message);
    }
}

#[test]
fn workloads_that_are_wrong() {
    let head = GOOD.split("[[job]]").next().unwrap_or_default();
    let whole = |rest: &str| format!("{head}[[workload]]\n{rest}");
    let purdue = "name = \"purdue\"\nqueue = \"a\"\ndemand = { slot = 1 }\n";
    let facebook = purdue.replace("purdue", "facebook");
    let folder = folder();
    fs::write(folder.path().join("s.toml"), whole(purdue)).expect("a writable folder");
    crate::common::succeed(folder.path(), &["simulate", "s.toml", "--strict", "--quiet"]);
    for (workload, code, message) in [
        (
            purdue.replace("purdue", "perdue"),
            3,
            "s.toml:9: there is no workload `perdue`, only facebook, purdue, tpch, spark. did you \
             mean `purdue`?",
        ),
        (purdue.replace("\"a\"", "\"b\""), 3, "s.toml:9: unknown queue `b`"),
        (
            purdue.replace("\"a\"", "\"p\""),
            3,
            "s.toml:9: queue `p` is a parent (of `p.b`); jobs go to leaves",
        ),
        (
            purdue.replace("slot = 1", "slot = 9"),
            3,
            "s.toml:9: a task asks for slot 9, which fits no node",
        ),
        (
            purdue.replace("slot = 1", "slot = 0"),
            3,
            "s.toml:9: workload `purdue`: demand: a task must ask for some",
        ),
        (format!("{purdue}start = \"soon\"\n"), 3, "s.toml:9: workload `purdue`: start:"),
        (
            format!("{purdue}task_time_scale = 0\n"),
            3,
            "task_time_scale: is 0; 0.001 to 1000 are possible",
        ),
        (
            format!("{purdue}task_time_scale = nan\n"),
            3,
            "task_time_scale: is NaN; 0.001 to 1000 are possible",
        ),
        (format!("{purdue}jobs = 3\n"), 3, "s.toml:13: unknown field `jobs`"),
        (
            format!("{purdue}[[workload]]\n{purdue}"),
            3,
            "s.toml:13: workload `purdue`: queue `a` has it twice, which would draw equal jobs",
        ),
        (
            format!("{purdue}submissions = \"fb.tsv\"\n"),
            3,
            "s.toml:9: workload `purdue`: leave `submissions` out; only facebook takes its times \
             from a file",
        ),
        (format!("{facebook}submissions = \"nowhere.tsv\"\n"), 4, "nowhere.tsv"),
        (
            format!("{facebook}submissions = \"s.toml\"\n"),
            3,
            "s.toml:1: 1 columns; a SWIM line has 6",
        ),
    ] {
        check(&whole(&workload), &[], code, message);
    }
}

#[test]
fn command_lines_that_are_wrong() {
    for (args, code, message) in [
        (
            &["--policy", "fare"][..],
            3,
            "--policy fare: unknown policy `fare`; known are static, slots, fifo, fair, long-term, \
             drf, drfh, per-server-drf, rps-dsf, tetris, long-term-drf, tsf, sdrf, told. did you \
             mean `fair`?",
        ),
        (&["--policy", ""], 3, "unknown policy ``"),
        (&["--policy", "fair,quantum"], 3, "`quantum` is not of the form key=value"),
        (&["--policy", "fair,quantun=1"], 3, "did you mean `quantum`?"),
        (&["--policy", "long-term,quantum=soon"], 3, "quantum: "),
        (
            &["--policy", "long-term,memory=roundz"],
            3,
            "unknown memory `roundz`; known are forever, rounds, half-life. did you mean `rounds`?",
        ),
        (&["--policy", "long-term,memory=rounds"], 3, "memory `rounds` needs `round`"),
        (&["--policy", "long-term,placement=best"], 3, "unknown placement `best`"),
        (&["--set", "policy"], 3, "--set policy: is not of the form key=value"),
        (&["--set", "queue.7.weight=1"], 3, "the list has 2 entries"),
        (&["--set", "queue.nobody.weight=1"], 3, "there is no queue `nobody`"),
        (&["--set", "queue.a.colour=1"], 3, "names no key of a queue"),
        (&["--set", "node.a.x=1"], 3, "unknown field `node`"),
        (&["--set", "=1"], 3, "has an empty part in its key"),
        (&["--set", "polcy.order=fair"], 3, "did you mean `policy`?"),
        (&["--set", "cluster.node.0.capacity.slot.x=1"], 3, "a value, not a table"),
        (&["--set", "cluster.node.0.capacity.a.b=1"], 3, "a.b=1: expected a number"),
        (&["--set", "queue=[1]"], 3, "expected a [[queue]] table"),
        (&["--set", "cluster=3"], 3, "expected a [cluster] table"),
        (&["--set", "job.0.submit=x"], 3, "job 0: submit:"),
        (&["--polcy", "fair"], 2, "unexpected argument '--polcy'"),
        (&["--seed", "x"], 2, "invalid value 'x'"),
        (&["--series", "-1"], 2, "-1"),
        (&["--json", "x.json"], 2, "cannot be used multiple times"),
    ] {
        check(GOOD, args, code, message);
    }
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = folder();
    traces(folder.path());
    fs::write(folder.path().join("s.toml"), GOOD).expect("a writable folder");
    let before = files(folder.path());
    for (args, code, message) in [
        (&["simulate", "none.toml"][..], 4, "none.toml: cannot be read: No such file"),
        (&["simulate", "dir"], 3, "dir: holds no journal"),
        (&["simulate", "bytes.toml"], 3, "bytes.toml: is not text in UTF-8"),
        (&["simulate", "none.swf.gz"], 4, "none.swf.gz"),
        (&["simulate", "cut.swf.gz"], 3, "cut.swf.gz: its gzip data is cut short"),
        (&["simulate", "none.swf"], 3, "none.swf"),
        (&["simulate", "words.swf"], 3, "words.swf"),
        (&["simulate", "columns.swf", "--strict"], 3, "columns.swf:3: "),
        (&["simulate", "order.jsonl", "--strict"], 3, "order.jsonl:3: "),
        (&["simulate", "cut.jsonl"], 3, "cut.jsonl"),
        (
            &["simulate", "wide.jsonl", "--strict", "--set", "cluster.node.0.capacity.slot=4"],
            3,
            "job 1 of queue `x`: a task asks for slot 9, which no node",
        ),
        (&["simulate", "s.toml", "--json", "none/x.json"], 4, "cannot write none/x.json: "),
        (&["simulate", "s.toml", "--json", "dir"], 4, "cannot write dir: "),
        (
            &["simulate", "s.toml", "--report", "none/x.html", "--json", "x.json"],
            4,
            "cannot write none/x.html: ",
        ),
        (&["simulate", "s.toml", "--report", "dir", "--log", "x.jsonl"], 4, "cannot write dir: "),
        (
            &["simulate", "s.toml", "--log", "none/x.jsonl.zst", "--report", "x.html"],
            4,
            "cannot write none/x.jsonl.zst: ",
        ),
        (&["simulate", "s.toml", "--log", "dir"], 4, "cannot write dir: "),
        (
            &["simulate", "s.toml", "--log", "x", "--json", "x"],
            2,
            "--json and --log name the same file x",
        ),
        (
            &["simulate", "s.toml", "--json", "s.toml"],
            2,
            "--json would overwrite the scenario s.toml",
        ),
        (
            &["simulate", "s.toml", "--log", "./s.toml"],
            2,
            "--log would overwrite the scenario s.toml",
        ),
        (&["trace", "convert", "columns.swf", "none/x.jsonl"], 4, "cannot write none/x.jsonl: "),
        (&["trace", "convert", "columns.swf", "x.jsonl", "--strict"], 3, "columns.swf:3: "),
        (&["trace", "generate", "s.toml", "dir"], 4, "cannot write dir: "),
        (&["trace", "inspect", "none.tsv"], 4, "none.tsv"),
        (&["simulate"], 2, "required arguments were not provided"),
        (&["simulat", "s.toml"], 2, "unrecognized subcommand"),
    ] {
        fails(folder.path(), args, code, message);
    }
    assert_eq!(files(folder.path()), before);
}

#[test]
fn what_is_not_strict_counts_and_goes_on() {
    let folder = folder();
    traces(folder.path());
    for (trace, skipped, refused, remark) in [
        ("order.jsonl", 1, 0, "order.jsonl:3: "),
        ("columns.swf", 1, 0, "columns.swf:3: "),
        ("wide.jsonl", 0, 1, ""),
    ] {
        let args = [
            "simulate",
            trace,
            "--json",
            "-",
            "--policy",
            "fair",
            "--set",
            "cluster.node.0.capacity={slot=4}",
        ];
        let args = if trace.ends_with("swf") { &args[..6] } else { &args[..] };
        let output = meed(folder.path(), args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{trace}: {words}");
        assert!(words.contains(remark), "{trace}: {words}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let run = &json["runs"][0];
        assert_eq!(
            (&run["skipped_lines"], &run["refused"]),
            (&skipped.into(), &refused.into()),
            "{trace}"
        );
    }
}

#[test]
fn a_run_that_cannot_go_on() {
    // Whether a minimum still fits below its parent's is known only when both have changed.
    let scenario = GOOD
        .replace("name = \"p.b\"", "name = \"p\"\nmax = { slot = 2 }\n[[queue]]\nname = \"p.b\"")
        + "[[change]]\nat = 1\nqueue = { name = \"p.b\", min = { slot = 3 } }\n";
    check(
        &scenario,
        &[],
        5,
        "change at 1 s: queue `p`: the minimum shares of `slot` below it add up to more",
    );
}

/// Before anything is measured.
#[test]
fn a_bench_of_nothing_is_refused() {
    let folder = folder();
    fails(
        folder.path(),
        &["bench", "--only", "no such line"],
        2,
        "no line of a workload and its policy holds this",
    );
    fails(folder.path(), &["bench", "--trace", "nothere.swf"], 4, "nothere.swf");
}
