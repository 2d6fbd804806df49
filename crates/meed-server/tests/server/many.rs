//! Ten thousand submissions at once: each is answered, by a number of its own, none is lost when
//! the server is killed after that, and nobody else waits for long meanwhile.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bench::{Server, say};

const CLIENTS: usize = 40;
const EACH: usize = 250;
/// Of a loaded machine, in a build without optimisation.
const BOUND: Duration = Duration::from_secs(90);

/// One client's jobs, sent without waiting for answers: their numbers. One in fifty runs.
fn submits(server: &Server, client: usize) -> Vec<u64> {
    let stream = UnixStream::connect(server.socket()).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let line = |job: usize| {
        let hold = !job.is_multiple_of(50);
        let name = format!("j{client}-{job}");
        let spec = json!({
            "command": ["/bin/true"], "folder": "/", "umask": 18, "queue": "a", "hold": hold,
            "name": name, "demand": {"cpu": "1"},
        });
        json!({ "submit": spec }).to_string() + "\n"
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for job in 0..EACH {
                writer.write_all(line(job).as_bytes()).unwrap();
            }
        });
        let answers = BufReader::new(&stream).lines().take(EACH);
        let number = |line: std::io::Result<String>| {
            let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
            answer["ok"]["job"].as_u64().unwrap_or_else(|| panic!("{answer}"))
        };
        answers.map(number).collect()
    })
}

fn known(server: &Server) -> BTreeSet<u64> {
    let jobs = server.json(&["jobs", "--ended", "--limit", "20000"]);
    let jobs = jobs["jobs"].as_array().unwrap().iter();
    jobs.map(|job| job["id"].as_u64().unwrap()).collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that bounds a time has a clock")]
fn ten_thousand_submissions_at_once() {
    let config = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n[cluster]\n\
                  resources = [\"cpu\"]\nnode = [{ capacity = { cpu = 2 } }]\n\
                  [[queue]]\nname = \"a\"\n";
    let mut server = Server::start(Some(config));
    let start = Instant::now();
    let (numbers, slowest) = std::thread::scope(|scope| {
        let server = &server;
        let clients: Vec<_> =
            (0..CLIENTS).map(|client| scope.spawn(move || submits(server, client))).collect();
        // Somebody else asks meanwhile.
        let mut slowest = Duration::ZERO;
        while clients.iter().any(|client| !client.is_finished()) {
            let asked = Instant::now();
            server.ask("{\"queues\":{}}");
            slowest = slowest.max(asked.elapsed());
        }
        let numbers = clients.into_iter().flat_map(|client| client.join().unwrap());
        (numbers.collect::<Vec<u64>>(), slowest)
    });
    let took = start.elapsed();
    let all: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!((numbers.len(), all.len()), (CLIENTS * EACH, CLIENTS * EACH));
    let rate = (CLIENTS * EACH) as f64 / took.as_secs_f64();
    say(&format!("10,000 submissions: {rate:.0} a second; the slowest other answer {slowest:?}"));
    assert!(took < BOUND, "{took:?}");
    assert!(slowest < Duration::from_secs(10), "somebody else waited {slowest:?}");
    server.kill();
    server.run();
    assert_eq!(known(&server), all, "what was answered is there");
    // Those that run are done, however often the server dies.
    for client in [0, CLIENTS - 1] {
        server.ok(&["wait", &format!("j{client}-0"), &format!("j{client}-200")]);
    }
    server.stop();
}
