//! Samples over a run whose length is not known: bounded in number, evenly spaced in time.
//!
//! Samples are taken at multiples of an interval; when there are twice as many as wanted, every
//! other one is dropped and the interval doubles. So memory is the number wanted times the tenants,
//! however long the run, and the times depend only on the run itself. Between events everything
//! sampled is exact.

use meed::fairness::Integrals;
use meed::fairness::indices::{sharing_benefit, sharing_loss};
use meed::{QueueId, Span, Time};

use crate::books::{Books, leaves, lending};
use crate::record::{QueueSeries, Series};

/// Takes the samples of one run.
///
/// ```
/// # use meed::place::FirstFit;
/// # use meed::{Config, JobSpec, NodeSpec, Policy, QueueSpec, ResourceKinds, Resources};
/// # use meed::{TaskGroup, Time, Unit};
/// # use meed_driver::{Driver, NewJob};
/// # let root = Policy::preset("fair").ok_or("no such preset")?;
/// # let config = Config {
/// #     kinds: ResourceKinds::new(vec![("cpu".to_owned(), Unit::Milli)])?,
/// #     measured: 0,
/// #     queues: vec![QueueSpec::new("physics", root.clone())],
/// #     nodes: vec![NodeSpec::new("n1", Resources::new(&[2000]))],
/// #     root,
/// # };
/// # let mut driver = Driver::new(config, Box::new(FirstFit::new(1)), Vec::new())?;
/// # let queue = driver.queue_named("physics").ok_or("declared")?;
/// # let groups = [TaskGroup::new(3, Resources::new(&[1000]))];
/// # let new = || NewJob { key: 7.into(), name: None, detail: 0 };
/// # let job = driver.job_arrived(Time::ZERO, JobSpec::new(queue, &groups), new, |_, _, _| {})?;
/// # let mut starts = Vec::new();
/// # driver.decide(|start| starts.push(start))?;
/// use meed_driver::Sampler;
/// let mut sampler = Sampler::new(100, &driver);
/// let end = Time::from_secs(10).ok_or("in range")?;
/// sampler.last(end, &mut driver);
/// let series = sampler.series(&driver);
/// assert_eq!((series.t_s.last(), series.queues[0].allocation.last()), (Some(&10.0), Some(&2.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sampler {
    wanted: usize,
    interval: Option<Span>,
    next: Time,
    leaves: Vec<QueueId>,
    times: Vec<Time>,
    rows: Vec<Row>,
}

struct Row {
    leaves: Vec<Leaf>,
    held: meed::Resources,
    capacity: meed::Resources,
}

/// One leaf at one instant.
struct Leaf {
    integrals: Integrals,
    balance: i128,
    /// In smallest units x seconds.
    charged: f64,
    quantum: Option<Span>,
}

/// Numbers that all samples of a run together may hold: with many tenants there are fewer samples.
const LEAF_SAMPLES: usize = 60_000;

/// Samples that are taken of a run with very many tenants.
const FEWEST: usize = 60;

/// No finer than this.
const SHORTEST_INTERVAL_MICROS: u64 = 1000;

