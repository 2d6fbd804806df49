//! An order from outside of the program: somebody is asked at each tick, and says where each queue
//! stands (`told`).
//!
//! > ticks: t = 0, every, 2 every, ...; or each instant at which something happens
//! > a tick at t sees all that happened before t, and time up to t; what is said holds from the
//! > next instant on, before its decisions
//!
//! Ticks come between two instants, where nothing happens: so what is said at several of them is
//! told once, as it was said last. Ranks are facts of engine and log: a log of such a run is
//! replayed without whoever was asked. Invariants: the same answers make the same run; all amounts
//! of a [`Picture`] are exact. Cost: O(queues + live jobs) for each tick, besides the answer, and
//! O(1) for each instant.

use std::ops::ControlFlow;

use meed::{MAX_KINDS, QueueId, Rank, Span, Time, View};

use crate::world::Attendant;

/// Who is asked.
///
/// ```
/// use std::ops::ControlFlow;
/// use meed::Rank;
/// use meed_sim::asked::{Advisor, Asker, Picture};
/// use meed_sim::world::WorldSetup;
/// use meed_sim::{Unwatched, run_one, setup};
///
/// /// Who waits longest in tasks comes first.
/// struct MostWaiting;
/// impl Advisor for MostWaiting {
///     fn advise(&mut self, seen: &Picture<'_>, ranks: &mut [Rank]) -> ControlFlow<()> {
///         for (rank, queue) in ranks.iter_mut().zip(seen.queues) {
///             *rank = Rank::at(u64::MAX / 2 - queue.waiting);
///         }
///         ControlFlow::Continue(())
///     }
/// }
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// let mut asker = Asker::new(None, Box::new(MostWaiting)); // at each instant
/// let told = WorldSetup { attendant: Some(&mut asker), ..setup(&scenario, "told", 1)? };
/// assert_eq!(run_one("told", told, &mut Unwatched)?.end_s, 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Advisor {
    /// A tick. `ranks` are those that were told last, one for each queue of the picture: what is
    /// written there is told. To break ends the run.
    fn advise(&mut self, seen: &Picture<'_>, ranks: &mut [Rank]) -> ControlFlow<()>;

    /// The run is over, after the last tick.
    fn over(&mut self, _: &Picture<'_>) {}
}

/// A queue at a tick; of a parent, what is below it together. Amounts are in smallest units, times
/// in microseconds.
///
/// It is part of a [`Picture`]: the page of [`Advisor`] has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueuePicture {
    /// Its weight among its siblings, in thousandths.
    pub weight: u64,
    /// Its share now, of the measured resource.
    pub share: u64,
    /// Whether it is gone.
    pub removed: bool,
    /// What it holds of each resource.
    pub held: [u64; MAX_KINDS],
    /// What it holds and waits for, of the measured resource.
    pub wants: u128,
    /// Tasks that run.
    pub running: u64,
    /// Tasks that wait.
    pub waiting: u64,
    /// Jobs that are there.
    pub jobs: u64,
    /// What it has used so far of each resource.
    pub used: [u128; MAX_KINDS],
    /// What it has used since the last tick, of the measured resource.
    pub lately: u128,
    /// The integral of the lesser of share and demand, of leaves: what it was entitled to so far.
    pub entitled: u128,
}

/// What is seen at a tick.
///
/// The example of [`Advisor`] reads one.
pub struct Picture<'s> {
    /// The tick.
    pub at: Time,
    /// Since the last one.
    pub elapsed: Span,
    /// The integral of the number of jobs that were there, since the last one: over a run whose
    /// jobs all end the sum is that of their times.
    pub job_micros: u128,
    /// All queues but the root, in order of declaration.
    pub queues: &'s [QueuePicture],
    /// The place of each one's parent in `queues`; `None` below the root.
    pub parents: &'s [Option<usize>],
    /// Names, capacity and units.
    pub engine: View<'s>,
}

/// Asks an [`Advisor`] at each tick, and tells the world the ranks that it says. The page of
/// [`Advisor`] has an example.
pub struct Asker<'a> {
    advisor: Box<dyn Advisor + 'a>,
    /// How often; at each instant without.
    every: Option<Span>,
    next: Time,
    /// The last tick.
    asked: Time,
    /// Up to here jobs were counted.
    counted: Time,
    job_micros: u128,
    ids: Vec<QueueId>,
    parents: Vec<Option<usize>>,
    queues: Vec<QueuePicture>,
    said: Vec<Rank>,
    told: Vec<Rank>,
}

