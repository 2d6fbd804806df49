//! Running tasks are stopped for who is owed: by signals, within the grace, whatever dies then.
//! What was decided is in the journal before it is done, and is decided again by who reads that.

use std::fs;

use serde_json::Value;

use crate::bench::{Server, say, until, verify};

/// Of two processors `a` takes both, and `b` owns one.
fn config(grace: &str) -> String {
    format!(
        "policy = \"long-term,reclaim_after=1s,reclaim_min_runtime=0.1s,reclaim_guard=4s,\
         reclaim_grace={grace}\"\n\
         [server]\naffinity = false\nmembers = {{ a = [\"root\"], b = [\"root\"] }}\n\
         [cluster]\nresources = [\"cpu\"]\nnode = [{{ capacity = {{ cpu = 2 }} }}]\n\
         [[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n"
    )
}

/// Records of the journal of one kind.
fn records(server: &Server, kind: &str) -> Vec<Value> {
    let files = fs::read_dir(server.state().join("journal")).unwrap().flatten();
    let text: String = files
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
        .collect();
    let lines = text.lines().filter(|line| line.contains(&format!("\"{kind}\":")));
    let told = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    told.filter(|record| record.get(kind).is_some()).collect()
}

/// Two tasks of `a` that run: the first attempts without end, saying when they are asked to end;
/// later ones are soon done.
fn occupy(server: &Server, on_term: &str) -> String {
    let script = format!(
        "echo began $MEED_ATTEMPT; [ $MEED_ATTEMPT = 0 ] || exit 0; trap '{on_term}' TERM; \
         while :; do sleep 0.05; [ -e {}/enough ] && exit 0; done",
        server.base.path().display()
    );
    let args = ["-q", "a", "--tasks", "2", "--grace", "60s", "--", "sh", "-c", &script];
    let job = server.submit(&args);
    until("both run", || (server.ok(&["logs", &job]).matches("began").count() == 2).then_some(()));
    job
}

/// Who lent is served; who was stopped is served again, and all is as the journal says.
fn all_ends_well(server: &mut Server, borrower: &str, lender: &str) {
    server.ok(&["wait", lender]);
    until("who was stopped begins again", || {
        server.ok(&["logs", borrower]).contains("began 1").then_some(())
    });
    fs::write(server.path("enough"), "").unwrap();
    server.ok(&["wait", borrower]);
    let shown = server.json(&["show", borrower]);
    let counts = ["done", "failed", "stopped"].map(|key| shown[key].as_u64().unwrap());
    assert_eq!(counts, [2, 0, 1], "a stop is no failure, and no retry is needed");
    assert!(shown["lost_us"].as_u64().unwrap() > 900_000, "{shown}");
    let text = server.ok(&["show", borrower]);
    assert!(text.contains("stopped    once for others, by reclaim"), "{text}");
    let (told, lost) = (records(server, "reclaim"), records(server, "lost"));
    assert_eq!((told.len(), lost.len()), (1, 1), "{told:?} {lost:?}");
    let (told, lost) = (&told[0]["reclaim"], &lost[0]["lost"]);
    assert_eq!((&told["job"], &told["task"]), (&lost["job"], &lost["task"]));
    assert_eq!(told["for"]["job"].to_string(), lender);
    assert_eq!(records(server, "fail"), [] as [Value; 0]);
    assert_eq!(server.stop(), Some(0));
    let folder = server.state().join("journal");
    verify(&folder);
}

#[test]
fn room_comes_back_to_who_is_owed() {
    let mut server = Server::start(Some(&config("4s")));
    let borrower = occupy(&server, "echo saved; exit 0");
    let lender = server.submit(&["-q", "b", "--", "true"]);
    let why = server.ok(&["why", &lender]);
    assert!(why.contains("Room is held for a task of it"), "{why}");
    server.ok(&["wait", &lender]);
    let text = server.ok(&["logs", &borrower]);
    assert!(text.contains("saved"), "it was asked, and what it wrote is kept: {text}");
    let jobs = server.ok(&["jobs", "--all"]);
    assert!(jobs.contains(", stopped 1x"), "{jobs}");
    let why = server.ok(&["why", &borrower]);
    assert!(why.contains("were stopped once for others"), "{why}");
    all_ends_well(&mut server, &borrower, &lender);
    // Under a policy that stops nobody the same tasks run to their ends.
    let folder = server.state().join("journal");
    let never = "long-term,reclaim_after=never";
    let args = ["replay", folder.to_str().unwrap(), "-p", "fair", "-p", never, "--json", "-"];
    let Some(told) = server.meed(&args) else { return };
    let told: Value = serde_json::from_str(&told).unwrap();
    let stopped = told["runs"].as_array().unwrap().iter().map(|run| &run["stopped"]);
    let tasks: Vec<Option<u64>> = stopped.map(|stopped| stopped["tasks"].as_u64()).collect();
    assert_eq!(tasks, [Some(1), Some(0), None], "under fair nobody is owed");
}

#[test]
fn who_does_not_hear_is_killed_when_the_grace_of_reclaim_is_over() {
    let mut server = Server::start(Some(&config("0.7s")));
    let borrower = occupy(&server, "");
    let lender = server.submit(&["-q", "b", "--", "true"]);
    let shown = until("it is told to stop", || {
        let shown = server.json(&["show", &borrower]);
        let stops =
            shown["task"].as_object().unwrap().values().any(|task| task["stopping"] == true);
        stops.then(|| (shown, server.ok(&["show", &borrower])))
    });
    assert!(shown.1.contains(&format!("stops for job {lender}")), "{}", shown.1);
    all_ends_well(&mut server, &borrower, &lender);
}

/// The record is in the file before the sync that comes before the signal: who kills the server
/// when he reads it is mostly in between.
#[test]
fn the_server_dies_between_decision_and_signal() {
    let mut in_between = 0;
    for _ in 0..3 {
        let mut server = Server::start(Some(&config("4s")));
        let borrower = occupy(&server, "echo saved; exit 0");
        let lender = server.submit(&["-q", "b", "--", "true"]);
        let segment = fs::read_dir(server.state().join("journal")).unwrap().flatten();
        let segment = segment.map(|entry| entry.path());
        let segment = segment.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).max();
        let segment = segment.unwrap();
        // Without a pause: it is a matter of microseconds.
        let is_decided =
            || fs::read(&segment).unwrap().windows(11).any(|at| at == b"\"reclaim\":{");
        until("it is decided", || (0..2000).any(|_| is_decided()).then_some(()));
        server.kill();
        let runs = fs::read_dir(server.state().join("run")).unwrap().flatten();
        let mut told = runs.map(|run| run.path().join("stop.json").exists());
        in_between += u32::from(!told.any(|told| told));
        server.run();
        all_ends_well(&mut server, &borrower, &lender);
    }
    if in_between == 0 {
        say("the server was never killed between decision and signal: the disk is too fast");
    }
}

#[test]
fn the_server_dies_between_signal_and_end() {
    for dead_until_it_has_ended in [false, true] {
        let mut server = Server::start(Some(&config("1s")));
        let borrower = occupy(&server, "echo heard");
        let lender = server.submit(&["-q", "b", "--", "true"]);
        until("it is told", || server.ok(&["logs", &borrower]).contains("heard").then_some(()));
        server.kill();
        if dead_until_it_has_ended {
            until("its supervisor ends", || (server.supervisors().len() == 1).then_some(()));
        }
        server.run();
        all_ends_well(&mut server, &borrower, &lender);
    }
}
