//! Who lent to whom, and could have had it back: credit fairness.
//!
//! Zahedi and Freeman (2026) give each tenant a balance that begins at 0: who receives less than
//! its endowment gains at most what is missing, who receives more loses at most what is more, and
//! lenders can recoup later. Only the beginning of their definition could be read (the bounds on
//! changes); what recouping asks for is ours below, and stricter: the balance is fixed, where
//! theirs may be any that keeps the bounds.
//!
//! > lent_i = (S_i - g_i)+ * B / A, borrowed_i = (g_i - S_i)+; A, B: sums over tenants of
//! > (S_i - g_i)+ and (g_i - S_i)+<br>
//! > c_i(t) = integral of lent_i - borrowed_i; sums to 0<br>
//! > H_ij = integral of g_j while i waits, c_i > 0 and c_j < 0<br>
//! > what i could have had back, and has not = min(c_i(T)+, sum over j of min((-c_j(T))+, H_ij))
//!
//! So who left its share idle has lent nothing, and what is owed counts only as far as those who
//! owe it held slots while the lender waited. As g_i sums to at most R = sum of S_i, B <= A: nobody
//! gains more than what is missing. Cost: spells x tenants.

use super::course::Spell;

/// Below this a balance is 0: slot-seconds.
const NOTHING: f64 = 1e-6;

/// Slot-seconds that the tenant at `own` is owed at the end and could have had back.
pub(super) fn owed(spells: &[Spell], shares: &[f64], own: usize) -> f64 {
    let mut balance = vec![0.0; shares.len()];
    let mut had = vec![0.0; shares.len()];
    for spell in spells {
        // A balance changes its sign within a spell at most once; up to there it counts.
        let change = changes(&spell.held, shares);
        let positive = |at: usize, sign: f64| {
            spell.seconds() - passed(sign * balance[at], sign * change[at], spell.seconds())
        };
        if spell.waits[own] > 0.0 {
            let credit = positive(own, 1.0);
            for other in (0..shares.len()).filter(|&other| other != own) {
                had[other] += spell.held[other] * credit.min(positive(other, -1.0));
            }
        }
        balance.iter_mut().zip(change).for_each(|(sum, rate)| *sum += rate * spell.seconds());
    }
    let owing = balance.iter().zip(&had).map(|(balance, had)| f64::min((-balance).max(0.0), *had));
    balance[own].max(0.0).min(owing.sum())
}

/// How fast balances change where these slots are held.
fn changes(held: &[f64], shares: &[f64]) -> Vec<f64> {
    let over = |(held, share): (&f64, &f64)| (held - share).max(0.0);
    let under = |(held, share): (&f64, &f64)| (share - held).max(0.0);
    let rows = || held.iter().zip(shares);
    let (borrowed, left): (f64, f64) = (rows().map(over).sum(), rows().map(under).sum());
    let part = if left > 0.0 { borrowed / left } else { 0.0 };
    rows().map(|row| under(row) * part - over(row)).collect()
}

/// For how many of `seconds` a value that begins at `at` and changes by `rate` is not above 0.
fn passed(at: f64, rate: f64, seconds: f64) -> f64 {
    match (at > NOTHING, rate) {
        (true, rate) if rate >= 0.0 => 0.0,
        (true, rate) => (seconds - (at / -rate)).clamp(0.0, seconds),
        (false, rate) if rate <= 0.0 => seconds,
        (false, rate) => (-at / rate).clamp(0.0, seconds),
    }
}
