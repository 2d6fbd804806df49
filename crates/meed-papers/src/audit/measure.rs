//! From runs to a property's value: the formulas of [`super::property`], the same in the search and
//! in a replay.

use std::cell::OnceCell;

use meed_sim::record::RunRecord;

use super::case::{Case, Rounding};
use super::course::{Course, Spell};
use super::credit::owed;
use super::draft::{Draft, SLOT, USELESS, names_of, queue_of};
use super::envy::envy;
use super::error::AuditError;
use super::ground::Ground;
use super::idle::idle_while_wanted;
use super::past::gain;
use super::property::{Against, Property, PropertyRow};
use super::starved::longest_starved;

/// A run, and what it is compared with.
pub(super) struct Seen<'a> {
    /// All honest, under the policy.
    pub(super) honest: &'a RunRecord,
    /// What happened in it, where that is asked for.
    pub(super) course: &'a Course,
    /// The run with the lie, or alone on the share.
    pub(super) other: Option<&'a RunRecord>,
    /// What happened in it, where that is asked for.
    pub(super) other_course: &'a Course,
    /// Seconds after which the liar is honest again.
    pub(super) since_s: f64,
    /// What each queue held and waited for in it, the same for all tenants: once somebody asks.
    pub(super) spells: OnceCell<Vec<Spell>>,
}

/// A case, evaluated.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Judged {
    pub(super) case: Case,
    /// The tenant that it is about.
    pub(super) tenant: usize,
    pub(super) value: f64,
    pub(super) tolerance: f64,
}

/// Below this a value is 0: sums of floats of this size.
const NOTHING: f64 = 1e-9;

impl Judged {
    /// What whole tasks do not explain of the value.
    pub(super) fn excess(&self) -> f64 {
        self.value - self.tolerance
    }

    /// Whether it speaks against the property.
    pub(super) fn violates(&self) -> bool {
        self.excess() > NOTHING
    }
}

/// Slot-seconds of the queues called `names`: useful, and in all.
fn work(record: &RunRecord, names: &[String]) -> (f64, f64) {
    let ours = record.queues.iter().filter(|queue| names.contains(&queue.queue));
    let of = |usage: &std::collections::BTreeMap<String, f64>, kind: &str| {
        usage.get(kind).copied().unwrap_or(0.0)
    };
    ours.fold((0.0, 0.0), |(useful, all), queue| {
        let used = of(&queue.usage, SLOT);
        (useful + used - of(&queue.usage, USELESS), all + used)
    })
}

/// What others lost of their useful work.
fn harm(honest: &RunRecord, other: &RunRecord, names: &[String]) -> f64 {
    let others = honest.queues.iter().filter(|queue| !names.contains(&queue.queue));
    let lost = others.map(|queue| {
        let name = std::slice::from_ref(&queue.queue);
        (work(honest, name).0 - work(other, name).0).max(0.0)
    });
    lost.sum()
}

/// The value of `property` for the tenant that goes by `names`, the first of which is its honest
/// one.
pub(super) fn value(property: &PropertyRow, seen: &Seen<'_>, names: &[String]) -> f64 {
    let honest = seen.honest;
    let own = honest.queues.iter().find(|queue| Some(&queue.queue) == names.first());
    let share = own.map_or(0.0, |queue| queue.share);
    let contributed = share * honest.end_s;
    let (useful, all) = work(honest, names);
    let compared = seen.other.map(|other| work(other, names));
    match (property.against, compared, seen.other) {
        (Against::Idle, ..) => {
            let capacity = honest.queues.iter().map(|queue| queue.share).sum();
            idle_while_wanted(seen.course, capacity, honest.end_s)
        }
        (Against::Turn, ..) => longest_starved(seen.course, honest, &names[0]),
        (Against::Others, ..) => among(seen, &names[0], envy) / contributed,
        (Against::Lenders, alone, _) => {
            let lacks = alone.map_or(0.0, |(alone, _)| alone - useful);
            lacks.max(among(seen, &names[0], owed)) / contributed
        }
        (Against::Past, _, Some(other)) => {
            let (end, since) = (honest.end_s, seen.since_s);
            let lying = seen.other_course.spells(names, other.end_s);
            gain(&seen.course.spells(names, end), &lying, since) / contributed
        }
        (Against::Contribution, ..) => {
            let given: f64 = honest
                .queues
                .iter()
                .map(|queue| work(honest, std::slice::from_ref(&queue.queue)).1)
                .sum();
            let capacity: f64 = honest.queues.iter().map(|queue| queue.share).sum();
            1.0 - all / (given * share / capacity)
        }
        (_, Some((_, other_all)), Some(other)) if property.property == Property::Overclaiming => {
            (other_all - all).min(harm(honest, other, names)) / contributed
        }
        (_, Some((other_useful, _)), _) => (other_useful - useful) / contributed,
        (_, None, _) => 0.0,
    }
}

