//! The units of docs/server.md, as they stand there, under a real systemd: a client wakes the
//! server through its socket; a server that is killed, or stands still until the watchdog sees it,
//! comes back; tasks run on through all of that; a reload takes a good configuration and no other.
//!
//! A test may install units in a machine of its own only: `cargo xtask guest`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::bench::{MEED, say, signal, text, until};

const DOCS: &str = include_str!("../../../../docs/server.md");
const SERVICE: &str = "meed.service";
const SOCKET: &str = "/run/meed/meed.sock";
const CONFIG: &str = "/etc/meed/meed.toml";
const INSTALLED: &str = "/usr/local/bin/meed";

/// The units of the page: blocks that begin with the path that they are to have.
fn units() -> Vec<(&'static str, &'static str)> {
    let blocks = DOCS.split("```ini\n# ").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(|block| block.split_once('\n').unwrap()).collect()
}

fn write(path: &str, content: &str) {
    fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn queues(names: &[&str]) {
    let mut config = "[server]\naffinity = false\n[cluster]\nresources = [\"cpu\"]\n\
                      node = [{ capacity = { cpu = 4 } }]\n"
        .to_owned();
    for name in names {
        config += &format!("[[queue]]\nname = \"{name}\"\n");
    }
    write(CONFIG, &config);
}

fn done(output: &Output, what: &[&str]) -> String {
    assert!(output.status.success(), "{what:?}: {}", text(&output.stderr));
    text(&output.stdout).trim().to_owned()
}

fn systemctl(args: &[&str]) -> String {
    done(&Command::new("systemctl").args(args).output().unwrap(), args)
}

/// What systemd knows of the service.
fn fact(name: &str) -> String {
    systemctl(&["show", "--value", "--property", name, SERVICE])
}

fn meed(args: &[&str]) -> String {
    done(&Command::new(INSTALLED).args(args).current_dir("/").output().unwrap(), args)
}

fn served_queues() -> Vec<String> {
    let answer: Value = serde_json::from_str(&meed(&["queues", "--json"])).unwrap();
    let rows = answer["queues"].as_array().unwrap();
    rows.iter().map(|row| row["queue"].as_str().unwrap().to_owned()).collect()
}

/// The process of a task that runs all the while: it, and no other that was given its number.
struct Sleeper {
    job: String,
    process: u32,
}

impl Sleeper {
    fn submit() -> Sleeper {
        let file = "/scratch/sleeper";
        let script = format!("echo $$ > {file}; exec sleep 1000");
        let job = meed(&["submit", "-q", "a", "--", "sh", "-c", &script]);
        let number = || fs::read_to_string(file).ok()?.trim().parse().ok();
        Sleeper { job, process: until("the task runs", number) }
    }

    fn runs_on(&self, after: &str) {
        let line = fs::read(format!("/proc/{}/cmdline", self.process)).unwrap_or_default();
        assert_eq!(text(&line), "sleep\x001000\0", "the task, after {after}");
        let shown: Value = serde_json::from_str(&meed(&["show", &self.job, "--json"])).unwrap();
        assert_eq!(shown["task"]["0"]["attempt"], 0, "{shown}");
    }
}

/// Until systemd has begun it once more, and it serves.
fn comes_back(restarts: u64) {
    until("it is started again", || {
        let is_again = fact("NRestarts").parse::<u64>().unwrap() >= restarts;
        (is_again && fact("ActiveState") == "active").then_some(())
    });
    assert_eq!(fact("NRestarts"), restarts.to_string());
}

fn main_process() -> u32 {
    fact("MainPID").parse().unwrap()
}

#[test]
fn the_units_of_the_page_serve_under_systemd() {
    if std::env::var("MEED_GUEST").as_deref() != Ok("systemd") {
        let what = "the units of docs/server.md need a machine of their own (cargo xtask guest)";
        return say(&format!("skipped: {what}"));
    }
    let units = units();
    assert_eq!(units.len(), 2, "the service and its socket");
    units.iter().for_each(|(path, unit)| write(path, unit));
    // The watchdog's minute is a minute of a test.
    let soon = "[Service]\nWatchdogSec=6\nTimeoutAbortSec=2\n";
    write("/etc/systemd/system/meed.service.d/soon.conf", soon);
    fs::create_dir_all("/usr/local/bin").unwrap();
    fs::copy(MEED, INSTALLED).unwrap();
    queues(&["a"]);
    systemctl(&["daemon-reload"]);

    systemctl(&["start", "meed.socket"]);
    assert_eq!(fact("ActiveState"), "inactive");
    assert_eq!(served_queues(), ["a"], "a client wakes it, and waits");
    assert_eq!((fact("ActiveState"), fact("NRestarts")), ("active".into(), "0".into()));
    let sleeper = Sleeper::submit();

    signal(main_process(), "KILL");
    comes_back(1);
    sleeper.runs_on("kill -9 of the server");

    queues(&["a", "b"]);
    systemctl(&["reload", SERVICE]);
    until("the new queue is there", || (served_queues() == ["a", "b"]).then_some(()));
    let process = main_process();
    write(CONFIG, "[[queue]]\nname = 7\n");
    systemctl(&["reload", SERVICE]);
    assert_eq!(served_queues(), ["a", "b"], "a bad configuration is not taken");
    assert_eq!(main_process(), process, "nor does it end the server");
    queues(&["a", "b"]);

    signal(main_process(), "STOP");
    comes_back(2);
    assert_eq!(served_queues(), ["a", "b"]);
    sleeper.runs_on("a server that stood still");

    systemctl(&["stop", SERVICE]);
    assert_eq!((fact("ActiveState"), fact("Result")), ("inactive".into(), "success".into()));
    assert!(Path::new(SOCKET).exists(), "the socket is systemd's");
    sleeper.runs_on("a clean stop, and a client that woke the server again");

    meed(&["cancel", &sleeper.job]);
    until("the task is gone", || {
        (!Path::new(&format!("/proc/{}", sleeper.process)).exists()).then_some(())
    });
    systemctl(&["stop", "meed.socket", SERVICE]);
    assert!(!Path::new(SOCKET).exists(), "and goes with it");
}
