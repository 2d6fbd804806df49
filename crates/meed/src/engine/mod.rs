//! The engine: a deterministic state machine from (state, event) to decisions.
//!
//! A world calls [`Engine::apply`] for each event of an instant and then [`Engine::decide`]. The
//! engine reads no clock (time comes with each event), does no I/O, spawns nothing and draws no
//! random number: the same events give the same decisions on every machine.
//!
//! It has a core ([`core`]): the tree, jobs and tasks, room, accounts and who may be asked, each a
//! part with private fields. Reservations (`holds`) stand beside the core: they get it, and hear
//! what happens (`holds::notices`). [`Engine`] says in which order the steps of both are taken, and
//! is the only one that starts a task or ends one; what may be read is in [`View`].
//!
//! What happens to one task, in order: its job arrives (`jobs`), the walk chooses it (`decide`), it
//! starts and ends (`tasks`); the clock alone changes rounds, landmarks and quanta (`chores`);
//! nodes and queues come and go (`nodes`, `queues`); what only live clusters report is in `live`.
//!
//! Cost of a decision: O(depth * log children) for each key that is re-read (`order::heap`: one,
//! unless tasks outrun their quantum), plus the placement's; nothing in it grows with the number of
//! waiting jobs, of idle tenants, or of tasks that fit nowhere. Two exceptions: jobs whose tasks
//! want nodes of their own are looked at one by one within their leaf, and where each server
//! decides by itself (`per_server`, `residual`, `tetris`) many queues are looked at.

mod ahead;
mod alignment;
mod books;
mod by_node;
mod chores;
mod chosen;
mod core;
mod decide;
mod entitled;
mod estimates;
mod explain;
mod fair_order;
mod forget;
mod gang_fit;
mod gangs;
mod guard;
mod held;
mod holds;
mod jobs;
mod key_parts;
mod live;
mod many;
mod nodes;
mod offer;
mod packing;
mod parts;
mod per_server;
mod policies;
mod queues;
mod ready;
mod rescale;
mod reserved;
mod residual;
mod room;
mod row_map;
mod seen;
mod servers;
mod share_out;
mod starved;
mod state;
mod tasks;
mod tetris;
mod tree;
mod view;
mod wake;
mod work;

use std::collections::VecDeque;

pub use explain::{ChildView, FirstChildren, GroupView, GuardView, NodeRoom, RunningView};
pub use gang_fit::{GangFit, GangPart};
pub use holds::view::{HeldWith, ReservationView};
pub use key_parts::{KeyParts, MemoryClock};
pub use view::{QueueView, View};

use self::core::Core;
use crate::decision::Start;
use crate::error::{ConfigError, Rejected};
use crate::event::{Effect, Event};
use crate::ids::{JobId, QueueId};
use crate::place::Placement;
use crate::policy::{Policy, Quantum};
use crate::quantum::QuantumUpdater;
use crate::spec::{Config, Infeasible};
use crate::time::Time;
use books::Books;
use estimates::Learned;
use holds::Reservations;
use room::Room;
use tree::Tree;

/// The state machine that decides who is served next, and where.
///
/// A world tells it what happens ([`Engine::apply`]), asks what starts ([`Engine::decide`]) and
/// what stops ([`Engine::next_stop`]), and reads the rest in its [`View`]. The same events give the
/// same decisions on every machine. The [crate's page](crate) has an example.
pub struct Engine {
    core: Core,
    /// For whom room is held, if the root's policy makes reservations.
    reservations: Reservations,
    /// How long tasks run, if the root's policy learns it.
    learned: Option<Learned>,
    /// Starts of a gang that are decided and not told yet.
    untold: VecDeque<Start>,
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
                Quantum::Adaptive { initial, interval, untried } => {
                    Some(QuantumUpdater::new(initial, interval, untried))
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
        let root = Core::root_spec(&config.root, kinds.len())?;
        let tree = Tree::new(&root, kinds.len());
        let room = Room::new(kinds.len(), place);
        let books = Books::new(config.measured, kinds.len(), quanta);
        let core = Core::of(kinds, tree, room, books, &config.root);
        let mut engine = Engine::of(core, &config.root);
        if engine.reservations.are_made() {
            engine.core.room.tell_limits();
        }
        let pool = engine.core.room.total();
        engine.core.books.add_queue(engine.core.now, None, &root.policy, root.weight, pool);
        engine.core.ready.add_queue();
        for spec in &config.queues {
            engine.core.insert_queue(spec)?;
        }
        for spec in config.nodes {
            engine.core.room.join(spec, &engine.core.kinds)?;
        }
        engine.core.check_minimums()?;
        engine.core.share_out();
        engine.core.schedule_chores();
        Ok(engine)
    }

    /// An engine that tells nothing yet, under the policy of its root.
    fn of(core: Core, root: &Policy) -> Engine {
        let (reservations, learned) = (Reservations::of(root), Learned::of(root));
        Engine { core, reservations, learned, untold: VecDeque::new() }
    }

