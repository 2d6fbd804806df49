//! Connections that go silent, a ledger that others write, a Lease that is deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use crate::check::note;
use crate::cluster::{LONG_TERM, Meed};
use crate::plane::{Plane, instant, until, with_plane};

/// A way to the API server whose connections can be made silent.
struct Proxy {
    port: u16,
    /// Connections that are made while this is set pass bytes; those of before do not.
    frozen: Arc<AtomicBool>,
}

impl Proxy {
    async fn to(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let own = listener.local_addr().expect("it has one").port();
        let frozen = Arc::new(AtomicBool::new(false));
        let is_frozen = Arc::clone(&frozen);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let is_late = is_frozen.load(Ordering::Relaxed);
                let is_frozen = Arc::clone(&is_frozen);
                tokio::spawn(async move {
                    let server = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
                    let both = pump(&client, &server);
                    let silent = async {
                        while is_late || !is_frozen.load(Ordering::Relaxed) {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                    };
                    tokio::select! {
                        () = both => return,
                        () = silent => {}
                    }
                    // Both ends stay open, and hear nothing more.
                    std::future::pending::<()>().await;
                });
            }
        });
        Proxy { port: own, frozen }
    }
}

/// Passes bytes in both directions until one end is closed.
async fn pump(client: &TcpStream, server: &TcpStream) {
    tokio::select! {
        () = pass(client, server) => {}
        () = pass(server, client) => {}
    }
}

async fn pass(from: &TcpStream, to: &TcpStream) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        if from.readable().await.is_err() {
            return;
        }
        let count = match from.try_read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => count,
            Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => return,
        };
        let mut rest = &bytes[..count];
        while !rest.is_empty() {
            if to.writable().await.is_err() {
                return;
            }
            match to.try_write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}

impl Plane {
    fn ledger(&self) -> Api<ConfigMap> {
        Api::namespaced(self.admin.clone(), "meed-system")
    }

    fn leases(&self) -> Api<Lease> {
        Api::namespaced(self.admin.clone(), "meed-system")
    }

    /// The epoch of the ledger, and the name of its last checkpoint.
    async fn head(&self) -> (i64, Value) {
        let head = self.ledger().get("meed-ledger").await.expect("there is a ledger");
        let text = head.data.expect("it has data").remove("head").expect("and a head");
        let head: Value = serde_json::from_str(&text).expect("JSON");
        (head["epoch"].as_i64().expect("a number"), head["set"]["name"].clone())
    }
}

/// All connections of a standby go silent, new ones work, and the leader is killed: the standby
/// takes the lease, and places what waits.
#[test]
fn a_standby_whose_connections_are_silent_takes_over() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", "Binds").await;
        let mut first = Meed::start(&plane, LONG_TERM);
        first.decides().await;
        let proxy = Proxy::to(plane.port("api")).await;
        plane.kubeconfig_like("meed", "silent", |cluster| {
            cluster["server"] = format!("https://127.0.0.1:{}", proxy.port).into();
        });
        let more = ["--checkpoint-seconds=1"];
        let mut second = Meed::of(&plane, "silent", (LONG_TERM, &more), &[]);
        second.is_warm().await;
        plane.submit("alpha", "a", 2, "4", "").await;
        until("pods run", 30, async || plane.ran(&["alpha"]).await.len() == 2).await;
        proxy.frozen.store(true, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(3)).await;
        first.signal("KILL");
        first.ended(5).await;
        let killed = instant();
        plane.submit("alpha", "late", 2, "4", "").await;
        second.decides().await;
        until("what waits is placed", 30, async || plane.ran(&["alpha"]).await.len() == 4).await;
        // 15 s until the lease is stale, and some requests that had no answer.
        assert!(killed.elapsed() < Duration::from_secs(50), "{:?}", killed.elapsed());
        let pods = plane.all_pods("alpha").await;
        let epochs: Vec<_> = pods.iter().filter_map(|pod| note(pod, "meed.dev/epoch")).collect();
        assert!(epochs.contains(&"2".to_owned()), "{epochs:?}");
        second.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// A backup program, or an administrator, writes labels on the head of the ledger.
#[test]
fn a_label_on_the_ledger_does_not_end_the_leader() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        for number in 0..3 {
            let before = plane.head().await;
            let label = json!({ "metadata": { "labels": { "backup": number.to_string() } } });
            let patch = Patch::Merge(label);
            let ledger = plane.ledger();
            ledger.patch("meed-ledger", &PatchParams::default(), &patch).await.expect("a label");
            plane.submit("alpha", &format!("a{number}"), 1, "1", "").await;
            until("there is another checkpoint", 30, async || plane.head().await != before).await;
            assert!(!meed.has_ended(), "{}", meed.log());
        }
        let head = plane.ledger().get("meed-ledger").await.expect("the ledger");
        let label = head.metadata.labels.and_then(|labels| labels.get("backup").cloned());
        assert_eq!(label.as_deref(), Some("2"), "it stays");
        meed.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}

/// The Lease is deleted under a leader: it ends, and the next begins above the ledger's epoch.
#[test]
fn after_the_lease_is_deleted_no_epoch_is_used_twice() {
    with_plane(&["kwok"], async |plane| {
        plane.nodes(2).await;
        plane.queue("alpha", "Binds").await;
        let mut first = Meed::start(&plane, LONG_TERM);
        first.decides().await;
        plane.submit("alpha", "a", 2, "4", "").await;
        until("pods run", 30, async || plane.ran(&["alpha"]).await.len() == 2).await;
        first.end().await;
        let mut second = Meed::start(&plane, LONG_TERM);
        second.decides().await;
        assert_eq!(plane.head().await.0, 2);
        let mut third = Meed::start(&plane, LONG_TERM);
        third.is_warm().await;
        plane.leases().delete("meed", &DeleteParams::default()).await.expect("it is deleted");
        let ended = second.ended(15).await;
        assert!(!ended.success(), "{}", second.log());
        third.decides().await;
        assert_eq!(plane.head().await.0, 3);
        let lease = plane.leases().get("meed").await.expect("it is made anew");
        assert_eq!(lease.spec.and_then(|spec| spec.lease_transitions), Some(3));
        plane.submit("alpha", "late", 2, "4", "").await;
        until("they run", 30, async || plane.ran(&["alpha"]).await.len() == 4).await;
        third.end().await;
        plane.invariants(&["alpha"], 8.0).await;
        plane.ledger_is_true("alpha", 0.0).await;
    });
}
