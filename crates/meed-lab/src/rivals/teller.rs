//! A rival in a run: it looks at the engine at each tick, and tells ranks.
//!
//! There is a rule for each parent. Ticks are at multiples of the cadence. What was used comes from
//! the engine's integrals at the tick, exactly; between two instants nothing changes, so of all
//! ticks in between the first is read, and the others follow from it ([`Rule::ticks`]). Ranks are
//! told once, after the last. Cost: O(queues log queues) for each instant with a tick before it.

use meed::{Engine, QueueId, Rank, Span, Time};

use super::rule::{Child, Rule, Seen};
use super::table::Chosen;

/// See the module.
pub(super) struct Teller {
    cadence: Span,
    /// A rule for one more parent.
    rule: Box<dyn Fn() -> Box<dyn Rule>>,
    next: Time,
    /// By row of the engine's queues.
    seen: Vec<Row>,
    families: Vec<Family>,
    queues: Vec<QueueId>,
}

/// A queue and what is below it: of the measured resource, in smallest units (x microseconds).
#[derive(Clone, Copy, Default)]
struct Row {
    used: u128,
    before: u128,
    held: u128,
    wants: u128,
}

/// A parent's children.
struct Family {
    parent: QueueId,
    children: Vec<QueueId>,
    rule: Box<dyn Rule>,
    seen: Vec<Child>,
    told: Vec<Rank>,
}

impl Teller {
    pub(super) fn new(chosen: Chosen) -> Teller {
        Teller::of(chosen.cadence, move || chosen.rule())
    }

    /// With a rule for each parent that ticks so often.
    pub(super) fn of(cadence: Span, rule: impl Fn() -> Box<dyn Rule> + 'static) -> Teller {
        let (next, rule) = (Time::ZERO.saturating_add(cadence), Box::new(rule));
        Teller { cadence, rule, next, seen: Vec::new(), families: Vec::new(), queues: Vec::new() }
    }

    /// Time passes to `at`.
    pub(super) fn passes(&mut self, at: Time, engine: &Engine, say: &mut dyn FnMut(QueueId, Rank)) {
        if at < self.next {
            return;
        }
        let cadence = self.cadence.as_micros();
        let more = at.saturating_since(self.next).as_micros() / cadence;
        self.meet(engine);
        self.look(engine, more);
        let seconds = self.cadence.as_secs_f64();
        let measured = engine.measured();
        let unit = engine.kinds().unit(measured).scale() as f64;
        let mut ranks = Vec::new();
        for family in &mut self.families {
            let capacity = match family.parent {
                QueueId::ROOT => engine.capacity().get(measured),
                parent => engine.queue(parent).share.get(measured),
            };
            family.see(engine, &self.seen, unit);
            let capacity = capacity as f64 / unit;
            family.rule.tick(&Seen { seconds, capacity, unit, children: &family.seen });
            family.seen.iter_mut().for_each(|child| child.used = child.held * seconds);
            let seen = Seen { seconds, capacity, unit, children: &family.seen };
            if more > 0 {
                family.rule.ticks(&seen, more);
            }
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

    /// Queues that have come: rows and children go on where they ended.
    fn meet(&mut self, engine: &Engine) {
        let all = engine.queue_ids();
        if all.len() == self.queues.len() {
            return;
        }
        self.queues = all.collect();
        self.seen.resize(self.queues.len(), Row::default());
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
            if !family.children.contains(&queue) {
                family.children.push(queue);
                family.told.push(Rank::default());
            }
        }
    }

    /// What leaves hold and have used by the next tick, summed up to their parents. Afterwards
    /// `more` ticks have passed since.
    fn look(&mut self, engine: &Engine, more: u64) {
        let (measured, cadence) = (engine.measured(), u128::from(self.cadence.as_micros()));
        for row in &mut self.seen {
            *row = Row { before: row.used, ..Row::default() };
        }
        // Children were declared behind their parents.
        for (at, &queue) in self.queues.iter().enumerate().skip(1).rev() {
            let row = &mut self.seen[at];
            let integrals = engine.integrals(queue, self.next);
            row.used += integrals.usage[measured];
            row.held += u128::from(integrals.held);
            row.wants += integrals.demand;
            let row = *row;
            let parent = engine.parent(queue).and_then(|parent| engine.queue_row(parent));
            let above = &mut self.seen[parent.unwrap_or(0)];
            above.used += row.used;
            above.held += row.held;
            above.wants += row.wants;
        }
        for row in &mut self.seen {
            let used = row.used;
            row.used += row.held * cadence * u128::from(more);
            // Up to the first tick.
            row.before = used - row.before;
        }
    }
}

impl Family {
    fn new(parent: QueueId, rule: Box<dyn Rule>) -> Family {
        Family { parent, rule, children: Vec::new(), seen: Vec::new(), told: Vec::new() }
    }

    fn see(&mut self, engine: &Engine, rows: &[Row], unit: f64) {
        self.seen.clear();
        let children = self.children.iter().map(|&queue| {
            let row = engine.queue_row(queue).map_or(Row::default(), |row| rows[row]);
            let view = engine.queue(queue);
            Child {
                weight: view.weight as f64 / 1000.0,
                held: row.held as f64 / unit,
                wants: row.wants as f64 / unit,
                used: row.before as f64 / unit / 1e6,
                is_leaf: view.is_leaf,
            }
        });
        self.seen.extend(children);
    }
}
