//! Many tenants under an order policy and a rule of placement: fair over time, and balanced in
//! space?

use meed_report::page::{Block, HeatMap};
use serde_json::json;

use super::beyond::assumptions;
use super::worlds::{Choice, Nodes, Run, World, choice, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const MOST_SEEDS: u64 = 5;

const ORDERS: [&str; 3] = ["fifo", "fair", "long-term"];
const RULES: [&str; 5] = ["hadoop", "delay", "dmr", "jasl", "djasl"];

/// Every order with every rule.
const CHOICES: [Choice; 15] = [
    choice("fifo", "fifo,placement=hadoop"),
    choice("fifo", "fifo,placement=delay"),
    choice("fifo", "fifo,placement=dmr"),
    choice("fifo", "fifo,placement=jasl"),
    choice("fifo", "fifo,placement=djasl"),
    choice("fair", "fair,placement=hadoop"),
    choice("fair", "fair,placement=delay"),
    choice("fair", "fair,placement=dmr"),
    choice("fair", "fair,placement=jasl"),
    choice("fair", "fair,placement=djasl"),
    choice("long-term", "long-term,placement=hadoop"),
    choice("long-term", "long-term,placement=delay"),
    choice("long-term", "long-term,placement=dmr"),
    choice("long-term", "long-term,placement=jasl"),
    choice("long-term", "long-term,placement=djasl"),
];

/// What is read off each run, with its unit.
const READINGS: [(&str, &str); 6] = [
    ("smallest rho of a tenant", ""),
    ("Jain's index over rho", ""),
    ("mean time of a job", "s"),
    ("longest wait of a task", "s"),
    ("locality", "%"),
    ("how unevenly cores are used: deviation over mean of the nodes", ""),
];

/// 24 tenants: three for each job type, each of which submits jobs one after the other, with
/// pauses; two of each three large ones now and then, one small ones often.
pub(super) fn of_tenants(label: &'static str, nodes: Vec<Nodes>) -> World {
    let (mut requests, mut queues) = (Vec::new(), Vec::new());
    let kinds = [
        "pi",
        "wordcount",
        "terasort",
        "grep",
        "inverted-index",
        "radix-sort",
        "self-join",
        "k-means",
    ];
    for (number, kind) in kinds.iter().flat_map(|kind| [kind; 3]).enumerate() {
        let (input, count, pause) = match number % 3 {
            0 => (["1GB", "5GB"], 20, "30s"),
            1 => (["10GB", "40GB"], 6, "2min"),
            _ => (["40GB", "100GB"], 3, "5min"),
        };
        let name = format!("{kind}-{}", ["small", "medium", "large"][number % 3]);
        requests.push(json!({
            "name": name, "queue": name, "kinds": [kind], "input": input, "count": count,
            "pause": pause, "at": 10 * number,
        }));
        queues.push(name);
    }
    World { requests, queues, ..World::new(label, nodes) }
}

/// Nodes of 2, 4 and 8 cores, which `fair` looks at as well.
pub(super) fn unequal_cores(label: &'static str) -> World {
    World { kept: true, ..of_tenants(label, [2, 4, 8].map(Nodes::third).to_vec()) }
}

fn read(run: &Run) -> [f64; READINGS.len()] {
    let record = &run.record;
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let rho = record.queues.iter().filter_map(|queue| queue.rho).fold(f64::INFINITY, f64::min);
    let busy: Vec<f64> = run.world().nodes.iter().map(|node| node.cpu_busy).collect();
    let count = busy.len() as f64;
    let mean = busy.iter().sum::<f64>() / count;
    let variance = busy.iter().map(|busy| (busy - mean) * (busy - mean)).sum::<f64>() / count;
    [
        rho,
        or_nan(record.jain),
        or_nan(record.mean_job_s),
        or_nan(record.longest_wait_s),
        run.locality(),
        variance.sqrt() / mean,
    ]
}

/// Many tenants.
pub(in super::super) fn tenants(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let worlds = [unequal_cores("tenants")];
    let runs = sweep(context, MOST_SEEDS, &worlds, &CHOICES, |runs| {
        runs.iter().map(read).collect::<Vec<_>>()
    })?;
    let of = |choice: usize, reading: usize| -> Vec<f64> {
        runs.iter().map(|(_, seen)| seen[choice][reading]).collect()
    };
    let mut checks = Vec::new();
    // The table shows long-term only; the heat maps have all.
    let first = CHOICES.iter().position(|choice| choice.name == "long-term").unwrap_or(0);
    for (i, (what, unit)) in READINGS.into_iter().enumerate() {
        for (rule, name) in RULES.into_iter().enumerate() {
            let values = of(first + rule, i);
            let runs = values.len();
            checks.push(Check::beyond(
                format!("{what}, long-term with {name}"),
                Measured::Spread(Spread::of(values, runs, unit)),
                "",
            ));
        }
    }
    let heat = |(i, (what, unit)): (usize, &(&str, &str))| {
        let median = |choice: usize| Some(Spread::of(of(choice, i), 0, "").five[2]);
        Block::Heat(HeatMap {
            title: (*what).to_owned(),
            caption: "Medians over the seeds.".to_owned(),
            x: "placement".to_owned(),
            y: "order".to_owned(),
            value: if unit.is_empty() { (*what).to_owned() } else { format!("{what} ({unit})") },
            x_labels: RULES.map(str::to_owned).to_vec(),
            y_labels: ORDERS.map(str::to_owned).to_vec(),
            values: (0..ORDERS.len())
                .map(|order| {
                    (0..RULES.len()).map(|rule| median(order * RULES.len() + rule)).collect()
                })
                .collect(),
            middle: None,
        })
    };
    let blocks = READINGS.iter().enumerate().map(heat).collect();
    let mut assumptions = assumptions();
    assumptions.push(
        "24 tenants of equal weight on the nodes of Environment 2, three for each job type: small \
         jobs (1 to 5 GB) often, \
         medium ones (10 to 40 GB), large ones (40 to 100 GB) seldom; each submits its next job \
         some time after the last has \
         ended. Shares are of map slots."
            .to_owned(),
    );
    Ok(ItemOutcome { checks, assumptions, blocks })
}
