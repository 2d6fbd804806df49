//! Where a user stands by Slurm's own fair share, as `sshare -P -a` prints it beside the shares.
//!
//! | column | what |
//! |---|---|
//! | `FairShare` | from 0 to 1, six decimals: under fair tree the place among all users, over their number. Accounts have none |
//! | `RawUsage` | what the user has used, after decay, in seconds of `billing` |
//!
//! Source: sshare(1) of Slurm 22.05.8, run.

use meed_config::decimal::{Rounding, parse_scaled};

use super::record::Record;

/// Decimals of `FairShare`.
const MILLION: u64 = 1_000_000;

/// Where a user stands by Slurm's own fair share, as `sshare -P -a` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlurmStanding {
    /// `FairShare`, in millionths: who has more comes first.
    pub factor_millionths: u64,
    /// `RawUsage`, seconds of `billing`.
    pub used_s: u64,
}

/// Where the two columns stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StandingColumns {
    factor: usize,
    used: usize,
}

impl StandingColumns {
    /// Of a table whose columns have these names in words; `None`: it lacks one of the two.
    pub(super) fn of(words: &[String]) -> Option<StandingColumns> {
        let column = |known: &str| words.iter().position(|word| word == known);
        Some(StandingColumns { factor: column("fair_share")?, used: column("raw_usage")? })
    }

    /// What a row says; `None`: it has no place, as accounts have none, or no number.
    pub(super) fn read(self, record: &Record) -> Option<SlurmStanding> {
        let number = |column: usize, scale: u64| {
            parse_scaled(record.get(column), scale, u64::MAX, Rounding::Nearest).ok()
        };
        Some(SlurmStanding {
            factor_millionths: number(self.factor, MILLION)?,
            used_s: number(self.used, 1)?,
        })
    }
}
