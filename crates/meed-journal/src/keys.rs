//! Keys of a policy, as records hold them.

use meed::{Policy, ResourceKinds};
use meed_config::policy::PolicySpec;
use serde::Deserialize;
use serde_json::Map;

/// Keys and their values, as in a scenario's policy.
pub type Keys = Map<String, serde_json::Value>;

/// Keys of a policy as records hold them.
pub fn keys_line(keys: &PolicySpec) -> Keys {
    match serde_json::to_value(keys) {
        Ok(serde_json::Value::Object(keys)) => keys,
        _ => unreachable!("keys are an object of plain values"),
    }
}

/// A policy in full, as records hold it.
pub fn keys_of(policy: &Policy, kinds: &ResourceKinds) -> Keys {
    keys_line(&PolicySpec::of(policy, kinds))
}

/// The policy that a record holds in full; in words what is wrong with it.
pub fn policy_of(keys: &Keys, kinds: &ResourceKinds) -> Result<Policy, String> {
    let spec = PolicySpec::deserialize(keys).map_err(|why| why.to_string())?;
    spec.policy(kinds).map_err(|why| why.to_string())
}
