//! `cargo xtask peers`: Meed's server beside task-spooler, pueue and Slurm, all on this machine,
//! one after the other in one run; a Markdown table comes out.
//!
//! What is missing is brought into a folder outside the checkout (`--cache`, by default
//! `~/.cache/meed-peers`): pueue by `cargo install`, the others as Debian's packages, unpacked
//! there and not installed. Every daemon listens to this machine alone, has its state in a
//! temporary folder, and is ended by its number.
//!
//! | row | what |
//! |---|---|
//! | submissions a second | one job each, one client after the other; then eight clients at once. Nothing of it runs: both processors are taken |
//! | in one request | a job of many tasks, where the peer has such |
//! | run `true` | from the first submission to the end of the last, two at a time: as single jobs, and as one request |
//! | submit to start | on an idle machine, from before the client is started to the first thing that the job does: as many as there is time for, at most 100 |
//! | waiting jobs | what all of a peer's processes hold in memory (each shared page in parts), and how long its list takes |

mod fetch;
mod found;
mod measure;
mod peer;
mod table;

pub(crate) use fetch::from_debian;

use std::path::PathBuf;

use found::Found;
use measure::Sizes;

const USAGE: &str = "cargo xtask peers [--meed PROGRAM] [--cache FOLDER] [--only NAME,NAME] \
                     [--quick] [--most SECONDS]";

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut meed, mut only, mut sizes) = (None, None, Sizes::FULL);
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let mut cache = home.join(".cache/meed-peers");
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value; {USAGE}"));
        match arg.as_str() {
            "--meed" => meed = Some(PathBuf::from(value()?)),
            "--cache" => cache = PathBuf::from(value()?),
            "--only" => only = Some(value()?),
            "--quick" => sizes = Sizes::QUICK,
            "--most" => {
                sizes.most_s = u64::from(crate::seconds(Some(value()?))?);
                sizes.most_waiting_s = sizes.most_s;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    let is_wanted = |name: &str| {
        only.as_ref().is_none_or(|names| names.split(',').any(|wanted| wanted == name))
    };
    let meed = meed.map_or_else(fetch::meed, Ok)?;
    let mut rows = Vec::new();
    for kind in peer::KINDS.iter().filter(|kind| is_wanted(kind.name)) {
        let programs = (kind.find)(&cache, &meed)?;
        crate::say(&format!("{} {} ...", kind.name, programs.version));
        let found: Found = measure::all(kind, &programs, &sizes)?;
        rows.push((kind.name, programs.version, found));
    }
    crate::say(&table::of(&rows, &sizes));
    Ok(())
}
