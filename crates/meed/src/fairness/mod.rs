//! How fair it was: accumulated usage, fairness degree, sharing benefit and loss, lending balances.
//!
//! Everything is an exact integral of piecewise constant functions; ratios are taken only when
//! asked. Amounts of the measured kind, and dominant shares ([`dominant`]). The formulas over
//! finished numbers are in [`indices`].

pub mod dominant;
pub mod indices;
mod lending;
mod line;
mod rest;
mod state;

use dominant::DominantMeter;
pub use lending::Lending;
use lending::{LeafLending, Pool};
use line::Line;
use rest::Rest;
pub(crate) use state::Leaf;

use crate::memory::{expect, expect_at};
use crate::resources::{MAX_KINDS, Resources};
use crate::time::Time;

/// One leaf's integrals up to an instant. Units: smallest unit x microsecond.
///
/// The equations are those of TSC'18.
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
/// let now = Time::from_secs(10).ok_or("in range")?;
/// engine.advance(now)?;
/// let integrals = engine.view().integrals(ads, now);
/// assert_eq!(integrals.usage[0], 2000 * 10_000_000);
/// assert_eq!(integrals.rho(0), Some(2.0)); // twice its share of one slot
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrals {
    /// Usage f_i per kind (Eq. 1).
    pub usage: [u128; MAX_KINDS],
    /// Integral of min(d_i, S_i) in the measured kind: the denominator of Eq. 3. S_i is an exact
    /// part of the pool; these are the whole units x microsecond.
    pub entitled: u128,
    /// What is left of it, below one: a fraction.
    pub entitled_rest: (u128, u128),
    /// Room that was held idle for its tasks, per kind: reservations (`when_blocked = "reserve"`).
    pub held_idle: [u128; MAX_KINDS],
    /// Held now, measured kind.
    pub held: u64,
    /// Held and waited for now, d_i, measured kind.
    pub demand: u128,
    /// S_i now, measured kind, in whole units that add up ([`crate::shares::apportion`]).
    pub share: u64,
    /// Accumulated dominant share, parts of the pool x microsecond ([`dominant::WHOLE`] parts);
    /// with one kind: its usage.
    pub dominant_used: u128,
    /// What of it its own part could have served, likewise.
    pub dominant_entitled: u128,
    /// What is left of that, below one: a fraction.
    pub dominant_rest: (u128, u128),
}

/// What a leaf has used up to an instant, and what it holds and wants then, of one kind.
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
/// let tasks = [TaskGroup::new(5, Resources::new(&[1000]))];
/// engine.apply(Time::ZERO, Event::JobArrived(JobSpec::new(ads, &tasks)))?;
/// engine.decide(false, |_| {});
/// let now = Time::from_secs(10).ok_or("in range")?;
/// engine.advance(now)?;
/// let of = engine.view().use_of(ads, 0, now);
/// assert_eq!((of.used, of.held, of.wanted), (2000 * 10_000_000, 2000, 5000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindUse {
    /// Smallest units x microsecond.
    pub used: u128,
    /// Smallest units.
    pub held: u64,
    /// Held and waited for, smallest units.
    pub wanted: u128,
}

/// used / (entitled + rest), exactly but for the last step; `None` where nobody is entitled to
/// anything.
fn ratio(used: u128, entitled: u128, (up, down): (u128, u128)) -> Option<f64> {
    if entitled == 0 && up == 0 {
        return None;
    }
    let whole = || Some((used.checked_mul(down)?, entitled.checked_mul(down)?.checked_add(up)?));
    Some(match whole() {
        Some((used, entitled)) => used as f64 / entitled as f64,
        None => used as f64 / (entitled as f64 + up as f64 / down as f64),
    })
}

impl Integrals {
    /// rho_i (Eq. 3) for usage in kind `measured`; `None` before the first demand.
    pub fn rho(&self, measured: usize) -> Option<f64> {
        ratio(self.usage[measured], self.entitled, self.entitled_rest)
    }

    /// rho_i over accumulated dominant shares ([`dominant`]); `None` before the first demand.
    pub fn dominant_rho(&self) -> Option<f64> {
        ratio(self.dominant_used, self.dominant_entitled, self.dominant_rest)
    }

