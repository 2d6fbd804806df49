//! The HTTP interface: each route, who may do what, tokens, pages, events, metrics.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::bench::{Server, is_root, text, until};
use crate::web::{Web, served};

pub(crate) const TASK: &str =
    r#"{"command":["/bin/sh","-c","echo out; sleep 0.2"],"folder":"/","umask":18}"#;

pub(crate) fn token(server: &Server, args: &[&str]) -> String {
    let args = [&["token", "create", "--name", "test"], args].concat();
    server.ok(&args).trim().to_owned()
}

fn problem(got: &crate::web::Got, status: u16) -> String {
    assert_eq!(got.status, status, "{got:?}");
    assert_eq!(got.header("content-type"), Some("application/problem+json"), "{got:?}");
    let told = got.json();
    assert_eq!((&told["status"], &told["schema"]), (&json!(status), &json!(1)), "{told}");
    told["detail"].as_str().unwrap().to_owned()
}

#[test]
fn it_is_off_unless_asked_for_and_stays_on_this_machine() {
    let server = Server::start(None);
    assert!(!server.log().contains("HTTP"), "{}", server.log());
    let (code, why) = server.refused(&["dashboard"]);
    assert!(code == Some(5) && why.contains("--http"), "{code:?} {why}");
    drop(server);
    let other = Server::start(Some("[http]\nlisten = \"127.0.0.1:0\"\n"));
    let taken = Web::of(&other).address;
    let base = tempfile::tempdir().unwrap();
    for (address, word) in [("0.0.0.0:0", "certificate"), (taken.as_str(), "another program")] {
        let state = base.path().join("state");
        let socket = base.path().join("s.sock");
        let mut command = std::process::Command::new(crate::bench::MEED);
        command.args(["serve", "--http", address]).arg("--state").arg(state);
        let output = command.arg("--socket").arg(socket).output().unwrap();
        let why = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{why}");
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn a_job_by_http_from_its_submission_to_its_output() {
    let (server, web) = served(None);
    let token = token(&server, &[]);
    let taken = web.post(&token, "/v1/jobs", TASK);
    assert_eq!((taken.status, taken.header("location")), (201, Some("/v1/jobs/1")), "{taken:?}");
    assert_eq!(taken.json()["schema"], 1);
    let shown = until("it is done", || {
        let shown = web.get(&token, "/v1/jobs/1").json();
        (shown["state"] == "done").then_some(shown)
    });
    assert_eq!(shown["task"]["0"]["words"], "exit status 0", "{shown}");
    let log = web.get(&token, "/v1/jobs/1/tasks/0/log");
    assert_eq!((log.body.as_str(), log.header("meed-log-size")), ("out\n", Some("4")), "{log:?}");
    assert_eq!(log.header("meed-log-running"), Some("false"));
    assert_eq!(web.get(&token, "/v1/jobs/1/tasks/0/log?offset=1&limit=2").body, "ut");
    assert_eq!(web.get(&token, "/v1/jobs/1/tasks/0/log?tail=2").body, "t\n");
    // A link in its place is not followed, even by a server that could read what is behind it.
    let path = shown["task"]["0"]["log"].as_str().unwrap();
    std::fs::remove_file(path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", path).unwrap();
    let other = web.get(&token, "/v1/jobs/1/tasks/0/log");
    assert!(other.status >= 400 && !other.body.contains("root:"), "{other:?}");
    // Held, released, cancelled.
    let held = json!({"command": ["/bin/true"], "folder": "/", "umask": 18, "hold": true});
    assert_eq!(web.post(&token, "/v1/jobs", &held.to_string()).status, 201);
    assert_eq!(web.get(&token, "/v1/jobs/2").json()["state"], "held");
    assert_eq!(web.post(&token, "/v1/jobs/2/release", "").status, 200);
    let why = problem(&web.post(&token, "/v1/jobs/2/release", ""), 422);
    assert!(why.contains("not held"), "{why}");
    web.post(&token, "/v1/jobs", &held.to_string());
    assert_eq!(web.post(&token, "/v1/jobs/3/cancel", "").json()["state"], "cancelled");
    assert_eq!(web.get(&token, "/v1/jobs/3/why").json()["job"]["state"], "cancelled");
    let own = json!({"command": ["/bin/true"], "folder": "/tmp", "umask": 18, "stdout": "x.out"});
    assert_eq!(web.post(&token, "/v1/jobs", &own.to_string()).status, 201);
    let why = problem(&web.get(&token, "/v1/jobs/4/tasks/0/log"), 404);
    assert!(why.contains("never reads"), "{why}");
}

/// Role, and what each route answers: the same checks as on the socket, so that this table is all.
#[test]
fn who_may_do_what() {
    if !is_root("roles of several users") {
        return;
    }
    let config = "[server]\noperators = [\"uid-64103\"]\n";
    let (server, web) = served(Some(config));
    let of = |uid: u32, rest: &[&str]| {
        let user = format!("uid-{uid}");
        token(&server, &[&["--user", &user][..], rest].concat())
    };
    let ann = of(64_101, &[]);
    let bob = of(64_102, &[]);
    let op = of(64_103, &["--role", "operator"]);
    let op_as_tenant = of(64_103, &[]);
    let admin = token(&server, &["--role", "admin"]);
    let reader = token(&server, &["--role", "admin", "--read-only"]);
    let task = r#"{"command":["/bin/sleep","60"],"folder":"/","umask":18,"name":"hers"}"#;
    assert_eq!(web.post(&ann, "/v1/jobs", task).status, 201);
    until("it runs", || (web.get(&ann, "/v1/jobs/1").json()["state"] == "running").then_some(()));
    let who = [&ann, &bob, &op_as_tenant, &op, &reader, &admin];
    let table = [
        ("GET", "/v1/jobs", [200; 6]),
        ("GET", "/v1/queues", [200; 6]),
        ("GET", "/v1/queues/uid-64101", [200; 6]),
        ("GET", "/v1/cluster", [200; 6]),
        ("GET", "/v1/history", [200; 6]),
        ("GET", "/v1/me", [200; 6]),
        ("GET", "/v1/jobs/1", [200, 403, 403, 200, 200, 200]),
        ("GET", "/v1/jobs/1/why", [200, 403, 403, 200, 200, 200]),
        ("GET", "/v1/jobs/1/tasks/0/log", [200, 403, 403, 403, 200, 200]),
        ("GET", "/metrics", [403, 403, 403, 200, 200, 200]),
        ("POST", "/v1/jobs/1/hold", [422, 403, 403, 422, 403, 422]),
        ("POST", "/v1/jobs/1/release", [422, 403, 403, 422, 403, 422]),
        ("GET", "/v1/jobs/999", [404; 6]),
    ];
    for (method, path, wanted) in table {
        for (token, wanted) in who.iter().zip(wanted) {
            let got = web.send(method, path, &[&crate::web::bearer(token)], "");
            assert_eq!(got.status, wanted, "{method} {path}: {got:?}");
        }
        let got = web.send(method, path, &[], "");
        assert_eq!(got.status, 401, "{method} {path} by nobody");
    }
    // Of others' jobs and books what fairness needs.
    let seen = |token: &str| web.get(token, "/v1/jobs").json()["jobs"][0].clone();
    assert_eq!(seen(&ann)["name"], "hers");
    assert!(seen(&bob).get("name").is_none() && seen(&op)["name"] == "hers");
    let books = |token: &str| web.get(token, "/v1/queues/uid-64101").json().get("books").is_some();
    assert!(books(&ann) && books(&op) && books(&admin) && !books(&bob));
    let named = |token: &str| {
        let history = web.get(token, "/v1/history").json();
        history["series"].as_array().unwrap().iter().any(|one| one["queue"] == "uid-64101")
    };
    assert!(named(&ann) && named(&admin) && !named(&bob), "what others held is theirs");
    let queue = r#"{"command":["/bin/true"],"folder":"/","umask":18,"queue":"uid-64101"}"#;
    assert_eq!(web.post(&bob, "/v1/jobs", queue).status, 403);
    assert_eq!(web.post(&reader, "/v1/jobs", TASK).status, 403);
    assert_eq!(web.post(&op, "/v1/jobs/1/cancel", "").status, 200);
    // Every route that is described is in the table, or is tested by name.
    let api = web.send("GET", "/v1/openapi.json", &[], "").json();
    let described: BTreeSet<String> = api["paths"].as_object().unwrap().keys().cloned().collect();
    let tested = table.map(|(_, path, _)| path).into_iter().chain([
        "/v1/jobs/1/cancel",
        "/v1/session",
        "/v1/events",
        "/v1/openapi.json",
        "/healthz",
        "/readyz",
    ]);
    let place = |path: &str| {
        path.replace("/uid-64101", "/{queue}")
            .replace("/999", "/{job}")
            .replace("/1", "/{job}")
            .replace("/0/", "/{index}/")
    };
    let tested: BTreeSet<String> = tested.map(place).collect();
    assert_eq!(described, tested);
}

#[test]
fn tokens_are_shown_once_end_and_can_be_taken_back() {
    let (mut server, web) = served(None);
    let long = token(&server, &[]);
    let short = token(&server, &["--expires", "1s"]);
    assert_eq!(web.get(&long, "/v1/me").status, 200);
    until("the short one ends", || (web.get(&short, "/v1/me").status == 401).then_some(()));
    for wrong in ["", "x", "meed_", &long[..long.len() - 1], &format!("{long}0")] {
        let why = problem(&web.get(wrong, "/v1/me"), 401);
        assert!(why.contains("token"), "{why}");
    }
    let basic = format!("Authorization: Basic {long}");
    assert_eq!(web.send("GET", "/v1/me", &[&basic], "").status, 401);
    let listed = server.ok(&["token", "list", "--json"]);
    let secret = &long[long.len() - 64..];
    assert!(!listed.contains(secret), "{listed}");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert!(long.contains(&id));
    // Nothing on the disk holds it.
    let mut folders = vec![server.state().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let found = bytes.windows(64).any(|part| part == secret.as_bytes());
                assert!(!found, "{} holds the secret", path.display());
            }
        }
    }
    // It outlives the server, and is gone for good once it is revoked.
    server.kill();
    server.run();
    let web = Web::of(&server);
    assert_eq!(web.get(&long, "/v1/me").status, 200);
    server.ok(&["token", "revoke", &id]);
    assert_eq!(web.get(&long, "/v1/me").status, 401);
    assert_eq!(server.refused(&["token", "revoke", &id]).0, Some(2));
    server.kill();
    server.run();
    assert_eq!(Web::of(&server).get(&long, "/v1/me").status, 401);
}

#[test]
fn a_tokens_file_is_its_owners_alone() {
    let (server, web) = served(None);
    let path = server.path("token");
    let file = path.to_str().unwrap();
    assert_eq!(token(&server, &["--output", file]), "");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let get = |route| server.output(&["get", route, "--token-file", file, "--at", &web.address]);
    assert!(text(&get("/v1/me").stdout).contains("\"role\":\"tenant\""));
    assert_eq!(get("/metrics").status.code(), Some(7));
    assert_eq!(get("/v1/jobs/9").status.code(), Some(2));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let output = get("/v1/me");
    assert_eq!(output.status.code(), Some(4));
    let why = text(&output.stderr);
    assert!(why.contains("others can read") && why.contains("chmod 600"), "{why}");
    let taken = server.refused(&["token", "create", "--name", "x", "--output", file]);
    assert_eq!(taken.0, Some(4), "a file that is there is not written over");
    let elsewhere = server.refused(&["get", "/v1/me", "--at", "192.0.2.1:80"]);
    assert!(elsewhere.0 == Some(2) && elsewhere.1.contains("another machine"), "{elsewhere:?}");
    for wrong in [&["--expires", "soon"][..], &["--user", "no-such-user"], &["--name", "b"]] {
        server.refused(&[&["token", "create", "--name", "a"], wrong].concat());
    }
}

#[test]
fn a_browser_signs_in_by_a_link_or_a_token_and_out_again() {
    let (server, web) = served(None);
    let link = server.ok(&["dashboard"]);
    let code = link.trim().split_once("/#code=").unwrap().1.to_owned();
    assert!(link.starts_with(&format!("http://{}/", web.address)), "{link}");
    let origin = format!("Origin: http://{}", web.address);
    let kind = "Content-Type: application/json";
    let enter = |body: Value| web.send("POST", "/v1/session", &[kind, &origin], &body.to_string());
    let signed_in = enter(json!({ "code": code }));
    assert_eq!(signed_in.status, 200, "{signed_in:?}");
    let set = signed_in.header("set-cookie").unwrap().to_owned();
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(set.contains(word), "{set}");
    }
    problem(&enter(json!({ "code": code })), 401);
    problem(&enter(json!({ "token": "meed_x" })), 401);
    problem(&enter(json!({ "fly": 1 })), 400);
    let cookie = format!("Cookie: other=1; {}", set.split(';').next().unwrap());
    // The cookie goes to every port of the host: without the page's key it is nobody's.
    assert_eq!(web.send("GET", "/v1/me", &[&cookie], "").status, 401);
    let key = format!("Meed-Key: {}", signed_in.json()["key"].as_str().unwrap());
    assert_eq!(web.send("GET", "/v1/me", &[&key], "").status, 401);
    let me = web.send("GET", "/v1/me", &[&cookie, &key], "");
    assert_eq!(me.status, 200, "{me:?}");
    // A cookie alone changes nothing: a browser says where a change comes from.
    let post = |more: &[&str]| {
        web.send(
            "POST",
            "/v1/jobs",
            &[&[cookie.as_str(), key.as_str(), kind][..], more].concat(),
            TASK,
        )
        .status
    };
    assert_eq!(post(&[]), 403);
    assert_eq!(post(&["Origin: https://evil.example"]), 403);
    assert_eq!(post(&[&origin, "Sec-Fetch-Site: cross-site"]), 403);
    assert_eq!(post(&[&origin]), 201);
    let mut events = web.events("", None);
    assert!(events.next().is_none(), "nobody gets no stream");
    let out = web.send("DELETE", "/v1/session", &[&cookie, &origin], "");
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"), "{out:?}");
    assert_eq!(web.send("GET", "/v1/me", &[&cookie, &key], "").status, 401);
    // The page and its files are for everybody, and hold nothing of anybody.
    for (path, kind) in [
        ("/", "text/html"),
        ("/assets/look.css", "text/css"),
        ("/assets/plot.js", "text/javascript"),
        ("/assets/dashboard.js", "text/javascript"),
    ] {
        let page = web.send("GET", path, &[], "");
        assert!(page.status == 200 && page.header("content-type").unwrap().contains(kind));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    }
    assert_eq!(web.send("GET", "/assets/..%2f..%2fetc%2fpasswd", &[], "").status, 404);
}
