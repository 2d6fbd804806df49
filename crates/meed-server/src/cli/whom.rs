//! Whom `meed queues`, `why` and `top` ask: a server of this machine, or a Kubernetes cluster.
//!
//! | said | asked |
//! |---|---|
//! | `--kubernetes`, `--kubeconfig`, `--context` | the cluster |
//! | `--socket`, `MEED_SOCKET` | the server |
//! | nothing | the server, if one answers; else the cluster, if there is a kubeconfig |
//!
//! Whoever could have been meant is never passed over in silence: where nothing was said and both
//! could be meant, the first line names who answers. A server that is there and does not let this
//! user in, or fails in another way, is not passed over at all.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use meed_cli::exit::Failure;
use meed_cli::programs::KUBERNETES;

use super::SocketArgs;
use crate::client::{AskError, Client, SOCKET};

/// So it is where no server runs.
const NOBODY: [ErrorKind; 2] = [ErrorKind::NotFound, ErrorKind::ConnectionRefused];

/// Which cluster is meant, if one is.
#[derive(Args)]
pub(crate) struct WhomArgs {
    /// Asks the Kubernetes cluster of the kubeconfig instead of a server (docs/kubernetes.md).
    #[arg(long, conflicts_with = "socket")]
    kubernetes: bool,
    /// The same, by this kubeconfig.
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    kubeconfig: Option<PathBuf>,
    /// The same, by this context of the kubeconfig.
    #[arg(long, value_name = "NAME", conflicts_with = "socket")]
    context: Option<String>,
}

/// Who is asked.
pub(super) enum Whom {
    /// A server.
    Server {
        /// The way to it.
        client: Client,
        /// A cluster could have been meant as well.
        or_cluster: bool,
    },
    /// A cluster.
    Cluster {
        /// Why, where nobody has said so.
        because: Option<String>,
    },
}

impl WhomArgs {
    /// Whether somebody has said that a cluster is meant.
    pub(super) fn is_cluster(&self) -> bool {
        self.kubernetes || self.kubeconfig.is_some() || self.context.is_some()
    }

    /// Refuses a cluster beside YARN's.
    pub(super) fn not_beside_yarn(&self, yarn: Option<&String>) -> Result<(), Failure> {
        match yarn.is_some() && self.is_cluster() {
            true => Err(Failure::Usage(
                "--yarn and a Kubernetes cluster cannot both be asked; name one".to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Finds out who is meant.
    pub(super) fn find(&self, server: &SocketArgs) -> Result<Whom, Failure> {
        if self.is_cluster() {
            return Ok(Whom::Cluster { because: None });
        }
        let is_said = server.socket.is_some() || std::env::var_os(SOCKET).is_some();
        let can_be_cluster = !is_said && has_kubeconfig() && KUBERNETES.is_there();
        match server.connect() {
            Ok(client) => Ok(Whom::Server { client, or_cluster: can_be_cluster }),
            Err(AskError::NoServer { path, error })
                if can_be_cluster && NOBODY.contains(&error.kind()) =>
            {
                Ok(Whom::Cluster {
                    because: Some(format!("no server answers at {}", path.display())),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The command line of `meed-kubernetes` that asks `words` of the cluster, of one thing that
    /// has this `name` if of one.
    pub(super) fn line(
        &self,
        words: &[&str],
        name: Option<&str>,
        because: Option<&str>,
    ) -> Vec<OsString> {
        let mut line: Vec<OsString> = words.iter().map(OsString::from).collect();
        if let Some(path) = &self.kubeconfig {
            line.extend(["--kubeconfig".into(), path.into()]);
        }
        if let Some(context) = &self.context {
            line.extend(["--context".into(), context.into()]);
        }
        if let Some(because) = because {
            line.extend(["--because".into(), because.into()]);
        }
        if let Some(name) = name {
            // A name may begin as an option does.
            line.extend(["--".into(), name.into()]);
        }
        line
    }
}

/// The line that names a server where a cluster could have been meant.
pub(super) fn server_line(client: &Client) -> String {
    format!("{}; the cluster of the kubeconfig: --kubernetes\n", server_words(client))
}

/// A server in words.
pub(super) fn server_words(client: &Client) -> String {
    format!("the server at {}", client.path().display())
}

/// Whether something says which cluster is meant: as kubectl finds it, or the service account of a
/// pod.
fn has_kubeconfig() -> bool {
    let said = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let usual = home.is_some_and(|home| home.join(Path::new(".kube/config")).is_file());
    said("KUBECONFIG") || usual || said("KUBERNETES_SERVICE_HOST")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_the_cluster_is_handed_on() {
        let args = WhomArgs {
            kubernetes: false,
            kubeconfig: Some("a b".into()),
            context: Some("prod".to_owned()),
        };
        assert!(args.is_cluster());
        let line = args.line(&["why", "--json"], Some("-x"), None);
        let expected = ["why", "--json", "--kubeconfig", "a b", "--context", "prod", "--", "-x"];
        assert_eq!(line, expected);
        let none = WhomArgs { kubernetes: false, kubeconfig: None, context: None };
        assert!(!none.is_cluster());
        let line = none.line(&["queues"], None, Some("no server answers at /x"));
        assert_eq!(line, ["queues", "--because", "no server answers at /x"]);
        assert!(none.not_beside_yarn(Some(&"http://rm".to_owned())).is_ok());
        assert!(args.not_beside_yarn(Some(&"http://rm".to_owned())).is_err());
    }
}
