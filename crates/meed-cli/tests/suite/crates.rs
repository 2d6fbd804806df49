//! What crates must not do (ARCHITECTURE.md): who may use whom, and what the engine's code never
//! names.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names in `[dependencies]` of a crate.
fn dependencies(name: &str) -> Vec<String> {
    let text = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let table =
        text.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap().to_owned();
    let names = table.lines().filter(|line| !line.starts_with('#') && line.contains('='));
    names.map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned()).collect()
}

#[test]
fn crates_use_only_those_below_them() {
    for (name, below) in [
        ("meed", &[][..]),
        ("meed-config", &["meed"]),
        ("meed-journal", &["meed", "meed-config"]),
        ("meed-store", &[]),
        ("meed-pods", &["meed"]),
        ("meed-workload", &["meed", "meed-config", "meed-files", "meed-pods"]),
        ("meed-driver", &["meed", "meed-config", "meed-journal", "meed-store"]),
        (
            "meed-mapreduce",
            &["meed", "meed-config", "meed-driver", "meed-journal", "meed-workload"],
        ),
        (
            "meed-scenario",
            &[
                "meed",
                "meed-config",
                "meed-driver",
                "meed-files",
                "meed-journal",
                "meed-mapreduce",
                "meed-workload",
            ],
        ),
        (
            "meed-sim",
            &[
                "meed",
                "meed-config",
                "meed-driver",
                "meed-journal",
                "meed-mapreduce",
                "meed-scenario",
                "meed-workload",
            ],
        ),
        (
            "meed-replay",
            &[
                "meed",
                "meed-config",
                "meed-driver",
                "meed-journal",
                "meed-mapreduce",
                "meed-scenario",
                "meed-sim",
                "meed-workload",
            ],
        ),
        ("meed-yarn", &["meed", "meed-config", "meed-driver", "meed-journal", "meed-store"]),
        ("meed-report", &["meed-driver", "meed-config", "meed-files"]),
        (
            "meed-server",
            &[
                "meed",
                "meed-cli",
                "meed-config",
                "meed-driver",
                "meed-http",
                "meed-journal",
                "meed-report",
                "meed-store",
            ],
        ),
        (
            "meed-kubernetes",
            &[
                "meed",
                "meed-config",
                "meed-driver",
                "meed-features",
                "meed-http",
                "meed-journal",
                "meed-pods",
                "meed-report",
            ],
        ),
        (
            "meed-slurm",
            &["meed", "meed-config", "meed-driver", "meed-features", "meed-journal", "meed-store"],
        ),
        ("meed-features", &["meed-store"]),
        ("meed-level", &["meed-config"]),
        ("meed-files", &[]),
        ("meed-http", &[]),
        (
            "meed-experiments",
            &["meed", "meed-config", "meed-workload", "meed-scenario", "meed-sim", "meed-report"],
        ),
        (
            "meed-papers",
            &[
                "meed",
                "meed-cli",
                "meed-config",
                "meed-files",
                "meed-journal",
                "meed-workload",
                "meed-mapreduce",
                "meed-scenario",
                "meed-sim",
                "meed-level",
                "meed-report",
                "meed-experiments",
            ],
        ),
    ] {
        let used = dependencies(name);
        let ours: Vec<&String> = used.iter().filter(|used| used.starts_with("meed")).collect();
        assert_eq!(ours, below, "{name}");
    }
    let engine = dependencies("meed");
    assert_eq!(
        engine,
        [
            "foldhash",
            "hashbrown",
            "libm",
            "num-bigint",
            "prefetch-index",
            "smallvec",
            "thiserror",
            "serde"
        ],
        "the engine needs no more"
    );
    let text = fs::read_to_string(crates().join("meed/Cargo.toml")).unwrap();
    assert!(
        text.contains("\nserde = { workspace = true, optional = true }\n"),
        "only if asked for"
    );
}

/// Packages of `Cargo.lock`, of all versions: what each depends on, and whether it is ours.
fn locked() -> BTreeMap<String, (Vec<String>, bool)> {
    let text = fs::read_to_string(crates().join("../Cargo.lock")).unwrap();
    let mut packages = BTreeMap::<String, (Vec<String>, bool)>::new();
    for package in text.split("[[package]]\n").skip(1) {
        let quoted = |line: &str| line.split('"').nth(1).unwrap().to_owned();
        let name = quoted(package.lines().find(|line| line.starts_with("name = ")).unwrap());
        let needs = package.split("dependencies = [\n").nth(1).unwrap_or_default();
        let needs = needs.split("\n]").next().unwrap().lines().filter(|line| line.contains('"'));
        let needs = needs.map(|line| quoted(line).split(' ').next().unwrap().to_owned());
        let entry = packages.entry(name).or_default();
        entry.0.extend(needs);
        entry.1 = !package.contains("\nsource = ");
    }
    packages
}

