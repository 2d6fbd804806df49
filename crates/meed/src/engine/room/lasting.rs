//! Amounts with how long they are there, or asked for, as one kind more, the last (see `asks`).

use smallvec::SmallVec;

use crate::resources::{MAX_KINDS, Resources};
use crate::time::Span;

/// What a node has, by how long it is taken.
pub(in crate::engine) type Offers = SmallVec<[Resources; 1]>;

/// Of whoever may run as long as he likes. More than that is nobody's.
pub(super) const FOREVER: u64 = u64::MAX - 1;

/// Amounts, and for how long.
pub(super) fn lasting(amounts: &Resources, micros: u64) -> Resources {
    let kinds = amounts.kinds();
    if kinds == MAX_KINDS {
        return *amounts;
    }
    amounts.with_one_more(micros)
}

/// What tasks of this demand ask for.
pub(super) fn asked(demand: &Resources, limit: Option<Span>, tells_limits: bool) -> Resources {
    match tells_limits {
        true => lasting(demand, limit.map_or(FOREVER, |limit| limit.as_micros().min(FOREVER))),
        false => *demand,
    }
}
