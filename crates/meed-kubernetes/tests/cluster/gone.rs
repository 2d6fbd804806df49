//! A watch that is away for so long that the API server has forgotten what happened meanwhile.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::api::PostParams;
use serde_json::{Value, json};

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane_like};

/// A way to the API server that can be cut.
struct Way {
    port: u16,
    is_open: Arc<AtomicBool>,
    /// Both ends of each connection.
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    fn to(target: u16) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let (is_open, ends) = (Arc::new(AtomicBool::new(true)), Arc::<Mutex<Vec<_>>>::default());
        let way = Way { port, is_open: Arc::clone(&is_open), ends: Arc::clone(&ends) };
        std::thread::spawn(move || {
            for here in listener.incoming() {
                let Ok(here) = here else { return };
                if !is_open.load(Ordering::SeqCst) {
                    continue;
                }
                let there = SocketAddr::from(([127, 0, 0, 1], target));
                let Ok(there) = TcpStream::connect(there) else { continue };
                let again = |stream: &TcpStream| stream.try_clone().expect("a handle more");
                ends.lock().expect("nobody panics").extend([again(&here), again(&there)]);
                pass(again(&here), again(&there));
                pass(there, here);
            }
        });
        way
    }

    fn cut(&self) {
        self.is_open.store(false, Ordering::SeqCst);
        for end in self.ends.lock().expect("nobody panics").drain(..) {
            // It may be closed by itself.
            drop(end.shutdown(Shutdown::Both));
        }
    }

    fn mend(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }
}

/// What comes from one goes to the other.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        drop(std::io::copy(&mut from, &mut to));
        drop(to.shutdown(Shutdown::Both));
    });
}

/// Asks etcd over its gateway.
fn etcd(plane: &Plane, path: &str, body: &Value) -> Value {
    let address = SocketAddr::from(([127, 0, 0, 1], plane.port("etcd")));
    let mut stream = TcpStream::connect(address).expect("etcd listens");
    let body = body.to_string();
    let asked = format!(
        "POST {path} HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(asked.as_bytes()).expect("it is asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer over HTTP");
    assert!(head.contains(" 200 "), "{answer}");
    serde_json::from_str(body).expect("JSON")
}

/// All that happened until now is forgotten.
fn compact(plane: &Plane) {
    let told = etcd(plane, "/v3/maintenance/status", &json!({}));
    let revision = told["header"]["revision"].as_str().expect("a revision").to_owned();
    let all = json!({ "revision": revision, "physical": true });
    etcd(plane, "/v3/kv/compaction", &all);
}

/// Without the server's cache of events a watch goes on from etcd, or not at all.
const UNCACHED: [(&str, &str); 1] = [("CP_APISERVER_FLAGS", "--watch-cache=false")];

/// Meed is cut off from the API server for some seconds. Meanwhile a pod of it ends, one comes and
/// ends that somebody else has placed, one comes that waits, and etcd is compacted. What happened
/// is charged by the pods' own times, though no watch tells of it any more.
#[test]
fn what_a_watch_has_missed_for_good_is_charged_as_it_was() {
    with_plane_like(&UNCACHED, &["kwok"], async |plane| {
        let way = Way::to(plane.port("api"));
        plane.kubeconfig_like("meed", "way", |cluster| {
            cluster["server"] = format!("https://127.0.0.1:{}", way.port).into();
        });
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let more: (&str, &[&str]) = (LONG_TERM, &["--checkpoint-seconds=1"]);
        let mut meed = Meed::of(&plane, "way", more, &[]);
        meed.decides().await;
        plane.submit("alpha", "ends", 1, "4", "2s").await;
        plane.submit("alpha", "stays", 1, "2", "").await;
        plane.submit("alpha", "goes", 1, "100m", "").await;
        until("they run", 20, async || plane.ran(&["alpha"]).await.len() == 3).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        way.cut();
        let pods = plane.pods("alpha");
        let ours = json!({ "schedulerName": "meed" });
        let waits = pod("waits", "alpha", "1", "1s", ours);
        let placed = pod("placed", "alpha", "1", "1s", json!({ "nodeName": "n00" }));
        for pod in [&waits, &placed] {
            pods.create(&PostParams::default(), pod).await.expect("a pod");
        }
        plane.remove("alpha", "goes-000").await;
        let ended = async |name: &str| {
            let pod = pods.get(name).await.expect("it is there");
            crate::check::ended(&pod).is_some()
        };
        until("it ends", 20, async || ended("ends-000").await && ended("placed").await).await;
        plane.remove("alpha", "placed").await;
        compact(&plane);
        // So long that who was charged until it is heard of would be charged too much.
        tokio::time::sleep(Duration::from_secs(3)).await;
        way.mend();
        until("the watch begins anew", 20, async || {
            meed.log().contains("what was heard last is too old")
        })
        .await;
        until("who waited has run", 30, async || ended("waits").await).await;
        assert!(!meed.has_ended(), "{}", meed.log());
        assert!(meed.log().contains("epoch 1"), "one leader all the time");
        meed.end().await;
        let status = plane.read_queue("alpha").await.status.expect("a status");
        assert_eq!((status.running, status.waiting), (Some(1), Some(0)));
        // A tenth of a core of the pod that was deleted, until that was heard, is all that nobody
        // can tell. Four cores for three seconds, until it was heard that they had ended, would be
        // more than all slack.
        plane.ledger_is_true("alpha", 2.0).await;
        plane.no_node_is_overfull(8.0).await;
    });
}
