//! The document of a scenario with its changes ([`Setting`]), and what is to blame for an error.
//!
//! Missing tables and keys are made; whether they mean anything is then checked as everything else
//! is. The changed document is read as data, without being printed and parsed again: its text is
//! what logs keep of it.

mod queues;

use meed_config::{Place, TextError as ScenarioError, tree};
use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::error::LoadError;
use super::setting::{Part, Setting, of_set, parts};
use queues::Queues;

/// A document with its changes.
#[derive(Debug)]
pub(super) struct Draft {
    document: DocumentMut,
    /// Queues that are named in a change, and were not in the text; with that change.
    pub(super) added: Vec<(String, String)>,
}

impl Draft {
    /// The document that `text` is, changed; messages about the text call it `file`.
    pub(super) fn of(file: &str, text: &str, settings: &[Setting]) -> Result<Draft, ScenarioError> {
        let place = Place { file, text };
        let mut document: DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| match error.span() {
                Some(span) => place.error(span, error.message()),
                None => place.whole(error.message()),
            })?;
        let (mut queues, mut added) = (Queues::of(&document), Vec::new());
        for setting in settings {
            let fail = |what: String| of_set(setting.words(), what);
            let key = setting.key().to_vec();
            let (path, new) = queues.numbered(&mut document, key).map_err(fail)?;
            added.extend(new.map(|name| (name, setting.words().to_owned())));
            put(document.as_item_mut(), &path, setting.value().clone()).map_err(fail)?;
        }
        Ok(Draft { document, added })
    }

    /// A table of the document goes.
    pub(super) fn remove(&mut self, table: &str) {
        self.document.remove(table);
    }

    /// Whether the document has this table.
    pub(super) fn has(&self, table: &str) -> bool {
        self.document.contains_key(table)
    }

    /// The document as text.
    pub(super) fn text(&self) -> String {
        self.document.to_string()
    }

    /// The form that the document is.
    pub(super) fn read<T: DeserializeOwned>(&self, file: &str) -> Result<T, ScenarioError> {
        let data = toml::Value::Table(table_of(self.document.as_table()));
        let place = Place { file, text: "" };
        // It stands in no text that has lines.
        tree::read_data(data).map_err(|why| ScenarioError { line: None, ..place.toml(&why) })
    }
}

fn table_of(table: &dyn TableLike) -> toml::Table {
    let entries = table.iter().filter_map(|(key, item)| Some((key.to_owned(), of_item(item)?)));
    entries.collect()
}

fn of_item(item: &Item) -> Option<toml::Value> {
    Some(match item {
        Item::None => return None,
        Item::Value(value) => of_value(value),
        Item::Table(table) => toml::Value::Table(table_of(table)),
        Item::ArrayOfTables(tables) => {
            let tables = tables.iter().map(|table| toml::Value::Table(table_of(table)));
            toml::Value::Array(tables.collect())
        }
    })
}

fn of_value(value: &Value) -> toml::Value {
    match value {
        Value::String(text) => text.value().as_str().into(),
        Value::Integer(number) => (*number.value()).into(),
        Value::Float(number) => (*number.value()).into(),
        Value::Boolean(flag) => (*flag.value()).into(),
        Value::Datetime(date) => toml::Value::Datetime(*date.value()),
        Value::Array(values) => toml::Value::Array(values.iter().map(of_value).collect()),
        Value::InlineTable(table) => toml::Value::Table(table_of(table)),
    }
}

/// So many changes are looked at for the one that breaks something, the last ones first.
const LOOKED_AT: usize = 16;

/// What is wrong with `settings`, as an error of the change without which all is well; where there
/// is no such one, as it is of the scenario without changes, or else as it is. `wrong` says what is
/// wrong with some of them.
pub(super) fn blamed(
    error: LoadError,
    settings: &[Setting],
    wrong: &dyn Fn(&[Setting]) -> Option<LoadError>,
) -> LoadError {
    let LoadError::Scenario(error) = error else { return error };
    let is_to_blame = |&place: &usize| {
        let others = [&settings[..place], &settings[place + 1..]].concat();
        wrong(&others).is_none()
    };
    match (0..settings.len()).rev().take(LOOKED_AT).find(is_to_blame) {
        Some(place) => of_set(settings[place].words(), error.what).into(),
        None => wrong(&[]).unwrap_or(error.into()),
    }
}

/// What `key` names in `text`, the same however it is written: a queue by its name, though the key
/// has its number or quotes.
pub(super) fn path_of(text: &str, key: &str) -> Vec<String> {
    let path = parts(key.trim());
    let path = match text.parse::<DocumentMut>() {
        Ok(document) => Queues::of(&document).named(path),
        // Of a text that is none, the reading has told already.
        Err(_) => path,
    };
    path.into_iter().map(|part| part.text).collect()
}

