//! What a user does: submit, look, wait, read, cancel, hold.

use std::fs;

use crate::bench::{Server, signal, until};

#[test]
fn a_job_runs_as_it_was_submitted() {
    let server = Server::start(None);
    let folder = server.path("there");
    fs::create_dir(&folder).unwrap();
    let script = "pwd; umask; echo $MEED_JOB $MEED_TASK $OWN; ulimit -n; echo oops >&2; exit 3";
    let mut submit = server.command(&["submit", "--name", "mine", "--", "sh", "-c", script]);
    let shell = format!("umask 027; ulimit -n 123; exec {} \"$@\"", crate::bench::MEED);
    let mut under = std::process::Command::new("sh");
    under.args(["-c", &shell, "sh"]).args(submit.get_args()).env("OWN", "word");
    under.env("MEED_SOCKET", server.socket()).current_dir(&folder);
    let output = under.output().unwrap();
    assert!(output.status.success(), "{}", crate::bench::text(&output.stderr));
    let _ = &mut submit;
    let (code, why) = server.refused(&["wait", "mine"]);
    assert_eq!(code, Some(1), "{why}");
    let folder = folder.canonicalize().unwrap();
    let wanted = format!("{}\n0027\n1 0 word\n123\noops\n", folder.display());
    assert_eq!(server.ok(&["logs", "mine"]), wanted);
    let shown = server.json(&["show", "mine"]);
    assert_eq!(shown["state"], "failed");
    assert_eq!(shown["task"]["0"]["ended"]["how"]["exit"], 3);
    assert_eq!(server.stop(), Some(0), "a clean stop");
}

trait Stop {
    fn stop(self) -> Option<i32>;
}

impl Stop for Server {
    fn stop(mut self) -> Option<i32> {
        Server::stop(&mut self)
    }
}

#[test]
fn arrays_dependencies_retries_and_limits_of_time() {
    let server = Server::start(Some(
        "[server]\naffinity = false\ngrace = \"200ms\"\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{ capacity = { cpu = 8 } }]\n",
    ));
    let marks = server.path("marks");
    fs::create_dir(&marks).unwrap();
    let busy = format!(
        "touch {0}/$MEED_TASK; ls {0} | wc -l; sleep 0.1; rm {0}/$MEED_TASK",
        marks.display()
    );
    let array = server.submit(&["--array", "2-12:2%2", "--name", "array", "--", "sh", "-c", &busy]);
    let next = server.submit(&["--after", "array", "--", "true"]);
    let twice = "test $MEED_ATTEMPT = 1";
    let again = server.submit(&["--retries", "1", "--", "sh", "-c", twice]);
    let never = server.submit(&["--retries", "1", "--", "false"]);
    let late = server.submit(&["--time", "300ms", "--", "sh", "-c", "trap '' TERM; sleep 60"]);
    let lost = server.submit(&["--after", &never, "--", "true"]);
    let any = server.submit(&["--after-any", &never, "--", "true"]);
    for job in [&array, &next, &again, &any] {
        server.ok(&["wait", job]);
    }
    for job in [&never, &late, &lost] {
        assert_eq!(server.refused(&["wait", job]).0, Some(1), "job {job}");
    }
    let shown = server.json(&["show", &array]);
    let tasks: Vec<u64> = shown["task"]
        .as_object()
        .unwrap()
        .values()
        .map(|task| task["index"].as_u64().unwrap())
        .collect();
    assert_eq!(tasks.len(), 6, "{tasks:?}");
    for index in [2, 4, 6, 8, 10, 12] {
        let there = server.ok(&["logs", &array, "--task", &index.to_string()]);
        let there: u32 = there.trim().parse().unwrap();
        assert!((1..=2).contains(&there), "{there} ran at once");
    }
    assert_eq!(server.json(&["show", &again])["task"]["0"]["attempt"], 1);
    assert_eq!(server.json(&["show", &never])["task"]["0"]["attempt"], 1);
    let late = server.json(&["show", &late]);
    assert_eq!(late["task"]["0"]["ended"]["cause"], "time");
    assert_eq!(late["task"]["0"]["ended"]["how"]["signal"], 9);
    let why = server.json(&["show", &lost])["why"].as_str().unwrap().to_owned();
    assert!(why.contains("did not end well"), "{why}");
}

