//! Why: what stands in the way of a job or a queue at this instant, in numbers, read from the books
//! of now. Nothing is run again, and nothing changes.
//!
//! Cost: O(children) at each level on the way to the leaf, of which only those that are told are
//! sorted and named; O(leaves) for what was lent; O(waiting groups of the leaf); O(nodes) where it
//! fits nowhere; O(running tasks) for each reservation.

mod reserved;

use std::collections::BTreeMap;

use meed::fairness::Lending;
use meed::policy::Preset;
use meed::{
    Blocked, FirstChildren, GangFit, GangPart, GroupView, JobId, NodeRoom, QueueId, Resources,
    Tier, View,
};
use meed_journal::JobKey;
use serde::Serialize;

pub use reserved::{HeldNode, HeldWithThem, HoldMove, Holder, MoveReason, Reserved};

use crate::books::{Books, leaves, lending};
use crate::driver::Driver;
use crate::journal::Journal;
use crate::rows::Waiting;

/// What is to be explained.
///
/// The example of [`Standing`] asks about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// What a leaf would start next.
    Queue,
    /// A job of the leaf; where it is not alive, only its queue's state is told.
    Job(Option<JobId>),
}

impl Subject {
    /// A job where one was asked for, which may be no more; or its queue.
    pub fn of(job: Option<Option<JobId>>) -> Subject {
        job.map_or(Subject::Queue, Subject::Job)
    }
}

/// A queue's books. Amounts of the measured resource unless named.
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
/// let queues = driver.queues(Time::ZERO)?;
/// let (_, status) = queues.iter().find(|(id, _)| *id == queue).ok_or("each is told")?;
/// assert_eq!((status.held, status.demand, status.waiting_tasks), (2.0, 3.0, 1)); // cores
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueueStatus {
    /// Weight among its siblings.
    pub weight: f64,
    /// Resource that fairness is measured in.
    pub measured: String,
    /// What it is entitled to.
    pub share: f64,
    /// What it holds.
    pub held: f64,
    /// Held and waited for.
    pub demand: f64,
    /// Tasks that wait.
    pub waiting_tasks: u64,
    /// Live jobs.
    pub jobs: u64,
    /// Accumulated, resource-seconds.
    pub usage: f64,
    /// What its ledger holds against it, resource-seconds.
    pub charged: f64,
    /// Unused share that others used, resource-seconds.
    pub lent: f64,
    /// Use above its share, resource-seconds.
    pub borrowed: f64,
    /// `lent - borrowed`.
    pub balance: f64,
    /// Fairness degree; `null` before its first demand.
    pub rho: Option<f64>,
}

/// The order among the children of one queue on the way down.
///
/// It is part of a [`Standing`], whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// Whose children; empty for the root.
    pub among: String,
    /// `fifo`, `fair` or `long-term`.
    pub order: &'static str,
    /// The resource that keys are in: resource-seconds per weight 1 under `long-term`, amounts
    /// under `fair`.
    pub resource: String,
    /// How many children are served before the one on the way to the leaf; `null` where nothing of
    /// it waits.
    pub place: Option<usize>,
    /// How many children have tasks waiting.
    pub waiting: usize,
    /// Of these the first in the order in which they would be served, and the one on the way.
    pub children: Vec<Child>,
}

/// A child that has tasks waiting.
///
/// It is part of a [`Level`]: the page of [`Standing`] has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Child {
    /// Full name.
    pub queue: String,
    /// Its key in natural units.
    pub key: f64,
    /// It holds less than its minimum share: the key is the part of it that it holds.
    pub below_min: bool,
    /// Nothing of it could start now, whosever turn it were.
    pub parked: bool,
    /// Its key less that of the child on the way: how far behind (below 0: ahead) it is.
    pub behind_by: Option<f64>,
}

/// The starvation guard.
///
/// It is part of a [`Standing`], whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct GuardStatus {
    /// After so long a leaf may be served out of turn.
    pub t_wait_s: f64,
    /// How long this one has waited since its last service or since its demand began.
    pub waited_s: f64,
    /// Waiting leaves that the guard would serve before it.
    pub before: Vec<String>,
}

/// The order within the leaf.
///
/// It is part of a [`Standing`], whose page has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Leaf {
    /// `fifo`, `fair` or `long-term`.
    pub order: &'static str,
    /// Jobs that are ahead.
    pub jobs_ahead: u64,
    /// Tasks of theirs that wait.
    pub tasks_ahead: u64,
    /// The first of them.
    pub first: Vec<Ahead>,
}

