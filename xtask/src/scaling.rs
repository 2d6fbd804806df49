//! `cargo xtask scaling`: every command on inputs of size n, 2n and 4n, counted in instructions.
//!
//! Seconds on a shared machine say little; instructions say the same each time. With I(n) for the
//! instructions of a run, the growth is (I(4n) - I(2n)) / (I(2n) - I(n)), which leaves out what
//! does not depend on n: 2 for a linear command, a little more with a logarithm, 4 for a quadratic
//! one. A growth above [`BOUND`] is a failure. valgrind counts; where there is none nothing is
//! measured, which is said aloud.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cargo, root, succeed};

/// Between n log n, which is 2.2 at these sizes, and what a quadratic part would soon exceed.
const BOUND: f64 = 2.6;

/// A command and what it is run on.
struct Case {
    name: &'static str,
    /// The smallest size.
    n: usize,
    /// The input's name, and its text for a size.
    input: (&'static str, fn(usize) -> String),
    /// A run before the one that is counted: it makes what that one reads.
    before: &'static [&'static str],
    args: &'static [&'static str],
}

const NONE: &[&str] = &[];
const LOG: &[&str] = &["simulate", "in.toml", "-q", "-p", "fair", "--log", "log.jsonl"];

const CASES: &[Case] = &[
    Case {
        name: "inspect: SWF, a user for each job",
        n: 2000,
        input: ("in.swf", |n| swf(n, n)),
        before: NONE,
        args: &["trace", "inspect", "in.swf"],
    },
    Case {
        name: "inspect: SWF, 10 users",
        n: 2000,
        input: ("in.swf", |n| swf(n, 10)),
        before: NONE,
        args: &["trace", "inspect", "in.swf"],
    },
    Case {
        name: "inspect: MWF, a user for each job",
        n: 2000,
        input: ("in.mwf", mwf),
        before: NONE,
        args: &["trace", "inspect", "in.mwf"],
    },
    Case {
        name: "inspect: machines, a row for each node",
        n: 1000,
        input: ("in.machines", machines),
        before: NONE,
        args: &["trace", "inspect", "cluster.toml"],
    },
    Case {
        name: "inspect: Philly, a virtual cluster for each job",
        n: 2000,
        input: ("in.csv", philly),
        before: NONE,
        args: &["trace", "inspect", "in.csv"],
    },
    Case {
        name: "inspect: SWIM",
        n: 2000,
        input: ("in.tsv", swim),
        before: NONE,
        args: &["trace", "inspect", "in.tsv"],
    },
    Case {
        name: "inspect: Google, a user for each job",
        n: 1000,
        input: ("task_events.csv", google),
        before: NONE,
        args: &["trace", "inspect", "task_events.csv"],
    },
    Case {
        name: "inspect: Meed's format, a queue for each job",
        n: 2000,
        input: ("in.swf", |n| swf(n, n)),
        before: &["trace", "convert", "in.swf", "own.jsonl"],
        args: &["trace", "inspect", "own.jsonl"],
    },
    Case {
        name: "inspect: Meed's format, no job's queue is known",
        n: 500,
        input: ("in.jsonl", strangers),
        before: NONE,
        args: &["trace", "inspect", "in.jsonl"],
    },
    Case {
        name: "convert: SWF, a user for each job",
        n: 2000,
        input: ("in.swf", |n| swf(n, n)),
        before: NONE,
        args: &["trace", "convert", "in.swf", "out.jsonl"],
    },
    Case {
        name: "inspect: a scenario of n queues and jobs",
        n: 500,
        input: ("in.toml", queues),
        before: NONE,
        args: &["trace", "inspect", "in.toml"],
    },
    Case {
        name: "generate: a scenario of n queues and jobs",
        n: 500,
        input: ("in.toml", queues),
        before: NONE,
        args: &["trace", "generate", "in.toml", "out.jsonl"],
    },
    Case {
        name: "simulate: table, n queues",
        n: 1000,
        input: ("in.swf", |n| swf(n, n)),
        before: NONE,
        args: &["simulate", "in.swf"],
    },
    Case {
        name: "simulate: table, 10 queues",
        n: 1000,
        input: ("in.swf", |n| swf(n, 10)),
        before: NONE,
        args: &["simulate", "in.swf"],
    },
    Case { name: "simulate: log", n: 500, input: ("in.toml", queues), before: NONE, args: LOG },
    Case {
        name: "simulate: JSON",
        n: 500,
        input: ("in.swf", |n| swf(n, n)),
        before: NONE,
        args: &["simulate", "in.swf", "-p", "fair", "--json", "-", "--series", "20"],
    },
    Case {
        name: "simulate: report",
        n: 500,
        input: ("in.swf", |n| swf(n, n)),
        before: NONE,
        args: &["simulate", "in.swf", "-q", "-p", "fair", "--report", "o.html", "--series", "20"],
    },
    Case {
        name: "replay: another policy",
        n: 500,
        input: ("in.toml", queues),
        before: LOG,
        args: &["replay", "log.jsonl", "-p", "long-term"],
    },
    Case {
        name: "replay: verify",
        n: 500,
        input: ("in.toml", queues),
        before: LOG,
        args: &["replay", "log.jsonl", "--verify"],
    },
    Case {
        name: "explain: a queue",
        n: 500,
        input: ("in.toml", queues),
        before: LOG,
        args: &["explain", "log.jsonl", "--at", "15s", "--queue", "q7"],
    },
    Case {
        name: "sweep: n queues",
        n: 500,
        input: ("in.toml", queues),
        before: NONE,
        args: &["sweep", "in.toml", "--threads", "1", "--over", "policy=fair,fifo"],
    },
    Case {
        name: "allocate: n users, a fixed pool",
        n: 1000,
        input: ("in.json", pool),
        before: NONE,
        args: &["allocate", "in.json", "--json", "-"],
    },
    Case {
        name: "simulate: n levels of queues",
        n: 40,
        input: ("in.toml", deep),
        before: NONE,
        args: &["simulate", "in.toml", "-p", "fair"],
    },
];

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let counts = Command::new("valgrind").arg("--version").output();
    if !counts.is_ok_and(|output| output.status.success()) {
        crate::say("SCALING IS NOT CHECKED: there is no valgrind here (apt-get install valgrind).");
        return Ok(());
    }
    let program = match args.next() {
        Some(program) => PathBuf::from(program),
        None => build()?,
    };
    let program = program.canonicalize().map_err(|why| format!("{}: {why}", program.display()))?;
    let only = args.next().unwrap_or_default();
    let folder = std::env::temp_dir().join(format!("meed-scaling-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let failures = measure_all(&program, &folder, &only);
    fs::remove_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    match failures?.as_slice() {
        [] => Ok(()),
        names => Err(format!("more than linear (above {BOUND}): {}", names.join("; "))),
    }
}

/// The program as it is shipped.
fn build() -> Result<PathBuf, String> {
    succeed(cargo().args(["build", "--release", "--locked"]), "the build of meed")?;
    Ok(root().join("target/release/meed"))
}

fn measure_all(program: &Path, folder: &Path, only: &str) -> Result<Vec<&'static str>, String> {
    crate::say("growth  instructions at n, 2n, 4n (millions)  n       command");
    let mut failures = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(only)) {
        let [a, b, c] = [1, 2, 4].map(|times| measure(program, folder, case, case.n * times));
        let (a, b, c) = (a?, b?, c?);
        let growth = (c - b) / (b - a);
        crate::say(&format!(
            "{growth:6.2}  {:8.1} {:10.1} {:10.1}            {:6}  {}",
            a / 1e6,
            b / 1e6,
            c / 1e6,
            case.n,
            case.name
        ));
        if growth.is_nan() || growth > BOUND {
            failures.push(case.name);
        }
    }
    Ok(failures)
}

