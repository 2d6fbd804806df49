//! A policy as the user names it, resolved once: what thousands of tiny runs have in common.

use meed::Policy;
use meed::place::Placement;
use meed_config::policy::{PolicySpec, SpecError};
use meed_sim::log::Log;
use meed_sim::record::RunRecord;
use meed_sim::world::{Attendant, WorldSetup};
use meed_sim::{Unwatched, run_one};

use super::draft::{Draft, kinds};
use super::error::AuditError;
use meed_experiments::rivals::table::Chosen;
use meed_experiments::rivals::{TOLD, Teller};

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
    /// Where it is another scheduler's order.
    pub(super) rival: Option<Chosen>,
}

impl Ground {
    /// The policy that `words` name.
    pub(super) fn of(words: &str) -> Result<Ground, AuditError> {
        let wrong = |what: String| AuditError::Case { file: format!("--policy {words}"), what };
        let fail = |why: SpecError| wrong(why.to_string());
        let rival = Chosen::find(words, None).map_err(wrong)?;
        let spec: PolicySpec = order_of(words, rival.as_ref()).parse().map_err(fail)?;
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
            rival,
        })
    }

    /// Minutes after which it hears of a claim at the latest: a rival looks at each tick.
    pub(super) fn lag(&self) -> u32 {
        let cadence = self.rival.as_ref().map_or(0, |rival| rival.cadence.as_micros());
        cadence.div_ceil(60_000_000) as u32
    }

    /// Runs a draft.
    pub(super) fn run(&self, draft: &Draft) -> Result<RunRecord, AuditError> {
        let mut teller = self.teller();
        self.run_setup(draft.setup(self, Log::off())?, &mut teller)
    }

    /// Runs a draft, with its log.
    pub(super) fn run_logged(&self, draft: &Draft) -> Result<(RunRecord, Vec<u8>), AuditError> {
        let (mut log, mut teller) = (Vec::new(), self.teller());
        let record = self.run_setup(draft.setup(self, Log::to(&mut log))?, &mut teller)?;
        Ok((record, log))
    }

    /// Runs a draft, with so many samples over time.
    pub(super) fn run_sampled(
        &self,
        draft: &Draft,
        points: usize,
    ) -> Result<RunRecord, AuditError> {
        let mut teller = self.teller();
        let setup = draft.setup(self, Log::off())?;
        self.run_setup(WorldSetup { series_points: points, ..setup }, &mut teller)
    }

    /// Who tells ranks in a run, where somebody does.
    fn teller(&self) -> Option<Teller> {
        self.rival.clone().map(Teller::new)
    }

    fn run_setup<'a>(
        &self,
        setup: WorldSetup<'a>,
        teller: &'a mut Option<Teller>,
    ) -> Result<RunRecord, AuditError> {
        let attendant = teller.as_mut().map(|teller| teller as &mut dyn Attendant);
        Ok(run_one(&self.words, WorldSetup { attendant, ..setup }, &mut Unwatched)?)
    }
}

/// The order by which the engine serves: a rival tells ranks.
pub(super) fn order_of<'w>(words: &'w str, rival: Option<&Chosen>) -> &'w str {
    if rival.is_some() { TOLD } else { words }
}
