//! Associations with their shares: `sacctmgr --parsable2 show assoc`.

use super::columns;

/// The value of `Fairshare`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Share {
    /// So many shares among its siblings; 0 is legal.
    Of(u64),
    /// `parent`.
    Parent,
}

/// A row of `sacctmgr show assoc`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Association {
    /// The account, or the account of the user.
    pub account: String,
    /// The user; empty for the account itself.
    pub user: String,
    /// The partition, where the association is of one only.
    pub partition: String,
    /// Its shares.
    pub share: Share,
    /// The account above, of an account.
    pub parent: String,
}

/// Reads what `sacctmgr` prints with the columns of [`super::form`].
///
/// # Errors
///
/// The first line that is not of that form, in a sentence.
pub(crate) fn parse_shares(text: &str) -> Result<Vec<Association>, String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(association).collect()
}

fn association(line: &str) -> Result<Association, String> {
    let [account, user, partition, share, parent] = columns::<5>(line, "sacctmgr show assoc")?;
    let share = match share {
        "parent" => Share::Parent,
        number => Share::Of(number.parse().map_err(|_| {
            format!("sacctmgr printed `{line}`: `{number}` is neither a number nor `parent`")
        })?),
    };
    let [account, user, partition, parent] = [account, user, partition, parent].map(str::to_owned);
    Ok(Association { account, user, partition, share, parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_sacctmgr_prints_them() {
        let text = "root|||1|\nchem|||1|root\nchem|lp||parent|\nchem|proxy|gpu|0|\n";
        let rows = parse_shares(text).unwrap();
        assert_eq!(rows.len(), 4);
        assert_eq!((rows[1].parent.as_str(), rows[2].share), ("root", Share::Parent));
        assert_eq!((rows[3].partition.as_str(), rows[3].share), ("gpu", Share::Of(0)));
        assert!(parse_shares("chem|lp||many|").unwrap_err().contains("neither a number"));
    }
}
