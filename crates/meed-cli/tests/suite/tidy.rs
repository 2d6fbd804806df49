//! How the sources are written: lines of at most 100 columns, files of at most 800 lines.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_COLUMNS: usize = 100;
const MAX_LINES: usize = 800;

/// All files of the project with this ending, but for what cargo has built.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !["target", "corpus", "node_modules"].contains(&&*name)
                {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(found.len() > 10, "the project has files that end with {ending}");
    found.sort();
    found
}

/// Whether a line cannot be broken: a row of a table in Markdown or in doc comments, and what has
/// no space in it to break at (an address).
fn is_unbreakable(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!']).trim_start();
    text.starts_with('|') || !text.trim_start_matches(['-', '*', '!', ' ']).contains(' ')
}

/// Lines that are too long, each with its place. What Markdown shows as it is (commands, output,
/// pictures) is not prose, and stays on its line.
fn long_lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut in_block = false;
    let mut long = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        in_block ^=
            path.extension().is_some_and(|e| e == "md") && line.trim_start().starts_with("```");
        let shown = in_block || line.starts_with("![");
        if line.chars().count() > MAX_COLUMNS && !is_unbreakable(line) && !shown {
            long.push(format!("{}:{number}: {line}", path.display()));
        }
    }
    long
}

#[test]
fn lines_have_at_most_100_columns() {
    let paths = [".rs", ".md"].map(files).concat();
    let long: Vec<String> = paths.iter().flat_map(|path| long_lines(path)).collect();
    assert!(long.is_empty(), "{} lines are too long:\n{}", long.len(), long.join("\n"));
}

#[test]
fn files_have_at_most_800_lines() {
    for path in files(".rs") {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines: two ideas in one room?", path.display());
    }
}

/// The name that a line declares for everybody: `pub struct Name`, and so on.
pub(crate) fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end])
}

/// A name leads to one page of the documentation, and a message of the compiler to one type.
#[test]
fn a_public_type_has_one_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files(".rs") {
        if !path.to_string_lossy().contains("/src/") {
            continue;
        }
        for (number, line) in (1..).zip(fs::read_to_string(&path).unwrap().lines()) {
            // Types of a trait (`type Item = ...;` in an implementation) are not public by a word.
            if let Some(name) = public_type(line) {
                let place = format!("{}:{number}", path.display());
                places.entry(name.to_owned()).or_default().push(place);
            }
        }
    }
    assert!(places.len() > 300, "the public types are found");
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "one name for two types: {places:#?}");
}

/// Crates that others build on (ARCHITECTURE.md).
const API: [&str; 5] = ["meed", "meed-config", "meed-journal", "meed-store", "meed-driver"];
/// Errors of theirs that are closed by what they are: callers turn each case into their own.
const CLOSED: [&str; 2] = ["NumberError", "ReadError<E>"];

/// What may be wrong grows with every version: whoever matches on an error of a crate that others
/// build on leaves room for more. Our own crates do not: the compiler shows who has no words, or no
/// exit code, for a new one.
#[test]
fn errors_of_the_api_may_grow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let is_api =
        |path: &&PathBuf| API.iter().any(|name| path.starts_with(root.join(name).join("src")));
    let mut closed = Vec::new();
    let mut seen = 0;
    for path in files(".rs").iter().filter(is_api) {
        let text = fs::read_to_string(path).unwrap();
        let mut before = "";
        for line in text.lines() {
            let name = line.strip_prefix("pub enum ").and_then(|rest| rest.split(' ').next());
            let is_error = |name: &str| name.contains("Error") && !CLOSED.contains(&name);
            if name.is_some_and(is_error) {
                seen += 1;
                if before != "#[non_exhaustive]" {
                    closed.push(format!("{}: {line}", path.display()));
                }
            }
            before = line;
        }
    }
    assert!(closed.is_empty(), "without #[non_exhaustive]:\n{}", closed.join("\n"));
    assert!(seen > 3, "{seen} errors were looked at");
}

/// The page of a public type stands by itself: its module may be private.
#[test]
fn public_items_say_themselves_what_they_are() {
    let mut looked_at = 0;
    for path in files("rs") {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let line = line.trim();
            if !line.starts_with("///") || !line.contains("See the module") {
                continue;
            }
            looked_at += 1;
            let mut below = lines[number + 1..].iter().map(|line| line.trim());
            let item = below
                .find(|line| !line.starts_with("#[") && !line.starts_with("///"))
                .unwrap_or_default();
            assert!(!item.starts_with("pub "), "{}:{}: {item}", path.display(), number + 1);
        }
    }
    assert!(looked_at > 0, "others say so");
}
