//! Changes of the cluster and of the queue tree while work runs: what a scenario, a log or a
//! timetable of contributions says, and worlds carry out.

use meed::{NodeSpec, QueueChange, Resources, Time};

/// One change and its time.
///
/// ```
/// use meed::Time;
/// use meed_scenario::changes::{Change, TimedChange};
///
/// let at = Time::from_secs(3600).ok_or("in range")?;
/// let change = TimedChange { at, change: Change::QueueRemoved("ads".to_owned()) };
/// assert!(matches!(change.change, Change::QueueRemoved(queue) if queue == "ads"));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct TimedChange {
    /// When.
    pub at: Time,
    /// What.
    pub change: Change,
}

/// What a scenario can change.
///
/// The example of [`TimedChange`] makes one.
#[derive(Clone, Debug)]
pub enum Change {
    /// A node joins.
    NodeJoins(NodeSpec),
    /// The node of this name leaves.
    NodeLeaves(String),
    /// The node of this name has another capacity.
    NodeResized(String, Resources),
    /// The queue of this name changes.
    Queue(String, QueueChange),
    /// The queue of this name takes no more jobs and goes when it is empty.
    QueueRemoved(String),
    /// The job of this label is cancelled, if it is alive.
    JobCancelled(String),
}
