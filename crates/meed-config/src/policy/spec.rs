//! The keys of a policy that are given, each with its value: plain data, whatever the keys mean.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use meed::place::{PLACEMENTS, PlacementPreset};
use meed::policy::{PRESETS, Preset};

use super::value::Value;
use crate::words::did_you_mean;

/// The name of the static partition, which is no order: each tenant runs alone.
pub const STATIC: &str = "static";

/// The name of the single-resource abstraction: fair sharing of slots into which servers are cut.
pub const SLOTS: &str = "slots";

/// The paper's best (DRFH Table 2).
const DEFAULT_SLOTS: u32 = 14;

/// Names of orders, as `order` takes them.
pub fn orders() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name).chain([SLOTS])
}

/// The keys of a policy that are given; what is missing comes from the level above, or is as usual.
///
/// ```
/// use meed_config::policy::PolicySpec;
/// use meed::{Memory, ResourceKinds, Span, Unit};
///
/// let spec: PolicySpec = "long-term,half_life=24h,t_wait=5min".parse()?;
/// assert_eq!(spec.to_string(), "long-term,half_life=24h,t_wait=5min");
///
/// // A queue's own keys, over those of the run.
/// let own: PolicySpec = "round=1h".parse()?;
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)]).expect("one kind");
/// let policy = own.over(&spec).policy(&kinds)?;
/// assert_eq!(policy.memory, Memory::Rounds(Span::from_secs(3600).expect("an hour")));
///
/// let wrong = "long-term,half_live=24h".parse::<PolicySpec>().unwrap_err();
/// assert!(wrong.to_string().ends_with("did you mean `half_life`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PolicySpec {
    pub(super) partitioned: bool,
    /// By the name of the key, a row of [`KEYS`](super::KEYS).
    pub(super) given: BTreeMap<&'static str, Given>,
}

/// As the `order` of a queue: the run's, whatever that is. Queues with children do so anyway.
pub const INHERIT: &str = "inherit";

/// The value of a key, and where it stands in its text. Two are equal that say the same.
///
/// It is part of a [`PolicySpec`], whose page has an example.
#[derive(Clone, Debug)]
pub struct Given {
    pub(super) value: Value,
    pub(super) span: Option<Range<usize>>,
}

impl PartialEq for Given {
    fn eq(&self, other: &Given) -> bool {
        self.value == other.value
    }
}

/// What is wrong with keys of a policy: a sentence, and the key it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    pub(super) key: Option<&'static str>,
    pub(super) span: Option<Range<usize>>,
    pub(super) what: String,
}

impl SpecError {
    pub(super) fn whole(what: impl Into<String>) -> SpecError {
        SpecError { key: None, span: None, what: what.into() }
    }

    /// The key that is to be changed, where there is one.
    pub fn key(&self) -> Option<&'static str> {
        self.key
    }

    /// Where it stands in the text that it was read from by [`InToml`](super::InToml): bytes.
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for SpecError {}

/// "unknown order `longterm`; known are fifo, fair. did you mean `...`?"
pub fn unknown_word<'a>(
    key: &str,
    value: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let names: Vec<&str> = known.into_iter().collect();
    let near = did_you_mean(value, names.iter().copied()).unwrap_or_default();
    format!("unknown {key} `{value}`; known are {}. {near}", names.join(", ")).trim_end().to_owned()
}

impl PolicySpec {
    /// An order by its name, and nothing else.
    pub fn order(name: &str) -> PolicySpec {
        PolicySpec::default().with("order", Value::Word(name.to_owned()))
    }

    /// These keys, and `value` for `key`, which is the name of a row of [`KEYS`](super::KEYS).
    pub(super) fn with(mut self, key: &'static str, value: Value) -> PolicySpec {
        self.given.insert(key, Given { value, span: None });
        self
    }

    /// These keys, and this order.
    pub(crate) fn with_order(mut self, order: Given) -> PolicySpec {
        self.given.insert("order", order);
        self
    }

    /// These keys without the word that says that the run's order is meant ([`INHERIT`]).
    pub(crate) fn without_inherit(mut self) -> PolicySpec {
        if self.word("order") == Some(INHERIT) {
            self.given.remove("order");
        }
        self
    }

    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        !self.partitioned && self.given.is_empty()
    }

    /// Whether the static partition is meant.
    pub fn is_partitioned(&self) -> bool {
        self.partitioned
    }

    /// What is given for the key of that name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.given(key).map(|given| &given.value)
    }

    fn given(&self, key: &str) -> Option<&Given> {
        self.given.get(key)
    }

    /// The text that is given for a key whose values are words.
    pub fn word(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// An error about what is given for `key`.
    pub fn error(&self, key: &'static str, what: impl Into<String>) -> SpecError {
        let span = self.given(key).and_then(|given| given.span.clone());
        SpecError { key: Some(key), span, what: what.into() }
    }

    /// The named order, where one is named that is known.
    pub fn preset(&self) -> Option<&'static Preset> {
        Preset::find(self.word("order")?)
    }

    /// Whether slots are shared.
    pub(super) fn is_slots(&self) -> bool {
        self.word("order") == Some(SLOTS)
    }

    /// Into how many slots the largest server is cut, where these keys say that slots are shared.
    pub fn slots(&self) -> Option<u32> {
        let number = match self.get("slots_per_server") {
            Some(Value::Count(number)) => *number,
            _ => DEFAULT_SLOTS,
        };
        self.is_slots().then_some(number)
    }

    /// What of one table of keys contradicts itself: servers that decide by themselves are not
    /// chosen by a placement.
    pub fn contradiction(&self) -> Option<SpecError> {
        let alone = self.preset().filter(|preset| preset.per_server)?;
        let (order, name) = (alone.name, self.word("placement")?);
        let what = format!(
            "`{order}` takes no placement: each server chooses what runs on it, in order of \
             joining; leave `{name}` out, or take drfh, which shares the pool and places"
        );
        Some(self.error("placement", what))
    }

    /// How tasks are placed: as `placement` says, or as is usual with the order.
    pub fn placement(&self) -> Result<&'static PlacementPreset, SpecError> {
        let find = |name: &str| PLACEMENTS.iter().find(|row| row.name == name);
        let preset = self.preset();
        let usual = preset.and_then(|preset| find(preset.placement)).unwrap_or(&PLACEMENTS[0]);
        let Some(name) = self.word("placement") else { return Ok(usual) };
        let named = find(name).ok_or_else(|| {
            let known = PLACEMENTS.iter().map(|row| row.name);
            self.error("placement", unknown_word("placement", name, known))
        })?;
        // The key stays in the file for its other runs.
        Ok(if preset.is_some_and(|preset| preset.per_server) { usual } else { named })
    }
}
