//! The order among tenants, as `--policy` says it.

use meed::{Policy, Quantum, Untried};
use meed_config::policy::PolicySpec;

use crate::tres::kinds;

/// Keys that mean nothing here, and why.
const ELSEWHERE: [(&str, &str); 12] = [
    ("placement", PLACES),
    ("fairness", PLACES),
    ("when_blocked", HOLDS),
    ("reservations", HOLDS),
    ("spares", HOLDS),
    ("charge_reservations", HOLDS),
    ("reserve_after", HOLDS),
    ("estimates", HOLDS),
    ("reclaim_after", STOPS),
    ("reclaim_min_runtime", STOPS),
    ("reclaim_guard", STOPS),
    ("reclaim_grace", STOPS),
];

const PLACES: &str = "Slurm places jobs";
const HOLDS: &str = "Slurm's backfill holds room for jobs that do not fit";
const STOPS: &str = "Slurm preempts by its own settings";

/// The policy. What waits is assumed to take what has ended of its user, unless that is said.
///
/// # Errors
///
/// What is no order of jobs on Slurm, in a sentence.
pub(crate) fn policy_of(words: &str) -> Result<Policy, String> {
    let spec: PolicySpec = words.parse().map_err(|why| format!("{why}"))?;
    if spec.is_partitioned() || spec.slots().is_some() {
        return Err("it is a yardstick of simulations; name an order, such as long-term".into());
    }
    for (key, why) in ELSEWHERE {
        if spec.get(key).is_some() {
            return Err(format!("`{key}` means nothing here: {why}; leave it out"));
        }
    }
    let mut policy = spec.policy(&kinds()).map_err(|why| why.to_string())?;
    if let Quantum::Adaptive { untried, .. } = &mut policy.quantum
        && spec.get("quantum_waiting").is_none()
    {
        *untried = Untried::Ended;
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_config::policy::KEYS;

    #[test]
    fn jobs_that_wait_take_what_ended_ones_took_unless_told_otherwise() {
        let untried = |words| match policy_of(words).unwrap().quantum {
            Quantum::Adaptive { untried, .. } => Some(untried),
            Quantum::Fixed(_) => None,
        };
        assert_eq!(untried("long-term,half_life=7d"), Some(Untried::Ended));
        assert_eq!(untried("long-term,quantum_waiting=handed"), Some(Untried::Handed));
        assert_eq!(untried("long-term,quantum=5s"), None);
    }

    #[test]
    fn each_order_of_meeds_is_one_here() {
        for preset in meed::policy::PRESETS {
            let why = policy_of(preset.name).err();
            assert_eq!(why, None, "{}", preset.name);
        }
    }

    #[test]
    fn what_is_no_order_on_slurm_is_refused() {
        for (words, says) in [
            ("static", "a yardstick of simulations"),
            ("slots", "a yardstick of simulations"),
            ("slots,slots_per_server=4", "a yardstick of simulations"),
            ("long-term,placement=best-fit", "Slurm places jobs"),
            ("long-term,reclaim_after=1m", "Slurm preempts by its own settings"),
            ("long-term,when_blocked=skip", "backfill"),
            ("longterm", "unknown policy"),
        ] {
            let why = policy_of(words).unwrap_err();
            assert!(why.contains(says), "{words}: {why}");
        }
        let is_known = |key: &str| KEYS.iter().any(|row| row.name == key);
        assert!(ELSEWHERE.iter().all(|(key, _)| is_known(key)));
    }
}
