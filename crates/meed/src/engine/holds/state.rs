//! Reservations as plain data, and back.
//!
//! What a plan cannot make anew is told: the list in its order, what nodes with holds leave to
//! others, and who is to be looked at next. Rows of a state from elsewhere may say anything: they
//! are checked before anything is planned with them.

use super::hold::{Hold, Idle, IdleThere, NOWHERE, Places, Starter};
use super::rows::RowSet;
use crate::engine::books::Used;
use crate::engine::core::Core;
use crate::engine::holds::Reservations;
use crate::engine::room::Nodes;
use crate::engine::room::openings::Openings;
use crate::engine::tree::amounts_of;
use crate::ids::NodeRow;
use crate::resources::Resources;
use crate::state::{
    HeldNodeState, HoldState, HoldsState, IdleState, PassedState, State, StateError,
    StoppedBeforeState, ensure,
};
use crate::time::{Span, Time};

impl Reservations {
    pub(in crate::engine) fn hold_states(&self, core: &Core) -> HoldsState {
        let Some(holds) = &self.holds else { return HoldsState::default() };
        let state = |hold: &Hold| {
            let group = core.work.group(hold.slot());
            let told = |nodes: &Nodes| nodes.iter().map(|(node, it)| (node.0, *it)).collect();
            let number = |starter: &Starter| core.work.group(starter.slot).number;
            let others = hold.starters.iter().map(number).zip(hold.nodes.iter().map(told));
            HoldState {
                job: group.job.slot() as u32,
                group: group.number,
                nodes: told(&hold.nodes[0]),
                others: others.skip(1).collect(),
                spares: hold.spares.iter().map(|node| node.0).collect(),
                at: hold.at,
                since: hold.since,
                moved: hold.moved,
                tries: holds.reclaim.map(|_| hold.tries),
                reclaims: hold.reclaims,
                drained: hold.drained,
            }
        };
        let node = |(node, &slips): (NodeRow, &Time)| {
            let openings = core.room.openings(node).iter();
            let row = |(until, room): &(Time, Resources)| (*until, room.as_slice().to_vec());
            HeldNodeState { node: node.0, slips, openings: openings.map(row).collect() }
        };
        let rows = |set: &RowSet| set.iter().map(|row| row.0).collect();
        let idle = |(node, idle): (NodeRow, &Idle)| IdleState {
            node: node.0,
            job: idle.job.slot() as u32,
            amounts: idle.amounts.as_slice().to_vec(),
        };
        let stopped = |(job, task, ran)| StoppedBeforeState { job, task, ran };
        HoldsState {
            list: holds.list.iter().map(state).collect(),
            nodes: holds.nodes.iter().map(node).collect(),
            hopeless: core.reserved.hopeless().map(|shape| shape.number()).collect(),
            freed: rows(&holds.freed),
            vacated: rows(&holds.vacated),
            pushed: rows(&holds.pushed),
            touched: rows(&holds.touched),
            passed: core.passed_states(),
            idle: holds
                .idle
                .iter()
                .flat_map(|(node, all)| all.iter().map(move |it| (node, it)))
                .map(idle)
                .collect(),
            stopping: holds.stopping.iter().map(|task| task.slot() as u32).collect(),
            stopped_before: holds.stopped_before.rows().map(stopped).collect(),
        }
    }

