//! Why things stand as they do: the order of what waits, with its keys, and what stands in its way.
//! For people; each view is made anew from the books and changes nothing. O(children), or O(waiting
//! groups), for each call.

use super::core::Core;
use super::holds::kept::expected_end;
use super::ready::Bucket;
use super::room::ShapeId;
use super::view::View;
use crate::decision::KeyValue;
use crate::ids::{AllocationId, JobId, NodeId, NodeRow, QueueId, QueueRow};
use crate::order::Tier;
use crate::order::heap::Item;
use crate::order::key::Key;
use crate::policy::{Policy, Scalar};
use crate::resources::Resources;
use crate::time::{Span, Time};

/// One child of a queue that has tasks waiting.
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
/// # let search = engine.view().find_queue("search").ok_or("declared")?;
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.next_start(false).ok_or("there is room")?;
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(search, &tasks)))?;
/// let root = engine.view().queue_ids().next().ok_or("the root")?;
/// let order = engine.view().children_in_order(root);
/// assert_eq!([order[0].queue, order[1].queue], [search, ads]); // `ads` holds a slot
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChildView {
    /// The child.
    pub queue: QueueId,
    /// Its key as decisions tell it.
    pub key: KeyValue,
    /// The same in natural units per weight 1: resource-seconds for usage (as it counts now, where
    /// memory fades), units for allocation, an arrival number, or the held part of its minimum
    /// share.
    pub natural: f64,
    /// Nothing of it fits anywhere or stays within a maximum share: it is out of the walk until
    /// something changes.
    pub parked: bool,
}

/// Some children of a queue that have tasks waiting ([`View::first_children`]).
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
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// let root = engine.view().queue_ids().next().ok_or("the root")?;
/// let children = engine.view().first_children(root, 5, ads);
/// assert_eq!((children.waiting, children.first[0].queue), (1, ads));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct FirstChildren {
    /// The first in order.
    pub first: Vec<ChildView>,
    /// How many come before the one that was asked about, and itself; `None`: nothing of it waits.
    pub asked: Option<(usize, ChildView)>,
    /// How many children have tasks waiting.
    pub waiting: usize,
}

/// Waiting tasks of one group of a job.
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
/// let groups = engine.view().groups_in_order(ads);
/// assert_eq!((groups.len(), groups[0].waiting), (1, 3)); // two of five run
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupView {
    /// The job.
    pub job: JobId,
    /// The group's number among the job's groups.
    pub group: u32,
    /// Tasks of it that wait.
    pub waiting: u64,
    /// What each asks for.
    pub demand: Resources,
    /// Its key among the groups of its leaf.
    pub key: KeyValue,
    /// The same in natural units, as in [`ChildView::natural`].
    pub natural: f64,
    /// The queue on its path whose maximum share its next turn would exceed: one more such task, or
    /// as many as start together.
    pub capped_by: Option<QueueId>,
    /// How many tasks start together or not at all ([`crate::Gang`]); 1 where each by itself.
    pub together: u32,
    /// What all these ask for.
    pub whole: Resources,
    /// Whether they are of several groups, of which this is the first ([`View::gang_fit`]).
    pub joint: bool,
}

/// A node on which a task may run ([`View::nodes_for`]).
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
/// let tasks = [TaskGroup::new(2, Resources::new(&[1500]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// let group = engine.view().groups_in_order(ads).remove(0);
/// let room = engine.view().nodes_for(&group).next().ok_or("there is a node")?;
/// assert_eq!(room.free, Resources::new(&[500]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NodeRoom {
    /// The node.
    pub node: NodeId,
    /// All that it has.
    pub capacity: Resources,
    /// What is free on it.
    pub free: Resources,
}

/// A task that runs on a node ([`View::running_on`]).
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
/// let tasks = [TaskGroup::new(1, Resources::new(&[1500]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// let start = engine.next_start(false).ok_or("there is room")?;
/// let running = engine.view().running_on(start.node);
/// assert_eq!((running[0].task, running[0].demand), (start.allocation, Resources::new(&[1500])));
/// assert_eq!(running[0].expected_end, None); // the task has no limit
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RunningView {
    /// The task.
    pub task: AllocationId,
    /// Its job.
    pub job: JobId,
    /// Its leaf queue.
    pub queue: QueueId,
    /// What it holds.
    pub demand: Resources,
    /// Since when it runs.
    pub started: Time,
    /// When it is expected to end, which is after now; `None`: nobody knows.
    pub expected_end: Option<Time>,
    /// Whether it runs longer than was expected: then it is expected to run twice as long, and so
    /// on.
    pub is_over: bool,
}

