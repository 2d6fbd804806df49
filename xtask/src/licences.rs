//! `cargo xtask licences`: every package that ends up in a build is permissively licensed.
//!
//! Reads `cargo metadata` for the workspace, the fuzz targets, the benchmark beside SQLite and the
//! module for Python. A licence expression (SPDX) is accepted when one of its alternatives is; `A
//! AND B` needs both, `A OR B` (or `A/B`, as older packages write) one of them.

use std::path::Path;

use serde_json::Value;

use crate::tools::{cargo, root};

/// Licences that ask for no more than to be named.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    // Of data: a list of root certificates.
    "CDLA-Permissive-2.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// The workspace, and what stands beside it.
const MANIFESTS: [&str; 4] =
    ["Cargo.toml", "fuzz/Cargo.toml", "bench/journal/Cargo.toml", "python/Cargo.toml"];

pub(crate) fn run() -> Result<(), String> {
    let root = root();
    let (mut checked, mut refused) = (0, Vec::new());
    for manifest in MANIFESTS {
        let packages = packages(&root.join(manifest))?;
        checked += packages.len();
        refused.extend(packages.iter().filter_map(problem));
    }
    refused.sort();
    refused.dedup();
    if refused.is_empty() {
        crate::say(&format!("{checked} packages, all permissively licensed."));
        return Ok(());
    }
    Err(format!("not permissively licensed:\n{}", refused.join("\n")))
}

fn packages(manifest: &Path) -> Result<Vec<Value>, String> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]).arg(manifest);
    let output = cargo.output().map_err(|error| format!("cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    metadata["packages"]
        .as_array()
        .cloned()
        .ok_or_else(|| "cargo metadata names no packages".to_owned())
}

/// What is wrong with a package's licence. Our own fuzz targets are not published and name none.
fn problem(package: &Value) -> Option<String> {
    let text = |key: &str| package[key].as_str();
    let ours = package["source"].is_null();
    match text("license") {
        Some(licence) if permissive(licence) => None,
        None if ours => None,
        licence => {
            let (name, version) = (text("name").unwrap_or("?"), text("version").unwrap_or("?"));
            Some(format!("  {name} {version}: {}", licence.unwrap_or("no licence named")))
        }
    }
}

fn permissive(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    // Brackets only ever group alternatives in the packages that there are: (A OR B) AND C.
    let all = |part: &str| part.split(" OR ").any(|one| PERMISSIVE.contains(&one.trim()));
    if expression.contains('(') {
        return expression.split(" AND ").all(|part| all(&part.replace(['(', ')'], "")));
    }
    expression
        .split(" OR ")
        .any(|part| part.split(" AND ").all(|one| PERMISSIVE.contains(&one.trim())))
}

#[cfg(test)]
mod tests {
    use super::permissive;

    #[test]
    fn expressions() {
        for (expression, accepted) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR Apache-2.0) AND GPL-3.0-only", false),
            ("MPL-2.0", false),
            ("", false),
        ] {
            assert_eq!(permissive(expression), accepted, "{expression}");
        }
    }
}
