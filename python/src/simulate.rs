//! Runs, without Python's lock; signals are looked for while they go on.

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use meed::{Rank, Span};
use meed_experiments::order::NamedOrder;
use meed_files::{Guard, GuardError, Output};
use meed_sim::asked::{Advisor, Asker, Picture};
use meed_sim::world::{Progress, RunError};
use meed_sim::{Overtaking, SimulateError, SimulateOptions, Watch, simulate_attended};
use pyo3::prelude::*;

use crate::asked::{Answer, Seen};
use crate::attended::LOOK;
use crate::error::{file, input, of_failure, of_simulate};
use crate::results::PyResults;
use crate::scenario::PyScenario;

/// A policy of Python's: what is called, and how often in microseconds (at each instant without).
type Asked = Option<(Py<PyAny>, Option<u64>)>;

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
#[pyo3(signature = (
    scenario, policies, names, asked, baseline, seed, series, strict, keep_jobs, overtaken,
    progress, log
))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: PyRef<'_, PyScenario>,
    policies: Vec<String>,
    names: Vec<String>,
    asked: Vec<Asked>,
    baseline: Option<String>,
    seed: Option<u64>,
    series: usize,
    strict: bool,
    keep_jobs: bool,
    overtaken: bool,
    progress: Option<Py<PyAny>>,
    log: Option<PathBuf>,
) -> PyResult<PyResults> {
    let options = SimulateOptions { policies, seed, series_points: series, strict, keep_jobs };
    let overtaking = if overtaken { Overtaking::Told } else { Overtaking::Nothing };
    let inputs = scenario.scenario.input_files().iter().chain(&scenario.file);
    let mut log = log.as_deref().map(|path| Log::create(path, inputs)).transpose()?;
    let mut watch = Watched::new(progress, names.clone());
    let scenario = &scenario.scenario;
    let baseline = baseline.map(|words| NamedOrder::find("baseline:", &words, None, scenario));
    let baseline = baseline.transpose().map_err(|why| of_failure(why.into()))?;
    let raised = Mutex::new(None);
    let ran = py.detach(|| {
        let asker = |(ask, every): (Py<PyAny>, Option<u64>)| {
            let caller = Caller { ask, is_first: true, raised: &raised };
            Asker::new(every.and_then(Span::from_micros), Box::new(caller))
        };
        let mut askers: Vec<_> = asked.into_iter().map(|one| one.map(asker)).collect();
        let attendants = askers.iter_mut().map(|one| one.as_mut().map(|one| one as _)).collect();
        let log = log.as_mut().map(Log::writer);
        let mut comparison =
            simulate_attended(scenario, &options, overtaking, attendants, log, &mut watch)?;
        comparison.is_usual = names == scenario.default_policies();
        for (run, name) in comparison.runs.iter_mut().zip(names) {
            run.policy = name;
        }
        if let Some(order) = &baseline {
            // Its records would be those of ranks that were told, and no policy's.
            let ran = order.compare(scenario, &options, overtaking, &mut watch)?;
            comparison.compare_with(ran);
        }
        Ok(comparison)
    });
    let raised = raised.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ran {
        Ok(comparison) => {
            log.map_or(Ok(()), Log::finish)?;
            Ok(PyResults::new(comparison, watch.skipped, keep_jobs))
        }
        // What stopped it says more than that it was stopped.
        Err(SimulateError::Run(RunError::Stopped { .. })) if raised.is_some() => {
            Err(raised.unwrap_or_else(|| unreachable!("it has just been looked at")))
        }
        Err(SimulateError::Run(RunError::Stopped { .. })) if watch.raised.is_some() => {
            Err(watch.raised.unwrap_or_else(|| unreachable!("it has just been looked at")))
        }
        Err(why) => Err(of_simulate(&why)),
    }
}

/// Where a log goes: a file that appears whole or not at all.
pub(crate) struct Log(BufWriter<Output>);

impl Log {
    /// Not over what is read.
    pub(crate) fn create<'a>(
        path: &Path,
        inputs: impl IntoIterator<Item = &'a PathBuf>,
    ) -> PyResult<Log> {
        let mut guard = Guard::new();
        // What is in memory is no file that could be written.
        let is_there = |path: &&PathBuf| path.exists();
        let told =
            inputs.into_iter().filter(is_there).try_for_each(|path| guard.reads("input", path));
        let told = told.and_then(|()| guard.writes("log", path));
        let output = told.and_then(|()| guard.create(path)).map_err(|why| match why {
            GuardError::Input { .. } => input(why.to_string()),
            why => file(why.to_string()),
        })?;
        Ok(Log(BufWriter::with_capacity(1 << 16, output)))
    }

    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.0
    }

    pub(crate) fn finish(self) -> PyResult<()> {
        let output = self.0.into_inner().map_err(|why| file(why.to_string()))?;
        output.finish().map_err(|why| file(why.to_string()))
    }
}

/// Calls what is Python's at each tick.
struct Caller<'r> {
    ask: Py<PyAny>,
    is_first: bool,
    raised: &'r Mutex<Option<PyErr>>,
}

impl Caller<'_> {
    fn call(&self, py: Python<'_>, seen: &Seen) -> PyResult<Answer> {
        Answer::of(self.ask.bind(py).call1((seen.told(py)?,))?.as_any())
    }
}

impl Advisor for Caller<'_> {
    fn advise(&mut self, seen: &Picture<'_>, ranks: &mut [Rank]) -> ControlFlow<()> {
        let told = Seen::of(seen, std::mem::take(&mut self.is_first));
        let answer = Python::attach(|py| self.call(py, &told));
        let told = answer.and_then(|answer| answer.tell(seen, ranks).map_err(input));
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(raised) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
                ControlFlow::Break(())
            }
        }
    }
}

/// Looks for signals, and tells how far a run is.
pub(crate) struct Watched {
    /// Of the runs that have not begun, as people call their policies; the last begins next.
    names: Vec<String>,
    policy: String,
    progress: Option<Py<PyAny>>,
    looked: Instant,
    pub(crate) raised: Option<PyErr>,
    pub(crate) skipped: Vec<String>,
}

impl Watched {
    #[expect(clippy::disallowed_methods, reason = "when to look for signals decides nothing")]
    pub(crate) fn new(progress: Option<Py<PyAny>>, mut names: Vec<String>) -> Watched {
        names.reverse();
        let (policy, looked) = (String::new(), Instant::now());
        Watched { names, policy, progress, looked, raised: None, skipped: Vec::new() }
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
        self.policy = self.names.pop().unwrap_or_else(|| policy.to_owned());
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
