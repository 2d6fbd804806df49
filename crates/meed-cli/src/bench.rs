//! `meed bench`: the canonical workloads, a few numbers.
//!
//! What is timed is engine and simulator: each workload is made in memory before the clock starts.
//! Not a test: figures depend on the machine; what to compare is ratios on one machine
//! (docs/performance.md).

#![expect(clippy::disallowed_methods, reason = "a measurement reads a clock")]

use std::path::Path;
use std::time::Instant;

use comfy_table::{CellAlignment, Table};
use meed::place::{PLACEMENTS, Placement};
use meed::policy::Preset;
use meed::{
    Config, NodeSpec, Policy, Quantum, QueueSpec, ResourceKinds, Resources, Span, Time, Unit,
};
use meed_scenario::Scenario;
use meed_sim::world::{Failures, StopAt, WorldSetup};
use meed_sim::{SimulateOptions, Unwatched, run_one, simulate};
use meed_workload::generate::Stream;
use meed_workload::google::PUBLISHED_MACHINES;
use meed_workload::inline::Inline;
use meed_workload::{Durations, Job, JobGroup, JobLabel, OnBadLine};
use serde::Serialize;

use crate::args::BenchArgs;
use crate::bench_csv;
use crate::bench_mapreduce::{self, BenchRequest};
use crate::exit::Failure;
use crate::output::{print, print_data};

/// One workload, near saturation: queues form and empty, and every key moves.
struct Workload {
    name: &'static str,
    tenants: usize,
    nodes: usize,
    slots_per_node: u64,
    tasks: usize,
    tasks_per_job: usize,
    /// Two resources, nodes of the published mix of a Google cell, and tasks of 400 shapes; else
    /// slots.
    unequal: bool,
    policies: &'static [&'static str],
}

const WORKLOADS: &[Workload] = &[
    Workload {
        name: "4 tenants, 1 node, jobs of 1 task",
        tenants: 4,
        nodes: 1,
        slots_per_node: 100,
        tasks: 1_000_000,
        tasks_per_job: 1,
        unequal: false,
        policies: &["fair", "long-term"],
    },
    Workload {
        name: "4 tenants, 1 node, jobs of 100 tasks",
        tenants: 4,
        nodes: 1,
        slots_per_node: 100,
        tasks: 1_000_000,
        tasks_per_job: 100,
        unequal: false,
        policies: &["fair", "long-term"],
    },
    Workload {
        name: "10,000 tenants, 10,000 nodes, jobs of 1 task",
        tenants: 10_000,
        nodes: 10_000,
        slots_per_node: 4,
        tasks: 1_000_000,
        tasks_per_job: 1,
        unequal: false,
        policies: &["fair", "long-term"],
    },
    Workload {
        name: "10,000 tenants, 10,000 nodes, jobs of 10 tasks",
        tenants: 10_000,
        nodes: 10_000,
        slots_per_node: 4,
        tasks: 1_000_000,
        tasks_per_job: 10,
        unequal: false,
        policies: &["fair", "long-term"],
    },
    Workload {
        name: "10,000 tenants, 10,000 nodes, jobs of 100 tasks",
        tenants: 10_000,
        nodes: 10_000,
        slots_per_node: 4,
        tasks: 1_000_000,
        tasks_per_job: 100,
        unequal: false,
        policies: &["fair", "long-term"],
    },
    Workload {
        name: "10,000 tenants, 100,000 unequal nodes, jobs of 10 tasks",
        tenants: 10_000,
        nodes: 100_000,
        slots_per_node: 0,
        tasks: 3_000_000,
        tasks_per_job: 10,
        unequal: true,
        policies: &["drf", "drfh", "long-term-drf"],
    },
];

/// Offered load.
const LOAD: f64 = 0.98;
const MEAN_TASK_S: f64 = 10.0;

#[derive(Serialize)]
struct Figure {
    workload: String,
    policy: String,
    tasks: u64,
    seconds: f64,
    tasks_per_s: f64,
}

