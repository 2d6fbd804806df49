//! What a `slurm.conf` says of who is served first: the order in the words of `meed rivals`, and
//! what of the file is not followed.
//!
//! | key | here |
//! |---|---|
//! | `PriorityType` | `fifo` unless it is `priority/multifactor`; where it is not given its default differs by version, and a `PriorityWeightFairshare` above 0 tells |
//! | `PriorityWeightFairshare` | `fifo` where it is 0 |
//! | `PriorityDecayHalfLife` | `half_life` of `fair-tree` |
//! | `PriorityCalcPeriod` | `cadence` of `fair-tree` |
//! | `PriorityUsageResetPeriod` | `reset` of `fair-tree`, from the log's first instant on |
//! | `PriorityFlags=NO_FAIR_TREE` | `fair-tree`: the same order where no account is below another; said |
//! | `DefaultTime`, `MaxTime` of partitions | limits of jobs that have none ([`crate::partitions`]) |
//! | other weights, other keys of partitions, QOS | not followed, counted and said |
//!
//! Source: slurm.conf(5) of Slurm 22.05.8, run.

use std::collections::BTreeMap;

use meed::{MICROS_PER_S, Span};

use super::slurm_conf::Keys;
use crate::partitions::PartitionTerms;
use crate::table::times::clock;

/// Reset periods and their lengths in days.
const PERIODS: [(&str, u64); 5] =
    [("DAILY", 1), ("WEEKLY", 7), ("MONTHLY", 30), ("QUARTERLY", 91), ("YEARLY", 365)];

/// Weights of what is not followed.
const WEIGHTS: [&str; 6] = [
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
];

/// Keys of a partition that are not followed, and the values with which they say nothing.
const OTHERS: [(&str, &[&str]); 6] = [
    ("PriorityTier", &["1"]),
    ("PriorityJobFactor", &["1"]),
    ("QOS", &["n/a"]),
    ("PreemptMode", &["off"]),
    ("State", &["up"]),
    // Use is counted in processors here, and in `billing` in Slurm.
    ("TRESBillingWeights", &[]),
];

/// Keys that jobs met when they ran: nothing is to be checked of a log.
const MET: [(&str, &[&str]); 6] = [
    ("MaxNodes", &["infinite", "unlimited"]),
    ("MaxCPUsPerNode", &["infinite", "unlimited"]),
    ("AllowAccounts", &["all"]),
    ("AllowGroups", &["all"]),
    ("AllowQos", &["all"]),
    ("DenyAccounts", &[]),
];

/// What a line of a partition says besides its nodes.
pub(super) fn terms(keys: &Keys) -> PartitionTerms {
    let limit = |name: &str| {
        let minutes = minutes(get(keys, name)).filter(|minutes| *minutes > 0)?;
        Span::from_micros(minutes.checked_mul(60 * MICROS_PER_S)?)
    };
    PartitionTerms {
        name: get(keys, "PartitionName").to_owned(),
        limit: limit("DefaultTime").or_else(|| limit("MaxTime")),
        tier: get(keys, "PriorityTier").parse().unwrap_or(1),
    }
}

/// Slurm's default of `PriorityCalcPeriod`, and the cadence of `fair-tree`, in minutes.
const DEFAULT_PERIOD: u64 = 5;

fn get<'a>(keys: &'a Keys, name: &str) -> &'a str {
    keys.get(&name.to_ascii_lowercase()).map(String::as_str).unwrap_or_default()
}

