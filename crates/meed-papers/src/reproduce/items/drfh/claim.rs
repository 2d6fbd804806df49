//! Numbers beside what is printed: one, or one for each run.

use crate::reproduce::{Check, Measured, Spread, Verdict};

/// What a paper says of a number.
#[derive(Clone, Copy)]
pub(in crate::reproduce::items) struct Claim {
    /// What it is.
    pub(in crate::reproduce::items) what: &'static str,
    /// What is printed.
    pub(in crate::reproduce::items) paper: &'static str,
    /// The unit; empty for a ratio.
    pub(in crate::reproduce::items) unit: &'static str,
    /// From which value up to which it agrees.
    pub(in crate::reproduce::items) agrees: (f64, f64),
    /// Why it may differ.
    pub(in crate::reproduce::items) otherwise: &'static str,
}

impl Claim {
    /// Whether a value agrees.
    pub(super) fn holds(&self, value: f64) -> bool {
        self.agrees.0 <= value && value <= self.agrees.1
    }

    /// Of one run.
    pub(in crate::reproduce::items) fn of(&self, value: f64) -> Check {
        let verdict = Verdict::of_runs(usize::from(self.holds(value)), 1);
        self.check(Measured::Number { value, unit: self.unit.to_owned() }, verdict, String::new())
    }

    /// Of several runs.
    pub(in crate::reproduce::items) fn over(&self, values: Vec<f64>) -> Check {
        let runs = values.len();
        let agreeing = values.iter().filter(|value| self.holds(**value)).count();
        let spread = Spread::of(values, agreeing, self.unit);
        let verdict = Verdict::of_runs(agreeing, runs);
        self.check(Measured::Spread(spread), verdict, format!(", in {agreeing} of {runs} runs"))
    }

    fn check(&self, measured: Measured, verdict: Verdict, runs: String) -> Check {
        let (low, high) = self.agrees;
        let bounds = match (low.is_finite(), high.is_finite()) {
            (true, true) => format!("agrees from {low} to {high}{runs}"),
            (true, false) => format!("agrees at {low} or more{runs}"),
            (false, _) => format!("agrees at {high} or less{runs}"),
        };
        let reason = match verdict {
            Verdict::Agrees => bounds,
            _ => format!("{} ({bounds})", self.otherwise),
        };
        Check {
            what: self.what.to_owned(),
            paper: self.paper.to_owned(),
            measured,
            verdict,
            reason: Some(reason),
            under: Vec::new(),
            again: None,
        }
    }
}

/// Fig. 8 and 9 count completed tasks.
const UNCUT: &str = "without tasks that still ran at the trace's end";

/// The check as it is; where it is of the claim `of` of an item without tasks that are cut, that
/// claim's, looked at again.
pub(super) fn uncut(check: Check, item: &'static str, of: Option<&Claim>) -> Check {
    match of {
        None => check,
        Some(claim) => check.again_as(item, claim.what, UNCUT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_quarters_of_the_runs_decide() {
        let claim =
            Claim { what: "w", paper: "1", unit: "", agrees: (0.5, 1.5), otherwise: "because" };
        for (values, verdict) in [
            (vec![1.0], Verdict::Agrees),
            (vec![1.0, 1.0, 0.5, 2.0], Verdict::Agrees),
            (vec![1.0, 2.0], Verdict::Differs),
            (vec![], Verdict::Differs),
        ] {
            assert_eq!(claim.over(values.clone()).verdict, verdict, "{values:?}");
        }
        let check = claim.of(2.0);
        assert_eq!(check.reason.as_deref(), Some("because (agrees from 0.5 to 1.5)"));
        assert_eq!(check.verdict, Verdict::Differs);
    }
}
