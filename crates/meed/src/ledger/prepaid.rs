//! Assumed ends of running tasks that have not outrun their quantum yet, in order of time, with the
//! rate that ends there. Tasks that share an assumed end share an entry.
//!
//! Cost: pushing at the back, as with a fixed quantum, and taking from the front are O(1);
//! otherwise a binary search, and a move of those behind; many at once are pushed in one pass.
//! Entries whose tasks have all ended are dropped when they are half of all, so memory follows what
//! runs.

use std::collections::VecDeque;

use crate::memory::expect;
use crate::time::Time;

/// So few are put in one by one.
const FEW: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct Prepaid {
    ends: VecDeque<(Time, u64)>,
    empty: usize,
}

impl Prepaid {
    /// Has its first entry and its last brought.
    #[inline]
    pub(crate) fn expect(&self) {
        self.ends.front().into_iter().chain(self.ends.back()).for_each(expect);
    }

    /// The first assumed end; all tasks of it may have ended.
    pub(crate) fn first(&self) -> Option<Time> {
        self.ends.front().map(|&(end, _)| end)
    }

    pub(crate) fn push(&mut self, end: Time, rate: u64) {
        match self.ends.back_mut() {
            Some((last, held)) if *last == end => {
                self.empty -= usize::from(*held == 0);
                *held += rate;
                self.empty += usize::from(*held == 0);
            }
            Some((last, _)) if *last > end => self.insert(end, rate),
            _ => {
                self.ends.push_back((end, rate));
                self.empty += usize::from(rate == 0);
            }
        }
    }

    /// The same of many, in any order: in one pass, for a place in the middle costs as much.
    pub(crate) fn push_all(&mut self, new: Vec<(Time, u64)>) {
        if new.len() < FEW {
            return new.into_iter().for_each(|(end, rate)| self.push(end, rate));
        }
        self.ends.extend(new);
        self.put_in_order();
    }

    fn insert(&mut self, end: Time, rate: u64) {
        match self.ends.binary_search_by_key(&end, |&(at, _)| at) {
            Ok(found) => {
                self.empty -= usize::from(self.ends[found].1 == 0);
                self.ends[found].1 += rate;
                self.empty += usize::from(self.ends[found].1 == 0);
            }
            Err(place) => {
                self.ends.insert(place, (end, rate));
                self.empty += usize::from(rate == 0);
            }
        }
    }

    /// Takes `rate` away from the tasks that are assumed to end at `end`.
    pub(crate) fn take(&mut self, end: Time, rate: u64) {
        if rate == 0 {
            return;
        }
        let found = self
            .ends
            .binary_search_by_key(&end, |&(at, _)| at)
            .expect("the task's quantum was charged");
        let held = &mut self.ends[found].1;
        *held = held.checked_sub(rate).expect("no more ends than was charged");
        self.empty += usize::from(*held == 0);
        if self.empty > 8 && self.empty * 2 > self.ends.len() {
            self.ends.retain(|&(_, rate)| rate > 0);
            self.empty = 0;
        }
    }

    /// The first assumed end that is not after `now`, taken out.
    #[inline]
    pub(crate) fn pop_until(&mut self, now: Time) -> Option<(Time, u64)> {
        let &(end, rate) = self.ends.front()?;
        if end > now {
            return None;
        }
        self.ends.pop_front();
        self.empty -= usize::from(rate == 0);
        Some((end, rate))
    }

    /// Takes in an assumed end in any order; [`Prepaid::put_in_order`] comes before all else.
    pub(crate) fn add_unsorted(&mut self, end: Time, rate: u64) {
        self.ends.push_back((end, rate));
    }

    /// Puts what came in any order in order, equal ends into one entry.
    pub(crate) fn put_in_order(&mut self) {
        let ends = self.ends.make_contiguous();
        // It merges what is in order already.
        ends.sort_by_key(|&(end, _)| end);
        let mut merged: VecDeque<(Time, u64)> = VecDeque::with_capacity(ends.len());
        for &mut (end, rate) in ends {
            match merged.back_mut() {
                Some((last, held)) if *last == end => *held += rate,
                _ => merged.push_back((end, rate)),
            }
        }
        self.empty = merged.iter().filter(|(_, rate)| *rate == 0).count();
        self.ends = merged;
    }

    /// All assumed ends, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, u64)> + '_ {
        self.ends.iter().copied()
    }

    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.empty = 0;
    }
}
