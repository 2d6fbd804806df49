//! How fair it was: accumulated usage, fairness degree, sharing benefit and loss, lending balances.
//!
//! Everything is an exact integral of piecewise constant functions; ratios are taken only when asked.
//! The formulas over finished numbers are in [`indices`].

pub mod indices;
mod lending;
mod line;

pub use lending::Lending;
use lending::{LeafLending, Pool};
use line::Line;

use crate::resources::{MAX_KINDS, Resources};
use crate::time::Time;

/// One leaf's integrals up to an instant. Units: smallest unit x microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrals {
    /// Usage f_i per kind (Eq. 1).
    pub usage: [u128; MAX_KINDS],
    /// Integral of min(d_i, S_i) in the measured kind: the denominator of Eq. 3.
    pub entitled: u128,
    /// Held now, measured kind.
    pub held: u64,
    /// Held and waited for now, d_i, measured kind.
    pub demand: u128,
    /// S_i now, measured kind.
    pub share: u64,
}

impl Integrals {
    /// rho_i (Eq. 3) for usage in kind `measured`; `None` before the first demand.
    pub fn rho(&self, measured: usize) -> Option<f64> {
        (self.entitled > 0).then(|| self.usage[measured] as f64 / self.entitled as f64)
    }
}

/// Measures one leaf.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeafMeter {
    entitled: Line,
    demand: u128,
    share: u64,
    lending: LeafLending,
}

/// Measures all leaves.
pub(crate) struct Meter {
    measured: usize,
    kinds: usize,
    pool: Pool,
    leaves: Vec<LeafMeter>,
    /// What each leaf holds, kind by kind, leaf after leaf: dense, for every start and end turns these lines.
    usage: Vec<Line>,
}

impl Meter {
    pub(crate) fn new(measured: usize, kinds: usize) -> Meter {
        Meter { measured, kinds, pool: Pool::default(), leaves: Vec::new(), usage: Vec::new() }
    }

    fn lines(&self, leaf: usize) -> &[Line] {
        &self.usage[leaf * self.kinds..(leaf + 1) * self.kinds]
    }

    fn held(&self, leaf: usize) -> u64 {
        self.usage[leaf * self.kinds + self.measured].slope()
    }

    pub(crate) fn kind(&self) -> usize {
        self.measured
    }

    pub(crate) fn add_queue(&mut self) {
        self.leaves.push(LeafMeter::default());
        self.usage.resize_with(self.leaves.len() * self.kinds, Line::default);
    }

    /// `leaf` (an index of queues) holds one task more.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, leaf: usize, demand: &Resources) {
        let lines = &mut self.usage[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (line, &amount) in lines.iter_mut().zip(demand.as_slice()) {
            line.turn(now, line.slope() + amount);
        }
        let (held, meter) = (self.held(leaf), &mut self.leaves[leaf]);
        self.pool.hold(now, &mut meter.lending, meter.share, held);
    }

    /// `leaf` holds one task less, and asks for it no more.
    #[inline]
    pub(crate) fn end(&mut self, now: Time, leaf: usize, demand: &Resources) {
        let lines = &mut self.usage[leaf * self.kinds..(leaf + 1) * self.kinds];
        for (line, &amount) in lines.iter_mut().zip(demand.as_slice()) {
            line.turn(now, line.slope() - amount);
        }
        let (held, meter) = (self.held(leaf), &mut self.leaves[leaf]);
        self.pool.hold(now, &mut meter.lending, meter.share, held);
    }

    /// `leaf` asks for `tasks` more of `demand` each.
    #[inline]
    pub(crate) fn ask(&mut self, now: Time, leaf: usize, demand: &Resources, tasks: u64) {
        let meter = &mut self.leaves[leaf];
        meter.demand += u128::from(demand.get(self.measured)) * u128::from(tasks);
        meter.measure_entitled(now);
    }

    /// `leaf` asks for `tasks` less of `demand` each.
    #[inline]
    pub(crate) fn unask(&mut self, now: Time, leaf: usize, demand: &Resources, tasks: u64) {
        let meter = &mut self.leaves[leaf];
        let less = u128::from(demand.get(self.measured)) * u128::from(tasks);
        meter.demand = meter.demand.checked_sub(less).expect("only what was asked for is dropped");
        meter.measure_entitled(now);
    }

    /// `leaf` is entitled to `share` from now on.
    pub(crate) fn set_share(&mut self, now: Time, leaf: usize, share: u64) {
        let (held, meter) = (self.held(leaf), &mut self.leaves[leaf]);
        meter.share = share;
        meter.measure_entitled(now);
        self.pool.hold(now, &mut meter.lending, share, held);
    }

    pub(crate) fn integrals(&self, now: Time, leaf: usize) -> Integrals {
        let meter = &self.leaves[leaf];
        let mut usage = [0; MAX_KINDS];
        usage.iter_mut().zip(self.lines(leaf)).for_each(|(sum, line)| *sum = line.value(now));
        Integrals {
            usage,
            entitled: meter.entitled.value(now),
            held: self.held(leaf),
            demand: meter.demand,
            share: meter.share,
        }
    }

    /// What each of `leaves` has lent and borrowed up to `now`; over all leaves the sums are equal to the unit.
    pub(crate) fn lending(&self, now: Time, leaves: &[usize]) -> Vec<Lending> {
        // On copies, for a reading ahead of time must not move the books; and over all leaves, for what rounding
        // kept back is known of all together only.
        let mut pool = self.pool.clone();
        pool.advance(now);
        let part = |meter: &LeafMeter| {
            let mut lending = meter.lending.clone();
            pool.settle(&mut lending);
            lending.so_far(now)
        };
        let all = lending::balance(self.leaves.iter().map(part).collect());
        leaves.iter().map(|&leaf| all[leaf]).collect()
    }
}

impl LeafMeter {
    #[inline]
    fn measure_entitled(&mut self, now: Time) {
        let entitled = self.demand.min(u128::from(self.share)) as u64;
        if entitled != self.entitled.slope() {
            self.entitled.turn(now, entitled);
        }
    }
}