    /// What has come since `earlier`, of the same leaf: usage, what it was entitled to and what was
    /// held idle. What is so now stays.
    pub fn since(&self, earlier: &Integrals) -> Integrals {
        let each = |now: [u128; MAX_KINDS], then: [u128; MAX_KINDS]| {
            std::array::from_fn(|kind| now[kind].saturating_sub(then[kind]))
        };
        let (entitled, entitled_rest) = rest::difference(
            (self.entitled, self.entitled_rest),
            (earlier.entitled, earlier.entitled_rest),
        );
        let (dominant_entitled, dominant_rest) = rest::difference(
            (self.dominant_entitled, self.dominant_rest),
            (earlier.dominant_entitled, earlier.dominant_rest),
        );
        Integrals {
            usage: each(self.usage, earlier.usage),
            held_idle: each(self.held_idle, earlier.held_idle),
            dominant_used: self.dominant_used.saturating_sub(earlier.dominant_used),
            entitled,
            entitled_rest,
            dominant_entitled,
            dominant_rest,
            ..*self
        }
    }
}

/// Measures one leaf; two whole lines of memory.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
pub(crate) struct LeafMeter {
    entitled: Line,
    /// In whole units that add up: for lending.
    share: u64,
    /// The whole units of the exact share.
    whole: u64,
    lending: LeafLending,
}

/// What a leaf is entitled to from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entitled {
    /// Of the measured kind, in whole units that add up.
    pub(crate) share: u64,
    /// The same exactly: whole units, and the rest in parts of one.
    pub(crate) whole: u64,
    pub(crate) rest: u64,
    pub(crate) down: u64,
    /// Of the pool, of [`dominant::WHOLE`] parts.
    pub(crate) part: u64,
}

impl Entitled {
    /// Nobody's.
    pub(crate) const NOTHING: Entitled = Entitled { share: 0, whole: 0, rest: 0, down: 1, part: 0 };
}

/// Measures all leaves.
#[derive(Clone)]
pub(crate) struct Meter {
    measured: usize,
    kinds: usize,
    pool: Pool,
    leaves: Vec<LeafMeter>,
    /// Of each leaf what it is entitled to beyond whole units, up to the last for which there ever
    /// was any.
    rests: Vec<Rest>,
    /// What leaves did that are not among them any more, with the fraction of a unit lent.
    forgotten: (Lending, u64),
    /// What each leaf holds, kind by kind, leaf after leaf: dense, for every start and end turns
    /// these lines.
    usage: Vec<Line>,
    /// What each leaf holds and waits for, laid out alike.
    demand: Vec<u128>,
    /// What is held idle for each leaf, laid out alike, up to the last for which anything ever was.
    idle: Vec<Line>,
    whole: dominant::Pool,
    /// Dominant shares of each leaf; with one kind they say nothing new, and there are none.
    dominant: Vec<DominantMeter>,
}

impl Meter {
    pub(crate) fn new(measured: usize, kinds: usize) -> Meter {
        let (pool, whole) = (Pool::default(), dominant::Pool::default());
        let (leaves, usage, demand, dominant) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (forgotten, idle, rests) = ((Lending::default(), 0), Vec::new(), Vec::new());
        Meter {
            measured,
            kinds,
            pool,
            leaves,
            rests,
            forgotten,
            usage,
            demand,
            idle,
            whole,
            dominant,
        }
    }

    fn lines(&self, leaf: usize) -> &[Line] {
        &self.usage[leaf * self.kinds..(leaf + 1) * self.kinds]
    }

    fn held(&self, leaf: usize) -> u64 {
        self.usage[leaf * self.kinds + self.measured].slope()
    }

    /// Has the lines brought in which these fields stand.
    #[inline]
    pub(crate) fn expect(&self, leaf: usize) {
        let (meter, first) = (&self.leaves[leaf], leaf * self.kinds);
        expect(&meter.share);
        expect(&meter.entitled);
        meter.lending.expect();
        expect_at(&self.usage, first);
        expect_at(&self.demand, first);
    }

    pub(crate) fn kind(&self) -> usize {
        self.measured
    }

    pub(crate) fn add_queue(&mut self) {
        self.leaves.push(LeafMeter::default());
        self.usage.resize_with(self.leaves.len() * self.kinds, Line::default);
        self.demand.resize(self.leaves.len() * self.kinds, 0);
        if self.kinds > 1 {
            self.dominant.push(DominantMeter::default());
        }
    }

    /// `leaf` (an index of queues) holds one task more.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, leaf: usize, demand: &Resources) {
        let lines = &mut self.usage[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (line, &amount) in lines.iter_mut().zip(demand.as_slice()) {
            line.turn(now, line.slope() + amount);
        }
        let held = lines[self.measured].slope();
        self.holds(now, leaf, held);
    }

