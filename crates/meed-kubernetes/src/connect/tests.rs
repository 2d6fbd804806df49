//! Against a server whose connections go silent.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::json;
use tokio::net::TcpListener;

use super::*;
use crate::fake::{Fake, Then};

const PATH: &str = "/api/v1/namespaces/n/configmaps/m";
const SHORT: Limits =
    Limits { answer: Duration::from_millis(400), patience: Duration::from_millis(100) };

fn maps(connector: &Connector, limits: Limits) -> Api<ConfigMap> {
    Api::namespaced(connector.client_like(true, limits).unwrap(), "n")
}

#[tokio::test]
async fn a_request_without_an_answer_fails_after_the_limit() {
    let fake = Fake::start().await;
    fake.on(|_, _, _| Then::Silent);
    let asked = monotonic();
    let why = maps(&fake.connector(), SHORT).get("m").await.unwrap_err();
    assert!(why.to_string().contains("silent for 0.4 s"), "{why}");
    assert!(asked.elapsed() < Duration::from_secs(5));
}

/// Several connections wait for later requests, and all of them go silent: one request fails, and
/// not one for each of them; and the other client of the same connector has no loss at all.
#[tokio::test]
async fn after_a_silent_answer_all_clients_open_new_connections() {
    let fake = Fake::start().await;
    fake.objects(|objects| objects.put(PATH, json!({})));
    let connector = fake.connector();
    let (one, other) = (maps(&connector, SHORT), maps(&connector, SHORT));
    let five = futures::future::join_all((0..5).flat_map(|_| [one.get("m"), other.get("m")]));
    assert!(five.await.iter().all(Result::is_ok));
    fake.freeze();
    one.get("m").await.unwrap_err();
    one.get("m").await.unwrap();
    other.get("m").await.unwrap();
}

/// The caller has a limit of its own, which is shorter.
#[tokio::test]
async fn a_request_that_its_caller_gives_up_on_tells_of_a_silent_connection() {
    let fake = Fake::start().await;
    fake.objects(|objects| objects.put(PATH, json!({})));
    let long = Limits { answer: Duration::from_secs(60), ..SHORT };
    let maps = maps(&fake.connector(), long);
    let two = futures::future::join(maps.get("m"), maps.get("m")).await;
    assert!(two.0.is_ok() && two.1.is_ok());
    fake.freeze();
    timeout(Duration::from_millis(300), maps.get("m")).await.unwrap_err();
    timeout(Duration::from_secs(5), maps.get("m")).await.unwrap().unwrap();
}

/// Serves the head of an answer and a part of its body, and no more.
async fn half_an_answer() -> Connector {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"metadata\":";
            let mut asked = [0; 4096];
            while stream.try_read(&mut asked).is_err() {
                stream.readable().await.unwrap();
            }
            stream.writable().await.unwrap();
            assert_eq!(stream.try_write(head.as_bytes()).unwrap(), head.len());
            open.push(stream);
        }
    });
    Connector::of(kube::Config::new(url.parse().unwrap()))
}

#[tokio::test]
async fn an_answer_that_stops_fails_and_a_watch_waits() {
    let connector = half_an_answer().await;
    let asked = monotonic();
    let why = maps(&connector, SHORT).get("m").await.unwrap_err();
    assert!(format!("{why:?}").contains("silent for 0.4 s"), "{why:?}");
    assert!(asked.elapsed() < Duration::from_secs(5));

    let client = connector.client_like(true, SHORT).unwrap();
    let request = Request::get("/api/v1/pods?watch=true&timeoutSeconds=290").body(Vec::new());
    let answer = client.request_text(request.unwrap());
    timeout(Duration::from_secs(2), answer).await.expect_err("whoever watches has a limit");
}

#[test]
fn a_watch_is_known_by_its_query() {
    assert!(is_watch("watch=true&timeoutSeconds=290") && is_watch("a=1&watch=true"));
    assert!(!is_watch("limit=500&fieldSelector=watch") && !is_watch("notwatch=true"));
}
