//! An order in a run: one of Meed's policies, or another scheduler's.

use meed::Span;
use meed_config::words::did_you_mean;
use meed_scenario::{STATIC, Scenario};
use meed_sim::record::{Comparison, RunRecord};
use meed_sim::world::{Attendant, WorldSetup};
use meed_sim::{
    Overtaking, SimulateError, SimulateOptions, Unwatched, Watch, run_one, simulate,
    simulate_attended, simulate_telling,
};

use crate::error::SweepError;
use crate::rivals::table::{Chosen, RIVALS};
use crate::rivals::teller::{TOLD, Teller};

/// The option that names what all others are compared with.
pub const BASELINE: &str = "--baseline";

/// An order, as somebody named it.
#[derive(Clone)]
pub struct NamedOrder {
    /// As it was named.
    pub words: String,
    /// Where it is another scheduler's.
    pub rival: Option<Chosen>,
}

impl NamedOrder {
    /// The order of these words in this scenario. A rival ticks at `cadence`, where there is one.
    ///
    /// # Errors
    ///
    /// Neither a policy here nor a rival, with what is near; `option` is where the words stand.
    pub fn find(
        option: &str,
        words: &str,
        cadence: Option<Span>,
        scenario: &Scenario,
    ) -> Result<NamedOrder, SweepError> {
        let fail = |why: String| SweepError::Settings(format!("{option} {why}"));
        let name = words.split(',').next().unwrap_or_default();
        if name.trim() == STATIC {
            let why = "static gives each tenant its own part, and serves nobody before another; it \
                       is what rho compares with";
            return Err(fail(format!("{words}: {why}")));
        }
        let rival = Chosen::find(words, cadence).map_err(fail)?;
        if rival.is_none()
            && let Err(error) = scenario.check_policy(words)
        {
            let rivals = || RIVALS.iter().map(|rival| rival.name);
            let near = did_you_mean(name, rivals()).unwrap_or_default();
            let known = rivals().collect::<Vec<_>>().join(", ");
            // What stands in the scenario's file is told with its place there.
            let what = if error.line.is_some() { error.to_string() } else { error.what };
            let why = format!("{words}: {what} Rivals are {known}. {near}");
            return Err(fail(why.trim_end().to_owned()));
        }
        Ok(NamedOrder { words: words.to_owned(), rival })
    }

    /// Runs the scenario in this order, as `meed simulate` runs a policy.
    ///
    /// # Errors
    ///
    /// Those of the run; a rival in the MapReduce world, whose queues nobody can tell their ranks.
    pub fn compare(
        &self,
        scenario: &Scenario,
        options: &SimulateOptions,
        overtaking: Overtaking,
        watch: &mut dyn Watch,
    ) -> Result<Comparison, SimulateError> {
        let Some(rival) = &self.rival else {
            let options = SimulateOptions { policies: vec![self.words.clone()], ..options.clone() };
            return simulate_telling(scenario, &options, overtaking, None, watch);
        };
        let mut teller = Teller::new(rival.clone());
        let options = SimulateOptions { policies: vec![TOLD.to_owned()], ..options.clone() };
        let attendants: Vec<Option<&mut dyn Attendant>> = vec![Some(&mut teller)];
        let mut ran = simulate_attended(scenario, &options, overtaking, attendants, None, watch)?;
        ran.runs.iter_mut().for_each(|run| run.policy.clone_from(&self.words));
        Ok(ran)
    }

    /// Runs the scenario in this order, with its jobs one by one.
    pub fn run(
        &self,
        scenario: &Scenario,
        seed: u64,
        strict: bool,
    ) -> Result<RunRecord, SweepError> {
        let failed = |source: SimulateError| SweepError::Run {
            at: self.words.clone(),
            source: Box::new(source),
        };
        let Some(rival) = &self.rival else {
            let options = SimulateOptions {
                policies: vec![self.words.clone()],
                seed: Some(seed),
                series_points: 0,
                strict,
                keep_jobs: true,
            };
            let ran = simulate(scenario, &options, None, &mut Unwatched).map_err(failed)?;
            let none = || SweepError::Settings(format!("{}: nothing was run", self.words));
            return ran.runs.into_iter().next().ok_or_else(none);
        };
        let mut teller = Teller::new(rival.clone());
        let setup = meed_sim::setup(scenario, TOLD, seed).map_err(failed)?;
        let setup = WorldSetup { strict, keep_jobs: true, attendant: Some(&mut teller), ..setup };
        run_one(&self.words, setup, &mut Unwatched)
            .map_err(|source| failed(SimulateError::Run(source)))
    }
}
