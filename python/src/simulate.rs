//! Runs, without Python's lock; signals are looked for while they go on.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use meed_sim::world::{Progress, RunError};
use meed_sim::{Overtaking, SimulateError, SimulateOptions, Watch, simulate_telling};
use pyo3::prelude::*;

use crate::error::of_simulate;
use crate::results::PyResults;
use crate::scenario::PyScenario;

/// How often signals are looked for, and progress is told.
const LOOK: Duration = Duration::from_millis(50);

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
#[pyo3(signature = (scenario, policies, seed, series, strict, keep_jobs, overtaken, progress))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: PyRef<'_, PyScenario>,
    policies: Vec<String>,
    seed: Option<u64>,
    series: usize,
    strict: bool,
    keep_jobs: bool,
    overtaken: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyResults> {
    let options = SimulateOptions { policies, seed, series_points: series, strict, keep_jobs };
    let overtaking = if overtaken { Overtaking::Told } else { Overtaking::Nothing };
    let mut watch = Watched::new(progress);
    let scenario = &scenario.scenario;
    let ran = py.detach(|| simulate_telling(scenario, &options, overtaking, None, &mut watch));
    match ran {
        Ok(comparison) => Ok(PyResults::new(comparison, watch.skipped, keep_jobs)),
        // What stopped it says more than that it was stopped.
        Err(SimulateError::Run(RunError::Stopped { .. })) if watch.raised.is_some() => {
            Err(watch.raised.unwrap_or_else(|| unreachable!("it has just been looked at")))
        }
        Err(why) => Err(of_simulate(&why)),
    }
}

/// Looks for signals, and tells how far a run is.
struct Watched {
    policy: String,
    progress: Option<Py<PyAny>>,
    looked: Instant,
    raised: Option<PyErr>,
    skipped: Vec<String>,
}

impl Watched {
    #[expect(clippy::disallowed_methods, reason = "when to look for signals decides nothing")]
    fn new(progress: Option<Py<PyAny>>) -> Watched {
        let looked = Instant::now();
        Watched { policy: String::new(), progress, looked, raised: None, skipped: Vec::new() }
    }

    fn look(&self, py: Python<'_>, told: Progress) -> PyResult<()> {
        py.check_signals()?;
        match &self.progress {
            Some(progress) => progress
                .call1(py, (&self.policy, told.now.as_secs_f64(), told.jobs_ended, told.fraction))
                .map(|_| ()),
            None => Ok(()),
        }
    }
}

impl Watch for Watched {
    fn begins(&mut self, policy: &str) {
        policy.clone_into(&mut self.policy);
    }

    #[expect(clippy::disallowed_methods, reason = "when to look for signals decides nothing")]
    fn goes_on(&mut self, told: Progress) -> ControlFlow<()> {
        if self.looked.elapsed() < LOOK {
            return ControlFlow::Continue(());
        }
        self.looked = Instant::now();
        match Python::attach(|py| self.look(py, told)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    fn skipped(&mut self, _: &str, bad_lines: &[String]) {
        // Each policy reads the same trace: the messages are the same.
        if self.skipped.is_empty() {
            self.skipped = bad_lines.to_vec();
        }
    }
}
