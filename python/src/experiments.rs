//! Many runs, compared: `advise`, `sweep`, `rivals` of `meed-experiments`, and the search of
//! `audit`.
//!
//! Each asks for files, which may be in memory ([`crate::memory`]), as the program does. Each
//! answer is a page and JSON, made once and kept.

use std::path::PathBuf;

use meed_cli::cluster::ClusterArgs;
use meed_cli::exit::Failure;
use meed_cli::site;
use meed_cli::weights::WeightArgs;
use meed_experiments::advise::aims::thousandths;
use meed_experiments::advise::{self as advice, AdviceRequest, Aims, Baseline, Question};
use meed_experiments::rivals::table::span;
use meed_experiments::rivals::{self as contests, Contest, RivalsRequest};
use meed_experiments::sweep::{self as sweeps, Grid, SweepRequest};
use meed_papers::audit::{
    AuditOptions, DEFAULT_POLICIES, PROPERTIES, Property, Tasks, all_orders, audit as search, page,
    summary_page, write_counterexamples,
};
use meed_report::TableOptions;
use meed_report::page::{Page, to_html, to_text};
use meed_scenario::{Scenario, Setting};
use meed_workload::OnBadLine;
use pyo3::prelude::*;

use crate::attended::attended;
use crate::error::{of_failure, usage};

/// What came out of many runs.
#[pyclass(frozen, name = "Answer", module = "meed._native")]
pub(crate) struct PyAnswer {
    json: String,
    short: Page,
    whole: Page,
    remarks: Vec<String>,
}

#[pymethods]
impl PyAnswer {
    /// What `--json` of the command prints.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// What the command prints.
    fn text(&self, py: Python<'_>, width: usize) -> String {
        py.detach(|| to_text(&self.short, &TableOptions { width, color: false }))
    }

    /// What `--report` of the command writes.
    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| to_html(&self.whole))
    }

    /// What the command would remark.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}

/// The changes of the scenario at `input` that the files of a cluster and of weights make, before
/// those of `sets`; and what is to be said of them.
#[pyfunction]
pub(crate) fn changes(
    py: Python<'_>,
    input: PathBuf,
    sets: Vec<String>,
    cluster: Option<PathBuf>,
    weights: Option<PathBuf>,
    strict: bool,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let change = || {
        let mut remarks = Vec::new();
        let say = &mut |words: &str| remarks.push(words.to_owned());
        let files = (&ClusterArgs { cluster }, &WeightArgs { weights });
        let settings = Setting::parse_all(&sets)?;
        let settings = site::before(&input, files, settings, &OnBadLine::of(strict).into(), say)?;
        let sets = settings.iter().map(|setting| setting.words().to_owned()).collect();
        Ok((sets, remarks))
    };
    py.detach(change).map_err(|why: Failure| of_failure(why))
}

/// Loads in thousandths.
fn thousandths_of(loads: &[String]) -> PyResult<Vec<u32>> {
    let load = |load: &String| thousandths(load).map_err(|why| usage(format!("loads: {why}")));
    loads.iter().map(load).collect()
}

