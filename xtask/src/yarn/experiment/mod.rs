//! `cargo xtask yarn experiment`: the papers' macro-workloads on a real ResourceManager, stock fair
//! sharing against ours, beside the simulator (docs/yarn-experiment.md).
//!
//! 1. The simulator runs the scenario; its jobs are written as a plan.
//! 2. A ResourceManager runs the plan under each policy, times divided by `--scale`; what it starts
//!    and ends is heard ([`journal`]).
//! 3. That becomes a log, times multiplied again, and `meed replay` measures it: one set of
//!    formulas for both.
//! 4. The tree of Fig. 9, under the naive walk and under guards, until 1,800 s ([`tree`]).

mod figures;
mod journal;
mod plan;
mod table;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tools::{cargo, root, succeed};
use tree::{Column, FIGURES, Figure, Moves};

/// A run on the ResourceManager.
pub(super) struct Run {
    /// What files and columns call it.
    pub(super) name: &'static str,
    /// Settings of `Experiment.java`.
    pub(super) settings: &'static [&'static str],
    /// The run of the simulator whose cluster, queues and policy it has.
    pub(super) as_policy: &'static str,
}

const OURS: &str = "policy=org.meed.yarn.LongTermFairPolicy";

/// Every queue may hold its share at most: what static partitioning is in YARN. What is run again
/// shows how far a run is chance. All in one queue (only where it is asked for): fairness among
/// applications instead of workloads.
pub(super) const RUNS: [Run; 6] = [
    Run { name: "static", settings: &["partitioned=true"], as_policy: "fair" },
    Run { name: "fair", settings: &[], as_policy: "fair" },
    Run { name: "long-term", settings: &[OURS], as_policy: "long-term" },
    Run { name: "fair-again", settings: &[], as_policy: "fair" },
    Run { name: "long-term-again", settings: &[OURS], as_policy: "long-term" },
    Run { name: ONE_QUEUE, settings: &["flat=true"], as_policy: "fair" },
];
const ONE_QUEUE: &str = "one-queue";

/// Of a run, for JSON: every two seconds or so.
const SAMPLES: &str = "4000";

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
        let mut options = Options { scale: 40.0, seed: 1, program, only, measure: false, more };
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
        let figures = FIGURES.iter().map(figure_name);
        let known: Vec<String> =
            RUNS.iter().map(|run| run.name.to_owned()).chain(figures).collect();
        match options.only.iter().find(|name| !known.contains(name)) {
            Some(unknown) => {
                Err(format!("there is no run \"{unknown}\", only {}", known.join(", ")))
            }
            None => Ok(options),
        }
    }

    fn wants(&self, name: &str) -> bool {
        match self.only.is_empty() {
            true => name != ONE_QUEUE,
            false => self.only.iter().any(|only| only == name),
        }
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
    let class_path = if options.measure { String::new() } else { class_path(&folder)? };
    let mut text = String::new();
    if RUNS.iter().any(|run| options.wants(run.name)) {
        text += &side_by_side(&options, &folder, &class_path)?;
    }
    for figure in FIGURES.iter().filter(|figure| options.wants(&figure_name(figure))) {
        text += &format!("\n{}", in_a_tree(&options, &folder, &class_path, figure)?);
    }
    write(&folder.join("table.md"), &text)?;
    crate::say(&text);
    Ok(())
}

fn figure_name(figure: &Figure) -> String {
    format!("fig{}", figure.name)
}

/// Fig. 6 to 8: all workloads below the root.
fn side_by_side(options: &Options, folder: &Path, class_path: &str) -> Result<String, String> {
    let scenario = plan::scenario(std::env::var_os("MEED_TRACES").as_deref());
    let policies = ["static", "fair", "long-term"].map(str::to_owned);
    let simulated = simulate(options, folder, ("simulated", &scenario), &policies)?;
    let jobs = folder.join("jobs.tsv");
    write(&jobs, &plan::of_log(&read(&simulated)?)?)?;
    for run in RUNS.iter().filter(|run| options.wants(run.name)) {
        let events = folder.join(format!("{}.events", run.name));
        crate::say(&format!("{}: all workloads on a ResourceManager", run.name));
        match options.measure {
            true if !events.is_file() => continue,
            true => {}
            false => java(options, run.settings, class_path, (&jobs, &events))?,
        }
        let heard = journal::read(&read(&events)?, options.scale)?;
        crate::say(&heard.remark());
        let log = folder.join(format!("{}.jsonl", run.name));
        write(&log, &heard.log(&plan::header_of(&read(&simulated)?, run)?)?)?;
        let mut replay = options.meed();
        replay.arg("replay").arg(&log).args(["--quiet", "--series", SAMPLES, "--json"]);
        succeed(replay.arg(folder.join(format!("{}.json", run.name))), "meed replay")?;
    }
    table::of(folder)
}