    /// What may be read of it.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View { core: &self.core, reservations: &self.reservations }
    }

    /// Takes in one event that happens at `now`. A refused event changes nothing.
    ///
    /// Events come in order of time; at one instant ends come before arrivals and changes, and
    /// those before [`Engine::decide`].
    pub fn apply(&mut self, now: Time, event: Event<'_>) -> Result<Effect, Rejected> {
        self.pass(now)?;
        self.core.seen.take();
        if let Some(servers) = &mut self.core.servers {
            servers.end_turn();
        }
        let effect = match event {
            Event::TaskEnded(allocation) => self.task_ended(allocation),
            Event::TaskFailed(allocation) => self.task_failed(allocation),
            Event::StartFailed(allocation) => self.start_failed(allocation),
            Event::TaskLost(allocation) => self.task_lost(allocation),
            Event::TaskAdopted { job, task, node, since } => {
                self.task_adopted(job, task, node, since)
            }
            Event::TaskMoved(allocation, node) => self.task_moved(allocation, node),
            Event::NodeResized(node, capacity) => self.node_resized(node, capacity),
            Event::NodeCordoned(node) => self.node_cordoned(node, true),
            Event::NodeUncordoned(node) => self.node_cordoned(node, false),
            Event::NodeRelabelled(node, labels) => self.node_relabelled(node, labels),
            Event::NodeUsedByOthers(node, amounts) => self.node_used_by_others(node, amounts),
            Event::TaskWithdrawn { job, task } => self.task_withdrawn(job, task),
            Event::JobArrived(spec) => self.job_arrived(&spec).map(Effect::Job),
            Event::TasksAdded { job, groups, open } => self.tasks_added(job, groups, open),
            Event::JobChanged { job, weight } => self.core.job_changed(job, weight),
            Event::JobCancelled(job) => self.job_cancelled(job),
            Event::NodeJoined(spec) => self.node_joined(spec).map(Effect::Node),
            Event::NodeChanged(node, capacity) => {
                self.node_changed(node, capacity).map(Effect::Lost)
            }
            Event::NodeLeft(node) => self.node_left(node).map(Effect::Lost),
            Event::QueueAdded(spec) => self.core.queue_added(spec).map(Effect::Queue),
            Event::QueueChanged(queue, change) => {
                self.core.queue_changed(queue, change).map(|()| {
                    self.reservations.maximums_changed();
                    Effect::None
                })
            }
            Event::QueueRemoved(queue) => self.core.queue_removed(queue),
            Event::PoliciesChanged(changes) => self.policies_changed(changes),
        };
        self.forget_queues();
        effect
    }

    /// What the key of `queue` among its siblings is made of; `None` for the root.
    ///
    /// Call [`Engine::advance`] first: it is told of the last instant.
    pub fn key_parts(&mut self, queue: QueueId) -> Option<KeyParts> {
        self.core.key_parts(queue)
    }

    /// What the key of a job among the jobs of its leaf is made of; `None` where it is no more.
    pub fn job_key_parts(&mut self, job: JobId) -> Option<KeyParts> {
        self.core.job_key_parts(job)
    }

    /// What the starvation guard compares of a leaf; `None` where the root's policy has no guard.
    /// The weight is 1: what was used is to be divided by [`View::entitlement`].
    pub fn guard_parts(&mut self, leaf: QueueId) -> Option<KeyParts> {
        self.core.guard_parts(leaf)
    }

    /// Forgets removed queues where there are too many. Handles of all others stay valid.
    #[inline]
    fn forget_queues(&mut self) {
        if let Some(state) = self.core.without_gone_queues(|| self.state()) {
            self.made_of(&state).expect("an engine reads its own state");
        }
    }

    /// How many removed queues are remembered at least, besides as many as are live: 1,024 at
    /// first. Those come back with their history. A restored engine keeps to it.
    pub fn set_remembered_queues(&mut self, least: u32) {
        self.core.tree.rows_mut().set_remembered(least);
    }

    /// How many nodes that have left are remembered at least: 1024 at first. They are named in
    /// errors, and what only they could hold is not refused. A restored engine keeps to it.
    pub fn set_remembered_nodes(&mut self, least: u32) {
        self.core.room.set_remembered(least);
    }

    /// What becomes, from now on, of tasks that no node could hold when empty: whether jobs with
    /// such are refused, as at first, or wait until a node joins that can.
    pub fn set_infeasible(&mut self, infeasible: Infeasible) {
        self.core.room.set_waits_for_nodes(infeasible == Infeasible::Wait);
    }

    /// Lets time pass to `now`: rounds begin, quanta are refreshed, and shares are given out if
    /// nodes or queues have changed.
    pub fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        self.pass(now)?;
        self.core.share_out_if_due();
        Ok(())
    }

    /// The same; shares may stay to be given out, as long as no time passes.
    #[inline]
    fn pass(&mut self, now: Time) -> Result<(), Rejected> {
        if !self.untold.is_empty() {
            return Err(Rejected::UntoldStarts);
        }
        if now < self.core.now {
            let (given_us, now_us) = (now.as_micros(), self.core.now.as_micros());
            return Err(Rejected::TimeWentBack { given_us, now_us });
        }
        if now > self.core.now || now >= self.core.books.next_chore() {
            self.core.share_out_if_due();
        }
        self.core.now = now;
        if self.reservations.are_made() {
            self.core.room.set_now(now);
        }
        if now >= self.core.books.next_chore() {
            let begun = self.core.begin();
            self.reservations.straddle_idle(&mut self.core, &begun.rounds);
            self.core.follow(begun);
        }
        Ok(())
    }
}

impl<'a> View<'a> {
    /// What becomes of tasks that no node could hold when empty.
    pub fn infeasible(self) -> Infeasible {
        match self.core.room.waits_for_nodes() {
            true => Infeasible::Wait,
            false => Infeasible::Refuse,
        }
    }
}
