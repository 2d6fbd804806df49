//! What who installs Meed can choose.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use meed::{ResourceKinds, Span, Unit};
use meed_config::policy::PolicySpec;
use meed_pods::Resizes;

use crate::error::KubernetesError;
use crate::prices::Prices;
use crate::record::DecisionLog;
use crate::world::Choices;

/// What is always counted. The first is what fairness is measured in.
pub(crate) const ALWAYS: [&str; 3] = ["cpu", "memory", "pods"];

/// What an amount of a resource is counted in.
pub(crate) fn unit_of(resource: &str) -> Unit {
    let is_bytes =
        matches!(resource, "memory" | "ephemeral-storage") || resource.starts_with("hugepages-");
    if is_bytes { Unit::Bytes } else { Unit::Milli }
}

/// Where the service account says its namespace.
const OWN_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// How Meed runs in a cluster.
#[derive(Args, Clone, Debug)]
pub struct KubernetesSettings {
    /// The policy of the whole cluster: `long-term`, `fair`, `long-term,half_life=24h`. It is fixed
    /// once the ledger has begun.
    #[arg(long, default_value = "long-term")]
    pub policy: String,
    /// More resources to count besides cpu, memory and pods, by commas: `nvidia.com/gpu`. They are
    /// fixed once the ledger has begun.
    #[arg(long, value_delimiter = ',')]
    pub resources: Vec<String>,
    /// The label of a node that names its class.
    #[arg(long, default_value = "nvidia.com/gpu.product", value_name = "LABEL")]
    pub class_label: String,
    /// What an hour on a node of a class counts, by commas: `A100=4,Tesla-T4=0.5`; from 0.001 to
    /// 10. Nodes of other classes, or of none, count 1.
    #[arg(long, value_delimiter = ',', value_name = "CLASS=FACTOR")]
    pub price: Vec<String>,
    /// Seconds for which room is kept for a pod that was let go and that kube-scheduler has not
    /// placed: so long it is charged.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub place_seconds: u16,
    /// The namespace of the lease and the ledger [default: the pod's own, or `meed-system`].
    #[arg(long)]
    pub namespace: Option<String>,
    /// The name of the lease.
    #[arg(long, default_value = "meed")]
    pub lease: String,
    /// Writes in flight at a time.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub in_flight: u16,
    /// Write an event on every pod that is bound, as kube-scheduler does: it costs the API server
    /// two thirds of what the binding costs.
    #[arg(long)]
    pub bound_events: bool,
    /// Keep a pod's `managedFields` as its gate is taken away: the record of who owns which of its
    /// fields, which only server-side apply asks for. Without this they go, unless somebody applies
    /// the pod: later writes are cheaper for the API server, and what is watched and stored is a
    /// third smaller.
    #[arg(long)]
    pub keep_managed_fields: bool,
    /// Seconds between checkpoints of the ledger: what is lost at worst, with the takeover.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub checkpoint_seconds: u16,
    /// Seconds between two writes of a Queue's status.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u16).range(1..=3600))]
    pub status_seconds: u16,
    /// Write what happens and what is decided to this file, for `meed replay --verify`, `meed
    /// explain` and `meed simulate`; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub log: Option<String>,
    /// Answer probes and metrics over HTTP at this address, as in `0.0.0.0:8080`: /healthz,
    /// /readyz, /metrics. The metrics tell the books of all queues to whoever reaches it.
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Serve the dashboard over HTTP at this address of the machine's own, as in `127.0.0.1:8081`:
    /// people come by `kubectl port-forward`, and sign in by tokens of the API server.
    #[arg(long, value_name = "ADDR")]
    pub dashboard: Option<SocketAddr>,
    /// A name by which browsers call the dashboard besides localhost, where a proxy in the same pod
    /// stands before it.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub dashboard_host: Vec<String>,
}

impl KubernetesSettings {
    pub(crate) fn namespace(&self) -> String {
        let own = || std::fs::read_to_string(OWN_NAMESPACE).ok();
        let name = self.namespace.clone().or_else(own);
        name.map_or_else(|| "meed-system".to_owned(), |name| name.trim().to_owned())
    }

