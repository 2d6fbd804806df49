//! What is free on one node from now on: as of now, and by how much that changes later.
//!
//! > free(t) = free(now) + what is expected to end by t - what is held at t
//!
//! A task asks for the earliest instant from which all that it needs is free for as long as it may
//! run. Amounts are signed: where nobody knows when enough will end, more is held than will be
//! free. Changes stand in order of time, as wide as the pool has kinds, each for one task that ends
//! or one hold that begins or ends: so a task that starts or ends puts in or takes out one of them,
//! and what is free is summed up by whoever asks. Those that have come by `now` count as of now.
//!
//! Just before and from the instant on at which the only hold begins (`Mark`) the sums are kept:
//! nowhere is less free than now, or there, for all else only comes free. Invariant: a mark is what
//! the changes sum up to. Cost for n changes: O(log n + those of the same instant), and a move of
//! what comes after, for each; O(1) for a question to the mark, once it is made; O(n) for each
//! other, one pass over memory in order. Twin: `tests::Plain` sums up by the formula, at each
//! instant.

use smallvec::SmallVec;

use super::changes::{Changes, Stamp};
use crate::engine::room::Openings;
use crate::resources::{MAX_KINDS, Resources};
use crate::time::{Span, Time};

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
    now: Time,
    /// What is free but for changes.
    free: Signed,
    /// When and by how much that changes.
    changes: Changes,
    mark: Option<Box<Mark>>,
    /// Whether it is known that nowhere more is held than is free.
    sound: bool,
}

/// What the changes sum up to just before an instant, and from it on.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Mark {
    at: Time,
    before: Signed,
    from: Signed,
}

impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        self.steps() == other.steps()
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
    /// With `free` from `now` on, and tasks that end and give back amounts later, in order of time.
    pub(super) fn new(
        kinds: usize,
        now: Time,
        free: &Signed,
        ends: &[(Time, Resources)],
    ) -> Profile {
        let changes = Changes::of_ends(kinds, ends);
        Profile { now, free: *free, changes, mark: None, sound: false }
    }

    /// Time has passed.
    #[inline]
    pub(super) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// When tasks are expected to end, in order.
    pub(super) fn ends(&self) -> impl Iterator<Item = Time> {
        self.changes.ends()
    }

    fn kinds(&self) -> usize {
        self.changes.kinds()
    }

    /// So much more (`sign` 1) or less (-1) is free as of now, and ever after.
    fn shift(&mut self, demand: &Resources, sign: i128) {
        add(&mut self.free, demand, sign);
    }

    /// The mark is told of so much more or less from `at` on.
    fn shift_mark(&mut self, at: Time, demand: &Resources, sign: i128) {
        let Some(mark) = self.mark.as_mut().filter(|mark| at <= mark.at) else { return };
        add(&mut mark.from, demand, sign);
        if at < mark.at {
            add(&mut mark.before, demand, sign);
        }
    }

    fn insert(&mut self, index: usize, stamp: Stamp, demand: &Resources, sign: i64) {
        self.changes.insert(index, stamp, demand, sign);
        self.shift_mark(stamp.at(), demand, i128::from(sign));
    }

    fn remove(&mut self, index: usize, stamp: Stamp, demand: &Resources, sign: i64) {
        self.changes.remove(index);
        self.shift_mark(stamp.at(), demand, -i128::from(sign));
    }

    /// A task starts now; when it is expected to end, where that is known.
    pub(super) fn start(&mut self, demand: &Resources, end: Option<Time>) {
        self.sound = false;
        self.shift(demand, -1);
        if let Some(at) = end {
            let stamp = Stamp::end(at);
            self.insert(self.changes.place(stamp), stamp, demand, 1);
        }
    }

    /// One ends now that was expected to at `end`.
    pub(super) fn end(&mut self, demand: &Resources, end: Option<Time>) {
        self.shift(demand, 1);
        if let Some(at) = end {
            let stamp = Stamp::end(at);
            let found = self.changes.find(stamp, demand, 1);
            self.remove(found.expect("its end was expected"), stamp, demand, 1);
        }
    }

    /// So much more (`sign` 1) or less (-1) is free from `at` on, for a hold ends or begins: where
    /// the opposite was told that is undone, or else it is one change more; as of now, if it has
    /// come. Nothing begins at the end of time.
    fn change_by_hold(&mut self, at: Time, demand: &Resources, sign: i64) {
        if at == Time::MAX {
            return;
        }
        let stamp = Stamp::hold(at);
        match self.changes.find(stamp, demand, -sign) {
            Ok(index) => self.remove(index, stamp, demand, -sign),
            Err(_) if at <= self.now => self.shift(demand, i128::from(sign)),
            Err(index) => self.insert(index, stamp, demand, sign),
        }
    }

    /// So much is held from `from` to `until`.
    pub(super) fn take(&mut self, demand: &Resources, from: Time, until: Time) {
        self.sound = false;
        self.change_by_hold(from, demand, -1);
        self.change_by_hold(until, demand, 1);
    }

    /// So much is held no more.
    pub(super) fn give_back(&mut self, demand: &Resources, from: Time, until: Time) {
        self.change_by_hold(from, demand, 1);
        self.change_by_hold(until, demand, -1);
    }

    /// Whether it is too long to be checked at every turn.
    pub(super) fn is_long(&self) -> bool {
        self.changes.len() > 32
    }

    /// Steps in order of time: from when on how much is free, as long as `look` wants to go on.
    #[inline]
    fn walk(&self, look: impl FnMut(Time, &[i128]) -> bool) {
        // Of one kind, as on most clusters of processors, sums are no loop in the loop.
        match self.kinds() {
            1 => self.walk_in(1, look),
            kinds => self.walk_in(kinds, look),
        }
    }

    #[inline(always)]
    fn walk_in(&self, kinds: usize, mut look: impl FnMut(Time, &[i128]) -> bool) {
        let (mut at, mut free, mut next) = (self.now, self.free, 0);
        let free = &mut free[..kinds];
        loop {
            self.changes.pass(&mut next, Stamp::end(at), free);
            if !look(at, free) {
                return;
            }
            let Some(then) = self.changes.at(next) else { return };
            at = then;
        }
    }

    /// Each step that is other than the one before it.
    fn steps(&self) -> Vec<(Time, Vec<i128>)> {
        let mut steps: Vec<(Time, Vec<i128>)> = Vec::new();
        self.walk(|at, free| {
            if steps.last().is_none_or(|(_, before)| before != free) {
                steps.push((at, free.to_vec()));
            }
            true
        });
        steps
    }

    /// What is free from now on.
    fn free_now(&self) -> Signed {
        self.free_after(Stamp::end(self.now))
    }

    /// What is free when all has come.
    fn free_ever(&self) -> Signed {
        self.free_after(Stamp::LAST)
    }

    fn free_after(&self, last: Stamp) -> Signed {
        let mut free = self.free;
        self.changes.pass(&mut 0, last, &mut free[..self.kinds()]);
        free
    }

    /// What is free just before `at`, which is later than now.
    fn free_before(&mut self, at: Time) -> Signed {
        let by = self.mark(at).before;
        self.free_by(&by)
    }

    /// What is free from `at` on, which is later than now.
    fn free_from(&mut self, at: Time) -> Signed {
        let by = self.mark(at).from;
        self.free_by(&by)
    }

    /// What is free when that has changed by so much.
    fn free_by(&self, by: &Signed) -> Signed {
        let mut free = self.free;
        let both = free[..self.kinds()].iter_mut().zip(by);
        both.for_each(|(free, by)| *free += by);
        free
    }

    /// The sums at `at`, which is later than now.
    fn mark(&mut self, at: Time) -> &Mark {
        if self.mark.as_ref().is_none_or(|mark| mark.at != at) {
            let anew = self.sum_up_to(at);
            match &mut self.mark {
                Some(mark) => **mark = anew,
                None => self.mark = Some(Box::new(anew)),
            }
        }
        let mark = self.mark.as_deref().expect("it is there now");
        debug_assert!(self.is_long() || *mark == self.sum_up_to(at), "sums are kept");
        mark
    }

    fn sum_up_to(&self, at: Time) -> Mark {
        let mut mark = Mark { at, before: [0; MAX_KINDS], from: [0; MAX_KINDS] };
        let (kinds, mut next) = (self.kinds(), 0);
        self.changes.pass(&mut next, Stamp::before(at), &mut mark.before[..kinds]);
        mark.from = mark.before;
        self.changes.pass(&mut next, Stamp::end(at), &mut mark.from[..kinds]);
        mark
    }

    /// Whether nowhere more is held than is free; `falls`: when what is held begins, in order.
    pub(super) fn is_sound(&mut self, falls: &[Time]) -> bool {
        self.sound = self.sound || self.is_nowhere_below_zero(falls);
        debug_assert!(
            self.is_long() || self.sound == self.has_no_step_below_zero(),
            "it has sunk below nothing where nothing is held"
        );
        self.sound
    }

    fn is_nowhere_below_zero(&mut self, falls: &[Time]) -> bool {
        let kinds = self.kinds();
        let all = |free: &[i128]| free.iter().all(|&free| free >= 0);
        if falls.len() <= 1 {
            return all(&self.free_now()[..kinds])
                && self.later(falls).is_none_or(|at| all(&self.free_from(at)[..kinds]));
        }
        self.has_no_step_below_zero()
    }

    /// When the only hold begins, if that is to come.
    fn later(&self, falls: &[Time]) -> Option<Time> {
        falls.first().copied().filter(|at| *at > self.now)
    }

    /// The same by a look at all steps.
    fn has_no_step_below_zero(&self) -> bool {
        let mut sound = true;
        self.walk(|_, free| {
            sound = free.iter().all(|&free| free >= 0);
            sound
        });
        sound
    }

    /// Whether all that is needed is there from `from` on.
    pub(super) fn fits(&self, need: &Need, from: Time) -> bool {
        let (until, from, mut fits) = (need.until(from), from.max(self.now), false);
        self.walk(|at, free| {
            match at <= from {
                true => fits = need.fits(free),
                false => fits &= at >= until || need.fits(free),
            }
            (at < until || at <= from) && (fits || at < from)
        });
        fits
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
    pub(super) fn is_earlier_alone(&mut self, need: &Need, at: Time) -> bool {
        at > self.now && need.fits(&self.free_before(at))
    }

    /// The earliest instant as far as the steps tell that begin before `end`.
    fn earliest_before(&self, need: &Need, end: Time) -> Option<Time> {
        let (mut since, mut until): (Option<Time>, Time) = (None, Time::MAX);
        self.walk(|at, free| {
            if at >= end || since.is_some() && at >= until {
                return false;
            }
            match need.fits(free) {
                true if since.is_none() => (since, until) = (Some(at), need.until(at)),
                true => {}
                false => since = None,
            }
            true
        });
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
        let (mut from, mut steps): (Vec<Time>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut before: SmallVec<[i128; MAX_KINDS]> = SmallVec::new();
        self.walk(|at, free| {
            if before[..] != *free {
                from.push(at);
                steps.push(of(free));
                before = SmallVec::from_slice(free);
            }
            true
        });
        let mut instants = from.clone();
        if let Some(limit) = need.limit {
            // A step matters to those that begin less than a limit before it.
            let first = from[0].saturating_add(limit);
            let shift = |at: Time| from[0].saturating_add(at - first);
            let later = from.iter().filter(|at| **at >= first).map(|&at| shift(at));
            instants.extend(later.filter_map(|at| at.checked_add(MICRO)));
            instants.sort_unstable();
            instants.dedup();
        }
        let mut copies: Vec<(Time, u32)> = Vec::new();
        for at in instants {
            let first = from.partition_point(|step| *step <= at) - 1;
            let until = need.until(at);
            let last = from.partition_point(|from| *from < until).max(first + 1);
            let least = steps[first..last].iter().copied().min().unwrap_or(0);
            if all || copies.last().is_none_or(|(_, before)| *before != least) {
                copies.push((at, least));
            }
        }
        copies
    }

    /// What is free at every instant from `from` on for as long as is needed.
    pub(super) fn room_from(&self, need: &Need, from: Time) -> Resources {
        let (until, from) = (need.until(from), from.max(self.now));
        let mut least = Resources::zero(self.kinds());
        self.walk(|at, free| {
            match at <= from {
                true => least = room(free),
                false if at < until => least.lower(&room(free)),
                false => {}
            }
            at < until || at <= from
        });
        least
    }

    /// What of the demand is not known to be free ever, kind by kind.
    pub(super) fn missing(&self, demand: &Resources) -> Signed {
        lacks(demand, &self.free_ever()[..self.kinds()])
    }

    /// What of a demand that is taken here from now on is not known to be free ever, kind by kind.
    /// `None`: there may be an instant from which on all of it is.
    pub(super) fn owing(&self, demand: &Resources) -> Option<Signed> {
        let asked = |kind: &usize| demand.get(*kind) > 0;
        let mut owes = true;
        self.walk(|_, free| {
            owes = (0..self.kinds()).filter(asked).any(|kind| free[kind] < 0);
            owes
        });
        let (ever, mut owing) = (owes.then(|| self.free_ever())?, [0; MAX_KINDS]);
        (0..self.kinds()).filter(asked).for_each(|kind| owing[kind] = (-ever[kind]).max(0));
        Some(owing)
    }

    /// The least that is free of each kind before `until`, from now on; below zero where more is
    /// held than is free.
    pub(super) fn least_before(&self, until: Time) -> Signed {
        let mut least: Signed = [i128::MAX; MAX_KINDS];
        self.walk(|at, free| {
            if at < until || at <= self.now {
                let both = least.iter_mut().zip(free);
                both.for_each(|(least, &free)| *least = (*least).min(free));
            }
            at < until
        });
        least[self.kinds()..].fill(0);
        least
    }

    /// What is free at every instant from now on.
    pub(super) fn lasting(&self) -> Resources {
        let mut least: Option<Resources> = None;
        self.walk(|_, free| {
            match &mut least {
                Some(least) => least.lower(&room(free)),
                None => least = Some(room(free)),
            }
            true
        });
        least.expect("there is a step from now on")
    }

    /// Adds to none what may be taken from now on, by how long it is taken at most: amounts that
    /// fall as the instant rises up to which they may be taken; the last for ever.
    ///
    /// Less is free only from an instant on from which something is held: where that is one of
    /// `falls`, which are all, nothing else is looked at.
    pub(super) fn add_openings(&mut self, falls: &[Time], openings: &mut Openings) {
        if falls.len() > 1 {
            return self.add_all_openings(openings);
        }
        let kinds = self.kinds();
        let mut least = room(&self.free_now()[..kinds]);
        if let Some(at) = self.later(falls) {
            fall_to(at, &self.free_from(at)[..kinds], &mut least, openings);
        }
        openings.push((Time::MAX, least));
        debug_assert!(*openings == self.all_openings(), "less is free where nothing is held");
    }

    fn all_openings(&self) -> Openings {
        let mut openings = Openings::new();
        self.add_all_openings(&mut openings);
        openings
    }

    /// The same by a look at all steps.
    fn add_all_openings(&self, openings: &mut Openings) {
        let mut least: Option<Resources> = None;
        self.walk(|at, free| {
            match &mut least {
                Some(least) => fall_to(at, free, least, openings),
                None => least = Some(room(free)),
            }
            !least.is_some_and(|least| least.is_zero())
        });
        openings.push((Time::MAX, least.expect("there is a step from now on")));
    }
}

/// What is free in a step, where that is not less than nothing.
fn room(free: &[i128]) -> Resources {
    let of = |kind: usize| u64::try_from(free[kind].max(0)).unwrap_or(u64::MAX);
    Resources::by_kind(free.len(), of)
}

/// The least that is free falls to what is free from `at` on.
fn fall_to(at: Time, free: &[i128], least: &mut Resources, openings: &mut Openings) {
    let mut both = least.as_slice().iter().zip(free);
    if both.any(|(&least, &free)| free.max(0) < i128::from(least)) {
        openings.push((at, *least));
        *least = least.lowered_to(&room(free));
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

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    const KINDS: usize = 3;

    /// The slow twin: what is free at an instant, by the formula, from all that was told.
    #[derive(Default)]
    struct Plain {
        now: u64,
        free: [i128; KINDS],
        tasks: Vec<(u64, [u64; KINDS])>,
        holds: Vec<(u64, Option<u64>, [u64; KINDS])>,
    }

    impl Plain {
        fn free_at(&self, at: u64) -> [i128; KINDS] {
            let mut free = self.free;
            let ended = self.tasks.iter().filter(|(end, _)| *end <= at).map(|(_, it)| (it, 1));
            let held = |(from, until, _): &&(u64, Option<u64>, [u64; KINDS])| {
                *from <= at && until.is_none_or(|until| at < until)
            };
            let held = self.holds.iter().filter(held).map(|(_, _, it)| (it, -1));
            for (amounts, sign) in ended.chain(held) {
                (0..KINDS).for_each(|kind| free[kind] += sign * i128::from(amounts[kind]));
            }
            free
        }

        /// Now, and where anything may change after that.
        fn instants(&self) -> Vec<u64> {
            let ends = self.tasks.iter().map(|(end, _)| *end);
            let held = self.holds.iter().flat_map(|(from, until, _)| [Some(*from), *until]);
            let later = ends.chain(held.flatten()).filter(|at| *at > self.now);
            let mut all: Vec<u64> = later.chain([self.now]).collect();
            all.sort_unstable();
            all.dedup();
            all
        }

        fn fits(&self, demand: &[u64; KINDS], limit: Option<u64>, from: u64) -> bool {
            let until = |at: u64| limit.is_none_or(|limit| at < from + limit);
            let later = self.instants().into_iter().filter(|&at| at > from && until(at));
            let has = |at: u64| {
                let free = self.free_at(at);
                (0..KINDS).all(|kind| demand[kind] == 0 || i128::from(demand[kind]) <= free[kind])
            };
            [from].into_iter().chain(later).all(has)
        }

        fn earliest(&self, demand: &[u64; KINDS], limit: Option<u64>) -> Option<u64> {
            self.instants().into_iter().find(|&at| self.fits(demand, limit, at))
        }

        fn openings(&self) -> Vec<(Option<u64>, [u64; KINDS])> {
            let room = |at: u64| self.free_at(at).map(|free| free.max(0) as u64);
            let (mut least, mut openings) = (room(self.now), Vec::new());
            for at in self.instants() {
                let here = room(at);
                if (0..KINDS).any(|kind| here[kind] < least[kind]) {
                    openings.push((Some(at), least));
                    (0..KINDS).for_each(|kind| least[kind] = least[kind].min(here[kind]));
                }
            }
            openings.push((None, least));
            openings
        }
    }

    fn time(at: u64) -> Time {
        Time::from_micros(at).unwrap()
    }

    fn need(demand: [u64; KINDS], limit: Option<u64>) -> Need {
        let limit = limit.map(|limit| Span::from_micros(limit).unwrap());
        Need { demand: Resources::new(&demand), limit }
    }

    fn ask_all(profile: &mut Profile, plain: &Plain, demand: [u64; KINDS], limit: Option<u64>) {
        let (need, micros) = (need(demand, limit), |at: Time| at.as_micros());
        assert_eq!(profile.earliest(&need).map(micros), plain.earliest(&demand, limit));
        for at in [plain.now, plain.now + 3, plain.now + 20] {
            assert_eq!(profile.fits(&need, time(at)), plain.fits(&demand, limit, at), "at {at}");
        }
        let ever = plain.free_at(u64::MAX);
        let missing = profile.missing(&need.demand);
        for kind in (0..KINDS).filter(|kind| demand[*kind] > 0) {
            assert_eq!(missing[kind], (i128::from(demand[kind]) - ever[kind]).max(0));
        }
        let falls = falls(plain);
        let openings = plain.openings();
        assert_eq!(profile.lasting().as_slice(), openings.last().unwrap().1);
        let mut told = Openings::new();
        profile.add_openings(&falls, &mut told);
        let told = told.into_iter();
        let told = told.map(|(until, room)| {
            let until = Some(until).filter(|until| *until < Time::MAX).map(micros);
            (until, std::array::from_fn(|kind| room.get(kind)))
        });
        assert_eq!(told.collect::<Vec<_>>(), openings);
        let sound = plain.instants().iter().all(|&at| plain.free_at(at).iter().all(|it| *it >= 0));
        assert_eq!(profile.is_sound(&falls), sound);
        if let ([(at, until, demand)], true) = (&plain.holds[..], sound)
            && *at > plain.now
        {
            let limit = until.map(|until| until - at);
            let alone = Plain { holds: Vec::new(), tasks: plain.tasks.clone(), ..*plain };
            let earlier = alone.earliest(demand, limit).unwrap() < *at;
            let need = self::need(*demand, limit);
            assert_eq!(profile.is_earlier_alone(&need, time(*at)), earlier);
            assert_eq!(profile.earlier_than(&need, time(*at)) < time(*at), earlier);
        }
    }

    fn falls(plain: &Plain) -> Vec<Time> {
        let mut falls: Vec<Time> = plain.holds.iter().map(|(from, ..)| time(*from)).collect();
        falls.sort_unstable();
        falls
    }

    /// Whatever starts, ends, is held and is given back, and however time passes, all questions are
    /// answered as the formula says: also with late tasks, and equal instants and amounts.
    #[test]
    fn tells_what_the_formula_says() {
        for seed in 0..300 {
            let mut draws = Draws(seed);
            let mut draw = |below: u64| draws.below(below);
            let most = 1 + draw(3) as usize;
            let mut plain = Plain { now: 5, free: [9, 14, 11], ..Plain::default() };
            let mut free: Signed = [0; MAX_KINDS];
            free[..KINDS].copy_from_slice(&plain.free);
            let mut profile = Profile::new(KINDS, time(5), &free, &[]);
            for _ in 0..40 {
                let amounts = [draw(4), 1 + draw(3), draw(5)];
                let demand = Resources::new(&amounts);
                let end = plain.now + 1 + draw(12);
                match draw(8) {
                    0 | 1 => {
                        profile.start(&demand, Some(time(end)));
                        plain.tasks.push((end, amounts));
                        (0..KINDS).for_each(|kind| plain.free[kind] -= i128::from(amounts[kind]));
                    }
                    2 | 3 if !plain.tasks.is_empty() => {
                        let which = draw(plain.tasks.len() as u64) as usize;
                        let (end, amounts) = plain.tasks.swap_remove(which);
                        profile.end(&Resources::new(&amounts), Some(time(end)));
                        (0..KINDS).for_each(|kind| plain.free[kind] += i128::from(amounts[kind]));
                    }
                    4 if plain.holds.len() < most => {
                        let from = plain.now + draw(8);
                        let until = (draw(4) > 0).then(|| from + 1 + draw(6));
                        let last = until.map_or(Time::MAX, time);
                        profile.take(&demand, time(from), last);
                        plain.holds.push((from, until, amounts));
                    }
                    5 if !plain.holds.is_empty() => {
                        let which = draw(plain.holds.len() as u64) as usize;
                        let (from, until, amounts) = plain.holds.swap_remove(which);
                        let last = until.map_or(Time::MAX, time);
                        profile.give_back(&Resources::new(&amounts), time(from), last);
                    }
                    6 => {
                        plain.now += draw(4);
                        profile.advance(time(plain.now));
                    }
                    _ => {}
                }
                let limit = (draw(3) > 0).then(|| 1 + draw(9));
                ask_all(&mut profile, &plain, [draw(6), draw(16), draw(12)], limit);
            }
        }
    }
}
