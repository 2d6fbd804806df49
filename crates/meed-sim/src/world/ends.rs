//! When running tasks end: the event queue, 16 bytes an event.
//!
//! An event is one number, (time, order of starting, slot) from the high bits down: nothing else is
//! compared, and ends at one instant come in the order of their starts. The slot names the task in
//! the world's own table; it is free again when its event has come.
//!
//! The earliest events stand sorted before the heap: so it is known some time ahead whose turn
//! comes ([`Ends::coming`]), and the world can read the rows of several tasks at once, which costs
//! one wait for memory instead of many.
//!
//! Invariant: no event of the front is later than one of the heap, and the front is empty only when
//! there is none. Cost: O(log n) for each event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use meed::Time;

const SLOT_BITS: u32 = 32;
/// Orders wrap after 4.4 x 10^12 starts; the last instant, 2^53, needs the other 54 bits.
const ORDER_BITS: u32 = 42;

/// Events that are taken out of the heap together, and named ahead.
pub(super) const AHEAD: usize = 16;

#[derive(Default)]
pub(super) struct Ends {
    /// The earliest, in order.
    front: VecDeque<u128>,
    heap: BinaryHeap<Reverse<u128>>,
    /// Whether the front has been filled and not been told yet.
    filled: bool,
    order: u64,
    slots: u32,
    free: Vec<u32>,
}

fn time_of(event: u128) -> Option<Time> {
    Time::from_micros((event >> (ORDER_BITS + SLOT_BITS)) as u64)
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
        match self.front.back() {
            Some(&last) if last < event => self.heap.push(Reverse(event)),
            _ => self.push_in_front(event),
        }
        slot
    }

    fn push_in_front(&mut self, event: u128) {
        let place = self.front.partition_point(|&earlier| earlier < event);
        self.front.insert(place, event);
        if self.front.len() > 2 * AHEAD {
            self.heap.extend(self.front.drain(AHEAD..).map(Reverse));
        }
    }

    #[inline]
    pub(super) fn next_time(&self) -> Option<Time> {
        self.front.front().and_then(|&event| time_of(event))
    }

    #[inline]
    pub(super) fn next_slot(&self) -> Option<u32> {
        self.front.front().map(|&event| event as u32)
    }

    /// The slot of the next event, if it is at `now`.
    #[inline]
    pub(super) fn pop_at(&mut self, now: Time) -> Option<u32> {
        if self.next_time() == Some(now) { self.pop() } else { None }
    }

    /// The slot of the next event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let slot = self.front.pop_front()? as u32;
        if self.front.is_empty() {
            self.fill();
        }
        self.free.push(slot);
        Some(slot)
    }

    fn fill(&mut self) {
        let next = std::iter::from_fn(|| self.heap.pop().map(|Reverse(event)| event));
        self.front.extend(next.take(AHEAD));
        self.filled = true;
    }

    /// Slots of the events that come next, told once whenever there are new ones.
    #[inline]
    pub(super) fn coming(&mut self) -> Option<impl Iterator<Item = u32> + '_> {
        std::mem::take(&mut self.filled).then(|| self.front.iter().map(|&event| event as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        /// Whatever stands in the front, and however it overflows.
        #[test]
        fn come_as_a_scan_would_take_them(
            steps in prop::collection::vec((any::<bool>(), 0u64..60), 1..600),
        ) {
            let (mut ends, mut plain, mut now) = (Ends::default(), Vec::new(), 0);
            for (order, (pushes, later)) in steps.into_iter().enumerate() {
                if pushes {
                    let at = now + later * later;
                    let slot = ends.push(Time::from_micros(at).expect("in range"));
                    plain.push((at, order, slot));
                } else {
                    let first = plain.iter().copied().min();
                    plain.retain(|&event| Some(event) != first);
                    now = first.map_or(now, |(at, ..)| at);
                    prop_assert_eq!(ends.next_time().map(Time::as_micros),
                        first.map(|(at, ..)| at));
                    prop_assert_eq!(ends.pop(), first.map(|(.., slot)| slot));
                }
                let next = plain.iter().min().map(|(.., slot)| *slot);
                prop_assert_eq!(ends.next_slot(), next);
            }
        }
    }
}