/// A job that is ahead.
///
/// It is part of a [`Leaf`]: the page of [`Standing`] has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Ahead {
    /// Its label.
    pub job: String,
    /// Its key, where it is alive; for worlds that do not tell everybody its label.
    #[serde(skip)]
    pub key: Option<JobKey>,
    /// Tasks of it that wait.
    pub waiting_tasks: u64,
    /// What one asks for; where groups start together, what all of these do.
    pub demand: BTreeMap<String, f64>,
    /// Whether tasks of several groups of it start together.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub joint: bool,
}

/// What stands in the way.
///
/// It is part of a [`Standing`], whose page has an example.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Obstacle {
    /// A maximum share would be exceeded.
    Quota {
        /// Whose.
        queue: String,
        /// By resource, those that would be exceeded.
        bounds: Vec<Bound>,
        /// So many tasks start together, of a gang: what is asked for is for all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        together: Option<u32>,
    },
    /// The task is larger than all that is free.
    Size {
        /// By resource, those that are short.
        short: Vec<Bound>,
    },
    /// Enough is free in all, but not on any one node.
    Place {
        /// By resource: asked for, free in all, and on the node where most of the task would fit.
        free: Vec<Bound>,
        /// What is free on the node that comes nearest, by resource.
        most_on_a_node: BTreeMap<String, f64>,
        /// Nodes that are up and where it may run.
        nodes: u64,
    },
    /// Larger than any node that is up and where it may run.
    NoNode,
    /// It starts with others of its gang, and not all of them fit.
    Gang {
        /// How many start together.
        together: u32,
        /// How many of them would fit now, where they may be.
        fit: u64,
        /// Where they are of several groups: each of these.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        groups: Vec<GangGroup>,
        /// The same: the label that keeps them together, and the value where most of them fit.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        on: BTreeMap<String, String>,
    },
    /// A task that is first in turn fits nowhere, and the policy is to wait for it (`when_blocked =
    /// "wait"`).
    Blocked,
    /// Others are served first.
    Turn {
        /// At these levels (`levels`, from 0) so many children come first.
        ahead: Vec<(usize, usize)>,
    },
    /// Jobs of the same queue come first.
    Order {
        /// How many.
        jobs: u64,
        /// Tasks of theirs that wait.
        tasks: u64,
    },
}

/// A group of a gang of several.
///
/// It is part of [`Obstacle::Gang`]: the page of [`Standing`] has an example of an obstacle.
#[derive(Clone, Debug, Serialize)]
pub struct GangGroup {
    /// Its number among the job's groups, from 0.
    pub group: u32,
    /// Tasks of it that start.
    pub tasks: u64,
    /// What each asks for.
    pub demand: BTreeMap<String, f64>,
    /// How many of them would fit now, were the group alone.
    pub alone: u64,
    /// How many would fit besides all tasks of the other groups; `null`: these do not fit.
    pub beside: Option<u64>,
    /// Nodes that are up and where its tasks may run.
    pub nodes: u64,
}

/// What one task asks for beside what bounds it.
///
/// It is part of an [`Obstacle`]: the page of [`Standing`] has an example.
#[derive(Clone, Debug, Serialize)]
pub struct Bound {
    /// Resource.
    pub resource: String,
    /// What one task asks for.
    pub asks: f64,
    /// Held (of a maximum share), or free.
    pub has: f64,
    /// The maximum share; `null` where free room is the bound.
    pub most: Option<f64>,
}

/// How a job or a queue stands at an instant.
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
/// use meed_driver::explain::{Obstacle, Subject};
/// let standing = driver.explain(Time::ZERO, queue, Subject::Job(Some(job)))?;
/// assert_eq!((standing.running, standing.waits.map(|waiting| waiting.tasks)), (2, Some(1)));
/// assert!(matches!(standing.obstacles[0], Obstacle::Size { .. })); // both cores are taken
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct Standing {
    /// What waits of it.
    #[serde(skip)]
    pub waits: Option<Waiting>,
    /// Running tasks of the job.
    pub running: u64,
    /// The queue's books.
    pub state: QueueStatus,
    /// The order at each level, from the root down; empty where queues have no order among them.
    pub levels: Vec<Level>,
    /// The starvation guard, where there is one.
    pub guard: Option<GuardStatus>,
    /// The order within the leaf, where a job was asked for.
    pub leaf: Option<Leaf>,
    /// What stands in the way, the hardest first.
    pub obstacles: Vec<Obstacle>,
    /// Room that is held for tasks of it, in the order in which that was decided.
    pub reservations: Vec<Reserved>,
}

