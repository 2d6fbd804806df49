//! Every file of the state folder is emptied, removed, cut and overwritten while a task runs, one
//! waits and one is held. Either the server refuses to start, with exit code 5 and a sentence that
//! names the file, or all is as it was. No task is ever stopped or begun a second time, and no
//! number is given again.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::{Server, until};

const CONFIG: &str = "policy = \"long-term\"\n[server]\naffinity = false\n\
    members = { a = [\"root\"] }\n[cluster]\nresources = [\"cpu\"]\n\
    node = [{ capacity = { cpu = 2 } }]\n[[queue]]\nname = \"a\"\n";

/// A server that was killed, with jobs that have ended, run, wait and are held.
struct Left {
    server: Server,
    kept: PathBuf,
    shown: Vec<(Value, Value)>,
    processes: Vec<u32>,
    task: PathBuf,
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

/// Number and state of each job.
fn shown(server: &Server) -> Vec<(Value, Value)> {
    let jobs = server.json(&["jobs", "--ended"]);
    let jobs = jobs["jobs"].as_array().unwrap().iter();
    jobs.map(|job| (job["id"].clone(), job["state"].clone())).collect()
}

impl Left {
    fn new() -> Left {
        let mut server = Server::start(Some(CONFIG));
        for _ in 0..2 {
            let job = server.submit(&["-q", "a", "--", "true"]);
            server.ok(&["wait", &job]);
        }
        let mark = format!("MEED_TEST={}", server.base.path().display());
        let script = format!("echo begun >> {}; sleep 1000", server.path("begun").display());
        let runs = ["-q", "a", "--cpu", "2", "--", "env", &mark, "sh", "-c", &script];
        let runs = server.submit(&runs);
        until("it runs", || (server.processes().len() >= 2).then_some(()));
        server.submit(&["-q", "a", "--", "echo", "waits"]);
        server.submit(&["-q", "a", "--hold", "--", "echo", "held"]);
        let (shown, mut processes) = (shown(&server), server.processes());
        processes.sort_unstable();
        server.kill();
        let kept = server.path("kept");
        fs::create_dir(&kept).unwrap();
        // A version that leaves no marks takes part as well.
        fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(server.state().join("marks"))
            .unwrap();
        let task = server.state().join("run").join(format!("{runs}-0-0"));
        let left = Left { server, kept, shown, processes, task };
        for part in ["jobs", "journal", "marks"] {
            copy(&left.at(part), &left.kept.join(part));
        }
        left
    }

    fn at(&self, name: &str) -> PathBuf {
        self.server.state().join(name)
    }

    /// As it was left, but for the folders of tasks.
    fn restore(&self) {
        for part in ["jobs", "journal", "marks"] {
            let _ = fs::remove_file(self.at(part));
            copy(&self.kept.join(part), &self.at(part));
        }
    }

    fn nothing_was_touched(&self, what: &str) {
        let mut processes = self.server.processes();
        processes.sort_unstable();
        assert_eq!(processes, self.processes, "{what}: processes of the task");
        let begun = fs::read_to_string(self.server.path("begun")).unwrap();
        assert_eq!(begun, "begun\n", "{what}: begun once");
    }

    /// It is refused, by a sentence with this name in it.
    fn refused(&mut self, what: &str, name: &str) {
        assert_eq!(self.server.try_run(), Err(Some(5)), "{what}: {}", self.server.log());
        let log = self.server.log_since_start();
        assert!(log.contains(name), "{what}: {name} is not named: {log}");
        assert!(!log.contains("panicked"), "{what}: {log}");
        self.nothing_was_touched(what);
    }

    /// All is as it was.
    fn goes_on(&mut self, what: &str) {
        assert_eq!(self.server.try_run(), Ok(()), "{what}: {}", self.server.log());
        assert_eq!(shown(&self.server), self.shown, "{what}");
        self.nothing_was_touched(what);
        self.server.kill();
    }

    /// Either of both: whether it was refused.
    fn refused_or_goes_on(&mut self, what: &str, name: &str) -> bool {
        match self.server.try_run() {
            Ok(()) => {
                assert_eq!(shown(&self.server), self.shown, "{what}");
                self.nothing_was_touched(what);
                self.server.kill();
                false
            }
            Err(code) => {
                let log = self.server.log_since_start();
                assert_eq!(code, Some(5), "{what}: {log}");
                assert!(log.contains(name), "{what}: {name} is not named: {log}");
                self.nothing_was_touched(what);
                true
            }
        }
    }

