//! Room that is held idle: free now, and kept from others for tasks that wait.
//!
//! > lasting(node, n) = what may be taken of it for ever, as far as the first n of its holds tell
//! >
//! > idle(n) = lasting(node, n - 1) - lasting(node, n),  kind by kind
//!
//! So what is free on a node is what is held idle for each of its holds, and what is left to
//! anybody for ever: capacity = used + held idle + idle, to the unit, at every instant. What a
//! backfilled task uses is not idle.
//!
//! It is measured for the leaf for which it is held, and, where the policy says so
//! (`charge_reservations`), charged to its ledgers: to the job's, the leaf's and those above it, as
//! a task would be that holds so much and has no quantum.
//!
//! It is as of the last decision. Cost: O(1) where nothing is held idle, or for one hold; of
//! several each is taken anew, O(changes), until nothing is left to take.

use smallvec::smallvec;

use super::Holds;
use super::hold::{Hold, Idle, IdleThere};
use crate::engine::books::Used;
use crate::engine::core::Core;
use crate::engine::holds::Reservations;
use crate::engine::row_map::RowMap;
use crate::ids::{JobId, NodeRow};
use crate::resources::Resources;

/// All that is held idle at an instant.
pub(in crate::engine) struct AllIdle(RowMap<IdleThere>);

impl Reservations {
    /// The node goes: nothing is held idle on it from now on.
    pub(in crate::engine) fn forget_idle_on(&mut self, core: &mut Core, node: NodeRow) {
        if let Some(holds) = &mut self.holds {
            holds.settle_idle(core, node, IdleThere::new());
        }
    }

    /// Nothing is held idle anywhere, until it is decided again; what was.
    pub(in crate::engine) fn forget_all_idle(&mut self, core: &mut Core) -> AllIdle {
        let all = self.holds.as_ref().map(|holds| holds.idle.clone()).unwrap_or_default();
        all.rows().for_each(|node| self.forget_idle_on(core, node));
        AllIdle(all)
    }

    /// What was forgotten at this instant is held idle as if it had not been.
    pub(in crate::engine) fn hold_all_idle(&mut self, core: &mut Core, all: AllIdle) {
        let Some(holds) = &mut self.holds else { return };
        for (node, idle) in all.0.into_all() {
            holds.settle_idle(core, node, idle);
        }
    }

    /// A job goes: nothing is held idle for it from now on.
    pub(in crate::engine) fn forget_idle_of(&mut self, core: &mut Core, job: JobId) {
        let Some(holds) = &mut self.holds else { return };
        let others = |all: &IdleThere| all.iter().filter(|idle| idle.job != job).copied().collect();
        let with_ours = holds.idle.iter().filter(|(_, all)| all.iter().any(|idle| idle.job == job));
        let left: Vec<(NodeRow, IdleThere)> =
            with_ours.map(|(node, all)| (node, others(all))).collect();
        left.into_iter().for_each(|(node, others)| holds.settle_idle(core, node, others));
    }

    /// Domains begin a round: what is held idle goes on into it.
    pub(in crate::engine) fn straddle_idle(&self, core: &mut Core, begun: &[usize]) {
        let Some(holds) = self.holds.as_ref().filter(|holds| holds.charges) else { return };
        if begun.is_empty() {
            return;
        }
        let all = holds.idle.iter().flat_map(|(node, all)| all.iter().map(move |it| (node, it)));
        for (node, idle) in all {
            let used = core.held_idle(node, idle);
            core.books.straddle_idle(&core.tree, begun, &used);
        }
    }
}

impl Holds {
    /// What is held idle on a node with holds, in their order; `lasting`: what is left of it.
    pub(super) fn idle_on(&self, core: &Core, node: NodeRow, lasting: &Resources) -> IdleThere {
        let all = beyond(&core.room.free(node), lasting);
        if all.is_zero() {
            return IdleThere::new();
        }
        let there = || self.list.iter().filter(|hold| hold.is_on(node));
        let (first, second) = (there().next(), there().nth(1));
        let Some(first) = first else { return IdleThere::new() };
        if second.is_none() {
            return smallvec![core.idle_for(first, all)];
        }
        self.idle_of_each(core, node)
    }

    /// From now on so much is held idle on the node.
    pub(super) fn settle_idle(&mut self, core: &mut Core, node: NodeRow, idle: IdleThere) {
        let before = match self.idle.get_mut(node) {
            None if idle.is_empty() => return,
            Some(before) if *before == idle => return,
            Some(_) if idle.is_empty() => self.idle.remove(node),
            Some(before) => Some(std::mem::replace(before, idle.clone())),
            None => self.idle.insert(node, idle.clone()),
        };
        let mut turn = |idle: &Idle, begins: bool| {
            let used = core.held_idle(node, idle);
            core.books.turn_idle(core.now, &core.tree, &used, self.charges, begins);
        };
        before.unwrap_or_default().iter().for_each(|idle| turn(idle, false));
        idle.iter().for_each(|idle| turn(idle, true));
    }

    /// The same of several holds.
    #[inline(never)]
    fn idle_of_each(&self, core: &Core, node: NodeRow) -> IdleThere {
        let mut left = core.room.free(node);
        let mut kept = core.profile_of(node);
        let mut idle = IdleThere::new();
        for hold in self.list.iter().filter(|hold| hold.is_on(node)) {
            let parts = hold.parts().filter(|(on, _)| *on == node);
            parts.for_each(|(_, part)| kept.put_back(&part));
            let lasting = kept.profile.lasting();
            let amounts = beyond(&left, &lasting);
            if !amounts.is_zero() {
                idle.push(core.idle_for(hold, amounts));
            }
            left.lower(&lasting);
            if left.is_zero() {
                break;
            }
        }
        idle
    }
}

impl Core {
    /// What is held idle on a node, as what a task uses.
    fn held_idle<'i>(&self, node: NodeRow, idle: &'i Idle) -> Used<'i> {
        let job = self.work.job(idle.job).expect("what is held idle goes with its job");
        let (queue, node_weight) = (job.queue, self.room.weight(node));
        Used { job: idle.job, queue, demand: &idle.amounts, node_weight }
    }

    fn idle_for(&self, hold: &Hold, amounts: Resources) -> Idle {
        Idle { job: self.work.group(hold.slot()).job, amounts }
    }
}

/// What of `left` is more than lasts.
fn beyond(left: &Resources, lasting: &Resources) -> Resources {
    Resources::by_kind(left.kinds(), |kind| left.get(kind).saturating_sub(lasting.get(kind)))
}
