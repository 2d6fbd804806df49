//! What worlds and reports may see: numbers at this instant, nothing that can be changed.

use super::core::Core;
use super::holds::Reservations;
use super::holds::view::ReservationView;
use crate::fairness::{Integrals, KindUse, Lending};
use crate::ids::{AllocationId, JobId, NodeId, NodeRow, QueueId, QueueRow};
use crate::resources::{ResourceKinds, Resources};
use crate::shares::ExactPart;
use crate::spec::NodeSpec;
use crate::time::{Span, Time};

/// One queue, seen from outside.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(5, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// let view = engine.view();
/// let queue = view.queue(ads);
/// assert_eq!((queue.held, queue.waiting, queue.jobs), (&Resources::new(&[2000]), 3, 1));
/// assert_eq!(queue.share, &Resources::new(&[1000])); // half of the cluster
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QueueView<'a> {
    /// Full name.
    pub name: &'a str,
    /// `None` for the root.
    pub parent: Option<QueueId>,
    /// Whether it takes jobs.
    pub is_leaf: bool,
    /// Whether it is gone.
    pub removed: bool,
    /// In thousandths.
    pub weight: u64,
    /// S_i in every kind, in whole smallest units that add up.
    pub share: &'a Resources,
    /// The part of the pool that it is entitled to, exactly.
    pub part: ExactPart,
    /// What it holds now.
    pub held: &'a Resources,
    /// Tasks that wait (leaves only).
    pub waiting: u64,
    /// Jobs that are alive (leaves only).
    pub jobs: u64,
}

/// The engine, to be read: what worlds and reports may see at this instant. It is as cheap to copy
/// as two references.
///
/// ```
/// use meed::{Config, Engine, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Unit};
/// use meed::place::FirstFit;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let root = Policy::preset("long-term").ok_or("no such preset")?;
/// let config = Config {
///     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
///     measured: 0,
///     queues: vec![QueueSpec::new("ads", root.clone())],
///     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
///     root,
/// };
/// let engine = Engine::new(config, Box::new(FirstFit::new(1)))?;
/// let view = engine.view();
/// assert_eq!(view.capacity(), &Resources::new(&[2000]));
/// let names: Vec<&str> = view.queue_ids().map(|id| view.queue_name(id)).collect();
/// assert_eq!(names, ["root", "ads"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(super) core: &'a Core,
    pub(super) reservations: &'a Reservations,
}

impl<'a> View<'a> {
    /// The last instant the engine was told of.
    pub fn now(self) -> Time {
        self.core.now
    }

