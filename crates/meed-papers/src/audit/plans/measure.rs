//! From scenarios to a value, by the formulas of [`super::property`]. What is measured is read off
//! records of runs of texts, so a search and a replay differ in where the texts come from alone.

use std::path::Path;

use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

use super::case::{Cast, FINEST, PlanCase, name, second};
use super::problem::PlanProblem;
use super::property::PlanProperty;
use crate::audit::error::AuditError;

/// The order of runs in which there is nobody else.
const ALONE: &str = "fair";

/// A case, evaluated.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Judged {
    pub(super) case: PlanCase,
    /// The tenant that it is about.
    pub(super) tenant: usize,
    pub(super) value: f64,
    pub(super) tolerance: f64,
}

impl Judged {
    /// What whole tasks and ticks do not explain of the value.
    pub(super) fn excess(&self) -> f64 {
        self.value - self.tolerance
    }

    /// What they would not, if the value stayed at the finest scale.
    pub(super) fn promise(&self) -> f64 {
        self.value - self.tolerance * f64::from(self.case.scale) / f64::from(FINEST)
    }
}

/// Runs of a tenant's case: all honest, the lie, and each of them alone. Nothing where it is not
/// compared, or nobody has work.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) honest: Option<RunRecord>,
    pub(super) lying: Option<RunRecord>,
    pub(super) alone: Option<RunRecord>,
    pub(super) lying_alone: Option<RunRecord>,
}

/// Runs a scenario's text.
pub(super) fn run(text: &str, policy: &str) -> Result<RunRecord, AuditError> {
    let scenario = Scenario::parse("case.toml", text, Path::new("."), &[], OnBadLine::Stop)?;
    let options = SimulateOptions {
        policies: vec![policy.to_owned()],
        strict: true,
        ..SimulateOptions::default()
    };
    Ok(simulate(&scenario, &options, None, &mut Unwatched)?.runs.remove(0))
}

/// Texts of what [`Runs`] has, in its order, each with the remarks of its place.
pub(super) fn texts(
    property: PlanProperty,
    case: &PlanCase,
    tenant: usize,
    remarks: &dyn Fn(usize) -> Vec<String>,
) -> [Option<String>; 4] {
    let (lies, alone) = (property.lies(), property.is_alone());
    let text = |at, compared: bool, cast, lying| match compared {
        true => case.text(cast, lying, &remarks(at)),
        false => None,
    };
    [
        text(0, true, Cast::All, false),
        text(1, lies, Cast::All, true),
        text(2, alone, Cast::Alone(tenant), false),
        text(3, lies && alone, Cast::Alone(tenant), true),
    ]
}

impl Runs {
    /// Of these texts; what all do where all are honest may be known.
    pub(super) fn of(
        texts: &[Option<String>; 4],
        policy: &str,
        honest: Option<RunRecord>,
    ) -> Result<Runs, AuditError> {
        let one =
            |at: usize, policy| texts[at].as_deref().map(|text| run(text, policy)).transpose();
        let honest = match honest {
            Some(honest) => Some(honest),
            None => one(0, policy)?,
        };
        let (lying, alone, lying_alone) = (one(1, policy)?, one(2, ALONE)?, one(3, ALONE)?);
        Ok(Runs { honest, lying, alone, lying_alone })
    }
}

/// What a tenant has received under its names over what it contributes: task-minutes, and the same
/// by the weights of instances.
fn received(record: Option<&RunRecord>, case: &PlanCase, tenant: usize) -> [f64; 2] {
    let Some(record) = record else { return [0.0; 2] };
    let names = [name(tenant), second(tenant)];
    let resource = case.problem.resources()[0];
    let queues = record.queues.iter().filter(|queue| names.contains(&queue.queue));
    let seconds: f64 = queues.map(|queue| queue.usage.get(resource).copied().unwrap_or(0.0)).sum();
    let accounts = record.accounts.iter().flat_map(|all| &all.accounts);
    let accounts = accounts.filter(|account| names.contains(&account.queue));
    let hours: f64 = accounts.map(|account| account.received).sum();
    let one = &case.tenants[tenant];
    let unit = f64::from(one.task[0]) * case.contributes(tenant);
    [seconds / 60.0 / unit, hours * 60.0 / (unit * f64::from(one.weight))]
}

/// The value for a tenant.
pub(super) fn value(property: PlanProperty, case: &PlanCase, runs: &Runs, tenant: usize) -> f64 {
    let of = |record: Option<&RunRecord>| received(record, case, tenant);
    let honest = of(runs.honest.as_ref());
    let (lying, alone) = (of(runs.lying.as_ref()), of(runs.alone.as_ref()));
    let both: [f64; 2] = match property {
        PlanProperty::AsYouPay => return unpaid(runs.honest.as_ref(), tenant),
        PlanProperty::SharingIncentive => [0, 1].map(|by| alone[by] - honest[by]),
        PlanProperty::Lending | PlanProperty::BuyingLate => {
            let lying_alone = of(runs.lying_alone.as_ref());
            let least = if property == PlanProperty::Lending { 0.0 } else { f64::NEG_INFINITY };
            [0, 1].map(|by| lying[by] - honest[by] - (lying_alone[by] - alone[by]).max(least))
        }
        _ => [0, 1].map(|by| lying[by] - honest[by]),
    };
    let unequal = case.problem == PlanProblem::UnequalInstances;
    match unequal && property != PlanProperty::Splitting {
        true => both[0].min(both[1]),
        false => both[0],
    }
}

/// The part of what a tenant has paid that it has not received.
fn unpaid(record: Option<&RunRecord>, tenant: usize) -> f64 {
    let accounts = record.and_then(|record| record.accounts.as_ref());
    let accounts = accounts.iter().flat_map(|all| &all.accounts);
    let mut own = accounts.filter(|account| account.queue == name(tenant));
    own.next().map_or(0.0, |own| (own.paid - own.worth) / own.paid)
}

/// What whole tasks and ticks explain of the value.
pub(super) fn tolerance(property: PlanProperty, case: &PlanCase, tenant: usize) -> f64 {
    match property {
        PlanProperty::AsYouPay => case.tolerance(1, tenant) * case.dearest(tenant).max(1.0),
        _ => case.tolerance(if property.lies() { 2 } else { 1 }, tenant),
    }
}

/// Runs a case and judges it; of several tenants the one that fares worst.
pub(super) fn judge(
    property: PlanProperty,
    case: &PlanCase,
    policy: &str,
) -> Result<Judged, AuditError> {
    let tenants = match property.lies() {
        true => case.liar..case.liar + 1,
        false => 0..case.tenants.len(),
    };
    let mut honest = None;
    let mut worst: Option<Judged> = None;
    for tenant in tenants {
        // The run of all is the same for each.
        let runs =
            Runs::of(&texts(property, case, tenant, &|_| Vec::new()), policy, honest.take())?;
        let judged = Judged {
            case: case.clone(),
            tenant,
            value: value(property, case, &runs, tenant),
            tolerance: tolerance(property, case, tenant),
        };
        honest = runs.honest;
        if worst.as_ref().is_none_or(|worst| judged.excess() > worst.excess()) {
            worst = Some(judged);
        }
    }
    Ok(worst.expect("a case has tenants"))
}
