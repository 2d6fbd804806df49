//! Which rows an answer tells: those that may differ from what was told before.
//!
//! Amounts are kept in memory time, in which the past does not fade, and each is a line until a
//! container outruns its quantum ([`meed::KeyParts`]). So a row stands, and what it is now follows
//! from it and from the memory time of now, until something is told of its queue (or of one below
//! it), it leaves its line, its quantum or that of what runs below it changes (averages are taken),
//! or all rows change at once
//! ([`meed::View::sweeps`]). Memory time, and what a start is charged under a half-life, are told
//! once for all rows of one clock and quantum.
//!
//! > rows of the last answer, with those of this one put in their place = all rows
//!
//! Invariant: the line above; `tests/plugin/changed.rs` compares both over random histories. Cost:
//! a row for each that changed; a look at all quanta where averages were taken.

use std::collections::{BTreeMap, BTreeSet};

use meed::{QueueId, Resources, Span, Time};

use super::apps::App;
use super::{Core, Names, UNITS};
use crate::rows::{Paces, Writer};

/// Of whom something was told since the last answer.
#[derive(Default)]
pub(super) struct Touched {
    /// Queues that an application has left.
    queues: Vec<QueueId>,
    /// Places of applications, each at least once: those that are marked so.
    apps: Vec<usize>,
    /// Applications that are no more.
    gone: Vec<String>,
    /// Something happened whose queue is not known.
    all: bool,
}

/// What was told, and until when it stands.
#[derive(Default)]
pub(super) struct Told {
    /// The engine's count of sweeps; `None`: all rows are to be told.
    sweeps: Option<u64>,
    /// The engine's count of times that averages of quanta were taken.
    refreshes: u64,
    /// By place.
    queues: Vec<ToldQueue>,
    /// The place of each queue.
    places: BTreeMap<QueueId, usize>,
    /// When rows leave their line.
    turns: BTreeSet<(Time, Whose)>,
    paces: Paces,
}

/// Of a queue; the quantum as its siblings are charged, and as the guard charges, and when what
/// runs was last charged by other quanta ([`meed::View::recharged`]).
#[derive(Clone, Default)]
struct ToldQueue {
    quantum: Span,
    guarded: Span,
    recharged: u64,
    turns: Option<Time>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Queue(usize),
    App(usize),
}

/// So many paces may be of quanta that are no more before all rows are told anew.
const LITTER: usize = 1024;

/// What an answer tells.
struct Changes {
    whole: bool,
    queues: Vec<usize>,
    /// By place.
    apps: Vec<usize>,
    gone: Vec<String>,
}

impl Names {
    /// Something happens to an application, and so to its queue and all queues above. Its row.
    pub(super) fn touch(&mut self, place: usize) -> Option<&mut App> {
        let Names { apps, touched, .. } = self;
        let Some(app) = apps.at_mut(place) else {
            touched.all = true;
            return None;
        };
        if !std::mem::replace(&mut app.is_touched, true) {
            touched.apps.push(place);
        }
        Some(app)
    }

    /// The application in that place leaves its queue, which is another one without it.
    pub(super) fn leave(&mut self, place: Option<usize>) {
        let app = place.and_then(|place| self.apps.at(place));
        self.touched.queues.extend(app.and_then(|app| app.leaf));
    }

    /// An application is no more.
    pub(super) fn forget(&mut self, place: usize) {
        self.leave(Some(place));
        if let Some(app) = self.apps.take(place) {
            self.touched.gone.push(app.name);
        }
    }
}

impl Core {
    /// The answer to a tick.
    pub(super) fn changed_rows(&mut self) -> Vec<u8> {
        let oddities = std::mem::take(&mut self.names.oddities);
        let changes = self.changes();
        let counts = [oddities.late, oddities.missed];
        self.rows(&changes, counts, &oddities.refused)
    }

    /// All rows, whatever was told before; what is told next does not depend on it.
    pub(super) fn all_rows(&mut self) -> Vec<u8> {
        let changes = Changes {
            whole: true,
            queues: (0..self.queues.len()).collect(),
            apps: self.names.apps.all_places(),
            gone: Vec::new(),
        };
        self.rows(&changes, [0, 0], &[])
    }

