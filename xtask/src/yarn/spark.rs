//! `cargo xtask yarn spark`: real PySpark on a ResourceManager and two NodeManagers, on loopback.
//!
//! A borrower's application holds all eight containers and works on; a lender's comes and asks for
//! seven. Three times: stock fair sharing, Meed without reclaim, Meed with it. It tells how long it
//! takes until the lender has its share, how many executors the borrower has lost, and how much of
//! the cluster was held meanwhile. Both applications must end well, though the borrower's gives up
//! at the first executor or task that *fails*: those that are taken back are no failures. Each
//! journal must play again as recorded. It ends within five minutes on a machine of its own.
//!
//! PySpark comes from pip, into a virtual environment in the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::daemons::{self, Daemon, Story};
use crate::tools::{cache, now, printed, root, runs, succeed, until};

const PYSPARK: &str = "3.5.9";

/// Containers of the cluster, and those that are the lender's share.
const ALL: u64 = 8;
const SHARE: u64 = 4;

/// How long a lender is watched that gets nothing, and one that is to get its share.
const WATCHED: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(90)];

const APP: &str = include_str!("spark.py");

/// A third of the story.
struct Variant {
    name: &'static str,
    meed: bool,
    reclaims: bool,
}

const VARIANTS: [Variant; 3] = [
    Variant { name: "stock", meed: false, reclaims: false },
    Variant { name: "order only", meed: true, reclaims: false },
    Variant { name: "reclaim", meed: true, reclaims: true },
];

/// What a variant came to.
struct Came {
    /// Seconds until the lender had a container, and until it had its share.
    first: Option<f64>,
    share: Option<f64>,
    /// The part of all containers that was held from when the lender came.
    held: f64,
    lost: usize,
}

pub(super) fn run(jar: &Path, version: &str) -> Result<(), String> {
    let Some(python) = python()? else { return Ok(()) };
    let mut table = vec![format!(
        "{:<12} {:>9} {:>9} {:>6} {:>5}",
        "variant", "first s", "share s", "held", "lost"
    )];
    for variant in &VARIANTS {
        let story =
            Story::prepare(&format!("spark-{}", variant.name.replace(' ', "-")), jar, version)?;
        let came = tell(&story, &python, variant).inspect_err(|_| story.say_where())?;
        let seconds = |it: Option<f64>| it.map_or("never".to_owned(), |it| format!("{it:.0}"));
        table.push(format!(
            "{:<12} {:>9} {:>9} {:>5.0}% {:>5}",
            variant.name,
            seconds(came.first),
            seconds(came.share),
            100.0 * came.held,
            came.lost
        ));
        if variant.reclaims != came.share.is_some() || variant.reclaims != (came.lost > 0) {
            return Err(format!("{}: not as it should be\n{}", variant.name, table.join("\n")));
        }
    }
    crate::say(&table.join("\n"));
    Ok(())
}

