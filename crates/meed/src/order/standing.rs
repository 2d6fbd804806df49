//! One child's position in its domain: what it holds, what its ledgers say, since when it counts.

use super::domain::{Domain, Rule};
use super::dominant::{Pool, Share, Vector};
use super::key::mul_div;
use super::rate::{Rate, Requantified};
use super::seldom::Seldom;
use super::task_share::{Alone, Tasks};
use crate::ledger::{Charge, Ledger, Step};
use crate::memory::expect;
use crate::resources::Resources;
use crate::spec::Rank;
use crate::time::{Span, Time};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// What it holds now, as a scalar.
    pub(crate) held: u64,
    /// Where the measure is usage; all others do without.
    pub(super) books: Option<Box<Ledger>>,
    /// Where dominant shares are compared: both of the above, kind by kind.
    pub(super) vector: Option<Box<Vector>>,
    /// Since when it counts: its (round) arriving time, Eq. 14.
    pub(crate) since: Option<Time>,
    /// Whether it counts since the start of the round only for a task that ran then.
    pub(super) straddles: bool,
    /// Whether it has ever had work.
    pub(crate) known: bool,
    /// What few have.
    pub(super) seldom: Option<Box<Seldom>>,
}

impl Standing {
    /// The books, which begin empty. Apart from the rest: jobs of a fifo leaf have none.
    #[inline]
    pub(super) fn ledger(&mut self) -> &mut Ledger {
        self.books.get_or_insert_default()
    }

    /// Has its books brought, and what it holds of each kind.
    #[inline]
    pub(crate) fn expect_behind(&self) {
        if let Some(books) = self.books.as_deref() {
            books.expect();
        }
        if let Some(vector) = self.vector.as_deref() {
            expect(&vector.held);
        }
    }

    /// The same of what lies behind its books.
    #[inline]
    pub(crate) fn expect_last(&self) {
        if let Some(books) = self.books.as_deref() {
            books.expect_behind();
        }
    }

    pub(super) fn vector(&mut self, kinds: usize) -> &mut Vector {
        self.vector.get_or_insert_with(|| Box::new(Vector::new(kinds)))
    }

    /// What it holds of each kind, where dominant shares are compared.
    pub(crate) fn held_of_kinds(&self) -> Option<&Resources> {
        self.vector.as_deref().map(|vector| &vector.held)
    }

    /// The dominant share that it holds.
    #[inline]
    pub(super) fn held_share(&self, pool: &Pool) -> Share {
        match self.held_of_kinds() {
            Some(held) => pool.share(held),
            None => Share { amount: 0, of: 1 },
        }
    }

    /// What its ledgers hold against it: a scalar's charge, or a dominant share in parts x time.
    #[inline]
    pub(crate) fn charge(&mut self, now: Time, domain: &Domain, share: u64) -> Charge {
        if !domain.is_dominant() {
            return self.ledger().charge(now, domain.rule.ledger_rules(share));
        }
        let used = self.used_share(now, domain);
        domain.pool.in_parts(used)
    }

    /// The dominant share of what its ledgers hold against it.
    pub(super) fn used_share(&mut self, now: Time, domain: &Domain) -> Share {
        let Some(vector) = &mut self.vector else { return Share { amount: 0, of: 1 } };
        let charge =
            |ledger: &mut Ledger, share| ledger.charge(now, domain.rule.ledger_rules(share));
        vector.share(&domain.pool, charge)
    }

    /// The same without changing anything.
    pub(crate) fn charge_ahead(&self, now: Time, domain: &Domain, share: u64) -> Charge {
        if !domain.is_dominant() {
            let rules = domain.rule.ledger_rules(share);
            return self.books.as_ref().map_or(0, |books| books.charge_at(now, rules));
        }
        let mut copy = Standing { vector: self.vector.clone(), ..Standing::default() };
        copy.charge(now, domain, share)
    }

