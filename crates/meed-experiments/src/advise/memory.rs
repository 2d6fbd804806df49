//! How a policy remembers, for people and for other schedulers' settings.

use meed::policy::COMMITMENT_HALF_LIFE;
use meed::{Measure, Memory, ResourceKinds, Span};
use meed_config::policy::PolicySpec;

/// How long usage is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remembers {
    /// Not at all.
    Nothing,
    /// Usage counts half after this time.
    HalfLife(Span),
    /// All is forgotten at the beginning of each round of this length.
    Round(Span),
    /// For ever.
    Forever,
}

impl Remembers {
    /// Of a policy in its short form; nothing where the words do not say it: a name that a scenario
    /// gives to its own policy, for one.
    pub fn of(words: &str, kinds: &ResourceKinds) -> Option<Remembers> {
        let policy = words.parse::<PolicySpec>().ok()?.policy(kinds).ok()?;
        Some(Remembers::of_policy(&policy))
    }

    /// What `policy` remembers.
    pub fn of_policy(policy: &meed::Policy) -> Remembers {
        match (policy.measure.info().keeps_usage, policy.memory) {
            (false, _) => Remembers::Nothing,
            (true, Memory::HalfLife(half_life)) => Remembers::HalfLife(half_life),
            _ if policy.measure == Measure::Commitment => Remembers::HalfLife(COMMITMENT_HALF_LIFE),
            (true, Memory::Rounds(round)) => Remembers::Round(round),
            (true, Memory::Forever) => Remembers::Forever,
        }
    }
}
