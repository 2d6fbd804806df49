//! A run that stops at each tick, and goes on with what it is told: for environments.
//!
//! The run is that of `meed_sim::simulate_attended` in a thread of its own, which waits at each
//! tick for an answer. The thread takes no lock of Python's; who waits for it has none either.
//! Invariants: one of the two runs at a time; the thread ends with its session, whatever the run
//! was about to do.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use meed::{Rank, Span};
use meed_scenario::Scenario;
use meed_sim::asked::{Advisor, Asker, Picture};
use meed_sim::record::Comparison;
use meed_sim::world::Progress;
use meed_sim::{Overtaking, SimulateError, SimulateOptions, Watch, simulate_attended};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::asked::{Answer, Seen};
use crate::error::{input, of_simulate, run};
use crate::results::PyResults;
use crate::scenario::PyScenario;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What the thread says.
enum Word {
    /// A tick: it waits for an answer.
    Tick(Box<Seen>),
    /// The end of the run, as it is seen.
    Last(Box<Seen>),
    /// What has become of it.
    Done(Box<Result<(Comparison, Vec<String>), SimulateError>>),
}

/// A run, from its first tick on.
#[pyclass(frozen, name = "Session", module = "meed._native")]
pub(crate) struct PySession {
    line: Mutex<Option<Line>>,
    results: Mutex<Option<PyResults>>,
    keep_jobs: bool,
    /// Whether the scenario says when its runs end.
    until: bool,
}

/// To the thread.
struct Line {
    answers: Option<Sender<Answer>>,
    words: Receiver<Word>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// So that what a scenario holds of Python's is not let go in the thread.
    _scenario: Arc<Scenario>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.answers = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A lock that somebody lost in a panic is as good as another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PySession {
    #[new]
    fn begin(
        scenario: PyRef<'_, PyScenario>,
        words: String,
        every: u64,
        seed: Option<u64>,
        strict: bool,
        keep_jobs: bool,
    ) -> PyResult<PySession> {
        let every = Span::from_micros(every);
        let options =
            SimulateOptions { policies: vec![words], seed, series_points: 0, strict, keep_jobs };
        let scenario = Arc::clone(&scenario.scenario);
        let until = scenario.until().is_some();
        let (answers, from_answers) = channel();
        let (to_words, words) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let work = {
            let (scenario, stop) = (Arc::clone(&scenario), Arc::clone(&stop));
            move || {
                let remote =
                    Remote { words: to_words.clone(), answers: from_answers, is_first: true };
                let done = whole(&scenario, &options, Asker::new(every, Box::new(remote)), stop);
                // Nobody may listen any more.
                let _ = to_words.send(Word::Done(Box::new(done)));
            }
        };
        let thread = std::thread::Builder::new().name("meed-session".to_owned()).spawn(work);
        let thread = thread.map_err(|why| run(format!("no thread for the run: {why}")))?;
        let line =
            Line { answers: Some(answers), words, stop, thread: Some(thread), _scenario: scenario };
        Ok(PySession { line: Mutex::new(Some(line)), results: Mutex::new(None), keep_jobs, until })
    }

    /// Goes on to the next tick, with the answer to the last one: what is seen there, whether the
    /// run is over, and whether it was cut. The first has no answer.
    fn next<'py>(
        &self,
        py: Python<'py>,
        answer: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyDict>, bool, bool)> {
        let answer = answer.map(Answer::of).transpose()?;
        if let Some(answer) = answer {
            py.detach(|| self.answer(answer))?;
        }
        let mut last = None;
        loop {
            if let Err(raised) = py.check_signals() {
                // The run would be one answer behind.
                self.close();
                return Err(raised);
            }
            let Some(word) = py.detach(|| self.hear())? else { continue };
            match word {
                Word::Tick(seen) => return Ok((seen.told(py)?, false, false)),
                Word::Last(seen) => last = Some(seen),
                Word::Done(done) => {
                    self.close();
                    let (comparison, skipped) = done.map_err(|why| of_simulate(&why))?;
                    let results = PyResults::new(comparison, skipped, self.keep_jobs);
                    *lock(&self.results) = Some(results);
                    let seen = last.ok_or_else(|| run("the run ended before its end was seen"))?;
                    return Ok((seen.told(py)?, true, self.until));
                }
            }
        }
    }

    /// What the run has left; once.
    fn results(&self) -> Option<PyResults> {
        lock(&self.results).take()
    }

    /// Ends the run where it is.
    fn close(&self) {
        let line = lock(&self.line).take();
        // What the thread reads may be Python's, and be let go with Python's lock.
        let mut line = Some(line);
        let without = |py: Python<'_>| py.detach(|| drop(line.take()));
        let _ = Python::try_attach(without);
    }
}

impl PySession {
    fn answer(&self, answer: Answer) -> PyResult<()> {
        let line = lock(&self.line);
        let to = line.as_ref().and_then(|line| line.answers.as_ref());
        // One that has ended tells why.
        to.map(|to| drop(to.send(answer))).ok_or_else(|| input("the run is over"))
    }

    /// What the thread says, if it does soon.
    fn hear(&self) -> PyResult<Option<Word>> {
        let line = lock(&self.line);
        let line = line.as_ref().ok_or_else(|| input("the run is over"))?;
        match line.words.recv_timeout(LOOK) {
            Ok(word) => Ok(Some(word)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(run("the run has ended by a panic")),
        }
    }
}

impl Drop for PySession {
    fn drop(&mut self) {
        self.close();
    }
}

/// The whole run, in its thread.
fn whole(
    scenario: &Scenario,
    options: &SimulateOptions,
    mut asker: Asker<'_>,
    stop: Arc<AtomicBool>,
) -> Result<(Comparison, Vec<String>), SimulateError> {
    let mut watch = Stopped { stop, skipped: Vec::new() };
    let attendants = vec![Some(&mut asker as _)];
    let nothing = Overtaking::Nothing;
    let done = simulate_attended(scenario, options, nothing, attendants, None, &mut watch)?;
    Ok((done, watch.skipped))
}

struct Stopped {
    stop: Arc<AtomicBool>,
    skipped: Vec<String>,
}

impl Watch for Stopped {
    fn begins(&mut self, _: &str) {}

    fn goes_on(&mut self, _: Progress) -> ControlFlow<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn skipped(&mut self, _: &str, bad_lines: &[String]) {
        self.skipped = bad_lines.to_vec();
    }
}

/// Asks whoever has the session.
struct Remote {
    words: Sender<Word>,
    answers: Receiver<Answer>,
    is_first: bool,
}

impl Remote {
    fn seen(&mut self, seen: &Picture<'_>) -> Box<Seen> {
        Box::new(Seen::of(seen, std::mem::take(&mut self.is_first)))
    }
}

impl Advisor for Remote {
    fn advise(&mut self, seen: &Picture<'_>, ranks: &mut [Rank]) -> ControlFlow<()> {
        let told = self.seen(seen);
        if self.words.send(Word::Tick(told)).is_err() {
            return ControlFlow::Break(());
        }
        match self.answers.recv() {
            // Of as many queues as were seen: `meed.gym` has looked.
            Ok(answer) if answer.tell(seen, ranks).is_ok() => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    fn over(&mut self, seen: &Picture<'_>) {
        let told = self.seen(seen);
        let _ = self.words.send(Word::Last(told));
    }
}
