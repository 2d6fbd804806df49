//! A record that begins in the middle: with the state of its driver at the first instant.
//!
//! A world whose ledger outlives its process in another place than its journal (a Kubernetes
//! cluster keeps it in ConfigMaps) begins a new run with each process. The header is followed by
//! notes about `state`, which hold the pieces of the driver's state, in order. A run goes on from
//! there: what was used before, what waits and what runs is known; who came when is not told by any
//! record before it.
//!
//! Invariant: the driver of [`Begun::driver`] decides what the one that wrote the state decides.

use meed::place::Placement;
use meed::{Resources, Time};
use meed_driver::{Driver, Journal, Off};
use meed_journal::{Amounts, Arrival, Fact, Group, Name, TaskKey};
use serde::Deserialize;

use crate::log::read::{LogError, LogFile, Run};

/// What the notes are about.
const ABOUT: &str = "state";

/// What is kept of a live job: the number of its arrival, refused ones counted.
///
/// It is what the [`Driver`] of a [`Begun`] keeps of a job;
/// [`LogFile`] has an example of how a record is opened.
#[derive(Deserialize)]
pub struct Came {
    #[serde(skip)]
    /// The number of its arrival.
    pub number: u64,
}

/// The begin of a record that starts in the middle: the state of its driver at the first instant,
/// and the jobs that were alive then.
///
/// [`begun`] reads it, and answers `None` for a record that starts at a run's own beginning;
/// [`LogFile`] has an example of how a record is opened.
#[derive(Debug)]
pub struct Begun {
    state: Vec<u8>,
    /// Jobs that were alive, as if they had just arrived, and when they did; in the order of their
    /// numbers.
    pub jobs: Vec<(Time, Arrival)>,
    /// Tasks that ran: where, and since when.
    pub running: Vec<(TaskKey, Name, Time)>,
}

/// With what `run` begins, where it begins in the middle; `place` makes its placement.
pub fn begun(
    log: &LogFile,
    run: &Run,
    place: impl FnOnce() -> Box<dyn Placement>,
) -> Result<Option<Begun>, LogError> {
    let mut state = String::new();
    let mut reader = log.read(run)?;
    while let Some((line, record)) = reader.next_any()? {
        match record.fact {
            Fact::Run(_) => {}
            Fact::Note(note) if *note.about == *ABOUT => {
                let piece = note.detail.as_ref().and_then(|detail| detail.as_str());
                state.push_str(piece.ok_or_else(|| LogError::Line {
                    file: log.file().clone(),
                    line,
                    what: "a note about `state` holds a text".to_owned(),
                })?);
            }
            _ => break,
        }
    }
    if state.is_empty() {
        return Ok(None);
    }
    let wrong =
        |what| LogError::whole(log.file(), format!("the state that it begins with: {what}"));
    let mut begun = Begun { state: state.into_bytes(), jobs: Vec::new(), running: Vec::new() };
    let driver = begun.driver(place(), Off).map_err(wrong)?;
    begun.look(&driver);
    Ok(Some(begun))
}

impl Begun {
    /// The driver that begins the run.
    pub fn driver<K: Journal>(
        &self,
        place: Box<dyn Placement>,
        journal: K,
    ) -> Result<Driver<Came, K>, String> {
        let mut driver = Driver::<Came, K>::from_state(&self.state, place, journal)?;
        let ids: Vec<_> = driver.jobs().map(meed_driver::LiveJob::id).collect();
        for (number, id) in (0..).zip(ids) {
            if let Some(live) = driver.job_mut(id) {
                live.detail.number = number;
            }
        }
        Ok(driver)
    }

    fn look(&mut self, driver: &Driver<Came, Off>) {
        let engine = driver.engine();
        let zero = Resources::zero(engine.kinds().len());
        for live in driver.jobs() {
            let tasks = u32::try_from(live.waiting_tasks()).unwrap_or(u32::MAX);
            let group = Group {
                stage: 0,
                tasks,
                demand: Amounts::of(&zero, engine.kinds()),
                durations: Vec::new(),
                constraints: None,
                limit: None,
                checkpoint: None,
                gang: None,
                same: None,
            };
            let queue = engine.queue(live.queue()).name.into();
            let mut arrival = Arrival::new(queue, live.key().clone(), vec![group]);
            arrival.name = Some(live.name().clone());
            self.jobs.push((live.submit(), arrival));
        }
        for id in engine.running_ids() {
            let Some(row) = driver.running(id).copied() else { continue };
            let Some(live) = driver.job(row.job) else { continue };
            let key = TaskKey { job: live.key().clone(), task: row.task, attempt: row.attempt };
            let node = engine.node(row.node).0.name.as_str().into();
            let since = engine.started(id).unwrap_or_else(|| engine.now());
            self.running.push((key, node, since));
        }
    }
}