/// Instructions of one run.
fn measure(program: &Path, folder: &Path, case: &Case, n: usize) -> Result<f64, String> {
    let (name, text) = case.input;
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).map_err(|why| format!("{name}: {why}"))
    };
    write(name, &text(n))?;
    write("cluster.toml", CLUSTER_OF_MACHINES)?;
    if !case.before.is_empty() {
        let made = Command::new(program).args(case.before).current_dir(folder).output();
        let made = made.map_err(|why| why.to_string())?;
        if !made.status.success() {
            let words = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(format!("{}: meed {:?}: {words}", case.name, case.before));
        }
    }
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(case.args)
        .current_dir(folder)
        .output()
        .map_err(|why| format!("valgrind: {why}"))?;
    let words = String::from_utf8_lossy(&run.stderr);
    if !run.status.success() && !case.name.contains("is known") {
        return Err(format!("{}, n = {n}: {words}", case.name));
    }
    let line = words.lines().find(|line| line.contains("I   refs:") || line.contains("I refs:"));
    let digits =
        line.and_then(|line| line.rsplit(' ').next()).map(|number| number.replace(',', ""));
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| format!("{}: {words}", case.name))
}

const CLUSTER: &str = "[cluster]\nresources = [\"cpu\"]\n[[cluster.node]]\n\
                       capacity = { cpu = 100 }\n";
