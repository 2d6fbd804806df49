//! The meter as plain data, and back: offsets are kept, slopes follow from what runs and waits.

use super::lending::{LeafLending, Lending};
use super::line::Line;
use super::rest::Rest;
use super::{Entitled, LeafMeter, Meter, dominant, lending};
use crate::resources::Resources;
use crate::state::{MAX_INTEGRAL, MeterState, Place, StateError, ensure};
use crate::time::Time;

/// What a leaf holds, holds and waits for, and is entitled to now.
pub(crate) struct Leaf<'a> {
    pub(crate) held: &'a Resources,
    pub(crate) demand: &'a [u128],
    pub(crate) entitled: Entitled,
}

impl Meter {
    pub(crate) fn state(&self, leaf: usize) -> MeterState {
        let meter = &self.leaves[leaf];
        let dominant = self.dominant.get(leaf).map(|meter| meter.offsets());
        let (borrowed, lent, lent_fraction, settled) = meter.lending.state();
        MeterState {
            usage: self.lines(leaf).iter().map(|line| line.offset).collect(),
            entitled: meter.entitled.offset,
            borrowed,
            lent,
            lent_fraction,
            settled,
            dominant: dominant.unwrap_or((0, 0)),
            held_idle: match self.idle_of(leaf).iter().all(Line::is_nothing) {
                true => Vec::new(),
                false => self.idle_of(leaf).iter().map(|line| line.offset).collect(),
            },
            entitled_rest: Some(self.rests.get(leaf).map_or((0, 0), Rest::offset)),
        }
    }

    /// The lending price, and up to when it is counted.
    pub(crate) fn lending_state(&self) -> (u128, Time) {
        self.pool.state()
    }

    pub(crate) fn forgotten(&self) -> (Lending, u64) {
        self.forgotten
    }

    pub(crate) fn lending_beyond(&self) -> u128 {
        self.pool.beyond()
    }

    /// For a pool of `capacity`; [`Meter::restore`] for each queue comes next.
    pub(crate) fn from_state(
        measured: usize,
        capacity: &Resources,
        now: Time,
        (price, at, beyond): (u128, Time, u128),
        forgotten: (Lending, u64),
    ) -> Result<Meter, StateError> {
        ensure!(at <= now, "lending_at", "it is counted beyond the present");
        // All that is left unused may be borrowed all the time.
        let most = u128::from(at.as_micros()) << 64;
        ensure!(price <= most, "lending_price", "more than all was lent");
        let mut meter = Meter::new(measured, capacity.kinds());
        meter.whole = dominant::Pool::new(capacity);
        let Lending { lent, borrowed } = forgotten.0;
        ensure!(lent <= MAX_INTEGRAL, "forgotten_lent", "more than all was lent");
        ensure!(borrowed <= MAX_INTEGRAL, "forgotten_borrowed", "more than all was borrowed");
        meter.forgotten = forgotten;
        meter.pool = lending::Pool::from_state(price, at, beyond);
        Ok(meter)
    }

    /// The next queue.
    pub(crate) fn restore(
        &mut self,
        state: &MeterState,
        now: Time,
        leaf: &Leaf<'_>,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let at = |field: &str| format!("{place}.{field}");
        ensure!(state.usage.len() == self.kinds, at("usage"), "not one for each resource kind");
        let index = self.leaves.len();
        self.add_queue();
        for (kind, &offset) in state.usage.iter().enumerate() {
            let line = Line::restored(offset, leaf.held.get(kind), now, || at("usage"))?;
            self.usage[index * self.kinds + kind] = line;
        }
        self.demand[index * self.kinds..].copy_from_slice(leaf.demand);
        let held = leaf.held.get(self.measured);
        let entitled = self.restore_entitled(state, now, leaf, &at)?;
        let borrowed = held.saturating_sub(leaf.entitled.share);
        let borrowed = Line::restored(state.borrowed, borrowed, now, || at("borrowed"))?;
        ensure!(state.settled <= self.pool.price(), at("settled"), "above the lending price");
        ensure!(state.lent <= MAX_INTEGRAL, at("lent"), "more than all was lent");
        let unused = leaf.entitled.share.saturating_sub(held);
        let owed = (state.lent, state.lent_fraction, state.settled);
        let lending = LeafLending::from_state(borrowed, unused, owed);
        self.pool.adopt(&lending);
        self.leaves[index] =
            LeafMeter { entitled, share: leaf.entitled.share, whole: leaf.entitled.whole, lending };
        match self.dominant.get_mut(index) {
            Some(meter) => {
                meter.set_part(leaf.entitled.part);
                meter.hold(Time::ZERO, &self.whole, leaf.held.as_slice().iter().copied());
                meter.demand(Time::ZERO, &self.whole, leaf.demand);
                meter.restore(state.dominant, now, format_args!("{place}.dominant"))?;
            }
            None => ensure!(state.dominant == (0, 0), at("dominant"), "there is only one kind"),
        }
        self.restore_idle(index, &state.held_idle, now, format_args!("{place}.held_idle"))
    }

