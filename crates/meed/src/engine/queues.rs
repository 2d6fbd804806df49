//! The queue tree: queues are added, changed and removed while work runs.

use super::core::Core;
use super::view::View;
use crate::cluster::check_dimensions;
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
use crate::ids::{QueueId, QueueRow};
use crate::policy::Policy;
use crate::resources::Resources;
use crate::spec::{MAX_WEIGHT, QueueChange, QueueSpec, Rank, Weight};

impl<'a> View<'a> {
    /// The live queue called `name`.
    pub fn find_queue(self, name: &str) -> Option<QueueId> {
        self.core.tree.find(name).map(|row| self.core.tree.id(row))
    }
}

impl Core {
    pub(super) fn queue_changed(
        &mut self,
        id: QueueId,
        change: QueueChange,
    ) -> Result<(), Rejected> {
        let id = self.live_queue(id)?;
        if let QueueChange { weight: None, min: None, max: None, rank: Some(rank) } = change {
            self.rank_told(id, rank);
            return Ok(());
        }
        let queue = &self.tree[id];
        let min = change.min.unwrap_or(queue.min());
        let max = change.max.unwrap_or(queue.max().copied());
        let weight = change.weight.unwrap_or(queue.weight());
        check_weight(queue.name(), weight)?;
        self.check_bounds(queue.name(), min.as_ref(), max.as_ref())?;
        let parent = queue.parent().unwrap_or(QueueRow::ROOT);
        let before = self.tree.set_bounds(id, min, max);
        let mut checked = [parent, id].into_iter();
        if let Err(error) = checked.try_for_each(|at| self.check_minimums_of(at, None)) {
            self.tree.set_bounds(id, before.0, before.1);
            return Err(error.into());
        }
        self.tree.set_weight(id, weight);
        if let Some(rank) = change.rank {
            self.rank_told(id, rank);
        }
        self.ready.below_maximum(id);
        self.note_filled(id);
        self.queues_changed();
        self.wake();
        Ok(())
    }

    /// Its key may rise or fall; nobody's share changes, and nobody fits better than before.
    fn rank_told(&mut self, id: QueueRow, rank: Rank) {
        self.books.set_rank(id, rank);
        self.rekey(id);
    }

    /// The root, whose policy is how the first queues are ordered.
    pub(super) fn root_spec(policy: &Policy, kinds: usize) -> Result<QueueSpec, ConfigError> {
        let name = "root".to_owned();
        match policy.problem(kinds) {
            Some(problem) => Err(ConfigError::Policy { queue: name, problem }),
            None => {
                Ok(QueueSpec { name, weight: 1000, min: None, max: None, policy: policy.clone() })
            }
        }
    }

    /// Adds a queue, or brings one back, without sharing out anew.
    ///
    /// One that was removed and comes back, by its full name, is the queue that it was: number,
    /// place among its siblings, ledgers, integrals, and what it was topped up with as a newcomer.
    /// In between it held nothing, and its usage faded as that of all others: so it stands as one
    /// that stayed and was idle. Nobody gains by leaving, and nobody loses more than idleness
    /// costs. Where its parent orders by another policy now, what it used is told in units of the
    /// old one, which mean nothing: then it is a newcomer, and so is every sibling, for a parent's
    /// policy changes only by its own removal, after all its children's.
    pub(super) fn insert_queue(&mut self, spec: &QueueSpec) -> Result<QueueRow, ConfigError> {
        let parent = self.parent_for(spec)?;
        self.check_queue(spec)?;
        let (now, pool) = (self.now, self.room.total());
        let id = match self.tree.back(parent, &spec.name) {
            Some(id) => {
                self.tree.revive(id, spec);
                self.books.revive_queue(now, id, parent, &spec.policy, spec.weight, pool);
                id
            }
            None if self.tree.rows().is_full() => return Err(ConfigError::TooManyQueues),
            None => {
                self.books.add_queue(now, Some(parent), &spec.policy, spec.weight, pool);
                self.ready.add_queue();
                if let Some(guard) = &mut self.guard {
                    guard.add_queue();
                }
                self.tree.add(parent, spec)
            }
        };
        // Where each server decides by itself nothing is rescaled: who counts would differ from
        // server to server.
        self.rescales |= self.servers.is_none() && self.is_rescaled(parent);
        Ok(id)
    }

