//! Two rings of samples: minutes of a day, and half hours of a month ([`super::samples`]).

use std::collections::VecDeque;

use meed::{Time, View};
use meed_driver::holdings::{HoldingSteps, MeanHeld, UsedByQueue, series};
use serde_json::{Value, json};

use crate::clock::LedgerClock;

const MINUTE_US: u64 = 60_000_000;

/// A ring of samples.
#[derive(Debug)]
pub(super) struct Ring {
    pub(super) steps: HoldingSteps,
    pub(super) kept: usize,
    /// The ends of steps, and what was held in each.
    pub(super) samples: VecDeque<(Time, MeanHeld)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Samples {
    pub(super) day: Ring,
    pub(super) month: Ring,
}

impl Default for Samples {
    fn default() -> Samples {
        let ring = |step_us, kept| Ring {
            steps: HoldingSteps::of(step_us),
            kept,
            samples: VecDeque::new(),
        };
        Samples { day: ring(MINUTE_US, 24 * 60), month: ring(30 * MINUTE_US, 31 * 48) }
    }
}

impl Ring {
    pub(super) fn take(&mut self, now: Time, used: &UsedByQueue) {
        if !self.steps.is_due(now) {
            return;
        }
        if self.steps.has_begun() {
            self.samples.push_back((now, self.steps.means(now, used)));
            if self.samples.len() > self.kept {
                self.samples.pop_front();
            }
        }
        self.steps.begin(now, used.clone());
    }
}

impl Samples {
    /// Who held what, as somebody may know it who is told of these queues: all others as one.
    /// `used`: by now.
    pub(super) fn shown(
        &self,
        month: bool,
        used: &UsedByQueue,
        (engine, clock): (View<'_>, &LedgerClock),
        is_known: &dyn Fn(&str) -> bool,
    ) -> Value {
        let ring = if month { &self.month } else { &self.day };
        let now = engine.now();
        let going_on = (now, ring.steps.means(now, used));
        let rows: Vec<&(Time, MeanHeld)> = ring.samples.iter().chain([&going_on]).collect();
        let samples: Vec<Vec<(&str, f64)>> = rows
            .iter()
            .map(|(_, means)| means.iter().map(|(queue, mean)| (&**queue, *mean)).collect())
            .collect();
        let (kinds, measured) = (engine.kinds(), engine.measured());
        let scale = kinds.unit(measured).scale() as f64;
        let at: Vec<i64> = rows.iter().map(|(at, _)| clock.unix(*at)).collect();
        let series: Vec<Value> = series(&samples, is_known)
            .into_iter()
            .map(|(queue, held)| json!({ "queue": queue, "held": held }))
            .collect();
        json!({ "measured": kinds.name(measured), "step_us": ring.steps.step_us(), "at_us": at,
            "capacity": engine.capacity().get(measured) as f64 / scale, "series": series })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meed_driver::holdings::MOST_QUEUES;

    use super::*;

    #[test]
    fn samples_add_up_to_the_usage_and_are_bounded() {
        let time = |seconds: u64| Time::from_micros(seconds * 1_000_000).unwrap();
        let used = |each: f64| -> UsedByQueue {
            (0..100).map(|i| (Arc::from(format!("q{i:03}")), each * f64::from(i))).collect()
        };
        let mut ring = Samples::default().day;
        assert!(ring.steps.is_due(time(60)));
        ring.take(time(60), &used(1.0));
        assert!(ring.samples.is_empty() && !ring.steps.is_due(time(119)));
        ring.take(time(120), &used(3.0));
        let (at, means) = &ring.samples[0];
        assert_eq!((*at, means.len()), (time(120), MOST_QUEUES + 1));
        let sum: f64 = means.iter().map(|(_, mean)| mean).sum();
        let wanted = (0..100).map(|i| 2.0 * f64::from(i) / 60.0).sum::<f64>();
        assert!((sum - wanted).abs() < 1e-9, "{sum} {wanted}");
        assert!(ring.steps.means(time(120), &used(3.0)).is_empty(), "no time, no mean");
        for minute in 3..2000 {
            ring.take(time(60 * minute), &used(minute as f64));
        }
        assert_eq!(ring.samples.len(), 24 * 60, "the oldest go");
    }
}
