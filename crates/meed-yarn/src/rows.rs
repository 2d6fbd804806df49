//! Rows as bytes, big-endian, as `java.nio.ByteBuffer` reads them. `Snapshot.java` is the other
//! side.
//!
//! > answer = now, late, missed, remarks, whole, queues, applications, t_wait, leaves under guard,
//! > paces
//!
//! | part | bytes |
//! |---|---|
//! | now, late, missed | 8 each |
//! | remarks | count 4, then each: length 4, UTF-8 |
//! | whole | 1 where all rows are told, so that what was told before is void; else 0 |
//! | queues | how many there are 4; how many are told 4, then each: its place 4 in the order in which they were declared, a row |
//! | applications that are no more | count 4, then each: length 4, UTF-8 |
//! | applications | count 4, then each: length 4, UTF-8, a row |
//! | t_wait in microseconds, or -1 | 8; where there is one: count 4, then each: place 4, since when its leaf has waited, in microseconds since 1970, 8, what it is entitled to, a row of weight 1 |
//! | paces | count 4, then each: memory time 8, the memory time of its quantum 8 (-1: as the clock, the quantum itself) |
//!
//! What a leaf is entitled to is a fraction ([`meed::View::entitlement`]): a part, and what it is
//! a part of, each as length 4 and so many bytes without a sign.
//!
//! A row is one zero byte where there is nothing to compare, else:
//!
//! | field | bytes |
//! |---|---|
//! | form: 1 scalar, 2 dominant shares | 1 |
//! | weight in thousandths | 8 |
//! | the number of its last service: of equal keys the smaller comes first | 8 |
//! | held: mebibytes, cores | 8, 8 |
//! | amounts of memory (or of the scalar) and of cores | 16, 16 |
//! | by how much they grow with each microsecond of memory time | 8, 8 |
//! | its pace: number among the paces, and that pace's memory time when the amounts were so | 4, 8 |
//! | pseudo-accumulated, in parts | 16 |
//! | parts of the pool; capacity in smallest units | 8, 8, 8 |
//! | quantum, microseconds | 8 |
//! | units: smallest units of the scalar (or of the kind) in a mebibyte and in a core | 8, 8 |
//! | discount in thousandths; shares; within | 8; 8, 8; 8, 8 |
//! | from when on what runs now was charged at the earliest, milliseconds since 1970 | 8 |
//!
//! Units of prices are whole: between two ticks a start is counted to a unit below what the engine
//! will charge.

use std::collections::BTreeMap;

use meed::policy::{PRICE_ONE, Policy, Scalar};
use meed::{KeyParts, Measure, MemoryClock, ResourceKinds, Resources, Span, Time};

use crate::core::UNITS;

/// By what rows move without a word: a clock, and, where that is not the machine's own, a quantum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pace {
    clock: MemoryClock,
    quantum: Span,
}

impl Pace {
    fn of(parts: &KeyParts) -> Pace {
        let quantum = if parts.clock.is_plain() { Span::ZERO } else { parts.quantum };
        Pace { clock: parts.clock, quantum }
    }
}

/// Paces in the order in which they were met, and the place of each.
#[derive(Default)]
pub(crate) struct Paces {
    all: Vec<Pace>,
    places: BTreeMap<Pace, usize>,
}