    fn parent_for(&self, spec: &QueueSpec) -> Result<QueueRow, ConfigError> {
        if spec.name.split('.').any(str::is_empty) {
            return Err(ConfigError::QueueName { queue: spec.name.clone() });
        }
        if self.tree.find(&spec.name).is_some() {
            return Err(ConfigError::DuplicateQueue { queue: spec.name.clone() });
        }
        let Some((above, _)) = spec.name.rsplit_once('.') else { return Ok(QueueRow::ROOT) };
        let Some(parent) = self.tree.find(above) else {
            return Err(ConfigError::NoParent {
                queue: spec.name.clone(),
                parent: above.to_owned(),
            });
        };
        let queue = &self.tree[parent];
        if queue.jobs() > 0 || queue.is_draining() {
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
            let root = self.books.domain(QueueRow::ROOT).policy();
            (!spec.policy.goes_below(root)).then(|| {
                format!(
                    "{} is how each server decides, from the root down: make it the order of the \
                     whole run, or take drf here",
                    spec.policy.name()
                )
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

    /// Children's minimum shares must fit into what their parent is promised, or at least may
    /// hold.
    pub(super) fn check_minimums(&self) -> Result<(), ConfigError> {
        self.tree.iter().try_for_each(|(id, _)| self.check_minimums_of(id, None))
    }

    /// The same of one parent; `more` is the minimum of a child that it has not got yet.
    fn check_minimums_of(
        &self,
        parent: QueueRow,
        more: Option<Resources>,
    ) -> Result<(), ConfigError> {
        let parent = &self.tree[parent];
        if parent.min().is_none() && parent.max().is_none() {
            return Ok(());
        }
        if parent.children().is_empty() && more.is_none() {
            return Ok(());
        }
        for kind in 0..self.kinds.len() {
            let of_child = |&child: &QueueRow| self.tree[child].min();
            let minimums = parent.children().iter().filter_map(of_child).chain(more);
            let sum: u128 = minimums.map(|min| u128::from(min.get(kind))).sum();
            for (bound, amounts) in [("minimum", parent.min()), ("maximum", parent.max().copied())]
            {
                if amounts.is_some_and(|amounts| sum > u128::from(amounts.get(kind))) {
                    return Err(ConfigError::ChildrenMinimum {
                        queue: parent.name().to_owned(),
                        kind: self.kinds.name(kind).to_owned(),
                        bound,
                    });
                }
            }
        }
        Ok(())
    }

    pub(super) fn queue_added(&mut self, spec: QueueSpec) -> Result<QueueId, Rejected> {
        let parent = self.parent_for(&spec)?;
        self.check_queue(&spec)?;
        // Before it is inserted: a refused queue must not use up a number.
        if spec.min.is_some() {
            self.check_minimums_of(parent, spec.min)?;
        }
        self.books.begin_to_learn(&self.tree, spec.policy.quantum);
        let row = self.insert_queue(&spec)?;
        self.queues_changed();
        self.schedule_chores();
        Ok(self.tree.id(row))
    }

    pub(super) fn queue_removed(&mut self, id: QueueId) -> Result<Effect, Rejected> {
        let id = self.live_queue(id)?;
        let queue = &self.tree[id];
        if !queue.children().is_empty() {
            return Err(Rejected::HasChildren { queue: queue.name().to_owned() });
        }
        if queue.jobs() > 0 {
            self.tree.drain(id);
        } else {
            self.remove_now(id);
        }
        Ok(Effect::None)
    }

    /// Takes a queue without jobs out of the tree.
    pub(super) fn remove_now(&mut self, id: QueueRow) {
        if let Some(parent) = self.tree.remove(id) {
            self.books.remove_queue(self.now, id, parent);
            self.queues_changed();
        }
    }

    fn live_queue(&self, id: QueueId) -> Result<QueueRow, Rejected> {
        let row = self.tree.row(id).filter(|&row| !self.tree[row].is_removed());
        row.filter(|&row| row != QueueRow::ROOT).ok_or(Rejected::UnknownQueue)
    }

    /// The leaf that a job is submitted to; refuses a queue that takes none.
    pub(super) fn leaf_for_job(&self, id: QueueId) -> Result<QueueRow, Rejected> {
        let row = self.live_queue(id)?;
        let queue = &self.tree[row];
        if !queue.is_leaf() {
            return Err(Rejected::NotALeaf { queue: queue.name().to_owned() });
        }
        if queue.is_draining() {
            return Err(Rejected::Draining { queue: queue.name().to_owned() });
        }
        Ok(row)
    }
}

fn check_weight(queue: &str, weight: Weight) -> Result<(), ConfigError> {
    match weight {
        1..=MAX_WEIGHT => Ok(()),
        _ => Err(ConfigError::Weight { queue: queue.to_owned() }),
    }
}
