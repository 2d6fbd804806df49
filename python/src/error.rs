//! What goes wrong, as an exception: the program's sentence, and its exit code as `code`
//! (docs/exit-codes.md).

use meed_cli::exit::Failure;
use meed_level::InputError;
use meed_scenario::{LoadError, ScenarioError};
use meed_sim::SimulateError;
use meed_sim::world::RunError;
use meed_workload::TraceError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(meed, Error, PyException, "What is wrong, and what would be right.");

/// What is asked for is wrong.
const USAGE: u8 = 2;
/// The input is wrong.
pub(crate) const INPUT: u8 = 3;
/// A file cannot be read.
const FILE: u8 = 4;
/// The run could not go on.
const RUN: u8 = 5;

fn error(code: u8, sentence: String) -> PyErr {
    let error = Error::new_err(sentence);
    // Where even that cannot be set the sentence still tells.
    let _ = Python::attach(|py| error.value(py).setattr("code", code));
    error
}

/// The input is wrong, in these words.
pub(crate) fn input(sentence: impl Into<String>) -> PyErr {
    error(INPUT, sentence.into())
}

/// What is asked for is wrong, in these words.
pub(crate) fn usage(sentence: impl Into<String>) -> PyErr {
    error(USAGE, sentence.into())
}

/// What the program would have ended with.
pub(crate) fn of_failure(failure: Failure) -> PyErr {
    match failure {
        Failure::CommandLine(sentence) | Failure::Usage(sentence) => usage(sentence),
        Failure::Input(sentence) => input(sentence),
        Failure::File(sentence) => file(sentence),
        Failure::Run(sentence) => run(sentence),
        // Of servers, of which there are none here.
        other => run(format!("{other:?}")),
    }
}

/// A file cannot be written, in these words.
pub(crate) fn file(sentence: impl Into<String>) -> PyErr {
    error(FILE, sentence.into())
}

/// The run could not go on, in these words.
pub(crate) fn run(sentence: impl Into<String>) -> PyErr {
    error(RUN, sentence.into())
}

pub(crate) fn of_scenario(why: &ScenarioError) -> PyErr {
    error(if why.unreadable { FILE } else { INPUT }, why.to_string())
}

pub(crate) fn of_trace(why: &TraceError) -> PyErr {
    error(if why.is_file() { FILE } else { INPUT }, why.to_string())
}

pub(crate) fn of_load(why: &LoadError) -> PyErr {
    match why {
        LoadError::Scenario(why) => of_scenario(why),
        LoadError::Trace(why) => of_trace(why),
    }
}

pub(crate) fn of_simulate(why: &SimulateError) -> PyErr {
    match why {
        SimulateError::Scenario(why) => of_scenario(why),
        SimulateError::Trace(why) => of_trace(why),
        SimulateError::Run(RunError::Trace(why)) => of_trace(why),
        SimulateError::Run(why) => match why {
            RunError::Change { .. } | RunError::Stopped { .. } => error(RUN, why.to_string()),
            RunError::Log(_) => error(FILE, why.to_string()),
            _ => error(INPUT, why.to_string()),
        },
    }
}

pub(crate) fn of_problem(why: &InputError) -> PyErr {
    input(why.to_string())
}
