//! A queue of events for a clock that never goes back: a hierarchical timing wheel.
//!
//! Times are read in digits of eight bits. An event stands at the level of the highest digit in
//! which its time differs from the wheel's base, in the bucket of its own digit there. The earliest
//! bucket is the lowest one of the lowest level that has any: it is few events, to be sorted, or
//! its start becomes the base, and its events move to lower levels.
//!
//! A heap of 40,000 events walks through sixteen lines of memory for each, and guesses wrong at
//! every second. Here a bucket is written at its end and read from its beginning: an event moves
//! three times or so, beside its neighbours.
//!
//! Invariant: no event and no time to come is before the base, and all events of a level come
//! before those of the next. Cost: O(1) for an insertion, and for each event as many moves as its
//! time has digits at most. Where the earliest bucket lies beyond the present its events must stay
//! above the base, and some of them are taken by a walk through all: once for a bucket, unless
//! events keep coming before it.

use std::collections::VecDeque;

use super::ends::micros_of;

const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// Times have 54 bits.
const LEVELS: usize = 7;
/// The bits that tell which buckets of a level hold something.
const WORDS: usize = DIGITS / u64::BITS as usize;

/// So many events are sorted rather than moved to lower levels.
const FEW: usize = 512;

/// See the module.
pub(super) struct Wheel {
    base: u64,
    /// Level after level.
    buckets: Vec<Vec<u128>>,
    filled: [[u64; WORDS]; LEVELS],
    /// Small buffers of buckets that were emptied, for those that are filled next.
    spare: Vec<Vec<u128>>,
}

/// Larger buffers are given back.
const SPARE_EVENTS: usize = 64;
const SPARES: usize = 256;

impl Default for Wheel {
    fn default() -> Wheel {
        let buckets = vec![Vec::new(); LEVELS * DIGITS];
        Wheel { base: 0, buckets, filled: [[0; WORDS]; LEVELS], spare: Vec::new() }
    }
}

impl Wheel {
    /// Adds an event that is not before the present.
    #[inline]
    pub(super) fn insert(&mut self, event: u128) {
        let micros = micros_of(event);
        debug_assert!(micros >= self.base, "an event before the base");
        let level =
            (u64::BITS - 1).saturating_sub((micros ^ self.base).leading_zeros()) / DIGIT_BITS;
        let digit = (micros >> (level * DIGIT_BITS)) as usize % DIGITS;
        let level = level as usize;
        self.filled[level][digit / 64] |= 1 << (digit % 64);
        let bucket = &mut self.buckets[level * DIGITS + digit];
        if bucket.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *bucket = spare;
        }
        bucket.push(event);
    }

    /// Moves the earliest events to the end of `front`, in order, and tells from what time on the
    /// others are; `None` when there are none. No event that is still to come is before `now`.
    pub(super) fn take_first(&mut self, now: u64, front: &mut VecDeque<u128>) -> Option<u64> {
        loop {
            let (level, digit) = self.first_bucket()?;
            self.filled[level][digit / 64] &= !(1 << (digit % 64));
            let mut events = std::mem::take(&mut self.buckets[level * DIGITS + digit]);
            let low_bits = level as u32 * DIGIT_BITS;
            let start = micros_of(events[0]) >> low_bits << low_bits;
            if level == 0 || events.len() <= FEW {
                events.sort_unstable();
                front.extend(events.iter());
                self.keep_spare(events);
                return Some(start + (1 << low_bits));
            }
            if start > now {
                let (first, end) = self.take_few(events);
                front.extend(first);
                return Some(end);
            }
            self.base = start;
            events.into_iter().for_each(|event| self.insert(event));
        }
    }

    fn keep_spare(&mut self, mut events: Vec<u128>) {
        if events.capacity() <= SPARE_EVENTS && self.spare.len() < SPARES {
            events.clear();
            self.spare.push(events);
        }
    }

    /// The base must not pass the present, but many events lie beyond: takes the first few of them,
    /// an eighth where they are very many, for all may be taken out before the present moves.
    fn take_few(&mut self, mut events: Vec<u128>) -> (Vec<u128>, u64) {
        let few = FEW.max(events.len() / 8);
        let end = micros_of(*events.select_nth_unstable(few).1);
        // Parted between two instants; those of one instant stay together.
        let end = match events.iter().any(|&event| micros_of(event) < end) {
            true => end,
            false => end + 1,
        };
        let (mut first, others): (Vec<u128>, Vec<u128>) =
            events.into_iter().partition(|&event| micros_of(event) < end);
        others.into_iter().for_each(|event| self.insert(event));
        first.sort_unstable();
        (first, end)
    }

    fn first_bucket(&self) -> Option<(usize, usize)> {
        self.filled.iter().enumerate().find_map(|(level, words)| {
            let word = words.iter().position(|&bits| bits != 0)?;
            Some((level, word * 64 + words[word].trailing_zeros() as usize))
        })
    }
}
