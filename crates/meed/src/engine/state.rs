//! The whole engine as plain data, and back; see [`crate::state`].
//!
//! [`Engine::from_state`] tells each part what it keeps and then, task by task, what runs and
//! waits, as if it happened: so what follows from that is made by the same sums, and a state in
//! which they could not come about is refused where it contradicts itself. Cost: O(queues + nodes +
//! jobs + running tasks), besides sorting.

use super::Engine;
use super::books::{Books, Used};
use super::chores::used;
use super::core::Core;
use super::guard::Guard;
use super::ready::AT_ONCE;
use super::room::state::RoomState;
use super::room::{Room, ShapeId};
use super::tree::{Tree, amounts_of};
use super::work::{Job, Work};
use crate::ids::{JobId, NodeRow, QueueRow};
use crate::place::{Placement, Unasked};
use crate::resources::{ResourceKinds, Resources};
use crate::rows::RowsState;
use crate::state::{
    LiveJobState, QueueState, RunningState, STATE_VERSION, SlotsState, State, StateError, ensure,
};

impl Engine {
    /// Everything that the engine knows, as plain data. What is made of it by
    /// [`Engine::from_state`] decides for ever after as this engine would.
    pub fn state(&self) -> State {
        let (tree, books, guard) = self.core.seen();
        let amounts = |amounts: &Resources| amounts.as_slice().to_vec();
        let queue = |(id, row): (QueueRow, &super::tree::Row)| {
            let (standing, meter) = books.queue_state(self.core.now, id);
            QueueState {
                name: row.name().to_owned(),
                number: tree.rows().number_state(id),
                parent: row.parent().map(|parent| parent.0),
                weight: row.weight(),
                min: row.min().as_ref().map(amounts),
                max: row.max().map(amounts),
                order: books.order_of(id),
                draining: row.is_draining(),
                removed: row.is_removed().then(|| amounts(row.share())),
                standing,
                served: books.served(id),
                waits_since: self.core.ready.waits_since(id),
                waited_before: guard.and_then(|guard| guard.waited_before(id)),
                parked: self.core.is_set_apart(id),
                least: self.core.ready.least_of(id),
                capped: self.core.ready.capped(id),
                buckets: self.core.ready.bucket_shapes(id),
                meter,
            }
        };
        let room: RoomState = self.core.room.state();
        let [jobs, running] = self.core.work.slots();
        let (lending_price, lending_at) = books.lending_state();
        let kinds = 0..self.core.kinds.len();
        let rows = tree.rows().state();
        let (forgotten, forgotten_fraction) = books.forgotten();
        State {
            version: STATE_VERSION,
            now: self.core.now,
            kinds: kinds
                .map(|kind| (self.core.kinds.name(kind).to_owned(), self.core.kinds.unit(kind)))
                .collect(),
            measured: self.core.books.measured(),
            orders: books.order_states(),
            queues: tree.iter().map(queue).collect(),
            queues_declared: rows.next,
            queues_gone: rows.gone,
            remembered_queues: rows.remembered,
            nodes: room.nodes,
            nodes_joined: room.rows.next,
            nodes_gone: room.rows.gone,
            remembered_nodes: room.rows.remembered,
            first_node: room.first_node,
            capacities: room.capacities,
            rules: room.rules,
            shapes: room.shapes,
            free_shapes: room.free_shapes,
            holds: self.reservations.hold_states(&self.core),
            gang_labels: room.gang_labels,
            untold: self.untold.iter().map(|start| start.allocation.slot() as u32).collect(),
            fresh: room.fresh,
            jobs: SlotsState { generations: jobs.0, free: jobs.1, live: self.core.job_states() },
            arrivals: self.core.books.arrivals(),
            starts: self.core.books.starts(),
            running: SlotsState {
                generations: running.0,
                free: running.1,
                live: self.core.running_states(),
            },
            lending_price,
            lending_at,
            lending_beyond: books.lending_beyond(),
            forgotten_lent: forgotten.lent,
            forgotten_fraction,
            forgotten_borrowed: forgotten.borrowed,
            rescales: self.core.rescales,
            infeasible_waits: self.core.room.waits_for_nodes(),
            turn: self.core.servers.as_ref().and_then(|servers| servers.turn()).map(|node| node.0),
            guard: guard.map(|guard| guard.state(self.core.now)),
            quanta: self.core.books.quanta_state(),
            last_runs: self.learned.as_ref().map_or(Vec::new(), |of| of.state(tree.len())),
            placement: room.placement,
        }
    }

