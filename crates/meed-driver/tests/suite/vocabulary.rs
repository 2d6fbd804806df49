//! One fact has one name: in the engine, the driver, the journal, and its page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use meed_journal::{FactRole, Kind};

/// Events whose fact is another's, by what it holds: `start` with `since_s`, and `node_resized`
/// without `keeps_tasks`.
const BY_CONTENT: &[&str] = &["TaskAdopted", "NodeChanged"];

/// Inputs of the driver that are no events of the engine.
const OF_THE_DRIVER: &[&str] = &["Infeasible", "TimePassed"];

fn name(kind: Kind) -> String {
    format!("{kind:?}")
}

fn inputs() -> BTreeSet<String> {
    let inputs = Kind::ALL.iter().filter(|kind| kind.role() == FactRole::Input);
    inputs.map(|kind| name(*kind)).collect()
}

/// `JobArrived` as `job_arrived`.
fn snake(name: &str) -> String {
    let parts = name.char_indices().map(|(at, letter)| match letter.is_uppercase() && at > 0 {
        true => format!("_{}", letter.to_lowercase()),
        false => letter.to_lowercase().to_string(),
    });
    parts.collect()
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

#[test]
fn inputs_are_the_events_of_the_engine() {
    let source = read("crates/meed/src/event.rs");
    let body = source.split("pub enum Event").nth(1).expect("it is there");
    let body = &body[..body.find("\n}").expect("it ends")];
    let begins = |line: &&str| line.strip_prefix("    ").is_some_and(|rest| !rest.starts_with(' '));
    let variants = body.lines().filter(begins).filter_map(|line| {
        let word: String = line.trim().chars().take_while(char::is_ascii_alphanumeric).collect();
        word.starts_with(char::is_uppercase).then_some(word)
    });
    let events: BTreeSet<String> = variants.collect();
    let mut expected: BTreeSet<String> = inputs();
    OF_THE_DRIVER.iter().for_each(|name| assert!(expected.remove(*name), "{name} is no input"));
    expected.extend(BY_CONTENT.iter().map(|&name| name.to_owned()));
    assert_eq!(events, expected, "left: events of the engine; right: inputs of the journal");
}

#[test]
fn inputs_have_a_verb_and_a_constructor_of_their_name() {
    let journal = read("crates/meed-journal/src/inputs.rs");
    let driver: String = ["jobs", "tasks", "live", "cluster", "queues"]
        .map(|file| read(&format!("crates/meed-driver/src/driver/{file}.rs")))
        .concat();
    let has = |source: &str, verb: &str| {
        source.contains(&format!("pub fn {verb}(")) || source.contains(&format!("pub fn {verb}<"))
    };
    for name in inputs().iter().map(String::as_str).chain(BY_CONTENT.iter().copied()) {
        let verb = match name {
            "Infeasible" => "set_infeasible".to_owned(),
            name => snake(name),
        };
        if name != "NodeChanged" {
            assert!(has(&journal, &verb), "meed-journal/src/inputs.rs has no `Fact::{verb}`");
        }
        if name != "TimePassed" {
            assert!(has(&driver, &verb), "no file of meed-driver/src/driver has `{verb}`");
        }
    }
}

#[test]
fn the_page_names_each_kind() {
    let page = read("docs/log.md");
    let names = page.split("## Names").nth(1).and_then(|rest| rest.split("## ").next());
    let names = names.expect("the section is there");
    for &kind in Kind::ALL {
        let (word, name) = (kind.word(), name(kind));
        assert!(page.contains(&format!("`{word}`")), "docs/log.md does not tell of `{word}`");
        if snake(&name) != word {
            let row = format!("| `{word}` | `{name}`");
            assert!(names.contains(&row), "docs/log.md, Names, has no row `{row}`");
        }
    }
}
