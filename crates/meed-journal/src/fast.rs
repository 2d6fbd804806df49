//! The commonest records, written without a serializer: starts and ends of tasks, ends of jobs.
//!
//! A busy world writes little else. A line is put together in room that is there: words whose
//! length is known when this is compiled, names as they lie in memory ([`Name`]), numbers by eight
//! digits at once.
//!
//! Invariant: each byte is what the serializer writes (`tests/round_trip.rs` compares them over
//! random records); where a text needs escapes, or a time is too long to stand as a number, it is
//! left to the serializer.
//!
//! Cost: no allocation; a few hundred instructions besides the keys of a reason, which are doubles.

use std::ops::Range;

use meed::{MICROS_PER_S, Time};

use crate::detail::Detail;
use crate::job::Outcome;
use crate::name::{JobKey, Name, SHORT, Text, is_plain};
use crate::record::Fact;
use crate::task::{KeyForm, LevelChoice, StartReason, Started, TaskFact};

/// Above, a time stands as text; below the other, with an exponent.
const PLAIN: Range<u64> = 10..1 << 51;

/// Bytes that nearly all lines fit in: names would have to be hundreds of bytes long.
pub(crate) const ROOM: usize = 1024;

/// Writes the line of the record, without its line break, to the beginning of `room`, and tells its
/// length; `None`: there is nothing sensible, and the serializer is to write it.
pub(crate) fn encode(seq: u64, t: Time, fact: &Fact, room: &mut [u8]) -> Option<usize> {
    if detail_of(fact)?.is_some() {
        return None;
    }
    let all = room.len();
    let mut out = Out { rest: room };
    out.record(seq, t, fact)?;
    Some(all - out.rest.len())
}

/// The world's own in a record that is written here; `None` of all others.
fn detail_of(fact: &Fact) -> Option<&Detail> {
    match fact {
        Fact::TaskStarted(start) => Some(&start.detail),
        Fact::TaskEnded(task)
        | Fact::TaskFailed(task)
        | Fact::TaskStopped(task)
        | Fact::TaskLost(task) => Some(&task.detail),
        Fact::JobEnded(end) => Some(&end.detail),
        _ => None,
    }
}

/// The room that is left. Each step takes its bytes from the front; `None`: they do not fit, or
/// the serializer is needed.
struct Out<'a> {
    rest: &'a mut [u8],
}

