//! What is free on one node from now on: a step for each instant at which that changes.
//!
//! > free(t) = free(now) + what is expected to end by t - what is held at t
//!
//! A task asks for the earliest instant from which all that it needs is free for as long as it may
//! run. Amounts are signed: where nobody knows when enough will end, more is held than will be
//! free. Steps are as wide as the pool has kinds, and no two neighbours are equal. Steps that have
//! passed stay where they are in memory, out of sight, and give their place to new ones: of a
//! change only the shorter side moves. Cost for n steps: O(n) for each question and change, one
//! pass over memory in order; O(1) for a step that passes.

use crate::engine::room::Openings;
use crate::resources::{MAX_KINDS, Resources};
use crate::time::{Span, Time};

/// So many steps that have passed are kept, and more where they are fewer than the others.
const MANY_PASSED: usize = 32;

/// Amounts that may be below zero.
pub(super) type Signed = [i128; MAX_KINDS];

/// The next instant is so much later.
const MICRO: Span = match Span::from_micros(1) {
    Some(span) => span,
    None => unreachable!(),
};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    kinds: usize,
    /// So many steps at the front have passed.
    passed: usize,
    /// Where steps begin, in order of time; the last lasts for ever.
    from: Vec<Time>,
    /// What is free from each on, kind by kind.
    free: Vec<i128>,
    /// Whether it is known that nowhere more is held than is free.
    sound: bool,
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        (self.kinds, self.from(), self.free()) == (other.kinds, other.from(), other.free())
    }
}

/// What a task needs: amounts, and for how long; `None`: for ever, as far as anybody knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) demand: Resources,
    pub(super) limit: Option<Span>,
}

impl Need {
    /// Until when it needs what it gets at `from`; the last instant stands for ever.
    pub(super) fn until(&self, from: Time) -> Time {
        self.limit.map_or(Time::MAX, |limit| from.saturating_add(limit))
    }

    /// What so many tasks like this need together.
    pub(super) fn times(&self, tasks: u32) -> Need {
        match tasks {
            1 => *self,
            _ => Need { demand: self.demand.times(tasks), limit: self.limit },
        }
    }

    #[inline]
    pub(super) fn fits(&self, free: &[i128]) -> bool {
        let mut both = self.demand.as_slice().iter().zip(free);
        both.all(|(&amount, &free)| amount == 0 || i128::from(amount) <= free)
    }
}

impl Profile {
    /// With `free` from `now` on, and `ends` that give back amounts later, in order of time.
    pub(super) fn new(
        kinds: usize,
        now: Time,
        free: &Signed,
        ends: &[(Time, Resources)],
    ) -> Profile {
        let (from, free) = (vec![now], free[..kinds].to_vec());
        let mut profile = Profile { kinds, passed: 0, from, free, sound: false };
        for (at, amounts) in ends {
            let last = profile.free.len() - kinds;
            if profile.from.last() != Some(at) {
                profile.from.push(*at);
                profile.free.extend_from_within(last..);
            }
            let last = profile.free.len() - kinds;
            add(&mut profile.free[last..], amounts, 1);
        }
        profile
    }

    /// Where steps begin that have not passed.
    #[inline]
    fn from(&self) -> &[Time] {
        &self.from[self.passed..]
    }

    /// What is free from each of these on.
    #[inline]
    fn free(&self) -> &[i128] {
        &self.free[self.passed * self.kinds..]
    }

    #[inline]
    fn step(&self, index: usize) -> &[i128] {
        &self.free()[index * self.kinds..(index + 1) * self.kinds]
    }

    /// The step that holds at `at`.
    fn step_at(&self, at: Time) -> usize {
        self.from().partition_point(|step| *step <= at).max(1) - 1
    }

    /// Time has passed.
    pub(super) fn advance(&mut self, now: Time) {
        self.passed += self.from()[1..].iter().take_while(|step| **step <= now).count();
        if self.passed > MANY_PASSED && self.passed > self.from.len() / 2 {
            self.from.drain(..self.passed);
            self.free.drain(..self.passed * self.kinds);
            self.passed = 0;
        }
        let first = &mut self.from[self.passed];
        *first = (*first).max(now);
    }

    /// The step that begins at `at`, made where there is none. Nothing begins at the end of time,
    /// nor before the first.
    fn split(&mut self, at: Time) -> usize {
        let next = self.from().partition_point(|from| *from < at);
        if self.from().get(next) != Some(&at) {
            self.insert(next, at);
        }
        next
    }

    /// A step like the one before it; there is one.
    fn insert(&mut self, index: usize, at: Time) {
        let (passed, kinds) = (self.passed, self.kinds);
        let place = passed + index;
        if passed > 0 && index <= self.from().len() / 2 {
            self.from.copy_within(passed..place, passed - 1);
            self.from[place - 1] = at;
            self.free.copy_within(passed * kinds..place * kinds, (passed - 1) * kinds);
            self.passed -= 1;
        } else {
            self.from.insert(place, at);
            let end = self.free.len();
            self.free.resize(end + kinds, 0);
            self.free.copy_within((place - 1) * kinds..end, place * kinds);
        }
    }

