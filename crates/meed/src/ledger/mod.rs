//! Usage over time, per queue (or job): what long-term fairness compares.
//!
//! A task of rate r (its scalar amount, ICS'14 Eq. 9) that starts at s is charged its quantum Q at
//! once; while it runs longer, its charge grows with time; when it ends, the charge becomes what it
//! really used (Eq. 15):
//!
//! > charge = r * max(Q, t - s) while it runs,  r * (end - s) afterwards
//!
//! With a discount eta < 1 on use above the share S (Eq. 7, 8) the same is done to the *sum*: with
//! g(t) what all tasks hold and p(t) what those hold that would still run if each took its quantum,
//!
//! > charge(t) = integral to t of h(g) + integral from t on of h(p),  h(x) = min(x, S) + eta *
//! > max(x - S, 0)
//!
//! which for eta = 1 is the line above. Times are memory time ([`Clock`]).
//!
//! Invariants: between events a charge never falls (so an old key is a lower bound of the new one:
//! see `order::heap`), and it is a piecewise linear function of memory time, exact at every
//! instant. After a task has ended its charge equals its real use to the unit. Unit: smallest unit
//! x microsecond / 1000 (thousandths carry eta).
//!
//! Cost: without discount O(1) amortised for each start, end and reading; with discount a reading
//! walks the distinct assumed ends. The slow twin in `tests` keeps every task and adds them up.

pub(crate) mod clock;
mod prepaid;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use clock::LANDMARK_HALF_LIVES;
pub(crate) use clock::{Clock, Step};
use prepaid::Prepaid;

use crate::memory::expect;
use crate::policy::Permille;
use crate::time::Time;

/// Resource x memory time, in thousandths of a smallest unit x microsecond.
pub type Charge = u128;

/// Charge of one smallest unit held for one microsecond.
pub(crate) const CHARGE_ONE: u128 = 1000;

/// Most that a newcomer is topped up with. A ratio of weights of 10^9 can carry a charge beyond 128
/// bits; capped, the newcomer still comes last, and real use, which stays below 2^126, has room
/// above.
const MOST_PSEUDO: Charge = 1 << 126;

/// What a ledger is kept by: the same for all members of one queue, but for the share.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) clock: &'a Clock,
    /// eta in thousandths.
    pub(crate) discount: Permille,
    /// S: use above it is discounted.
    pub(crate) share: u64,
    /// Whether use above the share alone is charged, and all of it: what commitments are made of
    /// (`order::commitment`). A discount is not read then, and no quantum is charged ahead.
    pub(crate) above_only: bool,
}

impl Rules<'_> {
    /// h(x), in thousandths.
    fn counted(&self, held: u64) -> u128 {
        let within = held.min(self.share);
        if self.above_only {
            return u128::from(held - within) * CHARGE_ONE;
        }
        u128::from(within) * CHARGE_ONE + u128::from(held - within) * u128::from(self.discount)
    }

    /// Whether what is charged depends on the share: then nothing is charged ahead as it is.
    pub(crate) fn reads_share(&self) -> bool {
        self.discount != 1000 || self.above_only
    }
}

/// One member's ledger.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Charged up to `at`: with the prepaid quanta, unless a discount applies.
    past: Charge,
    at: Time,
    /// Rate of all running tasks.
    held: u64,
    /// Rate of those that have outrun their quantum.
    over: u64,
    prepaid: Prepaid,
}

impl Ledger {
    /// Has the lines brought in which these fields stand.
    #[inline]
    pub(crate) fn expect(&self) {
        expect(&self.past);
        expect(&self.over);
        expect(&self.prepaid);
    }

    /// The same of what lies behind them.
    #[inline]
    pub(crate) fn expect_behind(&self) {
        self.prepaid.expect();
    }

    /// A task of `rate` starts at `now` and is assumed to end at `assumed_end`.
    pub(crate) fn start(&mut self, now: Time, rate: u64, assumed_end: Time, rules: Rules<'_>) {
        self.start_since(now, now, rate, assumed_end, rules);
    }

