//! Forms are read from nodes.
//!
//! A form asks for one kind of value, and is handed that kind or none: for a value of another kind
//! the error is made here, without the form ([`Node::wrong`]). That is what keeps the readers of
//! forms short; the sentences are those that the forms would say themselves.

use std::slice::Iter;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::spanned::{NAME, Placed};
use super::{Entry, FormError, Kind, Node};

/// Dates are handed to forms that take any value as a table with this key: no form has it, and
/// each refuses it by its own sentence.
const DATE: &str = "date or time";

type Key<'de> = BorrowedStrDeserializer<'de, FormError>;

macro_rules! whole {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
            match &self.kind {
                Kind::Whole(number) => visitor.visit_i64(*number),
                Kind::Large(number) => visitor.visit_u64(*number),
                _ => Err(self.wrong(&visitor)),
            }
        }
    )*};
}

macro_rules! one_kind {
    ($($method:ident($($size:ty)?) $kind:ident $visit:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $(_: $size,)?
            visitor: V,
        ) -> Result<V::Value, FormError> {
            match &self.kind {
                Kind::$kind(inner) => $visit(visitor, inner),
                _ => Err(self.wrong(&visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = FormError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match &self.kind {
            Kind::Text(text) => visitor.visit_str(text),
            Kind::Whole(number) => visitor.visit_i64(*number),
            Kind::Large(number) => visitor.visit_u64(*number),
            Kind::Beyond(_) => Err(self.wrong(&visitor)),
            Kind::Fraction(number) => visitor.visit_f64(*number),
            Kind::Flag(flag) => visitor.visit_bool(*flag),
            Kind::Date(date) => {
                visitor.visit_map(MapDeserializer::new([(DATE, date.as_str())].into_iter()))
            }
            Kind::List(nodes) => visitor.visit_seq(Nodes(nodes.iter())),
            Kind::Table(entries) => visitor.visit_map(Entries::of(entries)),
        }
    }

    whole! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        match &self.kind {
            Kind::Whole(number) => visitor.visit_i64(*number),
            Kind::Large(number) => visitor.visit_u64(*number),
            Kind::Fraction(number) => visitor.visit_f64(*number),
            _ => Err(self.wrong(&visitor)),
        }
    }

    one_kind! {
        deserialize_bool() Flag |visitor: V, flag: &bool| visitor.visit_bool(*flag);
        deserialize_str() Text |visitor: V, text: &str| visitor.visit_str(text);
        deserialize_string() Text |visitor: V, text: &str| visitor.visit_str(text);
        deserialize_seq() List
            |visitor: V, nodes: &'de [Node]| visitor.visit_seq(Nodes(nodes.iter()));
        deserialize_tuple(usize) List
            |visitor: V, nodes: &'de [Node]| visitor.visit_seq(Nodes(nodes.iter()));
        deserialize_map() Table
            |visitor: V, entries: &'de [Entry]| visitor.visit_map(Entries::of(entries));
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FormError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, FormError> {
        match name == NAME {
            true => visitor.visit_map(Placed(self)),
            false => visitor.visit_newtype_struct(self),
        }
    }

    /// Choices of forms are words without more in them.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, FormError> {
        match &self.kind {
            Kind::Text(text) => visitor.visit_enum(Key::new(text)),
            _ => Err(no_choice(variants)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, FormError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        f32 char bytes byte_buf unit unit_struct tuple_struct identifier
    }
}

#[cold]
fn no_choice(variants: &[&str]) -> FormError {
    let words: Vec<String> = variants.iter().map(|word| format!("`{word}`")).collect();
    FormError::custom(format!("wanted is one of the words {}", words.join(", ")))
}

struct Nodes<'de>(Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Nodes<'de> {
    type Error = FormError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, FormError> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|why| why.at(&node.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    entries: Iter<'de, Entry>,
    /// Of the key that was read last.
    value: Option<&'de Node>,
}

impl<'de> Entries<'de> {
    fn of(entries: &'de [Entry]) -> Entries<'de> {
        Entries { entries: entries.iter(), value: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = FormError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, FormError> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        seed.deserialize(Key::new(&entry.key)).map(Some).map_err(|why| why.at(&entry.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, FormError> {
        let Some(node) = self.value.take() else {
            return Err(FormError::custom("a value was asked for before its key"));
        };
        seed.deserialize(node).map_err(|why| why.at(&node.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}
