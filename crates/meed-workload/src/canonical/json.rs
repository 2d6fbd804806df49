//! The lines as JSON objects, numbers still as text.

use std::borrow::Cow;
use std::fmt;

use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The header line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) meed_trace: u64,
    pub(super) resources: Entries<String, String>,
    pub(super) queues: Vec<String>,
    /// What the clock said at time 0.
    #[serde(default)]
    pub(super) clock_us: Option<u64>,
    /// Where the trace comes from, for people.
    #[serde(default, rename = "note")]
    pub(super) _note: Option<String>,
}

/// A job line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobLine<'a> {
    #[serde(borrow)]
    pub(super) submit_s: &'a RawValue,
    #[serde(borrow)]
    pub(super) queue: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) job: Option<&'a RawValue>,
    #[serde(default = "one")]
    pub(super) weight: u32,
    #[serde(borrow)]
    pub(super) tasks: Vec<GroupLine<'a>>,
}

/// An entry of `tasks`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupLine<'a> {
    #[serde(default)]
    pub(super) stage: u16,
    #[serde(default = "one")]
    pub(super) count: u32,
    #[serde(borrow)]
    pub(super) demand: Entries<Cow<'a, str>, &'a RawValue>,
    #[serde(borrow)]
    pub(super) duration_s: &'a RawValue,
    #[serde(borrow, default)]
    pub(super) limit_s: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) checkpoint_s: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) gang: Option<GangForm>,
    #[serde(borrow, default)]
    pub(super) same: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) constraints: Option<ConstraintsForm>,
    #[serde(default)]
    pub(super) cut: bool,
}

fn one() -> u32 {
    1
}

/// An object's entries in the order of the text, names that come twice included (the reader refuses
/// them).
pub(super) struct Entries<K, V>(pub(super) Vec<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<K, V>(std::marker::PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for InOrder<K, V> {
            type Value = Entries<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(1));
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}
