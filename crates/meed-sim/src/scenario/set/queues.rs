//! Queues by their names in keys of `--set`.
//!
//! In `queue.NAME.KEY` the name goes up to the first part that is a key of queues: a queue below
//! another needs no quotes (`queue.science.ml.weight`), one that has such a part, or is a number,
//! does (`queue."7".weight`). A queue that the text does not declare is added to it: it may be one
//! of the trace's. Cost: one search by name for each change.

use std::collections::BTreeMap;

use meed_config::queues::KEYS;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

use super::Part;

/// The number of each queue in a document, by name.
pub(super) struct Queues {
    numbers: BTreeMap<String, usize>,
}

impl Queues {
    pub(super) fn of(document: &DocumentMut) -> Queues {
        let item = document.get("queue");
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
        let [list, first, rest @ ..] = &path[..] else { return Ok((path, None)) };
        let is_number = !first.quoted && first.text.parse::<usize>().is_ok();
        if list.text != "queue" || is_number || first.text.is_empty() {
            return Ok((path, None));
        }
        let end = match first.quoted {
            true => Some(0),
            false => rest.iter().position(|part| KEYS.contains(&part.text.as_str())),
        };
        let Some(end) = end.filter(|&end| end < rest.len()) else {
            let words: Vec<&str> = path.iter().map(|part| part.text.as_str()).collect();
            let (path, known) = (words.join("."), KEYS.join(", "));
            return Err(format!("`{path}` names no key of a queue; known are {known}"));
        };
        let name = [std::slice::from_ref(first), &rest[..end]].concat();
        let name = name.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(".");
        let (number, new) = match self.numbers.get(&name) {
            Some(&number) => (number, None),
            None => (self.add(document, &name)?, Some(name)),
        };
        let number = Part { text: number.to_string(), quoted: false };
        Ok(([&[list.clone(), number], &rest[end..]].concat(), new))
    }

    fn add(&mut self, document: &mut DocumentMut, name: &str) -> Result<usize, String> {
        let list = document.entry("queue").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
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
