//! What must hold after every run, from the API alone.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;

use crate::plane::{Plane, until};

/// A pod that ran, or runs.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) queue: String,
    pub(crate) node: String,
    /// Since when it is charged: microseconds since 1970.
    pub(crate) started: i64,
    /// Likewise; `None`: it runs.
    pub(crate) ended: Option<i64>,
    pub(crate) cpu: f64,
}

pub(crate) fn note(pod: &Pod, key: &str) -> Option<String> {
    pod.metadata.annotations.as_ref()?.get(key).cloned()
}

/// When a pod has ended, by its container.
pub(crate) fn ended(pod: &Pod) -> Option<i64> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    let ended = statuses.first()?.state.as_ref()?.terminated.as_ref()?;
    ended.finished_at.as_ref().map(|time| time.0.as_microsecond())
}

/// What a pod asks for.
fn cores(pod: &Pod) -> Option<f64> {
    let container = pod.spec.as_ref()?.containers.first()?;
    let cpu = &container.resources.as_ref()?.requests.as_ref()?.get("cpu")?.0;
    match cpu.strip_suffix('m') {
        Some(milli) => Some(milli.parse::<f64>().ok()? / 1000.0),
        None => cpu.parse().ok(),
    }
}

pub(crate) fn ran(pod: &Pod) -> Option<Ran> {
    let spec = pod.spec.as_ref()?;
    let cpu = cores(pod)?;
    Some(Ran {
        queue: note(pod, "meed.dev/charged")?,
        node: spec.node_name.clone()?,
        started: note(pod, "meed.dev/started")?.parse().ok()?,
        ended: ended(pod),
        cpu,
    })
}

impl Plane {
    /// The pods of these queues that have started.
    pub(crate) async fn ran(&self, queues: &[&str]) -> Vec<Ran> {
        let mut all = Vec::new();
        for queue in queues {
            all.extend(self.all_pods(queue).await.iter().filter_map(ran));
        }
        all
    }

    /// No node holds more than it has; every pod is on one node, with the record of
    /// who let it start; none is held any more.
    pub(crate) async fn invariants(&self, queues: &[&str], node_cpu: f64) {
        for queue in queues {
            for pod in self.all_pods(queue).await {
                let name = pod.metadata.name.clone().unwrap_or_default();
                let spec = pod.spec.as_ref().expect("a pod has a spec");
                assert!(spec.node_name.is_some(), "{name} is on no node");
                assert_eq!(spec.scheduling_gates, None, "{name} is held for ever");
                assert!(note(&pod, "meed.dev/epoch").is_some(), "{name} has no epoch");
                assert_eq!(note(&pod, "meed.dev/charged").as_deref(), Some(*queue), "{name}");
            }
        }
        self.no_node_is_overfull(node_cpu).await;
    }

    /// No node holds more than it has.
    pub(crate) async fn no_node_is_overfull(&self, node_cpu: f64) {
        let Ok(alive) = self.alive().await else { return };
        let mut held: BTreeMap<String, f64> = BTreeMap::new();
        for ran in alive.iter().filter_map(ran) {
            *held.entry(ran.node).or_default() += ran.cpu;
        }
        for (node, held) in held {
            assert!(held <= node_cpu + 1e-9, "{node} holds {held} of {node_cpu} cores");
        }
    }

    /// Cores of the pods that are bound or let go.
    pub(crate) async fn promised(&self) -> f64 {
        let alive = self.alive().await.expect("pods are listed");
        let is_free = |pod: &&Pod| {
            let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_ref());
            gates.is_none_or(Vec::is_empty)
        };
        alive.iter().filter(is_free).filter_map(cores).sum()
    }

    /// All pods that have not ended, in one list: that is one instant.
    async fn alive(&self) -> Result<Vec<Pod>, kube::Error> {
        let pods: Api<Pod> = Api::all(self.admin.clone());
        let alive = "status.phase!=Succeeded,status.phase!=Failed";
        Ok(pods.list(&ListParams::default().fields(alive)).await?.items)
    }

    /// Waits until Meed has heard of the ends of all pods of a queue: until then the ledger counts
    /// them. Something is charged then, or the status would be one from before they began.
    pub(crate) async fn until_ends_are_heard(&self, queue: &str) {
        until("Meed knows that all have ended", 60, async || {
            let status = self.read_queue(queue).await.status.unwrap_or_default();
            let is_charged = status.charged.is_some_and(|charged| charged > 0.0);
            is_charged && (status.waiting, status.running) == (Some(0), Some(0))
        })
        .await;
    }

    /// What a queue is charged is the sum over its pods of demand x time, to the second for each
    /// pod (the API tells ends in whole seconds); `more` is what pods have used that are gone.
    /// Memory is for ever here, and nothing is charged ahead.
    pub(crate) async fn ledger_is_true(&self, queue: &str, more: f64) {
        let status = self.read_queue(queue).await.status.expect("a status");
        let charged = status.charged.expect("a charge");
        self.sum_is(queue, charged, status.as_of_micros, more).await;
    }

    /// Likewise its use, where only the present counts (`fair`). That counts room that was kept for
    /// starts which failed, too: not for runs with faults.
    pub(crate) async fn use_is_true(&self, queue: &str) {
        let status = self.read_queue(queue).await.status.expect("a status");
        let used = status.usage.expect("use");
        self.sum_is(queue, used, status.as_of_micros, 0.0).await;
    }

    async fn sum_is(&self, queue: &str, told: f64, as_of: Option<i64>, more: f64) {
        let as_of = as_of.expect("the instant");
        // A stamp leaves out less than a second, and news is on time for a tenth of one.
        let (mut sum, mut slack) = (more, 0.5);
        for ran in self.ran(&[queue]).await {
            let until = ran.ended.unwrap_or(as_of).min(as_of);
            sum += ran.cpu * (until - ran.started) as f64 / 1e6;
            slack += ran.cpu * 1.1;
        }
        let off = told - sum;
        let is_true = off > -more - 0.5 && off < slack;
        assert!(is_true, "{queue}: the ledger says {told}, the pods {sum} (slack {slack})");
    }
}
