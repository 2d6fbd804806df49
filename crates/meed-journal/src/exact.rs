//! How exact quantities stand in a line: natural units, read back to the unit (docs/log.md).
//!
//! Two forms for `#[serde(with = ...)]`: this module for times, and [`thousandths`] for weights.

use meed::{Span, Time};
use meed_config::number::{Exact, Number};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantity, or several, that stands in a line in seconds.
pub(crate) trait Seconds: Sized {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

pub(crate) fn serialize<T: Seconds, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.write(serializer)
}

pub(crate) fn deserialize<'de, T: Seconds, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::read(deserializer)
}

impl Seconds for Span {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Exact::span(*self).serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        Number::deserialize(deserializer)?.span().map_err(D::Error::custom)
    }
}

impl Seconds for Time {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Exact::time(*self).serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        Number::deserialize(deserializer)?.time().map_err(D::Error::custom)
    }
}

impl<T: Seconds> Seconds for Option<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(value) => value.write(serializer),
            None => serializer.serialize_none(),
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        T::read(deserializer).map(Some)
    }
}

impl Seconds for Vec<Span> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|&span| Exact::span(span)))
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Span>, D::Error> {
        let numbers = Vec::<Number>::deserialize(deserializer)?;
        let spans = numbers.iter().map(Number::span).collect::<Result<_, _>>();
        spans.map_err(|why| D::Error::custom(format!("duration_s: {why}")))
    }
}

/// Whole numbers of thousandths that stand in a line as plain numbers.
pub(crate) mod thousandths {
    use meed::Unit;
    use meed_config::number::{Exact, Number};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(weight: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        Exact::amount(*weight, Unit::Milli).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Number::deserialize(deserializer)?.amount(Unit::Milli).map_err(D::Error::custom)
    }
}

/// The same where the number may be missing.
pub(crate) mod some_thousandths {
    use meed::Unit;
    use meed_config::number::Exact;
    use serde::{Deserializer, Serialize, Serializer};

    use crate::exact::thousandths;

    pub(crate) fn serialize<S: Serializer>(
        weight: &Option<u64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        weight.map(|weight| Exact::amount(weight, Unit::Milli)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u64>, D::Error> {
        thousandths::deserialize(deserializer).map(Some)
    }
}

/// Tells `null` (none from now on) from what is missing (it stays).
pub(crate) mod given {
    use serde::{Deserialize, Deserializer};

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
}

/// Whether a field has its usual value, and is left out.
pub(crate) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A weight of one, in thousandths.
pub(crate) const ONE: u64 = 1000;

pub(crate) fn one() -> u64 {
    ONE
}

pub(crate) fn is_one(weight: &u64) -> bool {
    *weight == ONE
}
