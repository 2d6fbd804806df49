//! The slow twin's state: everything that happened, kept as it came. No sums, no heaps: what is
//! needed is counted up again each time.

use std::collections::BTreeMap;

use super::fraction::Fraction;
use super::reserve::Held;
use super::shadow::Ev;
use meed::*;

#[derive(Clone)]
pub(crate) struct Queue {
    pub(crate) spec: QueueSpec,
    pub(crate) parent: Option<usize>,
    pub(crate) removed: bool,
    pub(crate) draining: bool,
    /// S from each instant on.
    pub(crate) shares: Vec<(u64, Resources)>,
    pub(crate) counts: Counts,
    /// What was told of it.
    pub(crate) rank: Rank,
    /// When its demand began, last.
    pub(crate) began: u64,
    /// Its adaptive quantum, where it has been handed one.
    pub(crate) quantum: Option<u64>,
    pub(crate) entitled: Fraction,
    /// Dominant shares held, and what of those wanted its part would have served: shares of the
    /// pool x microsecond.
    pub(crate) dominant: (f64, f64),
    pub(crate) borrowed: u128,
    pub(crate) lent: f64,
    /// How its parent ordered it when it came, last.
    ordered_by: Option<Policy>,
    /// Its parent knows of its tasks from this one on: those before were told in other units.
    pub(crate) first_task: usize,
    pub(crate) first_idle: usize,
}

/// Since when a child counts, and what it was topped up with (Eq. 10, 14, 16).
#[derive(Clone, Default)]
pub(crate) struct Counts {
    pub(crate) known: bool,
    pub(crate) since: Option<u64>,
    /// It counts from the start of the round only for a task that ran then.
    pub(crate) straddles: bool,
    pub(crate) round: u64,
    pub(crate) pseudo: u128,
}

impl Counts {
    /// It starts a task: in a round that begins now it counts for that as well.
    pub(crate) fn starts(&mut self, now: u64) {
        self.straddles &= self.since != Some(now);
    }

    /// What ran when the round began, now, has ended at the same instant: with the old round.
    pub(crate) fn runs_nothing(&mut self, now: u64) {
        if self.straddles && self.since == Some(now) {
            (self.since, self.straddles) = (None, false);
        }
    }
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) spec: NodeSpec,
    pub(crate) up: bool,
    pub(crate) cordoned: bool,
    /// What others use.
    pub(crate) others: Resources,
}

impl Node {
    fn new(spec: &NodeSpec) -> Node {
        let others = Resources::zero(spec.capacity.kinds());
        Node { spec: spec.clone(), up: true, cordoned: false, others }
    }
}

#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) queue: usize,
    pub(crate) weight: u64,
    pub(crate) open: bool,
    pub(crate) max_attempts: u16,
    pub(crate) groups: Vec<Group>,
    pub(crate) alive: bool,
    pub(crate) counts: Counts,
    /// Its adaptive quantum; 0 where none is learnt.
    pub(crate) quantum: u64,
    /// How long each of its tasks ran that ended well.
    pub(crate) ran: Vec<u64>,
}

#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) demand: Resources,
    pub(crate) constraints: Constraints,
    pub(crate) limit: Option<u64>,
    pub(crate) count: u32,
    /// Tasks that have never been started, in order.
    pub(crate) fresh: Vec<u32>,
    pub(crate) retries: Vec<(u32, u16)>,
    pub(crate) gang: Option<Gang>,
    /// The first of the groups of the same gang, where it is of several.
    pub(crate) joint: Option<usize>,
    /// Tasks that run or have ended well.
    pub(crate) begun: u64,
    /// Where the gang is, by its label, while tasks of it run.
    pub(crate) within: Option<String>,
    /// What its waiting tasks waited for when that was looked at last.
    pub(crate) wanted: Option<super::gangs::Wants>,
}

#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) allocation: AllocationId,
    pub(crate) queue: usize,
    pub(crate) job: usize,
    pub(crate) group: usize,
    pub(crate) number: u32,
    pub(crate) failures: u16,
    pub(crate) node: usize,
    pub(crate) demand: Resources,
    pub(crate) start: u64,
    /// Since when the engine knows of it.
    pub(crate) seen: u64,
    pub(crate) end: Option<u64>,
    /// Its start could not be carried out: nothing is charged.
    pub(crate) undone: bool,
    /// It was told to stop, and has.
    pub(crate) was_stopped: bool,
}

