//! When what is asked of Slurm: pure.

use std::time::Duration;

use crate::read::signs::Signs;
use crate::slurm::SlurmError;
use crate::snapshot::{AUDIT, ClusterSnapshot};

/// When accounting is asked for all runs: in the first seconds after it was not listened to, since
/// it hears of ends some seconds late, and each minute for runs that began and ended between two
/// looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accounting {
    /// Runs that ended before are told.
    since: i64,
    /// The first look after it was not listened to.
    first: Option<i64>,
    last: i64,
    /// It did not answer the last question.
    is_away: bool,
}

/// Accounting hears of ends that late, and is asked so often until then and after that; in seconds.
const HEARS: i64 = 20;
const HEARS_EVERY: i64 = 4;
const AUDIT_EVERY: i64 = 60;

impl Accounting {
    /// Runs that ended before that second are told.
    pub(crate) fn since(since: i64) -> Accounting {
        Accounting { since, ..Accounting::default() }
    }

    /// From when on it is to be asked, if now.
    pub(crate) fn is_due(&self, at: i64) -> Option<i64> {
        let is_new = self.first.is_none_or(|first| at - first < HEARS);
        match is_new {
            true => (at - self.last >= HEARS_EVERY).then_some(self.since),
            false => (at - self.last >= AUDIT_EVERY).then_some(at - AUDIT),
        }
    }

    pub(crate) fn asked(&mut self, snapshot: &ClusterSnapshot) {
        if snapshot.is_accounted && self.is_due(snapshot.at).is_some() {
            self.first.get_or_insert(snapshot.at);
            self.last = snapshot.at;
        }
    }

    /// Why it failed, or that it did not, where it was asked; what is new of that, in words.
    pub(crate) fn heard(&mut self, asked: Option<Option<&SlurmError>>) -> Option<String> {
        let failed = asked?;
        let was_away = std::mem::replace(&mut self.is_away, failed.is_some());
        match failed {
            Some(why) if !was_away => {
                Some(format!("accounting does not answer, and is asked again: {why}"))
            }
            None if was_away => Some("accounting answers again".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn catch_up(&mut self, since: i64) {
        if self.first.take().is_some() {
            (self.since, self.last) = (since, 0);
        }
    }

    /// It did not answer when it was asked last.
    pub(crate) fn is_away(&self) -> bool {
        self.is_away
    }
}

/// What a round does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    /// Jobs are read.
    Look,
    /// Nothing happened: the order alone is found anew, for what runs is charged as time passes.
    Turn,
    /// Nothing.
    Nothing,
}

/// When jobs are read: in each round in which a sign of `slurmctld` moved and in the next one,
/// since what happened in the second of a look is told by the look after it; and now and then, for
/// what moves no sign, sooner where a scheduler has passed. The more a look takes, the rarer are
/// those without a sign: half a percent of the time is spent on them, and as much on the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    signs: Option<Signs>,
    /// The signs did not move between the last look and the look before it.
    is_settled: bool,
    looked: i64,
    look_every: i64,
    turned: i64,
    turn_every: i64,
}

/// Looks without a sign are so far apart, in seconds.
const APART: std::ops::RangeInclusive<i64> = 10..=60;

/// What takes one second is done each so many seconds.
const SPARED: u128 = 200;

impl Looks {
    /// What is due with the signs of now; `None`: there are none to go by.
    pub(crate) fn due(&self, signs: Option<&Signs>, at: i64) -> Due {
        let (Some(now), Some(last)) = (signs, &self.signs) else { return Due::Look };
        let least = if now == last { *APART.start() } else { 0 };
        let is_late = at - self.looked >= self.look_every.max(least);
        if !now.are_still(last) || !self.is_settled || is_late {
            return Due::Look;
        }
        match at - self.turned.max(self.looked) >= self.turn_every {
            true => Due::Turn,
            false => Due::Nothing,
        }
    }

    /// A look was told that began after these signs, and took so long with what was set.
    pub(crate) fn looked(&mut self, signs: Option<Signs>, at: i64, took: Duration) {
        let both = signs.as_ref().zip(self.signs.as_ref());
        self.is_settled = both.is_some_and(|(now, last)| now.are_still(last));
        (self.signs, self.looked, self.look_every) = (signs, at, apart(took));
    }

    /// The order was found anew, which took so long with what was set.
    pub(crate) fn turned(&mut self, at: i64, took: Duration) {
        (self.turned, self.turn_every) = (at, apart(took));
    }

    /// So many jobs were updated by this program since the signs of the last look.
    pub(crate) fn updated(&mut self, jobs: u64) {
        if let Some(signs) = &mut self.signs {
            signs.updated(jobs);
        }
    }