impl Figure {
    fn new(workload: &str, policy: &str, tasks: u64, seconds: f64) -> Figure {
        let (workload, policy) = (workload.to_owned(), policy.to_owned());
        Figure { workload, policy, tasks, seconds, tasks_per_s: tasks as f64 / seconds }
    }
}

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    // First: a trace that cannot be read is told at once, not after minutes.
    let traced = args.trace.as_ref().map(|trace| measure_trace(trace)).transpose()?;
    let mut figures = Vec::new();
    for workload in WORKLOADS {
        for &policy in workload.policies {
            let line = format!("{}, {policy}", workload.name);
            if args.only.as_ref().is_none_or(|text| line.contains(text)) {
                figures.push(workload.measure(policy, if args.quick { 10 } else { 1 })?);
            }
        }
    }
    for request in bench_mapreduce::REQUESTS {
        for policy in bench_mapreduce::POLICIES {
            let line = format!("{}, {policy}", request.name);
            if args.only.as_ref().is_none_or(|text| line.contains(text)) {
                figures.push(measure_request(request, policy, if args.quick { 10 } else { 1 })?);
            }
        }
    }
    let csv = format!("{}, {}", bench_csv::NAME, bench_csv::WHAT);
    if args.only.as_ref().is_none_or(|text| csv.contains(text)) {
        let (rows, seconds) = bench_csv::measure(if args.quick { 10 } else { 1 })?;
        figures.push(Figure::new(bench_csv::NAME, bench_csv::WHAT, rows, seconds));
    }
    if let (Some(text), true) = (&args.only, figures.is_empty()) {
        return Err(Failure::Usage(format!(
            "--only {text}: no line of a workload and its policy holds this; `meed bench --quick` \
             shows all lines"
        )));
    }
    figures.extend(traced);
    if args.json {
        let text = serde_json::to_string_pretty(&figures).expect("figures are plain numbers");
        return print_data(&(text + "\n"));
    }
    print(&table(&figures))
}

/// The placement that goes with a preset.
fn placement_of(policy: &str) -> fn(usize, u64) -> Box<dyn Placement> {
    let usual = Preset::find(policy).map_or("first-fit", |preset| preset.placement);
    PLACEMENTS
        .iter()
        .find(|row| row.name == usual)
        .expect("presets name placements that there are")
        .new
}

impl Workload {
    fn measure(&self, policy: &str, shrink: usize) -> Result<Figure, Failure> {
        let setup = WorldSetup {
            config: self.config(policy),
            placement: placement_of(policy),
            partitioned: false,
            source: Box::new(self.jobs(shrink)?),
            changes: Vec::new(),
            stop: StopAt::END,
            failures: Failures::default(),
            max_attempts: 0,
            checkpoint: None,
            delays: Default::default(),
            infeasible: Default::default(),
            counted: Default::default(),
            strict: true,
            series_points: 0,
            keep_jobs: false,
            looks: Default::default(),
            attendant: None,
            accounts: None,
            log: meed_sim::log::Log::off(),
        };
        let started = Instant::now();
        let record = run_one(policy, setup, &mut Unwatched)?;
        Ok(Figure::new(self.name, policy, record.decisions, started.elapsed().as_secs_f64()))
    }

    fn config(&self, policy: &str) -> Config {
        let mut root = Policy::preset(policy).expect("a preset's name");
        root.quantum = Quantum::Fixed(Span::from_secs_f64(MEAN_TASK_S).expect("in range"));
        let mut leaf = Policy::preset("fifo").expect("a preset's name");
        leaf.quantum = root.quantum;
        let names = if self.unequal { &["cpu", "memory"][..] } else { &["slot"] };
        let kinds = names.iter().map(|&name| (name.to_owned(), Unit::Milli)).collect();
        let kinds = ResourceKinds::new(kinds).expect("named kinds");
        let capacities = self.capacities();
        let queue = |tenant: usize| QueueSpec {
            name: format!("t{tenant}"),
            weight: 1000 * (1 + tenant as u64 % 3),
            min: None,
            max: None,
            policy: leaf.clone(),
        };
        let node = |node: usize| NodeSpec::new(format!("n{node}"), capacities[node]);
        Config {
            kinds,
            measured: 0,
            queues: (0..self.tenants).map(queue).collect(),
            nodes: (0..self.nodes).map(node).collect(),
            root,
        }
    }

