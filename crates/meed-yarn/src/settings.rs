//! Policies from keys of `yarn-site.xml`.
//!
//! A key is named as in scenarios, with hyphens or underscores; a value is written as there. So
//! `half-life = 7d` is `half_life = "7d"`, and messages are those of scenarios.

use meed::policy::Policy;
use meed::{Measure, Reclaim, ResourceKinds, Scalar, Unit};
use meed_config::policy::{PolicySpec, Words};

use crate::message::{PluginSettings, Queue};

/// Memory comes first: it is what the paper measures.
pub(crate) fn kinds() -> ResourceKinds {
    let kinds = vec![("memory".to_owned(), Unit::Bytes), ("cpu".to_owned(), Unit::Milli)];
    ResourceKinds::new(kinds).expect("two kinds with different names")
}

/// A queue as it is configured, checked.
pub(crate) struct Checked {
    /// As the engine calls it.
    pub(crate) name: String,
    pub(crate) weight: u64,
    /// Its policy in full.
    pub(crate) policy: Policy,
}

/// Settings, checked.
pub(crate) struct CheckedSettings {
    pub(crate) root: Policy,
    /// When room is taken back: no part of the policies, so that it may change while the ledger is
    /// kept.
    pub(crate) reclaim: Option<Reclaim>,
    /// The resource of which shares and use are told: the one that the root counts, or memory.
    pub(crate) measured: usize,
    pub(crate) queues: Vec<Checked>,
}

/// YARN's name of a queue as the engine's; empty for the root.
pub(crate) fn engine_name(yarn: &str) -> &str {
    match yarn.strip_prefix("root") {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(yarn),
        None => yarn,
    }
}

/// The settings; in a sentence what is wrong with them.
pub(crate) fn check(settings: &PluginSettings) -> Result<CheckedSettings, String> {
    let kinds = kinds();
    let (ours, policy): (Vec<_>, Vec<_>) =
        settings.policy.iter().cloned().partition(|(key, _)| is_of_reclaim(key));
    let reclaim = reclaim(&ours).map_err(|why| format!("meed.yarn.policy: {why}"))?;
    let base = spec(&policy)?.over(&usual());
    let root = resolve(&base, &kinds).map_err(|why| format!("meed.yarn.policy: {why}"))?;
    let checked = |queue: &Queue| -> Result<Checked, String> {
        let named = |why: String| format!("queue `{}`: {why}", queue.name);
        let own = spec(&queue.policy).map_err(named)?.over(&base);
        let policy = resolve(&own, &kinds).map_err(|why| named(why.to_string()))?;
        let name = engine_name(&queue.name).to_owned();
        meed_config::queues::check_bounds(&name)?;
        Ok(Checked { name, weight: queue.weight.clamp(1, meed::MAX_WEIGHT), policy })
    };
    let queues = settings.queues.iter().map(checked).collect::<Result<_, _>>()?;
    let measured = if let Scalar::Kind(kind) = root.scalar { kind } else { 0 };
    Ok(CheckedSettings { root, reclaim, measured, queues })
}

fn is_of_reclaim(key: &str) -> bool {
    key.replace('-', "_").starts_with("reclaim_")
}

/// By the keys of reclaim: its rules, where it is on.
fn reclaim(keys: &[(String, String)]) -> Result<Option<Reclaim>, String> {
    if keys.is_empty() {
        return Ok(None);
    }
    let rules = spec(keys)?.over(&usual()).policy(&kinds());
    Ok(rules.map_err(|why| why.to_string())?.reclaim)
}

fn usual() -> PolicySpec {
    PolicySpec::order("long-term")
}

fn spec(keys: &[(String, String)]) -> Result<PolicySpec, String> {
    let mut text = String::new();
    for (key, value) in keys {
        let key = key.replace('-', "_");
        // A comma would end the value: quotes keep it whole.
        let plain = value.starts_with(['{', '"']) || !value.contains([',', '"']);
        let value = if plain { value.clone() } else { format!("{value:?}") };
        text.push_str(&format!(",{key}={value}"));
    }
    Ok(Words::parse(&text).map_err(|why| why.to_string())?.keys)
}