    /// What is counted, in order.
    pub(crate) fn resources(&self) -> Vec<String> {
        let mut all: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
        for name in &self.resources {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    }

    pub(crate) fn kinds(&self) -> Result<ResourceKinds, KubernetesError> {
        let kinds = self.resources().into_iter().map(|name| (name.clone(), unit_of(&name)));
        ResourceKinds::new(kinds.collect())
            .map_err(|why| KubernetesError::Settings(format!("--resources: {why}")))
    }

    pub(crate) fn policy(&self) -> Result<PolicySpec, KubernetesError> {
        let wrong = |why: String| KubernetesError::Settings(format!("--policy: {why}"));
        let policy: PolicySpec = self.policy.parse().map_err(|why| wrong(format!("{why}")))?;
        match policy.is_partitioned() || policy.slots().is_some() {
            true => Err(wrong("is a yardstick of simulations; name an order".to_owned())),
            false => Ok(policy),
        }
    }

    /// What an hour on a node of each class counts.
    pub(crate) fn prices(&self) -> Result<Prices, KubernetesError> {
        Prices::parse(&self.class_label, &self.price).map_err(KubernetesError::Settings)
    }

    /// Where the dashboard is.
    pub(crate) fn dashboard(&self) -> Result<Option<SocketAddr>, KubernetesError> {
        match self.dashboard {
            Some(address) if !address.ip().is_loopback() => {
                let text = format!(
                    "--dashboard {address}: can be reached from elsewhere, where tokens could be \
                     read on the way: listen at 127.0.0.1, and come by kubectl port-forward, or \
                     by a proxy that speaks TLS in the same pod"
                );
                Err(KubernetesError::Settings(text))
            }
            address => Ok(address),
        }
    }

    /// What the world reads of this.
    pub(crate) fn choices(&self, resizes: Resizes) -> Result<Choices, KubernetesError> {
        let patience = Span::from_secs(u64::from(self.place_seconds)).unwrap_or(Span::MAX);
        Ok(Choices { root: self.policy()?, prices: self.prices()?, patience, resizes })
    }

    /// Where decisions are written.
    pub(crate) fn decision_log(&self) -> Result<DecisionLog, KubernetesError> {
        let Some(path) = &self.log else { return Ok(DecisionLog::default()) };
        DecisionLog::open(path).map_err(|why| {
            let text = format!("--log {path}: {why}; name a file that can be written");
            KubernetesError::Settings(text)
        })
    }

    pub(crate) fn checkpoint_every(&self) -> Duration {
        Duration::from_secs(u64::from(self.checkpoint_seconds))
    }

    pub(crate) fn status_every(&self) -> Duration {
        Duration::from_secs(u64::from(self.status_seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: KubernetesSettings,
    }

    #[test]
    fn settings_are_read_and_checked() {
        let read = |line: &[&str]| Line::parse_from([&["meed"], line].concat()).settings;
        let usual = read(&[]);
        assert_eq!(usual.resources(), ["cpu", "memory", "pods"]);
        assert_eq!(usual.policy().unwrap().to_string(), "long-term");
        assert_eq!(usual.dashboard().unwrap(), None);
        assert!(read(&["--dashboard", "[::1]:80"]).dashboard().unwrap().is_some());
        assert_eq!(usual.prices().unwrap().weight(&Default::default()), 1000);
        let priced = read(&["--class-label", "pool", "--price", "a=2,b=0.5", "--price", "c=3"]);
        let weight = |class: &str| {
            let labels = [("pool".to_owned(), class.to_owned())].into();
            priced.prices().unwrap().weight(&labels)
        };
        assert_eq!(["a", "b", "c", "d"].map(weight), [2000, 500, 3000, 1000]);
        let wrong = read(&["--price", "a=0"]).prices().unwrap_err().to_string();
        assert!(wrong.starts_with("--price a=0: the factor `0` is zero"), "{wrong}");
        let gpu = read(&["--resources", "nvidia.com/gpu,cpu", "--policy", "fair"]);
        assert_eq!(gpu.kinds().unwrap().names().last(), Some("nvidia.com/gpu"));
        for (line, what) in [
            (["--policy", "fairest"], "--policy: unknown policy `fairest`"),
            (["--policy", "static"], "--policy: is a yardstick"),
            (["--resources", "a,b,c,d,e"], "--resources: a cluster has 1 to 7"),
            (["--dashboard", "0.0.0.0:80"], "--dashboard 0.0.0.0:80: can be reached"),
            (["--dashboard", "[::]:80"], "listen at 127.0.0.1"),
        ] {
            let settings = read(&line);
            let error = settings.policy().err().or(settings.kinds().err());
            let error = error.or(settings.dashboard().err()).unwrap().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
