//! A policy as people write it: `long-term,half_life=24h`, or a table of keys.
//!
//! Grammar of the short form, on the command line and wherever one text is wanted:
//!
//! > spec = \[NAME\] { "," KEY "=" VALUE }
//!
//! NAME is an order ([`orders`]), or `static` for the static partition. KEY is a row of [`KEYS`].
//! VALUE is TOML (`24h` needs no quotes: what is no TOML is text as it stands); a comma ends it,
//! unless it stands in quotes or braces, as in `prices={cpu=1,memory=0.25}`.
//!
//! [`KEYS`] is the only list of keys: parsing, printing, inheritance, resolution, sweeps, help and
//! the test of the pages read it. A new key is a row there.
//!
//! Invariant: what is printed parses to an equal [`PolicySpec`]; [`PolicySpec::of`] a policy
//! resolves to that very policy.

mod apply;
mod form;
mod keys;
mod reclaim;
mod spec;
#[cfg(test)]
mod tests;
mod text;
mod value;

use meed::{Policy, ResourceKinds};

pub use form::InToml;
pub use keys::{Form, KEYS, Key};
pub use spec::{Given, INHERIT, PolicySpec, SLOTS, STATIC, SpecError, orders, unknown_word};
pub use text::Words;
pub use value::Value;

impl PolicySpec {
    /// Names of the keys that are given.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rows().map(|(key, _)| key.name)
    }

    /// These keys, and from `base` those that are missing. Keys that are one choice (how usage is
    /// remembered, what it is counted in) are taken from one of the two as a whole.
    pub fn over(&self, base: &PolicySpec) -> PolicySpec {
        let own = |group: &str| self.rows().any(|(key, _)| key.group == group);
        let inherited = base.rows().filter(|(key, _)| !own(key.group));
        let given = self.rows().chain(inherited);
        PolicySpec {
            partitioned: self.partitioned || base.partitioned,
            given: given.map(|(key, given)| (key.name, given.clone())).collect(),
        }
    }

    /// The policy that these keys describe.
    pub fn policy(&self, kinds: &ResourceKinds) -> Result<Policy, SpecError> {
        let mut policy = Policy::new(meed::Measure::Usage);
        KEYS.iter().try_for_each(|key| (key.apply)(self, kinds, &mut policy))?;
        Ok(policy)
    }

    /// The keys that describe `policy` in full: [`PolicySpec::policy`] makes the very same policy
    /// of them.
    pub fn of(policy: &Policy, kinds: &ResourceKinds) -> PolicySpec {
        KEYS.iter().fold(PolicySpec::default(), |spec, key| match (key.of)(policy, kinds) {
            Some(value) => spec.with(key.name, value),
            None => spec,
        })
    }
}