    fn remove(&mut self, index: usize) {
        let (passed, kinds) = (self.passed, self.kinds);
        let place = passed + index;
        if index <= self.from().len() / 2 {
            self.from.copy_within(passed..place, passed + 1);
            self.free.copy_within(passed * kinds..place * kinds, (passed + 1) * kinds);
            self.passed += 1;
        } else {
            self.from.remove(place);
            self.free.drain(place * kinds..(place + 1) * kinds);
        }
    }

    /// Two neighbours are one where they are equal.
    #[inline]
    fn merge(&mut self, index: usize) {
        if index == 0 || index >= self.from().len() {
            return;
        }
        let kinds = self.kinds;
        let (before, here) = self.free()[(index - 1) * kinds..][..2 * kinds].split_at(kinds);
        if before.iter().eq(here) {
            self.remove(index);
        }
    }

    /// So much more (`sign` 1) or less (-1) is free from `from` to `until`.
    #[inline]
    fn shift(&mut self, demand: &Resources, sign: i128, from: Time, until: Time) {
        let begin = self.from()[0];
        if from.max(begin) >= until {
            return;
        }
        let first = if from <= begin { 0 } else { self.split(from) };
        let last = match until == Time::MAX {
            true => self.from().len(),
            false => self.split(until),
        };
        let kinds = self.kinds;
        let steps = &mut self.free[(self.passed + first) * kinds..][..(last - first) * kinds];
        let mut sunk = false;
        for (kind, &amount) in demand.as_slice().iter().enumerate().filter(|it| *it.1 > 0) {
            let by = sign * i128::from(amount);
            for free in steps[kind..].iter_mut().step_by(kinds) {
                *free += by;
                sunk |= *free < 0;
            }
        }
        // Where it was not known it is not known now.
        self.sound &= !sunk;
        self.merge(last);
        self.merge(first);
    }

    /// So much is held from `from` to `until`.
    pub(super) fn take(&mut self, demand: &Resources, from: Time, until: Time) {
        self.shift(demand, -1, from, until);
    }

    /// So much is held no more.
    pub(super) fn give_back(&mut self, demand: &Resources, from: Time, until: Time) {
        self.shift(demand, 1, from, until);
    }

    /// Whether it is too long to be checked at every turn.
    pub(super) fn is_long(&self) -> bool {
        self.from().len() > 32
    }

    /// Whether nowhere more is held than is free.
    pub(super) fn is_sound(&mut self) -> bool {
        let all = |profile: &Profile| profile.free().iter().all(|&free| free >= 0);
        debug_assert!(!self.sound || all(self), "it has sunk below nothing");
        self.sound = self.sound || all(self);
        self.sound
    }

    /// Whether all that is needed is there from `from` on.
    pub(super) fn fits(&self, need: &Need, from: Time) -> bool {
        let until = need.until(from);
        let first = self.step_at(from);
        (first..self.from().len())
            .take_while(|&at| self.from()[at] < until || self.from()[at] <= from)
            .all(|at| need.fits(self.step(at)))
    }

    /// The earliest instant at which that is so. `None`: nobody knows of one.
    pub(super) fn earliest(&self, need: &Need) -> Option<Time> {
        self.earliest_before(need, Time::MAX)
    }

    /// The same for a reservation at `at`, for which room is taken here, were that given back:
    /// before `at`, or that. Only in a sound profile.
    pub(super) fn earlier_than(&self, need: &Need, at: Time) -> Time {
        // From `at` on its own room is there, for longer than one that begins before needs it.
        self.earliest_before(need, at).unwrap_or(at)
    }

    /// Whether a reservation at `at` starts earlier, where nothing but that is held here: then room
    /// only comes up to `at`, and what is too little just before that was so all the time.
    pub(super) fn is_earlier_alone(&self, need: &Need, at: Time) -> bool {
        let before = self.from().partition_point(|from| *from < at);
        before > 0 && need.fits(self.step(before - 1))
    }

    /// The earliest instant as far as the steps tell that begin before `end`.
    fn earliest_before(&self, need: &Need, end: Time) -> Option<Time> {
        let mut since: Option<Time> = None;
        for (&from, free) in self.from().iter().zip(self.free().chunks_exact(self.kinds)) {
            if from >= end || since.is_some_and(|since| from >= need.until(since)) {
                return since;
            }
            match need.fits(free) {
                true => since = since.or(Some(from)),
                false => since = None,
            }
        }
        since
    }

