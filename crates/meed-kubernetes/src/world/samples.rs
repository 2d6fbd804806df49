//! Who held what over the last day and the last month, as far as this leader has led.
//!
//! A sample is a mean, not a glimpse: what a queue has used since the sample before, by the ledger,
//! over the time between. So samples add up to the usage, whatever came and went in between. There
//! are two rings, one of minutes and one of half hours, in the memory of the leader: the next one
//! begins anew.
//!
//! Invariant: at most [`MOST_QUEUES`] queues in a sample, and what more hold is added up; so both
//! rings hold less than 200,000 numbers. Cost: O(queues) each minute.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use meed::Time;
use serde_json::{Value, json};

use super::World;
use crate::error::KubernetesError;

/// Queues of one sample; what more hold is added up.
const MOST_QUEUES: usize = 64;
const MINUTE_US: u64 = 60_000_000;

/// What each held on average, the rest under the empty name.
type Means = Vec<(Arc<str>, f64)>;

/// A ring of samples.
#[derive(Debug)]
struct Ring {
    step_us: u64,
    kept: usize,
    /// The ends of steps, and what was held in each.
    samples: VecDeque<(Time, Means)>,
    /// When the step began that goes on, and what each queue had used by then.
    began: Option<(Time, BTreeMap<Arc<str>, f64>)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Samples {
    day: Ring,
    month: Ring,
}

impl Default for Samples {
    fn default() -> Samples {
        let ring = |step_us, kept| Ring { step_us, kept, samples: VecDeque::new(), began: None };
        Samples { day: ring(MINUTE_US, 24 * 60), month: ring(30 * MINUTE_US, 31 * 48) }
    }
}

impl Ring {
    fn is_due(&self, now: Time) -> bool {
        let step = |time: Time| time.as_micros() / self.step_us;
        self.began.as_ref().is_none_or(|(began, _)| step(*began) < step(now))
    }

    /// Mean held since the step began.
    fn means(&self, now: Time, used: &BTreeMap<Arc<str>, f64>) -> Means {
        let Some((began, before)) = &self.began else { return Vec::new() };
        let seconds = now.saturating_since(*began).as_micros() as f64 / 1e6;
        if seconds <= 0.0 {
            return Vec::new();
        }
        let mean = |(queue, used): (&Arc<str>, &f64)| {
            let before = before.get(queue).copied().unwrap_or(0.0);
            let mean = (used - before).max(0.0) / seconds;
            (mean > 1e-9).then(|| (Arc::clone(queue), mean))
        };
        bounded(used.iter().filter_map(mean).collect())
    }

    fn take(&mut self, now: Time, used: &BTreeMap<Arc<str>, f64>) {
        if !self.is_due(now) {
            return;
        }
        if self.began.is_some() {
            let means = self.means(now, used);
            self.samples.push_back((now, means));
            if self.samples.len() > self.kept {
                self.samples.pop_front();
            }
        }
        self.began = Some((now, used.clone()));
    }
}

/// The largest, and all others under the empty name.
fn bounded(mut means: Means) -> Means {
    means.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest: f64 = means.iter().skip(MOST_QUEUES).map(|(_, mean)| mean).sum();
    means.truncate(MOST_QUEUES);
    if rest > 0.0 {
        means.push((Arc::from(""), rest));
    }
    means
}

impl Samples {
    /// Who held what, as somebody may know it who is told of these queues: all others as one.
    pub(super) fn shown(
        &self,
        month: bool,
        world: &World,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Value {
        let ring = if month { &self.month } else { &self.day };
        let engine = world.driver.engine();
        let now = engine.now();
        let used = world.used();
        let going_on = (now, ring.means(now, &used));
        let rows: Vec<&(Time, Means)> = ring.samples.iter().chain([&going_on]).collect();
        let mut series: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
        // Once for each queue: whether somebody may know it is a look at all of his namespaces.
        let mut known: BTreeMap<&str, bool> = BTreeMap::new();
        for (place, (_, means)) in rows.iter().enumerate() {
            for (queue, mean) in means {
                let name = &**queue;
                let shows = known.entry(name);
                let shows = *shows.or_insert_with(|| !name.is_empty() && is_known(name));
                let name = shows.then_some(name);
                let held = series.entry(name).or_insert_with(|| vec![0.0; rows.len()]);
                held[place] += mean;
            }
        }
        let (kinds, measured) = (engine.kinds(), engine.measured());
        let scale = kinds.unit(measured).scale() as f64;
        let at: Vec<i64> = rows.iter().map(|(at, _)| world.clock.unix(*at)).collect();
        let series: Vec<Value> = series
            .into_iter()
            .map(|(queue, held)| json!({ "queue": queue, "held": held }))
            .collect();
        json!({ "measured": kinds.name(measured), "step_us": ring.step_us, "at_us": at,
            "capacity": engine.capacity().get(measured) as f64 / scale, "series": series })
    }
}

impl World {
    /// What each leaf has used so far, by the engine's instant.
    fn used(&self) -> BTreeMap<Arc<str>, f64> {
        let engine = self.driver.engine();
        let (measured, now) = (engine.measured(), engine.now());
        let scale = engine.kinds().unit(measured).scale() as f64;
        let leaves = engine.queue_ids().filter(|&id| engine.queue(id).is_leaf);
        let used = |id| {
            let usage = engine.integrals(id, now).usage[measured] as f64 / scale / 1e6;
            (Arc::from(engine.queue_name(id)), usage)
        };
        leaves.map(used).collect()
    }

    /// Takes the samples that are due.
    pub(crate) fn sample(&mut self, now: Time) -> Result<(), KubernetesError> {
        if !self.samples.day.is_due(now) && !self.samples.month.is_due(now) {
            return Ok(());
        }
        // The books are brought to this instant.
        self.books(now)?;
        let used = self.used();
        self.samples.day.take(now, &used);
        self.samples.month.take(now, &used);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_add_up_to_the_usage_and_are_bounded() {
        let time = |seconds: u64| Time::from_micros(seconds * 1_000_000).unwrap();
        let used = |each: f64| -> BTreeMap<Arc<str>, f64> {
            (0..100).map(|i| (Arc::from(format!("q{i:03}")), each * f64::from(i))).collect()
        };
        let mut ring = Samples::default().day;
        assert!(ring.is_due(time(60)));
        ring.take(time(60), &used(1.0));
        assert!(ring.samples.is_empty() && !ring.is_due(time(119)));
        ring.take(time(120), &used(3.0));
        let (at, means) = &ring.samples[0];
        assert_eq!((*at, means.len()), (time(120), MOST_QUEUES + 1));
        let sum: f64 = means.iter().map(|(_, mean)| mean).sum();
        let wanted = (0..100).map(|i| 2.0 * f64::from(i) / 60.0).sum::<f64>();
        assert!((sum - wanted).abs() < 1e-9, "{sum} {wanted}");
        assert!(ring.means(time(120), &used(3.0)).is_empty(), "no time, no mean");
        for minute in 3..2000 {
            ring.take(time(60 * minute), &used(minute as f64));
        }
        assert_eq!(ring.samples.len(), 24 * 60, "the oldest go");
    }
}
