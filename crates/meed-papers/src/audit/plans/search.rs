//! The search: known and random cases, climbs from the most promising, finer tasks, the worst made
//! small.
//!
//! The random cases of a property and problem are the same for every order, so that counts and
//! means compare. A random case shows a violation where its value is beyond the tolerance at one of
//! [`SCALES`]; only one that is within reach of that is run at the finer. Random numbers come from
//! streams named after property, problem and place in the search.
//!
//! Cost: trials + 3 x trials / 2 + 60 judgements of one to five small runs each, and of those that
//! promise something 9 times as much.

use meed_workload::generate::Stream;

use super::case::{FINEST, PlanCase};
use super::known::known;
use super::measure::{Judged, judge};
use super::options::PlanOptions;
use super::problem::PlanProblem;
use super::property::PlanProperty;
use super::result::PlanCell;
use super::story::counterexample;
use crate::audit::error::AuditError;
use crate::audit::shrink::{KEPT, greedy};

/// Scales at which a case is tried.
const SCALES: [u32; 2] = [1, FINEST];
/// Cases that are climbed from.
const CLIMBERS: usize = 3;
/// Judgements of one shrinking.
const MOST_TRIES: usize = 60;
/// Below this an excess is 0.
const NOTHING: f64 = 1e-9;

/// One search.
pub(super) fn search(
    property: PlanProperty,
    problem: PlanProblem,
    policy: &str,
    options: &PlanOptions,
) -> Result<PlanCell, AuditError> {
    let names = format!("plans {} {}", problem.name(), property.row().name);
    let stream = |what: &str| Stream::new(options.seed, &format!("{names} {what}"));
    let judge = |case: &PlanCase| judge(property, case, policy);
    let draw = |trial| PlanCase::draw(problem, property, &mut stream(&format!("case {trial}")));
    let mut found =
        (0..options.trials).map(|trial| judge(&draw(trial))).collect::<Result<Vec<_>, _>>()?;
    let mean =
        found.iter().map(|judged| judged.value).sum::<f64>() / f64::from(options.trials.max(1));
    let mut refined = Vec::new();
    for judged in &found {
        refined.extend(refine(judged, &judge)?);
    }
    let showed = refined.len() as u32;
    for case in &known(problem, property) {
        found.push(judge(case)?);
    }
    sort(&mut found, Judged::promise);
    found.truncate(CLIMBERS);
    for (rank, start) in found.iter_mut().enumerate() {
        let mut dice = stream(&format!("climb {policy} {rank}"));
        for _ in 0..options.trials / 2 {
            let judged = judge(&start.case.change(property, &mut dice))?;
            if judged.promise() >= start.promise() {
                *start = judged;
            }
        }
        refined.extend(refine(start, &judge)?);
    }
    sort(&mut refined, Judged::excess);
    let worst = refined.into_iter().next().map(|worst| shrink(property, worst, &judge));
    Ok(PlanCell {
        property,
        problem,
        policy: policy.to_owned(),
        trials: options.trials,
        showed,
        mean,
        counterexample: worst.transpose()?.map(|worst| counterexample(property, worst)),
    })
}

/// The case at the scale at which it shows most beyond its tolerance; nothing where it never does.
fn refine(
    judged: &Judged,
    judge: &dyn Fn(&PlanCase) -> Result<Judged, AuditError>,
) -> Result<Option<Judged>, AuditError> {
    if judged.promise() <= NOTHING {
        return Ok(None);
    }
    let mut all = Vec::new();
    for scale in SCALES {
        all.push(judge(&PlanCase { scale, ..judged.case.clone() })?);
    }
    sort(&mut all, Judged::excess);
    Ok(all.into_iter().next().filter(|worst| worst.excess() > NOTHING))
}

/// The largest first; equal ones by their case.
fn sort(found: &mut [Judged], by: impl Fn(&Judged) -> f64) {
    found.sort_by(|a, b| by(b).total_cmp(&by(a)).then_with(|| a.case.cmp(&b.case)));
}

/// A smaller case that keeps most of the excess: the first simplification that does is taken, until
/// none does.
fn shrink(
    property: PlanProperty,
    found: Judged,
    judge: &dyn Fn(&PlanCase) -> Result<Judged, AuditError>,
) -> Result<Judged, AuditError> {
    let least = found.excess() * KEPT;
    let smaller = |best: &Judged| best.case.simpler(property);
    greedy(found, MOST_TRIES, smaller, judge, |judged| judged.excess() >= least)
}
