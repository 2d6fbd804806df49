//! A policy as the user names it, resolved once: what thousands of tiny runs have in common.

use std::path::Path;

use meed::Policy;
use meed::place::Placement;
use meed_sim::log::Log;
use meed_sim::record::RunRecord;
use meed_sim::scenario::Scenario;
use meed_sim::{Unwatched, run_one};
use meed_workload::OnBadLine;

use super::AuditError;
use super::draft::Draft;

/// See the module.
pub(super) struct Ground {
    /// The words of `--policy`.
    pub(super) words: String,
    /// How root and groups order their queues.
    pub(super) root: Policy,
    /// How tenants order their jobs: first come, first served.
    pub(super) leaf: Policy,
    pub(super) partitioned: bool,
    pub(super) placement: fn(usize, u64) -> Box<dyn Placement>,
    /// Whether tenants form groups: where the words speak of the starvation guard, which is about
    /// groups.
    pub(super) grouped: bool,
}

/// The least scenario in which all that can be named exists.
const TEMPLATE: &str = r#"
[cluster]
resources = ["slot", "useless"]
[[cluster.node]]
capacity = { slot = 1, useless = 1 }
[[queue]]
name = "g"
[[queue]]
name = "g.a"
order = "fifo"
[[job]]
queue = "g.a"
demand = { slot = 1 }
duration = "1min"
"#;

impl Ground {
    /// The policy that `words` name.
    pub(super) fn of(words: &str) -> Result<Ground, AuditError> {
        let scenario = Scenario::parse("audit", TEMPLATE, Path::new("."), &[], OnBadLine::Stop)?;
        let setup = scenario.setup(words, 0)?;
        if setup.config.kinds.len() != scenario.kinds().len() {
            let (file, what) = (
                format!("--policy {words}"),
                "slots are a resource of their own; audit `fair`".to_owned(),
            );
            return Err(AuditError::Case { file, what });
        }
        let leaf = setup.config.queues.iter().find(|queue| queue.name == "g.a");
        Ok(Ground {
            words: words.to_owned(),
            leaf: leaf.map_or_else(|| setup.config.root.clone(), |leaf| leaf.policy.clone()),
            root: setup.config.root,
            partitioned: setup.partitioned,
            placement: setup.placement,
            grouped: words.contains("t_wait"),
        })
    }

    /// Runs a draft.
    pub(super) fn run(&self, draft: &Draft) -> Result<RunRecord, AuditError> {
        Ok(run_one(&self.words, draft.setup(self, Log::off())?, &mut Unwatched)?)
    }

    /// Runs a draft, with its log.
    pub(super) fn run_logged(&self, draft: &Draft) -> Result<(RunRecord, Vec<u8>), AuditError> {
        let mut log = Vec::new();
        let setup = draft.setup(self, Log::to(&mut log))?;
        let record = run_one(&self.words, setup, &mut Unwatched)?;
        Ok((record, log))
    }

    /// Runs a draft, with so many samples over time.
    pub(super) fn run_sampled(
        &self,
        draft: &Draft,
        points: usize,
    ) -> Result<RunRecord, AuditError> {
        let setup =
            meed_sim::world::Setup { series_points: points, ..draft.setup(self, Log::off())? };
        Ok(run_one(&self.words, setup, &mut Unwatched)?)
    }
}
