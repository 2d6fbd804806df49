//! `meed bench`: the canonical workloads, a few numbers.
//!
//! Not a test: figures depend on the machine. What to compare is ratios on one machine (docs/performance.md).

use std::path::Path;
use std::time::Instant;

use comfy_table::{CellAlignment, Table};
use meed_sim::scenario::Scenario;
use meed_sim::{Options, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde::Serialize;

use crate::args::BenchArgs;
use crate::exit::Failure;
use crate::output::print;

/// A workload, as a scenario with the number of jobs left open.
struct Workload {
    name: &'static str,
    about: &'static str,
    tenants: usize,
    nodes: usize,
    slots_per_node: usize,
    jobs: usize,
    tasks_per_job: usize,
}

const WORKLOADS: &[Workload] = &[
    Workload {
        name: "4 tenants",
        about: "one-task jobs, 4 tenants on 1 node of 100 slots",
        tenants: 4,
        nodes: 1,
        slots_per_node: 100,
        jobs: 1_000_000,
        tasks_per_job: 1,
    },
    Workload {
        name: "4 tenants, wide jobs",
        about: "jobs of 100 tasks, 4 tenants on 1 node of 100 slots",
        tenants: 4,
        nodes: 1,
        slots_per_node: 100,
        jobs: 10_000,
        tasks_per_job: 100,
    },
    Workload {
        name: "10,000 tenants",
        about: "one-task jobs, 10,000 tenants on 10,000 nodes of 4 slots",
        tenants: 10_000,
        nodes: 10_000,
        slots_per_node: 4,
        jobs: 1_000_000,
        tasks_per_job: 1,
    },
];

#[derive(Serialize)]
struct Figure {
    workload: String,
    policy: String,
    tasks: u64,
    seconds: f64,
    tasks_per_s: f64,
}

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    let mut figures = Vec::new();
    for workload in WORKLOADS {
        let text = workload.scenario(if args.quick { 10 } else { 1 });
        let scenario = Scenario::parse(workload.about, &text, Path::new("."), &[], OnBadLine::Stop)?;
        for policy in ["fair", "long-term"] {
            figures.push(measure(workload.name, &scenario, policy)?);
        }
    }
    if let Some(trace) = &args.trace {
        let started = Instant::now();
        let scenario = Scenario::load_any(trace, &[], OnBadLine::Skip)?;
        let mut figure = measure(&trace.display().to_string(), &scenario, "long-term")?;
        figure.seconds = started.elapsed().as_secs_f64();
        figure.tasks_per_s = figure.tasks as f64 / figure.seconds;
        figures.push(figure);
    }
    if args.json {
        let text = serde_json::to_string_pretty(&figures).expect("figures are plain numbers");
        return print(&(text + "\n"));
    }
    print(&table(&figures))
}

impl Workload {
    /// Load of 95 %: queues form and empty, and every key moves.
    fn scenario(&self, shrink: usize) -> String {
        let slots = (self.nodes * self.slots_per_node) as f64;
        let jobs = self.jobs / shrink / self.tenants;
        let mean_s = 10.0;
        let gap_s = mean_s * self.tasks_per_job as f64 * self.tenants as f64 / (0.95 * slots);
        let mut text = format!(
            "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncount = {}\ncapacity = {{ slot = {} }}\n[policy]\nquantum = 10\n",
            self.nodes, self.slots_per_node
        );
        for tenant in 0..self.tenants {
            text += &format!(
                "[[queue]]\nname = \"t{tenant}\"\nweight = {}\n[[generator]]\nqueue = \"t{tenant}\"\njobs = {}\n\
                 arrivals = {{ poisson = \"{gap_s:.3}s\" }}\ntasks = {}\nduration = {{ exponential = {mean_s} }}\n\
                 per = \"job\"\ndemand = {{ slot = 1 }}\n",
                1 + tenant % 3,
                jobs.max(1),
                self.tasks_per_job
            );
        }
        text
    }
}

fn measure(workload: &str, scenario: &Scenario, policy: &str) -> Result<Figure, Failure> {
    let options = Options { policies: vec![policy.to_owned()], ..Options::default() };
    let started = Instant::now();
    let comparison = simulate(scenario, &options, None, &mut Unwatched)?;
    let seconds = started.elapsed().as_secs_f64();
    let tasks = comparison.runs[0].queues.iter().map(|queue| queue.tasks).sum();
    Ok(Figure {
        workload: workload.to_owned(),
        policy: policy.to_owned(),
        tasks,
        seconds,
        tasks_per_s: tasks as f64 / seconds,
    })
}

fn table(figures: &[Figure]) -> String {
    let mut table = Table::new();
    table.set_header(["workload", "policy", "tasks", "seconds", "task lifetimes a second"]);
    for figure in figures {
        table.add_row([
            figure.workload.clone(),
            figure.policy.clone(),
            figure.tasks.to_string(),
            format!("{:.3}", figure.seconds),
            format!("{:.0}", figure.tasks_per_s),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{table}\n")
}
