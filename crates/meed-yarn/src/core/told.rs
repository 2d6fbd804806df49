//! Which rows an answer tells: those that may differ from what was told before.
//!
//! A row stands until something is told of its queue (or of one below it), something of it runs,
//! its quantum changes, or all rows change at once ([`meed::Engine::sweeps`]): amounts are kept in
//! memory time, in which what is past does not fade, so time alone moves no row of which nothing
//! runs. Of such a row only what a start is charged moves, and only with a half-life: that is told
//! for itself, in twelve bytes.
//!
//! > rows of the last answer, with those of this one put in their place = all rows
//!
//! Invariant: the line above; `tests/plugin/changed.rs` compares both over random histories. Cost:
//! a look at each queue's pace, and a row for each that changed.

use std::collections::{BTreeMap, BTreeSet};

use meed::{KeyPace, QueueId, Resources};

use super::{App, Core, Names, UNITS};
use crate::rows::Writer;

/// Of whom something was told since the last answer.
#[derive(Default)]
pub(super) struct Touched {
    /// Queues by the engine's names.
    queues: BTreeSet<String>,
    /// Applications that are no more.
    gone: Vec<String>,
    /// Something happened whose queue is not known.
    all: bool,
}

/// What was told, and how it moved then.
#[derive(Default)]
pub(super) struct Told {
    /// The engine's count of sweeps; `None`: all rows are to be told.
    sweeps: Option<u64>,
    /// By place; and the same of what the guard compares.
    paces: Vec<KeyPace>,
    guarded: Vec<KeyPace>,
    /// The place of each queue.
    places: BTreeMap<QueueId, usize>,
}

/// What an answer tells.
struct Changes {
    whole: bool,
    queues: Vec<usize>,
    /// Of rows that stand otherwise: what a start is charged now.
    aheads: Vec<(usize, u64)>,
    apps: Vec<String>,
    gone: Vec<String>,
    guarded: Vec<usize>,
}

impl Names {
    /// Something happens to an application, and so to its queue and all queues above.
    pub(super) fn touch(&mut self, app: &str) {
        let Some(row) = self.apps.get_mut(app) else {
            self.touched.all = true;
            return;
        };
        row.told = None;
        if !self.touched.queues.contains(&row.queue) {
            self.touched.queues.insert(row.queue.clone());
        }
    }

