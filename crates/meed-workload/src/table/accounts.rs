//! Accounts of Slurm as the tree that they are, of any depth.
//!
//! `sshare -P -a` and `sacctmgr -P show assoc tree` indent an account by one blank more than the
//! account above; a column `ParentName` (`format=Account,ParentName,User,Share`) names the account
//! above. Where neither is there every account stands at the top. `root` is above all and no part
//! of a path. An account whose share is its parent's (`parent`) is passed over by Slurm's fair tree
//! (22.05.8, `fair_tree.c`): what is below it competes with what is beside it.

use std::collections::BTreeMap;

use meed_config::queues::MAX_DEPTH;

/// The account above all.
const ROOT: &str = "root";

struct Account {
    name: String,
    above: Option<String>,
    is_passed_over: bool,
}

/// See the module. Built from the rows of accounts, in their order.
#[derive(Default)]
pub(super) struct Accounts {
    all: Vec<Account>,
    /// Blanks before each account on the way down to the one added last, with its name.
    way: Vec<(usize, String)>,
}

impl Accounts {
    /// Adds an account behind so many blanks; `above` is what a column names.
    pub(super) fn add(&mut self, name: &str, indent: usize, above: &str, is_passed_over: bool) {
        self.way.retain(|(blanks, _)| *blanks < indent);
        let named = (!above.is_empty()).then_some(above);
        let above = named.or(self.way.last().map(|(_, name)| name.as_str()));
        let above = above.filter(|above| *above != ROOT && *above != name).map(str::to_owned);
        self.way.push((indent, name.to_owned()));
        self.all.push(Account { name: name.to_owned(), above, is_passed_over });
    }

    /// The path of each account that is not called by its name alone, with `/` at the end of one
    /// that is passed over. Dots in names become underscores, as in tables of jobs.
    pub(super) fn paths(&self) -> BTreeMap<String, String> {
        let known: BTreeMap<&str, &Account> =
            self.all.iter().map(|account| (account.name.as_str(), account)).collect();
        let path = |account: &&Account| {
            let mut parts = Vec::new();
            let mut above = account.above.as_deref();
            // One that is above itself is none: a damaged table.
            while let Some(name) = above
                && parts.len() < MAX_DEPTH
            {
                let account = known.get(name);
                if !account.is_some_and(|account| account.is_passed_over) {
                    parts.push(name.replace('.', "_"));
                }
                above = account.and_then(|account| account.above.as_deref());
            }
            parts.reverse();
            let own = account.name.replace('.', "_");
            parts.push(if account.is_passed_over { format!("{own}/") } else { own });
            (account.name.clone(), parts.join("."))
        };
        let all = known.values().map(path);
        all.filter(|(name, path)| name.replace('.', "_") != *path).collect()
    }
}

/// The path of what is below the account of this path, or of the account itself: a path that ends
/// in `/` is of an account that is passed over ([`Accounts::paths`]).
pub(super) fn below(path: &str, rest: Option<&str>) -> String {
    match (rest, path.strip_suffix('/')) {
        (None, whole) => whole.unwrap_or(path).to_owned(),
        (Some(rest), Some(_)) => format!("{path}{rest}"),
        (Some(rest), None) => format!("{path}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(rows: &[(&str, usize, &str, bool)]) -> String {
        let mut accounts = Accounts::default();
        rows.iter()
            .for_each(|(name, indent, above, over)| accounts.add(name, *indent, above, *over));
        let paths = accounts.paths();
        paths.iter().map(|(name, path)| format!("{name}={path} ")).collect()
    }

    #[test]
    fn the_tree_is_in_the_blanks_or_in_a_column() {
        let blanks = [
            ("root", 0, "", false),
            ("bio", 1, "", false),
            ("physics", 1, "", false),
            ("optics", 2, "", false),
            ("fibre.a", 3, "", false),
            ("plasma", 2, "", true),
            ("hot", 3, "", false),
            ("chem", 1, "", false),
        ];
        let expected = "fibre.a=physics.optics.fibre_a hot=physics.hot optics=physics.optics \
                        plasma=physics.plasma/ ";
        assert_eq!(paths(&blanks), expected);
        let column = [
            ("optics", 0, "physics", false),
            ("physics", 0, "root", false),
            ("root", 0, "", false),
        ];
        assert_eq!(paths(&column), "optics=physics.optics ");
        assert_eq!(paths(&[("physics", 0, "", false), ("optics", 0, "", false)]), "");
        // A loop ends.
        assert!(paths(&[("a", 0, "b", false), ("b", 0, "a", false)]).len() > 200);
    }
}