/// Jobs ahead that are named.
const NAMED: usize = 5;

/// Children that are listed at a level, besides the one on the way.
pub const LISTED: usize = 8;

/// How `subject` stands now. `leaf` is a leaf of the tree of `books` that `driver` serves, where it
/// is called `own`; for a driver by itself they are the same ([`Driver::explain`]).
pub fn standing<J, K: Journal>(
    books: &impl Books,
    driver: &Driver<J, K>,
    (leaf, own): (QueueId, QueueId),
    subject: Subject,
) -> Standing {
    let (tree, engine) = (books.tree(), driver.engine());
    let all = leaves(books);
    let lent = all
        .iter()
        .position(|&id| id == leaf)
        .map(|place| lending(engine.now(), &all, books)[place]);
    let mut told =
        Standing { state: state(books, leaf, lent.unwrap_or_default()), ..Standing::default() };
    let groups = engine.groups_in_order(own);
    // Of a job its own waiting tasks, of a queue those that come first.
    let place = match subject {
        Subject::Job(None) => None,
        Subject::Job(Some(id)) => {
            told.running = engine.running_of(id);
            told.waits = driver.job(id).and_then(|live| live.waiting());
            groups.iter().position(|group| group.job == id)
        }
        Subject::Queue => {
            let (tasks, since) = (told.state.waiting_tasks, engine.waits_since(own));
            told.waits = (tasks > 0).then_some(Waiting { tasks, since });
            (!groups.is_empty()).then_some(0)
        }
    };
    let job = match subject {
        Subject::Queue => Some(None),
        Subject::Job(job) => job.map(Some),
    };
    told.reservations = job.map_or_else(Vec::new, |job| reserved::reserved(driver, own, job));
    if books.lends() {
        told.levels = levels(tree, leaf);
        told.guard = tree.guard_view(leaf).map(|guard| GuardStatus {
            t_wait_s: guard.t_wait.as_secs_f64(),
            waited_s: guard.waited.as_secs_f64(),
            before: guard.before.iter().map(|&leaf| tree.queue(leaf).name.to_owned()).collect(),
        });
    }
    let Some(place) = place else { return told };
    if let Subject::Job(_) = subject {
        told.leaf = Some(in_leaf(driver, own, &groups[..place], &groups[place]));
    }
    told.obstacles = obstacles(engine, &groups[place], &told);
    told
}

/// The books of all leaves now, in order of declaration.
pub fn queues(books: &impl Books) -> Vec<(QueueId, QueueStatus)> {
    let all = leaves(books);
    let lent = lending(books.tree().now(), &all, books);
    all.iter().zip(lent).map(|(&leaf, lent)| (leaf, state(books, leaf, lent))).collect()
}

fn state(books: &impl Books, id: QueueId, lent: Lending) -> QueueStatus {
    let Some((engine, leaf)) = books.leaf(id) else { return QueueStatus::default() };
    let (tree, now) = (books.tree(), engine.now());
    let (kinds, measured) = (tree.kinds(), tree.measured());
    let scale = kinds.unit(measured).scale() as f64;
    let (view, integrals) = (engine.queue(leaf), engine.integrals(leaf, now));
    let (weight, share) = match tree.queue(id) {
        gone if gone.removed => (0, 0.0),
        here => (here.weight, here.part.of_amount(tree.capacity().get(measured))),
    };
    QueueStatus {
        weight: weight as f64 / 1000.0,
        measured: kinds.name(measured).to_owned(),
        share: share / scale,
        held: integrals.held as f64 / scale,
        demand: integrals.demand as f64 / scale,
        waiting_tasks: view.waiting,
        jobs: view.jobs,
        usage: integrals.usage[measured] as f64 / scale / 1e6,
        charged: engine.charged(leaf, now) / scale,
        lent: lent.lent as f64 / scale / 1e6,
        borrowed: lent.borrowed as f64 / scale / 1e6,
        balance: (lent.lent as i128 - lent.borrowed as i128) as f64 / scale / 1e6,
        rho: integrals.rho(measured),
    }
}