    /// The line of what the leaf whose turn it is was entitled to in whole units; the rest is told
    /// besides. Earlier versions knew no rest, and counted by shares that add up.
    fn restore_entitled(
        &mut self,
        state: &MeterState,
        now: Time,
        leaf: &Leaf<'_>,
        at: &dyn Fn(&str) -> String,
    ) -> Result<Line, StateError> {
        let (demand, to) = (leaf.demand[self.measured], &leaf.entitled);
        let within = |share: u64| demand.min(u128::from(share)) as u64;
        let restored = |slope| Line::restored(state.entitled, slope, now, || at("entitled"));
        let Some(offset) = state.entitled_rest else {
            let mut line = restored(within(to.share))?;
            line.turn(now, within(to.whole));
            let mut rest = Rest::default();
            rest.set(to.rest, to.down);
            rest.turn(now, demand > u128::from(to.whole));
            self.restore_rest(rest, to);
            return Ok(line);
        };
        let is_beyond = demand > u128::from(to.whole);
        let rest = Rest::restored(offset, now, (to.rest, to.down), is_beyond);
        let wrong = || StateError::new(at("entitled_rest"), "no integral of less than one unit");
        self.restore_rest(rest.ok_or_else(wrong)?, to);
        restored(within(to.whole))
    }

    fn restore_rest(&mut self, rest: Rest, to: &Entitled) {
        if rest.offset() != (0, 0) || to.rest > 0 {
            *self.rest_of(self.leaves.len() - 1) = rest;
        }
    }

    /// What is held idle now was told before.
    fn restore_idle(
        &mut self,
        leaf: usize,
        offsets: &[i128],
        now: Time,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        if offsets.is_empty() && self.idle_of(leaf).iter().all(Line::is_nothing) {
            return Ok(());
        }
        ensure!(offsets.len() == self.kinds, place, "not one for each resource kind");
        for (line, &offset) in self.idle_of_mut(leaf).iter_mut().zip(offsets) {
            *line = Line::restored(offset, line.slope, now, || place.to_string())?;
        }
        Ok(())
    }

    /// Whether what was lent and borrowed balances, after all queues.
    pub(crate) fn check_restored(&self, now: Time) -> Result<(), StateError> {
        let mut pool = self.pool.clone();
        pool.advance(now);
        let (forgotten, fraction) = self.forgotten;
        let (mut lent, mut borrowed) = (forgotten.lent, forgotten.borrowed);
        let mut lenders = u64::from(lent > 0 || fraction > 0);
        for meter in &self.leaves {
            let mut lending = meter.lending.clone();
            pool.settle(&mut lending);
            let (sums, fraction) = lending.so_far(now);
            (lent, borrowed) = (lent + sums.lent, borrowed + sums.borrowed);
            lenders += u64::from(sums.lent > 0 || fraction > 0);
        }
        let all = borrowed;
        let borrowed = all.checked_sub(pool.beyond()).ok_or_else(|| {
            StateError::new("lending_beyond", format!("more than the {all} that were borrowed"))
        })?;
        ensure!(lent <= borrowed, "queues", "{lent} was lent, but {borrowed} was borrowed");
        ensure!(lent == borrowed || lenders > 0, "queues", "nobody lent what was borrowed");
        // Each lender's rounding keeps back less than a unit for each change of the price.
        Ok(())
    }
}

impl Line {
    /// A line of this offset and slope, whose value at `now` is an integral that can be.
    pub(super) fn restored(
        offset: i128,
        slope: u64,
        now: Time,
        place: impl Fn() -> String,
    ) -> Result<Line, StateError> {
        let rise = i128::from(slope) * i128::from(now.as_micros());
        let value = offset.checked_add(rise).and_then(|value| u128::try_from(value).ok());
        let fine = value.is_some_and(|value| value <= MAX_INTEGRAL);
        ensure!(fine, place(), "no integral of amounts over time is {offset} + {slope} x now");
        Ok(Line { offset, slope })
    }
}
