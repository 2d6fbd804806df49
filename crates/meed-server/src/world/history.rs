//! Who held what over the last day and the last month: the server's own samples.
//!
//! A sample is a mean, not a glimpse: what a queue has used since the sample before, by the ledger,
//! over the time between. So samples add up to the usage, whatever came and went in between. There
//! are two rings, one of minutes and one of half hours; both are in the books, written with what is
//! written anyway, so a crash loses the last of them and no more. A server that starts begins with
//! a new step: what tasks used while nobody served was charged to nobody. Without the HTTP
//! interface nobody asks, and nothing is sampled.

use std::collections::BTreeMap;

use meed::{QueueId, Time};

use super::{World, WorldError};
use crate::protocol::{HistoryQuery, HoldingHistory, HoldingSeries, NotDone, RefusalKind};
use crate::settings::Role;
use crate::user::LocalUser;

/// Queues of one sample; what more hold is added up.
const MOST_QUEUES: usize = 64;

/// A ring of samples.
pub(super) struct SampleRing {
    /// Its number in the books.
    kind: u8,
    step_us: u64,
    kept: u64,
    /// When the step began that goes on, and what each queue had used by then.
    began: Option<(Time, BTreeMap<String, f64>)>,
}

impl SampleRing {
    const DAY: usize = 0;
    const MONTH: usize = 1;

    pub(super) fn both() -> [SampleRing; 2] {
        let minute = 60_000_000;
        [
            SampleRing { kind: 0, step_us: minute, kept: 24 * 60, began: None },
            SampleRing { kind: 1, step_us: 30 * minute, kept: 31 * 48, began: None },
        ]
    }

    /// Mean held since the step began.
    fn means(&self, now: Time, used: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
        let Some((began, before)) = &self.began else { return BTreeMap::new() };
        let seconds = now.as_micros().saturating_sub(began.as_micros()) as f64 / 1e6;
        if seconds <= 0.0 {
            return BTreeMap::new();
        }
        let mean = |(queue, used): (&String, &f64)| {
            let before = before.get(queue).copied().unwrap_or(0.0);
            let mean = (used - before).max(0.0) / seconds;
            (mean > 1e-9).then(|| (queue.clone(), mean))
        };
        bounded(used.iter().filter_map(mean).collect())
    }
}

/// The largest, and all others under the empty name.
fn bounded(means: Vec<(String, f64)>) -> BTreeMap<String, f64> {
    let mut means = means;
    means.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest: f64 = means.iter().skip(MOST_QUEUES).map(|(_, mean)| mean).sum();
    means.truncate(MOST_QUEUES);
    if rest > 0.0 {
        means.push((String::new(), rest));
    }
    means.into_iter().collect()
}

impl World {
    /// What each queue has used so far.
    fn used(&mut self, now: Time) -> Result<BTreeMap<String, f64>, meed::Rejected> {
        let books = self.live.queues(now)?;
        let engine = self.live.engine();
        let used = |(id, state): (QueueId, meed_driver::explain::QueueStatus)| {
            (engine.queue(id).name.to_owned(), state.usage)
        };
        Ok(books.into_iter().map(used).collect())
    }

    /// Takes the samples that are due.
    pub(super) fn sample(&mut self) {
        if !self.watched.is_followed() {
            return;
        }
        let clock = self.meta.clock.now();
        let step = |ring: &SampleRing, time: Time| time.as_micros() / ring.step_us;
        let is_due = |ring: &SampleRing| {
            ring.began.as_ref().is_none_or(|(began, _)| step(ring, *began) < step(ring, clock))
        };
        if !self.samples.iter().any(is_due) {
            return;
        }
        let now = self.live.instant(clock);
        // A look at the books that is refused is no reason to stop serving.
        let Ok(used) = self.used(now) else { return };
        for ring in &mut self.samples {
            if !is_due(ring) {
                continue;
            }
            if ring.began.is_some() {
                let number = step(ring, now).saturating_sub(1);
                let means = ring.means(now, &used);
                let oldest = number.saturating_sub(ring.kept);
                self.writes.sample((ring.kind, number), &means, oldest);
            }
            ring.began = Some((now, used.clone()));
        }
    }

    /// Who held what, as `user` may know it: a tenant sees own queues, and all others as one.
    pub(super) fn history(
        &mut self,
        user: &LocalUser,
        query: HistoryQuery,
    ) -> Result<Result<HoldingHistory, NotDone>, WorldError> {
        let now = self.live.instant(self.meta.clock.now());
        let used = match self.used(now) {
            Ok(used) => used,
            Err(why) => return Ok(Err(NotDone::new(RefusalKind::Failed, why.to_string()))),
        };
        let which = if query.month { SampleRing::MONTH } else { SampleRing::DAY };
        let ring = &self.samples[which];
        let (epoch, step_us) = (self.meta.clock.epoch_us, ring.step_us);
        let first = (now.as_micros() / step_us).saturating_sub(ring.kept);
        let mut rows = Vec::new();
        for (number, means) in self.books.samples(ring.kind, first)? {
            rows.push((epoch + (number + 1) * step_us, means));
        }
        rows.push((epoch + now.as_micros(), ring.means(now, &used)));
        let members = &self.settings.members;
        let sees_all = members.role(user) >= Role::Operator;
        let name = |queue: &str| {
            let is_known = !queue.is_empty() && (sees_all || members.may_use(user, queue));
            is_known.then(|| queue.to_owned())
        };
        let mut series: BTreeMap<Option<String>, Vec<f64>> = BTreeMap::new();
        for (place, (_, means)) in rows.iter().enumerate() {
            for (queue, mean) in means {
                let held = series.entry(name(queue)).or_insert_with(|| vec![0.0; rows.len()]);
                held[place] += mean;
            }
        }
        let engine = self.live.engine();
        let (kinds, measured) = (engine.kinds(), engine.measured());
        let scale = kinds.unit(measured).scale() as f64;
        Ok(Ok(HoldingHistory {
            measured: kinds.name(measured).to_owned(),
            capacity: engine.capacity().get(measured) as f64 / scale,
            step_us,
            at_us: rows.iter().map(|(at, _)| *at).collect(),
            series: series.into_iter().map(|(queue, held)| HoldingSeries { queue, held }).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_add_up_to_the_usage_and_are_bounded() {
        let mut ring = SampleRing::both()[0].kept;
        assert_eq!(ring, 1440);
        ring = 100;
        let used = |each: f64| (0..ring).map(|i| (format!("q{i:03}"), each * i as f64)).collect();
        let time = |seconds: u64| Time::from_micros(seconds * 1_000_000).unwrap();
        let ring = SampleRing {
            began: Some((time(60), used(1.0))),
            ..SampleRing::both().into_iter().next().unwrap()
        };
        let means = ring.means(time(120), &used(3.0));
        assert_eq!(means.len(), MOST_QUEUES + 1);
        let sum: f64 = means.values().sum();
        let wanted = (0..100).map(|i| 2.0 * f64::from(i) / 60.0).sum::<f64>();
        assert!((sum - wanted).abs() < 1e-9, "{sum} {wanted}");
        assert!(ring.means(time(60), &used(3.0)).is_empty(), "no time, no mean");
    }
}