/// The order in the words of `meed rivals`, and what it rests on.
pub(super) fn order(own: &Keys) -> (String, String) {
    let get = |key: &str| get(own, key);
    let told = |order: &str, why: String| (order.to_owned(), format!("slurm.conf: {why}"));
    let has_fairshare =
        get("PriorityWeightFairshare").parse::<u64>().is_ok_and(|weight| weight > 0);
    let kind = get("PriorityType").to_ascii_lowercase();
    if !kind.is_empty() && !kind.contains("multifactor") {
        let why = "PriorityType is not priority/multifactor: first come, first served";
        return told("fifo", why.to_owned());
    }
    if !has_fairshare {
        let why = "PriorityWeightFairshare is 0: age decides, first come, first served";
        return told("fifo", why.to_owned());
    }
    let mut remarks = String::new();
    if kind.is_empty() {
        remarks.push_str(
            "; PriorityType is not given, and its default differs by version: \
             priority/multifactor is taken, for PriorityWeightFairshare is above 0",
        );
    }
    if get("PriorityFlags").to_ascii_uppercase().split(',').any(|flag| flag == "NO_FAIR_TREE") {
        remarks.push_str(
            "; PriorityFlags=NO_FAIR_TREE: the same order where no account is below another",
        );
    }
    let text = match get("PriorityDecayHalfLife") {
        "" => "7-0",
        text => text,
    };
    let period = get("PriorityUsageResetPeriod").to_ascii_uppercase();
    let reset = match PERIODS.iter().find(|(name, _)| *name == period) {
        Some((_, days)) => {
            remarks.push_str(&format!(
                "; PriorityUsageResetPeriod={period}, counted from the first job"
            ));
            format!(",reset={days}d")
        }
        None => {
            if !["", "NONE", "NOW"].contains(&period.as_str()) {
                let known: Vec<&str> = PERIODS.iter().map(|(name, _)| *name).collect();
                remarks.push_str(&format!(
                    "; PriorityUsageResetPeriod={period} is none of NONE, NOW, {}",
                    known.join(", ")
                ));
            }
            String::new()
        }
    };
    let cadence = match minutes(get("PriorityCalcPeriod")) {
        None | Some(0 | DEFAULT_PERIOD) => String::new(),
        Some(minutes) => format!(",cadence={}", time(minutes)),
    };
    match minutes(text) {
        Some(minutes) => {
            let words = format!("fair-tree,half_life={}{reset}{cadence}", time(minutes));
            told(&words, format!("PriorityDecayHalfLife={text}{remarks}"))
        }
        None => {
            let why = format!(
                "PriorityDecayHalfLife={text} cannot be read; its default is taken{remarks}"
            );
            told(&format!("fair-tree,half_life=7d{reset}{cadence}"), why)
        }
    }
}

/// What of the file is not followed, in words.
pub(super) fn not_followed<'a>(
    own: &Keys,
    partitions: impl Iterator<Item = &'a Keys>,
) -> Vec<String> {
    let mut all = Vec::new();
    let weights = WEIGHTS.iter().filter(|name| !["", "0"].contains(&get(own, name)));
    let weights: Vec<&str> = weights.copied().collect();
    if !weights.is_empty() {
        let verb = if weights.len() == 1 { "is" } else { "are" };
        let weights = weights.join(", ");
        all.push(format!("{weights} {verb} not followed: only fair share orders jobs"));
    }
    let partitions: Vec<&Keys> = partitions.collect();
    let others = said(&OTHERS, &partitions);
    if !others.is_empty() {
        all.push(format!("these keys of partitions are not followed: {others}"));
    }
    let met = said(&MET, &partitions);
    if !met.is_empty() {
        all.push(format!("jobs of a log met these keys of partitions when they ran: {met}"));
    }
    all
}

/// Which of these keys say something, and of how many partitions.
fn said(keys: &[(&str, &[&str])], partitions: &[&Keys]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for partition in partitions {
        for (name, none) in keys {
            let value = get(partition, name).to_ascii_lowercase();
            if !value.is_empty() && !none.contains(&value.as_str()) {
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    let words = counts.iter().map(|(name, count)| format!("{name} (of {count})"));
    words.collect::<Vec<_>>().join(", ")
}

/// A time of Slurm in whole minutes, rounded up: `90`, `12:30:00`, `7-0`, `7-12:00`.
fn minutes(text: &str) -> Option<u64> {
    // Where no colon tells more these are minutes, or days and hours.
    let text = if text.contains(':') { text.to_owned() } else { format!("{text}:0") };
    clock(&text).ok().map(|micros| micros.div_ceil(60 * MICROS_PER_S))
}

fn time(minutes: u64) -> String {
    match minutes {
        0 => "0".to_owned(),
        minutes if minutes.is_multiple_of(1440) => format!("{}d", minutes / 1440),
        minutes if minutes.is_multiple_of(60) => format!("{}h", minutes / 60),
        minutes => format!("{minutes}min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm() {
        for (text, expected) in [
            ("7-0", Some("7d")),
            ("00:20:00", Some("20min")),
            ("1-12:00", Some("36h")),
            ("90", Some("90min")),
            ("14-00:00:00", Some("14d")),
            ("0", Some("0")),
            ("1:30", Some("2min")),
            ("7d", None),
            ("1-2:3:4:5", None),
        ] {
            assert_eq!(minutes(text).map(time).as_deref(), expected, "{text}");
        }
    }
}
