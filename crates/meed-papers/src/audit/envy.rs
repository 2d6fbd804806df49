//! What a tenant would have done with what another held: envy over time.
//!
//! > D_ij: work of i that is done by T where i holds at each instant what j held, times S_i / S_j,
//! > and its work is divisible<br>
//! > envy of i = max over j of D_ij - U_i
//!
//! Exact where tasks are of one slot and one minute, all on the minute: then demand is as good as
//! divisible. Cost: spells x tenants for each tenant.

use super::course::Spell;

/// The largest envy of the tenant at `own` in slot-seconds; below 0 where it has more than with any
/// other's slots.
pub(super) fn envy(spells: &[Spell], shares: &[f64], own: usize) -> f64 {
    let used: f64 = spells.iter().map(|spell| spell.useful[own] * spell.seconds()).sum();
    let others = (0..shares.len()).filter(|&other| other != own && shares[other] > 0.0);
    let done = others.map(|other| with_theirs(spells, own, other, shares[own] / shares[other]));
    done.fold(f64::NEG_INFINITY, f64::max) - used
}

/// Work of `own` that is done with `part` of what `other` held.
fn with_theirs(spells: &[Spell], own: usize, other: usize, part: f64) -> f64 {
    let (mut backlog, mut done) = (0.0, 0.0);
    for spell in spells {
        backlog += spell.comes[own];
        let now = f64::min(backlog, spell.held[other] * part * spell.seconds());
        backlog -= now;
        done += now;
    }
    done
}
