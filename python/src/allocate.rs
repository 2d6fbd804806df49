//! The exact allocation on numpy's arrays (docs/allocate.md).
//!
//! Arrays are copied into the solver's rows before Python's lock is let go; results become arrays
//! without a copy. Every result is checked as the program checks it.

use meed_config::policy::unknown_word;
use meed_level::document::{Format, read, to_json};
use meed_level::limits::SLOTS_PER_SERVER;
use meed_level::verify::{Verified, verify};
use meed_level::{Allocation, AllocationPolicy, POLICIES, Problem, Server, User, UserLedgers};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error::{input, of_problem, run};

/// A pool, shared.
#[pyclass(frozen, name = "Allocation", module = "meed._native")]
pub(crate) struct PyAllocation {
    problem: Problem,
    policy: AllocationPolicy,
    allocation: Allocation,
    verified: Verified,
}

type Given<'py> = Option<PyReadonlyArray1<'py, f64>>;

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them named, and with defaults, in Python")]
#[pyo3(signature = (
    capacity, demand, policy, counts, weights, tasks, used, credits, commitment, paid, received,
    worth, resources, users, slots_per_server
))]
pub(crate) fn allocate(
    py: Python<'_>,
    capacity: PyReadonlyArray2<'_, f64>,
    demand: PyReadonlyArray2<'_, f64>,
    policy: &str,
    counts: Given<'_>,
    weights: Given<'_>,
    tasks: Given<'_>,
    used: Given<'_>,
    credits: Given<'_>,
    commitment: Given<'_>,
    paid: Given<'_>,
    received: Given<'_>,
    worth: f64,
    resources: Option<Vec<String>>,
    users: Option<Vec<String>>,
    slots_per_server: Option<f64>,
) -> PyResult<PyAllocation> {
    let (capacity, demand) = (capacity.as_array(), demand.as_array());
    let (servers, kinds) = capacity.dim();
    let people = demand.nrows();
    if demand.ncols() != kinds {
        return Err(input(format!(
            "demand has {} columns and capacity {kinds}; both have one for each resource",
            demand.ncols()
        )));
    }
    let counts = column("counts", counts, servers, 1.0)?;
    let weights = column("weights", weights, people, 1.0)?;
    let tasks = column("tasks", tasks, people, f64::INFINITY)?;
    let used = column("used", used, people, 0.0)?;
    let credits = column("credits", credits, people, 0.0)?;
    let commitment = column("commitment", commitment, people, 0.0)?;
    let paid = column("paid", paid, people, 0.0)?;
    let received = column("received", received, people, 0.0)?;
    let resources = names("resources", resources, kinds)?;
    let users = names("users", users, people)?;
    let server = |(row, count): (_, f64)| Server { count, capacity: row_of(row) };
    let user = |(number, name): (usize, String)| User {
        name,
        demand: row_of(demand.row(number)),
        weight: weights[number],
        // No end of tasks.
        tasks: Some(tasks[number]).filter(|tasks| *tasks != f64::INFINITY),
        used: used[number],
        ledgers: UserLedgers {
            credits: credits[number],
            commitment: commitment[number],
            paid: paid[number],
            received: received[number],
        },
    };
    let problem = Problem {
        resources,
        servers: capacity.rows().into_iter().zip(counts).map(server).collect(),
        users: users.into_iter().enumerate().map(user).collect(),
        slots_per_server: slots_per_server.unwrap_or(SLOTS_PER_SERVER),
        worth,
    };
    solve(py, problem, policy)
}

/// The problem that a text is: the JSON or TOML of `meed allocate`.
#[pyfunction]
pub(crate) fn allocate_document(
    py: Python<'_>,
    text: &str,
    policy: &str,
    slots_per_server: Option<f64>,
) -> PyResult<PyAllocation> {
    let read = || read(text, Format::of("", text));
    let mut problem = py.detach(read).map_err(|why| input(why.to_string().trim_start()))?;
    problem.slots_per_server = slots_per_server.unwrap_or(problem.slots_per_server);
    solve(py, problem, policy)
}