impl Out<'_> {
    fn record(&mut self, seq: u64, t: Time, fact: &Fact) -> Option<()> {
        self.raw(b"{\"seq\":")?;
        self.number(seq)?;
        self.raw(b",\"t\":")?;
        self.micros(t.as_micros())?;
        match fact {
            Fact::TaskStarted(_) => self.raw(b",\"start\":{")?,
            Fact::TaskEnded(_) => self.raw(b",\"end\":{")?,
            Fact::TaskFailed(_) => self.raw(b",\"fail\":{")?,
            Fact::TaskStopped(_) => self.raw(b",\"stop\":{")?,
            Fact::TaskLost(_) => self.raw(b",\"lost\":{")?,
            Fact::JobEnded(_) => self.raw(b",\"job_end\":{")?,
            _ => return None,
        }
        match fact {
            Fact::TaskStarted(start) => self.start(start)?,
            Fact::TaskEnded(task)
            | Fact::TaskFailed(task)
            | Fact::TaskStopped(task)
            | Fact::TaskLost(task) => {
                self.task(task)?;
            }
            Fact::JobEnded(end) => {
                self.job(&end.job)?;
                match end.outcome {
                    Outcome::Done => self.raw(b",\"outcome\":\"done\"")?,
                    Outcome::Failed => self.raw(b",\"outcome\":\"failed\"")?,
                    Outcome::Cancelled => self.raw(b",\"outcome\":\"cancelled\"")?,
                }
            }
            _ => return None,
        }
        self.raw(b"}}")
    }

    fn start(&mut self, start: &Started) -> Option<()> {
        self.raw(b"\"queue\":")?;
        self.name(&start.queue)?;
        self.raw(b",")?;
        self.job(&start.job)?;
        self.raw(b",\"task\":")?;
        self.number(u64::from(start.task))?;
        self.attempt(start.attempt)?;
        self.raw(b",\"node\":")?;
        self.name(&start.node)?;
        if start.failures > 0 {
            self.raw(b",\"failures\":")?;
            self.number(u64::from(start.failures))?;
        }
        if let Some(by) = &start.by {
            self.raw(b",\"by\":")?;
            self.name(by)?;
        }
        if let Some(since) = start.since {
            self.raw(b",\"since_s\":")?;
            self.micros(since.as_micros())?;
        }
        if let Some(reason) = &start.reason {
            self.raw(b",\"reason\":{\"levels\":[")?;
            self.reason(reason)?;
            self.raw(b"}")?;
        }
        Some(())
    }

    fn reason(&mut self, reason: &StartReason) -> Option<()> {
        for (number, level) in reason.levels.iter().enumerate() {
            if number > 0 {
                self.raw(b",")?;
            }
            self.level(level)?;
        }
        self.raw(b"]")?;
        if let Some(starved_for) = reason.starved_for {
            self.raw(b",\"starved_for_s\":")?;
            self.micros(starved_for.as_micros())?;
        }
        if let Some(reserved_for) = reason.reserved_for {
            self.raw(b",\"reserved_for_s\":")?;
            self.micros(reserved_for.as_micros())?;
        }
        if let Some(gang) = reason.gang {
            self.raw(b",\"gang\":")?;
            self.number(u64::from(gang))?;
        }
        self.raw(b",\"place\":")?;
        self.text(&reason.place)
    }

    fn level(&mut self, level: &LevelChoice) -> Option<()> {
        self.raw(b"{\"chosen\":")?;
        self.name(&level.chosen)?;
        self.raw(b",\"key\":")?;
        self.key(level.key)?;
        if let Some(runner_up) = &level.runner_up {
            self.raw(b",\"runner_up\":")?;
            self.name(runner_up)?;
        }
        if let Some(key) = level.runner_up_key {
            self.raw(b",\"runner_up_key\":")?;
            self.key(key)?;
        }
        self.raw(b"}")
    }

    fn key(&mut self, key: KeyForm) -> Option<()> {
        self.raw(b"{\"value\":")?;
        // The shortest digits that are read as the same double are the serializer's business.
        serde_json::to_writer(&mut self.rest, &key.value).ok()?;
        match key.below_min {
            true => self.raw(b",\"below_min\":true}"),
            false => self.raw(b"}"),
        }
    }

    fn task(&mut self, task: &TaskFact) -> Option<()> {
        self.job(&task.job)?;
        self.raw(b",\"task\":")?;
        self.number(u64::from(task.task))?;
        self.attempt(task.attempt)?;
        if let Some(why) = &task.why {
            self.raw(b",\"why\":")?;
            self.text(why)?;
        }
        Some(())
    }

    fn job(&mut self, job: &JobKey) -> Option<()> {
        self.raw(b"\"job\":")?;
        match job {
            JobKey::Number(number) => self.number(*number),
            JobKey::Text(name) => self.name(name),
        }
    }

    fn attempt(&mut self, attempt: u32) -> Option<()> {
        if attempt == 0 {
            return Some(());
        }
        self.raw(b",\"attempt\":")?;
        self.number(u64::from(attempt))
    }

    /// A word: a few moves, for its length is known here.
    #[inline(always)]
    fn raw<const N: usize>(&mut self, bytes: &[u8; N]) -> Option<()> {
        *self.rest.first_chunk_mut()? = *bytes;
        self.take(N).map(|_| ())
    }

    /// The first bytes of what is left, which it is no more.
    #[inline(always)]
    fn take(&mut self, count: usize) -> Option<&mut [u8]> {
        let (front, rest) = std::mem::take(&mut self.rest).split_at_mut_checked(count)?;
        self.rest = rest;
        Some(front)
    }

    #[inline]
    fn name(&mut self, name: &Name) -> Option<()> {
        match name.text() {
            Text::Short { length, bytes } => {
                self.raw(b"\"")?;
                // All of it in one move; what comes next is written over what is too much.
                *self.rest.first_chunk_mut::<SHORT>()? = *bytes;
                self.take(usize::from(*length))?;
                self.raw(b"\"")
            }
            Text::Long(text) => self.text(text),
        }
    }

    fn text(&mut self, text: &str) -> Option<()> {
        if !is_plain(text.as_bytes()) {
            return None;
        }
        self.raw(b"\"")?;
        self.take(text.len())?.copy_from_slice(text.as_bytes());
        self.raw(b"\"")
    }

    #[inline]
    fn number(&mut self, number: u64) -> Option<()> {
        match number {
            // Tasks of a job, mostly.
            0..10 => self.raw(&[b'0' + number as u8]),
            _ => self.long_number(number),
        }
    }

    fn long_number(&mut self, number: u64) -> Option<()> {
        if number >= EIGHT {
            self.number(number / EIGHT)?;
            return self.raw(&text_of(digits(number % EIGHT)));
        }
        let digits = digits(number);
        let zeros = digits.trailing_zeros() / 8;
        *self.rest.first_chunk_mut()? = text_of(digits >> (8 * zeros));
        self.take(8 - zeros as usize).map(|_| ())
    }

    /// Seconds, as the shortest number that is read as the same double: below 2^51 that has no more
    /// than six places, for doubles are closer together than microseconds there.
    fn micros(&mut self, micros: u64) -> Option<()> {
        if micros != 0 && !PLAIN.contains(&micros) {
            return None;
        }
        self.number(micros / MICROS_PER_S)?;
        self.raw(b".")?;
        // Six places: the first two of eight digits are none.
        let places = digits(micros % MICROS_PER_S) >> 16;
        let zeros = (places.leading_zeros() / 8).min(7);
        *self.rest.first_chunk_mut()? = text_of(places);
        self.take(8 - zeros as usize).map(|_| ())
    }
}

/// The first number with more than eight digits.
const EIGHT: u64 = 100_000_000;

/// The eight digits of a number below [`EIGHT`], a byte each, the first in the lowest. All are
/// found side by side: by halves of four, of two, of one; in lanes so wide that none runs over.
///
/// > x / 100 = x * 10486 >> 20 below 10^4,  x / 10 = x * 103 >> 10 below 100
#[inline]
fn digits(number: u64) -> u64 {
    debug_assert!(number < EIGHT);
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0xf_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

/// As text.
#[inline]
fn text_of(digits: u64) -> [u8; 8] {
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_number() {
        let near = (0..8).flat_map(|log| {
            let power = 10u64.pow(log);
            [power - 1, power, power + 1, 5 * power, 10 * power - 1]
        });
        let spread = (0..200_000u64).map(|step| step * 499 + step % 499);
        for number in near.chain(spread) {
            assert_eq!(text_of(digits(number)), *format!("{number:08}").as_bytes(), "{number}");
        }
        // Each half of four, so each of two and of one.
        for number in 0..10_000 {
            let twice = number * 10_001;
            assert_eq!(text_of(digits(twice)), *format!("{twice:08}").as_bytes(), "{twice}");
        }
    }
}
