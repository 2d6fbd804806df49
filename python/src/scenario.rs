//! Scenarios: from a file, from a trace, from a dict, and with jobs from columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use meed_scenario::{GivenJobs, LoadError, Scenario, Setting};
use meed_workload::OnBadLine;
use pyo3::prelude::*;

use crate::error::{input, of_load};
use crate::jobs::PyJobs;
use crate::value;

/// A scenario, checked.
#[pyclass(frozen, name = "Scenario", module = "meed._native")]
pub(crate) struct PyScenario {
    pub(crate) scenario: Arc<Scenario>,
    /// Where it was read.
    pub(crate) file: Option<PathBuf>,
}

#[pymethods]
impl PyScenario {
    /// A file: a scenario or a trace.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        sets: Vec<String>,
        jobs: Option<PyRef<'_, PyJobs>>,
        strict: bool,
    ) -> PyResult<PyScenario> {
        let given = jobs.map(|jobs| jobs.given());
        if given.is_some() && !sets.is_empty() {
            return Err(input(
                "sets change the text of a file; beside jobs, change a dict instead",
            ));
        }
        let read = || match given {
            None => {
                let settings = Setting::parse_all(&sets)?;
                Scenario::load_any(&path, &settings, OnBadLine::of(strict))
            }
            Some(jobs) => with_jobs(&path, jobs, OnBadLine::of(strict)),
        };
        let scenario = py.detach(read).map_err(|why| of_load(&why))?;
        Ok(PyScenario { scenario: Arc::new(scenario), file: Some(path) })
    }

    /// Data in the shape of a scenario file.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        name: &str,
        folder: PathBuf,
        jobs: Option<PyRef<'_, PyJobs>>,
        strict: bool,
    ) -> PyResult<PyScenario> {
        let data = value::read(name, data)?;
        let given = jobs.map(|jobs| jobs.given());
        let read = || of_data(name, &data, given, &folder, OnBadLine::of(strict));
        let scenario = py.detach(read).map_err(|why| of_load(&why))?;
        Ok(PyScenario { scenario: Arc::new(scenario), file: None })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.scenario.file
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed
    }

    #[getter]
    fn text(&self) -> &str {
        self.scenario.text()
    }

    #[getter]
    fn queues(&self) -> Vec<&str> {
        self.scenario.queue_names().collect()
    }

    #[getter]
    fn resources(&self) -> Vec<&str> {
        self.scenario.kinds().names().collect()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings.clone()
    }

    /// What is known and assumed of its cluster.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.cluster_notes().to_vec()
    }

    /// Whether the size of its cluster is assumed.
    #[getter]
    fn assumes_size(&self) -> bool {
        self.scenario.assumes_size()
    }

    /// `run.warm_up` and `run.cool_down` of a scenario that runs these jobs alike, in microseconds.
    #[getter]
    fn left_out(&self) -> [u64; 2] {
        self.scenario.left_out().map(meed::Span::as_micros)
    }

    #[getter]
    fn policies(&self) -> Vec<String> {
        self.scenario.default_policies()
    }
}

fn of_data(
    name: &str,
    data: &toml::Value,
    jobs: Option<Arc<dyn GivenJobs>>,
    folder: &Path,
    on_bad_line: OnBadLine,
) -> Result<Scenario, LoadError> {
    match jobs {
        None => Scenario::of_data(name, data, folder, on_bad_line),
        Some(jobs) => Scenario::of_data_with(name, data, jobs, folder, on_bad_line),
    }
}

/// A scenario file without jobs, and jobs.
fn with_jobs(
    path: &Path,
    jobs: Arc<dyn GivenJobs>,
    on_bad_line: OnBadLine,
) -> Result<Scenario, LoadError> {
    let file = path.display().to_string();
    let place = meed_config::Place { file: &file, text: "" };
    let text = std::fs::read_to_string(path).map_err(|why| meed_scenario::ScenarioError {
        unreadable: true,
        ..place.whole(format!("cannot be read: {why}"))
    })?;
    let place = meed_config::Place { file: &file, text: &text };
    let data: toml::Value = toml::from_str(&text).map_err(|why| place.toml(&why.into()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    of_data(&file, &data, Some(jobs), folder, on_bad_line)
}