impl<'a> Asker<'a> {
    /// Asks so often, or before whatever happens. A cadence of nothing is none.
    pub fn new(every: Option<Span>, advisor: Box<dyn Advisor + 'a>) -> Asker<'a> {
        Asker {
            advisor,
            every: every.filter(|every| *every > Span::ZERO),
            next: Time::ZERO,
            asked: Time::ZERO,
            counted: Time::ZERO,
            job_micros: 0,
            ids: Vec::new(),
            parents: Vec::new(),
            queues: Vec::new(),
            said: Vec::new(),
            told: Vec::new(),
        }
    }

    /// All ticks for which `due` says so.
    fn ticks(&mut self, engine: View<'_>, due: impl Fn(Time) -> bool) -> ControlFlow<()> {
        let Some(every) = self.every else { return ControlFlow::Continue(()) };
        while due(self.next) && self.next < Time::MAX {
            let at = self.next;
            self.next = at.saturating_add(every);
            self.tick(at, engine)?;
        }
        ControlFlow::Continue(())
    }

    fn tick(&mut self, at: Time, engine: View<'_>) -> ControlFlow<()> {
        self.look(at, engine);
        self.said.resize(self.queues.len(), Rank::default());
        let Asker { advisor, queues, parents, said, .. } = self;
        let (elapsed, job_micros) = (at.saturating_since(self.asked), self.job_micros);
        let seen = Picture { at, elapsed, job_micros, queues, parents, engine };
        self.asked = at;
        self.job_micros = 0;
        advisor.advise(&seen, said)
    }

    /// Jobs that are there, up to `at`: nothing has happened since they were counted last.
    fn count(&mut self, at: Time, engine: View<'_>) {
        let since = u128::from(at.saturating_since(self.counted).as_micros());
        self.job_micros += since * engine.live_jobs() as u128;
        self.counted = self.counted.max(at);
    }

    fn look(&mut self, at: Time, engine: View<'_>) {
        self.count(at, engine);
        if self.ids.len() + 1 != engine.queue_ids().len() {
            self.meet(engine);
        }
        let measured = engine.measured();
        for (queue, &id) in self.queues.iter_mut().zip(&self.ids) {
            let (view, of_leaf) = (engine.queue(id), engine.integrals(id, at));
            let before = queue.used[measured];
            let mut held = [0; MAX_KINDS];
            if view.is_leaf {
                held[..view.held.kinds()].copy_from_slice(view.held.as_slice());
            }
            // Of a parent integrals are zero.
            *queue = QueuePicture {
                weight: view.weight,
                share: view.share.get(measured),
                removed: view.removed,
                held,
                wants: of_leaf.demand,
                running: 0,
                waiting: if view.is_leaf { view.waiting } else { 0 },
                jobs: if view.is_leaf { view.jobs } else { 0 },
                used: of_leaf.usage,
                // Filled in below: what it had used at the last tick.
                lately: before,
                entitled: of_leaf.entitled,
            };
        }
        for job in engine.job_ids() {
            let row = engine.queue_of(job).and_then(|queue| engine.queue_row(queue));
            if let Some(queue) = row.and_then(|row| self.queues.get_mut(row - 1)) {
                queue.running += engine.running_of(job);
            }
        }
        // Children were declared behind their parents.
        for at in (0..self.queues.len()).rev() {
            let queue = self.queues[at];
            if let Some(above) = self.parents[at] {
                self.queues[above].add(&queue);
            }
            let queue = &mut self.queues[at];
            queue.lately = queue.used[measured].saturating_sub(queue.lately);
        }
    }

    /// All queues; none comes while a simulated world runs, and those that go are remembered.
    fn meet(&mut self, engine: View<'_>) {
        self.ids = engine.queue_ids().skip(1).collect();
        let parent = |&id: &QueueId| {
            let above = engine.parent(id).and_then(|above| engine.queue_row(above))?;
            above.checked_sub(1)
        };
        self.parents = self.ids.iter().map(parent).collect();
        self.queues.resize(self.ids.len(), QueuePicture::default());
    }

    /// What was said last and is not told yet.
    fn tell(&mut self, say: &mut dyn FnMut(QueueId, Rank)) {
        self.told.resize(self.said.len(), Rank::default());
        for ((&queue, said), told) in self.ids.iter().zip(&self.said).zip(&mut self.told) {
            if said != told {
                *told = *said;
                say(queue, *said);
            }
        }
    }
}

impl QueuePicture {
    fn add(&mut self, below: &QueuePicture) {
        for kind in 0..MAX_KINDS {
            self.held[kind] += below.held[kind];
            self.used[kind] += below.used[kind];
        }
        self.wants += below.wants;
        self.running += below.running;
        self.waiting += below.waiting;
        self.jobs += below.jobs;
        self.entitled += below.entitled;
    }
}

impl Attendant for Asker<'_> {
    fn passes(
        &mut self,
        at: Time,
        engine: View<'_>,
        say: &mut dyn FnMut(QueueId, Rank),
    ) -> ControlFlow<()> {
        match self.every {
            None => self.tick(at, engine)?,
            // One at the instant itself comes before what happens there.
            Some(_) => self.ticks(engine, |tick| tick <= at)?,
        }
        self.count(at, engine);
        self.tell(say);
        ControlFlow::Continue(())
    }

    fn ends(&mut self, at: Time, engine: View<'_>) -> ControlFlow<()> {
        self.ticks(engine, |tick| tick < at)?;
        self.look(at, engine);
        let Asker { advisor, queues, parents, .. } = self;
        let (elapsed, job_micros) = (at.saturating_since(self.asked), self.job_micros);
        advisor.over(&Picture { at, elapsed, job_micros, queues, parents, engine });
        ControlFlow::Continue(())
    }
}

/// Ranks that put children of a parent in the order of their keys: the smallest is served first,
/// equal ones stand together. A rank is the number of siblings that stand before, so that it
/// changes only where the order does. `keys` are no NaN. O(queues log queues).
pub fn places(keys: &[f64], parents: &[Option<usize>], ranks: &mut [Rank]) {
    let mut order: Vec<usize> = (0..keys.len().min(parents.len()).min(ranks.len())).collect();
    // Zeros are equal, whatever their signs.
    let key = |queue: usize| keys[queue] + 0.0;
    order.sort_by(|&a, &b| {
        parents[a].cmp(&parents[b]).then(key(a).total_cmp(&key(b))).then(a.cmp(&b))
    });
    for family in order.chunk_by(|&a, &b| parents[a] == parents[b]) {
        let mut place = 0;
        for (at, &queue) in family.iter().enumerate() {
            if at > 0 && key(family[at - 1]) < key(queue) {
                place = at as u64;
            }
            ranks[queue] = Rank::at(place);
        }
    }
}
