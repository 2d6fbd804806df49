//! `cargo xtask yarn spark experiment`: Table 1 of TSC'18 with real Spark, stock fair sharing, ours
//! and ours with reclaim, beside the simulator with the same submissions (docs/yarn-experiment.md).
//!
//! Each variant has daemons of its own. Two applications with masters ask for executors, phase by
//! phase; each executor has a task that sleeps until the phase is over, so nothing depends on how
//! quick the machine is but the start of processes. What was heard is kept, and `--measure` makes
//! the tables of it without running anything.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::daemons::{self, Daemon, Story};
use super::super::witness;
use super::compare::Simulated;
use super::heard::{self, Heard};
use super::submit::{Application, Spark, ended_well};
use super::submitted::{ALL, Program, SCENES, Scene};
use super::{VARIANTS, Variant, keys};
use crate::tools::{root, succeed, until};

const APP: &str = include_str!("phases.py");

/// A node's mebibytes.
const NODE: &str = "6144";

/// So many repeats at most.
const MOST: u32 = 99;

/// Where it is kept what was heard.
fn folder() -> PathBuf {
    root().join("target/yarn/spark-experiment/heard")
}

fn kept(variant: &Variant, scene: &Scene, repeat: u32) -> PathBuf {
    folder().join(format!("{}-{}-{repeat}.json", scene.name, variant.name))
}

fn number(text: &str) -> Result<u32, String> {
    let read = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    read.ok_or(format!("\"{text}\" is not 1 to {MOST}"))
}

struct Options {
    /// A `meed` that is built, and so is the native library.
    program: Option<PathBuf>,
    /// The number of the first repeat: those that were heard before stay.
    first: u32,
    repeats: u32,
    only: Vec<String>,
    measure: bool,
}

impl Options {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
        let (program, only) = (None, Vec::new());
        let mut options = Options { program, first: 1, repeats: 3, only, measure: false };
        while let Some(word) = args.next() {
            let mut value = || args.next().ok_or(format!("{word} wants a value"));
            match word.as_str() {
                "--repeats" => options.repeats = number(&value()?)?,
                "--first" => options.first = number(&value()?)?,
                "--program" => options.program = Some(value()?.into()),
                "--only" => options.only.push(value()?),
                "--measure" => options.measure = true,
                other => {
                    return Err(format!(
                        "spark experiment knows --repeats N, --first N, --only dynamic|fixed|stock|\
                         order-only|reclaim, --measure and --program MEED, not \"{other}\""
                    ));
                }
            }
        }
        let known = |name: &String| {
            SCENES.iter().any(|scene| scene.name == name)
                || VARIANTS.iter().any(|variant| variant.name == name)
        };
        match options.only.iter().find(|name| !known(name)) {
            Some(unknown) => Err(format!("there is no scene or variant \"{unknown}\"")),
            None => Ok(options),
        }
    }

    /// The program that was named, or that of this checkout.
    fn meed(&self) -> Command {
        self.program.as_ref().map_or_else(daemons::meed, Command::new)
    }

    fn wants(&self, scene: &Scene, variant: &Variant) -> bool {
        let asked = |names: &[&str], name: &str| {
            let of_kind = self.only.iter().filter(|only| names.contains(&only.as_str()));
            of_kind.clone().count() == 0 || of_kind.into_iter().any(|only| only == name)
        };
        asked(&SCENES.each_ref().map(|scene| scene.name), scene.name)
            && asked(&VARIANTS.each_ref().map(|variant| variant.name), variant.name)
    }
}

pub(in super::super) fn run(
    jar: impl FnOnce(bool) -> Result<PathBuf, String>,
    version: &str,
    args: impl Iterator<Item = String>,
) -> Result<(), String> {
    let options = Options::read(args)?;
    if !options.measure {
        let Some(spark) = Spark::find()? else { return Ok(()) };
        let first =
            Story::prepare("spark-experiment/none", &jar(options.program.is_some())?, version)?;
        for variant in &VARIANTS {
            let scenes = || SCENES.iter().filter(|scene| options.wants(scene, variant));
            if scenes().next().is_none() {
                continue;
            }
            let story = first.again(&format!("spark-experiment/{}", variant.name))?;
            told(&options, &story, &spark, scenes, variant).inspect_err(|_| story.say_where())?;
        }
    }
    let tables = tables(&options)?;
    let file = root().join("target/yarn/spark-experiment/table.md");
    fs::write(&file, &tables).map_err(|why| format!("{}: {why}", file.display()))?;
    crate::say(&tables);
    Ok(())
}

