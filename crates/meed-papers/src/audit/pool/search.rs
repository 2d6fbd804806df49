//! The search: known and random cases, climbs from the worst, finer tasks, and the worst made
//! small.
//!
//! The random cases of a property are the same for every policy, so that rates and means compare;
//! each counts twice, with tasks as drawn and with tasks [`FINE`] times finer. Random numbers come
//! from streams named after property and place in the search. Cost: about 3 trials + 300 judgements
//! of one or two decisions and a few exact solutions each.

use meed_workload::generate::Stream;

use super::case::{KINDS, PoolCase};
use super::measure::{Judged, judge};
use super::property::PoolProperty;
use super::{AuditError, PoolCell, PoolCounterexample, PoolOptions};
use crate::audit::shrink::{KEPT, greedy};

/// How much finer tasks are where whole tasks are to explain little.
pub(super) const FINE: u32 = 64;
/// Scales at which the worst cases are tried.
const SCALES: [u32; 4] = [1, 8, 64, 256];
/// Cases that are climbed from.
const CLIMBERS: usize = 2;
/// Judgements of one shrinking.
const MOST_TRIES: usize = 200;

/// Cases that are known: Fig. 1, Fig. 2 (times 5) and Prop. 4 of DRFH; a lie about slots.
pub(super) fn classics(property: PoolProperty) -> Vec<PoolCase> {
    let case = |servers: &[[u32; 2]], users: &[[u32; 2]]| PoolCase {
        servers: servers.iter().map(|row| row.to_vec()).collect(),
        users: users.iter().map(|row| row.to_vec()).collect(),
        claims: Vec::new(),
        leaver: None,
        scale: 1,
    };
    let mut all = vec![
        case(&[[10, 60], [60, 10]], &[[1, 5], [5, 1]]),
        case(&[[1, 14], [8, 4]], &[[1, 4], [3, 1]]),
        case(&[[1, 2], [4, 3]], &[[1, 1], [3, 2]]),
    ];
    for case in &mut all {
        if property == PoolProperty::PopulationMonotonicity {
            case.leaver = Some(0);
        }
        if property == PoolProperty::GroupStrategyProofness {
            case.claims = vec![(0, case.users[0].iter().map(|need| need + 1).collect())];
        }
        case.mend(property);
    }
    if property == PoolProperty::GroupStrategyProofness {
        // Of slots that hold more than a task, a task of twice the size takes no more than one.
        all.push(PoolCase {
            claims: vec![(0, vec![2, 2])],
            ..case(&[[32, 32]], &[[1, 1], [1, 1]])
        });
    }
    all.retain(|case| case.is_of(property));
    all
}