#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) now: u64,
    pub(crate) measured: usize,
    pub(crate) queues: Vec<Queue>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) jobs: Vec<Job>,
    pub(crate) tasks: Vec<Task>,
    /// The last pool that was not empty: of an empty one nothing is a part.
    pub(crate) pool: Resources,
    /// Borrowed of nobody, where more runs than there is.
    pub(crate) beyond: u128,
    /// Tasks for which room is held, in order.
    pub(crate) holds: Vec<Held>,
    /// Groups whose turn came, and that are passed over for a while: since when.
    pub(crate) passed: BTreeMap<(usize, usize), u64>,
    /// Room has come free since reservations were planned last.
    pub(crate) freed: bool,
    /// It is looked for who is first in turn, whether it fits or not.
    pub(crate) any_size: bool,
    /// A gang is in the middle of its start.
    pub(crate) starting: Option<super::gangs::Starting>,
    /// Groups and nodes for the rest of it, where they are known.
    pub(crate) starts_on: Vec<(usize, usize)>,
    /// Tasks that were told to stop.
    pub(crate) stopping: Vec<AllocationId>,
    /// Those of which the world has not heard.
    pub(crate) stops: Vec<super::reclaim::Told>,
    /// Room that is or was held idle.
    pub(crate) idle: Vec<super::reserve::Idle>,
    /// Tasks that ended well, in order: of which queue, and how long they ran.
    pub(crate) runs: Vec<(usize, u64)>,
    /// How quanta are learnt, if they are.
    pub(crate) quanta: Option<super::quanta::Quanta>,
}

impl Group {
    pub(crate) fn waiting(&self) -> u64 {
        (self.fresh.len() + self.retries.len()) as u64
    }
}

impl Model {
    pub(crate) fn new(config: &Config) -> Model {
        let kinds = config.kinds.len();
        let root = QueueSpec {
            name: String::new(),
            weight: 1000,
            min: None,
            max: None,
            policy: config.root.clone(),
        };
        let mut model = Model {
            now: 0,
            measured: config.measured,
            queues: Vec::new(),
            nodes: config.nodes.iter().map(Node::new).collect(),
            jobs: Vec::new(),
            tasks: Vec::new(),
            pool: Resources::zero(kinds),
            beyond: 0,
            holds: Vec::new(),
            passed: BTreeMap::new(),
            freed: false,
            any_size: false,
            starting: None,
            starts_on: Vec::new(),
            stopping: Vec::new(),
            stops: Vec::new(),
            idle: Vec::new(),
            runs: Vec::new(),
            quanta: None,
        };
        model.add_queue(root, None, kinds);
        model.begin_to_learn(&config.root);
        for spec in &config.queues {
            let parent = model.parent_of(&spec.name);
            model.begin_to_learn(&spec.policy);
            model.add_queue(spec.clone(), Some(parent), kinds);
        }
        model.share_out();
        model
    }

    fn parent_of(&self, name: &str) -> usize {
        let Some((above, _)) = name.rsplit_once('.') else { return 0 };
        self.queues
            .iter()
            .position(|q| q.spec.name == above && !q.removed)
            .expect("its parent is there")
    }

    /// One that was removed is what it was, unless its parent orders in other units now.
    fn queue_added(&mut self, spec: &QueueSpec) {
        let (parent, kinds) = (self.parent_of(&spec.name), self.share(0).kinds());
        self.begin_to_learn(&spec.policy);
        let same = |q: &Queue| q.removed && q.parent == Some(parent) && q.spec.name == spec.name;
        let Some(back) = self.queues.iter().position(same) else {
            return self.add_queue(spec.clone(), Some(parent), kinds);
        };
        let ordered_by = Some(self.queues[parent].spec.policy.clone());
        let (tasks, idle) = (self.tasks.len(), self.idle.len());
        let queue = &mut self.queues[back];
        (queue.removed, queue.spec) = (false, spec.clone());
        if queue.ordered_by != ordered_by {
            (queue.counts, queue.first_task) = (Counts::default(), tasks);
            queue.first_idle = idle;
            queue.ordered_by = ordered_by;
        }
    }

    fn add_queue(&mut self, spec: QueueSpec, parent: Option<usize>, kinds: usize) {
        let ordered_by = parent.map(|parent| self.queues[parent].spec.policy.clone());
        self.queues.push(Queue {
            spec,
            parent,
            removed: false,
            draining: false,
            shares: vec![(0, Resources::zero(kinds))],
            counts: Counts::default(),
            rank: Rank::default(),
            began: 0,
            quantum: None,
            entitled: Fraction::zero(),
            dominant: (0.0, 0.0),
            borrowed: 0,
            lent: 0.0,
            ordered_by,
            first_task: 0,
            first_idle: 0,
        });
    }

