//! `cargo xtask pairs OLD NEW`: two builds of `meed` beside each other, workload by workload.
//!
//! A machine is rarely equally fast for the minutes that a whole `meed bench` takes. So each
//! workload is run by both builds one right after the other, the first of them in turn, and what
//! counts is the median over the rounds of how many lifetimes a second the new one does for one of
//! the old. Workloads that the old one does not have are left out, and said.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Rounds unless given.
const ROUNDS: usize = 5;

/// Lifetimes a second by policy.
type Speeds = BTreeMap<String, f64>;

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let usage = "cargo xtask pairs OLD NEW [ROUNDS]: paths of two builds of meed";
    let (Some(old), Some(new)) = (args.next(), args.next()) else { return Err(usage.to_owned()) };
    let rounds = args.next().map_or(Ok(ROUNDS), |text| text.parse());
    let rounds = rounds.ok().filter(|rounds| (1..=1000).contains(rounds)).ok_or(usage)?;
    let mut ratios: BTreeMap<(usize, String), Vec<f64>> = BTreeMap::new();
    let known = workloads(&old)?;
    let (workloads, others): (Vec<String>, Vec<String>) =
        workloads(&new)?.into_iter().partition(|name| known.contains(name));
    others.iter().for_each(|name| crate::say(&format!("left out, {old} has it not: {name}")));
    for round in 0..rounds {
        for (number, workload) in workloads.iter().enumerate() {
            let (before, after) = match round % 2 {
                0 => (speeds(&old, workload)?, speeds(&new, workload)?),
                _ => {
                    let after = speeds(&new, workload)?;
                    (speeds(&old, workload)?, after)
                }
            };
            for (policy, speed) in &after {
                if let Some(old) = before.get(policy) {
                    ratios.entry((number, policy.clone())).or_default().push(speed / old);
                }
            }
        }
        crate::say(&format!("round {} of {rounds} is over", round + 1));
    }
    for ((number, policy), mut all) in ratios {
        let told: Vec<String> = all.iter().map(|ratio| format!("{ratio:.2}")).collect();
        all.sort_by(f64::total_cmp);
        let median = all[all.len() / 2];
        let workload = &workloads[number];
        crate::say(&format!("{median:.2}  {workload}, {policy} ({})", told.join(", ")));
    }
    Ok(())
}

/// The names of all workloads, in order.
fn workloads(meed: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows(meed, &["--quick"])? {
        let name = row["workload"].as_str().unwrap_or_default().to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn speeds(meed: &str, workload: &str) -> Result<Speeds, String> {
    let rows = rows(meed, &["--only", workload])?;
    let speed =
        |row: &Value| Some((row["policy"].as_str()?.to_owned(), row["tasks_per_s"].as_f64()?));
    Ok(rows.iter().filter(|row| row["workload"] == workload).filter_map(speed).collect())
}

fn rows(meed: &str, args: &[&str]) -> Result<Vec<Value>, String> {
    let mut command = Command::new(meed);
    command.args(["bench", "--json"]).args(args);
    let output = command.output().map_err(|why| format!("{meed}: {why}"))?;
    if !output.status.success() {
        return Err(format!("{meed}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("{meed} bench --json: {why}"))
}
