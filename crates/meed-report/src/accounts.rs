//! Statements of account as CSV, for other programs (docs/prices-and-plans.md).
//!
//! Numbers have as many digits as it takes to read back the same float.

use std::io::Write;

use meed_driver::record::Comparison;

const COLUMNS: [&str; 8] =
    ["policy", "queue", "paid", "contributed", "entitled", "received", "worth", "balance"];

/// Writes a heading and a line for each tenant that contributes, of each run.
pub fn write_accounts(comparison: &Comparison, out: impl Write) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for run in &comparison.runs {
        for account in run.accounts.iter().flat_map(|accounts| &accounts.accounts) {
            let numbers = [
                account.paid,
                account.contributed,
                account.entitled,
                account.received,
                account.worth,
                account.balance,
            ];
            let words = [run.policy.clone(), account.queue.clone()];
            csv.write_record(words.into_iter().chain(numbers.map(|number| number.to_string())))?;
        }
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_accounts_has_a_heading_alone() {
        let mut out = Vec::new();
        let none = Comparison {
            schema: 1,
            scenario: String::new(),
            seed: 0,
            clock_us: None,
            baseline: None,
            is_usual: false,
            assumptions: Vec::new(),
            runs: Vec::new(),
        };
        assert!(write_accounts(&none, &mut out).is_ok());
        assert_eq!(out, format!("{}\n", COLUMNS.join(",")).as_bytes());
    }
}
