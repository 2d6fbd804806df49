//! The queue tree: queues are added, changed and removed while work runs.

use std::collections::BTreeSet;

use super::{Engine, NO_PLACE};
use crate::cluster::{check_dimensions, in_words};
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
use crate::order::heap::Heap;
use crate::order::{Domain, Minimum, Pool, Standing, Terms};
use crate::policy::{Measure, Policy, Quantum};
use crate::quantum::QuantumUpdater;
use crate::resources::Resources;
use crate::shapes::ShapeId;
use crate::spec::{MAX_WEIGHT, QueueChange, QueueId, QueueSpec, Weight};
use crate::time::Time;

/// One queue of the tree. What a start or an end touches stands here; the rest lies apart, so that
/// ten thousand tenants stay in the cache.
pub(super) struct Queue {
    pub(super) parent: Option<QueueId>,
    /// How it orders its children: an index of the engine's domains.
    pub(super) domain: usize,
    /// Its position among its siblings.
    pub(super) standing: Standing,
    pub(super) terms: Terms,
    /// Waiting and running tasks in the subtree.
    pub(super) active_tasks: u64,
    /// Waiting tasks of a leaf.
    pub(super) waiting: u64,
    /// Live jobs of a leaf.
    pub(super) jobs: u64,
    /// The later of its last service and the moment its demand began.
    pub(super) waits_since: Time,
    /// Nothing of it fits now: it is out of its parent's heap until it is woken.
    pub(super) parked: bool,
    pub(super) draining: bool,
    pub(super) removed: bool,
    /// Waiting task groups of a leaf, by the shape of their tasks.
    pub(super) buckets: Vec<Bucket>,
    pub(super) children: Vec<QueueId>,
    /// Child queues that want something.
    pub(super) demanding: Heap,
    pub(super) held: Resources,
    pub(super) max: Option<Box<Resources>>,
    pub(super) rest: Box<Rest>,
}

/// What is seldom needed of a queue.
pub(super) struct Rest {
    pub(super) name: String,
    pub(super) min: Option<Resources>,
    /// S_i in every kind.
    pub(super) share: Resources,
    /// The part of the pool that its weight gives, of [`crate::fairness::dominant::WHOLE`].
    pub(super) part: u64,
    /// Leaves below that wait for this queue to fall below its maximum share.
    pub(super) capped: BTreeSet<QueueId>,
}

/// Waiting groups of one shape, best first by the leaf's policy.
pub(super) struct Bucket {
    pub(super) shape: ShapeId,
    /// The shape's, at hand.
    pub(super) demand: Resources,
    pub(super) groups: Heap,
}

impl Queue {
    fn new(
        parent: Option<QueueId>,
        spec: &QueueSpec,
        domain: usize,
        tie: u64,
        kinds: usize,
    ) -> Queue {
        let rest = Rest {
            name: spec.name.clone(),
            min: spec.min,
            share: Resources::zero(kinds),
            part: 0,
            capped: BTreeSet::new(),
        };
        Queue {
            parent,
            domain,
            standing: Standing::default(),
            terms: Terms { weight: spec.weight, min: Minimum::NONE, share: 0, tie: (tie, 0) },
            active_tasks: 0,
            waiting: 0,
            jobs: 0,
            waits_since: Time::ZERO,
            parked: false,
            draining: false,
            removed: false,
            buckets: Vec::new(),
            children: Vec::new(),
            demanding: Heap::default(),
            held: Resources::zero(kinds),
            max: spec.max.map(Box::new),
            rest: Box::new(rest),
        }
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty() && self.parent.is_some()
    }
}

impl Engine {
    pub(super) fn add_root(&mut self, policy: &Policy) -> Result<(), ConfigError> {
        if let Some(problem) = policy.problem(self.kinds.len()) {
            return Err(ConfigError::Policy { queue: "root".to_owned(), problem });
        }
        let spec = QueueSpec {
            name: "root".to_owned(),
            weight: 1000,
            min: None,
            max: None,
            policy: policy.clone(),
        };
        let domain = self.domain_for(policy);
        self.queues.push(Queue::new(None, &spec, domain, 0, self.kinds.len()));
        self.queue_places.push(NO_PLACE);
        self.meter.add_queue();
        Ok(())
    }