    pub(crate) fn children(&self, parent: usize) -> Vec<usize> {
        let below = |&q: &usize| self.queues[q].parent == Some(parent) && !self.queues[q].removed;
        (0..self.queues.len()).filter(below).collect()
    }

    pub(crate) fn is_leaf(&self, q: usize) -> bool {
        q != 0 && self.children(q).is_empty()
    }

    pub(crate) fn is_below(&self, mut q: usize, above: usize) -> bool {
        while q != above {
            match self.queues[q].parent {
                Some(parent) => q = parent,
                None => return false,
            }
        }
        true
    }

    pub(crate) fn path(&self, leaf: usize) -> Vec<usize> {
        let mut path = vec![leaf];
        while let Some(parent) = self.queues[path[path.len() - 1]].parent {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Since when a leaf waits: the later of its last service, which an undone start is not, and
    /// the beginning of its demand.
    pub(crate) fn waits_since(&self, leaf: usize) -> u64 {
        let served = self.tasks.iter().filter(|task| task.queue == leaf && !task.undone);
        served.map(|task| task.start).max().unwrap_or(0).max(self.queues[leaf].began)
    }

    /// Of siblings with equal keys the smallest comes first: the one whose last start of all,
    /// undone or adopted ones too, lies furthest back, at first those without any, then who was
    /// declared first. Where the order is told from outside declaration alone decides.
    pub(crate) fn tie(&self, q: usize) -> (usize, usize) {
        self.tie_under(self.queues[q].parent.expect("not the root"), q)
    }

    /// The same where the order of `parent` decides.
    pub(crate) fn tie_under(&self, parent: usize, q: usize) -> (usize, usize) {
        if self.queues[parent].spec.policy.measure == Measure::Told {
            return (0, q);
        }
        // Tasks stand in order of their starts.
        let last = self.tasks.iter().rposition(|task| self.is_below(task.queue, q));
        (last.map_or(0, |last| last + 1), q)
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.end.is_none())
    }

    pub(crate) fn free(&self, node: usize) -> Resources {
        let (row, kinds) = (&self.nodes[node], self.share(0).kinds());
        let used = |kind: usize| {
            let here = self.running().filter(|task| task.node == node);
            here.map(|task| task.demand.get(kind)).sum::<u64>() + row.others.get(kind)
        };
        let free = |kind: usize| row.spec.capacity.get(kind).saturating_sub(used(kind));
        match row.cordoned {
            true => Resources::zero(kinds),
            false => Resources::new(&(0..kinds).map(free).collect::<Vec<_>>()),
        }
    }

    /// Who is lost on a node that has so much: those that run there keep their room in the order in
    /// which they started, of one instant in the order of the log, as long as it lasts.
    fn without_room(&self, node: usize, capacity: &Resources) -> Vec<AllocationId> {
        let mut here: Vec<&Task> = self.running().filter(|task| task.node == node).collect();
        here.sort_by_key(|task| task.start);
        let others = &self.nodes[node].others;
        let kinds = 0..capacity.kinds();
        let room = kinds.map(|kind| capacity.get(kind).saturating_sub(others.get(kind)));
        let mut room = Resources::new(&room.collect::<Vec<_>>());
        let fits = |task: &&Task| {
            let fits = task.demand.fits_in(&room);
            if fits {
                room.sub(&task.demand);
            }
            fits
        };
        let kept: Vec<AllocationId> =
            here.iter().copied().filter(fits).map(|t| t.allocation).collect();
        let lost = here.iter().map(|task| task.allocation);
        lost.filter(|task| !kept.contains(task)).collect()
    }

    pub(crate) fn share(&self, q: usize) -> Resources {
        self.queues[q].shares[self.queues[q].shares.len() - 1].1
    }

    pub(crate) fn held(&self, q: usize) -> Resources {
        let mut held = Resources::zero(self.share(0).kinds());
        self.running()
            .filter(|task| self.is_below(task.queue, q))
            .for_each(|task| held.add(&task.demand));
        held
    }

    pub(crate) fn waiting(&self, q: usize) -> u64 {
        let jobs = self.jobs.iter().filter(|job| job.alive && self.is_below(job.queue, q));
        jobs.flat_map(|job| &job.groups).map(Group::waiting).sum()
    }

    pub(crate) fn job_waiting(&self, job: usize) -> u64 {
        self.jobs[job].groups.iter().map(Group::waiting).sum()
    }

    /// Held and waited for, measured kind.
    pub(crate) fn demand(&self, q: usize) -> u128 {
        self.demand_of(q, self.measured)
    }

    fn demand_of(&self, q: usize, kind: usize) -> u128 {
        let jobs = self.jobs.iter().filter(|job| job.alive && job.queue == q);
        let groups = jobs.flat_map(|job| &job.groups);
        let waits: u128 =
            groups.map(|g| u128::from(g.waiting()) * u128::from(g.demand.get(kind))).sum();
        let running = self.running().filter(|task| task.queue == q);
        waits + running.map(|task| u128::from(task.demand.get(kind))).sum::<u128>()
    }

    /// S_i by largest remainder, level by level.
    fn share_out(&mut self) {
        let mut total = Resources::zero(self.share(0).kinds());
        self.nodes.iter().filter(|node| node.up).for_each(|node| total.add(&node.spec.capacity));
        self.set_share(0, total);
        self.change_parts();
        for parent in 0..self.queues.len() {
            let (children, whole) = (self.children(parent), self.share(parent));
            let mut parts = vec![Resources::zero(whole.kinds()); children.len()];
            let sum: u128 = children.iter().map(|&c| u128::from(self.queues[c].spec.weight)).sum();
            for kind in 0..whole.kinds() {
                let quota =
                    |c: usize| u128::from(whole.get(kind)) * u128::from(self.queues[c].spec.weight);
                for (part, &c) in parts.iter_mut().zip(&children) {
                    part.as_mut_slice()[kind] = (quota(c) / sum) as u64;
                }
                let given: u64 = parts.iter().map(|part| part.get(kind)).sum();
                let mut order: Vec<usize> = (0..children.len()).collect();
                order.sort_by_key(|&i| (std::cmp::Reverse(quota(children[i]) % sum), i));
                let left = if children.is_empty() { 0 } else { whole.get(kind) - given };
                order.iter().take(left as usize).for_each(|&i| parts[i].as_mut_slice()[kind] += 1);
            }
            for (part, c) in parts.into_iter().zip(children) {
                self.set_share(c, part);
            }
        }
    }

    /// Top-ups of dominant shares are told in parts of the pool: of the last one that was not
    /// empty.
    fn change_parts(&mut self) {
        if self.share(0).is_zero() {
            return;
        }
        if !self.queues.iter().any(|queue| super::charge::tops_up(&queue.spec.policy)) {
            self.pool = self.share(0);
            return;
        }
        let before = self.pool_parts();
        self.pool = self.share(0);
        let after = self.pool_parts();
        let dominant = |policy: &Policy| policy.scalar == Scalar::Dominant && before > 0;
        let told = |pseudo: u128| pseudo * after / before;
        for q in 1..self.queues.len() {
            let parent = self.queues[q].parent.expect("not the root");
            if dominant(&self.queues[parent].spec.policy) {
                self.queues[q].counts.pseudo = told(self.queues[q].counts.pseudo);
            }
        }
        for job in 0..self.jobs.len() {
            if dominant(&self.queues[self.jobs[job].queue].spec.policy) {
                self.jobs[job].counts.pseudo = told(self.jobs[job].counts.pseudo);
            }
        }
    }

    fn set_share(&mut self, q: usize, share: Resources) {
        if self.share(q) != share {
            self.queues[q].shares.push((self.now, share));
        }
    }

    /// What a leaf is entitled to in the measured kind; parents and removed queues are nobody.
    pub(crate) fn leaf_share(&self, q: usize) -> u64 {
        if self.is_leaf(q) && !self.queues[q].removed {
            self.share(q).get(self.measured)
        } else {
            0
        }
    }

    /// What a leaf is entitled to of what it demands: S_i is the pool times its part of the weights
    /// at each level.
    fn entitled(&self, q: usize) -> Fraction {
        if !self.is_leaf(q) || self.queues[q].removed {
            return Fraction::zero();
        }
        let (mut share, mut at) = (Fraction::new(self.share(0).get(self.measured).into(), 1), q);
        while let Some(parent) = self.queues[at].parent {
            let weight = |child: usize| u128::from(self.queues[child].spec.weight);
            let all = self.children(parent).into_iter().map(weight).sum();
            share = share.times(&Fraction::new(weight(at), all));
            at = parent;
        }
        let demand = Fraction::new(self.demand(q), 1);
        if demand.order(&share).is_lt() { demand } else { share }
    }

    /// The dominant share that a leaf holds, and the one that its part of the pool would serve of
    /// what it wants.
    fn dominant(&self, q: usize) -> (f64, f64) {
        let total = self.share(0);
        if !self.is_leaf(q) || self.queues[q].removed {
            return (0.0, 0.0);
        }
        let largest = |amount: &dyn Fn(usize) -> f64| {
            let there = (0..total.kinds()).filter(|&kind| total.get(kind) > 0);
            there.map(|kind| amount(kind) / total.get(kind) as f64).fold(0.0, f64::max)
        };
        let held = self.held(q);
        let (mut part, mut at) = (1.0, q);
        while let Some(parent) = self.queues[at].parent {
            let siblings: u64 =
                self.children(parent).iter().map(|&child| self.queues[child].spec.weight).sum();
            part *= self.queues[at].spec.weight as f64 / siblings as f64;
            at = parent;
        }
        let wanted = largest(&|kind| self.demand_of(q, kind) as f64);
        (largest(&|kind| held.get(kind) as f64).min(1.0), wanted.min(part))
    }

    /// Counts up what passes until `now`.
    pub(crate) fn advance(&mut self, now: u64) {
        let passed = now - self.now;
        self.now = now;
        self.refresh_quanta();
        if passed == 0 {
            return;
        }
        let all: Vec<usize> = (1..self.queues.len()).collect();
        let own = |q: usize| {
            self.running()
                .filter(move |t| t.queue == q)
                .map(|t| t.demand.get(self.measured))
                .sum::<u64>()
        };
        let rows: Vec<(u64, u64)> = all.iter().map(|&q| (self.leaf_share(q), own(q))).collect();
        let unused: u64 = rows.iter().map(|(share, held)| share.saturating_sub(*held)).sum();
        let borrowed: u64 = rows.iter().map(|(share, held)| held.saturating_sub(*share)).sum();
        self.beyond += u128::from(borrowed.saturating_sub(unused)) * u128::from(passed);
        let borrowed = borrowed.min(unused);
        let dominant: Vec<(f64, f64)> = all.iter().map(|&q| self.dominant(q)).collect();
        for (&q, (used, entitled)) in all.iter().zip(dominant) {
            let queue = &mut self.queues[q];
            queue.dominant.0 += used * passed as f64;
            queue.dominant.1 += entitled * passed as f64;
        }
        for (&q, (share, held)) in all.iter().zip(rows) {
            let entitled = self.entitled(q).times(&Fraction::new(passed.into(), 1));
            let queue = &mut self.queues[q];
            queue.entitled = queue.entitled.plus(&entitled);
            queue.borrowed += u128::from(held.saturating_sub(share)) * u128::from(passed);
            if unused > 0 {
                let part = share.saturating_sub(held) as f64 / unused as f64;
                queue.lent += part * borrowed as f64 * passed as f64;
            }
        }
    }

    /// Takes over an event that the engine took.
    pub(crate) fn apply(&mut self, now: u64, event: &Ev, effect: &Effect) {
        self.advance(now);
        let ran = self.running().count() + usize::from(matches!(event, Ev::Adopted { .. }));
        let moves = match event {
            Ev::Moved(task, node) => self.tasks[self.task(*task)].node != node.index(),
            _ => false,
        };
        match (event, effect) {
            (Ev::NodeJoined(spec), _) => self.nodes.push(Node::new(spec)),
            (Ev::NodeChanged(node, capacity), Effect::Lost(lost)) => {
                assert_eq!(*lost, self.without_room(node.index(), capacity), "lost by {node:?}");
                self.lose(lost);
                self.nodes[node.index()].spec.capacity = *capacity;
            }
            (Ev::NodeLeft(node), Effect::Lost(lost)) => {
                let nothing = Resources::zero(self.share(0).kinds());
                assert_eq!(*lost, self.without_room(node.index(), &nothing), "lost by {node:?}");
                self.lose(lost);
                self.nodes[node.index()].up = false;
                self.nodes[node.index()].cordoned = false;
                self.nodes[node.index()].others = Resources::zero(self.share(0).kinds());
            }
            (Ev::QueueAdded(spec), _) => self.queue_added(spec),
            (Ev::QueueChanged(queue, change), _) => {
                let spec = &mut self.queues[queue.index()].spec;
                spec.weight = change.weight.unwrap_or(spec.weight);
                spec.min = change.min.unwrap_or(spec.min);
                spec.max = change.max.unwrap_or(spec.max);
                let queue = &mut self.queues[queue.index()];
                queue.rank = change.rank.unwrap_or(queue.rank);
            }
            (Ev::QueueRemoved(queue), _) => {
                self.queues[queue.index()].draining = true;
            }
            (Ev::Job { queue, weight, groups, open, max_attempts }, Effect::Job(id)) => {
                self.jobs.push(Job {
                    id: *id,
                    queue: queue.index(),
                    weight: *weight,
                    open: *open,
                    max_attempts: *max_attempts,
                    groups: Vec::new(),
                    alive: true,
                    counts: Counts::default(),
                    quantum: 0,
                    ran: Vec::new(),
                });
                self.hand_down(self.jobs.len() - 1);
                self.add_groups(self.jobs.len() - 1, groups);
            }
            (Ev::Tasks { job, groups, open }, _) => {
                let job = self.job(*job);
                self.jobs[job].open = *open;
                self.add_groups(job, groups);
            }
            (Ev::JobChanged(job, weight), _) => {
                let job = self.job(*job);
                self.jobs[job].weight = *weight;
            }
            (Ev::Cancelled(job), Effect::Lost(stopped)) => self.drop_job(self.job(*job), stopped),
            (Ev::Ended(allocation), Effect::Ended { job, state, stopped }) => {
                let task = &self.tasks[self.task(*allocation)];
                let (of, ran) = (task.job, now - task.start);
                self.runs.push((task.queue, ran));
                self.job_learns(of, ran);
                self.end(*allocation);
                self.check_state(*job, *state, stopped);
            }
            (Ev::Failed(allocation), Effect::Ended { job, state, stopped }) => {
                self.failed(*allocation);
                self.check_state(*job, *state, stopped);
            }
            (Ev::Adopted { job, task, node, since }, Effect::Started(allocation)) => {
                self.adopted(*job, *task, node.index(), *since, *allocation);
            }
            (Ev::Moved(allocation, node), _) => {
                let task = self.task(*allocation);
                self.tasks[task].node = node.index();
            }
            (Ev::Resized(node, capacity), _) => self.nodes[node.index()].spec.capacity = *capacity,
            (Ev::Cordoned(node, cordoned), _) => self.nodes[node.index()].cordoned = *cordoned,
            (Ev::Relabelled(node, labels), _) => {
                self.nodes[node.index()].spec.labels = labels.clone();
            }
            (Ev::UsedByOthers(node, amounts), _) => self.nodes[node.index()].others = *amounts,
            (Ev::StartFailed(allocation), Effect::Ended { job, state, stopped }) => {
                self.refresh_counts();
                let task = self.task(*allocation);
                self.tasks[task].undone = true;
                self.lose(&[*allocation]);
                self.check_state(*job, *state, stopped);
            }
            (Ev::TaskLost(allocation), Effect::Ended { job, state, stopped }) => {
                let task = self.task(*allocation);
                self.tasks[task].was_stopped = self.stopping.contains(allocation);
                self.lose(&[*allocation]);
                self.check_state(*job, *state, stopped);
            }
            (Ev::Withdrawn(job, number), Effect::Ended { state, stopped, .. }) => {
                let left = self.withdraw(*job, *number);
                assert_eq!(left, *stopped, "a running task that is withdrawn is stopped");
                self.check_state(*job, *state, &[]);
            }
            (event, effect) => panic!("{event:?} has another effect than {effect:?}"),
        }
        let of_node = matches!(
            event,
            Ev::NodeJoined(_)
                | Ev::NodeChanged(..)
                | Ev::NodeLeft(_)
                | Ev::Resized(..)
                | Ev::Cordoned(..)
                | Ev::Relabelled(..)
                | Ev::UsedByOthers(..)
        );
        self.freed |= self.running().count() < ran || of_node || moves;
        self.drop_surplus();
        self.regroup();
        self.end_idle();
        self.clear_drained();
        self.share_out();
    }

    pub(crate) fn job(&self, id: JobId) -> usize {
        self.jobs.iter().position(|job| job.alive && job.id == id).expect("a live job")
    }

    fn clear_drained(&mut self) {
        for q in 0..self.queues.len() {
            let jobs = self.jobs.iter().any(|job| job.alive && job.queue == q);
            if self.queues[q].draining && !jobs {
                (self.queues[q].draining, self.queues[q].removed) = (false, true);
                self.quantum_left(q);
            }
        }
    }
}
