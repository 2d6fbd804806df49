//! Nodes that slow down half way: does DJASL notice, how soon, and what does it gain?

use meed_report::page::{Block, Line, LineChart, Mark};
use meed_sim::record::mapreduce::MapReduceRecord;
use serde_json::json;

use super::beyond::assumptions;
use super::worlds::{
    Choice, DELAY, DJASL, DMR, HADOOP, JAS, JASL, NETWORK_MB_S, Nodes, Run, World, megabytes, sweep,
};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const CHOICES: [Choice; 6] = [HADOOP, DELAY, DMR, JAS, JASL, DJASL];
const I_JASL: usize = 4;
const I_DJASL: usize = 5;

const MOST_SEEDS: u64 = 10;

/// When a third of the nodes becomes a quarter as fast: about half way.
const AT_S: f64 = 1800.0;

/// How many nodes; they are the last.
const SLOWER: usize = 33;

/// Noticed: the slower nodes have this part of the others' slots of a class.
const NOTICED: f64 = 0.75;

fn world() -> World {
    let mut world =
        World::new("slow-down", vec![Nodes { count: 66, ..Nodes::third(4) }, Nodes::third(4)]);
    world.change = Some(json!({
        "at": AT_S,
        "speed": 0.25,
        "disk_bytes_per_s": "15MB",
        "network_bytes_per_s": megabytes(NETWORK_MB_S / 4.0),
    }));
    world
}

/// Mean slots of a class of some nodes at an instant.
fn slots(record: &MapReduceRecord, nodes: std::ops::Range<usize>, cpu: bool, at: f64) -> f64 {
    let count = nodes.len() as f64;
    let of = |node: &meed_sim::record::mapreduce::NodeRecord| {
        let now = node.slots.iter().rev().find(|change| change.t_s <= at)?;
        if cpu { now.cpu } else { now.io }
    };
    record.nodes[nodes].iter().filter_map(of).map(f64::from).sum::<f64>() / count
}

/// The instants at which some node's slots changed.
fn changes(record: &MapReduceRecord) -> Vec<f64> {
    let mut times: Vec<f64> =
        record.nodes.iter().flat_map(|node| node.slots.iter().map(|change| change.t_s)).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

fn parts(record: &MapReduceRecord) -> [std::ops::Range<usize>; 2] {
    let all = record.nodes.len();
    [0..all - SLOWER, all - SLOWER..all]
}

/// Seconds from the change until the slower nodes have few slots of the class; `None` when they
/// never do.
fn noticed(record: &MapReduceRecord, cpu: bool) -> Option<f64> {
    let [others, slower] = parts(record);
    let few = |at: f64| {
        slots(record, slower.clone(), cpu, at) <= NOTICED * slots(record, others.clone(), cpu, at)
    };
    changes(record).into_iter().find(|at| *at > AT_S && few(*at)).map(|at| at - AT_S)
}

/// Mean time of the requests that were submitted after the change.
fn after_s(run: &Run) -> f64 {
    let times =
        run.world().requests.iter().filter(|request| request.submit_s.is_some_and(|at| at >= AT_S));
    let times: Vec<f64> =
        times.filter_map(|request| Some(request.end_s? - request.submit_s?)).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// Nodes that slow down.
pub(in super::super) fn slow_down(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let world = world();
    let runs = sweep(context, MOST_SEEDS, std::slice::from_ref(&world), &CHOICES, |runs| {
        let after: Vec<f64> = runs.iter().map(after_s).collect();
        let noticed =
            [I_JASL, I_DJASL].map(|i| [true, false].map(|cpu| noticed(runs[i].world(), cpu)));
        (after, noticed)
    })?;
    let mut checks = Vec::new();
    for (rule, name) in ["JASL", "DJASL"].into_iter().enumerate() {
        for (class, of) in ["CPU", "I/O"].into_iter().enumerate() {
            let values: Vec<f64> =
                runs.iter().filter_map(|(_, seen)| seen.1[rule][class]).collect();
            let seen = values.len();
            let measured = match seen {
                0 => Measured::Words(format!("never, in {} runs", runs.len())),
                _ => Measured::Spread(Spread::of(values, seen, "s")),
            };
            checks.push(Check::beyond(
                format!(
                    "how long until slower nodes have at most three quarters of the others' \
                    {of} slots, {name}"
                ),
                measured,
                &format!("it came so far in {seen} of {} runs", runs.len()),
            ));
        }
    }
    for (i, choice) in CHOICES.iter().enumerate().skip(1) {
        let values: Vec<f64> =
            runs.iter().map(|(_, seen)| 100.0 * (1.0 - seen.0[i] / seen.0[0])).collect();
        let gains = values.iter().filter(|value| **value > 0.0).count();
        checks.push(Check::beyond(
            format!("requests after the change: {} against Hadoop, less time", choice.name),
            Measured::Spread(Spread::of(values, gains, "%")),
            "runs counted: those in which it takes less time",
        ));
    }
    let typical = world.run(&DJASL, context.first_seed)?;
    let mut assumptions = assumptions();
    assumptions.push(format!(
        "Ten requests on 99 nodes of four cores; after {AT_S} s, about half way, 33 of them are a \
         quarter as fast: cores, disk \
         and network."
    ));
    Ok(ItemOutcome { checks, assumptions, blocks: vec![chart(typical.world())] })
}

fn chart(record: &MapReduceRecord) -> Block {
    let times: Vec<f64> = changes(record);
    let [others, slower] = parts(record);
    let line = |name: &str, nodes: &std::ops::Range<usize>, cpu: bool| Line {
        name: name.to_owned(),
        x: times.clone(),
        y: times.iter().map(|at| Some(slots(record, nodes.clone(), cpu, *at))).collect(),
        steps: true,
        dashed: !cpu,
        ..Line::default()
    };
    Block::Lines(LineChart {
        title: "Mean slots of a node under DJASL".to_owned(),
        caption: "One run: the first seed. Dashed: slots for I/O-bound maps.".to_owned(),
        x: "time (s)".to_owned(),
        y: "slots".to_owned(),
        lines: vec![
            line("the others, CPU", &others, true),
            line("slower nodes, CPU", &slower, true),
            line("the others, I/O", &others, false),
            line("slower nodes, I/O", &slower, false),
        ],
        marks: vec![Mark { at: AT_S, label: "33 nodes slow down".to_owned() }],
        ..LineChart::default()
    })
}
