//! From the books to ranks: whose turn it is until the next word.
//!
//! > rank = (V_i + what one unit more is worth until the next word x held) / (E_i + credit until
//! > then)
//!
//! V and E are exact. Ranks have 32 bits for a step and 64 for an amount, so each family is scaled
//! by the largest power of two that fits; what is cut is below 2^-31 of the largest step. Whoever
//! has paid nothing comes last: its quota is nothing. Cost: O(queues x resources) divisions.

use meed::{QueueId, Rank, View};
use meed_scenario::plans::Terms;
use num_bigint::BigUint;

use super::Accounts;

/// Bits of a rank's amount, and of its step.
const AMOUNT: u64 = 63;
const STEP: u64 = 31;

/// A queue, before it is scaled.
struct Stand {
    queue: QueueId,
    parent: usize,
    values: Vec<BigUint>,
    credit: BigUint,
    step: BigUint,
}

impl Stand {
    /// V.
    fn worth(&self) -> BigUint {
        self.values.iter().max().cloned().unwrap_or_default()
    }
}

/// Tells every queue its rank.
pub(super) fn tell(
    books: &Accounts,
    terms: Terms,
    tree: View<'_>,
    say: &mut dyn FnMut(QueueId, Rank),
) {
    let mut stands = stands(books, terms, tree);
    // Children were declared behind their parents.
    for at in (1..stands.len()).rev() {
        let (before, rest) = stands.split_at_mut(at);
        let (above, own) = (&mut before[rest[0].parent], &rest[0]);
        above.values.iter_mut().zip(&own.values).for_each(|(sum, value)| *sum += value);
        above.credit += &own.credit;
    }
    let mut families: Vec<Vec<usize>> = vec![Vec::new(); stands.len()];
    for at in 1..stands.len() {
        families[stands[at].parent].push(at);
    }
    for family in families.iter().filter(|family| !family.is_empty()) {
        let family: Vec<&Stand> = family.iter().map(|&at| &stands[at]).collect();
        let down = scale(&family);
        for stand in family {
            say(stand.queue, rank(stand, down));
        }
    }
}

/// All queues in order of declaration, without what is below them.
fn stands(books: &Accounts, terms: Terms, tree: View<'_>) -> Vec<Stand> {
    let prices: Vec<BigUint> =
        (0..books.kinds).map(|kind| books.price(kind, terms.value)).collect();
    // Of the nodes' weights, where they differ, the ordinary one.
    let unit = u128::from(books.table.weight.unwrap_or(1000)) * u128::from(terms.every.as_micros());
    let stand = |queue: QueueId| {
        let held = tree.queue(queue).held;
        let worth = |kind: usize| &prices[kind] * held.get(kind);
        let most = (0..books.kinds).map(worth).max().unwrap_or_default();
        let step = match held.get(books.measured) {
            0 => prices[books.measured].clone(),
            held => most / held,
        };
        let tenant = books.tenant(queue);
        let credit = tenant.map_or(BigUint::ZERO, |tenant| {
            books.credit(tenant, terms.entitled)
                + books.credit_ahead(tenant, terms.entitled, terms.every)
        });
        let none = || vec![BigUint::ZERO; books.kinds];
        let values = tenant.map_or_else(none, |tenant| books.values(tenant, terms.value));
        let parent = tree.parent(queue).and_then(|parent| tree.queue_row(parent)).unwrap_or(0);
        Stand { queue, parent, values, credit, step: step * unit }
    };
    tree.queue_ids().map(stand).collect()
}

/// Bits of a quotient, or one more.
fn bits(above: &BigUint, below: &BigUint) -> u64 {
    (above.bits() + 1).saturating_sub(below.bits())
}

/// By which power of two ratios of the family are multiplied, so that all fit.
fn scale(family: &[&Stand]) -> u64 {
    let paying = family.iter().filter(|stand| stand.credit != BigUint::ZERO);
    let room = paying.map(|stand| {
        let amount = AMOUNT.saturating_sub(bits(&stand.worth(), &stand.credit));
        // A step may be far below one, so it may be raised far.
        let step = (STEP + stand.credit.bits()).saturating_sub(stand.step.bits() + 1);
        amount.min(step)
    });
    room.min().unwrap_or(0)
}

fn rank(stand: &Stand, up: u64) -> Rank {
    let worth = stand.worth();
    if stand.credit == BigUint::ZERO {
        // Among those that have paid nothing: who has received the least, to a few bits.
        return Rank { quota: 0, ..Rank::at(worth.bits()) };
    }
    let amount = u64::try_from((worth << up) / &stand.credit).unwrap_or(u64::MAX);
    let step = u32::try_from((&stand.step << up) / &stand.credit).unwrap_or(u32::MAX);
    Rank { amount, step: step.max(1), ..Rank::at(0) }
}
