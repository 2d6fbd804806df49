//! `--set KEY=VALUE`: changes to a scenario's text before it is read.
//!
//! A key is a path of names and, within lists, numbers from 0: `policy.quantum`,
//! `cluster.node.0.count`, `queue.2.weight`. A queue may be named as well: `queue.ads.weight`,
//! `queue."a.b".weight` ([`queues`]). A value is TOML, or plain text where it is not. Missing
//! tables and keys are made; whether they mean anything is then checked as everything else is.

mod queues;

use toml_edit::{DocumentMut, Item, Key, Value};

use super::{LoadError, Place, Scenario, ScenarioError};
use queues::Queues;

/// A text with its changes.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) text: String,
    /// Queues that are named in a change, and were not in the text; with that change.
    pub(super) added: Vec<(String, String)>,
}

/// A part of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    text: String,
    /// A name, though it may look like a number.
    quoted: bool,
}

pub(super) fn apply(file: &str, text: &str, sets: &[String]) -> Result<Changed, ScenarioError> {
    if sets.is_empty() {
        return Ok(Changed { text: text.to_owned(), added: Vec::new() });
    }
    let place = Place { file, text };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| match error.span() {
            Some(span) => place.error(span, error.message()),
            None => place.whole(error.message()),
        })?;
    let (mut queues, mut added) = (Queues::of(&document), Vec::new());
    for set in sets {
        let fail = |what: String| of_set(set, what);
        let (key, value) =
            split(set).ok_or_else(|| fail("is not of the form key=value".to_owned()))?;
        let value = value.trim().parse::<Value>().unwrap_or_else(|_| Value::from(value.trim()));
        let (path, new) = queues.numbered(&mut document, parts(key.trim())).map_err(fail)?;
        added.extend(new.map(|name| (name, set.clone())));
        put(document.as_item_mut(), &path, value).map_err(fail)?;
    }
    Ok(Changed { text: document.to_string(), added })
}

/// Something wrong with a change.
pub(super) fn of_set(set: &str, what: String) -> ScenarioError {
    ScenarioError { file: format!("--set {set}"), line: None, what, unreadable: false }
}

/// So many changes are looked at for the one that breaks something, the last ones first.
const LOOKED_AT: usize = 16;

/// What is wrong with `sets`, as an error of the change without which all is well; where there is
/// no such one, as it is.
pub(super) fn blamed(
    error: ScenarioError,
    sets: &[String],
    read: &dyn Fn(&[String]) -> Result<Scenario, LoadError>,
) -> ScenarioError {
    let is_to_blame = |&place: &usize| {
        let others = [&sets[..place], &sets[place + 1..]].concat();
        read(&others).is_ok()
    };
    match (0..sets.len()).rev().take(LOOKED_AT).find(is_to_blame) {
        Some(place) => of_set(&sets[place], error.what),
        None => error,
    }
}

/// At the first `=` that stands in no quoted name.
pub(super) fn split(set: &str) -> Option<(&str, &str)> {
    // A quote opens where a name begins; within it, in TOML, a backslash takes the next letter.
    let (mut quote, mut escaped, mut begins) = (None, false, true);
    let at = set.find(|letter: char| {
        match (quote, letter) {
            _ if escaped => escaped = false,
            (Some('"'), '\\') => escaped = true,
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') if begins => quote = Some(letter),
            (None, '=') => return true,
            _ => {}
        }
        begins = letter == '.' || begins && letter.is_whitespace();
        false
    });
    // A quote that nobody closes is a letter.
    at.map(|at| (&set[..at], &set[at + 1..])).or_else(|| set.split_once('='))
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

fn parts(key: &str) -> Vec<Part> {
    let part = |key: &Key| {
        let quoted = key.display_repr().starts_with(['"', '\'']);
        Part { text: key.get().to_owned(), quoted }
    };
    // Names of letters that TOML would have in quotes need none here.
    let plain = |text: &str| Part { text: text.to_owned(), quoted: false };
    Key::parse(key).map_or_else(
        |_| key.split('.').map(plain).collect(),
        |keys| keys.iter().map(part).collect(),
    )
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
            let changed = apply("f", text, &[set.to_owned()]).expect("a valid change").text;
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
            let error = apply("f", text, &[set.to_owned()]).expect_err(set);
            assert!(error.to_string().contains(expected), "{set}: {error}");
        }
    }

    #[test]
    fn what_a_change_breaks_is_said_of_the_change() {
        let text = "[cluster]\nresources = [\"cpu\"]\nnode = [{ capacity = { cpu = 1 } }]\n\
                    [[queue]]\nname = \"a\"\n[[job]]\nqueue = \"a\"\nduration = 1\n\
                    demand = { cpu = 1 }\n";
        let parse = |text: &str, sets: &[&str]| {
            let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
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
