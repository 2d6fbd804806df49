//! Where the books of each queue are: in one engine, or (static partition) in one for each tenant.
//!
//! Reports, samples and explanations read through it, so none of them knows which it is.

use std::borrow::Cow;

use meed::fairness::Lending;
use meed::{MAX_KINDS, QueueId, Rejected, Time, View};

use crate::tally::{QueueTally, Totals};

/// The books of all queues of one tree.
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
/// use meed_driver::Books;
/// let now = Time::from_secs(10).ok_or("in range")?;
/// assert_eq!(driver.capacity_time(now)[0], 2000 * 10_000_000); // 2 cores for 10 s
/// assert_eq!(driver.totals().starts, 2);
/// let (tree, leaf) = driver.leaf(queue).ok_or("it has a leaf")?;
/// assert_eq!(tree.queue_name(leaf), "physics");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Books {
    /// The engine that knows the whole tree.
    fn tree(&self) -> View<'_>;

    /// The engine in which a leaf of the tree is served, and what it is there; `None` for parents,
    /// also for those that have lost their last child.
    fn leaf(&self, queue: QueueId) -> Option<(View<'_>, QueueId)>;

    /// Whether queues use what others leave. Alone on its share nobody lends, and there is no
    /// order among queues.
    fn lends(&self) -> bool {
        true
    }

    /// Lets time pass to `now` without anything happening.
    fn advance(&mut self, now: Time) -> Result<(), Rejected>;

    /// What was counted of a leaf.
    fn tally(&self, leaf: QueueId) -> &QueueTally;

    /// What was counted of all.
    fn totals(&self) -> Cow<'_, Totals>;

    /// Capacity x time up to `now`, per resource.
    fn capacity_time(&self, now: Time) -> [u128; MAX_KINDS];
}

/// The leaf queues that there were, in order of declaration.
pub(crate) fn leaves(books: &impl Books) -> Vec<QueueId> {
    books.tree().queue_ids().filter(|&id| books.leaf(id).is_some()).collect()
}

/// What each of `leaves` (all of them) lent and borrowed.
pub(crate) fn lending(t: Time, leaves: &[QueueId], books: &impl Books) -> Vec<Lending> {
    if !books.lends() {
        return vec![Lending::default(); leaves.len()];
    }
    // A parent that has lost its last child has a share that others can borrow: without it sums
    // would differ.
    let tree = books.tree();
    let childless =
        tree.queue_ids().filter(|&id| tree.queue(id).is_leaf && books.leaf(id).is_none());
    let all: Vec<QueueId> = leaves.iter().copied().chain(childless).collect();
    let mut lending = tree.lending(&all, t);
    lending.truncate(leaves.len());
    lending
}
