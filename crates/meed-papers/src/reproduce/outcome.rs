//! What measuring an item gives.

use meed_report::page::Block;
use serde::Serialize;

/// An item, measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ItemOutcome {
    /// One for each thing that the paper says.
    pub checks: Vec<Check>,
    /// What was taken for granted that the paper does not give.
    pub assumptions: Vec<String>,
    /// Charts and tables of the report.
    pub blocks: Vec<Block>,
}

/// One thing that a paper says, and what came out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// What it is: "sharing loss under fair, mean over the run".
    pub what: String,
    /// What is printed, in words: "about -0.5".
    pub paper: String,
    /// What was measured.
    pub measured: Measured,
    /// Whether it came out.
    pub verdict: Verdict,
    /// Where it differs: the likely reason. Where it agrees: within which bounds.
    pub reason: Option<String>,
    /// Where it differs: facts of the environment under which it agrees all the same, in words:
    /// "task times x 1".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<String>,
    /// Whether it is a claim that stands elsewhere already, looked at again under other facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// A claim that is looked at again.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Again {
    /// The item in which the claim stands.
    pub item: &'static str,
    /// What it is about there ([`Check::what`]).
    pub claim: String,
    /// The facts under which it agrees here; empty where it does under none.
    pub facts: Vec<String>,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// In words, for tables that are compared cell by cell.
    Words(String),
    /// A number, with its unit.
    Number {
        /// The number.
        value: f64,
        /// Its unit; empty for a ratio.
        unit: String,
    },
    /// A number that differs from seed to seed.
    Spread(Spread),
}

/// A number over many seeds (or assumptions).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Smallest, first quartile, median, third quartile, largest.
    pub five: [f64; 5],
    /// How many runs.
    pub runs: usize,
    /// In how many of them the verdict was not [`Verdict::Differs`].
    pub agreeing: usize,
    /// Its unit; empty for a ratio.
    pub unit: String,
}

/// Whether what a paper says came out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was not measured: what it needs is not there.
    Skipped,
    /// No paper says anything of it: it is what was measured.
    Measured,
    /// No claim: what is compared was put in, is ours, or would agree whatever happened.
    Given,
    /// To the digit.
    Same,
    /// Within bounds that the check states.
    Agrees,
    /// It does not.
    Differs,
}

/// A claim over several runs holds when it holds in this part of them.
const ENOUGH: f64 = 0.75;

impl Verdict {
    /// Of a claim that held in so many runs; of none is not enough.
    pub(super) fn of_runs(agreeing: usize, runs: usize) -> Verdict {
        match runs > 0 && agreeing as f64 >= ENOUGH * runs as f64 {
            true => Verdict::Agrees,
            false => Verdict::Differs,
        }
    }
}

impl Check {
    /// This claim of `item`, looked at again under a fact, by which it is called.
    pub(super) fn again(self, item: &'static str, fact: &str) -> Check {
        let agrees = matches!(self.verdict, Verdict::Same | Verdict::Agrees);
        let facts = agrees.then(|| fact.to_owned()).into_iter().collect();
        let what = format!("{} ({fact})", self.what);
        Check { again: Some(Again { item, claim: self.what, facts }), what, ..self }
    }

    /// The claim `claim` of `item` in other words, looked at again under a fact.
    pub(super) fn again_as(self, item: &'static str, claim: &str, fact: &str) -> Check {
        let what = self.what;
        let check = Check { what: claim.to_owned(), ..self }.again(item, fact);
        Check { what, ..check }
    }

    /// It agrees, and says nothing: what is compared was put in, or is ours.
    pub(super) fn given(self) -> Check {
        match self.verdict {
            Verdict::Same | Verdict::Agrees => Check { verdict: Verdict::Given, ..self },
            _ => self,
        }
    }

    /// Something of which no paper says anything.
    pub fn beyond(what: impl Into<String>, measured: Measured, remark: &str) -> Check {
        Check {
            what: what.into(),
            paper: "not printed".to_owned(),
            measured,
            verdict: Verdict::Measured,
            reason: (!remark.is_empty()).then(|| remark.to_owned()),
            under: Vec::new(),
            again: None,
        }
    }
}

impl ItemOutcome {
    /// The worst of its checks.
    pub fn verdict(&self) -> Verdict {
        self.checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Skipped)
    }

    /// That `what` could not be measured without `missing`.
    pub fn skipped(what: &str, paper: &str, missing: &str) -> ItemOutcome {
        let check = Check {
            what: what.to_owned(),
            paper: paper.to_owned(),
            measured: Measured::Words("not measured".to_owned()),
            verdict: Verdict::Skipped,
            reason: Some(format!("needs {missing}")),
            under: Vec::new(),
            again: None,
        };
        ItemOutcome { checks: vec![check], ..ItemOutcome::default() }
    }
}

impl Spread {
    /// Of `values` (at least one), `agreeing` of which agree with the paper.
    pub fn of(mut values: Vec<f64>, agreeing: usize, unit: &str) -> Spread {
        values.sort_by(f64::total_cmp);
        let last = values.len().saturating_sub(1);
        // Nearest rank: every value shown was measured.
        let at = |quarter: usize| values.get((last * quarter + 2) / 4).copied().unwrap_or(f64::NAN);
        Spread {
            five: [0, 1, 2, 3, 4].map(at),
            runs: values.len(),
            agreeing,
            unit: unit.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_numbers() {
        for (values, five) in [
            (vec![7.0], [7.0; 5]),
            (vec![2.0, 1.0], [1.0, 1.0, 2.0, 2.0, 2.0]),
            (vec![5.0, 1.0, 4.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0]),
        ] {
            assert_eq!(Spread::of(values.clone(), 0, "").five, five, "{values:?}");
        }
    }
}
