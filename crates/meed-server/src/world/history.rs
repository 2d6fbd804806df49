//! Who held what over the last day and the last month: the server's own samples.
//!
//! Samples are means ([`meed_driver::holdings`]). There are two rings, one of minutes and one of
//! half hours; both are in the books, written with what is written anyway, so a crash loses the
//! last of them and no more. A server that starts begins with a new step: what tasks used while
//! nobody served was charged to nobody. Without the HTTP interface nobody asks, and nothing is
//! sampled.

use meed::Time;
use meed_driver::holdings::{UsedByQueue, series, used};

use super::samples::SampleRing;
use super::{World, WorldError};
use crate::protocol::{HistoryQuery, HoldingHistory, HoldingSeries, NotDone, RefusalKind};
use crate::settings::Role;
use crate::user::LocalUser;

impl World {
    /// What each queue has used so far.
    fn used(&mut self, now: Time) -> Result<UsedByQueue, meed::Rejected> {
        let books = self.live.queues(now)?;
        Ok(used(self.live.engine(), &books))
    }

    /// Takes the samples that are due.
    pub(super) fn sample(&mut self) {
        if !self.watched.is_followed() {
            return;
        }
        let clock = self.meta.clock.now();
        if !self.samples.iter().any(|ring| ring.steps.is_due(clock)) {
            return;
        }
        let now = self.live.instant(clock);
        // A look at the books that is refused is no reason to stop serving.
        let Ok(used) = self.used(now) else { return };
        for SampleRing { kind, kept, steps } in &mut self.samples {
            if !steps.is_due(clock) {
                continue;
            }
            if steps.has_begun() {
                let number = steps.number(now).saturating_sub(1);
                let means = steps.means(now, &used).into_iter();
                let means = means.map(|(queue, mean)| (queue.to_string(), mean)).collect();
                self.writes.sample((*kind, number), &means, number.saturating_sub(*kept));
            }
            steps.begin(now, used.clone());
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
        let (epoch, step_us) = (self.meta.clock.epoch_us, ring.steps.step_us());
        let first = ring.steps.number(now).saturating_sub(ring.kept);
        let kept = self.books.samples(ring.kind, first)?;
        let going_on = ring.steps.means(now, &used);
        let ends = kept.iter().map(|(number, _)| epoch + (number + 1) * step_us);
        let at_us = ends.chain([epoch + now.as_micros()]).collect();
        let mut samples: Vec<Vec<(&str, f64)>> = Vec::new();
        for (_, means) in &kept {
            samples.push(means.iter().map(|(queue, mean)| (queue.as_str(), *mean)).collect());
        }
        samples.push(going_on.iter().map(|(queue, mean)| (&**queue, *mean)).collect());
        let members = &self.settings.members;
        let sees_all = members.role(user) >= Role::Operator;
        let is_known = |queue: &str| sees_all || members.may_use(user, queue);
        let series = series(&samples, is_known).into_iter();
        let series =
            series.map(|(queue, held)| HoldingSeries { queue: queue.map(str::to_owned), held });
        let engine = self.live.engine();
        let (kinds, measured) = (engine.kinds(), engine.measured());
        let scale = kinds.unit(measured).scale() as f64;
        Ok(Ok(HoldingHistory {
            measured: kinds.name(measured).to_owned(),
            capacity: engine.capacity().get(measured) as f64 / scale,
            step_us,
            at_us,
            series: series.collect(),
        }))
    }
}