fn order_of(engine: View<'_>, queue: QueueId) -> &'static str {
    Preset::like(engine.policy(queue)).map_or("", |preset| preset.name)
}

/// The order at each level from the root down to `leaf`.
pub fn levels(tree: View<'_>, leaf: QueueId) -> Vec<Level> {
    let mut path = vec![leaf];
    while let Some(parent) = tree.queue(path[path.len() - 1]).parent {
        path.push(parent);
    }
    let steps = path.windows(2).rev().map(|pair| (pair[1], pair[0]));
    let level = |(parent, on_the_way): (QueueId, QueueId)| {
        let FirstChildren { first, asked, waiting } =
            tree.first_children(parent, LISTED, on_the_way);
        let mine = asked.map(|(_, mine)| mine);
        // Behind the first: it is not among them.
        let behind = asked.filter(|(place, _)| *place >= first.len()).map(|(_, mine)| mine);
        let child = |child: &meed::ChildView| Child {
            queue: tree.queue(child.queue).name.to_owned(),
            key: child.natural,
            below_min: child.key.tier == Tier::BelowMinimum,
            parked: child.parked,
            // Parts of minimum shares and keys of the policy are not to be compared.
            behind_by: mine
                .filter(|mine| mine.key.tier == child.key.tier)
                .map(|mine| child.natural - mine.natural),
        };
        Level {
            among: if parent == QueueId::ROOT {
                String::new()
            } else {
                tree.queue(parent).name.to_owned()
            },
            order: order_of(tree, parent),
            resource: tree.kinds().name(tree.key_kind(parent)).to_owned(),
            place: asked.map(|(place, _)| place),
            waiting,
            children: first.iter().chain(&behind).map(child).collect(),
        }
    };
    steps.map(level).collect()
}

fn in_leaf<J, K: Journal>(
    driver: &Driver<J, K>,
    leaf: QueueId,
    ahead: &[GroupView],
    own: &GroupView,
) -> Leaf {
    let engine = driver.engine();
    let mut jobs: Vec<(&GroupView, u64)> = Vec::new();
    let mut places: BTreeMap<JobId, usize> = BTreeMap::new();
    for group in ahead.iter().filter(|group| group.job != own.job) {
        let waiting = if group.joint { u64::from(group.together) } else { group.waiting };
        match places.get(&group.job) {
            Some(&place) => jobs[place].1 += waiting,
            None => {
                places.insert(group.job, jobs.len());
                jobs.push((group, waiting));
            }
        }
    }
    let named = jobs.iter().take(NAMED).map(|(group, waiting)| {
        let live = driver.job(group.job);
        let asks = if group.joint { &group.whole } else { &group.demand };
        Ahead {
            job: live.map_or(String::new(), |live| live.name().to_string()),
            key: live.map(|live| live.key().clone()),
            waiting_tasks: *waiting,
            demand: natural(engine, asks),
            joint: group.joint,
        }
    });
    Leaf {
        order: order_of(engine, leaf),
        jobs_ahead: jobs.len() as u64,
        tasks_ahead: jobs.iter().map(|(_, waiting)| waiting).sum(),
        first: named.collect(),
    }
}

fn amount(engine: View<'_>, kind: usize, amount: u64) -> f64 {
    amount as f64 / engine.kinds().unit(kind).scale() as f64
}

/// Amounts by resource, in natural units; those that are nothing are left out.
pub fn natural(engine: View<'_>, amounts: &Resources) -> BTreeMap<String, f64> {
    let some = (0..amounts.kinds()).filter(|&kind| amounts.get(kind) > 0);
    some.map(|kind| (engine.kinds().name(kind).to_owned(), amount(engine, kind, amounts.get(kind))))
        .collect()
}

fn obstacles(engine: View<'_>, own: &GroupView, told: &Standing) -> Vec<Obstacle> {
    let mut found = Vec::new();
    found.extend(own.capped_by.map(|queue| quota(engine, queue, own)));
    let no_room = match own.joint {
        // Which of its groups lacks room says more than what one of their tasks does.
        true => no_room_for_groups(engine, own),
        false => no_room(engine, own).or_else(|| no_room_for_gang(engine, own)),
    };
    if let Some(obstacle) = no_room {
        found.push(obstacle);
    } else if own.capped_by.is_none() && engine.policy(QueueId::ROOT).blocked == Blocked::Wait {
        found.push(Obstacle::Blocked);
    }
    let before = |(index, level): (usize, &Level)| {
        let ahead = level.place.unwrap_or(0);
        (ahead > 0).then_some((index, ahead))
    };
    let ahead: Vec<(usize, usize)> = told.levels.iter().enumerate().filter_map(before).collect();
    if !ahead.is_empty() {
        found.push(Obstacle::Turn { ahead });
    }
    if let Some(order) = told.leaf.as_ref().filter(|order| order.jobs_ahead > 0) {
        found.push(Obstacle::Order { jobs: order.jobs_ahead, tasks: order.tasks_ahead });
    }
    found
}

fn quota(engine: View<'_>, queue: QueueId, own: &GroupView) -> Obstacle {
    let (held, max) = (engine.queue(queue).held, engine.bounds(queue).1);
    let together = Some(own.together).filter(|&together| together > 1);
    let asks = if together.is_some() { &own.whole } else { &own.demand };
    let bound = |kind: usize| {
        let most = max.map(|max| max.get(kind))?;
        (held.get(kind) + own.whole.get(kind) > most).then(|| Bound {
            resource: engine.kinds().name(kind).to_owned(),
            asks: amount(engine, kind, asks.get(kind)),
            has: amount(engine, kind, held.get(kind)),
            most: Some(amount(engine, kind, most)),
        })
    };
    let bounds = (0..asks.kinds()).filter_map(bound).collect();
    Obstacle::Quota { queue: engine.queue(queue).name.to_owned(), bounds, together }
}

/// A task fits, but not as many as start together.
fn no_room_for_gang(engine: View<'_>, own: &GroupView) -> Option<Obstacle> {
    let together = Some(own.together).filter(|&together| together > 1)?;
    let fit = engine.fit_at_once(own);
    let (groups, on) = (Vec::new(), BTreeMap::new());
    (fit < u64::from(together)).then_some(Obstacle::Gang { together, fit, groups, on })
}

/// Tasks of several groups start together, and do not all fit.
fn no_room_for_groups(engine: View<'_>, own: &GroupView) -> Option<Obstacle> {
    let GangFit { at_once: fit, on, groups, .. } = engine.gang_fit(own)?;
    let group = |part: &GangPart| GangGroup {
        group: part.group,
        tasks: part.tasks,
        demand: natural(engine, &part.demand),
        alone: part.alone,
        beside: part.beside,
        nodes: part.nodes,
    };
    let (together, groups) = (own.together, groups.iter().map(group).collect());
    let on = on.into_iter().collect();
    (fit < u64::from(together)).then_some(Obstacle::Gang { together, fit, groups, on })
}

/// Why a task fits on none of the nodes where it may run; `None` where it fits on one.
fn no_room(engine: View<'_>, own: &GroupView) -> Option<Obstacle> {
    let demand = &own.demand;
    let asked = || (0..demand.kinds()).filter(|&kind| demand.get(kind) > 0);
    let (mut nodes, mut could) = (0, false);
    let (mut all, mut most) = (Resources::zero(demand.kinds()), Resources::zero(demand.kinds()));
    // The node that has the largest part of what it has least of; the first of equal ones.
    let mut nearest = f64::NEG_INFINITY;
    for NodeRoom { capacity, free, .. } in engine.nodes_for(own) {
        if demand.fits_in(&free) {
            return None;
        }
        nodes += 1;
        could |= demand.fits_in(&capacity);
        all.add(&free);
        let part = |kind| free.get(kind) as f64 / demand.get(kind) as f64;
        let part = asked().map(part).fold(f64::INFINITY, f64::min);
        if part > nearest {
            (nearest, most) = (part, free);
        }
    }
    if !could {
        return Some(Obstacle::NoNode);
    }
    let bound = |kind: usize| Bound {
        resource: engine.kinds().name(kind).to_owned(),
        asks: amount(engine, kind, demand.get(kind)),
        has: amount(engine, kind, all.get(kind)),
        most: None,
    };
    let short: Vec<Bound> =
        asked().filter(|&kind| demand.get(kind) > all.get(kind)).map(bound).collect();
    if !short.is_empty() {
        return Some(Obstacle::Size { short });
    }
    let most = |kind| (engine.kinds().name(kind).to_owned(), amount(engine, kind, most.get(kind)));
    Some(Obstacle::Place {
        free: asked().map(bound).collect(),
        most_on_a_node: asked().map(most).collect(),
        nodes,
    })
}
