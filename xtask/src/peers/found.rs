//! What was measured of a peer.

/// Of one run; `None`: the peer has no such thing.
#[derive(Default)]
pub(super) struct Found {
    /// Single jobs a second, one client after the other, and eight at once.
    pub(super) single: Option<f64>,
    pub(super) at_once: Option<f64>,
    /// Tasks a second of one request.
    pub(super) request: Option<f64>,
    /// Seconds until all had run.
    pub(super) run_single: Option<Took>,
    pub(super) run_request: Option<Took>,
    /// Milliseconds from submit to start, in order.
    pub(super) starts_ms: Vec<f64>,
    pub(super) waiting: Option<Waits>,
}

/// How long something took, or how far it came in the time that it had.
#[derive(Clone, Copy)]
pub(super) enum Took {
    Seconds(f64),
    /// So many of all were not done in so many seconds.
    Short(usize, f64),
}

/// A peer with many waiting jobs.
pub(super) struct Waits {
    pub(super) jobs: usize,
    pub(super) bytes: u64,
    pub(super) processes: usize,
    pub(super) list_ms: f64,
}

impl Found {
    pub(super) fn start_ms(&self, part: f64) -> Option<f64> {
        let last = self.starts_ms.len().checked_sub(1)?;
        self.starts_ms.get((last as f64 * part).round() as usize).copied()
    }
}
