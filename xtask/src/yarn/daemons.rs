//! `cargo xtask yarn daemons`: a ResourceManager and two NodeManagers as processes of their own,
//! from Maven's jars, on loopback.
//!
//! A shell holds containers in one queue, a MapReduce job runs in another, a third application
//! waits; people ask `meed queues` and `meed why`; the ResourceManager is killed (`kill -9`) and
//! started again. In the end the ledger must agree with what Hadoop noted of each container, to the
//! millisecond-megabyte, and what Hadoop shows must follow from the same notes (`witness`).

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::site::{self, WEB};
use super::witness;
use crate::tools::{cargo, root};

const NODES: u32 = 2;

/// The last two: they live for minutes, several on a core, and start soon.
const FLAGS: [&str; 4] = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
];

/// A process that ends with this value.
pub(super) struct Daemon(pub(super) Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder of daemons.
pub(super) struct Story {
    folder: PathBuf,
    class_path: String,
    /// Those of containers.
    jars: Vec<String>,
}

pub(super) fn run(jar: &Path, version: &str) -> Result<(), String> {
    let story = Story::prepare("daemons", jar, version)?;
    story.configure_with(&[], true)?;
    story.tell().inspect_err(|_| story.say_where())
}

impl Story {
    /// An empty folder, and the jars of a version of Hadoop.
    pub(super) fn prepare(name: &str, jar: &Path, version: &str) -> Result<Story, String> {
        let folder = empty(name)?;
        let cp = folder.join("class-path");
        super::maven_of(
            version,
            &[
                "dependency:build-classpath",
                "-Pdaemons",
                &format!("-Dmdep.outputFile={}", cp.display()),
            ],
        )?;
        let jars = fs::read_to_string(&cp).map_err(|why| why.to_string())?;
        // Jars of tests bring configurations of their own.
        let jars = jars.trim().split(':').filter(|jar| !jar.contains("-tests"));
        let jars: Vec<String> = jars.map(str::to_owned).collect();
        super::maven(&["test-compile"])?;
        // Of our own tests the witness: behind all else, so that nothing there is configuration.
        let tests = root().join("yarn/target/test-classes");
        let class_path = format!("{}:{}:{}", jar.display(), jars.join(":"), tests.display());
        Ok(Story { folder, class_path, jars })
    }

    /// The same in another empty folder.
    pub(super) fn again(&self, name: &str) -> Result<Story, String> {
        let folder = empty(name)?;
        Ok(Story { folder, class_path: self.class_path.clone(), jars: self.jars.clone() })
    }

    pub(super) fn say_where(&self) {
        crate::say(&format!("logs are in {}", self.folder.display()));
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The ResourceManager and its nodes, once they are there.
    pub(super) fn start(&self) -> Result<Vec<Daemon>, String> {
        let mut all = vec![self.master("master-1")?];
        wait("the ResourceManager answers", 240, || get("/ws/v1/cluster/info").is_some())?;
        for node in 0..NODES {
            let class = "org.apache.hadoop.yarn.server.nodemanager.NodeManager";
            all.push(self.java_of(node, &format!("node-{node}"), "-Xmx384m", &[class])?);
        }
        wait("the nodes are there", 240, || {
            number("/ws/v1/cluster/metrics", "activeNodes") == Some(u64::from(NODES))
        })?;
        Ok(all)
    }

    /// With keys besides, which come last; `meed`: queues are ordered by its policy.
    pub(super) fn configure_with(
        &self,
        keys: &[(String, String)],
        meed: bool,
    ) -> Result<(), String> {
        (0..NODES).try_for_each(|node| self.configure_node(node, keys, meed))
    }

    /// Of a NodeManager; the first one's is that of all others.
    fn configure_node(
        &self,
        node: u32,
        keys: &[(String, String)],
        meed: bool,
    ) -> Result<(), String> {
        let folder = self.folder.display().to_string();
        let conf = self.conf(node);
        fs::create_dir_all(&conf).map_err(|why| format!("{}: {why}", conf.display()))?;
        let class_path = format!("{}:{}", conf.display(), self.jars.join(":"));
        let site = site::site(&folder, &class_path, node, keys);
        let allocations = site::allocations(meed);
        for (name, text) in [
            ("yarn-site.xml", site.as_str()),
            ("core-site.xml", site.as_str()),
            ("mapred-site.xml", site.as_str()),
            ("fair-scheduler.xml", allocations.as_str()),
            ("log4j.properties", site::LOG),
        ] {
            let file = conf.join(name);
            fs::write(&file, text).map_err(|why| format!("{}: {why}", file.display()))?;
        }
        Ok(())
    }

    pub(super) fn conf(&self, node: u32) -> PathBuf {
        self.folder.join(format!("conf-{node}"))
    }

    fn java(&self, log: &str, memory: &str, arguments: &[&str]) -> Result<Daemon, String> {
        self.java_of(0, log, memory, arguments)
    }

    fn java_of(
        &self,
        node: u32,
        log: &str,
        memory: &str,
        arguments: &[&str],
    ) -> Result<Daemon, String> {
        let conf = self.conf(node);
        let class_path = format!("{}:{}", conf.display(), self.class_path);
        let file = self.folder.join(format!("{log}.log"));
        let file = fs::File::create(file).map_err(|why| why.to_string())?;
        let errors = file.try_clone().map_err(|why| why.to_string())?;
        let mut java = Command::new("java");
        java.arg(memory).args(FLAGS).args(["-cp", &class_path]).args(arguments);
        java.env("HADOOP_CONF_DIR", conf);
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
        let log = format!("shell-{queue}-{containers}");
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
        self.java(&log, "-Xmx256m", &arguments)
    }

    /// A MapReduce job, with a shuffle.
    fn pi(&self, queue: &str, maps: u32) -> Result<Daemon, String> {
        let (queue, maps) = (format!("-Dmapreduce.job.queuename=root.{queue}"), maps.to_string());
        let class = "org.apache.hadoop.examples.ExampleDriver";
        self.java("pi", "-Xmx256m", &[class, "pi", &queue, &maps, "1000"])
    }

    fn tell(&self) -> Result<(), String> {
        // Built before anybody waits for it: `meed queues` and `meed why` run the server's program.
        super::succeed(cargo().args(["build", "--package", "meed-server"]), "meed-server")?;
        said(meed().arg("--version"))?;
        let mut daemons = self.start()?;
        let master = daemons.remove(0);
        let _nodes = daemons;
        let _a = self.shell("a", 2, 240)?;
        wait("a shell runs", 300, || held("root.a") == Some(3))?;
        let mut pi = self.pi("b", 40)?;
        wait("maps run", 300, || held("root.b") >= Some(3))?;
        let _late = self.shell("b", 1, 5)?;
        wait("a third application is there", 300, || applications().len() == 3)?;
        self.people("master-1")?;
        sleep(Duration::from_secs(5));
        crate::say("all run; the ResourceManager is killed");
        drop(master);
        sleep(Duration::from_secs(8));
        let _master = self.master("master-2")?;
        wait("it is there again", 240, || get("/ws/v1/cluster/info").is_some())?;
        wait("all applications are done", 600, || {
            number("/ws/v1/cluster/metrics", "appsCompleted") == Some(3)
        })?;
        let status = pi.0.wait().map_err(|why| why.to_string())?;
        let told = fs::read_to_string(self.folder.join("pi.log")).unwrap_or_default();
        let pi = told.lines().find(|line| line.contains("Estimated value of Pi is 3.1"));
        crate::say(pi.ok_or_else(|| format!("MapReduce did not come to Pi ({status})"))?);
        // Two ticks, so that the last ends are told.
        sleep(Duration::from_secs(4));
        self.people("master-2")?;
        self.settle()?;
        self.import()?;
        // Each epoch's journal says what the plug-in knew: whoever plays it knows the same.
        for epoch in ["epoch-0000000000", "epoch-0000000001"] {
            self.history(&self.folder.join("ledger").join(epoch))?;
        }
        Ok(())
    }

    /// What an epoch's journal is good for: it is played again, it makes a report, and it says how
    /// a queue stood.
    fn history(&self, epoch: &Path) -> Result<(), String> {
        let mut replay = meed();
        super::succeed(replay.arg("replay").arg(epoch).arg("--verify"), "meed replay")?;
        let report = self.folder.join("report.html");
        let mut replay = meed();
        replay.arg("replay").arg(epoch).arg("--report").arg(&report);
        super::succeed(&mut replay, "meed replay --report")?;
        fs::remove_file(&report).map_err(|why| format!("{}: {why}", report.display()))?;
        let told = said(meed().arg("explain").arg(epoch).args(["--queue", "b", "--at", "30s"]))?;
        match told.contains("Books of queue b") {
            true => Ok(()),
            false => Err(format!("meed explain does not tell of queue b: {told}")),
        }
    }

    /// What people are told, by the program; what it was answered is kept beside it.
    fn people(&self, when: &str) -> Result<(), String> {
        let folder = self.folder.join("people").join(when);
        fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
        let keep = |name: &str, path: &str| {
            let answer = get(path).ok_or_else(|| format!("{path}: no answer"))?;
            fs::write(folder.join(name), answer).map_err(|why| why.to_string())
        };
        let bean = "/jmx?get=Hadoop:service=ResourceManager,name=MeedStanding::";
        keep("info.json", "/ws/v1/cluster/info")?;
        keep("metrics.json", "/ws/v1/cluster/metrics")?;
        keep("scheduler.json", "/ws/v1/cluster/scheduler")?;
        keep("queues.json", &format!("{bean}Queues"))?;
        let url = format!("http://{WEB}");
        let table = said(meed().args(["queues", "--yarn", &url]))?;
        crate::say(&table);
        let json = said(meed().args(["queues", "--json", "--yarn", &url]))?;
        let json: serde_json::Value = serde_json::from_str(&json).map_err(|why| why.to_string())?;
        for queue in ["root.a", "root.b"] {
            let rows = json["queues"].as_array().into_iter().flatten();
            if !table.contains(queue) || rows.filter(|row| row["queue"] == queue).count() != 1 {
                return Err(format!("meed queues does not tell of {queue}: {table}{json}"));
            }
        }
        for (number, app) in applications().iter().enumerate() {
            let id = app["id"].as_str().unwrap_or_default();
            keep(&format!("app-{number}.json"), &format!("/ws/v1/cluster/apps/{id}"))?;
            keep(&format!("why-{number}.json"), &format!("{bean}Why.{id}"))?;
            let why = said(meed().args(["why", id, "--yarn", &url]))?;
            crate::say(&why);
            let state = app["state"].as_str().unwrap_or_default();
            let wanted = match state {
                "FINISHED" => "It is over",
                _ => "Free in the cluster",
            };
            if !why.contains(id) || !why.contains(wanted) {
                return Err(format!(
                    "meed why does not say \"{wanted}\" of {id}, which is {state}"
                ));
            }
        }
        Ok(())
    }

    /// The ledger, against what Hadoop noted of each container; and Hadoop's own figures.
    fn settle(&self) -> Result<(), String> {
        let beans = get("/jmx?qry=Hadoop:service=ResourceManager,name=MeedQueue,*");
        let beans = beans.ok_or("no metrics")?;
        let noted = witness::noted(&self.folder, self.through()?)?;
        let mut wrong = Vec::new();
        let page = get("/prom").ok_or("the ResourceManager has no page for Prometheus")?;
        for queue in ["root.a", "root.b"] {
            let ledger = charged(&beans, queue).ok_or(format!("{queue} has no row: {beans}"))?;
            if !page.lines().any(|line| is_charge(line, queue)) {
                wrong.push(format!("Prometheus is not told what {queue} is charged: {page}"));
            }
            let (mut used, mut containers) = (0.0, 0);
            for app in applications().iter().filter(|app| app["queue"] == queue) {
                let id = app["id"].as_str().unwrap_or_default();
                let row = noted.get(id).ok_or_else(|| format!("no container of {id} is noted"))?;
                used += row.used as f64 / 1000.0;
                containers += row.containers;
                let hadoop = app["memorySeconds"].as_u64().unwrap_or(0);
                crate::say(&format!(
                    "{id}: {} containers, {} of them ended before the restart, {} were never \
                     heard of again; {:.3} MB s; Hadoop shows {hadoop}, which is to be {}",
                    row.containers,
                    row.forgotten,
                    row.lost,
                    row.used as f64 / 1000.0,
                    row.shown
                ));
                if hadoop != row.shown {
                    wrong.push(format!("{id}: Hadoop shows {hadoop}, expected {}", row.shown));
                }
            }
            crate::say(&format!(
                "{queue}: ledger {ledger:.4} MB s, Hadoop's notes of {containers} containers \
                 {used:.3} MB s"
            ));
            // What happens at one instant is told a microsecond apart: together below a
            // millisecond-megabyte for each container.
            if (ledger - used).abs() > 0.001 * containers as f64 {
                wrong.push(format!("{queue}: ledger {ledger} against {used}"));
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("ledger and Hadoop differ: {}", wrong.join("; "))),
        }
    }

    /// Up to when the first ResourceManager's ledger was durable: the second one's log says.
    fn through(&self) -> Result<u64, String> {
        let log = fs::read_to_string(self.folder.join("master-2.log"));
        let log = log.map_err(|why| why.to_string())?;
        let after = log.split("\"through\":").nth(1).ok_or("no ledger was taken over")?;
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().map_err(|_| "the log does not say from when on".to_owned())
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

/// A folder for what is built and run here, without what an earlier run left in it.
fn empty(name: &str) -> Result<PathBuf, String> {
    let folder = root().join("target/yarn").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    folder.canonicalize().map_err(|why| format!("{}: {why}", folder.display()))
}

/// The program of this checkout.
pub(super) fn meed() -> Command {
    let mut meed = cargo();
    meed.args(["run", "--quiet", "--package", "meed-cli", "--"]);
    meed
}

/// What a program says, where it ends well.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|why| why.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("meed ended with {}", output.status)),
    }
}

pub(super) fn applications() -> Vec<serde_json::Value> {
    let told = get("/ws/v1/cluster/apps").unwrap_or_default();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap_or_default();
    let mut all = told["apps"]["app"].as_array().cloned().unwrap_or_default();
    all.sort_by_key(|app| app["id"].as_str().unwrap_or_default().to_owned());
    all
}

/// How many containers a queue's applications hold.
pub(super) fn held(queue: &str) -> Option<u64> {
    let all = applications();
    let ours = all.iter().filter(|app| app["queue"] == queue);
    ours.map(|app| app["runningContainers"].as_u64()).sum()
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

/// Whether a line for Prometheus tells what a queue is charged.
fn is_charge(line: &str, queue: &str) -> bool {
    let named = line.starts_with("meed_queue_charged_mb_seconds{");
    named && line.contains(&format!("queue=\"{queue}\""))
}

pub(super) fn java_home() -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join("java"));
    let java = found.filter_map(|java| java.canonicalize().ok()).next();
    let java = java.ok_or("java is not on the path")?;
    java.ancestors().nth(2).map(Path::to_owned).ok_or_else(|| "JAVA_HOME is not set".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "it waits for processes, by the clock")]
pub(super) fn wait(
    what: &str,
    seconds: u64,
    mut holds: impl FnMut() -> bool,
) -> Result<(), String> {
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