/// A figure of the queue called `name` among all, from what happened to them.
fn among(seen: &Seen<'_>, name: &str, figure: fn(&[Spell], &[f64], usize) -> f64) -> f64 {
    let queues = &seen.honest.queues;
    let spells = seen.spells.get_or_init(|| {
        let names: Vec<String> = queues.iter().map(|queue| queue.queue.clone()).collect();
        seen.course.spells(&names, seen.honest.end_s)
    });
    let shares: Vec<f64> = queues.iter().map(|queue| queue.share).collect();
    let own = queues.iter().position(|queue| queue.queue == name);
    own.map_or(0.0, |own| figure(spells, &shares, own))
}

fn rounding(property: &PropertyRow, case: &Case, ground: &Ground) -> Rounding {
    // The static partition rounds nothing: shares are whole and as wide as any task.
    let lag = ground.lag();
    let of = |runs: u32, claims_all: bool| Rounding {
        waits: runs,
        widths: runs,
        claims_all,
        others: false,
        lag,
    };
    match property.against {
        Against::Idle => of(0, false),
        Against::Alone => of(1, false),
        Against::Contribution | Against::Lenders => of(1, true),
        Against::Lie | Against::Past => of(2, true),
        Against::Others => Rounding { others: true, ..of(1, true) },
        // A drain for the tenant, after one for each of the others.
        Against::Turn => Rounding { waits: case.tenants.len() as u32, ..of(0, false) },
    }
}

/// What the value exceeds that part of its tolerance by which no finer division takes away: what a
/// search follows.
pub(super) fn promise(property: &PropertyRow, ground: &Ground, judged: &Judged) -> f64 {
    let rounding = rounding(property, &judged.case, ground);
    judged.value - judged.case.waiting(rounding, judged.tenant)
}

/// Runs a case under the policy and judges it; of several tenants the one that fares worst.
pub(super) fn judge(
    property: &PropertyRow,
    case: &Case,
    ground: &Ground,
    alone: &Ground,
) -> Result<Judged, AuditError> {
    let honest = Draft::of(case, false);
    let needs_course = property.against.needs_course();
    let run = |ground: &Ground, draft: &Draft, logged: bool| match logged {
        true => ground.run_logged(draft),
        false => Ok((ground.run(draft)?, Vec::new())),
    };
    let (record, log) = run(ground, &honest, needs_course)?;
    let other = match property.against {
        against if against.is_alone() => Some(run(alone, &honest, false)?),
        against if against.is_lie() => Some(run(ground, &Draft::of(case, true), needs_course)?),
        _ => None,
    };
    let (other, other_log) = other.map_or((None, Vec::new()), |(run, log)| (Some(run), log));
    let seen = Seen {
        honest: &record,
        course: &Course::of(&log)?,
        other: other.as_ref(),
        other_course: &Course::of(&other_log)?,
        since_s: f64::from(case.honest_again()) * 60.0,
        spells: OnceCell::new(),
    };
    let judged = |tenant: usize, names: &[String]| {
        let tolerance = case.tolerance(rounding(property, case, ground), tenant);
        Judged { case: case.clone(), tenant, value: value(property, &seen, names), tolerance }
    };
    Ok(match property.against {
        Against::Lie | Against::Past => judged(case.liar, &names_of(case, case.liar)),
        Against::Idle => judged(0, &[queue_of(case, 0)]),
        Against::Alone
        | Against::Contribution
        | Against::Turn
        | Against::Others
        | Against::Lenders => {
            let all = (0..case.tenants.len()).map(|i| judged(i, &[queue_of(case, i)]));
            let worst = all.reduce(|a, b| if b.excess() > a.excess() { b } else { a });
            worst.expect("a case has tenants")
        }
    })
}
