//! Program, wheel, archives, chart, plug-in and pages bear one version.

use std::fs;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Files outside the workspace that name the version, and the words around it (`{}`).
const PLACES: [(&str, &str); 11] = [
    ("python/Cargo.toml", "\nversion = \"{}\"\nedition"),
    ("yarn/pom.xml", "<version>{}</version>"),
    ("xtask/src/yarn/mod.rs", "yarn/target/meed-yarn-{}.jar"),
    ("docs/yarn.md", "yarn/target/meed-yarn-{}.jar"),
    ("deploy/Containerfile", "meed-kubernetes:{}"),
    ("deploy/kubernetes/deployment.yaml", "image: meed-kubernetes:{}"),
    ("deploy/kubernetes/chart/Chart.yaml", "\nversion: {}\nappVersion: {}\n"),
    ("docs/kubernetes.md", "REGISTRY/meed-kubernetes:{}"),
    ("README.md", "meed-{}-x86_64-unknown-linux-musl.tar.gz"),
    ("README.md", "meed_{}_amd64.deb"),
    ("README.md", "meed-{}-*.whl"),
];

#[test]
fn one_version_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, words) in PLACES {
        let text = fs::read_to_string(root.join(file)).expect("a file of the repository");
        let wanted = words.replace("{}", VERSION);
        assert!(text.contains(&wanted), "{file} does not say {wanted:?}");
    }
}

/// The newest heading is what is being made; below it stands a version with its date.
#[test]
fn the_changelog_has_versions_with_dates() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CHANGELOG.md");
    let text = fs::read_to_string(path).expect("the changelog");
    let heads: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let (first, rest) = heads.split_first().expect("a heading");
    assert!(*first == "Unreleased" || first.starts_with(VERSION), "{first}");
    assert!(!rest.is_empty(), "no version");
    for head in rest {
        let (version, date) = head.split_once(" - ").expect("VERSION - DATE");
        assert_eq!(version.split('.').count(), 3, "{head}");
        let digits: Vec<usize> = date.split('-').map(str::len).collect();
        assert_eq!(digits, [4, 2, 2], "{head}");
    }
}
