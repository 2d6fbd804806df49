//! What must hold after every event and at every decision, looked at by plain scans.

use super::charge::Ratio;
use super::fraction::Fraction;
use super::model::{Model, Task};
use meed::*;
use std::cmp::Ordering;

/// Whether `a` has the smaller H of DRFH Eq. 9; with other than two kinds the first node fits.
fn fits_better(demand: &Resources, a: &Resources, b: &Resources) -> bool {
    if demand.kinds() != 2 {
        return false;
    }
    let (p, q) = if demand.get(0) > 0 { (0, 1) } else { (1, 0) };
    let product = |kind: usize, free: &Resources, other: usize| {
        i128::from(demand.get(kind)) * i128::from(free.get(other))
    };
    // |D_q / D_p - c_q / c_p|, times D_p c_p.
    let away = |free: &Resources| (product(q, free, p) - product(p, free, q)).abs();
    away(a) * i128::from(b.get(p)) < away(b) * i128::from(a.get(p))
}

/// What is to start next.
pub(crate) enum Expected {
    /// With the others of its gang.
    WithGang { job: usize, group: usize, node: usize },
    /// By a reservation, which it had for so long, or where one gave way to it.
    Held { job: usize, group: usize, node: usize, waited: Option<u64> },
    /// In turn; `any_size`: where all that waits stood in the order, fitting or not.
    Walked {
        leaf: usize,
        starved: Option<u64>,
        job: usize,
        group: usize,
        node: usize,
        any_size: bool,
    },
}

impl Model {
    /// Where what may be taken for ever does, else where what is held leaves it open long enough.
    fn node_with_holds(
        &self,
        job: usize,
        group: usize,
        among: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let demand = &self.jobs[job].groups[group].demand;
        let allowed =
            |&node: &usize| self.nodes[node].up && self.is_allowed(job, group, node) && among(node);
        let lasting = |node: usize| self.lasting(node);
        let mut lasts =
            (0..self.nodes.len()).filter(allowed).filter(|&node| demand.fits_in(&lasting(node)));
        if let Some(first) = lasts.next() {
            return Some(lasts.fold(first, |best, node| {
                if fits_better(demand, &lasting(node), &lasting(best)) { node } else { best }
            }));
        }
        (0..self.nodes.len())
            .filter(|&node| self.has_holds(node) && among(node))
            .find(|&node| self.has_room(node, job, group))
    }

    pub(crate) fn node_for(&self, job: usize, group: usize) -> Option<usize> {
        if self.is_joint(job, group) {
            return self.places_now(job, group).map(|starts| starts[0].1);
        }
        match self.turn(job, group) {
            1 => self.node_among(job, group, &|_| true),
            _ => self.node_for_gang(job, group),
        }
    }

    /// A node for one task of the group, of some.
    pub(crate) fn node_among(
        &self,
        job: usize,
        group: usize,
        among: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        if !self.holds.is_empty() {
            return self.node_with_holds(job, group, among);
        }
        let has_room = |&node: &usize| among(node) && self.has_room(node, job, group);
        match self.queues[0].spec.policy.per_server {
            false => {
                let mut with_room = (0..self.nodes.len()).filter(has_room);
                let first = with_room.next()?;
                let demand = &self.jobs[job].groups[group].demand;
                Some(with_room.fold(first, |best, node| {
                    if fits_better(demand, &self.free(node), &self.free(best)) {
                        node
                    } else {
                        best
                    }
                }))
            }
            true => self.server().filter(has_room),
        }
    }

    fn has_room(&self, node: usize, job: usize, group: usize) -> bool {
        let fits = self.jobs[job].groups[group].demand.fits_in(&self.free(node));
        self.nodes[node].up
            && fits
            && self.is_allowed(job, group, node)
            && self.is_left_open(job, group, node)
    }

    /// Whether a task of the group waits, fits there and exceeds no maximum share.
    pub(crate) fn may_start_on(&self, node: usize, job: usize, number: usize) -> bool {
        let group = &self.jobs[job].groups[number];
        self.jobs[job].alive
            && group.waiting() > 0
            && self.has_room(node, job, number)
            && !self.is_capped(self.jobs[job].queue, &group.demand)
    }

