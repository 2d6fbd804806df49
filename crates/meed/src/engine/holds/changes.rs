//! By how much what is free on a node changes from an instant on, in order of time: the list that a
//! profile sums up.
//!
//! Each task that ends is a change, and each hold that begins or ends. Amounts are signed, and as
//! wide as the pool has kinds: that of the first kind stands in the list, those of the others,
//! where there are any, in a list beside it. So with one kind, as on most clusters of processors, a
//! change is 16 bytes, and what comes after it is moved by one call.
//!
//! Invariant: stamps do not fall. Cost for n changes: O(log n + those of the same stamp), and a
//! move of what comes after, for one that comes or goes.

use crate::resources::Resources;
use crate::time::Time;

/// When something changes, and what: an instant, then whether a task ends, or else a hold begins or
/// ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Stamp(u64);

impl Stamp {
    /// After all others.
    pub(super) const LAST: Stamp = Stamp(u64::MAX);

    /// A task ends: the last of an instant, which is far below the bound of the number
    /// (`time::MAX_MICROS`).
    pub(super) fn end(at: Time) -> Stamp {
        Stamp(at.as_micros() << 1 | 1)
    }

    /// A hold begins or ends.
    pub(super) fn hold(at: Time) -> Stamp {
        Stamp(at.as_micros() << 1)
    }

    /// The last before an instant that is not the first of all.
    pub(super) fn before(at: Time) -> Stamp {
        Stamp(Stamp::hold(at).0 - 1)
    }

    pub(super) fn at(self) -> Time {
        Time::from_micros(self.0 >> 1).unwrap_or(Time::MAX)
    }

    fn is_end(self) -> bool {
        self.0 & 1 == 1
    }
}

#[derive(Clone, Copy, Debug)]
struct Change {
    stamp: Stamp,
    /// By how much of the first kind.
    first: i64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    kinds: usize,
    list: Vec<Change>,
    /// By how much of each other kind, change by change.
    others: Vec<i64>,
}

impl Changes {
    /// Tasks end, and give back amounts, in order of time.
    pub(super) fn of_ends(kinds: usize, ends: &[(Time, Resources)]) -> Changes {
        let mut changes = Changes { kinds, list: Vec::new(), others: Vec::new() };
        changes.list.reserve(ends.len());
        for (index, (at, amounts)) in ends.iter().enumerate() {
            changes.insert(index, Stamp::end(*at), amounts, 1);
        }
        changes
    }

    pub(super) fn kinds(&self) -> usize {
        self.kinds
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The instant of a change, if there is one more.
    #[inline]
    pub(super) fn at(&self, index: usize) -> Option<Time> {
        self.list.get(index).map(|change| change.stamp.at())
    }

    /// When tasks are expected to end, in order.
    pub(super) fn ends(&self) -> impl Iterator<Item = Time> {
        self.list.iter().filter(|change| change.stamp.is_end()).map(|change| change.stamp.at())
    }

    /// Adds up, from `next` on, what changes up to a stamp and by it, and moves `next` past that;
    /// `free` has as many kinds.
    #[inline(always)]
    pub(super) fn pass(&self, next: &mut usize, last: Stamp, free: &mut [i128]) {
        let more = free.len() - 1;
        while let Some(change) = self.list.get(*next).filter(|change| change.stamp <= last) {
            free[0] += i128::from(change.first);
            for (kind, free) in free[1..].iter_mut().enumerate() {
                *free += i128::from(self.others[*next * more + kind]);
            }
            *next += 1;
        }
    }

    /// Where the first stands that is not before `stamp`.
    #[inline]
    pub(super) fn place(&self, stamp: Stamp) -> usize {
        self.list.partition_point(|change| change.stamp < stamp)
    }

    /// Where such a change stands, or else where it would.
    pub(super) fn find(&self, stamp: Stamp, demand: &Resources, sign: i64) -> Result<usize, usize> {
        let (place, amounts) = (self.place(stamp), demand.as_slice());
        let is_same = |index: usize, change: &Change| {
            let others = self.others_at(index).iter().zip(&amounts[1..]);
            let same = |(by, amount): (&i64, &u64)| *by == sign * small(*amount);
            change.first == sign * small(amounts[0]) && others.into_iter().all(same)
        };
        let alike = self.list[place..].iter().take_while(|change| change.stamp == stamp);
        let mut alike = (place..).zip(alike);
        alike.find(|(index, change)| is_same(*index, change)).map(|(index, _)| index).ok_or(place)
    }

    fn others_at(&self, index: usize) -> &[i64] {
        let more = self.kinds - 1;
        &self.others[index * more..(index + 1) * more]
    }

    pub(super) fn insert(&mut self, index: usize, stamp: Stamp, demand: &Resources, sign: i64) {
        let amounts = demand.as_slice();
        self.list.insert(index, Change { stamp, first: sign * small(amounts[0]) });
        let more = self.kinds - 1;
        if more > 0 {
            let (place, end) = (index * more, self.others.len());
            self.others.resize(end + more, 0);
            self.others.copy_within(place..end, place + more);
            let others = self.others[place..].iter_mut().zip(&amounts[1..]);
            others.for_each(|(by, &amount)| *by = sign * small(amount));
        }
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.list.remove(index);
        let more = self.kinds - 1;
        if more > 0 {
            let (place, end) = (index * more, self.others.len());
            self.others.copy_within(place + more.., place);
            self.others.truncate(end - more);
        }
    }
}

/// An amount with a sign; of all tasks of a gang together it is never more (`Resources::times`).
#[inline]
fn small(amount: u64) -> i64 {
    debug_assert!(i64::try_from(amount).is_ok(), "amounts have a bound");
    amount as i64
}
