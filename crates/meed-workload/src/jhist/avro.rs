//! As much of Avro's binary form as a job history needs: the schema that the file brings, and one
//! datum after the other, of which what an [`Event`] asks for is kept and the rest passed over.
//!
//! <https://avro.apache.org/docs/1.11.1/specification/>. By hand, for a library of general use is
//! forty crates and makes a tree of every datum.
//!
//! Invariant: nothing is believed. Lengths and counts are bounded by the bytes that are left, and
//! the number of values that are looked at by [`FUEL`] of them for each byte, so that types that
//! take no bytes end too. Cost: O(bytes).

use std::collections::BTreeMap;

use serde_json::Value;

use super::event::Event;

/// Longest schema, in bytes: Hadoop's have nine thousand.
pub(super) const MOST_SCHEMA: usize = 1 << 20;
/// Most types of a schema.
const MOST_TYPES: usize = 10_000;
/// Deepest value.
const MOST_LEVELS: u32 = 32;
/// Values for each byte: a record of records has one of no bytes at each level.
const FUEL: usize = 8;

/// One type of a schema; others by their number.
enum Type {
    Null,
    Boolean,
    /// `int` and `long`: they are written alike.
    Long,
    /// So many bytes: `float`, `double`, `fixed`.
    Fixed(usize),
    /// `bytes` and `string`.
    Bytes,
    Enum(Vec<String>),
    Array(usize),
    Map(usize),
    Union(Vec<usize>),
    Record(Record),
}

struct Record {
    /// Without the namespace.
    name: String,
    fields: Vec<(String, usize)>,
}

/// The schema of a file.
pub(super) struct Schema {
    types: Vec<Type>,
    root: usize,
}

/// Why a datum cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Torn {
    /// The bytes end before it does.
    End,
    /// It is none of the schema.
    Wrong(&'static str),
}

/// Bytes that are read.
pub(super) struct Bytes<'a> {
    pub(super) rest: &'a [u8],
    fuel: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Bytes<'a> {
        Bytes { rest, fuel: rest.len().saturating_mul(FUEL).saturating_add(1000) }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Torn> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Torn::End)?;
        self.rest = rest;
        Ok(taken)
    }

    /// Seven bits a byte, the lowest first, with the sign in the lowest bit.
    fn long(&mut self) -> Result<i64, Torn> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((number >> 1) as i64 ^ -((number & 1) as i64));
            }
        }
        Err(Torn::Wrong("a number of more than ten bytes"))
    }

    fn length(&mut self) -> Result<usize, Torn> {
        usize::try_from(self.long()?).map_err(|_| Torn::Wrong("a length below zero"))
    }

    fn bytes(&mut self) -> Result<&'a [u8], Torn> {
        let length = self.length()?;
        self.take(length)
    }

    fn burn(&mut self) -> Result<(), Torn> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Torn::Wrong("values of no bytes"))?;
        Ok(())
    }
}

/// Where in an event a value stands.
#[derive(Clone, Copy)]
enum At<'a> {
    /// It is this field of it.
    Field(&'a str),
    /// Deeper.
    Inside,
}

impl Schema {
    /// Reads the schema in `text`, which is JSON.
    pub(super) fn read(text: &[u8]) -> Result<Schema, String> {
        let json: Value = serde_json::from_slice(text).map_err(|why| why.to_string())?;
        let mut builder = Builder { types: Vec::new(), named: BTreeMap::new() };
        let root = builder.add(&json)?;
        match &builder.types[root] {
            Type::Record(_) => Ok(Schema { types: builder.types, root }),
            _ => Err("it is none of a record".to_owned()),
        }
    }

    /// The next event. Its type is its first field, an enum; its fields are those of the record
    /// that its second field, a union, holds.
    pub(super) fn event(&self, input: &mut Bytes<'_>, event: &mut Event) -> Result<(), Torn> {
        let Type::Record(root) = &self.types[self.root] else { return Ok(()) };
        for (_, of) in &root.fields {
            match &self.types[*of] {
                Type::Enum(symbols) => {
                    let symbol = symbols.get(input.length()?);
                    event.begin(symbol.ok_or(Torn::Wrong("an event of no known type"))?);
                }
                Type::Union(_) => match self.branch(*of, input)? {
                    Type::Record(record) => {
                        for (name, of) in &record.fields {
                            self.value(*of, At::Field(name), MOST_LEVELS, input, event)?;
                        }
                    }
                    _ => return Err(Torn::Wrong("an event that is no record")),
                },
                _ => self.value(*of, At::Inside, MOST_LEVELS, input, event)?,
            }
        }
        Ok(())
    }

    /// Which of the types of a union comes.
    fn branch(&self, union: usize, input: &mut Bytes<'_>) -> Result<&Type, Torn> {
        let Type::Union(of) = &self.types[union] else { return Ok(&self.types[union]) };
        let branch = of.get(input.length()?);
        Ok(&self.types[*branch.ok_or(Torn::Wrong("a union has no such part"))?])
    }

