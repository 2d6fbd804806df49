//! Profiles that stay from one decision to the next: of nodes with holds, changed by what happens.
//!
//! > kept(node) = what is free there from now on, all its holds taken
//!
//! Invariant: with what has passed cut off, it is what would be made anew from the tasks that run
//! and the holds in the list, unless a task is beyond its limit or a hold beyond its instant: then
//! it is made anew. Where anything else happens (`Engine::upset_node`) it is forgotten. Nothing of
//! it is in the state. Cost of a start, an end or a hold: one change of the profile.

use super::hold::Part;
use super::profile::{Need, Profile, Signed};
use crate::engine::room::openings::Openings;
use crate::resources::Resources;
use crate::time::{Span, Time};

/// When a task that began at `started` is expected to end: at its limit, and where it runs beyond
/// that, at twice, four times as much and so on. `None`: nobody knows.
pub(in crate::engine) fn expected_end(
    started: Time,
    limit: Option<Span>,
    now: Time,
) -> Option<Time> {
    let mut limit = limit?.as_micros().max(1);
    loop {
        let end = Span::from_micros(limit).map_or(Time::MAX, |span| started.saturating_add(span));
        if end > now || end == Time::MAX {
            return Some(end).filter(|&end| end < Time::MAX);
        }
        limit = limit.saturating_mul(2);
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) profile: Profile,
    /// When holds begin of which that is known, in order.
    falls: Vec<Time>,
    /// When it was made anew: ends are expected as of that instant.
    since: Time,
    /// So many holds are taken besides, of which nobody knows when they begin.
    drains: u32,
    /// Whether every hold that is taken was found to fit, in order, and room has only come since.
    /// Holds that are known to start never take from each other.
    fits: bool,
    /// Whether every hold was found to be allowed on the node, and no task that wants a node of its
    /// own has started there since.
    possible: bool,
    /// Whether room may have come since the holds here were last found to start no earlier.
    gained: bool,
}

impl Kept {
    pub(super) fn new(now: Time, profile: Profile) -> Kept {
        let falls = Vec::new();
        let (fits, possible, gained) = (false, false, true);
        Kept { profile, falls, since: now, drains: 0, fits, possible, gained }
    }

    /// The first expected end of what runs there.
    #[inline]
    pub(super) fn first_end(&self) -> Time {
        self.profile.ends().next().unwrap_or(Time::MAX)
    }

    /// So many holds are taken.
    fn holds(&self) -> usize {
        self.falls.len() + self.drains as usize
    }

    pub(super) fn has_holds(&self) -> bool {
        self.holds() > 0
    }

    /// Whether it is the same as one that was made anew.
    pub(super) fn is_like(&self, anew: &Kept) -> bool {
        self.profile == anew.profile
            && self.profile.ends().eq(anew.profile.ends())
            && (&self.falls, self.drains) == (&anew.falls, anew.drains)
    }

    /// Whether each hold was looked at, and room has only come since.
    pub(super) fn all_fit(&self) -> bool {
        self.fits
    }

    /// Whether each hold was looked at, and may be on the node, whatever room there is.
    pub(super) fn all_possible(&self) -> bool {
        self.possible
    }

    /// Whether there is room for each hold, by all that is held, without a look at each.
    pub(super) fn has_room_for_all(&mut self) -> bool {
        self.drains == 0 && self.profile.is_sound(&self.falls)
    }

    /// Whether each hold has its room without a look at what the others have.
    pub(super) fn surely_fit(&mut self) -> bool {
        self.falls.is_empty() || self.has_room_for_all()
    }

    /// Whether a hold that is known to start at `at` surely starts no earlier, were it alone to
    /// move.
    pub(super) fn is_earliest(&mut self, need: &Need, at: Time) -> bool {
        self.drains == 0 && (!self.gained || !self.is_earlier(need, at))
    }

    /// Whether one that is known to start at `at`, like all here, starts earlier now.
    fn is_earlier(&mut self, need: &Need, at: Time) -> bool {
        let by_all = |profile: &Profile| profile.earlier_than(need, at) < at;
        if self.holds() > 1 {
            return by_all(&self.profile);
        }
        let earlier = self.profile.is_earlier_alone(need, at);
        debug_assert!(earlier == by_all(&self.profile), "one step tells other than all do");
        earlier
    }

    /// Adds what may be taken there from now on.
    pub(super) fn add_openings(&mut self, openings: &mut Openings) {
        self.profile.add_openings(&self.falls, openings);
    }

    /// What the only hold here misses, of which nobody knows when it starts. `None`: it may be
    /// known now, or it is not the only one.
    pub(super) fn still_missing(&self, demand: &Resources) -> Option<Signed> {
        let alone = (self.falls.len(), self.drains) == (0, 1);
        if alone { self.profile.owing(demand) } else { None }
    }

    /// No hold here starts earlier, as things are.
    pub(super) fn set_still(&mut self) {
        self.gained = false;
    }

    /// Each hold was looked at.
    pub(super) fn set_fit(&mut self) {
        (self.fits, self.possible) = (true, true);
    }

    /// Whether no more is held at any time than is free, so that each hold has its own room.
    pub(super) fn each_has_its_own(&self) -> bool {
        self.fits && self.drains == 0
    }

    pub(super) fn take(&mut self, part: &Part) {
        self.fits &= part.at.is_some();
        self.possible &= part.at.is_some();
        self.put_back(part);
    }

    /// Takes one again that was given back, where it was.
    pub(super) fn put_back(&mut self, part: &Part) {
        let (from, until) = part.span();
        self.profile.take(&part.need.demand, from, until);
        match part.at {
            Some(at) => self.falls.insert(self.falls.partition_point(|other| *other < at), at),
            None => self.drains += 1,
        }
    }

    pub(super) fn give_back(&mut self, part: &Part) {
        let (from, until) = part.span();
        self.profile.give_back(&part.need.demand, from, until);
        match part.at {
            Some(at) => {
                let found = self.falls.binary_search(&at);
                self.falls.remove(found.expect("it is held from then on"));
            }
            None => self.drains -= 1,
        }
        self.gained = true;
    }

    /// A task starts there now; `own_node`: whether it wants a node without others of its job.
    pub(super) fn starts(&mut self, now: Time, need: &Need, own_node: bool) {
        self.profile.advance(now);
        self.profile.start(&need.demand, expected_end(now, need.limit, self.since));
        self.fits = false;
        // A hold may be of the same job.
        self.possible &= !own_node;
    }

    /// A task that began at `started` has ended there.
    pub(super) fn ends(&mut self, now: Time, started: Time, need: &Need) {
        self.profile.advance(now);
        self.profile.end(&need.demand, expected_end(started, need.limit, self.since));
        self.gained = true;
    }
}