/// The starvation guard, seen from one leaf.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, Measure, NodeSpec, Policy, QueueSpec, ResourceKinds,
/// #     Resources, Span, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy { t_wait: Span::from_secs(60), ..Policy::new(Measure::Usage) };
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(3, Resources::new(&[2000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// engine.advance(Time::from_secs(40).ok_or("in range")?)?;
/// let guard = engine.view().guard_view(ads).ok_or("the policy has one")?;
/// assert_eq!((guard.t_wait.as_secs_f64(), guard.waited.as_secs_f64()), (60.0, 40.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GuardView {
    /// After so long without service a leaf may be served out of turn.
    pub t_wait: Span,
    /// How long this one has waited: since its last service or since its demand began.
    pub waited: Span,
    /// Demanding leaves that have used less of what they are entitled to, by the root's rules,
    /// least first: the guard serves those first.
    pub before: Vec<QueueId>,
}

impl<'a> View<'a> {
    /// How `queue` orders its children.
    pub fn policy(self, queue: QueueId) -> &'a Policy {
        self.core.books.domain(self.core.row(queue)).policy()
    }

    /// Whether a node is up: it has joined and not left.
    pub fn is_up(self, node: NodeId) -> bool {
        self.core.live_node(node).is_ok()
    }

    /// Whether nothing new may start on a node.
    pub fn is_cordoned(self, node: NodeId) -> bool {
        self.core.room.row(node).is_some_and(|row| self.core.room.is_cordoned(row))
    }

    /// Whether more is used of a node than it holds.
    pub fn is_over_full(self, node: NodeId) -> bool {
        self.core.room.row(node).is_some_and(|row| self.core.room.is_over_full(row))
    }

    /// What others use of a node ([`crate::Event::NodeUsedByOthers`]).
    pub fn used_by_others(self, node: NodeId) -> Resources {
        let nothing = Resources::zero(self.core.kinds.len());
        self.core.room.row(node).map_or(nothing, |row| self.core.room.others(row))
    }

    /// Whether some node that is up could hold a task of a group when it is empty; if none can, it
    /// waits for a node to join.
    pub fn some_node_could_hold(self, group: &GroupView) -> bool {
        self.nodes_for(group).any(|room| group.demand.fits_in(&room.capacity))
    }

    /// Running tasks of a job; 0 where it is no more.
    pub fn running_of(self, job: JobId) -> u64 {
        self.core.work.job(job).map_or(0, |job| u64::from(job.running()))
    }

    /// What a running task asks for; `None` where it runs no more.
    pub fn demand_of(self, task: AllocationId) -> Option<&'a Resources> {
        self.core.work.running(task).map(|task| self.core.room.demand(task.shape))
    }

    /// Since when a running task runs.
    pub fn started(self, task: AllocationId) -> Option<Time> {
        self.core.work.running(task).map(|task| task.started)
    }

    /// The running task of a live job with that number. O(running tasks).
    pub fn running_task(self, job: JobId, task: u32) -> Option<AllocationId> {
        let mut all = self.core.work.all_running();
        all.find(|(_, running)| (running.job, running.task) == (job, task)).map(|(id, _)| id)
    }

    /// Minimum and maximum share of a queue.
    pub fn bounds(self, queue: QueueId) -> (Option<Resources>, Option<Resources>) {
        let queue = self.core.row(queue);
        (self.core.tree[queue].min(), self.core.tree[queue].max().copied())
    }

    /// Since when a leaf waits: the later of its last service and the moment its demand began.
    pub fn waits_since(self, leaf: QueueId) -> Time {
        self.core.ready.waits_since(self.core.row(leaf))
    }

    /// The resource whose units the keys among the children of `queue` are in: the one counted, or
    /// the dearest; for dominant shares the measured one, of which they are told as an amount.
    pub fn key_kind(self, queue: QueueId) -> usize {
        self.core.kind_of_keys(self.core.row(queue))
    }

    /// The children of `parent` below which tasks wait, in the order in which they would be served
    /// at this instant; where each server decides by itself, by their keys over the pool. Where
    /// parents are rescaled (hierarchical `drf`), as of the last
    /// [`Engine::advance`](crate::Engine::advance) or decision.
    pub fn children_in_order(self, parent: QueueId) -> Vec<ChildView> {
        self.first_children(parent, usize::MAX, QueueId::ROOT).first
    }

    /// The first `most` of them, and where `asked` stands among them. O(children), besides sorting
    /// those that are told.
    pub fn first_children(self, parent: QueueId, most: usize, asked: QueueId) -> FirstChildren {
        let (parent, asked) = (self.core.row(parent), self.core.row(asked));
        let books = self.core.seen().1;
        let children = self.core.tree[parent].children().iter().copied();
        let waiting = children.filter(|&child| self.core.waits_below(child));
        let key = |child| {
            self.core.rescaled_key(child).unwrap_or_else(|| books.key_seen(self.core.now, child))
        };
        let mut all: Vec<(Key, QueueRow)> = waiting.map(|child| (key(child), child)).collect();
        let order = |a: &(Key, QueueRow), b: &(Key, QueueRow)| {
            self.core.compare_children(&(a.0, a.1.0), &(b.0, b.1.0))
        };
        let view = |&(key, queue): &(Key, QueueRow)| ChildView {
            queue: self.core.tree.id(queue),
            key: self.core.shown(parent, &key),
            natural: self.core.natural(parent, &key),
            parked: self.core.all_parked(queue),
        };
        let mine = all.iter().find(|(_, child)| *child == asked).copied();
        let asked = mine.map(|mine| {
            let before = all.iter().filter(|other| order(other, &mine).is_lt()).count();
            (before, view(&mine))
        });
        let waiting = all.len();
        if most < waiting {
            all.select_nth_unstable_by(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by(order);
        FirstChildren { first: all.iter().map(view).collect(), asked, waiting }
    }

    /// The waiting task groups of `leaf`, best first.
    pub fn groups_in_order(self, leaf: QueueId) -> Vec<GroupView> {
        let leaf = self.core.row(leaf);
        let books = self.core.seen().1;
        let slots = self.core.ready.buckets(leaf).iter().flat_map(Bucket::groups);
        let key = |slot| {
            let group = self.core.work.group(slot);
            books.group_key_seen(self.core.now, group.job, group.number)
        };
        let mut all: Vec<(Key, u32)> = slots.map(|slot| (key(slot), slot)).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        let view = |(key, slot): (Key, u32)| {
            let group = self.core.work.group(slot);
            let (turn, demand) = (group.turn(), self.core.room.demand(group.shape));
            let whole = self.core.room.demand_of_turn(turn);
            let capped_by = self.core.books.capped_by(&self.core.tree, leaf, &whole);
            GroupView {
                job: group.job,
                group: group.number,
                waiting: group.waiting(),
                demand: *demand,
                key: self.core.shown(leaf, &key),
                natural: self.core.natural(leaf, &key),
                capped_by: capped_by.map(|row| self.core.tree.id(row)),
                together: self.core.room.turn_of(turn),
                whole,
                joint: self.core.room.is_joint(turn),
            }
        };
        all.into_iter().map(view).collect()
    }

    /// The nodes that are up and on which constraints let tasks of a group run, in order of
    /// joining. O(nodes) in all.
    pub fn nodes_for(self, group: &GroupView) -> impl Iterator<Item = NodeRoom> + 'a {
        let shape = self.core.slot_of(group).map(|slot| self.core.shape_alone(slot));
        let rows = (0..self.core.room.nodes() as u32).map(NodeRow);
        let room = move |row: NodeRow| {
            let node = self.core.room.node(row).filter(|node| node.up)?;
            let allowed = shape.is_some_and(|shape| self.core.room.allows(shape, row));
            allowed.then(|| NodeRoom {
                node: self.core.room.id(row),
                capacity: node.spec.capacity,
                free: self.core.room.free(row),
            })
        };
        rows.filter_map(room)
    }

    /// How many tasks of a gang's group fit at once now, where the gang may be. O(nodes).
    pub fn fit_at_once(self, group: &GroupView) -> u64 {
        let slot = self.core.slot_of(group);
        slot.map_or(0, |slot| self.core.room.fit_at_once(self.core.work.group(slot).turn()))
    }

    /// The tasks that run on a node, the latest first.
    pub fn running_on(self, node: NodeId) -> Vec<RunningView> {
        let Some(row) = self.core.room.row(node) else { return Vec::new() };
        let view = |task: AllocationId| {
            let running = self.core.work.running(task).expect("it runs there");
            let limit = self.core.room.limit(running.shape);
            let over =
                limit.is_some_and(|limit| running.started.saturating_add(limit) <= self.core.now);
            RunningView {
                task,
                job: running.job,
                queue: self.core.tree.id(running.queue),
                demand: *self.core.room.demand(running.shape),
                started: running.started,
                expected_end: expected_end(running.started, limit, self.core.now),
                is_over: over,
            }
        };
        self.core.work.running_on(row).into_iter().rev().map(view).collect()
    }

    /// The starvation guard, where the root's policy has one.
    pub fn guard_view(self, leaf: QueueId) -> Option<GuardView> {
        let guard = self.core.seen().2?;
        let leaf = self.core.row(leaf);
        let mine = guard.seen(self.core.now, leaf);
        let others = self.core.tree.iter().filter(|(_, row)| row.is_leaf()).map(|(other, _)| other);
        let others = others.filter(|&other| other != leaf);
        let walked = others.filter(|&other| self.core.ready.waiting(other) > 0);
        let stands = walked.map(|other| guard.seen(self.core.now, other));
        let mut before: Vec<Item> =
            stands.filter(|other| guard.compare(other, &mine).is_lt()).collect();
        before.sort_unstable_by(|a, b| guard.compare(a, b));
        Some(GuardView {
            t_wait: guard.t_wait(),
            waited: self.core.now.saturating_since(self.core.ready.waits_since(leaf)),
            before: before.into_iter().map(|(_, leaf)| self.core.tree.id(QueueRow(leaf))).collect(),
        })
    }
}

impl Core {
    fn kind_of_keys(&self, queue: QueueRow) -> usize {
        match &self.books.domain(queue).scalar {
            Scalar::Kind(kind) => *kind,
            // The first of the dearest.
            Scalar::Priced(prices) => {
                (0..prices.len()).rev().max_by_key(|&kind| prices[kind]).unwrap_or(0)
            }
            // A share of the pool is told as an amount of what fairness is measured in.
            Scalar::Dominant => self.books.measured(),
        }
    }

    pub(super) fn slot_of(&self, group: &GroupView) -> Option<u32> {
        let mut groups = self.work.job(group.job)?.groups().iter();
        groups.find(|&&slot| self.work.group(slot).number == group.group).copied()
    }

    /// What tells where tasks of a group may be, also of one that waits with others of its gang.
    fn shape_alone(&self, slot: u32) -> ShapeId {
        let turn = self.work.group(slot).turn();
        let place = self.work.waiting_members(slot).position(|member| member == slot);
        self.room.part_of(turn, place.unwrap_or(0))
    }

    fn waits_below(&self, queue: QueueRow) -> bool {
        let children = self.tree[queue].children();
        self.ready.waiting(queue) > 0 || children.iter().any(|&child| self.waits_below(child))
    }

    fn all_parked(&self, queue: QueueRow) -> bool {
        let children = self.tree[queue].children();
        match children.is_empty() {
            // The walk may not have come to it yet.
            true => !self.may_start(queue),
            false => children
                .iter()
                .filter(|&&child| self.waits_below(child))
                .all(|&child| self.all_parked(child)),
        }
    }

    fn natural(&self, parent: QueueRow, key: &Key) -> f64 {
        if key.tier() == Tier::BelowMinimum {
            return key.value();
        }
        let kind = self.kind_of_keys(parent);
        let (scale, total) = (self.kinds.unit(kind).scale(), self.room.total().get(kind));
        self.seen().1.domain(parent).natural(key.value(), self.now, scale, total)
    }
}
