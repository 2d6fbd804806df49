//! Which verdicts of Fig. 8 to 12 hang on what we assume: work, disks, networks, data, and how
//! requests follow each other.
//!
//! One assumption at a time is varied, the others stay. Three requests instead of ten, so that it
//! stays affordable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use meed_report::page::{Block, Cell, HeatMap, Table};
use serde_json::json;

use super::super::macro_figures::claim::{Claim, check_groups};
use super::rules::{BY_ENVIRONMENT, CLAIMS, PRINTED, Seen, beside, between_environments, read};
use super::variant::{Variant, each, kept, on_hosts, request, set, varied, worlds};
use super::worlds::{assumptions, environments, sweep};
use crate::reproduce::{
    Again, Check, Context, ItemOutcome, Measured, ReproduceError, Spread, Verdict,
};

/// The first is how all is assumed.
pub(super) const VARIANTS: [Variant; 16] = [
    kept(varied("as assumed", |_| {})),
    varied("CPU work halved", |world| each(world, |nodes| nodes.speed *= 2.0)),
    varied("CPU work doubled", |world| each(world, |nodes| nodes.speed *= 0.5)),
    varied("disks half as fast", |world| each(world, |nodes| nodes.disk_mb_s *= 0.5)),
    varied("disks twice as fast", |world| each(world, |nodes| nodes.disk_mb_s *= 2.0)),
    varied("disks a tenth as fast (shared)", |world| each(world, |nodes| nodes.disk_mb_s *= 0.1)),
    varied("no seek penalty", |world| set(world, "seek_penalty", 0)),
    varied("seek penalty 0.3", |world| set(world, "seek_penalty", 0.3)),
    varied("networks a tenth as fast", |world| each(world, |nodes| nodes.network_mb_s *= 0.1)),
    varied("one replica", |world| set(world, "replicas", 1)),
    varied("DIOR 60 MB/s (one stream)", |world| set(world, "average_disk_bytes_per_s", "60MB")),
    varied("DIOR 20 MB/s", |world| set(world, "average_disk_bytes_per_s", "20MB")),
    varied("5 to 100 GB a job", |world| request(world, "input", json!(["5GB", "100GB"]))),
    varied("100 GB a job", |world| request(world, "input", "100GB")),
    varied("requests 5 min apart", |world| request(world, "every", "5min")),
    varied("learned anew in each request", |world| request(world, "count", 1)),
];

/// The same on the paper's hosts, but for 5 to 100 GB a job, which `hosts` has.
pub(super) const ON_HOSTS: [Variant; 14] = [
    on_hosts("all, CPU work halved", &VARIANTS[1]),
    on_hosts("all, CPU work doubled", &VARIANTS[2]),
    on_hosts("all, disks half as fast", &VARIANTS[3]),
    on_hosts("all, disks twice as fast", &VARIANTS[4]),
    on_hosts("all, disks a tenth as fast", &VARIANTS[5]),
    on_hosts("all, no seek penalty", &VARIANTS[6]),
    on_hosts("all, seek penalty 0.3", &VARIANTS[7]),
    on_hosts("all, networks a tenth as fast", &VARIANTS[8]),
    on_hosts("all, one replica", &VARIANTS[9]),
    on_hosts("all, DIOR 60 MB/s", &VARIANTS[10]),
    on_hosts("all, DIOR 20 MB/s", &VARIANTS[11]),
    on_hosts("all, 100 GB a job", &VARIANTS[13]),
    on_hosts("all, requests 5 min apart", &VARIANTS[14]),
    on_hosts("all, learned anew in each request", &VARIANTS[15]),
];

