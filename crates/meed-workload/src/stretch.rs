//! Jobs that are submitted faster or slower: the same jobs at another load.
//!
//! With load l a job that was submitted at t is submitted at t / l: at 2 the gaps between
//! submissions are half as long, and the cluster is asked for twice as much a second. Sizes and run
//! times stay. Jobs that the end of another causes (a chain's next) are not touched:
//! their time follows from the cluster, not from the workload.
//!
//! Invariant: order is kept, for t / l (rounded down to a microsecond) never falls as t rises.
//! Cost: a division a job.

use meed::{MAX_MICROS, Time};

use crate::Job;
use crate::changed::JobChange;

/// How fast jobs come, against how the workload has it, in thousandths.
///
/// The example of [`JobChange`] makes jobs come faster.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Load(u32);

impl Load {
    /// As the workload has it.
    pub const ONE: Load = Load(1000);
    /// The largest load: 1000 times as fast. The smallest is a thousandth.
    pub const MAX_THOUSANDTHS: u32 = 1_000_000;

    /// A load in thousandths, 1 to [`Load::MAX_THOUSANDTHS`].
    pub fn from_thousandths(thousandths: u32) -> Option<Load> {
        (1..=Load::MAX_THOUSANDTHS).contains(&thousandths).then_some(Load(thousandths))
    }

    /// In thousandths.
    pub fn thousandths(self) -> u32 {
        self.0
    }

    /// When a job comes that was to come at `time`.
    pub fn submit(self, time: Time) -> Time {
        let micros = u128::from(time.as_micros()) * 1000 / u128::from(self.0);
        let micros = u64::try_from(micros).unwrap_or(MAX_MICROS).min(MAX_MICROS);
        Time::from_micros(micros).unwrap_or(Time::MAX)
    }

    /// The earliest time at which a job was to come that now comes at `time` or later.
    pub fn origin(self, time: Time) -> Time {
        let micros = (u128::from(time.as_micros()) * u128::from(self.0)).div_ceil(1000);
        let micros = u64::try_from(micros).unwrap_or(MAX_MICROS).min(MAX_MICROS);
        Time::from_micros(micros).unwrap_or(Time::MAX)
    }
}

impl JobChange for Load {
    fn submitted(&self, job: Job) -> Job {
        Job { submit: self.submit(job.submit), ..job }
    }

    fn caused(&self, job: Job) -> Job {
        job
    }

    fn keeps_time(&self) -> bool {
        self.0 == 1000
    }

    fn words(&self) -> Option<String> {
        let load = f64::from(self.0) / 1000.0;
        Some(format!(
            "load {load}: the times between submissions are those of the workload divided by {load}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_divided() {
        let check = |thousandths: u32, from: u64, to: u64| {
            let load = Load::from_thousandths(thousandths).unwrap();
            assert_eq!(
                load.submit(Time::from_micros(from).unwrap()).as_micros(),
                to,
                "{thousandths} {from}"
            );
        };
        check(1000, 12_345, 12_345);
        check(2000, 12_345, 6_172);
        check(500, 12_345, 24_690);
        check(1200, 6_000_000, 5_000_000);
        check(1, MAX_MICROS, MAX_MICROS);
        assert_eq!(Load::from_thousandths(0), None);
        assert_eq!(Load::from_thousandths(1_000_001), None);
    }

    proptest! {
        /// Cutting a workload at `origin(end)` leaves out exactly what would come at `end` or
        /// later.
        #[test]
        fn origin_is_the_first_instant_that_is_moved_so_far(load in 1..=1_000_000u32,
            end in 0..1u64 << 40) {
            let load = Load::from_thousandths(load).unwrap();
            let end = Time::from_micros(end).unwrap();
            let origin = load.origin(end);
            if origin < Time::MAX {
                prop_assert!(load.submit(origin) >= end);
            }
            if let Some(before) = origin.as_micros().checked_sub(1) {
                prop_assert!(load.submit(Time::from_micros(before).unwrap()) < end);
            }
        }
    }
}