    /// The server whose turn it is where each decides on its own: the first on which something may
    /// start.
    pub(crate) fn server(&self) -> Option<usize> {
        let groups = |job: usize| (0..self.jobs[job].groups.len()).map(move |group| (job, group));
        let all: Vec<(usize, usize)> = (0..self.jobs.len()).flat_map(groups).collect();
        let may = |node: usize, &(job, group): &(usize, usize)| self.may_start_on(node, job, group);
        let opens = |&node: &usize| all.iter().any(|group| may(node, group));
        if !self.queues[0].spec.policy.residual {
            return (0..self.nodes.len()).find(opens);
        }
        // The server of the pair with the smallest key.
        let leads = |node: usize, child: usize| {
            let below = |group: &&(usize, usize)| self.is_below(self.jobs[group.0].queue, child);
            all.iter().filter(below).any(|group| may(node, group))
        };
        let mut pairs: Vec<(Ratio, usize, usize)> = Vec::new();
        for node in (0..self.nodes.len()).filter(opens) {
            for child in self.children(0).into_iter().filter(|&child| leads(node, child)) {
                let key = self.key_below_minimum(child);
                let key = key.unwrap_or_else(|| self.residual_key(child, node));
                pairs.push((key, child, node));
            }
        }
        let tie = |pair: &(Ratio, usize, usize)| (self.tie(pair.1), pair.2);
        pairs.sort_by(|a, b| a.0.cmp_value(&b.0).then(tie(a).cmp(&tie(b))));
        pairs.first().map(|pair| pair.2)
    }

    /// Whether labels allow the node, and no task of the job that wants a node of its own runs
    /// there.
    pub(crate) fn is_allowed(&self, job: usize, group: usize, node: usize) -> bool {
        let constraints = &self.jobs[job].groups[group].constraints;
        let wants_own =
            |task: &Task| self.jobs[task.job].groups[task.group].constraints.distinct_nodes;
        let taken = |task: &Task| task.job == job && task.node == node && wants_own(task);
        constraints.allow(&self.nodes[node].spec.labels)
            && self.is_near(job, group, node)
            && !(constraints.distinct_nodes && self.running().any(taken))
    }

    pub(crate) fn is_capped(&self, leaf: usize, demand: &Resources) -> bool {
        self.path(leaf).iter().any(|&q| {
            let mut with = self.held(q);
            with.add(demand);
            self.queues[q].spec.max.is_some_and(|max| !with.fits_in(&max))
        })
    }

    fn waits_for_large(&self) -> bool {
        self.queues[0].spec.policy.blocked == Blocked::Wait || self.any_size
    }

    /// Whether a group can start now; under `Blocked::Wait` one that fits nowhere is in the order
    /// as well.
    fn is_candidate(&self, number: usize, group_number: usize) -> bool {
        let job = &self.jobs[number];
        job.alive
            && self.unheld(number, group_number) > 0
            && self.leads(number, group_number)
            && !self.is_capped(job.queue, &self.turn_demand(number, group_number))
            && (!self.any_size || self.has_hope(number, group_number))
            && (self.waits_for_large() || self.node_for(number, group_number).is_some())
    }

    fn candidates(&self, leaf: usize) -> Vec<(usize, usize)> {
        let ours = (0..self.jobs.len()).filter(|&job| self.jobs[job].queue == leaf);
        let groups =
            ours.flat_map(|job| (0..self.jobs[job].groups.len()).map(move |group| (job, group)));
        groups.filter(|&(job, group)| self.is_candidate(job, group)).collect()
    }

    /// Leaves of which something can start.
    pub(crate) fn ready(&self) -> Vec<usize> {
        (1..self.queues.len())
            .filter(|&q| self.is_leaf(q) && !self.candidates(q).is_empty())
            .collect()
    }

