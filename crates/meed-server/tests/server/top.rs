//! `meed queues` says whose turn comes next among many; `meed top` shows it, in a real terminal.

use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};

use crate::bench::{MEED, Server, say, text, until};

/// Twelve queues, whose jobs want all of a machine that one job holds.
fn crowded() -> (Server, Vec<String>) {
    let queues: String = (0..12).map(|n| format!("[[queue]]\nname = \"q{n}\"\n")).collect();
    let members: Vec<String> = (0..12).map(|n| format!("q{n} = [\"root\"]")).collect();
    let config = format!(
        "[server]\naffinity = false\nmembers = {{ {} }}\n[cluster]\nresources = [\"cpu\"]\n\
         node = [{{ capacity = {{ cpu = 12 }} }}]\n{queues}",
        members.join(", ")
    );
    let server = Server::start(Some(&config));
    // q5 holds all, so it comes last; q0 to q4 hold nothing, and wait.
    let mut jobs = vec![server.submit(&["-q", "q5", "--cpu", "12", "--", "sleep", "1000"])];
    until("it runs", || (server.json(&["show", &jobs[0]])["state"] == "running").then_some(()));
    for queue in [5, 9, 0, 3, 11, 1, 2, 4, 6, 7, 8, 10] {
        let queue = format!("q{queue}");
        jobs.push(server.submit(&["-q", &queue, "--cpu", "12", "--", "true"]));
    }
    (server, jobs)
}

#[test]
fn the_next_queue_is_told_however_many_wait() {
    let (server, jobs) = crowded();
    let answer = server.json(&["queues"]);
    let place = |queue: &str| {
        let all = answer["queues"].as_array().unwrap();
        all.iter().find(|shown| shown["queue"] == queue).unwrap()["next"].as_u64()
    };
    let mut places: Vec<Option<u64>> = (0..12).map(|n| place(&format!("q{n}"))).collect();
    assert_eq!(places[5], Some(11), "who holds all comes last: {answer}");
    places.sort_unstable();
    assert_eq!(places, (0..12).map(Some).collect::<Vec<_>>(), "each has its own place");
    assert_eq!(answer["resources"][0]["has"], 12.0);
    assert_eq!(answer["resources"][0]["held"], 12.0);

    let view = server.ok(&["top", "--once"]);
    assert!(view.contains("13 jobs: 1 running, 12 waiting"), "{view}");
    assert!(view.contains("12.0 of 12.0"), "{view}");
    for job in &jobs {
        assert!(view.contains(&format!("\n {job} ")), "job {job}:\n{view}");
    }
    let (code, why) = server.refused(&["top", "--every", "1ms"]);
    assert!(code == Some(2) && why.contains("wanted is 0.1s to 1h"), "{why}");
    server.ok(&["cancel", &jobs[0]]);
}

/// `meed top` in a terminal of its own, which writes what it shows into a file.
struct Terminal {
    child: Child,
    shown: std::path::PathBuf,
}

impl Terminal {
    fn open(server: &Server) -> Option<Terminal> {
        let shown = server.path("shown");
        let mut script = std::process::Command::new("script");
        script.args(["-qefc", &format!("stty rows 30 cols 100; {MEED} top --every 0.2s")]);
        script.arg(&shown).env("MEED_SOCKET", server.socket()).env("TERM", "xterm");
        script.stdin(Stdio::piped()).stdout(Stdio::null());
        Some(Terminal { child: script.spawn().ok()?, shown })
    }

    fn text(&self) -> String {
        text(&fs::read(&self.shown).unwrap_or_default())
    }

    fn wait_for(&self, words: &str) {
        until(&format!("the terminal shows {words:?}"), || {
            self.text().contains(words).then_some(())
        });
    }

    fn press(&mut self, keys: &str) {
        let mut stdin = self.child.stdin.as_ref().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
}

#[test]
fn a_terminal_is_filled_and_given_back() {
    let (mut server, jobs) = crowded();
    let Some(mut terminal) = Terminal::open(&server) else {
        return say("skipped: a terminal for `meed top` needs `script` (util-linux)");
    };
    // The alternate screen, the first view, and what does not fit.
    terminal.wait_for("\u{1b}[?1049h");
    terminal.wait_for("13 jobs: 1 running, 12 waiting");
    terminal.wait_for("more queues");
    // What happens is seen.
    server.ok(&["cancel", &jobs[12]]);
    terminal.wait_for("12 jobs: 1 running, 11 waiting");
    // A server that goes is waited for, and the next one is shown.
    server.kill();
    terminal.wait_for("the server does not answer");
    server.run();
    server.ok(&["cancel", &jobs[11]]);
    terminal.wait_for("11 jobs: 1 running, 10 waiting");
    terminal.press("jj");
    terminal.press("q");
    let ended = until("it leaves", || terminal.child.try_wait().unwrap());
    assert!(ended.success(), "{ended}: {}", terminal.text());
    let shown = terminal.text();
    assert!(shown.contains("\u{1b}[?25h\u{1b}[?1049l"), "the screen is given back: {shown:?}");
    server.ok(&["cancel", &jobs[0]]);
}
