//! Weights of tenants from a table: `queue,weight`, or what `sshare -P -a` and
//! `sacctmgr -P show assoc` print.
//!
//! The first line names the columns. A row says by its user, where it has one, or else by its
//! account or queue, whose weight it is; a user of an account may be a queue of its own or one
//! below the account's, so a row has several names. Shares of Slurm that are their parent's are no
//! weight.
//! A wrong line is an error: weights are few, and written by somebody.

use std::collections::BTreeMap;

use meed_config::quantity::{Quantity, weight};
use meed_config::words::quote;
use meed_files::lines::{LINE_LIMIT, Lines};
use meed_files::open::Origin;

use super::guess;
use super::record::Record;
use super::separated::{Separated, separator_in};
use super::{header, names_of};
use crate::TraceError;

/// Columns that hold a weight. Not `FairShare`, which in Slurm is a priority that results.
const WEIGHTS: [&str; 5] = ["weight", "raw_shares", "shares", "share", "quota"];
/// Columns that name whose it is, most exact first.
const NAMES: [&str; 8] =
    ["queue", "tenant", "user", "name", "team", "group", "project", "namespace"];
/// The column of those above the users.
const ACCOUNT: &str = "account";
/// Slurm's word for shares that are those of the account.
const INHERITED: &str = "parent";

/// A weight and whose it may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightRow {
    /// Its line.
    pub line: u64,
    /// Names that a queue of this row can have.
    pub names: Vec<String>,
    /// The weight, as it is written: above 0.
    pub weight: String,
}

/// The rows of a table that concern queues that there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeightsFound<'a> {
    /// Each of those queues with its weight.
    pub weights: BTreeMap<&'a str, &'a str>,
    /// How many rows are of no queue.
    pub others: usize,
}

/// Reads all weights of a table.
pub fn read_weights(origin: &Origin) -> Result<Vec<WeightRow>, TraceError> {
    let file = origin.name();
    let mut lines = Separated::new(Lines::new(origin.open()?, LINE_LIMIT), separator_in(origin)?);
    let mut record = Record::default();
    let Some(first) = lines.next(&mut record)? else {
        return Err(header(file, 1, format!("the file is empty; {}", wanted())));
    };
    let names = first.map_err(|why| why.to_string()).and_then(|()| names_of(&record));
    let columns = names.and_then(|names| Columns::of(&names));
    let columns = columns.map_err(|why| header(file, record.line, why))?;
    let mut rows = Vec::new();
    while let Some(found) = lines.next(&mut record)? {
        let row = found.map_err(|why| why.to_string()).and_then(|()| columns.row(&record));
        rows.extend(row.map_err(|why| header(file, record.line, why))?);
    }
    Ok(rows)
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
}

impl Columns {
    fn of(names: &[String]) -> Result<Columns, String> {
        let words: Vec<String> = names.iter().map(|name| guess::words_of(name)).collect();
        let one = |known: &str| words.iter().position(|word| word == known);
        let first = |known: &[&str]| known.iter().find_map(|known| one(known));
        let (name, account) = (first(&NAMES), one(ACCOUNT));
        let found = || format!("the columns are {}; {}", names.join(", "), wanted());
        let weight = first(&WEIGHTS).ok_or_else(found)?;
        match name.or(account) {
            Some(_) => Ok(Columns { weight, name, account }),
            None => Err(found()),
        }
    }

    /// What a row says; nothing where its weight is another's.
    fn row(&self, record: &Record) -> Result<Option<WeightRow>, String> {
        let text = |column: usize| {
            let value = record.get(column);
            std::str::from_utf8(value).map_err(|_| format!("{} is no text in UTF-8", quote(value)))
        };
        let written = text(self.weight)?;
        if written == INHERITED {
            return Ok(None);
        }
        let name = self.name.map_or(Ok(""), text)?;
        let account = self.account.map_or(Ok(""), text)?;
        if name.is_empty() && account.is_empty() {
            return Err("the row names nobody".to_owned());
        }
        let quantity = Quantity::Text(written.to_owned());
        weight(&quantity)
            .map_err(|why| format!("the weight of {}: {why}", quote_of(name, account)))?;
        Ok(Some(WeightRow {
            line: record.line,
            names: names_in(name, account),
            weight: written.to_owned(),
        }))
    }
}

fn quote_of(name: &str, account: &str) -> String {
    quote(if name.is_empty() { account } else { name }.as_bytes())
}

