//! `kill -9` of the server and of supervisors, a full disk: no job is lost, none begins twice, and
//! the ledger is what the true ends give.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::bench::{Server, is_root, say, signal, until, verify};

const MANY: &str = "[server]\naffinity = false\nmembers = { a = [\"root\"], b = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 6 } }]\n\
    [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\nweight = 2\n";

/// Records of the journal, as they stand in its plain segments.
pub(crate) fn journal(server: &Server) -> Vec<Value> {
    let mut names: Vec<_> = fs::read_dir(server.state().join("journal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    names.sort();
    let text: String = names.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines = text.lines().filter(|line| line.starts_with("{\"seq\""));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Job, task and attempt.
pub(crate) fn key(fact: &Value) -> (String, u64, u64) {
    let number = |name: &str| fact[name].as_u64().unwrap_or(0);
    (fact["job"].to_string(), number("task"), number("attempt"))
}

#[test]
fn the_server_is_killed_again_and_again() {
    let mut server = Server::start(Some(MANY));
    let begun = server.path("begun");
    let mark = format!(
        "echo $MEED_JOB $MEED_TASK $MEED_ATTEMPT >> {}; sleep 0.0$((MEED_TASK % 7 + 2))",
        begun.display()
    );
    let well = format!("{mark}; echo done");
    let badly = format!("{mark}; exit 4");
    let mut wanted: BTreeMap<String, (&str, u32, u32)> = BTreeMap::new();
    let mut last = String::new();
    for round in 0..6 {
        let queue = if round % 2 == 0 { "a" } else { "b" };
        let job = server.submit(&["-q", queue, "--tasks", "12", "--", "sh", "-c", &well]);
        wanted.insert(job.clone(), ("done", 12, 12));
        let job = server.submit(&["-q", queue, "--array", "0-8%3", "--", "sh", "-c", &well]);
        wanted.insert(job.clone(), ("done", 9, 9));
        last = server.submit(&["-q", queue, "--after", &job, "--", "sh", "-c", &well]);
        wanted.insert(last.clone(), ("done", 1, 1));
        let fails = ["-q", queue, "--retries", "1", "--tasks", "2", "--", "sh", "-c", &badly];
        wanted.insert(server.submit(&fails), ("failed", 2, 4));
        std::thread::sleep(Duration::from_millis(40 + round * 61 % 130));
        server.kill();
        if round == 3 {
            // Long enough that tasks end unheard.
            std::thread::sleep(Duration::from_millis(700));
        }
        server.run();
    }
    server.ok(&["wait", &last]);
    for (job, (state, ..)) in &wanted {
        let waited = server.output(&["wait", job]).status.code();
        assert_eq!(waited, Some(i32::from(*state == "failed")), "job {job}");
    }
    // None begun twice, and none left out.
    let text = fs::read_to_string(&begun).unwrap();
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    text.lines().for_each(|line| *times.entry(line).or_default() += 1);
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "begun twice: {twice:?}");
    for (job, (_, tasks, attempts)) in &wanted {
        let of_job = times.keys().filter(|line| line.split(' ').next() == Some(job)).count();
        assert_eq!(of_job as u32, *attempts, "job {job}");
        let shown = server.json(&["show", job]);
        assert_eq!(shown["task"].as_object().unwrap().len() as u32, *tasks, "job {job}");
        let logs = server.ok(&["logs", job]);
        let done = logs.lines().filter(|line| *line == "done").count() as u32;
        assert_eq!(done, if attempts == tasks { *tasks } else { 0 }, "outputs of job {job}");
    }
    ledger_is_true(&mut server, wanted.keys());
}

/// Each task is charged from its decision to its true end, and the books say the sum of that.
fn ledger_is_true<'j>(server: &mut Server, jobs: impl Iterator<Item = &'j String>) {
    let queues = server.json(&["queues"]);
    let mut ends: BTreeMap<(String, u64), f64> = BTreeMap::new();
    for job in jobs {
        let shown = server.json(&["show", job]);
        for (task, view) in shown["task"].as_object().unwrap() {
            let wall = view["ended"]["at"]["wall_us"].as_f64().unwrap() / 1e6;
            ends.insert((job.clone(), task.parse().unwrap()), wall);
        }
    }
    assert_eq!(server.stop(), Some(0));
    let records = journal(server);
    let epoch = records[0]["run"]["epoch_us"].as_f64().unwrap() / 1e6;
    let mut used: BTreeMap<String, f64> = BTreeMap::new();
    let (mut running, mut known) = (BTreeMap::new(), BTreeSet::new());
    for record in &records {
        let t = record["t"].as_f64().unwrap();
        if let Some(start) = record.get("start") {
            assert!(known.insert(key(start)), "{start} twice in the journal");
            running.insert(key(start), (t, start["queue"].as_str().unwrap().to_owned()));
        }
        for (kind, fact) in ["end", "fail"].map(|kind| (kind, record.get(kind))) {
            let Some(fact) = fact else { continue };
            let (began, queue) = running.remove(&key(fact)).expect("it ran");
            *used.entry(queue).or_default() += t - began;
            let (job, task, _) = key(fact);
            let is_last = kind == "end";
            if let Some(wall) = ends.get(&(job, task)).filter(|_| is_last) {
                let late = epoch + t - wall;
                // Heard a little later while the server lives; never as late as it was dead.
                assert!((-0.01..0.5).contains(&late), "{fact}: told {late} s after its end");
            }
        }
    }
    assert!(running.is_empty(), "{running:?}");
    for queue in queues["queues"].as_array().unwrap() {
        let (name, usage) = (&queue["queue"], queue["books"]["usage"].as_f64().unwrap());
        let sum = used[name.as_str().unwrap()];
        assert!((usage - sum).abs() < 1e-3, "{name}: {usage} in the books, {sum} in the journal");
        assert!(sum > 1.0, "{name} has used something");
    }
    // Whoever plays the journal decides the same.
    let folder = server.state().join("journal");
    verify(&folder);
}

#[test]
fn a_supervisor_is_killed() {
    let mut server = Server::start(Some(MANY));
    let mark = format!("MEED_TEST={}", server.base.path().display());
    let begun = server.path("begun");
    // It ends well once it is tried again; the first attempt leaves children behind.
    let script = format!(
        "echo $MEED_ATTEMPT >> {}; test $MEED_ATTEMPT = 2 && exit 0; \
         setsid sleep 1000 & sleep 1000",
        begun.display()
    );
    let args = ["-q", "a", "--", "env", &mark, "sh", "-c", &script];
    let job = server.submit(&args);
    let begins = |server: &Server, times: usize| {
        until("an attempt begins", || {
            let text = fs::read_to_string(&begun).unwrap_or_default();
            (text.lines().count() == times && server.processes().len() >= 3).then_some(())
        });
    };
    begins(&server, 1);
    let before = server.processes();
    server.supervisors().into_iter().for_each(|number| signal(number, "KILL"));
    begins(&server, 2);
    let left: Vec<u32> =
        server.processes().into_iter().filter(|number| before.contains(number)).collect();
    assert_eq!(left, [0; 0], "nothing of a lost attempt is left");
    // Both at once.
    server.kill();
    server.supervisors().into_iter().for_each(|number| signal(number, "KILL"));
    server.run();
    server.ok(&["wait", &job]);
    assert_eq!(fs::read_to_string(&begun).unwrap(), "0\n1\n2\n");
    until("nothing is left", || server.processes().is_empty().then_some(()));
}

#[test]
fn a_cancelled_task_is_stopped_even_if_the_server_dies_meanwhile() {
    let mut server = Server::start(Some(MANY));
    let mark = format!("MEED_TEST={}", server.base.path().display());
    let stubborn = "trap '' TERM; while :; do sleep 0.1; done";
    let args = ["-q", "a", "--grace", "700ms", "--", "env", &mark, "sh", "-c", stubborn];
    let job = server.submit(&args);
    until("it runs", || (server.processes().len() >= 2).then_some(()));
    server.ok(&["cancel", &job]);
    server.kill();
    server.run();
    until("it is stopped", || server.processes().is_empty().then_some(()));
    assert_eq!(server.json(&["show", &job])["state"], "cancelled");
    until("its folder goes", || {
        (fs::read_dir(server.state().join("run")).unwrap().count() == 0).then_some(())
    });
}

/// A small file system that fills up.
pub(crate) struct Small(pub(crate) std::path::PathBuf);

impl Small {
    pub(crate) fn mount(path: std::path::PathBuf, size: &str) -> Option<Small> {
        fs::create_dir(&path).unwrap();
        let mut mount = std::process::Command::new("mount");
        let options = format!("size={size},mode=711");
        mount.args(["-t", "tmpfs", "-o", &options, "meed-test"]).arg(&path);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        mounted.then_some(Small(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").arg("-l").arg(&self.0).output());
    }
}

#[test]
fn a_full_disk_stops_the_server_and_loses_nothing() {
    if !is_root("a full disk") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let Some(small) = Small::mount(base.path().join("small"), "4m") else {
        return say("skipped: a full disk needs the right to mount");
    };
    let mut server = Server::start_in(base, small.0.join("state"), Some(MANY));
    let begun = server.path("begun");
    let script = format!("echo $MEED_JOB >> {}; sleep 0.5", begun.display());
    let running = server.submit(&["-q", "a", "--", "sh", "-c", &script]);
    until("it runs", || fs::read_to_string(&begun).ok().filter(|text| !text.is_empty()));
    let mut known = vec![running];
    fs::write(small.0.join("ballast"), vec![7; 1 << 20]).unwrap();
    let large = "x".repeat(100_000);
    let refused = (0..100).find_map(|_| {
        let args = ["submit", "-q", "a", "--hold", "--", "true", &large];
        let output = server.output(&args);
        if output.status.success() {
            known.push(crate::bench::text(&output.stdout).trim().to_owned());
            return None;
        }
        Some(output.status.code())
    });
    assert_eq!(refused.expect("the disk is full"), Some(6), "the server went away");
    assert_eq!(server.ends(), Some(5));
    assert!(server.log().contains("No space left"), "{}", server.log());
    fs::remove_file(small.0.join("ballast")).unwrap();
    server.run();
    for job in &known[1..] {
        assert_eq!(server.json(&["show", job])["state"], "held", "job {job} of {known:?}");
    }
    server.ok(&["wait", &known[0]]);
    assert_eq!(fs::read_to_string(&begun).unwrap().trim(), known[0], "begun once");
    server.stop();
}

/// Folders of attempts that are over stay for a moment. Should the server die then, the next one
/// must not take them for the task's last word.
#[test]
fn what_a_crash_leaves_of_an_earlier_attempt_says_nothing_of_the_task() {
    let mut server = Server::start(None);
    let go = server.path("go");
    let script = format!(
        "test $MEED_ATTEMPT = 1 && exit 0; while ! test -e {}; do sleep 0.02; done; exit 1",
        go.display()
    );
    let job = server.submit(&["--retries", "1", "--", "sh", "-c", &script]);
    let run = server.state().join("run").join(format!("{job}-0-0"));
    until("it has begun", || run.join("began.json").exists().then_some(()));
    let kept = server.path("kept");
    let copied = std::process::Command::new("cp").arg("-r").arg(&run).arg(&kept).status();
    assert!(copied.unwrap().success());
    fs::write(&go, "").unwrap();
    server.ok(&["wait", &job]);
    let before = server.json(&["show", &job])["task"]["0"].clone();
    assert_eq!((&before["attempt"], &before["ended"]["how"]["exit"]), (&1.into(), &0.into()));
    server.kill();
    // It may be there still.
    let _ = fs::remove_dir_all(&run);
    fs::rename(&kept, &run).unwrap();
    server.run();
    assert_eq!(server.json(&["show", &job])["task"]["0"], before);
    until("it is cleared away", || (!run.exists()).then_some(()));
}

/// Books and journal are written at a time, and a crash may come when only the journal is durable:
/// nobody was told of the job then. It never runs, and its number is not given again.
#[test]
fn a_job_that_only_the_journal_knows_was_never_taken() {
    let mut server = Server::start(Some(MANY));
    let (books, before) = (server.state().join("jobs/jobs.redb"), server.path("before"));
    let (marks, marks_before) = (server.state().join("marks"), server.path("marks-before"));
    let first = server.submit(&["-q", "a", "--cpu", "6", "--", "sleep", "1000"]);
    until("it runs", || (server.supervisors().len() == 1).then_some(()));
    server.kill();
    fs::copy(&books, &before).unwrap();
    fs::copy(&marks, &marks_before).unwrap();
    server.run();
    let ran = server.path("ran");
    let lost = ["-q", "a", "--name", "lost", "--", "touch", ran.to_str().unwrap()];
    let lost = server.submit(&lost);
    server.kill();
    fs::copy(&before, &books).unwrap();
    fs::copy(&marks_before, &marks).unwrap();
    server.run();
    assert!(server.log_since_start().contains("never acknowledged"), "{}", server.log());
    assert_eq!(server.refused(&["show", &lost]).0, Some(2), "there is no such job");
    assert_eq!(server.json(&["jobs"])["jobs"].as_array().unwrap().len(), 1);
    let next = server.submit(&["-q", "a", "--name", "lost", "--", "true"]);
    assert_ne!(next, lost, "a number is given once");
    server.ok(&["cancel", &first]);
    server.ok(&["wait", &next]);
    assert!(!ran.exists(), "what nobody was told of does not run");
    let folder = server.state().join("journal");
    assert_eq!(server.stop(), Some(0));
    verify(&folder);
}
