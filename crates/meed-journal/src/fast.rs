//! The commonest records, written without a serializer: starts and ends of tasks, ends of jobs.
//!
//! A busy world writes little else. Invariant: each byte is what the serializer writes
//! (`tests/round_trip.rs` compares them over random records); where a text needs escapes, or a
//! time is too long to stand as a number, it is left to the serializer.
//!
//! Cost: no allocation; a few dozen bytes are copied.

use meed::{MICROS_PER_S, Time};

use crate::{Fact, JobKey, KeyForm, LevelChoice, Outcome, StartReason, Started, TaskFact};

/// Above, a time stands as text; below the other, with an exponent.
const PLAIN: std::ops::Range<u64> = 10..1 << 51;

/// Appends the line of the record, without its line break; `false`: nothing is appended, and the
/// serializer is to write it.
pub(crate) fn encode(seq: u64, t: Time, fact: &Fact, line: &mut Vec<u8>) -> bool {
    let before = line.len();
    let mut out = Out(line);
    let done = out.record(seq, t, fact).is_some();
    if !done {
        line.truncate(before);
    }
    done
}

struct Out<'a>(&'a mut Vec<u8>);

impl Out<'_> {
    fn record(&mut self, seq: u64, t: Time, fact: &Fact) -> Option<()> {
        let (word, known) = match fact {
            Fact::Start(start) => ("start", start.detail.is_none()),
            Fact::End(task) => ("end", task.detail.is_none()),
            Fact::Fail(task) => ("fail", task.detail.is_none()),
            Fact::Stop(task) => ("stop", task.detail.is_none()),
            Fact::Lost(task) => ("lost", task.detail.is_none()),
            Fact::JobEnd(end) => ("job_end", end.detail.is_none()),
            _ => return None,
        };
        if !known {
            return None;
        }
        self.raw("{\"seq\":");
        self.number(seq);
        self.raw(",\"t\":");
        self.time(t)?;
        self.raw(",\"");
        self.raw(word);
        self.raw("\":{");
        match fact {
            Fact::Start(start) => self.start(start)?,
            Fact::End(task) | Fact::Fail(task) | Fact::Stop(task) | Fact::Lost(task) => {
                self.task(task)?;
            }
            Fact::JobEnd(end) => {
                self.job(&end.job)?;
                self.raw(match end.outcome {
                    Outcome::Done => ",\"outcome\":\"done\"",
                    Outcome::Failed => ",\"outcome\":\"failed\"",
                    Outcome::Cancelled => ",\"outcome\":\"cancelled\"",
                });
            }
            _ => return None,
        }
        self.raw("}}");
        Some(())
    }

    fn start(&mut self, start: &Started) -> Option<()> {
        self.raw("\"queue\":");
        self.text(&start.queue)?;
        self.raw(",");
        self.job(&start.job)?;
        self.raw(",\"task\":");
        self.number(u64::from(start.task));
        self.attempt(start.attempt);
        self.raw(",\"node\":");
        self.text(&start.node)?;
        if start.failures > 0 {
            self.raw(",\"failures\":");
            self.number(u64::from(start.failures));
        }
        if let Some(by) = &start.by {
            self.raw(",\"by\":");
            self.text(by)?;
        }
        if let Some(since) = start.since {
            self.raw(",\"since_s\":");
            self.time(since)?;
        }
        if let Some(reason) = &start.reason {
            self.raw(",\"reason\":{\"levels\":[");
            self.reason(reason)?;
            self.raw("}");
        }
        Some(())
    }

    fn reason(&mut self, reason: &StartReason) -> Option<()> {
        for (number, level) in reason.levels.iter().enumerate() {
            self.raw(if number > 0 { ",{\"chosen\":" } else { "{\"chosen\":" });
            self.level(level)?;
            self.raw("}");
        }
        self.raw("]");
        if let Some(starved_for) = reason.starved_for {
            self.raw(",\"starved_for_s\":");
            self.micros(starved_for.as_micros())?;
        }
        if let Some(reserved_for) = reason.reserved_for {
            self.raw(",\"reserved_for_s\":");
            self.micros(reserved_for.as_micros())?;
        }
        if let Some(gang) = reason.gang {
            self.raw(",\"gang\":");
            self.number(u64::from(gang));
        }
        self.raw(",\"place\":");
        self.text(&reason.place)
    }

    fn level(&mut self, level: &LevelChoice) -> Option<()> {
        self.text(&level.chosen)?;
        self.raw(",\"key\":");
        self.key(level.key)?;
        if let Some(runner_up) = &level.runner_up {
            self.raw(",\"runner_up\":");
            self.text(runner_up)?;
        }
        if let Some(key) = level.runner_up_key {
            self.raw(",\"runner_up_key\":");
            self.key(key)?;
        }
        Some(())
    }

    fn key(&mut self, key: KeyForm) -> Option<()> {
        self.raw("{\"value\":");
        // The shortest digits that are read as the same double are the serializer's business.
        serde_json::to_writer(&mut *self.0, &key.value).ok()?;
        self.raw(if key.below_min { ",\"below_min\":true}" } else { "}" });
        Some(())
    }

    fn task(&mut self, task: &TaskFact) -> Option<()> {
        self.job(&task.job)?;
        self.raw(",\"task\":");
        self.number(u64::from(task.task));
        self.attempt(task.attempt);
        if let Some(why) = &task.why {
            self.raw(",\"why\":");
            self.text(why)?;
        }
        Some(())
    }

    fn job(&mut self, job: &JobKey) -> Option<()> {
        self.raw("\"job\":");
        match job {
            JobKey::Number(number) => self.number(*number),
            JobKey::Text(text) => self.text(text)?,
        }
        Some(())
    }

    fn attempt(&mut self, attempt: u32) {
        if attempt > 0 {
            self.raw(",\"attempt\":");
            self.number(u64::from(attempt));
        }
    }

    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, text: &str) -> Option<()> {
        let plain = |&byte: &u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if !text.as_bytes().iter().all(plain) {
            return None;
        }
        self.0.push(b'"');
        self.raw(text);
        self.0.push(b'"');
        Some(())
    }

    fn number(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.0.extend_from_slice(&digits[at..]);
    }

    /// Seconds, as the shortest number that is read as the same double: below 2^51 that has no more
    /// than six places, for doubles are closer together than microseconds there.
    fn time(&mut self, time: Time) -> Option<()> {
        self.micros(time.as_micros())
    }

    fn micros(&mut self, micros: u64) -> Option<()> {
        if micros != 0 && !PLAIN.contains(&micros) {
            return None;
        }
        self.number(micros / MICROS_PER_S);
        self.0.push(b'.');
        let mut rest = micros % MICROS_PER_S;
        let mut unit = MICROS_PER_S;
        loop {
            unit /= 10;
            self.0.push(b'0' + (rest / unit) as u8);
            rest %= unit;
            if rest == 0 {
                return Some(());
            }
        }
    }
}
