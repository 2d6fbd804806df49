//! By what rules room is taken back from tasks that run, for a queue that is owed
//! (`engine::holds::reclaim`).

use crate::time::Span;

/// When running tasks may be stopped for others that have a reservation.
///
/// ```
/// use meed::{Measure, Policy, Reclaim, Span};
///
/// let rules = Reclaim::new(Span::from_secs(600).ok_or("in range")?);
/// assert_eq!(rules.grace.as_secs_f64(), 30.0);
/// let policy = Policy { reclaim: Some(rules), ..Policy::new(Measure::Usage) };
/// assert_eq!(policy.reclaim.map(|rules| rules.min_runtime), Span::from_secs(300));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Reclaim {
    /// How long a reservation has waited before tasks are stopped for it, and then before that is
    /// tried again.
    pub after: Span,
    /// A task that has run less is not stopped.
    pub min_runtime: Span,
    /// No task is stopped where, by the ledgers, its queue would come before the other again within
    /// this time: the guard against swings.
    pub guard: Span,
    /// How long a task that is to stop may take for it.
    pub grace: Span,
}

impl Reclaim {
    /// The usual rules for one that waits so long: tasks of less than five minutes are not stopped,
    /// what was taken back is kept at least as long as was waited for it, and a task has 30 s to
    /// stop.
    ///
    /// ```
    /// use meed::{Reclaim, Span};
    ///
    /// let hour = Span::from_secs(3600).ok_or("in range")?;
    /// let rules = Reclaim::new(hour);
    /// assert_eq!((rules.after, rules.guard), (hour, hour));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn new(after: Span) -> Reclaim {
        let seconds = |seconds| Span::from_secs(seconds).unwrap_or(Span::ZERO);
        let (min_runtime, grace) = (seconds(300), seconds(30));
        Reclaim { after, min_runtime, guard: after.max(grace), grace }
    }

    /// What is wrong with the rules, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.after == Span::ZERO {
            return Some("reclaim_after must be above zero".to_owned());
        }
        (self.guard < self.grace).then(|| {
            "reclaim_guard must not be below reclaim_grace: the order could turn before the tasks \
             have stopped"
                .to_owned()
        })
    }
}