impl Paces {
    fn place(&mut self, pace: Pace) -> usize {
        let Paces { all, places } = self;
        *places.entry(pace).or_insert_with(|| {
            all.push(pace);
            all.len() - 1
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

/// A row, with its place or its name.
const ROW_BYTES: usize = 268;

/// Writes an answer.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    kinds: usize,
    epoch_ms: u64,
    through: Time,
}

impl Writer {
    /// For a journal whose time 0 was then, by the wall clock; what ran before `through` is charged
    /// from there on.
    /// `rows` are expected.
    pub(crate) fn new(kinds: &ResourceKinds, epoch_ms: u64, through: Time, rows: usize) -> Writer {
        let bytes = Vec::with_capacity(4096 + rows * ROW_BYTES);
        Writer { bytes, kinds: kinds.len(), epoch_ms, through }
    }

    fn long(&mut self, value: u64) {
        // What is larger would be negative in Java.
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    fn wide(&mut self, value: u128) {
        let value = i128::try_from(value).unwrap_or(i128::MAX);
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.bytes.extend_from_slice(&count.to_be_bytes());
    }

    pub(crate) fn name(&mut self, name: &str) {
        self.count(name.len());
        self.bytes.extend_from_slice(name.as_bytes());
    }

    pub(crate) fn head(&mut self, now: u64, counts: [u64; 2], remarks: &[String]) {
        self.long(now);
        counts.into_iter().for_each(|count| self.long(count));
        self.count(remarks.len());
        remarks.iter().for_each(|remark| self.name(remark));
    }

    pub(crate) fn t_wait(&mut self, t_wait: Option<Span>) {
        match t_wait {
            Some(t_wait) => self.long(t_wait.as_micros()),
            None => self.bytes.extend_from_slice(&(-1i64).to_be_bytes()),
        }
    }

    pub(crate) fn waits_since(&mut self, micros: u64) {
        self.long(micros);
    }

    /// What a leaf under guard is entitled to.
    pub(crate) fn entitlement(&mut self, (part, whole): &(Vec<u8>, Vec<u8>)) {
        for number in [part, whole] {
            self.count(number.len());
            self.bytes.extend_from_slice(number);
        }
    }

    /// What rows move by, as of now.
    pub(crate) fn paces(&mut self, paces: &Paces, now: Time) {
        self.count(paces.len());
        for pace in &paces.all {
            self.long(pace.clock.reading(now));
            match pace.clock.is_plain() {
                true => self.bytes.extend_from_slice(&(-1i64).to_be_bytes()),
                false => self.long(pace.clock.ahead(now, pace.quantum)),
            }
        }
    }

    pub(crate) fn flag(&mut self, set: bool) {
        self.bytes.push(u8::from(set));
    }

    /// A row of a child of a queue with this policy, in a cluster of this capacity; its pace is
    /// among the paces, or comes to them.
    pub(crate) fn row(
        &mut self,
        parts: Option<KeyParts>,
        (policy, capacity): (&Policy, &Resources),
        held: Resources,
        (paces, now): (&mut Paces, Time),
    ) {
        let Some(parts) = parts.filter(|parts| parts.measure == Measure::Usage) else {
            return self.bytes.push(0);
        };
        let dominant = policy.scalar == Scalar::Dominant;
        self.bytes.push(if dominant { 2 } else { 1 });
        self.long(parts.weight);
        self.long(parts.served);
        (0..2).for_each(|kind| self.long(held.get(kind) / UNITS[kind]));
        (0..2).for_each(|kind| self.wide(parts.amounts[kind]));
        // A cluster's capacity has 53 bits, and what it is counted by ten.
        (0..2).for_each(|kind| self.long(u64::try_from(parts.rates[kind]).unwrap_or(u64::MAX)));
        self.count(paces.place(Pace::of(&parts)));
        self.long(parts.clock.reading(now));
        self.wide(parts.pseudo);
        self.long(parts.parts);
        (0..2).for_each(|kind| self.long(capacity.get(kind)));
        self.long(parts.quantum.as_micros());
        let units = units(&policy.scalar);
        (0..2).for_each(|kind| self.long(units[kind]));
        self.long(u64::from(parts.discount));
        (0..2).for_each(|kind| self.long(parts.shares[kind]));
        (0..2).for_each(|kind| self.long(parts.within[kind]));
        // Of what ran before this nothing is known, or everything is forgotten.
        let since = parts.since.max(self.through).as_micros() / 1000;
        self.long(self.epoch_ms + since);
        debug_assert_eq!(self.kinds, 2);
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.bytes
    }
}

fn units(scalar: &Scalar) -> [u64; 2] {
    match scalar {
        Scalar::Kind(0) => [UNITS[0], 0],
        Scalar::Kind(_) => [0, UNITS[1]],
        Scalar::Dominant => UNITS,
        Scalar::Priced(prices) => {
            let unit = |kind: usize| {
                let price = prices.get(kind).copied().unwrap_or(0);
                (u128::from(UNITS[kind]) * u128::from(price) / u128::from(PRICE_ONE)) as u64
            };
            [unit(0), unit(1)]
        }
    }
}
