//! What is wrong, named, with an exit code.

use std::fs;

use redb::ReadableTable;

use crate::bench::{Server, text};

#[test]
fn what_a_user_gets_wrong_is_said() {
    let server = Server::start(Some(
        "[server]\nmax_time = \"1h\"\nmin = { memory = \"1MiB\" }\n\
         default = { memory = \"4MiB\" }\nmembers = { lab = [\"root\"], mine = [\"nobody\"] }\n\
         [cluster]\nresources = [\"cpu\", \"memory\"]\n\
         node = [{ capacity = { cpu = 2, memory = \"1GiB\" } }]\n\
         [[queue]]\nname = \"lab\"\n[[queue]]\nname = \"mine\"\n",
    ));
    for (args, code, word) in [
        (&["submit", "-q", "lob", "--", "true"][..], 3, "did you mean `lab`"),
        (&["submit", "--cpu", "3", "--", "true"], 3, "more than this machine has (2)"),
        (
            &["submit", "--tasks", "3", "--gang", "--", "true"],
            3,
            "a gang of 3 tasks asks for 1 cpu each, more than this machine has (2)",
        ),
        (&["submit", "--array", "0-3%2", "--gang", "--", "true"], 2, "leave out one of both"),
        (&["submit", "--memory", "2GiB", "--", "true"], 3, "more than this machine has (1GiB)"),
        (
            &["submit", "--cpu", "0", "--memory", "0", "--", "true"],
            3,
            "some amount of at least one",
        ),
        (&["submit", "--memory", "1KiB", "--", "true"], 3, "memory; the least here is 1MiB"),
        (&["submit", "--memory", "many", "--", "true"], 2, "--memory"),
        (&["submit", "--socket", "/nowhere/s", "--cpu", "x", "--", "true"], 2, "--cpu"),
        (&["submit", "--resource", "cpu=", "--", "true"], 2, "--resource cpu"),
        (&["submit", "--time", "2h", "--", "true"], 3, "at most 3600 s"),
        (&["submit", "--time", "soon", "--", "true"], 2, "--time"),
        (&["submit", "--array", "9-1", "--", "true"], 2, "no array"),
        (&["submit", "--gpu", "1", "--", "true"], 3, "lends no GPUs: it lends cpu, memory"),
        (&["submit", "--after", "nobody", "--", "true"], 2, "no job `nobody`"),
        (&["submit", "--name", "17", "--", "true"], 2, "no name"),
        (&["submit"], 2, "COMMAND"),
        (&["show", "99"], 2, "no job `99`"),
        (&["release", "99"], 2, "no job"),
        (&["jobs", "--socket", "/nowhere/meed.sock"], 6, "no server answers"),
    ] {
        let (found, why) = server.refused(args);
        assert!(found == Some(code) && why.contains(word), "{args:?}: {found:?} {why}");
    }
    let gone = server.submit(&["-D", "/no/such/folder", "--", "true"]);
    assert_eq!(server.refused(&["wait", &gone]).0, Some(1));
    let shown = server.ok(&["show", &gone]);
    assert!(shown.contains("cannot enter the folder /no/such/folder"), "{shown}");
    let missing = server.submit(&["--", "no-such-command"]);
    assert_eq!(server.refused(&["wait", &missing]).0, Some(1));
    let shown = server.ok(&["show", &missing]);
    assert!(shown.contains("exit status 127") && shown.contains("no-such-command"), "{shown}");
    assert!(server.ok(&["logs", &missing]).contains("cannot run no-such-command"));
}

