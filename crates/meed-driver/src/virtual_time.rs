//! What worlds of virtual time share: when a run stops, and how far it is.

use meed::Time;

/// When a run stops.
///
/// ```
/// use meed::Time;
/// use meed_driver::StopAt;
///
/// let noon = StopAt { at: Time::from_secs(43_200).ok_or("in range")?, hold: true };
/// assert!(noon.at < StopAt::END.at && !StopAt::END.hold);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopAt {
    /// Nothing after this instant happens.
    pub at: Time,
    /// Whether the run is measured up to that instant even when everything has ended before.
    pub hold: bool,
}

impl StopAt {
    /// When everything has ended.
    pub const END: StopAt = StopAt { at: Time::MAX, hold: false };
}

/// What the caller is told now and then while a run goes on.
///
/// ```
/// use meed::Time;
/// use meed_driver::Progress;
///
/// let told = Progress { now: Time::ZERO, jobs_ended: 5, fraction: Some(0.25) };
/// let percent = told.fraction.map(|part| 100.0 * part);
/// assert_eq!(percent, Some(25.0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Virtual time.
    pub now: Time,
    /// Jobs that have ended.
    pub jobs_ended: u64,
    /// Fraction of the input read, from 0 to 1, where it can be known.
    pub fraction: Option<f64>,
}
