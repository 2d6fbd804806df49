//! CloudCom'14 Fig. 1: under memoryless sharing a user gains by asking for more than it needs.

use super::worked::{minutes, unit_scenario};
use crate::reproduce::{Check, Context, ItemOutcome, Measured, ReproduceError, Verdict};

/// What is told, and what is printed: allocations of U1, U2, U3 of 120 units.
const CASES: [(&str, [u32; 3], [i64; 3]); 2] = [
    ("all honest: demands 40, 30, 60", [40, 30, 60], [40, 30, 50]),
    ("U1 asks for 100 instead of 40", [100, 30, 60], [45, 30, 45]),
];

/// See the module.
pub(super) fn item(_: &Context) -> Result<ItemOutcome, ReproduceError> {
    let mut outcome = ItemOutcome::default();
    for (what, demands, printed) in CASES {
        let jobs = demands.into_iter().enumerate().map(|(user, tasks)| (0, user, tasks));
        let text = unit_scenario(120, &["U1", "U2", "U3"], jobs);
        let seen = minutes(&text, "fair", 1)?;
        let got: Vec<i64> = seen[0].iter().map(|queue| queue.held.round() as i64).collect();
        outcome.checks.push(Check {
            what: format!("memoryless allocation, {what}"),
            paper: words(&printed),
            measured: Measured::Words(words(&got)),
            verdict: if got == printed { Verdict::Same } else { Verdict::Differs },
            reason: None,
            under: Vec::new(),
            again: None,
        });
    }
    Ok(outcome)
}

fn words(numbers: &[i64]) -> String {
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    words.join(", ")
}
