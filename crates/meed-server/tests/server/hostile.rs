//! Requests that no client of ours sends.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::json;

use crate::bench::{Server, text, until};

#[test]
fn what_is_no_request_is_refused_and_harms_nobody() {
    let server = Server::start(None);
    for garbage in [
        "",
        "x",
        "{",
        "[]",
        "17",
        "{\"submit\":{}}",
        "{\"jobs\":{\"al\":1}}",
        "{\"fly\":{}}",
        "{\"submit\":{\"command\":[],\"folder\":\"/\",\"umask\":0}}",
        "\u{0}\u{1}",
    ] {
        let answer = server.ask(garbage);
        assert!(answer["error"]["kind"].is_string(), "{garbage}: {answer}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(server.ask(&deep)["error"]["kind"], "malformed");
    let job = |change: serde_json::Value| {
        let mut spec = json!({"command": ["true"], "folder": "/", "umask": 18});
        spec.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        server.ask(&json!({ "submit": spec }).to_string())
    };
    for (change, word) in [
        (json!({"command": ["a\u{0}b"]}), "zero byte"),
        (json!({"folder": "../.."}), "not absolute"),
        (json!({"name": "../../etc/passwd\n"}), "no name"),
        (json!({"tasks": {"count": 4_000_000_000_u32}}), "at most"),
        (json!({"demand": {"cpu": "1e30"}}), "cpu"),
        (json!({"demand": {"cpu": "-1"}}), "cpu"),
        (json!({"demand": {"souls": "1"}}), "unknown resource"),
        (json!({"uid": 0}), "unknown field"),
        (json!({"queue": "../root"}), "one queue"),
        (json!({"after": [{"job": "999999"}]}), "no job"),
    ] {
        let answer = job(change.clone());
        let why = answer["error"]["text"].as_str().unwrap_or_default().to_owned();
        assert!(why.contains(word), "{change}: {answer}");
    }
    assert_eq!(server.json(&["jobs"])["jobs"], json!([]), "nothing was taken");
    // A name that looks like a path is a name.
    let odd = server.submit(&["--name", "../../x", "--", "true"]);
    server.ok(&["wait", &odd]);
    assert_eq!(server.ok(&["logs", "../../x"]), "");
}

#[test]
fn large_and_slow_requests_are_bounded() {
    let server = Server::start(None);
    // Larger than allowed: refused without being kept.
    let mut stream = UnixStream::connect(server.socket()).unwrap();
    let chunk = vec![b'x'; 1 << 20];
    let sent = (0..64).take_while(|_| stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 64, "it listens to 64 MiB");
    // As many as one user may have, each in the middle of a request.
    let mut slow: Vec<UnixStream> = Vec::new();
    let refused = until("no more are let in", || {
        let mut stream = UnixStream::connect(server.socket()).unwrap();
        stream.set_nonblocking(true).unwrap();
        let _ = stream.write_all(b"{\"jo");
        slow.push(stream);
        slow.iter_mut().find_map(|stream| {
            let mut answer = vec![0; 200];
            let count = stream.read(&mut answer).ok().filter(|&count| count > 0)?;
            Some(text(&answer[..count]))
        })
    });
    assert!(refused.contains("too many connections"), "{refused}");
    assert!((100..400).contains(&slow.len()), "{} were let in", slow.len());
    drop(slow);
    until("there is room again", || server.output(&["jobs"]).status.success().then_some(()));
}

#[test]
fn many_submissions_at_once_share_syncs() {
    let server = Server::start(None);
    let line = json!({"submit": {"command": ["true"], "folder": "/", "umask": 18, "hold": true}});
    let line = format!("{line}\n");
    let send = || {
        let mut stream = UnixStream::connect(server.socket()).unwrap();
        let mut answers = std::io::BufReader::new(stream.try_clone().unwrap());
        for _ in 0..100 {
            stream.write_all(line.as_bytes()).unwrap();
            let mut answer = String::new();
            std::io::BufRead::read_line(&mut answers, &mut answer).unwrap();
            assert!(answer.contains("\"ok\""), "{answer}");
        }
    };
    std::thread::scope(|scope| {
        (0..10).for_each(|_| drop(scope.spawn(send)));
    });
    let jobs = server.json(&["jobs", "-n", "5000"]);
    let ids: std::collections::BTreeSet<u64> =
        jobs["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 1000, "each has a number of its own, over two pages");
}
