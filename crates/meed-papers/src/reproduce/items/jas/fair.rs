//! Class-aware placement under long-term fairness: what it gains and what it costs tenants, in
//! environment after environment, seed by seed.
//!
//! The tenants and jobs of [`super::tenants`], the order `long-term`, and beside each rule Hadoop's
//! with the same seed: same jobs, same blocks.
//!
//! > less time = 1 - mean time of a job / the same under Hadoop's rule
//! > rho = smallest rho of a tenant / the same under Hadoop's rule
//!
//! A rule gains where it does in every seed: of ten pairs, with no difference, once in 1,024.

use meed_report::page::{Block, HeatMap};
use serde_json::json;

use super::beyond::assumptions;
use super::blades::on_paper_hosts;
use super::tenants::{of_tenants, unequal_cores};
use super::worlds::{Choice, NETWORK_MB_S, Nodes, Run, World, choice, megabytes, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread};

const MOST_SEEDS: u64 = 10;

const CHOICES: [Choice; 5] = [
    choice("Hadoop", "long-term,placement=hadoop"),
    choice("delay scheduling", "long-term,placement=delay"),
    choice("DMR", "long-term,placement=dmr"),
    choice("JASL", "long-term,placement=jasl"),
    choice("DJASL", "long-term,placement=djasl"),
];

const FOUR: Nodes = Nodes::third(4);

const SLOW: Nodes = Nodes {
    count: 20,
    speed: 0.25,
    disk_mb_s: FOUR.disk_mb_s / 4.0,
    network_mb_s: FOUR.network_mb_s / 4.0,
    ..FOUR
};

fn worlds() -> Vec<World> {
    let thirds = |cores: [u32; 3]| cores.map(Nodes::third).to_vec();
    let disks = [30.0, 60.0, 120.0].map(|disk_mb_s| Nodes { disk_mb_s, ..FOUR });
    let mut slows = of_tenants(
        "a third a quarter as fast after 30 min",
        vec![Nodes { count: 66, ..FOUR }, FOUR],
    );
    slows.change = Some(json!({
        "at": 1800.0,
        "speed": 0.25,
        "disk_bytes_per_s": "15MB",
        "network_bytes_per_s": megabytes(NETWORK_MB_S / 4.0),
    }));
    let mut shared = of_tenants("one core, on the paper's hosts", thirds([1; 3]));
    on_paper_hosts(&mut shared);
    vec![
        of_tenants("one core", thirds([1; 3])),
        of_tenants("four cores", thirds([4; 3])),
        unequal_cores("2, 4, 8 cores"),
        of_tenants("disks 30, 60, 120 MB/s", disks.to_vec()),
        of_tenants("20 of 99 a quarter as fast", vec![Nodes { count: 79, ..FOUR }, SLOW]),
        slows,
        shared,
    ]
}

/// Mean time of a job, and smallest rho of a tenant.
fn read(run: &Run) -> [f64; 2] {
    let rho = run.record.queues.iter().filter_map(|queue| queue.rho);
    [run.record.mean_job_s.unwrap_or(f64::NAN), rho.fold(f64::INFINITY, f64::min)]
}

/// See the module.
pub(in super::super) fn under_long_term(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let worlds = worlds();
    let runs = sweep(context, MOST_SEEDS, &worlds, &CHOICES, |runs| {
        runs.iter().map(read).collect::<Vec<_>>()
    })?;
    // Of an environment and a rule, seed by seed.
    let of = |world: &World, i: usize, value: fn([f64; 2], [f64; 2]) -> f64| -> Vec<f64> {
        let of_world = runs.iter().filter(|(label, _)| *label == world.label);
        of_world.map(|(_, seen)| value(seen[i], seen[0])).collect()
    };
    let less = |it: [f64; 2], hadoop: [f64; 2]| 100.0 * (1.0 - it[0] / hadoop[0]);
    let rho = |it: [f64; 2], hadoop: [f64; 2]| it[1] / hadoop[1];
    let mut checks = Vec::new();
    for (i, choice) in CHOICES.iter().enumerate().skip(1) {
        let always =
            worlds.iter().filter(|world| of(world, i, less).iter().all(|less| *less > 0.0));
        let names: Vec<&str> = always.map(|world| world.label).collect();
        let words = match names.is_empty() {
            true => "none".to_owned(),
            false => format!("{} of {}: {}", names.len(), worlds.len(), names.join("; ")),
        };
        checks.push(Check::beyond(
            format!("environments in which {} gains in every seed", choice.name),
            Measured::Words(words),
            "",
        ));
    }
    for world in &worlds {
        for (i, choice) in CHOICES.iter().enumerate().skip(1) {
            let values = of(world, i, less);
            let gains = values.iter().filter(|value| **value > 0.0).count();
            checks.push(Check::beyond(
                format!("{}: {} against Hadoop, less time of a job", world.label, choice.name),
                Measured::Spread(Spread::of(values, gains, "%")),
                "runs counted: those in which it takes less time",
            ));
        }
    }
    for world in &worlds {
        for (i, choice) in CHOICES.iter().enumerate().skip(1) {
            let values = of(world, i, rho);
            let more = values.iter().filter(|value| **value >= 1.0).count();
            checks.push(Check::beyond(
                format!("{}: {}, smallest rho over Hadoop's", world.label, choice.name),
                Measured::Spread(Spread::of(values, more, "")),
                "runs counted: those in which it is no smaller",
            ));
        }
    }
    let heat = |title: &str, value: &str, middle: f64, of_pair: fn([f64; 2], [f64; 2]) -> f64| {
        let median =
            |world: &World, i: usize| Some(Spread::of(of(world, i, of_pair), 0, "").five[2]);
        Block::Heat(HeatMap {
            title: title.to_owned(),
            caption: "Medians over the seeds, order long-term.".to_owned(),
            x: "placement".to_owned(),
            y: "environment".to_owned(),
            value: value.to_owned(),
            x_labels: CHOICES[1..].iter().map(|choice| choice.name.to_owned()).collect(),
            y_labels: worlds.iter().map(|world| world.label.to_owned()).collect(),
            values: worlds
                .iter()
                .map(|world| (1..CHOICES.len()).map(|i| median(world, i)).collect())
                .collect(),
            middle: Some(middle),
        })
    };
    let blocks = vec![
        heat("How much less time a job takes than under Hadoop's rule", "less time (%)", 0.0, less),
        heat("Smallest rho of a tenant, over that under Hadoop's rule", "rho", 1.0, rho),
    ];
    let mut assumptions = assumptions();
    assumptions.push(
        "24 tenants as in jas-tenants, order long-term; pairs of runs with the same jobs and \
         blocks, at most ten seeds. Hosts as in jas-hosts."
            .to_owned(),
    );
    Ok(ItemOutcome { checks, assumptions, blocks })
}
