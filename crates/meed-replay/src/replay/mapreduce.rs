//! Recorded runs of the MapReduce world, run again.
//!
//! Their workload is not only the jobs that came: how long tasks run follows from machines, blocks
//! and who runs beside them. All of that is in the scenario's text and the seed, which the header
//! holds; so the world is made from these, and the record says whether it decides the same.

use std::io::Write;

use meed_driver::record::{Comparison, SCHEMA};
use meed_journal::Header;
use meed_mapreduce::MapReduceSetup;
use meed_scenario::{Scenario, ScenarioError, told_order};
use meed_sim::log::Log;
use meed_sim::world::RunError;
use meed_sim::{Watch, run_mapreduce};

use super::{Recording, ReplayError, ReplayOptions, Replayed};

impl Recording {
    /// What a run of the recorded scenario under the policy `words` starts from.
    pub(crate) fn mapreduce_setup(
        &self,
        words: &str,
        series_points: usize,
    ) -> Result<MapReduceSetup, ScenarioError> {
        let setup = self.scenario.mapreduce_setup(words, self.run.header.seed)?;
        Ok(MapReduceSetup {
            series_points,
            ..setup.expect("its header says that it is of this world")
        })
    }
}

/// The scenario of a recorded run.
pub(super) fn scenario_of(header: &Header, place: &str) -> Result<Scenario, ScenarioError> {
    let text = header.scenario_text.clone();
    let told = told_order(header);
    let scenario = Scenario::of_mapreduce_text(&header.scenario, text, &|name| told.contains(name));
    scenario.map_err(|error| ScenarioError {
        what: format!("the scenario in the header: {}", error.what),
        file: place.to_owned(),
        line: None,
        ..error
    })
}

/// Runs what `options` ask for beside the recorded run.
pub(super) fn replay(
    recording: &Recording,
    options: &ReplayOptions,
    mut log: Option<&mut dyn Write>,
    watch: &mut dyn Watch,
) -> Result<Replayed, ReplayError> {
    let header = &recording.run.header;
    if options.changes_anything() {
        let what = "a run of the MapReduce world is run again under other policies only; change \
            its scenario file and use `meed simulate`";
        return Err(recording.scenario.error(what).into());
    }
    let mut remarks = recording.remarks();
    let points = options.series_points;
    let setups = options.policies.iter().map(|words| {
        let plan = recording.scenario.plan(words)?;
        Ok((words, recording.mapreduce_setup(words, points)?, plan))
    });
    // All names first: a typo in the last is told before the first has run.
    let setups = setups.collect::<Result<Vec<_>, ScenarioError>>()?;
    // It cannot be played back: its log is that of its own run.
    let copy = match (&mut log, setups.is_empty()) {
        (Some(out), true) => Some(&mut **out as &mut dyn Write),
        _ => None,
    };
    let again = recording.again(points, copy, watch)?;
    if let Some(difference) = &again.decisions {
        let so = "the first column is its run, not the recorded one";
        remarks.push(recording.decides_otherwise(difference, so));
    }
    let mut runs = vec![again.record];
    for (words, setup, plan) in setups {
        watch.begins(words);
        let mut out = log.as_mut().map_or(Log::off(), |out| Log::to(&mut **out));
        let first = || recording.scenario.header(words, header.seed, &plan, Vec::new());
        out.header(first).map_err(RunError::Log)?;
        runs.push(run_mapreduce(words, setup, out, watch)?);
    }
    let comparison = Comparison {
        schema: SCHEMA,
        scenario: header.scenario.clone(),
        seed: header.seed,
        assumptions: header.assumptions.clone(),
        clock_us: None,
        baseline: None,
        is_usual: false,
        runs,
    };
    Ok(Replayed { comparison, remarks, differs: again.bytes })
}
