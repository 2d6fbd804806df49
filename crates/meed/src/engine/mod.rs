//! The engine: a deterministic state machine from (state, event) to decisions.
//!
//! A world calls [`Engine::apply`] for each event of an instant and then [`Engine::decide`]. The
//! engine reads no clock (time comes with each event), does no I/O, spawns nothing and draws no
//! random number: the same events give the same decisions on every machine.
//!
//! What happens to one task, in order: its job arrives (`jobs`), the walk chooses it (`decide`), it
//! starts and ends (`tasks`); the clock alone changes rounds, landmarks and quanta (`chores`);
//! nodes and queues come and go (`nodes`, `queues`); what only live clusters
//! report is in `live`.
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
mod decide;
mod entitled;
mod estimates;
mod explain;
mod fair_order;
mod forget;
mod gang_fit;
mod gangs;
mod guard;
mod holds;
mod jobs;
mod live;
mod many;
mod nodes;
mod offer;
mod parts;
mod per_server;
mod played;
mod policies;
mod queues;
mod ready;
mod rescale;
mod reserved;
mod residual;
mod room;
mod row_map;
mod share_out;
mod state;
mod tasks;
mod tetris;
mod tree;
mod view;
mod wake;
mod work;

use std::cell::OnceCell;
use std::collections::VecDeque;

pub use explain::{ChildView, FirstChildren, GroupView, GuardView, NodeRoom, RunningView};
pub use gang_fit::{GangFit, GangPart};
pub use holds::{HeldWith, ReservationView};
pub use parts::{KeyParts, MemoryClock};
pub use view::QueueView;

use crate::decision::Start;
use crate::error::{ConfigError, Rejected};
use crate::event::{Effect, Event};
use crate::order::heap::ABSENT;
use crate::place::Placement;
use crate::policy::{Blocked, Quantum};
use crate::quantum::QuantumUpdater;
use crate::resources::ResourceKinds;
use crate::spec::{Config, Infeasible};
use crate::time::Time;
use books::Books;
use estimates::Learned;
use guard::Guard;
use holds::Holds;
use per_server::Servers;
use ready::Ready;
use rescale::Rescaling;
use reserved::Reserved;
use room::Room;
use share_out::Seen;
use tree::Tree;
use work::Work;

/// See the module.
pub struct Engine {
    kinds: ResourceKinds,
    now: Time,
    /// Whose child is who, with what share.
    tree: Tree,
    /// What there is to do, and what is being done.
    work: Work,
    /// What fits where.
    room: Room,
    /// Who has used what.
    books: Books,
    /// Who may be asked.
    ready: Ready,
    /// Which waiting tasks are out of the walk for their reservation.
    reserved: Reserved,
    /// Who is served out of turn, if the root's policy says so.
    guard: Option<Guard>,
    /// For whom room is held, if the root's policy makes reservations.
    holds: Option<Box<Holds>>,
    /// How long tasks run, if the root's policy learns it.
    learned: Option<Learned>,
    /// What is held on each server, where each decides on its own.
    servers: Option<Servers>,
    /// Whether a parent may stand by its children rescaled: what nobody has costs nothing.
    rescales: bool,
    /// What is kept for that.
    rescaling: Rescaling,
    /// Whether to stop at a task that fits nowhere (`Blocked::Wait`; with `holds`, while it is
    /// looked for who is first).
    waits: bool,
    /// Starts of a gang that are decided and not told yet.
    untold: VecDeque<Start>,
    /// Whether shares are to be given out before somebody reads them (`share_out`).
    shares_due: bool,
    /// What they will make of tree and books, for who looks meanwhile.
    seen: OnceCell<Box<Seen>>,
    /// See [`Engine::sweeps`] and [`Engine::refreshes`].
    sweeps: u64,
    refreshes: u64,
    /// See [`Engine::recharged`]: by row of the queue, as far as there is anything to tell.
    recharged: Vec<u64>,
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
        let root = Engine::root_spec(&config.root, kinds.len())?;
        let mut engine = Engine {
            now: Time::ZERO,
            tree: Tree::new(&root, kinds.len()),
            work: Work::new(),
            room: Room::new(kinds.len(), place),
            books: Books::new(config.measured, kinds.len(), quanta),
            ready: Ready::new(kinds.len()),
            reserved: Reserved::default(),
            guard: config.root.t_wait.map(|t_wait| Guard::new(t_wait, &config.root)),
            holds: Holds::of(&config.root),
            learned: Learned::of(&config.root),
            servers: Servers::of(&config.root),
            rescales: false,
            rescaling: Rescaling::default(),
            waits: config.root.blocked == Blocked::Wait,
            untold: VecDeque::new(),
            shares_due: false,
            seen: OnceCell::new(),
            sweeps: 0,
            refreshes: 0,
            recharged: Vec::new(),
            kinds,
        };
        if engine.holds.is_some() {
            engine.room.tell_limits();
        }
        let pool = engine.room.total();
        engine.books.add_queue(engine.now, None, &root.policy, root.weight, pool);
        engine.ready.add_queue();
        for spec in &config.queues {
            engine.insert_queue(spec)?;
        }
        for spec in config.nodes {
            engine.room.join(spec, &engine.kinds)?;
        }
        engine.check_minimums()?;
        engine.share_out();
        engine.schedule_chores();
        Ok(engine)
    }

    /// Takes in one event that happens at `now`. A refused event changes nothing.
    ///
    /// Events come in order of time; at one instant ends come before arrivals and changes, and
    /// those before [`Engine::decide`].
    pub fn apply(&mut self, now: Time, event: Event<'_>) -> Result<Effect, Rejected> {
        self.pass(now)?;
        self.seen.take();
        if let Some(servers) = &mut self.servers {
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
            Event::PoliciesChanged(changes) => self.policies_changed(changes),
        };
        self.forget_queues();
        effect
    }

    /// What becomes, from now on, of tasks that no node could hold when empty: whether jobs with
    /// such are refused, as at first, or wait until a node joins that can.
    pub fn set_infeasible(&mut self, infeasible: Infeasible) {
        self.room.set_waits_for_nodes(infeasible == Infeasible::Wait);
    }

    /// What becomes of tasks that no node could hold when empty.
    pub fn infeasible(&self) -> Infeasible {
        match self.room.waits_for_nodes() {
            true => Infeasible::Wait,
            false => Infeasible::Refuse,
        }
    }

    /// Lets time pass to `now`: rounds begin, quanta are refreshed, and shares are given out if
    /// nodes or queues have changed.
    pub fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        self.pass(now)?;
        self.share_out_if_due();
        Ok(())
    }

    /// The same; shares may stay to be given out, as long as no time passes.
    #[inline]
    fn pass(&mut self, now: Time) -> Result<(), Rejected> {
        if !self.untold.is_empty() {
            return Err(Rejected::UntoldStarts);
        }
        if now < self.now {
            let (given_us, now_us) = (now.as_micros(), self.now.as_micros());
            return Err(Rejected::TimeWentBack { given_us, now_us });
        }
        if now > self.now || now >= self.books.next_chore() {
            self.share_out_if_due();
        }
        self.now = now;
        if self.holds.is_some() {
            self.room.set_now(now);
        }
        if now >= self.books.next_chore() {
            self.do_chores();
        }
        Ok(())
    }
}

/// A position that says "in no heap", for new rows of the position tables.
const NO_PLACE: u32 = ABSENT;