#[test]
fn what_an_operator_gets_wrong_is_said() {
    let mut server = Server::start(None);
    let second = |args: &[&str]| {
        let output = server.command(&[&["serve"], args].concat()).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let state = server.state().to_str().unwrap().to_owned();
    let other = server.path("other").to_str().unwrap().to_owned();
    let (code, why) = second(&["--state", &state, "--socket", &other]);
    assert!(code == Some(4) && why.contains("in use by another server"), "{why}");
    let socket = server.socket().to_str().unwrap().to_owned();
    let (code, why) = second(&["--state", &other, "--socket", &socket]);
    assert!(code == Some(4) && why.contains("another server answers there"), "{why}");
    let file = server.path("file.toml");
    fs::write(&file, "[[queue]]\nname = \"a\"\nwieght = 2\n").unwrap();
    let (code, why) = second(&[file.to_str().unwrap(), "--state", &other]);
    assert!(code == Some(3) && why.contains("file.toml:"), "{why}");
    let (code, why) = second(&["/no/such.toml", "--state", &other]);
    assert!(code == Some(4) && why.contains("cannot be read"), "{why}");
    // A torn journal is cut where nothing was acknowledged; damage before that is named.
    server.ok(&["submit", "--wait", "--", "true"]);
    server.stop();
    let journal = server.state().join("journal");
    let segment = fs::read_dir(&journal).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.filter(|path| path.to_string_lossy().ends_with(".jsonl")).max().unwrap();
    let text_of = fs::read_to_string(&segment).unwrap();
    fs::write(&segment, text_of.replacen("\"end\"", "\"fnd\"", 1)).unwrap();
    server.spawn();
    assert_eq!(server.ends(), Some(5), "{}", server.log());
    assert!(server.log().contains(".jsonl"), "{}", server.log());
    fs::write(&segment, text_of).unwrap();
    server.run();
}

#[test]
fn a_name_means_one_job_of_those_that_have_not_ended() {
    let server = Server::start(None);
    let go = server.path("go");
    let wait = format!("while ! test -e {}; do sleep 0.02; done", go.display());
    let first = server.submit(&["--name", "daily", "--", "sh", "-c", &wait]);
    let (code, why) = server.refused(&["submit", "--name", "daily", "--", "true"]);
    assert_eq!(code, Some(3), "{why}");
    for word in [&format!("your job {first} is called `daily` already"), "another --name", "cancel"]
    {
        assert!(why.contains(word), "{why}");
    }
    // A held one has not ended either; and what was refused has left nothing.
    let held = server.submit(&["--hold", "--name", "later", "--", "true"]);
    assert_eq!(server.refused(&["submit", "--name", "later", "--", "true"]).0, Some(3));
    assert_eq!(server.json(&["jobs"])["jobs"].as_array().unwrap().len(), 2);
    // A command of that name takes it from nobody: who was given it is meant.
    let link = server.path("daily");
    std::os::unix::fs::symlink("/bin/true", &link).unwrap();
    let by_command = server.submit(&["--hold", "--", link.to_str().unwrap()]);
    let again = server.submit(&["--hold", "--", link.to_str().unwrap()]);
    assert_eq!(server.json(&["show", "daily"])["id"].to_string(), first);
    server.ok(&["cancel", &by_command, &again]);
    // The end frees it, whatever that was; then the newest is meant.
    fs::write(&go, "").unwrap();
    server.ok(&["wait", &first]);
    let second = server.submit(&["--name", "daily", "--hold", "--", "true"]);
    assert_eq!(server.json(&["show", "daily"])["id"].to_string(), second);
    let next = server.submit(&["--after", "daily", "--", "true"]);
    assert_eq!(server.json(&["show", &next])["after"][0].to_string(), second);
    server.ok(&["cancel", &held]);
    server.submit(&["--name", "later", "--hold", "--", "true"]);
}

#[test]
fn names_are_known_after_a_crash() {
    let mut server = Server::start(None);
    server.submit(&["--name", "daily", "--hold", "--", "true"]);
    server.kill();
    server.run();
    assert_eq!(server.refused(&["submit", "--name", "daily", "--", "true"]).0, Some(3));
    server.ok(&["cancel", "daily"]);
    server.kill();
    server.run();
    server.ok(&["submit", "--name", "daily", "--wait", "--", "true"]);
}

/// A job can wait only for jobs that are there: its own name is not, so there is no way to write a
/// cycle, neither alone nor by two that name each other.
#[test]
fn a_cyclic_after_cannot_be_written() {
    let server = Server::start(None);
    let (code, why) = server.refused(&["submit", "--name", "a", "--after", "a", "--", "true"]);
    assert!(code == Some(2) && why.contains("no job `a`"), "{code:?} {why}");
    let (code, why) = server.refused(&["submit", "--name", "a", "--after", "b", "--", "true"]);
    assert!(code == Some(2) && why.contains("no job `b`"), "{code:?} {why}");
    let a = server.submit(&["--name", "a", "--hold", "--", "true"]);
    server.submit(&["--name", "b", "--after", "a", "--", "true"]);
    let next = (a.parse::<u64>().unwrap() + 2).to_string();
    let (code, why) = server.refused(&["submit", "--after", &next, "--", "true"]);
    assert!(code == Some(2) && why.contains(&format!("no job `{next}`")), "{code:?} {why}");
    // The other end of the cycle is refused for its name, while the first has not ended.
    let (code, why) = server.refused(&["submit", "--name", "a", "--after", "b", "--", "true"]);
    assert!(code == Some(3) && why.contains("already"), "{code:?} {why}");
}

#[test]
fn an_output_that_cannot_be_written_is_said() {
    let server = Server::start(None);
    for (option, path) in [("--output", "/no/such/folder/out"), ("--error", "/")] {
        let job = server.submit(&[option, path, "--", "true"]);
        assert_eq!(server.refused(&["wait", &job]).0, Some(1));
        let shown = server.ok(&["show", &job]);
        assert!(shown.contains(&format!("cannot write to {path}")), "{shown}");
        assert_eq!(server.json(&["show", &job])["task"]["0"]["ended"]["how"]["exit"], 126);
    }
}

#[test]
fn a_state_of_a_newer_version_is_left_alone() {
    let mut server = Server::start(None);
    server.ok(&["submit", "--wait", "--", "true"]);
    server.stop();
    let path = server.state().join("jobs/jobs.redb");
    let table = redb::TableDefinition::<&str, &[u8]>::new("meta");
    let old = with_meta(&path, table, |meta| meta["version"] = 99.into());
    let before = fs::read(&path).unwrap();
    server.spawn();
    assert_eq!(server.ends(), Some(5), "{}", server.log());
    let log = server.log();
    for word in ["jobs.redb", "version 99", "this program reads 1", "newer", "--state"] {
        assert!(log.contains(word), "{word}: {log}");
    }
    assert!(fs::read(&path).unwrap() == before, "it is left as it was");
    with_meta(&path, table, |meta| *meta = old);
    server.run();
    assert_eq!(server.json(&["show", "1"])["state"], "done");
}

type MetaTable<'t> = redb::TableDefinition<'t, &'static str, &'static [u8]>;

/// Changes the row of the books that there is once; what it was.
fn with_meta(
    path: &std::path::Path,
    table: MetaTable<'_>,
    change: impl FnOnce(&mut serde_json::Value),
) -> serde_json::Value {
    let database = redb::Database::open(path).unwrap();
    let write = database.begin_write().unwrap();
    let mut rows = write.open_table(table).unwrap();
    let row = rows.get("meta").unwrap().unwrap().value().to_vec();
    let mut meta: serde_json::Value = serde_json::from_slice(&row).unwrap();
    let old = meta.clone();
    change(&mut meta);
    rows.insert("meta", serde_json::to_vec(&meta).unwrap().as_slice()).unwrap();
    drop(rows);
    write.commit().unwrap();
    old
}

/// What a crash in the middle of a write leaves at the end was never acknowledged: it is cut, and
/// the server serves.
#[test]
fn a_torn_journal_is_cut_behind_what_was_acknowledged() {
    let mut server = Server::start(None);
    server.ok(&["submit", "--wait", "--", "true"]);
    server.kill();
    let journal = server.state().join("journal");
    let files = fs::read_dir(&journal).unwrap().map(|entry| entry.unwrap().path());
    let live = files.filter(|path| path.to_string_lossy().ends_with(".jsonl")).max().unwrap();
    let text_of = fs::read_to_string(&live).unwrap();
    let whole = text_of.trim_end_matches('\n');
    // A block of which a part was written.
    fs::write(&live, format!("{whole}\n{{\"block\":{{\"seq\":")).unwrap();
    server.run();
    assert_eq!(server.json(&["show", "1"])["state"], "done");
    server.ok(&["submit", "--wait", "--", "true"]);
    server.stop();
    crate::bench::verify(&journal);
}
