//! `--cluster FILE`: the nodes of the user's own cluster, as changes of the scenario.

use std::path::{Path, PathBuf};

use clap::Args;
use meed_files::open::Origin;
use meed_sim::scenario::Scenario;
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

    /// `sets` behind the changes that put these nodes into the scenario at `input`.
    pub fn before(&self, input: &Path, sets: Vec<String>) -> Result<Vec<String>, Failure> {
        let Some(path) = &self.cluster else { return Ok(sets) };
        // A file without a node is told of itself, not of a change.
        self.read()?;
        let (file, format) = ("cluster.machines.file", "cluster.machines.format=\"cluster\"");
        // A scenario looks for files in its own folder.
        let path = match Scenario::is_trace(input, &sets) {
            true => path.clone(),
            false => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        };
        let name = serde_json::Value::from(path.display().to_string());
        let own = ["cluster.node=[]".to_owned(), format!("{file}={name}"), format.to_owned()];
        Ok(own.into_iter().chain(sets).collect())
    }
}