    /// What differs from what was told, which is taken for told from now on.
    fn changes(&mut self) -> Changes {
        let touched = std::mem::take(&mut self.names.touched);
        let (sweeps, refreshes) = (self.live.engine().sweeps(), self.live.engine().refreshes());
        let rows = self.queues.len() + self.names.apps.len();
        let whole = touched.all
            || self.told.sweeps != Some(sweeps)
            || self.told.paces.len() > LITTER + 2 * rows;
        if whole {
            let places = self.queues.iter().enumerate().map(|(place, &queue)| (queue, place));
            self.told = Told {
                sweeps: Some(sweeps),
                refreshes,
                queues: vec![ToldQueue::default(); self.queues.len()],
                places: places.collect(),
                ..Told::default()
            };
            let apps = self.names.apps.all_places();
            apps.iter().for_each(|&place| self.untouch(place));
            let queues = (0..self.queues.len()).collect();
            return Changes { whole, queues, apps, gone: Vec::new() };
        }
        let mut queues = BTreeSet::new();
        touched.queues.iter().for_each(|&queue| self.mark(queue, &mut queues));
        let mut apps = touched.apps;
        for &place in &apps {
            if let Some(leaf) = self.names.apps.at(place).and_then(|app| app.leaf) {
                self.mark(leaf, &mut queues);
            }
        }
        self.turned(&mut queues, &mut apps);
        if std::mem::replace(&mut self.told.refreshes, refreshes) != refreshes {
            self.learnt(&mut queues, &mut apps);
        }
        apps.sort_unstable();
        apps.dedup();
        apps.retain(|&place| self.names.apps.at(place).is_some());
        apps.iter().for_each(|&place| self.untouch(place));
        Changes { whole, queues: queues.into_iter().collect(), apps, gone: touched.gone }
    }

    fn untouch(&mut self, place: usize) {
        if let Some(app) = self.names.apps.at_mut(place) {
            app.is_touched = false;
        }
    }

    /// Of a queue something was told, and so of those above.
    fn mark(&self, queue: QueueId, changed: &mut BTreeSet<usize>) {
        let engine = self.live.engine();
        let mut at = Some(queue);
        while let Some(queue) = at {
            changed.extend(self.told.places.get(&queue));
            at = engine.queue(queue).parent;
        }
    }

    /// Rows that have left their line.
    fn turned(&mut self, queues: &mut BTreeSet<usize>, apps: &mut Vec<usize>) {
        let now = self.live.engine().now();
        while self.told.turns.first().is_some_and(|(turns, _)| *turns <= now) {
            match self.told.turns.pop_first() {
                Some((_, Whose::Queue(place))) => drop(queues.insert(place)),
                Some((_, Whose::App(place))) => apps.push(place),
                None => {}
            }
        }
    }

    /// Averages were taken: rows whose quantum is another one now.
    fn learnt(&self, queues: &mut BTreeSet<usize>, apps: &mut Vec<usize>) {
        let engine = self.live.engine();
        for (place, (&queue, told)) in self.queues.iter().zip(&self.told.queues).enumerate() {
            let guarded = engine.guard_quantum(queue).unwrap_or_default();
            let recharged = engine.recharged(queue) != told.recharged;
            if recharged || engine.key_quantum(queue) != told.quantum || guarded != told.guarded {
                queues.insert(place);
            }
        }
        for (place, app) in self.names.apps.each() {
            let quantum = app.job.as_ref().and_then(|job| self.live.job_key_quantum(job));
            let quantum = quantum.unwrap_or_default();
            if app.told.is_none_or(|(told, _)| told != quantum) {
                apps.push(place);
            }
        }
    }

