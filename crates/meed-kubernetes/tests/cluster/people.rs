//! What people ask the cluster, through the program and a kubeconfig.

use std::process::Command;

use kube::api::PostParams;
use serde_json::{Value, json};

use crate::cluster::{LONG_TERM, Meed, pod};
use crate::plane::{Plane, until, with_plane};

/// What the program answers, as this user; an error in its own words.
pub(crate) fn ask(plane: &Plane, who: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meed-kubernetes"));
    command.args(arguments).env("KUBECONFIG", plane.kubeconfig(who));
    let output = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    }
}

#[test]
fn people_see_queues_and_why_a_pod_waits() {
    with_plane(&["kwok"], async |plane| {
        let none = ask(&plane, "admin", &["queues"]).unwrap();
        assert_eq!(none, "there is no Queue in this cluster\n");
        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut meed = Meed::start(&plane, LONG_TERM);
        meed.decides().await;
        plane.submit("alpha", "runs", 1, "8", "").await;
        until("it runs", 20, async || plane.ran(&["alpha"]).await.len() == 1).await;
        plane.submit("alpha", "waits", 1, "8", "").await;
        let spec = json!({ "schedulerName": "meed", "resourceClaims": [{ "name": "gpu",
            "resourceClaimName": "gpu" }] });
        let odd = pod("odd", "alpha", "1", "", spec);
        plane.pods("alpha").create(&PostParams::default(), &odd).await.expect("a pod");
        until("it is told", 20, async || {
            plane.reasons("alpha", "odd").await.contains(&"NotSupported".to_owned())
        })
        .await;
        let json = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
        until("the status says so", 20, async || {
            let all = json(&ask(&plane, "admin", &["queues", "--json"]).unwrap());
            all[0]["running"] == 1 && all[0]["waiting"] == 1
        })
        .await;
        let table = ask(&plane, "admin", &["queues"]).unwrap();
        let row = table.lines().nth(1).expect("a queue");
        assert!(row.starts_with("alpha  1") && row.contains("8 cpu"), "{table}");

        let runs = ask(&plane, "admin", &["why", "alpha/runs-000"]).unwrap();
        assert!(runs.contains("it is on node n00, charged since 20"), "{runs}");
        let waits = ask(&plane, "admin", &["why", "alpha/waits-000"]).unwrap();
        assert!(waits.contains("it waits for Meed to place it"), "{waits}");
        assert!(waits.contains("holds 8 cpu"), "{waits}");
        let odd = ask(&plane, "admin", &["why", "alpha/odd", "--json"]).unwrap();
        let event = json(&odd)["events"][0].as_str().expect("an event").to_owned();
        assert!(event.contains("NotSupported: it has the resource claim `gpu`"), "{odd}");

        let top = json(&ask(&plane, "admin", &["top"]).unwrap());
        assert_eq!(top["resources"][0]["has"], 8.0, "{top}");
        let states: Vec<&Value> = ["runs-000", "waits-000"]
            .map(|name| {
                let jobs = top["jobs"].as_array().expect("pods").iter();
                &jobs.clone().find(|job| job["name"] == name).expect("a pod")["state"]
            })
            .to_vec();
        assert_eq!(states, ["running", "waiting"]);
        assert_eq!((&top["queues"][0]["held"], &top["more"]), (&8.0.into(), &false.into()));

        // By a kubeconfig that is named, and where nobody has named a cluster.
        let config = plane.kubeconfig("admin");
        let named = ["queues", "--kubeconfig", config.to_str().expect("a path")];
        let heads = |text: &str| text.lines().next().expect("heads").to_owned();
        assert_eq!(heads(&ask(&plane, "nobody", &named).unwrap()), heads(&table));
        let because = ask(&plane, "admin", &["queues", "--because", "no server answers"]).unwrap();
        let (first, rest) = because.split_once('\n').expect("a line above the table");
        assert!(first.starts_with("the cluster ") && first.ends_with("; no server answers"));
        assert_eq!(heads(rest), heads(&table));
        assert!(top["of"].as_str().is_some_and(|of| of.starts_with("the cluster ")), "{top}");
        let none = ask(&plane, "admin", &["queues", "--context", "nowhere"]).unwrap_err();
        assert!(none.contains("no cluster is configured") && none.contains("nowhere"), "{none}");

        // The namespace of the kubeconfig is `default`; and who has no rights is told so.
        let missing = ask(&plane, "admin", &["why", "nobody"]).unwrap_err();
        assert!(missing.contains("cannot read pod default/nobody"), "{missing}");
        let refused = ask(&plane, "tenant", &["queues"]).unwrap_err();
        assert!(refused.contains("cannot list queues") && refused.contains("tenant"), "{refused}");
        meed.end().await;
    });
}
