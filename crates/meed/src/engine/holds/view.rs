//! Reservations as they are told.

use super::hold::{Hold, NOWHERE, Starter};
use crate::engine::core::Core;
use crate::engine::holds::Reservations;
use crate::engine::room::Nodes;
use crate::ids::{JobId, NodeId};
use crate::resources::Resources;
use crate::time::Time;

/// Room that is held for another group of a gang, with that of the first.
///
/// It is part of a [`ReservationView`], whose page has an example.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HeldWith {
    /// The number of the group among the job's groups.
    pub group: u32,
    /// What each task asks for.
    pub demand: Resources,
    /// Where room is held, for how many tasks.
    pub nodes: Vec<(NodeId, u32)>,
}

/// Room that is held for a waiting task, or for all tasks of a gang that start together
/// ([`View::reservations`](crate::View::reservations)).
///
/// ```
/// # use meed::{
/// #     Blocked, Config, Engine, Event, JobSpec, Measure, NodeSpec, Policy, QueueSpec,
/// #     Reservations, ResourceKinds, Resources, TaskGroup, Time, Unit,
/// # };
/// # let root = Policy {
/// #     blocked: Blocked::Reserve(Reservations::All),
/// #     ..Policy::new(Measure::Allocation)
/// # };
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
/// let small = [TaskGroup::new(1, Resources::new(&[500]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &small)))?;
/// engine.decide(false, |_| {});
/// let large = [TaskGroup::new(1, Resources::new(&[2000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(search, &large)))?;
/// engine.decide(false, |_| {});
/// let view = engine.view();
/// let held = view.reservations().next().ok_or("for the task of `search`")?;
/// assert_eq!((held.demand, held.tasks(), held.at), (Resources::new(&[2000]), 1, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReservationView {
    /// Its job.
    pub job: JobId,
    /// The number of its group among the job's groups: it is the next of that.
    pub group: u32,
    /// What each task asks for.
    pub demand: Resources,
    /// Where room is held, for how many tasks: one, but for a gang. In order of joining.
    pub nodes: Vec<(NodeId, u32)>,
    /// The same for the other groups of a gang of several.
    pub others: Vec<HeldWith>,
    /// Nodes that are drained besides, in order of joining: the task starts on whichever has room
    /// first, and all others are let go.
    pub spares: Vec<NodeId>,
    /// When it is expected to start; `None`: nobody knows, what comes free on the nodes is kept.
    pub at: Option<Time>,
    /// Since when it has the reservation.
    pub since: Time,
    /// How often it was put off, for something ran longer than was expected, or a node went.
    pub moved: u32,
    /// Whether it waits where it is for tasks that were told to stop.
    pub reclaims: bool,
    /// Whether it was put off where estimates are learned: nobody is let in before it any more.
    pub drained: bool,
}

impl ReservationView {
    /// How many tasks start by it.
    pub fn tasks(&self) -> u32 {
        self.all().map(|(.., tasks)| tasks).sum::<u32>() - self.spares.len() as u32
    }

    /// All that is held, group by group: what each task asks for, where, and for how many. Spares
    /// come last.
    pub fn all(&self) -> impl Iterator<Item = (&Resources, NodeId, u32)> {
        let spares = self.spares.iter().map(|&node| (&self.demand, node, 1));
        let own = self.nodes.iter().map(|&(node, tasks)| (&self.demand, node, tasks));
        let others = self.others.iter().flat_map(|other| {
            other.nodes.iter().map(|&(node, tasks)| (&other.demand, node, tasks))
        });
        own.chain(others).chain(spares)
    }

    /// The nodes on which room is held, in order of joining.
    pub fn places(&self) -> Vec<NodeId> {
        let mut places: Vec<NodeId> = self.all().map(|(_, node, _)| node).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}

impl Reservations {
    /// See [`View::reservations`](crate::View::reservations).
    pub(in crate::engine) fn views<'a>(
        &'a self,
        core: &'a Core,
    ) -> impl Iterator<Item = ReservationView> + 'a {
        let list = self.holds.iter().flat_map(|holds| &holds.list);
        // Of a node that is forgotten nothing can be told; the next decision finds another.
        list.filter(|hold| !hold.is_on(NOWHERE)).map(|hold| {
            let group = core.work.group(hold.slot());
            let (job, group, id) = (group.job, group.number, |node| core.room.id(node));
            let told =
                |nodes: &Nodes| nodes.iter().map(|&(node, tasks)| (id(node), tasks)).collect();
            let nodes = told(&hold.nodes[0]);
            let other = |(starter, nodes): (&Starter, &Nodes)| HeldWith {
                group: core.work.group(starter.slot).number,
                demand: starter.need.demand,
                nodes: told(nodes),
            };
            let others = hold.starters.iter().zip(&hold.nodes).skip(1).map(other).collect();
            let Hold { at, since, moved, drained, .. } = *hold;
            let (demand, reclaims) = (hold.need().demand, hold.is_pinned());
            ReservationView {
                job,
                group,
                demand,
                nodes,
                others,
                spares: hold.spares.iter().map(|&node| id(node)).collect(),
                at,
                since,
                moved,
                reclaims,
                drained,
            }
        })
    }
}
