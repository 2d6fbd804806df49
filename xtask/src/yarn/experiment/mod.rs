//! `cargo xtask yarn experiment`: the papers' macro-workloads on a real ResourceManager, stock fair
//! sharing against ours, beside the simulator (docs/yarn-experiment.md).
//!
//! 1. The simulator runs the scenario; its jobs are written as a plan.
//! 2. A ResourceManager runs the plan under each policy, times divided by `--scale`; what it starts
//!    and ends is heard ([`journal`]).
//! 3. That becomes a log, times multiplied again, and `meed replay` measures it: one set of
//!    formulas for both.

mod journal;
mod plan;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{cargo, root, succeed};

/// A run on the ResourceManager.
pub(super) struct Run {
    /// What files and columns call it.
    pub(super) name: &'static str,
    /// Settings of `Experiment.java`.
    pub(super) settings: &'static [&'static str],
    /// The run of the simulator whose cluster, queues and policy it has.
    pub(super) as_policy: &'static str,
}

/// Every queue may hold its share at most: what static partitioning is in YARN. All in one queue:
/// fairness among applications instead of workloads.
pub(super) const RUNS: [Run; 4] = [
    Run { name: "static", settings: &["partitioned=true"], as_policy: "fair" },
    Run { name: "fair", settings: &[], as_policy: "fair" },
    Run {
        name: "long-term",
        settings: &["policy=org.meed.yarn.LongTermFairPolicy"],
        as_policy: "long-term",
    },
    Run { name: "one-queue", settings: &["flat=true"], as_policy: "fair" },
];

const FLAGS: [&str; 3] =
    ["-Xmx1g", "-XX:+IgnoreUnrecognizedVMOptions", "--add-opens=java.base/java.lang=ALL-UNNAMED"];

/// What the command line says.
struct Options {
    scale: f64,
    seed: u64,
    program: Option<PathBuf>,
    only: Vec<String>,
    /// Runs nothing: measures what was heard before.
    measure: bool,
    more: Vec<String>,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let (program, only, more) = (None, Vec::new(), Vec::new());
        let mut options = Options { scale: 20.0, seed: 1, program, only, measure: false, more };
        while let Some(word) = args.next() {
            let mut value = || args.next().ok_or(format!("{word} wants a value"));
            let number = |text: String| {
                let read = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
                read.ok_or(format!("\"{text}\" is no number above zero"))
            };
            match word.as_str() {
                "--scale" => options.scale = number(value()?)?,
                "--seed" => options.seed = number(value()?)? as u64,
                "--program" => options.program = Some(value()?.into()),
                "--only" => options.only.push(value()?),
                "--measure" => options.measure = true,
                // For Experiment.java: heartbeat=2, master=8.
                setting if setting.contains('=') => options.more.push(setting.to_owned()),
                other => {
                    return Err(format!(
                        "experiment knows --scale N, --seed N, --only RUN, --measure, --program \
                         MEED and settings as heartbeat=2, not \"{other}\""
                    ));
                }
            }
        }
        let known = |name: &String| RUNS.iter().any(|run| run.name == name);
        match options.only.iter().find(|name| !known(name)) {
            Some(unknown) => Err(format!(
                "there is no run \"{unknown}\", only static, fair, long-term and one-queue"
            )),
            None => Ok(options),
        }
    }

    fn wants(&self, run: &Run) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == run.name)
    }

    /// The program of this checkout, or the one that was named.
    fn meed(&self) -> Command {
        match &self.program {
            Some(program) => Command::new(program),
            None => {
                let mut meed = cargo();
                meed.args(["run", "--quiet", "--package", "meed-cli", "--"]);
                meed
            }
        }
    }
}

pub(super) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let options = Options::read(args)?;
    // Who names a program has built what is needed: also the native library.
    if options.program.is_none() && !options.measure {
        super::library(&super::Built::Tested)?;
    }
    let folder = root().join("target/yarn/experiment");
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let folder = folder.canonicalize().map_err(|why| why.to_string())?;
    let simulated = simulate(&options, &folder)?;
    let jobs = folder.join("jobs.tsv");
    write(&jobs, &plan::of_log(&read(&simulated)?)?)?;
    let class_path = if options.measure { String::new() } else { class_path(&folder)? };
    for run in RUNS.iter().filter(|run| options.wants(run)) {
        let events = folder.join(format!("{}.events", run.name));
        crate::say(&format!("{}: all workloads on a ResourceManager", run.name));
        match options.measure {
            true if !events.is_file() => continue,
            true => {}
            false => java(&options, run, &class_path, (&jobs, &events))?,
        }
        let heard = journal::read(&read(&events)?, options.scale)?;
        crate::say(&heard.remark());
        let log = folder.join(format!("{}.jsonl", run.name));
        write(&log, &heard.log(&plan::header_of(&read(&simulated)?, run)?)?)?;
        let mut replay = options.meed();
        replay.arg("replay").arg(&log).args(["--quiet", "--json"]);
        succeed(replay.arg(folder.join(format!("{}.json", run.name))), "meed replay")?;
    }
    let text = table::of(&folder)?;
    write(&folder.join("table.md"), &text)?;
    crate::say(&text);
    Ok(())
}

/// Runs the scenario of the macro-workloads; where its log is.
fn simulate(options: &Options, folder: &Path) -> Result<PathBuf, String> {
    let scenario = folder.join("macro.toml");
    write(&scenario, &plan::scenario(std::env::var_os("MEED_TRACES").as_deref()))?;
    let log = folder.join("simulated.jsonl");
    let mut simulate = options.meed();
    simulate.arg("simulate").arg(&scenario).args(["--quiet", "--seed", &options.seed.to_string()]);
    for policy in ["static", "fair", "long-term"] {
        simulate.args(["--policy", policy]);
    }
    simulate.arg("--log").arg(&log).arg("--json").arg(folder.join("simulated.json"));
    succeed(&mut simulate, "meed simulate")?;
    Ok(log)
}

/// Tests' classes, the plug-in's, and Hadoop's jars.
fn class_path(folder: &Path) -> Result<String, String> {
    let file = folder.join("class-path");
    super::maven(&[
        "test-compile",
        "dependency:build-classpath",
        "-Dmdep.includeScope=test",
        &format!("-Dmdep.outputFile={}", file.display()),
    ])?;
    let yarn = root().join("yarn/target");
    let yarn = yarn.canonicalize().map_err(|why| why.to_string())?.display().to_string();
    Ok(format!("{yarn}/test-classes:{yarn}/classes:{}", read(&file)?.trim()))
}

fn java(
    options: &Options,
    run: &Run,
    class_path: &str,
    (jobs, events): (&Path, &Path),
) -> Result<(), String> {
    let log = events.with_extension("log");
    let file = fs::File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
    let errors = file.try_clone().map_err(|why| why.to_string())?;
    let mut java = Command::new("java");
    java.args(FLAGS).args(["-cp", class_path, "org.meed.yarn.experiment.Experiment"]);
    java.arg(jobs).arg(events).arg(format!("scale={}", options.scale));
    java.args(run.settings).args(&options.more);
    java.stdin(Stdio::null()).stdout(file).stderr(errors);
    succeed(&mut java, "the experiment")
        .map_err(|why| format!("{why}; what it said is in {}", log.display()))
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|why| format!("{}: {why}", file.display()))
}
