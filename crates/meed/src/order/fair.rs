//! `fair`: weighted memoryless max-min fairness (MLRF), as the Hadoop Fair Scheduler orders.
//!
//! > key = g_i / w_i,  g_i what the child holds now
//!
//! Children below their minimum share come first, by g_i / min_i (see `Standing::key`); ties go to
//! the one served longest ago (`super`). Properties (TSC'18 Table 2): sharing incentive and Pareto
//! efficiency; not the fairness of resources as contributed, for what was lent is forgotten at
//! once.

use super::standing::Standing;
use super::terms::Terms;

/// Amount and weight of the key.
#[inline]
pub(super) fn ratio(standing: &Standing, terms: &Terms) -> (u128, u64) {
    (u128::from(standing.held), terms.weight)
}
