//! A rival in a run: it looks at the engine at each tick, and tells ranks.
//!
//! There is a rule for each parent. Ticks are at multiples of the cadence. What was used comes from
//! the engine's integrals at the tick, exactly; between two instants nothing changes, so of all
//! ticks in between the first is read, and the others follow from it ([`Rule::ticks`]). Ranks are
//! told once, after the last. Cost: O(queues log queues) for each instant with a tick before it.

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
    /// The same of all resources, where the rule wants that.
    vectors: Vec<Vectors>,
    counts_all: bool,
    families: Vec<Family>,
    queues: Vec<QueueId>,
}

/// A queue and what is below it: of the measured resource, in smallest units (x microseconds).
#[derive(Clone, Copy, Default)]
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
    told: Vec<Rank>,
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
                family.see_all(engine, &self.vectors, &pool, seconds);
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
        let all = engine.queue_ids();
        if all.len() == self.queues.len() && all.eq(self.queues.iter().copied()) {
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
    }

    /// What leaves hold and have used by the next tick, summed up to their parents. Afterwards
    /// `more` ticks have passed since. What a forgotten queue used stays in what its parents have
    /// used, for they are told what is new alone.
    fn look(&mut self, engine: View<'_>, more: u64) {
        let (measured, cadence) = (engine.measured(), u128::from(self.cadence.as_micros()));
        for row in &mut self.seen {
            *row = Row { used: row.used, ..Row::default() };
        }
        self.vectors.iter_mut().for_each(Vectors::begin);
        // Children were declared behind their parents.
        for (at, &queue) in self.queues.iter().enumerate().skip(1).rev() {
            let row = &mut self.seen[at];
            let integrals = engine.integrals(queue, self.next);
            // Of a parent they are zero, and so is what it has used by itself.
            row.lately += integrals.usage[measured] - row.used;
            let later = cadence * u128::from(more);
            row.used = integrals.usage[measured] + u128::from(integrals.held) * later;
            row.held += u128::from(integrals.held);
            row.wants += integrals.demand;
            let row = *row;
            let parent = engine.parent(queue).and_then(|parent| engine.queue_row(parent));
            let parent = parent.unwrap_or(0);
            let above = &mut self.seen[parent];
            above.lately += row.lately;
            above.held += row.held;
            above.wants += row.wants;
            if self.counts_all {
                self.vectors[at].look(engine, queue, &integrals.usage, later);
                let below = self.vectors[at];
                self.vectors[parent].add(&below);
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
        Family { parent, rule, children: Vec::new(), seen: Vec::new(), told: Vec::new() }
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
        let before = std::mem::take(&mut self.seen);
        let child = |(at, &queue): (usize, &QueueId)| {
            let Some(row) = engine.queue_row(queue).map(|row| rows[row]) else {
                // It is gone and forgotten. To the rule it is as any that is gone.
                let last = before.get(at).copied();
                let (weight, is_leaf) =
                    last.map_or((1.0, true), |last| (last.weight, last.is_leaf));
                return Child { weight, is_leaf, ..Child::default() };
            };
            let view = engine.queue(queue);
            Child {
                weight: view.weight as f64 / 1000.0,
                held: row.held as f64 / unit,
                wants: row.wants as f64 / unit,
                used: row.lately as f64 / unit / 1e6,
                active: active.get(&queue).copied().unwrap_or(0.0),
                is_leaf: view.is_leaf,
                part: DominantPart::default(),
            }
        };
        self.seen = self.children.iter().enumerate().map(child).collect();
    }
    fn see_all(&mut self, engine: View<'_>, rows: &[Vectors], pool: &Resources, seconds: f64) {
        for (child, &queue) in self.seen.iter_mut().zip(&self.children) {
            if let Some(row) = engine.queue_row(queue) {
                child.part = rows[row].part(pool, seconds);
            }
        }
    }
}
