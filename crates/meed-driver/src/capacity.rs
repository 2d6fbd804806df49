//! Capacity x time of the cluster, which may change.

use meed::{MAX_KINDS, Resources, Time};

/// The integral of a cluster's capacity over time, per resource, exact.
///
/// ```
/// use meed::{Resources, Time};
/// use meed_driver::CapacityTime;
///
/// let (cores, at) = (Resources::new(&[2000]), |s| Time::from_secs(s).expect("in range"));
/// let mut sum = CapacityTime::default();
/// sum.pass(at(10), &cores); // 2 cores up to now
/// assert_eq!(sum.until(at(11), &Resources::new(&[1000]))[0], 21_000 * 1_000_000);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CapacityTime {
    passed: [u128; MAX_KINDS],
    at: Time,
}

impl CapacityTime {
    /// `capacity` was there since the last call, up to `now`.
    pub fn pass(&mut self, now: Time, capacity: &Resources) {
        self.passed = self.until(now, capacity);
        self.at = now;
    }

    pub(crate) fn from_parts(passed: [u128; MAX_KINDS], at: Time) -> CapacityTime {
        CapacityTime { passed, at }
    }

    pub(crate) fn parts(&self) -> ([u128; MAX_KINDS], Time) {
        (self.passed, self.at)
    }

    /// The integral up to `now`, with `capacity` since the last change.
    pub fn until(&self, now: Time, capacity: &Resources) -> [u128; MAX_KINDS] {
        let micros = u128::from(now.saturating_since(self.at).as_micros());
        let mut sums = self.passed;
        sums.iter_mut()
            .zip(capacity.as_slice())
            .for_each(|(sum, &amount)| *sum += u128::from(amount) * micros);
        sums
    }
}
