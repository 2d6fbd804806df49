//! The part of a run of which figures are told: what comes before and after it is left out.
//!
//! A run begins with an empty cluster and empty ledgers, and ends when nothing comes any more; both
//! are no work of the policy. So jobs, tasks and waits count that begin in a span of time
//! ([`CountedSpan`]), and integrals over time (use, rho, what was lent) are those of the span: the
//! difference of what they are at its ends ([`Counting`]). Nothing is decided otherwise.
//!
//! Cost: O(queues) at each end of the span.

use std::collections::BTreeMap;

use meed::fairness::{Integrals, Lending};
use meed::{MAX_KINDS, QueueId, Time};

use crate::books::{Books, leaves, lending};

/// A span of a run's time, from its beginning on and before its end. The default is all of it.
///
/// ```
/// use meed::Time;
/// use meed_driver::CountedSpan;
///
/// let at = |s| Time::from_secs(s).expect("in range");
/// let second_hour = CountedSpan { from: at(3600), to: at(7200) };
/// assert!(second_hour.holds(at(3600)) && !second_hour.holds(at(7200)));
/// assert!(CountedSpan::ALL.is_all() && !second_hour.is_all());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedSpan {
    /// Its beginning.
    pub from: Time,
    /// Its end; the largest time is none.
    pub to: Time,
}

impl Default for CountedSpan {
    fn default() -> CountedSpan {
        CountedSpan::ALL
    }
}

impl CountedSpan {
    /// All of a run.
    pub const ALL: CountedSpan = CountedSpan { from: Time::ZERO, to: Time::MAX };

    /// Whether it is all of a run.
    pub fn is_all(&self) -> bool {
        *self == CountedSpan::ALL
    }

    /// Whether an instant lies in it.
    #[inline]
    pub fn holds(&self, at: Time) -> bool {
        self.from <= at && (at < self.to || self.to == Time::MAX)
    }
}

/// What the books say at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark {
    pub(crate) leaves: Vec<LeafMark>,
    pub(crate) capacity: [u128; MAX_KINDS],
}

/// Of a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafMark {
    pub(crate) leaf: QueueId,
    pub(crate) integrals: Integrals,
    pub(crate) lending: Lending,
}

impl Mark {
    /// Of all leaves, in order of declaration. Nothing has happened since the last event that the
    /// books know, up to `at`.
    pub(crate) fn of(at: Time, books: &impl Books) -> Mark {
        let leaves = leaves(books);
        let lent = lending(at, &leaves, books);
        let of_leaf = |(leaf, lending): (QueueId, Lending)| {
            let (engine, queue) = books.leaf(leaf)?;
            Some(LeafMark { leaf, integrals: engine.integrals(queue, at), lending })
        };
        let leaves = leaves.into_iter().zip(lent).filter_map(of_leaf).collect();
        Mark { leaves, capacity: books.capacity_time(at) }
    }

    /// What has come since `earlier`.
    fn since(mut self, earlier: &Mark) -> Mark {
        let known: BTreeMap<QueueId, &LeafMark> =
            earlier.leaves.iter().map(|mark| (mark.leaf, mark)).collect();
        for mark in &mut self.leaves {
            let Some(then) = known.get(&mark.leaf) else { continue };
            mark.integrals = mark.integrals.since(&then.integrals);
            let Lending { lent, borrowed } = &mut mark.lending;
            *lent = lent.saturating_sub(then.lending.lent);
            *borrowed = borrowed.saturating_sub(then.lending.borrowed);
        }
        let sums = self.capacity.iter_mut().zip(earlier.capacity);
        sums.for_each(|(sum, then)| *sum = sum.saturating_sub(then));
        self
    }
}

/// Looks at the books at both ends of a span.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// use meed_driver::{CountedSpan, Counting};
/// let at = |s| Time::from_secs(s).expect("in range");
/// let mut counting = Counting::over(CountedSpan { from: at(10), to: at(20) });
/// assert_eq!(counting.due(at(15)), Some(at(10))); // look at the beginning before this event
/// counting.look(at(10), &driver);
/// assert_eq!(counting.due(at(15)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Counting {
    span: CountedSpan,
    from: Option<Mark>,
    to: Option<Mark>,
}

impl Counting {
    /// Over this span.
    pub fn over(span: CountedSpan) -> Counting {
        Counting { span, from: None, to: None }
    }

    /// The span.
    pub fn span(&self) -> CountedSpan {
        self.span
    }

    /// When it is to look next, if that is not after `at`.
    pub fn due(&self, at: Time) -> Option<Time> {
        let next = match (&self.from, &self.to) {
            (None, _) => self.span.from,
            (Some(_), None) => self.span.to,
            (Some(_), Some(_)) => return None,
        };
        (next <= at).then_some(next)
    }

    /// Looks: nothing has happened since the last event that the books know, up to `at`.
    pub fn look(&mut self, at: Time, books: &impl Books) {
        let mark = Some(Mark::of(at, books));
        match self.from {
            None => self.from = mark,
            Some(_) => self.to = mark,
        }
    }

    /// What the books say of the span, in a run that ends at `end`: what was not due by then is
    /// seen there.
    pub(crate) fn figures(self, end: Time, books: &impl Books) -> Mark {
        let last = || Mark::of(end, books);
        let to = self.to.unwrap_or_else(last);
        let from = self.from.unwrap_or_else(last);
        to.since(&from)
    }
}