    fn value(
        &self,
        of: usize,
        at: At<'_>,
        levels: u32,
        input: &mut Bytes<'_>,
        event: &mut Event,
    ) -> Result<(), Torn> {
        input.burn()?;
        let levels = levels.checked_sub(1).ok_or(Torn::Wrong("values in values without end"))?;
        match self.branch(of, input)? {
            Type::Null => {}
            Type::Boolean => drop(input.take(1)?),
            Type::Fixed(bytes) => drop(input.take(*bytes)?),
            Type::Enum(_) => drop(input.length()?),
            Type::Long => {
                let number = input.long()?;
                if let At::Field(name) = at {
                    event.number(name, number);
                }
            }
            Type::Bytes => {
                let bytes = input.bytes()?;
                if let At::Field(name) = at {
                    event.text(name, bytes);
                }
            }
            Type::Record(record) if record.name == "JhCounter" => {
                self.counter(record, levels, input, event)?;
            }
            Type::Record(record) => {
                for (_, of) in &record.fields {
                    self.value(*of, At::Inside, levels, input, event)?;
                }
            }
            Type::Array(of) => {
                blocks(input, |input| self.value(*of, At::Inside, levels, input, event))?
            }
            Type::Map(of) => blocks(input, |input| {
                input.bytes()?;
                self.value(*of, At::Inside, levels, input, event)
            })?,
            Type::Union(_) => return Err(Torn::Wrong("a union in a union")),
        }
        Ok(())
    }

    /// A record with a text called `name` and a number called `value`.
    fn counter(
        &self,
        record: &Record,
        levels: u32,
        input: &mut Bytes<'_>,
        event: &mut Event,
    ) -> Result<(), Torn> {
        let (mut name, mut value) = (&b""[..], None);
        for (field, of) in &record.fields {
            match (&self.types[*of], field.as_str()) {
                (Type::Bytes, "name") => name = input.bytes()?,
                (Type::Long, "value") => value = Some(input.long()?),
                _ => self.value(*of, At::Inside, levels, input, event)?,
            }
        }
        if let Some(value) = value {
            event.counter(name, value);
        }
        Ok(())
    }
}

/// Items in blocks: a count, so many items; a negative one is followed by the bytes of its block;
/// 0 ends.
fn blocks<'a>(
    input: &mut Bytes<'a>,
    mut item: impl FnMut(&mut Bytes<'a>) -> Result<(), Torn>,
) -> Result<(), Torn> {
    loop {
        let count = input.long()?;
        if count == 0 {
            return Ok(());
        }
        if count < 0 {
            input.long()?;
        }
        for _ in 0..count.unsigned_abs() {
            item(input)?;
        }
    }
}

struct Builder {
    types: Vec<Type>,
    /// Types that have a name, without its namespace.
    named: BTreeMap<String, usize>,
}

impl Builder {
    fn add(&mut self, json: &Value) -> Result<usize, String> {
        match json {
            Value::String(name) => self.simple(name),
            Value::Array(parts) => {
                let parts = parts.iter().map(|part| self.add(part)).collect::<Result<_, _>>()?;
                self.push(Type::Union(parts))
            }
            Value::Object(_) => self.complex(json),
            _ => Err(format!("{json} is no type")),
        }
    }

    fn push(&mut self, new: Type) -> Result<usize, String> {
        if self.types.len() >= MOST_TYPES {
            return Err(format!("it has more than {MOST_TYPES} types"));
        }
        self.types.push(new);
        Ok(self.types.len() - 1)
    }

    fn simple(&mut self, name: &str) -> Result<usize, String> {
        self.push(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" | "long" => Type::Long,
            "float" => Type::Fixed(4),
            "double" => Type::Fixed(8),
            "bytes" | "string" => Type::Bytes,
            other => {
                let known = self.named.get(short(other)).copied();
                return known.ok_or_else(|| format!("{other:?} is no type"));
            }
        })
    }

    fn complex(&mut self, json: &Value) -> Result<usize, String> {
        let said = |key: &str| json.get(key).ok_or_else(|| format!("a type without {key:?}"));
        let name = || Ok::<_, String>(short(said("name")?.as_str().unwrap_or_default()).to_owned());
        let list = |key: &str| {
            said(key)?.as_array().ok_or_else(|| format!("{key:?} of a type is no list"))
        };
        let of = said("type")?;
        match of.as_str() {
            Some("array") => {
                let items = self.add(said("items")?)?;
                self.push(Type::Array(items))
            }
            Some("map") => {
                let values = self.add(said("values")?)?;
                self.push(Type::Map(values))
            }
            Some("enum") => {
                let symbol = |symbol: &Value| symbol.as_str().unwrap_or_default().to_owned();
                let symbols = list("symbols")?.iter().map(symbol).collect();
                let made = self.push(Type::Enum(symbols))?;
                self.named.insert(name()?, made);
                Ok(made)
            }
            Some("fixed") => {
                let size = said("size")?.as_u64().and_then(|size| usize::try_from(size).ok());
                let made = self.push(Type::Fixed(size.ok_or("a size that is no number")?))?;
                self.named.insert(name()?, made);
                Ok(made)
            }
            Some("record") => {
                let name = name()?;
                // Its fields may name it.
                let empty = Record { name: name.clone(), fields: Vec::new() };
                let made = self.push(Type::Record(empty))?;
                self.named.insert(name.clone(), made);
                let mut fields = Vec::new();
                for field in list("fields")? {
                    let said = field.get("name").and_then(Value::as_str).unwrap_or_default();
                    let of = field.get("type").ok_or("a field without a type")?;
                    fields.push((said.to_owned(), self.add(of)?));
                }
                self.types[made] = Type::Record(Record { name, fields });
                Ok(made)
            }
            Some(simple) => self.simple(simple),
            None => self.add(of),
        }
    }
}

/// A name without its namespace.
fn short(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
