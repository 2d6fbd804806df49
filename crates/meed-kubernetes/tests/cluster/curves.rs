//! Who holds what over time, drawn in `docs/kubernetes.md`: one tenant computes alone, then the
//! other comes, once under `fair` and once under `long-term`. `cargo xtask kubernetes curves` runs
//! this and draws; the tests leave it out, for [`crate::story`] checks the same in less time.
//!
//! Every quarter of a second all pods that are on a node and have not ended are listed. What each
//! holds then is a sample.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;

use crate::check::ran;
use crate::cluster::Meed;
use crate::plane::{Plane, instant, say, with_plane};

/// The folder for samples: `fair.csv`, `long-term.csv`.
const FOLDER: &str = "MEED_CURVES";
const NODES: usize = 20;
/// Two of them fill a node.
const CPU: &str = "4";
/// Pods end one after the other, not in waves.
const LASTS: [&str; 5] = ["2000ms", "2500ms", "3000ms", "3500ms", "4000ms"];
/// Of each length.
const PODS: usize = 110;
/// Seconds.
const ALONE: f64 = 20.0;
const ALL: f64 = 60.0;

/// Seconds, and cores of each.
struct Sample {
    at: f64,
    alpha: f64,
    beta: f64,
}

struct Curves {
    /// When beta's pods began to come, and when all were there.
    comes: f64,
    came: f64,
    samples: Vec<Sample>,
}

impl Curves {
    /// Core-seconds that alpha has used more than beta until then.
    fn lead(&self, until: f64) -> f64 {
        let pairs = self.samples.windows(2).filter(|pair| pair[1].at <= until);
        pairs.map(|pair| (pair[0].alpha - pair[0].beta) * (pair[1].at - pair[0].at)).sum()
    }

    /// What beta held in this time, of all that was held.
    fn of_beta(&self, from: f64, until: f64) -> f64 {
        let within = self.samples.iter().filter(|one| from <= one.at && one.at <= until);
        let (beta, all) = within
            .fold((0.0, 0.0), |(beta, all), one| (beta + one.beta, all + one.alpha + one.beta));
        beta / all
    }

    fn text(&self) -> String {
        let mut text = format!("# beta comes {:.2}\nseconds,alpha,beta\n", self.comes);
        for Sample { at, alpha, beta } in &self.samples {
            writeln!(text, "{at:.2},{alpha},{beta}").expect("a text can be written");
        }
        text
    }
}

async fn sample(plane: &Plane, at: f64) -> Sample {
    let pods: Api<Pod> = Api::all(plane.admin.clone());
    let fields = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
    let list = pods.list(&ListParams::default().fields(fields)).await.expect("pods are listed");
    let held = |queue: &str| {
        let all = list.items.iter().filter_map(ran);
        all.filter(|ran| ran.queue == queue).map(|ran| ran.cpu).sum()
    };
    Sample { at, alpha: held("alpha"), beta: held("beta") }
}

async fn submit(plane: &Plane, queue: &str) {
    for (number, lasts) in LASTS.iter().enumerate() {
        plane.submit(queue, &format!("p{number}"), PODS, CPU, lasts).await;
    }
}

async fn watch(plane: &Plane, policy: &str) -> Curves {
    plane.nodes(NODES).await;
    for queue in ["alpha", "beta"] {
        plane.queue(queue, "Gates").await;
    }
    let mut meed = Meed::start(plane, policy);
    meed.decides().await;
    let begin = instant();
    let seconds = || begin.elapsed().as_secs_f64();
    let come = async {
        submit(plane, "alpha").await;
        tokio::time::sleep(Duration::from_secs_f64((ALONE - seconds()).max(0.0))).await;
        let comes = seconds();
        submit(plane, "beta").await;
        (comes, seconds())
    };
    let look = async {
        let mut samples = Vec::new();
        while seconds() < ALL {
            samples.push(sample(plane, seconds()).await);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        samples
    };
    let ((comes, came), samples) = futures::join!(come, look);
    meed.end().await;
    Curves { comes, came, samples }
}

#[test]
fn who_lends_gets_it_back_under_long_term_alone() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        say("skipped: cargo xtask kubernetes curves runs this, and draws it");
        return;
    };
    for policy in ["fair", "long-term"] {
        with_plane(&["kwok", "scheduler"], async |plane| {
            let curves = watch(&plane, policy).await;
            let name = folder.join(format!("{policy}.csv"));
            std::fs::write(name, curves.text()).expect("samples are written");
            // Once pods that ran when beta came have ended.
            let since = curves.came + 5.0;
            let (lead, left) = (curves.lead(curves.came), curves.lead(ALL));
            let beta = curves.of_beta(since, since + 8.0);
            say(&format!("{policy}: beta holds {beta:.2}; lead {lead:.0}, {left:.0} in the end"));
            match policy {
                "fair" => assert!((0.4..0.6).contains(&beta) && left > 0.6 * lead),
                _ => assert!(beta > 0.9 && left < 0.25 * lead),
            }
        });
    }
}