    /// An application is no more.
    pub(super) fn forget(&mut self, app: &str) {
        if self.apps.remove(app).is_some() {
            self.touched.gone.push(app.to_owned());
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
        let all = (0..self.queues.len()).collect::<Vec<_>>();
        let changes = Changes {
            whole: true,
            guarded: all.clone(),
            queues: all,
            aheads: Vec::new(),
            apps: self.names.apps.keys().cloned().collect(),
            gone: Vec::new(),
        };
        self.rows(&changes, [0, 0], &[])
    }

    /// What differs from what was told, which is taken for told from now on.
    fn changes(&mut self) -> Changes {
        let touched = std::mem::take(&mut self.names.touched);
        let sweeps = self.live.engine().sweeps();
        let whole = touched.all || self.told.sweeps != Some(sweeps);
        if whole {
            let places = self.queues.iter().enumerate().map(|(place, &queue)| (queue, place));
            self.told = Told {
                sweeps: Some(sweeps),
                paces: vec![KeyPace::default(); self.queues.len()],
                guarded: vec![KeyPace::default(); self.queues.len()],
                places: places.collect(),
            };
        }
        let mut changed = vec![whole; self.queues.len()];
        for queue in &touched.queues {
            self.mark(queue, &mut changed);
        }
        let mut changes = Changes {
            whole,
            queues: Vec::new(),
            aheads: Vec::new(),
            apps: Vec::new(),
            gone: if whole { Vec::new() } else { touched.gone },
            guarded: Vec::new(),
        };
        let engine = self.live.engine();
        for (place, &queue) in self.queues.iter().enumerate() {
            let pace = engine.key_pace(queue);
            let before = std::mem::replace(&mut self.told.paces[place], pace);
            if changed[place] || moves(before, pace) {
                changes.queues.push(place);
            } else if before.ahead != pace.ahead {
                changes.aheads.push((place, pace.ahead));
            }
            if let Some(pace) = engine.guard_pace(queue) {
                let before = std::mem::replace(&mut self.told.guarded[place], pace);
                if changed[place] || moves(before, pace) || before.ahead != pace.ahead {
                    changes.guarded.push(place);
                }
            }
        }
        for (name, app) in &mut self.names.apps {
            let pace = app.job.as_ref().and_then(|job| self.live.job_key_pace(job));
            let pace = pace.unwrap_or_default();
            let stands = |told: KeyPace| !moves(told, pace) && told.ahead == pace.ahead;
            if whole || !app.told.is_some_and(stands) {
                changes.apps.push(name.clone());
            }
            app.told = Some(pace);
        }
        changes
    }

    /// Of a queue something was told, and so of those above.
    fn mark(&self, name: &str, changed: &mut [bool]) {
        let engine = self.live.engine();
        let mut at = engine.find_queue(name);
        while let Some(queue) = at {
            if let Some(&place) = self.told.places.get(&queue) {
                changed[place] = true;
            }
            at = engine.queue(queue).parent;
        }
    }

    fn rows(&mut self, changes: &Changes, counts: [u64; 2], remarks: &[String]) -> Vec<u8> {
        let epoch_ms = self.names.epoch_us / 1000;
        let mut out = Writer::new(&self.names.kinds, epoch_ms, self.names.through);
        out.head(self.last_ms, counts, remarks);
        out.flag(changes.whole);
        self.write_queues(&mut out, changes);
        out.count(changes.gone.len());
        changes.gone.iter().for_each(|app| out.name(app));
        out.count(changes.apps.len());
        for name in &changes.apps {
            self.write_app(&mut out, name);
        }
        self.write_guard(&mut out, changes);
        out.done()
    }

    fn write_queues(&mut self, out: &mut Writer, changes: &Changes) {
        out.count(self.queues.len());
        out.count(changes.queues.len());
        for &place in &changes.queues {
            let queue = self.queues[place];
            let parts = self.live.key_parts(queue);
            let engine = self.live.engine();
            let above = engine.queue(queue).parent.unwrap_or(queue);
            out.count(place);
            out.row(parts, engine.policy(above), engine.capacity(), *engine.queue(queue).held);
        }
        out.count(changes.aheads.len());
        for &(place, ahead) in &changes.aheads {
            out.count(place);
            out.ahead(ahead);
        }
    }

    fn write_app(&mut self, out: &mut Writer, name: &str) {
        let nothing = App::default();
        let app = self.names.apps.get(name).unwrap_or(&nothing);
        let parts = app.job.as_ref().and_then(|job| self.live.job_key_parts(job));
        let engine = self.live.engine();
        let leaf = engine.find_queue(&app.queue).unwrap_or(QueueId::ROOT);
        let [memory, cores] = app.held;
        let held = Resources::new(&[memory * UNITS[0], cores * UNITS[1]]);
        out.name(name);
        out.row(parts, engine.policy(leaf), engine.capacity(), held);
    }

    fn write_guard(&mut self, out: &mut Writer, changes: &Changes) {
        let t_wait = self.live.engine().t_wait();
        out.t_wait(t_wait);
        if t_wait.is_none() {
            return;
        }
        out.count(changes.guarded.len());
        for &place in &changes.guarded {
            let queue = self.queues[place];
            let parts = self.live.guard_parts(queue);
            let engine = self.live.engine();
            let view = engine.queue(queue);
            out.count(place);
            out.waits_since(self.names.epoch_us + engine.waits_since(queue).as_micros());
            out.row(
                parts.filter(|_| view.is_leaf),
                engine.policy(QueueId::ROOT),
                engine.capacity(),
                *view.held,
            );
        }
    }
}

/// Whether a row differs from one that was told when its key moved as `before`.
fn moves(before: KeyPace, now: KeyPace) -> bool {
    before.runs || now.runs || before.quantum != now.quantum
}
