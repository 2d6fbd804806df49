//! When running tasks end: the event queue, 16 bytes an event.
//!
//! An event is one number, (time, order of starting, slot) from the high bits down: nothing else is
//! compared, and ends at one instant come in the order of their starts. The slot names the task in
//! the world's own table; it is free again when its event has come.
//!
//! The earliest events stand sorted in front of the others, which wait in a [`Wheel`]: so it is
//! known some time ahead whose turn comes ([`Ends::coming`]), and the world can have the rows of
//! those tasks brought from memory meanwhile.
//!
//! Invariant: the events of the front are those before `front_end`, and the front is empty only
//! when there is no event. Cost: see [`Wheel`]; an event that comes into the front moves half of it
//! at most, [`LONGEST`] / 2 events.

use std::collections::VecDeque;

use meed::Time;

use super::wheel::Wheel;

const SLOT_BITS: u32 = 32;
/// Orders wrap after 4.4 x 10^12 starts; the last instant, 2^53, needs the other 54 bits.
const ORDER_BITS: u32 = 42;

/// The front is filled up to so many events when less than half of them are left.
const AHEAD: usize = 32;

/// A front with more events gives half of them back.
const LONGEST: usize = 1024;

#[derive(Default)]
pub(super) struct Ends {
    /// The earliest, in order.
    front: VecDeque<u128>,
    /// In microseconds.
    front_end: u64,
    later: Wheel,
    /// When the last event came, in microseconds: none that is pushed is before it.
    now: u64,
    order: u64,
    slots: u32,
    free: Vec<u32>,
}

/// When an event is.
#[inline]
pub(super) fn micros_of(event: u128) -> u64 {
    (event >> (ORDER_BITS + SLOT_BITS)) as u64
}

impl Ends {
    /// An end at `at`; the slot that its event will name.
    #[inline]
    pub(super) fn push(&mut self, at: Time) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let order = u128::from(self.order % (1 << ORDER_BITS));
        self.order += 1;
        let event = u128::from(at.as_micros()) << (ORDER_BITS + SLOT_BITS)
            | order << SLOT_BITS
            | u128::from(slot);
        if at.as_micros() < self.front_end {
            self.push_in_front(event);
            return slot;
        }
        self.later.insert(event);
        if self.front.is_empty() {
            self.fill();
        }
        slot
    }

    fn push_in_front(&mut self, event: u128) {
        let place = self.front.partition_point(|&earlier| earlier < event);
        self.front.insert(place, event);
        if self.front.len() > LONGEST {
            self.shorten();
        }
    }

    /// Gives the later half of the front back, parted between two instants; all of one instant
    /// stay, for who comes next of those comes last.
    fn shorten(&mut self) {
        let middle = micros_of(self.front[LONGEST / 2]);
        let mut keep = self.front.partition_point(|&event| micros_of(event) < middle);
        if keep == 0 {
            keep = self.front.partition_point(|&event| micros_of(event) == middle);
        }
        if let Some(&first) = self.front.get(keep) {
            self.front_end = micros_of(first);
            self.front.drain(keep..).for_each(|event| self.later.insert(event));
        }
    }

    #[inline]
    pub(super) fn next_time(&self) -> Option<Time> {
        self.front.front().and_then(|&event| Time::from_micros(micros_of(event)))
    }

    #[inline]
    pub(super) fn next_slot(&self) -> Option<u32> {
        self.front.front().map(|&event| event as u32)
    }

    /// The slot of the next event, if it is at `now`.
    #[inline]
    pub(super) fn pop_at(&mut self, now: Time) -> Option<u32> {
        if self.next_time() != Some(now) {
            return None;
        }
        self.now = now.as_micros();
        self.pop()
    }

    /// The slot of the next event, which may come to nothing: then it is taken before its time.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let event = self.front.pop_front()?;
        if self.front.len() < AHEAD / 2 {
            self.fill();
        }
        self.free.push(event as u32);
        Some(event as u32)
    }

    fn fill(&mut self) {
        while self.front.len() < AHEAD
            && let Some(end) = self.later.take_first(self.now, &mut self.front)
        {
            self.front_end = end;
        }
    }

    /// The slot of the event that comes after `others` more, where that is known.
    #[inline]
    pub(super) fn coming(&self, others: usize) -> Option<u32> {
        self.front.get(others).map(|&event| event as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn come_by_time_and_then_by_start() {
        let mut ends = Ends::default();
        let at = |micros| Time::from_micros(micros).expect("in range");
        let slots: Vec<u32> =
            [9, 5, 5, 9, meed::MAX_MICROS].map(|micros| ends.push(at(micros))).to_vec();
        assert_eq!(slots, [0, 1, 2, 3, 4]);
        assert_eq!((ends.next_time(), ends.pop_at(at(4))), (Some(at(5)), None));
        assert_eq!(
            [ends.pop_at(at(5)), ends.pop_at(at(5)), ends.pop_at(at(5))],
            [Some(1), Some(2), None]
        );
        assert_eq!(ends.push(at(7)), 2, "the slot that was freed last");
        assert_eq!(
            [ends.pop_at(at(7)), ends.pop_at(at(9)), ends.pop_at(at(9))],
            [Some(2), Some(0), Some(3)]
        );
        assert_eq!(ends.pop_at(Time::MAX), Some(4));
    }

    proptest! {
        /// Bursts near and far, so that fronts overflow and buckets are cut, moved and sorted; some
        /// at one instant.
        #[test]
        fn come_as_a_scan_would_take_them(
            bursts in prop::collection::vec(
                (0usize..900, 0u32..45, 1u64.., 0usize..1200, any::<bool>()),
                1..8,
            ),
        ) {
            let (mut ends, mut plain) = (Ends::default(), BTreeSet::new());
            let (mut now, mut order) = (0, 0);
            for (pushes, bits, mut seed, pops, early) in bursts {
                for _ in 0..pushes {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let at = now + (seed >> 20) % (1 << bits);
                    let slot = ends.push(Time::from_micros(at).expect("in range"));
                    prop_assert!(plain.insert((at, order, slot)));
                    order += 1;
                }
                for _ in 0..pops {
                    let (first, time) = (plain.pop_first(), ends.next_time());
                    prop_assert_eq!(time.map(Time::as_micros), first.map(|(at, ..)| at));
                    let slot = match (time, early) {
                        (Some(time), false) => {
                            now = time.as_micros();
                            ends.pop_at(time)
                        }
                        _ => ends.pop(),
                    };
                    prop_assert_eq!(slot, first.map(|(.., slot)| slot));
                    for (others, &(.., slot)) in plain.iter().take(AHEAD / 2).enumerate() {
                        prop_assert_eq!(ends.coming(others), Some(slot));
                    }
                }
            }
        }
    }
}
