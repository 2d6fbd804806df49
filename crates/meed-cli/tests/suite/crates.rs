//! What crates must not do (ARCHITECTURE.md): who may use whom, and what the engine's code never
//! names.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

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
            "meed-sim",
            &["meed", "meed-config", "meed-driver", "meed-files", "meed-journal", "meed-workload"],
        ),
        ("meed-yarn", &["meed", "meed-config", "meed-driver", "meed-journal", "meed-store"]),
        ("meed-report", &["meed-driver", "meed-config", "meed-files"]),
        (
            "meed-server",
            &["meed", "meed-config", "meed-driver", "meed-journal", "meed-report", "meed-store"],
        ),
        (
            "meed-kubernetes",
            &["meed", "meed-config", "meed-driver", "meed-journal", "meed-pods", "meed-report"],
        ),
        ("meed-slurm", &["meed", "meed-config", "meed-driver", "meed-journal", "meed-store"]),
        ("meed-level", &["meed-config"]),
        ("meed-files", &[]),
        (
            "meed-lab",
            &[
                "meed",
                "meed-config",
                "meed-files",
                "meed-workload",
                "meed-sim",
                "meed-level",
                "meed-report",
            ],
        ),
        (
            "meed-papers",
            &[
                "meed",
                "meed-cli",
                "meed-config",
                "meed-files",
                "meed-workload",
                "meed-sim",
                "meed-level",
                "meed-report",
                "meed-lab",
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