    /// Adds pseudo-accumulated resources (ICS'14 Eq. 6).
    pub(crate) fn top_up(&mut self, pseudo: Charge, domain: &Domain, kinds: usize) {
        match domain.is_dominant() {
            false => self.ledger().top_up(pseudo),
            true => {
                let vector = self.vector(kinds);
                vector.pseudo = vector.pseudo.saturating_add(pseudo);
            }
        }
    }

    /// Its share becomes `share`: the use so far was counted by the old one. The new one as a
    /// scalar.
    pub(crate) fn set_share(
        &mut self,
        now: Time,
        domain: &Domain,
        old: u64,
        share: &Resources,
    ) -> u64 {
        let rule = &domain.rule;
        if domain.is_dominant() {
            let vector = self.vector(share.kinds());
            if rule.keeps_usage() {
                vector
                    .ledgers()
                    .for_each(|(ledger, share)| ledger.settle(now, rule.ledger_rules(share)));
            }
            vector.shares = *share;
            return 0;
        }
        if rule.keeps_usage() {
            self.ledger().settle(now, rule.ledger_rules(old));
        }
        domain.scalar.amount(share, 1000)
    }

    /// The pool has so many parts now: what it was topped up with is told in them.
    pub(crate) fn change_parts(&mut self, before: u64, after: u64) {
        if let Some(vector) = self.vector.as_deref_mut().filter(|_| before != after) {
            vector.pseudo = mul_div(vector.pseudo, after, before);
        }
    }

    /// A round begins at `start`: forgets what was before; `runs` says whether a task runs then
    /// (Eq. 14).
    pub(crate) fn begin_round(&mut self, start: Time, runs: bool) {
        (self.since, self.straddles) = (runs.then_some(start), runs);
    }

    /// Empties the books: the tasks that run are to be charged anew.
    pub(crate) fn forget(&mut self, at: Time) {
        if let Some(ledger) = &mut self.books {
            ledger.reset(at);
        }
        if let Some(vector) = &mut self.vector {
            vector.pseudo = 0;
            vector.ledgers.iter_mut().for_each(|ledger| ledger.reset(at));
        }
    }

    /// A landmark of the half-life: everything charged so far counts less.
    pub(crate) fn move_landmark(&mut self, step: &Step, rule: &Rule, share: u64) {
        if let Some(ledger) = &mut self.books {
            ledger.move_landmark(step, rule.ledger_rules(share));
        }
        if let Some(vector) = &mut self.vector {
            vector.pseudo =
                if step.forgets { 0 } else { vector.pseudo >> crate::ledger::LANDMARK_HALF_LIVES };
            vector
                .ledgers()
                .for_each(|(ledger, share)| ledger.move_landmark(step, rule.ledger_rules(share)));
        }
    }

    /// It starts a task, and counts: in a round that begins now for that as well.
    #[inline]
    pub(crate) fn counts_by_start(&mut self, now: Time) {
        self.straddles &= self.since != Some(now);
    }

    /// Nothing of it runs any more. A task that ends with the old round does not straddle the new
    /// one's start (t^s < t^c in Eq. 14), though it was still running when the clock turned.
    #[inline]
    pub(crate) fn runs_nothing(&mut self, now: Time) {
        if self.straddles && self.since == Some(now) {
            (self.since, self.straddles) = (None, false);
        }
    }

    pub(super) fn tasks(&self) -> Option<&Tasks> {
        self.seldom.as_deref()?.tasks.as_ref()
    }

    fn tasks_mut(&mut self) -> Option<&mut Tasks> {
        self.seldom.as_deref_mut()?.tasks.as_mut()
    }

    /// The arrival number of the first of its waiting jobs, where its parent compares those.
    pub(super) fn first_arrival(&self) -> Option<u64> {
        self.seldom.as_deref()?.arrivals.first().copied()
    }

    /// One of its jobs begins to wait, or waits no more; whether that is new.
    pub(crate) fn move_arrival(&mut self, arrival: u64, waits: bool) -> bool {
        let arrivals = &mut self.seldom.get_or_insert_default().arrivals;
        if waits { arrivals.insert(arrival) } else { arrivals.remove(&arrival) }
    }

