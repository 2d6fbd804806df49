//! Each figure once, with one seed and without traces: the verdicts that users see, so that a
//! change of them is noticed.

use meed_report::page::Block;

use crate::reproduce::{Context, ITEMS, ItemOutcome, Measured, Verdict};

fn outcome(id: &str, seeds: u64) -> ItemOutcome {
    let item = ITEMS.iter().find(|item| item.id == id).expect("an item of that name");
    (item.run)(&Context::new(None, seeds, 1)).expect("it runs through")
}

/// The verdicts in order, A for agreeing and D for differing; what is drawn is sound.
fn check(id: &str, verdicts: &str) {
    let outcome = outcome(id, 1);
    let letter = |verdict| match verdict {
        Verdict::Same => 'S',
        Verdict::Agrees => 'A',
        Verdict::Differs => 'D',
        Verdict::Skipped | Verdict::Measured => '-',
        Verdict::Given => 'G',
    };
    let found: String = outcome.checks.iter().map(|check| letter(check.verdict)).collect();
    assert_eq!(found, verdicts, "{id}: {:#?}", outcome.checks);
    for check in &outcome.checks {
        let Measured::Spread(spread) = &check.measured else {
            panic!("{}: nothing was measured", check.what)
        };
        assert!(
            spread.five.is_sorted() && spread.five.iter().all(|value| value.is_finite()),
            "{}",
            check.what
        );
        assert!(spread.agreeing <= spread.runs, "{}", check.what);
        assert!(check.reason.as_deref().is_some_and(|reason| reason.len() > 10), "{}", check.what);
    }
    assert!(outcome.assumptions.iter().any(|words| words.contains("docs/macro-workloads.md")));
    let mut drawn = 0;
    for block in &outcome.blocks {
        if let Block::Lines(chart) = block {
            drawn += 1;
            for line in &chart.lines {
                assert!(
                    line.x.len() == line.y.len() && line.x.len() > 10,
                    "{}: {}",
                    chart.title,
                    line.name
                );
                assert!(line.x.is_sorted(), "{}: {}", chart.title, line.name);
            }
        }
    }
    assert!(drawn > 0 || id == "tsc-fig8", "{id} draws nothing over time");
}

#[test]
fn tsc_fig6() {
    check("tsc-fig6", "DAADDDDDD");
}

#[test]
fn tsc_fig7() {
    check("tsc-fig7", "DAADAADADAADAADA---");
}

#[test]
fn tsc_fig8() {
    check("tsc-fig8", "DDDDAADDDAAADDDDDDDDAADDDAAAADDA");
}

#[test]
fn tsc_fig10() {
    check("tsc-fig10", "DAADDDAAADDAADDDAAADDDADDAADAAADAA");
}

#[test]
fn tsc_fig11() {
    check("tsc-fig11", "AAADADAAAAAAAAAAAA");
}

#[test]
fn ics_fig7() {
    check("ics-fig7", "ADAAA");
}

#[test]
fn the_same_context_gives_the_same_outcome() {
    let (first, again) = (outcome("tsc-fig6", 3), outcome("tsc-fig6", 3));
    assert!(first == again);
    assert_ne!(first.blocks, outcome("tsc-fig6", 2).blocks, "more seeds are more runs");
}
