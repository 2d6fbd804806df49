//! Beyond the paper: unequal disks and networks, and stragglers.

use meed_report::page::{Block, HeatMap};

use super::worlds::{Choice, DELAY, DJASL, DMR, HADOOP, JAS, JASL, Nodes, Run, World, sweep};
use crate::reproduce::{Check, Context, Measured, Outcome, ReproduceError, Spread, Verdict};

const CHOICES: [Choice; 6] = [HADOOP, DELAY, DMR, JAS, JASL, DJASL];

const MOST_SEEDS: u64 = 10;

/// Five requests instead of ten.
fn world(label: &'static str, nodes: [(u32, Nodes); 3]) -> World {
    let nodes =
        nodes.into_iter().filter(|(count, _)| *count > 0).map(|(count, nodes)| Nodes { count, ..nodes });
    let mut world = World::new(label, nodes.collect());
    world.workload = world.workload.replace("count = 10", "count = 5");
    world
}

const FOUR: Nodes = Nodes::third(4);

const fn disk(nodes: Nodes, disk_mb_s: f64) -> Nodes {
    Nodes { disk_mb_s, ..nodes }
}

const fn network(nodes: Nodes, network_mb_s: f64) -> Nodes {
    Nodes { network_mb_s, ..nodes }
}

/// All parts a quarter as fast.
const SLOW: Nodes =
    Nodes { speed: 0.25, disk_mb_s: FOUR.disk_mb_s / 4.0, network_mb_s: FOUR.network_mb_s / 4.0, ..FOUR };

/// Unequal disks and networks.
pub(in super::super) fn unequal(context: &Context) -> Result<Outcome, ReproduceError> {
    let thirds = |nodes: [Nodes; 3]| nodes.map(|nodes| (33, nodes));
    let worlds = [
        world("equal nodes (4 cores, 60 MB/s)", thirds([FOUR; 3])),
        world("cores 2, 4, 8", thirds([Nodes::third(2), FOUR, Nodes::third(8)])),
        world("disks 30, 60, 120 MB/s", thirds([disk(FOUR, 30.0), FOUR, disk(FOUR, 120.0)])),
        world("networks 12.5, 125, 1250 MB/s", thirds([network(FOUR, 12.5), FOUR, network(FOUR, 1250.0)])),
        world(
            "many cores, fast disk",
            thirds([disk(Nodes::third(2), 30.0), FOUR, disk(Nodes::third(8), 120.0)]),
        ),
        world(
            "many cores, slow disk",
            thirds([disk(Nodes::third(2), 120.0), FOUR, disk(Nodes::third(8), 30.0)]),
        ),
    ];
    compare(context, &worlds)
}

/// A few nodes that are slow from the start.
pub(in super::super) fn stragglers(context: &Context) -> Result<Outcome, ReproduceError> {
    let worlds = [
        world("no straggler", [(99, FOUR), (0, FOUR), (0, FOUR)]),
        world("5 of 99 a quarter as fast", [(94, FOUR), (5, SLOW), (0, FOUR)]),
        world("20 of 99 a quarter as fast", [(79, FOUR), (20, SLOW), (0, FOUR)]),
    ];
    compare(context, &worlds)
}

/// Times and localities of all rules in each world, and of the classes' rules beside Hadoop's.
fn compare(context: &Context, worlds: &[World]) -> Result<Outcome, ReproduceError> {
    let runs = sweep(context, MOST_SEEDS, worlds, &CHOICES, |runs| {
        let of = |value: &dyn Fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
        (of(&|run| run.better_than(&runs[0])), of(&Run::locality))
    })?;
    let mut checks = Vec::new();
    for world in worlds {
        for (i, choice) in CHOICES.iter().enumerate().skip(1) {
            let of_world = runs.iter().filter(|(label, _)| *label == world.label);
            let values: Vec<f64> = of_world.map(|(_, (better, _))| better[i]).collect();
            let gains = values.iter().filter(|value| **value > 0.0).count();
            checks.push(beyond(
                format!("{}: {} against Hadoop, less time", world.label, choice.name),
                Measured::Spread(Spread::of(values, gains, "%")),
                "runs counted: those in which it takes less time",
            ));
        }
    }
    let median = |label: &str, value: &dyn Fn(&(Vec<f64>, Vec<f64>)) -> f64| {
        let values = runs.iter().filter(|(other, _)| *other == label).map(|(_, seen)| value(seen));
        Some(Spread::of(values.collect(), 0, "").five[2])
    };
    let heat = |title: &str,
                value: &str,
                middle: Option<f64>,
                of: fn(&(Vec<f64>, Vec<f64>), usize) -> f64| {
        Block::Heat(HeatMap {
            title: title.to_owned(),
            caption: "Medians over the seeds.".to_owned(),
            x: "rule".to_owned(),
            y: "cluster".to_owned(),
            value: value.to_owned(),
            x_labels: CHOICES.iter().map(|choice| choice.name.to_owned()).collect(),
            y_labels: worlds.iter().map(|world| world.label.to_owned()).collect(),
            values: worlds
                .iter()
                .map(|world| (0..CHOICES.len()).map(|i| median(world.label, &|seen| of(seen, i))).collect())
                .collect(),
            middle,
        })
    };
    let blocks = vec![
        heat(
            "How much less time a request takes than under Hadoop",
            "less time (%)",
            Some(0.0),
            |seen, i| seen.0[i],
        ),
        heat("Maps with their block on their node", "locality (%)", None, |seen, i| seen.1[i]),
    ];
    let mut assumptions = assumptions();
    assumptions.push("Five requests in each run.".to_owned());
    Ok(Outcome { checks, assumptions, blocks })
}

/// What no paper prints.
pub(super) fn beyond(what: String, measured: Measured, remark: &str) -> Check {
    Check {
        what,
        paper: "not printed".to_owned(),
        measured,
        verdict: Verdict::Measured,
        reason: (!remark.is_empty()).then(|| remark.to_owned()),
    }
}

pub(super) fn assumptions() -> Vec<String> {
    vec![
        "99 nodes with four map slots and one reduce slot each; requests of all eight job types as for jas-fig8. Work per byte: docs/mapreduce.md."
            .to_owned(),
    ]
}