    /// Where it was told to stand.
    pub(super) fn rank(&self) -> Option<Rank> {
        self.seldom.as_deref()?.rank
    }

    pub(crate) fn set_rank(&mut self, rank: Rank) {
        self.seldom.get_or_insert_default().rank = Some(rank);
    }

    /// Where dominant shares are compared: it holds a task's amounts from now on. Here, and in
    /// `let_go`, is what a measure counts of running tasks.
    pub(super) fn hold(&mut self, demand: &Resources, domain: &Domain) {
        self.vector(demand.kinds()).held.add(demand);
        if domain.counts_tasks() {
            let seldom = self.seldom.get_or_insert_default();
            seldom.tasks.get_or_insert_default().start(&domain.alone, demand);
        }
    }

    /// It holds them no more.
    fn let_go(&mut self, demand: &Resources) {
        self.vector(demand.kinds()).held.sub(demand);
        if let Some(tasks) = self.tasks_mut() {
            tasks.end(demand);
        }
    }

    /// Servers have changed: what its tasks are parts of.
    pub(crate) fn weigh_anew(&mut self, alone: &Alone) {
        if let Some(tasks) = self.tasks_mut() {
            tasks.weigh_anew(alone);
        }
    }

    #[inline]
    pub(crate) fn start(
        &mut self,
        now: Time,
        rate: &Rate,
        started: (Time, Span),
        domain: &Domain,
        share: u64,
    ) {
        match &rate.kinds {
            None => self.held += rate.holds,
            Some(kinds) => self.hold(kinds, domain),
        }
        self.charge_since(now, rate, started, domain, share);
    }

    /// Charges a task that has run since `started`, of which the books hear at `now`: what it used
    /// in this round.
    #[inline]
    pub(crate) fn charge_since(
        &mut self,
        now: Time,
        rate: &Rate,
        started: (Time, Span),
        domain: &Domain,
        share: u64,
    ) {
        let rule = &domain.rule;
        let Some((since, end)) = charged_span(rule, started) else { return };
        if since >= now {
            return self.charge_from(now, rate, end, rule, share);
        }
        self.for_each_ledger(rate, share, |ledger, rate, share| {
            ledger.start_since(now, since, rate, end, rule.ledger_rules(share));
        });
    }

    /// Takes back what a task that was started at `started` is charged: as if it had never run.
    /// What it holds stays.
    pub(crate) fn uncharge(
        &mut self,
        now: Time,
        rate: &Rate,
        started: (Time, Span),
        domain: &Domain,
        share: u64,
    ) {
        let rule = &domain.rule;
        let Some((since, end)) = charged_span(rule, started) else { return };
        self.for_each_ledger(rate, share, |ledger, rate, share| {
            ledger.undo(now, since, rate, end, rule.ledger_rules(share));
        });
    }

    /// The quanta of running tasks change: what they are charged ahead follows, where this order
    /// charges by it. What they hold stays.
    pub(crate) fn change_quanta(
        &mut self,
        now: Time,
        tasks: &[(Rate, Requantified)],
        domain: &Domain,
        share: u64,
    ) {
        let rule = &domain.rule;
        let Some((first, _)) = tasks.first().filter(|_| rule.charges_learnt()) else { return };
        let ends = |of: &Requantified| {
            let [before, after] =
                [of.before, of.after].map(|quantum| rule.assumed_end(of.started, quantum));
            // Beyond both it is charged with time, whatever the quantum.
            (before != after && before.max(after) > now).then_some((before, after))
        };
        match &first.kinds {
            None => {
                let change = |(rate, of): &(Rate, Requantified)| {
                    let (before, after) = ends(of)?;
                    Some((rate.charged * of.tasks, before, after))
                };
                let changes = tasks.iter().filter_map(change);
                self.ledger().change_ends(now, changes, rule.ledger_rules(share));
            }
            Some(kinds) => {
                let ledgers = self.vector(kinds.kinds()).ledgers();
                for (kind, (ledger, share)) in ledgers.enumerate() {
                    let change = |(rate, of): &(Rate, Requantified)| {
                        let (before, after) = ends(of)?;
                        let charged = rate.charged_kinds(&rate.kinds?).nth(kind)?;
                        Some((charged * of.tasks, before, after))
                    };
                    let changes = tasks.iter().filter_map(change);
                    ledger.change_ends(now, changes, rule.ledger_rules(share));
                }
            }
        }
    }

