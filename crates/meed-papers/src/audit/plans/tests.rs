//! Values by hand, what is known of all orders, and files that give the same numbers again.

use super::case::{Cast, PlanCase};
use super::known::known;
use super::measure::judge;
use super::*;
use crate::audit::CaseKind;
use meed_workload::generate::Stream;

const PAID: &str = "as-you-pay";
const AMOUNTS: &str = "as-you-pay,value=resource";
const CONTRIBUTED: &str = "as-you-pay,entitled=contributed";
const DRF: &str = "drf";

fn options(
    policies: &[&str],
    problems: &[PlanProblem],
    properties: &[PlanProperty],
    trials: u32,
) -> PlanOptions {
    PlanOptions {
        policies: policies.iter().map(|&policy| policy.to_owned()).collect(),
        problems: problems.to_vec(),
        properties: properties.to_vec(),
        trials,
        seed: 3,
    }
}

fn all_properties() -> Vec<PlanProperty> {
    PLAN_PROPERTIES.iter().map(|row| row.property).collect()
}

fn all_problems() -> Vec<PlanProblem> {
    PLAN_PROBLEMS.iter().map(|row| row.1).collect()
}

#[track_caller]
fn by_hand(within: f64, rows: &[(PlanProblem, PlanProperty, usize, &str, f64)]) {
    for &(problem, property, number, policy, expected) in rows {
        let case = PlanCase { scale: 3, ..known(problem, property)[number].clone() };
        let value = judge(property, &case, policy).unwrap().value;
        assert!(
            (value - expected).abs() < within,
            "{problem:?}, {property:?} {number} under {policy}: {value}, not {expected}"
        );
    }
}

/// Cases that docs/prices-and-plans.md works out for instance-hours; one resource.
#[test]
fn values_by_hand() {
    use PlanProblem::{FixedPrice, MixedPlans, MovingPrice};
    use PlanProperty::{AsYouPay, BuyingLate, DearPrices, SharingIncentive, Splitting};
    by_hand(
        0.04,
        &[
            // 5 of the 10 that the second brought.
            (MovingPrice, SharingIncentive, 0, AMOUNTS, 0.5),
            (MovingPrice, SharingIncentive, 0, PAID, 0.0),
            // 13.3 of 20.
            (MixedPlans, SharingIncentive, 1, PAID, 1.0 / 3.0),
            (MixedPlans, SharingIncentive, 1, CONTRIBUTED, 0.0),
            // Paid 2 for what is worth 1.5.
            (MixedPlans, AsYouPay, 1, CONTRIBUTED, 0.25),
            (MixedPlans, AsYouPay, 1, PAID, 0.0),
            // What is idle in the first period does its work: 20 under fair, bought early or late.
            // Alone it would lose 10 of 20. By payment it gets 10 of 15.
            (FixedPrice, BuyingLate, 0, DRF, 0.5),
            (FixedPrice, BuyingLate, 0, PAID, 0.25),
            (FixedPrice, Splitting, 0, PAID, 2.0 / 3.0),
            // Its first name owes 10 of 20, its second is owed its third of the second period.
            (FixedPrice, Splitting, 1, PAID, 1.0 / 3.0),
            // 26.7 instead of 20, of 20.
            (MixedPlans, DearPrices, 0, PAID, 1.0 / 3.0),
            (MixedPlans, DearPrices, 0, CONTRIBUTED, 0.0),
        ],
    );
}

/// Lies about when: worked out in units of price, instances and periods.
#[test]
fn values_of_lending_holding_back_and_driving_by_hand() {
    use PlanProblem::MovingPrice;
    use PlanProperty::{DrivingPrices, HoldingBack, Lending};
    by_hand(
        0.04,
        &[
            // 10 + 10 honest. Lying: 20 of the other at 1, then V_a = V_b = 50 at 4: 12.5.
            (MovingPrice, HoldingBack, 0, PAID, -0.375),
            (MovingPrice, HoldingBack, 0, AMOUNTS, 0.0),
            (MovingPrice, HoldingBack, 0, DRF, -0.5),
            // Honest 10 at 4. Lying: the other has used 20 at 1; a is due 40 of 90 of all 60.
            (MovingPrice, Lending, 0, PAID, -1.0 / 3.0),
            (MovingPrice, Lending, 0, DRF, -1.0),
            // Four times as much paid for the first period: 16 of 20 instead of 10, by amounts.
            (MovingPrice, DrivingPrices, 0, AMOUNTS, 0.6),
            (MovingPrice, DrivingPrices, 0, PAID, 0.0),
        ],
    );
}