    /// The cluster's resource kinds.
    pub fn kinds(self) -> &'a ResourceKinds {
        &self.core.kinds
    }

    /// Whether the policy makes reservations.
    pub fn makes_reservations(self) -> bool {
        self.reservations.are_made()
    }

    /// All reservations, in the order in which they were made, as of the last decision. O(these).
    pub fn reservations(self) -> impl Iterator<Item = ReservationView> + 'a {
        self.reservations.views(self.core)
    }

    /// Whether the policy takes room back from running tasks.
    pub fn reclaims(self) -> bool {
        self.reservations.reclaims()
    }

    /// Running tasks that were told to stop, and have not: in order of handle. A world that comes
    /// back after a crash stops them again.
    pub fn stopping(self) -> impl Iterator<Item = AllocationId> + 'a {
        self.reservations.stopping()
    }

    /// When decisions are to be asked for next though nothing happens until then: a reservation has
    /// waited long enough for others to be stopped. `None`: nothing is decided by time alone.
    #[inline]
    pub fn next_look(self) -> Option<Time> {
        self.reservations.next_look(self.core.now)
    }

    /// All queues in order of declaration, the root first, removed ones included; of those, not
    /// the ones that are forgotten (`set_remembered_queues`).
    pub fn queue_ids(self) -> impl ExactSizeIterator<Item = QueueId> + use<> {
        self.core.tree.rows().ids().into_iter()
    }

    /// The queue that was declared last of those that are known; the root where there is no other.
    #[inline]
    pub fn last_queue(self) -> QueueId {
        self.core.tree.id(QueueRow(self.core.tree.len() as u32 - 1))
    }

    /// Whether a queue is still known: live, or removed and remembered. All that is told of a queue
    /// below is told of those only, and panics for others.
    #[inline]
    pub fn knows_queue(self, id: QueueId) -> bool {
        self.core.tree.row(id).is_some()
    }

    /// The row of a queue in tables of those that are known: dense, in order of declaration. Rows
    /// move up when removed queues are forgotten.
    #[inline]
    pub fn queue_row(self, id: QueueId) -> Option<usize> {
        self.core.tree.row(id).map(QueueRow::index)
    }

    /// Rows of queues now: the root, those that are live, and removed ones that are remembered.
    #[inline]
    pub fn queue_rows(self) -> usize {
        self.core.tree.len()
    }

    /// Whether a queue is gone. Cheaper than a whole [`QueueView`].
    #[inline]
    pub fn is_removed(self, id: QueueId) -> bool {
        self.core.tree.row(id).is_none_or(|row| self.core.tree[row].is_removed())
    }

    /// A queue's full name. Cheaper than a whole [`QueueView`] while nodes and queues change.
    pub fn queue_name(self, id: QueueId) -> &'a str {
        self.core.tree[self.core.row(id)].name()
    }

    /// The queue above; `None` for the root. Cheap likewise.
    pub fn parent(self, id: QueueId) -> Option<QueueId> {
        self.core.tree[self.core.row(id)].parent().map(|row| self.core.tree.id(row))
    }

    /// A queue's weight, in thousandths. Cheap likewise.
    #[inline]
    pub fn queue_weight(self, id: QueueId) -> u64 {
        let id = self.core.row(id);
        self.core.seen().0[id].weight()
    }

    /// One queue.
    pub fn queue(self, id: QueueId) -> QueueView<'a> {
        let id = self.core.row(id);
        let queue = &self.core.seen().0[id];
        QueueView {
            name: queue.name(),
            parent: queue.parent().map(|row| self.core.tree.id(row)),
            is_leaf: queue.is_leaf(),
            removed: queue.is_removed(),
            weight: queue.weight(),
            share: queue.share(),
            part: queue.exact_part(),
            held: self.core.books.held(id),
            waiting: self.core.ready.waiting(id),
            jobs: queue.jobs(),
        }
    }

    /// One node, and what is free on it for new tasks: nothing when it has left or is cordoned.
    ///
    /// A node that left long ago is forgotten: it has no name then, and nothing.
    pub fn node(self, id: NodeId) -> (&'a NodeSpec, Resources) {
        let nothing = Resources::zero(self.core.kinds.len());
        (
            self.core.room.spec_of(id),
            self.core.room.row(id).map_or(nothing, |row| self.core.room.free(row)),
        )
    }

    /// Whether more runs on a node than it has room for.
    pub fn is_overfull(self, node: NodeId) -> bool {
        let row = self.core.room.row(node);
        row.is_some_and(|row| self.core.room.balance(row).iter().any(|left| *left < 0))
    }

    /// The row of a node in tables of those that are remembered: dense, in order of joining. Rows
    /// move up when nodes that left long ago are forgotten, at the joining of another.
    pub fn node_row(self, id: NodeId) -> Option<NodeRow> {
        self.core.room.row(id)
    }

    /// Rows of nodes now: those that are up, and the last that left.
    pub fn node_rows(self) -> usize {
        self.core.room.nodes()
    }

    /// The node of that name that is up.
    pub fn find_node(self, name: &str) -> Option<NodeId> {
        self.core.room.find_node(name)
    }

    /// All nodes in order of joining, the last that left included.
    pub fn node_ids(self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        self.core.room.node_ids().into_iter()
    }

    /// Capacity of all nodes that are up.
    pub fn capacity(self) -> &'a Resources {
        self.core.room.total()
    }

    /// Number of tasks that run.
    pub fn running_tasks(self) -> usize {
        self.core.work.running_tasks()
    }

    /// Handles of all tasks that run, in order of slot.
    pub fn running_ids(self) -> impl Iterator<Item = AllocationId> + 'a {
        self.core.work.all_running().map(|(id, _)| id)
    }

    /// Handles of all live jobs, in order of slot.
    pub fn job_ids(self) -> impl Iterator<Item = JobId> + 'a {
        self.core.work.job_ids()
    }

    /// The leaf of a live job; `None` where it is no more.
    pub fn queue_of(self, job: JobId) -> Option<QueueId> {
        self.core.work.job(job).map(|job| self.core.tree.id(job.queue))
    }

    /// Number of live jobs.
    pub fn live_jobs(self) -> usize {
        self.core.work.live_jobs()
    }

    /// Whether the task of `allocation` still runs, and of which job it is.
    pub fn running_job(self, allocation: AllocationId) -> Option<JobId> {
        self.core.work.running(allocation).map(|task| task.job)
    }

    /// How often a running task was tried before and failed; 0 where it runs no more.
    pub fn failures_of(self, allocation: AllocationId) -> u16 {
        self.core.work.running(allocation).map_or(0, |task| task.failures)
    }

    /// A leaf's integrals up to `now`, which is not before the last event.
    pub fn integrals(self, leaf: QueueId, now: Time) -> Integrals {
        self.core.seen().1.integrals(self.core.row(leaf), now)
    }

    /// What a leaf has used up to `now`, holds and wants of one kind. Cheaper than all its
    /// integrals.
    #[inline]
    pub fn use_of(self, leaf: QueueId, kind: usize, now: Time) -> KindUse {
        self.core.seen().1.use_of(self.core.row(leaf), kind, now)
    }

    /// What a leaf holds and waits for now of one kind, smallest units.
    pub fn wanted(self, leaf: QueueId, kind: usize) -> u128 {
        self.core.seen().1.wanted(self.core.row(leaf), kind)
    }

    /// The kind that fairness is measured in.
    pub fn measured(self) -> usize {
        self.core.books.measured()
    }

    /// What each of the given leaves has lent and borrowed by `now`; give all leaves, removed ones
    /// too, and with [`View::forgotten_lending`] the sums are equal. O(queues).
    pub fn lending(self, leaves: &[QueueId], now: Time) -> Vec<Lending> {
        let rows: Vec<QueueRow> = leaves.iter().map(|&leaf| self.core.row(leaf)).collect();
        self.core.seen().1.lending(&rows, now).0
    }

    /// What leaves that are forgotten had lent and borrowed. O(queues).
    pub fn forgotten_lending(self, now: Time) -> Lending {
        self.core.seen().1.lending(&[], now).1
    }

    /// What a queue's ledger holds against it by its parent's policy, in smallest units x seconds;
    /// its plain use where the policy keeps no ledger. For reports: a float.
    ///
    /// `now` is not after the next chore: call [`Engine::advance`](crate::Engine::advance) first.
    /// Reading changes nothing.
    pub fn charged(self, id: QueueId, now: Time) -> f64 {
        let id = self.core.row(id);
        let (tree, books, _) = self.core.seen();
        books.charged(tree, id, now, self.core.room.total())
    }

    /// A queue's time quantum now (ICS'14 Fig. 3); `None` where no policy of the tree learns one.
    pub fn quantum(self, id: QueueId) -> Option<Span> {
        self.core.books.quantum(self.core.row(id))
    }
}

impl Core {
    /// The row of a queue that the world may ask about.
    #[track_caller]
    #[inline]
    pub(super) fn row(&self, id: QueueId) -> QueueRow {
        self.tree.row(id).expect("a queue of this engine that is not forgotten")
    }
}
