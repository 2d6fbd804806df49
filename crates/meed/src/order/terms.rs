//! What of a child its key depends on besides what it holds and has used.

use crate::policy::Measure;

/// What of a child its key depends on besides its standing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// In thousandths.
    pub(crate) weight: u64,
    /// Minimum share as a scalar, or as a dominant share; 0 when there is none.
    pub(crate) min: Minimum,
    /// S as a scalar, for the discount.
    pub(crate) share: u64,
    /// Which of two equal ones comes first: of a queue the number of its last service and its row
    /// (see `order`), of a job its number of arrival and the group's number in it.
    pub(crate) tie: (u64, u32),
}

impl Terms {
    /// What settles ties under this measure. Where the order is told from outside, declaration
    /// alone does.
    #[inline]
    pub(super) fn tie_under(&self, measure: Measure) -> (u64, u32) {
        match measure {
            Measure::Told => (0, self.tie.1),
            _ => self.tie,
        }
    }
}

/// A minimum share: a scalar (`of` is 1), or a dominant share, as
/// [`Share`](super::dominant::Share).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Minimum {
    pub(crate) amount: u64,
    pub(crate) of: u64,
}

impl Minimum {
    pub(crate) const NONE: Minimum = Minimum { amount: 0, of: 1 };
}