fn resolve(spec: &PolicySpec, kinds: &ResourceKinds) -> Result<Policy, String> {
    let policy = spec.policy(kinds).map_err(|why| why.to_string())?;
    if policy.measure != Measure::Usage {
        let order = spec.word("order").unwrap_or_default();
        return Err(format!(
            "order `{order}` remembers nothing; take long-term or long-term-drf here, or one of \
             YARN's own scheduling policies for this queue"
        ));
    }
    for (key, why) in [
        ("placement", "YARN places containers"),
        ("when_blocked", "YARN serves the next queue when a container does not fit"),
        ("reservations", "YARN serves the next queue when a container does not fit"),
        ("charge_reservations", "YARN serves the next queue when a container does not fit"),
        ("spares", "YARN serves the next queue when a container does not fit"),
        ("reserve_after", "YARN serves the next queue when a container does not fit"),
        ("estimates", "YARN holds no room by how long containers run"),
        ("reclaim_after", "room is taken back by keys of the root, meed.yarn.policy.*"),
        ("reclaim_min_runtime", "room is taken back by keys of the root, meed.yarn.policy.*"),
        ("reclaim_guard", "room is taken back by keys of the root, meed.yarn.policy.*"),
        ("reclaim_grace", "room is taken back by keys of the root, meed.yarn.policy.*"),
        ("fairness", "YARN's nodes do not pack by the alignment of tasks"),
        ("slots_per_server", "YARN has no slots"),
    ] {
        if spec.get(key).is_some() {
            return Err(format!("`{key}` means nothing here: {why}; leave it out"));
        }
    }
    Ok(policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::{Memory, Newcomer, Quantum, Span};

    fn keys(pairs: &[(&str, &str)]) -> PluginSettings {
        let policy = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string()));
        let queue = Queue { name: "root.a".to_owned(), weight: 1000, policy: Vec::new() };
        PluginSettings { policy: policy.collect(), queues: vec![queue], keep_days: None }
    }

    #[test]
    fn every_key_of_long_term_has_one_here() {
        let settings = keys(&[
            ("half-life", "7d"),
            ("newcomer", "early-bird"),
            ("discount", "0.5"),
            ("quantum", "30s"),
            ("t-wait", "5min"),
            ("resource", "cpu"),
        ]);
        let root = check(&settings).expect("all are right").root;
        let secs = |seconds| Span::from_secs(seconds).expect("in range");
        assert_eq!(root.memory, Memory::HalfLife(secs(7 * 86_400)));
        assert_eq!(root.newcomer, Newcomer::EarlyBird);
        assert_eq!((root.discount, root.quantum), (500, Quantum::Fixed(secs(30))));
        assert_eq!((root.t_wait, root.scalar), (Some(secs(300)), Scalar::Kind(1)));
        for name in Measure::Usage.info().reads {
            let hyphens = name.replace('_', "-");
            let wrong = check(&keys(&[(&hyphens, "?!")])).map(|_| ()).expect_err("no value");
            assert!(!wrong.contains("unknown key"), "{hyphens}: {wrong}");
        }
        assert!(check(&keys(&[("prices", "{memory=1,cpu=0.25}")])).is_ok());
        assert!(check(&keys(&[("order", "long-term-drf")])).is_ok());
    }

    #[test]
    fn what_is_wrong_is_a_sentence() {
        let wrong = |pairs: &[(&str, &str)]| check(&keys(pairs)).map(|_| ()).expect_err("wrong");
        assert!(wrong(&[("half-live", "7d")]).contains("did you mean `half_life`?"));
        assert!(
            wrong(&[("half-life", "soon")]).contains("half_life"),
            "{}",
            wrong(&[("half-life", "soon")])
        );
        assert!(wrong(&[("order", "fair")]).contains("remembers nothing"));
        assert!(wrong(&[("placement", "first-fit")]).contains("YARN places"));
        let mut own = keys(&[]);
        own.queues[0].policy.push(("discount".to_owned(), "2".to_owned()));
        assert!(check(&own).map(|_| ()).expect_err("wrong").starts_with("queue `root.a`: "));
    }

    #[test]
    fn reclaim_is_off_unless_it_is_asked_for_and_no_part_of_policies() {
        let none = check(&keys(&[])).expect("right");
        let given = [("reclaim-after", "1h"), ("reclaim-grace", "10s")];
        let some = check(&keys(&given)).expect("right");
        assert_eq!((none.reclaim, &none.root), (None, &some.root));
        let rules = some.reclaim.expect("it is on");
        assert_eq!(rules.after, Span::from_secs(3600).expect("in range"));
        assert_eq!(rules.grace, Span::from_secs(10).expect("in range"));
        let wrong = |settings: &PluginSettings| check(settings).map(|_| ()).expect_err("wrong");
        assert!(wrong(&keys(&[("reclaim-grace", "10s")])).contains("say reclaim_after"));
        let short = [("reclaim-after", "1min"), ("reclaim-guard", "1s")];
        assert!(wrong(&keys(&short)).contains("is below reclaim_grace"));
        let mut own = keys(&[]);
        own.queues[0].policy.push(("reclaim_after".to_owned(), "1h".to_owned()));
        assert!(wrong(&own).contains("by keys of the root"));
    }

    #[test]
    fn what_the_root_counts_is_measured() {
        for (pairs, measured) in
            [(&[][..], 0), (&[("resource", "cpu")][..], 1), (&[("order", "long-term-drf")][..], 0)]
        {
            assert_eq!(check(&keys(pairs)).expect("right").measured, measured);
        }
    }

    #[test]
    fn names_lose_their_root() {
        for (yarn, engine) in [("root", ""), ("root.a.b", "a.b"), ("rooted", "rooted")] {
            assert_eq!(engine_name(yarn), engine);
        }
    }
}
