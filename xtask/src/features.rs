//! `cargo xtask features`: each program is built from the crates that `cargo build` has built.
//!
//! Cargo gives a crate the features that the packages of one command ask for together. Where a
//! program beside `meed` asks for others, `cargo build -p` of it builds that crate, and all that
//! stands on it, a second time. This compares what cargo would build; nothing is compiled.

use std::collections::{BTreeMap, BTreeSet};

use crate::tools::{cargo, printed};

/// What `cargo build` builds.
const FIRST: &str = "meed-cli";
/// Programs that are built by themselves, into the same folder. The plug-in for YARN has a profile
/// of its own, and so a folder of its own.
const OTHERS: [&str; 4] = ["meed-server", "meed-papers", "meed-kubernetes", "meed-slurm"];

/// A package, and whether it is built for the machine that compiles: macros, and what they are
/// built from.
type Unit = (String, bool);
/// The sets of features with which units are built.
type Features = BTreeMap<Unit, BTreeSet<String>>;

pub(crate) fn run() -> Result<(), String> {
    let first = features(FIRST)?;
    let mut wrong = Vec::new();
    let mut shared = 0;
    for program in OTHERS {
        let own = features(program)?;
        shared += own.keys().filter(|unit| first.contains_key(*unit)).count();
        wrong.extend(differences(&first, &own).map(|words| format!("{program}: {words}")));
    }
    if wrong.is_empty() {
        crate::say(&format!("{shared} crates are shared, and built once."));
        return Ok(());
    }
    Err(format!(
        "built again after `cargo build`, for want of a row in crates/meed-features:\n{}",
        wrong.join("\n")
    ))
}

/// Units of `own` that `first` has with other features.
fn differences<'a>(first: &'a Features, own: &'a Features) -> impl Iterator<Item = String> + 'a {
    own.iter().filter_map(|(unit, sets)| {
        let known = first.get(unit)?;
        let list = |sets: &BTreeSet<String>| {
            sets.iter().map(|set| format!("[{set}]")).collect::<Vec<_>>().join(" and ")
        };
        let differs = !sets.is_subset(known);
        differs.then(|| format!("{} with {}, not {}", unit.0, list(sets), list(known)))
    })
}

fn features(package: &str) -> Result<Features, String> {
    let mut cargo = cargo();
    cargo.args(["tree", "--locked", "--edges", "normal,build", "--no-dedupe"]);
    cargo.args(["--prefix", "depth", "--format", " {p}|{f}", "--package", package]);
    let told = printed(&mut cargo, "cargo tree")?;
    read(&String::from_utf8_lossy(&told))
}

/// Reads lines as `3 syn v3.0.9 (proc-macro)|default,full`: depth, package, features. What stands
/// below a macro is built for the machine that compiles.
fn read(tree: &str) -> Result<Features, String> {
    let mut found = Features::new();
    let mut below: Option<usize> = None;
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let odd = || format!("cargo tree says \"{line}\"");
        let (depth, rest) = line.split_once(' ').ok_or_else(odd)?;
        let depth: usize = depth.parse().map_err(|_| odd())?;
        let (package, set) = rest.split_once('|').ok_or_else(odd)?;
        below = below.filter(|&macro_depth| depth > macro_depth);
        if below.is_none() && package.contains(" (proc-macro)") {
            below = Some(depth);
        }
        let name = package.split(" (").next().unwrap_or(package).to_owned();
        found.entry((name, below.is_some())).or_default().insert(set.to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_features_of_a_shared_crate_are_named() {
        let first = read("0 a v1 (/a)|\n1 serde v1|std\n1 d v1 (proc-macro)|\n2 syn v3|full\n");
        let first = first.expect("a tree");
        let of = |tree: &str| read(tree).expect("a tree");
        let none =
            of("0 b v1 (/b)|\n1 serde v1|std\n2 new v1|x\n1 d v1 (proc-macro)|\n2 serde v1|\n");
        assert_eq!(differences(&first, &none).count(), 0, "a macro's serde is another");
        let other = of("0 b v1 (/b)|\n1 d v1 (proc-macro)|\n2 syn v3|\n1 serde v1|alloc,std\n");
        let told: Vec<String> = differences(&first, &other).collect();
        assert_eq!(told, ["serde v1 with [alloc,std], not [std]", "syn v3 with [], not [full]"]);
        assert!(read("serde").is_err());
    }
}