fn put(at: &mut Item, path: &[Part], value: Value) -> Result<(), String> {
    let Some((part, rest)) = path.split_first() else {
        *at = Item::Value(value);
        return Ok(());
    };
    let first = part.text.as_str();
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
        return put(table.entry(&key.text).or_insert(Item::None), rest, value);
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
    use super::super::Scenario;
    use super::*;

    #[test]
    fn a_key_is_the_same_by_number_and_by_name() {
        let text = "[[queue]]\nname = \"a.x\"\n[[queue]]\nname = \"b\"\n";
        let path = |key: &str| path_of(text, key).join("|");
        for key in ["queue.0.weight", "queue.a.x.weight", "queue.\"a.x\".weight"] {
            assert_eq!(path(key), "queue|a.x|weight", "{key}");
        }
        assert_eq!(path("queue.1.policy.quantum"), "queue|b|policy|quantum");
        assert_eq!(path("queue.2.weight"), "queue|2|weight");
        assert_eq!(path("policy . quantum"), "policy|quantum");
    }

    #[test]
    fn sets_values_by_path() {
        let text =
            "[policy]\nquantum = 1\n[[queue]]\nname = \"a\"\n[[queue]]\nname = \"b\"\n[[job]]\n";
        for (set, expected) in [
            ("policy.quantum=5", "quantum = 5"),
            ("policy.order=fair", "order = \"fair\""),
            ("queue.1.weight=2.5", "name = \"b\"\nweight = 2.5"),
            ("run.until=3h", "until = \"3h\""),
            ("run.seed = 7", "seed = 7"),
            ("queue.b.weight=3", "name = \"b\"\nweight = 3"),
            ("queue.b.policy.quantum=1h", "[queue.policy]\nquantum = \"1h\""),
            ("queue.c.weight=3", "[[queue]]\nname = \"c\"\nweight = 3"),
            ("queue.\"1\".weight=3", "[[queue]]\nname = \"1\"\nweight = 3"),
            ("queue.x.y.weight=3", "[[queue]]\nname = \"x.y\"\nweight = 3"),
            ("queue.\"x=y\".weight=3", "[[queue]]\nname = \"x=y\"\nweight = 3"),
            ("queue.\"a\\\"=b\".weight=3", "[[queue]]\nname = 'a\"=b'\nweight = 3"),
            ("queue.o'neil.weight='3'", "[[queue]]\nname = \"o'neil\"\nweight = '3'"),
            ("queue.7.ann.weight=3", "[[queue]]\nname = \"7.ann\"\nweight = 3"),
            ("queue.1.policy.quantum=1h", "name = \"b\"\n\n[queue.policy]\nquantum = \"1h\""),
            ("queue.u/v @w.order=fifo", "[[queue]]\nname = \"u/v @w\"\norder = \"fifo\""),
        ] {
            let setting = Setting::parse(set).expect("a change");
            let changed = Draft::of("f", text, &[setting]).expect("a valid change").text();
            assert!(changed.contains(expected), "{set}: {changed}");
        }
        for (set, expected) in [
            ("policy", "is not of the form key=value"),
            ("queue.9.weight=1", "the list has 2 entries"),
            ("queue.b.wieght=1", "`queue.b.wieght` names no key of a queue"),
            ("queue.b=1", "`queue.b` names no key of a queue"),
            ("job.b.queue=1", "numbered from 0"),
            ("policy..x=1", "empty part"),
            ("policy.quantum.x=1", "a value, not a table"),
        ] {
            let changed = Setting::parse(set).and_then(|set| Draft::of("f", text, &[set]));
            let error = changed.expect_err(set);
            assert!(error.to_string().contains(expected), "{set}: {error}");
        }
    }

    #[test]
    fn what_a_change_breaks_is_said_of_the_change() {
        let text = "[cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n\
                    [[queue]]\nname = \"a\"\n[[job]]\nqueue = \"a\"\nduration = 1\n\
                    demand = { cpu = 1 }\n";
        let parse = |text: &str, sets: &[&str]| {
            let sets: Vec<Setting> = sets.iter().map(|set| Setting::parse(set).unwrap()).collect();
            let read =
                Scenario::parse("f", text, ".".as_ref(), &sets, meed_workload::OnBadLine::Stop);
            read.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let good = ["policy.quantum=5", "queue.a.order=fair", "run.seed=1"];
        assert_eq!(parse(text, &good), "");
        for (wrong, expected) in [
            ("policy.quantm=5", "unknown field `quantm`"),
            ("queue.0.weight=abc", "queue `a`, weight: \"abc\" is not an amount"),
            ("cluster.node.0.capacity.gpu=1", ""),
        ] {
            for place in 0..=good.len() {
                let mut sets = good.to_vec();
                sets.insert(place, wrong);
                let told = parse(text, &sets);
                assert!(told.starts_with(&format!("--set {wrong}: {expected}")), "{told}");
            }
        }
        let told = parse(&text.replace("cpu = 1 }\n", "gpu = 1 }\n"), &good);
        assert!(told.starts_with("f:") && !told.contains("--set"), "{told}");
    }
}