    /// The engine that wrote `state`; it places by `place`, which knows no node yet and is of the
    /// kind that the engine had. All handles that were valid are.
    ///
    /// # Errors
    ///
    /// States of another version, and states that no engine can have written: what contradicts
    /// itself is told with its place.
    pub fn from_state(state: &State, place: Box<dyn Placement>) -> Result<Engine, StateError> {
        ensure_version(state)?;
        let kinds = ResourceKinds::new(state.kinds.clone())?;
        let measured = state.measured;
        ensure!(measured < kinds.len(), "measured", "there is no resource number {measured}");
        let policy = |order: usize| state.orders.get(order).map(|order| order.policy.clone());
        let numbers = RowsState {
            next: state.queues_declared,
            gone: state.queues_gone.clone(),
            remembered: state.remembered_queues,
        };
        let mut tree = Tree::from_state(&state.queues, &numbers, policy, &kinds)?;
        let root = state.queues.first().and_then(|root| policy(root.order));
        let root = root.ok_or_else(|| StateError::new("queues", "there is no root"))?;
        let work = Work::from_state(state)?;
        let lives = |slot: u32| state.jobs.live.binary_search_by_key(&slot, |job| job.0).is_ok();
        let job_in = |slot: u32| work.job_in(slot).filter(|_| lives(slot));
        let room = Room::from_state(state, &kinds, place, job_in)?;
        tree.share_out(room.total());
        for (index, order) in state.orders.iter().enumerate() {
            let fine = order.policy.goes_below(&root);
            ensure!(fine, format!("orders[{index}]"), "per server below a root that is not");
        }
        let mut books = Books::from_state(state, &tree, &kinds)?;
        books.set_servers(|| room.alone());
        let mut guard = Guard::from_state(state.guard.as_ref(), &root, &tree, state.now)?;
        if let Some(guard) = &mut guard {
            tree.iter().for_each(|(queue, _)| guard.set_tie(queue, books.terms(queue).tie));
        }
        let mut engine = Engine::of(Core::of(kinds, tree, room, books, &root), &root);
        (engine.core.now, engine.core.work, engine.core.guard) = (state.now, work, guard);
        if engine.reservations.are_made() {
            engine.core.room.tell_limits();
            engine.core.room.set_now(engine.core.now);
        }
        match &mut engine.learned {
            Some(learned) => learned.restore(state)?,
            None => ensure!(state.last_runs.is_empty(), "last_runs", "nothing is learned"),
        }
        // Earlier versions did not tell; then a row of every queue that ever was is there.
        let parents: Vec<QueueRow> =
            engine.core.tree.iter().filter_map(|(_, row)| row.parent()).collect();
        let any = parents.into_iter().any(|parent| engine.core.rescales_children(parent));
        engine.core.rescales = engine.core.servers.is_none() && (any || state.rescales);
        engine.core.check_minimums()?;
        let waiting = engine.core.restore_jobs(state)?;
        engine.core.restore_running(state)?;
        engine.restore_untold(state)?;
        engine.reservations.restore_holds(&mut engine.core, state)?;
        engine.core.room.restored(state)?;
        let total = *engine.core.room.total();
        engine.core.books.restored(state, &engine.core.tree, &total, waiting)?;
        if let Some(guard) = &mut engine.core.guard {
            guard.restored();
        }
        engine.core.restore_ready(state)?;
        if let (Some(servers), Some(turn)) = (&mut engine.core.servers, state.turn) {
            let there = engine.core.room.node(NodeRow(turn)).is_some_and(|node| node.up);
            ensure!(there, "turn", "there is no such node, or it has left");
            servers.set_turn(Some(NodeRow(turn)));
        }
        engine.core.schedule_chores();
        Ok(engine)
    }

    /// It becomes what `state` says, with the placement that it has. All keys may be others.
    pub(super) fn made_of(&mut self, state: &State) -> Result<(), StateError> {
        let mut place = self.core.room.replace_placement(Box::new(Unasked));
        place.clear();
        let sweeps = self.core.sweeps + 1;
        *self = Engine::from_state(state, place)?;
        self.core.sweeps = sweeps;
        Ok(())
    }
}

impl Core {
    fn job_states(&self) -> Vec<(u32, LiveJobState)> {
        let state = |id: JobId| {
            let job = self.work.job(id).expect("it is one of the live ones");
            let (weight, arrival, standing, quantum) = self.books.job_state(self.now, id);
            let state = LiveJobState {
                queue: job.queue.0,
                weight,
                arrival,
                open: job.open,
                max_attempts: job.max_attempts,
                groups: self.work.group_states(id),
                standing,
                quantum,
            };
            (id.slot() as u32, state)
        };
        self.work.job_ids().map(state).collect()
    }