fn row_of(row: numpy::ndarray::ArrayView1<'_, f64>) -> Vec<f64> {
    row.to_vec()
}

fn column(name: &str, given: Given<'_>, rows: usize, otherwise: f64) -> PyResult<Vec<f64>> {
    let Some(given) = given else { return Ok(vec![otherwise; rows]) };
    let values = given.as_array().to_vec();
    match values.len() == rows {
        true => Ok(values),
        false => Err(input(format!("{name} has {} values for {rows} rows", values.len()))),
    }
}

fn names(what: &str, given: Option<Vec<String>>, count: usize) -> PyResult<Vec<String>> {
    let names = given.unwrap_or_else(|| (0..count).map(|number| number.to_string()).collect());
    match names.len() == count {
        true => Ok(names),
        false => Err(input(format!("{what} has {} names for {count}", names.len()))),
    }
}

fn solve(py: Python<'_>, problem: Problem, policy: &str) -> PyResult<PyAllocation> {
    let known = AllocationPolicy::of_name(policy).ok_or_else(|| {
        input(unknown_word("policy", policy, POLICIES.iter().map(|(name, _)| *name)))
    })?;
    let solve = || {
        let allocation = meed_level::allocate(&problem, known)?;
        let verified = verify(&problem, known, &allocation);
        Ok((allocation, verified))
    };
    let (allocation, verified) = py.detach(solve).map_err(|why| of_problem(&why))?;
    let verified = verified.map_err(|why| {
        run(format!(
            "the result did not pass its own check ({why}); please report this with the input"
        ))
    })?;
    Ok(PyAllocation { problem, policy: known, allocation, verified })
}

#[pymethods]
impl PyAllocation {
    #[getter]
    fn policy(&self) -> &str {
        self.policy.name()
    }

    #[getter]
    fn level(&self) -> Option<f64> {
        self.allocation.level
    }

    #[getter]
    fn users(&self) -> Vec<&str> {
        self.problem.users.iter().map(|user| user.name.as_str()).collect()
    }

    #[getter]
    fn resources(&self) -> Vec<&str> {
        self.problem.resources.iter().map(String::as_str).collect()
    }

    #[getter]
    fn remarks(&self) -> Vec<&str> {
        self.allocation.remarks.iter().map(String::as_str).collect()
    }

    /// Tasks of each user.
    fn tasks<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let tasks = self.allocation.users.iter().map(|user| user.tasks);
        PyArray1::from_vec(py, tasks.collect())
    }

    /// Dominant share of each user.
    fn dominant_share<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let shares = self.allocation.users.iter().map(|user| user.dominant_share);
        PyArray1::from_vec(py, shares.collect())
    }

    /// Who is served where: server, user, tasks.
    #[expect(clippy::type_complexity, reason = "three columns")]
    fn served<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>) {
        let all = || {
            let servers = self.allocation.servers.iter().enumerate();
            servers.flat_map(|(server, served)| served.iter().map(move |one| (server, one)))
        };
        let servers = all().map(|(server, _)| server as i64).collect();
        let users = all().map(|(_, (user, _))| *user as i64).collect();
        let tasks = all().map(|(_, (_, tasks))| *tasks).collect();
        (
            PyArray1::from_vec(py, servers),
            PyArray1::from_vec(py, users),
            PyArray1::from_vec(py, tasks),
        )
    }

    /// How many servers the result has: one for all where the policy knows none.
    #[getter]
    fn servers(&self) -> usize {
        self.allocation.servers.len()
    }

    /// How far the result may be from the optimum: overuse, unsold, short, rise.
    #[getter]
    fn checked(&self) -> (f64, f64, f64, f64) {
        let Verified { overuse, unsold, short, rise } = self.verified;
        (overuse, unsold, short, rise)
    }

    /// What `meed allocate --json -` prints.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| to_json(&self.problem, self.policy, &self.allocation))
    }
}