/// A run of a scene.
struct Run<'a> {
    story: &'a Story,
    spark: &'a Spark,
    scene: &'static Scene,
    repeat: u32,
}

impl Run<'_> {
    /// A file of this run alone.
    fn file(&self, name: &str) -> PathBuf {
        self.story.file(&format!("{}-{}-{name}", self.scene.name, self.repeat))
    }

    fn path(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }
}

/// All runs of a variant, on the same daemons. Ledgers go on: who lends is the one that is owed.
fn told<I: Iterator<Item = &'static Scene>>(
    options: &Options,
    story: &Story,
    spark: &Spark,
    scenes: impl Fn() -> I,
    variant: &Variant,
) -> Result<(), String> {
    story.configure_with(&keys(variant, NODE), variant.meed)?;
    let daemons = story.start()?;
    for repeat in (options.first..).take(options.repeats as usize) {
        for scene in scenes() {
            let run = Run { story, spark, scene, repeat };
            let heard = tell(&run)?.json().to_string();
            let file = kept(variant, scene, repeat);
            fs::create_dir_all(folder()).map_err(|why| why.to_string())?;
            fs::write(&file, heard).map_err(|why| format!("{}: {why}", file.display()))?;
            crate::say(&format!("{}, {}, {repeat}: done", variant.name, scene.name));
        }
    }
    drop(daemons);
    if variant.meed {
        let epoch = story.file("ledger").join("epoch-0000000000");
        let mut meed = options.meed();
        succeed(meed.arg("replay").arg(epoch).arg("--verify"), "meed replay")?;
    }
    Ok(())
}