    /// The children of `parent` in order of their keys; ties as [`Model::tie`] says.
    fn order(&self, parent: usize, ready: &[usize]) -> Vec<(usize, Ratio)> {
        let leads = |&c: &usize| ready.iter().any(|&leaf| self.is_below(leaf, c));
        let mut order: Vec<(usize, Ratio)> = self
            .children(parent)
            .into_iter()
            .filter(leads)
            .map(|c| (c, self.queue_key(c)))
            .collect();
        order.sort_by(|a, b| a.1.cmp_value(&b.1).then(self.tie(a.0).cmp(&self.tie(b.0))));
        order
    }

    /// Group and node that a plain scan picks in `leaf`.
    pub(crate) fn pick(&self, leaf: usize) -> ((usize, usize), Option<usize>) {
        let by_key = |a: &(usize, usize), b: &(usize, usize)| {
            self.job_key(a.0).cmp_value(&self.job_key(b.0)).then(a.cmp(b))
        };
        let (job, group) = self.candidates(leaf).into_iter().min_by(by_key).expect("a ready leaf");
        ((job, group), self.node_for(job, group))
    }

    /// The leaf that a plain walk chooses, and whether the guard chose it.
    pub(crate) fn walk(&self) -> Option<(usize, Option<u64>)> {
        let ready = self.ready();
        if let Some(t_wait) = self.queues[0].spec.policy.t_wait {
            let mut leaves: Vec<(usize, Ratio)> =
                ready.iter().map(|&q| (q, self.guard_key(q))).collect();
            let tie = |q: usize| self.tie_under(0, q);
            leaves.sort_by(|a, b| a.1.cmp_value(&b.1).then(tie(a.0).cmp(&tie(b.0))));
            if let Some(&(leaf, _)) = leaves.first() {
                let waited = self.now - self.waits_since(leaf);
                if waited >= t_wait.as_micros() {
                    return Some((leaf, Some(waited)));
                }
            }
        }
        let mut at = 0;
        while !self.is_leaf(at) {
            at = self.order(at, &ready).first()?.0;
        }
        Some((at, None))
    }

    /// Compares a decision with the scan's: leaf, job, group, node, and the keys that the reason
    /// names.
    pub(crate) fn check_order(&mut self, start: &Start) {
        self.refresh_counts();
        let reason = start.reason.as_ref().expect("asked for");
        let got = (self.job(start.job), start.group as usize, start.node.index());
        let turn = self.starting.map(|starting| starting.tasks);
        let turn = turn.unwrap_or_else(|| self.turn(got.0, got.1));
        let together = reason.gang.map_or(1, u64::from);
        assert_eq!(together, turn, "how many start together");
        let (leaf, starved, any_size) = match self.expect().expect("something can start") {
            Expected::WithGang { job, group, node } => {
                assert_eq!(got, (job, group, node), "with its gang, at {} us", self.now);
                return;
            }
            Expected::Held { job, group, node, waited } => {
                assert_eq!(got, (job, group, node), "by reservation, at {} us", self.now);
                assert_eq!(reason.reserved_for.map(Span::as_micros), waited);
                return;
            }
            Expected::Walked { leaf, starved, job, group, node, any_size } => {
                assert_eq!(start.queue.index(), leaf, "leaf, at {} us: {start:?}", self.now);
                let expected = (job, group, node);
                let holds = &self.holds;
                assert_eq!(got, expected, "group and node, at {} us; {holds:?}", self.now);
                assert_eq!(reason.reserved_for, None);
                (leaf, starved, any_size)
            }
        };
        assert_eq!(
            reason.starved_for.map(Span::as_micros),
            starved,
            "the guard, at {} us",
            self.now
        );
        if starved.is_some() {
            return;
        }
        if self.packs() {
            return self.check_packed(leaf, reason);
        }
        self.any_size = any_size;
        let ready = self.ready();
        assert_eq!(reason.levels.len() + 1, self.path(leaf).len(), "a choice for each level");
        for choice in &reason.levels {
            self.check_choice(choice, &ready);
        }
        self.any_size = false;
    }

    /// What is to start next, by plain scans; when there is nothing, tasks may be told to stop.
    fn expect(&mut self) -> Option<Expected> {
        loop {
            let expected = self.expect_now();
            if expected.is_some() || !self.reclaim() {
                return expected;
            }
        }
    }

