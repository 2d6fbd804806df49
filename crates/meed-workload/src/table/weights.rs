//! Weights of tenants from a table: `queue,weight`, or what `sshare -P -a` and
//! `sacctmgr -P show assoc` print.
//!
//! The first line names the columns. A row is a user's where it has one, or else an account's; what
//! stands in a column such as `queue` may be either. A user of an account may be a queue below the
//! account's or a tenant of its own, so a row can have several names; the most exact one that is a
//! queue counts. An account's row is of the account's queue, a user's never. Accounts stand in a
//! tree (`accounts`). Shares of Slurm that are their parent's are no weight, and a share of 0,
//! which Slurm takes, is the least weight.
//! A wrong line is an error where it concerns a queue that there is: lists of a whole site hold
//! much that is of nobody here.

use std::collections::{BTreeMap, BTreeSet};

use meed_config::quantity::{Quantity, weight};
use meed_config::words::quote;
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

use super::accounts::{Accounts, below};
use super::guess;
use super::record::{Record, names_of};
use super::separated::{Separated, separator_in};
use super::standing::{SlurmStanding, StandingColumns};
use crate::error::{TraceError, header};

/// Columns that hold a weight. Not `FairShare`, which in Slurm is a priority that results.
const WEIGHTS: [&str; 5] = ["weight", "raw_shares", "shares", "share", "quota"];
/// Columns that name whose it is, most exact first.
const NAMES: [&str; 8] = ["queue", "tenant", USER, "name", "team", "group", "project", "namespace"];
/// The column that holds users and nobody else.
const USER: &str = "user";
/// The column of those above the users.
const ACCOUNT: &str = "account";
/// Columns that name what an account is below: sacctmgr's `ParentName`, `Par Name`.
const ABOVE: [&str; 2] = ["parent_name", "par_name"];
/// Columns of Slurm's shares, which may be 0.
const SLURM_SHARES: [&str; 2] = ["raw_shares", "share"];
/// The least weight.
const LEAST: &str = "0.001";
/// Slurm's word for shares that are those of the account.
const INHERITED: &str = "parent";

/// A weight and whose it may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightRow {
    /// Its line.
    pub line: u64,
    /// Names of queues that are this row's alone, most exact first.
    pub names: Vec<String>,
    /// Names that a tenant of this row can have, but not what stands above tenants: a user's own.
    pub plain: Vec<String>,
    /// It is an account's, with no user.
    pub is_account: bool,
    /// The weight, as it is written; nobody has looked whether it is one.
    pub weight: String,
    /// What is special about the weight.
    pub share: ShareKind,
    /// Where Slurm's own fair share puts the user, where the table says it.
    pub standing: Option<SlurmStanding>,
}

/// What a weight says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShareKind {
    /// A weight as it stands there.
    Own,
    /// Slurm's share of 0: the least weight.
    Zero,
    /// Slurm's `parent`: no weight.
    Parent,
}

/// All rows of a table of weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightTable {
    /// The rows, in order.
    pub rows: Vec<WeightRow>,
    /// Accounts that are not called by their own name alone in the tree that the table has:
    /// `physics.optics` of `optics`. A path that ends in `/` is of an account whose users stand
    /// beside it, since its share is its parent's: `physics.plasma/` makes `physics.plasma/ann`.
    pub accounts: BTreeMap<String, String>,
    /// Its accounts are Slurm's, and nothing says which is below which.
    pub lacks_tree: bool,
}

impl WeightRow {
    /// What it is called in messages.
    pub fn name(&self) -> &str {
        self.names.first().or(self.plain.first()).map_or("", String::as_str)
    }
}

/// The rows of a table that concern queues that there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightsFound<'a> {
    /// Each of those queues with its weight.
    pub weights: BTreeMap<&'a str, &'a str>,
    /// How many rows are of no queue.
    pub others: usize,
    /// How many of the weights are shares of 0.
    pub zero: usize,
    /// How many queues have the share of their parent, and so no weight.
    pub inherited: usize,
    /// How many queues are users' whose shares count within accounts that are no queues here.
    pub apart: usize,
    /// Where Slurm's own fair share puts queues, where the table says it. Of a queue of which
    /// several rows say so (a user of several accounts) nothing is known.
    pub standings: BTreeMap<&'a str, SlurmStanding>,
}

