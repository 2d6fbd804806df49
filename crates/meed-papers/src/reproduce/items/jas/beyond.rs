//! Beyond the paper: unequal disks and networks, and stragglers.

use meed_report::page::{Block, HeatMap};

use super::worlds::{Choice, DELAY, DJASL, DMR, HADOOP, JAS, JASL, Nodes, Run, World, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const CHOICES: [Choice; 6] = [HADOOP, DELAY, DMR, JAS, JASL, DJASL];

const MOST_SEEDS: u64 = 10;

/// Five requests instead of ten.
fn world(label: &'static str, nodes: [(u32, Nodes); 3]) -> World {
    let nodes = nodes
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, nodes)| Nodes { count, ..nodes });
    let mut world = World::new(label, nodes.collect());
    world.requests[0]["count"] = 5.into();
    world
}

/// Where nodes are equal, which both items look at.
fn equal(label: &'static str) -> World {
    World { kept: true, ..world(label, [(33, FOUR); 3]) }
}

const FOUR: Nodes = Nodes::third(4);

const fn disk(nodes: Nodes, disk_mb_s: f64) -> Nodes {
    Nodes { disk_mb_s, ..nodes }
}

const fn network(nodes: Nodes, network_mb_s: f64) -> Nodes {
    Nodes { network_mb_s, ..nodes }
}

/// All parts a quarter as fast.
const SLOW: Nodes = Nodes {
    speed: 0.25,
    disk_mb_s: FOUR.disk_mb_s / 4.0,
    network_mb_s: FOUR.network_mb_s / 4.0,
    ..FOUR
};

/// Unequal disks and networks.
pub(in super::super) fn unequal(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let thirds = |nodes: [Nodes; 3]| nodes.map(|nodes| (33, nodes));
    let worlds = [
        equal("equal nodes (4 cores, 60 MB/s)"),
        world("cores 2, 4, 8", thirds([Nodes::third(2), FOUR, Nodes::third(8)])),
        world("disks 30, 60, 120 MB/s", thirds([disk(FOUR, 30.0), FOUR, disk(FOUR, 120.0)])),
        world(
            "networks 12.5, 125, 1250 MB/s",
            thirds([network(FOUR, 12.5), FOUR, network(FOUR, 1250.0)]),
        ),
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
pub(in super::super) fn stragglers(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let worlds = [
        equal("no straggler"),
        world("5 of 99 a quarter as fast", [(94, FOUR), (5, SLOW), (0, FOUR)]),
        world("20 of 99 a quarter as fast", [(79, FOUR), (20, SLOW), (0, FOUR)]),
    ];
    compare(context, &worlds)
}

/// What is read off the runs of one world and seed, by rule.
struct Seen {
    /// How much less time than under Hadoop, in percent.
    less: Vec<f64>,
    /// In percent.
    locality: Vec<f64>,
}

fn read(runs: &[Run]) -> Seen {
    Seen {
        less: runs.iter().map(|run| run.better_than(&runs[0])).collect(),
        locality: runs.iter().map(Run::locality).collect(),
    }
}

/// Times and localities of all rules in each world, and of the classes' rules beside Hadoop's.
fn compare(context: &Context, worlds: &[World]) -> Result<ItemOutcome, ReproduceError> {
    let runs = sweep(context, MOST_SEEDS, worlds, &CHOICES, read)?;
    let mut checks = Vec::new();
    for world in worlds {
        for (i, choice) in CHOICES.iter().enumerate().skip(1) {
            let of_world = runs.iter().filter(|(label, _)| *label == world.label);
            let values: Vec<f64> = of_world.map(|(_, seen)| seen.less[i]).collect();
            let gains = values.iter().filter(|value| **value > 0.0).count();
            checks.push(Check::beyond(
                format!("{}: {} against Hadoop, less time", world.label, choice.name),
                Measured::Spread(Spread::of(values, gains, "%")),
                "runs counted: those in which it takes less time",
            ));
        }
    }
    let less = Shown {
        title: "How much less time a request takes than under Hadoop",
        value: "less time (%)",
        middle: Some(0.0),
        of: |seen| &seen.less,
    };
    let locality = Shown {
        title: "Maps with their block on their node",
        value: "locality (%)",
        middle: None,
        of: |seen| &seen.locality,
    };
    let mut assumptions = assumptions();
    assumptions.push("Five requests in each run.".to_owned());
    Ok(ItemOutcome {
        checks,
        assumptions,
        blocks: vec![heat(&less, worlds, &runs), heat(&locality, worlds, &runs)],
    })
}

/// What a heat map shows.
struct Shown {
    title: &'static str,
    value: &'static str,
    middle: Option<f64>,
    of: fn(&Seen) -> &[f64],
}

fn heat(shown: &Shown, worlds: &[World], runs: &[(&'static str, Seen)]) -> Block {
    let median = |world: &World, i: usize| {
        let values = runs
            .iter()
            .filter(|(label, _)| *label == world.label)
            .map(|(_, seen)| (shown.of)(seen)[i]);
        Some(Spread::of(values.collect(), 0, "").five[2])
    };
    Block::Heat(HeatMap {
        title: shown.title.to_owned(),
        caption: "Medians over the seeds.".to_owned(),
        x: "rule".to_owned(),
        y: "cluster".to_owned(),
        value: shown.value.to_owned(),
        x_labels: CHOICES.iter().map(|choice| choice.name.to_owned()).collect(),
        y_labels: worlds.iter().map(|world| world.label.to_owned()).collect(),
        values: worlds
            .iter()
            .map(|world| (0..CHOICES.len()).map(|i| median(world, i)).collect())
            .collect(),
        middle: shown.middle,
    })
}

pub(super) fn assumptions() -> Vec<String> {
    vec![
        "99 nodes with four map slots and one reduce slot each; requests of all eight job types as \
         for jas-fig8. Work per byte: docs/mapreduce.md."
            .to_owned(),
    ]
}
