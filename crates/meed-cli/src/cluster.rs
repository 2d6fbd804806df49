//! `--cluster FILE`: the nodes of the user's own cluster, as changes of the scenario.

use std::path::{Path, PathBuf};

use clap::Args;
use meed_experiments::advise::Baseline;
use meed_files::open::Origin;
use meed_scenario::{Scenario, Setting};
use meed_workload::cluster::{ClusterFile, read_cluster};

use crate::exit::Failure;

/// The option.
#[derive(Args)]
pub struct ClusterArgs {
    /// Your cluster's nodes, instead of those that the input names or Meed assumes: slurm.conf, or
    /// what scontrol show node, sinfo -N, pbsnodes -av, lshosts, bhosts, condor_status -l, qhost,
    /// kubectl get nodes -o json or YARN's /ws/v1/cluster/nodes print (docs/traces.md).
    #[arg(long, value_name = "FILE")]
    pub cluster: Option<PathBuf>,
}

impl ClusterArgs {
    /// The file, as what it is to a command.
    pub fn file(&self) -> Option<(&'static str, &Path)> {
        self.cluster.as_deref().map(|path| ("cluster", path))
    }

    /// What the file says, if there is one.
    pub fn read(&self) -> Result<Option<ClusterFile>, Failure> {
        let Some(path) = &self.cluster else { return Ok(None) };
        Ok(Some(read_cluster(&Origin::path(path))?))
    }

    /// The order that the site has now, where the file says it.
    pub fn baseline(&self) -> Result<Option<Baseline>, Failure> {
        let order = self.read()?.and_then(|cluster| cluster.order);
        Ok(order.map(|(words, why)| Baseline { words, why }))
    }

    /// `settings` behind the changes that put these nodes into the scenario at `input`.
    pub fn before(&self, input: &Path, settings: Vec<Setting>) -> Result<Vec<Setting>, Failure> {
        let Some(path) = &self.cluster else { return Ok(settings) };
        // A file without a node is told of itself, not of a change.
        self.read()?;
        // A scenario looks for files in its own folder.
        let path = match Scenario::is_trace(input, &settings) {
            true => path.clone(),
            false => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        };
        Ok(Setting::nodes_of(&path).into_iter().chain(settings).collect())
    }
}