    /// The live queue called `name`.
    pub fn find_queue(&self, name: &str) -> Option<QueueId> {
        self.names.get(name).copied()
    }

    /// Adds a queue without sharing out anew.
    pub(super) fn insert_queue(&mut self, spec: QueueSpec) -> Result<QueueId, ConfigError> {
        let parent = self.parent_for(&spec)?;
        self.check_queue(&spec)?;
        let id = QueueId(self.queues.len() as u32);
        self.queues[parent.index()].children.push(id);
        self.names.insert(spec.name.clone(), id);
        self.has_maximums |= spec.max.is_some();
        let domain = self.domain_for(&spec.policy);
        self.queues.push(Queue::new(
            Some(parent),
            &spec,
            domain,
            u64::from(id.0),
            self.kinds.len(),
        ));
        self.queue_places.push(NO_PLACE);
        self.meter.add_queue();
        if let Some(quanta) = &mut self.quanta {
            quanta.add_queue();
        }
        if let Some(guard) = &mut self.guard {
            guard.add_queue();
        }
        self.set_minimum_term(id);
        // Where each server decides by itself nothing is rescaled: who counts would differ from
        // server to server.
        self.rescales |= self.servers.is_none() && self.is_rescaled(parent);
        Ok(id)
    }

    /// The domain of queues with this policy; made when it is the first.
    fn domain_for(&mut self, policy: &Policy) -> usize {
        if let Some(known) = self.domains.iter().position(|domain| domain.is_of(policy)) {
            return known;
        }
        let mut domain = Domain::new(policy);
        if domain.is_dominant() {
            domain.pool = Pool::new(&self.cluster.total);
        }
        // What it remembers is a function of time: one that comes later is brought up to now.
        domain.rule.enter_round(self.now);
        if let Some(last) = domain.rule.clock.steps(self.now).last() {
            domain.rule.clock = domain.rule.clock.at_landmark(last.landmark);
        }
        self.orders_by_arrival |= domain.rule.measure == Measure::Arrival;
        self.domains.push(domain);
        self.domains.len() - 1
    }

    /// How `queue` orders its children.
    #[inline]
    pub(super) fn domain(&self, queue: QueueId) -> &Domain {
        &self.domains[self.queues[queue.index()].domain]
    }

    fn parent_for(&self, spec: &QueueSpec) -> Result<QueueId, ConfigError> {
        if spec.name.split('.').any(str::is_empty) {
            return Err(ConfigError::QueueName { queue: spec.name.clone() });
        }
        if self.find_queue(&spec.name).is_some() {
            return Err(ConfigError::DuplicateQueue { queue: spec.name.clone() });
        }
        let Some((above, _)) = spec.name.rsplit_once('.') else { return Ok(QueueId::ROOT) };
        let Some(parent) = self.find_queue(above) else {
            return Err(ConfigError::NoParent {
                queue: spec.name.clone(),
                parent: above.to_owned(),
            });
        };
        let queue = &self.queues[parent.index()];
        if queue.jobs > 0 || queue.draining {
            return Err(ConfigError::ParentIsLeaf {
                queue: spec.name.clone(),
                parent: above.to_owned(),
            });
        }
        Ok(parent)
    }

    fn check_queue(&self, spec: &QueueSpec) -> Result<(), ConfigError> {
        check_weight(&spec.name, spec.weight)?;
        self.check_bounds(&spec.name, spec.min.as_ref(), spec.max.as_ref())?;
        let alone = || {
            (spec.policy.per_server && self.servers.is_none()).then(|| {
                "per-server-drf is how each server decides, from the root down: make it the order \
                 of the whole run, or \
                 take drf here"
                    .to_owned()
            })
        };
        match spec.policy.problem(self.kinds.len()).or_else(alone) {
            Some(problem) => Err(ConfigError::Policy { queue: spec.name.clone(), problem }),
            None => Ok(()),
        }
    }

