//! Makes a counterexample smaller while it keeps what it shows: at least 90 % of what its value
//! exceeds its tolerance by.
//!
//! Greedy: the first simplification that keeps it is taken, until none does ([`greedy`], also for
//! cases of pools and of plans). Cost: bounded by [`MOST_TRIES`] judgements.

use super::case::{Case, Lie};
use super::error::AuditError;
use super::measure::Judged;

/// Judgements of one shrinking.
const MOST_TRIES: usize = 300;
/// Part of the excess that has to stay.
pub(super) const KEPT: f64 = 0.9;

/// The smaller case.
pub(super) fn shrink(
    found: Judged,
    judge: &dyn Fn(&Case) -> Result<Judged, AuditError>,
    needs_lie: bool,
) -> Result<Judged, AuditError> {
    let least = found.excess() * KEPT;
    let smaller = |best: &Judged| {
        let mut all = simpler(&best.case);
        all.iter_mut().for_each(Case::mend);
        all.retain(|case| {
            *case != best.case
                && !(needs_lie && case.lies.is_empty())
                && size(case) < size(&best.case)
        });
        all
    };
    let keeps = |judged: &Judged| judged.violates() && judged.excess() >= least;
    greedy(found, MOST_TRIES, smaller, judge, keeps)
}

/// Takes the first of the `smaller` cases that `keeps` what is shown, until none does, or so many
/// were judged.
pub(super) fn greedy<C, J>(
    found: J,
    most_tries: usize,
    smaller: impl Fn(&J) -> Vec<C>,
    judge: &dyn Fn(&C) -> Result<J, AuditError>,
    keeps: impl Fn(&J) -> bool,
) -> Result<J, AuditError> {
    let (mut best, mut tries) = (found, 0);
    'again: loop {
        for case in smaller(&best) {
            tries += 1;
            if tries > most_tries {
                return Ok(best);
            }
            let judged = judge(&case)?;
            if keeps(&judged) {
                best = judged;
                continue 'again;
            }
        }
        return Ok(best);
    }
}

/// What a reader has to take in, most of all parts, then numbers: each step makes it smaller, so
/// shrinking ends.
pub(super) fn size(case: &Case) -> (usize, u64) {
    let bursts = || case.tenants.iter().flat_map(|tenant| &tenant.bursts);
    let parts = case.tenants.len() + bursts().count() + case.lies.len();
    let sum = |numbers: [u32; 4]| numbers.iter().map(|&number| u64::from(number)).sum::<u64>();
    let bursts: u64 =
        bursts().map(|burst| sum([burst.at, burst.tasks, burst.length, burst.width])).sum();
    let lies: u64 = case.lies.iter().map(|lie| sum(numbers(lie))).sum();
    let weights: u64 = case.tenants.iter().map(|tenant| u64::from(tenant.weight)).sum();
    let rest = u64::from(case.horizon) + u64::from(case.per_weight) + u64::from(case.scale);
    (parts, bursts + lies + weights + rest)
}

fn numbers(lie: &Lie) -> [u32; 4] {
    match *lie {
        Lie::Useless { at, tasks, length, keep } => [at, tasks, length, keep],
        Lie::Later { burst, by } => [burst as u32, by, 0, 0],
        Lie::Split { alternate, .. } => [u32::from(alternate), 0, 0, 0],
        Lie::Rejoin { at } => [at, 0, 0, 0],
        Lie::Wider { burst, by } => [burst as u32, by, 0, 0],
        Lie::ShortLimit { burst } | Lie::Forgo { burst } => [burst as u32, 0, 0, 0],
    }
}

/// Simpler cases, the boldest first.
fn simpler(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case)| {
        let mut new = case.clone();
        change(&mut new);
        all.push(new);
    };
    for i in 0..case.tenants.len() {
        if case.lies.is_empty() || i != case.liar {
            add(&|new| {
                new.tenants.remove(i);
                new.liar -= usize::from(new.liar > i);
            });
        }
    }
    for i in 0..case.lies.len() {
        add(&|new| {
            new.lies.remove(i);
        });
    }
    for (i, tenant) in case.tenants.iter().enumerate() {
        for b in 0..tenant.bursts.len() {
            add(&|new| {
                new.tenants[i].bursts.remove(b);
            });
        }
    }
    add(&|new| new.scale = 1);
    if case.limits {
        add(&|new| new.limits = false);
    }
    for step in [u32::MAX, 4, 1] {
        let less =
            |value: u32| if step == u32::MAX { value / 2 } else { value.saturating_sub(step) };
        add(&|new| new.horizon = less(new.horizon));
        add(&|new| new.per_weight = less(new.per_weight));
        add(&|new| new.scale = less(new.scale).max(1));
        for (i, tenant) in case.tenants.iter().enumerate() {
            add(&|new| new.tenants[i].weight = less(new.tenants[i].weight));
            for b in 0..tenant.bursts.len() {
                add(&|new| new.tenants[i].bursts[b].at = less(new.tenants[i].bursts[b].at));
                add(&|new| new.tenants[i].bursts[b].tasks = less(new.tenants[i].bursts[b].tasks));
                add(&|new| new.tenants[i].bursts[b].length = less(new.tenants[i].bursts[b].length));
                add(&|new| new.tenants[i].bursts[b].width = less(new.tenants[i].bursts[b].width));
            }
        }
        for i in 0..case.lies.len() {
            for field in 0..4 {
                add(&|new| {
                    if let Some(value) = field_of(&mut new.lies[i], field) {
                        *value = less(*value);
                    }
                });
            }
        }
    }
    all
}

fn field_of(lie: &mut Lie, field: usize) -> Option<&mut u32> {
    match (lie, field) {
        (Lie::Useless { at, .. } | Lie::Rejoin { at }, 0) => Some(at),
        (Lie::Useless { tasks, .. }, 1) => Some(tasks),
        (Lie::Useless { length, .. }, 2) => Some(length),
        (
            Lie::Useless { keep, .. } | Lie::Later { by: keep, .. } | Lie::Wider { by: keep, .. },
            3,
        ) => Some(keep),
        _ => None,
    }
}
