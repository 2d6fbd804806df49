//! How long a cluster that begins empty takes to fill: what of a log is left out of figures.
//!
//! A run begins with nothing on the nodes. With jobs that come steadily the part of the steady use
//! that is there after a time t is
//!
//! > A(t) = sum over jobs of held x min(length, t) / sum of held x length
//!
//! and the least t with A(t) >= 95 % is the warm-up. At the other end as much is left out: who
//! comes later than t before the last submission meets less and less of those who would come
//! behind. Both are at most a tenth of the log, in whole minutes. Of fewer than [`FEW`] jobs
//! nothing is left out: what is left would say less than what is mended.
//!
//! Cost: the lengths of all jobs, sorted.

use meed::{MICROS_PER_S, Span};

use crate::outliers::Outliers;
use crate::size::Footprints;

/// Of fewer jobs nothing is left out.
pub const FEW: usize = 500;
/// So much of the steady use is there, in percent.
const FULL: u128 = 95;
/// At most such a part of the log is left out at each end.
const PART: u64 = 10;

const MINUTE: u64 = 60 * MICROS_PER_S;

/// What is left out at each end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filling {
    /// How long.
    pub time: Span,
    /// It is a tenth of the log, and the cluster takes longer to fill.
    pub is_capped: bool,
}

/// How long a cluster takes to fill with these jobs, but for outliers; by this resource. Nothing
/// where there are too few of them.
pub fn filling(ran: &Footprints, outliers: &Outliers, kind: usize) -> Option<Filling> {
    let left_out = ran.without(outliers);
    let jobs = || ran.kept(&left_out);
    if jobs().count() < FEW {
        return None;
    }
    let (first, last) = (jobs().next()?, jobs().next_back()?);
    let most = (ran.submit(last) - ran.submit(first)) / PART;
    let mut lengths: Vec<(u64, u64)> =
        jobs().map(|job| (ran.length(job), ran.held(job, kind))).collect();
    lengths.sort_unstable();
    let time = full_after(&lengths)?.div_ceil(MINUTE) * MINUTE;
    let is_capped = time > most;
    let time = Span::from_micros(if is_capped { most / MINUTE * MINUTE } else { time })?;
    (time > Span::ZERO).then_some(Filling { time, is_capped })
}

/// The least time by which so much is there, of rising lengths with what is held for them.
fn full_after(lengths: &[(u64, u64)]) -> Option<u64> {
    let area = |(length, held): &(u64, u64)| u128::from(*length) * u128::from(*held);
    let all = lengths.iter().map(area).fold(0u128, u128::saturating_add);
    let wanted = all.saturating_mul(FULL).div_ceil(100);
    let mut beyond: u128 = lengths.iter().map(|(_, held)| u128::from(*held)).sum();
    let mut below = 0u128;
    for one in lengths {
        // Up to the length of this one: below + t x beyond.
        if beyond > 0 && below + u128::from(one.0) * beyond >= wanted {
            return u64::try_from(wanted.saturating_sub(below).div_ceil(beyond)).ok();
        }
        below = below.saturating_add(area(one));
        beyond -= u128::from(one.1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying each time.
    fn tried(lengths: &[(u64, u64)]) -> Option<u64> {
        let all: u64 = lengths.iter().map(|(length, held)| length * held).sum();
        let there = |t: u64| -> u64 { lengths.iter().map(|(l, held)| (*l).min(t) * held).sum() };
        (0..=lengths.iter().map(|one| one.0).max()?).find(|t| there(*t) * 100 >= all * 95)
    }

    #[test]
    fn it_is_the_first_time_at_which_so_much_is_there() {
        for lengths in [
            vec![(10, 1)],
            vec![(0, 5), (10, 1), (10, 3)],
            vec![(1, 100), (50, 1), (1000, 1)],
            vec![(1, 1), (2, 1), (3, 1), (4, 1), (100, 7)],
        ] {
            assert_eq!(full_after(&lengths), tried(&lengths), "{lengths:?}");
        }
        assert_eq!(full_after(&[(0, 5)]), Some(0));
        assert_eq!(full_after(&[]), None);
    }
}
