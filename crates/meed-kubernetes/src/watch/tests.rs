//! Against a server that tells objects as the API server does.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use meed::{ResourceKinds, Unit};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).unwrap()
}

/// A pod on a node; at the version 8 it has ended at the second 9.
fn pod(version: u64) -> Value {
    let mut pod = json!({
        "metadata": { "namespace": "n", "name": "p", "uid": "u",
            "resourceVersion": version.to_string(), "labels": { "meed.dev/queue": "q" } },
        "spec": { "containers": [], "nodeName": "a" },
        "status": { "phase": "Running" },
    });
    if version >= 8 {
        let ended =
            json!({ "terminated": { "exitCode": 0, "finishedAt": "1970-01-01T00:00:09Z" } });
        let container = json!({ "name": "c", "image": "", "imageID": "", "ready": false,
            "restartCount": 0, "state": ended });
        pod["status"] = json!({ "phase": "Succeeded", "containerStatuses": [container] });
    }
    pod
}

/// What a watch says in which the pod ends, and is deleted later. One with a selector says that it
/// is deleted, in the form from before, and nothing more.
fn watched(has_selector: bool) -> Vec<Value> {
    let mut before = pod(5);
    before["metadata"]["resourceVersion"] = "8".into();
    match has_selector {
        true => vec![json!({ "type": "DELETED", "object": before })],
        false => vec![
            json!({ "type": "MODIFIED", "object": pod(8) }),
            json!({ "type": "DELETED", "object": pod(9) }),
        ],
    }
}

/// Serves a list with the pod that runs, and a watch from there on.
fn serve() -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = vec![0; 8192];
            let count = stream.read(&mut asked).unwrap();
            let asked = String::from_utf8_lossy(&asked[..count]).into_owned();
            let asked = asked.lines().next().unwrap_or_default();
            let is_watch = asked.contains("watch=true");
            let lines = match is_watch {
                true => watched(asked.contains("fieldSelector")),
                false => {
                    assert!(asked.contains("fieldSelector"), "pods that ended are not listed");
                    vec![json!({ "metadata": { "resourceVersion": "5" }, "items": [pod(5)] })]
                }
            };
            let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let head = format!("HTTP/1.1 200 X\r\nconnection: close\r\n\r\n{body}");
            stream.write_all(head.as_bytes()).unwrap();
            if is_watch {
                open.push(stream);
            }
        }
    });
    Client::try_from(kube::Config::new(format!("http://{address}").parse().unwrap())).unwrap()
}

/// However late it is heard, it is known when the pod has ended.
#[tokio::test]
async fn a_pod_that_ends_is_heard_of_with_its_end() {
    let (tell, mut heard) = mpsc::channel(64);
    let client = serve();
    let mut set = JoinSet::new();
    let (_wanted, asked) = watch::channel(0);
    follow_pods((&client, &tell), asked, (&kinds()).into(), &mut set);
    let mut gone = Vec::new();
    while gone.is_empty() {
        let next = timeout(Duration::from_secs(20), heard.recv()).await;
        if let Heard::Pod(event) = next.expect("it is heard of").expect("the watch goes on")
            && let Event::Delete(pod) = *event
        {
            gone.push(pod);
        }
    }
    let end = gone[0].end.expect("its end is told");
    assert_eq!((end.well, end.at), (true, Some(9_000_000)));
}
