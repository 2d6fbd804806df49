//! `cargo xtask yarn daemons`: a ResourceManager and a NodeManager as processes of their own, from
//! Maven's jars, on loopback.
//!
//! An application holds containers in each of two queues; the ResourceManager is killed (`kill -9`)
//! and started again. In the end the ledger must agree with what Hadoop itself counts of the
//! applications: memory x time, to a tick of the downtime.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::tools::{cargo, root};

const FLAGS: [&str; 2] =
    ["-XX:+IgnoreUnrecognizedVMOptions", "--add-opens=java.base/java.lang=ALL-UNNAMED"];
const WEB: &str = "127.0.0.1:18088";

/// A process that ends with this value.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Story {
    folder: PathBuf,
    class_path: String,
}

pub(super) fn run(jar: &Path) -> Result<(), String> {
    let folder = root().join("target/yarn/daemons");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("conf")).map_err(|why| why.to_string())?;
    let folder = folder.canonicalize().map_err(|why| why.to_string())?;
    let cp = folder.join("class-path");
    super::maven(&[
        "dependency:build-classpath",
        "-Pdaemons",
        &format!("-Dmdep.outputFile={}", cp.display()),
    ])?;
    let jars = fs::read_to_string(&cp).map_err(|why| why.to_string())?;
    // Jars of tests bring configurations of their own.
    let jars: Vec<&str> = jars.trim().split(':').filter(|jar| !jar.contains("-tests")).collect();
    let class_path =
        format!("{}:{}:{}", folder.join("conf").display(), jar.display(), jars.join(":"));
    let story = Story { folder, class_path };
    story.configure(&jars)?;
    let told = story.tell();
    if told.is_err() {
        crate::say(&format!("logs are in {}", story.folder.display()));
    }
    told
}

impl Story {
    fn configure(&self, jars: &[&str]) -> Result<(), String> {
        let folder = self.folder.display();
        let own = format!("{folder}/conf:{}", jars.join(":"));
        let keys = [
            ("fs.defaultFS", "file:///".to_owned()),
            ("hadoop.tmp.dir", format!("{folder}/tmp")),
            ("yarn.application.classpath", own.replace(':', ",")),
            ("yarn.resourcemanager.hostname", "127.0.0.1".to_owned()),
            ("yarn.resourcemanager.webapp.address", WEB.to_owned()),
            ("yarn.resourcemanager.address", "127.0.0.1:18032".to_owned()),
            ("yarn.resourcemanager.scheduler.address", "127.0.0.1:18030".to_owned()),
            ("yarn.resourcemanager.resource-tracker.address", "127.0.0.1:18031".to_owned()),
            ("yarn.resourcemanager.admin.address", "127.0.0.1:18033".to_owned()),
            ("yarn.nodemanager.address", "127.0.0.1:18045".to_owned()),
            ("yarn.nodemanager.localizer.address", "127.0.0.1:18040".to_owned()),
            ("yarn.nodemanager.webapp.address", "127.0.0.1:18042".to_owned()),
            ("yarn.nodemanager.bind-host", "127.0.0.1".to_owned()),
            ("yarn.nodemanager.local-dirs", format!("{folder}/local")),
            ("yarn.nodemanager.log-dirs", format!("{folder}/logs")),
            ("yarn.nodemanager.resource.memory-mb", "2048".to_owned()),
            ("yarn.nodemanager.vmem-check-enabled", "false".to_owned()),
            ("yarn.nodemanager.pmem-check-enabled", "false".to_owned()),
            ("yarn.nodemanager.recovery.enabled", "true".to_owned()),
            ("yarn.nodemanager.recovery.dir", format!("{folder}/node-state")),
            (
                "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage",
                "99.9".to_owned(),
            ),
            ("yarn.scheduler.minimum-allocation-mb", "128".to_owned()),
            ("yarn.resource-types.memory-mb.increment-allocation", "128".to_owned()),
            (
                "yarn.resourcemanager.scheduler.class",
                "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler"
                    .to_owned(),
            ),
            ("yarn.scheduler.fair.allocation.file", format!("{folder}/conf/fair-scheduler.xml")),
            ("yarn.scheduler.reservation-threshold.increment-multiple", "100000".to_owned()),
            ("yarn.resourcemanager.scheduler.monitor.enable", "true".to_owned()),
            (
                "yarn.resourcemanager.scheduler.monitor.policies",
                "org.meed.yarn.LedgerMonitor".to_owned(),
            ),
            ("meed.yarn.ledger-dir", format!("{folder}/ledger")),
            ("meed.yarn.policy.quantum", "1s".to_owned()),
            ("yarn.resourcemanager.recovery.enabled", "true".to_owned()),
            (
                "yarn.resourcemanager.store.class",
                "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore"
                    .to_owned(),
            ),
            ("yarn.resourcemanager.fs.state-store.uri", format!("file://{folder}/store")),
        ];
        let mut site = "<?xml version=\"1.0\"?>\n<configuration>\n".to_owned();
        for (key, value) in keys {
            site += &format!("<property><name>{key}</name><value>{value}</value></property>\n");
        }
        site += "</configuration>\n";
        let allocations = "<?xml version=\"1.0\"?>\n<allocations><queue name=\"a\"/><queue \
                           name=\"b\"/><queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault>\
                           <defaultQueueSchedulingPolicy>org.meed.yarn.LongTermFairPolicy\
                           </defaultQueueSchedulingPolicy></allocations>\n";
        let log = "log4j.rootLogger=INFO,console\n\
                   log4j.appender.console=org.apache.log4j.ConsoleAppender\n\
                   log4j.appender.console.layout=org.apache.log4j.PatternLayout\n\
                   log4j.appender.console.layout.ConversionPattern=%d %-5p %c{1}: %m%n\n";
        for (name, text) in [
            ("yarn-site.xml", site.as_str()),
            ("core-site.xml", site.as_str()),
            ("fair-scheduler.xml", allocations),
            ("log4j.properties", log),
        ] {
            let file = self.folder.join("conf").join(name);
            fs::write(&file, text).map_err(|why| format!("{}: {why}", file.display()))?;
        }
        Ok(())
    }

