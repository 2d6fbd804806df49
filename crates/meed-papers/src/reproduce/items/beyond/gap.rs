//! How far greedy placement stays below the exact optimum (TPDS'15 Sec. 5.2: "a fairly good
//! approximation", not measured there).
//!
//! Users with endless tasks fill an empty pool: progressive filling by dominant shares, one task
//! after the other, each put where the placement says, until nothing fits. Against that stands the
//! fluid optimum for the same users, demands and servers (`meed-level`): its level is the largest
//! minimum of dominant shares that any scheduler could reach, with divisible tasks. So the gap has
//! two parts, whole tasks and the placement; pools with tasks a tenth as large show how they share
//! it.

use std::path::Path;

use meed_level::{AllocationPolicy, Problem, Server, User, UserLedgers, allocate};
use meed_report::page::{Block, SpreadChart, SpreadRow};
use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use meed_workload::generate::Stream;
use serde_json::json;

use crate::cores;
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const PLACEMENTS: [&str; 5] = ["best-fit", "first-fit", "worst-fit", "cosine", "power-of-two"];

/// Pools that are drawn.
#[derive(Clone, Copy)]
struct Family {
    name: &'static str,
    /// Servers and users of a pool.
    servers: usize,
    users: usize,
    /// Whether servers are those of Table 1; else of four random kinds.
    google: bool,
    /// The largest part of the largest server that a task takes of a resource, and the smallest.
    tasks: (f64, f64),
    /// Draws, at most.
    draws: u64,
}

const FAMILIES: [Family; 4] = [
    Family {
        name: "random pools, large tasks",
        servers: 50,
        users: 10,
        google: false,
        tasks: (0.3, 0.03),
        draws: 20,
    },
    Family {
        name: "random pools, small tasks",
        servers: 50,
        users: 10,
        google: false,
        tasks: (0.03, 0.003),
        draws: 20,
    },
    Family {
        name: "Google's mix, large tasks",
        servers: 1000,
        users: 50,
        google: true,
        tasks: (0.3, 0.03),
        draws: 5,
    },
    Family {
        name: "Google's mix, small tasks",
        servers: 1000,
        users: 50,
        google: true,
        tasks: (0.03, 0.003),
        draws: 5,
    },
];

/// Natural units of the largest server: capacities and demands are whole thousandths of these.
const LARGEST: f64 = 1000.0;
const KINDS: [&str; 2] = ["cpu", "memory"];

/// What a placement reaches: the poorest user's dominant share, and the mean utilisation, over
/// those of the optimum.
#[derive(Clone, Copy)]
struct Reached {
    share: f64,
    used: f64,
}

pub(in super::super) fn gap(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = ItemOutcome::default();
    for family in FAMILIES {
        let seeds: Vec<u64> = context.seeds().take(family.draws as usize).collect();
        let draws: Vec<[Reached; 5]> = cores::map(&seeds, |seed| family.measure(*seed))?;
        let column = |placement: usize, of: fn(&Reached) -> f64| -> Vec<f64> {
            draws.iter().map(|draw| of(&draw[placement])).collect()
        };
        for (place, placement) in PLACEMENTS.into_iter().enumerate() {
            let what = format!(
                "{}: least dominant share under {placement}, of the optimum's",
                family.name
            );
            let spread = |values: Vec<f64>| {
                let runs = values.len();
                Spread::of(values, runs, "%")
            };
            let used = spread(column(place, |reached| reached.used)).five[2];
            let remark = format!("utilisation {used:.1} % of the optimum's, median");
            outcome.checks.push(Check::beyond(
                &what,
                Measured::Spread(spread(column(place, |reached| reached.share))),
                &remark,
            ));
        }
        let chart = |title: &str, of: fn(&Reached) -> f64| {
            let row = |(place, placement): (usize, &str)| SpreadRow {
                label: placement.to_owned(),
                five: Spread::of(column(place, of), 0, "").five,
                reference: None,
            };
            Block::Spreads(SpreadChart {
                title: format!("{}: {title}", family.name),
                caption: format!("{} draws.", draws.len()),
                x: "% of the optimum's".to_owned(),
                rows: PLACEMENTS.into_iter().enumerate().map(row).collect(),
            })
        };
        outcome.blocks.push(chart("least dominant share", |reached| reached.share));
        outcome.blocks.push(chart("utilisation, mean of CPU and memory", |reached| reached.used));
    }
    outcome.assumptions = vec![
        "a task takes of CPU and of memory, each for itself, between a tenth and the whole of the \
         family's largest part of the \
         largest server (0.3 or 0.03), evenly on a logarithmic scale; users have equal weights and \
         endless tasks; an empty \
         pool is filled once"
            .to_owned(),
        "random pools: 50 servers of four kinds, each with 0.3 to 1 of CPU and of memory, 10 \
         users. Google's mix: 1,000 \
         servers drawn from Table 1, 50 users"
            .to_owned(),
        "the optimum's utilisation is that of its whole allocation (users that can rise above the \
         level do); greedy filling \
         goes on likewise"
            .to_owned(),
    ];
    Ok(outcome)
}

