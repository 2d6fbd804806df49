//! What several items ask for and is made once: runs, and what is read off them.

use super::study::Studied;
use super::threshold::Tenths;
use super::worlds::Runs;

/// See the module; what is kept, and by what, stands beside what makes it.
#[derive(Clone, Default)]
pub(in crate::reproduce) struct Shared {
    /// Runs of worlds that are kept.
    pub(super) runs: Runs,
    /// What was read off the runs of a variant.
    pub(super) studied: Studied,
    /// Of those of Fig. 10.
    pub(super) tenths: Tenths,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}
