//! A rival in a run: it looks at the engine at each tick, and tells ranks.
//!
//! There is a rule for each parent. Ticks are at multiples of the cadence. What was used comes from
//! the engine's integrals at the tick, exactly; between two instants nothing changes, so of all
//! ticks in between the first is read, and the others follow from it ([`Rule::ticks`]). Ranks are
//! told once, after the last. Cost: O(queues) for each instant with a tick before it, and what the
//! rule costs; numbers of queues of which nothing changed are taken from the tick before.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use meed::{QueueId, Rank, Resources, Span, Time, View};
use meed_sim::world::Attendant;

use super::dominant::Vectors;
use super::rule::{Child, DominantPart, Rule, Seen};
use super::table::Chosen;

/// The order of a rival in the words of a scenario.
pub const TOLD: &str = "told";

/// A rival in a run: an attendant that looks at the engine at each tick of its cadence, and tells
/// each queue its rank.
pub struct Teller {
    cadence: Span,
    /// A rule for one more parent.
    rule: Box<dyn Fn() -> Box<dyn Rule>>,
    next: Time,
    /// By row of the engine's queues.
    seen: Vec<Row>,
    /// The rows of their parents.
    above: Vec<usize>,
    /// The same of all resources, where the rule wants that.
    vectors: Vec<Vectors>,
    counts_all: bool,
    families: Vec<Family>,
    queues: Vec<QueueId>,
}

/// A queue and what is below it: of the measured resource, in smallest units (x microseconds).
#[derive(Clone, Copy, PartialEq, Default)]
struct Row {
    /// By the last tick, by itself.
    used: u128,
    /// Since then up to the first tick that is told.
    lately: u128,
    held: u128,
    wants: u128,
}

/// Rows of these queues, taken from those of `before`; those that are new begin with nothing.
fn moved<R: Copy + Default>(before: &[QueueId], rows: &[R], after: &[QueueId]) -> Vec<R> {
    let known: BTreeMap<QueueId, R> = before.iter().copied().zip(rows.iter().copied()).collect();
    after.iter().map(|queue| known.get(queue).copied().unwrap_or_default()).collect()
}

/// A parent's children.
struct Family {
    parent: QueueId,
    /// In order of declaration; ids rise.
    children: Vec<QueueId>,
    rule: Box<dyn Rule>,
    seen: Vec<Child>,
    /// What each of these was made of.
    made: Vec<Made>,
    told: Vec<Rank>,
}

/// What a [`Child`] was made of, so that what has not changed is not made again.
#[derive(Clone, Copy, Default)]
struct Made {
    /// Where its row stands; `None`: it is gone and forgotten.
    row: Option<usize>,
    of: Row,
    weight: Option<u64>,
    /// What it used, in natural units x seconds.
    used: f64,
}

impl Teller {
    /// The rival that was chosen, with its cadence and parameters.
    pub fn new(chosen: Chosen) -> Teller {
        Teller::of(chosen.cadence, move || chosen.rule())
    }

    /// With a rule for each parent that ticks so often.
    pub(super) fn of(cadence: Span, rule: impl Fn() -> Box<dyn Rule> + 'static) -> Teller {
        let counts_all = rule().counts_all();
        Teller {
            cadence,
            rule: Box::new(rule),
            next: Time::ZERO.saturating_add(cadence),
            seen: Vec::new(),
            above: Vec::new(),
            vectors: Vec::new(),
            counts_all,
            families: Vec::new(),
            queues: Vec::new(),
        }
    }