/// Fig. 10 and 11: the tree of Fig. 9.
fn in_a_tree(
    options: &Options,
    folder: &Path,
    class_path: &str,
    figure: &Figure,
) -> Result<String, String> {
    let name = figure_name(figure);
    let traces = std::env::var_os("MEED_TRACES");
    let guard = |wait: &&str| format!("long-term,t_wait={wait}s");
    let policies: Vec<String> =
        ["long-term".to_owned()].into_iter().chain(figure.waits.iter().map(guard)).collect();
    let mut columns = Vec::new();
    let mut jobs = None;
    for late in [false, true] {
        let scenario = plan::scenario_of(figure, traces.as_deref(), late);
        let called = format!("{name}{}", if late { "-late" } else { "" });
        let log = read(&simulate(options, folder, (&called, &scenario), &policies)?)?;
        let of = |number| Moves::of_log(&log, number);
        let guarded = [of(1)?, of(2)?, of(3)?];
        let name = if late { "simulator, late grants" } else { "simulator" }.to_owned();
        columns.push(Column { name, naive: of(0)?, guarded });
        if !late {
            let file = folder.join(format!("{called}.tsv"));
            write(&file, &plan::of_log(&log)?)?;
            jobs = Some(file);
        }
    }
    let jobs = jobs.ok_or("there is no plan")?;
    let until = format!("until={}", tree::UNTIL_S);
    let run = |wait: Option<&str>| -> Result<Moves, String> {
        let events = folder.join(format!("{name}-{}.events", wait.unwrap_or("naive")));
        crate::say(&format!(
            "{name}: {}",
            wait.map_or("naive".into(), |it| format!("t_wait {it}"))
        ));
        let t_wait = wait.map(|wait| format!("t-wait={wait}"));
        let settings: Vec<&str> = [OURS, &until].into_iter().chain(t_wait.as_deref()).collect();
        if !options.measure {
            java(options, &settings, class_path, (&jobs, &events))?;
        }
        let text = read(&events)?;
        crate::say(&journal::lateness(&text));
        Moves::of_events(&text, options.scale)
    };
    let naive = run(None)?;
    let [first, second, third] = figure.waits;
    let guarded = [run(Some(first))?, run(Some(second))?, run(Some(third))?];
    columns.push(Column { name: "YARN".to_owned(), naive, guarded });
    Ok(tree::table(figure, &columns))
}

/// Runs a scenario under these policies; where its log is.
fn simulate(
    options: &Options,
    folder: &Path,
    (name, text): (&str, &str),
    policies: &[String],
) -> Result<PathBuf, String> {
    let scenario = folder.join(format!("{name}.toml"));
    write(&scenario, text)?;
    let log = folder.join(format!("{name}.jsonl"));
    let mut simulate = options.meed();
    simulate.arg("simulate").arg(&scenario).args(["--quiet", "--seed", &options.seed.to_string()]);
    for policy in policies {
        simulate.args(["--policy", policy]);
    }
    simulate
        .args(["--series", SAMPLES])
        .arg("--log")
        .arg(&log)
        .arg("--json")
        .arg(folder.join(format!("{name}.json")));
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
    settings: &[&str],
    class_path: &str,
    (jobs, events): (&Path, &Path),
) -> Result<(), String> {
    let log = events.with_extension("log");
    let file = fs::File::create(&log).map_err(|why| format!("{}: {why}", log.display()))?;
    let errors = file.try_clone().map_err(|why| why.to_string())?;
    let mut java = Command::new("java");
    java.args(FLAGS).args(["-cp", class_path, "org.meed.yarn.experiment.Experiment"]);
    java.arg(jobs).arg(events).arg(format!("scale={}", options.scale));
    java.args(settings).args(&options.more);
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
