//! What a lie changes after it is over: strategy-proofness of history.
//!
//! > t0: when the liar is honest again. G: its useful work after t0 with the lie, less that without
//! > it. L: its useful work before t0 without the lie, less that with it<br>
//! > gain through history = G - max(L, 0)
//!
//! A gain before t0 does not count, for it did not need a history; a loss there does. Cost: spells.

use super::course::Spell;

/// Useful slot-seconds of all queues of the spells, before and after `since`.
fn work(spells: &[Spell], since: f64) -> (f64, f64) {
    let mut both = (0.0, 0.0);
    for spell in spells {
        let useful: f64 = spell.useful.iter().sum();
        both.0 += useful * (spell.to.min(since) - spell.from).max(0.0);
        both.1 += useful * (spell.to - spell.from.max(since)).max(0.0);
    }
    both
}

/// The gain through history, from the spells of the liar's queues in both runs.
pub(super) fn gain(honest: &[Spell], lying: &[Spell], since: f64) -> f64 {
    let (before, after) = work(honest, since);
    let (before_lying, after_lying) = work(lying, since);
    after_lying - after - (before - before_lying).max(0.0)
}
