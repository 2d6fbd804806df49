//! `sdrf`: Stateful DRF (Sadok, Campista, Costa, IEEE Trans. Computers 70(7), 2021).
//!
//! > o_r = max(0, held_r - S_r),  dc_r/dt = (o_r - c_r) / tau
//! > key = (max over r of held_r / C_r + max over r of c_r / C_r) / w
//!
//! The commitment c remembers use above the share S alone, and fades; what is held counts at once.
//! Between events c moves towards o, up or down, at a pace of its own for each child. But all
//! commitments fade at one rate: times E(t) = 2^((t - L) / H), H = tau ln 2 and L a landmark
//! (`ledger::clock`), nothing of what was is ever changed:
//!
//! > tau E(t) c_r(t) = integral of o_r(s) E(s) ds,  a ledger of use above the share
//! > tau E(t) = tau + M(t),  M memory time
//!
//! So a key times tau E(t), which all children share, is a line in memory time between two events,
//! and never falls: the order is exact at every instant, and the heaps of all other measures serve.
//! Only the top is read anew. Unit: parts of the pool x microsecond of memory time / 1000.
//!
//! Jobs of a leaf have no share: they commit nothing, and stand by what they hold.
//!
//! Rounded are memory time, to a microsecond, and shares where capacities have no common multiple,
//! down to parts of 2^-53 of the pool. Cost: O(kinds) for each reading.

use super::domain::Domain;
use super::standing::Standing;
use crate::ledger::CHARGE_ONE;
use crate::time::Time;

/// What is held and committed, times tau E(t).
pub(super) fn parts(standing: &mut Standing, now: Time, domain: &Domain) -> u128 {
    let held = domain.pool.in_parts(standing.held_share(&domain.pool));
    let counts = CHARGE_ONE * u128::from(domain.rule.clock.past(now));
    let committed = standing.charge(now, domain, u64::MAX);
    held.saturating_mul(counts).saturating_add(committed)
}
