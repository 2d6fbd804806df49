//! When running tasks end: the event queue, 16 bytes an event.
//!
//! An event is one number, (time, order of starting, slot) from the high bits down: the heap
//! compares nothing else, and ends at one instant come in the order of their starts. The slot names
//! the task in the world's own table; it is free again when its event has come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meed::Time;

const SLOT_BITS: u32 = 32;
/// Orders wrap after 4.4 x 10^12 starts; the last instant, 2^53, needs the other 54 bits.
const ORDER_BITS: u32 = 42;

#[derive(Default)]
pub(super) struct Ends {
    heap: BinaryHeap<Reverse<u128>>,
    order: u64,
    slots: u32,
    free: Vec<u32>,
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
        self.heap.push(Reverse(event));
        slot
    }

    #[inline]
    pub(super) fn next_time(&self) -> Option<Time> {
        let Reverse(event) = self.heap.peek()?;
        Time::from_micros((event >> (ORDER_BITS + SLOT_BITS)) as u64)
    }

    #[inline]
    pub(super) fn next_slot(&self) -> Option<u32> {
        self.heap.peek().map(|Reverse(event)| *event as u32)
    }

    /// The slot of the next event, if it is at `now`.
    #[inline]
    pub(super) fn pop_at(&mut self, now: Time) -> Option<u32> {
        if self.next_time() == Some(now) { self.pop() } else { None }
    }

    /// The slot of the next event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<u32> {
        let Reverse(event) = self.heap.pop()?;
        let slot = event as u32;
        self.free.push(slot);
        Some(slot)
    }
}

#[cfg(test)]
mod tests {
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
}
