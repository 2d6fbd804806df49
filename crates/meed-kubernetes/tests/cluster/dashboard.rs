//! The dashboard: an admin sees all, a tenant its namespaces and their queues, a stranger nothing;
//! who stands by says who leads; bad input is refused in words.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, until, with_plane};

const DASHBOARD: [&str; 2] = ["--checkpoint-seconds=1", "--dashboard=127.0.0.1:0"];

/// Where the dashboard is, by its own words.
async fn address(meed: &Meed) -> String {
    let told = |log: &str| {
        let (line, _) = log.split_once("the dashboard is at http://")?.1.split_once('\n')?;
        Some(line.to_owned())
    };
    until("it listens", 30, async || told(&meed.log()).is_some()).await;
    told(&meed.log()).expect("an address")
}

/// An answer: status, head, body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }

    fn detail(&self) -> String {
        self.json()["detail"].as_str().expect("a problem says what it is").to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// What is answered to this head (its first line, then headers) and body.
fn send(address: &str, head: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("it is reached");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    let host = if head.contains("\r\nHost:") { "" } else { "Host: localhost:1\r\n" };
    let length = body.len();
    let (line, more) = head.split_once("\r\n").unwrap_or((head, ""));
    let more = if more.is_empty() { String::new() } else { format!("{more}\r\n") };
    let text = format!(
        "{line} HTTP/1.1\r\n{host}{more}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    // A server that has refused already takes no more.
    drop(stream.write_all(text.as_bytes()));
    let mut bytes = Vec::new();
    drop(stream.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn get(address: &str, path: &str, token: &str) -> Answer {
    send(address, &format!("GET {path}\r\nAuthorization: Bearer {token}"), "")
}

impl Plane {
    /// The token of a kubeconfig's user.
    fn token_of(&self, who: &str) -> String {
        let text = std::fs::read_to_string(self.kubeconfig(who)).expect("a kubeconfig");
        let config: Value = serde_json::from_str(&text).expect("JSON");
        config["users"][0]["user"]["token"].as_str().expect("a token").to_owned()
    }

    /// A token of a service account, which is made where it is not there.
    pub(crate) async fn token(&self, namespace: &str, name: &str) -> String {
        let metadata = json!({ "namespace": namespace, "name": name });
        self.apply(&json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata }))
            .await;
        let accounts: Api<ServiceAccount> = Api::namespaced(self.admin.clone(), namespace);
        let spec = TokenRequestSpec { expiration_seconds: Some(3600), ..Default::default() };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let made = accounts.create_token_request(name, &PostParams::default(), &request).await;
        made.expect("a token").status.and_then(|status| status.token).expect("its text")
    }

    /// A service account may list pods of a namespace.
    async fn may_list(&self, (namespace, name): (&str, &str), of: &str) {
        let metadata = json!({ "namespace": of, "name": "reads-pods" });
        let rules = json!([{ "apiGroups": [""], "resources": ["pods"], "verbs": ["list"] }]);
        let version = "rbac.authorization.k8s.io/v1";
        self.apply(&json!({ "apiVersion": version, "kind": "Role", "metadata": metadata,
            "rules": rules }))
            .await;
        let metadata = json!({ "namespace": of, "name": format!("{namespace}-{name}") });
        let subject = json!({ "kind": "ServiceAccount", "namespace": namespace, "name": name });
        let group = "rbac.authorization.k8s.io";
        let role = json!({ "apiGroup": group, "kind": "Role", "name": "reads-pods" });
        self.apply(&json!({ "apiVersion": version, "kind": "RoleBinding", "metadata": metadata,
            "roleRef": role, "subjects": [subject] }))
            .await;
    }
}

fn names(all: &Value, key: &str) -> Vec<String> {
    let rows = all.as_array().expect("a list").iter();
    let mut names: Vec<String> =
        rows.map(|row| row[key].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

/// Two tenants with a queue each, and one that both may use.
async fn two_tenants(plane: &Plane) {
    plane.nodes(2).await;
    plane.queue("alpha", "Binds").await;
    plane.queue("beta", "Gates").await;
    plane
        .apply(&json!({ "apiVersion": "meed.dev/v1alpha1", "kind": "Queue",
            "metadata": { "name": "common" },
            "spec": { "mode": "Binds", "namespaceSelector": {} } }))
        .await;
}

#[test]
fn who_sees_what_is_as_the_api_server_says() {
    with_plane(&["kwok", "scheduler"], async |plane| {
        two_tenants(&plane).await;
        let mut meed = Meed::with(&plane, LONG_TERM, &DASHBOARD);
        meed.decides().await;
        let at = address(&meed).await;
        plane.submit("alpha", "a", 6, "3", "").await;
        plane.submit("beta", "b", 4, "3", "").await;
        let admin = plane.token_of("admin");
        let tenant = plane.token("alpha", "people").await;
        let stranger = plane.token("default", "nobody").await;
        plane.may_list(("alpha", "people"), "alpha").await;
        // Who may read pods of a namespace that has to do with Meed sees it, wherever he is from.
        let guest = plane.token("default", "guest").await;
        plane.may_list(("default", "guest"), "beta").await;

        let mut jobs = Value::Null;
        until("all pods are known", 30, async || {
            jobs = get(&at, "/v1/jobs", &admin).json();
            jobs["jobs"].as_array().is_some_and(|all| all.len() == 10)
        })
        .await;
        let me = get(&at, "/v1/me", &admin).json();
        assert_eq!((&me["role"], &me["user"]), (&json!("operator"), &json!("admin")));
        let all = get(&at, "/v1/queues", &admin).json();
        assert_eq!(names(&all["queues"], "queue"), ["alpha", "beta", "common"]);
        until("the nodes are full", 30, async || {
            let all = get(&at, "/v1/cluster", &admin).json();
            all["nodes"][0]["resources"][0]["held"] == 12.0
        })
        .await;
        assert!(get(&at, "/metrics", &admin).body.contains("meed_kubernetes_leader 1"));

        let me = get(&at, "/v1/me", &tenant).json();
        assert_eq!(me["user"], "system:serviceaccount:alpha:people");
        assert_eq!((&me["role"], &me["reads_only"]), (&json!("tenant"), &json!(true)));
        assert_eq!(me["namespaces"], json!(["alpha"]));
        let own = get(&at, "/v1/queues", &tenant).json();
        assert_eq!(names(&own["queues"], "queue"), ["alpha", "common"]);
        assert_eq!(own["resources"][0]["held"], 12.0, "what all hold");
        let jobs = get(&at, "/v1/jobs", &tenant).json();
        let own: Vec<String> = (0..6).map(|number| format!("alpha/a-00{number}")).collect();
        assert_eq!(names(&jobs["jobs"], "id"), own);
        assert_eq!(get(&at, "/v1/queues/beta", &tenant).status, 404);
        assert_eq!(get(&at, "/v1/jobs/beta%2Fb-000", &tenant).status, 404);
        assert_eq!(get(&at, "/v1/jobs/beta%2Fb-000/why", &tenant).status, 404);
        assert_eq!(get(&at, "/metrics", &tenant).status, 403);
        let waiting = get(&at, "/v1/jobs?state=waiting", &tenant).json();
        let waits = names(&waiting["jobs"], "name");
        let why = get(&at, &format!("/v1/jobs/alpha%2F{}/why", waits[0]), &tenant);
        assert_eq!(why.status, 200, "{}", why.body);
        assert!(!why.json()["standing"]["obstacles"].as_array().expect("a list").is_empty());
        assert!(!why.body.contains("beta"), "{}", why.body);
        let history = get(&at, "/v1/history?span=day", &tenant);
        assert_eq!((history.status, history.body.contains("beta")), (200, false));

        let me = get(&at, "/v1/me", &guest).json();
        assert_eq!(me["namespaces"], json!(["beta"]));
        let own = get(&at, "/v1/queues", &guest).json();
        assert_eq!(names(&own["queues"], "queue"), ["beta", "common"]);
        let running = get(&at, "/v1/jobs?state=running", &guest).json();
        for name in names(&running["jobs"], "name") {
            let job = get(&at, &format!("/v1/jobs/beta%2F{name}"), &guest).json();
            assert_eq!(job["spec"]["demand"]["cpu"], "3");
        }

        for path in ["/v1/me", "/v1/queues", "/v1/jobs", "/v1/events", "/metrics"] {
            let refused = get(&at, path, &stranger);
            assert_eq!(refused.status, 403, "{path}: {}", refused.body);
            assert!(refused.detail().contains("may list pods in no namespace"), "{path}");
            for token in ["", "nobody", "a b", &"x".repeat(20_000)] {
                assert_eq!(get(&at, path, token).status, 401, "{path} {token:.10}");
            }
            assert_eq!(send(&at, &format!("GET {path}"), "").status, 401);
        }
        meed.end().await;
    });
}

#[test]
fn browsers_sign_in_and_what_is_hostile_is_refused() {
    with_plane(&["kwok"], async |plane| {
        two_tenants(&plane).await;
        let mut meed = Meed::with(&plane, LONG_TERM, &DASHBOARD);
        meed.decides().await;
        let at = address(&meed).await;
        let tenant = plane.token("alpha", "people").await;
        plane.may_list(("alpha", "people"), "alpha").await;

        // The page and what belongs to it are nobody's.
        let page = send(&at, "GET /", "");
        assert_eq!(page.status, 200);
        assert!(page.body.contains("/assets/dashboard.js") && page.body.contains("<title>Meed"));
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        for name in ["look.css", "plot.js", "dashboard.js"] {
            assert_eq!(send(&at, &format!("GET /assets/{name}"), "").status, 200, "{name}");
        }
        assert_eq!(send(&at, "GET /assets/..%2F..%2Fetc%2Fpasswd", "").status, 404);

        let json = "Content-Type: application/json";
        let body = json!({ "token": tenant }).to_string();
        let session = send(&at, &format!("POST /v1/session\r\n{json}"), &body);
        assert_eq!(session.status, 200, "{}", session.body);
        let cookie = session.header("set-cookie").expect("a cookie").to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        let cookie = cookie.split(';').next().expect("its value").to_owned();
        let key = session.json()["key"].as_str().expect("a key").to_owned();
        let as_browser = |path: &str, key: &str| {
            let head = format!("GET {path}\r\nCookie: other=1; {cookie}\r\nMeed-Key: {key}");
            send(&at, &head, "")
        };
        assert_eq!(as_browser("/v1/me", &key).json()["namespaces"], json!(["alpha"]));
        assert_eq!(as_browser("/v1/me", "").status, 401, "the cookie alone is good for nothing");

        // What happens is heard.
        let mut stream = TcpStream::connect(&at).expect("it is reached");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time limit");
        let head = format!(
            "GET /v1/events HTTP/1.1\r\nHost: localhost:1\r\nCookie: {cookie}\r\n\
             Meed-Key: {key}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it is asked");
        plane.submit("alpha", "a", 1, "1", "").await;
        let (mut heard, mut buffer) = (String::new(), [0u8; 4096]);
        while !heard.contains("event: queues") {
            let count = stream.read(&mut buffer).expect("events come");
            assert!(count > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        assert!(heard.contains("text/event-stream") && heard.contains("event: hello"), "{heard}");

        // Rights that are taken away, and accounts that are deleted, are good for a minute at most:
        // of a token that was never looked at, for nothing.
        let fresh = plane.token("alpha", "short").await;
        let accounts: Api<ServiceAccount> = Api::namespaced(plane.admin.clone(), "alpha");
        accounts.delete("short", &Default::default()).await.expect("it is deleted");
        // The API server's own picture of accounts is a moment behind.
        tokio::time::sleep(Duration::from_secs(3)).await;
        until("its token is nobody's", 20, async || get(&at, "/v1/me", &fresh).status == 401).await;

        let bearer = format!("Authorization: Bearer {tenant}");
        for (head, body, status, what) in [
            ("GET /v1/me\r\nHost: evil.example:80", "", 421, "it is not called so"),
            ("GET /v1/me\r\nOrigin: https://evil.example", "", 403, "pages of others"),
            ("GET /v1/me\r\nSec-Fetch-Site: cross-site", "", 403, "pages of others"),
            ("POST /v1/jobs", "{}", 405, "nothing is changed"),
            ("DELETE /v1/jobs/alpha%2Fa-000", "", 405, "nothing is changed"),
            ("POST /v1/jobs/alpha%2Fa-000/cancel", "", 405, "nothing is changed"),
            ("GET /v1/nothing", "", 404, "nothing here"),
            ("GET /v1/jobs?limit=-1", "", 400, "limit is a number"),
            ("GET /v1/jobs/%ff", "", 400, "percent-encoded"),
            ("GET /v1/jobs/alpha%2Fa-000%00", "", 404, "no such pod"),
            ("GET /v1/queues/%3Cscript%3E", "", 404, "no such queue"),
            ("POST /v1/session", "{}", 415, "content-type"),
            ("POST /v1/session\r\nContent-Type: application/json", "{", 400, "the body is"),
            ("POST /v1/session\r\nContent-Type: application/json", "[[[[", 400, "the body is"),
            (
                "POST /v1/session\r\nContent-Type: application/json",
                r#"{"token":"nobody's"}"#,
                401,
                "does not know this token",
            ),
        ] {
            let answer = send(&at, &format!("{head}\r\n{bearer}"), body);
            assert_eq!(answer.status, status, "{head}: {} {}", answer.head, answer.body);
            assert!(answer.detail().contains(what), "{head}: {}", answer.body);
        }
        let twice = format!("GET /v1/me\r\n{bearer}\r\n{bearer}");
        assert_eq!(send(&at, &twice, "").status, 401);
        let long = json!({ "token": "x".repeat(30_000) }).to_string();
        let long = send(&at, &format!("POST /v1/session\r\n{json}"), &long);
        assert_eq!(long.status, 413, "{}", long.body);

        let out = send(&at, &format!("DELETE /v1/session\r\nCookie: {cookie}"), "");
        assert_eq!(out.status, 200);
        assert_eq!(as_browser("/v1/me", &key).status, 401, "signed out");
        meed.end().await;
    });
}

#[test]
fn who_stands_by_says_who_leads() {
    with_plane(&["kwok"], async |plane| {
        two_tenants(&plane).await;
        let name = |name: &'static str| [("HOSTNAME", name)];
        let how = (LONG_TERM, DASHBOARD.as_slice());
        let mut first = Meed::of(&plane, "meed", how, &name("meed-one"));
        first.decides().await;
        let mut second = Meed::of(&plane, "meed", how, &name("meed-two"));
        let at = address(&second).await;
        let admin = plane.token_of("admin");
        until("it knows who leads", 30, async || {
            let answer = get(&at, "/v1/queues", &admin);
            answer.status == 503 && answer.detail().contains("meed-one leads: ask that one")
        })
        .await;
        assert_eq!(send(&at, "GET /", "").status, 200, "the page is there");
        assert_eq!(get(&at, "/v1/queues", "nobody").status, 401);
        first.end().await;
        second.decides().await;
        until("it answers itself", 10, async || get(&at, "/v1/queues", &admin).status == 200).await;
        second.end().await;
    });
}