    /// Time passes to `at`.
    fn tick_to(&mut self, at: Time, engine: View<'_>, say: &mut dyn FnMut(QueueId, Rank)) {
        if at < self.next {
            return;
        }
        let cadence = self.cadence.as_micros();
        let more = at.saturating_since(self.next).as_micros() / cadence;
        self.meet(engine);
        self.look(engine, more);
        let measured = engine.measured();
        let unit = engine.kinds().unit(measured).scale() as f64;
        self.count(engine, more, unit);
        let (seconds, mut ranks) = (self.cadence.as_secs_f64(), Vec::new());
        for family in self.families.iter_mut().filter(|one| engine.knows_queue(one.parent)) {
            let capacity = family.pool(engine).get(measured) as f64 / unit;
            let seen = Seen { seconds, capacity, unit, children: &family.seen };
            family.rule.ranks(&seen, &mut ranks);
            for ((queue, told), &rank) in family.children.iter().zip(&mut family.told).zip(&ranks) {
                if *told != rank && !engine.is_removed(*queue) {
                    *told = rank;
                    say(*queue, rank);
                }
            }
        }
        let passed = Span::from_micros((more + 1) * cadence).unwrap_or(Span::MAX);
        self.next = self.next.saturating_add(passed);
    }

    /// Rules tick, those of the lowest parents first, for a parent's may count what the rule of its
    /// children holds against them.
    fn count(&mut self, engine: View<'_>, more: u64, unit: f64) {
        let (seconds, measured) = (self.cadence.as_secs_f64(), engine.measured());
        let mut active = BTreeMap::new();
        // A parent's family was made after the one in which it is a child.
        let families = self.families.iter_mut().rev();
        for family in families.filter(|one| engine.knows_queue(one.parent)) {
            let pool = *family.pool(engine);
            family.see(engine, &self.seen, unit, &active);
            if self.counts_all {
                family.see_all(&self.vectors, &pool, seconds);
            }
            let capacity = pool.get(measured) as f64 / unit;
            family.rule.tick(&Seen { seconds, capacity, unit, children: &family.seen });
            for child in &mut family.seen {
                child.used = child.held * seconds;
                child.part.used = child.part.held;
            }
            let seen = Seen { seconds, capacity, unit, children: &family.seen };
            if more > 0 {
                family.rule.ticks(&seen, more);
            }
            active.insert(family.parent, family.rule.active(&seen));
        }
    }

    /// Queues that have come, and those that the engine has forgotten (its rows move up then): rows
    /// and children go on where they ended.
    fn meet(&mut self, engine: View<'_>) {
        // Numbers are given once: where none has come, as many as before are the same.
        let last = self.queues.last().copied();
        if engine.queue_rows() == self.queues.len() && last == Some(engine.last_queue()) {
            return;
        }
        let before = std::mem::take(&mut self.queues);
        self.queues = engine.queue_ids().collect();
        self.seen = moved(&before, &self.seen, &self.queues);
        if self.counts_all {
            self.vectors = moved(&before, &self.vectors, &self.queues);
        }
        for &queue in &self.queues[1..] {
            let parent = engine.parent(queue).unwrap_or(QueueId::ROOT);
            let at = match self.families.iter().position(|family| family.parent == parent) {
                Some(at) => at,
                None => {
                    self.families.push(Family::new(parent, (self.rule)()));
                    self.families.len() - 1
                }
            };
            let family = &mut self.families[at];
            if family.children.last().is_none_or(|last| *last < queue) {
                family.children.push(queue);
                family.told.push(Rank::default());
            }
        }
        let above = |&queue: &QueueId| engine.parent(queue).and_then(|one| engine.queue_row(one));
        self.above = self.queues.iter().map(|queue| above(queue).unwrap_or(0)).collect();
        self.families.iter_mut().for_each(|family| family.meet(engine));
    }

