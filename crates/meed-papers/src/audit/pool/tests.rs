//! The audit of pools finds what is known to be there, and its files give the same numbers again.

use super::measure::{judge, value};
use super::search::classics;
use super::*;
use crate::audit::CaseKind;
use meed_workload::generate::Stream;

fn options(policies: &[&str], properties: &[PoolProperty], trials: u32) -> PoolOptions {
    let policies = policies.iter().map(|words| (*words).to_owned()).collect();
    PoolOptions { policies, properties: properties.to_vec(), trials, seed: 1 }
}

fn run(options: &PoolOptions) -> PoolAudit {
    audit_pool(options, &|_, _| {}).unwrap()
}

fn case(servers: &[[u32; 2]], users: &[[u32; 2]]) -> PoolCase {
    PoolCase {
        servers: servers.iter().map(|row| row.to_vec()).collect(),
        users: users.iter().map(|row| row.to_vec()).collect(),
        claims: Vec::new(),
        leaver: None,
        scale: 1,
    }
}

/// TPDS'15 Fig. 2 to 4 with whole tasks: six each where each server decides by itself, ten each
/// under best fit.
#[test]
fn the_papers_example_in_whole_tasks() {
    let figure = &classics(PoolProperty::Pareto)[0];
    assert_eq!(run::of_case(figure, false, "per-server-drf").unwrap(), [[5, 1], [1, 5]]);
    assert_eq!(run::of_case(figure, false, "drfh").unwrap(), [[10, 0], [0, 10]]);
}

/// The case itself and the scenario file written of it decide the same, whatever the policy.
#[test]
fn a_case_decides_what_its_scenario_does() {
    let policies = ["drfh", "per-server-drf", "slots", "slots,slots_per_server=3", "fair", "fifo"];
    for property in [PoolProperty::GroupStrategyProofness, PoolProperty::PopulationMonotonicity] {
        let mut dice = Stream::new(7, "pools");
        for _ in 0..40 {
            let case = PoolCase::draw(property, &mut dice);
            for (words, deviating) in policies.iter().flat_map(|w| [(w, false), (w, true)]) {
                let text = run::text(&case, deviating, &[]);
                let read = run::of_text("case", &text, words).unwrap();
                let straight = run::of_case(&case, deviating, words).unwrap();
                assert_eq!(straight, read, "{words}: {case:?}");
            }
        }
    }
}

#[test]
fn values_by_hand() {
    let figure_2 = classics(PoolProperty::Pareto)[0].clone();
    let lies = |claims: &[(usize, [u32; 2])]| PoolCase {
        claims: claims.iter().map(|(user, claim)| (*user, claim.to_vec())).collect(),
        ..case(&[[12, 12]], &[[1, 2], [2, 1]])
    };
    for (property, case, words, has, could) in [
        //
        (PoolProperty::StrongSharingIncentive, figure_2.clone(), "per-server-drf", 6.0, 6.0),
        (PoolProperty::Pareto, figure_2.clone(), "drfh", 10.0, 10.0),
        // One server of 12 and 12: four tasks each. Claiming <2, 2> a has three, which hold three
        // of its own.
        (PoolProperty::GroupStrategyProofness, lies(&[(0, [2, 2])]), "drfh", 4.0, 3.0),
        // 12 of one resource for tasks of 1 and of 2: half each.
        (PoolProperty::SingleServerDrf, case(&[[12, 12]], &[[1, 1], [2, 2]]), "drfh", 6.0, 6.0),
        // Who is left has the server to itself: twelve instead of six.
        (
            PoolProperty::PopulationMonotonicity,
            PoolCase { leaver: Some(1), ..case(&[[12, 12]], &[[1, 1], [2, 2]]) },
            "drfh",
            12.0,
            6.0,
        ),
        // With the other's <2, 2> x 3 a would run six, which it has.
        (PoolProperty::EnvyFreeness, case(&[[12, 12]], &[[1, 1], [2, 2]]), "drfh", 6.0, 6.0),
    ] {
        let lack = judge(property, &case, words).unwrap().lack;
        assert!(
            (lack.has - has).abs() < 1e-9 && (lack.could - could).abs() < 1e-6,
            "{property:?} under {words}: {lack:?}"
        );
    }
    // A known failure of each server by itself: both could have ten.
    let fine = PoolCase { scale: 10, ..figure_2 };
    let lack = judge(PoolProperty::Pareto, &fine, "per-server-drf").unwrap().lack;
    assert!(lack.has == 60.0 && lack.could > 100.0 && lack.violates(), "{lack:?}");
}

