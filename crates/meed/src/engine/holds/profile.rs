//! What is free on one node from now on: a step for each instant at which that changes.
//!
//! > free(t) = free(now) + what is expected to end by t - what is held at t
//!
//! A task asks for the earliest instant from which all that it needs is free for as long as it may
//! run. Amounts are signed: where nobody knows when enough will end, more is held than will be
//! free. Cost for n steps: O(n) for each question and change.

use crate::resources::{MAX_KINDS, Resources};
use crate::time::{Span, Time};

/// Amounts that may be below zero.
pub(super) type Signed = [i128; MAX_KINDS];

/// From an instant until the next step.
#[derive(Clone, Debug)]
struct Step {
    from: Time,
    free: Signed,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// In order of time, the first from now on; the last lasts for ever.
    steps: Vec<Step>,
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

    fn fits(&self, free: &Signed) -> bool {
        let mut both = self.demand.as_slice().iter().zip(free);
        both.all(|(&amount, &free)| amount == 0 || i128::from(amount) <= free)
    }
}

impl Profile {
    /// With `free` from `now` on, and `ends` that give back amounts later.
    pub(super) fn new(now: Time, free: Signed, ends: &mut [(Time, Resources)]) -> Profile {
        ends.sort_unstable_by_key(|(at, _)| *at);
        let mut steps = vec![Step { from: now, free }];
        for (at, amounts) in ends.iter() {
            let mut last = steps.last().expect("it is never empty").clone();
            last.free.iter_mut().zip(amounts.as_slice()).for_each(|(a, &b)| *a += i128::from(b));
            match steps.last_mut().filter(|step| step.from == *at) {
                Some(step) => step.free = last.free,
                None => steps.push(Step { from: *at, ..last }),
            }
        }
        Profile { steps }
    }

    /// The step that begins at `at`, made where there is none. Nothing begins at the end of time.
    fn split(&mut self, at: Time) -> usize {
        let next = self.steps.partition_point(|step| step.from < at);
        if self.steps.get(next).is_none_or(|step| step.from != at) {
            let free = self.steps[next - 1].free;
            self.steps.insert(next, Step { from: at, free });
        }
        next
    }

    /// So much more (`sign` 1) or less (-1) is free from `from` to `until`.
    fn shift(&mut self, demand: &Resources, sign: i128, from: Time, until: Time) {
        let from = from.max(self.steps[0].from);
        if from >= until {
            return;
        }
        let first = self.split(from);
        let last = match until == Time::MAX {
            true => self.steps.len(),
            false => self.split(until),
        };
        for step in &mut self.steps[first..last] {
            let both = step.free.iter_mut().zip(demand.as_slice());
            both.for_each(|(free, &amount)| *free += sign * i128::from(amount));
        }
    }

    /// So much is held from `from` to `until`.
    pub(super) fn take(&mut self, demand: &Resources, from: Time, until: Time) {
        self.shift(demand, -1, from, until);
    }

    /// So much is held no more.
    pub(super) fn give_back(&mut self, demand: &Resources, from: Time, until: Time) {
        self.shift(demand, 1, from, until);
    }

    /// Whether all that is needed is there from `from` on.
    pub(super) fn fits(&self, need: &Need, from: Time) -> bool {
        let until = need.until(from);
        let first = self.steps.partition_point(|step| step.from <= from).max(1) - 1;
        self.steps[first..]
            .iter()
            .take_while(|step| step.from < until || step.from <= from)
            .all(|step| need.fits(&step.free))
    }

    /// The earliest instant at which that is so. `None`: nobody knows of one.
    pub(super) fn earliest(&self, need: &Need) -> Option<Time> {
        let mut since: Option<Time> = None;
        for step in &self.steps {
            if since.is_some_and(|since| step.from >= need.until(since)) {
                return since;
            }
            match need.fits(&step.free) {
                true => since = since.or(Some(step.from)),
                false => since = None,
            }
        }
        since
    }

    /// What of the demand is not known to be free ever, kind by kind.
    pub(super) fn missing(&self, demand: &Resources) -> Signed {
        let last = &self.steps.last().expect("it is never empty").free;
        let mut missing = [0; MAX_KINDS];
        for ((missing, &amount), &free) in missing.iter_mut().zip(demand.as_slice()).zip(last) {
            if amount > 0 {
                *missing = (i128::from(amount) - free).max(0);
            }
        }
        missing
    }

    /// What may be taken from now on, by how long it is taken at most: amounts that fall as the
    /// instant rises up to which they may be taken; the last for ever.
    pub(super) fn openings(&self, kinds: usize) -> Vec<(Time, Resources)> {
        let room = |free: &Signed| {
            let mut room = Resources::zero(kinds);
            for (room, &free) in room.as_mut_slice().iter_mut().zip(free) {
                *room = u64::try_from(free.max(0)).unwrap_or(u64::MAX);
            }
            room
        };
        let mut openings: Vec<(Time, Resources)> = Vec::new();
        let mut least = room(&self.steps[0].free);
        for step in &self.steps[1..] {
            let mut lower = least;
            lower.lower(&room(&step.free));
            if lower != least {
                openings.push((step.from, least));
                least = lower;
            }
        }
        openings.push((Time::MAX, least));
        openings
    }
}
