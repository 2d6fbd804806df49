//! Which verdicts of Fig. 8 to 12 hang on what we assume: work, disks, networks, data, and how
//! requests follow each other.
//!
//! One assumption at a time is varied, the others stay. Three requests instead of ten, so that it
//! stays affordable.

use meed_report::page::{Block, Cell, HeatMap, Table};
use serde_json::Value;

use super::super::macro_figures::claim::{Claim, check_groups};
use super::rules::{BY_ENVIRONMENT, CHOICES, CLAIMS, Seen, read};
use super::worlds::{World, assumptions, environments, sweep};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Spread, Verdict};

const MOST_SEEDS: u64 = 5;

/// One assumption, varied.
struct Variant {
    name: &'static str,
    change: fn(&mut World),
}

const VARIANTS: [Variant; 16] = [
    Variant { name: "as assumed", change: |_| {} },
    Variant { name: "CPU work halved", change: |world| each(world, |nodes| nodes.speed *= 2.0) },
    Variant { name: "CPU work doubled", change: |world| each(world, |nodes| nodes.speed *= 0.5) },
    Variant {
        name: "disks half as fast",
        change: |world| each(world, |nodes| nodes.disk_mb_s *= 0.5),
    },
    Variant {
        name: "disks twice as fast",
        change: |world| each(world, |nodes| nodes.disk_mb_s *= 2.0),
    },
    Variant {
        name: "disks a tenth as fast (shared)",
        change: |world| each(world, |nodes| nodes.disk_mb_s *= 0.1),
    },
    Variant { name: "no seek penalty", change: |world| set(world, "seek_penalty", 0) },
    Variant { name: "seek penalty 0.3", change: |world| set(world, "seek_penalty", 0.3) },
    Variant {
        name: "networks a tenth as fast",
        change: |world| each(world, |nodes| nodes.network_mb_s *= 0.1),
    },
    Variant { name: "one replica", change: |world| set(world, "replicas", 1) },
    Variant {
        name: "DIOR 60 MB/s (one stream)",
        change: |world| set(world, "average_disk_bytes_per_s", "60MB"),
    },
    Variant {
        name: "DIOR 20 MB/s",
        change: |world| set(world, "average_disk_bytes_per_s", "20MB"),
    },
    Variant { name: "100 GB a request", change: |world| request(world, "input", "12.5GB") },
    Variant { name: "100 GB a job", change: |world| request(world, "input", "100GB") },
    Variant { name: "requests 5 min apart", change: |world| request(world, "every", "5min") },
    Variant { name: "learned anew in each request", change: |world| request(world, "count", 1) },
];

fn each(world: &mut World, change: fn(&mut super::worlds::Nodes)) {
    world.nodes.iter_mut().for_each(change);
}

fn set(world: &mut World, key: &'static str, value: impl Into<Value>) {
    world.keys.push((key, value.into()));
}

fn request(world: &mut World, key: &str, value: impl Into<Value>) {
    world.requests[0][key] = value.into();
}

/// The environments with three requests and the variant's change.
fn worlds(variant: &Variant) -> Vec<World> {
    let mut worlds = environments();
    for world in &mut worlds {
        request(world, "count", 3);
        (variant.change)(world);
    }
    worlds
}

/// What came of one variant.
struct Done {
    name: &'static str,
    /// Verdict of each claim.
    verdicts: Vec<Verdict>,
    /// Median of each claim in each environment.
    medians: Vec<Vec<f64>>,
}

/// The study.
pub(in super::super) fn study(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut done = Vec::new();
    for variant in &VARIANTS {
        let runs = sweep(context, MOST_SEEDS, &worlds(variant), &CHOICES, read)?;
        done.push(reading(variant.name, &runs));
    }
    let check = |(i, claim): (usize, &Claim)| {
        let with = |verdict: Verdict| -> Vec<&str> {
            done.iter().filter(|done| done.verdicts[i] == verdict).map(|done| done.name).collect()
        };
        let (agree, differ) = (with(Verdict::Agrees), with(Verdict::Differs));
        let shorter = if agree.len() <= differ.len() {
            ("agrees with", agree.clone())
        } else {
            ("differs with", differ)
        };
        let names =
            if shorter.1.is_empty() { "no variant".to_owned() } else { shorter.1.join("; ") };
        Check {
            what: format!("verdict on: {}", what(claim)),
            paper: claim.paper.to_owned(),
            measured: Measured::Words(format!(
                "agrees in {} of {} variants",
                agree.len(),
                done.len()
            )),
            verdict: Verdict::Measured,
            reason: Some(format!("{} {names}", shorter.0)),
        }
    };
    let checks = CLAIMS.iter().enumerate().map(check).collect();
    let blocks =
        (0..environments().len()).flat_map(|at| [heat(&done, at), table(&done, at)]).collect();
    let mut assumptions = assumptions();
    assumptions.push(
        "Each variant changes one thing. CPU work halved is cores of double speed. \"Shared\" \
         disks are near what 99 virtual \
         machines on four partitions get. \"Learned anew\" is a fresh cluster for each request."
            .to_owned(),
    );
    Ok(ItemOutcome { checks, assumptions, blocks })
}

fn reading(name: &'static str, runs: &[(&'static str, Seen)]) -> Done {
    let values: Vec<_> = runs.iter().map(|(label, seen)| (*label, seen.claims)).collect();
    let (checks, _) = check_groups(&CLAIMS, &BY_ENVIRONMENT, &values);
    let medians = environments().into_iter().map(|world| {
        let of = |i: usize| {
            let of_world = values.iter().filter(|(label, _)| *label == world.label);
            Spread::of(of_world.filter_map(|(_, values)| values[i]).collect(), 0, "").five[2]
        };
        (0..CLAIMS.len()).map(of).collect()
    });
    Done {
        name,
        verdicts: checks.iter().map(|check| check.verdict).collect(),
        medians: medians.collect(),
    }
}

/// What the claim is about, here with fewer requests.
fn what(claim: &Claim) -> String {
    claim.what.replace("of ten", "of three")
}

/// The claims of Fig. 8 and 11: in percent.
const IMPROVEMENTS: usize = 4;

fn heat(done: &[Done], at: usize) -> Block {
    Block::Heat(HeatMap {
        title: format!("How much less time a request takes, {}", environments()[at].label),
        caption: "Medians over the seeds, in percent; below 0 it takes longer.".to_owned(),
        x: "comparison".to_owned(),
        y: "variant".to_owned(),
        value: "less time (%)".to_owned(),
        x_labels: CLAIMS[..IMPROVEMENTS].iter().map(|claim| claim.what.to_owned()).collect(),
        y_labels: done.iter().map(|done| done.name.to_owned()).collect(),
        values: done
            .iter()
            .map(|done| done.medians[at][..IMPROVEMENTS].iter().map(|value| Some(*value)).collect())
            .collect(),
        middle: Some(0.0),
    })
}

fn table(done: &[Done], at: usize) -> Block {
    let row = |done: &Done| {
        let numbers =
            done.medians[at].iter().map(|value| Cell::Number((value * 10.0).round() / 10.0));
        std::iter::once(Cell::Text(done.name.to_owned())).chain(numbers).collect()
    };
    let heading = |claim: &Claim| match claim.unit {
        "" => what(claim),
        unit => format!("{} ({unit})", what(claim)),
    };
    Block::Table(Table {
        caption: format!("Medians over the seeds, {}", environments()[at].label),
        columns: std::iter::once("variant".to_owned()).chain(CLAIMS.iter().map(heading)).collect(),
        rows: done.iter().map(row).collect(),
    })
}