/// What users could have is measured from the decisions alone: made up ones show every property's
/// failure.
#[test]
fn bad_allocations_violate_every_property() {
    let fair = case(&[[48, 48]], &[[1, 1], [1, 1]]);
    let starving = vec![vec![0], vec![48]];
    let fed = vec![vec![40], vec![8]];
    for row in POOL_PROPERTIES {
        let mut case = fair.clone();
        if row.property == PoolProperty::PopulationMonotonicity {
            case.leaver = Some(1);
        }
        if row.property == PoolProperty::GroupStrategyProofness {
            case.claims = vec![(0, vec![1, 1])];
        }
        let (honest, other) = match row.property {
            PoolProperty::PopulationMonotonicity => (&fed, &starving),
            // Half of the server stays idle.
            PoolProperty::Pareto => (&vec![vec![12], vec![12]], &fed),
            _ => (&starving, &fed),
        };
        let lack = value(row.property, &case, honest, Some(other)).unwrap();
        assert!(lack.violates(), "{}: {lack:?}", row.name);
        let good = vec![vec![24], vec![24]];
        let lack = value(row.property, &case, &good, Some(&good)).unwrap();
        assert!(!lack.violates() && lack.value() < 1e-9, "{}: {lack:?}", row.name);
    }
}

#[test]
fn known_failures_are_found_and_what_must_hold_is_not_missed() {
    let found = |words: &str, property: PoolProperty| {
        run(&options(&[words], &[property], 30)).cells[0].counterexample.is_some()
    };
    assert!(found("per-server-drf", PoolProperty::Pareto));
    assert!(found("drf", PoolProperty::Pareto));
    assert!(found("slots", PoolProperty::SingleServerDrf));
    // On one server the bound in `property` is a proof: progressive filling stops at most so much
    // early.
    for words in ["drf", "drfh", "long-term-drf", "per-server-drf"] {
        assert!(!found(words, PoolProperty::SingleServerDrf), "{words}");
    }
}

#[test]
fn files_give_the_same_number_again() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<PoolProperty> = POOL_PROPERTIES.iter().map(|row| row.property).collect();
    let audit = run(&options(&["drf", "per-server-drf", "slots"], &all, 12));
    let folders = write_pool(&audit, folder.path(), &mut meed_files::Guard::new()).unwrap();
    let found: Vec<_> =
        audit.cells.iter().filter_map(|cell| Some((cell, cell.counterexample.as_ref()?))).collect();
    assert!(folders.len() == found.len() && found.len() >= 6, "only {}", found.len());
    for (folder, (cell, found)) in folders.iter().zip(found) {
        let file = folder.join("case.json");
        assert_eq!(CaseKind::of(&file), CaseKind::Pool);
        let again = replay_pool(&file).unwrap();
        assert_eq!(
            (again.value, again.written, again.tolerance),
            (found.value, found.value, found.tolerance)
        );
        assert_eq!(
            (again.property, &again.policy, &again.about),
            (cell.property, &cell.policy, &found.user)
        );
        assert_eq!(folder.join("deviating.toml").is_file(), cell.property.deviates());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let options =
        options(&["drfh", "slots"], &[PoolProperty::Pareto, PoolProperty::EnvyFreeness], 4);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&run(&options)).unwrap())
    };
    assert_eq!(on(1), on(3));
}