    /// `leaf` holds one task less, and asks for it no more.
    #[inline]
    pub(crate) fn end(&mut self, now: Time, leaf: usize, demand: &Resources) {
        let lines = &mut self.usage[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (line, &amount) in lines.iter_mut().zip(demand.as_slice()) {
            line.turn(now, line.slope() - amount);
        }
        let held = lines[self.measured].slope();
        self.holds(now, leaf, held);
    }

    /// What is held idle, of all leaves.
    pub(crate) fn take_idle(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.idle)
    }

    pub(crate) fn set_idle(&mut self, idle: Vec<Line>) {
        self.idle = idle;
    }

    /// What is held idle for `leaf`; nothing, where nothing ever was.
    fn idle_of(&self, leaf: usize) -> &[Line] {
        self.idle.get(leaf * self.kinds..(leaf + 1) * self.kinds).unwrap_or_default()
    }

    fn idle_of_mut(&mut self, leaf: usize) -> &mut [Line] {
        let end = (leaf + 1) * self.kinds;
        if self.idle.len() < end {
            self.idle.resize_with(end, Line::default);
        }
        &mut self.idle[end - self.kinds..end]
    }

    /// So much is held idle for `leaf` from now on, or, where it does not begin, no more.
    pub(crate) fn turn_idle(&mut self, now: Time, leaf: usize, amounts: &Resources, begins: bool) {
        for (line, &amount) in self.idle_of_mut(leaf).iter_mut().zip(amounts.as_slice()) {
            let slope = match begins {
                true => line.slope().checked_add(amount),
                false => line.slope().checked_sub(amount),
            };
            line.turn(now, slope.expect("no more is held idle than there is, nor less than none"));
        }
    }

    #[inline]
    fn holds(&mut self, now: Time, leaf: usize, held: u64) {
        let meter = &mut self.leaves[leaf];
        self.pool.hold(now, &mut meter.lending, meter.share, held);
        if let Some(meter) = self.dominant.get_mut(leaf) {
            let lines = &self.usage[leaf * self.kinds..(leaf + 1) * self.kinds];
            meter.hold(now, &self.whole, lines.iter().map(Line::slope));
        }
    }

