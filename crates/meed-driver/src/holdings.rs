//! Who held what over time, for the histories of live worlds.
//!
//! A sample is a mean, not a glimpse: what a queue has used since the step began, by the ledger,
//! over the time between. So samples add up to the usage, whatever came and went in between.
//!
//! > mean(queue) = (used now - used when the step began) / time since
//!
//! Where samples are kept is the world's to say: in its books, in memory.
//!
//! Invariant: at most [`MOST_QUEUES`] queues in a sample, and what more hold is added up under the
//! empty name. Cost: O(queues) for a sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use meed::{QueueId, Time, View};

use crate::explain::QueueStatus;

/// Queues of one sample; what more hold is added up.
pub const MOST_QUEUES: usize = 64;

/// What each queue has used so far, by its name: unit-seconds of the measured resource.
pub type UsedByQueue = BTreeMap<Arc<str>, f64>;

/// What each held on average, the rest under the empty name.
pub type MeanHeld = Vec<(Arc<str>, f64)>;

/// What the books say that each queue has used.
pub fn used(engine: View<'_>, books: &[(QueueId, QueueStatus)]) -> UsedByQueue {
    books.iter().map(|(id, state)| (Arc::from(engine.queue_name(*id)), state.usage)).collect()
}

/// Steps of equal length, one after the other.
///
/// ```
/// use meed::Time;
/// use meed_driver::holdings::HoldingSteps;
///
/// let at = |seconds| Time::from_secs(seconds).expect("in range");
/// let mut minutes = HoldingSteps::of(60_000_000);
/// minutes.begin(at(60), [("ads".into(), 0.0)].into());
/// assert!(!minutes.is_due(at(119)) && minutes.is_due(at(120)));
/// let means = minutes.means(at(120), &[("ads".into(), 90.0)].into());
/// assert_eq!(means, [("ads".into(), 1.5)]);
/// ```
#[derive(Debug)]
pub struct HoldingSteps {
    step_us: u64,
    /// When the step began that goes on, and what each queue had used by then.
    began: Option<(Time, UsedByQueue)>,
}

impl HoldingSteps {
    /// Of so many microseconds, one at least; none has begun.
    pub fn of(step_us: u64) -> HoldingSteps {
        HoldingSteps { step_us: step_us.max(1), began: None }
    }

    /// How long each is.
    pub fn step_us(&self) -> u64 {
        self.step_us
    }

    /// The number of the step in which an instant is.
    pub fn number(&self, at: Time) -> u64 {
        at.as_micros() / self.step_us
    }

    /// Whether one has begun.
    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Whether the one that goes on is over, or none has begun.
    pub fn is_due(&self, now: Time) -> bool {
        self.began.as_ref().is_none_or(|(began, _)| self.number(*began) < self.number(now))
    }

    /// Mean held since the step began; nothing where no time has passed.
    pub fn means(&self, now: Time, used: &UsedByQueue) -> MeanHeld {
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

    /// A step begins.
    pub fn begin(&mut self, now: Time, used: UsedByQueue) {
        self.began = Some((now, used));
    }
}

/// The largest, and all others under the empty name.
fn bounded(mut means: MeanHeld) -> MeanHeld {
    means.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest: f64 = means.iter().skip(MOST_QUEUES).map(|(_, mean)| mean).sum();
    means.truncate(MOST_QUEUES);
    if rest > 0.0 {
        means.push((Arc::from(""), rest));
    }
    means
}

/// Samples as a series for each queue, each with a value for every sample. Queues that are not to
/// be known, and the empty name, are added up under `None`. Whether one is known is asked once.
pub fn series<'s>(
    samples: &[Vec<(&'s str, f64)>],
    mut is_known: impl FnMut(&str) -> bool,
) -> BTreeMap<Option<&'s str>, Vec<f64>> {
    let mut series: BTreeMap<Option<&str>, Vec<f64>> = BTreeMap::new();
    let mut known: BTreeMap<&str, bool> = BTreeMap::new();
    for (place, sample) in samples.iter().enumerate() {
        for &(queue, mean) in sample {
            let shows = known.entry(queue);
            let shows = *shows.or_insert_with(|| !queue.is_empty() && is_known(queue));
            let name = shows.then_some(queue);
            series.entry(name).or_insert_with(|| vec![0.0; samples.len()])[place] += mean;
        }
    }
    series
}
