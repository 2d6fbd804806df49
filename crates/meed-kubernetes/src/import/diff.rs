//! What applying imported Queues would change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use super::{Imported, lines_of, objects};
use crate::crd::QueueObjectSpec;

/// A Queue, or a list of them.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
struct Object {
    kind: String,
    metadata: Metadata,
    spec: Option<QueueObjectSpec>,
    items: Vec<Object>,
}

#[derive(Deserialize, Clone, Debug, Default)]
#[serde(default)]
struct Metadata {
    name: String,
}

/// A line for each Queue that would be made (`+`), changed (`~`, with each key) or is there alone
/// (`-`, which nobody deletes); then the remarks.
pub(crate) fn difference(imported: &Imported, queues: &str) -> Result<String, String> {
    let there = objects(queues, |object: &Object| object.items.clone())?;
    let is_queue = |object: &Object| object.kind == "Queue" || object.kind.is_empty();
    let mut there: BTreeMap<String, QueueObjectSpec> = there
        .into_iter()
        .filter(is_queue)
        .filter_map(|object| Some((object.metadata.name, object.spec?)))
        .collect();
    let mut text = String::new();
    for queue in &imported.queues {
        let new: BTreeMap<String, String> = lines_of(&queue.spec).into_iter().collect();
        let Some(spec) = there.remove(&queue.name) else {
            let all: Vec<String> =
                new.iter().map(|(key, value)| format!("{key} {value}")).collect();
            _ = writeln!(text, "+ {}: {}", queue.name, all.join(", "));
            continue;
        };
        let old: BTreeMap<String, String> = lines_of(&spec).into_iter().collect();
        let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
        let none = "none".to_owned();
        let change = |key: &String| {
            let (old, new) = (old.get(key).unwrap_or(&none), new.get(key).unwrap_or(&none));
            (old != new).then(|| format!("{key} {old} -> {new}"))
        };
        let changes: Vec<String> = keys.filter_map(change).collect();
        if !changes.is_empty() {
            _ = writeln!(text, "~ {}: {}", queue.name, changes.join(", "));
        }
    }
    for name in there.keys() {
        _ = writeln!(text, "- {name}: not in what was read; it stays");
    }
    for remark in &imported.remarks {
        _ = writeln!(text, "# {remark}");
    }
    Ok(text)
}
