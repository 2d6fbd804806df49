//! Which cluster people ask: that of the kubeconfig, as kubectl finds it, unless they say
//! otherwise.

use std::path::PathBuf;

use clap::Args;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::shown;
use crate::connect::Connector;
use crate::error::KubernetesError;

/// What is said of the cluster.
#[derive(Args, Clone, Debug, Default)]
pub struct PlaceArgs {
    /// The kubeconfig [default: KUBECONFIG, ~/.kube/config, or the service account of a pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Nobody has said which: the first line names it, and says this.
    #[arg(long, hide = true, value_name = "WHY")]
    because: Option<String>,
}

/// A cluster that is asked.
pub(super) struct Place {
    pub(super) client: Client,
    /// In words.
    pub(super) name: String,
}

impl PlaceArgs {
    /// The way to it.
    pub(super) async fn connect(&self) -> Result<Place, KubernetesError> {
        let none = |why: String| KubernetesError::NoCluster(why);
        let (config, context) = match self.kubeconfig()? {
            Some(known) => {
                let context = self.context.clone().or_else(|| known.current_context.clone());
                let options =
                    KubeConfigOptions { context: self.context.clone(), ..Default::default() };
                let config = Config::from_custom_kubeconfig(known, &options).await;
                (config.map_err(|why| none(why.to_string()))?, context)
            }
            None => (Config::infer().await.map_err(|why| none(why.to_string()))?, None),
        };
        let url = config.cluster_url.to_string();
        let url = shown(url.trim_end_matches('/'));
        let name = match context {
            Some(context) => format!("the cluster of context {}, {url}", shown(&context)),
            None => format!("the cluster at {url}"),
        };
        let client = Connector::of(config).client()?;
        Ok(Place { client, name })
    }

    /// The kubeconfig; none where there is none, and nobody has named one.
    fn kubeconfig(&self) -> Result<Option<Kubeconfig>, KubernetesError> {
        let read = match &self.kubeconfig {
            Some(path) => Kubeconfig::read_from(path),
            None => Kubeconfig::read(),
        };
        let is_named = self.kubeconfig.is_some() || self.context.is_some() || is_there();
        match read {
            Ok(known) => Ok(Some(known)),
            Err(why) if is_named => Err(KubernetesError::NoCluster(why.to_string())),
            Err(_) => Ok(None),
        }
    }

    /// What is said besides where nobody has named it.
    pub(super) fn because(&self) -> Option<&str> {
        self.because.as_deref()
    }
}

/// Whether KUBECONFIG names a kubeconfig, or there is one in the home: one that cannot be read is
/// not passed over, for then another cluster than was meant would answer.
fn is_there() -> bool {
    let said = std::env::var_os("KUBECONFIG").is_some_and(|paths| !paths.is_empty());
    let home = std::env::var_os("HOME").map(PathBuf::from);
    said || home.is_some_and(|home| home.join(".kube/config").exists())
}
