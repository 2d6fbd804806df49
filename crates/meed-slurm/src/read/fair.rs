//! Slurm's own turn of users: `sshare`, whose `FairShare` is by rank under fair tree.

use super::columns;

/// What Slurm's fair share says of a user in an account.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FairRow {
    /// The account.
    pub account: String,
    /// The user.
    pub user: String,
    /// From 0 to 1; the highest is served first.
    pub factor: f64,
    /// So many users are served before this one.
    pub place: usize,
}

/// Reads what `sshare` prints with the columns of [`super::form`]: rows of users, the first served
/// first. Accounts indent, and have no factor.
///
/// # Errors
///
/// The first line that is not of that form, in a sentence.
pub(crate) fn parse_fair(text: &str) -> Result<Vec<FairRow>, String> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let [account, user, factor] = columns::<3>(line, "sshare")?;
        if user.is_empty() {
            continue;
        }
        let wrong = || format!("sshare printed `{line}`: `{factor}` is not a number");
        let factor: f64 = factor.parse().map_err(|_| wrong())?;
        rows.push(FairRow { account: account.into(), user: user.into(), factor, place: 0 });
    }
    rows.sort_by(|one, other| other.factor.total_cmp(&one.factor));
    let factors: Vec<f64> = rows.iter().map(|row| row.factor).collect();
    for row in &mut rows {
        row.place = factors.partition_point(|factor| *factor > row.factor);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_places_and_equal_factors_have_one() {
        let text = " root|root|1.000000\n bio||\n  bio|su7|0.500000\n  bio|su8|0.750000\n   \
                    plasma|su3|0.500000\n";
        let rows = parse_fair(text).unwrap();
        let told: Vec<_> =
            rows.iter().map(|row| (row.account.as_str(), row.user.as_str(), row.place)).collect();
        let expected =
            [("root", "root", 0), ("bio", "su8", 1), ("bio", "su7", 2), ("plasma", "su3", 2)];
        assert_eq!(told, expected);
        assert!(parse_fair("bio|su7|many").unwrap_err().contains("not a number"));
    }
}
