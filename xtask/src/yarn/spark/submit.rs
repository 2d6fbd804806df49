//! PySpark from pip, in a virtual environment in the cache; and applications that it submits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::super::daemons::{self, Daemon, Story};
use crate::tools::{cache, printed, root, runs, succeed, until};

const PYSPARK: &str = "3.5.9";

/// Of processes that live for a minute, many on a core.
const SMALL: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// A PySpark that is installed.
pub(super) struct Spark {
    python: PathBuf,
    home: PathBuf,
}

/// What is submitted.
pub(super) struct Application<'a> {
    /// Names its files, too: `spark-NAME.log`.
    pub(super) name: &'a str,
    pub(super) queue: &'a str,
    pub(super) script: &'a str,
    pub(super) arguments: Vec<String>,
    pub(super) settings: Vec<(&'a str, String)>,
}

impl Spark {
    /// `None`: it is said what is left out.
    pub(super) fn find() -> Result<Option<Spark>, String> {
        let left_out = |why: &str| {
            crate::say(&format!(
                "LEFT OUT: real Spark on YARN (cargo xtask yarn spark), for {why}"
            ));
            Ok(None)
        };
        if !runs("python3", "--version") {
            return left_out("there is no python3 here");
        }
        let folder = cache(&format!("pyspark-{PYSPARK}"));
        let python = folder.join("bin/python");
        let version = "import pyspark; print(pyspark.__version__)";
        let has_it = |python: &Path| {
            let told = printed(Command::new(python).args(["-c", version]), "python");
            told.is_ok_and(|told| told.starts_with(PYSPARK.as_bytes()))
        };
        if !python.exists() || !has_it(&python) {
            let mut make = Command::new("python3");
            if succeed(make.args(["-m", "venv"]).arg(&folder), "python3 -m venv").is_err() {
                return left_out("python3 makes no virtual environment (Debian's python3-venv)");
            }
            let mut install = Command::new(&python);
            install.args(["-m", "pip", "install", "--quiet"]).arg(format!("pyspark=={PYSPARK}"));
            if succeed(&mut install, "pip install pyspark").is_err() {
                return left_out("pip installs no PySpark");
            }
        }
        let place = "import os, pyspark; print(os.path.dirname(pyspark.__file__))";
        let told = printed(Command::new(&python).args(["-c", place]), "python")?;
        let home = PathBuf::from(String::from_utf8_lossy(&told).trim());
        Ok(Some(Spark { python, home }))
    }

    /// It gives up at the first executor or task that fails: what is taken back is none.
    pub(super) fn submit(
        &self,
        story: &Story,
        application: &Application,
    ) -> Result<Daemon, String> {
        let Application { name, queue, script, arguments, settings } = application;
        let file = story.file(&format!("spark-{name}.py"));
        fs::write(&file, script).map_err(|why| format!("{}: {why}", file.display()))?;
        let log = story.file(&format!("spark-{name}.log"));
        let log = fs::File::create(log).map_err(|why| why.to_string())?;
        let errors = log.try_clone().map_err(|why| why.to_string())?;
        let mut spark = Command::new(self.home.join("bin/spark-submit"));
        let driver = format!("{SMALL} -Duser.timezone=UTC");
        spark.args(["--master", "yarn", "--queue", queue, "--driver-java-options", &driver]);
        let ours = [
            ("spark.yarn.jars", format!("local:{}/jars/*", self.home.display())),
            ("spark.yarn.stagingDir", format!("file://{}", story.file("staging").display())),
            ("spark.executor.memory", "512m".to_owned()),
            ("spark.driver.memory", "512m".to_owned()),
            ("spark.driver.host", "127.0.0.1".to_owned()),
            ("spark.driver.bindAddress", "127.0.0.1".to_owned()),
            ("spark.ui.enabled", "false".to_owned()),
            ("spark.scheduler.minRegisteredResourcesRatio", "0.0".to_owned()),
            ("spark.scheduler.maxRegisteredResourcesWaitingTime", "1s".to_owned()),
            ("spark.executor.maxNumFailures", "1".to_owned()),
            ("spark.yarn.max.executor.failures", "1".to_owned()),
            ("spark.task.maxFailures", "1".to_owned()),
            ("spark.executor.extraJavaOptions", SMALL.to_owned()),
            ("spark.yarn.am.extraJavaOptions", SMALL.to_owned()),
        ];
        for (key, value) in ours.iter().chain(settings) {
            spark.args(["--conf", &format!("{key}={value}")]);
        }
        spark.arg(file).args(arguments);
        let conf = story.conf(0);
        spark.env("HADOOP_CONF_DIR", &conf).env("YARN_CONF_DIR", &conf);
        spark.env("SPARK_HOME", &self.home).env("SPARK_LOCAL_IP", "127.0.0.1");
        spark.env("PYSPARK_PYTHON", &self.python).env("JAVA_HOME", daemons::java_home()?);
        spark.current_dir(root()).stdin(Stdio::null()).stdout(log).stderr(errors);
        spark.spawn().map(Daemon).map_err(|why| format!("spark-submit: {why}"))
    }
}

/// Waits for an application that ends by itself.
pub(super) fn ended_well(story: &Story, child: &mut Child, name: &str) -> Result<(), String> {
    let log = story.file(&format!("spark-{name}.log"));
    let ended = until(Duration::from_secs(300), Duration::from_millis(500), || {
        child.try_wait().ok().flatten()
    });
    let said = fs::read_to_string(&log).unwrap_or_default();
    match ended {
        Some(status) if status.success() && said.contains("ENDED WELL") => Ok(()),
        _ => Err(format!("the application of {name} did not end well: {}", log.display())),
    }
}

/// How many executors an application has lost; those that it gives back are not among them.
pub(super) fn lost(story: &Story, name: &str) -> Result<usize, String> {
    let log = fs::read_to_string(story.file(&format!("spark-{name}.log")));
    let log = log.map_err(|why| why.to_string())?;
    Ok(log.lines().filter(|line| line.contains("Lost executor ")).count())
}