    /// How many tasks, `most` at most, have all they need from each instant on: where that changes,
    /// or with `all` where anything does, in order of time.
    pub(super) fn copies(&self, need: &Need, most: u32, all: bool) -> Vec<(Time, u32)> {
        let of = |step: &[i128]| {
            let both = need.demand.as_slice().iter().zip(step).filter(|(amount, _)| **amount > 0);
            let fit = both.map(|(&amount, &free)| free.max(0) / i128::from(amount)).min();
            fit.unwrap_or(0).min(i128::from(most)) as u32
        };
        let steps: Vec<u32> = self.free().chunks_exact(self.kinds).map(of).collect();
        let mut instants = self.from().to_vec();
        if let Some(limit) = need.limit {
            // A step matters to those that begin less than a limit before it.
            let first = self.from()[0].saturating_add(limit);
            let shift = |at: Time| self.from()[0].saturating_add(at - first);
            let later = self.from().iter().filter(|at| **at >= first).map(|&at| shift(at));
            instants.extend(later.filter_map(|at| at.checked_add(MICRO)));
            instants.sort_unstable();
            instants.dedup();
        }
        let mut copies: Vec<(Time, u32)> = Vec::new();
        for at in instants {
            let (first, until) = (self.step_at(at), need.until(at));
            let last = self.from().partition_point(|from| *from < until).max(first + 1);
            let least = steps[first..last].iter().copied().min().unwrap_or(0);
            if all || copies.last().is_none_or(|(_, before)| *before != least) {
                copies.push((at, least));
            }
        }
        copies
    }

    /// What is free at every instant from `from` on for as long as is needed.
    pub(super) fn room_from(&self, need: &Need, from: Time) -> Resources {
        let (first, until) = (self.step_at(from), need.until(from));
        let mut least = self.room(first);
        let steps = (first + 1..self.from().len()).take_while(|&at| self.from()[at] < until);
        steps.for_each(|at| least.lower(&self.room(at)));
        least
    }

    /// What of the demand is not known to be free ever, kind by kind.
    pub(super) fn missing(&self, demand: &Resources) -> Signed {
        lacks(demand, self.step(self.from().len() - 1))
    }

    /// What of a demand that is taken here from now on is not known to be free ever, kind by kind.
    /// `None`: there may be an instant from which on all of it is.
    pub(super) fn owing(&self, demand: &Resources) -> Option<Signed> {
        let asked = |kind: &usize| demand.get(*kind) > 0;
        let owes = |step: &[i128]| (0..self.kinds).filter(asked).any(|kind| step[kind] < 0);
        if !self.free().chunks_exact(self.kinds).all(owes) {
            return None;
        }
        let last = self.step(self.from().len() - 1);
        let mut owing = [0; MAX_KINDS];
        (0..self.kinds).filter(asked).for_each(|kind| owing[kind] = (-last[kind]).max(0));
        Some(owing)
    }

    /// What is free at every instant from now on.
    pub(super) fn lasting(&self) -> Resources {
        let mut least = self.room(0);
        (1..self.from().len()).for_each(|at| least.lower(&self.room(at)));
        least
    }

    /// What is free in a step, where that is not less than nothing.
    fn room(&self, index: usize) -> Resources {
        let mut room = Resources::zero(self.kinds);
        for (room, &free) in room.as_mut_slice().iter_mut().zip(self.step(index)) {
            *room = u64::try_from(free.max(0)).unwrap_or(u64::MAX);
        }
        room
    }

    /// What may be taken from now on, by how long it is taken at most: amounts that fall as the
    /// instant rises up to which they may be taken; the last for ever.
    ///
    /// Less is free only from an instant on from which something is held: where these are few and
    /// known, `falls` in order, nothing else is looked at.
    pub(super) fn openings(&self, falls: Option<&[Time]>) -> Openings {
        let Some(falls) = falls else { return self.all_openings() };
        let mut openings = Openings::new();
        let mut least = self.room(0);
        let steps = falls.iter().map(|&at| self.step_at(at));
        for at in steps.filter(|&at| at > 0) {
            self.fall_to(at, &mut least, &mut openings);
        }
        openings.push((Time::MAX, least));
        debug_assert!(openings == self.all_openings(), "less is free where nothing is held");
        openings
    }

    /// The same by a look at all steps.
    fn all_openings(&self) -> Openings {
        let mut openings = Openings::new();
        let mut least = self.room(0);
        for at in 1..self.from().len() {
            if least.is_zero() {
                break;
            }
            self.fall_to(at, &mut least, &mut openings);
        }
        openings.push((Time::MAX, least));
        openings
    }

    /// The least that is free falls to what is free in a step.
    fn fall_to(&self, at: usize, least: &mut Resources, openings: &mut Openings) {
        let mut both = least.as_slice().iter().zip(self.step(at));
        if both.any(|(&least, &free)| free.max(0) < i128::from(least)) {
            openings.push((self.from()[at], *least));
            least.lower(&self.room(at));
        }
    }
}

/// What of the demand `free` lacks, kind by kind.
pub(super) fn lacks(demand: &Resources, free: &[i128]) -> Signed {
    let mut missing = [0; MAX_KINDS];
    for ((missing, &amount), &free) in missing.iter_mut().zip(demand.as_slice()).zip(free) {
        if amount > 0 {
            *missing = (i128::from(amount) - free).max(0);
        }
    }
    missing
}

#[inline]
pub(super) fn add(step: &mut [i128], amounts: &Resources, sign: i128) {
    let both = step.iter_mut().zip(amounts.as_slice());
    both.for_each(|(free, &amount)| *free += sign * i128::from(amount));
}
