//! What no client of ours sends over HTTP; and events, metrics and pages under load.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::bench::{text, until};
use crate::http::{TASK, token};
use crate::web::{bearer, served};

#[test]
fn other_hosts_and_other_pages_are_refused() {
    let (server, web) = served(None);
    let token = token(&server, &[]);
    let auth = bearer(&token);
    let port = web.address.split(':').nth(1).unwrap().to_owned();
    let get = |headers: &[&str]| {
        web.send("GET", "/v1/me", &[&[auth.as_str()][..], headers].concat(), "").status
    };
    for (host, wanted) in [
        (format!("Host: localhost:{port}"), 200),
        (format!("Host: LOCALHOST:{port}"), 200),
        (format!("Host: [::1]:{port}"), 200),
        ("Host: localhost".to_owned(), 421),
        ("Host: evil.example".to_owned(), 421),
        (format!("Host: evil.example:{port}"), 421),
        (format!("Host: 127.0.0.1.evil.example:{port}"), 421),
        ("Host: ".to_owned(), 421),
    ] {
        assert_eq!(get(&[&host]), wanted, "{host}");
    }
    let two = format!("Host: evil.example\r\nHost: {}", web.address);
    assert!(matches!(get(&[&two]), 400 | 421));
    let whole = format!(
        "GET http://evil.example/v1/me HTTP/1.1\r\nHost: {}\r\n{auth}\r\n\
                         Connection: close\r\n\r\n",
        web.address
    );
    assert_eq!(web.raw(whole.as_bytes()).status, 421);
    let none = format!("GET /v1/me HTTP/1.1\r\n{auth}\r\nConnection: close\r\n\r\n");
    assert!(matches!(web.raw(none.as_bytes()).status, 400 | 421));
    for (lines, wanted) in [
        (vec!["Origin: null"], 403),
        (vec!["Origin: http://evil.example"], 403),
        (vec!["Origin: file://"], 403),
        (vec!["Sec-Fetch-Site: cross-site"], 403),
        (vec!["Sec-Fetch-Site: same-site"], 403),
        (vec!["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], 403),
        (vec!["Sec-Fetch-Site: same-origin"], 200),
        (vec!["Sec-Fetch-Site: none"], 200),
    ] {
        assert_eq!(get(&lines), wanted, "{lines:?}");
    }
    let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
    let page = web.send("GET", "/", &link, "");
    assert_eq!(page.status, 200, "a link leads to the page, which holds nothing");
    assert!(page.header("access-control-allow-origin").is_none());
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
}

#[test]
fn what_is_no_request_is_refused_and_harms_nobody() {
    let (server, web) = served(None);
    let token = token(&server, &[]);
    let post = |kind: &str, body: &str| {
        let kind = format!("Content-Type: {kind}");
        web.send("POST", "/v1/jobs", &[&bearer(&token), &kind], body)
    };
    let deep = format!("{}1", "[".repeat(100_000));
    let deep_inside = format!("{{\"command\":{deep}");
    for body in ["", "x", "{", "[]", "17", "{}", "null", "\u{0}", &deep, &deep_inside] {
        let got = post("application/json", body);
        assert_eq!(got.status, 400, "{}: {got:?}", body.chars().take(20).collect::<String>());
        assert_eq!(got.json()["kind"], "malformed");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(post(kind, TASK).status, 415, "{kind}");
    }
    let wrong = json!({"command": ["/bin/true"], "folder": "../..", "umask": 18});
    assert_eq!(post("application/json", &wrong.to_string()).status, 422);
    for (path, wanted) in [
        ("/v1/jobs?limit=0", 400),
        ("/v1/jobs?limit=1001", 400),
        ("/v1/jobs?limit=-1", 400),
        ("/v1/jobs?cursor=x", 400),
        ("/v1/jobs?state=flying", 400),
        ("/v1/jobs?fly=1", 400),
        ("/v1/history?span=year", 400),
        ("/v1/jobs/..%2f..%2f..%2fetc%2fpasswd", 404),
        ("/v1/jobs/../../etc/passwd", 404),
        ("/v1/jobs/%ff", 400),
        ("/v1/jobs/%00", 404),
        ("/v1/jobs/1/tasks/x/log", 400),
        ("/v1/jobs/99999999999999999999999", 404),
        ("/v1/queues/..%2f..", 404),
        ("/nothing", 404),
    ] {
        let got = web.get(&token, path);
        assert_eq!(got.status, wanted, "{path}: {got:?}");
        assert_eq!(got.header("content-type"), Some("application/problem+json"), "{path}");
    }
    let got = web.send("DELETE", "/v1/jobs", &[&bearer(&token)], "");
    assert_eq!((got.status, got.json()["status"].as_u64()), (405, Some(405)));
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01"[..],
        b"GET\r\n\r\n",
        b"FLY / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzzzz",
        b"\r\n\r\n\r\n\0\0\0",
    ] {
        let got = web.raw(garbage);
        assert!(got.status == 0 || got.status >= 400, "{got:?}");
    }
    assert_eq!(
        web.get(&token, "/v1/jobs?ended=true").json()["jobs"],
        json!([]),
        "nothing was taken"
    );
}

#[test]
fn large_and_slow_requests_are_bounded() {
    let (server, web) = served(None);
    let token = token(&server, &[]);
    // Larger than allowed, said and unsaid.
    let head = format!(
        "POST /v1/jobs HTTP/1.1\r\nHost: {}\r\n{}\r\nContent-Type: \
                        application/json\r\nConnection: close\r\n",
        web.address,
        bearer(&token)
    );
    let said = web.raw(format!("{head}Content-Length: 99999999\r\n\r\n{{").as_bytes());
    assert_eq!(said.status, 413, "{said:?}");
    let mut unsaid = web.connect();
    unsaid.write_all(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    let sent = (0..64).take_while(|_| unsaid.write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 64, "it listens to 64 MiB");
    let long = format!("X: {}", "x".repeat(70_000));
    // Who refuses without reading all of it may close before the answer is read.
    let got = web.send("GET", "/v1/me", &[&bearer(&token), &long], "");
    assert!(got.status == 0 || got.status >= 400, "{got:?}");
    let many: Vec<String> = (0..200).map(|i| format!("X-{i}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(web.send("GET", "/healthz", &many, "").status >= 400);
    // Headers that never end, a connection that says nothing more, and a body that never comes.
    let mut slow = web.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    let mut silent = web.connect();
    silent
        .write_all(format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", web.address).as_bytes())
        .unwrap();
    let mut waits = web.connect();
    waits.write_all(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes()).unwrap();
    for (what, stream) in [("slow", &mut slow), ("silent", &mut silent), ("waits", &mut waits)] {
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        assert!(ended.is_ok(), "{what}: it is not given up within 30 s: {ended:?}");
        let answer = text(&answer);
        let wanted = match what {
            "silent" => answer.starts_with("HTTP/1.1 200"),
            "waits" => answer.starts_with("HTTP/1.1 408"),
            _ => !answer.starts_with("HTTP/1.1 200"),
        };
        assert!(wanted, "{what}: {answer}");
    }
    // More connections than there are places: those that are too many are closed, not kept.
    let crowd: Vec<_> = (0..600).map(|_| web.connect()).collect();
    drop(crowd);
    until("there is room again", || {
        (web.send("GET", "/readyz", &[], "").status == 200).then_some(())
    });
}

#[test]
fn events_come_in_order_and_a_reader_goes_on_where_it_was() {
    let (mut server, web) = served(None);
    let token = token(&server, &[]);
    let mut events = web.events(&token, None);
    let hello = events.next().unwrap();
    assert_eq!((hello.name.as_str(), &hello.data["schema"]), ("hello", &json!(1)));
    let mut states: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let first = server.submit(&["--", "/bin/sh", "-c", "sleep 0.3"]);
    let mut last = String::new();
    let mut numbers = Vec::new();
    while states.get(&1).is_none_or(|states| states.last().unwrap() != "done") {
        let event = events.job();
        let job = &event.data["job"];
        let id = job["id"].as_u64().unwrap();
        states.entry(id).or_default().push(job["state"].as_str().unwrap().to_owned());
        numbers.push(event.id.split_once('-').unwrap().1.parse::<u64>().unwrap());
        last = event.id;
    }
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert_eq!(first, "1");
    let mut states = states.remove(&1).unwrap();
    states.dedup();
    assert!(states.ends_with(&["running".to_owned(), "done".to_owned()]), "{states:?}");
    drop(events);
    // What happened while nobody read comes first.
    for _ in 0..3 {
        server.submit(&["--hold", "--", "true"]);
    }
    let mut events = web.events(&token, Some(&last));
    let ids: Vec<u64> = (0..3).map(|_| events.job().data["job"]["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [2, 3, 4]);
    // Numbers of another server, or of nobody, begin again.
    for last in ["0-0", "x", "ffff-18446744073709551615"] {
        assert_eq!(web.events(&token, Some(last)).next().unwrap().name, "reset", "{last}");
    }
    // A stream ends with its token.
    let listed: serde_json::Value =
        serde_json::from_str(&server.ok(&["token", "list", "--json"])).unwrap();
    server.ok(&["token", "revoke", listed["tokens"][0]["id"].as_str().unwrap()]);
    server.submit(&["--hold", "--", "true"]);
    while let Some(event) = events.next() {
        assert_ne!(event.data["job"]["id"], 5, "a revoked token hears nothing");
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_reader_that_reads_nothing_holds_nobody_up() {
    let (server, web) = served(None);
    let token = token(&server, &[]);
    let stuck: Vec<_> = (0..20).map(|_| web.events(&token, None)).collect();
    for _ in 0..5 {
        server.submit(&["--array", "0-199", "--", "true"]);
    }
    server.ok(&["wait", "1", "2", "3", "4", "5"]);
    assert_eq!(web.get(&token, "/v1/jobs/5").json()["done"], 200);
    drop(stuck);
}

#[test]
fn ten_thousand_jobs_are_listed_page_by_page() {
    let (server, web) = served(None);
    let token = token(&server, &["--role", "admin"]);
    let line = json!({"submit": {"command": ["true"], "folder": "/", "umask": 18, "hold": true}});
    let line = format!("{line}\n");
    let send = || {
        let mut stream = std::os::unix::net::UnixStream::connect(server.socket()).unwrap();
        let mut answers = std::io::BufReader::new(stream.try_clone().unwrap());
        for _ in 0..1250 {
            stream.write_all(line.as_bytes()).unwrap();
            std::io::BufRead::read_line(&mut answers, &mut String::new()).unwrap();
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(send))));
    let mut seen = Vec::new();
    let mut path = "/v1/jobs?limit=1000&state=held".to_owned();
    for page in 0.. {
        assert!(page < 20, "it never ends");
        let told = web.get(&token, &path).json();
        let jobs = told["jobs"].as_array().unwrap();
        seen.extend(jobs.iter().map(|job| job["id"].as_u64().unwrap()));
        let Some(next) = told["next"].as_u64() else { break };
        path = format!("/v1/jobs?limit=1000&state=held&cursor={next}");
    }
    assert!(seen.is_sorted_by(|a, b| a > b), "the newest first, none twice");
    assert_eq!((seen.len(), seen.first(), seen.last()), (10_000, Some(&10_000), Some(&1)));
    // The same as a stream.
    let lines = |path: &str| -> Vec<Value> {
        let accept = "Accept: application/x-ndjson";
        let got = web.send("GET", path, &[&crate::web::bearer(&token), accept], "");
        assert_eq!(got.header("content-type"), Some("application/x-ndjson"), "{}", got.head);
        // Parts of HTTP/1.1 have lines of their own, with their lengths.
        let text: String = parts(&got.body).concat();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = lines("/v1/jobs?state=held");
    let (end, jobs) = all.split_last().unwrap();
    assert_eq!(*end, json!({"schema": 1, "end": true}));
    let ids: Vec<u64> = jobs.iter().map(|line| line["job"]["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, seen);
    assert!(jobs.iter().all(|line| line["schema"] == 1));
    assert_eq!(lines("/v1/jobs?user=nobody-of-that-name").len(), 1, "the end alone");
    assert_eq!(lines("/v1/jobs?cursor=4").len(), 4);
    let few = web.get(&token, "/v1/jobs?limit=3&user=nobody-of-that-name").json();
    assert_eq!((&few["jobs"], &few["next"]), (&json!([]), &json!(null)));
    let open = web.get(&token, "/v1/cluster").json();
    assert_eq!(open["open_jobs"], 10_000);
}

/// The parts of a body whose length was not known when it began.
fn parts(body: &str) -> Vec<&str> {
    let (mut rest, mut parts) = (body, Vec::new());
    while let Some((length, more)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        let Some(part) = more.get(..length).filter(|part| !part.is_empty()) else { break };
        parts.push(part);
        rest = more[length..].strip_prefix("\r\n").unwrap_or_default();
    }
    parts
}

type Labels = BTreeMap<String, String>;

/// Name and labels of a sample, and its value.
fn sample(line: &str) -> (String, Labels, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let labels = labels.strip_suffix('}').unwrap();
    let pair = |pair: &str| {
        let (label, value) = pair.split_once("=\"").unwrap();
        (label.to_owned(), value.strip_suffix('"').unwrap().to_owned())
    };
    let labels = labels.split(',').filter(|pair| !pair.is_empty()).map(pair).collect();
    (name.to_owned(), labels, value.parse().unwrap())
}

#[test]
fn metrics_are_what_prometheus_reads_and_what_is_documented() {
    let (server, web) = served(None);
    let token = token(&server, &["--role", "operator", "--read-only"]);
    let id = server.submit(&["--array", "0-4", "--", "true"]);
    server.ok(&["wait", &id]);
    server.submit(&["--hold", "--", "true"]);
    let got = web.get(&token, "/metrics");
    assert!(got.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut values: BTreeMap<String, Vec<(Labels, f64)>> = BTreeMap::new();
    for line in got.body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(kinds.insert(name, kind).is_none(), "{name} twice");
        } else if !line.starts_with("# HELP ") {
            let (name, labels, value) = sample(line);
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end).filter(|base| kinds.contains_key(base)))
                .unwrap_or(&name)
                .to_owned();
            let kind = kinds.get(family.as_str()).copied();
            assert!(kind.is_some(), "{line}: of no family before it");
            assert_eq!(kind == Some("counter"), name.ends_with("_total"), "{name}");
            assert!(value >= 0.0 || kind == Some("gauge"), "{line}");
            values.entry(name).or_default().push((labels, value));
        }
    }
    let one = |name: &str| values[name][0].1;
    assert_eq!(one("meed_queue_wait_seconds_count"), 5.0);
    assert_eq!(one("meed_ends_total"), 5.0);
    assert_eq!(one("meed_open_jobs"), 1.0);
    assert!(one("meed_turn_seconds_count") > 3.0 && one("meed_commit_seconds_count") > 0.0);
    assert!(values["meed_store_bytes"].iter().all(|(_, bytes)| *bytes > 0.0));
    // Buckets count up, to what there is in all.
    let buckets = &values["meed_queue_wait_seconds_bucket"];
    assert!(buckets.is_sorted_by_key(|(_, count)| *count as u64));
    assert_eq!(buckets.last().unwrap().0["le"], "+Inf");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md");
    let page = std::fs::read_to_string(page).unwrap();
    for name in kinds.keys() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in docs/http.md");
    }
}