/// What came of one variant.
pub(super) struct Done {
    pub(super) name: &'static str,
    fact: bool,
    /// Of each claim, and of those that compare environments.
    pub(super) checks: Vec<Check>,
    /// Of each of them: what the runs gave, beside their environment, in order of seeds.
    pub(super) values: Vec<Vec<(&'static str, f64)>>,
    /// Median of each claim in each environment.
    medians: Vec<Vec<f64>>,
}

/// What came of variants, by name, number of seeds and the first of them: some are asked for by
/// several items.
pub(super) type Studied = Arc<Mutex<BTreeMap<(&'static str, u64, u64), Arc<Done>>>>;

/// What comes of a variant.
pub(super) fn studied(context: &Context, variant: &Variant) -> Result<Arc<Done>, ReproduceError> {
    let key = (variant.name, context.seeds.min(variant.most_seeds), context.first_seed);
    let all = || context.shared.jas.studied.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(done) = all().get(&key) {
        return Ok(Arc::clone(done));
    }
    let runs = sweep(context, variant.most_seeds, &worlds(variant), &PRINTED, read)?;
    let done = Arc::new(reading(variant, &runs));
    all().insert(key, Arc::clone(&done));
    Ok(done)
}

/// The study.
pub(in super::super) fn study(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = compare(context, &VARIANTS)?;
    // What compares environments is in `hosts`.
    outcome.checks.truncate(CLAIMS.len());
    outcome.assumptions.push(
        "Each variant changes one thing. CPU work halved is cores of double speed. \"Shared\" \
         disks are near what 99 virtual \
         machines on four partitions get. \"Learned anew\" is a fresh cluster for each request."
            .to_owned(),
    );
    Ok(outcome)
}

/// All claims under each of the variants: a check for each claim.
pub(super) fn compare(
    context: &Context,
    variants: &[Variant],
) -> Result<ItemOutcome, ReproduceError> {
    let mut done = Vec::new();
    for variant in variants {
        done.push(studied(context, variant)?);
    }
    let checks = (0..done[0].checks.len()).map(|i| verdicts_on(&done, i)).collect();
    let blocks =
        (0..environments().len()).flat_map(|at| [heat(&done, at), table(&done, at)]).collect();
    Ok(ItemOutcome { checks, assumptions: assumptions(), blocks })
}

/// Under which variants one claim comes out.
fn verdicts_on(done: &[Arc<Done>], i: usize) -> Check {
    let with = |verdict: Verdict| -> Vec<&str> {
        let so = done.iter().filter(|done| done.checks[i].verdict == verdict);
        so.map(|done| done.name).collect()
    };
    let claim = &done[0].checks[i];
    let agrees = |done: &&Arc<Done>| done.fact && done.checks[i].verdict == Verdict::Agrees;
    let facts = done.iter().filter(agrees);
    let (agree, differ) = (with(Verdict::Agrees), with(Verdict::Differs));
    let measured = format!("agrees in {} of {} variants", agree.len(), done.len());
    let (word, names) = match agree.len() <= differ.len() {
        true => ("agrees with", agree),
        false => ("differs with", differ),
    };
    let names = if names.is_empty() { "no variant".to_owned() } else { names.join("; ") };
    Check {
        what: format!("verdict on: {}", fewer(&claim.what)),
        paper: claim.paper.clone(),
        measured: Measured::Words(measured),
        verdict: Verdict::Measured,
        reason: Some(format!("{word} {names}")),
        under: Vec::new(),
        again: done.iter().any(|done| done.fact).then(|| Again {
            item: "jas-fig8",
            claim: claim.what.clone(),
            facts: facts.map(|done| done.name.to_owned()).collect(),
        }),
    }
}

fn reading(variant: &Variant, runs: &[(&'static str, Seen)]) -> Done {
    let values: Vec<_> = runs.iter().map(|(label, seen)| (*label, seen.claims)).collect();
    let (mut checks, _) = check_groups(&CLAIMS, &BY_ENVIRONMENT, &values);
    checks.extend(between_environments(runs).0);
    let medians = environments().into_iter().map(|world| {
        let of = |i: usize| {
            let of_world = values.iter().filter(|(label, _)| *label == world.label);
            Spread::of(of_world.filter_map(|(_, values)| values[i]).collect(), 0, "").five[2]
        };
        (0..CLAIMS.len()).map(of).collect()
    });
    let medians = medians.collect();
    let values = columns(&values).chain(columns(&beside(runs))).collect();
    Done { name: variant.name, fact: variant.fact, checks, values, medians }
}

/// Of each claim what the runs gave, where they gave anything.
pub(super) fn columns<const N: usize>(
    rows: &[(&'static str, [Option<f64>; N])],
) -> impl Iterator<Item = Vec<(&'static str, f64)>> {
    let column = |i: usize| rows.iter().filter_map(move |(label, row)| Some((*label, row[i]?)));
    (0..N).map(move |i| column(i).collect())
}

/// What a claim is about, here with fewer requests.
pub(super) fn fewer(what: &str) -> String {
    what.replace("of ten", "of three")
}

/// The claims of Fig. 8 and 11: in percent.
const IMPROVEMENTS: usize = 4;

fn heat(done: &[Arc<Done>], at: usize) -> Block {
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

fn table(done: &[Arc<Done>], at: usize) -> Block {
    let row = |done: &Arc<Done>| {
        let numbers =
            done.medians[at].iter().map(|value| Cell::Number((value * 10.0).round() / 10.0));
        std::iter::once(Cell::Text(done.name.to_owned())).chain(numbers).collect()
    };
    let heading = |claim: &Claim| match claim.unit {
        "" => fewer(claim.what),
        unit => format!("{} ({unit})", fewer(claim.what)),
    };
    Block::Table(Table {
        caption: format!("Medians over the seeds, {}", environments()[at].label),
        columns: std::iter::once("variant".to_owned()).chain(CLAIMS.iter().map(heading)).collect(),
        rows: done.iter().map(row).collect(),
    })
}