/// Reads all weights of a table.
pub fn read_weights(origin: &Origin) -> Result<WeightTable, TraceError> {
    let file = origin.name();
    let mut lines = Separated::new(Lines::new(origin.open()?, LINE_LIMIT), separator_in(origin)?);
    let mut record = Record::default();
    let Some(first) = lines.next(&mut record)? else {
        return Err(header(file, 1, format!("the file is empty; {}", wanted())));
    };
    let names = first.map_err(|why| why.to_string()).and_then(|()| names_of(&record));
    let columns = names.and_then(|names| Columns::of(&names));
    let columns = columns.map_err(|why| header(file, record.line, why))?;
    let (mut told, mut accounts) = (Vec::new(), Accounts::default());
    let mut lacks_tree = columns.slurm && columns.above.is_none();
    while let Some(found) = lines.next(&mut record)? {
        let row = found.map_err(|why| why.to_string()).and_then(|()| columns.told(&record));
        let row = row.map_err(|why| header(file, record.line, why))?;
        lacks_tree &= row.indent == 0;
        if row.name.is_empty() {
            accounts.add(&row.account, row.indent, &row.above, row.written == INHERITED);
        }
        told.push(row);
    }
    let paths = accounts.paths();
    let rows = told.into_iter().map(|told| columns.row(told, &paths)).collect();
    Ok(WeightTable { rows, accounts: paths, lacks_tree })
}

fn wanted() -> String {
    format!(
        "wanted is a line that names the columns: one of {} (or {ACCOUNT}), and one of {}",
        NAMES.join(", "),
        WEIGHTS.join(", ")
    )
}

/// Where everything stands.
struct Columns {
    weight: usize,
    name: Option<usize>,
    account: Option<usize>,
    above: Option<usize>,
    /// The names are those of users.
    users: bool,
    /// The weights are Slurm's shares.
    slurm: bool,
    standing: Option<StandingColumns>,
}

/// What a row says.
struct Told {
    line: u64,
    name: String,
    account: String,
    /// Blanks before the account.
    indent: usize,
    /// What the account is below, where a column says it.
    above: String,
    written: String,
    standing: Option<SlurmStanding>,
}

impl Columns {
    fn of(names: &[String]) -> Result<Columns, String> {
        let words: Vec<String> = names.iter().map(|name| guess::words_of(name)).collect();
        let one = |known: &str| words.iter().position(|word| word == known);
        let first = |known: &[&str]| known.iter().find_map(|known| one(known));
        let (name, account, above) = (first(&NAMES), one(ACCOUNT), first(&ABOVE));
        let found = || format!("the columns are {}; {}", names.join(", "), wanted());
        let weight = first(&WEIGHTS).ok_or_else(found)?;
        if name.or(account).is_none() {
            return Err(found());
        }
        let users = name.is_some_and(|name| words[name] == USER);
        let slurm = account.is_some() && SLURM_SHARES.contains(&words[weight].as_str());
        let standing = StandingColumns::of(&words).filter(|_| slurm);
        Ok(Columns { weight, name, account, above, users, slurm, standing })
    }

    /// What a record says.
    fn told(&self, record: &Record) -> Result<Told, String> {
        let text = |column: Option<usize>| {
            let value = column.map_or(&b""[..], |column| record.get(column));
            let text = std::str::from_utf8(value).map(str::to_owned);
            text.map_err(|_| format!("{} is no text in UTF-8", quote(value)))
        };
        let (name, account) = (text(self.name)?, text(self.account)?);
        if name.is_empty() && account.is_empty() {
            return Err("the row names nobody".to_owned());
        }
        Ok(Told {
            line: record.line,
            name,
            account,
            indent: self.account.map_or(0, |account| record.indent(account)),
            above: text(self.above)?,
            written: text(Some(self.weight))?,
            standing: self.standing.and_then(|columns| columns.read(record)),
        })
    }

    /// The row of it, where accounts have these paths.
    fn row(&self, told: Told, paths: &BTreeMap<String, String>) -> WeightRow {
        let Told { line, name, account, written, standing, .. } = told;
        let (mut names, plain) = names_in(&name, &account, self.users);
        if let Some(path) = paths.get(&account) {
            let user = (!name.is_empty()).then(|| name.replace('.', "_"));
            names.insert(0, below(path, user.as_deref()));
        }
        let is_zero = || weight_is_zero(&written);
        let share = match written.as_str() {
            INHERITED => ShareKind::Parent,
            _ if self.slurm && is_zero() => ShareKind::Zero,
            _ => ShareKind::Own,
        };
        let weight = if share == ShareKind::Zero { LEAST.to_owned() } else { written };
        let is_account = name.is_empty();
        WeightRow { line, names, plain, is_account, weight, share, standing }
    }
}

fn weight_is_zero(written: &str) -> bool {
    !written.is_empty() && written.bytes().all(|byte| byte == b'0')
}

