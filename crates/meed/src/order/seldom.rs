//! What few members of an order have: a word in each row, and the rest behind it.

use std::collections::BTreeSet;

use super::task_share::Tasks;
use crate::spec::Rank;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Seldom {
    /// Arrival numbers of its waiting jobs; kept for `Measure::Arrival` only.
    pub(super) arrivals: BTreeSet<u64>,
    /// What was told of it, for `Measure::Told`.
    pub(super) rank: Option<Rank>,
    /// What it runs, for `Measure::TaskShare`.
    pub(super) tasks: Option<Tasks>,
}
