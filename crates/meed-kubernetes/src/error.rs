//! What can go wrong at the edges, in sentences.

use thiserror::Error;

/// Why Meed ends.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KubernetesError {
    /// The API server refuses, or cannot be reached.
    #[error("cannot {what}: {why}")]
    Api {
        /// What was tried.
        what: String,
        /// What it said.
        #[source]
        why: Box<kube::Error>,
    },
    /// There is no cluster to talk to.
    #[error("no cluster is configured: {0}; set KUBECONFIG, or run inside a cluster")]
    NoCluster(String),
    /// Another process leads, or may.
    #[error("this process no longer leads ({0}); it ends, so that it does nothing more")]
    Deposed(String),
    /// Settings that cannot be.
    #[error("{0}")]
    Settings(String),
    /// The ledger in the cluster cannot be read.
    #[error("the ledger in ConfigMap {name}: {what}")]
    Ledger {
        /// Which object.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// The engine refused what it must take.
    #[error("the engine: {0}")]
    Engine(String),
}

impl KubernetesError {
    pub(crate) fn api(what: &str, why: kube::Error) -> KubernetesError {
        KubernetesError::Api { what: what.to_owned(), why: Box::new(why) }
    }

    /// A request had no answer, or none that says what is wrong: it may have one another time.
    pub(crate) fn is_unanswered(&self) -> bool {
        let KubernetesError::Api { why, .. } = self else { return false };
        match &**why {
            kube::Error::Service(_) | kube::Error::HyperError(_) => true,
            kube::Error::Api(status) => status.code >= 500,
            _ => false,
        }
    }
}

/// Whether the API server answered with this code.
pub(crate) fn is_code(error: &kube::Error, code: u16) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == code)
}

/// Whether a fence refused a write because another leads.
pub(crate) fn is_fenced(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.message.contains(FENCE))
}

/// What the fence's policies say (`fence.yaml` in `deploy/kubernetes`).
const FENCE: &str = "another leader has taken over";
