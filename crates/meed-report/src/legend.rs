//! What the columns of the tables mean, in a line each: nobody should have to look up a letter.

use meed_driver::record::RunRecord;

use crate::words::clean;

/// Name of a column, and what it means. Formulas: docs/simulator.md.
const MEANINGS: [(&str, &str); 8] = [
    (
        "psi, omega",
        "what sharing gives the tenants that gain by it, and what it costs those that lose (TSC'18 \
         Eq. 4 and 5); higher is better, and at omega 0 nobody loses",
    ),
    ("jain", "how alike the tenants' rho are; 1: all the same"),
    (
        "rho",
        "what a tenant was served, over what its share alone would have served it; below 1: less \
         than on a cluster of its own",
    ),
    ("held idle", "kept empty for tasks that have a reservation"),
    ("balance", "lent minus borrowed; above 0: others owe it"),
    ("speed-up", "how many times faster its jobs are than in the static partition"),
    ("mean request", "from a request to the end of the last of its jobs"),
    ("local maps", "maps that ran where their data are"),
];

/// In what tenants are measured, where there is more than one resource.
pub(crate) fn measured(run: &RunRecord) -> Option<String> {
    let resource = clean(&run.measured);
    let line =
        format!("measured in {resource}: rho, psi, omega, jain and balance (fairness.resource)");
    (run.utilization.len() > 1).then_some(line)
}

/// Meanings of those of `columns` that need one, in the order above.
pub(crate) fn lines(columns: &[&str]) -> impl Iterator<Item = String> {
    let is_shown =
        |name: &str| columns.iter().any(|column| name.split(", ").any(|it| column.ends_with(it)));
    let shown = MEANINGS.iter().filter(move |(name, _)| is_shown(name));
    shown.map(|(name, meaning)| format!("{name}: {meaning}"))
}