/// What the first of these takes for granted, as remarks and as notes.
fn taken(scenario: &Scenario, seed: u64, strict: bool) -> Result<[Vec<String>; 2], Failure> {
    let notes = scenario.source(seed, OnBadLine::of(strict))?.assumptions();
    Ok([scenario.warnings.clone(), notes])
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
pub(crate) fn advise(
    py: Python<'_>,
    log: PathBuf,
    sets: Vec<String>,
    policies: Vec<String>,
    baseline: Option<String>,
    cluster: Option<PathBuf>,
    weights: Option<PathBuf>,
    aim: Option<String>,
    at_most: Vec<String>,
    loads: Vec<String>,
    seeds: u64,
    strict: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let aims = Aims::read(aim.as_deref(), &at_most).map_err(usage)?;
    let loads = thousandths_of(&loads)?;
    let work = move |done: &(dyn Fn(usize, usize) + Sync)| {
        let baseline = match baseline {
            Some(words) => Some(Baseline::asked(&words)),
            None => ClusterArgs { cluster }.baseline()?,
        };
        let settings = Setting::parse_all(&sets)?;
        let reading = OnBadLine::of(strict).into();
        let request =
            AdviceRequest { log, settings, baseline, policies, loads, seeds, aims, reading };
        let mut question = Question::prepare(&request)?;
        question.ranked_by_slurm(WeightArgs { weights }.standings(&question.scenarios[0])?)?;
        let [remarks, notes] = taken(&question.scenarios[0], question.seeds[0], strict)?;
        let count = question.count();
        let answer = question.answer(threads, &|now| done(now, count))?;
        Ok(PyAnswer {
            json: advice::page::to_json(&question, &answer, &notes),
            short: advice::page::page(&question, &answer, false, &notes),
            whole: advice::page::page(&question, &answer, true, &notes),
            remarks,
        })
    };
    attended(py, progress, work)?.map_err(|why: Failure| of_failure(why))
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
pub(crate) fn rivals(
    py: Python<'_>,
    log: PathBuf,
    sets: Vec<String>,
    orders: Vec<String>,
    baseline: Option<String>,
    cadence: Option<String>,
    loads: Vec<String>,
    seeds: u64,
    liars: usize,
    strict: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let cadence = cadence.as_deref().map(span).transpose();
    let cadence = cadence.map_err(|why| usage(format!("cadence: {why}")))?;
    let loads = thousandths_of(&loads)?;
    let work = move |done: &(dyn Fn(usize, usize) + Sync)| {
        let settings = Setting::parse_all(&sets)?;
        let reading = OnBadLine::of(strict).into();
        let request = RivalsRequest {
            log,
            settings,
            orders,
            baseline,
            loads,
            seeds,
            cadence,
            liars,
            reading,
        };
        let contest = Contest::prepare(&request)?;
        let [remarks, notes] = taken(&contest.scenarios[0], contest.seeds[0], strict)?;
        let count = contest.runs();
        let fared = contest.run(threads, &|now| done(now, count))?;
        Ok(PyAnswer {
            json: contests::page::to_json(&contest, &fared, &notes),
            short: contests::page::page(&contest, &fared, false, &notes),
            whole: contests::page::page(&contest, &fared, true, &notes),
            remarks,
        })
    };
    attended(py, progress, work)?.map_err(|why: Failure| of_failure(why))
}

/// Its answer and what was assumed, which its JSON does not hold.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
pub(crate) fn sweep(
    py: Python<'_>,
    scenario: PathBuf,
    sets: Vec<String>,
    over: Vec<String>,
    policies: Vec<String>,
    baseline: Option<String>,
    seeds: u64,
    first_seed: Option<u64>,
    strict: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(PyAnswer, Vec<String>)> {
    let work = move |done: &(dyn Fn(usize, usize) + Sync)| {
        let settings = Setting::parse_all(&sets)?;
        let request = SweepRequest {
            scenario,
            settings,
            over,
            policies,
            baseline,
            seeds,
            first_seed,
            reading: OnBadLine::of(strict).into(),
        };
        let grid = Grid::prepare(&request)?;
        let [remarks, notes] = taken(&grid.scenarios[0], grid.seeds[0], strict)?;
        let count = grid.points.len();
        let results = sweeps::run(&grid, None, threads, &|now| done(now, count))?;
        let answer = PyAnswer {
            json: results.to_json(&grid),
            short: sweeps::page::terminal(&grid, &results),
            whole: sweeps::page::page(&grid, &results, &notes),
            remarks,
        };
        Ok((answer, notes))
    };
    attended(py, progress, work)?.map_err(|why: Failure| of_failure(why))
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
pub(crate) fn audit(
    py: Python<'_>,
    policies: Vec<String>,
    every_order: bool,
    properties: Vec<String>,
    tasks: Vec<String>,
    trials: u32,
    seed: u64,
    out: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyAnswer> {
    let policies = match (every_order, policies.is_empty()) {
        (true, _) => all_orders(),
        (false, true) => DEFAULT_POLICIES.map(str::to_owned).to_vec(),
        (false, false) => policies,
    };
    let options = AuditOptions {
        policies,
        properties: properties_of(&properties)?,
        tasks: tasks_of(&tasks)?,
        trials,
        seed,
    };
    let work = move |done: &(dyn Fn(usize, usize) + Sync)| {
        let found = search(&options, done)?;
        if let Some(folder) = &out {
            write_counterexamples(&found, folder, &mut meed_files::Guard::new())?;
        }
        let json = serde_json::to_string(&found).map_err(|why| Failure::Run(why.to_string()))?;
        Ok(PyAnswer {
            json: json + "\n",
            short: summary_page(&found),
            whole: page(&found)?,
            remarks: Vec::new(),
        })
    };
    attended(py, progress, work)?.map_err(|why: Failure| of_failure(why))
}

/// All where none is named, in the order in which they are shown.
fn properties_of(names: &[String]) -> PyResult<Vec<Property>> {
    let known = || PROPERTIES.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let named = |name: &String| {
        Property::named(name)
            .ok_or_else(|| usage(format!("unknown property `{name}`; known are {}", known())))
    };
    let mut properties: Vec<Property> = match names.is_empty() {
        true => PROPERTIES.iter().map(|row| row.property).collect(),
        false => names.iter().map(named).collect::<PyResult<_>>()?,
    };
    properties.sort();
    properties.dedup();
    Ok(properties)
}

fn tasks_of(names: &[String]) -> PyResult<Vec<Tasks>> {
    let named = |name: &String| match name.as_str() {
        "unit" => Ok(Tasks::Unit),
        "whole" => Ok(Tasks::Whole),
        _ => Err(usage(format!("unknown tasks `{name}`; known are unit, whole"))),
    };
    names.iter().map(named).collect()
}