#[test]
fn a_gang_starts_at_one_instant_or_not_at_all() {
    let server = Server::start(Some(
        "[server]\naffinity = false\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{ capacity = { cpu = 3 } }]\n",
    ));
    let marks = server.path("marks");
    fs::create_dir(&marks).unwrap();
    let go = server.path("go");
    // Two of three processors stay free until it is told to end.
    let wait = format!("while ! test -e {}; do sleep 0.02; done", go.display());
    let first = server.submit(&["--", "sh", "-c", &wait]);
    until("it runs", || (server.json(&["show", &first])["state"] == "running").then_some(()));
    // Each waits for the others, as ranks of one program do.
    let meet = format!(
        "touch {0}/$MEED_TASK; while test $(ls {0} | wc -l) -lt 3; do sleep 0.02; done",
        marks.display()
    );
    let gang = ["--tasks", "3", "--gang", "--time", "60s", "--", "sh", "-c", &meet];
    let gang = server.submit(&gang);
    let why = server.ok(&["why", &gang]);
    assert!(why.contains("Its 3 tasks start together, and 2 of them would fit now."), "{why}");
    assert_eq!(fs::read_dir(&marks).unwrap().count(), 0, "none of it has started");
    fs::write(&go, "").unwrap();
    server.ok(&["wait", &gang]);
    assert_eq!(fs::read_dir(&marks).unwrap().count(), 3);
}

#[test]
fn who_forks_away_is_stopped_with_its_task() {
    let server = Server::start(None);
    let mark = format!("MEED_TEST={}", server.base.path().display());
    let away = "setsid sh -c 'sleep 1000 & sleep 1000' & exit 0";
    let job = server.submit(&["--", "env", &mark, "sh", "-c", away]);
    server.ok(&["wait", &job]);
    assert_eq!(server.processes(), [0; 0], "its end is the end of all its processes");
    let job = server.submit(&["--", "env", &mark, "sh", "-c", "setsid sleep 1000 & sleep 1000"]);
    until("it runs", || (server.processes().len() >= 3).then_some(()));
    server.ok(&["cancel", &job]);
    assert_eq!(server.refused(&["wait", &job]).0, Some(1));
    until("all of it is gone", || server.processes().is_empty().then_some(()));
}

#[test]
fn gpus_are_never_shared() {
    let server = Server::start(Some(
        "[server]\naffinity = false\ngrace = \"300ms\"\n[cluster]\nresources = [\"cpu\", \"gpu\"]\n\
         node = [{ capacity = { cpu = 64, gpu = 3 } }]\n",
    ));
    let locks = server.path("locks");
    fs::create_dir(&locks).unwrap();
    // mkdir is the test of the index: it fails where somebody holds it. The task lingers while it
    // is stopped, so that the engine has given its room away long before the index is free.
    let script = format!(
        "trap 'sleep 0.1; rmdir {0}/$CUDA_VISIBLE_DEVICES; exit 1' TERM; \
         mkdir {0}/$CUDA_VISIBLE_DEVICES || exit 7; sleep 0.05 & wait; \
         rmdir {0}/$CUDA_VISIBLE_DEVICES",
        locks.display()
    );
    let long = script.replace("sleep 0.05", "sleep 60");
    let stopped = server.submit(&["--gpu", "1", "--tasks", "3", "--", "sh", "-c", &long]);
    until("all indices are held", || (fs::read_dir(&locks).unwrap().count() == 3).then_some(()));
    let job = server.submit(&["--gpu", "1", "--tasks", "12", "--", "sh", "-c", &script]);
    server.ok(&["cancel", &stopped]);
    server.ok(&["wait", &job]);
    assert_eq!(fs::read_dir(&locks).unwrap().count(), 0);
    let (code, why) = server.refused(&["submit", "--gpu", "4", "--", "true"]);
    assert!(code == Some(3) && why.contains("more than this machine has (3)"), "{why}");
}

