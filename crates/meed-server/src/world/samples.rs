//! Rings of samples of who held what: minutes of a day, half hours of a month.

use meed_driver::holdings::HoldingSteps;

/// A ring of samples.
pub(super) struct SampleRing {
    /// Its number in the books.
    pub(super) kind: u8,
    /// Steps that are kept.
    pub(super) kept: u64,
    pub(super) steps: HoldingSteps,
}

impl SampleRing {
    pub(super) const DAY: usize = 0;
    pub(super) const MONTH: usize = 1;

    pub(super) fn both() -> [SampleRing; 2] {
        let minute = 60_000_000;
        [
            SampleRing { kind: 0, kept: 24 * 60, steps: HoldingSteps::of(minute) },
            SampleRing { kind: 1, kept: 31 * 48, steps: HoldingSteps::of(30 * minute) },
        ]
    }
}

#[cfg(test)]
mod tests {
    use meed::Time;
    use meed_driver::holdings::{MOST_QUEUES, UsedByQueue};

    use super::*;

    #[test]
    fn samples_add_up_to_the_usage_and_are_bounded() {
        let mut ring = SampleRing::both()[0].kept;
        assert_eq!(ring, 1440);
        ring = 100;
        let used = |each: f64| -> UsedByQueue {
            (0..ring).map(|i| (format!("q{i:03}").into(), each * i as f64)).collect()
        };
        let time = |seconds: u64| Time::from_micros(seconds * 1_000_000).unwrap();
        let [mut minutes, _] = SampleRing::both();
        minutes.steps.begin(time(60), used(1.0));
        let ring = minutes.steps;
        let means = ring.means(time(120), &used(3.0));
        assert_eq!(means.len(), MOST_QUEUES + 1);
        let sum: f64 = means.iter().map(|(_, mean)| mean).sum();
        let wanted = (0..100).map(|i| 2.0 * f64::from(i) / 60.0).sum::<f64>();
        assert!((sum - wanted).abs() < 1e-9, "{sum} {wanted}");
        assert!(ring.means(time(60), &used(3.0)).is_empty(), "no time, no mean");
    }
}