/// The interpreter of a virtual environment with PySpark; `None`: it is said what is left out.
fn python() -> Result<Option<PathBuf>, String> {
    let left_out = |why: &str| {
        crate::say(&format!("LEFT OUT: real Spark on YARN (cargo xtask yarn spark), for {why}"));
        Ok(None)
    };
    if !runs("python3", "--version") {
        return left_out("there is no python3 here");
    }
    let folder = cache(&format!("pyspark-{PYSPARK}"));
    let python = folder.join("bin/python");
    let has_it = |python: &Path| {
        let mut asked = Command::new(python);
        asked.args(["-c", "import pyspark; print(pyspark.__version__)"]);
        printed(&mut asked, "python").is_ok_and(|told| told.starts_with(PYSPARK.as_bytes()))
    };
    if python.exists() && has_it(&python) {
        return Ok(Some(python));
    }
    let mut make = Command::new("python3");
    if succeed(make.args(["-m", "venv"]).arg(&folder), "python3 -m venv").is_err() {
        return left_out("python3 makes no virtual environment (Debian's python3-venv)");
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet"]).arg(format!("pyspark=={PYSPARK}"));
    match succeed(&mut install, "pip install pyspark") {
        Ok(()) => Ok(Some(python)),
        Err(_) => left_out("pip installs no PySpark"),
    }
}

/// Keys of a variant, besides those that all stories have.
fn keys(variant: &Variant) -> Vec<(&'static str, &'static str)> {
    let mut keys = vec![
        ("yarn.nodemanager.resource.memory-mb", "4096"),
        ("yarn.scheduler.minimum-allocation-mb", "1024"),
        ("yarn.resource-types.memory-mb.increment-allocation", "1024"),
    ];
    if !variant.meed {
        keys.push(("yarn.resourcemanager.scheduler.monitor.enable", "false"));
    }
    if variant.reclaims {
        keys.extend([
            ("meed.yarn.policy.reclaim-after", "5s"),
            ("meed.yarn.policy.reclaim-min-runtime", "5s"),
            ("meed.yarn.policy.reclaim-guard", "30s"),
            ("meed.yarn.policy.reclaim-grace", "2s"),
        ]);
    }
    keys
}

fn tell(story: &Story, python: &Path, variant: &Variant) -> Result<Came, String> {
    story.configure_with(&keys(variant), variant.meed)?;
    let _daemons = story.start()?;
    let file = story.file("spark.py");
    fs::write(&file, APP).map_err(|why| format!("{}: {why}", file.display()))?;
    let mut borrower = submit(story, python, ("a", 14))?;
    let mut lender = None;
    let came = watch(story, python, &mut lender, variant.reclaims);
    for queue in ["a", "b"] {
        let stop = story.file(&format!("stop-{queue}"));
        fs::write(&stop, "").map_err(|why| format!("{}: {why}", stop.display()))?;
    }
    let came = came?;
    let all = [Some(&mut borrower), lender.as_mut()];
    for (application, queue) in all.into_iter().zip(["a", "b"]) {
        let Some(Daemon(child)) = application else { continue };
        ended_well(story, child, queue)?;
    }
    let log = fs::read_to_string(story.file("spark-a.log")).map_err(|why| why.to_string())?;
    let lost = log.lines().filter(|line| line.contains("Lost executor ")).count();
    if variant.meed {
        let mut replay = daemons::meed();
        let epoch = story.file("ledger").join("epoch-0000000000");
        succeed(replay.arg("replay").arg(epoch).arg("--verify"), "meed replay")?;
    }
    Ok(Came { lost, ..came })
}

/// The lender comes once the borrower holds all.
fn watch(
    story: &Story,
    python: &Path,
    lender: &mut Option<Daemon>,
    reclaims: bool,
) -> Result<Came, String> {
    daemons::wait("the borrower holds all", 240, || daemons::held("root.a") == Some(ALL))?;
    *lender = Some(submit(story, python, ("b", 7))?);
    daemons::wait("the lender is there", 240, || daemons::applications().len() == 2)?;
    let began = now();
    let mut came = Came { first: None, share: None, held: 0.0, lost: 0 };
    let (mut looks, mut sum) = (0.0, 0.0);
    until(WATCHED[usize::from(reclaims)], Duration::from_millis(500), || {
        let (a, b) = (daemons::held("root.a")?, daemons::held("root.b")?);
        let after = began.elapsed().as_secs_f64();
        (looks, sum) = (looks + 1.0, sum + (a + b).min(ALL) as f64);
        came.first = came.first.or((b > 0).then_some(after));
        came.share = came.share.or((b >= SHARE).then_some(after));
        came.share.map(|_| ())
    });
    came.held = sum / (looks * ALL as f64);
    Ok(came)
}

fn submit(story: &Story, python: &Path, (queue, tasks): (&str, u32)) -> Result<Daemon, String> {
    let told = printed(
        Command::new(python)
            .args(["-c", "import os, pyspark; print(os.path.dirname(pyspark.__file__))"]),
        "python",
    )?;
    let home = PathBuf::from(String::from_utf8_lossy(&told).trim());
    let log = fs::File::create(story.file(&format!("spark-{queue}.log")));
    let log = log.map_err(|why| why.to_string())?;
    let errors = log.try_clone().map_err(|why| why.to_string())?;
    let small = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
    let mut spark = Command::new(home.join("bin/spark-submit"));
    spark.args(["--master", "yarn", "--queue", &format!("root.{queue}"), "--num-executors", "7"]);
    spark.args(["--driver-java-options", small]);
    for (key, value) in [
        ("spark.yarn.jars", format!("local:{}/jars/*", home.display())),
        ("spark.yarn.stagingDir", format!("file://{}", story.file("staging").display())),
        ("spark.executor.memory", "512m".to_owned()),
        ("spark.driver.memory", "512m".to_owned()),
        ("spark.driver.host", "127.0.0.1".to_owned()),
        ("spark.driver.bindAddress", "127.0.0.1".to_owned()),
        ("spark.ui.enabled", "false".to_owned()),
        ("spark.dynamicAllocation.enabled", "false".to_owned()),
        ("spark.scheduler.minRegisteredResourcesRatio", "0.0".to_owned()),
        ("spark.scheduler.maxRegisteredResourcesWaitingTime", "1s".to_owned()),
        // It gives up at the first failure: what is taken back is none.
        ("spark.executor.maxNumFailures", "1".to_owned()),
        ("spark.yarn.max.executor.failures", "1".to_owned()),
        ("spark.task.maxFailures", "1".to_owned()),
        ("spark.executor.extraJavaOptions", small.to_owned()),
        ("spark.yarn.am.extraJavaOptions", small.to_owned()),
    ] {
        spark.args(["--conf", &format!("{key}={value}")]);
    }
    let stop = story.file(&format!("stop-{queue}"));
    spark.arg(story.file("spark.py")).args([queue, &tasks.to_string(), "1"]).arg(stop);
    let conf = story.conf(0);
    spark.env("HADOOP_CONF_DIR", &conf).env("YARN_CONF_DIR", &conf).env("SPARK_HOME", &home);
    spark.env("PYSPARK_PYTHON", python).env("SPARK_LOCAL_IP", "127.0.0.1");
    spark.env("JAVA_HOME", daemons::java_home()?);
    spark.current_dir(root()).stdin(Stdio::null()).stdout(log).stderr(errors);
    spark.spawn().map(Daemon).map_err(|why| format!("spark-submit: {why}"))
}

/// Waits for an application of Spark that was told to end.
fn ended_well(story: &Story, child: &mut Child, queue: &str) -> Result<(), String> {
    let log = story.file(&format!("spark-{queue}.log"));
    let ended = until(Duration::from_secs(120), Duration::from_millis(500), || {
        child.try_wait().ok().flatten()
    });
    let said = fs::read_to_string(&log).unwrap_or_default();
    match ended {
        Some(status) if status.success() && said.contains("ENDED WELL") => Ok(()),
        _ => Err(format!("the application of {queue} did not end well: {}", log.display())),
    }
}