    /// `leaf` asks for `tasks` more of `demand` each.
    #[inline]
    pub(crate) fn ask(&mut self, now: Time, leaf: usize, demand: &Resources, tasks: u64) {
        let wanted = &mut self.demand[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (wanted, &amount) in wanted.iter_mut().zip(demand.as_slice()) {
            *wanted += u128::from(amount) * u128::from(tasks);
        }
        self.measure_entitled(now, leaf);
    }

    /// `leaf` asks for `tasks` less of `demand` each.
    #[inline]
    pub(crate) fn unask(&mut self, now: Time, leaf: usize, demand: &Resources, tasks: u64) {
        let wanted = &mut self.demand[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (wanted, &amount) in wanted.iter_mut().zip(demand.as_slice()) {
            let less = u128::from(amount) * u128::from(tasks);
            *wanted = wanted.checked_sub(less).expect("only what was asked for is dropped");
        }
        self.measure_entitled(now, leaf);
    }

    #[inline]
    fn measure_entitled(&mut self, now: Time, leaf: usize) {
        let demand = &self.demand[leaf * self.kinds..(leaf + 1) * self.kinds];
        let measured = demand[self.measured];
        self.leaves[leaf].measure_entitled(now, measured);
        if let Some(rest) = self.rests.get_mut(leaf) {
            rest.turn(now, measured > u128::from(self.leaves[leaf].whole));
        }
        if let Some(meter) = self.dominant.get_mut(leaf) {
            meter.demand(now, &self.whole, demand);
        }
    }

    /// What dominant shares are parts of from now on; [`Meter::set_share`] of all leaves comes
    /// next.
    pub(crate) fn set_pool(&mut self, capacity: &Resources) {
        self.whole = dominant::Pool::new(capacity);
    }

    /// `leaf` is entitled to so much from `now` on.
    pub(crate) fn set_share(&mut self, now: Time, leaf: usize, to: &Entitled) {
        let meter = &mut self.leaves[leaf];
        (meter.share, meter.whole) = (to.share, to.whole);
        if to.rest > 0 || leaf < self.rests.len() {
            self.rest_of(leaf).set(to.rest, to.down);
        }
        if let Some(meter) = self.dominant.get_mut(leaf) {
            meter.set_part(to.part);
        }
        self.measure_entitled(now, leaf);
        self.holds(now, leaf, self.held(leaf));
        // Whatever became of the share meanwhile: the same state, however often it is shared out.
        self.pool.settle(&mut self.leaves[leaf].lending);
    }

    fn rest_of(&mut self, leaf: usize) -> &mut Rest {
        if self.rests.len() <= leaf {
            self.rests.resize_with(leaf + 1, Rest::default);
        }
        &mut self.rests[leaf]
    }

    /// Beyond what its line says: whole units x microsecond, and a part of one.
    fn entitled_beyond(&self, now: Time, leaf: usize) -> (u128, (u128, u128)) {
        self.rests.get(leaf).map_or((0, (0, 1)), |rest| rest.so_far(now))
    }

    /// What `leaf` holds and waits for now of one kind.
    pub(crate) fn wanted(&self, leaf: usize, kind: usize) -> u128 {
        self.demand[leaf * self.kinds + kind]
    }

    #[inline]
    pub(crate) fn use_of(&self, now: Time, leaf: usize, kind: usize) -> KindUse {
        let line = &self.usage[leaf * self.kinds + kind];
        KindUse { used: line.value(now), held: line.slope(), wanted: self.wanted(leaf, kind) }
    }

    pub(crate) fn integrals(&self, now: Time, leaf: usize) -> Integrals {
        let meter = &self.leaves[leaf];
        let mut usage = [0; MAX_KINDS];
        usage.iter_mut().zip(self.lines(leaf)).for_each(|(sum, line)| *sum = line.value(now));
        let mut held_idle = [0; MAX_KINDS];
        let idle = self.idle_of(leaf);
        held_idle.iter_mut().zip(idle).for_each(|(sum, line)| *sum = line.value(now));
        let (full, entitled_rest) = self.entitled_beyond(now, leaf);
        let entitled = meter.entitled.value(now) + full;
        let dominant = self.dominant.get(leaf).map(|meter| (meter.so_far(now), (0, 1)));
        let ((dominant_used, dominant_entitled), dominant_rest) =
            dominant.unwrap_or(((usage[self.measured], entitled), entitled_rest));
        Integrals {
            usage,
            entitled,
            entitled_rest,
            held_idle,
            held: self.held(leaf),
            demand: self.demand[leaf * self.kinds + self.measured],
            share: meter.share,
            dominant_used,
            dominant_entitled,
            dominant_rest,
        }
    }

    /// Whether a leaf has lent more than it has borrowed up to `now`, in whole units. What is lent
    /// is kept a little below what is true, so that a whole unit may be kept as most of one: it is
    /// taken to the nearest. O(1).
    pub(crate) fn is_lender(&self, now: Time, leaf: usize) -> bool {
        const HALF: u64 = 1 << 63;
        let (so_far, fraction) = self.leaves[leaf].lending_seen(&self.pool_seen(now), now);
        so_far.lent + u128::from(fraction > HALF) > so_far.borrowed
    }

    /// What each of `leaves` has lent and borrowed up to `now`, and those that are forgotten; over
    /// all leaves and those the sums are equal to the unit.
    pub(crate) fn lending(&self, now: Time, leaves: &[usize]) -> (Vec<Lending>, Lending) {
        // Over all leaves, for what rounding kept back is known of all together only.
        let pool = self.pool_seen(now);
        let known = self.leaves.iter().map(|leaf| leaf.lending_seen(&pool, now));
        let parts = known.chain([self.forgotten]).collect();
        let all = lending::balance(parts, pool.beyond());
        (leaves.iter().map(|&leaf| all[leaf]).collect(), all[self.leaves.len()])
    }

    /// A copy at `now`: a reading ahead of time must not move the books.
    fn pool_seen(&self, now: Time) -> Pool {
        let mut pool = self.pool.clone();
        pool.advance(now);
        pool
    }
}

impl LeafMeter {
    /// What the leaf has lent and borrowed up to `now`, at which the `pool` is; see
    /// [`LeafLending::so_far`].
    fn lending_seen(&self, pool: &Pool, now: Time) -> (Lending, u64) {
        let mut lending = self.lending.clone();
        pool.settle(&mut lending);
        lending.so_far(now)
    }

    #[inline]
    fn measure_entitled(&mut self, now: Time, demand: u128) {
        let entitled = demand.min(u128::from(self.whole)) as u64;
        if entitled != self.entitled.slope() {
            self.entitled.turn(now, entitled);
        }
    }
}
