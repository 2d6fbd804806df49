//! `long-term`: long-term resource fairness (LTRF; TSC'18 Algorithm 1 and Eq. 6, ICS'14 Eq. 8 and
//! 11).
//!
//! > key = f_i(t) / w_i,  f_i the charge of the child's ledger at this instant
//!
//! What a tenant leaves unused others take, and are charged for; when it needs more later its key
//! is the smaller and it is served until they are even. Memory, discount, quantum and newcomers are
//! the ledger's (`ledger`).

use super::domain::Domain;
use super::standing::Standing;
use super::terms::Terms;
use crate::time::Time;

/// Amount and weight of the key.
#[inline]
pub(super) fn ratio(
    standing: &mut Standing,
    now: Time,
    domain: &Domain,
    terms: &Terms,
) -> (u128, u64) {
    (standing.charge(now, domain, terms.share), terms.weight)
}
