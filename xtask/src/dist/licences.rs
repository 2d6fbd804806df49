//! The licences of what is linked: their texts, for those who get the program must get them too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::sbom::{Package, packages};

/// Files that hold a licence, or who holds the rights.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "copyright"];

/// All of them as one text: each licence once, below the packages that have it.
pub(crate) fn text(target: &str) -> Result<String, String> {
    let packages = packages(target)?;
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for package in packages.values().filter(|package| !package.is_ours) {
        let texts = texts(&package.folder)?;
        if texts.is_empty() {
            without.push(told(package));
        }
        for text in texts {
            by_text.entry(text).or_default().push(told(package));
        }
    }
    let mut out =
        "The programs of Meed contain parts of these works, under the licences below.\n\n\
                   The report and the dashboard embed uPlot (MIT), \
                   https://github.com/leeoniya/uPlot.\n"
            .to_owned();
    if !without.is_empty() {
        out += "\nThese name their licence, but bring no text of it:\n";
        without.iter().for_each(|one| out += &format!("  {one}\n"));
    }
    for (text, packages) in by_text {
        out += "\n----------------------------------------------------------------\n";
        packages.iter().for_each(|one| out += &format!("{one}\n"));
        out += &format!("\n{}\n", text.trim());
    }
    Ok(out)
}

fn told(package: &Package) -> String {
    format!("{} {} ({})", package.name, package.version, package.licence)
}

/// Texts of licences in a package's folder.
fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let named = |why: std::io::Error| format!("{}: {why}", folder.display());
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            let bytes = fs::read(&path).map_err(named)?;
            // The same words with other line ends are the same licence.
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts.insert(name, text);
        }
    }
    Ok(texts.into_values().collect())
}
