//! Amounts of resources by name, in natural units.

use std::fmt;

use meed::{MAX_AMOUNT, ResourceKinds, Resources};
use meed_config::number::{Exact, Number};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smallvec::SmallVec;

use crate::name::Name;

/// Amounts by name, each name once, in the order of names. What is not named is nothing, or no
/// bound.
///
/// ```
/// use meed::{ResourceKinds, Resources, Unit};
/// use meed_journal::Amounts;
///
/// let kinds = ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?;
/// let two_and_a_half = Amounts::of(&Resources::new(&[2500]), &kinds);
/// assert_eq!(serde_json::to_string(&two_and_a_half)?, r#"{"cpu":2.5}"#); // natural units
/// assert_eq!(two_and_a_half.read(&kinds)?, Resources::new(&[2500]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Amounts(SmallVec<[(Name, Number); 2]>);

impl Amounts {
    /// What `amounts` holds, without what it holds nothing of.
    pub fn of(amounts: &Resources, kinds: &ResourceKinds) -> Amounts {
        Amounts::without(0, amounts, kinds)
    }

    /// A maximum: what it does not bound is left out.
    pub fn of_maximum(bound: &Resources, kinds: &ResourceKinds) -> Amounts {
        Amounts::without(MAX_AMOUNT, bound, kinds)
    }

    fn without(missing: u64, amounts: &Resources, kinds: &ResourceKinds) -> Amounts {
        let some = (0..kinds.len()).filter(|&kind| amounts.get(kind) != missing);
        let number = |kind| Exact::amount(amounts.get(kind), kinds.unit(kind)).into();
        some.map(|kind| (Name::from(kinds.name(kind)), number(kind))).collect()
    }

    fn insert(&mut self, name: Name, number: Number) -> Result<(), Name> {
        match self.0.binary_search_by(|(other, _)| other.cmp(&name)) {
            Ok(_) => Err(name),
            Err(place) => {
                self.0.insert(place, (name, number));
                Ok(())
            }
        }
    }

    /// In smallest units; what is not named is nothing. An error names the resource and says what
    /// would be right.
    pub fn read(&self, kinds: &ResourceKinds) -> Result<Resources, String> {
        self.with(0, kinds)
    }

    /// The same of a maximum: what is not named has no bound.
    pub fn read_maximum(&self, kinds: &ResourceKinds) -> Result<Resources, String> {
        self.with(MAX_AMOUNT, kinds)
    }

    fn with(&self, missing: u64, kinds: &ResourceKinds) -> Result<Resources, String> {
        let mut amounts = Resources::zero(kinds.len());
        amounts.as_mut_slice().fill(missing);
        for (name, number) in &self.0 {
            let kind = kinds.find(name).ok_or_else(|| {
                let known: Vec<&str> = kinds.names().collect();
                format!("unknown resource `{name}`; the header has {}", known.join(", "))
            })?;
            amounts.as_mut_slice()[kind] =
                number.amount(kinds.unit(kind)).map_err(|why| format!("`{name}`: {why}"))?;
        }
        Ok(amounts)
    }
}

impl FromIterator<(Name, Number)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (Name, Number)>>(amounts: I) -> Amounts {
        let mut all = Amounts::default();
        for (name, number) in amounts {
            // The first of a name counts.
            let _ = all.insert(name, number);
        }
        all
    }
}

impl Serialize for Amounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, number)| (name, number)))
    }
}

impl<'de> Deserialize<'de> for Amounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amounts, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Amounts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("amounts by resource, like {\"cpu\":1.5}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Amounts, A::Error> {
                let mut amounts = Amounts::default();
                while let Some((name, number)) = map.next_entry::<Name, Number>()? {
                    let twice = |name| A::Error::custom(format!("`{name}` twice; name it once"));
                    amounts.insert(name, number).map_err(twice)?;
                }
                Ok(amounts)
            }
        }
        deserializer.deserialize_map(Seen)
    }
}
