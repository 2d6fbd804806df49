//! `cargo xtask site`: the documentation as a site, by mdBook, with a search, in `target/site`.
//!
//! The pages are those of the repository, at the same places, so that a link means the same here
//! and there; `docs/SUMMARY.md` says in which order. mdBook is brought into a folder outside the
//! checkout. A remark of its, and a link or an anchor that leads nowhere, is a failure: checked
//! here in what it has written, for it does not look itself.

mod links;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cache, root, succeed_quietly, target_folder};

const VERSION: &str = "0.5.4";
/// What of the repository is on the site, beside `docs`.
const PAGES: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];
const BOOK: &str = "\
[book]
title = \"Meed\"
description = \"A cluster scheduler with a memory: who lends gets it back.\"
language = \"en\"
src = \"src\"
[output.html]
default-theme = \"light\"
preferred-dark-theme = \"navy\"
smart-punctuation = false
[output.html.search]
limit-results = 30
[output.html.print]
enable = false
";

pub(crate) fn run() -> Result<(), String> {
    let program = mdbook()?;
    let target = target_folder();
    let (work, site) = (target.join("site-source"), target.join("site"));
    let _ = fs::remove_dir_all(&work);
    let _ = fs::remove_dir_all(&site);
    for page in PAGES {
        copy(&root().join(page), &work.join("src").join(page))?;
    }
    for folder in ["docs", "examples", "python/examples"] {
        copy_all(&root().join(folder), &work.join("src").join(folder))?;
    }
    let summary = root().join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary).map_err(|why| at(&summary, &why))?;
    write(&work.join("src/SUMMARY.md"), &from_above(&text))?;
    let _ = fs::remove_file(work.join("src/docs/SUMMARY.md"));
    write(&work.join("book.toml"), BOOK)?;
    let mut build = Command::new(program);
    build.arg("build").arg(&work).arg("--dest-dir").arg(&site).env("MDBOOK_LOG", "warn");
    let log = target.join("site.log");
    succeed_quietly(&mut build, "mdbook build", &log, |_| true)?;
    let said = fs::read_to_string(&log).map_err(|why| at(&log, &why))?;
    if !said.trim().is_empty() {
        return Err(format!("mdbook remarks:\n{said}"));
    }
    let found = links::check(&site)?;
    crate::say(&format!("{found}: {}", site.join("index.html").display()));
    Ok(())
}

/// The program, built once.
fn mdbook() -> Result<PathBuf, String> {
    let cache = cache("mdbook").join(VERSION);
    let program = cache.join("bin/mdbook");
    if !program.exists() {
        crate::say("mdBook is built first, once ...");
        let mut install = Command::new("cargo");
        install.args(["install", "mdbook", "--version", VERSION, "--locked"]);
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&cache);
        install.env("CARGO_TARGET_DIR", cache.join("target")).current_dir("/");
        succeed_quietly(&mut install, "cargo install mdbook", &cache.join("log"), |_| true)?;
        let _ = fs::remove_dir_all(cache.join("target"));
    }
    Ok(program)
}

/// Links of a page in `docs`, seen from the folder above.
fn from_above(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("](") {
        out += before;
        out += "](";
        match link.strip_prefix("../") {
            Some(above) => rest = above,
            None if link.starts_with(')') => rest = link,
            None => {
                out += "docs/";
                rest = link;
            }
        }
    }
    out + rest
}

fn at(path: &Path, why: &std::io::Error) -> String {
    format!("{}: {why}", path.display())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(|why| at(path, &why))?;
    fs::write(path, text).map_err(|why| at(path, &why))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(|why| at(to, &why))?;
    fs::copy(from, to).map(|_| ()).map_err(|why| at(from, &why))
}

fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|why| at(from, &why))? {
        let entry = entry.map_err(|why| at(from, &why))?;
        let (path, there) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy_all(&path, &there)? } else { copy(&path, &there)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn links_are_seen_from_above() {
        let text = "[a](b.md)\n[c]()\n- [d](../E.md) [f](g/h.md)\n";
        let seen = "[a](docs/b.md)\n[c]()\n- [d](E.md) [f](docs/g/h.md)\n";
        assert_eq!(super::from_above(text), seen);
    }
}
