//! How the papers' claims stand, each counted once: whether it comes out as it is, under a stated
//! fact of the environment only, or under nothing that was tried.
//!
//! A claim comes out under a fact where one part of its runs agrees (one environment, one factor of
//! task times), or where it is looked at again under that fact ([`super::Again`]), in its own item
//! or in another.

use super::report::Done;
use super::{Check, Verdict};

/// A claim that comes out under facts only.
pub(super) struct UnderFacts<'a> {
    pub(super) item: &'static str,
    pub(super) claim: &'a str,
    pub(super) facts: Vec<&'a str>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Standing<'a> {
    pub(super) same: usize,
    pub(super) agree: usize,
    pub(super) under: Vec<UnderFacts<'a>>,
    pub(super) differ: usize,
    pub(super) skipped: usize,
}

impl<'a> Standing<'a> {
    pub(super) fn of(done: &'a [Done]) -> Standing<'a> {
        let mut standing = Standing::default();
        let checks = done
            .iter()
            .flat_map(|(item, outcome)| outcome.checks.iter().map(move |check| (item.id, check)));
        for (item, check) in checks.filter(|(_, check)| check.again.is_none()) {
            match check.verdict {
                Verdict::Same => standing.same += 1,
                Verdict::Agrees => standing.agree += 1,
                Verdict::Skipped => standing.skipped += 1,
                Verdict::Measured | Verdict::Given => {}
                Verdict::Differs => {
                    let facts = facts(done, item, check);
                    match facts.is_empty() {
                        true => standing.differ += 1,
                        false => {
                            let claim = check.what.as_str();
                            standing.under.push(UnderFacts { item, claim, facts });
                        }
                    }
                }
            }
        }
        standing
    }
}

/// The facts under which a claim agrees.
fn facts<'a>(done: &'a [Done], item: &str, check: &'a Check) -> Vec<&'a str> {
    let again = done.iter().flat_map(|(_, outcome)| &outcome.checks);
    let again = again.filter_map(|check| check.again.as_ref());
    let again = again.filter(|again| again.item == item && again.claim == check.what);
    let facts = check.under.iter().chain(again.flat_map(|again| &again.facts));
    facts.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Again, ITEMS, ItemOutcome, Measured};
    use super::*;

    fn check(what: &str, verdict: Verdict) -> Check {
        Check { verdict, ..Check::beyond(what, Measured::Words(String::new()), "") }
    }

    #[test]
    fn each_claim_counts_once() {
        let again = |claim: &str, facts: &[&str]| {
            let facts = facts.iter().map(|&fact| fact.to_owned()).collect();
            let again = Some(Again { item: ITEMS[0].id, claim: claim.to_owned(), facts });
            Check { again, ..check("again", Verdict::Differs) }
        };
        let first = vec![
            check("to the digit", Verdict::Same),
            check("within bounds", Verdict::Agrees),
            check("elsewhere", Verdict::Differs),
            Check { under: vec!["at 2".to_owned()], ..check("in part", Verdict::Differs) },
            check("never", Verdict::Differs),
            check("not printed", Verdict::Measured),
            check("no trace", Verdict::Skipped),
            check("put in", Verdict::Given),
        ];
        let second = vec![
            again("elsewhere", &["on hosts", "with masters"]),
            again("never", &[]),
            // Of another item's claim of the same words nothing is said.
            check("never", Verdict::Differs),
        ];
        let done: Vec<Done> = [first, second]
            .into_iter()
            .zip(ITEMS)
            .map(|(checks, item)| (item, ItemOutcome { checks, ..ItemOutcome::default() }))
            .collect();
        let standing = Standing::of(&done);
        assert_eq!(
            (standing.same, standing.agree, standing.differ, standing.skipped),
            (1, 1, 2, 1)
        );
        let under: Vec<_> =
            standing.under.iter().map(|claim| (claim.claim, claim.facts.clone())).collect();
        let expected = [("elsewhere", vec!["on hosts", "with masters"]), ("in part", vec!["at 2"])];
        assert_eq!(under, expected);
    }
}