/// What a crate of ours is always built from, on any system.
fn linked(name: &str) -> Vec<String> {
    let text = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let tables = text.split("\n[").filter_map(|table| table.split_once("]\n"));
    let linked = |head: &str| head.ends_with("dependencies") && !head.starts_with("dev-");
    let rows = tables.filter(|(head, _)| linked(head)).flat_map(|(_, rows)| rows.lines());
    let rows = rows.filter(|row| row.contains('=') && !row.contains("optional = true"));
    rows.map(|row| row.split(['.', ' ', '=']).next().unwrap().to_owned()).collect()
}

/// The first command of README builds no web server, no database and no TLS: who simulates runs
/// none. They belong to programs beside `meed`.
#[test]
fn the_default_members_are_built_without_tokio() {
    let text = fs::read_to_string(crates().join("../Cargo.toml")).unwrap();
    assert!(text.contains("\ndefault-members = [\"crates/meed-cli\"]\n"), "the program meed");
    let packages = locked();
    let (mut open, mut found) = (vec!["meed-cli".to_owned()], BTreeSet::new());
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        let (needs, is_ours) = &packages[&name];
        open.extend(if *is_ours { linked(&name) } else { needs.clone() });
    }
    assert!(found.contains("meed-sim") && found.contains("serde_json"), "{found:?}");
    for heavy in ["tokio", "hyper", "axum", "rustls", "ring", "redb", "utoipa", "kube"] {
        assert!(packages.contains_key(heavy), "{heavy} is another's");
        assert!(!found.contains(heavy), "meed-cli is built from {heavy}");
    }
}

/// Rust files below `folder`.
pub(crate) fn sources(folder: PathBuf) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files
}

/// What an option changes of a scenario is a `Setting`, made by its meaning: no program writes
/// `KEY=VALUE` for another part to read, and none looks for a key in such a text.
#[test]
fn no_option_is_written_as_text_to_be_parsed() {
    let tables = ["cluster", "fairness", "policies", "policy", "queue", "queues", "run", "trace"];
    let verbs = ["format!", "starts_with", "strip_prefix"];
    let forbidden = verbs.iter().flat_map(|verb| {
        tables
            .iter()
            .flat_map(move |table| [".", "="].map(|after| format!("{verb}(\"{table}{after}")))
    });
    let forbidden: Vec<String> = forbidden.collect();
    let mut parsed = BTreeSet::new();
    for entry in fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if name != "meed-scenario"
            && !dependencies(&name).iter().any(|used| used == "meed-scenario")
        {
            continue;
        }
        for path in sources(folder.join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for words in &forbidden {
                assert!(!code.contains(words.as_str()), "{} has {words}", path.display());
            }
            let makes_text = "Setting::parse(&format!";
            assert!(!code.contains(makes_text), "{} has {makes_text}", path.display());
            if code.contains("Setting::parse") {
                parsed.insert(name.clone());
            }
        }
    }
    // `--set` of the command line is the one caller.
    assert_eq!(parsed, BTreeSet::from(["meed-cli", "meed-scenario"].map(str::to_owned)));
}

#[test]
fn the_engine_and_the_exact_allocation_name_no_world() {
    let mut folders = vec![crates().join("meed/src"), crates().join("meed-level/src")];
    let forbidden = [
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "std::thread",
        "std::process",
        "std::sync",
        "async ",
    ];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for word in forbidden {
                assert!(!text.contains(word), "{} names {word}", path.display());
            }
        }
    }
}

/// The engine puts steps in order and has few of its own: what touches parts of it is the core's,
/// what is optional acts on itself, and who reads has a view.
#[test]
fn few_files_act_on_the_whole_engine() {
    let (mut files, mut methods) = (BTreeSet::new(), 0);
    for path in sources(crates().join("meed/src")) {
        let text = fs::read_to_string(&path).unwrap();
        for block in text.split("\nimpl Engine {\n").skip(1) {
            let block = block.split("\n}\n").next().unwrap();
            let is_method = |line: &&str| {
                let line = line.strip_prefix("    ").filter(|line| !line.starts_with(' '));
                line.is_some_and(|line| line.starts_with("fn ") || line.contains(" fn "))
            };
            methods += block.lines().filter(is_method).count();
            files.insert(path.clone());
        }
    }
    assert!(files.len() > 3 && methods > 30, "they are found: {methods} in {files:?}");
    assert!(files.len() <= 10, "{} files act on the whole engine: {files:?}", files.len());
    assert!(methods <= 90, "{methods} methods of the whole engine");
}
