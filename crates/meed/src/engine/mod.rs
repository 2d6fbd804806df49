//! The engine: a deterministic state machine from (state, event) to decisions.
//!
//! A world calls [`Engine::apply`] for each event of an instant and then [`Engine::decide`]. The
//! engine reads no clock (time comes with each event), does no I/O, spawns nothing and draws no
//! random number: the same events give the same decisions on every machine.
//!
//! What happens to one task, in order: its job arrives (`jobs`), the walk chooses it (`decide`), it
//! starts and ends (`tasks`); the clock alone changes rounds, landmarks and quanta (`chores`);
//! nodes and queues come and go (`nodes`, `queues`).
//!
//! Cost of a decision: O(depth * log children) for each key that is re-read (`order::heap`: one,
//! unless tasks outrun their quantum), plus the placement's; nothing in it grows with the number of
//! waiting jobs, of idle tenants, or of tasks that fit nowhere. Two exceptions: jobs whose tasks
//! want nodes of their own are looked at one by one within their leaf, and `per-server-drf`
//! (`per_server`) looks at all queues.

mod chores;
mod decide;
mod explain;
mod fresh;
mod guard;
mod jobs;
mod least_tree;
mod nodes;
mod offer;
mod parked;
mod per_server;
mod played;
mod queues;
mod rescale;
mod rules;
mod shares;
mod tasks;
mod view;

pub use explain::{ChildView, GroupView, GuardView};
pub(crate) use rules::RulesId;
pub use view::QueueView;

use std::collections::BTreeMap;

use crate::cluster::Cluster;
use crate::error::{ConfigError, Rejected};
use crate::event::{Effect, Event};
use crate::fairness::Meter;
use crate::order::Domain;
use crate::order::heap::ABSENT;
use crate::place::Placement;
use crate::policy::Quantum;
use crate::quantum::QuantumUpdater;
use crate::resources::ResourceKinds;
use crate::shapes::Shapes;
use crate::slab::Slab;
use crate::spec::{AllocationMark, Config, JobId, JobMark, NodeId, QueueId};
use crate::time::Time;
use guard::Guard;
use jobs::{Group, Job};
use parked::Parked;
use per_server::Servers;
use queues::Queue;
use rescale::Rescaling;
use rules::Rules;
use tasks::Running;

/// See the module.
pub struct Engine {
    kinds: ResourceKinds,
    now: Time,
    cluster: Cluster,
    place: Box<dyn Placement>,
    shapes: Shapes,
    rules: Rules,
    /// In order of declaration; the root is first. Removed ones stay as tombstones.
    queues: Vec<Queue>,
    /// How queues order their children; one for all queues of equal policies.
    domains: Vec<Domain>,
    /// Live queues by full name.
    names: BTreeMap<String, QueueId>,
    /// Where each queue stands in its parent's heap.
    queue_places: Vec<u32>,
    jobs: Slab<JobMark, Job>,
    /// Arrival number of the next job.
    arrivals: u64,
    groups: Vec<Group>,
    unused_groups: Vec<u32>,
    /// Where each group stands in its leaf's bucket.
    group_places: Vec<u32>,
    running: Slab<AllocationMark, Running>,
    guard: Option<Guard>,
    /// What is held on each server, where each decides on its own.
    servers: Option<Servers>,
    meter: Meter,
    quanta: Option<QuantumUpdater>,
    /// Live jobs of which a task has ended since the last refresh of the quanta.
    learners: Vec<JobId>,
    /// When the clock alone next changes something.
    next_chore: Time,
    /// Whether any queue has a maximum share, and whether any is ordered by arrival: what nobody
    /// has costs nothing.
    has_maximums: bool,
    orders_by_arrival: bool,
    /// Whether a parent may stand by its children rescaled.
    rescales: bool,
    rescaling: Rescaling,
    /// Whether to stop at a task that fits nowhere (`Blocked::Wait`).
    waits: bool,
    parked: Parked,
    woken: Vec<QueueId>,
    /// Nodes that have got room since the last decisions; see `fresh`.
    fresh: Vec<NodeId>,
}

