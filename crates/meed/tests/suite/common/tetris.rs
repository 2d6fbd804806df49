//! What starts under Tetris's fairness knob, by plain scans in exact fractions.

use std::cmp::Ordering;

use meed::*;

use super::charge::Ratio;
use super::fraction::Fraction;
use super::model::Model;

/// A task that may start, and how well it is aligned with the server.
struct Fit {
    job: usize,
    group: usize,
    aligned: Fraction,
}

impl Model {
    pub(crate) fn packs(&self) -> bool {
        self.queues[0].spec.policy.fairness.is_some()
    }

    /// Leaf, job, group and server of what is to start next.
    pub(crate) fn expect_packed(&self) -> Option<(usize, usize, usize, usize)> {
        let node = self.server()?;
        let fits = self.packed_below(0, node);
        // Those that stand first come first, so of equals the first one stays.
        let best = fits.into_iter().reduce(|best, fit| {
            if fit.aligned.order(&best.aligned) == Ordering::Greater { fit } else { best }
        })?;
        Some((self.jobs[best.job].queue, best.job, best.group, node))
    }

    /// The sum over kinds of D_r / c_r * free_r / c_r.
    fn aligned(&self, demand: &Resources, node: usize) -> Fraction {
        let (has, free) = (self.nodes[node].spec.capacity, self.free(node));
        let there = (0..has.kinds()).filter(|&kind| has.get(kind) > 0);
        let part =
            |amount: u64, kind: usize| Fraction::new(u128::from(amount), u128::from(has.get(kind)));
        let products =
            there.map(|kind| part(demand.get(kind), kind).times(&part(free.get(kind), kind)));
        products.fold(Fraction::zero(), |sum, product| sum.plus(&product))
    }

    /// All that may be looked at below `q`, in order.
    fn packed_below(&self, q: usize, node: usize) -> Vec<Fit> {
        let knob = self.queues[q].spec.policy.fairness;
        if self.is_leaf(q) {
            let mut fits = self.fits_of(q, node);
            fits.truncate(if knob.is_some() { usize::MAX } else { 1 });
            return fits;
        }
        let wanting = |&child: &usize| self.waiting(child) > 0;
        let mut children: Vec<(usize, Ratio)> = self
            .children(q)
            .into_iter()
            .filter(wanting)
            .map(|child| (child, self.queue_key(child)))
            .collect();
        children.sort_by(|a, b| a.1.cmp_value(&b.1).then(self.tie(a.0).cmp(&self.tie(b.0))));
        // The least whole number that is no less than (1 - f) J.
        let most = match knob {
            None => 1,
            Some(knob) => (1..=children.len())
                .find(|number| number * 1000 >= children.len() * (1000 - knob as usize))
                .unwrap_or(1),
        };
        // Whoever may start something below his minimum leaves nothing to all others.
        let offers: Vec<(Tier, Vec<Fit>)> = children
            .into_iter()
            .map(|(child, key)| (key.tier, self.packed_below(child, node)))
            .collect();
        let lacks =
            |(tier, fits): &(Tier, Vec<Fit>)| *tier == Tier::BelowMinimum && !fits.is_empty();
        let any_lacks = knob.is_some() && offers.iter().any(lacks);
        let mut fits = Vec::new();
        for (place, (tier, offered)) in offers.into_iter().enumerate() {
            let may = !any_lacks || tier == Tier::BelowMinimum;
            if may && (place < most && knob.is_some() || fits.is_empty()) {
                fits.extend(offered);
            }
        }
        fits
    }

    /// The tasks of a leaf that may start on the server, in its order.
    fn fits_of(&self, leaf: usize, node: usize) -> Vec<Fit> {
        let ours = (0..self.jobs.len()).filter(|&job| self.jobs[job].queue == leaf);
        let groups =
            ours.flat_map(|job| (0..self.jobs[job].groups.len()).map(move |group| (job, group)));
        let mut fits: Vec<(usize, usize)> =
            groups.filter(|&(job, group)| self.may_start_on(node, job, group)).collect();
        fits.sort_by(|a, b| self.job_key(a.0).cmp_value(&self.job_key(b.0)).then(a.cmp(b)));
        let fit = |(job, group): (usize, usize)| {
            let aligned = self.aligned(&self.jobs[job].groups[group].demand, node);
            Fit { job, group, aligned }
        };
        fits.into_iter().map(fit).collect()
    }

    /// The reason of a start names each level from the root, with the key there, and nobody else.
    pub(crate) fn check_packed(&self, leaf: usize, reason: &Reason) {
        let path = self.path(leaf);
        assert_eq!(reason.levels.len() + 1, path.len(), "a choice for each level");
        for choice in &reason.levels {
            let chosen = choice.chosen.index();
            assert!(path.contains(&chosen), "{choice:?} is on the way to {leaf}");
            assert_eq!(self.queues[chosen].parent, Some(choice.among.index()), "{choice:?}");
            let key = self.queue_key(chosen);
            assert_eq!(choice.key.tier, key.tier, "{choice:?}");
            assert!(key.is_shown_as(choice.key.value), "{choice:?}: {key:?}");
            assert_eq!(choice.runner_up, None);
        }
    }
}