    /// What leaves hold and have used by the next tick, summed up to their parents. Afterwards
    /// `more` ticks have passed since. What a forgotten queue used stays in what its parents have
    /// used, for they are told what is new alone.
    fn look(&mut self, engine: View<'_>, more: u64) {
        let (measured, cadence) = (engine.measured(), u128::from(self.cadence.as_micros()));
        let (later, kinds) = (cadence * u128::from(more), engine.kinds().len());
        for row in &mut self.seen {
            *row = Row { used: row.used, ..Row::default() };
        }
        self.vectors.iter_mut().for_each(|one| one.begin(kinds));
        // Children were declared behind their parents.
        for (at, &queue) in self.queues.iter().enumerate().skip(1).rev() {
            let row = &mut self.seen[at];
            let told = engine.use_of(queue, measured, self.next);
            // Of a parent it is nothing, and so is what it has used by itself.
            row.lately += told.used - row.used;
            row.used = told.used + u128::from(told.held) * later;
            row.held += u128::from(told.held);
            row.wants += told.wanted;
            let (row, parent) = (*row, self.above[at]);
            let above = &mut self.seen[parent];
            above.lately += row.lately;
            above.held += row.held;
            above.wants += row.wants;
            if self.counts_all {
                self.vectors[at].look(engine, queue, self.next, later);
                let below = self.vectors[at];
                self.vectors[parent].add(&below, kinds);
            }
        }
    }
}

impl Attendant for Teller {
    fn passes(
        &mut self,
        at: Time,
        engine: View<'_>,
        say: &mut dyn FnMut(QueueId, Rank),
    ) -> ControlFlow<()> {
        self.tick_to(at, engine, say);
        ControlFlow::Continue(())
    }
}

impl Family {
    fn new(parent: QueueId, rule: Box<dyn Rule>) -> Family {
        let (children, seen, made, told) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Family { parent, rule, children, seen, made, told }
    }

    /// Queues have come or are forgotten: where the rows of its children stand. To the rule one
    /// that is forgotten is as any that is gone.
    fn meet(&mut self, engine: View<'_>) {
        let weight = 1.0;
        self.seen.resize(self.children.len(), Child { weight, is_leaf: true, ..Child::default() });
        self.made.resize(self.children.len(), Made::default());
        for ((child, made), &queue) in self.seen.iter_mut().zip(&mut self.made).zip(&self.children)
        {
            made.row = engine.queue_row(queue);
            match made.row {
                Some(_) => child.is_leaf = engine.queue(queue).is_leaf,
                None => {
                    let Child { weight, is_leaf, .. } = *child;
                    *child = Child { weight, is_leaf, ..Child::default() };
                    made.used = 0.0;
                }
            }
        }
    }

    /// What the parent has for its children.
    fn pool<'e>(&self, engine: View<'e>) -> &'e Resources {
        match self.parent {
            QueueId::ROOT => engine.capacity(),
            parent => engine.queue(parent).share,
        }
    }

    /// `active`: what rules hold against the children of those parents that have counted.
    fn see(&mut self, engine: View<'_>, rows: &[Row], unit: f64, active: &BTreeMap<QueueId, f64>) {
        for ((child, made), queue) in self.seen.iter_mut().zip(&mut self.made).zip(&self.children) {
            if let Some(row) = made.row {
                made.see(child, &rows[row], engine.queue_weight(*queue), unit);
            }
            child.used = made.used;
            if !child.is_leaf {
                child.active = active.get(queue).copied().unwrap_or(0.0);
            }
        }
    }

    fn see_all(&mut self, rows: &[Vectors], pool: &Resources, seconds: f64) {
        for (child, made) in self.seen.iter_mut().zip(&self.made) {
            child.part =
                made.row.map_or(DominantPart::default(), |row| rows[row].part(pool, seconds));
        }
    }
}

impl Made {
    /// What has changed of a child, whose use is that of `self` then.
    fn see(&mut self, child: &mut Child, row: &Row, weight: u64, unit: f64) {
        if self.weight != Some(weight) {
            self.weight = Some(weight);
            child.weight = weight as f64 / 1000.0;
        }
        if self.of.held != row.held {
            child.held = row.held as f64 / unit;
        }
        if self.of.wants != row.wants {
            child.wants = row.wants as f64 / unit;
        }
        if self.of.lately != row.lately {
            self.used = row.lately as f64 / unit / 1e6;
        }
        self.of = *row;
    }
}
