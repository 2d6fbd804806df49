//! The tutorial of docs/slurm.md, as it stands: each block of `sh` is run; a block of `text` behind
//! it holds lines that it must print, where `...` stands for anything.

use std::fs;

use super::lab::Lab;
use crate::tools::root;

/// See `mod.rs`.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let page = fs::read_to_string(root().join("docs/slurm.md")).map_err(|why| why.to_string())?;
    let blocks = blocks(&page)?;
    let mut printed = String::new();
    for (kind, text) in &blocks {
        match *kind {
            "sh" => printed = lab.said(&format!("set -e\n{text}"))?,
            _ => text.lines().try_for_each(|line| has(&printed, line))?,
        }
    }
    crate::say(&format!("{} blocks of the tutorial are as printed", blocks.len()));
    Ok(())
}

/// Blocks between the heading of the tutorial and the next one.
fn blocks(page: &str) -> Result<Vec<(&str, &str)>, String> {
    let (_, rest) = page.split_once("\n## Tutorial\n").ok_or("docs/slurm.md has no tutorial")?;
    let tutorial = rest.split("\n## ").next().unwrap_or(rest);
    let mut blocks = Vec::new();
    for part in tutorial.split("```").skip(1).step_by(2) {
        blocks.push(part.split_once('\n').ok_or("a block without lines")?);
    }
    match blocks.len() >= 4 {
        true => Ok(blocks),
        false => Err("the tutorial has fewer than four blocks".to_owned()),
    }
}

fn has(printed: &str, wanted: &str) -> Result<(), String> {
    let parts: Vec<&str> = wanted.split("...").map(str::trim).collect();
    let fits = |line: &str| {
        let mut at = 0;
        parts.iter().all(|part| match line[at..].find(part) {
            Some(place) => {
                at += place + part.len();
                true
            }
            None => false,
        })
    };
    match printed.lines().any(fits) {
        true => Ok(()),
        false => Err(format!("the tutorial says `{wanted}`, and this was printed:\n{printed}")),
    }
}