    fn running_states(&self) -> Vec<(u32, RunningState)> {
        let places = self.work.places_at_their_instants();
        let running = self.work.all_running().zip(places).map(|((id, task), nth)| {
            let state = RunningState {
                job: task.job.slot() as u32,
                group: self.work.group(task.group).number,
                task: task.task,
                failures: task.failures,
                node: task.node.0,
                started: task.started,
                quantum: task.quantum,
                nth,
            };
            (id.slot() as u32, state)
        });
        running.collect()
    }

    /// The jobs and their groups; the amounts that are waited for in each queue, kind by kind.
    fn restore_jobs(&mut self, state: &State) -> Result<Vec<u128>, StateError> {
        let kinds = self.kinds.len();
        let mut asked = vec![0u128; self.tree.len() * kinds];
        let mut arrivals: Vec<u64> = Vec::new();
        for (slot, job) in &state.jobs.live {
            let place = format_args!("jobs[{slot}]");
            let queue = QueueRow(job.queue);
            let leaf = self.tree.get(queue).is_some_and(|row| row.is_leaf() && !row.is_removed());
            ensure!(leaf, format!("{place}.queue"), "there is no such leaf");
            let row = Job::new(queue, job.open, job.max_attempts);
            let id = self.work.restore_job(*slot, row);
            let id = id.ok_or_else(|| StateError::new(place, "its slot is taken"))?;
            self.tree.add_job(queue);
            self.books.restore_job(self.now, id, job, place)?;
            arrivals.push(job.arrival);
            let mut waiting = 0;
            for (number, group) in job.groups.iter().enumerate() {
                let place = format_args!("{place}.groups[{number}]");
                let shape = self.room.restore_group(group.shape, id, place)?;
                let slot = self.work.restore_group(id, shape, group, place)?;
                let tasks = self.work.group(slot).waiting();
                if let Some(gang) = &group.gang {
                    self.restore_gang(slot, gang, place)?;
                }
                self.room.add_waiting(self.work.group(slot).turn(), tasks);
                let demand = self.room.demand(shape).as_slice();
                let row = &mut asked[queue.index() * kinds..][..kinds];
                for (sum, &amount) in row.iter_mut().zip(demand) {
                    *sum += u128::from(amount) * u128::from(tasks);
                }
                waiting += tasks;
            }
            self.check_members(id, place)?;
            self.books.restore_waiting(&self.tree, id, waiting);
        }
        arrivals.sort_unstable();
        let twice = arrivals.windows(2).any(|pair| pair[0] == pair[1]);
        ensure!(!twice, "jobs", "two jobs have the same arrival number");
        for (id, row) in self.tree.iter() {
            let place = || format!("queues[{}].draining", id.index());
            ensure!(!row.is_draining() || row.jobs() > 0, place(), "its last job is gone");
        }
        Ok(asked)
    }

    fn restore_running(&mut self, state: &State) -> Result<(), StateError> {
        let mut tasks: Vec<(u32, u32)> = Vec::new();
        let order = self.work.restore_order(&state.running.live)?;
        for ((slot, running), order) in state.running.live.iter().zip(order) {
            let place = format_args!("running[{slot}]");
            let task = self.work.restore_running((*slot, running, order), self.now)?;
            tasks.push((task.group, task.task));
            self.room.restore_running(&task, place)?;
            let started = (task.started, task.quantum);
            let used: Used<'_> = used(&self.room, &task);
            self.books.restore_running(&self.tree, &used, started, place)?;
            if let Some(guard) = &mut self.guard {
                guard.restore_running(&used, started, place)?;
            }
            if let Some(servers) = &mut self.servers {
                servers.hold(&self.tree, task.queue, task.node, used.demand);
            }
        }
        tasks.sort_unstable();
        let twice = tasks.windows(2).any(|pair| pair[0] == pair[1]);
        ensure!(!twice, "running", "a task runs twice");
        for id in self.work.job_ids() {
            let job = self.work.job(id).expect("it is one of the live ones");
            let idle = job.waiting() == 0 && job.running() == 0 && !job.open;
            ensure!(!idle, format!("jobs[{}]", id.slot()), "it has nothing left to do");
        }
        Ok(())
    }