impl Family {
    fn measure(&self, seed: u64) -> Result<[Reached; 5], ReproduceError> {
        let problem = self.draw(seed);
        let optimum = allocate(&problem, AllocationPolicy::Drfh)?;
        let level = optimum.level.unwrap_or(f64::NAN);
        let tasks: Vec<f64> = optimum.users.iter().map(|user| user.tasks).collect();
        let (_, best) = shares(&problem, &tasks);
        let scenario = full(&problem)?;
        let mut reached = [Reached { share: 0.0, used: 0.0 }; 5];
        for (reached, placement) in reached.iter_mut().zip(PLACEMENTS) {
            let tasks = filled(&scenario, placement, seed, &problem)?;
            let (least, used) = shares(&problem, &tasks);
            *reached = Reached { share: 100.0 * least / level, used: 100.0 * used / best };
        }
        Ok(reached)
    }

    /// Everything a whole number of thousandths of a natural unit, so that the engine and the
    /// optimum see the same.
    fn draw(&self, seed: u64) -> Problem {
        let mut stream = Stream::new(seed, self.name);
        let whole = |part: f64| (part * LARGEST * LARGEST).round() / LARGEST;
        let servers = match self.google {
            true => self.google_servers(&mut stream),
            false => {
                let mut kind = || {
                    let capacity = (0..2).map(|_| whole(0.3 + 0.7 * stream.unit())).collect();
                    Server { count: (self.servers / 4) as f64, capacity }
                };
                (0..4).map(|_| kind()).collect()
            }
        };
        let (largest, smallest) = self.tasks;
        let mut part = || whole(smallest * libm::pow(largest / smallest, stream.unit()));
        let user = |number: usize| User {
            name: format!("u{number}"),
            demand: vec![part(), part()],
            weight: 1.0,
            tasks: None,
            used: 0.0,
            ledgers: UserLedgers::default(),
        };
        let resources = KINDS.map(str::to_owned).to_vec();
        Problem {
            resources,
            servers,
            users: (0..self.users).map(user).collect(),
            slots_per_server: 14.0,
            worth: 1.0,
        }
    }

    fn google_servers(&self, stream: &mut Stream) -> Vec<Server> {
        let mix = meed_level::examples::GOOGLE;
        let weights: Vec<u32> = mix.iter().map(|(count, ..)| *count as u32).collect();
        let mut counts = vec![0.0; mix.len()];
        (0..self.servers).for_each(|_| counts[stream.weighted(&weights)] += 1.0);
        let servers = mix.iter().zip(counts).filter(|(_, count)| *count > 0.0);
        servers
            .map(|((_, cpu, memory), count)| Server {
                count,
                capacity: vec![cpu * LARGEST, memory * LARGEST],
            })
            .collect()
    }
}

/// The least dominant share, and the mean utilisation, of so many tasks of each user.
fn shares(problem: &Problem, tasks: &[f64]) -> (f64, f64) {
    let totals = problem.totals();
    let share = |user: &User, tasks: f64, kind: usize| tasks * user.demand[kind] / totals[kind];
    let users = || problem.users.iter().zip(tasks);
    let dominant = users().map(|(user, tasks)| share(user, *tasks, 0).max(share(user, *tasks, 1)));
    let used =
        (0..2).map(|kind| users().map(|(user, tasks)| share(user, *tasks, kind)).sum::<f64>());
    (dominant.fold(f64::INFINITY, f64::min), used.sum::<f64>() / 2.0)
}

/// The pool as a scenario in which everybody has more tasks than fit.
fn full(problem: &Problem) -> Result<Scenario, ReproduceError> {
    let amounts = |of: &[f64]| json!({ "cpu": of[0], "memory": of[1] });
    let node = |server: &Server| {
        let capacity = amounts(&server.capacity);
        json!({ "count": server.count as u64, "capacity": capacity })
    };
    let totals = problem.totals();
    let job = |user: &User| {
        let tasks = (totals[0] / user.demand[0]).min(totals[1] / user.demand[1]).ceil() + 1.0;
        json!({
            "queue": user.name,
            "tasks": tasks as u64,
            "duration": "1h",
            "demand": amounts(&user.demand),
        })
    };
    let queue = |user: &User| json!({ "name": user.name });
    let data = json!({
        "cluster": {
            "resources": ["cpu", { "name": "memory", "unit": "milli" }],
            "node": problem.servers.iter().map(node).collect::<Vec<_>>(),
        },
        "queue": problem.users.iter().map(queue).collect::<Vec<_>>(),
        "queues": { "order": "inherit" },
        "job": problem.users.iter().map(job).collect::<Vec<_>>(),
        "run": { "until": "1s" },
    });
    Ok(Scenario::of_data("an empty pool", &data, Path::new(""), OnBadLine::Stop)?)
}

/// How many tasks of each user a placement fits in.
fn filled(
    scenario: &Scenario,
    placement: &str,
    seed: u64,
    problem: &Problem,
) -> Result<Vec<f64>, ReproduceError> {
    let policies = vec![format!("drf,placement={placement}")];
    let options =
        SimulateOptions { policies, seed: Some(seed), strict: true, ..SimulateOptions::default() };
    let run: RunRecord = simulate(scenario, &options, None, &mut Unwatched)?.runs.remove(0);
    let tasks = |(queue, user): (&meed_sim::record::QueueRecord, &User)| {
        (queue.usage["cpu"] / run.end_s / user.demand[0]).round()
    };
    Ok(run.queues.iter().zip(&problem.users).map(tasks).collect())
}