    fn check_bounds(
        &self,
        queue: &str,
        min: Option<&Resources>,
        max: Option<&Resources>,
    ) -> Result<(), ConfigError> {
        for (bound, amounts) in [("minimum", min), ("maximum", max)] {
            if let Some(amounts) = amounts {
                check_dimensions(&format!("queue `{queue}`, {bound} share"), amounts, &self.kinds)?;
            }
        }
        let (Some(min), Some(max)) = (min, max) else { return Ok(()) };
        match (0..self.kinds.len()).find(|&kind| min.get(kind) > max.get(kind)) {
            Some(kind) => Err(ConfigError::MinAboveMax {
                queue: queue.to_owned(),
                kind: self.kinds.name(kind).to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Children's minimum shares must fit into what their parent is promised, or at least may hold;
    /// `newcomer` is a parent and the minimum of a child that it has not got yet.
    pub(super) fn check_minimums(
        &self,
        newcomer: Option<(QueueId, Resources)>,
    ) -> Result<(), ConfigError> {
        for (index, parent) in self.queues.iter().enumerate() {
            let more = newcomer.filter(|(above, _)| above.index() == index).map(|(_, min)| min);
            if parent.children.is_empty() && more.is_none() {
                continue;
            }
            for kind in 0..self.kinds.len() {
                let of_child = |child: &QueueId| self.queues[child.index()].rest.min;
                let minimums = parent.children.iter().filter_map(of_child).chain(more);
                let sum: u128 = minimums.map(|min| u128::from(min.get(kind))).sum();
                for (bound, amounts) in
                    [("minimum", parent.rest.min), ("maximum", parent.max.as_deref().copied())]
                {
                    if amounts.is_some_and(|amounts| sum > u128::from(amounts.get(kind))) {
                        return Err(ConfigError::ChildrenMinimum {
                            queue: parent.rest.name.clone(),
                            kind: self.kinds.name(kind).to_owned(),
                            bound,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn set_minimum_term(&mut self, queue: QueueId) {
        let Some(parent) = self.queues[queue.index()].parent else { return };
        let min = self.queues[queue.index()].rest.min;
        let term = min.map_or(Minimum::NONE, |min| self.domain(parent).minimum(&min));
        self.queues[queue.index()].terms.min = term;
    }

    pub(super) fn queue_added(&mut self, spec: QueueSpec) -> Result<QueueId, Rejected> {
        let parent = self.parent_for(&spec)?;
        self.check_queue(&spec)?;
        // Before it is inserted: a refused queue must not use up a number.
        self.check_minimums(spec.min.map(|min| (parent, min)))?;
        self.begin_to_learn(spec.policy.quantum);
        let id = self.insert_queue(spec)?;
        self.share_out();
        self.schedule_chores();
        Ok(id)
    }

    /// The first queue with adaptive quanta brings the updater, if none had them at the start.
    fn begin_to_learn(&mut self, quantum: Quantum) {
        let (None, Quantum::Adaptive { initial, interval }) = (&self.quanta, quantum) else {
            return;
        };
        let mut quanta = QuantumUpdater::new(initial, interval);
        self.queues.iter().skip(1).for_each(|_| quanta.add_queue());
        for id in self.jobs.iter().map(|(id, _)| id).collect::<Vec<_>>() {
            let path = self.path(self.jobs[id].queue);
            self.jobs[id].quantum = quanta.job_arrives(&path);
        }
        self.quanta = Some(quanta);
    }

    pub(super) fn queue_changed(
        &mut self,
        id: QueueId,
        change: QueueChange,
    ) -> Result<Effect, Rejected> {
        let queue = self.live_queue(id)?;
        let min = change.min.unwrap_or(queue.rest.min);
        let max = change.max.unwrap_or(queue.max.as_deref().copied());
        let weight = change.weight.unwrap_or(queue.terms.weight);
        let name = queue.rest.name.clone();
        check_weight(&name, weight)?;
        self.check_bounds(&name, min.as_ref(), max.as_ref())?;
        let queue = &mut self.queues[id.index()];
        let before = (queue.rest.min, queue.max.take());
        (queue.rest.min, queue.max) = (min, max.map(Box::new));
        self.has_maximums |= max.is_some();
        if let Err(error) = self.check_minimums(None) {
            let queue = &mut self.queues[id.index()];
            (queue.rest.min, queue.max) = before;
            return Err(error.into());
        }
        let queue = &mut self.queues[id.index()];
        queue.terms.weight = weight;
        self.woken.extend(std::mem::take(&mut queue.rest.capped));
        self.note_filled(id);
        self.set_minimum_term(id);
        self.share_out();
        self.wake();
        Ok(Effect::None)
    }

    pub(super) fn queue_removed(&mut self, id: QueueId) -> Result<Effect, Rejected> {
        let queue = self.live_queue(id)?;
        if !queue.children.is_empty() {
            return Err(Rejected::HasChildren { queue: queue.rest.name.clone() });
        }
        if self.queues[id.index()].jobs > 0 {
            self.queues[id.index()].draining = true;
        } else {
            self.remove_now(id);
            self.share_out();
        }
        Ok(Effect::None)
    }

    /// Takes a queue without jobs out of the tree.
    pub(super) fn remove_now(&mut self, id: QueueId) {
        let queue = &mut self.queues[id.index()];
        (queue.removed, queue.draining) = (true, false);
        self.names.remove(&queue.rest.name);
        let Some(parent) = queue.parent else { return };
        self.queues[parent.index()].children.retain(|&child| child != id);
        if let Some(quanta) = &mut self.quanta {
            quanta.remove_queue(id, parent);
        }
    }

    fn live_queue(&self, id: QueueId) -> Result<&Queue, Rejected> {
        match self.queues.get(id.index()) {
            Some(queue) if !queue.removed && queue.parent.is_some() => Ok(queue),
            _ => Err(Rejected::UnknownQueue),
        }
    }

    /// The leaf that a job is submitted to.
    pub(super) fn leaf_for_job(&self, id: QueueId) -> Result<&Queue, Rejected> {
        let queue = self.live_queue(id)?;
        if !queue.is_leaf() {
            return Err(Rejected::NotALeaf { queue: queue.rest.name.clone() });
        }
        if queue.draining {
            return Err(Rejected::Draining { queue: queue.rest.name.clone() });
        }
        Ok(queue)
    }

    /// Refuses a demand above the maximum share of `leaf` or one of its parents.
    pub(super) fn check_maximum(&self, leaf: QueueId, demand: &Resources) -> Result<(), Rejected> {
        if !self.has_maximums {
            return Ok(());
        }
        let mut at = Some(leaf);
        while let Some(id) = at {
            let queue = &self.queues[id.index()];
            if let Some(max) = queue.max.as_deref().filter(|max| !demand.fits_in(max)) {
                return Err(Rejected::AboveMaximum {
                    demand: in_words(demand, &self.kinds),
                    queue: queue.rest.name.clone(),
                    maximum: in_words(max, &self.kinds),
                });
            }
            at = queue.parent;
        }
        Ok(())
    }

    /// Queues from just below the root down to `leaf`.
    pub(super) fn path(&self, leaf: QueueId) -> smallvec::SmallVec<[QueueId; 8]> {
        let mut path = smallvec::SmallVec::new();
        let mut at = leaf;
        while let Some(parent) = self.queues[at.index()].parent {
            path.push(at);
            at = parent;
        }
        path.reverse();
        path
    }
}

fn check_weight(queue: &str, weight: Weight) -> Result<(), ConfigError> {
    match weight {
        1..=MAX_WEIGHT => Ok(()),
        _ => Err(ConfigError::Weight { queue: queue.to_owned() }),
    }
}
