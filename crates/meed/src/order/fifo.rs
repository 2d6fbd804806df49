//! `fifo`: first come, first served. A child's key is the arrival number of its oldest waiting job.
//!
//! Properties: no job is overtaken by a later one of equal or larger tasks; nothing is fair about
//! it. Cost: a queue below a fifo parent keeps the arrival numbers of its waiting jobs in an
//! ordered set, O(log n) each.

use super::standing::Standing;

/// Amount and weight of the key.
pub(super) fn ratio(standing: &Standing) -> (u128, u64) {
    (standing.first_arrival().map_or(u128::MAX >> 1, u128::from), 1)
}
