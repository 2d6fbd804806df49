//! The workload: the simulator's own, from its log to the lines that `Plan.java` reads.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::Run;
use super::tree::{self, Figure};

/// The papers' workloads: queue, name, and when each begins (TSC'18 Fig. 6a).
const WORKLOADS: [(&str, &str, u32); 4] = [
    ("Facebook", "facebook", 0),
    ("Purdue", "purdue", 24),
    ("TPC-H", "tpch", 28),
    ("Spark", "spark", 28),
];

/// Hive runs each pair of map and reduce stages as an application of its own.
const HIVE: &str = "TPC-H";

const CLUSTER: &str = "[cluster]\nresources = [\"memory\", \"cpu\"]\n[[cluster.node]]\ncount = 59\n\
                       capacity = { memory = \"4GiB\", cpu = 2 }\n";

/// The scenario of `meed reproduce tsc-fig7`, with the SWIM sample's submissions where it is.
pub(super) fn scenario(traces: Option<&OsStr>) -> String {
    let mut text = CLUSTER.to_owned();
    for (queue, name, start) in WORKLOADS {
        workload(&mut text, traces, (queue, name), f64::from(start), 1.0);
    }
    text
}

/// That of `tsc-fig10` and `tsc-fig11`; with `late`, nodes and masters are heard each second, and a
/// master takes 4 s to start.
pub(super) fn scenario_of(figure: &Figure, traces: Option<&OsStr>, late: bool) -> String {
    let mut text = CLUSTER.to_owned();
    text += "[[queue]]\nname = \"Group1\"\n[[queue]]\nname = \"Group2\"\n";
    for (i, (_, name, _)) in WORKLOADS.into_iter().enumerate() {
        let start = if name == "facebook" { 0.0 } else { tree::OTHERS_S };
        workload(&mut text, traces, (tree::LEAVES[i], name), start, figure.factors[i]);
    }
    if late {
        text += &format!(
            "[run]\nheartbeat = \"1s\"\nmaster_start = \"4s\"\nuntil = {:?}\n",
            tree::UNTIL_S
        );
    }
    text
}

fn workload(
    text: &mut String,
    traces: Option<&OsStr>,
    (queue, name): (&str, &str),
    start: f64,
    factor: f64,
) {
    *text += &format!(
        "[[queue]]\nname = \"{queue}\"\norder = \"fair\"\n[[workload]]\nname = \"{name}\"\n\
         queue = \"{queue}\"\nstart = {start:?}\ntask_time_scale = {factor:?}\n\
         demand = {{ memory = \"2GiB\", cpu = 1 }}\n"
    );
    let sample =
        traces.map(|folder| Path::new(folder).join("swim/FB-2009_samples_24_times_1hr_1.tsv.xz"));
    if let Some(file) = sample.filter(|file| name == "facebook" && file.is_file()) {
        // What JSON quotes TOML reads.
        *text += &format!("submissions = {}\n", Value::from(file.to_string_lossy()));
    }
}

fn lines(log: &str) -> impl Iterator<Item = Result<Value, String>> + '_ {
    log.lines().map(|line| serde_json::from_str(line).map_err(|why| format!("the log: {why}")))
}

/// The jobs of the first run; a job is the same under all policies.
pub(super) fn of_log(log: &str) -> Result<String, String> {
    let (mut text, mut runs) = (String::new(), 0);
    for line in lines(log) {
        let line = line?;
        runs += u32::from(line.get("run").is_some());
        let Some(job) = line.get("arrive").filter(|_| runs == 1) else { continue };
        let submit = job.get("pause_s").unwrap_or(&line["t"]);
        let chain = job["chain"].as_i64().unwrap_or(-1);
        let queue = job["queue"].as_str().unwrap_or_default();
        let mut put = |words: std::fmt::Arguments<'_>| {
            text.write_fmt(words).expect("a string takes all that is written");
        };
        put(format_args!("job\t{}\t{queue}\t{chain}\t{submit}\n", job["job"]));
        let stages = [&job["groups"], &job["later"]].into_iter().filter_map(Value::as_array);
        for (number, stage) in stages.flatten().enumerate() {
            let times = stage["duration_s"].as_array().ok_or("a stage has no durations")?;
            let tasks = stage["tasks"].as_u64().unwrap_or(0) as usize;
            let times: Vec<String> =
                times.iter().cycle().take(tasks).map(Value::to_string).collect();
            let application = if queue.ends_with(HIVE) { number / 2 } else { 0 };
            put(format_args!("stage\t{application}\t{}\n", times.join(",")));
        }
    }
    match text.is_empty() {
        true => Err("the simulator's log has no jobs".to_owned()),
        false => Ok(text),
    }
}

/// The first line of the log of `run`: that of the simulator's under the same policy, of another
/// world.
pub(super) fn header_of(log: &str, run: &Run) -> Result<Value, String> {
    for line in lines(log) {
        let mut line = line?;
        let Some(header) = line.get_mut("run").filter(|run_| run_["policy"] == run.as_policy)
        else {
            continue;
        };
        header["world"] = "yarn-experiment".into();
        header["policy"] = run.name.into();
        header["max_attempts"] = 0.into();
        if let Some(header) = header.as_object_mut() {
            header.remove("scenario_text");
        }
        for (number, node) in header["nodes"].as_array_mut().into_iter().flatten().enumerate() {
            node["name"] = format!("127.0.1.{}", number + 1).into();
        }
        return Ok(line);
    }
    Err(format!("the simulator's log has no run under {}", run.as_policy))
}
