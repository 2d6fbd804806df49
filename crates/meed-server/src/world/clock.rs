//! Instants of the journal from the clocks of the machine.
//!
//! While the machine runs they follow its boot clock, whatever the wall clock does; over a restart
//! of the machine the wall clock says how long that took, and never goes back.

use meed::Time;
use meed::time::MAX_MICROS;

use crate::books::Clock;
use crate::clock::{Moment, boot_us};

impl Clock {
    /// The clock of a new journal.
    pub fn begin(boot: String, now: Moment) -> Clock {
        Clock { boot, boot_us: now.boot_us, at_us: 0, epoch_us: now.wall_us }
    }

    /// The clock after a restart of the server. `last`: the last instant of the journal.
    #[must_use]
    pub fn go_on(self, boot: String, now: Moment, last: Time) -> Clock {
        if self.boot == boot && self.boot_us <= now.boot_us {
            return self;
        }
        let at_us = now.wall_us.saturating_sub(self.epoch_us).max(last.as_micros());
        Clock { boot, boot_us: now.boot_us, at_us, epoch_us: self.epoch_us }
    }

    /// The instant now.
    pub fn now(&self) -> Time {
        self.at(boot_us())
    }

    /// The instant of a moment of this boot.
    pub fn at(&self, boot_us: u64) -> Time {
        let since = boot_us.saturating_sub(self.boot_us);
        let micros = match boot_us.checked_sub(self.boot_us) {
            Some(_) => self.at_us.saturating_add(since),
            None => self.at_us.saturating_sub(self.boot_us - boot_us),
        };
        Time::from_micros(micros.min(MAX_MICROS)).unwrap_or(Time::MAX)
    }

    /// The instant of a moment of any boot, as well as it can be told.
    pub fn of(&self, boot: &str, moment: Moment) -> Time {
        match boot == self.boot {
            true => self.at(moment.boot_us),
            false => {
                let micros = moment.wall_us.saturating_sub(self.epoch_us).min(self.at_us);
                Time::from_micros(micros.min(MAX_MICROS)).unwrap_or(Time::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(boot_us: u64, wall_us: u64) -> Moment {
        Moment { boot_us, wall_us }
    }

    fn time(micros: u64) -> Time {
        Time::from_micros(micros).unwrap()
    }

    #[test]
    fn steps_of_the_wall_clock_change_nothing_within_a_boot() {
        let clock = Clock::begin("a".into(), moment(1000, 5_000_000));
        assert_eq!(clock.at(1500), time(500));
        let later = clock.clone().go_on("a".into(), moment(3000, 1), time(100));
        assert_eq!(later, clock);
        assert_eq!(later.of("a", moment(1700, 9_999_999)), time(700));
    }

    #[test]
    fn over_a_boot_the_wall_clock_tells_and_never_goes_back() {
        let clock = Clock::begin("a".into(), moment(1000, 5_000_000));
        let later = clock.clone().go_on("b".into(), moment(50, 5_009_000), time(4000));
        assert_eq!((later.at(50), later.at(60)), (time(9000), time(9010)));
        assert_eq!(later.of("a", moment(1400, 5_000_400)), time(400));
        let back = clock.go_on("b".into(), moment(50, 4_000_000), time(4000));
        assert_eq!(back.at(51), time(4001));
    }
}