    fn java(&self, log: &str, memory: &str, arguments: &[&str]) -> Result<Daemon, String> {
        let file = self.folder.join(format!("{log}.log"));
        let file = fs::File::create(file).map_err(|why| why.to_string())?;
        let errors = file.try_clone().map_err(|why| why.to_string())?;
        let mut java = Command::new("java");
        java.arg(memory).args(FLAGS).args(["-cp", &self.class_path]).args(arguments);
        java.env("HADOOP_CONF_DIR", self.folder.join("conf"));
        if std::env::var_os("JAVA_HOME").is_none() {
            java.env("JAVA_HOME", java_home()?);
        }
        java.current_dir(&self.folder).stdin(Stdio::null()).stdout(file).stderr(errors);
        java.spawn().map(Daemon).map_err(|why| format!("java: {why}"))
    }

    fn master(&self, log: &str) -> Result<Daemon, String> {
        let class = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager";
        self.java(log, "-Xmx512m", &[class])
    }

    /// Sleeps in some containers of a queue.
    fn shell(&self, queue: &str, containers: u32, seconds: u32) -> Result<Daemon, String> {
        let jar = self.class_path.split(':').find(|jar| jar.contains("distributedshell"));
        let jar = jar.ok_or("there is no jar of the distributed shell")?;
        let class = "org.apache.hadoop.yarn.applications.distributedshell.Client";
        let (containers, seconds) = (containers.to_string(), seconds.to_string());
        let queue = format!("root.{queue}");
        let arguments = [
            class,
            "--jar",
            jar,
            "--shell_command",
            "sleep",
            "--shell_args",
            &seconds,
            "--num_containers",
            &containers,
            "--container_memory",
            "256",
            "--container_vcores",
            "1",
            "--master_memory",
            "256",
            "--queue",
            &queue,
            "--timeout",
            "400000",
            "--keep_containers_across_application_attempts",
        ];
        self.java(&format!("shell-{queue}"), "-Xmx256m", &arguments)
    }

    fn tell(&self) -> Result<(), String> {
        let master = self.master("master-1")?;
        wait("the ResourceManager answers", 120, || get("/ws/v1/cluster/info").is_some())?;
        let _node = self.java(
            "node",
            "-Xmx384m",
            &["org.apache.hadoop.yarn.server.nodemanager.NodeManager"],
        )?;
        wait("a node is there", 120, || {
            number("/ws/v1/cluster/metrics", "activeNodes") == Some(1)
        })?;
        let _a = self.shell("a", 2, 60)?;
        let _b = self.shell("b", 1, 45)?;
        wait("all containers run", 180, || {
            number("/ws/v1/cluster/metrics", "containersAllocated") == Some(5)
        })?;
        sleep(Duration::from_secs(5));
        crate::say("all run; the ResourceManager is killed");
        drop(master);
        sleep(Duration::from_secs(8));
        let _master = self.master("master-2")?;
        wait("it is there again", 120, || get("/ws/v1/cluster/info").is_some())?;
        wait("both applications are done", 240, || {
            number("/ws/v1/cluster/metrics", "appsCompleted") == Some(2)
        })?;
        // Two ticks, so that the last ends are told.
        sleep(Duration::from_secs(4));
        self.settle()?;
        self.import()?;
        // Each epoch's journal says what the plug-in knew: whoever plays it knows the same.
        for epoch in ["epoch-0000000000", "epoch-0000000001"] {
            let folder = self.folder.join("ledger").join(epoch);
            let mut replay = meed();
            super::succeed(replay.arg("replay").arg(folder).arg("--verify"), "meed replay")?;
        }
        Ok(())
    }