/// Names of queues that `name` in `account` can have; in a table of jobs a dot in a name becomes an
/// underscore.
fn names_in(name: &str, account: &str) -> Vec<String> {
    let plain = |name: &str| name.replace('.', "_");
    let mut names = match (name, account) {
        ("", account) => vec![account.to_owned(), plain(account)],
        (name, "") => vec![name.to_owned(), plain(name)],
        (name, account) => {
            let below = format!("{}.{}", plain(account), plain(name));
            vec![format!("{account}.{name}"), below, name.to_owned(), plain(name)]
        }
    };
    names.dedup();
    names
}

/// What `rows` say of the queues that there are.
///
/// # Errors
///
/// Two rows that give a queue different weights.
pub fn weights_of<'a>(
    origin: &Origin,
    rows: &'a [WeightRow],
    is_queue: impl Fn(&str) -> bool,
) -> Result<WeightsFound<'a>, TraceError> {
    let mut found: BTreeMap<&str, &WeightRow> = BTreeMap::new();
    let mut others = 0;
    for row in rows {
        let Some(name) = row.names.iter().find(|name| is_queue(name)) else {
            others += 1;
            continue;
        };
        let before = found.insert(name, row).filter(|before| before.weight != row.weight);
        if let Some(before) = before {
            let why = format!(
                "queue {} has the weight {} here and {} on line {}; a queue has one weight (a user \
                 of several accounts is a queue below each with --map tenant=account/user)",
                quote(name.as_bytes()),
                row.weight,
                before.weight,
                before.line
            );
            return Err(header(origin.name(), row.line, why));
        }
    }
    let pairs = found.into_iter().map(|(name, row)| (name, row.weight.as_str()));
    Ok(WeightsFound { weights: pairs.collect(), others })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<WeightRow>, TraceError> {
        read_weights(&Origin::bytes("w", text.as_bytes()))
    }

    #[test]
    fn reads_plain_tables_and_what_slurm_prints() {
        let sshare = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
            root|||0.0|0|1.0|\n";
        assert!(read(sshare).is_err(), "shares that are empty are no weight");
        for (text, expected) in [
            ("queue,weight\nads,2.5\n", "ads=2.5"),
            ("\nTeam\tShares\nml.vision\t3\n", "ml.vision/ml_vision=3"),
            ("weight;tenant;note\n4;a b;x\n", "a b=4"),
            (
                "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
                 root||1|1.0|0|1.0|\n bio||20|0.5|7|0.5|\n  bio|ann|parent|0.5|7|0.5|0.25\n  \
                 bio|j.doe|3|0.5|7|0.5|0.25\n",
                "root=1 bio=20 bio.j.doe/bio.j_doe/j.doe/j_doe=3",
            ),
            ("Account|User|Share|\nbio||5|\n", "bio=5"),
        ] {
            let rows = read(text).expect(text);
            let words = rows.iter().map(|row| format!("{}={}", row.names.join("/"), row.weight));
            assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, expected) in [
            ("", "w:1: the file is empty; wanted is"),
            ("queue,wait\na,1\n", "w:1: the columns are queue, wait; wanted is"),
            ("User,FairShare\na,0.5\n", "w:1: the columns are User, FairShare; wanted is"),
            ("queue,weight\na,1\nb,0\n", "w:3: the weight of \"b\": 0 is not a weight"),
            ("queue,weight\na,-1\n", "w:2: the weight of \"a\": "),
            ("queue,weight\na,\n", "w:2: the weight of \"a\": "),
            ("queue,weight\n,1\n", "w:2: the row names nobody"),
            ("queue,weight\n\"a,1\n", "w:2: a quote is opened"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn one_queue_has_one_weight() {
        let origin = Origin::bytes("w", "".as_bytes());
        let rows = read("account,user,weight\nx,a,1\ny,a,1\nz,c,1\n").expect("valid");
        let found = weights_of(&origin, &rows, |name| name == "a").expect("one weight");
        assert_eq!(found, WeightsFound { weights: [("a", "1")].into(), others: 1 });
        let rows = read("account,user,weight\nx,a,1\ny,a,2\n").expect("valid");
        let error = weights_of(&origin, &rows, |name| name == "a").expect_err("two weights");
        assert!(
            error.to_string().starts_with("w:3: queue \"a\" has the weight 2 here and 1 on line 2")
        );
        let below = weights_of(&origin, &rows, |name| name != "a").expect("two queues");
        assert_eq!(below.weights, [("x.a", "1"), ("y.a", "2")].into());
    }
}