    /// A task of `rate` that has run since `since` is told of at `now`. Without a discount the
    /// charge is what it would be had it been told of then; with one, what the task adds to what
    /// is held now stands for what it would have added at each instant since.
    #[inline]
    pub(crate) fn start_since(
        &mut self,
        now: Time,
        since: Time,
        rate: u64,
        assumed_end: Time,
        rules: Rules<'_>,
    ) {
        self.settle(now, rules);
        if since < now {
            self.past += self.added_since(now, since, rate, rules);
        }
        self.held += rate;
        if assumed_end <= now {
            self.over += rate;
            return;
        }
        self.prepaid.push(assumed_end, rate);
        if !rules.reads_share() {
            self.past += prepayment(now, rate, assumed_end, rules);
        }
    }

    /// What `rate` beyond what is held adds to the charge of the time from `since` to `now`.
    fn added_since(&self, now: Time, since: Time, rate: u64, rules: Rules<'_>) -> Charge {
        let added = match rules.reads_share() {
            true => rules.counted(self.held + rate) - rules.counted(self.held),
            false => u128::from(rate) * CHARGE_ONE,
        };
        added * u128::from(rules.clock.since(since, now))
    }

    /// A task that was started at `since` with these numbers is to be as if it had never run: the
    /// reverse of [`Ledger::start_since`].
    pub(crate) fn undo(
        &mut self,
        now: Time,
        since: Time,
        rate: u64,
        assumed_end: Time,
        rules: Rules<'_>,
    ) {
        self.end(now, rate, assumed_end, rules);
        // Shifts of landmarks can leave a unit too little; never more than that for each.
        self.past = self.past.saturating_sub(self.added_since(now, since, rate, rules));
    }

    /// A task that was started with these numbers ends at `now`.
    pub(crate) fn end(&mut self, now: Time, rate: u64, assumed_end: Time, rules: Rules<'_>) {
        self.settle(now, rules);
        self.held = self.held.checked_sub(rate).expect("only what was started ends");
        if assumed_end <= now {
            self.over =
                self.over.checked_sub(rate).expect("only what outran its quantum ends late");
            return;
        }
        self.prepaid.take(assumed_end, rate);
        if !rules.reads_share() {
            // Rounding of memory time under a half-life can leave a unit too little; never more
            // than that.
            self.past = self.past.saturating_sub(prepayment(now, rate, assumed_end, rules));
        }
    }

    /// Tasks that run are assumed to end at other instants from `now` on: each a rate, the instant
    /// before and the one after. The charge is what it would be had they been started so (Eq. 15
    /// with the quantum of now). O(all assumed ends) for many, O(log) for each of a few.
    pub(crate) fn change_ends(
        &mut self,
        now: Time,
        changes: impl Iterator<Item = (u64, Time, Time)>,
        rules: Rules<'_>,
    ) {
        self.settle(now, rules);
        let prepaid = !rules.reads_share();
        let mut ends = Vec::new();
        for (rate, before, after) in changes {
            match before <= now {
                true => {
                    let over = self.over.checked_sub(rate);
                    self.over = over.expect("only what outran its quantum is beyond it");
                }
                false => {
                    self.prepaid.take(before, rate);
                    if prepaid {
                        // As at an end, a unit may be too little.
                        let ahead = prepayment(now, rate, before, rules);
                        self.past = self.past.saturating_sub(ahead);
                    }
                }
            }
            match after <= now {
                true => self.over += rate,
                false => {
                    ends.push((after, rate));
                    if prepaid {
                        self.past += prepayment(now, rate, after, rules);
                    }
                }
            }
        }
        self.prepaid.push_all(ends);
    }

