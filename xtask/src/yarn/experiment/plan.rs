//! The workload: the simulator's own, from its log to the lines that `Plan.java` reads.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::Run;

/// The papers' workloads: queue, name, and when each begins (TSC'18 Fig. 6a).
const WORKLOADS: [(&str, &str, u32); 4] = [
    ("Facebook", "facebook", 0),
    ("Purdue", "purdue", 24),
    ("TPC-H", "tpch", 28),
    ("Spark", "spark", 28),
];

/// Hive runs each pair of map and reduce stages as an application of its own.
const HIVE: &str = "TPC-H";

/// The scenario of `meed reproduce tsc-fig7`, with the SWIM sample's submissions where it is.
pub(super) fn scenario(traces: Option<&OsStr>) -> String {
    let mut text = "[cluster]\nresources = [\"memory\", \"cpu\"]\n[[cluster.node]]\ncount = 59\n\
                    capacity = { memory = \"4GiB\", cpu = 2 }\n"
        .to_owned();
    let sample =
        traces.map(|folder| Path::new(folder).join("swim/FB-2009_samples_24_times_1hr_1.tsv.xz"));
    for (queue, name, start) in WORKLOADS {
        text += &format!(
            "[[queue]]\nname = \"{queue}\"\norder = \"fair\"\n[[workload]]\nname = \"{name}\"\n\
             queue = \"{queue}\"\nstart = {start}\ndemand = {{ memory = \"2GiB\", cpu = 1 }}\n"
        );
        if let Some(file) = sample.as_ref().filter(|file| name == "facebook" && file.is_file()) {
            // What JSON quotes TOML reads.
            text += &format!("submissions = {}\n", Value::from(file.to_string_lossy()));
        }
    }
    text
}

fn lines(log: &str) -> impl Iterator<Item = Result<Value, String>> + '_ {
    log.lines().map(|line| serde_json::from_str(line).map_err(|why| format!("the log: {why}")))
}

/// The jobs of the run under `fair`; a job is the same under all policies.
pub(super) fn of_log(log: &str) -> Result<String, String> {
    let (mut text, mut fair) = (String::new(), false);
    for line in lines(log) {
        let line = line?;
        if let Some(run) = line.get("run") {
            fair = run["policy"] == "fair";
        }
        let Some(job) = line.get("arrive").filter(|_| fair) else { continue };
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
            let application = if queue == HIVE { number / 2 } else { 0 };
            put(format_args!("stage\t{application}\t{}\n", times.join(",")));
        }
    }
    match text.is_empty() {
        true => Err("the simulator's log has no run under fair".to_owned()),
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