const CLUSTER_OF_MACHINES: &str = "[cluster]\nresources = [\"cpu\", \"memory\"]\n\
    machines = { file = \"in.machines\", format = \"alea\" }\n[[queue]]\nname = \"a\"\n\
    [[job]]\nqueue = \"a\"\ntasks = 1\ndemand = { cpu = 1 }\nduration = 1\n";

/// One line for each number.
fn lines(head: &str, n: usize, line: impl Fn(usize, &mut String) -> std::fmt::Result) -> String {
    let mut text = head.to_owned();
    (0..n).for_each(|i| line(i, &mut text).expect("memory takes text"));
    text
}

fn swf(n: usize, users: usize) -> String {
    lines("; MaxProcs: 100\n", n, |i, text| {
        let user = i % users + 1;
        writeln!(text, "{} {i} 0 10 2 -1 -1 2 10 -1 1 {user} 1 1 1 1 -1 -1", i + 1)
    })
}

fn mwf(n: usize) -> String {
    lines("", n, |i, text| {
        let submit = 1_356_994_800 + i;
        writeln!(
            text,
            "{} {submit} 0 10 2 -1 -1 2 10 100 1 {} 1 1 1 1 -1 -1 {{1}} q 1:ppn=2",
            i + 1,
            i + 1
        )
    })
}

fn machines(n: usize) -> String {
    lines("", n, |i, text| writeln!(text, "{i}\tm{i}\t1\t8\t1.0\t8000000"))
}

fn philly(n: usize) -> String {
    lines("vc,arrival_s,gpus,duration_s\n", n, |i, text| writeln!(text, "v{i},{i},1,60"))
}

fn swim(n: usize) -> String {
    lines("", n, |i, text| writeln!(text, "job{i}\t{i}\t1\t{}\t0\t0", i * 1000))
}

fn google(n: usize) -> String {
    lines("", n, |i, text| {
        let (submit, user) = (600_000_000 + 3 * i, i);
        for (at, machine, event) in [(0, "", 0), (1, "5", 1), (2, "5", 4)] {
            let t = submit + at;
            writeln!(text, "{t},,{i},0,{machine},{event},u{user},0,0,0.01,0.01,0,0")?;
        }
        Ok(())
    })
}

/// Jobs of queues that the header does not have.
fn strangers(n: usize) -> String {
    let names = (0..n).map(|i| format!("\"queue{i}\"")).collect::<Vec<_>>().join(",");
    let head =
        format!("{{\"meed_trace\":1,\"resources\":{{\"cpu\":\"milli\"}},\"queues\":[{names}]}}\n");
    let job = |queue: &str| {
        format!(
            "{{\"submit_s\":0,\"queue\":\"{queue}\",\"tasks\":[{{\"demand\":{{\"cpu\":1}},\
             \"duration_s\":1}}]}}"
        )
    };
    let head = head + &job("queue0") + "\n";
    lines(&head, n, |i, text| writeln!(text, "{}", job(&format!("qeueu{i}"))))
}

fn queues(n: usize) -> String {
    let text = lines(CLUSTER, n, |i, text| writeln!(text, "[[queue]]\nname = \"q{i}\""));
    lines(&text, n, |i, text| {
        writeln!(
            text,
            "[[job]]\nqueue = \"q{i}\"\nname = \"j{i}\"\ntasks = 1\ndemand = {{ cpu = 1 }}\n\
             duration = 10"
        )
    })
}

fn deep(n: usize) -> String {
    let parents = vec!["n"; n].join(".");
    lines(CLUSTER, 2, |i, text| {
        writeln!(
            text,
            "[[queue]]\nname = \"{parents}.{i}\"\n[[job]]\nqueue = \"{parents}.{i}\"\ntasks = 200\n\
             demand = {{ cpu = 1 }}\nduration = 10"
        )
    })
}

fn pool(n: usize) -> String {
    let users = (0..n).map(|i| {
        let (cpu, memory) = (1 + i % 7, 1 + i % 11);
        format!("{{\"name\":\"u{i}\",\"demand\":{{\"cpu\":{cpu},\"memory\":{memory}}}}}")
    });
    let users = users.collect::<Vec<_>>().join(",");
    format!(
        "{{\"servers\":[{{\"count\":1000,\"capacity\":{{\"cpu\":9,\"memory\":18}}}},\
         {{\"count\":1000,\"capacity\":{{\"cpu\":18,\"memory\":9}}}}],\"users\":[{users}]}}"
    )
}