/// Milliseconds since 1970, as YARN counts them.
#[expect(clippy::disallowed_methods, reason = "what others noted has times of day")]
fn clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn tell(run: &Run) -> Result<Heard, String> {
    let Run { story, scene, .. } = *run;
    let file = |why: std::io::Error| format!("{}: {why}", story.file("").display());
    fs::create_dir_all(run.file("events")).map_err(file)?;
    let before: Vec<String> = daemons::applications().iter().map(|app| text(&app["id"])).collect();
    let ours = || {
        let mut all = daemons::applications();
        all.retain(|app| !before.contains(&text(&app["id"])));
        all
    };
    let mut running: Vec<(String, Daemon)> = Vec::new();
    let mut start = |program: &Program| -> Result<(), String> {
        let name = format!("{}-{}-{}", scene.name, run.repeat, program.name);
        running.push((name, submit(run, program)?));
        Ok(())
    };
    let there = || scene.programs.iter().filter(|program| !program.comes_later);
    there().try_for_each(&mut start)?;
    for program in there() {
        let all = 1 + program.executors.unwrap_or(0);
        let queue = format!("root.{}", program.name);
        daemons::wait(&format!("{} is there, and holds {all}", program.name), 240, || {
            let app = ours().into_iter().find(|app| app["queue"] == queue.as_str());
            let held = app.and_then(|app| app["runningContainers"].as_u64());
            held == Some(all) && run.file(&format!("ready-{}", program.name)).exists()
        })?;
    }
    let mut began = clock() + 1000;
    for program in scene.programs.iter().filter(|program| program.comes_later) {
        start(program)?;
        let ready = run.file(&format!("ready-{}", program.name));
        let asks = until(Duration::from_secs(300), Duration::from_millis(50), || {
            fs::read_to_string(&ready).ok()?.parse().ok()
        });
        began = asks.ok_or_else(|| format!("{}: not there in 300 s", ready.display()))?;
    }
    fs::write(run.file("go.part"), began.to_string()).map_err(file)?;
    fs::rename(run.file("go.part"), run.file("go")).map_err(file)?;
    for (name, Daemon(child)) in &mut running {
        ended_well(story, child, name)?;
    }
    daemons::wait("all containers have ended", 60, || {
        ours().iter().all(|app| app["state"] == "FINISHED" && app["runningContainers"] == -1)
    })?;
    heard(run, &ours(), began)
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn submit(run: &Run, program: &Program) -> Result<Daemon, String> {
    let name = format!("{}-{}-{}", run.scene.name, run.repeat, program.name);
    let phases: Vec<String> =
        program.phases.iter().map(|(tasks, until)| format!("{tasks}@{until}")).collect();
    let ready = run.path(&format!("ready-{}", program.name));
    let mut settings = vec![
        ("spark.yarn.scheduler.heartbeat.interval-ms", "1000".to_owned()),
        ("spark.eventLog.enabled", "true".to_owned()),
        ("spark.eventLog.compress", "false".to_owned()),
        ("spark.eventLog.dir", format!("file://{}", run.path("events"))),
        ("spark.dynamicAllocation.enabled", program.executors.is_none().to_string()),
    ];
    match program.executors {
        Some(executors) => settings.push(("spark.executor.instances", executors.to_string())),
        None => settings.extend([
            ("spark.dynamicAllocation.minExecutors", "0".to_owned()),
            ("spark.dynamicAllocation.maxExecutors", ALL.to_string()),
            ("spark.dynamicAllocation.executorIdleTimeout", "4s".to_owned()),
            ("spark.dynamicAllocation.schedulerBacklogTimeout", "1s".to_owned()),
            ("spark.dynamicAllocation.shuffleTracking.enabled", "true".to_owned()),
        ]),
    }
    let application = Application {
        name: &name,
        queue: &format!("root.{}", program.name),
        script: APP,
        arguments: vec![name.clone(), ready, run.path("go"), phases.join(",")],
        settings,
    };
    run.spark.submit(run.story, &application)
}

fn heard(run: &Run, apps: &[serde_json::Value], began: u64) -> Result<Heard, String> {
    let Run { story, scene, .. } = *run;
    let queues: BTreeMap<String, String> =
        apps.iter().map(|app| (text(&app["id"]), text(&app["queue"]))).collect();
    let mut notes = String::new();
    for file in witness::files(&story.file(""))? {
        notes += &fs::read_to_string(file).map_err(|why| why.to_string())?;
    }
    let held = heard::containers(&notes, &queues, scene, began)?;
    let (lost, lost_work) = heard::lost(&heard::event_logs(&run.file("events"))?);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    let mut asked = Vec::new();
    for program in &scene.programs {
        let name = format!("spark-{}-{}-{}.log", scene.name, run.repeat, program.name);
        let log = fs::read_to_string(story.file(&name)).map_err(|why| format!("{name}: {why}"))?;
        asked.push(heard::asked(&log, began));
    }
    Ok(Heard { held, asked, lost, lost_work, load })
}

/// A run of which is known what was heard.
struct Row {
    heard: Heard,
    /// With phases as programs have them, and with what Spark asked for.
    simulated: [Simulated; 2],
}

fn tables(options: &Options) -> Result<String, String> {
    let mut text = String::new();
    for scene in &SCENES {
        let mut rows: Vec<(&Variant, Vec<Row>)> = Vec::new();
        for variant in VARIANTS.iter().filter(|variant| options.wants(scene, variant)) {
            let mut all = Vec::new();
            for repeat in 1..=MOST {
                let Ok(kept) = fs::read_to_string(kept(variant, scene, repeat)) else { continue };
                let heard = Heard::read(&kept);
                let heard = heard.ok_or_else(|| {
                    format!("{}, {}, {repeat}: not whole", variant.name, scene.name)
                })?;
                all.push(row(options, &folder(), scene, variant, heard)?);
            }
            rows.push((variant, all));
        }
        rows.retain(|(_, all)| !all.is_empty());
        if !rows.is_empty() {
            table(&mut text, scene, &rows);
        }
    }
    Ok(text)
}

fn row(
    options: &Options,
    folder: &Path,
    scene: &Scene,
    variant: &Variant,
    heard: Heard,
) -> Result<Row, String> {
    let run = |asked| Simulated::run(options.meed(), folder, scene, variant, asked);
    let simulated = [run(None)?, run(Some(&heard.asked))?];
    Ok(Row { heard, simulated })
}

/// The mean of some figures, and the least and greatest where they differ as printed.
fn spread(figures: impl Iterator<Item = f64>, digits: usize) -> String {
    let all: Vec<f64> = figures.collect();
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let print = |figure: f64| format!("{:.digits$}", figure + 0.0);
    let least = print(all.iter().copied().fold(f64::INFINITY, f64::min));
    let most = print(all.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    match least == most {
        true => print(mean),
        false => format!("{} ({least} to {most})", print(mean)),
    }
}

/// Seconds until the lender holds half of the cluster, from when that is owed.
fn until_share(scene: &Scene, heard: &Heard) -> Option<f64> {
    let owed = scene.owed as f64;
    let steps = 0..10 * scene.ends;
    let mut times = steps.map(|step| step as f64 / 10.0);
    times.find(|&at| at >= owed && heard.at(0, at) >= ALL / 2).map(|at| at - owed)
}

fn table(text: &mut String, scene: &Scene, rows: &[(&Variant, Vec<Row>)]) {
    let ends = scene.ends as f64;
    let _ = writeln!(
        text,
        "\n{} ({} runs each; load averages of {}):\n",
        scene.name,
        rows.iter().map(|(_, all)| all.len()).max().unwrap_or(0),
        spread(rows.iter().flat_map(|(_, all)| all).map(|row| row.heard.load), 1)
    );
    let head: Vec<&str> = rows.iter().map(|(variant, _)| variant.name).collect();
    let _ = writeln!(text, "| | {} |\n|---|{}", head.join(" | "), "---|".repeat(head.len()));
    let mut line = |what: &str, cell: &dyn Fn(&[Row]) -> String| {
        let cells: Vec<String> = rows.iter().map(|(_, all)| cell(all)).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    line("seconds until the lender has its share", &|all| {
        let had: Vec<f64> = all.iter().filter_map(|row| until_share(scene, &row.heard)).collect();
        match had.len() {
            0 => "not at all".to_owned(),
            some if some == all.len() => spread(had.into_iter(), 1),
            some => format!("{} in {some} of {}", spread(had.into_iter(), 1), all.len()),
        }
    });
    line("executors lost", &|all| spread(all.iter().map(|row| row.heard.lost as f64), 0));
    line("work lost, container-seconds", &|all| {
        spread(all.iter().map(|row| row.heard.lost_work), 0)
    });
    line("held, of all containers, %", &|all| {
        spread(all.iter().map(|row| 100.0 * row.heard.utilisation(ends)), 0)
    });
    for (number, program) in scene.programs.iter().enumerate() {
        let mut from = 0;
        let quarter = scene.ends / 4;
        for phase in 1..=4 {
            let (begins, over) = (from as f64, (from + quarter) as f64);
            line(&format!("executors of {} in quarter {phase}, YARN", program.name), &|all| {
                let used = |at| move |row: &Row| row.heard.used(number, at);
                let mean = |row: &Row| (used(over)(row) - used(begins)(row)) / (over - begins);
                spread(all.iter().map(|row| mean(row) - 1.0), 1)
            });
            line("the same, simulator", &|all| {
                let of = |row: &Row| row.simulated[1].held(number, begins, over) - 1.0;
                spread(all.iter().map(of), 1)
            });
            from += quarter;
        }
    }
    for (number, program) in scene.programs.iter().enumerate() {
        let name = program.name;
        for (place, what) in ["", ", as Spark asked"].into_iter().enumerate() {
            line(&format!("simulator's use of {name}{what}, off at the end, %"), &|all| {
                let off = |row: &Row| 100.0 * row.simulated[place].off(&row.heard, number).total;
                spread(all.iter().map(off), 1)
            });
            line("at most at any instant, %", &|all| {
                let off = |row: &Row| 100.0 * row.simulated[place].off(&row.heard, number).most;
                spread(all.iter().map(off), 1)
            });
        }
    }
}