    /// Brings the books up to `now`. Needed before the share changes; all other calls do it
    /// themselves.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time, rules: Rules<'_>) {
        // What is prepaid ends after `at`: at one instant the second look has nothing to do.
        if self.at != now {
            self.settle_to(now, rules);
        }
    }

    fn settle_to(&mut self, now: Time, rules: Rules<'_>) {
        if rules.reads_share() {
            while let Some((_, rate)) = self.prepaid.pop_until(now) {
                self.over += rate;
            }
            self.past += rules.counted(self.held) * u128::from(rules.clock.between(self.at, now));
            self.at = now;
            return;
        }
        while let Some((end, rate)) = self.prepaid.pop_until(now) {
            self.pass(end, rules);
            self.over += rate;
        }
        self.pass(now, rules);
    }

    #[inline]
    fn pass(&mut self, to: Time, rules: Rules<'_>) {
        if self.over > 0 {
            let passed = u128::from(rules.clock.between(self.at, to));
            self.past += u128::from(self.over) * CHARGE_ONE * passed;
        }
        self.at = to;
    }

    /// The charge at `now`, which is not before the last call's.
    #[inline]
    pub(crate) fn charge(&mut self, now: Time, rules: Rules<'_>) -> Charge {
        self.settle(now, rules);
        if rules.reads_share() { self.past + self.ahead(now, rules) } else { self.past }
    }

    /// The same, read in books that stay as they are.
    #[inline]
    pub(crate) fn charge_at(&self, now: Time, rules: Rules<'_>) -> Charge {
        let turns = self.turns().is_some_and(|turn| turn <= now);
        if turns || rules.reads_share() {
            return self.clone().charge(now, rules);
        }
        // A line: no copy has to be settled.
        let passed = if self.over > 0 { rules.clock.between(self.at, now) } else { 0 };
        self.past + self.rate(rules) * u128::from(passed)
    }

    /// The discounted charge of what the running tasks are assumed to use from `now` on.
    fn ahead(&self, now: Time, rules: Rules<'_>) -> Charge {
        let (mut from, mut projected, mut sum) = (now, self.held - self.over, 0);
        for (end, rate) in self.prepaid.iter() {
            sum += rules.counted(projected) * u128::from(rules.clock.between(from, end));
            projected -= rate;
            from = end;
        }
        sum
    }

    /// By how much the charge grows with each microsecond of memory time, as of the last call and
    /// until [`Ledger::turns`] if nothing is told: between both the charge is a line.
    pub(crate) fn rate(&self, rules: Rules<'_>) -> Charge {
        match rules.reads_share() {
            true => rules.counted(self.held) - rules.counted(self.within()),
            false => u128::from(self.over) * CHARGE_ONE,
        }
    }

    /// When a task first outruns its quantum after the last call, if nothing is told.
    pub(crate) fn turns(&self) -> Option<Time> {
        self.prepaid.first()
    }

    /// What was used up to `now`: the charge without what is charged ahead.
    pub(crate) fn used(&self, now: Time, rules: Rules<'_>) -> Charge {
        let mut settled = self.clone();
        settled.settle(now, rules);
        match rules.reads_share() {
            true => settled.past,
            // Rounding of memory time can leave a unit too little.
            false => settled.past.saturating_sub(settled.prepaid_from(now, rules)),
        }
    }

    /// Charges ahead what running tasks are assumed to use: nothing of it is charged yet.
    pub(crate) fn prepay(&mut self, rules: Rules<'_>) {
        if !rules.reads_share() {
            self.past += self.prepaid_from(self.at, rules);
        }
    }

    fn prepaid_from(&self, now: Time, rules: Rules<'_>) -> Charge {
        self.prepaid.iter().map(|(end, rate)| prepayment(now, rate, end, rules)).sum()
    }

    /// What is held by tasks within their quantum, as of the last call.
    pub(crate) fn within(&self) -> u64 {
        self.held - self.over
    }

    /// Adds pseudo-accumulated resources: at most [`MOST_PSEUDO`].
    pub(crate) fn top_up(&mut self, pseudo: Charge) {
        self.past += pseudo.min(MOST_PSEUDO);
    }

    /// Forgets everything, the running tasks too: a round begins, and the caller starts them anew.
    pub(crate) fn reset(&mut self, now: Time) {
        self.prepaid.clear();
        (self.past, self.at, self.held, self.over) = (0, now, 0, 0);
    }

    /// The landmark moves, by `rules` of the clock as it was: all that was charged counts less.
    pub(crate) fn move_landmark(&mut self, step: &Step, rules: Rules<'_>) {
        if step.forgets {
            while let Some((_, rate)) = self.prepaid.pop_until(step.landmark) {
                self.over += rate;
            }
            (self.past, self.at) = (0, step.landmark);
            return;
        }
        self.settle(step.landmark, rules);
        self.past >>= LANDMARK_HALF_LIVES;
    }
}

fn prepayment(now: Time, rate: u64, assumed_end: Time, rules: Rules<'_>) -> Charge {
    u128::from(rate) * CHARGE_ONE * u128::from(rules.clock.between(now, assumed_end))
}