    /// The ledger and Hadoop's own word.
    fn settle(&self) -> Result<(), String> {
        let beans = get("/jmx?qry=Hadoop:service=ResourceManager,name=MeedQueue,*");
        let beans = beans.ok_or("no metrics")?;
        let apps = get("/ws/v1/cluster/apps").ok_or("no applications")?;
        let apps: serde_json::Value = serde_json::from_str(&apps).map_err(|why| why.to_string())?;
        let mut wrong = Vec::new();
        for queue in ["root.a", "root.b"] {
            let all = apps["apps"]["app"].as_array().cloned().unwrap_or_default();
            let ours = all.iter().filter(|app| app["queue"] == queue);
            let hadoop: f64 = ours.filter_map(|app| app["memorySeconds"].as_f64()).sum();
            let ledger = charged(&beans, queue).ok_or(format!("{queue} has no row: {beans}"))?;
            crate::say(&format!(
                "{queue}: ledger {ledger:.3} MB s, Hadoop {hadoop:.0} MB s (whole seconds)"
            ));
            // Hadoop tells whole seconds of an application; and of a container that outlived a
            // ResourceManager some milliseconds less than the ledger, which is not explained yet.
            if (ledger - hadoop).abs() > 1.0 + hadoop * 1e-4 {
                wrong.push(format!("{queue}: {ledger} against {hadoop}"));
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("ledger and Hadoop differ: {}", wrong.join("; "))),
        }
    }
    /// The applications as a trace: Meed reads what a real ResourceManager answers, and the work in
    /// both resources is Hadoop's.
    fn import(&self) -> Result<(), String> {
        let list = get("/ws/v1/cluster/apps").ok_or("no applications")?;
        let (file, trace) = (self.folder.join("apps.json"), self.folder.join("apps.jsonl"));
        fs::write(&file, &list).map_err(|why| why.to_string())?;
        let mut convert = meed();
        convert.args(["trace", "convert"]).args([&file, &trace]);
        super::succeed(&mut convert, "meed trace convert")?;
        let text = fs::read_to_string(&trace).map_err(|why| why.to_string())?;
        let parsed = |text: &str| -> Result<serde_json::Value, String> {
            serde_json::from_str(text).map_err(|why| why.to_string())
        };
        let jobs: Vec<_> = text.lines().skip(1).map(parsed).collect::<Result<_, _>>()?;
        let apps = parsed(&list)?;
        for (kind, sum, unit) in [("cpu", "vcoreSeconds", 1.0), ("memory", "memorySeconds", MIB)] {
            let told = apps["apps"]["app"].as_array().into_iter().flatten();
            let hadoop: f64 = told.filter_map(|app| app[sum].as_f64()).sum();
            let ours: f64 = jobs.iter().filter_map(|job| work(job, kind)).sum::<f64>() / unit;
            crate::say(&format!("as a trace of {} jobs: {sum} {ours:.3} of {hadoop}", jobs.len()));
            if hadoop == 0.0 || (ours / hadoop - 1.0).abs() > 1e-6 {
                return Err(format!("the trace's {sum} are {ours}, Hadoop's {hadoop}"));
            }
        }
        Ok(())
    }
}

/// The program of this checkout.
fn meed() -> Command {
    let mut meed = cargo();
    meed.args(["run", "--quiet", "--package", "meed-cli", "--"]);
    meed
}

/// Bytes of a mebibyte.
const MIB: f64 = 1048576.0;

/// Amount x seconds of all tasks of a job of a trace.
fn work(job: &serde_json::Value, kind: &str) -> Option<f64> {
    let group = &job["tasks"][0];
    let count = group["count"].as_f64().unwrap_or(1.0);
    Some(count * group["demand"][kind].as_f64()? * group["duration_s"].as_f64()?)
}

fn charged(beans: &str, queue: &str) -> Option<f64> {
    let beans: serde_json::Value = serde_json::from_str(beans).ok()?;
    let mine = beans["beans"].as_array()?.iter().find(|bean| bean["tag.Queue"] == queue)?;
    mine["ChargedMBSeconds"].as_f64()
}

fn java_home() -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join("java"));
    let java = found.filter_map(|java| java.canonicalize().ok()).next();
    let java = java.ok_or("java is not on the path")?;
    java.ancestors().nth(2).map(Path::to_owned).ok_or_else(|| "JAVA_HOME is not set".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "it waits for processes, by the clock")]
fn wait(what: &str, seconds: u64, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > Duration::from_secs(seconds) {
            return Err(format!("{what}: not after {seconds} s"));
        }
        sleep(Duration::from_millis(500));
    }
    crate::say(&format!("{what}: {} s", began.elapsed().as_secs()));
    Ok(())
}

/// The body of an answer of the ResourceManager's web server.
fn get(path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(WEB).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let request = format!(
        "GET {path} HTTP/1.0\r\nHost: {WEB}\r\nAccept: application/json\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.lines().next()?.contains(" 200").then(|| body.to_owned())
}

fn number(path: &str, key: &str) -> Option<u64> {
    let answer: serde_json::Value = serde_json::from_str(&get(path)?).ok()?;
    answer["clusterMetrics"][key].as_u64()
}
