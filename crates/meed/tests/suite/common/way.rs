//! A reservation gives way to a task for which its own would be stopped: docs/reclaim.md, "What
//! comes free meanwhile", word for word.

use super::model::Model;
use super::reserve::Held;
use super::verify::Expected;
use meed::*;

/// A task that waits: job and group, and the place of its reservation.
type Waits = ((usize, usize), Option<usize>);

/// Whether a reservation is of a single task.
fn is_single(held: &Held) -> bool {
    held.with.is_empty() && held.nodes.iter().map(|(_, tasks)| tasks).sum::<u64>() == 1
}

impl Model {
    fn leaf(&self, at: usize) -> usize {
        self.jobs[self.holds[at].job].queue
    }

    /// The reservation that starts first of those with room.
    pub(crate) fn first_due(&mut self) -> Option<usize> {
        self.refresh_counts();
        let mut due = (0..self.holds.len()).filter(|&at| self.holds[at].at == Some(self.now));
        let first = due.next()?;
        if self.queues[0].spec.policy.reclaim.is_none() {
            return Some(first);
        }
        let owes = |by: usize, at: usize| self.owing(self.leaf(at), self.leaf(by)).is_some();
        Some(due.fold(first, |first, at| if owes(first, at) { at } else { first }))
    }

    /// The task to which a reservation with room gives way, and where that starts.
    pub(crate) fn who_has_its_room(&mut self, due: usize) -> Option<Expected> {
        let rules = self.queues[0].spec.policy.reclaim?;
        let (hold, leaf) = (self.holds[due].clone(), self.leaf(due));
        let stops = self.running().any(|task| self.stopping.contains(&task.allocation));
        if !is_single(&hold) || hold.reclaims || stops {
            return None;
        }
        let place = (due, hold.nodes[0].0);
        let mut first: Option<Waits> = None;
        for waits in self.all_that_wait(place, rules) {
            let ours = self.jobs[waits.0.0].queue;
            let before = first.map(|((job, _), _)| self.jobs[job].queue);
            let owed = before.is_none_or(|theirs| self.owing(ours, theirs).is_some());
            if owed && self.could_stop_it(waits, leaf, place, rules) {
                first = Some(waits);
            }
        }
        let ((job, group), held) = first?;
        let besides = self.node_for(job, group).filter(|_| held.is_none());
        self.freed |= besides.is_none();
        let waited = held.map(|at| self.now - self.holds.remove(at).since);
        let node = besides.unwrap_or(place.1);
        self.starts_on = Vec::new();
        Some(Expected::Held { job, group, node, waited })
    }

    /// Single tasks with reservations that do not start soon; then of each leaf the first without
    /// one that fits.
    fn all_that_wait(&self, (due, node): (usize, usize), rules: Reclaim) -> Vec<Waits> {
        let soon = self.now + rules.grace.as_micros();
        let held = self.holds.iter().enumerate().filter(|(_, held)| {
            is_single(held) && held.at.is_none_or(|at| at > soon) && !self.is_pinned(held)
        });
        let held = held.map(|(at, held)| ((held.job, held.group), Some(at)));
        let first = |leaf: usize| {
            let jobs = (0..self.jobs.len()).filter(|&job| self.jobs[job].queue == leaf);
            let groups = |job: usize| (0..self.jobs[job].groups.len()).map(move |it| (job, it));
            let waits = |&(job, group): &(usize, usize)| {
                let single = self.turn(job, group) == 1 && !self.is_joint(job, group);
                let waits = self.jobs[job].alive && single && self.unheld(job, group) > 0;
                waits
                    && !self.is_capped(leaf, &self.turn_demand(job, group))
                    && self.fits_in_place((job, group), None, (due, node))
            };
            let by_key = |a: &(usize, usize), b: &(usize, usize)| {
                self.job_key(a.0).cmp_value(&self.job_key(b.0)).then(a.cmp(b))
            };
            jobs.flat_map(groups).filter(waits).min_by(by_key).map(|of| (of, None))
        };
        let leaves = (1..self.queues.len()).filter(|&queue| self.is_leaf(queue));
        held.chain(leaves.filter_map(first)).collect()
    }

    /// Whether the task of a reservation could be stopped for one that waits, ran it there.
    fn could_stop_it(
        &self,
        (of, held): Waits,
        leaf: usize,
        place: (usize, usize),
        rules: Reclaim,
    ) -> bool {
        let Some((first, last)) = self.owing(self.jobs[of.0].queue, leaf) else { return false };
        let starts = vec![(of.1, vec![(place.1, 1)])];
        let turn = self.turn_demand(of.0, of.1);
        let due = &self.holds[place.0];
        let own = self.turn_demand(due.job, due.group);
        let beyond = |kind: usize| {
            let with = self.held(last).get(kind) + own.get(kind);
            turn.get(kind) > 0 && with > self.share(last).get(kind)
        };
        let minimum = self.is_below_minimum(first) && !self.is_below_minimum(last);
        let keeps_place = minimum
            || (0..turn.kinds()).any(beyond)
            || self.holds_more_for_weight((last, &[]), first);
        keeps_place
            && self.may_get(first, &self.turn_demand(of.0, of.1))
            && self.fits_in_place(of, held, place)
            && self.comes_first_then(of.0, rules, (first, last), &[], &starts)
    }

    /// Whether a task fits on the node of a reservation, in its place in the order: what waits
    /// after it for an unknown start is not counted, nor is its own reservation.
    fn fits_in_place(
        &self,
        of: (usize, usize),
        own: Option<usize>,
        (due, node): (usize, usize),
    ) -> bool {
        let mut model = self.clone();
        for (at, held) in model.holds.iter_mut().enumerate() {
            let known = held.at.is_some() || self.is_pinned(&self.holds[at]);
            held.counts &= at != due && Some(at) != own && (at < due || known);
        }
        self.could_hold(of, (node, 1)) && model.fit_from(of, (node, 1), self.now, None)
    }
}