    fn capacities(&self) -> Vec<Resources> {
        if !self.unequal {
            return vec![Resources::new(&[1000 * self.slots_per_node]); self.nodes];
        }
        let mut random = Stream::new(1, "servers");
        let weights = PUBLISHED_MACHINES.map(|class| class.count);
        // In thousandths of the largest.
        let mut server =
            || PUBLISHED_MACHINES[random.weighted(&weights)].share.map(|part| 10 * part);
        (0..self.nodes).map(|_| Resources::new(&server())).collect()
    }

    /// What the tasks of a job hold, in twenty steps of each kind, half of the smallest common
    /// server at most.
    fn demand(&self, random: &mut Stream) -> Resources {
        match self.unequal {
            false => Resources::new(&[1000]),
            true => Resources::new(&[10 + 10 * random.below(20), 6 + 6 * random.below(20)]),
        }
    }

    /// A Poisson stream of jobs over all tenants, exponential task times.
    fn jobs(&self, shrink: usize) -> Result<Inline, Failure> {
        let mut random = Stream::new(1, self.name);
        let capacity: f64 = self.capacities().iter().map(|capacity| capacity.get(0) as f64).sum();
        let mean_demand = if self.unequal { 105.0 } else { 1000.0 };
        let mean_gap_s = MEAN_TASK_S * self.tasks_per_job as f64 * mean_demand / (LOAD * capacity);
        let mut submit = Time::ZERO;
        let mut jobs = Vec::new();
        for number in 0..self.tasks / self.tasks_per_job / shrink {
            let seconds =
                |mean: f64, random: &mut Stream| Span::from_secs_f64(mean * random.exponential());
            submit = submit.saturating_add(seconds(mean_gap_s, &mut random).unwrap_or(Span::ZERO));
            jobs.push(Job {
                label: JobLabel::Number(number as u64),
                queue: random.below(self.tenants as u64) as u32,
                submit,
                weight: 1,
                chain: None,
                groups: vec![JobGroup::new(
                    self.tasks_per_job as u32,
                    self.demand(&mut random),
                    Durations::Same(seconds(MEAN_TASK_S, &mut random).unwrap_or(Span::ZERO)),
                )],
            });
        }
        let queues = (0..self.tenants).map(|tenant| format!("t{tenant}")).collect();
        Ok(Inline::new(queues, jobs, if self.unequal { 2 } else { 1 })?)
    }
}

/// The MapReduce world: blocks are placed while the clock runs.
fn measure_request(request: &BenchRequest, policy: &str, shrink: u32) -> Result<Figure, Failure> {
    let setup = request.setup(policy, shrink)?;
    let started = Instant::now();
    let tasks = BenchRequest::run(policy, setup)?;
    Ok(Figure::new(request.name, policy, tasks, started.elapsed().as_secs_f64()))
}

/// A trace under long-term fairness, read and simulated.
fn measure_trace(trace: &Path) -> Result<Figure, Failure> {
    let started = Instant::now();
    let scenario = Scenario::load_any(trace, &[], OnBadLine::Skip)?;
    let options =
        SimulateOptions { policies: vec!["long-term".to_owned()], ..SimulateOptions::default() };
    let comparison = simulate(&scenario, &options, None, &mut Unwatched)?;
    let seconds = started.elapsed().as_secs_f64();
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    Ok(Figure::new(&name, "long-term", comparison.runs[0].decisions, seconds))
}

fn table(figures: &[Figure]) -> String {
    let mut table = Table::new();
    table.set_header(["workload", "policy", "tasks", "seconds", "task lifetimes or rows a second"]);
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
