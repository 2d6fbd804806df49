//! From when to when a pod holds what it holds.

/// Instants of one pod, as its status tells them, on whatever scale the caller has.
///
/// A pod's requests are set aside from the moment it is bound, not from the start of its first
/// container: images are pulled and init containers run meanwhile. They are free again when its
/// last container has ended. A pod that was evicted, preempted or lost with its node may tell of no
/// container's end: then it holds them until its condition `DisruptionTarget` says.
///
/// ```
/// use meed_pods::PodTimes;
///
/// let mut times = PodTimes::default();
/// times.bound(Some(10));
/// times.started(Some(12));
/// times.ended(Some(15), Some(40));
/// assert_eq!((times.from(), times.until()), (Some(10), Some(40)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PodTimes<T> {
    bound: Option<T>,
    started: Option<T>,
    first: Option<T>,
    last: Option<T>,
    runs: bool,
    disrupted: Option<T>,
}

impl<T: Copy + Ord> Default for PodTimes<T> {
    fn default() -> PodTimes<T> {
        let (bound, started, first, last, disrupted) = (None, None, None, None, None);
        PodTimes { bound, started, first, last, runs: false, disrupted }
    }
}

impl<T: Copy + Ord> PodTimes<T> {
    /// When its condition `PodScheduled` became true.
    pub fn bound(&mut self, at: Option<T>) {
        self.bound = at;
    }

    /// When the kubelet took it: `status.startTime`.
    pub fn started(&mut self, at: Option<T>) {
        self.started = at;
    }

    /// One container, of whatever kind, that has ended, as far as it is told.
    pub fn ended(&mut self, from: Option<T>, until: Option<T>) {
        self.first = self.first.into_iter().chain(from).min();
        self.last = self.last.into_iter().chain(until).max();
    }

    /// A container is told of that has not ended.
    pub fn runs(&mut self) {
        self.runs = true;
    }

    /// When its condition `DisruptionTarget` became true.
    pub fn disrupted(&mut self, at: Option<T>) {
        self.disrupted = at;
    }

    /// Since when it holds what it holds; `None`: nothing tells.
    pub fn from(&self) -> Option<T> {
        self.bound.or(self.started).or(self.first)
    }

    /// Until when, of a pod that has ended; `None`: nothing tells.
    pub fn until(&self) -> Option<T> {
        let last = self.last.filter(|_| !self.runs);
        last.into_iter().chain(self.disrupted).max()
    }

    /// Whether the condition `DisruptionTarget` alone tells its end.
    pub fn is_cut(&self) -> bool {
        self.disrupted.is_some() && (self.runs || self.last.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_holds_from_its_binding_on() {
        let mut times = PodTimes::default();
        assert_eq!(times.from(), None);
        // An init container of two hours.
        times.ended(Some(130), Some(140));
        times.ended(Some(10), Some(130));
        assert_eq!((times.from(), times.until()), (Some(10), Some(140)));
        times.started(Some(5));
        assert_eq!(times.from(), Some(5));
        times.bound(Some(4));
        assert_eq!(times.from(), Some(4));
    }

    #[test]
    fn a_pod_that_was_disrupted_holds_until_then_at_least() {
        let mut times = PodTimes::default();
        times.disrupted(Some(50));
        assert_eq!((times.until(), times.is_cut()), (Some(50), true));
        // Its containers end a little later.
        times.ended(Some(1), Some(60));
        assert_eq!((times.until(), times.is_cut()), (Some(60), false));
        // The node is gone, and one of them is told of as it was.
        times.runs();
        assert_eq!((times.until(), times.is_cut()), (Some(50), true));
    }

    #[test]
    fn where_a_container_is_told_of_as_running_nothing_tells_the_end() {
        let mut times = PodTimes::default();
        times.ended(Some(1), Some(2));
        times.runs();
        assert_eq!(times.until(), None);
    }
}
