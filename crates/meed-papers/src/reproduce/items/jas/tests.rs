//! Each item once, with one seed: the verdicts that users see, so that a change of them is noticed.

use meed_mapreduce::classes::RULES;

use crate::reproduce::{Context, ITEMS, ItemOutcome, Measured, Verdict};
use crate::thorough::is_left_out;

fn outcome(id: &str) -> ItemOutcome {
    let item = ITEMS.iter().find(|item| item.id == id).expect("an item of that name");
    (item.run)(&Context::new(None, 1, 1)).expect("it runs through")
}

/// The verdicts in order.
fn check(id: &str, expected: &str) {
    assert_eq!(verdicts(id), expected, "{id}");
}

fn verdicts(id: &str) -> String {
    let outcome = outcome(id);
    let letter = |verdict| match verdict {
        Verdict::Skipped => 'N',
        Verdict::Measured => 'M',
        Verdict::Given => 'G',
        Verdict::Same => 'S',
        Verdict::Agrees => 'A',
        Verdict::Differs => 'D',
    };
    let found: String = outcome.checks.iter().map(|check| letter(check.verdict)).collect();
    for check in &outcome.checks {
        if let Measured::Spread(spread) = &check.measured {
            let five = spread.five;
            assert!(
                five.is_sorted() && five.iter().all(|value| value.is_finite()),
                "{}",
                check.what
            );
            assert!(spread.agreeing <= spread.runs, "{}", check.what);
        }
        let said = check.verdict != Verdict::Differs
            || check.reason.as_deref().is_some_and(|why| why.len() > 30);
        assert!(said, "{}: no reason", check.what);
    }
    assert!(!outcome.assumptions.is_empty(), "{id}");
    found
}

#[test]
fn worked_examples() {
    check("jas-fig3", "SSSSSS");
    check("jas-fig4", "GGD");
    check("jas-fig5", "GSSG");
}

#[test]
fn jobs_alone() {
    check("jas-fig6", "DDDD");
    check("jas-fig7", "AAAA");
}

#[test]
fn rules() {
    check("jas-fig8", "DDDDDDDDAAADAMMMMMMMM");
}

#[test]
fn hosts() {
    if is_left_out("jas-hosts") {
        return;
    }
    let verdicts = verdicts("jas-hosts");
    // Claims of Fig. 8 to 12 under each variant, and Fig. 6 on the hosts.
    assert!(verdicts.starts_with("MMMMMMMMMMMMMADAD"), "{verdicts}");
    // Fig. 6 and 7 under seven facts, Fig. 10 under three; what could be saved; environments.
    assert_eq!(verdicts.len(), 17 + 7 * 8 + 3 * 2 + 12 + 16);
    assert!(verdicts.ends_with("MMMMMMMMMMMMAMMMAMMMDMMMAMMM"), "{verdicts}");
}

#[test]
fn threshold() {
    check("jas-fig10", "DA");
}

#[test]
fn trace() {
    check("jas-trace", "MMMM");
}

#[test]
fn study() {
    if is_left_out("jas-study") {
        return;
    }
    check("jas-study", "MMMMMMMMMMM");
}

#[test]
fn beyond_the_paper() {
    if is_left_out("jas-unequal to jas-fair") {
        return;
    }
    check("jas-unequal", &"M".repeat(30));
    check("jas-stragglers", &"M".repeat(15));
    check("jas-slowdown", &"M".repeat(9));
    check("jas-tenants", &"M".repeat(30));
    check("jas-fair", &"M".repeat(4 + 2 * 7 * 4));
}

#[test]
fn the_row_that_is_changed_is_that_of_jas() {
    assert_eq!(RULES[3].name, "jas");
}
