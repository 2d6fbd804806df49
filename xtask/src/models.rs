//! `cargo xtask models`: what the models in `models/` say, searched through by Spin.
//!
//! Each model names the functions that its actions stand for. A row is one search: a property that
//! must hold, or one that must be found broken where the model is broken on purpose, so that a
//! search which sees nothing is noticed. Without Spin and a C compiler this says what it leaves
//! out.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::tools::{root, runs, succeed, target_folder};

/// A model, what is defined in it, a property, and whether the property holds.
const SEARCHES: &[(&str, &[&str], &str, bool)] = &[
    ("ledger", &[], "whole", true),
    ("ledger", &[], "fenced", true),
    ("ledger", &["WITHOUT_EPOCH"], "fenced", false),
    ("lease", &[], "once", true),
    ("lease", &["WITHOUT_HOLDER"], "once", false),
    ("pods", &[], "once", true),
    ("pods", &[], "charged", true),
    ("pods", &["WITHOUT_UID"], "charged", false),
    ("watch", &[], "heard", true),
    ("watch", &["SHORT"], "heard", false),
    ("server", &[], "over", true),
    ("server", &[], "kept", true),
    ("server", &[], "once", true),
    ("server", &["WITHOUT_CUT_OFF"], "over", false),
    ("fence", &[], "stays", true),
    ("fence", &["WITHOUT_READ"], "stays", false),
    ("fence", &[], "late_only", true),
    ("fence", &[], "room", false),
    ("clock", &[], "charged", true),
    ("clock", &["WITHOUT_SERVER"], "charged", false),
    ("clock", &["WITHOUT_MONOTONIC"], "charged", false),
    ("clock", &[], "forward", true),
    ("clock", &["WITHOUT_MONOTONIC"], "forward", false),
    ("epochs", &[], "begin", true),
    ("epochs", &["WITHOUT_OWN_BEGIN"], "begin", false),
    ("epochs", &[], "taken", true),
    ("epochs", &["WITHOUT_AGAIN"], "taken", false),
];

/// Steps of a search at most: deeper ones are an error, not a result.
const DEPTH: &str = "-m400000";

pub(crate) fn run() -> Result<(), String> {
    let compiler = ["cc", "gcc", "clang"].into_iter().find(|one| runs(one, "--version"));
    let (true, Some(compiler)) = (runs("spin", "-V"), compiler) else {
        crate::say(
            "LEFT OUT: the models are not searched; install Spin and a C compiler (on Debian: \
             apt-get install spin gcc), then run cargo xtask models",
        );
        return Ok(());
    };
    for (model, defines, property, holds) in SEARCHES {
        let folder = target_folder().join("models").join([*model, property].join("-"));
        std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let search = Search { model, defines, property, folder: &folder };
        let found = search.states(compiler)?;
        let states = match (found, holds) {
            (Found::Holds(states), true) => states,
            (Found::Broken, false) => "broken, as it must be".to_owned(),
            (Found::Holds(_), false) => {
                return Err(format!("{model} {defines:?}: `{property}` holds, and must not"));
            }
            (Found::Broken, true) => {
                let trail = format!("spin -t -p -g {model}.pml in {}", folder.display());
                return Err(format!("{model}: `{property}` is broken; {trail} shows how"));
            }
        };
        crate::say(&format!("{model} {} `{property}`: {states}", defines.join(" ")));
    }
    Ok(())
}

enum Found {
    /// With the line that says how many states there are.
    Holds(String),
    Broken,
}

struct Search<'s> {
    model: &'s str,
    defines: &'s [&'s str],
    property: &'s str,
    folder: &'s Path,
}

impl Search<'_> {
    /// Searches all states.
    fn states(&self, compiler: &str) -> Result<Found, String> {
        let Search { model, defines, property, folder } = self;
        let file = format!("{model}.pml");
        let from = root().join("models").join(&file);
        std::fs::copy(&from, folder.join(&file))
            .map_err(|why| format!("{}: {why}", from.display()))?;
        let mut spin = Command::new("spin");
        spin.args(defines.iter().map(|define| format!("-D{define}"))).args(["-a", &file]);
        spin.current_dir(folder).stdout(Stdio::null());
        succeed(&mut spin, &format!("spin -a {file}"))?;
        let mut build = Command::new(compiler);
        build.args(["-O1", "-w", "-DVECTORSZ=4096", "-o", "pan", "pan.c"]).current_dir(folder);
        succeed(&mut build, &format!("the search of {file}"))?;
        let mut pan = Command::new(folder.join("pan"));
        let told = pan.args(["-a", DEPTH, "-N", property]).current_dir(folder).output();
        let told = told.map_err(|why| format!("the search of {file}: {why}"))?;
        let text = String::from_utf8_lossy(&told.stdout);
        if text.contains("max search depth too small") || text.contains("out of memory") {
            return Err(format!("the search of {file} was cut short:\n{text}"));
        }
        let line = |what: &str| text.lines().find(|line| line.contains(what)).map(str::trim);
        match (line("errors: "), line("states, stored")) {
            (Some(errors), Some(states)) if errors.ends_with("errors: 0") => {
                Ok(Found::Holds(states.to_owned()))
            }
            (Some(_), _) => Ok(Found::Broken),
            _ => Err(format!("the search of {file} says nothing:\n{text}")),
        }
    }
}