    /// What was seen may not be so any more.
    pub(crate) fn forget(&mut self) {
        self.signs = None;
    }
}

fn apart(took: Duration) -> i64 {
    let seconds = took.as_millis() * SPARED / 1000;
    i64::try_from(seconds).unwrap_or(i64::MAX).min(*APART.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::signs::parse_signs;

    #[test]
    fn accounting_that_fails_is_said_once_and_so_is_its_return() {
        let mut accounting = Accounting::default();
        let failed = SlurmError::Form("slurmdbd: Connection refused".to_owned());
        assert_eq!(accounting.heard(Some(None)), None);
        let said = accounting.heard(Some(Some(&failed))).unwrap();
        assert!(said.contains("Connection refused"), "{said}");
        assert_eq!(accounting.heard(Some(Some(&failed))), None);
        assert_eq!(accounting.heard(None), None, "nobody asked");
        assert_eq!(accounting.heard(Some(None)).unwrap(), "accounting answers again");
        assert_eq!(accounting.heard(Some(None)), None);
    }

    /// Signs that count so many starts.
    fn started(count: u32) -> Option<Signs> {
        passed(count, 1)
    }

    /// The same after so many passes of backfill.
    fn passed(started: u32, passes: u32) -> Option<Signs> {
        let lines = "Data since x\nJobs submitted: 0\nJobs completed: 0\nJobs canceled: 0\n\
                     Jobs failed: 0\nTotal cycles: 1\n";
        parse_signs(&format!(
            "{lines}Total cycles: {passes}\nJobs started: {started}\nstatistics by message type\n"
        ))
    }

    #[test]
    fn nothing_is_read_while_no_sign_moves() {
        let mut looks = Looks::default();
        let mut look = |count: u32, at: i64| {
            let due = looks.due(started(count).as_ref(), at);
            if due == Due::Look {
                looks.looked(started(count), at, Duration::from_millis(20));
            }
            due
        };
        assert_eq!(look(0, 100), Due::Look, "the first look");
        // What happened in the second of that look is told by the next one.
        assert_eq!(look(0, 102), Due::Look);
        assert_eq!(look(0, 104), Due::Turn);
        assert_eq!(look(0, 111), Due::Turn);
        assert_eq!(look(0, 112), Due::Look, "what moves no sign");
        assert_eq!(look(1, 114), Due::Look, "a job started");
        assert_eq!(look(1, 116), Due::Look);
        assert_eq!(look(1, 118), Due::Turn);
        looks.forget();
        assert_eq!(looks.due(started(1).as_ref(), 120), Due::Look);
    }

    #[test]
    fn what_takes_long_is_done_rarely_unless_a_sign_moves() {
        let mut looks = Looks::default();
        for at in [100, 102] {
            looks.looked(started(0), at, Duration::from_millis(200));
        }
        let due = |looks: &Looks, at| looks.due(started(0).as_ref(), at);
        assert_eq!([due(&looks, 112), due(&looks, 141)], [Due::Turn, Due::Turn]);
        assert_eq!(due(&looks, 142), Due::Look);
        looks.turned(104, Duration::from_millis(25));
        assert_eq!([due(&looks, 108), due(&looks, 109)], [Due::Nothing, Due::Turn]);
        assert_eq!(looks.due(started(1).as_ref(), 106), Due::Look);
        looks.looked(started(0), 104, Duration::from_secs(9));
        assert_eq!([due(&looks, 163), due(&looks, 164)], [Due::Turn, Due::Look]);
    }

    #[test]
    fn a_pass_of_a_scheduler_makes_a_look_come_sooner() {
        let mut looks = Looks::default();
        for at in [100, 102] {
            looks.looked(started(0), at, Duration::from_millis(20));
        }
        assert_eq!(looks.due(started(0).as_ref(), 106), Due::Turn);
        assert_eq!(looks.due(passed(0, 2).as_ref(), 105), Due::Turn);
        assert_eq!(looks.due(passed(0, 2).as_ref(), 106), Due::Look);
        looks.looked(passed(0, 2), 106, Duration::from_millis(20));
        assert_eq!(looks.due(passed(0, 2).as_ref(), 108), Due::Turn, "once is enough");
    }

    #[test]
    fn without_signs_jobs_are_read_in_each_round() {
        let mut looks = Looks::default();
        for at in [100, 102, 104] {
            assert_eq!(looks.due(None, at), Due::Look);
            looks.looked(None, at, Duration::ZERO);
        }
    }
}