/// Two resources, tasks of (2, 1) and (1, 2) on four instances of (6, 6) each: alone 12 tasks each.
#[test]
fn values_of_two_resources_by_hand() {
    use PlanProblem::{MixedResources, SeveralResources};
    use PlanProperty::{AsYouPay, SharingIncentive, Splitting};
    // What whole tasks leave over on an instance costs up to a twelfth.
    by_hand(
        0.06,
        &[
            // Shares of 2 to 1: 2 n + m = 48 and n = 2 m, so m = 9.6 of 12.
            (MixedResources, SharingIncentive, 1, PAID, 0.2),
            // Equal shares: n = m = 16, more than alone.
            (MixedResources, SharingIncentive, 1, CONTRIBUTED, -1.0 / 3.0),
            (MixedResources, AsYouPay, 1, PAID, 0.0),
            (MixedResources, AsYouPay, 1, CONTRIBUTED, 0.25),
            // Over the second period X / 2 + Y = 10 and X = Y / 2: X = 4, which is 96 of 120.
            (SeveralResources, Splitting, 0, PAID, 0.8),
        ],
    );
}

/// Instances of weights 3 and 1, at 3 and 1. By the exchange rate each gets what it brought, so
/// nothing counts, however many of the light ones the heavy one's owner is given.
#[test]
fn values_of_unequal_instances_by_hand() {
    use PlanProblem::UnequalInstances;
    use PlanProperty::{AsYouPay, SharingIncentive};
    by_hand(
        0.04,
        &[
            (UnequalInstances, AsYouPay, 3, PAID, 0.0),
            (UnequalInstances, SharingIncentive, 3, PAID, 0.0),
        ],
    );
}

/// Before a tenant alone has an instance its work waits, and after the last it is never done: so
/// alone it does no more than it contributes, and nothing is refused.
#[test]
fn alone_is_at_most_what_is_contributed() {
    for problem in all_problems() {
        let mut waits = 0;
        for trial in 0..12 {
            let mut dice = Stream::new(trial, problem.name());
            let property = PlanProperty::BuyingLate;
            let case = PlanCase::draw(problem, property, &mut dice);
            for (tenant, one) in case.tenants.iter().enumerate() {
                for lying in [false, true] {
                    let text = case.text(Cast::Alone(tenant), lying, &[]);
                    let Some(text) = text else { continue };
                    let record = measure::run(&text, DRF).unwrap();
                    let resource = problem.resources()[0];
                    let used = record.queues[0].usage.get(resource).copied().unwrap_or(0.0);
                    let done = used / 60.0 / f64::from(one.task[0]);
                    assert!(done <= case.contributes(tenant) + 1e-6, "{done}:\n{text}");
                    let before = one.wants[..one.from as usize].iter();
                    let early = before.filter(|&&want| want != case::Wants::Nothing).count();
                    waits += u32::from(early > 0 && done > 0.0);
                }
            }
        }
        assert!(waits > 0, "{problem:?}: no case has work before instances");
    }
}

/// With mixed plans no order has both sharing incentive and resource as you pay
/// (docs/prices-and-plans.md): each is found to miss one.
#[test]
fn sharing_incentive_and_as_you_pay_are_had_together_by_no_order() {
    if crate::thorough::is_left_out("two properties of plans") {
        return;
    }
    let properties = [PlanProperty::SharingIncentive, PlanProperty::AsYouPay];
    for problem in [PlanProblem::MixedPlans, PlanProblem::MixedResources] {
        let options = options(&PLAN_POLICIES, &[problem], &properties, 2);
        let audit = audit_plans(&options, &|_, _| {}).unwrap();
        for policy in PLAN_POLICIES {
            let mut own = audit.cells.iter().filter(|cell| cell.policy == policy);
            assert!(own.any(|cell| cell.counterexample.is_some()), "{policy} has both");
        }
        // Resource as you pay is what the one is for, sharing incentive the other.
        let missed = |property: PlanProperty, policy: &str| {
            let mut cells = audit.cells.iter();
            let cell = cells.find(|cell| cell.property == property && cell.policy == policy);
            cell.unwrap().counterexample.is_some()
        };
        assert!(missed(PlanProperty::SharingIncentive, PAID));
        assert!(missed(PlanProperty::AsYouPay, CONTRIBUTED));
    }
}

