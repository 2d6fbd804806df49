//! Policies of a scenario: from a name on the command line to its keys, and rules of the MapReduce
//! world where placements stand elsewhere.

use std::collections::BTreeMap;

use meed::place::{PLACEMENTS, PlacementPreset};
use meed_config::TextError as ScenarioError;
use meed_config::policy::{PolicySpec, STATIC, SpecError, Words, orders, unknown_word};
use meed_mapreduce::classes::{RULES, Rule};

use crate::plans::Terms;

/// What is run when nothing is asked for.
pub const DEFAULT_POLICIES: [&str; 3] = [STATIC, "fair", "long-term"];

/// Most tenants of a cluster that is split among them unless other policies are asked for.
pub const MOST_SPLIT: usize = 50;

/// What a policy's name stands for.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) partitioned: bool,
    pub(super) keys: PolicySpec,
    /// How `as-you-pay` counts, where that is the order.
    pub(super) pays: Option<Terms>,
}

/// What `--policy WORDS` asks for: `static`, an order, or a `[policies]` name; then `,key=value` to
/// change keys.
pub(super) fn choose(
    words: &str,
    base: &PolicySpec,
    named: &BTreeMap<String, PolicySpec>,
) -> Result<Choice, ScenarioError> {
    let fail = |what: String| outside(words, what);
    let Words { name, keys: own } = Words::parse(words).map_err(|why| fail(why.to_string()))?;
    let keys = match named.get(name) {
        Some(keys) => keys.over(base),
        None if name == STATIC => base.clone(),
        None if orders().any(|order| order == name) => PolicySpec::order(name).over(base),
        None => {
            let known = [STATIC, meed_config::policy::SLOTS]
                .into_iter()
                .chain(meed::policy::PRESETS.iter().map(|preset| preset.name));
            let known = known.chain(named.keys().map(String::as_str));
            return Err(fail(unknown_word("policy", name, known)));
        }
    };
    // A placement of the file may stand beside any order; one that is asked for may not.
    let together = match own.get("order") {
        None => own.over(&PolicySpec::order(keys.word("order").unwrap_or_default())),
        Some(_) => own.clone(),
    };
    if let Some(why) = together.contradiction() {
        return Err(fail(why.to_string()));
    }
    Ok(Choice { partitioned: name == STATIC, keys: own.over(&keys), pays: None })
}

/// An error about words of the command line, which stand in no file.
pub(super) fn outside(words: &str, what: impl Into<String>) -> ScenarioError {
    let file = format!("--policy {words}");
    ScenarioError { file, line: None, what: what.into(), unreadable: false }
}

/// The rule that says which maps a slot may run, in the MapReduce world.
pub(super) fn rule(keys: &PolicySpec) -> Result<&'static Rule, SpecError> {
    let Some(name) = keys.word("placement") else { return Ok(&RULES[0]) };
    let rules = || RULES.iter().map(|rule| rule.name);
    if PLACEMENTS.iter().any(|row| row.name == name) {
        let what = format!(
            "placement `{name}` names a node for a task; beside [mapreduce] nodes ask for tasks: \
             {}",
            rules().collect::<Vec<_>>().join(", ")
        );
        return Err(keys.error("placement", what));
    }
    Rule::find(name)
        .ok_or_else(|| keys.error("placement", unknown_word("placement", name, rules())))
}

/// The placement, where nodes do not ask for work.
pub(super) fn placement(keys: &PolicySpec) -> Result<&'static PlacementPreset, SpecError> {
    if let Some(name) = keys.word("placement").filter(|name| Rule::find(name).is_some()) {
        let what = format!(
            "placement `{name}` gives map tasks to nodes that ask; it needs the [mapreduce] \
             world. Known here are {}",
            PLACEMENTS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
        );
        return Err(keys.error("placement", what));
    }
    keys.placement()
}
