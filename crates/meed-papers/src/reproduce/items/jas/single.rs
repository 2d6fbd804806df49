//! Fig. 6 and 7: each job type alone in Environment 1, and with more data.

use meed_mapreduce::KINDS;
use meed_report::page::{Block, Cell, Line, LineChart, Table};
use serde_json::json;

use super::worlds::{Choice, DJASL, HADOOP, Nodes, World, assumptions, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread, Verdict};

/// GB of Fig. 7; Fig. 6 has 10.
const SIZES: [u32; 5] = [5, 10, 20, 40, 80];

const MOST_SEEDS: u64 = 10;

const SORTS: [&str; 2] = ["terasort", "radix-sort"];

/// One job of a type alone on the 99 equal nodes.
fn alone(kind: &'static str, gigabytes: u32) -> World {
    let input = format!("{gigabytes}GB");
    let job = json!({ "queue": "all", "kind": kind, "input": input });
    let nodes = vec![Nodes::third(1); 3];
    World { jobs: vec![job], requests: Vec::new(), ..World::new(kind, nodes) }
}

/// Times in seconds: a row for each type and seed, those of a type together.
pub(super) type Times<const N: usize> = Vec<(&'static str, [f64; N])>;

fn times<const N: usize>(
    context: &Context,
    gigabytes: u32,
    choices: [Choice; N],
    change: &dyn Fn(&mut World),
) -> Result<Times<N>, ReproduceError> {
    let mut worlds: Vec<World> =
        KINDS.iter().map(|kind| alone(known(&kind.name), gigabytes)).collect();
    worlds.iter_mut().for_each(change);
    sweep(context, MOST_SEEDS, &worlds, &choices, |runs| {
        std::array::from_fn(|i| runs[i].request_s())
    })
}

/// The name of a type of the table, for as long as the program runs.
fn known(name: &str) -> &'static str {
    const NAMES: [&str; 8] = [
        "pi",
        "wordcount",
        "terasort",
        "grep",
        "inverted-index",
        "radix-sort",
        "self-join",
        "k-means",
    ];
    NAMES.into_iter().find(|known| *known == name).expect("the paper's eight types")
}

/// The times of a type, one for each seed.
fn of<const N: usize>(times: &Times<N>, kind: &str, i: usize) -> Vec<f64> {
    times.iter().filter(|(other, _)| *other == kind).map(|(_, times)| times[i]).collect()
}

fn median(values: &[f64]) -> f64 {
    Spread::of(values.to_vec(), 0, "").five[2]
}

/// A claim about a number for each seed.
fn claim(
    what: String,
    paper: &str,
    values: Vec<f64>,
    holds: impl Fn(f64) -> bool,
    bounds: &str,
    otherwise: &str,
) -> Check {
    let agreeing = values.iter().filter(|value| holds(**value)).count();
    let agrees = 4 * agreeing >= 3 * values.len();
    Check {
        what,
        paper: paper.to_owned(),
        measured: Measured::Spread(Spread::of(values, agreeing, "")),
        verdict: if agrees { Verdict::Agrees } else { Verdict::Differs },
        reason: Some(if agrees { bounds.to_owned() } else { format!("{otherwise} ({bounds})") }),
        under: Vec::new(),
        again: None,
    }
}

/// Each type of job alone, 10 GB, in Environment 1 with a change: under Hadoop's rule and DJASL.
pub(super) fn figure_6_in(
    context: &Context,
    change: &dyn Fn(&mut World),
) -> Result<Times<2>, ReproduceError> {
    times(context, 10, [HADOOP, DJASL], change)
}

/// What Fig. 6 is about, seed by seed: for each rule the quicker of the two sorts over the longest
/// other job, and self-join over the shortest other job.
pub(super) fn ratios_of_figure_6(times: &Times<2>) -> [Vec<f64>; 4] {
    let by_seed = |kinds: &dyn Fn(&str) -> bool, i: usize, fold: fn(f64, f64) -> f64| -> Vec<f64> {
        let rows: Vec<Vec<f64>> = KINDS
            .iter()
            .filter(|kind| kinds(&kind.name))
            .map(|kind| of(times, &kind.name, i))
            .collect();
        (0..rows[0].len())
            .map(|seed| rows.iter().map(|row| row[seed]).reduce(fold).unwrap_or(f64::NAN))
            .collect()
    };
    let ratio = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a / b).collect::<Vec<_>>();
    let is_sort = |kind: &str| SORTS.contains(&kind);
    let sorts =
        |i| ratio(by_seed(&is_sort, i, f64::min), by_seed(&|kind| !is_sort(kind), i, f64::max));
    let join = |i| {
        let of_join = by_seed(&|kind| kind == "self-join", i, f64::min);
        ratio(of_join, by_seed(&|kind| kind != "self-join", i, f64::min))
    };
    [sorts(0), join(0), sorts(1), join(1)]
}

