//! `infeasible` (what becomes of tasks that no node could hold) by its word, and in the `detail` of
//! a header.

use meed::Infeasible;
use meed_journal::Detail;
use serde_json::{Value, json};

/// Where a header's detail has it.
const KEY: &str = "infeasible";

const WORDS: [(&str, Infeasible); 2] = [("refuse", Infeasible::Refuse), ("wait", Infeasible::Wait)];

/// What the word says.
pub(crate) fn of_word(word: &str) -> Result<Infeasible, String> {
    let found = WORDS.iter().find(|(known, _)| *known == word);
    let found = found.map(|(_, infeasible)| *infeasible);
    found.ok_or_else(|| format!("infeasible: `{word}` is not one of refuse, wait"))
}

/// `detail` with it, where it is not as at first.
pub(crate) fn told(infeasible: Infeasible, detail: Detail) -> Detail {
    if infeasible == Infeasible::Refuse {
        return detail;
    }
    let mut all = detail.unwrap_or_else(|| Box::new(json!({})));
    if let Value::Object(all) = &mut *all {
        all.insert(KEY.to_owned(), "wait".into());
    }
    Some(all)
}

/// That of which a header tells; in words what is wrong with it.
pub(crate) fn of_detail(detail: &Detail) -> Result<Infeasible, String> {
    match detail.as_ref().and_then(|detail| detail.get(KEY)) {
        None => Ok(Infeasible::Refuse),
        Some(word) => {
            of_word(word.as_str().unwrap_or_default()).map_err(|why| format!("detail, {why}"))
        }
    }
}
