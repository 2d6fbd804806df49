//! `told`: the order is somebody else's, who tells each child where it stands.
//!
//! > key = (amount + step * held) / per + (0 if held < quota, else 2^87),  all told ([`Rank`])
//!
//! For rules that break the law of keys (`super`), because they recompute priorities now and then:
//! between two words nothing moves but what a child holds, and that comes with events. Who was told
//! nothing stands at 0. The first term is below 2^86 (amount below 2^64, step below 2^32, held at
//! most 2^53), so whoever has its quota comes last. Cost: O(log n) for each word that changes a
//! rank.

use super::standing::Standing;
use crate::resources::MAX_AMOUNT;
use crate::spec::Rank;

/// What is added to the key of who holds its quota: 2 to this power.
const BEYOND: u32 = 87;

/// Amount and weight of the key.
#[inline]
pub(super) fn ratio(standing: &Standing) -> (u128, u64) {
    let Rank { amount, step, per, quota } = standing.rank().unwrap_or_default();
    let held = standing.held.min(MAX_AMOUNT);
    let stands = u128::from(amount) + u128::from(step) * u128::from(held);
    let beyond = if standing.held < quota { 0 } else { u128::from(per.get()) << BEYOND };
    (stands + beyond, u64::from(per.get()))
}
