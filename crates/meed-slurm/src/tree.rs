//! Slurm's tree of associations as a tree of queues.
//!
//! | in Slurm | here |
//! |---|---|
//! | an account below others, at any depth | a queue `physics.optics`; root is the root |
//! | a user of an account | a leaf `physics.optics.su1`, also where he is in several accounts |
//! | shares N | weight N among its siblings |
//! | an account with `parent` | no level: its children stand among those of the account above, as `plasma:su3` |
//! | a user with `parent` | weight 1, and the first band ([`crate::bands`]) |
//! | 0 shares | the least weight, 0.001, and the last band |
//! | an association of one partition | the same leaf as without a partition; the first row counts |
//!
//! A dot in a name would begin a level, so it is written `%2E`.

use std::collections::{BTreeMap, BTreeSet};

use meed_config::queues::check_bounds;

use crate::bands::{Band, Bands};
use crate::read::shares::{Association, Share};

/// A queue that is to be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TreeQueue {
    /// Full name; parents come before their children.
    pub name: String,
    /// In thousandths.
    pub weight: u64,
}

/// What `parent` of a user and 0 shares mean.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ShareMeaning {
    /// The first of the account, and the last of it, as in Slurm.
    #[default]
    Slurm,
    /// Weights 1 and 0.001.
    Meed,
}

/// The tree, and who is where in it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tree {
    queues: Vec<TreeQueue>,
    leaves: BTreeMap<(String, String), String>,
    meaning: ShareMeaning,
    bands: Bands,
    remarks: Vec<String>,
}

/// The weight of 0 shares, and that of one share.
const LEAST: u64 = 1;
const ONE: u64 = 1000;

impl Tree {
    /// The tree of these associations.
    pub(crate) fn of(rows: &[Association], meaning: ShareMeaning) -> Tree {
        let mut tree = Tree { meaning, ..Tree::default() };
        let accounts: BTreeMap<&str, &Association> = rows
            .iter()
            .filter(|row| row.user.is_empty())
            .map(|row| (row.account.as_str(), row))
            .collect();
        let mut below: BTreeMap<&str, Vec<&Association>> = BTreeMap::new();
        for row in accounts.values().filter(|row| row.account != "root") {
            let parent = match accounts.contains_key(row.parent.as_str()) {
                true => row.parent.as_str(),
                false => "root",
            };
            below.entry(parent).or_default().push(row);
        }
        let mut users: BTreeMap<&str, Vec<&Association>> = BTreeMap::new();
        for row in rows.iter().filter(|row| !row.user.is_empty()) {
            users.entry(row.account.as_str()).or_default().push(row);
        }
        let mut taken = BTreeSet::new();
        tree.add(&Level { account: "root", path: "", prefix: "" }, &below, &users, &mut taken, 0);
        tree
    }

    fn add(
        &mut self,
        level: &Level<'_>,
        below: &BTreeMap<&str, Vec<&Association>>,
        users: &BTreeMap<&str, Vec<&Association>>,
        taken: &mut BTreeSet<String>,
        depth: usize,
    ) {
        for &row in below.get(level.account).into_iter().flatten() {
            let account = row.account.as_str();
            // Accounts that name each other as parents are in no tree of Slurm's.
            if depth > 64 {
                self.remarks.push(format!("account {account} is too deep, and is left out"));
                continue;
            }
            let Share::Of(shares) = row.share else {
                self.remarks.push(format!(
                    "account {account} has fairshare=parent: its children stand among those of \
                     the account above"
                ));
                let prefix = format!("{}{}:", level.prefix, part(account));
                let flat = Level { account, path: level.path, prefix: &prefix };
                self.add(&flat, below, users, taken, depth + 1);
                continue;
            };
            let weight = self.weight(shares, || format!("account {account}"));
            if let Some(path) = self.put(&level.name(account), weight, taken) {
                self.put_band(&path, row.share);
                self.add(
                    &Level { account, path: &path, prefix: "" },
                    below,
                    users,
                    taken,
                    depth + 1,
                );
            }
        }
        for row in users.get(level.account).into_iter().flatten() {
            let key = (row.account.clone(), row.user.clone());
            if self.leaves.contains_key(&key) {
                self.remarks.push(format!(
                    "user {} has several associations in account {}: the shares of the first \
                     count",
                    row.user, row.account
                ));
                continue;
            }
            let who = || format!("user {} of account {}", row.user, row.account);
            let weight = match row.share {
                Share::Of(shares) => self.weight(shares, who),
                Share::Parent => {
                    self.remarks.push(match self.meaning {
                        ShareMeaning::Slurm => format!(
                            "{} has fairshare=parent: first in the account, whatever was used, as \
                             in Slurm; --shares meed makes it weight 1",
                            who()
                        ),
                        ShareMeaning::Meed => format!(
                            "{} has fairshare=parent: here this is weight 1; Slurm serves such a \
                             user first in the account, whatever was used",
                            who()
                        ),
                    });
                    ONE
                }
            };
            if let Some(name) = self.put(&level.name(&row.user), weight, taken) {
                self.put_band(&name, row.share);
                self.leaves.insert(key, name);
            }
        }
    }

