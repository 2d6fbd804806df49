//! What keys are made of, as integers: for worlds where another scheduler serves, and compares.
//!
//! > key = (amount + what was started since) / weight
//!
//! Such a world asks now and then, and counts itself what starts in between: each unit that starts
//! is charged the quantum at once, as the engine charges it. Nothing here decides; nothing is
//! rounded. Cost: O(kinds) for each child.
//!
//! Who asks again and again need not ask of all. Charges are kept in memory time (`ledger::clock`),
//! in which what is past fades for nobody, and in which each is a line until a task of the child
//! outruns its quantum:
//!
//! > amount = amount when it was read + rate * (memory time now - memory time then)
//!
//! to the unit, with a half-life and with a discount too. So the parts of a child are known until
//! something is told of it, or until [`KeyParts::turns`]. What else may change without a word,
//! `View::refreshes`, `recharged`, `key_quantum` and `sweeps` tell (`parts`), for less than the
//! parts cost.

use crate::ledger::{Charge, Clock};
use crate::policy::{Measure, Permille};
use crate::resources::MAX_KINDS;
use crate::time::{Span, Time};

/// What one child's key is made of at this instant.
///
/// ```
/// # use meed::{
/// #     Config, Engine, Event, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources,
/// #     TaskGroup, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let tasks = [TaskGroup::new(2, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// let parts = engine.key_parts(ads).ok_or("a known queue")?;
/// assert_eq!((parts.weight, parts.amounts[0]), (1000, 2000)); // weight 1, two slots held
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyParts {
    /// What is measured. What is charged or held is told of [`Measure::Usage`] and
    /// [`Measure::Allocation`] alone.
    pub measure: Measure,
    /// In thousandths.
    pub weight: u64,
    /// Of a queue the number of its last service, 0 where there was none: of equal keys the
    /// smaller number comes first, then who was declared first. Of a job 0.
    pub served: u64,
    /// What is charged (or held) by now: a scalar in the first place, or, where dominant shares are
    /// compared, an amount of each kind.
    pub amounts: [Charge; MAX_KINDS],
    /// Pseudo-accumulated resources, in parts of the pool of which there are `parts`. Where a
    /// scalar is compared they are in the amount already.
    pub pseudo: Charge,
    /// How many parts the pool has.
    pub parts: u64,
    /// The quantum of what starts here now, whose memory time ([`MemoryClock::ahead`]) is charged;
    /// zero where nothing is charged ahead.
    pub quantum: Span,
    /// What was used before is forgotten: the start of the round, or zero.
    pub since: Time,
    /// What use above the share counts, in thousandths.
    pub discount: Permille,
    /// S of each kind (or of the scalar), above which the discount counts.
    pub shares: [u64; MAX_KINDS],
    /// What is held of each (or of the scalar) by tasks within their quantum: to that a start adds.
    pub within: [u64; MAX_KINDS],
    /// The memory time in which each amount grows by its rate.
    pub clock: MemoryClock,
    /// By how much each amount grows with each microsecond of memory time.
    pub rates: [Charge; MAX_KINDS],
    /// Until then, and not beyond.
    pub turns: Time,
}

/// The clock that the children of a queue share: the machine's own, or, under a half-life, one that
/// runs faster and faster. Its landmarks move with [`View::sweeps`](crate::View::sweeps).
///
/// ```
/// # use meed::{
/// #     Config, Engine, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources, Span, Time, Unit,
/// # };
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("slot".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: ["ads", "search"].map(|name| QueueSpec::new(name, root.clone())).to_vec(),
/// #     nodes: vec![NodeSpec::new("server", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut engine = Engine::new(config, Box::new(meed::place::FirstFit::new(1)))?;
/// # let ads = engine.view().find_queue("ads").ok_or("declared")?;
/// let clock = engine.key_parts(ads).ok_or("a known queue")?.clock;
/// let second = Span::from_secs(1).ok_or("in range")?;
/// assert!(clock.is_plain()); // no half-life
/// assert_eq!(clock.ahead(Time::ZERO, second), 1_000_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemoryClock(pub(crate) Clock);

impl MemoryClock {
    /// Microseconds of memory time at `now`.
    pub fn reading(&self, now: Time) -> u64 {
        self.0.reading(now)
    }

    /// The memory time of so long a quantum that begins at `now`, in microseconds: what one
    /// smallest unit is charged, in thousandths of a unit x microsecond, is a thousand times that.
    /// With a half-life it rises with time, for all children alike.
    pub fn ahead(&self, now: Time, quantum: Span) -> u64 {
        self.0.between(now, now.saturating_add(quantum))
    }

    /// Whether it is the machine's own: then a quantum's memory time is the quantum.
    pub fn is_plain(&self) -> bool {
        self.0 == Clock::new(None)
    }
}