/// What Fig. 6 says of them.
pub(super) fn claims_of_figure_6(times: &Times<2>) -> Vec<Check> {
    let [sorts, join, sorts_djasl, join_djasl] = ratios_of_figure_6(times);
    let mut checks = Vec::new();
    for (rule, sorts, join) in [("Hadoop", sorts, join), ("DJASL", sorts_djasl, join_djasl)] {
        checks.push(claim(
            format!("the quicker of the two sorts over the longest other job, {rule}"),
            "sorting types take longer than the others",
            sorts,
            |ratio| ratio > 1.0,
            "agreeing runs, above 1",
            "with our work per byte the sorts are not the longest: pi and k-means compute most, \
             and 10 GB over 99 disks of their \
             own are soon read and written. On four partitions that all nodes share it comes out \
             (jas-hosts)",
        ));
        checks.push(claim(
            format!("self-join over the shortest other job, {rule}"),
            "join types take less time than the others",
            join,
            |ratio| ratio < 1.0,
            "agreeing runs, below 1",
            "by our work per byte grep, which writes nothing, is the shortest; self-join moves \
             half of its data through the \
             shuffle",
        ));
    }
    checks
}

/// Fig. 6.
pub(in super::super) fn figure_6(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let times = figure_6_in(context, &|_| {})?;
    let checks = claims_of_figure_6(&times);
    let row = |kind: &str| {
        let cell = |i| Cell::Number(median(&of(&times, kind, i)));
        vec![Cell::Text(kind.to_owned()), cell(0), cell(1)]
    };
    let table = Table {
        caption: "Median time of one job of 10 GB alone in Environment 1".to_owned(),
        columns: ["job type", "Hadoop (s)", "DJASL (s)"].map(str::to_owned).to_vec(),
        rows: KINDS.iter().map(|kind| row(&kind.name)).collect(),
    };
    Ok(ItemOutcome { checks, assumptions: assumptions(), blocks: vec![Block::Table(table)] })
}

/// Each type of job alone with each of the sizes, in Environment 1 with a change.
pub(super) fn figure_7_in(
    context: &Context,
    change: &dyn Fn(&mut World),
) -> Result<Vec<Times<1>>, ReproduceError> {
    SIZES.iter().map(|size| times(context, *size, [HADOOP], change)).collect()
}

/// What Fig. 7 says of them.
pub(super) fn claims_of_figure_7(times: &[Times<1>]) -> Vec<Check> {
    let check = |i: usize| {
        let of_size = |times: &Times<1>, kind: &str| of(times, kind, 0);
        let ratios = KINDS.iter().flat_map(|kind| {
            let (small, large) =
                (of_size(&times[i], &kind.name), of_size(&times[i + 1], &kind.name));
            large.into_iter().zip(small).map(|(large, small)| large / small).collect::<Vec<_>>()
        });
        claim(
            format!("time of {} GB over that of {} GB, all job types", SIZES[i + 1], SIZES[i]),
            "less than two times",
            ratios.collect(),
            |ratio| ratio < 2.0,
            "agreeing runs, below 2",
            "where all slots are full twice the data take twice the time",
        )
    };
    (0..SIZES.len() - 1).map(check).collect()
}

/// Fig. 7.
pub(in super::super) fn figure_7(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let times = figure_7_in(context, &|_| {})?;
    let checks = claims_of_figure_7(&times);
    let line = |kind: &str| Line {
        name: kind.to_owned(),
        x: SIZES.map(f64::from).to_vec(),
        y: times.iter().map(|times| Some(median(&of(times, kind, 0)))).collect(),
        ..Line::default()
    };
    let chart = LineChart {
        title: "Time of one job alone, by its data".to_owned(),
        caption: "Medians over all seeds, Hadoop's rule, Environment 1.".to_owned(),
        x: "GB".to_owned(),
        y: "s".to_owned(),
        lines: KINDS.iter().map(|kind| line(&kind.name)).collect(),
        ..LineChart::default()
    };
    Ok(ItemOutcome { checks, assumptions: assumptions(), blocks: vec![Block::Lines(chart)] })
}