/// Names of queues that `name` in `account` can have, and those that only a tenant can have; in a
/// table of jobs a dot in a name becomes an underscore.
fn names_in(name: &str, account: &str, users: bool) -> (Vec<String>, Vec<String>) {
    let plain = |name: &str| name.replace('.', "_");
    let both = |name: &str| {
        let mut both = vec![name.to_owned(), plain(name)];
        both.dedup();
        both
    };
    match (name, account) {
        ("", account) => (both(account), Vec::new()),
        (name, "") if users => (Vec::new(), both(name)),
        (name, "") => (both(name), Vec::new()),
        (name, account) => {
            let below = format!("{}.{}", plain(account), plain(name));
            let mut names = vec![format!("{account}.{name}"), below];
            names.dedup();
            (names, both(name))
        }
    }
}

/// What `rows` say of these `queues`.
///
/// # Errors
///
/// What a row says of a queue is no weight; two rows give a queue different weights.
pub fn weights_of<'a>(
    origin: &Origin,
    rows: &'a [WeightRow],
    queues: &BTreeSet<String>,
) -> Result<WeightsFound<'a>, TraceError> {
    let whose = Whose::of(rows, queues);
    let mut found: BTreeMap<&str, &WeightRow> = BTreeMap::new();
    let mut standings: BTreeMap<&str, Option<SlurmStanding>> = BTreeMap::new();
    let (mut others, mut zero, mut inherited, mut apart) = (0, 0, 0, 0);
    for row in rows {
        let fail = |why: String| header(origin.name(), row.line, why);
        let Some(name) = whose.queue_of(row) else {
            others += usize::from(row.share != ShareKind::Parent);
            continue;
        };
        apart += usize::from(!row.names.is_empty() && !row.names.iter().any(|own| own == name));
        if let Some(standing) = row.standing {
            let known = standings.entry(name);
            known.and_modify(|known| *known = None).or_insert(Some(standing));
        }
        if row.share == ShareKind::Parent {
            inherited += 1;
            continue;
        }
        zero += usize::from(row.share == ShareKind::Zero);
        weight(&Quantity::Text(row.weight.clone()))
            .map_err(|why| fail(format!("the weight of {}: {why}", quote(name.as_bytes()))))?;
        let before = found.insert(name, row).filter(|before| before.weight != row.weight);
        if let Some(before) = before {
            return Err(fail(format!(
                "queue {} has the weight {} here and {} on line {}; a queue has one weight (a user \
                 of several accounts is a queue below each with --map tenant=account/user)",
                quote(name.as_bytes()),
                row.weight,
                before.weight,
                before.line
            )));
        }
    }
    let pairs = found.into_iter().map(|(name, row)| (name, row.weight.as_str()));
    let weights = pairs.collect();
    let standings = standings.into_iter().filter_map(|(name, one)| Some((name, one?))).collect();
    Ok(WeightsFound { weights, others, zero, inherited, apart, standings })
}

/// Who the queues are, users or accounts: sites have users and accounts of one name.
struct Whose<'a> {
    queues: &'a BTreeSet<String>,
    /// Names of accounts, and of users.
    accounts: BTreeSet<&'a str>,
    users: BTreeSet<&'a str>,
    /// A tenant that is called as a user and as an account is the user.
    to_users: bool,
}

