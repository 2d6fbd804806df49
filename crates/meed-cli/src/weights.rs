//! `--weights FILE`: weights of queues from a table, as changes of the scenario.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use meed_config::words::suggest;
use meed_files::open::Origin;
use meed_workload::table::{WeightsFound, read_weights, weights_of};

use crate::exit::Failure;
use crate::output::remark;

#[derive(Args)]
pub(crate) struct WeightArgs {
    /// Weights of queues from a table with the columns queue and weight, or as sshare -P -a and
    /// sacctmgr -P show assoc print them (docs/scenario.md); --set changes them.
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
}

impl WeightArgs {
    /// The file, as what it is to a command.
    pub(crate) fn file(&self) -> Option<(&'static str, &Path)> {
        self.weights.as_deref().map(|path| ("weights", path))
    }

    /// `sets` behind the changes that the file makes to those of these `queues`, which are asked
    /// for only where there is a file.
    pub(crate) fn before(
        &self,
        sets: Vec<String>,
        quiet: bool,
        queues: impl FnOnce(&[String]) -> Result<BTreeSet<String>, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let Some(path) = &self.weights else { return Ok(sets) };
        let origin = Origin::path(path);
        let rows = read_weights(&origin)?;
        let queues = queues(&sets)?;
        let WeightsFound { weights, others } = weights_of(&origin, &rows, &queues)?;
        if weights.is_empty() {
            let known = queues.iter().map(String::as_str);
            let what = match rows.first() {
                None => "it holds no weight".to_owned(),
                Some(row) => format!(
                    "no row is of a queue here, as \"{}\" of line {} is not; {}",
                    row.name(),
                    row.line,
                    suggest(row.name(), known)
                ),
            };
            return Err(Failure::Input(format!("{}: {what}", path.display())));
        }
        if !quiet {
            let (file, found, all) = (path.display(), weights.len(), queues.len());
            let others = match others {
                0 => String::new(),
                1 => "; 1 row is of no queue here".to_owned(),
                others => format!("; {others} rows are of no queue here"),
            };
            remark(&format!("{file}: weights of {found} of {all} queues{others}"));
        }
        let text = |name: &str| serde_json::Value::from(name).to_string();
        let set = |(queue, weight): (&&str, &&str)| {
            format!("queue.{}.weight={}", text(queue), text(weight))
        };
        Ok(weights.iter().map(set).chain(sets).collect())
    }
}