    fn expect_now(&mut self) -> Option<Expected> {
        if let Some(expected) = self.expect_gang() {
            return Some(expected);
        }
        if let Some(expected) = self.expect_with_holds() {
            return Some(expected);
        }
        if self.packs() {
            let (leaf, job, group, node) = self.expect_packed()?;
            let (starved, any_size) = (None, false);
            return Some(Expected::Walked { leaf, starved, job, group, node, any_size });
        }
        let (leaf, starved) = self.walk()?;
        let ((job, group), node) = self.pick(leaf);
        Some(Expected::Walked { leaf, starved, job, group, node: node?, any_size: false })
    }

    fn check_choice(&self, choice: &Choice, ready: &[usize]) {
        let order = self.order(choice.among.index(), ready);
        assert_eq!(choice.chosen.index(), order[0].0);
        assert_eq!(choice.key.tier, order[0].1.tier, "{choice:?}");
        assert!(order[0].1.is_shown_as(choice.key.value), "{choice:?}: {:?}", order[0].1);
        let Some((id, key)) = choice.runner_up else {
            assert_eq!(order.len(), 1, "a runner-up is missing: {choice:?}");
            return;
        };
        let shown = self.queue_key(id.index());
        assert_eq!(key.tier, shown.tier, "runner-up of {choice:?}");
        assert!(shown.is_shown_as(key.value), "runner-up of {choice:?}: {shown:?}");
        let next = order.get(1).map(|row| row.0);
        // At each server, and while it is looked for who waits, others may be named.
        let waits = self.any_size || self.queues[0].spec.policy.blocked == Blocked::Wait;
        match waits || self.queues[0].spec.policy.per_server {
            // The next of those that are ready, however far the engine has looked before.
            false => assert_eq!(Some(id.index()), next, "the runner-up of {choice:?}"),
            // The next that wants something: nobody ready stands before it.
            true => {
                let before = |row: &&(usize, Ratio)| {
                    let tie = self.tie(row.0).cmp(&self.tie(id.index()));
                    row.1.cmp_value(&shown).then(tie) == Ordering::Less
                };
                assert!(self.waiting(id.index()) > 0, "{choice:?}");
                let early = order[1..].iter().find(before).map(|row| row.0);
                assert_eq!(early, None, "stands before {choice:?}");
            }
        }
    }

    /// After `decide` nothing that waits may fit, unless the policy is to wait for a large one.
    pub(crate) fn check_nothing_missed(&mut self) {
        self.refresh_counts();
        match self.expect() {
            // Reservations wait for what runs, never for each other alone.
            None => {
                let waits = self.running().next().is_none() && !self.holds.is_empty();
                assert!(!waits, "nothing runs, and room is held: {:?}", self.holds);
            }
            Some(Expected::WithGang { job, group, .. }) => {
                panic!("the rest of the gang of group {group}, job {job}, does not start")
            }
            Some(Expected::Held { job, group, node, .. }) => panic!(
                "group {group} of job {job} starts by reservation on node {node}, at {} us; left \
                 are {:?}",
                self.now, self.holds
            ),
            Some(Expected::Walked { leaf, job, group, .. }) => {
                panic!("group {group} of job {job} in queue {leaf} fits, at {} us", self.now)
            }
        }
    }

    /// What the engine shows equals what is counted up from the log.
    pub(crate) fn check(&mut self, engine: &mut Engine, now: u64) {
        self.advance(now.max(self.now));
        let now = super::micros(self.now);
        let kinds = self.share(0).kinds();
        for (index, node) in engine.view().node_ids().enumerate() {
            let free = if self.nodes[index].up { self.free(index) } else { Resources::zero(kinds) };
            assert_eq!(engine.view().node(node).1, free, "free on node {index}");
        }
        assert_eq!(engine.view().running_tasks(), self.running().count());
        assert_eq!(engine.view().live_jobs(), self.jobs.iter().filter(|job| job.alive).count());
        let ids: Vec<QueueId> = engine.view().queue_ids().collect();
        assert_eq!(ids.len(), self.queues.len(), "queues");
        for &id in &ids {
            self.check_queue(engine, id, now);
        }
        let lending = engine.view().lending(&ids[1..], now);
        let (lent, borrowed): (u128, u128) =
            lending.iter().fold((0, 0), |sum, row| (sum.0 + row.lent, sum.1 + row.borrowed));
        assert_eq!(lent + self.beyond, borrowed, "what one borrows others lent");
        for (row, queue) in lending.iter().zip(&self.queues[1..]) {
            assert_eq!(row.borrowed, queue.borrowed, "borrowed by {}", queue.spec.name);
            let close = 2.0 + queue.lent * 1e-9;
            assert!(
                (row.lent as f64 - queue.lent).abs() <= close,
                "lent {} not {}",
                row.lent,
                queue.lent
            );
        }
    }

