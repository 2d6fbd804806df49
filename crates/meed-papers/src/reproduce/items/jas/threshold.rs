//! Fig. 10: after how many overloaded heartbeats DJASL sets its slots anew.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use meed_report::page::{Block, Line, LineChart};
use serde_json::{Value, json};

use super::super::macro_figures::claim::{Claim, check_groups};
use super::rules::BY_ENVIRONMENT;
use super::variant::{FEW_SEEDS, Variant};
use super::worlds::{DJASL, World, assumptions, environments, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, ReproduceError, Spread};

const THRESHOLDS: [u32; 5] = [100, 200, 300, 400, 500];

const MOST_SEEDS: u64 = 10;

/// Five requests, each of five WordCount and five TeraSort in random order; sizes as elsewhere.
fn five_requests() -> Value {
    let kinds = [["wordcount"; 5], ["terasort"; 5]].concat();
    json!({ "queue": "all", "input": ["5GB", "100GB"], "count": 5, "kinds": kinds })
}

const CLAIMS: [Claim; 2] = [
    Claim {
        chart: "Best threshold",
        what: "threshold with the shortest mean time of a job",
        paper: "300",
        unit: "heartbeats",
        reference: Some((300.0, 300.0)),
        agrees: (300.0, 300.0),
        otherwise: "no threshold is best in most runs: the times differ by a few percent, as much \
            as from seed to seed. Slots hardly change \
                    once a long job has been measured",
    },
    Claim {
        chart: "Worst threshold over the best",
        what: "time with the worst threshold over that with the best",
        paper: "performance results vary",
        unit: "",
        reference: None,
        agrees: (1.01, f64::INFINITY),
        otherwise: "the threshold hardly matters",
    },
];

fn world(environment: &World, threshold: u32) -> World {
    let mut world = World { requests: vec![five_requests()], ..environment.clone() };
    world.keys.push(("threshold", threshold.into()));
    world
}

/// Of each environment and seed: best threshold, and the worst's time over the best's.
pub(super) type Values = Vec<(&'static str, [Option<f64>; 2])>;

/// Runs with a change: what is read off, and a line for each environment.
fn read(
    context: &Context,
    most_seeds: u64,
    change: &dyn Fn(&mut World),
) -> Result<(Values, Vec<Line>), ReproduceError> {
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    for mut environment in environments() {
        change(&mut environment);
        let worlds: Vec<World> =
            THRESHOLDS.iter().map(|threshold| world(&environment, *threshold)).collect();
        let runs = sweep(context, most_seeds, &worlds, &[DJASL], |runs| {
            runs[0].record.mean_job_s.unwrap_or(f64::NAN)
        })?;
        let times: Vec<f64> = runs.into_iter().map(|(_, time)| time).collect();
        let seeds = times.len() / THRESHOLDS.len();
        for seed in 0..seeds {
            let of_seed =
                || (0..THRESHOLDS.len()).map(|i| (THRESHOLDS[i], times[i * seeds + seed]));
            let by_time = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1);
            let (Some(best), Some(worst)) = (of_seed().min_by(by_time), of_seed().max_by(by_time))
            else {
                continue;
            };
            values.push((environment.label, [Some(f64::from(best.0)), Some(worst.1 / best.1)]));
        }
        lines.push(line(environment.label, times.chunks(seeds)));
    }
    Ok((values, lines))
}

/// What Fig. 10 says of a variant, and what that is read off.
pub(super) type Tenth = (Vec<Check>, Values);

/// What came of variants, by name, number of seeds and the first of them: some are asked for by
/// several items.
pub(super) type Tenths = Arc<Mutex<BTreeMap<(&'static str, u64, u64), Arc<Tenth>>>>;

/// What Fig. 10 says of a variant, over few seeds.
pub(super) fn figure_10_with(
    context: &Context,
    variant: &Variant,
) -> Result<Arc<Tenth>, ReproduceError> {
    let key = (variant.name, context.seeds.min(FEW_SEEDS), context.first_seed);
    let all = || context.shared.jas.tenths.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tenth) = all().get(&key) {
        return Ok(Arc::clone(tenth));
    }
    let (values, _) = read(context, FEW_SEEDS, &|world| variant.apply(world))?;
    let tenth = Arc::new((check_groups(&CLAIMS, &BY_ENVIRONMENT, &values).0, values));
    all().insert(key, Arc::clone(&tenth));
    Ok(tenth)
}

/// Fig. 10.
pub(in super::super) fn figure_10(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let (values, lines) = read(context, MOST_SEEDS, &|_| {})?;
    let chart = LineChart {
        title: "Mean time of a job under DJASL, by threshold (Fig. 10)".to_owned(),
        caption: "Medians over all seeds; the band is from the smallest to the largest.".to_owned(),
        x: "threshold (overloaded heartbeats)".to_owned(),
        y: "s".to_owned(),
        lines,
        ..LineChart::default()
    };
    let (checks, spreads) = check_groups(&CLAIMS, &BY_ENVIRONMENT, &values);
    let mut blocks = vec![Block::Lines(chart)];
    blocks.extend(spreads);
    Ok(ItemOutcome { checks, assumptions: assumptions(), blocks })
}

fn line<'a>(name: &str, by_threshold: impl Iterator<Item = &'a [f64]>) -> Line {
    let fives: Vec<[f64; 5]> =
        by_threshold.map(|times| Spread::of(times.to_vec(), 0, "").five).collect();
    Line {
        name: name.to_owned(),
        x: THRESHOLDS.map(f64::from).to_vec(),
        y: fives.iter().map(|five| Some(five[2])).collect(),
        band: Some((
            fives.iter().map(|five| five[0]).collect(),
            fives.iter().map(|five| five[4]).collect(),
        )),
        ..Line::default()
    }
}
