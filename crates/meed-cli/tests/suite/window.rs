//! Logs of a time: what ran when they begin, what runs still when they end, and which part of them
//! makes the figures.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::common::{fail, folder, meed, succeed};
use serde_json::Value;

/// One job of `sacct`: its number, user, submission, start and end in hours since 1 March 2026.
type Row = (u32, &'static str, f64, f64, Option<f64>);

fn date(hours: f64) -> String {
    let seconds = (hours * 3600.0).round() as u64;
    let (day, rest) = (1 + seconds / 86_400, seconds % 86_400);
    format!("2026-03-{day:02}T{:02}:{:02}:{:02}", rest / 3600, rest % 3600 / 60, rest % 60)
}

/// Of jobs of four cpus each; those without an end run still at `now`.
fn sacct(rows: &[Row], now: f64) -> String {
    let mut text =
        "JobID|User|Submit|Eligible|Start|End|Elapsed|Timelimit|AllocTRES|State\n".to_owned();
    for (number, user, submit, start, end) in rows {
        let elapsed = ((end.unwrap_or(now) - start) * 3600.0).round() as u64;
        let (end, state) = match end {
            Some(end) => (date(*end), "COMPLETED"),
            None => ("Unknown".to_owned(), "RUNNING"),
        };
        let (submit, start) = (date(*submit), date(*start));
        let _ = writeln!(
            text,
            "{number}|{user}|{submit}|{submit}|{start}|{end}|{}:{:02}:00|UNLIMITED|\
             billing=4,cpu=4,node=1|{state}",
            elapsed / 3600,
            elapsed % 3600 / 60
        );
    }
    text
}

/// A log of 10 to 11 March: two jobs ran for days before, one waited for hours; a job each quarter
/// of an hour; one runs still.
fn two_days() -> String {
    let mut rows = vec![
        (1, "old", 24.0, 25.0, Some(230.0)),
        (2, "old", 100.0, 100.0, Some(250.0)),
        (3, "late", 210.0, 217.0, Some(217.5)),
    ];
    for quarter in 0..96 {
        let submit = 216.0 + f64::from(quarter) / 4.0;
        rows.push((10 + quarter, "ann", submit, submit, Some(submit + 0.5)));
    }
    rows.push((900, "eve", 230.0, 230.0, None));
    sacct(&rows, 241.0)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    fs::write(folder.join("sacct.txt"), two_days()).unwrap();
    let all = ["simulate", "sacct.txt", "-q", "-p", "fair", "--json", "-"];
    let cluster = ["--set", "cluster.node.0.capacity.cpu=12", "--jobs", "jobs.csv"];
    let text = succeed(folder, &[&all, &cluster[..], args].concat());
    serde_json::from_str(&text).unwrap()
}

fn assumptions(of: &Value, word: &str) -> Vec<String> {
    let all = of["assumptions"].as_array().unwrap().iter().filter_map(Value::as_str);
    all.filter(|words| words.contains(word)).map(str::to_owned).collect()
}

/// Start and end of a job.
fn ran(folder: &Path, job: &str) -> (String, String) {
    let text = fs::read_to_string(folder.join("jobs.csv")).unwrap();
    let line = text.lines().find(|line| line.split(',').nth(1) == Some(job)).unwrap();
    let cells: Vec<&str> = line.split(',').collect();
    (cells[4].to_owned(), cells[5].to_owned())
}

#[test]
fn what_ran_when_the_log_begins_runs_from_its_beginning() {
    let folder = folder();
    let found = json(folder.path(), &[]);
    let [window] = &assumptions(&found, "window:")[..] else { panic!("{found}") };
    // Before the first end, that of the first job of ann, her second one came.
    let told = "window: the log begins 2026-03-10 00:15:00 UTC; jobs running then: 3, start there \
                before all others with what was left; waiting then: 2, come right behind these (";
    assert!(window.starts_with(told), "{window}");
    // Of 205 hours 13.75 are left to the first.
    assert_eq!(ran(folder.path(), "1"), ("0".to_owned(), "49500".to_owned()));
    // The third cannot start before another has ended: three jobs fill the cluster.
    assert_eq!(ran(folder.path(), "3").0, "900");
    let [few] = &assumptions(&found, "figures are of")[..] else { panic!("{found}") };
    assert!(
        few.starts_with("counted: figures are of 95 of 100 jobs: those that were there"),
        "{few}"
    );
    let run = &found["runs"][0];
    assert_eq!(run["queues"][0]["mean_wait_s"], Value::Null, "its wait is no figure: {run}");
    assert!(run["queues"][0]["usage"]["cpu"].as_f64() > Some(4.0 * 48_000.0), "it is charged");
    // All of the log, with what is far from all others: the first alone has the cluster for days.
    let keep = ["--window", "all", "--set", "trace.outliers=keep"];
    let whole = json(folder.path(), &keep);
    assert!(assumptions(&whole, "window:").is_empty());
    assert_eq!(ran(folder.path(), "1").0, "0");
    let used = |of: &Value| of["runs"][0]["utilization"]["cpu"].as_f64().unwrap();
    assert!(used(&found) > 0.9 && used(&whole) < 0.7, "{} {}", used(&found), used(&whole));
}

#[test]
fn what_runs_still_at_the_end_of_the_log_runs_as_long_as_is_known() {
    let folder = folder();
    let found = json(folder.path(), &[]);
    let words = assumptions(&found, "ran still");
    let told = "Slurm: 1 job ran still when the log ended: it runs as long as it had by then, \
                counts as unfinished, and its time is no figure";
    assert_eq!(words, [told]);
    let run = &found["runs"][0];
    assert_eq!((&run["unfinished"], &run["failed"]), (&1.into(), &0.into()));
    let eve = run["queues"].as_array().unwrap().iter().find(|queue| queue["queue"] == "eve");
    let eve = eve.unwrap();
    assert_eq!((&eve["jobs"], &eve["mean_job_s"]), (&0.into(), &Value::Null), "{eve}");
    assert!(eve["mean_wait_s"].is_number(), "its wait is known: {eve}");
    assert_eq!(eve["usage"]["cpu"], Value::from(4.0 * 11.0 * 3600.0));
    let (started, ended) = ran(folder.path(), "900");
    assert!(!started.is_empty() && ended.is_empty(), "{started} {ended}");
}

#[test]
fn a_window_can_be_given() {
    let folder = folder();
    let told = json(folder.path(), &["--window", "2026-03-10T06:00..2026-03-10T18:00"]);
    let [window] = &assumptions(&told, "window:")[..] else { panic!("{told}") };
    for words in [
        "begins 2026-03-10 06:00:00 UTC and ends 2026-03-10 18:00:00 UTC; jobs running then: 3",
        "ended by then: 24, left out; later: 24, left out",
    ] {
        assert!(window.contains(words), "{words} in {window}");
    }
    let run = &told["runs"][0];
    let lines = run["ignored_lines"].as_u64().unwrap();
    assert_eq!(lines, 48, "{run}");
    for (window, why) in [
        ("yesterday", "is not `all`, `find`, or FROM..TO"),
        ("..", "is not `all`, `find`, or FROM..TO"),
        ("2026-03-11..2026-03-10", "it ends before it begins"),
        ("2030-01-01..", "no job of the log is in it"),
    ] {
        let words = fail(folder.path(), &["simulate", "sacct.txt", "--window", window], 3);
        assert!(words.contains(why), "{window}: {words}");
    }
}

/// A table of so many jobs, one a minute, each of ten minutes on one of ten cores.
fn steady(jobs: u32) -> String {
    let row = |number: u32| format!("{number},u{},{},600,1\n", number % 7, number * 60);
    let rows: String = (0..jobs).map(row).collect();
    format!("job_id,user,submit_s,runtime_s,cpus\n{rows}")
}

#[test]
fn the_time_in_which_a_cluster_fills_is_no_figure() {
    let folder = folder();
    fs::write(folder.path().join("jobs.csv"), steady(600)).unwrap();
    let run = |args: &[&str]| {
        let all = ["simulate", "jobs.csv", "-q", "-p", "fair", "--json", "-"];
        let text = succeed(folder.path(), &[&all, args].concat());
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let of = |found: &Value| {
        let counted = &found["runs"][0]["counted"];
        (counted["from_s"].as_f64(), counted["to_s"].as_f64())
    };
    // All run for ten minutes: 95 % are there after 9.5, in whole minutes.
    let found = run(&[]);
    assert_eq!(of(&found), (Some(600.0), Some(599.0 * 60.0 - 600.0)));
    let [words] = &assumptions(&found, "counted:")[..] else { panic!("{found}") };
    let told = "counted: figures are of 579 of 600 jobs: the first 10min and the last 10min of \
                the log are run and left out, as long as a cluster that begins empty takes to fill \
                to 95 % with these jobs (--warm-up 0 --cool-down 0 counts all)";
    assert_eq!(words, told);
    // At another load the same jobs count.
    let faster = run(&["--set", "run.load=2"]);
    assert_eq!(of(&faster), (Some(300.0), Some((599.0 * 60.0 - 600.0) / 2.0)));
    assert_eq!(assumptions(&faster, "counted:"), [told]);
    assert_eq!(of(&run(&["--warm-up", "1h"])), (Some(3600.0), Some(599.0 * 60.0 - 600.0)));
    assert_eq!(of(&run(&["--warm-up", "0", "--cool-down", "0"])), (None, None));
    // The terminal and the advice say it, too.
    for command in ["simulate", "advise", "rivals"] {
        let args = [command, "jobs.csv", "-p", "fair", "-p", "long-term"];
        let output = meed(folder.path(), &args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("igures are of 579 of 600 jobs"), "{command}: {text}");
    }
    // Of few jobs all count.
    fs::write(folder.path().join("jobs.csv"), steady(499)).unwrap();
    let few = run(&[]);
    assert_eq!((of(&few), assumptions(&few, "figures are of")), ((None, None), Vec::new()));
}

/// A recorded run tells the same figures again, and writes the same log.
#[test]
fn a_replay_counts_what_the_run_counted() {
    let folder = folder();
    fs::write(folder.path().join("sacct.txt"), two_days()).unwrap();
    let cluster = ["--set", "cluster.node.0.capacity.cpu=12", "--warm-up", "5h"];
    let args = ["simulate", "sacct.txt", "-q", "-p", "long-term", "--log", "run.jsonl", "--json"];
    succeed(folder.path(), &[&args[..], &["run.json"], &cluster[..]].concat());
    let words = succeed(folder.path(), &["replay", "run.jsonl", "--json", "again.json"]);
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(folder.path().join(name)).unwrap()).unwrap()
    };
    let (first, again) = (read("run.json"), read("again.json"));
    for key in ["counted", "mean_wait_s", "mean_job_s", "unfinished", "psi", "utilization"] {
        assert_eq!(first["runs"][0][key], again["runs"][0][key], "{key}: {words}");
    }
    assert!(first["runs"][0]["counted"]["from_s"].as_f64() == Some(18_000.0));
}