    fn check_queue(&self, engine: &Engine, id: QueueId, now: Time) {
        let (q, view, integrals) =
            (id.index(), engine.view().queue(id), engine.view().integrals(id, now));
        let name = &self.queues[q].spec.name;
        assert_eq!(view.removed, self.queues[q].removed, "removed: {name}");
        assert_eq!(*view.held, self.held(q), "held by `{name}`");
        if view.removed {
            return;
        }
        assert_eq!(*view.share, self.share(q), "share of {name}");
        assert_eq!(view.is_leaf, self.is_leaf(q), "leaf: {name}");
        if !view.is_leaf {
            return;
        }
        assert_eq!(view.waiting, self.waiting(q), "waiting in {name}");
        let jobs = self.jobs.iter().filter(|job| job.alive && job.queue == q).count();
        assert_eq!(view.jobs, jobs as u64, "jobs of {name}");
        for kind in 0..view.held.kinds() {
            let lasted = |end: Option<u64>, start: u64| u128::from(end.unwrap_or(self.now) - start);
            let ours = self.tasks.iter().filter(|task| task.queue == q);
            let used: u128 = ours
                .map(|task| u128::from(task.demand.get(kind)) * lasted(task.end, task.seen))
                .sum();
            assert_eq!(integrals.usage[kind], used, "usage of {name}, kind {kind}");
            let idle = self.held_idle(q, kind);
            assert_eq!(integrals.held_idle[kind], idle, "held idle for {name}, kind {kind}");
        }
        let (up, down) = integrals.entitled_rest;
        let entitled = Fraction::new(integrals.entitled, 1).plus(&Fraction::new(up, down));
        let expected = &self.queues[q].entitled;
        // A share is taken to the nearest 2^64th of a unit, and in deep trees of odd weights to a
        // 2^63rd of the pool.
        let pool = self.nodes.iter().map(|node| node.spec.capacity.get(self.measured)).sum::<u64>();
        let most = u128::from(pool) * u128::from(self.now);
        let near = Fraction::new(most, 1 << 56).plus(&Fraction::new(1, 1 << 40));
        let within = |a: &Fraction, b: &Fraction| a.order(&b.plus(&near)) != Ordering::Greater;
        let same = within(&entitled, expected) && within(expected, &entitled);
        assert!(same, "entitled: {name}, {entitled:?} is not {expected:?}");
        let dominant = match view.held.kinds() {
            // With one kind it is what is measured.
            1 => (integrals.usage[0] as f64, integrals.entitled as f64),
            _ => {
                let whole = fairness::dominant::WHOLE as f64;
                (self.queues[q].dominant.0 * whole, self.queues[q].dominant.1 * whole)
            }
        };
        let near = |got: u128, expected: f64| {
            // Parts are rounded, a millionth of a millionth of the pool; so are sums of floats.
            let close = 4.0 * now.as_micros() as f64 + 1e-9 * expected;
            assert!(
                (got as f64 - expected).abs() <= close,
                "dominant of {name}: {got} is not {expected}"
            );
        };
        near(integrals.dominant_used, dominant.0);
        near(integrals.dominant_entitled, dominant.1);
        assert_eq!(integrals.demand, self.demand(q), "demand of {name}");
        assert_eq!(integrals.share, self.leaf_share(q), "measured share of {name}");
        assert_eq!(integrals.held, self.held(q).get(self.measured), "measured held of {name}");
    }
}
