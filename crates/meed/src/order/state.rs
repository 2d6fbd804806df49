//! A standing, and an order, as plain data, and back.

use super::domain::Domain;
use super::dominant::{Pool, Vector};
use super::rate::Rate;
use super::standing::Standing;
use crate::ledger::Ledger;
use crate::resources::{MAX_AMOUNT, Resources};
use crate::state::{OrderState, Place, StandingState, StateError, ensure};
use crate::time::{Span, Time};

impl Domain {
    pub(crate) fn state(&self) -> OrderState {
        let pool = match self.is_dominant() {
            true => self.pool.capacity().as_slice().to_vec(),
            false => Vec::new(),
        };
        OrderState { policy: self.policy().clone(), pool }
    }

    /// The order at `now`: what it remembers is a function of time.
    pub(crate) fn from_state(
        state: &OrderState,
        now: Time,
        kinds: usize,
        place: Place<'_>,
    ) -> Result<Domain, StateError> {
        if let Some(problem) = state.policy.problem(kinds) {
            return Err(StateError::new(format!("{place}.policy"), problem));
        }
        let mut domain = Domain::new(&state.policy);
        let at = || format!("{place}.pool");
        if domain.is_dominant() {
            let pool = &state.pool;
            ensure!(pool.is_empty() || pool.len() == kinds, at(), "not one amount for each kind");
            ensure!(pool.iter().all(|&amount| amount <= MAX_AMOUNT), at(), "more than 2^53");
            domain.pool = Pool::new(&Resources::new(pool));
        } else {
            ensure!(state.pool.is_empty(), at(), "this order compares no dominant shares");
        }
        domain.bring_up_to(now);
        Ok(domain)
    }

    /// Moves round and landmark to where they are at `now`.
    pub(crate) fn bring_up_to(&mut self, now: Time) {
        self.rule.enter_round(now);
        if let Some(last) = self.rule.clock.steps(now).last() {
            self.rule.clock = self.rule.clock.at_landmark(last.landmark);
        }
    }
}

impl Standing {
    /// At `now`, in a domain in which its share is `share` as a scalar.
    pub(crate) fn state(&self, now: Time, domain: &Domain, share: u64) -> StandingState {
        let state =
            |(ledger, share): (&Ledger, u64)| ledger.state(now, domain.rule.ledger_rules(share));
        let scalar = self.books.as_deref().into_iter().map(|ledger| (ledger, share));
        let kinds = self
            .vector
            .iter()
            .flat_map(|vector| vector.ledgers.iter().zip(vector.shares.as_slice().iter().copied()));
        StandingState {
            since: self.since,
            straddles: self.straddles,
            known: self.known,
            ledgers: scalar.chain(kinds).map(state).collect(),
            pseudo: self.vector.as_ref().map_or(0, |vector| vector.pseudo),
            rank: self.rank(),
        }
    }

    /// Without what runs: [`Standing::restore_task`] for each task and then [`Standing::restored`]
    /// come next.
    pub(crate) fn from_state(
        state: &StandingState,
        domain: &Domain,
        now: Time,
        kinds: usize,
        place: Place<'_>,
    ) -> Result<Standing, StateError> {
        let at = |field: &str| format!("{place}.{field}");
        ensure!(state.since.is_none_or(|since| since <= now), at("since"), "after the present");
        let (given, usage) = (state.ledgers.len(), domain.rule.keeps_usage());
        let expected = if domain.is_dominant() { kinds } else { 1 };
        ensure!(
            given == 0 || usage && given == expected,
            at("ledgers"),
            "{given} ledgers where its order keeps {}",
            if usage { expected } else { 0 }
        );
        let topped_up = usage && domain.is_dominant();
        ensure!(state.pseudo == 0 || topped_up, at("pseudo"), "its order tops nobody up so");
        let ledgers =
            state.ledgers.iter().enumerate().map(|(i, &past)| {
                Ledger::from_state(past, now, format_args!("{place}.ledgers[{i}]"))
            });
        let mut ledgers: Vec<Ledger> = ledgers.collect::<Result<_, _>>()?;
        let mut standing = Standing {
            since: state.since,
            straddles: state.straddles,
            known: state.known,
            ..Standing::default()
        };
        if let Some(rank) = state.rank {
            standing.set_rank(rank);
        }
        if domain.is_dominant() {
            if !ledgers.is_empty() || state.pseudo > 0 {
                let mut vector = Vector::new(kinds);
                (vector.ledgers, vector.pseudo) = (ledgers, state.pseudo);
                standing.vector = Some(Box::new(vector));
            }
        } else {
            standing.books = ledgers.pop().map(Box::new);
        }
        Ok(standing)
    }

    /// Its share in every kind: the one its ledgers are counted by. As a scalar.
    pub(crate) fn restore_share(&mut self, domain: &Domain, share: &Resources) -> u64 {
        if domain.is_dominant() {
            self.vector(share.kinds()).shares = *share;
            return 0;
        }
        domain.scalar.amount(share, 1000)
    }

    /// A task runs since `started`, with its job's quantum then. Whether there is a ledger for it.
    #[must_use]
    pub(crate) fn restore_task(
        &mut self,
        rate: &Rate,
        (started, quantum): (Time, Span),
        domain: &Domain,
    ) -> bool {
        let (end, usage) = (domain.rule.assumed_end(started, quantum), domain.rule.keeps_usage());
        match &rate.kinds {
            None => {
                self.held += rate.holds;
                match &mut self.books {
                    _ if !usage => true,
                    Some(ledger) => {
                        ledger.restore_task(rate.charged, end);
                        true
                    }
                    None => false,
                }
            }
            Some(kinds) => {
                self.hold(kinds, domain);
                let vector = self.vector(kinds.kinds());
                if !usage {
                    return true;
                }
                let charged = rate.charged_kinds(kinds);
                for (ledger, amount) in vector.ledgers.iter_mut().zip(charged) {
                    ledger.restore_task(amount, end);
                }
                !vector.ledgers.is_empty()
            }
        }
    }

    /// What has no quantum is charged with time. Whether there is a ledger for it.
    #[must_use]
    pub(crate) fn restore_charge(&mut self, rate: &Rate, now: Time) -> bool {
        match &rate.kinds {
            None => self.books.as_mut().map(|it| it.restore_task(rate.charged, now)).is_some(),
            Some(kinds) => {
                let vector = self.vector(kinds.kinds());
                for (ledger, amount) in vector.ledgers.iter_mut().zip(rate.charged_kinds(kinds)) {
                    ledger.restore_task(amount, now);
                }
                !vector.ledgers.is_empty()
            }
        }
    }

    /// All tasks have been told.
    pub(crate) fn restored(&mut self) {
        let scalar = self.books.as_deref_mut().into_iter();
        let vector = self.vector.as_deref_mut().into_iter();
        scalar
            .chain(vector.flat_map(|vector| vector.ledgers.iter_mut()))
            .for_each(Ledger::restored);
    }
}
