//! `--set KEY=VALUE`: changes to a scenario's text before it is read.
//!
//! A key is a path of names and, within lists, numbers from 0: `policy.quantum`,
//! `cluster.node.0.count`, `queue.2.weight`. A value is TOML, or plain text where it is not.
//! Missing tables and keys are made; whether they mean anything is then checked as everything else
//! is.

use toml_edit::{DocumentMut, Item, Value};

use super::{Place, ScenarioError};

pub(super) fn apply(file: &str, text: &str, sets: &[String]) -> Result<String, ScenarioError> {
    if sets.is_empty() {
        return Ok(text.to_owned());
    }
    let place = Place { file, text };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| match error.span() {
            Some(span) => place.error(span, error.message()),
            None => place.whole(error.message()),
        })?;
    for set in sets {
        let fail = |what: String| ScenarioError {
            file: format!("--set {set}"),
            line: None,
            what,
            unreadable: false,
        };
        let (key, value) =
            set.split_once('=').ok_or_else(|| fail("is not of the form key=value".to_owned()))?;
        let value = value.trim().parse::<Value>().unwrap_or_else(|_| Value::from(value.trim()));
        put(document.as_item_mut(), &key.trim().split('.').collect::<Vec<_>>(), value)
            .map_err(fail)?;
    }
    Ok(document.to_string())
}

fn put(at: &mut Item, path: &[&str], value: Value) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        *at = Item::Value(value);
        return Ok(());
    };
    if first.is_empty() {
        return Err("has an empty part in its key".to_owned());
    }
    if let Some(tables) = at.as_array_of_tables_mut() {
        let (count, index) = (tables.len(), number(first)?);
        let table = tables
            .get_mut(index)
            .ok_or_else(|| format!("`{first}`: the list has {count} entries"))?;
        let (key, rest) = rest
            .split_first()
            .ok_or_else(|| format!("`{first}` is a whole table; name a key in it"))?;
        return put(table.entry(key).or_insert(Item::None), rest, value);
    }
    if let Some(array) = at.as_array_mut() {
        let (count, index) = (array.len(), number(first)?);
        let slot = array
            .get_mut(index)
            .ok_or_else(|| format!("`{first}`: the list has {count} entries"))?;
        let mut item = Item::Value(slot.clone());
        put(&mut item, rest, value)?;
        *slot = item.into_value().map_err(|_| format!("`{first}` cannot hold that"))?;
        return Ok(());
    }
    if at.is_none() {
        *at = Item::Table(toml_edit::Table::new());
    }
    match at.as_table_like_mut() {
        Some(table) => put(table.entry(first).or_insert(Item::None), rest, value),
        None => Err(format!("`{first}`: what stands before it is a value, not a table")),
    }
}

fn number(part: &str) -> Result<usize, String> {
    part.parse().map_err(|_| format!("`{part}`: a list's entries are numbered from 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_values_by_path() {
        let text = "[policy]\nquantum = 1\n[[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n";
        for (set, expected) in [
            ("policy.quantum=5", "quantum = 5"),
            ("policy.order=fair", "order = \"fair\""),
            ("queue.1.weight=2.5", "name = \"b\"\nweight = 2.5"),
            ("run.until=3h", "until = \"3h\""),
            ("run.seed = 7", "seed = 7"),
        ] {
            let changed = apply("f", text, &[set.to_owned()]).expect("a valid change");
            assert!(changed.contains(expected), "{set}: {changed}");
        }
        for (set, expected) in [
            ("policy", "is not of the form key=value"),
            ("queue.9.weight=1", "the list has 2 entries"),
            ("queue.b.weight=1", "numbered from 0"),
            ("policy..x=1", "empty part"),
            ("policy.quantum.x=1", "a value, not a table"),
        ] {
            let error = apply("f", text, &[set.to_owned()]).expect_err(set);
            assert!(error.to_string().contains(expected), "{set}: {error}");
        }
    }
}