    fn weight(&mut self, shares: u64, who: impl Fn() -> String) -> u64 {
        if shares == 0 {
            self.remarks.push(match self.meaning {
                ShareMeaning::Slurm => format!(
                    "{} has 0 shares: last among its siblings, as in Slurm; --shares meed makes \
                     it the least weight, 0.001",
                    who()
                ),
                ShareMeaning::Meed => format!(
                    "{} has 0 shares: here this is the least weight, 0.001; Slurm serves it last \
                     among its siblings",
                    who()
                ),
            });
            return LEAST;
        }
        let most = meed::MAX_WEIGHT / ONE;
        if shares > most {
            self.remarks.push(format!("{} has {shares} shares: {most} count", who()));
        }
        shares.min(most) * ONE
    }

    /// Adds a queue; a user who is called as an account beside him gets a `~` behind his name.
    fn put(&mut self, name: &str, weight: u64, taken: &mut BTreeSet<String>) -> Option<String> {
        let mut name = name.to_owned();
        while !taken.insert(name.clone()) {
            name.push('~');
        }
        match check_bounds(&name) {
            Ok(()) => {
                self.queues.push(TreeQueue { name: name.clone(), weight });
                Some(name)
            }
            Err(why) => {
                self.remarks.push(format!("left out: {why}"));
                None
            }
        }
    }

    fn put_band(&mut self, queue: &str, share: Share) {
        match share {
            _ if self.meaning == ShareMeaning::Meed => {}
            Share::Parent => self.bands.put(queue, Band::First),
            Share::Of(0) => self.bands.put(queue, Band::Last),
            Share::Of(_) => {}
        }
    }

    /// Who stands first or last among siblings, whatever was used.
    pub(crate) fn bands(&self) -> &Bands {
        &self.bands
    }

    /// Queues, parents first.
    pub(crate) fn queues(&self) -> &[TreeQueue] {
        &self.queues
    }

    /// Where the tree means something else than in Slurm, a sentence each.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Accounts and users with their leaves.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let leaves = self.leaves.iter();
        leaves.map(|((account, user), leaf)| (account.as_str(), user.as_str(), leaf.as_str()))
    }

    /// The leaf of a user in an account.
    pub(crate) fn leaf(&self, account: &str, user: &str) -> Option<&str> {
        // Slurm keeps account names in lower case, and so do jobs.
        self.leaves.get(&(account.to_owned(), user.to_owned())).map(String::as_str)
    }
}

/// Where children of an account go.
struct Level<'a> {
    account: &'a str,
    path: &'a str,
    /// Accounts with `parent` that are passed over.
    prefix: &'a str,
}

impl Level<'_> {
    fn name(&self, child: &str) -> String {
        let own = format!("{}{}", self.prefix, part(child));
        match self.path {
            "" => own,
            path => format!("{path}.{own}"),
        }
    }
}

/// One level of a queue's name.
pub(crate) fn part(name: &str) -> String {
    name.replace('%', "%25").replace('.', "%2E")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::shares::parse_shares;

    /// Printed by Slurm 22.05.8.
    const LAB: &str = "\
root|||1|
root|root||1|
bio|||2|root
bio|su7||0|
bio|su8||5|
chem|||1|root
chem|su1||2|
chem|su6||parent|
physics|||3|root
optics|||2|physics
optics|su1||1|
plasma|||parent|physics
plasma|su3||1|
";

    fn tree(text: &str) -> Tree {
        Tree::of(&parse_shares(text).unwrap(), ShareMeaning::Slurm)
    }

    #[test]
    fn the_tree_is_that_of_slurm() {
        let tree = tree(LAB);
        let queues: Vec<_> =
            tree.queues().iter().map(|queue| (queue.name.as_str(), queue.weight)).collect();
        let expected = [
            ("bio", 2000),
            ("bio.su7", 1),
            ("bio.su8", 5000),
            ("chem", 1000),
            ("chem.su1", 2000),
            ("chem.su6", 1000),
            ("physics", 3000),
            ("physics.optics", 2000),
            ("physics.optics.su1", 1000),
            ("physics.plasma:su3", 1000),
            ("root", 1000),
        ];
        assert_eq!(queues, expected);
        assert_eq!(tree.leaf("optics", "su1"), Some("physics.optics.su1"));
        assert_eq!(tree.leaf("plasma", "su3"), Some("physics.plasma:su3"));
        assert_eq!(tree.leaf("optics", "su9"), None);
    }

    #[test]
    fn each_difference_is_said() {
        let said = tree(LAB).remarks().join("\n");
        for words in ["plasma has fairshare=parent", "su6 of account chem", "su7 of account bio"] {
            assert!(said.contains(words), "{said}");
        }
        let bands = tree(LAB).bands().clone();
        assert_eq!((bands.of("chem.su6"), bands.of("bio.su7")), (Band::First, Band::Last));
        assert_eq!(bands.of("chem.su1"), Band::Ordinary);
        let meed = Tree::of(&parse_shares(LAB).unwrap(), ShareMeaning::Meed);
        assert_eq!(meed.bands(), &Bands::default());
        assert!(said.contains("as in Slurm") && !meed.remarks().join("\n").contains("as in Slurm"));
    }

    #[test]
    fn names_cannot_collide_or_begin_levels() {
        let tree = tree("root|||1|\na.b|||1|root\na|||1|root\nx|||1|a\na|x||1|\na|x|gpu|3|\n");
        let names: Vec<_> = tree.queues().iter().map(|queue| queue.name.as_str()).collect();
        assert_eq!(names, ["a", "a.x", "a.x~", "a%2Eb"]);
        assert_eq!(tree.leaf("a", "x"), Some("a.x~"));
        assert!(tree.remarks().join("\n").contains("several associations"));
    }
}
