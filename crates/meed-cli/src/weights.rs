//! `--weights FILE`: weights of queues from a table, as changes of the scenario.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use meed_config::words::suggest;
use meed_experiments::advise::ranks::SlurmRanks;
use meed_files::open::Origin;
use meed_scenario::{Scenario, Setting};
use meed_workload::table::{WeightTable, WeightsFound, read_weights, weights_of};

use crate::exit::Failure;

/// The option.
#[derive(Args)]
pub struct WeightArgs {
    /// Weights of queues from a table with the columns queue and weight, or as sshare -P -a and
    /// sacctmgr -P show assoc print them (docs/scenario.md); --set changes them.
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
}

impl WeightArgs {
    /// The file, as what it is to a command.
    pub fn file(&self) -> Option<(&'static str, &Path)> {
        self.weights.as_deref().map(|path| ("weights", path))
    }

    /// Where Slurm's own fair share puts the queues of a scenario, where the file is of `sshare`
    /// and says so.
    pub fn standings(&self, scenario: &Scenario) -> Result<SlurmRanks, Failure> {
        let Some(path) = &self.weights else { return Ok(SlurmRanks::new()) };
        let queues = scenario.queue_names().map(str::to_owned).collect();
        let origin = Origin::path(path);
        let table = read_weights(&origin)?;
        let found = weights_of(&origin, &table.rows, &queues)?;
        Ok(found.standings.into_iter().map(|(queue, one)| (queue.to_owned(), one)).collect())
    }

    /// `settings` behind the changes that the file makes to those of these `queues`, which are
    /// asked for only where there is a file. `say` is told what the file gave.
    pub fn before(
        &self,
        settings: Vec<Setting>,
        say: &mut dyn FnMut(&str),
        queues: impl Fn(&[Setting]) -> Result<BTreeSet<String>, Failure>,
    ) -> Result<Vec<Setting>, Failure> {
        let Some(path) = &self.weights else { return Ok(settings) };
        let origin = Origin::path(path);
        let table = read_weights(&origin)?;
        let flat = queues(&settings)?;
        let tree = tree_of(&table, &flat).map(|tree| [&[tree], &settings[..]].concat());
        // A log has the tree that it was recorded with, and only tables can be given another.
        let placed = tree.as_ref().and_then(|tree| queues(tree).ok()).filter(|new| *new != flat);
        let is_flat = tree.is_some() && placed.is_none();
        let (settings, queues) = match (tree, placed) {
            (Some(tree), Some(queues)) => (tree, queues),
            _ => (settings, flat),
        };
        let found = weights_of(&origin, &table.rows, &queues)?;
        if found.weights.is_empty() {
            return Err(nobody(path, &table, &queues));
        }
        told(path, &found, queues.len(), is_flat, say);
        if table.lacks_tree {
            let what = "nothing says which account is below which; sshare -P -a does, and \
                sacctmgr -P show assoc tree";
            say(&format!("{}: {what}", path.display()));
        }
        let weight = |(queue, weight): (&&str, &&str)| Setting::weight(queue, weight);
        Ok(found.weights.iter().map(weight).chain(settings).collect())
    }
}

/// The change that puts accounts of these queues where they are in the tree of the table.
fn tree_of(table: &WeightTable, queues: &BTreeSet<String>) -> Option<Setting> {
    let is_here = |account: &str| {
        let account = account.replace('.', "_");
        let below = format!("{account}.");
        let inside = queues.range::<String, _>(&below..).next();
        queues.contains(&account) || inside.is_some_and(|queue| queue.starts_with(&below))
    };
    let here = table.accounts.iter().filter(|(account, _)| is_here(account));
    let pairs: Vec<(&str, &str)> =
        here.map(|(account, path)| (account.as_str(), path.as_str())).collect();
    (!pairs.is_empty()).then(|| Setting::trace_accounts(pairs))
}

/// No row is of a queue.
fn nobody(path: &Path, table: &WeightTable, queues: &BTreeSet<String>) -> Failure {
    let known = queues.iter().map(String::as_str);
    let what = match table.rows.first() {
        None => "it holds no weight".to_owned(),
        Some(row) => format!(
            "no row is of a queue here, as \"{}\" of line {} is not; {}",
            row.name(),
            row.line,
            suggest(row.name(), known)
        ),
    };
    Failure::Input(format!("{}: {what}", path.display()))
}

/// Says what the file gave.
fn told(
    path: &Path,
    found: &WeightsFound<'_>,
    all: usize,
    is_flat: bool,
    tell: &mut dyn FnMut(&str),
) {
    let rows =
        |count: usize| if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    let shares = |count: usize, word: &str| {
        let (share, verb) = if count == 1 { ("share", "is") } else { ("shares", "are") };
        format!("{count} {share} {verb} {word}")
    };
    let (file, count) = (path.display(), found.weights.len());
    let others = match found.others {
        0 => String::new(),
        others => format!("; {} of no queue here", rows(others)),
    };
    tell(&format!("{file}: weights of {count} of {all} queues{others}"));
    let mut say = |is: bool, words: String| {
        if is {
            tell(&format!("{file}: {words}"));
        }
    };
    say(
        found.zero > 0,
        format!(
            "{}: the weight is 0.001, the least; in Slurm whoever has it comes last in the account",
            shares(found.zero, "0")
        ),
    );
    say(
        found.inherited > 0,
        format!(
            "{}: the weight is 1; in Slurm's fair tree such a user comes first in the account",
            shares(found.inherited, "`parent`")
        ),
    );
    say(
        is_flat,
        "accounts stand below accounts there, and the queues here do not: shares are compared with \
         others than in Slurm"
            .to_owned(),
    );
    say(
        found.apart > 0,
        format!(
            "{} of users within their accounts, which are no queues here; --map \
             tenant=Account/User makes the tree",
            shares(found.apart, "those")
        ),
    );
}