impl Sampler {
    /// At most `wanted` samples, fewer with very many leaves.
    pub fn new(wanted: usize, books: &impl Books) -> Sampler {
        let leaves = leaves(books);
        let wanted = wanted.min((LEAF_SAMPLES / leaves.len().max(1)).max(FEWEST));
        Sampler {
            wanted,
            interval: None,
            next: Time::ZERO,
            leaves,
            times: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The next time to sample, when it lies before `at`; what happens at `at` itself is seen by
    /// later samples.
    pub fn due_before(&mut self, at: Time) -> Option<Time> {
        if self.interval.is_none() && at > Time::ZERO {
            // An eighth of the time to the second instant, as a power of two of the shortest: fine
            // enough to see the first steps of a run, and soon doubled in a long one.
            let eighth = (at.as_micros() / 8).max(SHORTEST_INTERVAL_MICROS);
            let doublings = (eighth / SHORTEST_INTERVAL_MICROS).ilog2();
            self.interval = Span::from_micros(SHORTEST_INTERVAL_MICROS << doublings);
        }
        (self.next < at).then_some(self.next)
    }

    /// Takes the sample of `t`.
    pub fn sample(&mut self, t: Time, books: &mut impl Books) {
        self.note(t, books);
        let Some(interval) = self.interval else { return };
        if self.rows.len() > 2 * self.wanted {
            let mut keep = (0..).map(|i: u64| i.is_multiple_of(2));
            self.rows.retain(|_| keep.next() == Some(true));
            let mut keep = (0..).map(|i: u64| i.is_multiple_of(2));
            self.times.retain(|_| keep.next() == Some(true));
            self.interval = Span::from_micros(interval.as_micros() * 2);
        }
        let step = self.interval.unwrap_or(interval);
        self.next = self.times.last().map_or(Time::ZERO, |last| last.saturating_add(step));
    }

    /// The state at the end of the run.
    pub fn last(&mut self, end: Time, books: &mut impl Books) {
        if self.times.last() != Some(&end) {
            self.note(end, books);
        }
    }

    fn note(&mut self, t: Time, books: &mut impl Books) {
        // Rounds that have begun and quanta that are due: done now or with the next event,
        // decisions are the same.
        books.advance(t).expect("samples are taken in order of time, before the next event");
        self.times.push(t);
        self.rows.push(take(t, &self.leaves, books));
    }

    /// The samples in the units of the record.
    pub fn series(self, books: &impl Books) -> Series {
        let tree = books.tree();
        let (kinds, measured) = (tree.kinds(), tree.measured());
        let scale = kinds.unit(measured).scale() as f64;
        let rhos = |row: &Row| -> Vec<f64> {
            row.leaves.iter().filter_map(|leaf| leaf.integrals.rho(measured)).collect()
        };
        let dominant = |row: &Row| -> Vec<f64> {
            row.leaves.iter().filter_map(|leaf| leaf.integrals.dominant_rho()).collect()
        };
        // With one resource they would be the same again.
        let many = if kinds.len() > 1 { self.rows.as_slice() } else { &[] };
        let of_leaf = |i: usize| {
            let over_time = |value: &dyn Fn(&Leaf) -> f64| -> Vec<f64> {
                self.rows.iter().map(|row| value(&row.leaves[i])).collect()
            };
            QueueSeries {
                demand: over_time(&|leaf| leaf.integrals.demand as f64 / scale),
                allocation: over_time(&|leaf| leaf.integrals.held as f64 / scale),
                usage: over_time(&|leaf| leaf.integrals.usage[measured] as f64 / scale / 1e6),
                rho: self.rows.iter().map(|row| row.leaves[i].integrals.rho(measured)).collect(),
                dominant_rho: many
                    .iter()
                    .map(|row| row.leaves[i].integrals.dominant_rho())
                    .collect(),
                balance: over_time(&|leaf| leaf.balance as f64 / scale / 1e6),
                charged: over_time(&|leaf| leaf.charged / scale),
                quantum_s: self
                    .rows
                    .iter()
                    .filter_map(|row| row.leaves[i].quantum)
                    .map(Span::as_secs_f64)
                    .collect(),
            }
        };
        let used = |kind: usize| -> Vec<f64> {
            let fraction =
                |row: &Row| row.held.get(kind) as f64 / (row.capacity.get(kind).max(1)) as f64;
            self.rows.iter().map(fraction).collect()
        };
        Series {
            t_s: self.times.iter().map(|t| t.as_secs_f64()).collect(),
            psi: self.rows.iter().map(|row| sharing_benefit(rhos(row))).collect(),
            omega: self.rows.iter().map(|row| sharing_loss(rhos(row))).collect(),
            dominant_psi: many.iter().map(|row| sharing_benefit(dominant(row))).collect(),
            dominant_omega: many.iter().map(|row| sharing_loss(dominant(row))).collect(),
            utilization: (0..kinds.len())
                .map(|kind| (kinds.name(kind).to_owned(), used(kind)))
                .collect(),
            queues: (0..self.leaves.len()).map(of_leaf).collect(),
        }
    }
}

fn take(t: Time, leaves: &[QueueId], books: &impl Books) -> Row {
    let lending = lending(t, leaves, books);
    let mut held = meed::Resources::zero(books.tree().kinds().len());
    let mut row = Vec::with_capacity(leaves.len());
    for (&leaf, lent) in leaves.iter().zip(lending) {
        let (engine, queue) = books.leaf(leaf).expect("it is a leaf");
        held.add(engine.queue(queue).held);
        row.push(Leaf {
            integrals: engine.integrals(queue, t),
            balance: lent.lent as i128 - lent.borrowed as i128,
            charged: engine.charged(queue, t),
            quantum: engine.quantum(queue),
        });
    }
    Row { leaves: row, held, capacity: *books.tree().capacity() }
}