/// One search.
pub(super) fn search(
    property: PoolProperty,
    words: &str,
    options: &PoolOptions,
) -> Result<PoolCell, AuditError> {
    let stream =
        |what: &str| Stream::new(options.seed, &format!("pool {} {what}", property.row().name));
    let judge = |case: &PoolCase| judge(property, case, words);
    let finer = |case: &PoolCase| judge(&PoolCase { scale: FINE, ..case.clone() });
    let mut cell = PoolCell {
        property,
        policy: words.to_owned(),
        trials: options.trials,
        showed: 0,
        showed_fine: 0,
        mean: 0.0,
        mean_fine: 0.0,
        largest: 0.0,
        largest_fine: 0.0,
        counterexample: None,
    };
    let mut fine = Vec::new();
    let drawn =
        (0..options.trials).map(|i| PoolCase::draw(property, &mut stream(&format!("case {i}"))));
    let known = classics(property);
    let mut all = Vec::new();
    for case in &known {
        for scale in SCALES {
            all.push(judge(&PoolCase { scale, ..case.clone() })?);
        }
    }
    let parts = 1.0 / f64::from(options.trials.max(1));
    for (number, case) in drawn.chain(known).enumerate() {
        if !case.is_of(property) {
            continue;
        }
        let (plain, small) = (judge(&case)?, finer(&case)?);
        cell.largest = cell.largest.max(plain.lack.value());
        cell.largest_fine = cell.largest_fine.max(small.lack.value());
        if number < options.trials as usize {
            cell.showed += u32::from(plain.lack.is_task());
            cell.showed_fine += u32::from(small.lack.violates());
            cell.mean += parts * plain.lack.value();
            cell.mean_fine += parts * small.lack.value();
        }
        fine.push(small);
    }
    sort(&mut fine);
    fine.truncate(CLIMBERS);
    for rank in 0..fine.len() {
        let mut dice = stream(&format!("climb {rank}"));
        let mut best = fine[rank].clone();
        for _ in 0..options.trials / 2 {
            let case = best.case.change(property, &mut dice);
            if case.is_of(property) {
                let judged = judge(&PoolCase { scale: FINE, ..case })?;
                if judged.lack.excess() >= best.lack.excess() {
                    best = judged;
                }
            }
        }
        fine.push(best);
    }
    for found in &fine {
        for scale in SCALES {
            all.push(judge(&PoolCase { scale, ..found.case.clone() })?);
        }
    }
    sort(&mut all);
    if let Some(worst) = all.into_iter().next().filter(|worst| worst.lack.violates()) {
        let small = shrink(property, worst, &judge)?;
        cell.counterexample = Some(PoolCounterexample {
            value: small.lack.value(),
            tolerance: small.lack.tolerance(),
            user: PoolCase::name(small.lack.user),
            has: small.lack.has,
            could: small.lack.could,
            story: story(property, &small),
            case: small.case,
        });
    }
    Ok(cell)
}

/// The largest excess first; equal ones by their case, for a result that depends on nothing else.
fn sort(judged: &mut [Judged]) {
    judged.sort_by(|a, b| {
        b.lack.excess().total_cmp(&a.lack.excess()).then_with(|| a.case.cmp(&b.case))
    });
}

/// A smaller case that keeps most of the excess: the first simplification that does is taken, until
/// none does.
pub(super) fn shrink(
    property: PoolProperty,
    found: Judged,
    judge: &dyn Fn(&PoolCase) -> Result<Judged, AuditError>,
) -> Result<Judged, AuditError> {
    let least = found.lack.excess() * KEPT;
    let smaller = |best: &Judged| {
        let mut all = best.case.simpler();
        all.iter_mut().for_each(|case| case.mend(property));
        all.retain(|case| case.is_of(property) && case.size() < best.case.size());
        all
    };
    let keeps = |judged: &Judged| judged.lack.violates() && judged.lack.excess() >= least;
    greedy(found, MOST_TRIES, smaller, judge, keeps)
}

fn story(property: PoolProperty, judged: &Judged) -> Vec<String> {
    let (case, lack) = (&judged.case, &judged.lack);
    let words = |amounts: &[u32], scale: u32| {
        let pairs = KINDS.iter().zip(amounts);
        pairs
            .map(|(kind, &amount)| format!("{} {kind}", u64::from(amount) * u64::from(scale)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut lines = Vec::new();
    for (number, server) in case.servers.iter().enumerate() {
        lines.push(format!("Server {}: {}.", number + 1, words(server, case.scale)));
    }
    for (user, demand) in case.users.iter().enumerate() {
        lines.push(format!(
            "{} has tasks of {}, without end.",
            PoolCase::name(user),
            words(demand, 1)
        ));
    }
    for (user, claim) in &case.claims {
        lines.push(format!(
            "The lie: {} claims tasks of {}.",
            PoolCase::name(*user),
            words(claim, 1)
        ));
    }
    if let Some(gone) = case.leaver {
        lines.push(format!("{} leaves.", PoolCase::name(gone)));
    }
    lines.push(format!(
        "{} runs {} tasks and could run {:.2}: {:.1} % {}. Whole tasks explain {:.1} %.",
        PoolCase::name(lack.user),
        lack.has,
        lack.could,
        100.0 * lack.value(),
        property.row().means,
        100.0 * lack.tolerance(),
    ));
    lines
}
