//! Recorded runs: why one waited (`explain`), and what if (`replay`).

use std::path::PathBuf;

use meed_cli::exit::Failure;
use meed_cli::explain::{Answered, Asked};
use meed_cli::weights::WeightArgs;
use meed_replay::{
    Difference, Recording, ReplayOptions, VerifiedRun, replay as run_again, verified,
};
use meed_scenario::Setting;
use pyo3::prelude::*;

use crate::error::of_failure;
use crate::results::PyResults;
use crate::simulate::{Log, Watched};

/// The answer in words, as JSON, and what is to be said of the log.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    log_file: PathBuf,
    job: Option<String>,
    queue: Option<String>,
    at: Option<String>,
    run: Option<String>,
) -> PyResult<(String, String, Vec<String>)> {
    let look = || {
        let told = Answered::of(&Asked {
            log_file: &log_file,
            job: job.as_deref(),
            queue: queue.as_deref(),
            at: at.as_deref(),
            run: run.as_deref(),
        })?;
        Ok((told.words(), told.json(), told.remarks().to_vec()))
    };
    py.detach(look).map_err(|why: Failure| of_failure(why))
}

/// The recorded run, and others of the same workload; what is to be said of them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
pub(crate) fn replay(
    py: Python<'_>,
    log_file: PathBuf,
    policies: Vec<String>,
    run: Option<String>,
    cluster: Option<PathBuf>,
    sets: Vec<String>,
    weights: Option<PathBuf>,
    series: usize,
    progress: Option<Py<PyAny>>,
    log: Option<PathBuf>,
) -> PyResult<(PyResults, Vec<String>)> {
    let open = || Ok(Recording::open(&log_file, run.as_deref())?);
    let recording = py.detach(open).map_err(|why: Failure| of_failure(why))?;
    let mut remarks = Vec::new();
    let mut say = |words: &str| remarks.push(words.to_owned());
    let names = || recording.queue_names().map(str::to_owned).collect();
    let settings = Setting::parse_all(&sets).map_err(|why| of_failure(why.into()))?;
    let settings = WeightArgs { weights }.before(settings, &mut say, |_| Ok(names()));
    let settings = settings.map_err(of_failure)?;
    let mut out = log.as_deref().map(|path| Log::create(path, [&log_file])).transpose()?;
    let mut watch = Watched::new(progress, policies.clone());
    let options = ReplayOptions { policies, cluster, settings, series_points: series };
    let ran =
        py.detach(|| run_again(&recording, &options, out.as_mut().map(Log::writer), &mut watch));
    match ran {
        Ok(replayed) => {
            out.map_or(Ok(()), Log::finish)?;
            remarks.extend(replayed.remarks);
            Ok((PyResults::new(replayed.comparison, watch.skipped, false), remarks))
        }
        Err(why) => Err(watch.raised.unwrap_or_else(|| of_failure(why.into()))),
    }
}

/// The first line that differs, with what was recorded and what this Meed writes there; what is to
/// be said of the log.
type Verified = (Option<(u64, Option<String>, Option<String>)>, Vec<String>);

/// Whether the recorded policy decides as recorded.
#[pyfunction]
pub(crate) fn verify(
    py: Python<'_>,
    log_file: PathBuf,
    run: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Verified> {
    let mut watch = Watched::new(progress, Vec::new());
    let look = || {
        let recording = Recording::open(&log_file, run.as_deref())?;
        let mut remarks = recording.remarks();
        let differs = match verified(&recording, &mut watch)? {
            VerifiedRun::AsRecorded => None,
            VerifiedRun::PlayedBack(words) => {
                remarks.push(words);
                None
            }
            VerifiedRun::Differs(Difference { line, recorded, replayed }) => {
                Some((line, recorded, replayed))
            }
        };
        Ok((differs, remarks))
    };
    let done = py.detach(look);
    done.map_err(|why: Failure| watch.raised.unwrap_or_else(|| of_failure(why)))
}
