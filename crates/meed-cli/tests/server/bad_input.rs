//! What is wrong, named, with an exit code.

use std::fs;

use crate::bench::{Server, text};

#[test]
fn what_a_user_gets_wrong_is_said() {
    let server = Server::start(Some(
        "[server]\nmax_time = \"1h\"\nmembers = { lab = [\"root\"], mine = [\"nobody\"] }\n\
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
        (&["submit", "--memory", "many", "--", "true"], 2, "--memory"),
        (&["submit", "--socket", "/nowhere/s", "--cpu", "x", "--", "true"], 2, "--cpu"),
        (&["submit", "--resource", "cpu=", "--", "true"], 2, "--resource cpu"),
        (&["submit", "--time", "2h", "--", "true"], 3, "at most 3600 s"),
        (&["submit", "--time", "soon", "--", "true"], 2, "--time"),
        (&["submit", "--array", "9-1", "--", "true"], 2, "no array"),
        (&["submit", "--gpu", "1", "--", "true"], 3, "unknown resource `gpu`"),
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
