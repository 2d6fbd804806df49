//! Against a server that says what it is told to.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource as _;
use serde_json::{Value, json};

use super::*;

/// An answer: what the path must hold, the status, the lines of the body; what follows is silence
/// until the client goes away, where it is a watch that stays open.
struct Answer {
    path: &'static str,
    status: u16,
    lines: Vec<Value>,
    stays: bool,
}

fn object(name: &str, version: u64) -> Value {
    json!({ "metadata": { "name": name, "uid": name, "resourceVersion": version.to_string() } })
}

fn event(kind: &str, object: Value) -> Value {
    json!({ "type": kind, "object": object })
}

fn bookmark(version: u64) -> Value {
    let metadata = json!({ "resourceVersion": version.to_string() });
    event("BOOKMARK", json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }))
}

fn page(path: &'static str, names: &[&str], version: u64, next: &str) -> Answer {
    let items: Vec<Value> = names.iter().map(|name| object(name, version)).collect();
    let metadata = json!({ "resourceVersion": version.to_string(), "continue": next });
    let list = json!({ "metadata": metadata, "items": items });
    Answer { path, status: 200, lines: vec![list], stays: false }
}

fn watch_of(path: &'static str, lines: Vec<Value>, stays: bool) -> Answer {
    Answer { path, status: 200, lines, stays }
}

fn gone() -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version", "reason": "Expired", "code": 410 })
}

/// Serves the answers in order; a request that is not expected is a failure.
fn serve(answers: Vec<Answer>) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for Answer { path, status, lines, stays } in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = vec![0; 8192];
            let count = stream.read(&mut asked).unwrap();
            let asked = String::from_utf8_lossy(&asked[..count]).into_owned();
            let line = asked.lines().next().unwrap().to_owned();
            assert!(line.contains(path), "{line} has no {path}");
            let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\n\r\n{body}");
            stream.write_all(head.as_bytes()).unwrap();
            match stays {
                true => open.push(stream),
                false => drop(stream),
            }
        }
        // Open watches stay.
        std::thread::sleep(Duration::from_secs(60));
    });
    let url = format!("http://{address}").parse().unwrap();
    Client::try_from(kube::Config::new(url)).unwrap()
}

/// What is passed on, in words, until `count` things were.
async fn heard(client: &Client, wanted: watch::Receiver<u64>, count: usize) -> Vec<String> {
    let (tell, mut heard) = mpsc::channel(64);
    let url = Namespace::url_path(&(), None);
    let follow = Follow::new(client, url, Namespace::meta, &tell).wanted(wanted);
    let task = tokio::spawn(follow.run(|event| Heard::Namespace(Box::new(event))));
    let mut all = Vec::new();
    while all.len() < count {
        let next = timeout(Duration::from_secs(20), heard.recv()).await;
        let next = next.unwrap_or_else(|_| panic!("nothing after {all:?}")).unwrap();
        let name = |one: Namespace| one.metadata.name.unwrap();
        all.push(match next {
            Heard::Namespace(event) => match *event {
                Event::Init => "init".to_owned(),
                Event::InitApply(one) => format!("there {}", name(one)),
                Event::InitDone => "whole".to_owned(),
                Event::Apply(one) => format!("now {}", name(one)),
                Event::Delete(one) => format!("gone {}", name(one)),
            },
            Heard::UpTo(version) => format!("up to {version}"),
            other => panic!("{other:?}"),
        });
    }
    task.abort();
    all
}

#[tokio::test]
async fn it_goes_on_from_the_last_version_that_a_bookmark_told() {
    let client = serve(vec![
        page("limit=500", &["a"], 5, "more"),
        page("continue=more", &["b"], 5, ""),
        watch_of("resourceVersion=5", vec![event("ADDED", object("c", 6)), bookmark(9)], false),
        watch_of("resourceVersion=9", vec![event("DELETED", object("a", 11))], true),
    ]);
    let (_ask, wanted) = watch::channel(0);
    let all = heard(&client, wanted, 6).await;
    assert_eq!(all, ["init", "there a", "there b", "whole", "now c", "gone a"]);
}

/// 410 comes as an event of a watch, or as the answer to one.
#[tokio::test]
async fn what_is_too_old_is_listed_anew() {
    let client = serve(vec![
        page("limit=500", &["a"], 5, ""),
        watch_of("resourceVersion=5", vec![event("ERROR", gone())], false),
        page("limit=500", &["b"], 20, ""),
        Answer { path: "resourceVersion=20", status: 410, lines: vec![gone()], stays: false },
        page("limit=500", &["c"], 30, ""),
        watch_of("resourceVersion=30", Vec::new(), true),
    ]);
    let (_ask, wanted) = watch::channel(0);
    let all = heard(&client, wanted, 9).await;
    let list = |name| ["init".to_owned(), format!("there {name}"), "whole".to_owned()];
    assert_eq!(all, ["a", "b", "c"].map(list).concat());
}

/// Who asks is told by the next event or bookmark that is young enough, of a watch that is short.
#[tokio::test]
async fn who_asks_up_to_where_it_is_heard_is_told() {
    let client = serve(vec![
        page("limit=500", &[], 5, ""),
        watch_of("timeoutSeconds=290", Vec::new(), true),
        watch_of("timeoutSeconds=3", vec![event("ADDED", object("a", 8)), bookmark(12)], false),
        watch_of("resourceVersion=12", Vec::new(), true),
    ]);
    let (ask, wanted) = watch::channel(0);
    let asks = tokio::spawn(async move {
        sleep(Duration::from_millis(300)).await;
        ask.send_replace(10);
        ask
    });
    let all = heard(&client, wanted, 4).await;
    assert_eq!(all, ["init", "whole", "now a", "up to 10"]);
    drop(asks.await.unwrap());
}

/// A server without such bookmarks is asked for everything again; so is one whose versions are no
/// numbers, for which nothing is ever young enough.
#[tokio::test]
async fn where_it_cannot_be_told_all_is_listed_anew() {
    let short = || watch_of("timeoutSeconds=3", vec![event("MODIFIED", object("a", 6))], false);
    let client = serve(vec![
        page("limit=500", &["a"], 5, ""),
        watch_of("timeoutSeconds=290", Vec::new(), true),
        short(),
        short(),
        page("limit=500", &["a", "b"], 7, ""),
        watch_of("resourceVersion=7", Vec::new(), true),
    ]);
    let (ask, wanted) = watch::channel(0);
    let asks = tokio::spawn(async move {
        sleep(Duration::from_millis(300)).await;
        ask.send_replace(u64::MAX);
        ask
    });
    let all = heard(&client, wanted, 10).await;
    let told = ["now a", "now a", "init", "there a", "there b", "whole"];
    assert_eq!(all[..3], ["init", "there a", "whole"]);
    assert_eq!(all[3..9], told);
    assert_eq!(all[9], format!("up to {}", u64::MAX));
    drop(asks.await.unwrap());
}