#[test]
fn hold_release_reload_and_what_is_shown() {
    let one = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n[cluster]\n\
               resources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n\
               [[queue]]\nname = \"a\"\n";
    let server = Server::start(Some(one));
    let first = server.submit(&["-q", "a", "--", "sleep", "60"]);
    let second = server.submit(&["-q", "a", "--", "true"]);
    let third = server.submit(&["-q", "a", "--hold", "--", "true"]);
    until("the first runs", || {
        (server.json(&["show", &first])["state"] == "running").then_some(())
    });
    assert_eq!(server.json(&["show", &second])["state"], "waiting");
    let why = server.ok(&["why", &second]);
    assert!(why.contains("more than is free: cpu 1.0 of 0.0"), "{why}");
    assert_eq!(server.refused(&["hold", &first]).0, Some(3));
    server.ok(&["hold", &second]);
    server.ok(&["release", &third]);
    let states = |server: &Server| -> Vec<String> {
        let jobs = server.json(&["jobs"]);
        let state = |job: &serde_json::Value| job["state"].as_str().unwrap().to_owned();
        jobs["jobs"].as_array().unwrap().iter().map(state).collect()
    };
    assert_eq!(states(&server), ["waiting", "held", "running"]);
    // More room comes with a reload, and another queue.
    let more = one.replace("cpu = 1 }", "cpu = 2 }") + "[[queue]]\nname = \"b\"\nweight = 3\n";
    fs::write(server.path("meed.toml"), &more).unwrap();
    signal(server.pid(), "HUP");
    server.ok(&["wait", &third]);
    server.ok(&["release", &second]);
    server.ok(&["wait", &second]);
    let queues = server.json(&["queues"]);
    let names: Vec<&str> = queues["queues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| queue["queue"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"]);
    fs::write(server.path("meed.toml"), more.replace("weight = 3", "weight = -3")).unwrap();
    let (code, why) = server.refused(&["reload"]);
    assert!(code == Some(3) && why.contains("meed.toml:"), "{why}");
    // What contradicts itself is refused, and nothing of the file is taken.
    let other = format!(
        "policy = \"long-term,half_life=400d\"\n{}",
        more.replace("weight = 3", "weight = 9")
    );
    fs::write(server.path("meed.toml"), other).unwrap();
    let (code, why) = server.refused(&["reload"]);
    assert!(code == Some(3) && why.contains("half"), "{why}");
    let gpu = more.replace("resources = [\"cpu\"]", "resources = [\"cpu\", \"gpu\"]");
    fs::write(server.path("meed.toml"), gpu).unwrap();
    let (code, why) = server.refused(&["reload"]);
    assert!(code == Some(3) && why.contains("begin with a new one"), "{why}");
    assert_eq!(server.json(&["queues"])["queues"][1]["weight"], 3.0);
    server.ok(&["cancel", &first]);
    assert!(server.ok(&["jobs", "--ended"]).contains("cancelled"));
}

#[test]
fn processors_are_a_tasks_own_and_its_address_space_is_bounded_on_request_only() {
    let server = Server::start(None);
    let both = server.path("both");
    fs::create_dir(&both).unwrap();
    let all = std::thread::available_parallelism().unwrap().get().min(2);
    // They run at the same time: each waits for the other.
    let script = format!(
        "grep Cpus_allowed_list /proc/self/status; touch {0}/$MEED_TASK; \
         while test $(ls {0} | wc -l) -lt {all}; do sleep 0.02; done",
        both.display()
    );
    let job = server.submit(&["--tasks", &all.to_string(), "--", "sh", "-c", &script]);
    server.ok(&["wait", &job]);
    let own: std::collections::BTreeSet<u32> = (0..all)
        .map(|task| {
            let told = server.ok(&["logs", &job, "--task", &task.to_string()]);
            told.trim().rsplit(['\t', ' ']).next().unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(own.len(), all, "each has one, and none has another's: {own:?}");
    for (bound, wanted) in [(None, "unlimited\n"), (Some("--bound-address-space"), "65536\n")] {
        let mut args = vec!["--memory", "64MiB"];
        args.extend(bound);
        let job = server.submit(&[&args[..], &["--", "sh", "-c", "ulimit -v"]].concat());
        server.ok(&["wait", &job]);
        assert_eq!(server.ok(&["logs", &job]), wanted, "{bound:?}");
    }
}

#[test]
fn its_journal_is_replayed_and_explained_while_it_serves() {
    let server = Server::start(Some(
        "[server]\naffinity = false\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{ capacity = { cpu = 1 } }]\n",
    ));
    let first = server.submit(&["--", "sleep", "60"]);
    until("it runs", || (server.json(&["show", &first])["state"] == "running").then_some(()));
    let second = server.submit(&["--name", "second", "--", "true"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.submit(&["--hold", "--", "true"]);
    // The state folder, or the journal in it.
    let state = server.state().to_str().unwrap();
    let journal = format!("{state}/journal");
    let journal = journal.as_str();
    let ask = |args: &[&str]| server.meed(args);
    let replay = |from| ask(&["replay", from, "-p", "fair", "-p", "long-term,half_life=7d"]);
    let explain = |from| ask(&["explain", from, "--job", "second"]);
    if let (Some(replayed), Some(explained)) = (replay(journal), explain(journal)) {
        for policy in ["fair", "long-term,half_life=7d", "recorded"] {
            assert!(replayed.contains(policy), "{policy}: {replayed}");
        }
        assert!(explained.contains("second"), "{explained}");
        assert_eq!((replay(state), explain(state)), (Some(replayed), Some(explained)));
    }
    assert_eq!(server.json(&["show", &second])["state"], "waiting", "it serves");
    server.ok(&["cancel", &first, &second]);
}