    /// Undoes [`Standing::start`].
    pub(crate) fn undo(
        &mut self,
        now: Time,
        rate: &Rate,
        started: (Time, Span),
        domain: &Domain,
        share: u64,
    ) {
        match &rate.kinds {
            None => self.held = self.held.checked_sub(rate.holds).expect("only what is held ends"),
            Some(kinds) => self.let_go(kinds),
        }
        self.uncharge(now, rate, started, domain, share);
    }

    /// Each ledger with the rate that it is charged, and its share.
    fn for_each_ledger(
        &mut self,
        rate: &Rate,
        share: u64,
        mut change: impl FnMut(&mut Ledger, u64, u64),
    ) {
        match &rate.kinds {
            None => change(self.ledger(), rate.charged, share),
            Some(kinds) => {
                let ledgers = self.vector(kinds.kinds()).ledgers();
                for ((ledger, share), rate) in ledgers.zip(rate.charged_kinds(kinds)) {
                    change(ledger, rate, share);
                }
            }
        }
    }

    /// Charges a task that runs from `now` on, as far as the books know, and is assumed to end at
    /// `end`.
    #[inline]
    pub(crate) fn charge_from(
        &mut self,
        now: Time,
        rate: &Rate,
        end: Time,
        rule: &Rule,
        share: u64,
    ) {
        match &rate.kinds {
            None => self.ledger().start(now, rate.charged, end, rule.ledger_rules(share)),
            Some(kinds) => {
                let ledgers = self.vector(kinds.kinds()).ledgers();
                for ((ledger, share), amount) in ledgers.zip(rate.charged_kinds(kinds)) {
                    ledger.start(now, amount, end, rule.ledger_rules(share));
                }
            }
        }
    }

    /// What [`Standing::charge_from`] charges with time is charged no more.
    pub(crate) fn stop_charging(&mut self, now: Time, rate: &Rate, domain: &Domain, share: u64) {
        let rule = &domain.rule;
        self.for_each_ledger(rate, share, |ledger, rate, share| {
            ledger.end(now, rate, now, rule.ledger_rules(share));
        });
    }

    /// Ends what was started at `started`.
    #[inline]
    pub(crate) fn end(
        &mut self,
        now: Time,
        rate: &Rate,
        (started, job_quantum): (Time, Span),
        domain: &Domain,
        share: u64,
    ) {
        let (rule, usage) = (&domain.rule, domain.rule.keeps_usage());
        match &rate.kinds {
            None => {
                self.held = self.held.checked_sub(rate.holds).expect("only what is held ends");
                if usage {
                    let end = rule.assumed_end(started, job_quantum);
                    self.ledger().end(now, rate.charged, end, rule.ledger_rules(share));
                }
            }
            Some(kinds) => {
                self.let_go(kinds);
                if usage {
                    let vector = self.vector(kinds.kinds());
                    let end = rule.assumed_end(started, job_quantum);
                    for ((ledger, share), amount) in vector.ledgers().zip(rate.charged_kinds(kinds))
                    {
                        ledger.end(now, amount, end, rule.ledger_rules(share));
                    }
                }
            }
        }
    }
}

/// Since when a task that was started then is charged in this round, and when it is assumed to end;
/// `None` where usage does not count.
#[inline]
fn charged_span(rule: &Rule, (started, job_quantum): (Time, Span)) -> Option<(Time, Time)> {
    let span = || (started.max(rule.round_start), rule.assumed_end(started, job_quantum));
    rule.keeps_usage().then(span)
}