#[test]
fn files_give_the_same_number_again() {
    let folder = tempfile::tempdir().unwrap();
    let problems = [PlanProblem::MixedPlans, PlanProblem::UnequalInstances];
    let options = options(&[AMOUNTS], &problems, &all_properties(), 2);
    let told = AtomicUsize::new(0);
    let audit = audit_plans(&options, &|done, of| {
        assert!(done <= of);
        told.fetch_add(1, Ordering::Relaxed);
    });
    let audit = audit.unwrap();
    assert_eq!(told.into_inner(), audit.cells.len());
    let folders = write_plans(&audit, folder.path(), &mut meed_files::Guard::new()).unwrap();
    let found = audit.cells.iter().filter_map(|cell| cell.counterexample.as_ref());
    assert!(folders.len() > 8, "only {}", folders.len());
    for (place, found) in folders.iter().zip(found) {
        let case = place.join("case.json");
        assert_eq!(CaseKind::of(&case), CaseKind::Plans);
        let again = replay_plans(&case).unwrap();
        let numbers = (again.value, again.written, again.tolerance);
        assert_eq!(numbers, (found.value, found.value, found.tolerance), "{}", place.display());
        assert_eq!(again.about, found.tenant);
        assert!(found.value > found.tolerance);
    }
    assert_eq!(audit, audit_plans(&options, &|_, _| {}).unwrap(), "the same seed");
}

/// A file that somebody has changed is refused in words.
#[test]
fn cases_that_are_none_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let properties = [PlanProperty::BuyingLate];
    let options = options(&[DRF], &[PlanProblem::FixedPrice], &properties, 2);
    let audit = audit_plans(&options, &|_, _| {}).unwrap();
    let place = &write_plans(&audit, folder.path(), &mut meed_files::Guard::new()).unwrap()[0];
    let text = std::fs::read_to_string(place.join("case.json")).unwrap();
    let file = place.join("other.json");
    for (from, to, says) in [
        ("\"tenant\": \"", "\"tenant\": \"z", "nobody of `case` is called"),
        ("\"scale\": ", "\"scale\": 9", "none that a search could have drawn"),
        ("\"property\": \"buying-late\"", "\"property\": \"as-you-pay\"", "none that a search"),
        ("\"property\": \"buying-late\"", "\"property\": \"lending\"", "none that a search"),
        ("\"alone.toml\"", "null", "names others than buying-late compares"),
        ("\"value\": \"", "\"value\": \"x", "which is no number"),
        ("\"plans\": true", "\"plans\": true, \"more\": 1", "is no case as `meed audit --out`"),
    ] {
        let other = text.replace(from, to);
        assert_ne!(other, text, "{from}");
        std::fs::write(&file, other).unwrap();
        let error = replay_plans(&file).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("other.json"), "{error}");
    }
}

/// Cases stay as they are when they are mended again, payments are what contributions cost, and the
/// same money is paid by who lends.
#[test]
fn random_cases_are_sound_scenarios() {
    for problem in all_problems() {
        for property in all_properties().into_iter().filter(|one| one.applies(problem)) {
            let mut dice = Stream::new(5, &format!("{problem:?} {property:?}"));
            let mut case = PlanCase::draw(problem, property, &mut dice);
            for _ in 0..4 {
                assert!(case.is_sound(property), "{case:?}");
                for lying in [false, true] {
                    payments(&case, property, lying);
                }
                for simpler in case.simpler(property) {
                    assert!(simpler.is_sound(property), "{simpler:?}");
                }
                case = case.change(property, &mut dice);
            }
        }
    }
}

fn payments(case: &PlanCase, property: PlanProperty, lying: bool) {
    let Some(text) = case.text(Cast::All, lying, &[]) else { return };
    let record = measure::run(&text, PAID).unwrap();
    let accounts = &record.accounts.as_ref().unwrap().accounts;
    for (tenant, one) in case.tenants.iter().enumerate() {
        let names = [case::name(tenant), case::second(tenant)];
        let own = accounts.iter().filter(|own| names.contains(&own.queue));
        let paid: f64 = own.map(|own| own.paid).sum();
        let hours: u32 = (one.from..one.until).map(|period| case.price(one, period)).sum();
        let due = f64::from(one.count * hours) / 6.0;
        let lies = lying && tenant == case.liar && property.lies();
        match property {
            PlanProperty::Lending if lies => {
                let dearest = case.market.iter().max().unwrap() * one.weight;
                let one_more = f64::from(dearest.max(one.fixed.unwrap_or(0)) * case.periods());
                assert!(paid <= due + 1e-6 && paid > due - one_more, "{paid} for {due}: {case:?}");
            }
            PlanProperty::BuyingLate | PlanProperty::DearPrices if lies => {
                assert!((paid < due) == (property == PlanProperty::BuyingLate), "{paid}, {due}");
            }
            PlanProperty::DrivingPrices if lying => assert!(paid > due - 1e-6),
            _ => assert!((paid - due).abs() < 1e-6, "{paid}, not {due}: {case:?}"),
        }
    }
}
