//! `--baseline ORDER`: what all others are compared with, in each command that compares.

use clap::Args;

#[derive(Args)]
pub(crate) struct BaselineArgs {
    /// What all are compared with: a policy, or a rival of `meed rivals`, as in
    /// fair-tree,half_life=14d. Beside it stands the comparison with fair.
    #[arg(long, value_name = "ORDER")]
    pub(crate) baseline: Option<String>,
}
