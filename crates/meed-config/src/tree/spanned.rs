//! A value of a form, with its place in the text.
//!
//! A form asks for the place by [`NAME`], and the tree answers with a table of one entry: the place
//! as key, both ends in one number, and the value. Any other source hands on the value alone, which
//! then stands nowhere.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::value::U128Deserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};

use super::{FormError, Node};

/// How forms ask for places.
pub(super) const NAME: &str = "$meed::Spanned";

/// A value, and where in the text it stands. Two are equal whose values are.
///
/// ```
/// use meed_config::Spanned;
///
/// let value = Spanned::new(4..5, 1);
/// assert_eq!((value.span(), *value.get_ref()), (4..5, 1));
/// assert_eq!(value, Spanned::new(0..1, 1)); // the place does not count
/// ```
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    span: Range<usize>,
    value: T,
}

impl<T> Spanned<T> {
    /// A value at a place.
    pub fn new(span: Range<usize>, value: T) -> Spanned<T> {
        Spanned { span, value }
    }

    /// Its place.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value alone.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Spanned<T>) -> bool {
        self.value == other.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Spanned<T>, D::Error> {
        from.deserialize_newtype_struct(NAME, Seen(PhantomData))
    }
}

struct Seen<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Seen<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Spanned<T>, A::Error> {
        let Some(ends) = map.next_key::<u128>()? else { return Err(A::Error::missing_field("")) };
        Ok(Spanned { span: span(ends), value: map.next_value()? })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Spanned<T>, D::Error> {
        Ok(Spanned { span: 0..0, value: T::deserialize(from)? })
    }
}

fn span(ends: u128) -> Range<usize> {
    (ends >> 64) as usize..ends as u64 as usize
}

fn ends(span: &Range<usize>) -> u128 {
    (span.start as u128) << 64 | span.end as u128
}

/// The tree's answer.
pub(super) struct Placed<'a>(pub(super) &'a Node);

impl<'de> MapAccess<'de> for Placed<'de> {
    type Error = FormError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, FormError> {
        let ends: U128Deserializer<FormError> = ends(&self.0.place).into_deserializer();
        seed.deserialize(ends).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, FormError> {
        seed.deserialize(self.0)
    }
}