    /// Jobs and running tasks are there; what is blocked is told next.
    pub(in crate::engine) fn restore_holds(
        &mut self,
        core: &mut Core,
        state: &State,
    ) -> Result<(), StateError> {
        for (index, row) in state.holds.list.iter().enumerate() {
            let at = |field: &str| format!("holds.list[{index}].{field}");
            ensure!(self.holds.is_some(), at("job"), "the policy makes no reservations");
            let slot = core.group_in(row.job, row.group, &at)?;
            ensure!(row.since <= core.now, at("since"), "after the present");
            let shape = core.work.group(slot).turn();
            let (starters, asks) = (core.starters(slot), core.room.parts_of(shape));
            let numbers = starters.iter().map(|starter| core.work.group(starter.slot).number);
            let told = std::iter::once(row.group).chain(row.others.iter().map(|other| other.0));
            ensure!(numbers.eq(told), at("others"), "not the groups that start together");
            let rows = || std::iter::once(&row.nodes).chain(row.others.iter().map(|it| &it.1));
            let given =
                |nodes: &Vec<(u32, u32)>| nodes.iter().map(|(_, it)| u64::from(*it)).sum::<u64>();
            let wanted = asks.iter().map(|ask| u64::from(ask.tasks));
            let no_more = |nodes: &Vec<(u32, u32)>| nodes.iter().all(|(_, tasks)| *tasks > 0);
            let all = rows().map(given).eq::<Vec<u64>>(wanted.collect()) && rows().all(no_more);
            ensure!(all, at("nodes"), "not for all that start together");
            let in_order = rows().all(|nodes| nodes.is_sorted_by(|a, b| a.0 < b.0));
            ensure!(in_order, at("nodes"), "not in order");
            let row_of = |&(node, tasks): &(u32, u32)| (NodeRow(node), tasks);
            let nodes: Places =
                rows().map(|nodes| nodes.iter().map(row_of).collect::<Nodes>()).collect();
            let (since, moved, reclaims, drained) =
                (row.since, row.moved, row.reclaims, row.drained);
            let holds = self.holds.as_mut().expect("checked above");
            ensure!(!drained || holds.drains, at("drained"), "nothing is learned");
            let tries = row.tries.unwrap_or_else(|| holds.first_try(since));
            let from = row.at;
            let spares = row.spares.iter().map(|&node| NodeRow(node)).collect();
            let slots: Vec<u32> = starters.iter().map(|starter| starter.slot).collect();
            let hold =
                Hold { starters, nodes, spares, at: from, since, moved, tries, reclaims, drained };
            ensure!(
                hold.has_sound_spares(holds.spares),
                at("spares"),
                "not those of one task without a start"
            );
            let covers = hold.covers();
            holds.add(&mut core.reserved, hold);
            let enough =
                |slot: &u32| core.reserved.of_group(*slot) <= core.work.group(*slot).waiting();
            let enough = slots.iter().all(enough);
            ensure!(enough, at("group"), "more reservations than tasks of it wait");
            core.room.sub_waiting(shape, covers);
        }
        core.restore_arrivals();
        self.restore_passed(core, &state.holds.passed)?;
        self.restore_stopping(core, &state.holds.stopping)?;
        self.restore_stopped_before(core, &state.holds.stopped_before)?;
        self.restore_idle(core, &state.holds.idle)?;
        let Some(holds) = &mut self.holds else { return Ok(()) };
        let rows = |rows: &[u32]| rows.iter().map(|&row| NodeRow(row)).collect::<RowSet>();
        for &number in &state.holds.hopeless {
            let shape = core.room.shape_numbered(number);
            let missing = || StateError::new("holds.hopeless", format!("no shape {number}"));
            core.reserved.set_hopeless(shape.ok_or_else(missing)?);
        }
        holds.freed = rows(&state.holds.freed);
        holds.vacated = rows(&state.holds.vacated);
        holds.pushed = rows(&state.holds.pushed);
        holds.touched = rows(&state.holds.touched);
        let nodes = core.room.nodes();
        let all = [
            ("freed", &holds.freed),
            ("vacated", &holds.vacated),
            ("pushed", &holds.pushed),
            ("touched", &holds.touched),
        ];
        for (field, rows) in all {
            let known = rows.iter().all(|row| row.index() < nodes || *row == NOWHERE);
            ensure!(known, format!("holds.{field}"), "there is no such node");
        }
        for (index, row) in state.holds.nodes.iter().enumerate() {
            let at = |field: &str| format!("holds.nodes[{index}].{field}");
            let node = NodeRow(row.node);
            let new = row.node < nodes as u32 && !holds.nodes.contains(node);
            ensure!(new, at("node"), "there is no such node, or it stands there twice");
            let mut openings = Openings::new();
            for (until, room) in &row.openings {
                let room = amounts_of(Some(room), &core.kinds, || at("openings"))?;
                openings.push((*until, room.unwrap_or_default()));
            }
            let falls = openings.is_sorted_by(|a, b| a.0 < b.0 && b.1.fits_in(&a.1));
            let whole = openings.last().is_some_and(|last| last.0 == Time::MAX);
            ensure!(falls && whole, at("openings"), "they do not fall until the end of time");
            let held = holds.list.iter().any(|hold| hold.is_on(node));
            let looked_at = holds.touched.contains(&node) || holds.freed.contains(&node);
            ensure!(held || looked_at, at("node"), "nothing is held there");
            holds.nodes.insert(node, row.slips);
            core.room.set_openings(node, Some(&openings));
        }
        let open = |node: NodeRow| holds.nodes.contains(node) || node == NOWHERE;
        let open = holds.list.iter().flat_map(Hold::rows).all(open);
        ensure!(open, "holds.nodes", "a node on which room is held is not there");
        Ok(())
    }