    /// The heaps, made anew from what waits.
    fn restore_ready(&mut self, state: &State) -> Result<(), StateError> {
        for (index, queue) in state.queues.iter().enumerate() {
            let place = format_args!("queues[{index}]");
            let known = queue.waits_since <= self.now;
            ensure!(known, format!("{place}.waits_since"), "after the present");
            let before = queue.waited_before;
            let fine = before.is_none_or(|before| before <= queue.waits_since);
            ensure!(fine, format!("{place}.waited_before"), "after `waits_since`");
            if let Some(guard) = &mut self.guard {
                guard.restore_waits(QueueRow(index as u32), queue.waits_since, before);
            }
            let mut shapes: Vec<(ShapeId, Resources)> = Vec::new();
            for &number in &queue.buckets {
                let shape = self.room.shape_numbered(number).ok_or_else(|| {
                    StateError::new(format!("{place}.buckets"), format!("no shape {number}"))
                })?;
                // Of a shape that is gone nothing is known; its empty bucket is still looked at.
                let known = *self.room.demand(shape);
                let blank = Resources::zero(self.kinds.len());
                shapes.push((shape, if known.kinds() == 0 { blank } else { known }));
            }
            self.ready.restore_queue(queue.waits_since, &shapes, place)?;
        }
        for id in self.work.job_ids().collect::<Vec<_>>() {
            self.restore_listed(id)?;
        }
        if self.rescales {
            // The sums of nobody yet.
            self.rebuild_rescaled();
        }
        for (index, queue) in state.queues.iter().enumerate() {
            let leaf = QueueRow(index as u32);
            for &capped in &queue.capped {
                let there = (capped as usize) < self.tree.len();
                ensure!(there, format!("queues[{index}].capped"), "there is no queue {capped}");
                self.ready.wait_for_maximum(leaf, QueueRow(capped));
            }
            match queue.parked {
                true => self.restore_parked(leaf, queue)?,
                false if self.ready.waiting(leaf) > 0 => self.join_heaps(leaf),
                false => {}
            }
        }
        Ok(())
    }

    /// A leaf of which nothing was found to fit.
    fn restore_parked(&mut self, leaf: QueueRow, state: &QueueState) -> Result<(), StateError> {
        let at = |field: &str| format!("queues[{}].{field}", leaf.index());
        ensure!(self.ready.waiting(leaf) > 0, at("parked"), "nothing of it waits");
        let least = amounts_of(state.least.as_ref(), &self.kinds, || at("least"))?;
        if self.rescales {
            // It is looked at whenever its demands are (`rescale`).
            ensure!(least.is_none(), at("least"), "no leaf is woken by it below rescaled parents");
            self.ready.park(leaf, None, AT_ONCE);
        } else {
            for bucket in self.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty()) {
                let demand = bucket.demand();
                let fine = least.is_some_and(|least| least.fits_in(demand))
                    || self.capped_by(leaf, bucket).is_some();
                ensure!(fine, at("least"), "it would not be woken for all that waits in it");
            }
            let bound = self.bound_of(leaf);
            self.ready.park(leaf, least.as_ref(), bound);
        }
        self.leave_heaps(leaf);
        Ok(())
    }

    /// The waiting groups of a job, in their leaf's buckets.
    fn restore_listed(&mut self, id: JobId) -> Result<(), StateError> {
        let job = self.work.job(id).expect("it is one of the live ones");
        let (leaf, waiting) = (job.queue, job.waiting());
        self.ready.restore_waiting(leaf, waiting);
        for slot in job.groups().to_vec() {
            let group = self.work.group(slot);
            if group.waiting() == 0 || self.is_all_held(slot) || !self.work.leads(slot) {
                continue;
            }
            let shape = group.turn();
            let there = self.ready.buckets(leaf).iter().any(|bucket| bucket.shape() == shape);
            let place = || format!("queues[{}].buckets", leaf.index());
            ensure!(there, place(), "shape {} waits, and is not there", shape.number());
            self.list_group(leaf, slot);
        }
        Ok(())
    }

    /// Whether `parent` stood by its children rescaled, had it any.
    fn rescales_children(&self, parent: QueueRow) -> bool {
        let above = self.tree[parent].parent();
        above.is_some_and(|above| self.books.domain(above).rescales())
            && self.books.domain(parent).rescales()
    }
}

fn ensure_version(state: &State) -> Result<(), StateError> {
    match state.version {
        STATE_VERSION => Ok(()),
        given => Err(StateError::Version { given }),
    }
}
