//! Every order in one table: a new one is audited without a word, impossibilities show up under
//! each, and the measures agree with their slow twin.

use meed_config::policy::orders;
use meed_experiments::rivals::table::RIVALS;
use meed_workload::generate::Stream;

use super::case::Tasks;
use super::random::Kind;
use super::tests::{EXACT, judged, options, run};
use super::twin::{Rule, value};
use super::*;
use crate::thorough::is_left_out;

#[test]
fn runs_and_measures_agree_with_minutes_counted_one_by_one() {
    let properties = [
        Property::SharingIncentive,
        Property::WorkloadIncentive,
        Property::Contribution,
        Property::StrategyProofness,
        Property::Overclaiming,
        Property::EnvyFreeness,
        Property::CreditFairness,
        Property::History,
    ];
    let rules = [("fair", Rule::Fair), (EXACT, Rule::LongTerm), ("static", Rule::Static)];
    for property in properties {
        let kind =
            Kind { property: property.row(), tasks: Tasks::Unit, grouped: false, remembers: true };
        // Balances are stepped through: a change of sign is seen late by a part of a minute.
        let near = if property == Property::CreditFairness { 5e-3 } else { 1e-9 };
        let (mut dice, mut above) = (Stream::new(11, "twin"), 0);
        for number in 0..60 {
            let case = kind.draw(&mut dice);
            for (policy, rule) in rules {
                let judged = judged(property, &case, policy);
                let ours = judged.value;
                let twin = value(property, &case, rule, judged.tenant);
                above += usize::from(twin != 0.0);
                assert!(
                    (ours - twin).abs() < near,
                    "{property:?}, {policy}, case {number}: {ours}, not {twin}: {case:?}"
                );
            }
        }
        assert!(above > 0, "{property:?}: all values are 0");
    }
}

/// Those that can be audited here.
fn auditable() -> Vec<String> {
    all_orders().into_iter().filter(|words| cannot_be_audited(words).is_none()).collect()
}

#[test]
fn every_order_of_the_tables_is_audited() {
    let all = all_orders();
    for name in orders().chain(RIVALS.iter().map(|rival| rival.name)).chain(["static"]) {
        let rows = all.iter().filter(|words| words.split(',').next() == Some(name));
        assert!(rows.count() > 0, "{name} is in no row");
    }
    let policies: Vec<&str> = all.iter().map(String::as_str).collect();
    let envy = [Property::EnvyFreeness];
    let audit = run(&options(&policies, &envy, &[Tasks::Unit, Tasks::Whole], 1));
    assert_eq!(audit.cells.len(), 2 * all.len());
    for cell in &audit.cells {
        let none = cannot_be_audited(&cell.policy).is_some() || cell.tasks == Tasks::Whole;
        assert_eq!(cell.verdict == AuditVerdict::DoesNotApply, none, "{cell:?}");
        assert_eq!(cell.reason.is_some(), none, "{cell:?}");
    }
}

/// Which of the properties each order is found to miss.
fn missed(properties: &[Property]) -> Vec<(String, Vec<Property>)> {
    let all = auditable();
    let policies: Vec<&str> = all.iter().map(String::as_str).collect();
    let audit = run(&options(&policies, properties, &[Tasks::Unit], 6));
    let of = |policy: &String| {
        let own = audit.cells.iter().filter(|cell| cell.policy == *policy);
        let found = own.filter(|cell| cell.verdict == AuditVerdict::Counterexample);
        (policy.clone(), found.map(|cell| cell.property).collect())
    };
    all.iter().map(of).collect()
}

/// No order has both sharing incentive at every time and resource as you contributed
/// (docs/properties.md has the proof): under each a search finds a case against one.
#[test]
fn sharing_incentive_and_giving_back_are_had_together_by_no_order() {
    if is_left_out("two properties under every order") {
        return;
    }
    for (policy, missed) in missed(&[Property::SharingIncentive, Property::Contribution]) {
        assert!(!missed.is_empty(), "{policy} has both");
    }
}

/// Zahedi and Freeman (2026): no rule is credit fair, Pareto efficient and strategy-proof.
#[test]
fn credit_fairness_efficiency_and_truth_are_had_together_by_no_order() {
    if is_left_out("three properties under every order") {
        return;
    }
    let properties = [Property::CreditFairness, Property::Pareto, Property::StrategyProofness];
    for (policy, missed) in missed(&properties) {
        assert!(!missed.is_empty(), "{policy} has all three");
    }
}

/// Counterexamples of rivals are files too, and give the same number again.
#[test]
fn rivals_give_the_same_number_again_from_files() {
    if is_left_out("counterexamples of rivals from files") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rivals: Vec<String> = all_orders().into_iter().rev().take(RIVALS.len()).collect();
    let policies: Vec<&str> = rivals.iter().map(String::as_str).collect();
    let properties = [
        Property::CreditFairness,
        Property::Overclaiming,
        Property::History,
        // A queue goes with its last task, maybe as a rival ticks.
        Property::FalseNames,
    ];
    let audit = run(&options(&policies, &properties, &[Tasks::Unit, Tasks::Whole], 2));
    let folders =
        write_counterexamples(&audit, folder.path(), &mut meed_files::Guard::new()).unwrap();
    assert!(folders.len() > RIVALS.len(), "only {}", folders.len());
    let found = audit.cells.iter().filter_map(|cell| cell.counterexample.as_ref());
    for (place, found) in folders.iter().zip(found) {
        let again = replay(&place.join("case.json")).unwrap();
        let numbers = (again.value, again.written, again.tolerance);
        assert_eq!(numbers, (found.value, found.value, found.tolerance), "{}", place.display());
    }
}
