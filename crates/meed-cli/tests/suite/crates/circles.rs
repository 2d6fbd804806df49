//! Circles of imports: files of one crate that all import each other, directly or through others,
//! can neither be understood nor moved one by one.
//!
//! Counted are `use` declarations of a crate's own modules: `crate::`, `super::`, `self::`, and a
//! child's name in its parent. Paths outside of `use`, and tests, are not counted.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Most files of a circle.
const MOST: usize = 4;

/// A crate's modules by their paths (`["world", "desk"]`), each with the file that holds it.
type Modules = BTreeMap<Vec<String>, PathBuf>;

/// Adds the module `path` in `file`, and all that it declares but for tests; `folder` holds its
/// children.
fn add_modules(modules: &mut Modules, path: Vec<String>, file: PathBuf, folder: &Path) {
    let text = fs::read_to_string(&file).unwrap();
    modules.insert(path.clone(), file);
    let mut is_test = false;
    for line in text.lines() {
        let line = line.trim_end();
        let declared = line.strip_suffix(';').and_then(|line| line.split_once("mod "));
        if let Some((before, name)) = declared
            && (before.is_empty() || before.starts_with("pub"))
            && !is_test
        {
            let inner = folder.join(name);
            let places = [inner.with_extension("rs"), inner.join("mod.rs")];
            let child = places.into_iter().find(|place| place.is_file()).unwrap();
            let path = path.iter().cloned().chain([name.to_owned()]).collect();
            add_modules(modules, path, child, &inner);
        }
        // An attribute holds for the line after it.
        is_test = line == "#[cfg(test)]" || (is_test && line.starts_with("#["));
    }
}

/// The paths that a tree of `use` names: `a::{b, c::D}` names `a::b` and `a::c::D`.
fn paths_of(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        return if path.is_empty() { Vec::new() } else { vec![path.to_owned()] };
    };
    // A line of text in a program may begin with `use` as well.
    let Some(inner) = inner.trim_end().strip_suffix('}') else { return Vec::new() };
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inner.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(letter),
        }
    }
    let paths = parts.iter().flat_map(|part| paths_of(part));
    paths.map(|path| format!("{}{path}", before.trim())).collect()
}

/// All paths that a source imports outside of its tests.
fn imports_of(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines: Vec<&str> = code.lines().filter(is_code).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        let first = match line.strip_prefix("pub") {
            // `pub use`, `pub(crate) use`, `pub(in super::super) use`.
            Some(rest) => rest.split_once("use ").map(|(_, first)| first),
            None => line.strip_prefix("use "),
        };
        let Some(first) = first else { continue };
        let later = &lines[at + 1..];
        let ends = |line: &str| line.contains(';');
        let more = later.iter().position(|line| ends(line)).map_or(0, |last| last + 1);
        let later = if ends(first) { &[] } else { &later[..more] };
        let tree = [&[first], later].concat().join(" ");
        found.extend(paths_of(tree.split(';').next().unwrap()));
    }
    found
}

/// The module that `path`, imported in the module `from`, names or lies in; `None` for what is not
/// of this crate.
fn module_of(modules: &Modules, from: &[String], path: &str) -> Option<Vec<String>> {
    let mut parts = path.split("::").map(str::trim).peekable();
    let mut at = match parts.peek()? {
        &"crate" => Vec::new(),
        &"self" | &"super" => from.to_vec(),
        child => {
            let child = from.iter().cloned().chain([(*child).to_owned()]).collect::<Vec<_>>();
            modules.contains_key(&child).then(|| from.to_vec())?
        }
    };
    for part in parts {
        match part {
            "crate" | "self" => {}
            "super" => drop(at.pop()),
            part => {
                at.push(part.to_owned());
                if !modules.contains_key(&at) {
                    at.pop();
                    break;
                }
            }
        }
    }
    Some(at)
}

/// The circles among files that import these others, largest first: sets in which each file leads
/// to each.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            let new = imports[file].iter().filter(|file| seen.insert((*file).clone()));
            next.extend(new.collect::<Vec<_>>());
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|file| (file, reached(file))).collect();
    let of = |file: &String| -> BTreeSet<String> {
        let others = reached[file].iter();
        others.filter(|other| reached[*other].contains(file)).cloned().collect()
    };
    let all: BTreeSet<BTreeSet<String>> = imports.keys().map(of).collect();
    let mut all: Vec<BTreeSet<String>> = all.into_iter().filter(|one| one.len() > 1).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.len()));
    all
}

/// The circles of the crate whose sources are in `sources`.
fn circles_in(sources: &Path) -> Vec<BTreeSet<String>> {
    let roots = ["lib.rs", "main.rs"].map(|root| sources.join(root));
    let Some(root) = roots.into_iter().find(|root| root.is_file()) else { return Vec::new() };
    let mut modules = Modules::new();
    add_modules(&mut modules, Vec::new(), root, sources);
    let name = |file: &Path| file.strip_prefix(sources).unwrap().display().to_string();
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, file) in &modules {
        let own = name(file);
        let text = fs::read_to_string(file).unwrap();
        let paths = imports_of(&text);
        let found = paths.iter().filter_map(|path| module_of(&modules, module, path));
        let files = found.map(|module| name(&modules[&module])).filter(|file| *file != own);
        imports.insert(own.clone(), files.collect());
    }
    circles(&imports)
}

#[test]
fn no_circle_of_more_than_four_files_in_any_crate() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut found = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for circle in circles_in(&folder.join("src")) {
            if circle.len() > MOST {
                found.push(format!("{name}: {circle:?}"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "circles of more than {MOST} files; move what two files need into a third:\n{}",
        found.join("\n")
    );
}

#[test]
fn imports_are_found_and_circles_are_told_from_chains() {
    let text = "//! use crate::not::This;\n\
                use std::fmt;\n\
                pub(crate) use super::a::{B, c::{D, E as F}};\n\
                use child::G;\n\
                fn f() {\n    use crate::d;\n}\n\
                #[cfg(test)]\nmod tests {\n    use super::*;\n}\n";
    let paths = ["std::fmt", "super::a::B", "super::a::c::D", "super::a::c::E", "child::G"];
    assert_eq!(imports_of(text), [&paths[..], &["crate::d"]].concat());

    let file = |of: &[&str]| of.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
    let modules: Modules = [&[][..], &["w"], &["w", "child"], &["a"]]
        .into_iter()
        .map(|of| (file(of), PathBuf::from(of.join("/"))))
        .collect();
    let module = |path| module_of(&modules, &file(&["w"]), path);
    assert_eq!(module("std::fmt"), None);
    assert_eq!(module("child::G"), Some(file(&["w", "child"])));
    assert_eq!(module("super::a::B"), Some(file(&["a"])));
    assert_eq!(module("crate::Thing"), Some(file(&[])));
    assert_eq!(module("self::child::*"), Some(file(&["w", "child"])));

    // a -> b -> c -> a, and d only leads into it.
    let arrows = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let all = arrows.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    let circle = BTreeSet::from(["a", "b", "c"].map(str::to_owned));
    assert_eq!(circles(&all.into()), [circle]);
}
