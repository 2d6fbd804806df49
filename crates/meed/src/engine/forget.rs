//! Removed queues that nobody will miss are forgotten, so that their rows do not pile up.
//!
//! As many as are live are remembered, and 1,024 at least ([`crate::rows`]). When there are
//! more, as many as half of that number stay: one half of those are the last that went, the other
//! those that owe most, parent by parent: charge over weight, by the order that their parent has.
//! So nobody gets rid of a debt by having its queue removed, unless a few hundred others owe more;
//! and who is forgotten comes back as any newcomer. A parent stays as long as a child of it does.
//!
//! The rows of all others move up, and with them every table of queues: the engine is made anew
//! from its own state without those rows. That it decides as before is the law of [`crate::state`].
//! Cost: that of writing and reading the state, once in at least 512 removals (or half as many as
//! there are live queues).

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use super::core::Core;
use crate::ids::QueueRow;
use crate::ledger::Charge;
use crate::order::key::cmp_ratios;
use crate::rows::{keep, moved};
use crate::state::State;

impl Core {
    /// `state`, which is this core's, without removed queues where there are too many. `None` where
    /// there are not.
    pub(super) fn without_gone_queues(&self, state: impl FnOnce() -> State) -> Option<State> {
        let (gone, stay) = self.tree.rows().too_many_gone()?;
        let gone: Vec<QueueRow> = gone.collect();
        let stay = self.not_forgotten(&gone, stay);
        let mut state = state();
        self.tell_forgotten(&mut state, &gone, &stay);
        move_up(&mut state, &stay);
        Some(state)
    }

    /// By row: whether it stays when `most` of `gone` are remembered.
    fn not_forgotten(&self, gone: &[QueueRow], most: usize) -> Vec<bool> {
        let mut stays = vec![true; self.tree.len()];
        let (old, last) = gone.split_at(gone.len() - most / 2);
        let mut debtors: BTreeMap<QueueRow, Vec<(Charge, u64, QueueRow)>> = BTreeMap::new();
        for &row in old {
            stays[row.index()] = false;
            let Some(parent) = self.tree[row].parent() else { continue };
            let (charge, weight) = self.books.owed(self.now, row);
            if charge > 0 {
                debtors.entry(parent).or_default().push((charge, weight, row));
            }
        }
        // Measures of different parents cannot be compared; places among siblings can.
        let mut places: Vec<(usize, Reverse<QueueRow>)> = Vec::new();
        for siblings in debtors.values_mut() {
            siblings.sort_unstable_by(|a, b| {
                let owes_more: Ordering = cmp_ratios(b.0, b.1, a.0, a.1);
                owes_more.then(b.2.cmp(&a.2))
            });
            let rows = siblings.iter().map(|&(_, _, row)| Reverse(row));
            places.extend((0..).zip(rows));
        }
        places.sort_unstable();
        let most_owing = places.into_iter().take(most - most / 2).map(|(_, Reverse(row))| row);
        for row in most_owing.chain(last.iter().copied()) {
            stays[row.index()] = true;
            self.tree.up(row).for_each(|(_, parent)| stays[parent.index()] = true);
        }
        stays
    }

    /// What forgotten leaves lent and borrowed stays in the sums.
    fn tell_forgotten(&self, state: &mut State, gone: &[QueueRow], stay: &[bool]) {
        let forgotten = gone.iter().filter(|row| !stay[row.index()]);
        for meter in forgotten.map(|row| &state.queues[row.index()].meter) {
            // Of a removed queue no line has a slope: its offsets are its values.
            let borrowed = u128::try_from(meter.borrowed).expect("a sum of what was borrowed");
            state.forgotten_borrowed += borrowed;
            let (fraction, carry) = state.forgotten_fraction.overflowing_add(meter.lent_fraction);
            state.forgotten_fraction = fraction;
            state.forgotten_lent += meter.lent + u128::from(carry);
        }
    }
}

/// Takes the rows that do not stay out of a state.
fn move_up(state: &mut State, stays: &[bool]) {
    let moved = moved(stays);
    let to = |row: u32| moved[row as usize].expect("who is named by another stays");
    if state.queues_declared.is_none() {
        state.queues_declared = Some(state.queues.len() as u32);
    }
    // Their order of going: told where it does not follow from that of the rows.
    state.queues_gone.retain(|&row| moved[row as usize].is_some());
    state.queues_gone.iter_mut().for_each(|row| *row = to(*row));
    for (row, queue) in (0..).zip(&mut state.queues) {
        queue.number = queue.number.or(Some(row));
    }
    keep(&mut state.queues, stays, 1);
    for (row, queue) in (0..).zip(&mut state.queues) {
        // A number is told where it is not the row's.
        queue.number = queue.number.filter(|&number| number != row);
        queue.parent = queue.parent.map(to);
        queue.capped.retain(|&capped| moved[capped as usize].is_some());
        queue.capped.iter_mut().for_each(|capped| *capped = to(*capped));
    }
    state.jobs.live.iter_mut().for_each(|(_, job)| job.queue = to(job.queue));
    if let Some(guard) = &mut state.guard {
        keep(&mut guard.standings, stays, 1);
    }
    if let Some(quanta) = &mut state.quanta {
        keep(&mut quanta.queues, stays, 1);
    }
    if !state.last_runs.is_empty() {
        keep(&mut state.last_runs, stays, 1);
    }
}