    fn rows(&mut self, changes: &Changes, counts: [u64; 2], remarks: &[String]) -> Vec<u8> {
        let epoch_ms = self.names.epoch_us / 1000;
        let count = changes.queues.len() + changes.apps.len();
        let mut out = Writer::new(&self.names.kinds, epoch_ms, self.names.through, count);
        out.head(self.last_ms, counts, remarks);
        out.flag(changes.whole);
        out.count(self.queues.len());
        out.count(changes.queues.len());
        changes.queues.iter().for_each(|&place| self.write_queue(&mut out, place));
        out.count(changes.gone.len());
        changes.gone.iter().for_each(|app| out.name(app));
        out.count(changes.apps.len());
        changes.apps.iter().for_each(|&place| self.write_app(&mut out, place));
        self.write_guard(&mut out, changes);
        out.paces(&self.told.paces, self.live.engine().now());
        out.done()
    }

    fn write_queue(&mut self, out: &mut Writer, place: usize) {
        let queue = self.queues[place];
        let parts = self.live.key_parts(queue);
        let engine = self.live.engine();
        let (above, now) = (engine.queue(queue).parent.unwrap_or(queue), engine.now());
        let by = (engine.policy(above), engine.capacity());
        out.count(place);
        out.row(parts, by, *engine.queue(queue).held, (&mut self.told.paces, now));
        let quantum = engine.key_quantum(queue);
        let turns = parts.map_or(Time::MAX, |parts| parts.turns);
        let Some(told) = self.told.queues.get_mut(place) else { return };
        (told.quantum, told.recharged) = (quantum, engine.recharged(queue));
        let before = told.turns.replace(turns);
        self.told.turn(before, turns, || Whose::Queue(place));
    }

    fn write_app(&mut self, out: &mut Writer, place: usize) {
        let Some(app) = self.names.apps.at_mut(place) else { return };
        let parts = app.job.as_ref().and_then(|job| self.live.job_key_parts(job));
        let engine = self.live.engine();
        let [memory, cores] = app.held;
        let held = Resources::new(&[memory * UNITS[0], cores * UNITS[1]]);
        let by = (engine.policy(app.leaf.unwrap_or(QueueId::ROOT)), engine.capacity());
        out.name(&app.name);
        out.row(parts, by, held, (&mut self.told.paces, engine.now()));
        let turns = parts.map_or(Time::MAX, |parts| parts.turns);
        let quantum = parts.map_or(Span::ZERO, |parts| parts.quantum);
        let before = app.told.replace((quantum, turns)).map(|(_, turns)| turns);
        self.told.turn(before, turns, || Whose::App(place));
    }

    fn write_guard(&mut self, out: &mut Writer, changes: &Changes) {
        let t_wait = self.live.engine().t_wait();
        out.t_wait(t_wait);
        if t_wait.is_none() {
            return;
        }
        out.count(changes.queues.len());
        for &place in &changes.queues {
            let queue = self.queues[place];
            let parts = self.live.guard_parts(queue);
            let engine = self.live.engine();
            let view = engine.queue(queue);
            out.count(place);
            out.waits_since(self.names.epoch_us + engine.waits_since(queue).as_micros());
            out.entitlement(&engine.entitlement(queue).unwrap_or_default());
            let by = (engine.policy(QueueId::ROOT), engine.capacity());
            let paces = (&mut self.told.paces, engine.now());
            out.row(parts.filter(|_| view.is_leaf), by, *view.held, paces);
            let Some(told) = self.told.queues.get_mut(place) else { continue };
            told.guarded = parts.map_or(Span::ZERO, |parts| parts.quantum);
            let turns = parts.map_or(Time::MAX, |parts| parts.turns);
            let turns = told.turns.map_or(turns, |known| known.min(turns));
            let before = told.turns.replace(turns);
            self.told.turn(before, turns, || Whose::Queue(place));
        }
    }
}

impl Told {
    /// A row leaves its line then, and not at the instant that was known before.
    fn turn(&mut self, before: Option<Time>, turns: Time, whose: impl Fn() -> Whose) {
        if before == Some(turns) && self.turns.contains(&(turns, whose())) {
            return;
        }
        if let Some(before) = before {
            self.turns.remove(&(before, whose()));
        }
        if turns < Time::MAX {
            self.turns.insert((turns, whose()));
        }
    }
}