impl Engine {
    /// An engine with the queues and nodes of `config`, placing by `place` (see
    /// `place::PLACEMENTS`).
    pub fn new(config: Config, place: Box<dyn Placement>) -> Result<Engine, ConfigError> {
        let kinds = config.kinds;
        let adaptive =
            std::iter::once(&config.root).chain(config.queues.iter().map(|queue| &queue.policy));
        let quanta = adaptive
            .filter_map(|policy| match policy.quantum {
                Quantum::Adaptive { initial, interval } => {
                    Some(QuantumUpdater::new(initial, interval))
                }
                Quantum::Fixed(_) => None,
            })
            .next();
        if config.queues.is_empty() {
            return Err(ConfigError::NoQueue);
        }
        if config.measured >= kinds.len() {
            let problem =
                format!("there is no resource number {} to measure fairness in", config.measured);
            return Err(ConfigError::Policy { queue: "root".to_owned(), problem });
        }
        let mut engine = Engine {
            now: Time::ZERO,
            cluster: Cluster::new(kinds.len()),
            place,
            shapes: Shapes::default(),
            rules: Rules::default(),
            queues: Vec::new(),
            domains: Vec::new(),
            names: BTreeMap::new(),
            queue_places: Vec::new(),
            jobs: Slab::new(),
            arrivals: 0,
            groups: Vec::new(),
            unused_groups: Vec::new(),
            group_places: Vec::new(),
            running: Slab::new(),
            guard: config.root.t_wait.map(|t_wait| Guard::new(t_wait, &config.root)),
            servers: config.root.per_server.then(Servers::default),
            meter: Meter::new(config.measured, kinds.len()),
            quanta,
            learners: Vec::new(),
            next_chore: Time::MAX,
            has_maximums: false,
            orders_by_arrival: false,
            rescales: false,
            rescaling: Rescaling::default(),
            waits: config.root.blocked == crate::policy::Blocked::Wait,
            parked: Parked::new(kinds.len()),
            woken: Vec::new(),
            fresh: Vec::new(),
            kinds,
        };
        engine.add_root(&config.root)?;
        for spec in config.queues {
            engine.insert_queue(spec)?;
        }
        for spec in config.nodes {
            engine.insert_node(spec)?;
        }
        engine.check_minimums(None)?;
        engine.share_out();
        engine.schedule_chores();
        Ok(engine)
    }

    /// Takes in one event that happens at `now`. A refused event changes nothing.
    ///
    /// Events come in order of time; at one instant ends come before arrivals and changes, and
    /// those before [`Engine::decide`].
    pub fn apply(&mut self, now: Time, event: Event<'_>) -> Result<Effect, Rejected> {
        self.advance(now)?;
        match event {
            Event::TaskEnded(allocation) => self.task_ended(allocation),
            Event::TaskFailed(allocation) => self.task_failed(allocation),
            Event::JobArrived(spec) => self.job_arrived(&spec).map(Effect::Job),
            Event::TasksAdded { job, groups, open } => self.tasks_added(job, groups, open),
            Event::JobChanged { job, weight } => self.job_changed(job, weight),
            Event::JobCancelled(job) => self.job_cancelled(job),
            Event::NodeJoined(spec) => self.node_joined(spec).map(Effect::Node),
            Event::NodeChanged(node, capacity) => {
                self.node_changed(node, capacity).map(Effect::Lost)
            }
            Event::NodeLeft(node) => self.node_left(node).map(Effect::Lost),
            Event::QueueAdded(spec) => self.queue_added(spec).map(Effect::Queue),
            Event::QueueChanged(queue, change) => self.queue_changed(queue, change),
            Event::QueueRemoved(queue) => self.queue_removed(queue),
        }
    }

    /// Lets time pass to `now`: rounds begin, quanta are refreshed.
    pub fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        if now < self.now {
            let (given_us, now_us) = (now.as_micros(), self.now.as_micros());
            return Err(Rejected::TimeWentBack { given_us, now_us });
        }
        self.now = now;
        if now >= self.next_chore {
            self.do_chores();
        }
        Ok(())
    }
}

/// A position that says "in no heap", for new rows of the position tables.
const NO_PLACE: u32 = ABSENT;
