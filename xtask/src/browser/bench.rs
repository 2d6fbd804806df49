//! A server to be looked at, in a folder of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How often is looked whether the server listens.
const LOOK: Duration = Duration::from_millis(50);

const CONFIG: &str = r#"
[cluster]
resources = ["cpu", "memory"]
node = [{ name = "lab-1", capacity = { cpu = 4, memory = "8GiB" } }]

[server]
operators = ["nobody"]
members = { vision = ["@root", "root"], robots = ["root", "nobody"], "night.shift" = ["root"] }

[[queue]]
name = "vision"
weight = 2
order = "fifo"

[[queue]]
name = "robots"
order = "fifo"

[[queue]]
name = "night.shift"
"#;

/// A server in a folder of its own, with something to see.
pub(crate) struct Bench {
    pub(crate) program: PathBuf,
    pub(crate) folder: PathBuf,
    server: Child,
    pub(crate) url: String,
}

impl Bench {
    pub(crate) fn start(program: &Path) -> Result<Bench, String> {
        let folder = std::env::temp_dir().join(format!("meed-browser-{}", std::process::id()));
        let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join("meed.toml"), CONFIG).map_err(failed)?;
        let log = folder.join("server.log");
        let mut command = Command::new(program);
        command.arg("serve").arg(folder.join("meed.toml"));
        command.arg("--state").arg(folder.join("state"));
        command.arg("--socket").arg(folder.join("meed.sock")).args(["--http", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(&log).map_err(failed)?);
        let server = command.spawn().map_err(failed)?;
        let program = program.to_owned();
        let mut bench = Bench { program, folder, server, url: String::new() };
        for _ in 0..400 {
            let text = fs::read_to_string(&log).unwrap_or_default();
            // The line behind it says that all of it serves.
            if let Some(url) = text.lines().find_map(|line| line.split_once("HTTP at "))
                && text.contains("serves at")
            {
                bench.url = url.1.to_owned();
                return Ok(bench);
            }
            std::thread::sleep(LOOK);
        }
        Err(format!("the server does not start: {}", fs::read_to_string(&log).unwrap_or_default()))
    }

    pub(crate) fn meed(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(args).env("MEED_SOCKET", self.folder.join("meed.sock")).stdin(Stdio::null());
        let output = command.output().map_err(|why| format!("meed: {why}"))?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Some that have ended, more than fit at once, one that is held, one that waits for it, and a
    /// name that would like to be something else.
    pub(crate) fn load(&self) -> Result<(), String> {
        let long = "for i in $(seq 600); do echo line $i; sleep 1; done";
        for (queue, count) in [("vision", 3), ("robots", 2), ("night.shift", 3)] {
            for number in 0..count {
                let name = format!("training {queue} {number}");
                self.meed(&["submit", "--queue", queue, "--name", &name, "--", "sh", "-c", long])?;
            }
        }
        let odd = "evil\u{202e}name <b>x</b><img src=x onerror=alert(1)>";
        self.meed(&["submit", "--queue", "robots", "--name", odd, "--", "sh", "-c", long])?;
        let held =
            self.meed(&["submit", "--queue", "robots", "--hold", "--name", "held", "--", "true"])?;
        let after = ["submit", "--queue", "vision", "--after", held.trim(), "--array", "0-9%2"];
        self.meed(&[&after[..], &["--", "true"]].concat())?;
        self.meed(&["cancel", "2"])?;
        Ok(())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Tasks would outlive the server.
        let jobs = self.meed(&["jobs", "--all", "--json"]).unwrap_or_default();
        let jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap_or_default();
        for job in jobs["jobs"].as_array().into_iter().flatten() {
            let _ = self.meed(&["cancel", &job["id"].to_string()]);
        }
        for _ in 0..200 {
            let runs = fs::read_dir(self.folder.join("state/run")).into_iter().flatten().count();
            if runs == 0 {
                break;
            }
            std::thread::sleep(LOOK);
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
