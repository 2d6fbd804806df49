//! Each public type of a crate that others build on shows by an example what it is for, or names in
//! its documentation a type that does.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::crates::sources;
use crate::tidy::public_type;

/// The crates, and how many of their public types have neither an example nor a link to one.
/// Numbers are lowered, never raised.
const KNOWN: &[(&str, usize)] = &[
    ("meed", 0),
    ("meed-config", 0),
    ("meed-driver", 0),
    ("meed-files", 0),
    ("meed-journal", 0),
    ("meed-level", 0),
    ("meed-pods", 0),
    ("meed-scenario", 0),
    ("meed-sim", 0),
    ("meed-store", 0),
    ("meed-workload", 106),
];

/// A public type: where it stands, what its documentation says, and whether its cases are sentences
/// for people, which need no example.
struct Type {
    place: String,
    documentation: String,
    is_error: bool,
}

/// The name of the type that a line declares for everybody, but for other names of a type.
fn declared(line: &str) -> Option<&str> {
    let is_inner = line.starts_with(' ') || line.starts_with("pub type ");
    public_type(line).filter(|_| !is_inner)
}

/// All public types of a crate: `unreachable_pub` of the compiler says that others can reach them.
fn types(name: &str) -> BTreeMap<String, Type> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let mut found = BTreeMap::new();
    for path in sources(root) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let Some(name) = declared(line) else { continue };
            // Attributes stand between the documentation and the type; some have several lines.
            let above = || lines[..at].iter().rev().take_while(|line| !line.is_empty());
            let is_ours = |line: &&&str| line.starts_with("///");
            let mut documentation: Vec<&str> = above().filter(is_ours).copied().collect();
            documentation.reverse();
            let implements = format!("std::error::Error for {name}");
            let is_error = above()
                .any(|line| line.starts_with("#[derive(") && line.contains("Error"))
                || text.contains(&implements);
            let place = format!("{}:{}", path.display(), at + 1);
            let documentation = documentation.join("\n");
            found.insert(name.to_owned(), Type { place, documentation, is_error });
        }
    }
    found
}

/// Names in links of a documentation: of [`a::B`](c::D), `a`, `B`, `c` and `D`.
fn linked(documentation: &str) -> BTreeSet<&str> {
    let links = documentation.split('[').skip(1).filter_map(|rest| {
        let (shown, rest) = rest.split_once(']')?;
        let target = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        Some([shown, target.map_or("", |(target, _)| target)])
    });
    links
        .flatten()
        .flat_map(|path| path.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect()
}

#[test]
fn public_types_have_an_example() {
    let crates: BTreeMap<&str, BTreeMap<String, Type>> =
        KNOWN.iter().map(|&(name, _)| (name, types(name))).collect();
    let shows = |one: &Type| one.documentation.contains("```");
    let all = || crates.values().flatten();
    let with: BTreeSet<&str> =
        all().filter(|(_, one)| shows(one)).map(|(name, _)| name.as_str()).collect();
    assert!(all().count() > 400, "the public types are found");
    for &(name, known) in KNOWN {
        let has_none = |one: &&Type| {
            let links = linked(&one.documentation);
            !one.is_error && !shows(one) && !links.iter().any(|link| with.contains(link))
        };
        let without: Vec<&Type> = crates[name].values().filter(has_none).collect();
        let places: Vec<&str> = without.iter().map(|one| one.place.as_str()).collect();
        let (number, places) = (places.len(), places.join("\n"));
        assert!(number <= known, "{name}: {number} without an example, not {known}:\n{places}");
        assert!(number == known, "{name}: lower its row to {number}");
    }
}

#[test]
fn links_are_read() {
    let names = linked("/// The example of [`Fact::Open`](crate::Fact), and [the page](crate).");
    assert!(["Fact", "Open", "crate"].iter().all(|name| names.contains(name)));
    assert_eq!(declared("pub struct Name<T> {"), Some("Name"));
    assert_eq!(declared("pub(crate) struct Name;"), None);
}
