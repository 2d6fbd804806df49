//! Queues by their names in keys of `--set`.
//!
//! In `queue.NAME.KEY` the name goes up to the first part that is a key of queues: a queue below
//! another needs no quotes (`queue.science.ml.weight`, `queue.7.ann.weight`), one that has such a
//! part, or is a number, does (`queue."7".weight`). A queue that the text does not declare is added
//! to it: it may be one of the trace's. Cost: one search by name for each change.

use std::collections::BTreeMap;

use meed_config::queues::KEYS;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

use super::super::setting::Part;

const LIST: &str = "queue";

/// What a path says of queues.
enum Named<'a> {
    /// Nothing, or it has a number.
    Elsewhere,
    /// A queue, and nothing in it that there is.
    NoKey,
    /// A queue by its name, and the path below it.
    Queue(String, &'a [Part]),
}

fn name_in(path: &[Part]) -> Named<'_> {
    let [list, first, rest @ ..] = path else { return Named::Elsewhere };
    if list.text != LIST || first.text.is_empty() {
        return Named::Elsewhere;
    }
    let key = rest.iter().position(|part| KEYS.contains(&part.text.as_str()));
    let looks_like_number = !first.quoted && first.text.parse::<usize>().is_ok();
    // Where more stands before the key, it is the name of a queue below one that is called so.
    if looks_like_number && key.unwrap_or(0) == 0 {
        return Named::Elsewhere;
    }
    let end = if first.quoted { Some(0) } else { key };
    let Some(end) = end.filter(|&end| end < rest.len()) else { return Named::NoKey };
    let name = [std::slice::from_ref(first), &rest[..end]].concat();
    let name = name.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
    Named::Queue(name, &rest[end..])
}

/// The number of each queue in a document, by name.
pub(super) struct Queues {
    numbers: BTreeMap<String, usize>,
}

impl Queues {
    pub(super) fn of(document: &DocumentMut) -> Queues {
        let item = document.get(LIST);
        let tables = item
            .and_then(Item::as_array_of_tables)
            .into_iter()
            .flat_map(|list| list.iter().map(|table| table.get("name").and_then(Item::as_str)));
        let values = item.and_then(Item::as_array).into_iter().flat_map(|list| {
            list.iter().map(|value| value.as_inline_table()?.get("name").and_then(Value::as_str))
        });
        let names = tables.chain(values).zip(0..);
        let numbers = names.filter_map(|(name, number)| Some((name?.to_owned(), number)));
        Queues { numbers: numbers.collect() }
    }

    /// The same path with a queue's number instead of its name; and its name, where it is new and
    /// has been added to the document.
    pub(super) fn numbered(
        &mut self,
        document: &mut DocumentMut,
        path: Vec<Part>,
    ) -> Result<(Vec<Part>, Option<String>), String> {
        let (name, key) = match name_in(&path) {
            Named::Elsewhere => return Ok((path, None)),
            Named::NoKey => {
                let words: Vec<&str> = path.iter().map(|part| part.text.as_str()).collect();
                let (path, known) = (words.join("."), KEYS.join(", "));
                return Err(format!("`{path}` names no key of a queue; known are {known}"));
            }
            Named::Queue(name, key) => (name, key),
        };
        let (number, new) = match self.numbers.get(&name) {
            Some(&number) => (number, None),
            None => (self.add(document, &name)?, Some(name)),
        };
        let number = Part { text: number.to_string(), quoted: false };
        Ok(([&[path[0].clone(), number], key].concat(), new))
    }

    /// The same path with a queue's name, as one part, instead of its number or of several parts.
    pub(super) fn named(&self, path: Vec<Part>) -> Vec<Part> {
        let part = |name: &str| Part { text: name.to_owned(), quoted: true };
        match (name_in(&path), &path[..]) {
            (Named::Queue(name, key), [list, ..]) => [&[list.clone(), part(&name)], key].concat(),
            (Named::Elsewhere, [list, first, key @ ..]) if list.text == LIST => {
                let number = first.text.parse::<usize>().ok();
                let of = |(name, at): (&String, &usize)| (Some(*at) == number).then(|| part(name));
                match self.numbers.iter().find_map(of) {
                    Some(name) => [&[list.clone(), name], key].concat(),
                    None => path,
                }
            }
            _ => path,
        }
    }

    fn add(&mut self, document: &mut DocumentMut, name: &str) -> Result<usize, String> {
        let list = document.entry(LIST).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let list = list.as_array_of_tables_mut().ok_or_else(|| {
            format!("`{name}`: queues that are not in the list can be named where it is [[queue]]")
        })?;
        let (number, mut table) = (list.len(), Table::new());
        table.insert("name", toml_edit::value(name));
        list.push(table);
        self.numbers.insert(name.to_owned(), number);
        Ok(number)
    }
}