    fn restore_passed(&mut self, core: &mut Core, rows: &[PassedState]) -> Result<(), StateError> {
        for (index, row) in rows.iter().enumerate() {
            let at = |field: &str| format!("holds.passed[{index}].{field}");
            let slot = core.group_in(row.job, row.group, &at)?;
            ensure!(core.work.group(slot).waiting() > 0, at("group"), "no task of it waits");
            ensure!(row.since <= core.now, at("since"), "after the present");
            let holds = self.holds.as_ref().filter(|holds| holds.patience > Span::ZERO);
            ensure!(holds.is_some(), at("job"), "the policy passes nobody over for a while");
            let is_new = core.reserved.restore_passed(slot, row.since);
            ensure!(is_new, at("group"), "it stands there twice");
        }
        Ok(())
    }

    fn restore_stopping(&mut self, core: &mut Core, slots: &[u32]) -> Result<(), StateError> {
        for (index, &slot) in slots.iter().enumerate() {
            let at = || format!("holds.stopping[{index}]");
            let task = core.work.running_in(slot);
            let task = task.ok_or_else(|| StateError::new(at(), "no task runs in that slot"))?;
            let holds = self.holds.as_mut().filter(|holds| holds.reclaim.is_some());
            let holds = holds.ok_or_else(|| {
                StateError::new(at(), "the policy takes no room back from running tasks")
            })?;
            holds.stopping.insert(task);
        }
        Ok(())
    }

    fn restore_stopped_before(
        &mut self,
        core: &mut Core,
        rows: &[StoppedBeforeState],
    ) -> Result<(), StateError> {
        for (index, row) in rows.iter().enumerate() {
            let at = |field: &str| format!("holds.stopped_before[{index}].{field}");
            let job = core.work.job_in(row.job).filter(|&id| core.work.job(id).is_some());
            let job = job.ok_or_else(|| StateError::new(at("job"), "there is no such job"))?;
            let holds = self.holds.as_mut().filter(|holds| holds.reclaim.is_some());
            let holds = holds.ok_or_else(|| {
                StateError::new(at("job"), "the policy takes no room back from running tasks")
            })?;
            holds.stopped_before.note((job.slot() as u32, row.task), row.ran);
        }
        Ok(())
    }

    fn restore_idle(&mut self, core: &mut Core, rows: &[IdleState]) -> Result<(), StateError> {
        for (index, row) in rows.iter().enumerate() {
            let at = |field: &str| format!("holds.idle[{index}].{field}");
            let Some(holds) = &mut self.holds else {
                return Err(StateError::new(at("job"), "the policy makes no reservations"));
            };
            let id = core.work.job_in(row.job).filter(|&id| core.work.job(id).is_some());
            let job = id.ok_or_else(|| StateError::new(at("job"), "there is no such job"))?;
            let queue = core.work.job(job).expect("it has just been found").queue;
            let node = NodeRow(row.node);
            ensure!(node.index() < core.room.nodes(), at("node"), "there is no such node");
            let amounts = amounts_of(Some(&row.amounts), &core.kinds, || at("amounts"))?;
            let amounts = amounts.filter(|amounts| !amounts.is_zero());
            let amounts = amounts.ok_or_else(|| StateError::new(at("amounts"), "nothing"))?;
            holds.idle.get_or_insert_with(node, IdleThere::new).push(Idle { job, amounts });
            let node_weight = core.room.weight(node);
            let used = Used { job, queue, demand: &amounts, node_weight };
            let booked = core.books.restore_idle(core.now, &core.tree, &used, holds.charges);
            ensure!(
                booked,
                at("job"),
                "it, or a queue above it, has no ledger that it is charged to"
            );
        }
        Ok(())
    }
}

impl Core {
    /// In order of job and group.
    fn passed_states(&self) -> Vec<PassedState> {
        let state = |(slot, since): (u32, Time)| {
            let group = self.work.group(slot);
            PassedState { job: group.job.slot() as u32, group: group.number, since }
        };
        let mut states: Vec<_> = self.reserved.passed_over().map(state).collect();
        states.sort_unstable_by_key(|row| (row.job, row.group));
        states
    }

    /// The slot of a group that a state names.
    fn group_in(
        &self,
        job: u32,
        group: u32,
        at: &dyn Fn(&str) -> String,
    ) -> Result<u32, StateError> {
        let id = self.work.job_in(job).filter(|&id| self.work.job(id).is_some());
        let id = id.ok_or_else(|| StateError::new(at("job"), "there is no such job"))?;
        let slot = self.work.job(id).and_then(|job| job.groups().get(group as usize));
        slot.copied().ok_or_else(|| StateError::new(at("group"), "its job has fewer"))
    }

    /// Queues that stand by the arrival of what waits, before their heaps are made
    /// ([`Core::note_job_held`]).
    fn restore_arrivals(&mut self) {
        for slot in self.reserved.groups().collect::<Vec<_>>() {
            let id = self.work.group(slot).job;
            if self.is_job_held(id) {
                self.books.update_arrivals(&self.tree, id, false);
            }
        }
    }
}
