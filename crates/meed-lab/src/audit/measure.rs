//! From runs to a property's value: the formulas of [`super::property`], the same in the search and
//! in a replay.

use meed_sim::record::RunRecord;

use super::AuditError;
use super::case::{Case, Rounding};
use super::course::Course;
use super::draft::{Draft, SLOT, USELESS, names_of, queue_of};
use super::ground::Ground;
use super::idle::idle_while_wanted;
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

fn rounding(property: &PropertyRow, case: &Case) -> Rounding {
    // The static partition rounds nothing: shares are whole and as wide as any task.
    let of = |runs: u32, claims_all: bool| Rounding { waits: runs, widths: runs, claims_all };
    match property.against {
        Against::Idle => of(0, false),
        Against::Alone => of(1, false),
        Against::Contribution => of(1, true),
        Against::Lie => of(2, true),
        // A drain for the tenant, after one for each of the others.
        Against::Turn => Rounding { waits: case.tenants.len() as u32, ..of(0, false) },
    }
}

/// What the value exceeds that part of its tolerance by which no finer division takes away: what a
/// search follows.
pub(super) fn promise(property: &PropertyRow, judged: &Judged) -> f64 {
    judged.value - judged.case.waiting(rounding(property, &judged.case), judged.tenant)
}

/// Runs a case under the policy and judges it; of several tenants the one that fares worst.
pub(super) fn judge(
    property: &PropertyRow,
    case: &Case,
    ground: &Ground,
    alone: &Ground,
) -> Result<Judged, AuditError> {
    let honest = Draft::of(case, false);
    let (record, log) = match property.against {
        Against::Idle | Against::Turn => ground.run_logged(&honest)?,
        _ => (ground.run(&honest)?, Vec::new()),
    };
    let other = match property.against {
        Against::Alone => Some(alone.run(&honest)?),
        Against::Lie => Some(ground.run(&Draft::of(case, true))?),
        Against::Contribution | Against::Idle | Against::Turn => None,
    };
    let course = Course::of(&log)?;
    let seen = Seen { honest: &record, course: &course, other: other.as_ref() };
    let judged = |tenant: usize, names: &[String]| {
        let tolerance = case.tolerance(rounding(property, case), tenant);
        Judged { case: case.clone(), tenant, value: value(property, &seen, names), tolerance }
    };
    Ok(match property.against {
        Against::Lie => judged(case.liar, &names_of(case, case.liar)),
        Against::Idle => judged(0, &[queue_of(case, 0)]),
        Against::Alone | Against::Contribution | Against::Turn => {
            let all = (0..case.tenants.len()).map(|i| judged(i, &[queue_of(case, i)]));
            let worst = all.reduce(|a, b| if b.excess() > a.excess() { b } else { a });
            worst.expect("a case has tenants")
        }
    })
}
