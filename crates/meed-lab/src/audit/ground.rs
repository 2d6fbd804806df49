//! A policy as the user names it, resolved once: what thousands of tiny runs have in common.

use meed::Policy;
use meed::place::Placement;
use meed_config::policy::{PolicySpec, SpecError};
use meed_sim::log::Log;
use meed_sim::record::RunRecord;
use meed_sim::{Unwatched, run_one};

use super::AuditError;
use super::draft::{Draft, kinds};

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

impl Ground {
    /// The policy that `words` name.
    pub(super) fn of(words: &str) -> Result<Ground, AuditError> {
        let wrong = |what: String| AuditError::Case { file: format!("--policy {words}"), what };
        let fail = |why: SpecError| wrong(why.to_string());
        let spec: PolicySpec = words.parse().map_err(fail)?;
        if spec.is_empty() {
            return Err(wrong("names no policy; write one as in `fair`".to_owned()));
        }
        if let Some(why) = spec.contradiction() {
            return Err(fail(why));
        }
        if spec.slots().is_some() {
            return Err(wrong("slots are a resource of their own; audit `fair`".to_owned()));
        }
        let kinds = kinds()?;
        Ok(Ground {
            words: words.to_owned(),
            root: spec.policy(&kinds).map_err(fail)?,
            leaf: PolicySpec::order("fifo").over(&spec).policy(&kinds).map_err(fail)?,
            partitioned: spec.is_partitioned(),
            placement: spec.placement().map_err(fail)?.new,
            grouped: spec.get("t_wait").is_some(),
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
            meed_sim::world::WorldSetup { series_points: points, ..draft.setup(self, Log::off())? };
        Ok(run_one(&self.words, setup, &mut Unwatched)?)
    }
}