impl<'a> Whose<'a> {
    fn of(rows: &'a [WeightRow], queues: &'a BTreeSet<String>) -> Whose<'a> {
        let accounts = rows.iter().filter(|row| row.is_account);
        let accounts: BTreeSet<&str> =
            accounts.flat_map(|row| row.names.iter().map(String::as_str)).collect();
        let users: BTreeSet<&str> =
            rows.iter().flat_map(|row| row.plain.iter().map(String::as_str)).collect();
        let of = |own: &BTreeSet<&str>, other: &BTreeSet<&str>| {
            own.difference(other).filter(|name| queues.contains(**name)).count()
        };
        // Where users stand below their accounts, or more tenants are called as accounts only, a
        // tenant of both names is the account.
        let below = rows
            .iter()
            .any(|row| !row.plain.is_empty() && row.names.iter().any(|name| queues.contains(name)));
        let to_users = !below && of(&users, &accounts) >= of(&accounts, &users);
        Whose { queues, accounts, users, to_users }
    }

    /// The queue that a row is of.
    fn queue_of<'r>(&self, row: &'r WeightRow) -> Option<&'r str> {
        let is_own = |name: &&String| {
            let others = row.is_account && self.to_users && self.users.contains(name.as_str());
            self.queues.contains(*name) && !(others && self.is_tenant(name))
        };
        let is_plain = |name: &&String| {
            self.is_tenant(name) && (self.to_users || !self.accounts.contains(name.as_str()))
        };
        let own = row.names.iter().find(is_own);
        own.or_else(|| row.plain.iter().find(is_plain)).map(String::as_str)
    }

    /// Whether it is a queue with nothing below it.
    fn is_tenant(&self, name: &str) -> bool {
        let below = format!("{name}.");
        let next = self.queues.range::<String, _>(&below..).next();
        self.queues.contains(name) && !next.is_some_and(|next| next.starts_with(&below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<WeightRow>, TraceError> {
        read_weights(&Origin::bytes("w", text.as_bytes())).map(|table| table.rows)
    }

    #[test]
    fn reads_plain_tables_and_what_slurm_prints() {
        for (text, expected) in [
            ("queue,weight\nads,2.5\n", "ads=2.5"),
            ("\nTeam\tShares\nml.vision\t3\n", "ml.vision/ml_vision=3"),
            ("weight;tenant;note\n4;a b;x\n", "a b=4"),
            (
                "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
                 root||1|1.0|0|1.0|\n bio||20|0.5|7|0.5|\n  bio|ann|parent|0.5|7|0.5|0.25\n  \
                 bio|j.doe|3|0.5|7|0.5|0.25\n",
                "root=1 bio=20 bio.ann or ann=parent bio.j.doe/bio.j_doe or j.doe/j_doe=3",
            ),
            ("Account|User|Share|\nbio||5|\n", "bio=5"),
            (
                "Account|Par Name|User|Share\noptics|physics||2\nphysics|root||3\noptics||su1|1\n",
                "physics.optics/optics=2 physics=3 physics.optics.su1/optics.su1 or su1=1",
            ),
        ] {
            let rows = read(text).expect(text);
            let words = rows.iter().map(|row| {
                let names = [&row.names, &row.plain].map(|names| names.join("/"));
                let names = names.into_iter().filter(|names| !names.is_empty());
                format!("{}={}", names.collect::<Vec<_>>().join(" or "), row.weight)
            });
            assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, expected) in [
            ("", "w:1: the file is empty; wanted is"),
            ("queue,wait\na,1\n", "w:1: the columns are queue, wait; wanted is"),
            ("User,FairShare\na,0.5\n", "w:1: the columns are User, FairShare; wanted is"),
            ("queue,weight\n,1\n", "w:2: the row names nobody"),
            ("queue,weight\n\"a,1\n", "w:2: a quote is opened"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    fn found(text: &str, queues: &[&str]) -> Result<(String, usize), String> {
        let (origin, rows) = (Origin::bytes("w", "".as_bytes()), read(text).expect(text));
        let queues = queues.iter().map(|name| (*name).to_owned()).collect();
        let found = weights_of(&origin, &rows, &queues).map_err(|why| why.to_string())?;
        let words = found.weights.iter().map(|(name, weight)| format!("{name}={weight}"));
        Ok((words.collect::<Vec<_>>().join(" "), found.others))
    }

    #[test]
    fn one_queue_has_one_weight() {
        let same = found("account,user,weight\nx,a,1\ny,a,1\nz,c,1\n", &["a"]);
        assert_eq!(same, Ok(("a=1".to_owned(), 1)));
        let text = "account,user,weight\nx,a,1\ny,a,2\n";
        let error = found(text, &["a"]).expect_err("two weights");
        assert!(error.starts_with("w:3: queue \"a\" has the weight 2 here and 1 on line 2"));
        let below = found(text, &["x.a", "y.a", "x", "y"]);
        assert_eq!(below, Ok(("x.a=1 y.a=2".to_owned(), 0)));
    }

    /// Of Slurm 22.05.8: `man` is a user of two accounts, and nobody's place without them.
    #[test]
    fn places_of_users_stand_beside_their_shares() {
        let text = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
             root|||0.000000|4274|1.000000|\n root|root|1|0.142857|0|0.000000|1.000000\n \
             chem||1|0.142857|1440|0.307441|\n  chem|news|2|0.666667|409|0.281526|0.250000\n  \
             chem|man|parent|0.142857|633|0.394618|0.500000\n bio||1|0.1|397|0.3|\n  \
             bio|man|1|1.0|397|0.3|0.750000\n";
        let (origin, rows) = (Origin::bytes("w", "".as_bytes()), read(text).expect(text));
        for (queues, expected) in [
            (
                &["chem", "chem.news", "chem.man", "bio", "bio.man"][..],
                "750000/397 500000/633 250000/409",
            ),
            (&["news", "man"], "250000/409"),
            (&["chem", "bio"], ""),
        ] {
            let queues = queues.iter().map(|name| (*name).to_owned()).collect();
            let found = weights_of(&origin, &rows, &queues).expect("weights");
            let words = found.standings.values();
            let words = words.map(|one| format!("{}/{}", one.factor_millionths, one.used_s));
            assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{queues:?}");
        }
        assert!(read("Account|User|RawShares|RawUsage|FairShare\nx|a|1|1|?\n").is_ok());
    }

    #[test]
    fn a_user_and_an_account_of_one_name_are_two() {
        // The user bio, of the account chem, and the account bio.
        let text = "account,user,share\nbio,,20\nchem,,30\nbio,ann,2\nchem,bio,3\n";
        for (queues, expected, others) in [
            // Queues are users.
            (&["bio", "ann"][..], "ann=2 bio=3", 2),
            // Accounts.
            (&["bio", "chem"], "bio=20 chem=30", 2),
            // Users below accounts; some jobs have no user.
            (&["bio", "bio.ann", "chem", "chem.bio"], "bio=20 bio.ann=2 chem=30 chem.bio=3", 0),
            (&["bio", "bio.ann", "chem"], "bio=20 bio.ann=2 chem=30", 1),
            (&["bio", "chem", "chem.bio"], "bio=20 chem=30 chem.bio=3", 1),
            // What has others below it is no user.
            (&["bio", "bio.x"], "bio=20", 3),
        ] {
            let found = found(text, queues).expect("valid");
            assert_eq!(found, (expected.to_owned(), others), "{queues:?}");
        }
        // A list of users only says nothing of a parent.
        assert_eq!(found("user,weight\nbio,3\n", &["bio", "bio.x"]), Ok((String::new(), 1)));
        assert_eq!(found("queue,weight\nbio,3\n", &["bio", "bio.x"]), Ok(("bio=3".into(), 0)));
    }

    /// In Slurm a user may have a share of 0; elsewhere it is no weight.
    #[test]
    fn a_share_of_nothing_is_the_least_weight_of_slurm() {
        let slurm = "Account|User|RawShares\nbio||2\nbio|su7|0\nbio|su8|5\n";
        assert_eq!(
            found(slurm, &["bio.su7", "bio.su8"]),
            Ok(("bio.su7=0.001 bio.su8=5".into(), 1))
        );
        let error = found("queue,weight\na,0\n", &["a"]).expect_err("no weight");
        assert!(error.starts_with("w:2: the weight of \"a\": 0 is not a weight"), "{error}");
    }

    #[test]
    fn nested_accounts_have_paths() {
        let text = "Account|User|RawShares\nroot|||\n root|root|1\n physics||3\n  optics||2\n   \
                    optics|su1|1\n  plasma||parent\n   plasma|j.doe|4\n chem||1\n  chem|su1|2\n";
        let table = read_weights(&Origin::bytes("w", text.as_bytes())).expect("a table");
        let paths: Vec<_> = table.accounts.iter().map(|(name, path)| (&**name, &**path)).collect();
        assert_eq!(paths, [("optics", "physics.optics"), ("plasma", "physics.plasma/")]);
        assert!(!table.lacks_tree);
        // As sacctmgr prints it without `tree`.
        let flat = text.replace("\n ", "\n").replace("\n ", "\n").replace("\n ", "\n");
        assert!(read_weights(&Origin::bytes("w", flat.as_bytes())).expect("a table").lacks_tree);
        let queues = ["physics", "physics.optics", "physics.optics.su1", "physics.plasma/j_doe"];
        let weights = "physics=3 physics.optics=2 physics.optics.su1=1 physics.plasma/j_doe=4";
        assert_eq!(found(text, &queues), Ok((weights.to_owned(), 4)));
    }

    #[test]
    fn only_weights_that_are_used_must_be_weights() {
        let text = "account,user,share\nroot,root,0\nbig,,2000000\nbio,,\nbio,ann,5\n";
        assert_eq!(found(text, &["ann"]), Ok(("ann=5".to_owned(), 3)));
        for (queue, expected) in
            [("big", "w:3: the weight of \"big\": "), ("bio", "w:4: the weight of \"bio\": ")]
        {
            let error = found(text, &[queue, "ann"]).expect_err(queue);
            assert!(error.starts_with(expected), "{queue}: {error}");
        }
        let error = found("queue,weight\na,-1\n", &["a"]).expect_err("below 0");
        assert!(error.starts_with("w:2: the weight of \"a\": "), "{error}");
    }
}