    /// Restored it goes on, and the next number is a new one.
    fn ends(mut self) {
        self.restore();
        assert_eq!(self.server.try_run(), Ok(()), "{}", self.server.log());
        assert_eq!(shown(&self.server), self.shown);
        self.nothing_was_touched("at the end");
        let next = self.server.submit(&["-q", "a", "--", "true"]);
        assert_eq!(next, (self.shown.len() + 1).to_string(), "a number is given once");
        let runs = self.task.file_name().unwrap().to_str().unwrap().split('-').next().unwrap();
        self.server.ok(&["cancel", runs]);
        self.server.ok(&["wait", &next]);
    }
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

fn cut(path: &Path, length: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

fn flip(path: &Path, offset: u64) {
    let mut bytes = fs::read(path).unwrap();
    bytes[usize::try_from(offset).unwrap()] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

#[test]
fn without_the_database_of_jobs_nothing_is_started() {
    let mut left = Left::new();
    let books = left.at("jobs/jobs.redb");
    fs::write(&books, "").unwrap();
    left.refused("emptied", "jobs/jobs.redb");
    fs::remove_file(&books).unwrap();
    left.refused("removed", "jobs/jobs.redb");
    fs::remove_dir_all(left.at("jobs")).unwrap();
    left.refused("its folder removed", "jobs/jobs.redb");
    fs::remove_file(left.at("marks")).unwrap();
    left.refused("marks removed too", "jobs/jobs.redb");
    fs::remove_dir_all(left.at("journal")).unwrap();
    left.refused("the journal removed too", "jobs/jobs.redb");
    left.ends();
}

#[test]
fn a_damaged_database_of_jobs_is_refused_or_harmless() {
    let mut left = Left::new();
    let books = left.at("jobs/jobs.redb");
    let length = fs::metadata(&books).unwrap().len();
    for at in [1, 63, 320, 4096, 5000, length / 2, length - 4096, length - 1] {
        cut(&books, at);
        left.refused_or_goes_on(&format!("cut to {at} of {length} bytes"), "jobs.redb");
        left.restore();
    }
    let mut refused = 0;
    let used: Vec<u64> = {
        let bytes = fs::read(&books).unwrap();
        let pages = (0..length / 4096).filter(|page| {
            let page = usize::try_from(page * 4096).unwrap();
            bytes[page..page + 4096].iter().any(|byte| *byte != 0)
        });
        pages.collect()
    };
    for page in used.iter().copied().take(24) {
        overwrite(&books, page * 4096, &[0xa5; 4096]);
        let what = format!("page {page} overwritten");
        refused += u32::from(left.refused_or_goes_on(&what, "jobs.redb"));
        left.restore();
        flip(&books, page * 4096 + 20);
        left.refused_or_goes_on(&format!("a bit of page {page} flipped"), "jobs.redb");
        left.restore();
    }
    assert!(refused > 0, "some page is in use");
    for offset in [0, 9, 12, 70, 80, 200, 210] {
        flip(&books, offset);
        left.refused_or_goes_on(&format!("byte {offset} flipped"), "jobs.redb");
        left.restore();
    }
    fs::write(&books, "no database at all, though as long as one line").unwrap();
    left.refused("another file", "jobs/jobs.redb");
    left.ends();
}

#[test]
fn without_its_journal_nothing_is_started() {
    let mut left = Left::new();
    fs::remove_dir_all(left.at("journal")).unwrap();
    left.refused("removed", "journal");
    fs::remove_file(left.at("marks")).unwrap();
    left.refused("marks removed too", "journal");
    left.ends();
}

#[test]
fn a_damaged_journal_is_refused() {
    let mut left = Left::new();
    let names: Vec<String> = fs::read_dir(left.kept.join("journal"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    for name in names {
        let path = left.at("journal").join(&name);
        let is_needed = name.ends_with(".jsonl") || name == "store.json";
        // The last segment ends with room that was reserved.
        let bytes = fs::read(&path).unwrap();
        let text = bytes.iter().rposition(|byte| *byte != b'\n').map_or(0, |last| last as u64 + 1);
        fs::write(&path, "").unwrap();
        match name.as_str() {
            "lock" => left.goes_on("lock emptied"),
            _ => left.refused(&format!("{name} emptied"), "journal"),
        }
        left.restore();
        fs::remove_file(&path).unwrap();
        match is_needed {
            true => left.refused(&format!("{name} removed"), "journal"),
            false => left.goes_on(&format!("{name} removed")),
        }
        left.restore();
        if name == "lock" {
            continue;
        }
        for at in [1, text / 3, text / 2, text - 30, text - 2] {
            cut(&path, at);
            left.refused(&format!("{name} cut to {at} of {text} bytes"), "journal");
            left.restore();
            flip(&path, at);
            left.refused(&format!("{name}, byte {at} flipped"), "journal");
            left.restore();
        }
    }
    left.ends();
}

#[test]
fn marks_that_are_damaged_say_nothing() {
    let mut left = Left::new();
    let marks = left.at("marks");
    fs::write(&marks, "").unwrap();
    left.goes_on("emptied");
    left.restore();
    fs::remove_file(&marks).unwrap();
    left.goes_on("removed");
    left.restore();
    flip(&marks, 20);
    left.goes_on("flipped");
    left.restore();
    cut(&marks, 30);
    left.goes_on("cut");
    left.ends();
}

#[test]
fn parts_of_different_moments_are_refused() {
    let mut left = Left::new();
    // A moment later, with one job more.
    assert_eq!(left.server.try_run(), Ok(()));
    left.server.submit(&["-q", "a", "--hold", "--", "true"]);
    left.server.submit(&["-q", "a", "--", "true"]);
    left.shown = shown(&left.server);
    left.server.kill();
    let earlier = left.server.path("earlier");
    fs::rename(&left.kept, &earlier).unwrap();
    fs::create_dir(&left.kept).unwrap();
    for part in ["jobs", "journal", "marks"] {
        copy(&left.at(part), &left.kept.join(part));
    }
    for part in ["jobs", "journal"] {
        copy(&earlier.join(part), &left.at(part));
        left.refused(&format!("{part} of before"), part);
        left.restore();
    }
    // Of another state folder.
    let mut other = Left::new();
    for part in ["jobs", "journal"] {
        fs::remove_file(left.at("marks")).unwrap();
        copy(&other.kept.join(part), &left.at(part));
        left.refused(&format!("{part} of another server"), "journal");
        left.restore();
    }
    other.goes_on("the other one");
    other.ends();
    left.ends();
}

#[test]
fn folders_of_tasks_that_do_not_name_who_runs_are_refused() {
    let mut left = Left::new();
    let (task, away) = (left.task.clone(), left.server.path("away"));
    for name in ["claim", "ticket.json", "began.json"] {
        let path = task.join(name);
        let bytes = fs::read(&path).unwrap();
        let broken: [(&str, &[u8]); 3] = [("emptied", b""), ("cut", &bytes[..1]), ("wrong", b"1")];
        for (what, broken) in broken {
            fs::write(&path, broken).unwrap();
            let what = format!("{name} {what}");
            match name {
                "began.json" => left.goes_on(&what),
                _ => left.refused(&what, &format!("0-0/{name}")),
            }
            fs::write(&path, &bytes).unwrap();
        }
        // Its lock goes with it, and comes back with it.
        fs::rename(&path, &away).unwrap();
        match name {
            "began.json" => left.goes_on("began.json removed"),
            _ => left.refused(&format!("{name} removed"), &format!("0-0/{name}")),
        }
        fs::copy(&away, &path).unwrap();
        if name == "claim" {
            left.refused("claim of a copy", "0-0/claim");
        }
        fs::rename(&away, &path).unwrap();
    }
    fs::rename(&task, &away).unwrap();
    left.refused("the task's folder removed", task.to_str().unwrap());
    fs::rename(&away, &task).unwrap();
    let runs = left.at("run");
    fs::rename(&runs, &away).unwrap();
    left.refused("run removed", task.to_str().unwrap());
    fs::remove_dir_all(&runs).unwrap();
    fs::rename(&away, &runs).unwrap();
    left.ends();
}

#[test]
fn a_result_that_cannot_be_read_is_refused() {
    let mut server = Server::start(Some(CONFIG));
    let go = server.path("go");
    let script = format!("while ! test -e {}; do sleep 0.02; done", go.display());
    let job = server.submit(&["-q", "a", "--", "sh", "-c", &script]);
    let result = server.state().join("run").join(format!("{job}-0-0/result.json"));
    until("it runs", || result.with_file_name("began.json").exists().then_some(()));
    server.kill();
    fs::write(&go, "").unwrap();
    until("it has ended", || (result.exists() && server.supervisors().is_empty()).then_some(()));
    let bytes = fs::read(&result).unwrap();
    for broken in [&b""[..], &bytes[..bytes.len() / 2], b"[]"] {
        fs::write(&result, broken).unwrap();
        assert_eq!(server.try_run(), Err(Some(5)));
        let log = server.log_since_start();
        assert!(log.contains("0-0/result.json"), "{log}");
    }
    fs::write(&result, &bytes).unwrap();
    server.run();
    server.ok(&["wait", &job]);
}
