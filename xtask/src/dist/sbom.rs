//! What the program is made of, as an SBOM: CycloneDX 1.5, in JSON, from `cargo metadata`.
//!
//! Of all packages that the lock file names, those are in it that the program links on its target,
//! each with its version, licence and package URL, and which of them needs which. Nothing in it
//! depends on the time or the machine: the same sources give the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::tools::{cargo, root};

/// A package, and what it needs when it runs.
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: String,
    pub(crate) folder: PathBuf,
    pub(crate) is_ours: bool,
    needs: Vec<String>,
}

impl Package {
    fn address(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// What the program links on `target`, by cargo's identity.
pub(crate) fn packages(target: &str) -> Result<BTreeMap<String, Package>, String> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", target]);
    cargo.arg("--manifest-path").arg(root().join("Cargo.toml"));
    let output = cargo.output().map_err(|why| format!("cargo metadata: {why}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|why| format!("cargo metadata: {why}"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut known = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let folder = PathBuf::from(text(&package["manifest_path"])).with_file_name("");
        let one = Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: text(&package["license"]).replace('/', " OR "),
            folder,
            is_ours: package["source"].is_null(),
            needs: Vec::new(),
        };
        known.insert(text(&package["id"]), one);
    }
    for node in list(&metadata["resolve"]["nodes"]) {
        let is_linked = |need: &Value| {
            // What only builds or tests has another kind.
            list(&need["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
        };
        let needs = list(&node["deps"]).into_iter().filter(is_linked);
        let needs: Vec<String> = needs.map(|need| text(&need["pkg"])).collect();
        if let Some(package) = known.get_mut(&text(&node["id"])) {
            package.needs = needs;
        }
    }
    let linked = linked(target)?;
    known.retain(|_, package| linked.contains(&(package.name.clone(), package.version.clone())));
    Ok(known)
}

/// Names and versions of what the packed programs alone link: `cargo metadata` knows the features
/// of the whole workspace only.
fn linked(target: &str) -> Result<BTreeSet<(String, String)>, String> {
    let mut cargo = cargo();
    cargo.args(["tree", "--edges", "normal,no-proc-macro", "--locked"]);
    for (_, package) in super::PROGRAMS {
        cargo.args(["--package", package]);
    }
    cargo.args(["--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}"]);
    let told = crate::tools::printed(&mut cargo, "cargo tree")?;
    let line = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.to_owned()))
    };
    Ok(String::from_utf8_lossy(&told).lines().filter_map(line).collect())
}

/// Writes the SBOM, and says where.
pub(crate) fn write(out: &Path, target: &str) -> Result<PathBuf, String> {
    let packages = packages(target)?;
    let component = |package: &Package, kind: &str| {
        let address = package.address();
        json!({
            "type": kind,
            "bom-ref": address,
            "name": package.name,
            "version": package.version,
            "purl": address,
            "licenses": [{ "expression": package.licence }],
        })
    };
    let program = packages.values().find(|package| package.name == "meed-cli");
    let program = program.ok_or("cargo metadata names no meed-cli")?;
    let others = packages.values().filter(|package| package.name != "meed-cli");
    let needs = packages.values().map(|package| {
        let needs: BTreeSet<String> =
            package.needs.iter().filter_map(|id| packages.get(id)).map(Package::address).collect();
        json!({ "ref": package.address(), "dependsOn": needs })
    });
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(program, "application") },
        "components": others.map(|package| component(package, "library")).collect::<Vec<_>>(),
        "dependencies": needs.collect::<Vec<_>>(),
    });
    let file = out.join(format!("meed-{}-{target}.cdx.json", program.version));
    let text = serde_json::to_string_pretty(&bill).map_err(|why| why.to_string())?;
    fs::write(&file, text + "\n").map_err(|why| format!("{}: {why}", file.display()))?;
    check(&bill, packages.len())?;
    Ok(file)
}

/// All that is needed is there, each once, with a licence.
fn check(bill: &Value, count: usize) -> Result<(), String> {
    let list = |key: &str| bill[key].as_array().cloned().unwrap_or_default();
    let refs = list("components").iter().map(|one| one["bom-ref"].to_string()).collect::<Vec<_>>();
    let known: BTreeSet<String> = refs.iter().cloned().collect();
    let own = bill["metadata"]["component"]["bom-ref"].to_string();
    let needs = list("dependencies")
        .into_iter()
        .flat_map(|one| one["dependsOn"].as_array().cloned().unwrap_or_default().into_iter());
    let is_known = |need: &String| known.contains(need) || *need == own;
    let unknown = needs.map(|need| need.to_string()).find(|need| !is_known(need));
    let nameless = list("components")
        .into_iter()
        .find(|one| one["licenses"][0]["expression"].as_str().is_none_or(str::is_empty));
    match (unknown, nameless) {
        _ if refs.len() + 1 != count || known.len() != refs.len() || known.contains(&own) => {
            Err("the SBOM does not have each package once".to_owned())
        }
        (Some(unknown), _) => Err(format!("the SBOM lacks {unknown}")),
        (_, Some(nameless)) => Err(format!("{} names no licence", nameless["bom-ref"])),
        _ => Ok(()),
    }
}
